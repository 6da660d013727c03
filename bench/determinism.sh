#!/usr/bin/env bash
# The same command under other surroundings: does it give the same bytes? The table of docs/reliability.md.
# shellcheck disable=SC2317  # the commands are called by their names
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: bench/determinism.sh [--build FOLDER] [--program FILE] [--also FILE]... [--only COMMAND] [--quick]

Runs verbs with 1, 2 and 4 threads, in other locales, time zones, umasks and folders, without HOME, with a TMPDIR that is
not there, and on less of the processor, and compares what they made with a first run: of logs the content's hash
(`log hash`), of everything else every byte, but the commit and how many seconds it took (in JSON `"seconds"`, and
`"choose_s"` and `"evaluate_s"` of a round). Prints a Markdown table: `same`, `DIFFERS`, or a word for what does not apply.
Takes three minutes on an idle core.

  --build FOLDER  build folder with the program (default: build/release)
  --program FILE  the program, instead
  --also FILE     another build's program (RelWithDebInfo, sanitizers), which has to give the same; can be given again
  --only COMMAND  one column of the table
  --quick         short commands, all surroundings in three runs: the test of ctest
  --keep FOLDER   leave what was made there
  --help          this text

Exit codes: 0 all that has to be the same is, 1 something differs, 2 usage
TEXT
}

build=build/release
program=
others=()
quick=no
keep=
only=
fail() { echo "determinism.sh: $1" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --build | --program | --also | --only | --keep)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case $1 in
        --build) build=$2 ;;
        --program) program=$(realpath "$2") ;;
        --also) others+=("$(realpath "$2")") ;;
        --only) only=${2// /_} ;;
        --keep) keep=$(realpath -m "$2") ;;
      esac
      shift 2
      ;;
    --quick) quick=yes; shift ;;
    --help) usage; exit 0 ;;
    *) fail "unknown argument '$1'. See bench/determinism.sh --help" ;;
  esac
done

cd "$(dirname "$0")/.."
program=${program:-$PWD/$build/apps/hindsight/hindsight}
for one in "$program" "${others[@]}"; do
  [ -x "$one" ] || fail "there is no program $one. Build it, or name --build or --program"
done
export HINDSIGHT_DATA_DIR=${HINDSIGHT_DATA_DIR:-$PWD}
unset LC_ALL LANG LANGUAGE TZ OPENBLAS_CORETYPE ATEN_CPU_CAPABILITY GLIBC_TUNABLES
export LC_ALL=C TZ=UTC TMPDIR=${TMPDIR:-/tmp} HOME=${HOME:-/} NO_COLOR=1
umask 022
if [ -n "$keep" ]; then
  mkdir -p "$keep"
  work=$keep
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi

# --- what is run: each command works in a folder of its own, on $inputs, with $threads ---
inputs=$work/inputs
threads=1
samples=2000
judged=20000
steps=200
if [ "$quick" = yes ]; then
  samples=300
  judged=2000
  steps=40
fi

hashed() { "$program" log hash "$1" >hash.txt && rm -f "$1"*; }  # a log's bytes hold times; its content has a hash
timeless() { sed -E '/^ *"(seconds|choose_s|evaluate_s)": [0-9.e-]*,?$/d'; }
run_sweep() {
  "$program" sweep --space tiny --workloads m4,m6 --samples "$samples" --threads "$threads" --log log.sqlite --quiet &&
    hashed log.sqlite
}
run_import() { "$program" log import "$inputs/table.csv" --objective time_ms --log log.sqlite >said.txt && hashed log.sqlite; }
run_export() { "$program" log export "$inputs/log.sqlite" --out rows.csv && "$program" log export "$inputs/log.sqlite" --out rows.jsonl; }
run_export_gz() { "$program" log export "$inputs/log.sqlite" --out rows.csv.gz; }
run_optimum() { "$program" optimum --space tiny --workloads m4 --top 3 --json | timeless >optimum.json; }
run_survey() { "$program" optimum --space tiny --workloads m4 --all --threads "$threads" --out all.landscape --quiet; }
run_propose() { "$program" propose --workload m4 --evaluations "$judged" --json | timeless >propose.json; }
run_search() {
  "$program" search --space tiny --workloads m4 --queries 200 --log log.sqlite --quiet >said.txt &&
    hashed log.sqlite
}
run_check() { "$program" check --design coral_edge_tpu --workload mobilenet_v2 --json >check.json; }
run_gemm() { "$program" gemm --gpu l4,h100-sxm5 --csv "$inputs/products.csv" >gemm.csv; }
run_bench_export() { "$program" bench export small/m4@200 --out task --threads "$threads" --quiet; }
run_report() { "$program" report "$inputs/log.sqlite" --out report.html && "$program" report "$inputs/log.sqlite" --format md >report.md; }
run_merge() { "$program" log merge "$inputs/log.sqlite" "$inputs/other.sqlite" --out log.sqlite >/dev/null && hashed log.sqlite; }
run_repair() { # exit code 0, or 4 where rows are lost
  local status=0
  "$program" log repair "$inputs/broken.sqlite" --out log.sqlite --json | timeless >repair.json || status=$?
  [ "$status" = 0 ] || [ "$status" = 4 ] || return "$status"
  hashed log.sqlite
}
run_ask() {
  "$program" log import "$inputs/table.csv" --objective time_ms --log log.sqlite >/dev/null &&
    "$program" ask -n 6 --log log.sqlite --recipe "$inputs/recipe.yaml" --threads "$threads" --out next.csv && hashed log.sqlite
}
run_campaign() {
  "$program" campaign --space tiny --workloads m4 --rounds 3 --batch 12 --recipe "$inputs/recipe.yaml" --threads "$threads" \
    --log log.sqlite --json | timeless >campaign.json && hashed log.sqlite
}
run_backtest() {
  "$program" backtest --log "$inputs/log.sqlite" --workload m4 --methods "$inputs/recipe.yaml" --threads "$threads" --json |
    timeless >backtest.json
}
# Of a model the weights, and its card: both hold the command line, which names the threads.
run_train() {
  cp "$inputs/log.sqlite" .
  "$program" train --log log.sqlite --workloads m4 --recipe "$inputs/recipe.yaml" --threads "$threads" --quiet \
    --out model.safetensors || return
  local header
  header=$(od -An -t u8 -N 8 model.safetensors)
  tail -c +$((header + 9)) model.safetensors >weights
  grep -v -e ' train --log ' model.md >card
  rm -f log.sqlite* model.*
}
commands=(sweep search import export export_gz merge repair optimum survey propose check gemm bench_export report)
learning=(train ask campaign backtest)
[ "$("$program" doctor --json | grep -c '"training": "/')" = 0 ] || commands+=("${learning[@]}")
if [ -n "$only" ]; then
  case " ${commands[*]} " in *" $only "*) commands=("$only") ;; *) fail "there is no command '$only'. Known: ${commands[*]}" ;; esac
fi

mkdir -p "$inputs"
"$program" sweep --space tiny --workloads m4 --samples "$samples" --log "$inputs/log.sqlite" --quiet
"$program" sweep --space tiny --workloads m6 --samples "$samples" --seed 2 --log "$inputs/other.sqlite" --quiet
cp "$inputs/log.sqlite" "$inputs/broken.sqlite"  # the last page but four is noise
awk 'BEGIN { for (i = 0; i < 256; ++i) printf "no page of a log" }' | dd of="$inputs/broken.sqlite" bs=4096 conv=notrunc \
  iflag=fullblock status=none seek=$(($(stat -c %s "$inputs/broken.sqlite") / 4096 - 4))
printf 'method: margins\nhidden: [16]\nensemble: 2\nsteps: %s\nfinal_steps: 20\n' "$steps" >"$inputs/recipe.yaml"
awk 'BEGIN { print "tile,stages,ratio,time_ms"
  for (t = 1; t <= 16; ++t) for (s = 1; s <= 4; ++s) print t * 8 "," s "," t / 7 "," 1 / t + s / 3 }' >"$inputs/table.csv"
awk 'BEGIN { print "m,n,k"; for (i = 1; i <= 300; ++i) print i * 37 % 4096 + 1 "," i * 101 % 8192 + 1 "," i * 64 }' >"$inputs/products.csv"

# --- how it is run: each surrounding sets itself up in the subshell of its commands, or says why it cannot ---
surroundings=(again threads_2 threads_4 utf8 german kolkata newfoundland umask_077 tmpdir_other tmpdir_missing no_home folder
  processor)
declare -A title=(
  [again]="again" [threads_2]="2 threads" [threads_4]="4 threads" [utf8]="C.UTF-8" [german]="de_DE.UTF-8"
  [kolkata]="Asia/Kolkata" [newfoundland]="America/St_Johns" [umask_077]="umask 077" [tmpdir_other]="other TMPDIR"
  [tmpdir_missing]="TMPDIR missing" [no_home]="no HOME" [folder]="other folder" [processor]="no AVX")
mix_a=(threads_2 utf8 kolkata umask_077 tmpdir_other)
mix_b=(threads_4 german newfoundland tmpdir_missing no_home folder)
title[mix_a]="2 threads, C.UTF-8, Asia/Kolkata, umask 077, other TMPDIR"
title[mix_b]="4 threads, de_DE.UTF-8, America/St_Johns, TMPDIR missing, no HOME, other folder"
[ "$quick" = no ] || surroundings=(mix_a mix_b processor)
for i in "${!others[@]}"; do
  surroundings+=("other_$i")
  title[other_$i]="build $((i + 2))"
done
locales=$work/locales
german_locale() { # a decimal comma, whoever runs this
  mkdir -p "$locales"
  [ -d "$locales/de_DE.UTF-8" ] || localedef -i de_DE -f UTF-8 "$locales/de_DE.UTF-8" 2>/dev/null || return
  [ "$(LOCPATH=$locales LC_ALL=de_DE.UTF-8 locale decimal_point)" = , ]
}
has_german=yes
if ! german_locale; then
  has_german=no
  title[mix_b]=${title[mix_b]/, de_DE.UTF-8/}
  mix_b=("${mix_b[@]/german/first}")
fi
surround() {
  local one
  case $1 in
    mix_a) for one in "${mix_a[@]}"; do surround "$one"; done ;;
    mix_b) for one in "${mix_b[@]}"; do surround "$one"; done ;;
    first | again | folder) ;;
    threads_*) threads=${1#threads_} ;;
    utf8) export LC_ALL=C.UTF-8 ;;
    german) { export LOCPATH=$locales && export LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8; } 2>/dev/null ;;  # bash itself has no LOCPATH
    kolkata) export TZ=Asia/Kolkata ;;
    newfoundland) export TZ=America/St_Johns ;;
    umask_077) umask 077 ;;
    tmpdir_other) mkdir -p "$work/tmp" && export TMPDIR=$work/tmp ;;
    tmpdir_missing) export TMPDIR=$work/no_such_folder ;;
    no_home) unset HOME XDG_CONFIG_HOME ;;
    # glibc's own choices (memcpy, exp, ...), OpenBLAS's and LibTorch's; the program itself is compiled for any x86-64.
    processor)
      export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX2_Usable,-AVX2,-FMA_Usable,-FMA,-FMA4_Usable,-FMA4,-ERMS
      export ATEN_CPU_CAPABILITY=default OPENBLAS_CORETYPE=Nehalem
      ;;
    other_*) program=${others[${1#other_}]} ;;
  esac
}

# fingerprint SURROUNDING COMMAND: runs it and prints one hash of all that it made, or why there is none.
fingerprint() {
  local folder=$work/$1/$2
  [ "$1" != folder ] && [ "$1" != mix_b ] || folder="$work/another folder, ä/$1/$2"
  rm -rf "$folder"
  mkdir -p "$folder"
  (
    cd "$folder"
    surround "$1"
    "run_$2" >/dev/null 2>"$work/said" || { echo "failed: $(head -n 1 "$work/said")"; exit; }
    # Builds of other commits may be compared: what they made says which one it was.
    local commit
    commit=$("$program" --version | sed -n 's/^commit //p')
    find . -type f '(' -name '*.json' -o -name '*.md' -o -name '*.html' -o -name card ')' -exec sed -i "s/$commit/COMMIT/g" {} +
    find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-64
  )
}

declare -A first=() cells=() deviation=()
for command in "${commands[@]}"; do
  first[$command]=$(fingerprint first "$command")
  case ${first[$command]} in failed:*) echo "determinism.sh: $command ${first[$command]}" >&2; exit 1 ;; esac
done
wrong=0
for surrounding in "${surroundings[@]}"; do
  for command in "${commands[@]}"; do
    cell=same
    if [ "$surrounding" = german ] && [ "$has_german" = no ]; then
      cell="no such locale"
    else
      made=$(fingerprint "$surrounding" "$command")
      if [ "$made" != "${first[$command]}" ]; then
        cell=DIFFERS
        # Training rounds as the kernels do that its libraries choose for a processor: docs/training.md.
        case "$surrounding ${learning[*]}" in
          processor*" $command"*) cell="other rounding" ;;
          *) wrong=1 ;;
        esac
        case $made in failed:*) deviation[$surrounding/$command]=$made ;; esac
      fi
    fi
    cells[$surrounding/$command]=$cell
  done
done

printf '| surroundings |'
printf ' %s |' "${commands[@]//_/ }"
printf '\n|---|'
for _ in "${commands[@]}"; do printf -- '---|'; done
printf '\n'
for surrounding in "${surroundings[@]}"; do
  printf '| %s |' "${title[$surrounding]}"
  for command in "${commands[@]}"; do printf ' %s |' "${cells[$surrounding/$command]}"; done
  printf '\n'
done
for one in "${!deviation[@]}"; do echo "$one: ${deviation[$one]}"; done
for i in "${!others[@]}"; do
  echo "build $((i + 2)): $("${others[$i]}" --version | head -n 1)"
done
exit $wrong

#!/usr/bin/env bash
# Builds the fuzzers and runs every reader of outside bytes for a number of executions, going on where it stopped.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/fuzz.sh [--runs N] [--reader NAME]... [--most-seconds S] [--no-build] [--table | --coverage | --shrink]

Every reader of bytes from outside (tests/fuzz) under libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer.
What counts as a finding: a crash, undefined behaviour, an exception that is no Error, an error of several lines, a
promise that does not hold (what was read must read back), 10 s for one input, an allocation above 256 MiB.

  --runs N          executions per reader, counted over all calls (default: 10000000; 1000000 for SQLite files and ONNX)
  --reader NAME     this reader alone; may be given again (default: all)
  --most-seconds S  stop a reader after S seconds in this call
  --no-build        the fuzzers are built
  --table           only print what was done so far
  --coverage        only print which lines of the readers the inputs found so far reach
  --shrink          only leave away inputs that reach nothing new
  --help            this text

Results: build/fuzz/results.csv (a line per piece of work), inputs that reach something new build/fuzz/corpus/READER,
findings build/fuzz/findings. Run it again to go on. Exit code 1: something was found.

Environment:
  JOBS      readers at a time (default: number of processors)
  FUZZ_DIR  build folder (default: build/fuzz)
TEXT
}

runs="" build=yes only=run most_seconds=0
readers=()
while [ $# -gt 0 ]; do
  case $1 in
    --runs | --reader | --most-seconds)
      [ $# -ge 2 ] || { echo "fuzz.sh: $1 needs a value. See --help" >&2; exit 2; }
      case $1 in --runs) runs=$2 ;; --reader) readers+=("$2") ;; *) most_seconds=$2 ;; esac
      shift ;;
    --no-build) build=no ;;
    --table) only=table ;;
    --coverage) only=coverage ;;
    --shrink) only=shrink ;;
    -h | --help) usage; exit 0 ;;
    *) echo "fuzz.sh: unknown argument '$1'. See --help" >&2; exit 2 ;;
  esac
  shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=${FUZZ_DIR:-build/fuzz}
programs=$folder/tests/fuzz
results=$folder/results.csv
export HINDSIGHT_DATA_DIR=$PWD
export ASAN_OPTIONS=strict_string_checks=1:allocator_may_return_null=0
export UBSAN_OPTIONS=print_stacktrace=1
# Readers of files write each input to one.
[ -d /dev/shm ] && [ -w /dev/shm ] && export TMPDIR=/dev/shm
# Counters of covered lines are written by --coverage alone.
export LLVM_PROFILE_FILE=/dev/null

if [ "$only" = run ] && [ "$build" = yes ]; then
  command -v clang++ > /dev/null || { echo "fuzz.sh: clang++ is missing. apt-get install clang llvm" >&2; exit 1; }
  cmake --preset fuzz
  cmake --build "$folder" --target hindsight_fuzz --parallel "${JOBS:-$(nproc)}"
fi
[ -x "$programs/hindsight_fuzz_seeds" ] ||
  { echo "fuzz.sh: $programs has no fuzzers. Run scripts/fuzz.sh without --no-build" >&2; exit 1; }
declare -A program_of dictionary_of
all_readers=()
while read -r reader dictionary; do
  all_readers+=("$reader")
  dictionary_of[$reader]=tests/fuzz/dictionaries/$dictionary.dict
done < <("$programs/hindsight_fuzz_seeds")
[ ${#readers[@]} -gt 0 ] || readers=("${all_readers[@]}")

# Each fuzzer says its readers when it is not told one.
for list in table yaml network log model word program; do
  for reader in $({ "$programs/hindsight_fuzz_$list" 2>&1 || true; } | sed -n 's/.*Readers: //p'); do
    program_of[$reader]=$programs/hindsight_fuzz_$list
  done
done
for reader in "${readers[@]}"; do
  [ -n "${program_of[$reader]:-}" ] || { echo "fuzz.sh: no reader '$reader'. Readers: ${!program_of[*]}" >&2; exit 2; }
done

# What a reader is to be asked: executions, longest input.
runs_of() {
  if [ -n "$runs" ]; then echo "$runs"; return; fi
  case $1 in log | log_repair | optuna | onnx) echo 1000000 ;; *) echo 10000000 ;; esac
}
longest_of() {
  case $1 in
    log | log_repair | optuna) echo 65536 ;;
    model | checkpoint | landscape | residual) echo 16384 ;;
    command_line | expression | objective | condition | design | numbers | gemm_columns) echo 256 ;;
    *) echo 2048 ;;
  esac
}
done_of() { awk -F, -v reader="$1" '$1 == reader { sum += $2 } END { printf "%d", sum }' "$results"; }

# One piece of work of one reader: a line of the results, and the findings.
fuzz_piece() {
  local reader=$1 count=$2 seconds=$3 corpus=$folder/corpus/$1 output=$folder/output/$1.txt
  local program=${program_of[$1]}
  local options=()
  [ -f "${dictionary_of[$reader]}" ] && options+=("-dict=${dictionary_of[$reader]}")
  mkdir -p "$corpus" "$folder/findings" "$folder/output"
  local status=0
  HINDSIGHT_FUZZ_READER=$reader "$program" "$corpus" -runs="$count" -max_total_time="$seconds" -timeout=10 \
    -rss_limit_mb=2560 -malloc_limit_mb=256 -max_len="$(longest_of "$reader")" -print_final_stats=1 -verbosity=1 \
    -artifact_prefix="$folder/findings/$reader-" "${options[@]}" > "$output" 2>&1 || status=$?
  local executed seconds_taken rss edges
  executed=$(sed -n 's/^stat::number_of_executed_units: //p' "$output" | tail -1)
  rss=$(sed -n 's/^stat::peak_rss_mb: *//p' "$output" | tail -1)
  edges=$(grep -o 'cov: [0-9]*' "$output" | tail -1 | cut -d' ' -f2)
  seconds_taken=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$output" | tail -1)
  echo "$reader,${executed:-0},${seconds_taken:-0},${rss:-0},${edges:-0},$status,$(date -u +%F)" >> "$results"
  return "$status"
}
# Until the reader has its executions, or something was found.
fuzz_reader() {
  local reader=$1 left
  left=$(($(runs_of "$reader") - $(done_of "$reader")))
  [ "$left" -gt 0 ] || return 0
  fuzz_piece "$reader" "$left" "$most_seconds" && echo "$reader: $(done_of "$reader") executions" ||
    { echo "$reader: FOUND something: $folder/output/$reader.txt, $folder/findings/$reader-*"; return 1; }
}

table() {
  printf '%-18s %12s %9s %9s %7s %9s  %s\n' reader executions seconds per_second edges peak_MiB findings
  local reader
  for reader in "${readers[@]}"; do
    awk -F, -v reader="$reader" '
      $1 == reader { runs += $2; seconds += $3; if ($4 > rss) rss = $4; if ($5 > edges) edges = $5; found += $6 != 0 }
      END { printf "%-18s %12d %9d %9d %7d %9d  %d\n", reader, runs, seconds, seconds ? runs / seconds : 0, edges, rss, found }' \
      "$results"
  done
}

coverage() {
  local profiles=$folder/profiles reader
  rm -rf "$profiles"
  mkdir -p "$profiles"
  for reader in "${readers[@]}"; do
    [ -d "$folder/corpus/$reader" ] || continue
    HINDSIGHT_FUZZ_READER=$reader LLVM_PROFILE_FILE=$profiles/$reader.profraw "${program_of[$reader]}" -runs=0 \
      "$folder/corpus/$reader" > /dev/null 2>&1 || echo "$reader: its inputs do not run through" >&2
  done
  llvm-profdata merge -o "$profiles/all.profdata" "$profiles"/*.profraw
  mapfile -t sources < <(grep -v '^#' tests/fuzz/reader_sources.txt)
  local objects=()
  for list in yaml network log model word program; do objects+=(-object "$programs/hindsight_fuzz_$list"); done
  llvm-cov report "$programs/hindsight_fuzz_table" "${objects[@]}" -instr-profile="$profiles/all.profdata" "${sources[@]}" |
    awk '/^Filename/ || /^-/ || /cpp/ || /TOTAL/ { if (NF >= 10) printf "%-48s %6s lines, %6s missed, %s\n", $1, $8, $9, $10 }'
}

shrink() {
  local reader
  for reader in "${readers[@]}"; do
    [ -d "$folder/corpus/$reader" ] || continue
    rm -rf "$folder/corpus.new"
    mkdir -p "$folder/corpus.new"
    HINDSIGHT_FUZZ_READER=$reader "${program_of[$reader]}" -merge=1 "$folder/corpus.new" "$folder/corpus/$reader" > /dev/null 2>&1
    echo "$reader: $(ls "$folder/corpus/$reader" | wc -l) -> $(ls "$folder/corpus.new" | wc -l) inputs"
    rm -rf "$folder/corpus/$reader"
    mv "$folder/corpus.new" "$folder/corpus/$reader"
  done
}

[ -f "$results" ] || echo "reader,executions,seconds,peak_rss_mb,edges,status,date" > "$results"
case $only in
  table) table; exit 0 ;;
  coverage) coverage; exit 0 ;;
  shrink) shrink; exit 0 ;;
esac

"$programs/hindsight_fuzz_seeds" "$folder/corpus" > "$folder/seeds.txt"
status=0
running=0
for reader in "${readers[@]}"; do
  fuzz_reader "$reader" &
  running=$((running + 1))
  if [ "$running" -ge "${JOBS:-$(nproc)}" ]; then
    wait -n || status=1
    running=$((running - 1))
  fi
done
while [ "$running" -gt 0 ]; do
  wait -n || status=1
  running=$((running - 1))
done
table
exit "$status"

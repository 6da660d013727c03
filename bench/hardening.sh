#!/usr/bin/env bash
# What the protections of cmake/HindsightHardening.cmake cost: two builds of one source, in turn. The table of docs/reliability.md.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: bench/hardening.sh [--plain FILE] [--hardened FILE] [--runs N]

Runs five verbs with both programs in turn, N times each, and prints a Markdown table of the medians of their user CPU
time, and the cost. Takes three minutes on an idle core.

  --plain FILE     program of a build without (default: build/plain/apps/hindsight/hindsight; see below)
  --hardened FILE  program of a build with (default: build/release/apps/hindsight/hindsight)
  --runs N         runs of each (default: 9)
  --help           this text

Without, to compare with build/release:
  cmake -S . -B build/plain -G Ninja -DCMAKE_BUILD_TYPE=Release -DHINDSIGHT_BUILD_TESTS=OFF -DHINDSIGHT_HARDENING=OFF
  cmake --build build/plain --target hindsight
TEXT
}

fail() { echo "hardening.sh: $1" >&2; exit 2; }
cd "$(dirname "$0")/.."
plain=build/plain/apps/hindsight/hindsight
hardened=build/release/apps/hindsight/hindsight
runs=9
while [ $# -gt 0 ]; do
  case $1 in
    --plain | --hardened | --runs)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case $1 in
        --plain) plain=$2 ;;
        --hardened) hardened=$2 ;;
        --runs) runs=$2 ;;
      esac
      shift 2
      ;;
    --help) usage; exit 0 ;;
    *) fail "unknown argument '$1'. See bench/hardening.sh --help" ;;
  esac
done
for program in "$plain" "$hardened"; do [ -x "$program" ] || fail "there is no program $program. Build it: see --help"; done
plain=$(realpath "$plain")
hardened=$(realpath "$hardened")
export HINDSIGHT_DATA_DIR=${HINDSIGHT_DATA_DIR:-$PWD}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
awk 'BEGIN { print "m,n,k"; for (i = 1; i <= 15000; ++i) print i * 37 % 8192 + 1 "," i * 101 % 8192 + 1 "," i * 64 % 16384 + 1 }' >products.csv
awk 'BEGIN { print "tile,unroll,stages,threads,time_ms"
  for (i = 0; i < 60000; ++i) print i % 64 "," int(i / 64) % 32 "," int(i / 2048) % 8 "," int(i / 16384) "," 1 + i % 977 / 7 }' >table.csv

commands=(
  "sweep --space edge --workloads unet,mobilenet_v2 --samples 40000 --threads 1 --log log.sqlite --quiet"
  "optimum --workloads prime9 --objective edp --top 5 --quiet"
  "propose --workload unet --max area_mm2=27 --evaluations 30000"
  "gemm --gpu all --csv products.csv --out gemm.csv"
  "log import table.csv --objective time_ms --log log.sqlite"
)
# cpu_ms PROGRAM COMMAND: user CPU time of one run.
cpu_ms() {
  rm -f log.sqlite* gemm.csv
  # shellcheck disable=SC2086  # the words of a command
  { TIMEFORMAT=%U; time "$1" $2 >/dev/null 2>&1; } 2>&1 | awk '{ printf "%d\n", $1 * 1000 }'
}
median() { sort -n | awk '{ value[NR] = $1 } END { print (NR % 2) ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'; }

echo "| command | without, ms | with, ms | cost |"
echo "|---|---:|---:|---:|"
for command in "${commands[@]}"; do
  rm -f log.sqlite*
  # shellcheck disable=SC2086  # the words of a command
  "$plain" $command >/dev/null 2>said.txt || fail "'$command' does not run: $(head -n 1 said.txt)"
  : >without.txt
  : >with.txt
  for _ in $(seq "$runs"); do
    cpu_ms "$plain" "$command" >>without.txt
    cpu_ms "$hardened" "$command" >>with.txt
  done
  awk -v command="$command" -v a="$(median <without.txt)" -v b="$(median <with.txt)" \
    'BEGIN { printf "| `%s` | %d | %d | %+.1f %% |\n", command, a, b, 100 * (b / a - 1) }'
done

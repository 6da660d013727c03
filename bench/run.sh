#!/usr/bin/env bash
# One table of ratios: what evaluation, log and sweep reach of what this machine can do.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: bench/run.sh [--build FOLDER] [--only PART,PART]

Builds the benchmarks and prints one Markdown table: ours, the limit, their ratio; two threads against one; spaces of
10^4 to 10^9 designs; memory per million designs. Ours and its limit are measured in turn, in CPU time where no threads
are named. Takes about four minutes on two idle cores.

  --build FOLDER  build folder (default: build/bench, configured as the preset bench where it is missing)
  --only PART     memory, evaluation, log, sweep, scaling or sizes (default: all)
  --help          this text
TEXT
}

build=
only=()
while [ $# -gt 0 ]; do
  case $1 in
    --build)
      [ $# -ge 2 ] || { echo "run.sh: --build needs a folder" >&2; exit 2; }
      build=$2
      shift 2
      ;;
    --only)
      [ $# -ge 2 ] || { echo "run.sh: --only needs parts" >&2; exit 2; }
      only=(--only "$2")
      shift 2
      ;;
    --help) usage; exit 0 ;;
    *) echo "run.sh: unknown argument '$1'. See bench/run.sh --help" >&2; exit 2 ;;
  esac
done

cd "$(dirname "$0")/.."
if [ -z "$build" ]; then
  build=build/bench
  [ -f "$build/build.ninja" ] || cmake --preset bench >/dev/null
fi
[ -f "$build/build.ninja" ] || { echo "run.sh: $build is no build folder. Try: cmake --preset bench" >&2; exit 2; }
ninja -C "$build" ratios >/dev/null || { ninja -C "$build" ratios; exit 1; }
"$build/bench/ratios" "${only[@]}"

#!/usr/bin/env bash
# Measures a GPU in one call: builds the small program where needed, checks its kernels, and runs the standard plan.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/measure-gpu.sh [OPTIONS] [FOLDER]

Measures the GPU of this machine into FOLDER (default: gpu-measurements), within a time budget:
  1. builds hindsight-measure in build/measure; needs a CUDA toolkit (12 or newer), CMake 3.25, a C++20
     compiler and make or ninja, no other package and no network
  2. checks every kernel against the host
  3. computes a landscape of accelerators (hindsight optimum --all --device cuda): a small one against the host bit for
     bit, then a large one against the clock (a quarter of the budget, 45 s at most); skipped with 5 s left or fewer
  4. measures: the device, about 60 GEMM shapes per number format by cuBLASLt (burst), 12 of them sustained with
     power, the plain tiled kernel at tile sizes 1 to 32, cuBLASLt's further algorithms on 6 shapes

Run it again to go on where it stopped: what FOLDER has of this very GPU is not measured again.

FOLDER gets measurements.jsonl (every row, with its provenance), landscape.jsonl (the landscape's, one line), checks.txt,
device.txt (what nvidia-smi says, where there is one) and run.log. Then, on any machine that has Hindsight:
  hindsight measure import FOLDER/measurements.jsonl --log gpu.sqlite --sheet my-gpu.yaml

  --budget-s S     start nothing later than S seconds after the start, the build included (default: 460)
  --device N       number of the CUDA device (default: 0)
  --program FILE   a hindsight-measure that is built already: skip step 1
  --help           this text
Options after -- go to hindsight-measure (see hindsight-measure --help), e.g. -- --dtype bf16,fp8 --only gemm

Environment:
  BUILD_DIR            build folder (default: build/measure)
  CUDACXX              nvcc, where it is not on the PATH or in /usr/local/cuda
  HINDSIGHT_CUBLASLT   file of libcublasLt, where the loader does not find it
  HINDSIGHT_CUBLASLT_INCLUDE   folder of cublasLt.h, where the toolkit has none
The cuBLASLt of a Python environment (nvidia-cublas) is found without these.

Exit codes: 0 done or out of budget, 1 failed, or a measurement did (the other rows are kept), 2 usage, 5 no CUDA or
no device, 130, 143 or 129 interrupted, terminated, hung up
TEXT
}

started=$SECONDS
budget_s=460
device=0
program=
folder=
more=()
while [ $# -gt 0 ]; do
  case $1 in
    --budget-s | --device | --program)
      [ $# -ge 2 ] || { echo "measure-gpu.sh: $1 needs a value. See --help" >&2; exit 2; }
      case $1 in
        --budget-s) budget_s=$2 ;;
        --device) device=$2 ;;
        --program) program=$2 ;;
      esac
      shift 2
      ;;
    -h | --help) usage; exit 0 ;;
    --) shift; more=("$@"); break ;;
    -*) echo "measure-gpu.sh: unknown option '$1'. See --help" >&2; exit 2 ;;
    *)
      [ -z "$folder" ] || { echo "measure-gpu.sh: unexpected argument '$1'. See --help" >&2; exit 2; }
      folder=$1
      shift
      ;;
  esac
done
case $budget_s in '' | *[!0-9]*) echo "measure-gpu.sh: --budget-s $budget_s: is not a whole number of seconds" >&2; exit 2 ;; esac
case $device in '' | *[!0-9]*) echo "measure-gpu.sh: --device $device: is not a number" >&2; exit 2 ;; esac
folder=${folder:-gpu-measurements}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
# Before the build, which takes minutes.
if ! { : >>"$folder/run.log"; } 2>/dev/null; then
  echo "measure-gpu.sh: $folder: no file can be written there. Check its permissions and its disk, or name another" \
    "folder" >&2
  exit 1
fi
[ -z "$program" ] || program=$(realpath "$program")
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# in_python PATTERN: a file of the Python environment's NVIDIA packages, or nothing.
in_python() {
  command -v python3 >/dev/null || return 0
  python3 -c 'import glob, site, sys
places = site.getsitepackages() + sys.path
print(next((f for p in places for f in sorted(glob.glob(p + "/nvidia/*/" + sys.argv[1]))), ""))' "$1" 2>/dev/null || true
}
# Whether the folder takes some kilobytes more: where its disk is full, the log that would say so has no room either.
takes_more() {
  local taken=0
  head -c 16384 /dev/zero 2>/dev/null >"$folder/run.log.room" || taken=1
  rm -f "$folder/run.log.room"
  return $taken
}
# The cuBLASLt of a Python environment serves where no other is found.
if [ -z "${HINDSIGHT_CUBLASLT:-}" ] && ! ldconfig -p 2>/dev/null | grep libcublasLt >/dev/null; then
  found=$(in_python 'lib/libcublasLt.so.1*')
  if [ -n "$found" ]; then export HINDSIGHT_CUBLASLT=$found; fi
fi
if [ -z "${HINDSIGHT_CUBLASLT_INCLUDE:-}" ]; then
  found=$(in_python 'include/cublasLt.h')
  if [ -n "$found" ]; then export HINDSIGHT_CUBLASLT_INCLUDE=${found%/*}; fi
fi

if [ -z "$program" ]; then
  echo "== 1/4 Build"
  build_dir=${BUILD_DIR:-build/measure}
  generator=()
  if [ ! -e "$build_dir/CMakeCache.txt" ] && command -v ninja >/dev/null; then generator=(-G Ninja); fi
  if ! { cmake -S . -B "$build_dir" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DHINDSIGHT_MEASURE_ONLY=ON -DHINDSIGHT_CUDA=ON &&
    cmake --build "$build_dir" --parallel "$(nproc)" --target hindsight-measure; } >"$folder/build.log" 2>&1; then
    tail -n 20 "$folder/build.log" >&2
    echo "measure-gpu.sh: the build failed (the whole of it: $folder/build.log). Is there a CUDA toolkit?" >&2
    exit 5
  fi
  program=$build_dir/apps/hindsight_measure/hindsight-measure
fi
if command -v nvidia-smi >/dev/null; then nvidia-smi -q >"$folder/device.txt" 2>&1 || true; fi

echo "== 2/4 Check of the kernels"
status=0
"$program" --check --device "$device" >"$folder/checks.txt" 2>&1 || status=$?
cat "$folder/checks.txt"
# A kernel that is wrong (3), or a check that broke off (1), does not spoil the others' rows: measured all the same, and
# said at the end.
case $status in
  0 | 1 | 3) checked=$status ;;
  *) exit "$status" ;;
esac
status=0

echo "== 3/4 Landscape"
landscape=0
left=$((budget_s - (SECONDS - started)))
if [ "$left" -le 5 ]; then
  echo "skipped: of the budget of $budget_s s no more than 5 s are left"
else
  landscape_s=$((left / 4)) # of the large space; the small one takes some seconds
  [ "$landscape_s" -le 45 ] || landscape_s=45
  "$program" --landscape --device "$device" --budget-s "$landscape_s" "$folder/landscape.jsonl" || landscape=$?
fi
[ "$landscape" -lt 128 ] || exit "$landscape" # interrupted

echo "== 4/4 Measure"
left=$((budget_s - (SECONDS - started)))
if [ "$left" -le 0 ]; then
  echo "measure-gpu.sh: the budget of $budget_s s is spent before the measurement. Run it again: what is done is kept" >&2
  exit 1
fi
"$program" --device "$device" --budget-s "$left" "${more[@]}" "$folder/measurements.jsonl" 2>"$folder/run.log" || status=$?
case $status in
  0) ;;
  1)
    # Tasks that failed are named in the log; the other rows are good.
    grep -E 'failed: |error: ' "$folder/run.log" | tail -n 5 >&2 || true
    takes_more || echo "measure-gpu.sh: the disk of $folder is full, or fails. Free some space" >&2
    echo "measure-gpu.sh: not everything was measured (see $folder/run.log). Rows that succeeded are in $folder; run it" \
      "again to try the rest" >&2
    exit 1
    ;;
  *)
    tail -n 3 "$folder/run.log" >&2
    exit "$status"
    ;;
esac
echo "Results: $folder. Took $((SECONDS - started)) s."
case $landscape in
  0) ;;
  3) echo "measure-gpu.sh: the landscape on the device is not the host's: don't use --device cuda here" >&2 ;;
  *)
    echo "measure-gpu.sh: the landscape on the device failed (its reason stands above, under 3/4); the measurements are" \
      "not touched by that. Run it again?" >&2
    ;;
esac
case $checked in
  3)
    echo "measure-gpu.sh: kernels disagree with the host: don't use the rows of those in $folder/checks.txt" >&2
    exit 1
    ;;
  1)
    echo "measure-gpu.sh: the check of the kernels failed before its end: no row is confirmed (see $folder/checks.txt)" >&2
    exit 1
    ;;
esac
[ "$landscape" -eq 0 ] || exit 1

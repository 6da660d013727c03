#!/usr/bin/env bash
# Makes the pictures of README.md and docs/gallery.md again, but pipeline.svg, which is drawn by hand.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/pictures.sh [FOLDER]

Runs the commands of docs/gallery.md and writes their figures to FOLDER (default: docs/pictures), with a
screenshot of the first study's report where there is a Chromium. Takes about a minute.

Environment:
  BUILD_DIR            build folder with the program (default: build/release)
  HINDSIGHT_SHARED_DIR folder of recorded data (logs/): without it the figures of other people's logs stay
TEXT
}

case ${1:-} in
  -h | --help) usage; exit 0 ;;
  -*) echo "pictures.sh: unknown argument '$1'. See --help" >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
pictures=$(realpath -m -- "${1:-docs/pictures}")
PATH="$(realpath -m -- "${BUILD_DIR:-build/release}")/apps/hindsight:$PATH"
export PATH
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$pictures"
cd "$folder"

hindsight sweep --space edge --workloads mobilenet_v2 --samples 2000 --max area_mm2=60 --seed 1 --log edge.sqlite --quiet
hindsight train --log edge.sqlite --recipe margins --out edge.safetensors --quiet
hindsight propose --model edge.safetensors --workload mobilenet_v2 --max area_mm2=27 --log edge.sqlite --new --top 5 \
  --simulate >/dev/null
hindsight report --log edge.sqlite --format svg --figure pareto --out "$pictures/edge-pareto.svg"

browser=$(command -v chromium || command -v chromium-browser || true)
if [ -n "$browser" ]; then
  hindsight report --log edge.sqlite --out report.html
  "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,900 \
    --virtual-time-budget=4000 --user-data-dir="$folder/browser" --screenshot="$pictures/report.png" \
    "file://$folder/report.html" >/dev/null 2>&1
  echo "$pictures/report.png"
else
  echo "pictures.sh: no chromium, so the screenshot stays as it is. apt-get install chromium?" >&2
fi

if [ -z "${HINDSIGHT_SHARED_DIR:-}" ]; then
  echo "pictures.sh: HINDSIGHT_SHARED_DIR is not set, so the figures of other people's logs stay as they are" >&2
  exit 0
fi
logs=$HINDSIGHT_SHARED_DIR/logs
hindsight log import "$logs/convolution_milo_A100.csv" --objective time_ms --infeasible infeasible --log a100.sqlite
hindsight report --log a100.sqlite --format svg --figure reasons-by-parameter --panel block_size_x \
  --out "$pictures/a100-reasons.svg"
hindsight log import "$logs/hlsyn/v18_gemm-ncubed.csv" --objective perf --infeasible valid=0 \
  --constraint util_BRAM,util_DSP,util_LUT,util_FF --duplicates best --log hls.sqlite >/dev/null
hindsight report --log hls.sqlite --format svg --figure reasons-by-parameter --panel para_l1 \
  --out "$pictures/hls-reasons.svg"

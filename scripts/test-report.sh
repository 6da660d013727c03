#!/usr/bin/env bash
# Makes reports of small logs, empty and hostile ones among them, and opens them in headless Chromium.
set -euo pipefail

if [ $# -lt 2 ] || [ $# -gt 3 ]; then
  echo "usage: scripts/test-report.sh HINDSIGHT CHROMIUM [FOLDER FOR SCREENSHOTS]" >&2
  exit 2
fi
hindsight=$(realpath "$1")
chromium=$2
pictures=${3:-}
[ -z "$pictures" ] || pictures=$(realpath "$pictures")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$hindsight" sweep --space edge --workloads mobilenet_v2,unet --samples 5000 --log "$folder/study.sqlite" --quiet
"$hindsight" propose --model models/edge-prime9.safetensors --workloads mobilenet_v2,unet --max area_mm2=29 --simulate \
  --evaluations 5000 --top 5 --log "$folder/study.sqlite" >/dev/null
"$hindsight" check --log "$folder/study.sqlite" >/dev/null
"$hindsight" report --log "$folder/study.sqlite" --model models/edge-prime9.safetensors --out "$folder/report.html"
python3 tests/browser/report_test.py "$chromium" "$folder/report.html" ${pictures:+"$pictures"}

"$hindsight" sweep --space edge --workloads unet --samples 1 --log "$folder/one.sqlite" --quiet
"$hindsight" report --log "$folder/one.sqlite" --out "$folder/one.html"
python3 tests/browser/report_test.py "$chromium" "$folder/one.html"

"$hindsight" report --compare "$folder/study.sqlite" "$folder/one.sqlite" --out "$folder/both.html"
python3 tests/browser/report_test.py "$chromium" "$folder/both.html"
python3 tests/browser/live_test.py "$chromium" "$hindsight" ${pictures:+"$pictures"}

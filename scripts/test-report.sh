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
[ -z "$pictures" ] || { mkdir -p -- "$pictures"; pictures=$(realpath "$pictures"); }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$hindsight" sweep --space edge --workloads mobilenet_v2,unet --samples 5000 --max area_mm2=60 --max peak_power_w=5 \
  --log "$folder/study.sqlite" --quiet
"$hindsight" propose --model models/edge-prime9.safetensors --workloads mobilenet_v2,unet --max area_mm2=29 --simulate \
  --evaluations 5000 --top 5 --log "$folder/study.sqlite" >/dev/null
"$hindsight" check --log "$folder/study.sqlite" >/dev/null
"$hindsight" report --log "$folder/study.sqlite" --model models/edge-prime9.safetensors --out "$folder/report.html"
python3 tests/browser/report_test.py "$chromium" "$folder/report.html" ${pictures:+"$pictures"}

"$hindsight" sweep --space edge --workloads unet --samples 1 --log "$folder/one.sqlite" --quiet
"$hindsight" report --log "$folder/one.sqlite" --out "$folder/one.html"
python3 tests/browser/report_test.py "$chromium" "$folder/one.html"

# Rounds that a model chose, and trainings.
"$hindsight" campaign --space tiny --workloads m4,unet --rounds 3 --batch 12 --log "$folder/campaign.sqlite" --quiet
"$hindsight" train --log "$folder/campaign.sqlite" --recipe margins --out "$folder/campaign.safetensors" --quiet
"$hindsight" report --log "$folder/campaign.sqlite" --out "$folder/campaign.html"
python3 tests/browser/report_test.py --has=rounds --has=training-curves "$chromium" "$folder/campaign.html"

# Nothing at all, nothing that can be built, names that would be tags.
"$hindsight" ask --space tiny --application nobody --metric cost --objective cost -n 1 --log "$folder/empty.sqlite" >/dev/null 2>&1
printf 'a,b,cost_ms\n1,1,oom\n2,1,oom\n3,1,oom\n1,2,oom\n' >"$folder/infeasible.csv"
printf 'a<b>,"</script><script>throw 1</script>",cost_ms\n1,1,5\n2,1,4\n3,1,3\n1,2,oom\n' >"$folder/hostile.csv"
"$hindsight" log import "$folder/infeasible.csv" --objective cost_ms --log "$folder/infeasible.sqlite" >/dev/null
"$hindsight" log import "$folder/hostile.csv" --objective cost_ms --workload '"><img src=x onerror=alert(1)>' \
  --log "$folder/hostile.sqlite" >/dev/null
for log in empty infeasible hostile; do
  "$hindsight" report --log "$folder/$log.sqlite" --out "$folder/$log.html"
  python3 tests/browser/report_test.py "$chromium" "$folder/$log.html"
done

"$hindsight" report --compare "$folder/study.sqlite" "$folder/one.sqlite" --out "$folder/both.html"
python3 tests/browser/report_test.py "$chromium" "$folder/both.html"
python3 tests/browser/live_test.py "$chromium" "$hindsight" ${pictures:+"$pictures"}

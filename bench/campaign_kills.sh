#!/usr/bin/env bash
# Kills a campaign a hundred times and holds its log against that of a campaign that was never killed.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: bench/campaign_kills.sh [--build FOLDER] [--kills N]

Runs a campaign of 40 rounds on the space `tiny` with an external simulator that takes 150 ms, kills it with SIGKILL after
0.1 to 0.7 s each time, and lets the last run end. Says how many evaluations were lost or done twice. Takes some minutes and
needs python3.

  --build FOLDER  build folder with the program (default: build/release)
  --kills N       kills (default: 100)
  --help          this text
TEXT
}

build=build/release
kills=100
while [ $# -gt 0 ]; do
  case $1 in
    --build | --kills)
      [ $# -ge 2 ] || { echo "campaign_kills.sh: $1 needs a value" >&2; exit 2; }
      if [ "$1" = --build ]; then build=$2; else kills=$2; fi
      shift 2
      ;;
    --help) usage; exit 0 ;;
    *) echo "campaign_kills.sh: unknown argument '$1'. See bench/campaign_kills.sh --help" >&2; exit 2 ;;
  esac
done

cd "$(dirname "$0")/.."
program=$PWD/$build/apps/hindsight/hindsight
[ -x "$program" ] || { echo "campaign_kills.sh: there is no $program. Build it, or name --build" >&2; exit 2; }
command -v python3 >/dev/null || { echo "campaign_kills.sh: needs python3" >&2; exit 2; }
export HINDSIGHT_DATA_DIR=${HINDSIGHT_DATA_DIR:-$PWD}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Every question that was answered is noted, in one write each, before the answer goes out.
cat >"$folder/simulator.py" <<'PYTHON'
import json, os, sys, time
notes = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
for line in sys.stdin:
    question = json.loads(line)
    design = question["design"]
    time.sleep(0.15)
    answer = {"id": question["id"], "metrics": {"latency_s": 1.0 / (design["pes_x"] * design["pes_y"] * design["compute_lanes"])
                                                + design["core_memory_bytes"] / 1e8}}
    if design["pes_x"] * design["cores_per_pe"] > 100:
        answer = {"id": question["id"], "infeasible": "too wide"}
    os.write(notes, (json.dumps(design) + "\n").encode())
    print(json.dumps(answer), flush=True)
PYTHON
printf 'method: margins\nhidden: [16]\nensemble: 2\nsteps: 60\nfinal_steps: 20\n' >"$folder/quick.yaml"

campaign() { # LOG NOTES; in a subshell, which becomes the program
  NOTES=$folder/$2 exec "$program" campaign --space tiny --workloads m6 --evaluator "python3 $folder/simulator.py" \
    --evaluator-name sleeper --evaluator-workers 2 --rounds 40 --batch 8 --recipe "$folder/quick.yaml" --quiet \
    --log "$folder/$1"
}

(campaign whole.sqlite whole.txt)
done_kills=0
for _ in $(seq "$kills"); do
  campaign parts.sqlite parts.txt &
  pid=$!
  sleep "$(python3 -c 'import random; print(random.uniform(0.1, 0.7))')"
  if kill -KILL "$pid" 2>/dev/null; then done_kills=$((done_kills + 1)); fi
  wait "$pid" 2>/dev/null || true
done
(campaign parts.sqlite parts.txt)
"$program" log verify "$folder/parts.sqlite" >/dev/null
whole=$("$program" log hash "$folder/whole.sqlite" | cut -c1-64)
parts=$("$program" log hash "$folder/parts.sqlite" | cut -c1-64)
rows() { "$program" log query "$folder/parts.sqlite" "$1" --csv | tail -n 1; }
echo "kills                               $done_kills"
echo "evaluations in the log              $(rows 'SELECT count(*) FROM evaluations') of $((40 * 8))"
echo "appended twice                      $(rows 'SELECT sum(evaluations_present) FROM runs')"
echo "answered again, in flight at a kill $(($(wc -l <"$folder/parts.txt") - $(wc -l <"$folder/whole.txt")))"
echo "content                             $([ "$whole" = "$parts" ] && echo 'the same as never killed' || echo DIFFERENT)"
[ "$whole" = "$parts" ]

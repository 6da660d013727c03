#!/usr/bin/env bash
# The studies of the learner by layers: trains models from logs, and says how far their proposals are from the optimum.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/studies.sh [--out FOLDER] STEP...

Steps, each resumable: what a finished part left in the folder is kept.

  any          300 synthetic networks, 20,000 designs on nine of them each; the model edge-any
  nine         the nine applications of PRIME's study, logs of the seeds 1, 2 and 3, a model each (recipe layers)
  regret       proposals of every model of the folder for the tasks of bench/offline/optima.csv, simulated, over
               the exact optimum: regret.csv, and a Markdown table on standard output
  accuracy     model score of edge-any on 8,000 designs of thirteen networks that it has not seen

  --out FOLDER   where logs, models and tables go (default: build/studies)
  --help         this text

Environment:
  BUILD_DIR      build folder with the program (default: build/release)
TEXT
}

out=build/studies
steps=()
while [ $# -gt 0 ]; do
  case $1 in
    --out) [ $# -gt 1 ] || { echo "studies.sh: --out needs a folder. See --help" >&2; exit 2; }; out=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    any | nine | regret | accuracy) steps+=("$1") ;;
    *) echo "studies.sh: unknown step '$1'. See --help" >&2; exit 2 ;;
  esac
  shift
done
[ ${#steps[@]} -gt 0 ] || { usage >&2; exit 2; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."
optima=$PWD/bench/offline/optima.csv
PATH="$(realpath -m -- "${BUILD_DIR:-build/release}")/apps/hindsight:$PATH"
command -v hindsight >/dev/null || { echo "studies.sh: no hindsight in BUILD_DIR or on the PATH. Build it, e.g. with scripts/quickstart.sh" >&2; exit 1; }
command -v sqlite3 >/dev/null || { echo "studies.sh: sqlite3 is missing (it reads the JSON). apt-get install sqlite3" >&2; exit 1; }
mkdir -p "$out"
cd "$out"

# train LOG MODEL [argument...]
train() {
  [ -e "$2" ] || hindsight train --log "$1" --recipe layers --out "$2" "${@:3}"
}

step_any() {
  hindsight sweep --space edge --workloads synthetic:300 --networks-per-design 9 --samples 20000 --max area_mm2=100 \
    --seed 1 --log any.sqlite
  train any.sqlite edge-any.safetensors --constraint energy_j --set steps=16000
}

step_nine() {
  local seed
  for seed in 1 2 3; do
    hindsight sweep --space edge --workloads prime9 --samples 20000 --sampler uniform --max area_mm2=100 --seed "$seed" \
      --log "nine-$seed.sqlite"
    train "nine-$seed.sqlite" "nine-$seed.safetensors"
  done
}

# regret_of MODEL TASK APPLICATIONS AREA OPTIMUM: "model;task;first;best;infeasible;proposals", regrets over the optimum.
# A set whose first proposal, or all of whose proposals, cannot be built counts as 3.
regret_of() {
  local json
  json=$(mktemp)
  hindsight propose --model "$1.safetensors" --workloads "$3" --aggregate mean --max "area_mm2=$4" --simulate --json \
    > "$json"
  sqlite3 :memory: "
    WITH p AS (SELECT json_extract(value, '\$.rank') AS rank, json_extract(value, '\$.simulated.value') * 1000 / $5 AS regret
                 FROM json_each(readfile('$json'), '\$.proposals'))
    SELECT printf('%s;%s;%.3f;%.3f;%d;%d', '$1', '$2', coalesce((SELECT regret FROM p WHERE rank = 1), 3),
                  coalesce(min(regret), 3), sum(regret IS NULL), count(*)) FROM p"
  rm -f "$json"
}

step_regret() {
  local model task applications area optimum
  touch regret.csv
  for model in *.safetensors; do
    model=${model%.safetensors}
    while IFS=';' read -r task applications area optimum; do
      grep -q "^$model;$task;" regret.csv || regret_of "$model" "$task" "$applications" "$area" "$optimum" >> regret.csv
    done < <(grep -v '^#' "$optima")
  done
  echo "| model | tasks | first proposal over the optimum | best of ten | first proposals infeasible | of all |"
  echo "|:---|:---|---:|---:|---:|---:|"
  awk -F';' '{ split($2, part, "/"); key = $1 ";" part[1]; n[key]++; first[key] += log($3); best[key] += log($4)
               lost[key] += ($3 == "3.000"); bad[key] += $5; all[key] += $6 }
             END { for (key in n) { split(key, part, ";")
                   printf "| %s | %s | %.3f | %.3f | %d of %d | %d of %d |\n", part[1], part[2], exp(first[key] / n[key]),
                          exp(best[key] / n[key]), lost[key], n[key], bad[key], all[key] } }' regret.csv | sort
}

step_accuracy() {
  hindsight sweep --space edge --workloads prime9,resnet50,vit_b_16,bert_base --samples 8000 --sampler uniform \
    --max area_mm2=100 --seed 77 --log unseen.sqlite --quiet
  hindsight model score edge-any.safetensors --log unseen.sqlite
}

for step in "${steps[@]}"; do "step_$step"; done

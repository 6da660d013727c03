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
               the exact optimum: regret.csv, and Markdown tables on standard output; infeasible shares with and
               without the exact checks, and how many predictions a bound lifted
  accuracy     model score of edge-any on 8,000 designs of thirteen networks that it has not seen
  distance     the error of edge-any beside its distance from 56 networks that it has not seen, 17 of them outside the
               generator's families (scripts/outside-networks.sh); the calibrated model goes to calibrated/
  swap         does a network's own first proposal beat another network's on it? All pairs of the shipped networks
               whose best known designs differ: swap.csv, and a Markdown table

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
    any | nine | regret | accuracy | distance | swap) steps+=("$1") ;;
    *) echo "studies.sh: unknown step '$1'. See --help" >&2; exit 2 ;;
  esac
  shift
done
[ ${#steps[@]} -gt 0 ] || { usage >&2; exit 2; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."
optima=$PWD/bench/offline/optima.csv
outside=$PWD/scripts/outside-networks.sh
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

# proposed MODEL APPLICATIONS ARGUMENT...: ten simulated proposals as JSON.
proposed() {
  hindsight propose --model "$1.safetensors" --workloads "$2" --aggregate mean --simulate --json "${@:3}"
}

# regret_of MODEL TASK APPLICATIONS AREA OPTIMUM: "model;task;first;best;infeasible;proposals;lifted" and, without the
# lower bounds and without these and the limit of the area, "infeasible;proposals" each. Regrets over the optimum. A set
# whose first proposal, or all of whose proposals, cannot be built counts as 3; beyond the area is infeasible.
regret_of() {
  local folder
  folder=$(mktemp -d)
  proposed "$1" "$3" --max "area_mm2=$4" > "$folder/exact.json"
  proposed "$1" "$3" --max "area_mm2=$4" --no-bounds > "$folder/free.json"
  proposed "$1" "$3" --no-bounds > "$folder/unlimited.json"
  sqlite3 :memory: "
    WITH p AS (SELECT json_extract(value, '\$.rank') AS rank, json_extract(value, '\$.predicted.lifted') AS lifted,
                      json_extract(value, '\$.simulated.value') * 1000 / $5 AS regret
                 FROM json_each(readfile('$folder/exact.json'), '\$.proposals')),
         others AS (SELECT sum(json_extract(value, '\$.simulated.value') IS NULL) AS free, count(*) AS frees
                      FROM json_each(readfile('$folder/free.json'), '\$.proposals')),
         any AS (SELECT sum(json_extract(value, '\$.simulated.value') IS NULL
                            OR json_extract(value, '\$.simulated.area_mm2') > $4) AS unlimited, count(*) AS unlimiteds
                   FROM json_each(readfile('$folder/unlimited.json'), '\$.proposals'))
    SELECT printf('%s;%s;%.3f;%.3f;%d;%d;%d;%d;%d;%d;%d', '$1', '$2',
                  coalesce((SELECT regret FROM p WHERE rank = 1), 3), coalesce(min(regret), 3), sum(regret IS NULL),
                  count(*), sum(lifted), (SELECT free FROM others), (SELECT frees FROM others),
                  (SELECT unlimited FROM any), (SELECT unlimiteds FROM any)) FROM p"
  rm -rf "$folder"
}

step_regret() {
  local model task applications area optimum
  touch regret.csv
  awk -F';' 'NF == 11' regret.csv > regret.csv.new && mv regret.csv.new regret.csv  # older ones had fewer columns
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
  echo
  echo "| model | tasks | infeasible with the exact checks | without lower bounds |" \
    "without these and the limit of the area | predictions lifted |"
  echo "|:---|:---|---:|---:|---:|---:|"
  awk -F';' '{ split($2, part, "/"); key = $1 ";" part[1]; bad[key] += $5; all[key] += $6; lifted[key] += $7
               free[key] += $8; frees[key] += $9; any[key] += $10; anys[key] += $11 }
             END { for (key in all) { split(key, part, ";")
                   printf "| %s | %s | %d of %d | %d of %d | %d of %d | %d |\n", part[1], part[2], bad[key], all[key],
                          free[key], frees[key], any[key], anys[key], lifted[key] } }' regret.csv | sort
}

step_distance() {
  "$outside" outside
  hindsight sweep --space edge --workloads "all,synthetic:24@9,$(printf '%s\n' outside/*.yaml | paste -sd,)" \
    --samples 40000 --sampler uniform --max area_mm2=100 --seed 20261122 --log distance.sqlite --quiet
  mkdir -p calibrated
  hindsight model calibrate edge-any.safetensors --log distance.sqlite --out calibrated/edge-any.safetensors
  hindsight model score edge-any.safetensors --log distance.sqlite
}

# The shipped networks of which some design of at most 27 mm2 can be built.
swapped=bert_base,m4,m5,m6,mobilenet_edgetpu,mobilenet_v2,mobilenet_v3_large,resnet50,ssdlite,t_rnn_dec,t_rnn_enc
swapped+=,unet,vit_b_16

# Every network's proposals on every network: "network;proposed for;rank;design;latency", empty where infeasible.
simulate_swaps() {
  local network rank design
  for network in ${swapped//,/ }; do
    [ -e "swap/$network.json" ] || hindsight propose --model edge-any.safetensors --workload "$network" \
      --max area_mm2=27 --json > swap/part.json
    [ -e "swap/$network.json" ] || mv swap/part.json "swap/$network.json"
    while IFS='|' read -r rank design; do
      hindsight simulate --design "$design" --workloads "$swapped" --json > swap/design.json || [ $? -eq 3 ]
      sqlite3 -separator ';' :memory: "
        SELECT json_extract(value, '\$.workload'), '$network', $rank, '$design',
               CASE WHEN json_extract(value, '\$.feasible') THEN json_extract(value, '\$.metrics.latency_s') END
          FROM json_each(readfile('swap/design.json'), '\$.workloads')"
    done < <(sqlite3 :memory: "SELECT json_extract(value, '\$.rank'), json_extract(value, '\$.design')
                                 FROM json_each(readfile('swap/$network.json'), '\$.proposals')")
  done
}

step_swap() {
  mkdir -p swap
  [ -e swap.csv ] || { simulate_swaps > swap.csv.new && mv swap.csv.new swap.csv; }
  sqlite3 :memory: ".mode csv" ".separator ;" \
    "CREATE TABLE s (network TEXT, proposer TEXT, rank INTEGER, design TEXT, latency REAL)" ".import swap.csv s" \
    "UPDATE s SET latency = NULL WHERE latency = ''" ".mode list" ".separator ' '" "
    CREATE TABLE best AS SELECT network, design, min(latency) AS latency FROM s GROUP BY network;
    CREATE TABLE pair AS
      SELECT a.network AS a, b.network AS b, own.latency AS own, other.latency AS other, best.latency AS best
        FROM best AS a JOIN best AS b ON a.network <> b.network AND a.design <> b.design
        JOIN s AS own ON own.network = a.network AND own.proposer = a.network AND own.rank = 1
        JOIN s AS other ON other.network = a.network AND other.proposer = b.network AND other.rank = 1
        JOIN best ON best.network = a.network;
    SELECT '| network | own first proposal over the best known | pairs | own is faster | as fast |' ||
           ' the other is faster | other / own, geometric mean |';
    SELECT '|:---|---:|---:|---:|---:|---:|---:|';
    SELECT printf('| %s | %s | %d | %d | %d | %d | %.3f |', a,
                  CASE WHEN own IS NULL THEN 'infeasible' ELSE printf('%.3f', own / best) END, count(*),
                  sum(own IS NOT NULL AND (other IS NULL OR own < other)), sum(own IS other),
                  sum(other IS NOT NULL AND (own IS NULL OR own > other)),
                  exp(avg(ln(coalesce(other, 3 * own) / coalesce(own, 3 * other)))))
      FROM pair GROUP BY a;
    SELECT printf('| all | | %d | %d | %d | %d | %.3f |', count(*),
                  sum(own IS NOT NULL AND (other IS NULL OR own < other)), sum(own IS other),
                  sum(other IS NOT NULL AND (own IS NULL OR own > other)),
                  exp(avg(ln(coalesce(other, 3 * own) / coalesce(own, 3 * other)))))
      FROM pair;"
}

step_accuracy() {
  hindsight sweep --space edge --workloads prime9,resnet50,vit_b_16,bert_base --samples 8000 --sampler uniform \
    --max area_mm2=100 --seed 77 --log unseen.sqlite --quiet
  hindsight model score edge-any.safetensors --log unseen.sqlite
}

for step in "${steps[@]}"; do "step_$step"; done

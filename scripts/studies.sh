#!/usr/bin/env bash
# The studies of the learner by layers: trains models from logs, and says how far their proposals are from the optimum.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/studies.sh [--out FOLDER] STEP...

Steps, each resumable: what a finished part left in the folder is kept, so that another version of the program, of its
accelerator model or of its synthetic networks needs another folder.

  any          600 synthetic networks, 20,000 designs (at most 100 mm2 and 2.5 W) on nine of them each; the model edge-any
  nine         the nine applications of PRIME's study, logs of the seeds 1, 2 and 3, a model each (recipe layers)
  single       each of the nine applications from its own 20,000 designs of the same logs alone: single.csv, and a table
  recipes      each of the nine from its own designs of the same logs, by every recipe of RECIPES, and which of them the
               backtests of that log alone choose: recipes.csv, chosen.csv, and a table each
  tables       bench w50 on the tables that TABLES names (measured runtimes in a column time_ms, a column infeasible),
               a tenth of the rows, five seeds: the recipe that train chooses, and every candidate by itself;
               tables.csv, a line for each
  motifs       bench w50 on three tables of bench/motif_table.py (eight parameters of four names, 65,536 rows), 1,000 rows,
               five seeds: motifs.csv, and a table; needs python3
  regret       proposals of every model of the folder for the tasks of data/reference/optima.csv, simulated, over
               the exact optimum: regret.csv, and Markdown tables on standard output; infeasible shares with and
               without the exact checks, and how many predictions a bound lifted
  accuracy     model score of edge-any on 8,000 designs of networks that it has not seen: twelve shipped ones, four
               published ones over time, and whisper_base, which no design can run
  distance     the error of edge-any beside its distance from 56 networks that it has not seen, 17 of them outside the
               generator's families (scripts/outside-networks.sh); the calibrated model goes to calibrated/
  outside      ten proposals of every model of the folder for the 21 networks of scripts/outside-networks.sh, within 27
               and within 100 mm2: outside.csv, and a table of how many cannot be built
  swap         does a network's own first proposal beat another network's on it? All pairs of the shipped networks
               whose best known designs differ: swap.csv, and a Markdown table
  play         the tasks of `hindsight bench tasks` that are no tasks of the offline study: biased and small logs, little area
               or power, the energy-delay product, a set that disagrees; per seed of the log and recipe what is proposed
               against the exact optimum: play.csv, and a table
  exact        propose --search exact with edge-any: the nine applications and a set at their limits of the area, and
               two applications without any: exact.csv, and a table
  front        propose --pareto latency,energy against the exact front: edge-any, and models of the logs of the seeds 1 to
               4 with energies, alone and with their log (--log); the nine applications within 27 mm2, ten
               proposals each, random designs and that log beside them: front.csv, and a table each
  few          train --from: edge-any and a model of energy adapted to 16 to 500 rows of three targets that they were not
               trained on, against the models as they are and training from scratch: few.csv, and a table. The targets:
               version 1 of the accelerator model (older), a latency of a formula (changed), energy at 7 nm (energy7)

  --out FOLDER   where logs, models and tables go (default: build/studies)
  --help         this text

Environment:
  TABLES         CSV files of the step tables, separated by spaces; without it the step says that it is skipped
  TECHNOLOGY     of the simulator (default: that of the space edge), as `hindsight sweep --technology` takes it; results of
                 version 1 of the model that pages quote were made with 22nm, in a folder of their own
  BUILD_DIR      build folder with the program (default: build/release)
  RECIPES        recipes of the step recipes; coms is a method (default: "layers plain v0.1 prime-paper coms margins trends pushed")
  RECIPE_SEEDS   its logs (default: "1 2 3")
  PLAY_TASKS     beginnings of names of the step play (default: "biased/ small/ tight/ edp/ mixed/")
  PLAY_SEEDS     its logs (default: "1 2 3")
  PLAY_RECIPES   its recipes; chosen is what train does without one (default: "chosen")
  FEW_ROWS       rows of the step few (default: "16 64 256 500")
  FEW_SEEDS      its seeds, which draw the rows (default: "1 2 3")
  FEW_TARGETS    its targets (default: "older changed energy7")
TEXT
}

out=build/studies
steps=()
while [ $# -gt 0 ]; do
  case $1 in
    --out) [ $# -gt 1 ] || { echo "studies.sh: --out needs a folder. See --help" >&2; exit 2; }; out=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    any | nine | single | recipes | tables | motifs | regret | accuracy | distance | outside | swap | play | exact | front | few) steps+=("$1") ;;
    *) echo "studies.sh: unknown step '$1'. See --help" >&2; exit 2 ;;
  esac
  shift
done
[ ${#steps[@]} -gt 0 ] || { usage >&2; exit 2; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."
reference=$PWD/data/reference/optima${TECHNOLOGY:+-$TECHNOLOGY}.csv
technology=(${TECHNOLOGY:+--technology "$TECHNOLOGY"})
outside=$PWD/scripts/outside-networks.sh
motifs=$PWD/bench/motif_table.py
any=${TECHNOLOGY:+.}; any=${any:-$PWD/models}/edge-any.safetensors  # of the folder, where it is no shipped one
PATH="$(realpath -m -- "${BUILD_DIR:-build/release}")/apps/hindsight:$PATH"
command -v hindsight >/dev/null || { echo "studies.sh: no hindsight in BUILD_DIR or on the PATH. Build it, e.g. with scripts/quickstart.sh" >&2; exit 1; }
command -v sqlite3 >/dev/null || { echo "studies.sh: sqlite3 is missing (it reads the JSON). apt-get install sqlite3" >&2; exit 1; }
[ -e "$reference" ] || { echo "studies.sh: $reference is missing. Write it: hindsight bench optima --technology $TECHNOLOGY --out $reference" >&2; exit 1; }
mkdir -p "$out"
cd "$out"

# "task;applications;limit of the area in mm2;smallest mean latency in ms", a line each.
optima=optima.txt
sqlite3 -separator ';' :memory: ".mode csv" ".import --skip 3 '$reference' o" ".mode list" ".separator ;" "
  SELECT task, replace(applications, ' ', ','), area_limit_mm2, printf('%.6f', 1000 * optimum) FROM o WHERE objective = 'latency_s'" > "$optima"

# train LOG MODEL [argument...]
train() {
  [ -e "$2" ] || hindsight train --log "$1" --recipe layers --out "$2" "${@:3}"
}

# Designs beyond the watts that the space's cooling carries are known not to be feasible, and tell nothing else.
cool=(--max peak_power_w=2.5)
[ "${TECHNOLOGY:-}" != 22nm ] || cool=()

# Of 600 networks a step sees 32, and twice as many rows as the recipe has; two networks of an ensemble rank as three do.
many=(--set steps=16000 --set batch_pairs=12000 --set applications_per_step=32 --set ensemble=2)

log_of_any() {
  hindsight sweep --space edge --workloads synthetic:600 --networks-per-design 9 --samples 20000 --max area_mm2=100 \
    "${cool[@]}" --seed 1 "${technology[@]}" --log any.sqlite
}

step_any() {
  log_of_any
  train any.sqlite edge-any.safetensors --workloads synthetic:600 --constraint energy_j "${many[@]}"
}

# log_of_nine SEED: nine-SEED.sqlite
log_of_nine() {
  hindsight sweep --space edge --workloads prime9 --samples 20000 --sampler uniform --max area_mm2=100 \
    "${cool[@]}" --seed "$1" "${technology[@]}" --log "nine-$1.sqlite"
}

step_nine() {
  local seed
  for seed in 1 2 3; do
    log_of_nine "$seed"
    train "nine-$seed.sqlite" "nine-$seed.safetensors"
  done
}

# proposed MODEL APPLICATIONS ARGUMENT...: ten simulated proposals as JSON, none where none is likely to be feasible.
proposed() {
  local status=0
  hindsight propose --model "$1.safetensors" --workloads "$2" --aggregate mean --simulate --json "${@:3}" || status=$?
  [ $status -ne 3 ] || echo '{"proposals": []}'
  [ $status -eq 0 ] || [ $status -eq 3 ]
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

step_single() {
  local seed task application area optimum model
  mkdir -p single
  touch single.csv
  for seed in 1 2 3; do
    log_of_nine "$seed"
    while IFS=';' read -r task application area optimum; do
      model=single/$seed-$application
      train "nine-$seed.sqlite" "$model.safetensors" --workloads "$application" --quiet
      grep -q "^$model;" single.csv || regret_of "$model" "$task" "$application" "$area" "$optimum" >> single.csv
    done < <(grep '^single/' "$optima")
  done
  echo "| application | first proposal over the optimum, log 1 | 2 | 3 | best of ten, log 1 | 2 | 3 | infeasible of 30 |"
  echo "|:---|---:|---:|---:|---:|---:|---:|---:|"
  awk -F';' '{ split($1, part, "[/-]"); sub("single/", "", $2); if (!($2 in bad)) order[++tasks] = $2
               first[$2, part[2]] = $3; best[$2, part[2]] = $4; bad[$2] += $5
               means[part[2]] += $3 / 9; bests[part[2]] += $4 / 9; all += $5 }
             END { for (t = 1; t <= tasks; ++t) { a = order[t]
                     printf "| %s | %s | %s | %s | %s | %s | %s | %d |\n", a, first[a, 1], first[a, 2], first[a, 3],
                            best[a, 1], best[a, 2], best[a, 3], bad[a] }
                   printf "| mean | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %d of 270 |\n", means[1], means[2], means[3],
                          bests[1], bests[2], bests[3], all }' single.csv
}

# Those that `train` chooses among compete for the regret of the choice; the others are for comparison.
candidates="layers margins trends plain pushed v0.1"

# recipes_cell SEED APPLICATION TASK AREA OPTIMUM: a line of recipes.csv for every recipe, one of chosen.csv. The methods
# that search for negatives learn the area, below whose limits they search; the others are given it by `propose`.
recipes_cell() {
  local recipe model arguments chosen
  for recipe in ${RECIPES:-layers plain v0.1 prime-paper coms margins trends pushed}; do
    model=recipes/$1-$recipe-$2
    ! grep -qF "$model;" recipes.csv || continue
    arguments=(--recipe "$recipe")
    [ "$recipe" != coms ] || arguments=(--method coms)
    case $recipe in v0.1 | prime-paper | coms) arguments+=(--constraint area_mm2) ;; esac
    [ -e "$model.safetensors" ] ||
      hindsight train --log "nine-$1.sqlite" --workloads "$2" --out "$model.safetensors" --quiet "${arguments[@]}"
    regret_of "$model" "$3" "$2" "$4" "$5" >> recipes.csv
  done
  ! grep -q "^$1;$2;" chosen.csv || return 0
  hindsight backtest --log "nine-$1.sqlite" --workloads "$2" --quiet --json > recipes/backtest.json
  chosen=$(sqlite3 :memory: "SELECT json_extract(readfile('recipes/backtest.json'), '\$.chosen')")
  echo "$1;$2;$chosen" >> chosen.csv
}

step_recipes() {
  local seed task application area optimum
  mkdir -p recipes
  touch recipes.csv chosen.csv
  for seed in ${RECIPE_SEEDS:-1 2 3}; do
    log_of_nine "$seed"
    while IFS=';' read -r task application area optimum; do
      recipes_cell "$seed" "$application" "$task" "$area" "$optimum" < /dev/null
    done < <(grep '^single/' "$optima")
  done
  echo "| recipe | logs and applications | first proposal over the optimum | best of ten | first proposals infeasible | of all |"
  echo "|:---|---:|---:|---:|---:|---:|"
  awk -F';' '{ split($1, part, "/"); key = part[2]; sub("^[0-9]+-", "", key); sub("-[^-]*$", "", key)
               if (!(key in n)) order[++keys] = key
               n[key]++; first[key] += log($3); best[key] += log($4); lost[key] += ($3 == "3.000")
               bad[key] += $5; all[key] += $6 }
             END { for (k = 1; k <= keys; ++k) { key = order[k]
                   printf "| %s | %d | %.3f | %.3f | %d of %d | %d of %d |\n", key, n[key], exp(first[key] / n[key]),
                          exp(best[key] / n[key]), lost[key], n[key], bad[key], all[key] } }' recipes.csv
  echo
  echo "| log | application | chosen | its first proposal over the optimum | the best candidate | its first | ratio |"
  echo "|---:|:---|:---|---:|:---|---:|---:|"
  awk -F';' -v candidates="$candidates" '
    FNR == NR { value[$1] = $3; next }
    { count = split(candidates, recipe, " "); best = ""
      for (r = 1; r <= count; ++r) { key = "recipes/" $1 "-" recipe[r] "-" $2
        if (key in value && (best == "" || value[key] < value["recipes/" $1 "-" best "-" $2])) best = recipe[r] }
      mine = value["recipes/" $1 "-" $3 "-" $2]; theirs = value["recipes/" $1 "-" best "-" $2]
      printf "| %s | %s | %s | %s | %s | %s | %.3f |\n", $1, $2, $3, mine, best, theirs, mine / theirs
      sum += log(mine / theirs); cells++ }
    END { printf "| | all | | | | | %.3f |\n", exp(sum / cells) }' recipes.csv chosen.csv
}

step_tables() {
  local table arguments=()
  if [ -z "${TABLES:-}" ]; then
    echo "studies.sh: tables: skipped, TABLES names no CSV file" >&2
    return
  fi
  for table in $TABLES; do arguments+=(--csv "$table"); done
  hindsight bench w50 "${arguments[@]}" --objective time_ms --infeasible infeasible --train 0.1 --seeds 5 \
    --methods default,margins,trends,plain,pushed,v0.1,prime-paper,coms,best_in_log --results tables.csv
}

step_motifs() {
  local seed arguments=()
  for seed in 1 2 3; do
    python3 "$motifs" --seed "$seed" > "motif-$seed.csv"
    arguments+=(--csv "motif-$seed.csv")
  done
  hindsight bench w50 "${arguments[@]}" --objective score --maximise --train 1000 --seeds 5 \
    --methods default,margins,trends,plain,pushed,v0.1,forest,best_in_log --results motifs.csv
}

step_distance() {
  "$outside" outside
  hindsight sweep --space edge --workloads "all,synthetic:24@9,$(printf '%s\n' outside/*.yaml | paste -sd,)" \
    --samples 40000 --sampler uniform --max area_mm2=100 --seed 20261122 "${technology[@]}" --log distance.sqlite --quiet
  mkdir -p calibrated
  hindsight model calibrate edge-any.safetensors --log distance.sqlite --out calibrated/edge-any.safetensors
  hindsight model score edge-any.safetensors --log distance.sqlite ${cool[0]:+--where "${cool[1]/=/<=}"}
}

step_outside() {
  local model file area
  "$outside" outside
  touch outside.csv
  for model in *.safetensors; do
    model=${model%.safetensors}
    for area in 27 100; do
      for file in outside/*.yaml outside/speech/*.yaml; do
        ! grep -q "^$model;$area;$file;" outside.csv || continue
        proposed "$model" "$file" --max "area_mm2=$area" > outside.json
        sqlite3 :memory: "
          WITH p AS (SELECT json_extract(value, '\$.rank') AS rank, json_extract(value, '\$.simulated.value') * 1000 AS ms
                       FROM json_each(readfile('outside.json'), '\$.proposals'))
          SELECT printf('%s;%s;%s;%d;%d;%d;%s', '$model', '$area', '$file', count(*), sum(rank = 1 AND ms IS NULL),
                        sum(ms IS NULL), CASE WHEN min(ms) IS NULL THEN '' ELSE printf('%.4g', min(ms)) END) FROM p" >> outside.csv
      done
    done
  done
  echo "| model | networks and limits with proposals | first proposals that cannot be built | of all |" \
    "best of ten over the best of all models | most | which cannot be built |"
  echo "|:---|---:|---:|---:|---:|---:|:---|"
  awk -F';' 'FNR == NR { key = $2 ";" $3; if ($7 != "" && (!(key in best) || $7 < best[key])) best[key] = $7; next }
             { asked[$1]++; given[$1] += ($4 > 0); lost[$1] += $5; bad[$1] += $6; all[$1] += $4
               key = $2 ";" $3
               if ($7 != "") { ratio = $7 / best[key]; sum[$1] += log(ratio); count[$1]++
                               if (ratio > most[$1]) most[$1] = ratio }
               sub(".*/[a-z]*_", "", $3); sub(".yaml", "", $3)
               if ($6) where[$1] = where[$1] (where[$1] ? ", " : "") $3 " within " $2 " mm2: " $6 }
             END { for (m in all) printf "| %s | %d of %d | %d of %d | %d of %d | %.3f | %.2f | %s |\n", m, given[m], asked[m],
                                         lost[m], given[m], bad[m], all[m], exp(sum[m] / count[m]), most[m], where[m] }' \
    outside.csv outside.csv | sort
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
      hindsight simulate --design "$design" --space edge --workloads "$swapped" "${technology[@]}" --json > swap/design.json || [ $? -eq 3 ]
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

# play_best FILE OF: "regret;infeasible;designs" of a scored list, 3 where none of its first OF can be built.
play_best() {
  sqlite3 :memory: "
    WITH s AS (SELECT readfile('$1') AS j), b AS (SELECT value AS v FROM s, json_each(s.j, '\$.best'))
    SELECT printf('%.3f;%d;%d', coalesce(max(CASE WHEN v ->> '\$.of' = $2 THEN v ->> '\$.regret' END), 3),
                  json_array_length(j, '\$.proposals') - max(v ->> '\$.feasible'), json_array_length(j, '\$.proposals'))
      FROM s, b"
}

# play_proposed CELL TASK TOP ARGUMENT...: scores a list of TOP proposals of the model CELL into CELL-TOP.json; an empty
# score where no design is likely to be feasible.
play_proposed() {
  local cell=$1 task=$2 top=$3 status=0
  hindsight propose --model "$cell.safetensors" --aggregate mean --top "$top" "${@:4}" --csv "$cell-$top.csv" > /dev/null || status=$?
  if [ $status -eq 3 ]; then
    echo '{"best": [{"feasible": 0}], "proposals": []}' > "$cell-$top.json"
  else
    [ $status -eq 0 ] && hindsight bench score "$task" "$cell-$top.csv" --no-rank --quiet --json > "$cell-$top.json"
  fi
}

# play_logged FOLDER: the best logged design within the task's limits, by what the task compares.
play_logged() {
  sqlite3 "$1/log.sqlite" "
    WITH t AS (SELECT readfile('$1/task.json') AS j), d AS (
      SELECT design_id, avg(CASE WHEN j ->> '\$.objective' = 'latency_s' THEN latency_s ELSE latency_s * energy_j END) AS value
        FROM t, evaluations WHERE area_mm2 <= coalesce(j ->> '\$.limits.area_mm2', 1e9)
         AND peak_power_w <= coalesce(j ->> '\$.limits.peak_power_w', 1e9)
       GROUP BY design_id HAVING min(feasible) = 1)
    SELECT min(value) FROM d"
}

# play_cell SEED TASK RECIPE: "seed;task;recipe;taken;first;best of 10;infeasible;of;best of 128;infeasible;of;best logged".
play_cell() {
  local seed=$1 task=$2 recipe=$3 folder cell objective applications taken ten many logged arguments=() limits=()
  ! grep -q "^$seed;$task;$recipe;" play.csv || return 0
  folder=play/$seed-${task//[\/@]/-}
  cell=$folder-$recipe
  [ -d "$folder" ] || hindsight bench export "$task" --seed "$seed" --out "$folder" --quiet
  task_fact() { sqlite3 -separator = :memory: "WITH t AS (SELECT readfile('$folder/task.json') AS j) $1"; }
  objective=$(task_fact "SELECT j ->> '\$.objective' FROM t")
  applications=$(task_fact "SELECT group_concat(value, ',') FROM t, json_each(j, '\$.apply')")
  mapfile -t limits < <(task_fact "SELECT '--max=' || key || '=' || value FROM t, json_each(j, '\$.limits')")
  [ "$recipe" = chosen ] || arguments=(--recipe "$recipe")
  [ "$recipe" != coms ] || arguments=(--method coms)
  case $recipe in v0.1 | prime-paper | coms) arguments+=(--constraint area_mm2) ;; esac
  [ -e "$cell.safetensors" ] || hindsight train --log "$folder/log.sqlite" --objective "$objective" --quiet \
    --out "$cell.safetensors" "${arguments[@]}"
  hindsight model show "$cell.safetensors" --json > "$cell.json"
  taken=$(sqlite3 :memory: "SELECT coalesce(json_extract(readfile('$cell.json'), '\$.provenance.recipe_chosen'), '$recipe')")
  limits+=(--workloads "$applications" --log "$folder/log.sqlite" --no-record)
  play_proposed "$cell" "$task" 10 "${limits[@]}"
  play_proposed "$cell" "$task" 128 "${limits[@]}"
  ten=$(play_best "$cell-10.json" 10)
  many=$(play_best "$cell-128.json" 128)
  logged=$(play_logged "$folder")
  logged=$(sqlite3 :memory: "WITH t AS (SELECT readfile('$cell-10.json') AS j)
    SELECT printf('%.3f', ${logged:-NULL} / coalesce(j ->> '\$.optimum_latency_s', j ->> '\$.optimum_edp_js')) FROM t")
  case $taken in *"too few"*) taken=margins ;; esac
  echo "$seed;$task;$recipe;${taken%%,*};$(play_best "$cell-10.json" 1 | cut -d';' -f1);$ten;$many;$logged" >> play.csv
  rm -f "$cell"-10.* "$cell"-128.*
}

step_play() {
  local seed task recipe beginning
  [ -z "${TECHNOLOGY:-}" ] || { echo "studies.sh: play: its tasks name their technology. Leave TECHNOLOGY away" >&2; exit 2; }
  mkdir -p play
  touch play.csv
  hindsight bench tasks --json > play/tasks.json
  for seed in ${PLAY_SEEDS:-1 2 3}; do
    for beginning in ${PLAY_TASKS:-biased/ small/ tight/ edp/ mixed/}; do
      while read -r task; do
        for recipe in ${PLAY_RECIPES:-chosen}; do play_cell "$seed" "$task" "$recipe" < /dev/null; done
      done < <(sqlite3 :memory: "SELECT value ->> '\$.task' FROM json_each(readfile('play/tasks.json'), '\$.tasks')
                                  WHERE value ->> '\$.task' LIKE '$beginning%'")
    done
  done
  play_table
}

# Geometric means over the tasks of a kind and their logs; a list without a design that can be built counts as 3.
play_table() {
  echo "| tasks | recipe | tasks and logs | best logged | first proposal over the optimum | most | best of ten | best of 128 |" \
    "first proposals infeasible | of all | taken |"
  echo "|:---|:---|---:|---:|---:|---:|---:|---:|---:|---:|:---|"
  awk -F';' '
    { kind = $2; sub("/.*", "", kind)
      if (kind == "small") { kind = $2; sub("/[^@]*", "", kind) }
      if (kind == "biased" || kind == "tight") { kind = $2; sub("_.*", "", kind) }
      key = kind " | " $3
      if (!(key in n)) order[++keys] = key
      n[key]++; first[key] += log($5); ten[key] += log($6); many[key] += log($9)
      if ($12 > 0) { logged[key] += log($12); known[key]++ }
      if ($5 > most[key]) most[key] = $5
      lost[key] += ($5 == "3.000"); bad[key] += $10; all[key] += $11
      if (!((key, $4) in taken)) names[key] = names[key] " " $4
      taken[key, $4]++ }
    END { for (k = 1; k <= keys; ++k) { key = order[k]
          count = split(names[key], name, " "); text = ""
          for (i = 1; i <= count; ++i) text = text (text ? ", " : "") taken[key, name[i]] " " name[i]
          printf "| %s | %d | %s | %.3f | %.2f | %.3f | %.3f | %d of %d | %.1f %% | %s |\n", key, n[key],
                 known[key] ? sprintf("%.3f", exp(logged[key] / known[key])) : "-", exp(first[key] / n[key]), most[key], exp(ten[key] / n[key]),
                 exp(many[key] / n[key]), lost[key], n[key], 100 * bad[key] / (all[key] ? all[key] : 1), text } }' play.csv
}

# The questions of the step exact: "applications;argument...".
exact_questions() {
  awk -F';' '!/^#/ && $1 ~ /^single|edge_v2_v3@29$/ { print $2 ";--max area_mm2=" $3 }' "$optima"
  printf "%s;\n" t_rnn_enc m6
}

step_exact() {
  local applications limit json
  touch exact.csv
  while IFS=';' read -r applications limit; do
    grep -q "^$applications;$limit;" exact.csv && continue
    json=$(mktemp)
    # shellcheck disable=SC2086  # an option and its value
    hindsight propose --model "$any" --workloads "$applications" $limit --search exact --top 1 \
      --json > "$json"
    sqlite3 :memory: "
      SELECT printf('%s;%s;%.1f;%d;%d;%d;%d;%.4f', '$applications', '$limit', j ->> '\$.seconds',
                    j ->> '\$.proof.designs', j ->> '\$.proof.beyond_limits', j ->> '\$.proof.bounded',
                    j ->> '\$.proof.judged', exp((j ->> '\$.proof.found_before') - (j ->> '\$.proposals[0].predicted.score')))
        FROM (SELECT readfile('$json') AS j) WHERE j ->> '\$.proof.complete'" >> exact.csv
    rm -f "$json"
  done < <(exact_questions)
  echo "| applications | limit | within it | bounded | judged | seconds | search by chance over the best |"
  echo "|:---|:---|---:|---:|---:|---:|---:|"
  awk -F';' '{ sub("--max ", "", $2); gsub(",", ", ", $1)
               printf "| %s | %s | %d | %d | %d | %.0f | %.3f |\n", $1, $2 == "" ? "none" : $2, $4 - $5, $6, $7, $3, $8 }' exact.csv
}

# volume TABLE FACTOR: SQL for the hypervolume of (latency, energy) on logarithms, below FACTOR times the largest values of
# the table exact.
volume() {
  echo "(SELECT coalesce(sum(ln($2 * l / latency) * ln(before / energy)), 0) FROM (
      SELECT latency, energy, l, min($2 * e, coalesce(min(energy) OVER (
               ORDER BY latency, energy ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), $2 * e)) AS before
        FROM $1, (SELECT max(latency) AS l, max(energy) AS e FROM exact) WHERE latency < $2 * l) WHERE energy < before)"
}

# front_of NAME MODEL SEED WITH APPLICATION AREA: its line of front.csv. A proposal is dominated when a design of the log
# nine-SEED within the limit is nowhere worse and somewhere better. WITH=log: that log is given to propose.
front_of() {
  local folder k log=()
  [ "$4" = log ] && log=(--log "nine-$3.sqlite" --no-record)
  folder=$(mktemp -d)
  hindsight propose --model "$2" --workload "$5" --max "area_mm2=$6" --pareto latency,energy --simulate --exact-front \
    "${log[@]}" --json > "$folder/proposed.json"
  hindsight optimum --workload "$5" --max "area_mm2=$6" --pareto latency,energy "${technology[@]}" --quiet --json > "$folder/exact.json"
  k='$.front.exact.hypervolume'
  sqlite3 "nine-$3.sqlite" "
    CREATE TEMP TABLE j AS SELECT readfile('$folder/proposed.json') AS j;
    CREATE TEMP TABLE p AS SELECT value ->> '\$.simulated.feasible' AS feasible,
                                  value ->> '\$.simulated.front.latency_s' AS latency,
                                  value ->> '\$.simulated.front.energy_j' AS energy
                             FROM j, json_each(j, '\$.proposals');
    CREATE TEMP TABLE exact AS SELECT value ->> '\$.latency_s' AS latency, value ->> '\$.energy_j' AS energy
                                 FROM json_each(readfile('$folder/exact.json'), '\$.points');
    CREATE TEMP TABLE logged AS SELECT latency_s AS latency, energy_j AS energy FROM evaluations
      JOIN workloads USING (workload_id) WHERE name = '$5' AND feasible AND area_mm2 <= $6;
    SELECT printf('%s;%s;%d;%.3f;%.3f;%.3f;%.3f;%.3f;%.3f;%.3f;%.3f;%d;%d;%d;%d', '$1', '$5', (SELECT count(*) FROM exact),
                  j ->> '${k}[0].proposals', j ->> '${k}[0].as_many_exact', j ->> '${k}[0].random',
                  $(volume logged 1.1) / $(volume exact 1.1),
                  j ->> '${k}[1].proposals', j ->> '${k}[1].as_many_exact', j ->> '${k}[1].random',
                  $(volume logged 2) / $(volume exact 2),
                  (SELECT count(*) FROM p), (SELECT sum(NOT feasible) FROM p),
                  (SELECT count(*) FROM p WHERE EXISTS (SELECT * FROM logged AS l WHERE l.latency <= p.latency
                     AND l.energy <= p.energy AND (l.latency < p.latency OR l.energy < p.energy))),
                  (SELECT sum(value ->> '\$.predicted.front.latency_s.from_log') FROM json_each(j, '\$.proposals'))) FROM j"
  rm -rf "$folder"
}

# front_table NAME: its lines of front.csv in Markdown.
front_table() {
  echo "Proposals of $1:"
  echo "| application | points of the exact front | proposals | as many exact points | random designs | all of the log |" \
    "below 2 times: proposals | as many | random | log | infeasible | dominated by the log | of the log |"
  echo "|:---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
  awk -F';' -v model="$1" '
    $1 == model { printf "| %s | %d", $2, $3
                  for (i = 4; i <= 11; ++i) { printf " | %s", $i; mean[i] += $i / 9 }
                  printf " | %d of %d | %d | %d |\n", $13, $12, $14, $15
                  all += $12; bad += $13; beaten += $14; logged += $15 }
    END { printf "| mean | "
          for (i = 4; i <= 11; ++i) printf " | %.3f", mean[i]
          printf " | %d of %d | %d | %d |\n\n", bad, all, beaten, logged }' front.csv
}

step_front() {
  local task application area optimum seed model with name
  touch front.csv
  awk -F';' 'NF == 15' front.csv > front.csv.new && mv front.csv.new front.csv  # older ones had fewer columns
  for seed in 1 2 3 4; do
    log_of_nine "$seed"
    train "nine-$seed.sqlite" "nine-$seed-energy.safetensors" --constraint energy_j --quiet
    for model in "$any" "nine-$seed-energy.safetensors"; do
      [ "$seed" = 1 ] || [ "$model" != "$any" ] || continue
      for with in alone log; do
        name=$(basename "$model" .safetensors)-$with
        while IFS=';' read -r task application area optimum; do
          grep -q "^$name;$application;" front.csv ||
            front_of "$name" "$model" "$seed" "$with" "$application" "$area" >> front.csv
        done < <(grep '^single/' "$optima")
        front_table "$name"
      done
    done
  done
}

step_accuracy() {
  "$outside" outside
  hindsight sweep --space edge --samples 8000 --sampler uniform \
    --workloads "prime9,resnet50,vit_b_16,bert_base,whisper_base,$(printf '%s\n' outside/speech/*.yaml | paste -sd,)" \
    --max area_mm2=100 "${cool[@]}" --seed 77 "${technology[@]}" --log unseen.sqlite --quiet
  hindsight model score edge-any.safetensors --log unseen.sqlite
}

# The targets of the step few: "base;application;technology;objective;area;area of the technology learnt". Areas are
# limits in mm2; the model as it is is given the limit that a chip of that size has in the technology that it learnt.
few_target() {
  case $1 in
    older) echo "$few_latency;m4;22nm;latency_s;27;100" ;;
    changed) echo "$few_latency;resnet50;22nm-silicon;latency_s;29;29" ;;
    energy7) echo "few/any-energy.safetensors;mobilenet_v2;7nm-silicon;energy_j;10;30" ;;
    *) echo "studies.sh: FEW_TARGETS knows older, changed and energy7, not '$1'" >&2; exit 2 ;;
  esac
}

# What another simulator makes of a latency (target changed): arrays that are large or wide wait longer. In SQL, of the
# JSON object of a design's parameters.
few_factor="1.3 * sqrt(1 + p ->> 'pes_x' * (p ->> 'pes_y') / 64.0) * sqrt(1 + (p ->> 'compute_lanes') / 16.0)"

# few_log TARGET: 20,000 uniform designs of the target and two searches of 2,000 designs each.
few_log() {
  local base app technology objective area area22 seed log="few/$1.sqlite" watts=("${cool[@]}")
  IFS=';' read -r base app technology objective area area22 < <(few_target "$1")
  [ ! -e "$log" ] || return 0
  [ "$technology" != 22nm ] || watts=()  # version 1 has no cooling classes
  hindsight sweep --workloads "$app" --samples 20000 --sampler uniform --max area_mm2=100 "${watts[@]}" \
    --technology "$technology" --seed 11 --quiet --log "$log.part"
  for seed in 1 2; do
    hindsight sweep --workloads "$app" --samples 2000 --sampler trajectory --objective "$objective" \
      --max "area_mm2=$area" "${watts[@]}" --technology "$technology" --seed "$seed" --quiet --log "$log.part"
  done
  if [ "$1" = changed ]; then
    sqlite3 "$log.part" "UPDATE evaluations SET latency_s = latency_s * (SELECT ${few_factor//p ->>/parameters ->>}
      FROM designs d WHERE d.design_id = evaluations.design_id) WHERE latency_s IS NOT NULL"
  fi
  mv "$log.part" "$log"
}

# few_draw LOG ROWS SEED OUT: half of the rows feasible, half not, drawn from the uniform designs in the order of a hash.
few_draw() {
  rm -f "$4" "$4-wal" "$4-shm"
  sqlite3 "$1" "VACUUM INTO '$4'"
  sqlite3 "$4" "CREATE TEMP TABLE kept AS SELECT evaluation_id FROM (
      SELECT evaluation_id, row_number() OVER (PARTITION BY feasible
               ORDER BY x * x % 1000003 * x % 1000003, evaluation_id) AS place
        FROM (SELECT *, (evaluation_id * 7919 + $3 * 104729) % 1000003 AS x FROM evaluations WHERE run_id = 1))
      WHERE place <= $2 / 2;
    DELETE FROM evaluation_violations WHERE evaluation_id NOT IN (SELECT evaluation_id FROM kept);
    DELETE FROM evaluation_metrics WHERE evaluation_id NOT IN (SELECT evaluation_id FROM kept);
    DELETE FROM evaluations WHERE evaluation_id NOT IN (SELECT evaluation_id FROM kept);
    VACUUM"
}

# few_value TARGET MODEL TECHNOLOGY AREA: the true objective of the first proposal; nothing when there is none, when it
# cannot be built or is larger than the target's limit.
few_value() {
  local base app technology objective area area22 json design
  IFS=';' read -r base app technology objective area area22 < <(few_target "$1")
  json=$(mktemp)
  hindsight propose --model "$2" --workload "$app" --max "area_mm2=$4" --technology "$3" --json > "$json" 2> /dev/null ||
    { rm -f "$json"; return 0; }
  design=$(sqlite3 :memory: "SELECT json_extract(readfile('$json'), '\$.proposals[0].design')")
  hindsight simulate --design "$design" --workload "$app" --technology "$technology" --json > "$json" 2> /dev/null || true
  local value="(w -> 'metrics' ->> '$objective')"
  [ "$1" != changed ] || value="$value * $few_factor"
  sqlite3 :memory: "
    WITH s AS (SELECT readfile('$json') AS j), o AS (SELECT j, j -> '\$.workloads[0]' AS w, j -> '\$.config' AS p FROM s)
    SELECT printf('%.9g', $value) FROM o WHERE j ->> '\$.feasible' AND j ->> '\$.area_mm2' <= $area"
  rm -f "$json"
}

# few_known TARGET ROWS SEED WHAT: whether that line is there.
few_known() { grep -q "^$1;$2;$3;$4;" few.csv; }

# few_cell TARGET ROWS SEED: adapted, and from scratch on the same rows.
few_cell() {
  local base app technology objective area area22 verdict name="few/$1-$2-$3"
  IFS=';' read -r base app technology objective area area22 < <(few_target "$1")
  if few_known "$@" adapted && few_known "$@" scratch; then return 0; fi
  few_draw "few/$1.sqlite" "$2" "$3" "$name.sqlite"
  if ! few_known "$@" scratch; then
    # A thousand steps: more learn so few rows by heart, and take as much longer.
    hindsight train --log "$name.sqlite" --recipe layers --objective "$objective" --set steps=1000 \
      --set batch_pairs=1000 --seed "$3" --quiet --out "$name-scratch.safetensors"
    echo "$1;$2;$3;scratch;$(few_value "$1" "$name-scratch.safetensors" "$technology" "$area");" >> few.csv
  fi
  if ! few_known "$@" adapted; then
    # A refusal (transfer hurts) is a result and says so in its JSON; without JSON something else went wrong.
    hindsight train --from "$base" --log "$name.sqlite" --json --out "$name.safetensors" > "$name.json" || true
    verdict=$(sqlite3 :memory: "SELECT CASE j ->> '\$.status' WHEN 'refused' THEN 'refused' ELSE j ->> '\$.objective_moves' END
                                  FROM (SELECT readfile('$name.json') AS j)")
    echo "$1;$2;$3;adapted;$(few_value "$1" "$name.safetensors" "$technology" "$area");$verdict" >> few.csv
  fi
  rm -f "$name.sqlite"*
}

# few_thousand TARGET SEED: from scratch on 1,000 rows.
few_thousand() {
  local base app technology objective area area22 name="few/$1-1000-$2"
  IFS=';' read -r base app technology objective area area22 < <(few_target "$1")
  few_known "$1" 1000 "$2" scratch && return 0
  few_draw "few/$1.sqlite" 1000 "$2" "$name.sqlite"
  hindsight train --log "$name.sqlite" --recipe layers --objective "$objective" --set steps=1000 --set batch_pairs=3000 \
    --seed "$2" --quiet --out "$name.safetensors"
  echo "$1;1000;$2;scratch;$(few_value "$1" "$name.safetensors" "$technology" "$area");" >> few.csv
  rm -f "$name.sqlite"*
}

# The smallest value known within the target's limit: logged, or proposed by anything.
few_best() {
  local base app technology objective area area22
  IFS=';' read -r base app technology objective area area22 < <(few_target "$1")
  { sqlite3 "few/$1.sqlite" "SELECT min($objective) FROM evaluations WHERE feasible AND area_mm2 <= $area"
    awk -F';' -v target="$1" '$1 == target && $5 != "" { print $5 }' few.csv; } | sort -g | head -1
}

few_table() {
  local target
  echo "| target | rows | adapted | as it is | from scratch, same rows | from scratch, 1,000 rows | moved |"
  echo "|:---|---:|---:|---:|---:|---:|:---|"
  for target in $few_targets; do
    awk -F';' -v target="$target" -v best="$(few_best "$target")" '
      function regret(value) { return value == "" ? 3 : value / best }
      function shown(key) { return n[key] ? sprintf("%.3f%s", exp(sum[key] / n[key]), lost[key] ? sprintf(" (%d of %d not built)", lost[key], n[key]) : "") : "-" }
      $1 == target { key = $2 ";" $4; sum[key] += log(regret($5)); n[key]++; lost[key] += ($5 == "")
                     if ($4 == "adapted") { moved[$2] = moved[$2] (moved[$2] ? ", " : "") $6; rows[$2] = 1 } }
      END { for (r in rows) printf "| %s | %d | %s | %s | %s | %s | %s |\n", target, r, shown(r ";adapted"),
                                   shown("0;unadapted"), shown(r ";scratch"), shown("1000;scratch"), moved[r] }' few.csv |
      sort -t'|' -k3,3n
  done
}

step_few() {
  local target rows seed base app technology objective area area22
  [ -z "${TECHNOLOGY:-}" ] || { echo "studies.sh: few: its targets name their technologies. Leave TECHNOLOGY away" >&2; exit 2; }
  few_latency=$any
  few_targets=${FEW_TARGETS:-older changed energy7}
  for target in $few_targets; do few_target "$target" > /dev/null; done
  mkdir -p few
  touch few.csv
  case " $few_targets " in
    *" energy7 "*)
      log_of_any
      train any.sqlite few/any-energy.safetensors --workloads synthetic:600 --objective energy "${many[@]}" --set steps=4000 ;;
  esac
  for target in $few_targets; do
    IFS=';' read -r base app technology objective area area22 < <(few_target "$target")
    few_log "$target"
    few_known "$target" 0 0 unadapted ||
      echo "$target;0;0;unadapted;$(few_value "$target" "$base" 22nm-silicon "$area22");" >> few.csv
    for seed in ${FEW_SEEDS:-1 2 3}; do
      for rows in ${FEW_ROWS:-16 64 256 500}; do few_cell "$target" "$rows" "$seed"; done
      few_thousand "$target" "$seed"
    done
  done
  few_table
}

for step in "${steps[@]}"; do "step_$step"; done

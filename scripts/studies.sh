#!/usr/bin/env bash
# The studies of the learner by layers: trains models from logs, and says how far their proposals are from the optimum.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/studies.sh [--out FOLDER] [--go-on | --record | --recorded] STEP...

Steps, each resumable: what a finished part left in the folder is kept, so that another version of the program, of its
accelerator model or of its synthetic networks needs another folder.

  any          600 synthetic networks, 20,000 designs (at most 100 mm2 and 2.5 W, three of ten of many lanes) on nine
               each; the model edge-any
  nine         the nine applications of PRIME's study, logs of the seeds 1, 2 and 3, a model each (recipe layers)
  single       each of the nine applications from its own 20,000 designs of the same logs alone: single.csv, and a table
  recipes      each of the nine from its own designs of the same logs, by every recipe of RECIPES, and which of them the
               backtests of that log alone choose: recipes.csv, chosen.csv, and a table each
  tables       bench w50 on the tables that TABLES names (measured runtimes in a column time_ms, a column infeasible),
               a tenth of the rows, five seeds: the recipe that train chooses, and every candidate by itself;
               tables.csv, a line for each, and a table over all and of each
  motifs       bench w50 on three tables of bench/motif_table.py (eight parameters of four names, 65,536 rows), 1,000 rows,
               five seeds: motifs.csv, and the like tables; needs python3
  regret       proposals of every model of the folder for the tasks of data/reference/optima.csv, simulated, over
               the exact optimum: regret.csv, and Markdown tables on standard output; infeasible shares with and
               without the exact checks, and how many predictions a bound lifted
  accuracy     model score of edge-any on 8,000 designs of networks that it has not seen: twelve shipped ones, four
               published ones over time, and whisper_base, which no design can run: accuracy.csv, and a table
  distance     the error of edge-any beside its distance from 56 networks that it has not seen, 17 of them outside the
               generator's families (scripts/outside-networks.sh): distance.csv, a table by distance and one by network;
               the calibrated model goes to calibrated/
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
  few          train --from: edge-any adapted to 16 to 500 rows of three targets that it was not trained on, against the model
               as it is and training from scratch: few.csv, few_best.csv (the best logged), and a table. The targets:
               version 1 of the accelerator model (older), a latency of a formula (changed), 7 nm (node7); and, where
               FEW_TARGETS asks for it, a model of energy at 7 nm (energy7)

  --out FOLDER   where logs, models and tables go (default: build/studies)
  --go-on        begin with the lines that bench/studies has recorded of these steps, where the folder has none of its own
                 and accelerator model, technology, layers' features and synthetic networks are the same; says what was
                 taken. Without it a study measures everything itself, as whoever checks what is recorded wants it to
  --record       only keep the finished results of these steps in bench/studies, with date, commit, versions and machine;
                 a step with lines missing is refused, the environment below says what is complete
  --recorded     only print the tables of what bench/studies has of these steps, without a step when and where what it has
                 was made; needs awk and sqlite3, no program and no folder
  --help         this text

Environment:
  RECORDED       folder of what is recorded (default: bench/studies)
  TABLES         CSV files of the step tables, separated by spaces; without it the step says that it is skipped
  TECHNOLOGY     of the simulator (default: that of the space edge), as `hindsight sweep --technology` takes it; results of
                 version 1 of the model that pages quote were made with 22nm, in a folder of their own
  BUILD_DIR      build folder with the program (default: build/release)
  RECIPES        recipes of the step recipes; coms is a method (default: "layers plain v0.1 prime-paper coms margins trends pushed")
  RECIPE_SEEDS   its logs (default: "1 2 3")
  PROPOSE_WITH   further arguments of propose in the steps regret, single, recipes and outside (--portfolio hedged --top 16), in
                 a folder of their own; such results are neither recorded nor gone on with
  PLAY_TASKS     beginnings of names of the step play (default: "biased/ small/ tight/ edp/ mixed/")
  PLAY_SEEDS     its logs (default: "1 2 3")
  PLAY_RECIPES   its recipes; chosen is what train does without one (default: "chosen")
  FEW_ROWS       rows of the step few (default: "16 64 256 500")
  FEW_SEEDS      its seeds, which draw the rows (default: "1 2 3")
  FEW_TARGETS    its targets (default: "older changed node7")
TEXT
}

out=build/studies mode=run
steps=()
while [ $# -gt 0 ]; do
  case $1 in
    --out) [ $# -gt 1 ] || { echo "studies.sh: --out needs a folder. See --help" >&2; exit 2; }; out=$2; shift ;;
    --go-on | --record | --recorded)
      [ "$mode" = run ] || { echo "studies.sh: --$mode and $1 are two things to do. Leave one away" >&2; exit 2; }
      mode=${1#--} ;;
    -h | --help) usage; exit 0 ;;
    any | nine | single | recipes | tables | motifs | regret | accuracy | distance | outside | swap | play | exact | front | few) steps+=("$1") ;;
    *) echo "studies.sh: unknown step '$1'. See --help" >&2; exit 2 ;;
  esac
  shift
done
[ ${#steps[@]} -gt 0 ] || [ "$mode" = recorded ] || { usage >&2; exit 2; }

if [ -n "${PROPOSE_WITH:-}" ] && { [ "$mode" = go-on ] || [ "$mode" = record ]; }; then
  echo "studies.sh: --$mode: what is recorded is of propose as it is, and PROPOSE_WITH asks it otherwise. Unset it" >&2
  exit 2
fi
read -ra propose_with <<< "${PROPOSE_WITH:-}"

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/studies-tables.sh
. scripts/studies-tables.sh
recorded_as=${RECORDED:-bench/studies}
recorded=$(realpath -m -- "$recorded_as")
out_as=$out
reference=$PWD/data/reference/optima${TECHNOLOGY:+-$TECHNOLOGY}.csv
technology=(${TECHNOLOGY:+--technology "$TECHNOLOGY"})
outside=$PWD/scripts/outside-networks.sh
edge=$PWD/configs/spaces/edge.yaml
motifs=$PWD/bench/motif_table.py
any=${TECHNOLOGY:+.}; any=${any:-$PWD/models}/edge-any.safetensors  # of the folder, where it is no shipped one
command -v sqlite3 >/dev/null || { echo "studies.sh: sqlite3 is missing (it reads the JSON). apt-get install sqlite3" >&2; exit 1; }

if [ "$mode" = recorded ]; then
  [ ${#steps[@]} -gt 0 ] || { cd "$recorded" && table_of_records; exit; }
  for step in "${steps[@]}"; do
    for file in $(files_of "$step"); do
      [ ! -s "$recorded/$file" ] || continue
      echo "studies.sh: nothing of the step $step is recorded. Run it and keep it: scripts/studies.sh $step &&" \
        "scripts/studies.sh --record $step" >&2
      exit 1
    done
    [ -n "$(files_of "$step")" ] || { echo "studies.sh: the step $step makes models and has no table" >&2; exit 2; }
    (cd "$recorded" && "table_$step")
  done
  exit 0
fi

[ -e "$reference" ] || { echo "studies.sh: $reference is missing. Write it: hindsight bench optima --technology $TECHNOLOGY --out $reference" >&2; exit 1; }
# optima: "task;applications;limit of the area in mm2;smallest mean latency in ms", a line each.
optima() {
  sqlite3 -separator ';' :memory: ".mode csv" ".import --skip 3 '$reference' o" ".mode list" ".separator ;" "
    SELECT task, replace(applications, ' ', ','), area_limit_mm2, printf('%.6f', 1000 * optimum) FROM o WHERE objective = 'latency_s'"
}

# number NAME FILE: the constant of a source.
number() { sed -n "s/.* $1 = \([0-9]*\);.*/\1/p" "$2"; }
# What results depend on: accelerator model and technology; versions of the layers' features and of the synthetic networks.
versions="$(sed -n '1s/.*, \(.*\)\.$/\1/p' "$reference");$(number kLayerFeatureVersion include/hindsight/workload/layer_features.h)"
versions+=";$(number kSyntheticVersion include/hindsight/workload/synthetic.h)"
machine="$(nproc);$(sed -n '/^model name/ { s/^[^:]*: *//p; q }' /proc/cpuinfo 2> /dev/null || true)"
checkout=$(git rev-parse --short=10 HEAD 2> /dev/null || echo unknown)

# train LOG MODEL [argument...]
train() {
  [ -e "$2" ] || hindsight train --log "$1" --recipe layers --out "$2" "${@:3}"
}

# Designs beyond the watts that the space's cooling carries are known not to be feasible, and tell nothing else.
cool=(--max peak_power_w=2.5)
[ "${TECHNOLOGY:-}" != 22nm ] || cool=()

# Of 600 networks a step sees 32, and twice as many rows as the recipe has; two networks of an ensemble rank as three do.
many=(--set steps=16000 --set batch_pairs=12000 --set applications_per_step=32 --set ensemble=2)

# any_sweep SEED SAMPLES LANES: designs with so many lanes or more on the chip. Limits are upper ones: what is limited is derived
# in a copy of the space, of whose definition nothing derived is part.
any_sweep() {
  { cat "$edge"; printf '\nderived:\n  lanes_below_1024: 1024 - pes_x * pes_y * cores_per_pe * compute_lanes\n'; } > any-space.yaml
  hindsight sweep --space any-space.yaml --workloads synthetic:600 --networks-per-design 9 --samples "$2" --max area_mm2=100 \
    --max lanes_below_1024=$((1024 - $3)) "${cool[@]}" --seed "$1" "${technology[@]}" --log any.sqlite
}

# Optima of latency spend the watts on lanes, of which uniform designs within the watts have few (docs/method.md).
log_of_any() {
  any_sweep 1 14000 0
  any_sweep 2 3000 256
  any_sweep 3 3000 512
}

step_any() {
  log_of_any
  train any.sqlite edge-any.safetensors --workloads synthetic:600 --constraint energy_j "${many[@]}"
}

# log_of_nine SEED: nine-SEED.sqlite, looked at once a call.
logs_of_nine=" "
log_of_nine() {
  [[ $logs_of_nine != *" $1 "* ]] || return 0
  hindsight sweep --space edge --workloads prime9 --samples 20000 --sampler uniform --max area_mm2=100 \
    "${cool[@]}" --seed "$1" "${technology[@]}" --log "nine-$1.sqlite"
  logs_of_nine+="$1 "
}

step_nine() {
  local seed
  for seed in 1 2 3; do
    log_of_nine "$seed"
    train "nine-$seed.sqlite" "nine-$seed.safetensors"
  done
}

# proposed MODEL APPLICATIONS ARGUMENT...: ten simulated proposals as JSON, none where none is likely to be feasible; more or
# others by PROPOSE_WITH.
proposed() {
  local status=0
  hindsight propose --model "$1.safetensors" --workloads "$2" --aggregate mean --simulate --json "${propose_with[@]}" "${@:3}" || status=$?
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
    [ -e "$model" ] || continue
    model=${model%.safetensors}
    while IFS=';' read -r task applications area optimum; do
      grep -q "^$model;$task;" regret.csv || regret_of "$model" "$task" "$applications" "$area" "$optimum" >> regret.csv
    done < <(optima)
  done
}

step_single() {
  local seed task application area optimum model
  mkdir -p single
  touch single.csv
  for seed in 1 2 3; do
    while IFS=';' read -r task application area optimum; do
      model=single/$seed-$application
      ! grep -q "^$model;" single.csv || continue
      log_of_nine "$seed"
      train "nine-$seed.sqlite" "$model.safetensors" --workloads "$application" --quiet
      regret_of "$model" "$task" "$application" "$area" "$optimum" >> single.csv
    done < <(optima | grep '^single/')
  done
}

recipes=${RECIPES:-layers plain v0.1 prime-paper coms margins trends pushed}

# recipes_cell SEED APPLICATION TASK AREA OPTIMUM: a line of recipes.csv for every recipe, one of chosen.csv. The methods
# that search for negatives learn the area, below whose limits they search; the others are given it by `propose`.
recipes_cell() {
  local recipe model arguments chosen
  for recipe in $recipes; do
    model=recipes/$1-$recipe-$2
    ! grep -qF "$model;" recipes.csv || continue
    log_of_nine "$1"
    arguments=(--recipe "$recipe")
    [ "$recipe" != coms ] || arguments=(--method coms)
    case $recipe in v0.1 | prime-paper | coms) arguments+=(--constraint area_mm2) ;; esac
    [ -e "$model.safetensors" ] ||
      hindsight train --log "nine-$1.sqlite" --workloads "$2" --out "$model.safetensors" --quiet "${arguments[@]}"
    regret_of "$model" "$3" "$2" "$4" "$5" >> recipes.csv
  done
  ! grep -q "^$1;$2;" chosen.csv || return 0
  log_of_nine "$1"
  hindsight backtest --log "nine-$1.sqlite" --workloads "$2" --quiet --json > recipes/backtest.json
  chosen=$(sqlite3 :memory: "SELECT json_extract(readfile('recipes/backtest.json'), '\$.chosen')")
  echo "$1;$2;$chosen" >> chosen.csv
}

step_recipes() {
  local seed task application area optimum
  mkdir -p recipes
  touch recipes.csv chosen.csv
  for seed in ${RECIPE_SEEDS:-1 2 3}; do
    while IFS=';' read -r task application area optimum; do
      recipes_cell "$seed" "$application" "$task" "$area" "$optimum" < /dev/null
    done < <(optima | grep '^single/')
  done
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

# scores_into FILE LOG ARGUMENT...: how right edge-any is about every network of a log, into FILE at once.
scores_into() {
  local json=${1%.csv}.json name sql=""
  hindsight model score edge-any.safetensors --log "$2" --json "${@:3}" > "$json"
  for name in kendall_tau median_error ratio_at_best feasibility_auc infeasible_when_sure layer_distance; do
    sql+=" || ';' || CASE WHEN value ->> '$name' IS NULL THEN '' ELSE printf('%.4f', value ->> '$name') END"
  done
  sqlite3 :memory: "SELECT printf('%s;%d;%d', value ->> 'workload', value ->> 'rows', value ->> 'feasible')$sql
                      FROM json_each(readfile('$json'), '\$.applications')" > "$1.new"
  mv "$1.new" "$1"
}

step_distance() {
  [ ! -e distance.csv ] || return 0
  "$outside" outside
  hindsight sweep --space edge --workloads "all,synthetic:24@9,$(printf '%s\n' outside/*.yaml | paste -sd,)" \
    --samples 40000 --sampler uniform --max area_mm2=100 --seed 20261122 "${technology[@]}" --log distance.sqlite --quiet
  mkdir -p calibrated
  hindsight model calibrate edge-any.safetensors --log distance.sqlite --out calibrated/edge-any.safetensors
  scores_into distance.csv distance.sqlite ${cool[0]:+--where "${cool[1]/=/<=}"}
}

step_outside() {
  local model file area
  "$outside" outside
  touch outside.csv
  for model in *.safetensors; do
    [ -e "$model" ] || continue
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
  [ ! -e swap.csv ] || return 0
  simulate_swaps > swap.csv.new
  mv swap.csv.new swap.csv
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

# play_tasks BEGINNING: the names of tasks, one a line.
play_tasks() {
  [ -e play/tasks.json ] || return 1
  sqlite3 :memory: "SELECT value ->> '\$.task' FROM json_each(readfile('play/tasks.json'), '\$.tasks')
                     WHERE value ->> '\$.task' LIKE '$1%'"
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
      done < <(play_tasks "$beginning")
    done
  done
}

# The questions of the step exact: "applications;argument...".
exact_questions() {
  awk -F';' '$1 ~ /^single|edge_v2_v3@29$/ { print $2 ";--max area_mm2=" $3 }' < <(optima)
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
  local folder k given=()
  [ "$4" = log ] && given=(--log "nine-$3.sqlite" --no-record)
  folder=$(mktemp -d)
  hindsight propose --model "$2" --workload "$5" --max "area_mm2=$6" --pareto latency,energy --simulate --exact-front \
    "${given[@]}" --json > "$folder/proposed.json"
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

step_front() {
  local task application area optimum seed model with name
  touch front.csv
  awk -F';' 'NF == 15' front.csv > front.csv.new && mv front.csv.new front.csv  # older ones had fewer columns
  for seed in 1 2 3 4; do
    for model in "$any" "nine-$seed-energy.safetensors"; do
      [ "$seed" = 1 ] || [ "$model" != "$any" ] || continue
      for with in alone log; do
        name=$(basename "$model" .safetensors)-$with
        while IFS=';' read -r task application area optimum; do
          ! grep -q "^$name;$application;" front.csv || continue
          log_of_nine "$seed"
          [ "$model" = "$any" ] || train "nine-$seed.sqlite" "$model" --constraint energy_j --quiet
          front_of "$name" "$model" "$seed" "$with" "$application" "$area" >> front.csv
        done < <(optima | grep '^single/')
      done
    done
  done
}

step_accuracy() {
  [ ! -e accuracy.csv ] || return 0
  "$outside" outside
  hindsight sweep --space edge --samples 8000 --sampler uniform \
    --workloads "prime9,resnet50,vit_b_16,bert_base,whisper_base,$(printf '%s\n' outside/speech/*.yaml | paste -sd,)" \
    --max area_mm2=100 "${cool[@]}" --seed 77 "${technology[@]}" --log unseen.sqlite --quiet
  scores_into accuracy.csv unseen.sqlite
}

# The targets of the step few: "base;application;technology;objective;area;area of the technology learnt". Areas are
# limits in mm2; the model as it is is given the limit that a chip of that size has in the technology that it learnt.
few_target() {
  case $1 in
    older) echo "$any;m4;22nm;latency_s;27;100" ;;
    changed) echo "$any;resnet50;22nm-silicon;latency_s;29;29" ;;
    node7) echo "$any;mobilenet_v2;7nm-silicon;latency_s;10;30" ;;
    energy7) echo "few/any-energy.safetensors;mobilenet_v2;7nm-silicon;energy_j;10;30" ;;
    *) echo "studies.sh: FEW_TARGETS knows older, changed, node7 and energy7, not '$1'" >&2; exit 2 ;;
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

# few_best TARGET: a line of few_best.csv, the smallest value of its log within the limit.
few_best() {
  local base app technology objective area area22 best
  ! grep -q "^$1;" few_best.csv || return 0
  IFS=';' read -r base app technology objective area area22 < <(few_target "$1")
  best=$(sqlite3 "few/$1.sqlite" "SELECT min($objective) FROM evaluations WHERE feasible AND area_mm2 <= $area")
  echo "$1;$best" >> few_best.csv
}

step_few() {
  local target rows seed base app technology objective area area22 targets lacking file
  [ -z "${TECHNOLOGY:-}" ] || { echo "studies.sh: few: its targets name their technologies. Leave TECHNOLOGY away" >&2; exit 2; }
  targets=${FEW_TARGETS:-older changed node7}
  for target in $targets; do few_target "$target" > /dev/null; done
  mkdir -p few
  touch few.csv few_best.csv
  for target in $targets; do
    lacking=$(for file in few.csv few_best.csv; do missing "$file"; done | grep "^$target\(;\|$\)" || true)
    [ -n "$lacking" ] || continue
    if [ "$target" = energy7 ]; then
      log_of_any
      train any.sqlite few/any-energy.safetensors --workloads synthetic:600 --objective energy "${many[@]}" --set steps=4000
    fi
    IFS=';' read -r base app technology objective area area22 < <(few_target "$target")
    few_log "$target"
    few_best "$target"
    few_known "$target" 0 0 unadapted ||
      echo "$target;0;0;unadapted;$(few_value "$target" "$base" 22nm-silicon "$area22");" >> few.csv
    for seed in ${FEW_SEEDS:-1 2 3}; do
      for rows in ${FEW_ROWS:-16 64 256 500}; do few_cell "$target" "$rows" "$seed"; done
      few_thousand "$target" "$seed"
    done
  done
}

# keys_of FILE: the first columns of every line that it has when its step is done, by the environment; none of files that
# are written at once.
keys_of() {
  local seed beginning recipe model target rows
  case $1 in
    regret.csv)
      lines regret.csv | cut -d';' -f1 | sort -u | while read -r model; do optima | sed "s/;.*//; s,^,$model;,"; done ;;
    single.csv) for seed in 1 2 3; do optima | sed -n "s,^single/\([^;]*\);.*,single/$seed-\1,p"; done ;;
    recipes.csv)
      for seed in ${RECIPE_SEEDS:-1 2 3}; do
        for recipe in $recipes; do optima | sed -n "s,^single/\([^;]*\);.*,recipes/$seed-$recipe-\1,p"; done
      done ;;
    chosen.csv)
      for seed in ${RECIPE_SEEDS:-1 2 3}; do optima | sed -n "s,^single/\([^;]*\);.*,$seed;\1,p"; done ;;
    tables.csv | motifs.csv)  # those that are missing
      query "$1" "
        WITH RECURSIVE seeds(seed) AS (VALUES (1) UNION ALL SELECT seed + 1 FROM seeds WHERE seed < 5)
        SELECT a.name || ';' || b.method || ';' || seeds.seed
          FROM (SELECT DISTINCT \"table\" AS name FROM t) AS a, (SELECT DISTINCT method FROM t) AS b, seeds
         WHERE NOT EXISTS (SELECT * FROM t WHERE \"table\" = a.name AND method = b.method AND t.seed + 0 = seeds.seed)" ;;
    outside.csv)
      lines outside.csv | cut -d';' -f1 | sort -u | while read -r model; do outside_files | sed "s,^,$model;27;,"
                                                                            outside_files | sed "s,^,$model;100;,"; done ;;
    play.csv)
      for seed in ${PLAY_SEEDS:-1 2 3}; do
        for recipe in ${PLAY_RECIPES:-chosen}; do
          for beginning in ${PLAY_TASKS:-biased/ small/ tight/ edp/ mixed/}; do
            { play_tasks "$beginning" || lines play.csv | cut -d';' -f2 | sort -u; } |
              grep "^$beginning" || echo "$beginning..."
          done | sed "s,^,$seed;,; s,$,;$recipe,"
        done
      done ;;
    exact.csv) exact_questions ;;
    front.csv)
      { echo edge-any; printf 'nine-%d-energy\n' 1 2 3 4; } | while read -r model; do
        optima | sed -n "s,^single/\([^;]*\);.*,$model-alone;\1\n$model-log;\1,p"
      done ;;
    few.csv)
      for target in ${FEW_TARGETS:-older changed node7}; do
        echo "$target;0;0;unadapted"
        for seed in ${FEW_SEEDS:-1 2 3}; do
          for rows in ${FEW_ROWS:-16 64 256 500}; do printf '%s\n' "$target;$rows;$seed;"{scratch,adapted}; done
          echo "$target;1000;$seed;scratch"
        done
      done ;;
    few_best.csv) for target in ${FEW_TARGETS:-older changed node7}; do echo "$target"; done ;;
  esac
}

# outside_files: the networks of the step outside, as it calls them.
outside_files() {
  local folder
  folder=$(mktemp -d)
  "$outside" "$folder/outside"
  (cd "$folder" && printf '%s\n' outside/*.yaml outside/speech/*.yaml)
  rm -rf "$folder"
}

# missing FILE: those of its keys with which no line begins.
missing() {
  awk -F';' '
    keys { key[++count] = $0; next }
    { begin = ""; for (i = 1; i <= 4 && i <= NF; ++i) { begin = begin (i > 1 ? ";" : "") $i; there[begin] = 1 } }
    END { for (k = 1; k <= count; ++k) if (!(key[k] in there)) print key[k] }' \
    keys=1 <(keys_of "$1") keys=0 <(lines "$1")
}

# fact STEP NUMBER: of what is recorded of a step, the column of that number; nothing where nothing is.
fact() { awk -F';' -v step="$1" -v column="$2" '$1 == step { print $column }' "$recorded/recorded.csv" 2> /dev/null || true; }

# take STEP: begins with what is recorded of it, where that is of the same versions and the folder has none of its own.
take() {
  local file of  # date, commit and processor of what is recorded
  of="$(fact "$1" 2), commit $(fact "$1" 3), $(fact "$1" 8)"
  for file in $(files_of "$1"); do
    if [ -s "$file" ]; then echo "studies.sh: $1: goes on with $out_as/$file; nothing is taken from $recorded_as" >&2; return; fi
    if [ ! -e "$recorded/$file" ]; then echo "studies.sh: $1: begins anew, nothing of it is recorded" >&2; return; fi
  done
  [ -n "$(files_of "$1")" ] || return 0
  if [ "$1" = tables ] || [ "$1" = motifs ]; then
    echo "studies.sh: $1: begins anew, what is recorded does not say of which files its tables were" >&2
  elif [ "$(fact "$1" 4);$(fact "$1" 5);$(fact "$1" 6)" != "$versions" ]; then
    echo "studies.sh: $1: begins anew, what is recorded is of other versions: $(fact "$1" 4), layers' features $(fact "$1" 5)," \
      "synthetic networks $(fact "$1" 6)" >&2
  else
    for file in $(files_of "$1"); do lines "$recorded/$file" > "$file"; done
    file=$(files_of "$1" | cut -d' ' -f1)
    echo "studies.sh: $1: $(wc -l < "$file") lines taken from $recorded_as/$file ($of)" >&2
    echo "$1;$(wc -l < "$file") of $of" >> taken.csv
    awk -F';' -v OFS=';' -v step="$1" '$1 == step { print $1, $2, $3, $4, $5, $6, $7, $8 }' "$recorded/recorded.csv" >> made.csv
  fi
}

# made STEP: keeps when, by which program and on which machine its results came about.
made() {
  local commit
  commit=$(hindsight --version | sed -n 's/^commit *//p' | cut -c1-10)
  touch made.csv
  awk -F';' -v step="$1" '$1 != step' made.csv > made.csv.new
  echo "$1;$(date -u +%F);${commit:-unknown};$versions;$machine" >> made.csv.new
  mv made.csv.new made.csv
}

# run STEP: what it lacks, then its table.
run() {
  local file before
  before=$(for file in $(files_of "$1"); do cksum "$file" 2> /dev/null || true; done)
  "step_$1"
  for file in $(files_of "$1"); do [ -e "$file" ] || return 0; done  # skipped
  [ -n "$(files_of "$1")" ] || return 0
  [ "$before" = "$(for file in $(files_of "$1"); do cksum "$file"; done)" ] || made "$1"
  "table_$1"
}

# require_complete STEP: that its results are all there.
require_complete() {
  local file lacking
  [ -n "$(files_of "$1")" ] || { echo "studies.sh: --record: the step $1 makes models and has no results. Leave it away" >&2; exit 2; }
  if [ "$1" = few ] && [ -e few.csv ]; then  # folders of before lack it
    touch few_best.csv
    for target in $(missing few_best.csv); do [ ! -e "few/$target.sqlite" ] || few_best "$target"; done
  fi
  for file in $(files_of "$1"); do
    if [ ! -s "$file" ]; then
      echo "studies.sh: --record: $out_as has no $file. Run it: scripts/studies.sh --out $out_as $1" >&2
      exit 1
    fi
    lacking=$(missing "$file")
    if [ -n "$lacking" ]; then
      echo "studies.sh: --record: $out_as/$file is not complete: $(wc -l <<< "$lacking") to go, the first is" \
        "'$(head -1 <<< "$lacking")'. Go on: scripts/studies.sh --out $out_as $1" >&2
      exit 1
    fi
  done
}

# record STEP: its results to those that are recorded, with what is known of them.
record() {
  local file line taken step=$1
  mkdir -p "$recorded"
  for file in $(files_of "$step"); do
    { grep '^# table' "$file" || true; columns_of "$file"; lines "$file"; } > "$recorded/$file.new"
    mv "$recorded/$file.new" "$recorded/$file"
  done
  file=$(files_of "$step" | cut -d' ' -f1)
  line=$(awk -F';' -v step="$step" '$1 == step { line = $0 } END { print line }' made.csv 2> /dev/null || true)
  line=${line:-$step;$(date -u -r "$file" +%F);$checkout;$versions;$machine}
  taken=$(awk -F';' -v step="$step" '$1 == step { text = $2 } END { print text }' taken.csv 2> /dev/null || true)
  {
    echo "step;date;commit;accelerator_model;layer_features;synthetic_networks;cores;cpu;lines;of_these_before"
    { [ ! -e "$recorded/recorded.csv" ] || awk -F';' -v step="$step" 'NR > 1 && $1 != step' "$recorded/recorded.csv"
      echo "$line;$(lines "$file" | wc -l);$taken"; } | LC_ALL=C sort
  } > "$recorded/recorded.csv.new"
  mv "$recorded/recorded.csv.new" "$recorded/recorded.csv"
  echo "studies.sh: $step: $(lines "$file" | wc -l) lines recorded in $recorded_as/$file" >&2
}

if [ "$mode" = record ]; then
  [ -z "${TECHNOLOGY:-}" ] || { echo "studies.sh: --record: $recorded_as is of the default technology. Leave TECHNOLOGY away" >&2; exit 2; }
  [ -d "$out" ] || { echo "studies.sh: --record: there is no folder $out. Name the study's: --out FOLDER" >&2; exit 1; }
  cd "$out"
  for step in "${steps[@]}"; do require_complete "$step"; done
  for step in "${steps[@]}"; do record "$step"; done
  exit 0
fi

PATH="$(realpath -m -- "${BUILD_DIR:-build/release}")/apps/hindsight:$PATH"
command -v hindsight >/dev/null || { echo "studies.sh: no hindsight in BUILD_DIR or on the PATH. Build it, e.g. with scripts/quickstart.sh" >&2; exit 1; }
mkdir -p "$out"
cd "$out"
for step in "${steps[@]}"; do
  [ "$mode" != go-on ] || take "$step"
  run "$step"
done

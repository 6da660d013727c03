#!/usr/bin/env bash
# The data centre's studies: the shipped model of the space, how good its proposals are, and floors of the optimum.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/datacenter.sh [--out FOLDER] STEP...

  model    20,000 designs of the space datacenter on the twelve networks of the list of that name, and the model
           datacenter-any learnt from them
  regret   its first and its best of ten proposals, simulated, over the best of the same log and over the best design that
           `hindsight optimum` finds: a Markdown table
  floor    the best design that `hindsight optimum` finds for each of these networks, the floor and the gap: a table

  --out FOLDER   where log and model go (default: build/studies)
  --help         this text

Environment:
  BUILD_DIR      build folder with the program (default: build/release)
  NODE           technology of model and regret (default: 5nm-silicon@liquid)
TEXT
}

out=build/studies
steps=()
while [ $# -gt 0 ]; do
  case $1 in
    --out) [ $# -gt 1 ] || { echo "datacenter.sh: --out needs a folder. See --help" >&2; exit 2; }; out=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    model | regret | floor) steps+=("$1") ;;
    *) echo "datacenter.sh: unknown step '$1'. See --help" >&2; exit 2 ;;
  esac
  shift
done
[ ${#steps[@]} -gt 0 ] || { usage >&2; exit 2; }

cd "$(dirname "${BASH_SOURCE[0]}")/.."
PATH="$(realpath -m -- "${BUILD_DIR:-build/release}")/apps/hindsight:$PATH"
for program in hindsight python3; do
  command -v "$program" >/dev/null || { echo "datacenter.sh: no $program in BUILD_DIR or on the PATH" >&2; exit 1; }
done
node=${NODE:-5nm-silicon@liquid}
networks=(llama3_8b_decode llama3_8b_decode@8 llama3_8b_decode@64 llama3_8b_prefill llama3_70b_decode@8
  llama3_70b_prefill mixtral_8x7b_decode bert_base@8 bert_base@64 resnet50@64 vit_b_16@64 sd15_unet)
mkdir -p "$out"

# optimum NETWORK NODE: what `hindsight optimum` knows, as JSON
optimum() { hindsight optimum --space datacenter --workloads "$1" --technology "$2" --quiet --json; }

step_model() {
  hindsight sweep --space datacenter --workloads datacenter --technology "$node" --samples 20000 --seed 1 \
    --log "$out/datacenter.sqlite"
  [ -e "$out/datacenter-any.safetensors" ] || hindsight train --log "$out/datacenter.sqlite" --recipe layers \
    --constraint energy_j --set steps=8000 --out "$out/datacenter-any.safetensors"
}

step_regret() {
  printf '| network | first / best found | best of ten / best found | best of the log / best found | cannot be built |\n'
  printf '|:---|---:|---:|---:|---:|\n'
  for network in "${networks[@]}"; do
    hindsight propose --model "${MODEL:-datacenter-any}" --workload "$network" --simulate --json > "$out/proposals.json"
    optimum "$network" "$node" > "$out/optimum.json"
    logged=$(hindsight log query "$out/datacenter.sqlite" "SELECT min(latency_s) AS best FROM evaluations JOIN workloads
      USING (workload_id) WHERE feasible AND name = '$network'" --json)
    NETWORK=$network LOGGED=$logged python3 - "$out" <<'PY'
import json, os, sys

folder = sys.argv[1]
best = json.load(open(f"{folder}/optimum.json"))["designs"][0]["value"]
logged = json.loads(os.environ["LOGGED"])[0]["best"]
true = []
for proposal in json.load(open(f"{folder}/proposals.json"))["proposals"]:
    verdict = proposal["simulated"]
    true.append(verdict["value"] if verdict["feasible"] else None)
built = [value for value in true if value is not None]
ratio = lambda value: f"{value / best:.3f}" if value is not None else "cannot be built"
print(f"| {os.environ['NETWORK']} | {ratio(true[0])} | {ratio(min(built, default=None))} | {ratio(logged)} | "
      f"{len(true) - len(built)} of {len(true)} |")
PY
  done
}

step_floor() {
  printf '| network | technology | best found | floor | at most, of the optimum |\n|:---|:---|---:|---:|---:|\n'
  for network in llama3_8b_decode llama3_8b_decode@64 llama3_70b_decode@8 llama3_8b_prefill bert_base@64 resnet50@64 \
    sd15_unet; do
    for technology in 7nm-silicon@air 5nm-silicon@liquid; do
      optimum "$network" "$technology" | NETWORK=$network TECHNOLOGY=$technology python3 -c '
import json, os, sys

known = json.load(sys.stdin)
best, floor = known["designs"][0]["value"], known["gap"]["floor"]
network, technology = os.environ["NETWORK"], os.environ["TECHNOLOGY"]
print(f"| {network} | {technology} | {1e3 * best:.3g} ms | {1e3 * floor:.3g} ms | x{best / floor:.3g} |")'
    done
  done
}

for step in "${steps[@]}"; do "step_$step"; done

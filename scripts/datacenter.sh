#!/usr/bin/env bash
# The data centre's studies: the shipped model of the space, how good its proposals are, and floors of the optimum.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/datacenter.sh [--out FOLDER] STEP...

  model    20,000 designs of the space datacenter within the watts of its cooling, three of ten of many MACs, on the twelve
           networks of the list of that name, and on nine each of 600 synthetic ones, and the model datacenter-any learnt
           from them
  unseen   how right it is about networks that it has not learnt: a Markdown table; the model with the errors by which
           `propose` says what to expect goes to calibrated/
  regret   first and best of ten proposals of MODEL, simulated, over the best of the same log and over the best design
           that `hindsight optimum` finds: a Markdown table of the twelve, and one of networks that it has not learnt
  floor    the best design that `hindsight optimum` finds for each of these networks, the floor and the gap: a table

  --out FOLDER   where log and model go (default: build/studies)
  --help         this text

Environment:
  BUILD_DIR      build folder with the program (default: build/release)
  NODE           technology of model, unseen and regret (default: 5nm-silicon@liquid)
  MODEL          of regret: a file, or the name of a shipped model (default: datacenter-any)
TEXT
}

out=build/studies
steps=()
while [ $# -gt 0 ]; do
  case $1 in
    --out) [ $# -gt 1 ] || { echo "datacenter.sh: --out needs a folder. See --help" >&2; exit 2; }; out=$2; shift ;;
    -h | --help) usage; exit 0 ;;
    model | unseen | regret | floor) steps+=("$1") ;;
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
# Designs beyond the watts that the cooling carries are known not to be feasible, and tell nothing else.
case $node in
  *@liquid) cool=(--max peak_power_w=700) ;;
  *@air) cool=(--max peak_power_w=300) ;;
  *) echo "datacenter.sh: NODE names no cooling that a server has: end it with @liquid or @air" >&2; exit 2 ;;
esac
mkdir -p "$out"

# optimum NETWORK NODE: what `hindsight optimum` knows, as JSON
optimum() { hindsight optimum --space datacenter --workloads "$1" --technology "$2" --quiet --json; }

# Of other sizes than the twelve, or the same at another batch.
others=(deepseek_v3_decode mixtral_8x7b_prefill mixtral_8x7b_decode@16 whisper_base@16 whisper_large_v2 whisper_large_v3@16
  llama3_8b_decode@16 llama3_70b_decode bert_base resnet50@8 vit_b_16 sd15_unet@4 mobilenet_v2@64 mobilenet_v3_large@32
  mobilenet_edgetpu@32 ssdlite@16 m4@16 m5@64 m6@8 unet@8 t_rnn_dec@64 t_rnn_enc@16)

# swept LIST LOG ARGUMENT...
swept() { hindsight sweep --space datacenter --workloads "$1" --technology "$node" "${cool[@]}" --log "$2" "${@:3}"; }

# swept_many SEED SAMPLES MACS: designs of so many MACs or more on the chip, on both lists of networks. Limits are upper ones:
# what is limited is derived in a copy of the space, of whose definition nothing derived is part.
swept_many() {
  { cat configs/spaces/datacenter.yaml
    printf '\nderived:\n  macs_below_2_to_24: 16777216 - pes_x * pes_y * cores_per_pe * compute_lanes * macs_per_lane\n'
  } > "$out/datacenter-space.yaml"
  local limits=(--space "$out/datacenter-space.yaml" --technology "$node" "${cool[@]}" --max macs_below_2_to_24=$((16777216 - $3))
    --samples "$2" --seed "$1" --log "$out/datacenter.sqlite")
  hindsight sweep --workloads datacenter "${limits[@]}"
  hindsight sweep --workloads synthetic:600 --networks-per-design 9 "${limits[@]}"
}

# Where arithmetic decides, the best have 2^19 MACs and more, as one of 30 uniform designs within the watts has.
step_model() {
  swept_many 1 14000 0
  swept_many 2 3000 262144
  swept_many 3 3000 524288
  [ -e "$out/datacenter-any.safetensors" ] || hindsight train --log "$out/datacenter.sqlite" --recipe layers \
    --constraint energy_j --set steps=16000 --set batch_pairs=12000 --set applications_per_step=32 --set ensemble=2 \
    --out "$out/datacenter-any.safetensors"
}

step_unseen() {
  scripts/outside-networks.sh "$out/outside"
  swept "$(printf '%s,' "${others[@]}" "$out"/outside/*.yaml "$out"/outside/speech/*.yaml)synthetic:24@9" \
    "$out/unseen.sqlite" --samples 10000 --seed 91 --quiet
  mkdir -p "$out/calibrated"
  hindsight model calibrate "$out/datacenter-any.safetensors" --log "$out/unseen.sqlite" \
    --out "$out/calibrated/datacenter-any.safetensors"
  hindsight model score "$out/datacenter-any.safetensors" --log "$out/unseen.sqlite" --json | python3 -c '
import json, sys

print("| network | feasible of 10,000 | tau | median error | infeasible where p feasible >= 0.9 | distance |")
print("|:---|---:|---:|---:|---:|---:|")
percent = lambda value, absent: absent if value is None else f"{100 * value:.1f} %"
for row in json.load(sys.stdin)["applications"]:
    tau = "-" if row["kendall_tau"] is None else "{:.3f}".format(row["kendall_tau"])
    print("| {} | {:,} | {} | {} | {} | {:.2f} |".format(
        row["workload"].rpartition("/")[2], row["feasible"], tau, percent(row["median_error"], "-"),
        percent(row["infeasible_when_sure"], "never that sure"), row["layer_distance"]))'
}

# regrets_of NETWORK...: a table with a row each.
regrets_of() {
  local network logged
  printf '| network | first / best found | best of ten / best found | best of the log / best found | cannot be built |\n'
  printf '|:---|---:|---:|---:|---:|\n'
  for network; do
    hindsight propose --model "${MODEL:-datacenter-any}" --workload "$network" --simulate --json > "$out/proposals.json" ||
      { [ $? -eq 3 ] && echo '{"proposals": []}' > "$out/proposals.json"; }  # none is likely to be feasible
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
ratio = lambda value, absent: f"{value / best:.3f}" if value is not None else absent
first = ratio(true[0] if true else None, "cannot be built")
best_of_ten = ratio(min(built, default=None), "cannot be built")
print(f"| {os.environ['NETWORK']} | {first} | {best_of_ten} | {ratio(logged, '-')} | {len(true) - len(built)} of {len(true)} |")
PY
  done
}

step_regret() {
  regrets_of "${networks[@]}"
  printf '\n'
  regrets_of llama3_70b_decode mixtral_8x7b_prefill whisper_base@16 whisper_large_v3@16 mobilenet_v2@64 ssdlite@16 unet@8 \
    t_rnn_dec@64
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

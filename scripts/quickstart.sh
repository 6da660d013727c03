#!/usr/bin/env bash
# Installs what is missing, builds Hindsight, and designs a first accelerator: log, surrogate, proposals, truth.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/quickstart.sh [--no-install | --installed]

From a fresh Debian 12 to a first designed accelerator, in six steps:
  1. installs the missing Debian packages with apt-get (through sudo when not root);
     when none is missing neither apt-get nor sudo is called
  2. builds the program in build/release
  3. simulates 20,000 designs of the space `edge` on nine networks, keeps them in
     hindsight-quickstart.sqlite, and shows what is in that log
  4. chooses a recipe by backtests on the log, and trains a surrogate for one network
  5. proposes designs of at most 27 mm2 without the simulator, then simulates them
  6. puts the first proposal beside GPUs that one can buy

Safe to run again: built files, finished designs and the trained surrogate are kept, an
interrupted sweep goes on.

  --no-install   skip step 1 (packages come from elsewhere)
  --installed    skip steps 1 and 2: use the `hindsight` that is on the PATH
  --help         this text

Environment:
  JOBS           parallel compile jobs (default: number of processors)
  BUILD_DIR      build folder, absolute or relative to the repository (default: build/release)
TEXT
}

install=yes
build=yes
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    --installed) install=no build=no ;;
    -h | --help) usage; exit 0 ;;
    *) echo "quickstart.sh: unknown argument '$argument'. See --help" >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/packages.sh
. scripts/packages.sh
build_dir=${BUILD_DIR:-build/release}
log="hindsight-quickstart.sqlite"
model="hindsight-quickstart.safetensors"
workload="unet"
area_mm2=27

echo "== 1/6 Packages"
if [ "$install" = yes ]; then
  install_packages "${build_packages[@]}" "${training_packages[@]}"
else
  echo "Skipped."
fi

echo "== 2/6 Build in $build_dir"
if [ "$build" = yes ]; then
  # A folder that is configured already keeps its options.
  options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DHINDSIGHT_BUILD_TESTS=OFF -DHINDSIGHT_UNITY=ON)
  [ ! -e "$build_dir/CMakeCache.txt" ] || options=()
  cmake -S . -B "$build_dir" "${options[@]}"
  cmake --build "$build_dir" --parallel "${JOBS:-$(nproc)}" --target hindsight
  hindsight=$build_dir/apps/hindsight/hindsight
else
  hindsight=$(command -v hindsight) || fail "no hindsight is on the PATH. Install it (docs/install.md), or leave --installed out"
  echo "Skipped: $hindsight serves."
fi

echo "== 3/6 Sweep: 20,000 designs on nine networks"
"$hindsight" sweep --space edge --workloads prime9 --samples 20000 --sampler uniform --max area_mm2=100 --seed 1 --log "$log"
"$hindsight" log stats "$log"

echo "== 4/6 Train: what the log says about $workload"
if [ -e "$model" ]; then
  echo "Kept: $model (remove it to train again)."
else
  "$hindsight" train --log "$log" --workloads "$workload" --out "$model"
fi

echo "== 5/6 Propose: designs of at most $area_mm2 mm2, and the truth about them"
"$hindsight" propose --model "$model" --workload "$workload" --max "area_mm2=$area_mm2" --log "$log" --simulate

echo "== 6/6 Check: would the first proposal beat a GPU?"
"$hindsight" check --log "$log" --proposals latest --gpu l4,h100-sxm5

cat <<TEXT

What happened: 20,000 random designs were simulated; most of them cannot be built or
programmed. From this log alone a surrogate learnt to predict latency and feasibility, and
searched the 452,760,000 designs of the space for fast ones of at most $area_mm2 mm2, without
the simulator. The columns of the truth are what the simulator said about the proposals
afterwards; the line below the table compares them with the best such design of the log.

Log and surrogate are in $PWD. Next:
  cd $PWD
TEXT
[ "$build" = no ] || echo "  export PATH=\"$(cd "$(dirname "$hindsight")" && pwd):\$PATH\""
cat <<TEXT
  hindsight --help
  hindsight log show $log
  hindsight model show $model
  hindsight propose --workload resnet50 --max area_mm2=$area_mm2 --simulate
TEXT
[ "$build" = no ] || echo "For every shell: sudo cmake --install $build_dir (docs/install.md)."
echo "The guide: docs/learning.md"

#!/usr/bin/env bash
# Installs what is missing, builds Hindsight, and collects a first log of designs.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/quickstart.sh [--no-install]

From a fresh Debian 12 to a first log of simulated designs, in three steps:
  1. installs the missing Debian packages with apt-get (through sudo when not root);
     when none is missing neither apt-get nor sudo is called
  2. builds the program in build/release
  3. simulates 20,000 designs of the space `edge` on nine networks, keeps them in
     hindsight-quickstart.sqlite, and shows what is in that log

Safe to run again: built files and finished designs are kept, an interrupted sweep goes on.

  --no-install   skip step 1 (packages come from elsewhere)
  --help         this text

Environment:
  JOBS           parallel compile jobs (default: number of processors)
  BUILD_DIR      build folder, absolute or relative to the repository (default: build/release)
TEXT
}

install=yes
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    -h | --help) usage; exit 0 ;;
    *) echo "quickstart.sh: unknown argument '$argument'. See --help" >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/packages.sh
. scripts/packages.sh
build_dir=${BUILD_DIR:-build/release}
log="hindsight-quickstart.sqlite"

echo "== 1/3 Packages"
if [ "$install" = yes ]; then
  install_packages "${build_packages[@]}"
else
  echo "Skipped (--no-install)."
fi

echo "== 2/3 Build in $build_dir"
# A folder that is configured already keeps its options.
options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DHINDSIGHT_BUILD_TESTS=OFF)
[ ! -e "$build_dir/CMakeCache.txt" ] || options=()
cmake -S . -B "$build_dir" "${options[@]}"
cmake --build "$build_dir" --parallel "${JOBS:-$(nproc)}" --target hindsight

echo "== 3/3 Sweep: 20,000 designs on nine networks"
hindsight=$build_dir/apps/hindsight/hindsight
"$hindsight" sweep --space edge --workloads prime9 --samples 20000 --sampler uniform --max area_mm2=100 --seed 1 --log "$log"
"$hindsight" log stats "$log"

cat <<TEXT

The log is $PWD/$log, a SQLite file. Next:
  cd $PWD
  $hindsight --help
  $hindsight log show $log
TEXT

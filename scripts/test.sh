#!/usr/bin/env bash
# Installs what is missing, builds everything with warnings as errors, and runs all tests.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/test.sh [--no-install]

Runs every test from a fresh Debian 12 on, in three steps:
  1. installs the missing Debian packages with apt-get (through sudo when not root);
     when none is missing neither apt-get nor sudo is called
  2. builds program and tests in build/test: optimised, contracts on, warnings are errors
  3. runs the tests with ctest; the exit status is ctest's

Safe to run again: only what changed is built.

  --no-install   skip step 1 (packages come from elsewhere)
  --help         this text

Environment:
  JOBS           parallel compile jobs and tests (default: number of processors; 2 tests)
  BUILD_DIR      build folder, absolute or relative to the repository (default: build/test)
TEXT
}

install=yes
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    -h | --help) usage; exit 0 ;;
    *) echo "test.sh: unknown argument '$argument'. See --help" >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/packages.sh
. scripts/packages.sh
build_dir=${BUILD_DIR:-build/test}

echo "== 1/3 Packages"
if [ "$install" = yes ]; then
  install_packages "${build_packages[@]}" "${training_packages[@]}" "${test_packages[@]}"
else
  echo "Skipped (--no-install)."
fi

echo "== 2/3 Build in $build_dir"
cmake -S . -B "$build_dir" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHINDSIGHT_BUILD_TESTS=ON -DHINDSIGHT_WERROR=ON
cmake --build "$build_dir" --parallel "${JOBS:-$(nproc)}"

echo "== 3/3 Tests"
exec ctest --test-dir "$build_dir" --output-on-failure --no-tests=error -j "${JOBS:-2}"

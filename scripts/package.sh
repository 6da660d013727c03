#!/usr/bin/env bash
# Builds the packages: two .deb files and a .tar.gz.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/package.sh [--no-install]

Makes what others install, for this machine's Debian and processor, in three steps:
  1. installs the missing Debian packages with apt-get (through sudo when not root);
     when none is missing neither apt-get nor sudo is called
  2. builds in build/package, for the prefix /usr, with LibTorch and without CUDA
  3. writes to build/package/packages:
       hindsight_VERSION_ARCH.deb       the programs, what trains, data, documents
       hindsight-dev_VERSION_ARCH.deb   headers, static libraries, find_package(Hindsight), examples
       hindsight-VERSION-Linux.tar.gz   both, to be unpacked anywhere
       hindsight-VERSION.spdx.json      bill of materials: the libraries that were found, with versions
       SHA256SUMS                       of these four; what a release is signed by (SECURITY.md)

Safe to run again: only what changed is built. Measuring GPUs needs a build on the machine
that has them (docs/measure.md): Debian has no CUDA toolkit to depend on.

  --no-install   skip step 1 (packages come from elsewhere)
  --help         this text

Environment:
  JOBS           parallel compile jobs (default: number of processors)
  BUILD_DIR      build folder, absolute or relative to the repository (default: build/package)
TEXT
}

install=yes
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    -h | --help) usage; exit 0 ;;
    *) echo "package.sh: unknown argument '$argument'. See --help" >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/packages.sh
. scripts/packages.sh
build_dir=${BUILD_DIR:-build/package}

echo "== 1/3 Packages"
if [ "$install" = yes ]; then
  install_packages "${build_packages[@]}" "${training_packages[@]}" "${package_packages[@]}"
else
  echo "Skipped (--no-install)."
fi

echo "== 2/3 Build in $build_dir"
cmake -S . -B "$build_dir" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr -DHINDSIGHT_BUILD_TESTS=OFF \
  -DHINDSIGHT_TORCH=ON -DHINDSIGHT_CUDA=OFF -DHINDSIGHT_UNITY=ON
cmake --build "$build_dir" --parallel "${JOBS:-$(nproc)}"

echo "== 3/3 Packages in $build_dir/packages"
rm -rf "$build_dir/packages"
cpack --config "$build_dir/CPackConfig.cmake" -B "$build_dir/packages"
rm -rf "$build_dir/packages/_CPack_Packages"
version=$(sed -n 's/^ *"name": "hindsight-\(.*\)",$/\1/p' "$build_dir/hindsight.spdx.json")
cp "$build_dir/hindsight.spdx.json" "$build_dir/packages/hindsight-$version.spdx.json"
(cd "$build_dir/packages" && sha256sum -- *.deb *.tar.gz *.spdx.json >SHA256SUMS)
ls -l "$build_dir/packages"
cat <<TEXT

Install the program, or the library as well:
  sudo apt-get install $(cd "$build_dir/packages" && pwd)/hindsight_*.deb
  sudo apt-get install $(cd "$build_dir/packages" && pwd)/hindsight*.deb
TEXT

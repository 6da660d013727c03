#!/usr/bin/env bash
# The Debian 12 packages Hindsight needs, and how to install those that are missing. Sourced by the scripts beside
# it; run as `bash scripts/packages.sh` it prints the list, one package a line.

build_packages=(
  cmake
  g++
  libboost-dev
  libcli11-dev
  libcpp-httplib-dev
  libeigen3-dev
  libfmt-dev
  libpq-dev
  libsqlite3-dev
  libsqlitecpp-dev
  libssl-dev
  libyaml-cpp-dev
  ninja-build
  nlohmann-json3-dev
  zlib1g-dev
)
# The launchers of configs/cluster, which tests start (30 MB): without one they say what they skip.
test_packages=(
  clang-format-14
  libgmock-dev
  libgtest-dev
  librsvg2-bin
  munge
  openmpi-bin
  parallel
  postgresql
  slurm-wlm
  sqlite3
)
# Only for training (about 1 GB). LibTorch without OpenBLAS trains about sixteen times slower. XGBoost (2 MB), opened
# at run time by `calibrate --residual` alone, trains the learned correction of GEMM runtimes. Gloo's headers are for
# `train --ranks`.
training_packages=(
  libgloo-dev
  libopenblas0-pthread
  libtorch-dev
  libxgboost0
)
# Only for scripts/package.sh: finds what the .deb depends on.
package_packages=(
  dpkg-dev
  file
)
# Only for -DHINDSIGHT_BUILD_BENCH=ON (the preset bench).
bench_packages=(
  libbenchmark-dev
)

# fail MESSAGE: one line on standard error, exit 1.
fail() {
  printf '%s: %s\n' "$(basename "$0")" "$1" >&2
  exit 1
}

# missing_packages PACKAGE...: those that are not installed, one a line.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

# as_root COMMAND...: directly when root, else through sudo.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

# install_packages PACKAGE...: installs the missing ones; touches neither apt-get nor sudo when none is.
install_packages() {
  command -v apt-get >/dev/null ||
    fail "no apt-get here (the package list is for Debian 12). Install the counterparts of: $*; then use --no-install"
  local missing
  mapfile -t missing < <(missing_packages "$@")
  if [ ${#missing[@]} -eq 0 ]; then
    echo "All packages are installed."
    return
  fi
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    fail "packages are missing and there is neither root nor sudo. As root: apt-get install ${missing[*]}"
  fi
  echo "Installing: ${missing[*]}"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  as_root "${apt[@]}" update || fail "apt-get update failed (is the network up?)"
  as_root "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null ||
    fail "apt-get could not install: ${missing[*]}"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  printf '%s\n' "${build_packages[@]}" "${test_packages[@]}" "${training_packages[@]}" "${package_packages[@]}" \
    "${bench_packages[@]}"
fi

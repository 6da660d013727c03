#!/usr/bin/env bash
# Installs the packages on a bare Debian 12 and uses them as a stranger would: quickstart's verbs, and the example.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/check-package.sh FOLDER

For a bare Debian 12 (a container, a chroot) and root: changes what is installed. FOLDER holds the .deb files
of scripts/package.sh. Three steps:
  1. installs them with apt-get, and a compiler
  2. runs scripts/quickstart.sh --installed
  3. builds the installed examples against the installed library, and runs them

  --help   this text
TEXT
}

case ${1-} in
  -h | --help) usage; exit 0 ;;
  '' | -*) usage >&2; exit 2 ;;
esac
packages=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "== 1/3 Install"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install -y --no-install-recommends "$packages"/hindsight*.deb cmake g++ make >/dev/null
hindsight doctor

echo "== 2/3 Quickstart with $(command -v hindsight)"
scripts/quickstart.sh --installed

echo "== 3/3 The example"
work=$(mktemp -d)
cp -r /usr/share/doc/hindsight/examples "$work/"
cmake -S "$work/examples" -B "$work/build"
cmake --build "$work/build"
cd "$work"
build/propose
hindsight check --log study.sqlite --proposals latest --gpu l4 --workload mobilenet_v2

#!/usr/bin/env bash
# How many tests the command of each class of faults in docs/reliability.md runs, by the list of tests of a build.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/fault-tests.sh [--build FOLDER]

Prints a Markdown table: each class of faults in docs/reliability.md, and how many tests `ctest -R` of its row runs.
What is not built in, or not installed, is among them: such tests say that they are skipped.

  --build FOLDER   build folder with the tests (default: build/test)
  --help           this text

Exit codes: 0 each class has tests; 1 one has none, or the tests cannot be listed; 2 usage
TEXT
}

build=build/test
while [ $# -gt 0 ]; do
  case $1 in
    --build)
      [ $# -ge 2 ] || { echo "fault-tests.sh: $1 needs a value. See --help" >&2; exit 2; }
      build=$2
      shift 2
      ;;
    -h | --help) usage; exit 0 ;;
    *) echo "fault-tests.sh: unknown argument '$1'. See --help" >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
names=$(ctest --test-dir "$build" -N 2>/dev/null | sed -nE 's/^ *Test *#[0-9]+: ([^ ]+).*/\1/p')
[ -n "$names" ] || { echo "fault-tests.sh: no tests in $build. Build them: scripts/test.sh, or name --build" >&2; exit 1; }

status=0
echo '| class | tests a run | `ctest -R` |'
echo '|---:|---:|---|'
# A row of the page: | number | ... | `ctest -R PATTERN`..., where PATTERN has \| for |.
while IFS=$'\t' read -r number pattern; do
  count=$(grep -cE -- "${pattern//\\|/|}" <<<"$names") || status=1
  echo "| $number | $count | \`$pattern\` |"
done < <(sed -nE "s/^\| ([0-9]+) \|.*\| \`ctest -R '?([^'\`]+)'?\`.*/\1\t\2/p" docs/reliability.md)
exit $status

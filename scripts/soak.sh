#!/usr/bin/env bash
# The long form of the tests of faults: hundreds of kills, every failing call, a power cut at every write.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: scripts/soak.sh [--only NAME] [--count N] [--points N] [--folder FOLDER] [--build FOLDER]

Makes things go wrong, one by one, and prints one table at the end: class of fault (docs/reliability.md), what, how
many, rows lost, corrupt files, crashes, hangs, results that differ in silence, other faults (unclear messages, files
left behind), seconds, day. Hours on two cores; what is done is kept in FOLDER/results.csv, and the same command goes on
from there. What is wrong stands in words in FOLDER/notes.txt.

  class 1   SIGKILL at random moments: sweep, import, train, propose, campaign, log merge, log repair
  class 2   four writers and two readers at one log, writers killed among them; a commit at every call of a log repair
  class 3   the n-th open, read, write, fsync, rename, mmap, truncate, unlink or close fails, once and from then on, for
            every n: sweep, import, train, propose, campaign, measure import (log, sheet), calibrate, log merge, export,
            backup, repair; the page of serve, while a sweep writes to its log
  class 4   the n-th allocation of memory fails: sweep, import, train, campaign, log merge, export, repair, serve
  class 5   a log, or the -wal file beside it, cut and changed at random: read and repaired
  class 9   a model file, cut at every length and changed at random
  class 10  the power is cut at every write; what was not synced is lost, torn or kept
  class 19  SIGINT, SIGTERM or SIGHUP at random moments: sweep, import, train, propose, campaign, log merge
  class 24  two trainings that write one model file at once

  --only NAME      what has NAME in it, e.g. 'SIGKILL', 'SIGHUP', 'at once', 'log: damaged', 'sweep: write', 'power cut'
  --count N        kills and signals of each verb, pairs of trainings, allocations that fail (of serve a tenth of it); 5
                   times as many damages of a log, 250 times as many changes of the model (default: 400)
  --points N       failing calls of each kind, at equal distances; with it, every seventh power cut (default: 0, every
                   one)
  --folder FOLDER  results and scratch files (default: build/soak)
  --build FOLDER   build folder with program and tests (default: build/test)
  --help           this text

Exit codes: 0 nothing was lost, corrupt or silent; 1 something was; 2 usage
TEXT
}

only=
count=400
points=0
folder=build/soak
build=build/test
while [ $# -gt 0 ]; do
  case $1 in
    --only | --count | --points | --folder | --build)
      [ $# -ge 2 ] || { echo "soak.sh: $1 needs a value. See --help" >&2; exit 2; }
      case $1 in
        --only) only=$2 ;;
        --count) count=$2 ;;
        --points) points=$2 ;;
        --folder) folder=$2 ;;
        --build) build=$2 ;;
      esac
      shift 2
      ;;
    -h | --help) usage; exit 0 ;;
    *) echo "soak.sh: unknown argument '$1'. See --help" >&2; exit 2 ;;
  esac
done
for number in "$count" "$points"; do
  case $number in
    '' | *[!0-9]*) echo "soak.sh: '$number' is not a number. See --help" >&2; exit 2 ;;
  esac
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
soak=$build/tests/fault/fault_soak
[ -x "$soak" ] || { echo "soak.sh: there is no $soak. Build it: scripts/test.sh, or name --build" >&2; exit 2; }
mkdir -p "$folder"
exec "$soak" "$(cd "$folder" && pwd)" "$count" "$points" "$only"

#!/usr/bin/env bash
# What an external evaluator costs: how busy its workers are, and the built-in model as a process against itself.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: bench/external_evaluator.sh [--build FOLDER]

Sweeps 1,000 designs whose simulator sleeps 50 ms each on 2 workers, and 2,000 designs on the built-in model, once inside
of the program and once as `hindsight serve`, in turn and three times. Takes about a minute and needs python3.

  --build FOLDER  build folder with the program (default: build/release)
  --help          this text
TEXT
}

build=build/release
while [ $# -gt 0 ]; do
  case $1 in
    --build)
      [ $# -ge 2 ] || { echo "external_evaluator.sh: --build needs a folder" >&2; exit 2; }
      build=$2
      shift 2
      ;;
    --help) usage; exit 0 ;;
    *) echo "external_evaluator.sh: unknown argument '$1'. See bench/external_evaluator.sh --help" >&2; exit 2 ;;
  esac
done

cd "$(dirname "$0")/.."
program=$build/apps/hindsight/hindsight
[ -x "$program" ] || { echo "external_evaluator.sh: there is no $program. Build it, or name --build" >&2; exit 2; }
command -v python3 >/dev/null || { echo "external_evaluator.sh: needs python3" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

cat >"$folder/sleeper.py" <<'PYTHON'
import json, sys, time
for line in sys.stdin:
    begin = time.monotonic()
    time.sleep(0.05)
    print(json.dumps({"id": json.loads(line)["id"], "metrics": {"latency_s": 1}}), flush=True)
    with open(sys.argv[1], "a") as out:
        print(time.monotonic() - begin, file=out)
PYTHON

# Seconds of a sweep of $1 designs into the log $2, with further options.
seconds() {
  local samples=$1 log=$2
  shift 2
  "$program" sweep --workloads mobilenet_v2 --samples "$samples" --log "$folder/$log" --quiet --json "$@" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["elapsed_s"])'
}

elapsed=$(seconds 1000 busy.sqlite --evaluator "python3 $folder/sleeper.py $folder/worked" --evaluator-workers 2)
python3 -c "
worked = sum(map(float, open('$folder/worked')))
print(f'1,000 designs of 50 ms on 2 workers: {$elapsed:.2f} s, of which they slept {1000 * 0.05 / 2 / $elapsed:.1%} and '
      f'were at work, by their own clock, {worked / 2 / $elapsed:.1%}')"

for run in 1 2 3; do
  inside=$(seconds 2000 "inside$run.sqlite" --threads 1)
  served=$(seconds 2000 "served$run.sqlite" --evaluator "$program serve")
  python3 -c "print(f'2,000 designs: built in {$inside:.2f} s, as a process {$served:.2f} s, '
                    f'{($served - $inside) / 2000 * 1e3:.2f} ms lost per design')"
done

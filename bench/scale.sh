#!/usr/bin/env bash
# What many processes cost: measures the constants of docs/scale.md on this machine and prints the model's tables.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: bench/scale.sh [--program FILE] [--samples N] [--folder FOLDER] [--constants FILE]

Measures, with sweeps of the space `edge` on nine networks, one thread each: what a design costs, what a shard takes to
begin and to pass over the designs of others, bytes and memory per design, two processes against one, and `log merge` of
2 and 64 shards. Two sweeps that have nothing in common, at once, tell what the machine itself takes from two processes.
Then prints, by bench/scale_model.py, the model beside what was measured and simulated to 10,000 shards, as Markdown.
Takes about eight minutes on two idle cores; on a busy machine CPU times hold and wall times do not.

  --program FILE    the built hindsight (default: build/release/apps/hindsight/hindsight)
  --samples N       designs of the sweeps that are timed (default: 100000)
  --folder FOLDER   where logs are written, and removed (default: a new one in /tmp)
  --constants FILE  measure nothing: constants of an earlier run, as it wrote them to FOLDER/constants.txt
  --help            this text
TEXT
}

program=build/release/apps/hindsight/hindsight
samples=100000
folder=
constants=
while [ $# -gt 0 ]; do
  case $1 in
    --program | --samples | --folder | --constants)
      [ $# -ge 2 ] || { echo "scale.sh: $1 needs a value" >&2; exit 2; }
      case $1 in
        --program) program=$2 ;;
        --samples) samples=$2 ;;
        --folder) folder=$2 ;;
        --constants) constants=$2 ;;
      esac
      shift 2
      ;;
    --help) usage; exit 0 ;;
    *) echo "scale.sh: unknown argument '$1'. See bench/scale.sh --help" >&2; exit 2 ;;
  esac
done
here=$(cd "$(dirname "$0")" && pwd)
[ -z "$constants" ] || exec python3 "$here/scale_model.py" "$constants"
program=$(realpath -- "$program")
[ -x "$program" ] || { echo "scale.sh: $program is no program. Build it, or name it with --program" >&2; exit 2; }
if [ -z "$folder" ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
mkdir -p "$folder"
cd "$folder"
out=constants.txt

# timed NAME COMMAND...: writes "NAME WALL_S CPU_S PEAK_KIB" to the constants.
timed() {
  python3 - "$@" >>"$out" <<'PY'
import os, subprocess, sys, time
begin = time.monotonic()
child = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
wall_s = time.monotonic() - begin
if status != 0:
    sys.exit(f"scale.sh: {' '.join(sys.argv[2:])}: ended with status {os.waitstatus_to_exitcode(status)}")
print(sys.argv[1], f"{wall_s:.4f}", f"{usage.ru_utime + usage.ru_stime:.4f}", usage.ru_maxrss)
PY
}
timed_sweep() {
  local name=$1 log=$2 designs=$3 shard=$4
  shift 4
  rm -f "$log" "$log"-*
  timed "$name" "$program" sweep --no-config --space edge --workloads prime9 --samples "$designs" --threads 1 --shard "$shard" --log "$log" --quiet "$@"
}

: >"$out"
{
  echo "samples $samples"
  echo "version $("$program" doctor --no-config | awk '/^version/ {print $2}')"
  echo "date $(date +%F)"
  echo "processors $(nproc)"
} >>"$out"

echo "scale.sh: what a design and a shard cost ..." >&2
for _ in 1 2 3; do timed_sweep start few.sqlite 1 0/1; done
timed_sweep whole whole.sqlite "$samples" 0/1
echo "whole_bytes $(stat -c %s whole.sqlite)" >>"$out"
timed_sweep pass_few pass.sqlite 1000000 0/100000
timed_sweep pass_many pass.sqlite 8000000 0/100000
timed_sweep limited limited.sqlite "$samples" 0/1 --max area_mm2=100
timed_sweep limited_pass pass.sqlite "$((samples * 2))" 0/100000 --max area_mm2=100

echo "scale.sh: one process, two shards, and two processes with nothing in common, in turn ..." >&2
# both NAME DESIGNS SHARD SEED SHARD SEED: two sweeps at once; writes "NAME_wall MS", until the later one ended.
both() {
  rm -f two.*.sqlite*
  local begin first
  begin=$(date +%s%N)
  (timed_sweep "$1" two.0.sqlite "$2" "$3" --seed "$4") &
  first=$!
  timed_sweep "$1" two.1.sqlite "$2" "$5" --seed "$6"
  wait "$first"
  echo "$1_wall $(((($(date +%s%N) - begin)) / 1000000))" >>"$out"
}
for _ in 1 2 3 4 5 6 7; do
  timed_sweep one one.sqlite "$samples" 0/1
  both half "$samples" 0/2 0 1/2 0
  both apart "$samples" 0/1 11 0/1 12
done

echo "scale.sh: merging 2 and 64 shards ..." >&2
# shards FOLDER DESIGNS COUNT: logs of all shards.
shards() {
  mkdir -p "$1"
  seq 0 $(($3 - 1)) | xargs -P "$(nproc)" -I '{}' \
    "$program" sweep --no-config --space edge --workloads prime9 --samples "$2" --threads 1 --shard "{}/$3" \
    --log "$1/{}.sqlite" --quiet
}
shards small $((samples / 20)) 64
for _ in 1 2 3 4 5; do
  rm -f merged.sqlite*
  timed merge_small "$program" log merge small/*.sqlite --out merged.sqlite
done
for count in 2 64; do
  shards "n$count" "$samples" "$count"
  for _ in 1 2 3 4 5; do
    rm -f merged.sqlite*
    timed "merge_$count" "$program" log merge "n$count"/*.sqlite --out merged.sqlite
  done
  timed "again_$count" "$program" log merge "n$count"/*.sqlite --out merged.sqlite
  [ "$("$program" log hash merged.sqlite --json | grep content_sha256)" = \
    "$("$program" log hash whole.sqlite --json | grep content_sha256)" ] \
    || { echo "scale.sh: $count shards merged are not the sweep of one process" >&2; exit 1; }
  echo "merged_bytes_$count $(stat -c %s merged.sqlite)" >>"$out"
  echo "shard_bytes_$count $(stat -c %s "n$count"/*.sqlite | awk '{sum += $1} END {print sum}')" >>"$out"
done
rm -rf small n2 n64 ./*.sqlite*
python3 "$here/scale_model.py" "$out"

#!/bin/bash
# A sweep in N shards by GNU parallel, on this machine, or on others with PARALLEL='--sshlogin ...'.
#
#   configs/cluster/parallel.sh 8 --space edge --workloads prime9 --samples 1000000
#   hindsight log merge study.*.sqlite --out study.sqlite
set -euo pipefail
if [ $# -lt 2 ]; then
  echo "usage: configs/cluster/parallel.sh SHARDS OPTION... (of hindsight sweep)" >&2
  exit 2
fi
shards=$1
shift
seq "$shards" | parallel --will-cite -N0 --halt soon,fail=1 --joblog "${HINDSIGHT_STUDY:-study}.joblog" \
  hindsight sweep "${@@Q}" --shard "auto/$shards" --log "${HINDSIGHT_STUDY:-study}.'{shard}'.sqlite" --threads 1 --quiet

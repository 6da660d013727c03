#!/bin/bash
# A command of hindsight in N shards by GNU parallel, on this machine, or on others with PARALLEL='--sshlogin ...'.
#
#   configs/cluster/parallel.sh 8 --space edge --workloads prime9 --samples 1000000           # a sweep
#   hindsight log merge study.*.sqlite --out study.sqlite
#
#   configs/cluster/parallel.sh 4 search --workloads unet --queries 2000 --log 'searched.{shard}.sqlite'
#   hindsight log merge searched.*.sqlite --out searched.sqlite
set -euo pipefail
if [ $# -lt 2 ]; then
  echo "usage: configs/cluster/parallel.sh SHARDS [VERB] OPTION... (of hindsight; without a verb: of hindsight sweep)" >&2
  exit 2
fi
shards=$1
shift
study=${HINDSIGHT_STUDY:-study}
case $1 in
  -*) set -- sweep "$@" --log "$study.{shard}.sqlite" --threads 1 --quiet ;;
esac
# In quotes twice: for parallel, which replaces {} and {#}, and for the shell that it starts.
seq "$shards" | parallel --will-cite -N0 --halt soon,fail=1 --joblog "$study.joblog" \
  hindsight "${@@Q}" --shard "auto/$shards"

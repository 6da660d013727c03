#!/bin/bash
# A command of hindsight by MPI's launcher, each rank a shard with a file of its own; no rank speaks to another.
#
#   mpirun -n 8 configs/cluster/mpi.sh --space edge --workloads prime9 --samples 1000000      # a sweep
#   hindsight log merge study.*.sqlite --out study.sqlite
#
#   mpirun -n 8 configs/cluster/mpi.sh bench optima --out 'optima.{shard}.csv'
#   hindsight join optima.*.csv --out optima.csv
set -euo pipefail
case ${1:-} in
  -* | '') set -- sweep "$@" --log "${HINDSIGHT_STUDY:-study}.{shard}.sqlite" --threads 1 --quiet ;;
esac
exec hindsight "$@" --shard auto

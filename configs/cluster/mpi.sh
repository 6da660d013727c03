#!/bin/bash
# A sweep by MPI's launcher, each rank a shard with a log of its own; no rank speaks to another.
#
#   mpirun -n 8 configs/cluster/mpi.sh --space edge --workloads prime9 --samples 1000000
#   hindsight log merge study.*.sqlite --out study.sqlite
set -euo pipefail
exec hindsight sweep "$@" --shard auto --log "${HINDSIGHT_STUDY:-study}.{shard}.sqlite" --threads 1 --quiet

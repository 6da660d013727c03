#!/usr/bin/env python3
"""Plays a task of the Hindsight benchmark with a nearest-neighbour model of its log.

    hindsight bench export small/m4@1000 --out m4
    python3 nearest_neighbour.py m4 proposals.csv
    hindsight bench score small/m4@1000 proposals.csv
"""
import csv, heapq, json, math, sys
from itertools import product
from pathlib import Path

folder, answer = Path(sys.argv[1]), sys.argv[2]
task = json.loads((folder / "task.json").read_text())
names, values = zip(*((p["name"], p["values"]) for p in task["space"]["parameters"]))

# The log: designs as levels of their parameters, with their summed objective, infinite when one workload cannot run.
log = {}
for row in csv.DictReader(open(folder / "log.csv", newline="")):
    design = tuple(levels.index(float(row[name])) for name, levels in zip(names, values))
    fits = row["feasible"] == "1" and all(float(row[metric]) <= most for metric, most in task["limits"].items())
    log[design] = log.get(design, 0) + (math.prod(float(row[metric]) for metric in task["objective"].split(" * ")) if fits else math.inf)
worst = max(cost for cost in log.values() if cost < math.inf)

def predicted(design):
    """Geometric mean of the three nearest logged designs; an infeasible one counts as ten times the worst."""
    near = heapq.nsmallest(3, log, key=lambda other: sum(abs(a - b) for a, b in zip(design, other)))
    return math.prod(min(log[other], 10 * worst) for other in near) ** (1 / 3)

# Candidates: the best logged designs, and what is one step in one or two parameters away from them.
candidates = {design for design in heapq.nsmallest(8, log, key=log.get) if log[design] < math.inf}
moves = list(product(range(len(names)), (-1, 1)))
for centre, first, second in list(product(candidates, moves, moves)):
    moved = list(centre)
    for parameter, step in {first, second}:
        moved[parameter] = min(max(moved[parameter] + step, 0), len(values[parameter]) - 1)
    candidates.add(tuple(moved))
ranked = sorted(candidates, key=lambda design: (log.get(design) or predicted(design), design))

with open(answer, "w", newline="") as out:
    csv.writer(out).writerow(names)
    for design in ranked[: task["most_proposals"]]:
        csv.writer(out).writerow(values[p][level] for p, level in enumerate(design))

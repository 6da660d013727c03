#!/usr/bin/env python3
"""Plays a task of the Hindsight benchmark with random designs: what any method has to beat.

    hindsight bench export small/m4@1000 --out m4
    python3 random_search.py m4 proposals.csv
    hindsight bench score small/m4@1000 proposals.csv
"""
import csv, json, random, sys
from pathlib import Path

folder, answer = Path(sys.argv[1]), sys.argv[2]
task = json.loads((folder / "task.json").read_text())
parameters = task["space"]["parameters"]
names = [parameter["name"] for parameter in parameters]

# Random designs are rarely small enough, and the areas of logged ones are known: a proposal is a logged design within
# the limits, with two of its parameters drawn anew.
with open(folder / "log.csv", newline="") as log:
    small = [row for row in csv.DictReader(log)
             if all(float(row[metric]) <= most for metric, most in task["limits"].items())]

generator = random.Random(1)
with open(answer, "w", newline="") as out:
    table = csv.DictWriter(out, names, extrasaction="ignore")
    table.writeheader()
    for _ in range(task["most_proposals"]):
        design = dict(generator.choice(small))
        for parameter in generator.sample(parameters, 2):
            design[parameter["name"]] = generator.choice(parameter["values"])
        table.writerow(design)

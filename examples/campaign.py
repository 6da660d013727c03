#!/usr/bin/env python3
"""A campaign whose simulator is a function of this program: Hindsight chooses designs, simulate() says what they cost.

    python3 campaign.py night.sqlite --rounds 6
    hindsight report --log night.sqlite --out night.html

Replace SPACE and simulate() by yours. Everything is kept in the log: run it again after a kill, and it goes on with the
designs that await an answer; more --rounds continue it. The same by hand: docs/loop.md.
"""
import argparse
import csv
import io
import subprocess
import sys
import tempfile
from pathlib import Path

SPACE = """
name: engine
description: A small matrix engine
parameters:
  - {name: rows, unit: count, kind: ordinal, values: [4, 8, 16, 32, 64]}
  - {name: columns, unit: count, kind: ordinal, values: [4, 8, 16, 32, 64]}
  - {name: buffer_kib, unit: kib, kind: ordinal, values: [16, 32, 64, 128, 256]}
  - {name: dataflow, kind: categorical, values: [weights, outputs]}
constraints:
  - rows * columns <= 1024
"""
OBJECTIVE = "time_us"
PRODUCTS = [(3136, 64, 576), (784, 128, 1152), (196, 256, 2304), (49, 512, 4608)]  # m, n, k of a small network


def simulate(design):
    """What one design costs, or why it cannot be built. Values come as texts, as the table has them."""
    rows, columns, buffer_kib = int(design["rows"]), int(design["columns"]), int(design["buffer_kib"])
    if rows * columns > 512 and buffer_kib > 128:
        return {"reason": "area"}
    cycles = 0.0
    for m, n, k in PRODUCTS:
        # What stays in the array is loaded tile by tile; the rest streams through it from the buffer.
        kept_rows, kept_columns, streamed = (k, n, m) if design["dataflow"] == "weights" else (m, n, k)
        if rows * columns * 2 + columns * 1024 > buffer_kib * 1024:
            return {"reason": "buffer"}
        tiles = -(-kept_rows // rows) * -(-kept_columns // columns)
        stalls = 1 + 16 / buffer_kib
        cycles += tiles * (streamed * stalls + rows + columns)
    return {OBJECTIVE: cycles / 1000}  # at 1 GHz


def hindsight(program, *arguments):
    """What the command prints. Its messages go to standard error as they come; ends the program where it fails."""
    done = subprocess.run([program, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout


def answer(table):
    """The table of ask, filled in: a metric or a reason in every row."""
    rows = list(csv.DictReader(io.StringIO(table)))
    for row in rows:
        row.update(simulate(row))
    out = io.StringIO()
    writer = csv.DictWriter(out, csv.DictReader(io.StringIO(table)).fieldnames)
    writer.writeheader()
    writer.writerows(rows)
    return rows, out.getvalue()


def main():
    parser = argparse.ArgumentParser(description="Goes round: ask, simulate in this process, tell.")
    parser.add_argument("log", help="SQLite log; made where there is none")
    parser.add_argument("--rounds", type=int, default=4, help="rounds of this run [4]")
    parser.add_argument("--batch", type=int, default=8, help="designs per round [8]")
    parser.add_argument("--hindsight", default="hindsight", help="the command [hindsight, on the PATH]")
    options = parser.parse_args()
    best = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        space, filled = Path(folder, "engine.yaml"), Path(folder, "filled.csv")
        space.write_text(SPACE)
        for number in range(1, options.rounds + 1):
            table = ""
            if Path(options.log).exists():  # what a run that was killed had asked for
                table = hindsight(options.hindsight, "ask", "--pending", "--log", options.log)
            if table.count("\n") < 2:
                table = hindsight(options.hindsight, "ask", "-n", options.batch, "--log", options.log, "--space", space,
                                  "--application", "network", "--objective", OBJECTIVE)
            rows, text = answer(table)
            filled.write_text(text)
            hindsight(options.hindsight, "tell", filled, "--log", options.log)
            costs = [row[OBJECTIVE] for row in rows if row[OBJECTIVE] != ""]
            best = min([best, *costs])
            print(f"round {number}: {len(rows)} designs, {len(rows) - len(costs)} cannot be built, best {best:.1f} us")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Reads a Hindsight log into data frames, with sqlite3 and pandas alone, and prints what is in them.

    hindsight sweep --space edge --workloads mobilenet_v2 --samples 2000 --log study.sqlite
    python3 read_log.py study.sqlite
    python3 read_log.py study.sqlite --metric energy_j --top 3 --parameter pes_x

Import it to work on: read_log(FILE) gives designs (a column per parameter), evaluations and reasons. The tables are
those of docs/log-schema.md.
"""
import argparse
import signal
import sqlite3
import sys
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pandas as pd

APPLICATION_ID = 0x48534C47  # "HSLG"


def read_log(file):
    """designs: a dict of frames by space, index design_id, a column per parameter (numbers as numbers).
    evaluations: a row per design, workload, evaluator and repeat, with all metrics, index evaluation_id.
    reasons: a row per reason of an infeasible evaluation."""
    if not Path(file).is_file():
        sys.exit(f"read_log.py: {file}: there is no such file. Make one with hindsight sweep or log import?")
    # Read-only, so that a sweep that is writing is not disturbed; nothing is created.
    log = sqlite3.connect(f"file:{quote(str(Path(file).resolve()))}?mode=ro", uri=True)
    try:
        if log.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise sqlite3.DatabaseError("another program's file")
        views = log.execute("SELECT name, designs_view FROM spaces WHERE designs_view IS NOT NULL").fetchall()
        designs = {space: pd.read_sql(f'SELECT * FROM "{view}"', log, index_col="design_id").drop(columns="text_id")
                   for space, view in views}
        evaluations = pd.read_sql(
            "SELECT s.name AS space, w.name AS workload, v.name AS evaluator, d.text_id AS design, e.* FROM evaluations e"
            " JOIN workloads w USING (workload_id) JOIN evaluators v USING (evaluator_id)"
            " JOIN designs d USING (design_id) JOIN spaces s USING (space_id)", log, index_col="evaluation_id")
        reasons = pd.read_sql(
            "SELECT e.evaluation_id, e.design_id, w.name AS workload, r.code, r.quantity, r.value, r.limit_value,"
            " r.nearest_passing, r.layer FROM evaluation_violations r JOIN evaluations e USING (evaluation_id)"
            " JOIN workloads w USING (workload_id) ORDER BY e.evaluation_id, r.position", log)
        further = pd.read_sql("SELECT * FROM evaluation_metrics", log)
    except sqlite3.DatabaseError as error:
        sys.exit(f"read_log.py: {file}: is no log of Hindsight ({error}). Name one that hindsight log show can read?")
    finally:
        log.close()
    # Metrics of other simulators stand in a table of their own; here every metric is a column.
    if len(further):
        evaluations = evaluations.join(further.pivot(index="evaluation_id", columns="name", values="value"))
    evaluations = evaluations.drop(columns=["workload_id", "evaluator_id"]).dropna(axis="columns", how="all")
    evaluations["feasible"] = evaluations["feasible"].astype(bool)
    return SimpleNamespace(designs=designs, evaluations=evaluations, reasons=reasons)


def best_designs(log, space, workload, metric, top):
    """The feasible rows with the smallest metric, beside their parameters, the best first."""
    rows = log.evaluations.query("space == @space and workload == @workload and feasible")
    rows = rows.dropna(subset=[metric]).nsmallest(top, metric)
    shown = list(dict.fromkeys([metric] + [name for name in ("area_mm2",) if name in rows]))
    table = rows[["design_id"] + shown].join(log.designs[space], on="design_id").drop(columns="design_id")
    return table.set_axis(range(1, len(table) + 1))


def feasibility(log, space, parameter):
    """The share of feasible evaluations per value of a parameter, and the commonest reason of the others."""
    designs = log.designs[space]
    rows = log.evaluations.query("space == @space").join(designs[[parameter]], on="design_id")
    table = rows.groupby(parameter)["feasible"].agg(evaluations="size", feasible_frac="mean")
    reasons = log.reasons.join(designs[[parameter]], on="design_id", how="inner")
    table["commonest_reason"] = reasons.groupby(parameter)["code"].agg(lambda codes: codes.value_counts().index[0])
    return table.fillna({"commonest_reason": "-"})


def named(choice, known, what):
    if choice not in known:
        sys.exit(f"read_log.py: --{what} {choice}: the log has no such {what}. It has {', '.join(map(str, known))}")
    return choice


def main():
    parser = argparse.ArgumentParser(description="Prints what a Hindsight log holds, by pandas.")
    parser.add_argument("log", help="SQLite log")
    parser.add_argument("--metric", help="what makes a design best; less is better [latency_s, or the log's first]")
    parser.add_argument("--parameter", help="only this parameter's feasibility [all]")
    parser.add_argument("--top", type=int, default=5, help="best designs per workload [5]")
    options = parser.parse_args()
    log = read_log(options.log)
    if log.evaluations.empty:
        sys.exit(f"read_log.py: {options.log}: has no evaluations yet. Add some with hindsight sweep or log import?")
    about = {"space", "workload", "evaluator", "design", "design_id", "repeat", "feasible", "run_id"}
    metrics = [name for name in log.evaluations if name not in about]
    if not metrics:
        sys.exit(f"read_log.py: {options.log}: has no metric, no design was feasible")
    metric = named(options.metric, metrics, "metric") if options.metric else metrics[0]
    if options.parameter:
        named(options.parameter, [name for frame in log.designs.values() for name in frame], "parameter")

    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` is no error
    print(f"{sum(map(len, log.designs.values()))} designs, {len(log.evaluations)} evaluations, "
          f"{log.evaluations['feasible'].mean():.1%} feasible")
    for (space, workload), _ in log.evaluations.groupby(["space", "workload"]):
        print(f"\n{workload}: best by {metric}")
        table = best_designs(log, space, workload, metric, options.top)
        print(table.astype(object).T.to_string(float_format="{:.4g}".format) if len(table) else "no feasible row")
    for space, frame in log.designs.items():
        for parameter in frame.columns if options.parameter is None else [options.parameter]:
            if parameter in frame:
                print(f"\n{space}: feasibility by {parameter}")
                print(feasibility(log, space, parameter).to_string(float_format="{:.3f}".format))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes an Optuna study of 100,000 trials in SQLite and times its import: hindsight log import, target 10 s.

Usage: bench/import_optuna.py build/release/apps/hindsight/hindsight [TRIALS]
Tables as Optuna 3.1.0 makes them; Optuna itself is not needed. 10 parameters of 4 to 16 values, 40 % infeasible.
"""
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile

TABLES = """
CREATE TABLE studies (study_id INTEGER PRIMARY KEY, study_name VARCHAR(512) NOT NULL);
CREATE TABLE study_directions (study_direction_id INTEGER PRIMARY KEY, direction VARCHAR(8), study_id INTEGER,
  objective INTEGER, UNIQUE (study_id, objective));
CREATE TABLE study_user_attributes (i INTEGER PRIMARY KEY, study_id INTEGER, "key" VARCHAR(512), value_json TEXT);
CREATE TABLE study_system_attributes (i INTEGER PRIMARY KEY, study_id INTEGER, "key" VARCHAR(512), value_json TEXT);
CREATE TABLE trials (trial_id INTEGER PRIMARY KEY, number INTEGER, study_id INTEGER, state VARCHAR(8),
  datetime_start DATETIME, datetime_complete DATETIME);
CREATE TABLE trial_user_attributes (i INTEGER PRIMARY KEY, trial_id INTEGER, "key" VARCHAR(512), value_json TEXT);
CREATE TABLE trial_system_attributes (i INTEGER PRIMARY KEY, trial_id INTEGER, "key" VARCHAR(512), value_json TEXT);
CREATE TABLE trial_params (param_id INTEGER PRIMARY KEY, trial_id INTEGER, param_name VARCHAR(512), param_value FLOAT,
  distribution_json TEXT, UNIQUE (trial_id, param_name));
CREATE TABLE trial_values (trial_value_id INTEGER PRIMARY KEY, trial_id INTEGER, objective INTEGER, value FLOAT,
  value_type VARCHAR(7), UNIQUE (trial_id, objective));
CREATE TABLE trial_intermediate_values (i INTEGER PRIMARY KEY, trial_id INTEGER, step INTEGER,
  intermediate_value FLOAT, intermediate_value_type VARCHAR(7));
INSERT INTO studies VALUES (1, 'large');
INSERT INTO study_directions VALUES (1, 'MINIMIZE', 1, 0);
"""


def fill(file, trials):
    distribution = json.dumps({"name": "IntDistribution", "attributes": {"log": False, "step": 1, "low": 0, "high": 15}})
    database = sqlite3.connect(file)
    database.executescript(TABLES)
    sizes = [16, 16, 8, 8, 8, 4, 4, 4, 4, 4]
    for i in range(trials):
        rest = i * 7919 % 268435456  # a design of its own for every trial
        state = "FAIL" if i % 5 < 2 else "COMPLETE"
        database.execute("INSERT INTO trials VALUES (?, ?, 1, ?, NULL, NULL)", (i + 1, i, state))
        for p, size in enumerate(sizes):
            database.execute("INSERT INTO trial_params VALUES (NULL, ?, ?, ?, ?)",
                             (i + 1, f"p{p}", rest % size, distribution))
            rest //= size
        if state == "COMPLETE":
            database.execute("INSERT INTO trial_values VALUES (NULL, ?, 0, ?, 'FINITE')", (i + 1, 1 + i * 0.001))
            database.execute("INSERT INTO trial_system_attributes VALUES (NULL, ?, 'constraints', '[-1.0]')", (i + 1,))
    database.commit()
    database.close()


def main():
    program = os.path.abspath(sys.argv[1])
    trials = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        study = os.path.join(folder, "study.db")
        fill(study, trials)
        subprocess.run([program, "log", "import", study, "--log", os.path.join(folder, "log.sqlite")], check=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"{trials} trials: {used.ru_utime + used.ru_stime:.2f} s of CPU time, {used.ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()

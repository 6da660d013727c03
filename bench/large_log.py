#!/usr/bin/env python3
"""How long does a log of millions of rows make one wait?

Builds a log with `hindsight sweep` (real rows of nine workloads; going on where it was stopped), runs verbs on it, and
prints wall time, CPU time and the peak of memory of each, with what its time grows with.

    bench/large_log.py build/release/apps/hindsight/hindsight --rows 1000000 10000000
"""
import argparse
import os
import pathlib
import sys
import time

WORKLOADS = 9  # prime9

# Verb, what its time grows with. {log} is the log, {new} a file that goes away.
VERBS = [
    ("log show {log}", "blocks"),
    ("log show {log} --json", "blocks"),
    ("log show {log} --workload m6 --metric energy_j", "blocks"),
    ("log show {log} --workload m6 --top 10", "blocks, and those that hold the best"),
    ("log show {log} --run 1", "blocks"),
    ("log show {log} --design {design}", "its logarithm"),
    ("log stats {log}", "blocks"),
    ("log query {log} 'SELECT count(*) FROM runs'", "nothing"),
    ("log stats {log} --workload m6 --pareto latency_s,area_mm2", "rows"),
    ("log hash {log}", "rows"),
    ("train --log {log} --workloads m6 --out {new} --dry-run", "rows"),
    ("ask --log {log} --workloads m6 -n 2 --evaluator mine --dry-run", "rows"),
]


def run(program, line):
    """Exit code, seconds, CPU seconds, MiB and output of a verb."""
    import shlex
    output = pathlib.Path("/tmp") / f"large_log_{os.getpid()}.txt"
    begin = time.monotonic()
    child = os.fork()
    if child == 0:
        out = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.execv(program, [program] + shlex.split(line))
    _, status, usage = os.wait4(child, 0)
    wall_s = time.monotonic() - begin
    text = output.read_text(errors="replace")
    output.unlink()
    return os.waitstatus_to_exitcode(status), wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the built hindsight")
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/large_log"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    program = str(pathlib.Path(options.program).resolve())
    for rows in options.rows:
        log = options.folder / f"{rows}.sqlite"
        designs = -(-rows // WORKLOADS)
        sweep = f"sweep --workloads prime9 --seed 1 --quiet --log {log} --samples"
        code, wall_s, cpu_s, mib, text = run(program, f"{sweep} {designs}")
        if code != 0:
            sys.exit(text)
        print(f"\n{rows:,} rows, {log.stat().st_size / 2**20:,.0f} MiB; built in {wall_s:.0f} s\n")
        print("| verb | wall, s | CPU, s | peak, MiB | grows with |\n|---|---|---|---|---|")
        design = run(program, f"log query {log} 'SELECT printf(\"%016x\", content_hash) FROM designs LIMIT 1' --csv")[4]
        design = design.split()[-1]
        new = options.folder / "new.safetensors"
        for verb, grows in VERBS + [(f"{sweep} {designs + 500}", "blocks, once")]:
            line = verb.format(log=log, new=new, design=design)
            code, wall_s, cpu_s, mib, text = run(program, line)
            shown = line.replace(str(log), "LOG").replace(str(new), "NEW")
            note = "" if code == 0 else f" (exit code {code}: {text.strip()[:80]})"
            print(f"| `{shown}`{note} | {wall_s:.2f} | {cpu_s:.2f} | {mib:.0f} | {grows} |", flush=True)
        new.unlink(missing_ok=True)


if __name__ == "__main__":
    main()

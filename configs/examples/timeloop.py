#!/usr/bin/env python3
"""Timeloop as an evaluator, a process per design:

hindsight sweep --evaluator 'python3 timeloop.py {design.json} {workload.json} {out.json}' --space systolic.yaml ...

Needs timeloop-mapper in PATH. Parameters: rows, columns, sram_kib, as in systolic.yaml (its mapper chooses the dataflow, so
that parameter changes nothing). Every GEMM of a layer is a problem of Timeloop's (format 0.3); equal ones are mapped once.
Metrics: latency_cycles and latency_s at 1 GHz, energy_j. A layer without a mapping makes the design infeasible.
Written from Timeloop's documents; exit code 127 where timeloop-mapper is missing.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CLOCK_HZ, WORD_BITS = 1e9, 8
PROBLEM = """problem:
  version: 0.3
  shape:
    name: GEMM
    dimensions: [M, N, K]
    data-spaces:
      - {{name: A, projection: [[[M]], [[K]]]}}
      - {{name: B, projection: [[[K]], [[N]]]}}
      - {{name: Z, projection: [[[M]], [[N]]], read-write: True}}
  instance: {{M: {m}, N: {n}, K: {k}}}
"""
ARCHITECTURE = """architecture:
  version: 0.3
  subtree:
    - name: System
      local:
        - {{name: DRAM, class: DRAM, attributes: {{type: LPDDR4, width: 64, block-size: 8, word-bits: {bits}}}}}
      subtree:
        - name: Chip
          attributes: {{technology: 40nm}}
          local:
            - {{name: Buffer, class: SRAM, attributes: {{entries: {entries}, block-size: 8, word-bits: {bits}}}}}
          subtree:
            - name: PE[0..{last}]
              local:
                - name: Registers
                  class: regfile
                  attributes: {{entries: 64, block-size: 1, word-bits: {bits}, meshX: {columns}}}
                - {{name: MAC, class: intmac, attributes: {{word-bits: {bits}, meshX: {columns}}}}}
"""
MAPPER = """mapper:
  optimization-metrics: [delay, energy]
  live-status: False
  num-threads: 1
  timeout: 2000
  victory-condition: 200
  algorithm: random-pruned
"""


def parse(stats):
    """Cycles and joules of the last summary."""
    summary = stats.rpartition("Summary Stats")[2]
    cycles = re.search(r"^Cycles:\s*([0-9]+)", summary, re.MULTILINE)
    energy = re.search(r"^Energy:\s*([0-9.eE+-]+)\s*uJ", summary, re.MULTILINE)
    if not cycles or not energy:
        raise RuntimeError("timeloop-mapper.stats.txt has no Cycles and Energy in its summary")
    return int(cycles.group(1)), float(energy.group(1)) * 1e-6


def run(design, gemm):
    """None where there is no mapping."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sizes = {"entries": design["sram_kib"] * 1024 * 8 // WORD_BITS, "last": design["rows"] * design["columns"] - 1}
        (folder / "arch.yaml").write_text(ARCHITECTURE.format(bits=WORD_BITS, columns=design["columns"], **sizes))
        (folder / "problem.yaml").write_text(PROBLEM.format(m=gemm[0], n=gemm[1], k=gemm[2]))
        (folder / "mapper.yaml").write_text(MAPPER)
        # Timeloop writes beside where it runs, and says much on standard output: both are kept from the caller's.
        end = subprocess.run(["timeloop-mapper", "arch.yaml", "problem.yaml", "mapper.yaml"], cwd=folder,
                             stdout=sys.stderr).returncode
        if end != 0:  # of the tool, not of the design: 126 ends the sweep
            print(f"timeloop-mapper ended with {end}", file=sys.stderr)
            sys.exit(126)
        stats = folder / "timeloop-mapper.stats.txt"
        return parse(stats.read_text()) if stats.exists() else None


def evaluate(design, workload):
    results, cycles, energy_j = {}, 0, 0.0
    for layer in workload["layers"]:
        gemm = tuple(layer["gemm"][size] for size in "mnk")
        if gemm not in results:
            results[gemm] = run(design, gemm)
        if results[gemm] is None:
            return {"infeasible": f"no_mapping: of layer {layer['name']}"}
        times = layer["repeat"] * layer["gemm"]["count"]
        cycles += times * results[gemm][0]
        energy_j += times * results[gemm][1]
    return {"metrics": {"latency_cycles": cycles, "latency_s": cycles / CLOCK_HZ, "energy_j": energy_j}}


if len(sys.argv) != 4:
    sys.exit("usage: timeloop.py DESIGN.json WORKLOAD.json OUT.json")
if shutil.which("timeloop-mapper") is None:
    print("Timeloop is not installed: timeloop-mapper is not in PATH", file=sys.stderr)
    sys.exit(127)
with open(sys.argv[1]) as given_design, open(sys.argv[2]) as given_workload:
    result = evaluate(json.load(given_design), json.load(given_workload))
with open(sys.argv[3], "w") as out:
    json.dump(result, out)

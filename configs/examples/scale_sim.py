#!/usr/bin/env python3
"""SCALE-Sim (v2 or v3) as an evaluator: hindsight sweep --evaluator 'python3 scale_sim.py' --space systolic.yaml ...

Needs the Python package scalesim: pip install scalesim. Parameters: rows, columns, sram_kib, dataflow (ws, os, is), as in
systolic.yaml. Every layer is given to SCALE-Sim as its GEMMs (m x k times k x n, `count` times `repeat` of them).
Metrics: latency_cycles, the sum of "Total Cycles", and latency_s at 1 GHz; SCALE-Sim knows no energy and no area.
Written from the sources of v2 and v3; exit code 127 where the package is missing.
"""
import contextlib
import csv
import json
import pathlib
import sys
import tempfile

CLOCK_HZ = 1e9
CONFIG = """[general]
run_name = run
[architecture_presets]
ArrayHeight: {rows}
ArrayWidth: {columns}
IfmapSramSzkB: {third}
FilterSramSzkB: {third}
OfmapSramSzkB: {third}
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Dataflow: {dataflow}
Bandwidth: 10
MemoryBanks: 1
ReadRequestBuffer: 64
WriteRequestBuffer: 64
[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: false
[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
"""

try:
    from scalesim.scale_sim import scalesim
except ImportError as problem:
    print(f"SCALE-Sim is not installed ({problem}); pip install scalesim", file=sys.stderr)
    sys.exit(127)


def write_inputs(folder, design, layers):
    third = max(design["sram_kib"] // 3, 1)
    (folder / "run.cfg").write_text(CONFIG.format(third=third, **design))
    # The header is skipped; each row ends with a comma, because SCALE-Sim drops what follows the last one.
    rows = ["Layer, M, N, K,"]
    for layer in layers:
        gemm = layer["gemm"]
        rows.append(f"{layer['name']}, {gemm['m']}, {gemm['n']}, {gemm['k']},")
    (folder / "layers.csv").write_text("\n".join(rows) + "\n")


def total_cycles(report):
    """By layer. The columns before "Total Cycles" differ between versions."""
    with open(report, newline="") as file:
        header, *rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    column = header.index("Total Cycles")
    return [float(row[column]) for row in rows]


def evaluate(design, workload):
    layers = workload["layers"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_inputs(folder, design, layers)
        with contextlib.redirect_stdout(sys.stderr):  # standard output is for answers
            simulator = scalesim(save_disk_space=True, verbose=False, config=str(folder / "run.cfg"),
                                 topology=str(folder / "layers.csv"), input_type_gemm=True)
            simulator.run_scale(top_path=str(folder))
        cycles = total_cycles(folder / "run" / "COMPUTE_REPORT.csv")
    if len(cycles) != len(layers):
        raise RuntimeError(f"SCALE-Sim reported {len(cycles)} of {len(layers)} layers")
    total = sum(each * layer["gemm"]["count"] * layer["repeat"] for each, layer in zip(cycles, layers))
    return {"metrics": {"latency_cycles": total, "latency_s": total / CLOCK_HZ}}


for line in sys.stdin:
    question = json.loads(line)
    answer = evaluate(question["design"], question["workload"])
    print(json.dumps({"id": question["id"], **answer}), flush=True)

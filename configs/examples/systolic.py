#!/usr/bin/env python3
"""A simulator for `hindsight sweep --evaluator 'python3 systolic.py' --space systolic.yaml`: one answer per question."""
import json
import math
import sys

CLOCK_HZ, KIB = 1e9, 1024


def evaluate(design, workload):
    rows, columns, sram_bytes = design["rows"], design["columns"], design["sram_kib"] * KIB
    cycles = 0
    for layer in workload["layers"]:
        m, n, k = (layer["gemm"][size] for size in "mnk")
        if 3 * k * columns > sram_bytes:  # the weights of one pass take a third of the SRAM
            return {"infeasible": f"sram: layer {layer['name']} needs {3 * k * columns} of {sram_bytes} bytes"}
        across, stream = (k, m) if design["dataflow"] == "ws" else (m, k)
        passes = math.ceil(across / rows) * math.ceil(n / columns)
        cycles += layer["repeat"] * layer["gemm"]["count"] * passes * (stream + rows + columns)
    area_mm2 = 0.001 * rows * columns + 2.0 * sram_bytes / KIB**2
    return {"metrics": {"latency_s": cycles / CLOCK_HZ, "area_mm2": area_mm2}}


for line in sys.stdin:
    question = json.loads(line)
    answer = evaluate(question["design"], question["workload"])
    print(json.dumps({"id": question["id"], **answer}), flush=True)

#!/usr/bin/env python3
"""Measures the kernels of a GPU that are no single GEMM, by PyTorch: what `hindsight kernel` and networks predict.

usage: measure-kernels.py [--budget-s S] [--device N] FILE.csv

Attention (prompts and decoding, by FlashAttention and by cuDNN), grouped GEMMs, fp8 products with the kernel that
quantises their activations, normalisation, softmax, elementwise and depthwise convolutions, in bf16. Every kernel is
timed as a network runs it: replayed in a CUDA graph, through as many sets of operands as it takes to read twice the
L2 before one comes back (a residual stream that the kernel before has written stays in place: column `sets` is 1 then).
A row is the median over at least seven replays of about 2 ms. What PyTorch does not offer on this GPU gives a row
without a latency whose `status` says why; nothing stops the others.

Needs Python 3 with PyTorch 2.8 or newer and Triton. bench/gpu_kernels.py says how far the predictions are off.
"""
import argparse
import csv
import statistics
import sys
import time

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel

COLUMNS = ["kernel", "backend", "dtype", "batch", "heads", "kv_heads", "queries", "keys", "length", "causal", "rows",
           "n", "k", "groups", "bytes", "sets", "latency_us", "spread_pct", "samples", "sm_clock_mhz", "status"]
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
FP8 = torch.float8_e4m3fn
FP8_MAX = 448.0


@triton.jit
def quantise_rows(x, out, scale, k, BLOCK: tl.constexpr):
    """One row per CTA: its largest magnitude, then the row over it in fp8."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * k + at, mask=at < k, other=0.0).to(tl.float32)
    step = tl.maximum(tl.max(tl.abs(values), 0), 1e-12) / 448.0
    tl.store(out + row * k + at, (values / step).to(tl.float8e4nv), mask=at < k)
    tl.store(scale + row, step)


@triton.jit
def add_and_normalise(x, residual, weight, out, k, BLOCK: tl.constexpr):
    """RMS norm of x + residual; the sum is kept as the next residual."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mask = at < k
    total = tl.load(x + row * k + at, mask=mask, other=0.0).to(tl.float32)
    total += tl.load(residual + row * k + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(residual + row * k + at, total.to(tl.bfloat16), mask=mask)
    scale = tl.rsqrt(tl.sum(total * total, 0) / k + 1e-6)
    weights = tl.load(weight + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * k + at, (total * scale * weights).to(tl.bfloat16), mask=mask)


@triton.jit
def gate(x, y, out, count, BLOCK: tl.constexpr):
    """silu(x) * y."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    value = tl.load(x + at, mask=mask, other=0.0).to(tl.float32)
    other = tl.load(y + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + at, (value / (1.0 + tl.exp(-value)) * other).to(tl.bfloat16), mask=mask)


def warps(block):
    return min(16, max(4, block // 512))


def normal(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def sm_clock_mhz(device):
    try:
        import pynvml
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(device)
        return pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM)
    except Exception:  # no NVML binding: unknown
        return ""


def timed(functions):
    """Median s of one call, its spread and the number of samples. Calls go through the functions in turn."""
    for function in functions[:2]:
        function()
    torch.cuda.synchronize()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for function in (functions * 3)[:max(3, len(functions))]:
        function()
    end.record()
    end.synchronize()
    once_s = max(start.elapsed_time(end) * 1e-3 / max(3, len(functions)), 1e-6)
    rounds = max(1, min(400 // len(functions) or 1, int(2e-3 / (once_s * len(functions)))))
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(rounds):
            for function in functions:
                function()
    calls = rounds * len(functions)
    for _ in range(3):
        graph.replay()
    torch.cuda.synchronize()
    samples, begin = [], time.monotonic()
    while len(samples) < 7 or (time.monotonic() - begin < 0.05 and len(samples) < 200):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(8)]
        for event in events:
            event.record()
            if event is not events[-1]:
                graph.replay()
        torch.cuda.synchronize()
        samples += [a.elapsed_time(b) * 1e-3 / calls for a, b in zip(events, events[1:])]
        if time.monotonic() - begin > 2:
            break
    middle = statistics.median(samples)
    spread = 1.4826 * statistics.median(abs(s - middle) for s in samples) / middle
    return middle, spread, len(samples)


class Bench:
    def __init__(self, file, device, budget_s):
        self.out = csv.DictWriter(file, COLUMNS)
        self.file, self.device = file, device
        self.end = time.monotonic() + budget_s
        self.l2_bytes = torch.cuda.get_device_properties(device).L2_cache_size
        self.out.writeheader()

    def sets(self, bytes_of_one):
        return max(1, min(32, int(-(-2 * self.l2_bytes // bytes_of_one))))

    def row(self, kernel, backend, make, bytes_of_one, in_place=False, **shape):
        """Times what make() returns, a call without arguments; each of several made has operands of its own."""
        if time.monotonic() > self.end:
            return
        line = {"kernel": kernel, "backend": backend, "dtype": "bf16", "bytes": int(bytes_of_one), **shape}
        try:
            line["sets"] = 1 if in_place else self.sets(bytes_of_one)
            functions = [make() for _ in range(line["sets"])]
            seconds, spread, count = timed(functions)
            line |= {"latency_us": f"{seconds * 1e6:.3f}", "spread_pct": f"{spread * 100:.2f}", "samples": count,
                     "sm_clock_mhz": sm_clock_mhz(self.device), "status": "ok"}
        except Exception as error:  # this kernel is not offered, or does not fit: its row says so
            line["status"] = " ".join(str(error).split())[:120] or type(error).__name__
        self.out.writerow(line)
        self.file.flush()

    def attention(self, batch, heads, kv_heads, queries, keys, length, causal):
        bytes_of_one = 2 * length * batch * (2 * heads * queries + 2 * kv_heads * keys)
        for backend, which in BACKENDS.items():
            def make():
                q = normal(batch, heads, queries, length)
                k, v = normal(batch, kv_heads, keys, length), normal(batch, kv_heads, keys, length)

                def call():
                    with sdpa_kernel(which):
                        F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=heads != kv_heads)
                return call
            self.row("attention", backend, make, bytes_of_one, batch=batch, heads=heads, kv_heads=kv_heads,
                     queries=queries, keys=keys, length=length, causal=int(causal))

    def grouped(self, rows, n, k):
        ends = [sum(rows[:i + 1]) for i in range(len(rows))]
        used = sum(1 for r in rows if r > 0)

        def make():
            a, b = normal(ends[-1], k), normal(len(rows), n, k).transpose(1, 2)
            offsets = torch.tensor(ends, device="cuda", dtype=torch.int32)
            return lambda: torch._grouped_mm(a, b, offs=offsets)
        self.row("grouped", "torch", make, 2 * (ends[-1] * (n + k) + used * n * k), n=n, k=k,
                 groups=" ".join(map(str, rows)))

    def fp8(self, m, n, k):
        block = triton.next_power_of_2(k)

        def parts():
            x, w = normal(m, k), normal(n, k).to(FP8).t()
            scales = torch.full((1, n), 1e-2, device="cuda")
            out, row_scales = torch.empty(m, k, device="cuda", dtype=FP8), torch.ones(m, 1, device="cuda")
            out.copy_(x)

            def quantise():
                quantise_rows[(m,)](x, out, row_scales, k, BLOCK=block, num_warps=warps(block))

            def product():
                torch._scaled_mm(out, w, scale_a=row_scales, scale_b=scales, out_dtype=torch.bfloat16,
                                 use_fast_accum=True)
            return quantise, product

        def both():
            quantise, product = parts()
            return lambda: (quantise(), product())
        shape = {"rows": m, "n": n, "k": k}
        product_bytes = m * k + n * k + 2 * m * n
        self.row("quantise", "triton", lambda: parts()[0], 3 * m * k, rows=m, k=k)
        self.row("fp8_product", "torch", lambda: parts()[1], product_bytes, **shape)
        self.row("fp8_dynamic", "torch", both, product_bytes + 3 * m * k, **shape)

    def rows_of(self, m, k):
        """Normalisation, softmax and elementwise kernels on m rows of k."""
        block, one = triton.next_power_of_2(k), 2 * m * k

        def fused():
            x, residual, weight, out = normal(m, k), normal(m, k), normal(k), normal(m, k)
            return lambda: add_and_normalise[(m,)](x, residual, weight, out, k, BLOCK=block, num_warps=warps(block))

        def layer_norm():
            x, weight, bias = normal(m, k), normal(k), normal(k)
            return lambda: F.layer_norm(x, (k,), weight, bias)

        def softmax():
            x = normal(m, k)
            return lambda: torch.softmax(x, -1)

        def add():
            x, y = normal(m, k), normal(m, k)
            return lambda: torch.add(x, y)

        def gating():
            x, y, out = normal(m, k), normal(m, k), normal(m, k)
            return lambda: gate[(triton.cdiv(m * k, 2048),)](x, y, out, m * k, BLOCK=2048, num_warps=8)

        def gelu():
            x = normal(m, k)
            return lambda: F.gelu(x)
        for in_place in (False, True):
            self.row("add_normalise", "triton", fused, 4 * one, in_place, rows=m, k=k)
            self.row("gate", "triton", gating, 3 * one, in_place, rows=m, k=k)
        self.row("layer_norm", "torch", layer_norm, 2 * one, rows=m, k=k)
        self.row("softmax", "torch", softmax, 2 * one, rows=m, k=k)
        self.row("add", "torch", add, 3 * one, rows=m, k=k)
        self.row("gelu", "torch", gelu, 2 * one, rows=m, k=k)

    def depthwise(self, batch, channels, edge, kernel, stride):
        after = -(-edge // stride)

        def make():
            x = normal(batch, channels, edge, edge).to(memory_format=torch.channels_last)
            w = normal(channels, 1, kernel, kernel).to(memory_format=torch.channels_last)
            return lambda: F.conv2d(x, w, stride=stride, padding=kernel // 2, groups=channels)
        self.row("depthwise", "cudnn", make, 2 * batch * channels * (edge * edge + after * after), batch=batch,
                 n=channels, rows=edge, k=kernel, groups=stride)


def measure(bench):
    for length in (128, 64, 256):  # one GPU's published rates: 16k tokens, 2048 elements
        for tokens in (512, 1024, 2048, 4096, 8192, 16384):
            for causal in (False, True):
                bench.attention(16384 // tokens, 2048 // length, 2048 // length, tokens, tokens, length, causal)
    for tokens in (128, 512, 2048, 8192):  # prompts of Llama 3 8B and 70B, one at a time
        for heads in (32, 64):
            bench.attention(1, heads, 8, tokens, tokens, 128, True)
    for heads, kv_heads in ((32, 8), (64, 8), (32, 32), (16, 16)):  # decoding
        for batch in (1, 8, 32, 128):
            for keys in (512, 2048, 8192, 32768):
                if batch * kv_heads * keys * 512 <= 2 ** 32:
                    bench.attention(batch, heads, kv_heads, 1, keys, 128, False)
    for m in (1, 16, 64, 256, 1024, 4096, 8192):
        for n, k in ((4096, 4096), (8192, 8192), (14336, 4096), (4096, 14336)):
            bench.fp8(m, n, k)
    for m in (1, 16, 128, 512, 2048, 8192, 32768):
        for k in (768, 4096, 8192, 14336):
            bench.rows_of(m, k)
    for tokens in (8, 64, 512, 4096, 16384):  # Mixtral 8x7B, DeepSeek-V2-Lite: two and six experts a token
        for experts, n, k, chosen in ((8, 14336, 4096, 2), (8, 4096, 14336, 2), (64, 1408, 2048, 6)):
            each = tokens * chosen // experts
            if each > 0:
                bench.grouped([each] * experts, n, k)
                skew = [int(2 * each * (i + 0.5) / experts) for i in range(experts)]
                bench.grouped(skew, n, k)
    for batch in (1, 32):  # MobileNetV2 and EfficientNet
        for channels, edge, kernel, stride in ((32, 112, 3, 1), (96, 112, 3, 2), (144, 56, 3, 1), (192, 28, 3, 1),
                                               (384, 14, 3, 1), (576, 14, 3, 2), (960, 7, 3, 1), (240, 28, 5, 1),
                                               (672, 14, 5, 1), (1152, 7, 5, 1)):
            bench.depthwise(batch, channels, edge, kernel, stride)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--budget-s", type=float, default=120)
    parser.add_argument("--device", type=int, default=0)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("measure-kernels.py: no CUDA device", file=sys.stderr)
        return 5
    torch.cuda.set_device(options.device)
    torch.manual_seed(1)
    begin = time.monotonic()
    with open(options.file, "w", newline="") as file:
        measure(Bench(file, options.device, options.budget_s))
    with open(options.file) as file:
        rows = list(csv.DictReader(file))
    done = sum(1 for r in rows if r["status"] == "ok")
    name = torch.cuda.get_device_name(options.device)
    print(f"{name}, PyTorch {torch.__version__}: {done} kernels measured, {len(rows) - done} not offered, "
          f"{time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

/// Did a prediction of the GEMM model change? 3,600 predictions and 120 rankings of kernels as three digests: of 8
/// bits, where every way to quantise the activations occurs, of the other formats of the tensor cores, on which the
/// learned corrections rest, and of fp32.
///
/// Where this is meant to be so: run the test and copy the digest that it names.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include "hindsight/core/hash.h"
#include "hindsight/gpu/predict.h"

namespace hindsight::gpu {
namespace {

/// Nine digits, so that another compiler's last bits do not count.
std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g ", value);
  return text;
}

std::string line_of(const GemmPrediction& p) {
  const GemmTerms& t = p.terms;
  std::string line = std::string(to_string(p.bound)) + " ";
  for (const double value :
       {p.latency_s,   p.dram_bytes, p.l2_bytes, p.average_power_w, p.energy_j,        p.sm_clock_hz,   p.ctas,
        p.waves,       t.launch_s,   t.fill_s,   t.chain_s,         t.math_s,          t.l2_s,          t.dram_s,
        t.reduction_s, t.slowdown,   p.work.ops, p.work.l2_bytes,   p.work.dram_bytes, p.work.busy_frac}) {
    line += digits(value);
  }
  for (const int value : {p.tile.m, p.tile.n, p.tile.k, p.tile.split_k}) line += std::to_string(value) + " ";
  for (const bool value : {p.calibrated, p.in_validated_range, p.power_in_validated_range}) line += value ? "1" : "0";
  return line + "\n";
}

/// Products of all sizes, layouts and batches, matrix times vector among them.
Gemm random_gemm(std::mt19937_64& random, DType dtype) {
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  const auto size = [&] { return static_cast<std::int64_t>(1 + below(std::uint64_t{1} << (1 + below(15)))); };
  Gemm gemm{.m = below(8) == 0 ? 1 : size(), .n = size(), .k = size(), .dtype = dtype};
  if (below(4) == 0) gemm.batch = static_cast<std::int64_t>(1 + below(64));
  gemm.layout = kAllLayouts[below(kAllLayouts.size())];
  gemm.weights = below(2) == 0 ? Operand::a : Operand::b;
  if (below(4) == 0) gemm.reuse_bytes = static_cast<double>(below(std::uint64_t{1} << 30U));
  return gemm;
}

TEST(Predictions, AreThoseOfTheModelThatWasValidated) {
  std::mt19937_64 random(20261122);
  std::string narrow, tensor_cores, cuda_cores;
  for (const char* name : {"v100-pcie-32gb", "t4", "a100-sxm-80gb", "l40s", "h100-sxm5", "h200"}) {
    const GpuSpec spec = load_gpu(name);
    for (const DType dtype : kAllDTypes) {
      if (!spec.has(dtype)) continue;
      // Without corrections: trees branch where another compiler's last bit may differ.
      const Calibration analytical = load_calibration(spec, dtype, {}, Residuals::none);
      const Predictor predictor(spec, analytical, dtype);
      std::string& text = is_8bit(dtype) ? narrow : uses_tensor_cores(dtype) ? tensor_cores : cuda_cores;
      for (int i = 0; i < 150; ++i) {
        Gemm gemm = random_gemm(random, dtype);
        if (is_8bit(dtype)) {
          gemm.quantisation = kAllQuantisations[static_cast<std::size_t>(i) % kAllQuantisations.size()];
        }
        const RunMode mode = i % 2 == 0 ? RunMode::burst : RunMode::sustained;
        text += line_of(predictor.predict(gemm, mode));
        text += digits(predictor.latency_s(gemm, mode));
        if (i % 30 != 0) continue;
        for (const GemmPrediction& candidate : predictor.rank(gemm, mode)) text += line_of(candidate);
      }
    }
  }
  EXPECT_EQ(sha256_hex(narrow), "c0238baeec340705d49065414d81fdb42c80246e8c3c59be4d8dd6601d0dd243");
  EXPECT_EQ(sha256_hex(tensor_cores), "82c446d1757908bb3ae6665510931c1d5c2a771624a81f4119b83b8d882da6ca");
  EXPECT_EQ(sha256_hex(cuda_cores), "0c2213fe50d5118b4e9899832815c510b8cb15ebdcff923b62013d7aa4c39e56");
}

}  // namespace
}  // namespace hindsight::gpu

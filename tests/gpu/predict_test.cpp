/// Does the GEMM predictor keep its promises: monotone in the hardware, above the roofline, one power behind clock,
/// latency and energy, the same for the transposed product, honest about what it was calibrated on?
#include "hindsight/gpu/predict.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "edited_yaml.h"
#include "hindsight/gpu/other_kernels.h"
#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using test::kRounding;
using test::relative_error;

constexpr std::uint64_t kSeed = 20261121;
constexpr int kShapes = 3000;

/// Sizes over five decades, as likely small as large, some of them powers of two.
std::vector<Gemm> random_shapes(DType dtype) {
  std::mt19937_64 random(kSeed);
  std::uniform_real_distribution<double> exponent(0, 15);
  std::uniform_int_distribution<int> choice(0, 3);
  const auto size = [&] {
    const double x = exponent(random);
    return static_cast<std::int64_t>(std::exp2(choice(random) == 0 ? std::floor(x) : x));
  };
  std::vector<Gemm> shapes;
  for (int i = 0; i < kShapes; ++i) {
    Gemm gemm{.m = size(), .n = size(), .k = size(), .dtype = dtype};
    if (choice(random) == 0) gemm.batch = 1 + size() % 64;
    gemm.layout = usual_layout(gemm.batch);
    if (is_8bit(dtype)) gemm.quantisation = kAllQuantisations[static_cast<std::size_t>(i) % kAllQuantisations.size()];
    shapes.push_back(gemm);
  }
  return shapes;
}

struct Case {
  const char* gpu;
  DType dtype;
  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.gpu << ' ' << to_string(one.dtype); }
};

class GemmProperties : public ::testing::TestWithParam<Case> {
 protected:
  [[nodiscard]] double latency(const GpuSpec& spec, const Gemm& gemm, RunMode mode) const {
    return Predictor(spec, calibration_, GetParam().dtype).latency_s(gemm, mode);
  }
  /// No shape becomes slower when `improve` changes the GPU.
  void expect_never_slower(const std::function<void(GpuSpec&)>& improve, const char* what) const {
    GpuSpec better = spec_;
    improve(better);
    for (const RunMode mode : {RunMode::burst, RunMode::sustained}) {
      for (const Gemm& gemm : random_shapes(GetParam().dtype)) {
        const double before = latency(spec_, gemm, mode), after = latency(better, gemm, mode);
        ASSERT_LE(after, before * (1 + kRounding))
            << what << " " << to_string(mode) << ": " << gemm.batch << " x " << gemm.m << " x " << gemm.n << " x "
            << gemm.k << ", seed " << kSeed;
      }
    }
  }

  GpuSpec spec_ = load_gpu(GetParam().gpu);
  Calibration calibration_ = load_calibration(spec_, GetParam().dtype);
};

TEST_P(GemmProperties, MoreHardwareIsNeverSlower) {
  expect_never_slower([](GpuSpec& gpu) { gpu.dram_bytes_per_s *= 1.3; }, "DRAM bandwidth");
  expect_never_slower([](GpuSpec& gpu) { gpu.l2_bytes_per_s *= 1.3; }, "L2 bandwidth");
  expect_never_slower([](GpuSpec& gpu) { gpu.tdp_w *= 1.3; }, "power cap");
  expect_never_slower([](GpuSpec& gpu) { gpu.l2_bytes *= 1.3; }, "L2 size");
  expect_never_slower([](GpuSpec& gpu) { gpu.sm.shared_bytes *= 1.3; }, "shared memory");
  expect_never_slower([](GpuSpec& gpu) { gpu.sm.registers *= 2; }, "registers");
  for (const int more : {1, 2, 7, 40}) {
    expect_never_slower([&](GpuSpec& gpu) { gpu.sms += more; }, "SMs");
  }
}

TEST_P(GemmProperties, AFasterClockIsNeverSlower) {
  // The L2's bandwidth follows the clock; the table of idle power stays constant beyond its last point.
  expect_never_slower([](GpuSpec& gpu) { gpu.boost_hz *= 1.1; }, "clock");
}

TEST_P(GemmProperties, NeverAboveTheRoofline) {
  const Predictor predictor(spec_, calibration_, GetParam().dtype);
  for (const Gemm& gemm : random_shapes(GetParam().dtype)) {
    for (const RunMode mode : {RunMode::burst, RunMode::sustained}) {
      ASSERT_GE(predictor.latency_s(gemm, mode), roofline_s(spec_, gemm))
          << gemm.batch << " x " << gemm.m << " x " << gemm.n << " x " << gemm.k << ", seed " << kSeed;
    }
  }
}

/// One uncapped power decides: above what the limit allows, and only there, the clock is below the highest, the limit
/// is named as what binds. The power is that of the clock; in a settled run it is at the limit, in a burst above.
TEST_P(GemmProperties, OnePowerDecidesClockLatencyPowerAndBound) {
  GpuSpec limited = spec_;
  limited.tdp_w *= 0.7;  // so that the limit binds on every board
  const Predictor predictor(limited, calibration_, GetParam().dtype);
  PowerConstants constants = calibration_.power;
  constants.op_j = calibration_.constants.op_j;
  const BoardPower board(limited, constants, GetParam().dtype);
  const double idle_w = limited.idle_w(limited.boost_hz);
  for (const RunMode mode : {RunMode::burst, RunMode::sustained}) {
    int capped = 0;
    for (const Gemm& gemm : random_shapes(GetParam().dtype)) {
      const GemmPrediction result = predictor.predict(gemm, mode);
      const double slowdown = result.terms.slowdown;
      const double full_clock_w = board.full_clock_w(result.work, result.latency_s / slowdown);
      if (mode == RunMode::sustained) {
        ASSERT_EQ(slowdown > 1, result.average_power_w == board.settled_cap_w()) << result.average_power_w;
      }
      ASSERT_EQ(slowdown > 1, result.bound == Bound::power);
      ASSERT_EQ(result.sm_clock_hz, limited.boost_hz / slowdown);
      ASSERT_EQ(result.energy_j, result.average_power_w * result.latency_s);
      ASSERT_LE(relative_error(result.ops_per_s * result.latency_s, ops(gemm)), kRounding);
      ASSERT_EQ(result.latency_s, predictor.latency_s(gemm, mode));
      if (slowdown == 1) {
        ASSERT_LE(relative_error(result.average_power_w, full_clock_w), kRounding);
        continue;
      }
      ++capped;
      const double at_clock_w = idle_w + (full_clock_w - idle_w) * std::pow(1 + 0.88 * (slowdown - 1), -1 / 0.55);
      ASSERT_LE(relative_error(at_clock_w, result.average_power_w), kRounding);
      ASSERT_GE(result.average_power_w, board.settled_cap_w()) << "a burst's clock has not fallen as far";
    }
    EXPECT_GT(capped, 0) << to_string(mode) << ": no shape meets the limit";
  }
}

/// A limit that does not bind changes nothing; one that binds costs time, and the energy follows from power and time.
TEST_P(GemmProperties, TheSameClockAndLatencyCostTheSameEnergyWhateverTheLimit) {
  const Predictor predictor(spec_, calibration_, GetParam().dtype);
  for (const double factor : {0.8, 1.3, 3.0}) {
    GpuSpec other = spec_;
    other.tdp_w *= factor;
    const Predictor limited(other, calibration_, GetParam().dtype);
    for (const Gemm& gemm : random_shapes(GetParam().dtype)) {
      const GemmPrediction one = predictor.predict(gemm, RunMode::sustained);
      const GemmPrediction two = limited.predict(gemm, RunMode::sustained);
      const GemmPrediction &low = factor > 1 ? one : two, &high = factor > 1 ? two : one;
      ASSERT_EQ(low.latency_s == high.latency_s, low.sm_clock_hz == high.sm_clock_hz);
      if (low.sm_clock_hz == high.sm_clock_hz) {
        ASSERT_EQ(low.energy_j, high.energy_j);
      } else {
        ASSERT_EQ(low.bound, Bound::power);
        ASSERT_LT(low.average_power_w, high.average_power_w);
        ASSERT_GT(low.latency_s, high.latency_s);
      }
    }
  }
}

TEST_P(GemmProperties, TheTransposedProductIsTheSame) {
  const Predictor predictor(spec_, calibration_, GetParam().dtype);
  for (Gemm gemm : random_shapes(GetParam().dtype)) {
    for (const Layout layout : {Layout::nn, Layout::nt, Layout::tn, Layout::tt}) {
      gemm.layout = layout;
      const GemmPrediction one = predictor.predict(gemm), other = predictor.predict(transposed(gemm));
      ASSERT_LE(relative_error(one.latency_s, other.latency_s), kRounding);
      ASSERT_LE(relative_error(one.average_power_w, other.average_power_w), kRounding);
      ASSERT_LE(relative_error(one.energy_j, other.energy_j), kRounding);
      ASSERT_LE(relative_error(one.dram_bytes, other.dram_bytes), kRounding);
      ASSERT_EQ(one.bound, other.bound) << gemm.batch << " x " << gemm.m << " x " << gemm.n << " x " << gemm.k;
      ASSERT_EQ(one.in_validated_range, other.in_validated_range);
    }
  }
}

TEST_P(GemmProperties, ProductsAboveTheL2ReadAtLeastTheirOperandsAndHugeOnesMore) {
  const Predictor predictor(spec_, calibration_, GetParam().dtype);
  int above = 0;
  for (const Gemm& gemm : random_shapes(GetParam().dtype)) {
    if (compulsory_bytes(gemm) <= spec_.l2_bytes) continue;
    Gemm network = gemm;  // whose weights are not in L2 any more
    network.reuse_bytes = 2 * spec_.l2_bytes;
    ASSERT_GE(predictor.predict(network).dram_bytes, compulsory_bytes(gemm) * (1 - kRounding))
        << gemm.batch << " x " << gemm.m << " x " << gemm.n << " x " << gemm.k;
    ++above;
  }
  EXPECT_GT(above, 0);
  double reads_before = 1;
  for (const std::int64_t size : {20'000, 60'000, 200'000}) {
    const Gemm gemm{.m = size, .n = size, .k = size, .dtype = GetParam().dtype};
    const double reads = predictor.predict(gemm).dram_bytes / compulsory_bytes(gemm);
    EXPECT_GT(reads, 2 * reads_before) << size;
    reads_before = reads;
  }
}

/// What the library does anyway changes nothing when it is said; less to write or to read is never slower, but for the
/// time until the memory system is full (kRampSeconds), of which a larger share counts.
TEST_P(GemmProperties, SmallerOutputsAndFewerActivationsAreNeverSlower) {
  constexpr double kRamp = 0.4e-6;
  const Predictor predictor(spec_, calibration_, GetParam().dtype);
  for (const Gemm& gemm : random_shapes(GetParam().dtype)) {
    const std::string name = fmt::format("{} x {} x {} x {}", gemm.batch, gemm.m, gemm.n, gemm.k);
    const GemmPrediction plain = predictor.predict(gemm);
    const double matrix_bytes = static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) *
                                static_cast<double>(gemm.k) * input_bytes(gemm.dtype);
    Gemm said = gemm;
    said.activation_bytes = matrix_bytes;
    said.output = output_bytes(gemm.dtype) == 4 ? DType::fp32 : DType::bf16;
    const GemmPrediction same = predictor.predict(said);
    ASSERT_EQ(same.latency_s, plain.latency_s) << name;
    ASSERT_EQ(same.dram_bytes, plain.dram_bytes) << name;
    ASSERT_EQ(same.l2_bytes, plain.l2_bytes) << name;
    ASSERT_EQ(same.energy_j, plain.energy_j) << name;
    ASSERT_EQ(same.in_validated_range, plain.in_validated_range) << name;
    Gemm less = gemm;
    less.output = gemm.dtype;
    less.activation_bytes = matrix_bytes / 9;
    const GemmPrediction fewer = predictor.predict(less);
    ASSERT_LE(fewer.latency_s, plain.latency_s * (1 + kRounding) + kRamp) << name;
    ASSERT_LE(fewer.dram_bytes, plain.dram_bytes * (1 + kRounding)) << name;
  }
}

TEST_P(GemmProperties, TheWinnerIsTheFirstOfTheRanking) {
  const Predictor predictor(spec_, calibration_, GetParam().dtype);
  for (const Gemm& gemm : random_shapes(GetParam().dtype)) {
    const std::vector<GemmPrediction> ranking = predictor.rank(gemm);
    ASSERT_FALSE(ranking.empty());
    ASSERT_LE(relative_error(ranking.front().latency_s, predictor.latency_s(gemm)), kRounding);
    ASSERT_TRUE(std::is_sorted(ranking.begin(), ranking.end(),
                               [](const auto& a, const auto& b) { return a.latency_s < b.latency_s; }));
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, GemmProperties,
                         ::testing::Values(Case{"h100-sxm5", DType::bf16}, Case{"a100-sxm-80gb", DType::bf16},
                                           Case{"l40s", DType::bf16}, Case{"h200", DType::bf16},
                                           Case{"h200", DType::fp8}, Case{"rtx-4090", DType::bf16},
                                           Case{"l40s", DType::int8}, Case{"a100-sxm-80gb", DType::int8},
                                           Case{"l4", DType::fp32}, Case{"t4", DType::fp32}),
                         [](const auto& tested) {
                           std::string name =
                               std::string(tested.param.gpu) + "_" + std::string(to_string(tested.param.dtype));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// 4096 accumulators, 256 threads and 16 KiB on an SM: one CTA of 64 x 64 in fp32 or bf16, none larger.
TEST(GemmKernels, SmallSmsHoldSmallTiles) {
  GpuSpec small = load_gpu("h100-sxm5");
  small.sm.shared_bytes = 18 * 1024;
  small.sm.registers = 8192;
  small.sm.threads = 256;
  for (const DType dtype : {DType::bf16, DType::fp32}) {
    for (const Layout layout : {Layout::nt, Layout::nn}) {
      const Gemm gemm{.m = 4096, .n = 4096, .k = 4096, .dtype = dtype, .layout = layout};
      const Calibration calibration = load_calibration(load_gpu("h100-sxm5"), dtype);
      for (const GemmPrediction& one : rank_candidates(small, calibration, gemm)) {
        ASSERT_LE(one.tile.m * one.tile.n, 64 * 64);
      }
      EXPECT_GT(predict(small, calibration, gemm).latency_s,
                predict(load_gpu("h100-sxm5"), calibration, gemm).latency_s);
    }
  }
}

std::set<std::pair<int, int>> fp32_tiles(const char* name, Layout layout, std::int64_t batch) {
  const GpuSpec spec = load_gpu(name);
  const Gemm gemm{.m = 512, .n = 512, .k = 512, .batch = batch, .dtype = DType::fp32, .layout = layout};
  std::set<std::pair<int, int>> tiles;
  for (const GemmPrediction& one : rank_candidates(spec, load_calibration(spec, DType::fp32), gemm)) {
    tiles.emplace(one.tile.m, one.tile.n);
  }
  return tiles;
}

/// In the rows of an A100, 16,588 of 16,588 batches by rows run on 128 x 128, and 73 of 73 single products on others.
TEST(GemmKernels, BatchesByRowsHaveFewerFp32KernelsThanSingleProducts) {
  using Tiles = std::set<std::pair<int, int>>;
  EXPECT_EQ(fp32_tiles("a100-pcie-40gb", Layout::nn, 2), (Tiles{{128, 128}}));
  EXPECT_EQ(fp32_tiles("l4", Layout::nn, 2), (Tiles{{128, 128}}));
  EXPECT_EQ(fp32_tiles("h100-sxm5", Layout::nn, 2), (Tiles{{128, 128}, {128, 64}}));
  EXPECT_EQ(fp32_tiles("v100-pcie-32gb", Layout::nn, 2), (Tiles{{64, 64}, {128, 32}, {32, 128}}));
  for (const char* name : {"a100-pcie-40gb", "l4", "h100-sxm5", "v100-pcie-32gb"}) {
    EXPECT_EQ(fp32_tiles(name, Layout::nn, 1).size(), 9U) << name;
    EXPECT_EQ(fp32_tiles(name, Layout::nt, 2).size(), 9U) << name;
  }
}

/// 2 x 32 x 32 tiles of 128 x 128 on 108 SMs: 19 on the busiest, 128 x 128 x 4096 multiply-adds each, 64 per clock at
/// 1410 MHz; a thread's 8 x 8 outputs cost cbrt(1 + 1/8). On an L4's 58 SMs 36, 128 per clock at 2040 MHz, cbrt(2).
TEST(GemmPrediction, Fp32WaitsForSharedMemory) {
  const auto math_s = [](const char* name) {
    const GpuSpec spec = load_gpu(name);
    const Gemm gemm{.m = 4096, .n = 4096, .k = 4096, .batch = 2, .dtype = DType::fp32, .layout = Layout::nn};
    return predict(spec, load_calibration(spec, DType::fp32), gemm).terms.math_s;
  };
  constexpr double kMacs = 128.0 * 128.0 * 4096.0;
  EXPECT_LE(relative_error(math_s("a100-pcie-40gb"), 19 * kMacs / (64 * 1410e6) * std::cbrt(1.125)), kRounding);
  EXPECT_LE(relative_error(math_s("l4"), 36 * kMacs / (128 * 2040e6) * std::cbrt(2.0)), kRounding);
}

/// Average over its linear layers: 29 % of the peak (docs/gpu.md), for kernels of a tenth of a millisecond as well.
TEST(GemmPrediction, AnL4InFp32IsSettledAfterATenthOfAMillisecond) {
  const GpuSpec spec = load_gpu("l4");
  const Calibration calibration = load_calibration(spec, DType::fp32);
  for (const std::int64_t size : {1024, 2048, 4096, 8192}) {
    const GemmPrediction one =
        predict(spec, calibration, {.m = size, .n = size, .k = size, .dtype = DType::fp32, .layout = Layout::nt});
    const double share = one.ops_per_s / spec.ops_per_s(DType::fp32, spec.boost_hz);
    EXPECT_GT(share, 0.26) << size;
    EXPECT_LT(share, 0.35) << size;
  }
}

TEST(GemmKernels, AnSmTooSmallForAnyKernelNamesTheKey) {
  const auto refused = [](const char* key, const std::function<void(SmLimits&)>& shrink) {
    GpuSpec spec = load_gpu("l40s");
    const Calibration calibration = load_calibration(spec, DType::bf16);
    shrink(spec.sm);
    test::expect_usage_error([&] { const Predictor predictor(spec, calibration, DType::bf16); }, {"l40s", key});
  };
  refused("sm.threads is 64", [](SmLimits& sm) { sm.threads = 64; });
  refused("sm.registers is 1024", [](SmLimits& sm) { sm.registers = 1024; });
  refused("sm.shared_kib is 4", [](SmLimits& sm) { sm.shared_bytes = 4 * 1024; });
  refused("sm.shared_per_block_kib is 4", [](SmLimits& sm) { sm.shared_bytes_per_block = 4 * 1024; });
}

GemmPrediction on_h100(const Gemm& gemm, RunMode mode = RunMode::burst) {
  static const GpuSpec spec = load_gpu("h100-sxm5");
  return predict(spec, load_calibration(spec, gemm.dtype), gemm, mode);
}

TEST(GemmPrediction, SaysWhichLimitBinds) {
  EXPECT_EQ(on_h100({.m = 1, .n = 64, .k = 64}).bound, Bound::launch);
  EXPECT_EQ(on_h100({.m = 1, .n = 65536, .k = 16384}).bound, Bound::dram);
  EXPECT_EQ(on_h100({.m = 8192, .n = 8192, .k = 8192}, RunMode::sustained).bound, Bound::power);
  EXPECT_EQ(on_h100({.m = 1, .n = 64, .k = 2048}).bound, Bound::latency);
}

TEST(GemmPrediction, Fp32PaysForRowsReadInSteps) {
  const GpuSpec spec = load_gpu("v100-pcie-32gb");
  const Calibration calibration = load_calibration(spec, DType::fp32);
  Gemm gemm{.m = 4096, .n = 32, .k = 4096, .batch = 8, .dtype = DType::fp32, .layout = Layout::nt};
  const GemmPrediction along_k = predict(spec, calibration, gemm);
  gemm.layout = Layout::tn;
  const GemmPrediction across_k = predict(spec, calibration, gemm);
  EXPECT_EQ(along_k.dram_bytes, across_k.dram_bytes);
  EXPECT_GT(along_k.terms.dram_s, 1.7 * across_k.terms.dram_s);
}

/// Hopper's kernel for a vector reads whole rows: the bytes at the bandwidth that is reached, and no tile.
TEST(GemmPrediction, Fp32OnHopperHasAKernelForAVector) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  const Calibration calibration = with_kernel_launch(load_calibration(spec, DType::fp32), spec);
  const Gemm gemm{.m = 1, .n = 14336, .k = 4096, .dtype = DType::fp32};
  const GemmPrediction vector = predict(spec, calibration, gemm);
  EXPECT_EQ(vector.tile.m, 1);
  const double bytes_s = 4.0 * 14336 * 4096 / (spec.dram_bytes_per_s * calibration.constants.dram_efficiency);
  EXPECT_LE(relative_error(vector.latency_s, bytes_s), 0.06);
  Gemm two = gemm;
  two.m = 2;
  EXPECT_GE(predict(spec, calibration, two).latency_s, 1.5 * vector.latency_s) << "read in steps";
  const GpuSpec ampere = load_gpu("a100-sxm-80gb");
  EXPECT_NE(predict(ampere, load_calibration(ampere, DType::fp32), gemm).tile.m, 1) << "not measured there";
}

TEST(GemmPrediction, ALinearLayerOfAFrameworkLaunchesItsBias) {
  const GpuSpec spec = load_gpu("v100-pcie-32gb");
  const Calibration framework = load_calibration(spec, DType::fp32);
  Calibration graph = framework;
  graph.constants.launch_floor_s = 0;
  const Gemm layer{.m = 32, .n = 32, .k = 32, .dtype = DType::fp32, .layout = Layout::nt};
  Gemm batched = layer;
  batched.batch = 2;
  batched.layout = Layout::nn;
  const double added_s =
      predict(spec, framework, layer).terms.launch_s - predict(spec, framework, batched).terms.launch_s;
  EXPECT_GT(added_s, 15e-6);
  EXPECT_LT(added_s, 20e-6);
  EXPECT_EQ(predict(spec, graph, layer).terms.launch_s, predict(spec, graph, batched).terms.launch_s);
}

TEST(GemmPrediction, SplitsALongKAndNotAShortOne) {
  EXPECT_GT(on_h100({.m = 64, .n = 64, .k = 65536}).tile.split_k, 1);
  EXPECT_EQ(on_h100({.m = 64, .n = 64, .k = 512}).tile.split_k, 1);
}

/// A k beyond every row (65,536, in 32 parts of 2,048) has more parts: it is never faster than a shorter one, and a
/// board with twice the bandwidth is not sixteen times slower.
TEST(GemmPrediction, AKBeyondAllRowsHasMoreParts) {
  const Gemm longest{.m = 1, .n = 1, .k = 100'000'000};
  const GpuSpec h100 = load_gpu("h100-sxm5"), a100 = load_gpu("a100-sxm-80gb");
  const GemmPrediction on = predict(h100, load_calibration(h100, DType::bf16), longest);
  EXPECT_GT(on.tile.split_k, 32);
  EXPECT_LT(on.latency_s, 2 * roofline_s(h100, longest));
  EXPECT_LT(on.latency_s, predict(a100, load_calibration(a100, DType::bf16), longest).latency_s);
  EXPECT_LE(on_h100({.m = 64, .n = 64, .k = 65536}).tile.split_k, 32) << "as the rows";
  constexpr double kBuffers = 0.01;  // fewer buffers of weights alternate as they grow, which frees a little L2
  for (const char* name : {"h100-sxm5", "a100-sxm-80gb", "l40s"}) {
    const GpuSpec spec = load_gpu(name);
    const Predictor predictor(spec, load_calibration(spec, DType::bf16, {}, Residuals::none), DType::bf16);
    for (const Gemm& shape : {Gemm{.m = 1, .n = 1}, Gemm{.m = 2, .n = 8}, Gemm{.m = 64, .n = 64}}) {
      double before_s = 0;
      for (const std::int64_t k :
           {65'536, 65'537, 67'584, 67'585, 98'304, 131'072, 131'073, 300'000, 4'000'000, 4'000'001, 100'000'000}) {
        Gemm gemm = shape;
        gemm.k = k;
        const double latency_s = predictor.latency_s(gemm);
        EXPECT_GE(latency_s, before_s * (1 - kBuffers)) << name << ": " << gemm.m << " x " << gemm.n << " x " << k;
        before_s = latency_s;
      }
    }
  }
}

int parts_of_k(const char* gpu, const Gemm& gemm) {
  const GpuSpec spec = load_gpu(gpu);
  const GemmPrediction result = predict(spec, load_calibration(spec, gemm.dtype), gemm);
  EXPECT_EQ(predict(spec, load_calibration(spec, gemm.dtype), transposed(gemm)).tile.split_k, result.tile.split_k);
  return result.tile.split_k;
}

/// As the rows of an L40S say: strips up to 16, 32, 64 and 96 rows wide are split up to another length each.
TEST(GemmPrediction, AdaSplitsStripsUpToALengthThatGoesWithTheirWidth) {
  EXPECT_GT(parts_of_k("l40s", {.m = 16, .n = 1024, .k = 4096}), 1);
  EXPECT_EQ(parts_of_k("l40s", {.m = 16, .n = 1536, .k = 4096}), 1);
  EXPECT_GT(parts_of_k("l40s", {.m = 32, .n = 2049, .k = 3584}), 1);
  EXPECT_EQ(parts_of_k("l40s", {.m = 32, .n = 2304, .k = 3584}), 1);
  EXPECT_GT(parts_of_k("l40s", {.m = 64, .n = 1281, .k = 3584}), 1);
  EXPECT_EQ(parts_of_k("l40s", {.m = 64, .n = 1536, .k = 3584}), 1);
  EXPECT_GT(parts_of_k("l40s", {.m = 96, .n = 1536, .k = 3584}), 1);
  EXPECT_EQ(parts_of_k("l40s", {.m = 96, .n = 2048, .k = 3584}), 1);
}

/// Below 2^21 multiply-adds an L40S keeps a k of 7168 whole; one of 12288 it splits (2 x 64: 5.7 us), and nobody saw
/// fewer than 32 columns, batches or another board.
TEST(GemmPrediction, AdaKeepsFewMultiplyAddsWholeWhereThatWasMeasured) {
  EXPECT_EQ(parts_of_k("l40s", {.m = 2, .n = 64, .k = 7168}), 1);
  EXPECT_GT(parts_of_k("l40s", {.m = 5, .n = 64, .k = 7168}), 1);
  EXPECT_GT(parts_of_k("l40s", {.m = 2, .n = 64, .k = 12288}), 1);
  EXPECT_GT(parts_of_k("l40s", {.m = 2, .n = 24, .k = 7168}), 1);
  EXPECT_GT(parts_of_k("l40s", {.m = 2, .n = 24, .k = 26936}), 1);
  EXPECT_GT(parts_of_k("rtx-4090", {.m = 2, .n = 64, .k = 7168}), 1);
  const GpuSpec spec = load_gpu("l40s");
  const GemmPrediction split = predict(spec, load_calibration(spec, DType::bf16), {.m = 2, .n = 64, .k = 12288});
  EXPECT_LE(relative_error(split.latency_s, 5.66e-6), 0.2) << "its row in l40s_bf16";
}

TEST(GemmPrediction, AdaSplitsAShortKForFewOutputsAlone) {
  EXPECT_GT(parts_of_k("l40s", {.m = 64, .n = 128, .k = 1536}), 1);
  EXPECT_EQ(parts_of_k("l40s", {.m = 80, .n = 128, .k = 1536}), 1);
  EXPECT_GT(parts_of_k("l40s", {.m = 80, .n = 128, .k = 2048}), 1);
}

/// 12 x 12 tiles of 128 x 128 fill the 142 SMs of an L40S, as they do the 108 of an A100.
TEST(GemmPrediction, ProductsThatFillTheGpuAreSplitFromALongKOn) {
  EXPECT_EQ(parts_of_k("l40s", {.m = 1536, .n = 1536, .k = 6144}), 1);
  EXPECT_GT(parts_of_k("l40s", {.m = 1536, .n = 1536, .k = 7168}), 1);
  EXPECT_EQ(parts_of_k("a100-sxm-80gb", {.m = 1536, .n = 1536, .k = 6144}), 1);
}

/// 8 x 4096 x 512 takes 10.6 us on an A100, as long as k = 1024; 17 rows take 6.2 us.
TEST(GemmPrediction, AmpereSplitsAShortKInNarrowStripsThoughItDoesNotPay) {
  const char* const a100 = "a100-sxm-80gb";
  EXPECT_GT(parts_of_k(a100, {.m = 8, .n = 4096, .k = 512}), 1);
  EXPECT_EQ(parts_of_k(a100, {.m = 8, .n = 4096, .k = 256}), 1);
  EXPECT_EQ(parts_of_k(a100, {.m = 8, .n = 4096, .k = 1024}), 1);
  EXPECT_EQ(parts_of_k(a100, {.m = 17, .n = 4096, .k = 512}), 1);
  EXPECT_EQ(parts_of_k(a100, {.m = 8, .n = 1536, .k = 512}), 1);
  EXPECT_EQ(parts_of_k(a100, {.m = 8, .n = 16384, .k = 512}), 1);
}

TEST(GemmPrediction, SustainedRunsArePaidForAtTheCap) {
  const Gemm large{.m = 8192, .n = 8192, .k = 8192};
  EXPECT_GT(on_h100(large, RunMode::sustained).latency_s, 1.02 * on_h100(large).latency_s);
}

/// The host's launch of a burst takes its share of each of the few kernels; a settled run has none of it.
TEST(GemmPrediction, ASettledRunHasNoShareOfTheHostsLaunch) {
  const GpuSpec h100 = load_gpu("h100-sxm5");
  const Calibration recorded = load_calibration(h100, DType::bf16, {}, Residuals::none);
  EXPECT_LT(relative_error(recorded.constants.burst_start_s, 218e-9), kRounding);
  Calibration without = recorded;
  without.constants.burst_start_s = 0;
  const Gemm small{.m = 16, .n = 1024, .k = 1024};
  const double burst_s = predict(h100, recorded, small).latency_s;
  EXPECT_EQ(burst_s, predict(h100, without, small).latency_s);
  EXPECT_EQ(burst_s, predict(h100, without, small, RunMode::sustained).latency_s);
  const GemmPrediction settled = predict(h100, recorded, small, RunMode::sustained);
  EXPECT_LT(relative_error(burst_s - settled.latency_s, 218e-9), 1e-6);
  EXPECT_LT(relative_error(predict(h100, recorded, small).terms.launch_s - settled.terms.launch_s, 218e-9), 1e-6);
  // A sibling borrows it with the launch that it is part of; a launch is never below 0.
  EXPECT_EQ(load_calibration(load_gpu("h200"), DType::bf16).constants.burst_start_s, recorded.constants.burst_start_s);
  Calibration more = recorded;
  more.constants.burst_start_s = 1e-4;
  EXPECT_EQ(predict(h100, more, small, RunMode::sustained).terms.launch_s, 0);
  EXPECT_GT(predict(h100, more, small, RunMode::sustained).latency_s, 0);
}

/// Products of 8 bits were recorded in such bursts, too; kernels that are no products were measured in long graphs
/// here.
TEST(GemmPrediction, WhoseLaunchHasAShareOfTheHosts) {
  const GpuSpec h100 = load_gpu("h100-sxm5");
  const auto saved_s = [&](DType dtype, Quantisation quantisation) {
    const Calibration calibration = load_calibration(h100, dtype, {}, Residuals::none);
    const Gemm gemm{.m = 16, .n = 1024, .k = 1024, .dtype = dtype, .quantisation = quantisation};
    return predict(h100, calibration, gemm).latency_s - predict(h100, calibration, gemm, RunMode::sustained).latency_s;
  };
  for (const auto& [dtype, quantisation] : {std::pair(DType::bf16, Quantisation::none),
                                            {DType::fp8, Quantisation::none},
                                            {DType::fp8, Quantisation::dynamic},
                                            {DType::int8, Quantisation::none}}) {
    EXPECT_LT(relative_error(saved_s(dtype, quantisation), 218e-9), 1e-6) << to_string(dtype);
  }
  const OtherKernels kernels(h100, load_calibration(h100, DType::bf16), DType::bf16);
  const Attention attention{.heads = 8, .rows = 64, .context = 64};
  EXPECT_EQ(kernels.predict(attention, RunMode::burst).latency_s,
            kernels.predict(attention, RunMode::sustained).latency_s);
}

/// Products of a framework outside CUDA graphs wait for its host one by one; as kernels they have the share of others.
TEST(GemmPrediction, AFrameworksLaunchIsNoBursts) {
  const GpuSpec v100 = load_gpu("v100-pcie-32gb");
  const Calibration recorded = load_calibration(v100, DType::fp32);
  EXPECT_EQ(recorded.constants.burst_start_s, 0);
  EXPECT_EQ(with_kernel_launch(recorded, v100).constants.burst_start_s,
            load_calibration(v100, DType::fp16).constants.burst_start_s);
  EXPECT_GT(with_kernel_launch(recorded, v100).constants.burst_start_s, 0);
  Calibration quick = recorded;
  quick.constants.launch_cycles = 1;
  EXPECT_EQ(with_kernel_launch(quick, v100).constants.burst_start_s, 0)
      << "the share is that of the launch it is part of";
}

/// Zero weights were recorded in sustained bf16 runs of an H200: nothing else is predicted by their rule.
TEST(GemmPrediction, RecordedOperandsCountOnlyWhereTheyWereRecorded) {
  const GpuSpec h200 = load_gpu("h200");
  const Gemm recorded{.m = 4096, .n = 4096, .k = 65536};
  const auto operands = [&](const Gemm& gemm, RunMode mode) {
    return predict(h200, load_calibration(h200, gemm.dtype), gemm, mode).operands;
  };
  EXPECT_EQ(operands(recorded, RunMode::sustained), Operands::partly_zero_weights);
  EXPECT_EQ(operands(transposed(recorded), RunMode::sustained), Operands::partly_zero_weights);
  EXPECT_EQ(operands(recorded, RunMode::burst), Operands::random) << "no burst was recorded";
  const auto changed = [&](auto change) {
    Gemm gemm = recorded;
    change(gemm);
    return operands(gemm, RunMode::sustained);
  };
  for (const DType dtype : {DType::fp16, DType::fp8, DType::int8, DType::tf32}) {
    EXPECT_EQ(changed([&](Gemm& g) { g.dtype = dtype; }), Operands::random) << to_string(dtype);
  }
  EXPECT_EQ(changed([](Gemm& g) { g.k = 70000; }), Operands::random) << "no row has such a k";
  EXPECT_EQ(changed([](Gemm& g) { g.batch = 2; }), Operands::random);
  EXPECT_EQ(changed([](Gemm& g) { g.layout = Layout::nn; }), Operands::random);
  EXPECT_EQ(changed([](Gemm& g) { g.m = 1; }), Operands::long_vector) << "whatever the weights hold";
}

/// What was recorded with unwritten weights ran as fast as real data, and was read as less.
TEST(GemmPrediction, RecordedOperandsChangePowerAndNotTime) {
  const GpuSpec h200 = load_gpu("h200");
  const Calibration recorded = load_calibration(h200, DType::bf16);
  Calibration random = recorded;
  random.unwritten = {};
  for (const Gemm& gemm : {Gemm{.m = 4096, .n = 8192, .k = 65536}, Gemm{.m = 4096, .n = 65536, .k = 51200},
                           Gemm{.m = 8, .n = 12288, .k = 65536}}) {
    const GemmPrediction as_recorded = predict(h200, recorded, gemm, RunMode::sustained);
    const GemmPrediction as_random = predict(h200, random, gemm, RunMode::sustained);
    ASSERT_NE(as_recorded.operands, Operands::random);
    EXPECT_EQ(as_recorded.latency_s, as_random.latency_s);
    EXPECT_EQ(as_recorded.sm_clock_hz, as_random.sm_clock_hz);
    EXPECT_EQ(as_recorded.bound, as_random.bound);
    EXPECT_LT(as_recorded.average_power_w, 0.99 * as_random.average_power_w);
    EXPECT_EQ(as_recorded.energy_j, as_recorded.average_power_w * as_recorded.latency_s);
  }
}

/// A burst of an H200 is that of the same GPU without any rule about its operands.
TEST(GemmPrediction, ABurstKnowsNoRecordedOperands) {
  const GpuSpec h200 = load_gpu("h200");
  const Calibration recorded = load_calibration(h200, DType::bf16);
  Calibration random = recorded;
  random.unwritten = {};
  const Gemm gemm{.m = 4096, .n = 8192, .k = 65536};
  EXPECT_EQ(predict(h200, recorded, gemm).latency_s, predict(h200, random, gemm).latency_s);
  EXPECT_LT(predict(h200, recorded, gemm, RunMode::sustained).average_power_w,
            predict(h200, random, gemm, RunMode::sustained).average_power_w);
}

TEST(GemmPrediction, KnowsItsValidatedRange) {
  const Gemm measured{.m = 4096, .n = 4096, .k = 4096};
  EXPECT_TRUE(on_h100(measured).in_validated_range);
  EXPECT_FALSE(on_h100(measured).power_in_validated_range) << "no power of an H100 was measured";
  EXPECT_FALSE(on_h100(measured, RunMode::sustained).in_validated_range) << "all rows are bursts";
  const auto changed = [&](auto change) {
    Gemm gemm = measured;
    change(gemm);
    return on_h100(gemm).in_validated_range;
  };
  EXPECT_FALSE(changed([](Gemm& g) { g.m = 65536; })) << "no row has such an m";
  EXPECT_FALSE(changed([](Gemm& g) { g.m = g.n = g.k = 1; })) << "nor such an n";
  EXPECT_FALSE(changed([](Gemm& g) { g.batch = 512; }));
  EXPECT_FALSE(changed([](Gemm& g) { g.layout = Layout::nn; }));
  EXPECT_TRUE(changed([](Gemm& g) { g.m = 4097; }));
  EXPECT_FALSE(changed([](Gemm& g) { g.n = 4099; })) << "rows of 8,198 bytes";
  EXPECT_FALSE(changed([](Gemm& g) { g.k = 4097; }));
  EXPECT_TRUE(on_h100(measured).aligned);
  EXPECT_FALSE(on_h100({.m = 4096, .n = 4096, .k = 4097}).aligned);
  for (const DType other : {DType::tf32, DType::fp8, DType::int8}) {
    EXPECT_FALSE(changed([&](Gemm& g) { g.dtype = other; })) << to_string(other);
  }
  EXPECT_TRUE(changed([](Gemm& g) { g.dtype = DType::fp16; })) << "the kernels of bf16";
  const GpuSpec h200 = load_gpu("h200");
  const GemmPrediction other = predict(h200, load_calibration(h200, DType::bf16), {.m = 4096, .n = 4096, .k = 4096});
  EXPECT_FALSE(other.calibrated);
  EXPECT_FALSE(other.in_validated_range);
  const Gemm large{.m = 4096, .n = 4096, .k = 4096};
  const Calibration of_h200 = load_calibration(h200, DType::bf16);
  EXPECT_TRUE(predict(h200, of_h200, large, RunMode::sustained).power_in_validated_range);
  EXPECT_FALSE(predict(h200, of_h200, {.m = 16, .n = 64, .k = 64}, RunMode::sustained).power_in_validated_range)
      << "shorter than the sensor's rows";
}

}  // namespace
}  // namespace hindsight::gpu

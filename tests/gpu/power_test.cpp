/// Is the power of a board what its terms add up to, and does a prediction settle where the limit says?
#include "hindsight/gpu/power.h"

#include <gtest/gtest.h>

#include "edited_yaml.h"
#include "hindsight/gpu/power_calibration.h"
#include "hindsight/gpu/predict.h"
#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;

constexpr PowerConstants kRoundConstants{.active_w = 100,
                                         .op_j = 1e-12,
                                         .l2_byte_j = 20e-12,
                                         .dram_byte_j = 70e-12,
                                         .zero_weight_share = 0.4,
                                         .zero_weight_byte_share = 0.2};
/// 700 TFLOP in one second at full rate, with 4 TB through L2 and 1 TB of DRAM traffic.
constexpr PowerWork kHeavyWork{.ops = 700e12, .l2_bytes = 4e12, .dram_bytes = 1e12};

TEST(BoardPower, AddsUpAtTheHighestClock) {
  const GpuSpec h200 = load_gpu("h200");
  const BoardPower board(h200, kRoundConstants, DType::bf16);
  // 120 W idle + 100 W active + 700 W operations + 80 W L2 + 70 W DRAM.
  EXPECT_LT(relative_error(board.full_clock_w(kHeavyWork, 1.0), 1070), kRounding);
  // The same in twice the time: half of what counts operations and bytes.
  EXPECT_LT(relative_error(board.full_clock_w(kHeavyWork, 2.0), 220 + 425), kRounding);
  // The SMs have work half of the time: 50 W less.
  PowerWork half = kHeavyWork;
  half.busy_frac = 0.5;
  EXPECT_LT(relative_error(board.full_clock_w(half, 1.0), 1020), kRounding);
}

/// 1070 W at the highest clock as above, held at 595 W: of the 950 W above 120 W idle half is left.
TEST(BoardPower, TermsAddUpToTheAverage) {
  const GpuSpec h200 = load_gpu("h200");
  const PowerTerms terms = BoardPower(h200, kRoundConstants, DType::bf16).terms(kHeavyWork, 1.0, 595);
  EXPECT_LT(relative_error(terms.idle_w, 120), kRounding);
  EXPECT_LT(relative_error(terms.active_w, 50), kRounding);
  EXPECT_LT(relative_error(terms.operations_w, 350), kRounding);
  EXPECT_LT(relative_error(terms.l2_w, 40), kRounding);
  EXPECT_LT(relative_error(terms.dram_w, 35), kRounding);
  EXPECT_LT(relative_error(terms.full_clock_w, 1070), kRounding);
}

TEST(BoardPower, ZeroWeightsShrinkWhatTogglesAndNothingElse) {
  const GpuSpec h200 = load_gpu("h200");
  const BoardPower board(h200, kRoundConstants, DType::bf16);
  PowerWork zeros = kHeavyWork;
  zeros.operands = Operands::zero_weights;
  // Of 700 W operations 0.4, of 80 + 70 W bytes 0.2.
  EXPECT_LT(relative_error(board.full_clock_w(zeros, 1.0), 220 + 280 + 30), kRounding);
  const PowerTerms terms = board.terms(zeros, 1.0, board.full_clock_w(zeros, 1.0));
  EXPECT_LT(relative_error(terms.operations_w, 280), kRounding);
  EXPECT_LT(relative_error(terms.l2_w, 16), kRounding);
  EXPECT_LT(relative_error(terms.dram_w, 14), kRounding);
}

/// Of copies that are partly zero a share, here half, counts as zero weights do.
TEST(BoardPower, PartlyZeroWeightsLieInBetween) {
  PowerConstants constants = kRoundConstants;
  constants.partly_zero_share = 0.5;
  const BoardPower board(load_gpu("h200"), constants, DType::bf16);
  PowerWork partly = kHeavyWork;
  partly.operands = Operands::partly_zero_weights;
  // Of 700 W operations 0.7, of 80 + 70 W bytes 0.6.
  EXPECT_LT(relative_error(board.full_clock_w(partly, 1.0), 220 + 490 + 90), kRounding);
}

/// 530 W of zero weights, 410 W above idle. The reading begins 0.2 s and 100 launches after the board has: 0.4 s for
/// launches of 2 ms, so that the mean of the window misses 0.6^2 / 2 of them; nothing for launches of 8 ms.
TEST(BoardPower, ReadsLessAfterAnIdleBoard) {
  PowerConstants constants = kRoundConstants;
  constants.lead_s = 0.2;
  constants.lead_launches = 100;
  const BoardPower board(load_gpu("h200"), constants, DType::bf16);
  const auto launch_of = [](double latency_s) {
    return PowerWork{.ops = 700e12 * latency_s,
                     .l2_bytes = 4e12 * latency_s,
                     .dram_bytes = 1e12 * latency_s,
                     .operands = Operands::zero_weights};
  };
  EXPECT_LT(relative_error(board.reading_w(launch_of(2e-3), 2e-3), 120 + 410 * (1 - 0.18)), kRounding);
  EXPECT_LT(relative_error(board.reading_w(launch_of(8e-3), 8e-3), 530), kRounding);
  PowerWork random = launch_of(2e-3);
  random.operands = Operands::random;
  EXPECT_EQ(board.reading_w(random, 2e-3), board.settled_cap_w()) << "real data follow no allocation";
}

/// Bytes of a kernel without tiles pass registers alone.
TEST(BoardPower, CountsAShareOfL2Bytes) {
  const BoardPower board(load_gpu("h200"), kRoundConstants, DType::bf16);
  PowerWork vector = kHeavyWork;
  vector.l2_share = 0.25;
  EXPECT_LT(relative_error(board.full_clock_w(vector, 1.0), 1070 - 60), kRounding);
  EXPECT_LT(relative_error(board.terms(vector, 1.0, 1010).l2_w, 20), kRounding);
}

/// A long product of one row leaves the tensor cores alone, on whichever side the row stands; short ones, two rows and
/// CUDA cores do not.
TEST(BoardPower, OfALongVectorIsWithoutTensorCores) {
  const Predictor bf16(load_gpu("h200"), load_calibration(load_gpu("h200"), DType::bf16), DType::bf16);
  const auto watt = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return bf16.predict({.m = m, .n = n, .k = k, .dtype = DType::bf16}, RunMode::sustained).average_power_w;
  };
  EXPECT_LT(watt(1, 8192, 16384), 0.8 * watt(2, 8192, 16384));
  EXPECT_LT(watt(8192, 1, 16384), 0.8 * watt(8192, 2, 16384));
  EXPECT_GT(watt(1, 16384, 8191), 0.95 * watt(2, 16384, 8191));
  const Predictor fp32(load_gpu("h200"), load_calibration(load_gpu("h200"), DType::fp32), DType::fp32);
  const auto fp32_watt = [&](std::int64_t m) {
    return fp32.predict({.m = m, .n = 8192, .k = 16384, .dtype = DType::fp32}, RunMode::sustained).average_power_w;
  };
  EXPECT_GT(fp32_watt(1), 0.9 * fp32_watt(2));
}

TEST(BoardPower, SlowsDownExactlyAboveTheLimit) {
  const GpuSpec h200 = load_gpu("h200");
  const BoardPower board(h200, kRoundConstants, DType::bf16, 500);
  EXPECT_LT(relative_error(board.settled_cap_w(), 0.987 * 500), kRounding);
  EXPECT_EQ(board.slowdown(board.settled_cap_w()), 1);
  EXPECT_GT(board.slowdown(board.settled_cap_w() * 1.0001), 1);
  // Four times the dynamic power: 1 + (4^0.55 - 1) / 0.88.
  EXPECT_LT(relative_error(board.slowdown(120 + 4 * (493.5 - 120)), 2.299485142), 1e-9);
}

TEST(BoardPower, NarrowerFormatsCostLessPerOperation) {
  // 8 bits have constants of their own: half of those of 16 bits where nothing was measured.
  const GpuSpec spec = load_gpu("h200");
  EXPECT_EQ(default_power_constants(spec, DTypeClass::tensor_core_8bit).op_j,
            0.5 * default_power_constants(spec, DTypeClass::tensor_core).op_j);
  EXPECT_EQ(operation_j(kRoundConstants, DType::fp8), kRoundConstants.op_j);
  EXPECT_EQ(operation_j(kRoundConstants, DType::int8), 0.5 * kRoundConstants.op_j);
  EXPECT_LT(operation_j(kRoundConstants, DType::bf16), operation_j(kRoundConstants, DType::tf32));
  EXPECT_EQ(operation_j(kRoundConstants, DType::bf16), operation_j(kRoundConstants, DType::fp16));
}

GemmPrediction settled(const GpuSpec& spec, const Gemm& gemm) {
  return predict(spec, load_calibration(spec, gemm.dtype), gemm, RunMode::sustained);
}

TEST(PowerLimit, ALargerLimitIsNeverSlowerAndNeverDrawsLess) {
  const Gemm gemm{.m = 8192, .n = 8192, .k = 8192};
  for (const char* name : {"h200", "a100-pcie-40gb", "l4"}) {
    GpuSpec spec = load_gpu(name);
    const double own_w = spec.tdp_w;
    GemmPrediction before = settled(spec, gemm);
    double before_w = 0, before_s = 1e9;
    for (spec.tdp_w = 0.6 * own_w; spec.tdp_w < 5 * own_w; spec.tdp_w *= 1.01) {
      const GemmPrediction now = settled(spec, gemm);
      ASSERT_LE(now.latency_s, before_s) << name << " at " << spec.tdp_w << " W";
      ASSERT_GE(now.average_power_w, before_w) << name << " at " << spec.tdp_w << " W";
      before_s = now.latency_s;
      before_w = now.average_power_w;
      before = now;
    }
    EXPECT_NE(before.bound, Bound::power) << name << ": five times the limit";
    EXPECT_EQ(before.sm_clock_hz, spec.boost_hz) << name;
  }
}

/// A limit that was raised and does not bind draws nothing: the default constants know the chip, not its limit.
TEST(PowerLimit, ARaisedLimitDoesNotRaiseThePower) {
  GpuSpec spec = load_gpu("a100-pcie-40gb");
  const Gemm gemm{.m = 8192, .n = 8192, .k = 8192};
  spec.tdp_w = 600;
  const GemmPrediction at_600_w = settled(spec, gemm);
  spec.tdp_w = 1000;
  const GemmPrediction at_1000_w = settled(spec, gemm);
  EXPECT_NE(at_600_w.bound, Bound::power);
  EXPECT_EQ(at_600_w.latency_s, at_1000_w.latency_s);
  EXPECT_EQ(at_600_w.energy_j, at_1000_w.energy_j);
}

TEST(PowerCalibration, OwnRowsThenTheArchitectureThenDefaults) {
  const PowerCalibration own = load_power_calibration(load_gpu("h200"), DTypeClass::tensor_core);
  EXPECT_EQ(own.source, PowerSource::own);
  EXPECT_GT(own.row_count, 1000);

  const GpuSpec pcie = load_gpu("h100-pcie");
  const PowerCalibration sibling = load_power_calibration(pcie, DTypeClass::tensor_core);
  EXPECT_EQ(sibling.source, PowerSource::transfer);
  EXPECT_EQ(sibling.gpu, "h200");
  EXPECT_EQ(sibling.constants.zero_weight_share, own.constants.zero_weight_share);
  EXPECT_TRUE(own.range);
  EXPECT_FALSE(sibling.range);
  // 114 of 132 SMs at 1755 of 1980 MHz.
  EXPECT_LT(relative_error(sibling.constants.active_w, own.constants.active_w * 114 * 1755 / (132 * 1980.0)),
            kRounding);
  EXPECT_EQ(recorded_operands(sibling.unwritten, {.m = 16, .n = 65536, .k = 65536}), Operands::random);

  EXPECT_EQ(load_power_calibration(load_gpu("l4"), DTypeClass::tensor_core).source, PowerSource::defaults);
  EXPECT_EQ(load_power_calibration(load_gpu("h200"), DTypeClass::cuda_core).source, PowerSource::defaults);
}

TEST(PowerCalibration, KnowsWhichRecordedWeightsWereNeverWritten) {
  const PowerCalibration own = load_power_calibration(load_gpu("h200"), DTypeClass::tensor_core);
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 8, .n = 1024, .k = 65536}), Operands::partly_zero_weights);
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 8, .n = 51200, .k = 65536}), Operands::zero_weights);
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 8, .n = 1024, .k = 65535}), Operands::random);
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 1, .n = 1024, .k = 65536}), Operands::random) << "read alike";
  // 65536 x 51200 in bf16 is 6.7 GB; 51200 x 51200 is 5.2 GB.
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 8, .n = 65536, .k = 51200}), Operands::zero_weights);
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 8, .n = 51200, .k = 51200}), Operands::random);
  EXPECT_EQ(recorded_operands(own.unwritten, transposed({.m = 8, .n = 65536, .k = 51200})), Operands::zero_weights);
}

TEST(PowerCalibration, EveryGpuHasConstantsOfBothClasses) {
  for (const std::string& name : gpu_names()) {
    const GpuSpec spec = load_gpu(name);
    for (const DTypeClass dtype_class : {DTypeClass::cuda_core, DTypeClass::tensor_core}) {
      const PowerConstants constants = load_power_calibration(spec, dtype_class).constants;
      EXPECT_GT(constants.op_j, 0) << name;
      EXPECT_GT(constants.dram_byte_j, 0) << name;
      EXPECT_LT(constants.active_w + spec.idle_w(spec.boost_hz), spec.tdp_w) << name;
    }
  }
}

/// An L4 with 72 W reaches 8.7 TFLOP/s of its 30.3 in cuBLAS' fp32 GEMM (median of the measured linear layers).
TEST(PowerLimit, ExplainsWhyAnL4ReachesAThirdOfItsFp32Peak) {
  const GpuSpec l4 = load_gpu("l4");
  const GemmPrediction result = settled(l4, {.m = 4096, .n = 4096, .k = 4096, .dtype = DType::fp32});
  EXPECT_EQ(result.bound, Bound::power);
  EXPECT_GT(result.ops_per_s, 6e12);
  EXPECT_LT(result.ops_per_s, 20e12);
}

}  // namespace
}  // namespace hindsight::gpu

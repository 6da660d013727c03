/// Is the power of a board what its terms add up to, and does a prediction settle where the limit says?
#include "hindsight/gpu/power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

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

/// A long vector's kernel: nothing of 100 W active, 0.4 of 80 W of L2 bytes.
TEST(BoardPower, OfALongVectorTakesNoBusySms) {
  const BoardPower board(load_gpu("h200"), kRoundConstants, DType::bf16);
  PowerWork vector = kHeavyWork;
  vector.operands = Operands::long_vector;
  EXPECT_LT(relative_error(board.full_clock_w(vector, 1.0), 1070 - 100 - 48), kRounding);
  const PowerTerms terms = board.terms(vector, 1.0, board.full_clock_w(vector, 1.0));
  EXPECT_EQ(terms.active_w, 0);
  EXPECT_LT(relative_error(terms.l2_w, 32), kRounding);
  EXPECT_EQ(board.reading_w(vector, 1.0), board.settled_cap_w()) << "real data follow no allocation";
}

double settled_watt(const std::string& gpu, const Gemm& gemm, bool recorded = true) {
  const GpuSpec spec = load_gpu(gpu);
  Calibration calibration = load_calibration(spec, gemm.dtype, {}, Residuals::none);
  if (!recorded) calibration.unwritten = {};
  return predict(spec, calibration, gemm, RunMode::sustained).average_power_w;
}

/// Products of one row and a long k read half of two rows' power where they were recorded, and nowhere else.
TEST(BoardPower, OfALongVectorCountsWhereItWasRecorded) {
  const auto vector = [](std::int64_t k) { return Gemm{.m = 1, .n = 16384, .k = k}; };
  EXPECT_LT(settled_watt("h200", vector(10240)), 0.6 * settled_watt("h200", vector(10239)));
  EXPECT_LT(settled_watt("h200", transposed(vector(16384))), 0.6 * settled_watt("h200", vector(8192)));
  EXPECT_GT(settled_watt("h200", vector(16384), false), 0.95 * settled_watt("h200", vector(8192)));
  Gemm fp16 = vector(16384);
  fp16.dtype = DType::fp16;
  EXPECT_GT(settled_watt("h200", fp16), 0.95 * settled_watt("h200", vector(8192)));
  for (const char* gpu : {"h100-sxm5", "gh200", "a100-sxm-80gb", "l40s"}) {
    EXPECT_LT(relative_error(settled_watt(gpu, vector(10239)), settled_watt(gpu, vector(10240))), 0.05) << gpu;
    EXPECT_GT(settled_watt(gpu, vector(16384)), 0.9 * settled_watt(gpu, vector(8192))) << gpu;
  }
}

/// Nothing happens where k passes 8,192, from which on vectors once drew half: 16384 x 8192 was measured at 592 W.
TEST(BoardPower, OfAVectorDoesNotJumpWithItsLength) {
  for (const char* gpu : {"h200", "h100-sxm5", "a100-sxm-80gb", "l4"}) {
    for (const DType dtype : {DType::bf16, DType::int8}) {
      const auto vector = [&](std::int64_t k) { return Gemm{.m = 1, .n = 4096, .k = k, .dtype = dtype}; };
      EXPECT_LT(relative_error(settled_watt(gpu, vector(8191)), settled_watt(gpu, vector(8192))), 0.05) << gpu;
    }
  }
  EXPECT_NEAR(settled_watt("h200", {.m = 1, .n = 16384, .k = 8192}), 592, 30);
  EXPECT_NEAR(settled_watt("h200", {.m = 1, .n = 8192, .k = 8192}), 593, 30);
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

/// A run whose clock has fallen less than settled draws P(f): 1520 W at the highest clock, 1400 W above idle.
TEST(BoardPower, OfABurstIsThatOfItsClock) {
  const BoardPower board(load_gpu("h200"), kRoundConstants, DType::bf16);
  const double settled = board.slowdown(1520);
  EXPECT_EQ(board.average_w(1520, settled), board.settled_cap_w());
  EXPECT_EQ(board.average_w(600, 1), 600);
  EXPECT_LT(relative_error(board.average_w(1520, 1), 1520), kRounding);
  // At 1 / 1.25 of the clock: 1400 W x 1.22^(-1 / 0.55) = 1400 x 0.696609.
  EXPECT_LT(relative_error(board.average_w(1520, 1.25), 120 + 1400 * std::pow(1.22, -1 / 0.55)), kRounding);
  EXPECT_GT(board.average_w(1520, 1.25), board.settled_cap_w());
}

/// However low the limit, no board runs below 210 MHz: it draws what it draws there.
TEST(BoardPower, KeepsToTheLowestClock) {
  GpuSpec spec = load_gpu("h100-sxm5");
  spec.tdp_w = 125;
  const GemmPrediction lowest =
      predict(spec, load_calibration(spec, DType::bf16), {.m = 8192, .n = 8192, .k = 8192}, RunMode::sustained);
  EXPECT_LT(relative_error(lowest.sm_clock_hz, 210e6), kRounding);
  EXPECT_EQ(lowest.bound, Bound::power);
  EXPECT_GT(lowest.average_power_w, spec.tdp_w);
  EXPECT_LT(lowest.average_power_w, 250);
}

/// A limit that is below what the lowest clock draws, or below idle power, comes with the lowest that is met.
TEST(BoardPower, KnowsTheLowestLimitThatIsMet) {
  GpuSpec spec = load_gpu("h100-sxm5");
  const Calibration calibration = load_calibration(spec, DType::bf16, {}, Residuals::none);
  for (const std::int64_t size : {64, 8192}) {
    for (const RunMode mode : {RunMode::burst, RunMode::sustained}) {
      const Gemm gemm{.m = size, .n = size, .k = size};
      spec.tdp_w = 60;
      const GemmPrediction unmet = predict(spec, calibration, gemm, mode);
      EXPECT_GT(unmet.least_limit_w, spec.idle_w(spec.boost_hz)) << size;
      EXPECT_GT(unmet.average_power_w, spec.idle_w(spec.boost_hz)) << size << ": nothing draws less than idle power";
      EXPECT_EQ(unmet.bound, Bound::power);
      spec.tdp_w = unmet.least_limit_w;
      const GemmPrediction met = predict(spec, calibration, gemm, mode);
      EXPECT_EQ(met.least_limit_w, 0) << size;
      EXPECT_LE(met.latency_s, unmet.latency_s) << size;
      if (mode == RunMode::sustained) {
        EXPECT_LE(met.average_power_w, spec.tdp_w) << size;
      }
      spec.tdp_w -= 1;
      EXPECT_EQ(predict(spec, calibration, gemm, mode).least_limit_w, unmet.least_limit_w) << size;
    }
  }
  EXPECT_EQ(predict(load_gpu("h100-sxm5"), calibration, {.m = 8192, .n = 8192, .k = 8192}).least_limit_w, 0);
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

/// The same of bursts, whose power may exceed the limit, but not that of a larger one.
TEST(PowerLimit, ALargerLimitIsNeverSlowerInABurstAndNeverDrawsLess) {
  for (const Gemm& gemm : {Gemm{.m = 512, .n = 4096, .k = 4096}, Gemm{.m = 8192, .n = 8192, .k = 8192}}) {
    GpuSpec spec = load_gpu("h100-sxm5");
    const Calibration calibration = load_calibration(spec, DType::bf16);
    double before_w = 0, before_s = 1e9;
    for (spec.tdp_w = 150; spec.tdp_w < 2000; spec.tdp_w *= 1.02) {
      const GemmPrediction burst = predict(spec, calibration, gemm, RunMode::burst);
      const GemmPrediction settled = predict(spec, calibration, gemm, RunMode::sustained);
      ASSERT_LE(burst.latency_s, before_s) << spec.tdp_w << " W";
      ASSERT_GE(burst.average_power_w, before_w) << spec.tdp_w << " W";
      if (burst.bound == Bound::power) {
        ASSERT_GE(burst.average_power_w, settled.average_power_w) << spec.tdp_w << " W: its clock is higher";
      }
      before_s = burst.latency_s;
      before_w = burst.average_power_w;
    }
  }
}

/// A board with another power limit has the chip's constants, and none of what was measured on the calibrated one.
TEST(PowerLimit, ABoardOfAnotherLimitIsNotTheMeasuredOne) {
  const Gemm gemm{.m = 4096, .n = 4096, .k = 4096};
  for (const auto& [name, mode] : {std::pair("h100-sxm5", RunMode::burst), std::pair("h200", RunMode::sustained)}) {
    GpuSpec spec = load_gpu(name);
    const Calibration own = load_calibration(spec, DType::bf16, {}, Residuals::none);
    const bool calibrated = own.source == CalibrationSource::own;
    EXPECT_EQ(calibrated, std::string(name) == "h100-sxm5");
    const GemmPrediction shipped = predict(spec, own, gemm, mode);
    EXPECT_EQ(shipped.calibrated, calibrated);
    EXPECT_EQ(shipped.power_in_validated_range, !calibrated);
    spec.tdp_w = 300;
    const Calibration other = load_calibration(spec, DType::bf16, {}, Residuals::none);
    const GemmPrediction limited = predict(spec, other, gemm, mode);
    EXPECT_EQ(other.source, CalibrationSource::transfer) << name;
    EXPECT_FALSE(limited.calibrated) << name;
    EXPECT_FALSE(limited.in_validated_range) << name;
    EXPECT_FALSE(limited.power_in_validated_range) << name;
    EXPECT_EQ(other.constants.op_j, own.constants.op_j) << name << ": the chip is the same";
    EXPECT_EQ(other.constants.dram_efficiency, own.constants.dram_efficiency) << name;
    EXPECT_EQ(other.power.active_w, own.power.active_w) << name;
  }
}

GpuSpec locked_at(GpuSpec spec, double clock_hz) {
  spec.unlocked_hz = spec.boost_hz;
  spec.boost_hz = clock_hz;
  return spec;
}

constexpr Gemm kOfAllKinds[] = {{.m = 8192, .n = 8192, .k = 8192},
                                {.m = 16, .n = 8192, .k = 8192},
                                {.m = 1, .n = 4096, .k = 4096},
                                {.m = 256, .n = 14336, .k = 4096},
                                {.m = 64, .n = 64, .k = 64}};

/// A lower clock is never faster and never draws more, whatever binds, where no limit does.
TEST(LockedClock, ALowerOneIsNeverFasterAndNeverDrawsMore) {
  for (const char* name : {"h100-sxm5", "l4", "a100-sxm-80gb", "t4"}) {
    GpuSpec free = load_gpu(name);
    free.tdp_w = 5000;
    for (const DType dtype : {DType::fp16, DType::fp32}) {
      for (const RunMode mode : {RunMode::burst, RunMode::sustained}) {
        for (Gemm gemm : kOfAllKinds) {
          gemm.dtype = dtype;
          const auto of = [&](const GpuSpec& spec) {
            return predict(spec, load_calibration(spec, dtype, {}, Residuals::none), gemm, mode);
          };
          GemmPrediction before = of(free);
          for (double clock_hz = 0.9 * free.boost_hz; clock_hz > 210e6; clock_hz *= 0.9) {
            const GemmPrediction now = of(locked_at(free, clock_hz));
            ASSERT_GE(now.latency_s, before.latency_s * (1 - kRounding)) << name << " at " << clock_hz;
            ASSERT_LE(now.average_power_w, before.average_power_w * (1 + kRounding)) << name << " at " << clock_hz;
            ASSERT_EQ(now.sm_clock_hz, clock_hz);
            ASSERT_EQ(now.energy_j, now.average_power_w * now.latency_s);
            ASSERT_NE(now.bound, Bound::power);
            ASSERT_FALSE(now.in_validated_range);
            before = now;
          }
        }
      }
    }
  }
}

/// A limit above what the locked board draws is as good as none.
TEST(LockedClock, ALimitThatDoesNotBindChangesNothing) {
  for (const char* name : {"h100-sxm5", "l4", "a100-sxm-80gb", "t4"}) {
    const GpuSpec own = load_gpu(name);
    GpuSpec locked = locked_at(own, 0.5 * own.boost_hz);
    for (const DType dtype : {DType::fp16, DType::fp32}) {
      const Calibration calibration = load_calibration(own, dtype, {}, Residuals::none);
      for (const RunMode mode : {RunMode::burst, RunMode::sustained}) {
        for (Gemm gemm : kOfAllKinds) {
          gemm.dtype = dtype;
          locked.tdp_w = 5000;
          const GemmPrediction free = predict(locked, calibration, gemm, mode);
          for (const double limit_w : {1.02 * free.average_power_w, own.tdp_w}) {
            if (limit_w < 1.02 * free.average_power_w) continue;  // the board's own binds here
            locked.tdp_w = limit_w;
            const GemmPrediction now = predict(locked, calibration, gemm, mode);
            ASSERT_EQ(now.latency_s, free.latency_s) << name << " at " << limit_w << " W";
            ASSERT_EQ(now.energy_j, free.energy_j) << name << " at " << limit_w << " W";
            ASSERT_EQ(now.sm_clock_hz, locked.boost_hz);
          }
        }
      }
    }
  }
}

TEST(LockedClock, ALowerLimitIsNeverFasterAndNeverDrawsMore) {
  for (const char* name : {"h100-sxm5", "t4"}) {
    const GpuSpec own = load_gpu(name);
    const Calibration calibration = load_calibration(own, DType::fp16, {}, Residuals::none);
    for (const double share : {0.9, 0.5}) {
      for (const RunMode mode : {RunMode::burst, RunMode::sustained}) {
        for (Gemm gemm : kOfAllKinds) {
          gemm.dtype = DType::fp16;
          GpuSpec locked = locked_at(own, share * own.boost_hz);
          locked.tdp_w = 5000;
          GemmPrediction before = predict(locked, calibration, gemm, mode);
          for (locked.tdp_w = 1000; locked.tdp_w > 5; locked.tdp_w *= 0.97) {
            const GemmPrediction now = predict(locked, calibration, gemm, mode);
            ASSERT_GE(now.latency_s, before.latency_s * (1 - kRounding)) << name << " at " << locked.tdp_w << " W";
            ASSERT_LE(now.average_power_w, before.average_power_w * (1 + kRounding)) << name << " " << locked.tdp_w;
            ASSERT_EQ(now.bound == Bound::power, now.terms.slowdown > 1);
            ASSERT_GE(now.sm_clock_hz, 210e6 * (1 - kRounding));
            ASSERT_GE(now.least_limit_w, before.least_limit_w) << "what the lowest clock draws";
            before = now;
          }
          EXPECT_GT(before.least_limit_w, 5) << "below idle power";
        }
      }
    }
  }
}

/// What the limit leaves of arithmetic is the same clock from a lock above it, but for idle power, which is less there.
TEST(LockedClock, ALimitBelowItIsThatOfTheBoardWithoutALock) {
  const Gemm large{.m = 8192, .n = 8192, .k = 8192};
  const GpuSpec h100 = load_gpu("h100-sxm5");
  const Calibration calibration = load_calibration(h100, DType::bf16, {}, Residuals::none);
  const GemmPrediction free = predict(h100, calibration, large, RunMode::sustained);
  for (const double clock_hz : {1975e6, 1900e6, 1700e6}) {
    const GemmPrediction now = predict(locked_at(h100, clock_hz), calibration, large, RunMode::sustained);
    EXPECT_EQ(now.bound, Bound::power) << clock_hz;
    EXPECT_LT(relative_error(now.average_power_w, free.average_power_w), kRounding) << clock_hz;
    EXPECT_LT(now.latency_s, free.latency_s * (1 + kRounding)) << clock_hz;
    EXPECT_LT(relative_error(now.latency_s, free.latency_s), 0.03) << clock_hz;
  }
}

/// Arithmetic follows the clock, DRAM does not; half the clock costs an operation less energy, and a lock below the
/// clock that the limit leaves needs no limit.
TEST(LockedClock, SlowsArithmeticAndNotMemory) {
  const GpuSpec h100 = load_gpu("h100-sxm5"), locked = locked_at(h100, 990e6);
  const Calibration calibration = load_calibration(h100, DType::bf16, {}, Residuals::none);
  const Gemm large{.m = 8192, .n = 8192, .k = 8192}, decoded{.m = 16, .n = 16384, .k = 16384};
  const GemmPrediction slow = predict(locked, calibration, large, RunMode::sustained);
  EXPECT_NE(slow.bound, Bound::power);
  EXPECT_EQ(slow.sm_clock_hz, 990e6);
  EXPECT_GT(ops(large) / slow.latency_s, 0.8 * locked.ops_per_s(DType::bf16, 990e6));
  EXPECT_LT(slow.average_power_w, 500);
  GpuSpec unlimited = h100;
  unlimited.tdp_w = 5000;
  EXPECT_LT(slow.energy_j, 0.85 * predict(unlimited, calibration, large, RunMode::sustained).energy_j);
  const GemmPrediction fast = predict(h100, calibration, decoded, RunMode::sustained);
  const GemmPrediction held = predict(locked, calibration, decoded, RunMode::sustained);
  EXPECT_LT(held.latency_s, 1.5 * fast.latency_s);
  EXPECT_LT(held.average_power_w, fast.average_power_w);
}

/// The power terms of a locked board add up to its power.
TEST(LockedClock, TermsAddUp) {
  const GpuSpec locked = locked_at(load_gpu("h100-sxm5"), 1400e6);
  const Predictor predictor(locked, load_calibration(locked, DType::bf16), DType::bf16);
  for (const std::int64_t size : {64, 512, 8192}) {
    const GemmPrediction p = predictor.predict({.m = size, .n = size, .k = size}, RunMode::sustained);
    const PowerTerms t = predictor.power_terms(p);
    EXPECT_LT(relative_error(t.idle_w + t.active_w + t.operations_w + t.l2_w + t.dram_w, p.average_power_w), kRounding);
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
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 1, .n = 1024, .k = 65536}), Operands::long_vector) << "read alike";
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 1, .n = 1024, .k = 10240}), Operands::long_vector);
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 1, .n = 1024, .k = 10239}), Operands::random);
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 1, .n = 1024, .k = 10240, .batch = 2}), Operands::random);
  EXPECT_EQ(recorded_operands({}, {.m = 1, .n = 1024, .k = 65536}), Operands::random);
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

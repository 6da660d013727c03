// Is the power of a board what its terms add up to, and does the clock settle where the cap says?
#include "hindsight/gpu/power.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "edited_yaml.h"
#include "hindsight/gpu/power_calibration.h"
#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;

constexpr PowerConstants kRoundConstants{
    .active_w = 100, .op_j = 1e-12, .l2_byte_j = 20e-12, .dram_byte_j = 70e-12, .zero_weight_share = 0.4};
/// 700 TFLOP in one second at full rate, with 4 TB through L2 and 1 TB of DRAM traffic.
constexpr PowerWork kHeavyWork{.ops = 700e12, .l2_bytes = 4e12, .dram_bytes = 1e12};

/// A kernel bound by arithmetic: one second at the highest clock, part of it independent of the clock.
auto latency_at(double highest_clock_hz) {
  return [=](double clock_hz) { return 0.1 + 0.9 * highest_clock_hz / clock_hz; };
}

TEST(board_power, adds_up_at_the_highest_clock) {
  const GpuSpec h200 = load_gpu("h200");
  const BoardPower board(h200, kRoundConstants, DType::bf16);
  // 120 W idle + 100 W active + 700 W operations + 80 W L2 + 70 W DRAM.
  EXPECT_LT(relative_error(board.power_w(kHeavyWork, 1.0, h200.boost_hz), 1070), kRounding);
  // The same in half the time: energy but for the standing power is the same.
  EXPECT_LT(relative_error(board.energy_j(kHeavyWork, 0.5, h200.boost_hz), 110 + 850), kRounding);
  // Half of the SMs busy: 50 W less.
  PowerWork half = kHeavyWork;
  half.busy_sm_frac = 0.5;
  EXPECT_LT(relative_error(board.power_w(half, 1.0, h200.boost_hz), 1020), kRounding);
}

TEST(board_power, zero_weights_shrink_what_toggles_and_nothing_else) {
  const GpuSpec h200 = load_gpu("h200");
  const BoardPower board(h200, kRoundConstants, DType::bf16);
  PowerWork zeros = kHeavyWork;
  zeros.operands = Operands::zero_weights;
  EXPECT_LT(relative_error(board.power_w(zeros, 1.0, h200.boost_hz), 220 + 0.4 * 850), kRounding);
}

TEST(board_power, narrower_formats_cost_less_per_operation) {
  EXPECT_LT(operation_j(kRoundConstants, DType::fp8), operation_j(kRoundConstants, DType::bf16));
  EXPECT_LT(operation_j(kRoundConstants, DType::bf16), operation_j(kRoundConstants, DType::tf32));
  EXPECT_EQ(operation_j(kRoundConstants, DType::bf16), operation_j(kRoundConstants, DType::fp16));
}

TEST(board_power, voltage_follows_the_clock_down_to_its_floor) {
  EXPECT_DOUBLE_EQ(relative_voltage(1.0), 1.0);
  EXPECT_LT(relative_voltage(0.8), relative_voltage(0.9));
  EXPECT_DOUBLE_EQ(relative_voltage(0.3), relative_voltage(0.1));
  EXPECT_GT(relative_voltage(0.1), 0.0);
}

TEST(settle, a_kernel_below_the_cap_runs_at_the_highest_clock) {
  const GpuSpec h200 = load_gpu("h200");
  const BoardPower board(h200, kRoundConstants, DType::bf16, 2000);
  const SettledRun run = settle(board, kHeavyWork, latency_at(h200.boost_hz));
  EXPECT_FALSE(run.capped);
  EXPECT_EQ(run.clock_hz, h200.boost_hz);
  EXPECT_LT(relative_error(run.energy_j, run.power_w * run.latency_s), kRounding);
}

TEST(settle, a_hungry_kernel_meets_the_cap_from_below) {
  const GpuSpec h200 = load_gpu("h200");
  const BoardPower board(h200, kRoundConstants, DType::bf16);
  const SettledRun run = settle(board, kHeavyWork, latency_at(h200.boost_hz));
  EXPECT_TRUE(run.capped);
  EXPECT_LE(run.power_w, board.settled_cap_w());
  // One step of the clock grid, 2^-9 of the range, changes the power by less than four times its share of the clock.
  EXPECT_GT(run.power_w, board.settled_cap_w() * (1 - 4.0 / 512 * h200.boost_hz / run.clock_hz));
  EXPECT_LT(run.clock_hz, h200.boost_hz);
  EXPECT_LT(relative_error(run.energy_j, run.power_w * run.latency_s), kRounding);
}

TEST(settle, a_larger_cap_is_never_slower) {
  const GpuSpec h200 = load_gpu("h200");
  double before_s = 1e9, before_hz = 0;
  for (double cap_w = 80; cap_w < 1300; cap_w += 0.7) {
    const BoardPower board(h200, kRoundConstants, DType::bf16, cap_w);
    const SettledRun run = settle(board, kHeavyWork, latency_at(h200.boost_hz));
    ASSERT_LE(run.latency_s, before_s) << "at a cap of " << cap_w << " W";
    ASSERT_GE(run.clock_hz, before_hz) << "at a cap of " << cap_w << " W";
    ASSERT_LE(run.power_w, board.settled_cap_w() * (1 + kRounding));
    before_s = run.latency_s;
    before_hz = run.clock_hz;
  }
  EXPECT_EQ(before_hz, h200.boost_hz);
}

TEST(settle, a_board_that_cannot_clock_low_enough_pauses) {
  const GpuSpec h200 = load_gpu("h200");
  const BoardPower board(h200, kRoundConstants, DType::bf16, 80);
  const SettledRun run = settle(board, kHeavyWork, latency_at(h200.boost_hz));
  EXPECT_EQ(run.clock_hz, board.lowest_clock_hz());
  EXPECT_GT(run.latency_s, latency_at(h200.boost_hz)(board.lowest_clock_hz()));
  EXPECT_LT(relative_error(run.power_w, board.settled_cap_w()), kRounding);
}

TEST(power_calibration, own_rows_then_the_architecture_then_defaults) {
  const PowerCalibration own = load_power_calibration(load_gpu("h200"), DTypeClass::tensor_core);
  EXPECT_EQ(own.source, PowerSource::own);
  EXPECT_GT(own.row_count, 1000);

  const GpuSpec pcie = load_gpu("h100-pcie");
  const PowerCalibration sibling = load_power_calibration(pcie, DTypeClass::tensor_core);
  EXPECT_EQ(sibling.source, PowerSource::transfer);
  EXPECT_EQ(sibling.gpu, "h200");
  EXPECT_EQ(sibling.constants.op_j, own.constants.op_j);
  // 114 of 132 SMs at 1755 of 1980 MHz.
  EXPECT_LT(relative_error(sibling.constants.active_w, own.constants.active_w * 114 * 1755 / (132 * 1980.0)),
            kRounding);
  EXPECT_EQ(recorded_operands(sibling.unwritten, {.m = 16, .n = 65536, .k = 65536}), Operands::random);

  EXPECT_EQ(load_power_calibration(load_gpu("l4"), DTypeClass::tensor_core).source, PowerSource::defaults);
  EXPECT_EQ(load_power_calibration(load_gpu("h200"), DTypeClass::cuda_core).source, PowerSource::defaults);
}

TEST(power_calibration, knows_which_recorded_weights_were_never_written) {
  const PowerCalibration own = load_power_calibration(load_gpu("h200"), DTypeClass::tensor_core);
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 8, .n = 1024, .k = 65536}), Operands::zero_weights);
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 8, .n = 1024, .k = 65535}), Operands::random);
  // 65536 x 51200 in bf16 is 6.7 GB; 51200 x 51200 is 5.2 GB.
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 8, .n = 65536, .k = 51200}), Operands::zero_weights);
  EXPECT_EQ(recorded_operands(own.unwritten, {.m = 8, .n = 51200, .k = 51200}), Operands::random);
  EXPECT_EQ(recorded_operands(own.unwritten, transposed({.m = 8, .n = 65536, .k = 51200})), Operands::zero_weights);
}

TEST(power_calibration, every_gpu_has_constants_of_both_classes) {
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

// An L4 with 72 W reaches 8.7 TFLOP/s of its 30.3 in cuBLAS' fp32 GEMM (median of the measured linear layers).
TEST(power_defaults, explain_why_an_l4_reaches_a_third_of_its_fp32_peak) {
  const GpuSpec l4 = load_gpu("l4");
  const PowerConstants constants = load_power_calibration(l4, DTypeClass::cuda_core).constants;
  const BoardPower board(l4, constants, DType::fp32);
  const double peak_ops_per_s = l4.ops_per_s(DType::fp32, l4.boost_hz);
  // A 128 x 128 tile moves a byte through L2 for every 32 operations, and little through DRAM.
  const PowerWork work{.ops = peak_ops_per_s, .l2_bytes = peak_ops_per_s / 32, .dram_bytes = peak_ops_per_s / 500};
  const SettledRun run = settle(board, work, [&](double clock_hz) { return l4.boost_hz / clock_hz; });
  const double reached = peak_ops_per_s / run.latency_s;
  EXPECT_TRUE(run.capped);
  EXPECT_GT(reached, 6e12);
  EXPECT_LT(reached, 20e12);
}

}  // namespace
}  // namespace hindsight::gpu

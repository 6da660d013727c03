#include "hindsight/gpu/power.h"

namespace hindsight::gpu {
namespace {

/// Voltage falls with the clock down to the least at which the cells work; both as shares of the highest clock's.
/// [chosen] in proportion near the top, so that P ~ f^3 there: on an H200 the random rows at the cap run 8 % slower
/// than rows with zero weights below it, at an uncapped power of about 1.35 times the cap; f^2.2 would give 12 %.
constexpr double kVoltageSlope = 1.0;
constexpr double kLowestVoltage = 0.75;  // [chosen] about 0.8 V of 1.07 V; explains fp32 rates of capped L40 and L4

/// Share of the TDP at which the averaged power settles when the limit binds: the controller stays below it.
/// [data: aiconfigurator, h200_sxm power rows] median 691 W of 700 W over the rows at the limit.
constexpr double kSettledShareOfLimit = 0.987;

/// Lowest clock of a throttled board over its highest [chosen] a tenth; below it the board pauses between launches.
constexpr double kLowestClockShare = 0.1;

/// Energy per operation over that of bf16. An 8-bit product moves half the operand bits and multiplies less than half
/// the mantissa area; tf32 moves twice the bits [data: aiconfigurator] 0.52 / 0.97 of whole-board energy for fp8.
constexpr double kFp8Factor = 0.5;
constexpr double kInt8Factor = 0.5;  // [chosen] as fp8: the same operand bits
constexpr double kTf32Factor = 2.0;

}  // namespace

double relative_voltage(double clock_over_highest) {
  return std::max(kLowestVoltage, 1.0 - kVoltageSlope * (1.0 - clock_over_highest));
}

PowerConstants default_power_constants(const GpuSpec& spec, DTypeClass dtype_class) {
  constexpr double kPicojoule = 1e-12;
  double fp32_pj = 0, bf16_pj = 0;
  switch (spec.architecture) {
    case Architecture::hopper:
      fp32_pj = 5.8;   // [data: gpu-benches] fp32 streams on an H200 at full clock
      bf16_pj = 0.75;  // [measured: power fit, H200, 2026-11-21, data/gpus/calibration/power/h200.yaml]
      break;
    case Architecture::ada:
      // [data: gpu-benches] an L40 at its cap: 3.0 to 4.1 at the lowest voltage, that is over 0.75^2
      fp32_pj = 6.0;
      // [data: aiconfigurator] an L40S at its 350 W reaches 200 to 264 TFLOP/s: 1.1 to 1.5 at the lowest voltage, less
      // what the L2 takes
      bf16_pj = 1.8;
      break;
    case Architecture::ampere:
      fp32_pj = 5.2;  // [data: gpu-benches] fp32 streams on eight A100
      bf16_pj = 0.9;  // [data: aiconfigurator] 400 W at 250 TFLOP/s, less idle power, traffic and busy SMs
      break;
    case Architecture::volta:
      fp32_pj = 8.0;  // [chosen] 12 nm against Ampere's 7 nm
      bf16_pj = 2.0;  // [chosen] likewise
      break;
    case Architecture::turing:
      // [data: nvidia-forum-t4] a T4 at its 70 W keeps 24 of 65 TFLOP/s in fp16: twice Volta's energies explain it
      fp32_pj = 16.0;
      bf16_pj = 4.0;
      break;
  }
  // Per byte [measured: power fit, H200, 2026-11-21, data/gpus/calibration/power/h200.yaml]; their sum stays below the
  // 102 to 122 pJ of fp32 streams, which also pass L1 and registers [data: gpu-benches].
  constexpr double kL2BytePj = 20.0, kDramBytePj = 70.0;
  constexpr double kActiveShareOfTdp = 1.0 / 7.0;  // [measured: as above] 100 W of the H200's 700 W
  constexpr double kZeroWeightShare = 0.4;         // [measured: as above]
  return {.active_w = kActiveShareOfTdp * spec.tdp_w,
          .op_j = kPicojoule * (dtype_class == DTypeClass::cuda_core ? fp32_pj : bf16_pj),
          .l2_byte_j = kPicojoule * kL2BytePj,
          .dram_byte_j = kPicojoule * kDramBytePj,
          .zero_weight_share = kZeroWeightShare};
}

double operation_j(const PowerConstants& constants, DType dtype) {
  switch (dtype) {
    case DType::tf32:
      return kTf32Factor * constants.op_j;
    case DType::fp8:
      return kFp8Factor * constants.op_j;
    case DType::int8:
      return kInt8Factor * constants.op_j;
    case DType::fp32:
    case DType::fp16:
    case DType::bf16:
      return constants.op_j;
  }
  return constants.op_j;
}

BoardPower::BoardPower(const GpuSpec& spec, const PowerConstants& constants, DType dtype, double cap_w)
    : spec_(&spec),
      active_w_(constants.active_w),
      op_j_(operation_j(constants, dtype)),
      l2_byte_j_(constants.l2_byte_j),
      dram_byte_j_(constants.dram_byte_j),
      zero_weight_share_(constants.zero_weight_share),
      settled_cap_w_(kSettledShareOfLimit * (cap_w > 0 ? cap_w : spec.tdp_w)),
      highest_clock_hz_(spec.boost_hz),
      lowest_clock_hz_(kLowestClockShare * spec.boost_hz) {}

double BoardPower::energy_j(const PowerWork& work, double latency_s, double clock_hz) const {
  const double clock_share = clock_hz / highest_clock_hz_;
  const double voltage = relative_voltage(clock_share);
  const double switching = voltage * voltage;
  const double standing_w = spec_->idle_w(clock_hz) + active_w_ * work.busy_sm_frac * clock_share * switching;
  const double toggling = work.operands == Operands::zero_weights ? zero_weight_share_ : 1.0;
  return standing_w * latency_s +
         toggling * ((op_j_ * work.ops + l2_byte_j_ * work.l2_bytes) * switching + dram_byte_j_ * work.dram_bytes);
}

}  // namespace hindsight::gpu

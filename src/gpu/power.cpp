/// Equations of board power, and the clock that a power limit leaves.
#include "hindsight/gpu/power.h"

#include <algorithm>
#include <cmath>

#include "hindsight/core/units.h"

namespace hindsight::gpu {
namespace {

/// Share of the TDP at which the averaged power settles when the limit binds: the controller stays below it.
/// [data: aiconfigurator, h200_sxm power rows] median 691 W of 700 W over the rows at the limit.
constexpr double kSettledShareOfLimit = 0.987;

/// Energy per operation over that of bf16. An 8-bit product moves half the operand bits and multiplies less than half
/// the mantissa area; tf32 moves twice the bits [data: aiconfigurator] 0.52 / 0.97 of whole-board energy for fp8.
constexpr double k8BitFactor = 0.5;
/// Over fp8's: settled int8 products of an H100 at its limit, with which an H200's are met within 5.2 % (some 17 % with
/// 1) [measured: data/measurements, 2026-11-27, docs/gpu-power.md].
constexpr double kInt8Factor = 0.5;
constexpr double kFp4Factor = 0.25;  // [chosen] half of fp8: half the operand bits
constexpr double kTf32Factor = 2.0;

/// A long vector's kernel reads registers instead of tiles and keeps few warps: it takes nothing of `active_w` and so
/// much of an L2 byte [data: aiconfigurator, h200_sxm power rows, the fifteen such of 0.1 ms and above,
/// docs/gpu-power.md].
constexpr double kLongVectorL2Share = 0.4;

/// What the switch below finds.
struct Energies {
  double active_w_per_sm_ghz = 0;
  double fp32_pj = 0, bf16_pj = 0;
};

/// `kernels`: Ada's for GB20x.
Energies blackwell_energies(Architecture kernels) {
  if (kernels == Architecture::ada) {
    return {.active_w_per_sm_ghz = 0.17,  // [chosen] as below: 78 W of an RTX PRO 6000
            .fp32_pj = 6.0,               // [chosen] as Ada: the same node
            // [data: torch-perf-data] an RTX PRO 6000 at its 600 W reaches 387 to 417 TFLOP/s, less idle power,
            // traffic and busy SMs
            .bf16_pj = 0.36};
  }
  return {.active_w_per_sm_ghz = 0.6,  // [chosen] as Hopper
          .fp32_pj = 5.2,              // [chosen] Hopper's, less a tenth for the node
          // [data: ml-engineering] a B200 at its 1000 W reaches 1745 TFLOP/s, less idle power, traffic and busy SMs
          .bf16_pj = 0.33};
}

/// Busy SMs draw in proportion to their number and the clock. [chosen] Where no power was measured: a seventh of the
/// limit of the architecture's largest board.
Energies energies_of(const GpuSpec& spec) {
  double active_w_per_sm_ghz = 0;
  double fp32_pj = 0, bf16_pj = 0;
  switch (spec.architecture) {
    case Architecture::blackwell:
      return blackwell_energies(kernel_architecture(spec));
    case Architecture::cdna3:
      active_w_per_sm_ghz = 0.0;  // [chosen] in the energy per operation
      fp32_pj = 3.0;              // [chosen] the efficiency of the estimate holds at the limit: energies stay below it
      bf16_pj = 0.7;              // [chosen] likewise
      break;
    case Architecture::hopper:
      active_w_per_sm_ghz = 0.6;  // [measured: power fit, H200, 2026-11-21; for 16 bits its file has 0.76]
      // Large products at the limit of an H100 take 7.3 where an A100's take the 8.6 that Ampere's 5.2 stand for;
      // streams of multiply-adds alone 5.8 on an H200 [data: gpu-benches].
      fp32_pj = 4.4;  // [measured: data/measurements, sustained fp32 products, 2026-11-27, docs/gpu-power.md]
      bf16_pj = 0.6;  // [measured: runtimes at the limit, H100, 2026-11-21, docs/gpu-power.md]
      break;
    case Architecture::ada:
      active_w_per_sm_ghz = 0.14;  // [chosen] as above: 50 W of an L40S
      // [data: gpu-benches] an L40 at its limit: 3.0 to 4.1 at the lowest voltage, that is over 0.75^2
      fp32_pj = 6.0;
      // [data: aiconfigurator] an L40S at its 350 W reaches 200 to 264 TFLOP/s: 1.1 to 1.5, less what the L2 takes
      bf16_pj = 0.8;
      break;
    case Architecture::ampere:
      if (kernel_architecture(spec) == Architecture::ada) {
        active_w_per_sm_ghz = 0.29;  // [chosen] as above: 43 W of an A6000
        fp32_pj = 4.9;               // [data: gpu-benches] fp32 streams on an A40
        bf16_pj = 1.2;               // [data: mag-gpu-benchmark] an A5000 at its 230 W reaches 94 TFLOP/s
        break;
      }
      active_w_per_sm_ghz = 0.375;  // [chosen] as above: 57 W of an A100 SXM
      fp32_pj = 5.2;                // [data: gpu-benches] fp32 streams on eight A100
      bf16_pj = 0.7;  // [data: aiconfigurator] 400 W at 250 TFLOP/s, less idle power, traffic and busy SMs
      break;
    case Architecture::volta:
      active_w_per_sm_ghz = 0.35;  // [chosen] as above: 43 W of a V100 SXM2
      fp32_pj = 8.0;               // [chosen] 12 nm against Ampere's 7 nm
      bf16_pj = 1.6;               // [chosen] likewise
      break;
    case Architecture::turing:
      active_w_per_sm_ghz = 0.157;  // [chosen] as above: 10 W of a T4
      // [data: nvidia-forum-t4] a T4 at its 70 W keeps 24 of 65 TFLOP/s in fp16: twice Volta's energies explain it
      fp32_pj = 16.0;
      bf16_pj = 3.2;
      break;
  }
  return {.active_w_per_sm_ghz = active_w_per_sm_ghz, .fp32_pj = fp32_pj, .bf16_pj = bf16_pj};
}

/// Energy per operation at a locked clock over that at the chip's highest: dynamic power over rate.
double locked_energy_share(const GpuSpec& spec) {
  const double slowdown = spec.own_boost_hz() / spec.boost_hz;
  return slowdown * dynamic_share(slowdown);
}

}  // namespace

PowerConstants default_power_constants(const GpuSpec& spec, DTypeClass dtype_class) {
  const Energies energies = energies_of(spec);
  // Per byte [measured: runtimes of an H100 and power of an H200, 2026-11-21, docs/gpu-power.md]; their sum stays below
  // the 102 to 122 pJ of fp32 streams, which also pass L1 and registers [data: gpu-benches].
  constexpr double kL2BytePj = 40.0, kDramBytePj = 30.0;
  // [measured: power fit, H200, 2026-11-27, data/gpus/calibration/power/h200.yaml]
  constexpr double kZeroWeightShare = 0.54, kZeroWeightByteShare = 0.16, kPartlyZeroShare = 0.38;
  constexpr double kLeadSeconds = 0.13, kLeadLaunches = 110;  // [measured: likewise]
  return {.active_w = energies.active_w_per_sm_ghz * spec.sms * spec.own_boost_hz() / units::kGiga,
          .op_j = units::kPico * (dtype_class == DTypeClass::cuda_core     ? energies.fp32_pj
                                  : dtype_class == DTypeClass::tensor_core ? energies.bf16_pj
                                                                           : k8BitFactor * energies.bf16_pj),
          .l2_byte_j = units::kPico * kL2BytePj,
          .dram_byte_j = units::kPico * kDramBytePj,
          .zero_weight_share = kZeroWeightShare,
          .zero_weight_byte_share = kZeroWeightByteShare,
          .partly_zero_share = kPartlyZeroShare,
          .lead_s = kLeadSeconds,
          .lead_launches = kLeadLaunches};
}

double operation_j(const PowerConstants& constants, DType dtype) {
  switch (dtype) {
    case DType::tf32:
      return kTf32Factor * constants.op_j;
    case DType::fp4:
      return kFp4Factor * constants.op_j;
    case DType::int8:
      return kInt8Factor * constants.op_j;
    case DType::fp32:
    case DType::fp16:
    case DType::bf16:
    case DType::fp8:
      return constants.op_j;
  }
  return constants.op_j;
}

BoardPower::BoardPower(const GpuSpec& spec, const PowerConstants& constants, DType dtype, double cap_w)
    : idle_w_(spec.idle_w(spec.boost_hz)),
      active_w_(constants.active_w * dynamic_share(spec.own_boost_hz() / spec.boost_hz)),
      op_j_(operation_j(constants, dtype) * locked_energy_share(spec)),
      l2_byte_j_(constants.l2_byte_j * locked_energy_share(spec)),
      dram_byte_j_(constants.dram_byte_j),
      zero_weights_{.operations = constants.zero_weight_share, .bytes = constants.zero_weight_byte_share},
      partly_zero_weights_{.operations = 1 - constants.partly_zero_share * (1 - constants.zero_weight_share),
                           .bytes = 1 - constants.partly_zero_share * (1 - constants.zero_weight_byte_share)},
      long_vector_{.active = 0, .l2 = kLongVectorL2Share},
      lead_s_(constants.lead_s),
      lead_launches_(constants.lead_launches),
      settled_cap_w_(kSettledShareOfLimit * (cap_w > 0 ? cap_w : spec.tdp_w)),
      most_slowdown_(std::max(spec.boost_hz / (kLeastClockMhz * units::kMega), 1.0)),
      steepness_(steepness_from(spec.own_boost_hz() / spec.boost_hz)),
      least_share_(dynamic_share(most_slowdown_, steepness_)) {}

double BoardPower::least_limit_w(double full_clock_w) const {
  return exceeds_at_lowest_clock(full_clock_w) ? std::ceil(lowest_clock_w(full_clock_w) / kSettledShareOfLimit) : 0;
}

double BoardPower::average_w(double full_clock_w, double slowdown) const {
  // The equation's solution is the limit itself, here to the bit.
  if (slowdown == settled_slowdown(full_clock_w, settled_cap_w_, idle_w_, steepness_))
    return std::min(full_clock_w, settled_cap_w_);
  return idle_w_ + (full_clock_w - idle_w_) * dynamic_share(slowdown, steepness_);
}

double BoardPower::reading_w(const PowerWork& work, double latency_s) const {
  const double average_w = std::min(full_clock_w(work, latency_s), settled_cap_w_);
  if (!followed_idle_board(work.operands)) return average_w;
  constexpr double kWindowSeconds = 1;  // [data: aiconfigurator] of the sensor, and of the run
  const double missing = 1 - std::min((lead_s_ + lead_launches_ * latency_s) / kWindowSeconds, 1.0);
  return idle_w_ + (average_w - idle_w_) * (1 - missing * missing / 2);
}

PowerTerms BoardPower::terms(const PowerWork& work, double latency_s, double average_w) const {
  const double full_w = full_clock_w(work, latency_s);
  const double kept = (average_w - idle_w_) / (full_w - idle_w_);
  const Toggling toggling = toggling_of(work.operands);
  const double per_second = kept / latency_s;
  return {.idle_w = idle_w_,
          .active_w = kept * active_w_ * toggling.active * work.busy_frac,
          .operations_w = per_second * toggling.operations * op_j_ * work.ops,
          .l2_w = per_second * toggling.bytes * l2_byte_j_ * toggling.l2 * work.l2_bytes,
          .dram_w = per_second * toggling.bytes * dram_byte_j_ * work.dram_bytes,
          .full_clock_w = full_w,
          .limit_w = settled_cap_w_};
}

}  // namespace hindsight::gpu

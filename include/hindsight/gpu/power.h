/// Power of one GPU board while it runs one kernel back to back, and the clock at which that power meets a cap.
///
/// Model: P(f) = idle(f) + active * u * d(f) + [e_op * ops + e_l2 * L2 bytes] * v(f)^2 / T(f) + e_dram * DRAM bytes / T
///
///   f clock, T(f) latency of one launch [s], u share of the SMs with work, v(f) voltage over its value at the highest
///   clock, d(f) = (f / f_max) * v(f)^2: dynamic power of what toggles every cycle (clock tree, instruction issue).
///   The memory's energy does not follow the SM clock: DRAM and its interface have their own supply and clock.
///   e_op, e_l2 and e_dram hold for random normal data; where one operand is all zeros few wires toggle, and all three
///   shrink by one factor, `zero_weight_share`. Values move GEMM power by up to 40 % [paper: gregersen-2024].
///
/// Source: dynamic power C V^2 f, and static + per-operation + per-byte terms [paper: choi-2013].
///
/// Valid for: kernels that repeat for longer than the sensor's window, so that P is an average over many launches.
///
/// Ignores: temperature (leakage) and the spread between boards of one model (5 % and more).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hindsight/gpu/dtype.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::gpu {

/// What the operands hold. `zero_weights`: the k x n operand is all zeros, e.g. memory never written.
enum class Operands : std::uint8_t { random, zero_weights };

/// What is fitted per GPU: five constants, at the highest clock. The formats differ by fixed factors (`operation_j`).
struct PowerConstants {
  double active_w = 0;     ///< all SMs busy, above idle, without counting operations and bytes
  double op_j = 0;         ///< one operation of the class' reference format: bf16 (tensor cores), fp32 (CUDA cores)
  double l2_byte_j = 0;    ///< one byte between L2 and the SMs
  double dram_byte_j = 0;  ///< one byte of DRAM traffic, with its interface
  double zero_weight_share = 1;  ///< dynamic energy with zero weights over that with random ones
};
inline constexpr std::size_t kPowerConstantCount = 5;

/// Constants for a GPU without power measurements: energies of its architecture and memory. Uncalibrated.
[[nodiscard]] PowerConstants default_power_constants(const GpuSpec& spec, DTypeClass dtype_class);

/// Energy of one operation of `dtype`, J: the class' constant times a factor of the format.
[[nodiscard]] double operation_j(const PowerConstants& constants, DType dtype);

/// What one launch does, wherever the clock stands.
struct PowerWork {
  double ops = 0;
  double l2_bytes = 0;
  double dram_bytes = 0;
  double busy_sm_frac = 1;  ///< u: mean share of the SMs that have work, 0 to 1
  Operands operands = Operands::random;
};

/// Voltage over that of the highest clock: linear in the clock above a floor.
[[nodiscard]] double relative_voltage(double clock_over_highest);

/// Facts of one GPU and format that no shape changes; make it once, use it for many shapes.
class BoardPower {
 public:
  /// `spec` must outlive the object. `cap_w`: the power limit; 0 takes the board's own.
  BoardPower(const GpuSpec& spec, const PowerConstants& constants, DType dtype, double cap_w = 0);

  /// Board energy of one launch that takes `latency_s` at `clock_hz`, J. Power is this over the latency.
  [[nodiscard]] double energy_j(const PowerWork& work, double latency_s, double clock_hz) const;
  [[nodiscard]] double power_w(const PowerWork& work, double latency_s, double clock_hz) const {
    return energy_j(work, latency_s, clock_hz) / latency_s;
  }

  /// Average power that the board settles at when the limit binds, W; a little below the limit.
  [[nodiscard]] double settled_cap_w() const { return settled_cap_w_; }
  [[nodiscard]] double highest_clock_hz() const { return highest_clock_hz_; }
  [[nodiscard]] double lowest_clock_hz() const { return lowest_clock_hz_; }

 private:
  const GpuSpec* spec_;
  double active_w_, op_j_, l2_byte_j_, dram_byte_j_, zero_weight_share_;
  double settled_cap_w_, highest_clock_hz_, lowest_clock_hz_;
};

/// Where a repeated kernel settles.
struct SettledRun {
  double clock_hz = 0;
  double latency_s = 0;
  double power_w = 0;
  double energy_j = 0;  ///< power x latency
  bool capped = false;  ///< the limit holds the clock down
};

/// The highest clock at which the power stays below the cap. `latency_s(clock_hz)`: the kernel's latency, which must
/// not grow with the clock.
///
/// Method: bisection on a fixed grid of clocks (2^-kClockSteps of the range), so that a larger cap never gives a lower
/// clock. Where even the lowest clock draws too much, the board pauses between launches: the latency is energy / cap.
template <typename Latency>
[[nodiscard]] SettledRun settle(const BoardPower& board, const PowerWork& work, const Latency& latency_s) {
  constexpr int kClockSteps = 9;  // [chosen] 2^-9 of the range: 3 MHz, a fifth of a step of the boards' own clocks
  const auto run_at = [&](double clock_hz) {
    const double seconds = latency_s(clock_hz);
    const double joules = board.energy_j(work, seconds, clock_hz);
    return SettledRun{clock_hz, seconds, joules / seconds, joules, false};
  };
  const double cap_w = board.settled_cap_w();
  const SettledRun fastest = run_at(board.highest_clock_hz());
  if (fastest.power_w <= cap_w) return fastest;

  SettledRun best = run_at(board.lowest_clock_hz());
  if (best.power_w > cap_w) {
    best.latency_s = std::max(best.latency_s, best.energy_j / cap_w);
    best.energy_j = cap_w * best.latency_s;
    best.power_w = cap_w;
  } else {
    double step_hz = board.highest_clock_hz() - board.lowest_clock_hz();
    for (int i = 0; i < kClockSteps; ++i) {
      step_hz /= 2;
      const SettledRun tried = run_at(best.clock_hz + step_hz);
      if (tried.power_w <= cap_w) best = tried;
    }
  }
  best.capped = true;
  return best;
}

}  // namespace hindsight::gpu

/// Power of one GPU board while it runs one kernel back to back, and the clock at which that power meets the limit.
///
/// Model: P = idle + active * u + [e_op * ops + e_l2 * L2 bytes + e_dram * DRAM bytes] / T       at the highest clock
///        P(f) = idle + (P - idle) * (1 + 0.88 (f_max / f - 1))^(-1 / 0.55),  T(f) = T * f_max / f     below it
///
///   f clock, T latency of one launch at the highest clock [s], u share of T in which the SMs have work. Where P
///   exceeds what the limit allows on average, the clock is the solution of P(f) = limit (`settled_slowdown`): one
///   power decides clock, latency, power and energy; a burst, whose clock has not fallen as far, draws P(f) at its own.
///   The exponent holds the voltage, which falls with the clock. L2 bytes are the least that any kernel for the product
///   reads, so that power does not jump where two kernels take equally long. e_op, e_l2 and e_dram hold for random
///   normal data; where one operand is all zeros few wires toggle:
///   operations take `zero_weight_share` of their energy, bytes `zero_weight_byte_share`, which is less, since a line
///   that carries zeros does not toggle while a multiplier still sees the other operand. Values move GEMM power by up
///   to 40 % [paper: gregersen-2024].
///
/// A board whose clock is locked at f runs all of its terms at f, DRAM at the memory's own clock, and draws
///
///   P    = idle(f) + active * s * u + [(f_max / f) * s * (e_op * ops + e_l2 * L2 bytes) + e_dram * DRAM bytes] / T_f
///   s    = (1 + 0.88 (f_max / f - 1))^(-1 / 0.55), the share of P(f) above
///
/// The limit is compared with this power. Where it is exceeded, the clock falls below the lock by the law above, whose
/// shares count from the lock (`steepness_from`), with idle power at the lock.
///
/// What a sensor reads of a run that follows an idle board is less (`reading_w`): its window of a second still holds
/// the idle time. Of a run of a second that begins `lead` seconds after the board has, where `lead` < 1,
///
///   reading = idle + (P - idle) * (1 - (1 - lead)^2 / 2)                 lead = lead_s + lead_launches * T
///
///   the mean of a window that fills up. Memory that nobody has written is fresh from the driver, and the board idles
///   while it is allocated: recorded runs with such weights, and no others, are read so (docs/gpu-power.md).
///
/// Source: dynamic power C V^2 f, and static + per-operation + per-byte terms [paper: choi-2013].
///
/// Valid for: kernels that repeat for longer than the sensor's window, so that P is an average over many launches.
///
/// Ignores: temperature (leakage), the spread between boards of one model (5 % and more), a voltage that falls no
/// further below some clock (watts at half the clock and less are too low), and, under a limit, that memory keeps its
/// clock and that idle power falls: a product that waits for DRAM is slowed like any other. A lock knows both.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hindsight/gpu/dtype.h"
#include "hindsight/gpu/gemm_terms.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::gpu {

/// What the operands hold, or what else sets a recorded row apart. `zero_weights`: the k x n operand is all zeros, e.g.
/// memory never written; `partly_zero_weights`: some of its copies are, the others lie in memory that was used before.
/// Both were recorded of runs that followed an idle board (`reading_w`). `long_vector`: real data, one row or column of
/// a long k, which read less than two rows do (docs/gpu-power.md).
enum class Operands : std::uint8_t { random, zero_weights, partly_zero_weights, long_vector };
[[nodiscard]] constexpr bool followed_idle_board(Operands operands) {
  return operands == Operands::zero_weights || operands == Operands::partly_zero_weights;
}

/// Six constants per GPU, at the highest clock, and three of how its recorded rows were read. The formats differ by
/// fixed factors (`operation_j`). `op_j` comes from runtimes under the limit (`Constants::op_j`), `active_w` and the
/// shares of zero weights from measured power, the energies of bytes from all that is known of the architecture.
struct PowerConstants {
  double active_w = 0;           ///< while the SMs have work, above idle, without counting operations and bytes
  double op_j = 0;               ///< one operation of the class' reference format: bf16 or fp8 (tensor cores), fp32
  double l2_byte_j = 0;          ///< one byte between L2 and the SMs
  double dram_byte_j = 0;        ///< one byte of DRAM traffic, with its interface
  double zero_weight_share = 1;  ///< energy of an operation with zero weights over that with random ones
  double zero_weight_byte_share = 1;  ///< the same of a byte
  double partly_zero_share = 1;       ///< of `partly_zero_weights`, what was zero
  double lead_s = 1;         ///< between the start of the board's work and that of its reading; 1: nothing idle
  double lead_launches = 0;  ///< launches in between, besides
};

/// Constants for a GPU without power measurements: energies of its architecture and memory. Uncalibrated.
[[nodiscard]] PowerConstants default_power_constants(const GpuSpec& spec, DTypeClass dtype_class);

/// Energy of one operation of `dtype`, J: the class' constant times a factor of the format.
[[nodiscard]] double operation_j(const PowerConstants& constants, DType dtype);

/// What one launch does, wherever the clock stands.
struct PowerWork {
  double ops = 0;
  double l2_bytes = 0;  ///< least traffic of any kernel
  double dram_bytes = 0;
  double busy_frac = 1;  ///< u: share of the latency in which the SMs have work; the rest is launch
  Operands operands = Operands::random;
};

/// What the average power of one launch is made of, at the predicted clock; the first five add up to it.
struct PowerTerms {
  double idle_w = 0;        ///< the board without work
  double active_w = 0;      ///< SMs that have work, without what they do
  double operations_w = 0;  ///< arithmetic
  double l2_w = 0;          ///< bytes between L2 and the SMs
  double dram_w = 0;
  double full_clock_w = 0;  ///< what the highest clock would draw
  double limit_w = 0;       ///< average at which a board settles when that is more: a little below its power limit
};

/// Facts of one GPU and format that no shape changes; make it once, use it for many shapes.
class BoardPower {
 public:
  /// `cap_w`: the power limit; 0 takes the board's own.
  BoardPower(const GpuSpec& spec, const PowerConstants& constants, DType dtype, double cap_w = 0);

  /// Power without a limit of launches that take `latency_s` at the highest clock, W. May exceed the limit.
  [[nodiscard]] double full_clock_w(const PowerWork& work, double latency_s) const {
    const Toggling toggling = toggling_of(work.operands);
    return idle_w_ + active_w_ * toggling.active * work.busy_frac +
           (toggling.operations * op_j_ * work.ops +
            toggling.bytes * (l2_byte_j_ * toggling.l2 * work.l2_bytes + dram_byte_j_ * work.dram_bytes)) /
               latency_s;
  }
  /// What the sensor showed of launches that took `latency_s` each, W: the average under the limit, less what its
  /// window held of the idle board before.
  [[nodiscard]] double reading_w(const PowerWork& work, double latency_s) const;
  /// Latency of a settled run over that at the highest clock, or at that of the lock, at which it would draw
  /// `full_clock_w`: above 1 exactly where that exceeds `settled_cap_w`; at most that of the lowest clock
  /// (`kLeastClockMhz`), at which a board stays however low its limit is.
  [[nodiscard]] double slowdown(double full_clock_w) const {
    if (exceeds_at_lowest_clock(full_clock_w)) return most_slowdown_;
    return std::min(settled_slowdown(full_clock_w, settled_cap_w_, idle_w_, steepness_), most_slowdown_);
  }
  /// Lowest power limit in whole watts, as boards take them, that a settled run meets, where even the lowest clock
  /// exceeds the board's; 0 where that is met.
  [[nodiscard]] double least_limit_w(double full_clock_w) const;
  /// Power at 1 / `slowdown` of the highest clock, where that would draw `full_clock_w`: the limit in a settled run
  /// that it binds, more in a burst, whose clock has not fallen as far, and at the lowest clock.
  [[nodiscard]] double average_w(double full_clock_w, double slowdown) const;

  /// The terms of `full_clock_w`, which above idle shrink alike where a limit lowers the power to `average_w`.
  [[nodiscard]] PowerTerms terms(const PowerWork& work, double latency_s, double average_w) const;

  /// Average power that the board settles at when the limit binds, W; a little below the limit.
  [[nodiscard]] double settled_cap_w() const { return settled_cap_w_; }

 private:
  /// Shares of what random data in tiles draw.
  struct Toggling {
    double operations = 1, bytes = 1, active = 1, l2 = 1;
  };
  [[nodiscard]] Toggling toggling_of(Operands operands) const {
    return operands == Operands::zero_weights          ? zero_weights_
           : operands == Operands::partly_zero_weights ? partly_zero_weights_
           : operands == Operands::long_vector         ? long_vector_
                                                       : Toggling();
  }

  [[nodiscard]] double lowest_clock_w(double full_clock_w) const {
    return idle_w_ + (full_clock_w - idle_w_) * least_share_;
  }
  [[nodiscard]] bool exceeds_at_lowest_clock(double full_clock_w) const {
    return full_clock_w > settled_cap_w_ && lowest_clock_w(full_clock_w) > settled_cap_w_;
  }

  double idle_w_, active_w_, op_j_, l2_byte_j_, dram_byte_j_;
  Toggling zero_weights_, partly_zero_weights_, long_vector_;
  double lead_s_, lead_launches_;
  double settled_cap_w_, most_slowdown_, steepness_;
  double least_share_;  ///< of the power above idle, at the lowest clock
};

}  // namespace hindsight::gpu

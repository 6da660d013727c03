/// Average power from an energy counter that moves in steps.
#include "hindsight/measure/energy.h"

namespace hindsight::measure {

std::optional<std::uint64_t> counter_difference_mj(std::uint64_t before, std::uint64_t after, double largest_mj) {
  const std::uint64_t wide = after - before;  // modulo 2^64
  if (static_cast<double>(wide) <= largest_mj) return wide;
  const std::uint64_t narrow = (after - before) & 0xffffffffU;  // a counter of 32 bits
  const bool both_narrow = before <= 0xffffffffU && after <= 0xffffffffU;
  if (both_narrow && after < before && static_cast<double>(narrow) <= largest_mj) return narrow;
  return std::nullopt;
}

void EnergyWindow::restart() { *this = EnergyWindow(largest_w_); }

void EnergyWindow::add(double time_s, std::uint64_t counter_mj) {
  if (!last_counter_mj_) {
    last_counter_mj_ = counter_mj;
    return;
  }
  if (counter_mj == *last_counter_mj_) return;
  if (!first_step_seen_) {
    first_step_seen_ = true;
    first_step_s_ = last_step_s_ = time_s;
  } else {
    // A millisecond of slack for steps that follow each other at once.
    constexpr double kSlackS = 1e-3;      // [chosen]
    constexpr double kMillijoules = 1e3;  // mJ per J
    const double largest_mj = largest_w_ * (time_s - last_step_s_ + kSlackS) * kMillijoules;
    if (const auto difference = counter_difference_mj(*last_counter_mj_, counter_mj, largest_mj)) {
      energy_mj_ += *difference;
      last_step_s_ = time_s;
    } else {
      reset_seen_ = true;
    }
  }
  last_counter_mj_ = counter_mj;
}

double EnergyWindow::window_s() const { return last_step_s_ - first_step_s_; }

std::optional<double> EnergyWindow::power_w() const {
  if (reset_seen_ || window_s() <= 0) return std::nullopt;
  return static_cast<double>(energy_mj_) * 1e-3 / window_s();
}

}  // namespace hindsight::measure

/// Power from differences of a board's energy counter, which steps only some ten times a second.
#pragma once

#include <cstdint>
#include <optional>

namespace hindsight::measure {

/// Energy between two readings of a counter in mJ that may have wrapped around at 2^64 or 2^32.
/// `largest_mj` is what the board can have used at most meanwhile: a difference above it is no wrap but a counter
/// that was reset (driver reloaded), and gives nothing.
[[nodiscard]] std::optional<std::uint64_t> counter_difference_mj(std::uint64_t before, std::uint64_t after,
                                                                 double largest_mj);

/// Mean power between the first and the last step of the counter that were seen.
///
/// The counter holds the energy up to its last step, so a difference of readings is wrong by up to a step's energy at
/// both ends. Between steps it is right: the moment at which a new value appears is the moment it stands for, up to
/// the polling interval.
class EnergyWindow {
 public:
  /// `largest_w`: what the board can draw, for the plausibility of differences.
  explicit EnergyWindow(double largest_w) : largest_w_(largest_w) {}

  /// Forgets everything: a new window begins.
  void restart();
  /// A reading at `time_s` of any steady clock.
  void add(double time_s, std::uint64_t counter_mj);
  /// Seconds between the first and the last step; 0 before the second step.
  [[nodiscard]] double window_s() const;
  /// Mean power over window_s(), W; nothing before the second step or after the counter was reset.
  [[nodiscard]] std::optional<double> power_w() const;

 private:
  double largest_w_;
  std::optional<std::uint64_t> last_counter_mj_;
  double first_step_s_ = 0, last_step_s_ = 0;
  std::uint64_t energy_mj_ = 0;
  bool first_step_seen_ = false;
  bool reset_seen_ = false;
};

}  // namespace hindsight::measure

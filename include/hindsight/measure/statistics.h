/// When a measurement has been repeated often enough, and what its samples say.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hindsight::measure {

/// When to stop sampling.
struct StoppingRule {
  std::size_t least_samples = 7;          ///< [chosen] a median and its spread mean something
  std::size_t most_samples = 200;         ///< [chosen] more would not change a median
  double spread_of_median_frac = 0.005;   ///< [chosen] half a per cent, the noise that nvbench accepts by default
  double most_s = 0.15;                   ///< sampled time; [chosen] short enough to stay a burst
  std::size_t least_samples_of_slow = 3;  ///< [chosen] enough once `most_s` is over: a median of three
};

/// Samples of one quantity. Medians throughout: a context switch or a clock step makes outliers, not a Gaussian.
class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  [[nodiscard]] std::size_t count() const { return values_.size(); }
  [[nodiscard]] double sum() const;
  /// NaN without samples.
  [[nodiscard]] double median() const;
  [[nodiscard]] double smallest() const;
  /// 1.4826 x median absolute deviation / |median|: the relative standard deviation of Gaussian samples, deaf to
  /// outliers. NaN without samples, 0 for one.
  [[nodiscard]] double spread_frac() const;

 private:
  std::vector<double> values_;
};

/// True when spread_frac / sqrt(n) is small enough, or a limit is reached.
/// Equation: the median of n Gaussian samples deviates by about 1.25 s / sqrt(n); the factor is left out.
[[nodiscard]] bool enough(const Samples& samples, const StoppingRule& rule);

/// When a board that has idled has raised its clock as far as it will. Times that grow, because the power limit lowers
/// the clock again, count as warm: what follows is still a burst.
struct WarmUpRule {
  std::size_t least_samples = 5;  ///< [chosen] 10 ms of batches: longer than the clock stays on one step of its way up
  double gain_frac = 0.01;        ///< [chosen] one step of the clock is 15 MHz of 1000 to 2500: 0.6 to 1.5 %
  double most_s = 0.2;            ///< [chosen] boards reach their clock within 0.1 s of load
};
/// True when the shortest of the last `least_samples` times is at most `gain_frac` shorter than the first of them.
[[nodiscard]] bool warmed_up(std::span<const double> times_s, const WarmUpRule& rule);

}  // namespace hindsight::measure

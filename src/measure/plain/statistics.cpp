/// Medians, spreads, and when to stop measuring.
#include "hindsight/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hindsight::measure {
namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));  // [chosen] mean of the middle two
}

}  // namespace

double Samples::sum() const { return std::accumulate(values_.begin(), values_.end(), 0.0); }

double Samples::median() const { return median_of(values_); }

double Samples::smallest() const {
  return values_.empty() ? std::numeric_limits<double>::quiet_NaN() : *std::min_element(values_.begin(), values_.end());
}

double Samples::spread_frac() const {
  // Standard deviation of a Gaussian per median absolute deviation: 1 / quantile(3/4).
  constexpr double kDeviationPerMad = 1.4826;
  const double middle = median();
  std::vector<double> deviations;
  deviations.reserve(values_.size());
  for (const double value : values_) deviations.push_back(std::abs(value - middle));
  return middle == 0 ? 0.0 : kDeviationPerMad * median_of(std::move(deviations)) / std::abs(middle);
}

bool enough(const Samples& samples, const StoppingRule& rule) {
  const std::size_t n = samples.count();
  if (n >= rule.most_samples) return true;
  if (samples.sum() >= rule.most_s) return n >= rule.least_samples_of_slow;
  return n >= rule.least_samples &&
         samples.spread_frac() / std::sqrt(static_cast<double>(n)) <= rule.spread_of_median_frac;
}

bool warmed_up(std::span<const double> times_s, const WarmUpRule& rule) {
  if (times_s.size() < rule.least_samples) return false;
  const std::span<const double> last = times_s.last(rule.least_samples);
  return *std::min_element(last.begin(), last.end()) >= (1 - rule.gain_frac) * last.front();
}

}  // namespace hindsight::measure

/// Names the metrics of which more is better.
#include "hindsight/log/metric_direction.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace hindsight::log {

Direction direction_of(const std::string& metric) {
  static constexpr std::array<std::string_view, 2> kMoreIsBetter{"utilisation_frac", "weights_cached_frac"};
  const bool maximise = std::find(kMoreIsBetter.begin(), kMoreIsBetter.end(), metric) != kMoreIsBetter.end();
  return maximise ? Direction::maximise : Direction::minimise;
}

Direction direction_of(const std::string& metric, const std::set<std::string>& maximised) {
  return maximised.contains(metric) ? Direction::maximise : direction_of(metric);
}

}  // namespace hindsight::log

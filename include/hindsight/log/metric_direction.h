/// Which way the metrics of a log are better.
#pragma once

#include <set>
#include <string>

#include "hindsight/core/direction.h"

namespace hindsight::log {

/// More utilisation or caching is better; of every other metric less.
[[nodiscard]] Direction direction_of(const std::string& metric);
/// The same, where a log says of which metrics more is better (study::maximised_metrics).
[[nodiscard]] Direction direction_of(const std::string& metric, const std::set<std::string>& maximised);

}  // namespace hindsight::log

/// Which way the metrics of a log are better.
#pragma once

#include <string>

#include "hindsight/core/direction.h"

namespace hindsight::log {

/// More utilisation or caching is better; of every other metric less.
[[nodiscard]] Direction direction_of(const std::string& metric);

}  // namespace hindsight::log

/// Names as a user writes them, and the names that a log has: imported metrics are logged under the snake_case names of
/// their columns.
#pragma once

#include <string>
#include <vector>

#include "hindsight/log/log.h"

namespace hindsight::app {

/// The metric that designs of this log are compared by when the user names none: latency_s where it was logged, else
/// the objective of the imports when all have the same, else latency_s.
[[nodiscard]] std::string own_objective(const log::Log& log);

/// `word`, or its snake_case where only that is known: "util_BRAM" is util_bram.
[[nodiscard]] std::string known_name(const std::string& word, const std::vector<std::string>& known);

/// The same for every metric in a product of powers of metrics.
[[nodiscard]] std::string known_objective(const std::string& text, const std::vector<std::string>& known);

}  // namespace hindsight::app

/// Renders results of the W50 bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/check/w50.h"

namespace hindsight::report {

/// One run of one method on one table.
struct W50Run {
  std::string table;
  std::string method;
  std::string recipe;  ///< as YAML; empty where nothing is trained
  std::uint64_t seed = 0;
  check::W50Result result;
};
/// A row per table and method: medians over seeds and contexts of the regret; geometric means over several tables.
[[nodiscard]] std::string w50_text(const std::vector<W50Run>& runs, int columns);
[[nodiscard]] std::string w50_markdown(const std::vector<W50Run>& runs);
/// Every run with every context.
[[nodiscard]] std::string w50_json(const std::vector<W50Run>& runs, const check::W50Options& options);

}  // namespace hindsight::report

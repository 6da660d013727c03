/// Renders results of the W50 bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/check/w50.h"
#include "hindsight/report/plot.h"

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
/// Per table a sparkline of each method: the best of the first k proposals over the optimum, median over seeds and
/// contexts, all on one scale.
[[nodiscard]] std::string w50_plot_text(const std::vector<W50Run>& runs, int columns, PlotGlyphs glyphs);
[[nodiscard]] std::string w50_markdown(const std::vector<W50Run>& runs);
/// Every run with every context.
[[nodiscard]] std::string w50_json(const std::vector<W50Run>& runs, const check::W50Options& options);

/// The row of names of a table of results, and the rows of one run: one per context and number of proposals.
[[nodiscard]] std::string w50_csv_names();
[[nodiscard]] std::string w50_csv_rows(const W50Run& run, std::uint64_t cell);

}  // namespace hindsight::report

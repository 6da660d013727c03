/// Renders the offline study as tables in the manner of PRIME's.
#pragma once

#include <string>

#include "hindsight/check/offline.h"
#include "hindsight/report/plot.h"

namespace hindsight::report {

/// Median and best regret over seeds per task and method, over the exact optimum; ratios to it and to the best logged
/// design; predicted against true; queries that online methods need to match PRIME; ranks where they are known. GitHub
/// Markdown. Without check::add_truth() the tables of regret are empty.
[[nodiscard]] std::string offline_markdown(const check::OfflineStudy& study);
/// Per task a scatter plot: simulator queries against the best so far over the optimum, median over seeds. Online
/// methods are steps, the others lines at what their first proposal is worth. Without truth: of the latency itself.
[[nodiscard]] std::string offline_plot_text(const check::OfflineStudy& study, int columns, PlotGlyphs glyphs);
[[nodiscard]] std::string offline_json(const check::OfflineStudy& study);

}  // namespace hindsight::report

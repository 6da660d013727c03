/// Renders proposals: predictions, what the log knows, and the truth where it was asked for.
#pragma once

#include <string>
#include <vector>

#include "hindsight/report/design_table.h"
#include "hindsight/report/plot.h"
#include "hindsight/study/proposals.h"

namespace hindsight::report {

/// Error{usage} for a column that the table will not have, with the nearest: before the search, with what propose()
/// hands to BeforeSearch.
void require_columns(const study::Proposals& so_far, const std::vector<std::string>& chosen);
/// `chosen`: columns of the table by their headers (Table::choose_columns); none: all that fit.
[[nodiscard]] std::string proposals_text(const study::Proposals& proposals, DesignStyle style, int columns,
                                         const std::vector<std::string>& chosen = {});
[[nodiscard]] std::string proposals_json(const study::Proposals& proposals);
/// A header and a row per proposal: every parameter, then predictions, then truth.
[[nodiscard]] std::string proposals_csv(const study::Proposals& proposals);
/// A scatter plot of the proposals, by their ranks: area_mm2 against the predicted objective; of a front its first two
/// metrics. Besides, where they are known, the true values and the logged designs that are feasible for all
/// applications and meet the same limits (of a front: where the log's rows have both metrics). In a space without area
/// the first limit or derived quantity stands in its place, else the rank, with a line at the log's best. Proposals
/// without a finite value are not drawn.
[[nodiscard]] std::string proposals_plot_text(const study::Proposals& proposals, int columns, PlotGlyphs glyphs);

}  // namespace hindsight::report

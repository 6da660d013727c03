/// Renders proposals: predictions, what the log knows, and the truth where it was asked for.
#pragma once

#include <string>
#include <vector>

#include "hindsight/report/design_table.h"
#include "hindsight/study/proposals.h"

namespace hindsight::report {

/// `chosen`: columns of the table by their headers (Table::choose_columns); none: all that fit.
[[nodiscard]] std::string proposals_text(const study::Proposals& proposals, DesignStyle style, int columns,
                                         const std::vector<std::string>& chosen = {});
[[nodiscard]] std::string proposals_json(const study::Proposals& proposals);
/// A header and a row per proposal: every parameter, then predictions, then truth.
[[nodiscard]] std::string proposals_csv(const study::Proposals& proposals);

}  // namespace hindsight::report

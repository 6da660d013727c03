/// Renders proposals: predictions, what the log knows, and the truth where it was asked for.
#pragma once

#include <string>

#include "hindsight/report/design_table.h"
#include "hindsight/study/proposals.h"

namespace hindsight::report {

[[nodiscard]] std::string proposals_text(const study::Proposals& proposals, DesignStyle style, int columns);
[[nodiscard]] std::string proposals_json(const study::Proposals& proposals);
/// A header and a row per proposal: every parameter, then predictions, then truth.
[[nodiscard]] std::string proposals_csv(const study::Proposals& proposals);

}  // namespace hindsight::report

/// Renders the offline study as tables in the manner of PRIME's.
#pragma once

#include <string>

#include "hindsight/check/offline.h"

namespace hindsight::report {

/// Median and best regret over seeds per task and method, over the exact optimum; ratios to it and to the best logged
/// design; predicted against true; queries that online methods need to match PRIME; ranks where they are known. GitHub
/// Markdown. Without check::add_truth() the tables of regret are empty.
[[nodiscard]] std::string offline_markdown(const check::OfflineStudy& study);
[[nodiscard]] std::string offline_json(const check::OfflineStudy& study);

}  // namespace hindsight::report

/// Renders the offline study as tables in the manner of PRIME's.
#pragma once

#include <string>

#include "hindsight/check/offline.h"

namespace hindsight::report {

/// Median and best latency over seeds per task and method; ratios to the best logged design; predicted against true;
/// queries that online methods need to match PRIME. GitHub Markdown.
[[nodiscard]] std::string offline_markdown(const check::OfflineStudy& study);
[[nodiscard]] std::string offline_json(const check::OfflineStudy& study);

}  // namespace hindsight::report

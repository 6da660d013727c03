/// Renders the summary of a sweep.
#pragma once

#include <string>
#include <vector>

#include "hindsight/sweep/sweep.h"

namespace hindsight::report {

/// What was drawn, evaluated and written, then a row per workload with its feasible share and reasons; where these are
/// many, a row per family of synthetic networks and one for all others. sweep_json() lists every workload.
[[nodiscard]] std::string sweep_text(const sweep::SweepSummary& summary, const sweep::SweepOptions& options,
                                     int columns);
[[nodiscard]] std::string sweep_json(const sweep::SweepSummary& summary, const sweep::SweepOptions& options);

/// One of several searches of one command, which differ in their seeds.
struct SearchedChain {
  const sweep::SweepSummary* summary = nullptr;
  const sweep::SweepOptions* options = nullptr;
};
/// {"chains": [sweep_json() with its seed, ...]}.
[[nodiscard]] std::string chains_json(const std::vector<SearchedChain>& chains);

}  // namespace hindsight::report

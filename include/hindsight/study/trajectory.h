/// The log of somebody who searched: what an evolution on the simulator tried, in order.
#pragma once

#include <string>

#include "hindsight/sweep/sweep.h"

namespace hindsight::study {

/// Its name as a sampler.
inline const std::string kTrajectory = "trajectory";

/// Evolves designs by the simulator's answers (optimize::OnlineMethod::evolutionary with the sweep's seed), minimising
/// `options.objective` within `options.limits`; every query goes to the log. `options.search` is kTrajectory.
/// Errors: see sweep::run_queries and optimize::optimize_online.
[[nodiscard]] sweep::SweepSummary run_trajectory(const sweep::SweepOptions& options);

}  // namespace hindsight::study

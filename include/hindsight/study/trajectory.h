/// The log of somebody who searched: what an evolution on the simulator tried, in order.
#pragma once

#include <string>

#include "hindsight/sweep/sweep.h"

namespace hindsight::study {

/// Its name as a sampler.
inline const std::string kTrajectory = "trajectory";

/// What a search may begin with in the place of `design`, which may be beyond `options.limits`: the design itself, or
/// where single-parameter steps lead that each take the most off what is beyond. Error{usage} where they lead to no
/// design within.
[[nodiscard]] space::Design start_within_limits(const space::Design& design, const sweep::SweepOptions& options);

/// Evolves designs by the simulator's answers (optimize::OnlineMethod::evolutionary with the sweep's seed), minimising
/// `options.objective` within `options.limits`; every query goes to the log. The first is the centre of
/// `options.around`, where there is one and it is within the limits. `options.search` is kTrajectory.
/// Errors: see sweep::run_queries and optimize::optimize_online.
[[nodiscard]] sweep::SweepSummary run_trajectory(const sweep::SweepOptions& options);

}  // namespace hindsight::study

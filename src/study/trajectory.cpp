/// Hands a simulator-driven search the sweep's log, and the sweep its designs.
#include "hindsight/study/trajectory.h"

#include "hindsight/core/error.h"
#include "hindsight/optimize/online.h"
#include "hindsight/study/simulator_search.h"
#include "hindsight/sweep/queries.h"

namespace hindsight::study {

sweep::SweepSummary run_trajectory(const sweep::SweepOptions& options) {
  HINDSIGHT_EXPECT(options.search == kTrajectory);
  return sweep::run_queries(options, [&](const sweep::Ask& ask) {
    (void)optimize::optimize_online(optimize::OnlineMethod::evolutionary, problem_within(options), ask, options.samples,
                                    options.seed);
  });
}

}  // namespace hindsight::study

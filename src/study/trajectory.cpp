/// Hands a simulator-driven search the sweep's log, and the sweep its designs.
#include "hindsight/study/trajectory.h"

#include "hindsight/core/error.h"
#include "hindsight/optimize/online.h"
#include "hindsight/study/analytic_constraint.h"
#include "hindsight/sweep/queries.h"

namespace hindsight::study {

sweep::SweepSummary run_trajectory(const sweep::SweepOptions& options) {
  HINDSIGHT_EXPECT(options.search == kTrajectory);
  return sweep::run_queries(options, [&](const sweep::Ask& ask) {
    optimize::Problem problem{.space = &options.space(), .allowed = {}, .constraints = {}, .model = {}};
    problem.allowed.resize(options.space().parameters().size());
    for (const sweep::FactLimit& bound : options.limits) {
      auto constraint = analytic_constraint(options.evaluator, bound.fact, bound.limit);
      HINDSIGHT_EXPECT(constraint.has_value());  // run_queries knows the limits as facts
      problem.constraints.push_back(std::move(*constraint));
    }
    (void)optimize::optimize_online(optimize::OnlineMethod::evolutionary, problem, ask, options.samples, options.seed);
  });
}

}  // namespace hindsight::study

/// Hands a simulator-driven search the sweep's log, and the sweep its designs.
#include "hindsight/study/trajectory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/optimize/online.h"
#include "hindsight/study/simulator_search.h"
#include "hindsight/sweep/queries.h"

namespace hindsight::study {
namespace {

/// By how much each design is beyond the limits: the sum of its excesses, relative to the limits.
std::vector<double> excesses_of(const std::vector<space::Design>& designs, const optimize::Problem& problem) {
  optimize::LevelMatrix levels(static_cast<Eigen::Index>(designs.size()),
                               static_cast<Eigen::Index>(problem.space->parameters().size()));
  for (std::size_t i = 0; i < designs.size(); ++i) {
    std::ranges::copy(designs[i].levels, levels.row(static_cast<Eigen::Index>(i)).begin());
  }
  std::vector<double> excesses(designs.size(), 0);
  for (const optimize::Constraint& one : problem.constraints) {
    const Eigen::VectorXd values = one.value(levels);
    for (std::size_t i = 0; i < designs.size(); ++i) {
      const double excess = values[static_cast<Eigen::Index>(i)] / one.limit - 1;
      if (!(excess <= 0)) excesses[i] += std::isnan(excess) ? std::numeric_limits<double>::infinity() : excess;
    }
  }
  return excesses;
}

}  // namespace

space::Design start_within_limits(const space::Design& design, const sweep::SweepOptions& options) {
  const optimize::Problem problem = problem_within(options);
  space::Design start = design;
  double excess = excesses_of({start}, problem).front();
  while (excess > 0) {
    const std::vector<space::Design> neighbours = options.space().neighbours(start);
    std::vector<double> excesses;
    if (!neighbours.empty()) excesses = excesses_of(neighbours, problem);
    const auto least = std::ranges::min_element(excesses);
    if (least == excesses.end() || !(*least < excess)) {
      throw Error(ErrorKind::usage,
                  fmt::format("--around {}: is beyond the limits of --max, and no steps towards them lead to a design "
                              "within. Begin with another design, or raise the limits?",
                              printable(options.space().text_id(design), 200)));
    }
    excess = *least;
    start = neighbours[static_cast<std::size_t>(least - excesses.begin())];
  }
  return start;
}

sweep::SweepSummary run_trajectory(const sweep::SweepOptions& options) {
  HINDSIGHT_EXPECT(options.search == kTrajectory);
  std::vector<space::Design> start;
  if (options.around) start.push_back(options.around->centre);
  return sweep::run_queries(options, [&](const sweep::Ask& ask) {
    (void)optimize::optimize_online(optimize::OnlineMethod::evolutionary, problem_within(options), ask, options.samples,
                                    options.seed, start);
  });
}

}  // namespace hindsight::study

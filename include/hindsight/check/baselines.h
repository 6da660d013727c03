/// Baselines that need no learning: the best design that a log already has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/optimize/propose.h"

namespace hindsight::check {

/// One number for the objectives of one design on several applications. mean, weighted: arithmetic; worst: the
/// largest; geomean: geometric mean. `weights`: one per objective for `weighted`, else empty.
[[nodiscard]] double aggregate_value(const std::vector<double>& objectives, optimize::Aggregate aggregate,
                                     const std::vector<double>& weights);

struct LoggedBest {
  space::Design design;
  std::vector<double> objectives;  ///< per application
  double value = 0;                ///< aggregate_value of them
};

/// What a question asks of a logged design.
struct LoggedQuestion {
  std::vector<std::string> applications;  ///< names of contexts
  optimize::Aggregate aggregate = optimize::Aggregate::geomean;
  std::vector<double> weights;
  std::vector<optimize::Constraint> constraints;  ///< those with a `value` are asked
  optimize::AllowedLevels allowed;
};
/// The best logged design that is feasible for every application and meets the constraints; nothing when there is none
/// or an application is not in the log. Ties: the row that came first.
[[nodiscard]] std::optional<LoggedBest> best_in_log(const dataset::Dataset& data, const LoggedQuestion& question);

}  // namespace hindsight::check

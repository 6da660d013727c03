/// What needs no learning: the best design that a log already has, and what it knows about one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/optimize/propose.h"

namespace hindsight::optimize {

/// Of the objectives of one design on several applications: hindsight::aggregate_value.
[[nodiscard]] inline double aggregate_value(const std::vector<double>& objectives, Aggregate aggregate,
                                            const std::vector<double>& weights) {
  return hindsight::aggregate_value(objectives, aggregate, weights);
}

struct LoggedBest {
  space::Design design;
  std::vector<double> objectives;  ///< per application
  double value = 0;                ///< aggregate_value of them
};

/// What a question asks of a logged design.
struct LoggedQuestion {
  std::vector<std::string> applications;  ///< names of contexts
  Aggregate aggregate = Aggregate::geomean;
  std::vector<double> weights;
  std::vector<Constraint> constraints;  ///< learned ones are looked up in the log
  AllowedLevels allowed;
};
/// The best logged design that is feasible for every application and meets the constraints; nothing when there is none,
/// or an application or a limited metric is not in the log. Ties: the row that came first.
[[nodiscard]] std::optional<LoggedBest> best_in_log(const dataset::Dataset& data, const LoggedQuestion& question);

/// What a log has of one design for all applications of a question.
struct LoggedTruth {
  bool feasible = false;  ///< for every application
  double value = 0;       ///< aggregate_value of its objectives; NaN when infeasible
};
/// One per design of `designs`; nothing where an application has no row of the design and no other calls it infeasible.
/// Limits of the question are not looked at.
[[nodiscard]] std::vector<std::optional<LoggedTruth>> logged_truth(const dataset::Dataset& data,
                                                                   const LoggedQuestion& question,
                                                                   const std::vector<space::Design>& designs);

}  // namespace hindsight::optimize

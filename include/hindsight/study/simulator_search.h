/// A search that may ask the simulator, with every question in a log.
///
/// For spaces that cannot be enumerated: it draws and moves designs and lists none but the smallest spaces.
#pragma once

#include <string>
#include <vector>

#include "hindsight/dataset/objective.h"
#include "hindsight/optimize/online.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/study/limits.h"
#include "hindsight/sweep/queries.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::study {

/// What is searched for, and how.
struct SimulatorSearch {
  optimize::OnlineMethod method = optimize::OnlineMethod::evolutionary;
  dataset::Objective objective;  ///< minimised, in the units of its metrics
  /// Of the objectives on several networks: mean, worst or geomean, of values in physical units.
  optimize::Aggregate aggregate = optimize::Aggregate::geomean;
  /// Limits of metrics that only an evaluation knows; a design that exceeds one on any network counts as infeasible.
  std::vector<sweep::FactLimit> outcome_limits;
  optimize::AllowedLevels allowed = {};  ///< one list per parameter, empty: all its levels
};

/// What a user writes.
struct SearchWords {
  std::string method = "evolutionary";
  /// A metric, a short name, or a product of powers of metrics. One metric of which more is better is maximised.
  std::string objective = "latency_s";
  bool maximise = false;  ///< more of the objective is better
  std::string aggregate = "geomean";
  LimitWords limits = {};
};
/// Limits of derived quantities and those that the evaluator knows before an evaluation are put into `sweep.limits` (no
/// query is spent on designs beyond them), the others into the search. Sets in `sweep` what tells its run from others:
/// search, objective and settings. Error{usage}: an unknown method, objective, metric, parameter or aggregate; the
/// aggregate `weighted`, which needs weights. Error{no_feasible} when a parameter has no value left.
[[nodiscard]] SimulatorSearch resolve_search(const SearchWords& words, sweep::SweepOptions& sweep);

/// What a search compares designs by: metrics of the objective first, then those that are limited.
[[nodiscard]] sweep::Scoring scoring_of(const SimulatorSearch& search);

/// Asks for at most `options.samples` different designs within `options.limits`, seeded by `options.seed`; infeasible
/// ones go to the log too. The same search on the same log continues, and `samples` may grow (sweep/queries.h).
/// Errors: see sweep::run_queries and optimize::optimize_online.
[[nodiscard]] sweep::SweepSummary run_search(const sweep::SweepOptions& options, const SimulatorSearch& search);

/// The evaluator's whole space within `options.limits`, which are facts of it; no model.
[[nodiscard]] optimize::Problem problem_within(const sweep::SweepOptions& options);

}  // namespace hindsight::study

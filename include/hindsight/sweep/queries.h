/// Sweeps of a search: designs are asked for one by one, each choice knows the answers before, and all go to a log.
///
/// This is the one sweep whose designs are no sequence of their own. It continues all the same: a search that is
/// deterministic asks again what it asked before, and those answers come from the log, without an evaluation.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hindsight/space/design_space.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::sweep {

/// What a search compares designs by.
struct Scoring {
  std::vector<std::string> metrics;  ///< asked of every network's row; each one that the evaluator gives
  /// Smaller is better. `values`: n networks x m metrics, of a design that is feasible on all networks. Nothing: it is
  /// infeasible for the search all the same, because it breaks a limit.
  std::function<std::optional<double>(std::span<const double> values)> score;
};
/// The options' objective, a metric, on their network, or its geometric mean over several; its negative where more is
/// better. Nothing beyond one of the options' limits of outcomes.
[[nodiscard]] Scoring geometric_mean(const SweepOptions& options);

/// The score of a design. Nothing when it is infeasible on any network, or by the scoring.
using Ask = std::function<std::optional<double>(const space::Design& design)>;

/// Asks for at most SweepOptions::samples different designs within the limits, as a function of its own seed and of the
/// answers alone; stops when interrupt_requested(), and when it finds no more.
using Search = std::function<void(const Ask& ask)>;

/// Runs, or continues, a search; its rows are in the log in the order of the questions, infeasible ones too. What
/// another sweep had logged before keeps its place. `options.search` names it.
/// Errors: as run_sweep; Error{usage} for a metric of the scoring that the evaluator does not give; Error{incompatible}
/// when the search does not ask again what it asked before; and the search's.
[[nodiscard]] SweepSummary run_queries(const SweepOptions& options, const Scoring& scoring, const Search& search);
/// With geometric_mean().
[[nodiscard]] SweepSummary run_queries(const SweepOptions& options, const Search& search);

}  // namespace hindsight::sweep

/// Sweeps of a search: designs are asked for one by one, each choice knows the answers before, and all go to a log.
///
/// This is the one sweep whose designs are no sequence of their own. It continues all the same: a search that is
/// deterministic asks again what it asked before, and those answers come from the log, without an evaluation.
#pragma once

#include <functional>
#include <optional>

#include "hindsight/space/design_space.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::sweep {

/// The score of a design, smaller is better: the options' objective on their network, or its geometric mean over
/// several; its negative where more is better. Nothing when the design is infeasible on any network.
using Ask = std::function<std::optional<double>(const space::Design& design)>;

/// Asks for at most SweepOptions::samples different designs within the limits, as a function of its own seed and of the
/// answers alone; stops when interrupt_requested(), and when it finds no more.
using Search = std::function<void(const Ask& ask)>;

/// Runs, or continues, a search; its rows are in the log in the order of the questions, infeasible ones too. What
/// another sweep had logged before keeps its place. `options.search` names it.
/// Errors: as run_sweep; Error{incompatible} when the search does not ask again what it asked before; and the search's.
[[nodiscard]] SweepSummary run_queries(const SweepOptions& options, const Search& search);

}  // namespace hindsight::sweep

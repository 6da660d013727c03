/// Limits learned from the few rows alone, in the place of those that moved: where a simulator refuses designs for
/// other reasons than the one that was learnt, its rows know more of feasibility than what moves.
#pragma once

#include <cstddef>
#include <string>

#include "hindsight/surrogate/model.h"
#include "surrogate/transfer_rows.h"

namespace hindsight::surrogate {

/// Whether an area under the curve is larger than another by more than its standard error; NaN is never larger.
///
/// Equation [paper: hanley-1982, equations 1 and 2]: with A the area, f and i rows of each kind,
/// SE^2 = (A (1 - A) + (f - 1) (Q1 - A^2) + (i - 1) (Q2 - A^2)) / (f i), Q1 = A / (2 - A), Q2 = 2 A^2 / (1 + A).
/// One that is 0 or 1 has the error of half a pair less: rows this few leave no certainty.
[[nodiscard]] bool separates_better(double area, double other, std::size_t feasible, std::size_t infeasible);

/// Puts the heads of feasibility of `scratch` in the place of those of `networks`, member by member in turns, and its
/// reasons. Returns why that cannot be, a clause (nothing is changed then); empty when it was done.
[[nodiscard]] std::string take_limits(const Model& scratch, TransferNetworks& networks);

}  // namespace hindsight::surrogate

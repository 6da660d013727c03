/// Which evaluator a model's rows are of, and what follows where the one that is at hand is another.
#pragma once

#include <string>

#include "hindsight/study/limits.h"
#include "hindsight/study/proposals.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::study {

/// The evaluator of the rows that the model learnt from, without its noise; "" where that is not known.
[[nodiscard]] std::string rows_evaluator(const surrogate::Model& model);

/// The technology that the built-in model evaluated the rows with, or, where another evaluator did, those of the model
/// that this one was adapted from; "" where neither is known.
[[nodiscard]] std::string learnt_technology(const surrogate::Model& model);

/// Whether the rows are known to be of another evaluator than this one, which may be null: what the model learnt under
/// a name is then not the fact of that name.
[[nodiscard]] bool learnt_from_another(const surrogate::Model& model, const KnownEvaluator& evaluator);

/// `fact` <= most. `derived`: where the space file calls a quantity of its own so, the limit goes by its reason.
[[nodiscard]] std::optional<optimize::Constraint> stated_constraint(const KnownEvaluator& evaluator,
                                                                    const evaluator::StatedLimit& stated,
                                                                    const DerivedQuantities& derived);

/// Notes facts that are limited or traded and are of this evaluator, where the model learnt from another.
void note_foreign_facts(const KnownEvaluator& evaluator, Proposals& proposals);

/// Of a model that was adapted from one of the built-in model to an evaluator that is not known to state any limit: the
/// limits that its first evaluator states are held, as feasibility was learnt within them, and said. Not those that the
/// user names, nor those that most feasible rows of the log are beyond; none where feasibility was learnt from rows of
/// the adaptation alone (surrogate::kLimitsOf).
void hold_limits_of_base(const KnownEvaluator& evaluator, Proposals& proposals);

/// Notes a log of other rows than those that the model learnt from.
void note_other_rows(Proposals& proposals);

}  // namespace hindsight::study

/// Training of all members of kinds `margins` and `layers` side by side: the objective in one learner, feasibility in
/// another.
#pragma once

#include <optional>
#include <vector>

#include "surrogate/codes.h"
#include "surrogate/member.h"

namespace hindsight::surrogate {

/// Root mean square of every reason's known misses; 1 where none is known.
[[nodiscard]] Eigen::VectorXf margin_units(const TrainingRows& rows);
/// How far rows miss the limits of the reasons, as the censored regression learns it, n x r: the miss in `units`; 0 =
/// the limit is kept; infinity = missed by an unknown amount; NaN = unknown.
[[nodiscard]] Eigen::MatrixXf margin_targets(const TrainingRows& rows, const ReasonHeads& heads,
                                             const Eigen::VectorXf& units);

/// Architecture of a network of kind `margins` or `layers` on a space with these codes.
void set_table_kind(Architecture& architecture, NetworkKind kind, const Codes& codes);

/// The columns of `values` (one row per row of the log, NaN = unknown) that depend on the application: those in which
/// some design has two values, and those that no design has for two applications.
[[nodiscard]] std::vector<std::int64_t> columns_of_applications(const TrainingRows& rows,
                                                                const Eigen::MatrixXf& values);

/// Trains recipe.ensemble members. All are complete, or none: after Ctrl-C, or when the loss diverged.
[[nodiscard]] std::vector<MemberOutcome> train_table_members(const MemberInputs& inputs, const ReasonHeads& heads,
                                                             LearnerFactory& factory, ProgressRelay& relay,
                                                             unsigned threads);

}  // namespace hindsight::surrogate

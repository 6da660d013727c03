/// From the rows of a log to a dataset.
#pragma once

#include <filesystem>

#include "hindsight/dataset/dataset.h"
#include "hindsight/dataset/selection.h"

namespace hindsight::dataset {

/// Reads a log. Errors: Error{usage} for unknown workloads, metrics (nearest offered), several spaces or evaluators
/// without a choice; Error{incompatible} when a product of powers has a factor of 0 or below or leaves the range of
/// numbers (row named). Repeated measurements of a design on a workload are one row: feasible when more than half of
/// them are, with the mean of the objective and labels of those. Every feasible row needs every metric of the
/// objective. Rows come in the order of their evaluation id, contexts in the order of `workloads` or else of the log. A
/// label that is not positive is unknown (NaN) in an infeasible row: a run that failed logs 0 for what it never
/// measured.
[[nodiscard]] Dataset load_dataset(const std::filesystem::path& log, const Selection& selection);

}  // namespace hindsight::dataset

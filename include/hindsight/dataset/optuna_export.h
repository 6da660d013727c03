/// A log's rows as Optuna studies.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "hindsight/core/direction.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {

struct OptunaExport {
  std::size_t studies = 0, trials = 0;
  std::size_t failed = 0;  ///< of the trials: infeasible, or without the metric
};

/// One study per workload (and evaluator, where several are selected), that minimises or maximises `metric`; one trial
/// per evaluation, in their order. An infeasible one, or one that lacks the metric, is a failed trial. User attributes:
/// the design's text id, all metrics, and the reasons as text ("noc_timing: delay_ns 2.5, limit 1.25; ..."). Levels are
/// choices, numbers as numbers. `file` must not be there.
/// Errors: Error{usage} for no row, designs of several spaces, a metric that no row has, or a file that is there;
/// Error{incompatible} for a damaged log; Error{interrupted} after Ctrl-C. Nothing is left of a file that is not whole.
OptunaExport export_optuna(const log::Log& log, const log::EvaluationFilter& filter, const std::string& metric,
                           Direction direction, const std::filesystem::path& file);

}  // namespace hindsight::dataset

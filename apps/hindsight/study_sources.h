/// Makes the report of a log with what stands beside it: the design explained, GPUs, a model.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>

#include "hindsight/check/importance.h"
#include "hindsight/gpu/spec.h"
#include "hindsight/log/log.h"
#include "hindsight/report/study_report.h"

namespace hindsight::app {

/// `log`: opened for reading. `name`: how the report calls it. `maximised`: metrics of which more is better, beside
/// those of the log. Error{incompatible}: a damaged log.
[[nodiscard]] report::StudyReport report_of_log(const log::Log& log, const std::string& name,
                                                std::span<const gpu::GpuSpec> gpus,
                                                const std::optional<check::Importance>& importance,
                                                const std::set<std::string>& maximised = {});

/// Permutation importance of a model's parameters; nothing where no model file is named.
[[nodiscard]] std::optional<check::Importance> importance_of(const std::string& model);

}  // namespace hindsight::app

/// The exact optima of the offline study's tasks: what regret is measured against.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/check/offline.h"

namespace hindsight::check {

/// One optimum of a task: the mean of `objective` over its applications, below its limit of the area.
struct TaskOptimum {
  OfflineTask task;
  std::string objective;  ///< "latency_s", "energy_j", "energy_j * latency_s"
  double value = 0;
  std::string design;  ///< text id
};

/// The objectives that task_optima() knows.
[[nodiscard]] const std::vector<std::string>& optima_objectives();

/// Every task under every objective, in order, but for those of other shards. Error{usage} for an objective that is not
/// known, Error{interrupted} when `watch` ends it.
[[nodiscard]] std::vector<TaskOptimum> task_optima(const std::vector<OfflineTask>& tasks,
                                                   const std::vector<std::string>& objectives,
                                                   const accel::Technology& technology,
                                                   const accel::optimum::Watch& watch = {},
                                                   const sweep::Shard& shard = {});

/// The smallest mean latency of a task over all designs within its limit; nothing when there is none.
/// Error{interrupted} when `watch` ends it.
[[nodiscard]] std::optional<TaskOptimum> latency_optimum(const OfflineTask& task, const accel::Technology& technology,
                                                         const accel::optimum::Watch& watch = {});
/// What optima_csv() wrote, from text; `file` stands for it in messages. Nothing when it is of another evaluator than
/// that of `technology`. Error{usage}: damaged.
[[nodiscard]] std::optional<std::vector<TaskOptimum>> parse_optima(const std::string& text,
                                                                   const accel::Technology& technology,
                                                                   const std::filesystem::path& file);

/// Comments with model and command, a header, one row per optimum: task, applications, limit, objective, aggregate,
/// optimum, design.
[[nodiscard]] std::string optima_csv(const std::vector<TaskOptimum>& optima, const accel::Technology& technology);

}  // namespace hindsight::check

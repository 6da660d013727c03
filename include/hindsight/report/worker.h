/// Renders what a worker did and what work is left.
#pragma once

#include <string>

#include "hindsight/study/worker.h"

namespace hindsight::report {

[[nodiscard]] std::string worker_text(const study::WorkerSummary& summary, const std::string& log, int columns);
[[nodiscard]] std::string worker_json(const study::WorkerSummary& summary, const std::string& log);

/// One line: what is open, leased, expired and done.
[[nodiscard]] std::string tasks_text(const log::TaskCounts& counts);

}  // namespace hindsight::report

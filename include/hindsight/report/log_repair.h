/// Renders what a repair recovered and lost, and what a backup holds.
#pragma once

#include <string>

#include "hindsight/log/backup.h"
#include "hindsight/log/repair.h"

namespace hindsight::report {

/// A row per table that has or had something, then what else is known. `rehearsed`: `output` was not written.
[[nodiscard]] std::string repair_text(const log::RepairResult& result, const std::string& damaged,
                                      const std::string& output, bool rehearsed, int columns);
[[nodiscard]] std::string repair_json(const log::RepairResult& result, const std::string& damaged,
                                      const std::string& output);

[[nodiscard]] std::string backup_text(const log::BackupResult& result, const std::string& log,
                                      const std::string& output, int columns);
[[nodiscard]] std::string backup_json(const log::BackupResult& result, const std::string& log,
                                      const std::string& output);

}  // namespace hindsight::report

/// Measurements of GPUs in the log: tables gpu_sessions, gpu_gemms, gpu_quantities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hindsight/log/log.h"
#include "hindsight/measure/json_lines.h"

namespace hindsight::log {

/// What an append did.
struct MeasurementCounts {
  std::size_t inserted = 0;
  std::size_t already_present = 0;
};

/// Appends a session, if it is new, and its rows in one transaction. A session is the same when all its fields are,
/// a row of a session when its task and rank, or its task, name and argument are: appending twice changes nothing.
/// Errors: Error{usage} for a row that the schema refuses (a status it does not know, a latency that is not ok).
MeasurementCounts append_measurements(Log& log, std::int64_t run_id, const measure::SessionRecords& records);

/// Every session of the log with its rows, oldest first.
[[nodiscard]] std::vector<measure::SessionRecords> gpu_measurements(const Log& log);

}  // namespace hindsight::log

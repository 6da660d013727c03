/// What is new in a log, for who looks at it again and again while others write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/log/log.h"

namespace hindsight::log {

/// A run that has not ended, or was killed.
struct RunningRun {
  std::int64_t run_id = 0;
  std::string kind;
  std::uint64_t rows = 0;  ///< evaluations that it added so far
  friend bool operator==(const RunningRun&, const RunningRun&) = default;
};

struct Pulse {
  /// Another number after every transaction that others committed. It means something only beside one of the same Log.
  std::int64_t data_version = 0;
  std::int64_t last_evaluation_id = 0;  ///< 0: none
  std::vector<RunningRun> running;      ///< newest first, at most kMostRunning
};
inline constexpr std::size_t kMostRunning = 16;  ///< [chosen] more than one line shows

/// Takes the same time whatever the log's size. Errors: those of reading.
[[nodiscard]] Pulse pulse(const Log& log);

}  // namespace hindsight::log

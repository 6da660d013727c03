/// The n-th call of a kind fails, for n = 1, 2, ... to the last one that the command makes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "fault/scenario.h"
#include "fault/tally.h"

namespace hindsight::fault {

struct FailLoop {
  std::string call;            ///< open, read, write, fsync, rename, mmap, truncate, unlink, close, malloc
  std::string error = "EIO";   ///< name of errno
  std::string times = "once";  ///< or forever
  /// At most so many n, the first and the last among them, at equal distances; 0: every one.
  std::int64_t most = 0;
};

/// After each failure: an exit code other than 0 and one line that names a file, or success and the result of an
/// undisturbed command; the previous file or the new one; a sound log with all rows that were there; nothing left
/// behind. Then the same command, undisturbed, comes to the same result.
[[nodiscard]] Tally fail_at_every(const Scenario& scenario, const FailLoop& loop, const std::filesystem::path& folder);

}  // namespace hindsight::fault

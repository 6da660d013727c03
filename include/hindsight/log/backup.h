/// A copy of a log that others may be writing to.
#pragma once

#include <cstdint>
#include <filesystem>

namespace hindsight::log {

struct BackupResult {
  std::uint64_t evaluations = 0, designs = 0, runs = 0;  ///< in the copy
  std::uint64_t bytes = 0;
};

/// Copies `log` to the new file `output` as it is at one moment: what is committed then, and nothing of what is not,
/// whoever writes meanwhile (they are not held up). The copy is page by page, so that everything is in it, and gets its
/// name when it is whole and on the disk. Errors: those of Log::open() for reading; Error{usage} when `output` is
/// there; Error{failure} when the disk fails; Error{interrupted} after Ctrl-C.
BackupResult back_up_log(const std::filesystem::path& log, const std::filesystem::path& output);

}  // namespace hindsight::log

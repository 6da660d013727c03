/// Commits into a log at the moment of a call of the repair that reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "fault/tally.h"

namespace hindsight::fault {

/// Who commits: a sweep that opens the log and closes it, by which commits move to the log's pages; or a sweep beside
/// somebody who has the log open all the time and moves them there.
enum class Committer { comes_and_goes, stays };

struct CommitLoop {
  Committer committer = Committer::stays;
  std::string times = "once";  ///< or forever: a commit at every call of one repair
  std::int64_t most = 0;       ///< as that of FailLoop, and as many of the first calls: there the files are copied
};

/// `log repair` of a sound log stops at its n-th opening or reading of a file, for n = 1, 2, ..., and a commit comes
/// meanwhile. The repair has all rows that were there when it began, none that there never were, and says that every
/// row was recovered; where commits never end it may say so, exit code 1, and leave nothing. The log stays sound.
[[nodiscard]] Tally commit_at_every(const CommitLoop& loop, const std::filesystem::path& folder);

}  // namespace hindsight::fault

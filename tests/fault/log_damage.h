/// A log, or the -wal file beside it, that was cut or changed at random, and what the verbs say and repair.
#pragma once

#include <cstdint>
#include <filesystem>

#include "fault/tally.h"

namespace hindsight::fault {

/// `count` damages. `log verify` and `log hash` end by themselves, with exit code 0 or 4. What `log verify` calls sound
/// has all rows, or, of a damaged -wal file, exactly the content of one of its commits. `log repair` gives a sound log
/// without rows that never were, or says that no row is readable and leaves nothing.
/// Differs: a number that changed where it stands stays unseen; pages of SQLite carry no checksum.
[[nodiscard]] Tally damage_log(std::int64_t count, std::uint64_t seed, const std::filesystem::path& folder);

}  // namespace hindsight::fault

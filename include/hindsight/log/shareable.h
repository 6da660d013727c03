/// Logs to give away: nothing in them says who wrote them, where or when.
#pragma once

#include <filesystem>

#include "hindsight/log/log.h"

namespace hindsight::log {

/// Copies the log into the new `file`, compacted and in one piece (no write-ahead log beside it). Of its runs the
/// command line, host, user, folder, commit and times are blank, of models their files, and all other times but those
/// of GPU measurements, which keep their host, too. Logs that were written by the same operations give the same bytes,
/// wherever and whenever that was.
/// The log is one that was opened for writing: SQLite 3.40 copies no other in this way.
/// Error{failure} when `file` exists or cannot be written.
void write_shareable_copy(const Log& log, const std::filesystem::path& file);

}  // namespace hindsight::log

/// Opening SQLite files safely, and translating SQLite's errors into messages for a person.
/// Private to the log layer.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/log/log.h"

struct sqlite3;

namespace hindsight::log {

/// A path as it may stand in a message.
[[nodiscard]] std::string shown(const std::filesystem::path& file);

/// Error{usage}, with the command that makes it, where the folder of a new file is not there.
void require_folder_of(const std::filesystem::path& file);

/// What a damaged log is told to do: "Restore it from a copy, or rescue its rows: `hindsight log repair ...`."
[[nodiscard]] std::string rescue_remedy(const std::filesystem::path& file);
/// "`hindsight log VERB FILE`", to be pasted.
[[nodiscard]] std::string log_command(std::string_view verb, const std::filesystem::path& file);

/// The operating system's reason for the last failure on this connection (may be null), as an errno; 0 = not known.
/// SQLite does not tell it for a failed commit: then the thread's errno serves, if it is one of a full or broken disk.
[[nodiscard]] int system_error_of(sqlite3* handle, int thread_errno);

/// How what a command stores is committed, for what an error leaves of it.
enum class Commits {
  in_batches,  ///< those before the error are kept
  as_a_whole,  ///< nothing is
};

/// Throws the Error that `error` means for a user of `file`. `doing` completes "failed while ...".
[[noreturn]] void throw_translated(const SQLite::Exception& error, int system_error, const std::filesystem::path& file,
                                   std::string_view doing, Commits commits = Commits::in_batches);

/// Calls `body` and translates SQLite's exceptions.
template <class Body>
decltype(auto) translating(sqlite3* handle, const std::filesystem::path& file, std::string_view doing, Body&& body,
                           Commits commits = Commits::in_batches) {
  errno = 0;
  try {
    return std::forward<Body>(body)();
  } catch (const SQLite::Exception& error) {
    throw_translated(error, system_error_of(handle, errno), file, doing, commits);
  }
}

/// Name of the network or shared file system with this statfs type, or nullptr for a local one.
[[nodiscard]] const char* network_file_system_name(long file_system_type);

/// Settings of every connection to a file that somebody else may have made: nothing in its schema runs code, no view or
/// virtual table of it is read, and no value is longer than kMostTextBytes. SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE is on:
/// closing does not write.
void distrust(SQLite::Database& database);

/// Whether statements may read views of the file; those of the connection itself (TEMP) they may always.
void allow_views(SQLite::Database& database, bool allowed);

/// [chosen] Longest text or row, bytes: above a log's longest text (a network's layers are read from at most 16 MiB),
/// and so little that a few copies of it harm nobody.
inline constexpr int kMostTextBytes = 64 << 20;

/// An open log file: checked, migrated (when writable) and configured.
struct Connection {
  SQLite::Database database;
  std::vector<std::string> warnings;
};
[[nodiscard]] Connection open_connection(const std::filesystem::path& file, OpenMode mode,
                                         std::chrono::milliseconds busy_timeout);

/// URI by which another connection can ATTACH a log to read it. That log stays open (OpenMode::read_only) meanwhile:
/// it was checked then, and its connection clears away what SQLite puts beside the file.
[[nodiscard]] std::string reading_uri(const std::filesystem::path& file);

}  // namespace hindsight::log

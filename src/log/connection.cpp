/// Opening SQLite files safely, and translating SQLite's errors.
#include "log/connection.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "hindsight/core/error.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"
#include "hindsight/log/durability.h"
#include "log/schema.h"

namespace hindsight::log {
namespace {

namespace fs = std::filesystem;

/// Page cache of one connection, KiB. [chosen] holds the upper levels of the index over 10^8 design hashes.
constexpr int kCacheKib = 65536;
/// WAL pages after which a commit also checkpoints. [chosen] 16 MiB: large batches write each index page once.
constexpr int kAutoCheckpointPages = 4096;
/// A WAL file that grew beyond this is cut back at the next checkpoint. [chosen]
constexpr int kJournalSizeLimitBytes = 64 * 1024 * 1024;

/// [spec: sqlite-format] SQLite file format: the smallest page, and so the smallest database.
constexpr std::uintmax_t kSmallestDatabaseBytes = 512;

/// SQLite URI of a file; the path is escaped so that no part of it is read as an option.
std::string uri_of(const fs::path& file, std::string_view options) {
  const std::string absolute = fs::absolute(file).string();
  std::string uri = "file://";
  for (const char c : absolute) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                       byte == '/' || byte == '.' || byte == '_' || byte == '-';
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri + std::string(options);
}

void enable(sqlite3* handle, int option, bool on) { sqlite3_db_config(handle, option, on ? 1 : 0, nullptr); }

/// The file is a log: closing it may merge its -wal file.
void trust(SQLite::Database& database) { enable(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false); }

bool exists_beside(const fs::path& file, const char* suffix) {
  std::error_code ignored;
  return fs::exists(fs::path(file.string() + suffix), ignored);
}

std::uintmax_t size_beside(const fs::path& file, const char* suffix) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(fs::path(file.string() + suffix), error);
  return error ? 0 : size;
}

fs::path folder_of(const fs::path& file) {
  const fs::path parent = fs::absolute(file).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

/// Refuses what cannot be a log by its path alone. Returns true when the file exists and has content.
bool check_path(const fs::path& file, OpenMode mode) {
  if (file.empty() || file.native().find('\0') != std::string::npos) {
    throw Error(ErrorKind::usage, "the name of the log is empty or contains a NUL byte. Name a file, e.g. study.db.");
  }
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (status.type() == fs::file_type::not_found) {
    if (mode != OpenMode::read_write_create) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: no such log. Check the path, or create one with `hindsight sweep`.", shown(file)));
    }
    require_folder_of(file);
    return false;
  }
  if (error) {
    throw Error(ErrorKind::failure, fmt::format("{}: cannot be opened: {}. Check the permissions of the path.",
                                                shown(file), error.message()));
  }
  if (status.type() == fs::file_type::directory) {
    throw Error(ErrorKind::usage, fmt::format("{}: is a folder, not a log. Name a file in it, e.g. {}.", shown(file),
                                              shown(file / "study.db")));
  }
  if (status.type() != fs::file_type::regular) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: is not a regular file (a log is one). Name another file.", shown(file)));
  }
  const std::uintmax_t size = fs::file_size(file, error);
  if (!error && size > 0 && size < kSmallestDatabaseBytes && !exists_beside(file, "-journal")) {
    // SQLite takes a file of one byte for an empty database and would overwrite it.
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: not a Hindsight log ({} bytes are too few for a SQLite file). "
                            "Name another file; this one is unchanged.",
                            shown(file), size));
  }
  const bool has_content = error || size > 0 || size_beside(file, "-wal") > 0;
  if (!has_content && mode == OpenMode::read_only) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: an empty file: nothing was logged yet. Run `hindsight sweep` first.", shown(file)));
  }
  return error || size > 0;
}

/// Looks at an existing file without a lock and without leaving a trace, and refuses what is surely not a log.
/// (The file is not read by other means: closing a descriptor of our own would drop SQLite's locks on it.)
void refuse_foreign_file(const fs::path& file) {
  const char* doing = "opening it";
  try {
    SQLite::Database database(uri_of(file, "?mode=ro&immutable=1"), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    doing = "reading its header";
    distrust(database);
    if (!identify(database).blank()) {
      require_log_or_blank(database, file, kSchemaVersion);
    }
  } catch (const SQLite::Exception& error) {
    // A journal of an interrupted commit may be what makes the file whole: the full open decides then.
    if (exists_beside(file, "-journal") || exists_beside(file, "-wal")) {
      return;
    }
    throw_translated(error, system_error_of(nullptr, errno), file, doing);
  }
}

void enable_wal(SQLite::Database& database, std::chrono::milliseconds busy_timeout, std::vector<std::string>& warnings,
                const fs::path& file) {
  const auto deadline = std::chrono::steady_clock::now() + busy_timeout;
  std::string journal_mode;
  for (;;) {
    try {
      journal_mode = database.execAndGet("PRAGMA journal_mode = WAL").getString();
      break;
    } catch (const SQLite::Exception& error) {
      // Two processes that switch at once: SQLite reports busy here without waiting.
      const int code = error.getErrorCode() & 0xff;
      if ((code != SQLITE_BUSY && code != SQLITE_LOCKED) || std::chrono::steady_clock::now() > deadline) {
        throw;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  if (journal_mode != "wal") {
    warnings.push_back(
        fmt::format("{}: this file system has no shared memory for a write-ahead log; journal mode is "
                    "'{}' (slower, and readers wait for writers).",
                    shown(file), journal_mode));
  }
  database.exec(fmt::format(
      "PRAGMA synchronous = {}; PRAGMA wal_autocheckpoint = {}; "
      "PRAGMA journal_size_limit = {}; PRAGMA cache_size = -{}",
      durability() == Durability::full ? "FULL" : "NORMAL", kAutoCheckpointPages, kJournalSizeLimitBytes, kCacheKib));
}

/// Flags and URI options that read a log with the least assumptions its folder allows.
struct ReadAccess {
  int flags;
  const char* options;
};

/// A writable folder: a normal connection that refuses changes, so that -wal and -shm go away when it closes.
/// Otherwise a plain read-only connection when a -wal file tells that somebody may be writing; else the file is as
/// good as carved in stone. SQLite locks nothing between threads: a log is used by one at a time.
ReadAccess read_access(const fs::path& file) {
  if (access(file.c_str(), W_OK) == 0 && access(folder_of(file).c_str(), W_OK) == 0) {
    return {SQLite::OPEN_READWRITE | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX, ""};
  }
  if (size_beside(file, "-wal") > 0 || exists_beside(file, "-shm")) {
    return {SQLite::OPEN_READONLY | SQLite::OPEN_URI, "?mode=ro"};
  }
  return {SQLite::OPEN_READONLY | SQLite::OPEN_URI, "?mode=ro&immutable=1"};
}

SQLite::Database open_database(const fs::path& file, int flags, const char* options,
                               std::chrono::milliseconds busy_timeout) {
  return translating(nullptr, file, "opening it", [&] {
    now_reading(file);
    return SQLite::Database(uri_of(file, options), flags, static_cast<int>(busy_timeout.count()));
  });
}

Connection open_for_reading(const fs::path& file, std::chrono::milliseconds busy_timeout) {
  const ReadAccess how = read_access(file);
  Connection connection{open_database(file, how.flags, how.options, busy_timeout), {}};
  SQLite::Database& database = connection.database;
  errno = 0;
  try {
    distrust(database);
    const Identity identity = identify(database);
    if (identity.blank()) {
      throw Error(
          ErrorKind::incompatible,
          fmt::format("{}: an empty database: nothing was logged yet. Run `hindsight sweep` first.", shown(file)));
    }
    require_log_or_blank(database, file, kSchemaVersion);
    trust(database);
    require_expected_columns(database, file);
    database.exec("PRAGMA temp_store = MEMORY");
    if (!read_as_newest(database, identity.schema_version)) {
      throw Error(ErrorKind::incompatible,
                  fmt::format("{}: schema version {} is older than {} and must be migrated, but this command only "
                              "reads. A command that writes to it does that: run its sweep again.",
                              shown(file), identity.schema_version, kSchemaVersion));
    }
    database.exec(fmt::format("PRAGMA query_only = ON; PRAGMA cache_size = -{}", kCacheKib));
  } catch (const SQLite::Exception& error) {
    const int code = error.getErrorCode() & 0xff;
    const int reason = system_error_of(database.getHandle(), errno);
    // In a writable folder what cannot be opened is the disk's matter.
    const bool may_not_write = code == SQLITE_READONLY || (code == SQLITE_CANTOPEN && *how.options != '\0');
    if (may_not_write && reason != EIO && size_beside(file, "-wal") > 0) {
      throw Error(ErrorKind::failure,
                  fmt::format("{}: the newest commits are still in {}-wal, which can be merged only in a writable "
                              "folder. Copy both files to one and read the copy.",
                              shown(file), shown(file.filename())));
    }
    throw_translated(error, reason, file, "opening it");
  }
  return connection;
}

/// A file that goes away with its journal.
struct Draft {
  explicit Draft(fs::path file) : path(std::move(file)) {}
  ~Draft() {
    std::error_code ignored;
    fs::remove(path, ignored);
    fs::remove(path.string() + "-journal", ignored);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  fs::path path;
};

/// Gives the name to a log that is whole: a full disk or a kill leaves no empty file of that name. When another process
/// is faster, its log is the one.
void create(const fs::path& file, std::chrono::milliseconds busy_timeout) {
  static std::atomic<unsigned> count{0};
  const Draft draft(fmt::format("{}.{}-{}.new", file.string(), getpid(), ++count));
  {
    SQLite::Database database = translating(nullptr, file, "creating it", [&] {
      return SQLite::Database(uri_of(draft.path, ""), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_URI,
                              static_cast<int>(busy_timeout.count()));
    });
    translating(database.getHandle(), file, "creating it", [&] {
      distrust(database);
      migrate(database, file, migrations());
    });
  }
  if (::link(draft.path.c_str(), file.c_str()) == 0 || errno == EEXIST) return;
  std::error_code error;  // a file system without hard links
  if (!fs::exists(file, error)) fs::rename(draft.path, file, error);
  if (error) {
    throw Error(ErrorKind::failure, fmt::format("{}: cannot be created: {}. Check the permissions of its folder.",
                                                shown(file), error.message()));
  }
}

Connection open_for_writing(const fs::path& file, std::chrono::milliseconds busy_timeout) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(file, ignored))) create(file, busy_timeout);
  Connection connection{
      open_database(file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_URI | SQLite::OPEN_NOMUTEX, "",
                    busy_timeout),
      {}};
  SQLite::Database& database = connection.database;
  translating(database.getHandle(), file, "opening it", [&] {
    distrust(database);
    if (sqlite3_db_readonly(database.getHandle(), "main") == 1) {
      throw Error(ErrorKind::failure,
                  fmt::format("{}: read-only, and this command writes to it. Change its permissions (chmod u+w), or "
                              "work on a copy.",
                              shown(file)));
    }
    // The schema goes in before WAL is switched on, so that the application_id is in the main file from the start.
    migrate(database, file, migrations());
    trust(database);
    require_expected_columns(database, file);
    enable_wal(database, busy_timeout, connection.warnings, file);
  });
  return connection;
}

/// SQLite counts its memory for nobody here, under a lock that the threads of a merge or a sweep wait for. A program
/// that has begun to use SQLite by itself keeps what it has chosen.
void leave_memory_uncounted() { [[maybe_unused]] static const int result = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

}  // namespace

void distrust(SQLite::Database& database) {
  sqlite3* handle = database.getHandle();
  sqlite3_extended_result_codes(handle, 1);
  enable(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
  enable(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, false);
  enable(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, false);
  enable(handle, SQLITE_DBCONFIG_ENABLE_VIEW, false);
  enable(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, false);
  enable(handle, SQLITE_DBCONFIG_DEFENSIVE, true);
  // Virtual tables parse what a file holds for them (FTS, R-tree). These are none of a file; nor are those of PRAGMAs,
  // which SQLite makes when they are asked for.
  const char* kept[] = {"json_each", "json_tree", nullptr};
  sqlite3_drop_modules(handle, kept);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kMostTextBytes);
  database.exec("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA foreign_keys = ON");
}

void allow_views(SQLite::Database& database, bool allowed) {
  enable(database.getHandle(), SQLITE_DBCONFIG_ENABLE_VIEW, allowed);
}

std::string reading_uri(const fs::path& file) {
  const std::string_view options = read_access(file).options;
  return uri_of(file, options.empty() ? "?mode=ro" : options);
}

std::string shown(const fs::path& file) {
  constexpr std::size_t kWidth = 150;  // [chosen] leaves room for the problem and its remedy
  return printable(without_passwords(file.string()), kWidth);
}

void require_folder_of(const fs::path& file) {
  const fs::path folder = folder_of(file);
  std::error_code error;
  if (fs::is_directory(folder, error)) return;
  throw Error(ErrorKind::usage, fmt::format("{}: there is no folder {}. Create it: mkdir -p {}.", shown(file),
                                            shown(folder), shell_quoted(shown(folder))));
}

std::string log_command(std::string_view verb, const fs::path& file) {
  return fmt::format("`hindsight log {} {}`", verb, pasted_path(without_passwords(file.string())));
}

std::string rescue_remedy(const fs::path& file) {
  return fmt::format("Restore it from a copy, or rescue its rows: `hindsight log repair {} --out NEW.sqlite`.",
                     pasted_path(file.string()));
}

const char* network_file_system_name(long file_system_type) {
  // [spec: linux-statfs] statfs(2), linux/magic.h, and the kernel modules of Lustre, GPFS and BeeGFS.
  switch (static_cast<unsigned long>(file_system_type) & 0xffffffffUL) {
    case 0x6969:
      return "NFS";
    case 0x517b:
    case 0xff534d42:
    case 0xfe534d42:
      return "SMB/CIFS";
    case 0x01021997:
      return "9p";
    case 0x5346414f:
      return "AFS";
    case 0x00c36400:
      return "Ceph";
    case 0x0bd00bd0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    case 0x19830326:
      return "BeeGFS";
    default:
      return nullptr;
  }
}

std::optional<std::string> disk_warning(const fs::path& log) {
  struct statfs facts {};
  if (is_server_address(log) || statfs(folder_of(log).c_str(), &facts) != 0) return std::nullopt;
  const char* name = network_file_system_name(static_cast<long>(facts.f_type));
  if (name == nullptr) return std::nullopt;
  return fmt::format(
      "{}: on a {} file system, where a log is safe only while one host uses it. Use a local disk, or one "
      "log per host.",
      shown(log), name);
}

int system_error_of(sqlite3* handle, int thread_errno) {
  if (const int told = handle != nullptr ? sqlite3_system_errno(handle) : 0; told != 0) {
    return told;
  }
  switch (thread_errno) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EIO:
    case EROFS:
    case EACCES:
      return thread_errno;
    default:
      return 0;
  }
}

namespace {

[[noreturn]] void fail_by_disk(const std::string& name, const std::string& reason, const fs::path& file,
                               std::string_view doing, Commits commits) {
  const char* kept =
      commits == Commits::as_a_whole ? "what was committed before is kept" : "committed batches are kept";
  throw Error(ErrorKind::failure, fmt::format("{}: the disk failed while {}{} ({}). Check the disk, then {}.", name,
                                              doing, reason, kept, log_command("verify", file)));
}

}  // namespace

void throw_translated(const SQLite::Exception& error, int system_error, const fs::path& file, std::string_view doing,
                      Commits commits) {
  const std::string name = shown(file);
  const char* kept = commits == Commits::as_a_whole ? "nothing of this step is stored"
                                                    : "what follows is not stored; committed batches are kept";
  const std::string reason = system_error != 0 ? std::string(": ") + std::strerror(system_error) : std::string();
  const auto fail = [](ErrorKind kind, const std::string& message) { throw Error(kind, message); };
  switch (error.getErrorCode() & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      fail(ErrorKind::failure, fmt::format("{}: still locked by another process while {}. Wait for that process to end "
                                           "and run this again; committed batches are kept.",
                                           name, doing));
      break;
    case SQLITE_FULL:
      fail(ErrorKind::failure,
           fmt::format("{}: the disk is full while {} ({}). Free some space and run this again.", name, doing, kept));
      break;
    case SQLITE_IOERR:
      if (system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG) {
        fail(
            ErrorKind::failure,
            fmt::format("{}: no room to write while {}{} ({}). Free some space or raise the limit, and run this again.",
                        name, doing, reason, kept));
      }
      fail_by_disk(name, reason, file, doing, commits);
      break;
    case SQLITE_READONLY:
      fail(ErrorKind::failure, fmt::format("{}: the file, its folder or its disk is read-only while {}. Change the "
                                           "permissions, or work on a copy.",
                                           name, doing));
      break;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      fail(ErrorKind::failure,
           fmt::format("{}: cannot be opened while {}{}. Check that you may read and write the file "
                       "and its folder.",
                       name, doing, reason));
      break;
    case SQLITE_NOTADB:
      fail(ErrorKind::incompatible,
           fmt::format("{}: not a Hindsight log (not a SQLite file). Name another file; this one is unchanged.", name));
      break;
    case SQLITE_CORRUPT:
      // So SQLite calls a page that the disk did not give, too: nothing says that it is damaged.
      if (system_error == EIO) fail_by_disk(name, reason, file, doing, commits);
      fail(ErrorKind::incompatible,
           fmt::format("{}: damaged log ({} while {}). {}", name, error.what(), doing, rescue_remedy(file)));
      break;
    case SQLITE_INTERRUPT:
      throw Error(ErrorKind::interrupted, fmt::format("{}: interrupted while {}.", name, doing));
    case SQLITE_NOMEM:
      fail(ErrorKind::failure, fmt::format("{}: out of memory while {}. Use smaller batches.", name, doing));
      break;
    default:
      fail(ErrorKind::failure, fmt::format("{}: SQLite failed while {}: {}.", name, doing, error.what()));
  }
  throw ContractViolation("unreachable");
}

Connection open_connection(const fs::path& file, OpenMode mode, std::chrono::milliseconds busy_timeout) {
  leave_memory_uncounted();
  if (check_path(file, mode)) {
    refuse_foreign_file(file);
  }
  Connection connection =
      mode == OpenMode::read_only ? open_for_reading(file, busy_timeout) : open_for_writing(file, busy_timeout);
  if (const auto warning = disk_warning(file)) connection.warnings.push_back(*warning);
  return connection;
}

}  // namespace hindsight::log

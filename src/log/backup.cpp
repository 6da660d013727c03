/// Backup: SQLite's own online copy, under a draft's name until it is whole.
#include "hindsight/log/backup.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/log/address.h"
#include "log/draft_file.h"
#include "log/impl.h"
#include "log/read_transaction.h"

namespace hindsight::log {
namespace {

namespace fs = std::filesystem;

/// Pages copied between two looks for Ctrl-C. [chosen] 16 MiB, some hundredths of a second.
constexpr int kPagesAtOnce = 4096;

/// Ends the copy, whatever ends it.
class Copying {
 public:
  Copying(SQLite::Database& to, SQLite::Database& from)
      : to_(to), backup_(sqlite3_backup_init(to.getHandle(), "main", from.getHandle(), "main")) {
    if (backup_ == nullptr) throw SQLite::Exception(to.getHandle());
  }
  ~Copying() { sqlite3_backup_finish(backup_); }
  Copying(const Copying&) = delete;
  Copying& operator=(const Copying&) = delete;

  void run() {
    int code = SQLITE_OK;
    while ((code = sqlite3_backup_step(backup_, kPagesAtOnce)) == SQLITE_OK) {
      if (interrupt_requested()) throw Error(ErrorKind::interrupted, "interrupted while copying; nothing was written");
    }
    if (code != SQLITE_DONE) throw SQLite::Exception(to_.getHandle(), code);
  }

 private:
  SQLite::Database& to_;
  sqlite3_backup* backup_;
};

std::uint64_t backed_up_rows(SQLite::Database& database, const char* table) {
  return static_cast<std::uint64_t>(database.execAndGet(fmt::format("SELECT count(*) FROM {}", table)).getInt64());
}

void require_new(const fs::path& output) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(output, error))) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: is there already, and a backup is a new file. Name another.", shown(output)));
  }
  require_folder_of(output);
}

/// All pages as of the transaction that reads; without a -wal file, so that one file is all.
void copy_pages(Log::Impl& from, const fs::path& draft, const fs::path& output) {
  translating(nullptr, output, "copying to it", [&] {
    SQLite::Database copy(draft.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    distrust(copy);
    sqlite3_db_config(copy.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 0,
                      nullptr);  // it would refuse to go without a journal
    copy.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    Copying(copy, from.database.file()).run();
    copy.exec("PRAGMA journal_mode = DELETE");
  });
}

}  // namespace

BackupResult back_up_log(const fs::path& file, const fs::path& output) {
  require_file(file, "a backup", "Use PostgreSQL's pg_dump, or `hindsight log copy ADDRESS FILE`");
  require_file(output, "a backup", "`hindsight log copy FILE ADDRESS` brings a log to a server");
  require_new(output);
  const Log log = Log::open(file, OpenMode::read_only);
  Log::Impl& from = log.impl();
  const DraftFile draft(output, file);
  BackupResult result;
  from.guarded("copying it", [&] {
    // Holds the moment: without it a writer would make SQLite begin again and again.
    const ReadTransaction moment(from.database.file());
    result.evaluations = backed_up_rows(from.database.file(), "evaluations");
    result.designs = backed_up_rows(from.database.file(), "designs");
    result.runs = backed_up_rows(from.database.file(), "runs");
    copy_pages(from, draft.path(), output);
  });
  {
    const Log copy = Log::open(draft.path(), OpenMode::read_only);
    const bool same = copy.impl().guarded("looking at the copy", [&] {
      return backed_up_rows(copy.impl().database.file(), "evaluations") == result.evaluations;
    });
    if (!same) {
      throw Error(ErrorKind::failure, fmt::format("{}: the copy lacks rows of {}; nothing was written. Run this again.",
                                                  shown(output), shown(file)));
    }
  }
  std::error_code ignored;
  result.bytes = fs::file_size(draft.path(), ignored);
  draft.publish();
  return result;
}

}  // namespace hindsight::log

/// Repair: what may be written, what is read, and the new log's name.
#include "hindsight/log/repair.h"

#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdint>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"
#include "log/draft_file.h"
#include "log/impl.h"
#include "log/interruptible.h"
#include "log/rescue.h"

namespace hindsight::log {
namespace {

namespace fs = std::filesystem;

void require_files(const fs::path& damaged, const fs::path& output) {
  std::error_code error;
  if (!fs::is_regular_file(damaged, error)) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: no such file, or not a regular one. Check the path.", shown(damaged)));
  }
  if (fs::exists(fs::symlink_status(output, error))) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: is there already, and a repaired log is a new file. Name another.", shown(output)));
  }
  if (const fs::path folder = fs::absolute(output).parent_path(); !fs::is_directory(folder, error)) {
    throw Error(ErrorKind::usage, fmt::format("{}: there is no folder {}. Create it: mkdir -p {}.", shown(output),
                                              shown(folder), shell_quoted(shown(folder))));
  }
}

bool is_beside(const fs::path& file, const char* ending) {
  std::error_code ignored;
  const auto bytes = fs::file_size(file.string() + ending, ignored);
  return !ignored && bytes > 0;
}

/// A disk that fails now says nothing about what the files hold.
bool is_of_the_disk(int code) {
  const int kind = code & 0xff;
  return kind == SQLITE_IOERR || kind == SQLITE_FULL || kind == SQLITE_CANTOPEN;
}

/// The damaged file, or a copy into which SQLite brought what its -wal or -journal file holds.
class Readable {
 public:
  Readable(const fs::path& damaged, const fs::path& output)
      : copy_(output.string() + ".copy", damaged), path_(damaged) {
    if (!is_beside(damaged, "-wal") && !is_beside(damaged, "-journal")) return;
    path_ = copy_.path();
    for (const char* ending : {"", "-wal", "-journal"}) {
      if (*ending != '\0' && !is_beside(damaged, ending)) continue;
      std::error_code error;
      fs::copy_file(damaged.string() + ending, path_.string() + ending, fs::copy_options::overwrite_existing, error);
      if (!error) continue;
      throw Error(ErrorKind::failure, fmt::format("{}{}: cannot be copied beside {}: {}. Is there room?",
                                                  shown(damaged), ending, shown(output), error.message()));
    }
    bring_in(damaged, output);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] bool newest_lost() const { return newest_lost_; }

 private:
  void bring_in(const fs::path& damaged, const fs::path& output) {
    try {
      SQLite::Database database(path_.string(), SQLite::OPEN_READWRITE);
      distrust(database);
      // Lets SQLite work on a file that is shorter than its header says.
      sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
      database.exec("PRAGMA writable_schema = ON");
      database.execAndGet("SELECT count(*) FROM sqlite_master");
      newest_lost_ = database.execAndGet("PRAGMA wal_checkpoint(TRUNCATE)").getInt() != 0;
    } catch (const SQLite::Exception& error) {
      if ((error.getErrorCode() & 0xff) == SQLITE_NOMEM) throw std::bad_alloc();
      if (is_of_the_disk(error.getErrorCode())) {
        throw Error(ErrorKind::failure,
                    fmt::format("{}: its newest commits cannot be brought into a copy beside {}: {}. Nothing was "
                                "written. Is there room, and is the disk sound? Then move its -wal or -journal file "
                                "away, which gives these commits up",
                                shown(damaged), shown(output), error.what()));
      }
      newest_lost_ = true;
    }
  }

  DraftFile copy_;
  fs::path path_;
  bool newest_lost_ = false;
};

/// Refuses what says that it is something else. A file that says nothing may be a log whose first page is damaged.
void require_log(const fs::path& damaged) {
  const PageFile file(damaged);
  if (!file.schema_version()) return;
  if (file.application_id() != static_cast<std::uint32_t>(kApplicationId)) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: not a Hindsight log (a SQLite file of another program, application_id 0x{:08x}). Name "
                            "another file.",
                            shown(damaged), file.application_id()));
  }
  // SQLite keeps the version as a signed number; one below 0 is damage, as 0 is.
  constexpr std::uint32_t kNewestPossible = std::numeric_limits<std::int32_t>::max();
  if (*file.schema_version() > static_cast<std::uint32_t>(kSchemaVersion) &&
      *file.schema_version() <= kNewestPossible) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: schema version {}, and this is Hindsight {}, which knows versions up to {}. Repair it "
                            "with the version that wrote it.",
                            shown(damaged), *file.schema_version(), build_info().version, kSchemaVersion));
  }
}

void require_rows(const RepairResult& result, const fs::path& damaged) {
  for (const RepairedTable& table : result.tables) {
    if (table.recovered > 0) return;
  }
  throw Error(
      ErrorKind::incompatible,
      fmt::format("{}: no row of a log is readable ({} looked at); nothing was written. Is it a log? Restore it "
                  "from a copy.",
                  shown(damaged), counted(result.pages, "page")));
}

/// The last word is that of `log verify`.
void require_sound(const fs::path& draft, const fs::path& output) {
  const Verification verification = Log::open(draft, OpenMode::read_only).verify();
  if (verification.sound()) return;
  throw Error(ErrorKind::failure,
              fmt::format("{}: not written, because {}: {}. Report it, with the damaged log if you may.", shown(output),
                          kUnsoundRepair, verification.problems.front()));
}

RepairResult fill(Salvage& salvage, const fs::path& draft, const fs::path& damaged, const Provenance& provenance) {
  Log log = Log::open(draft, OpenMode::read_write_create);
  restrict_as(draft, damaged);
  SQLite::Database& database = log.impl().database.file();
  return log.impl().guarded("writing what was recovered", [&] {
    const Interruptible until_interrupted(database);
    database.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF");
    SQLite::Transaction transaction(database);
    RepairResult result = Rescue(salvage, log).run();
    const nlohmann::ordered_json options{{"damaged", printable(damaged.string(), kWholeText)}};
    const std::int64_t run = insert_run(database, "repair", provenance, options.dump());
    log.end_run(run, RunStatus::finished);
    transaction.commit();
    return result;
  });
}

}  // namespace

RepairResult repair_log(const fs::path& damaged, const fs::path& output, const Provenance& provenance) {
  require_file(damaged, "a repair", "Restore the server's database from its backup");
  require_file(output, "a repair", "Name a new file");
  require_files(damaged, output);
  const DraftFile draft(output);
  RepairResult result;
  {
    const Readable readable(damaged, output);
    require_log(readable.path());
    Salvage salvage(readable.path());
    result = fill(salvage, draft.path(), damaged, provenance);
    if (readable.newest_lost()) {
      result.notes.push_back(
          fmt::format("{}-wal or -journal could not be brought in: the newest commits are lost", shown(damaged)));
    }
  }
  require_rows(result, damaged);
  require_sound(draft.path(), output);
  draft.publish();
  return result;
}

}  // namespace hindsight::log

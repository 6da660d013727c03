/// Repair: what may be written, what is read, and the new log's name.
#include "hindsight/log/repair.h"

#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"
#include "log/draft_file.h"
#include "log/impl.h"
#include "log/interruptible.h"
#include "log/rescue.h"

namespace hindsight::log {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCompared = 1U << 20U;   // [chosen] a piece of a file
constexpr std::uint64_t kWalHeaderBytes = 32;  // [spec: sqlite-format] 4.1: salts tell one beginning from the next
/// [chosen] Commits move to the pages when 16 MiB of them have gathered, or when who wrote ends: seldom.
constexpr int kMostCopies = 5;

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
  require_folder_of(output);
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

/// Names of what SQLite puts beside a file and rows may stand in, and of the file itself.
constexpr std::array<const char*, 3> kEndings{"", "-wal", "-journal"};

/// Somebody has it open, or had and left commits beside it.
bool is_in_use(const fs::path& file) {
  std::error_code ignored;
  return is_beside(file, "-wal") || is_beside(file, "-journal") || fs::exists(file.string() + "-shm", ignored);
}

/// What shows of a file that nobody had open whether somebody has written to it since.
struct Trace {
  std::uintmax_t bytes = 0;
  fs::file_time_type written = {};
  bool in_use = false;
  bool operator==(const Trace&) const = default;
};

Trace trace_of(const fs::path& file) {
  std::error_code ignored;
  return {
      .bytes = fs::file_size(file, ignored), .written = fs::last_write_time(file, ignored), .in_use = is_in_use(file)};
}

std::uint64_t pieces_of(const fs::path& file) {
  std::error_code none;
  const auto bytes = fs::file_size(file, none);
  return none ? 0 : bytes / kCompared + 1;
}

/// Piece by piece, so that Ctrl-C ends it; for nobody else to read than may read `like`. 0, or why it failed (errno).
int copy_by_pieces(const fs::path& from, const fs::path& to, const fs::path& like) {
  errno = 0;
  const auto reason = [] { return errno == 0 ? EIO : errno; };
  std::ifstream in(from, std::ios::binary);
  if (!in) return reason();
  std::ofstream out(to, std::ios::binary | std::ios::trunc);
  if (!out) return reason();
  restrict_as(to, like);
  const Steps steps("copying the log", pieces_of(from));
  std::vector<char> piece(kCompared);
  for (std::uint64_t copied = 0; in; ++copied) {
    steps.at(copied);
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    if (in.bad() || !out.write(piece.data(), in.gcount())) return reason();
  }
  out.close();
  return out ? 0 : reason();
}

/// Whether the first `most` bytes of a file are still those of its copy. A file that is gone has none.
bool begins_as(const fs::path& file, const fs::path& copy, std::uint64_t most) {
  std::ifstream now(file, std::ios::binary);
  const bool is_gone = !now && errno == ENOENT;
  std::ifstream then(copy, std::ios::binary);
  if (!now && !is_gone) now.setstate(std::ios::badbit);
  if (!then) then.setstate(std::ios::badbit);
  const Steps steps("comparing the log with its copy", pieces_of(copy));
  std::vector<char> left(kCompared), right(kCompared);
  for (std::uint64_t compared = 0; compared < most; compared += kCompared) {
    steps.at(compared / kCompared);
    const auto wanted = static_cast<std::streamsize>(std::min<std::uint64_t>(kCompared, most - compared));
    now.read(left.data(), wanted);
    then.read(right.data(), wanted);
    if (now.bad() || then.bad()) {
      throw Error(ErrorKind::failure, fmt::format("{}: the disk fails while it is read. Copy the file to another disk, "
                                                  "e.g. with ddrescue, and repair the copy.",
                                                  shown(file)));
    }
    if (now.gcount() != then.gcount() || !std::equal(left.begin(), left.begin() + now.gcount(), right.begin())) {
      return false;
    }
    if (now.gcount() < wanted) return true;
  }
  return true;
}

/// How a damaged file is read.
enum class Reading {
  where_it_lies,  ///< unless somebody has it open, or commits stand beside it
  as_a_copy,
};

/// The damaged file, or a copy into which SQLite brought what its -wal or -journal file holds.
class Readable {
 public:
  Readable(const fs::path& damaged, const fs::path& output, Reading reading)
      : damaged_(damaged), copy_(output.string() + ".copy", damaged), path_(damaged), trace_(trace_of(damaged)) {
    if (reading == Reading::where_it_lies && !trace_.in_use) return;
    path_ = copy_.path();
    int copies = 1;
    while (!copy_as_of_one_moment(output)) {
      if (copies++ < kMostCopies) continue;
      throw Error(ErrorKind::failure,
                  fmt::format("{}: its pages change faster than they can be copied: somebody writes to it. Nothing was "
                              "written. End what writes to it and run this again; `hindsight log backup` copies a "
                              "sound log while it is written",
                              shown(damaged)));
    }
    if (is_beside(path_, "-wal") || is_beside(path_, "-journal")) bring_in(output);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] bool newest_lost() const { return newest_lost_; }
  /// False: somebody wrote to the file while it was read where it lies.
  [[nodiscard]] bool was_left_alone() const { return path_ != damaged_ || trace_of(damaged_) == trace_; }

 private:
  /// False: somebody moved commits from the -wal file to the pages meanwhile, so that the copies are of two moments.
  /// What was appended to the -wal file does no harm: SQLite takes whole commits of it.
  [[nodiscard]] bool copy_as_of_one_moment(const fs::path& output) const {
    for (const char* ending : kEndings) {
      const fs::path from = damaged_.string() + ending, to = path_.string() + ending;
      std::error_code error;
      if (*ending != '\0') fs::remove(to, error);
      if (*ending != '\0' && !is_beside(damaged_, ending)) continue;
      const int reason = copy_by_pieces(from, to, damaged_);
      if (reason == 0) continue;
      if (*ending != '\0' && reason == ENOENT) return false;
      throw Error(ErrorKind::failure, fmt::format("{}{}: cannot be copied beside {}: {}. Is there room?",
                                                  shown(damaged_), ending, shown(output), std::strerror(reason)));
    }
    if (!begins_as(damaged_, path_, std::numeric_limits<std::uint64_t>::max())) return false;
    const fs::path copied_wal = path_.string() + "-wal";
    return !is_beside(path_, "-wal") || begins_as(damaged_.string() + "-wal", copied_wal, kWalHeaderBytes);
  }

  void bring_in(const fs::path& output) {
    try {
      SQLite::Database database(path_.string(), SQLite::OPEN_READWRITE);
      distrust(database);
      // Lets SQLite work on a file that is shorter than its header says.
      sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 0, nullptr);
      database.exec("PRAGMA writable_schema = ON");
      database.execAndGet("SELECT count(*) FROM sqlite_master");
      newest_lost_ = database.execAndGet("PRAGMA wal_checkpoint(TRUNCATE)").getInt() != 0;
    } catch (const SQLite::Exception& error) {
      if ((error.getErrorCode() & 0xff) == SQLITE_NOMEM || error.getExtendedErrorCode() == SQLITE_IOERR_NOMEM) {
        throw std::bad_alloc();
      }
      if (is_of_the_disk(error.getErrorCode())) {
        throw Error(ErrorKind::failure,
                    fmt::format("{}: its newest commits cannot be brought into a copy beside {}: {}. Nothing was "
                                "written. Is there room, and is the disk sound? Then move its -wal or -journal file "
                                "away, which gives these commits up",
                                shown(damaged_), shown(output), error.what()));
      }
      newest_lost_ = true;
    }
  }

  fs::path damaged_;
  DraftFile copy_;
  fs::path path_;
  Trace trace_;
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

/// Nothing when somebody wrote to the file while it was read.
std::optional<RepairResult> try_to_repair(const fs::path& damaged, const fs::path& output, const Provenance& provenance,
                                          Reading reading) {
  const DraftFile draft(output);
  RepairResult result;
  {
    const Readable readable(damaged, output, reading);
    require_log(readable.path());
    Salvage salvage(readable.path());
    result = fill(salvage, draft.path(), damaged, provenance);
    if (!readable.was_left_alone()) return std::nullopt;
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

}  // namespace

RepairResult repair_log(const fs::path& damaged, const fs::path& output, const Provenance& provenance) {
  require_file(damaged, "a repair", "Restore the server's database from its backup");
  require_file(output, "a repair", "Name a new file");
  require_files(damaged, output);
  if (auto result = try_to_repair(damaged, output, provenance, Reading::where_it_lies)) return *std::move(result);
  return try_to_repair(damaged, output, provenance, Reading::as_a_copy).value();
}

}  // namespace hindsight::log

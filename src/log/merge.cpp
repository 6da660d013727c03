/// Logs into one: a new log grows under another name, one that is there changes in one transaction.
#include "hindsight/log/merge.h"

#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <future>
#include <nlohmann/json.hpp>
#include <numeric>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"
#include "log/draft_file.h"
#include "log/impl.h"
#include "log/interruptible.h"
#include "log/merge_known.h"
#include "log/merge_source.h"
#include "log/origins.h"
#include "log/schema.h"

namespace hindsight::log {
namespace {

namespace fs = std::filesystem;

constexpr EnumNames<Contradictions, 2> kContradictions = {
    {{Contradictions::refuse, "error"}, {Contradictions::keep_first, "first"}}};

/// The schema version that brought `repeat`.
constexpr int kFirstVersionWithRepeats = 3;

/// Page cache of a log that grows, KiB. [chosen] holds the index over the designs of some million rows.
constexpr int kDraftCacheKib = 262'144;

/// A log that grows under the name of a draft: nobody else reads it and nothing of it survives a failure, so that its
/// changes need no journal on the disk.
Log open_draft(const DraftFile& draft) {
  Log log = Log::open(draft.path(), OpenMode::read_write_create);
  log.impl().guarded("preparing it", [&] {
    log.impl().database.file().exec(
        fmt::format("PRAGMA main.journal_mode = MEMORY; PRAGMA main.synchronous = OFF; PRAGMA main.cache_size = -{}",
                    kDraftCacheKib));
  });
  return log;
}

/// Maps take the place of SQLite's checks, row by row, that what a row refers to is there.
class WithoutForeignKeys {
 public:
  explicit WithoutForeignKeys(Log& log) : log_(log) { log_.impl().database.file().exec("PRAGMA foreign_keys = OFF"); }
  ~WithoutForeignKeys() { log_.impl().database.file().tryExec("PRAGMA foreign_keys = ON"); }
  WithoutForeignKeys(const WithoutForeignKeys&) = delete;
  WithoutForeignKeys& operator=(const WithoutForeignKeys&) = delete;

 private:
  Log& log_;
};

/// SQLite does not say which of both files failed: rows that the schema refuses and damaged pages are the input's.
[[noreturn]] void throw_merging(const SQLite::Exception& error, sqlite3* handle, const fs::path& given,
                                const fs::path& output) {
  const int code = error.getErrorCode() & 0xff;
  if (code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: damaged log: {}. {} lists what is wrong; nothing was written.", shown(given),
                            error.what(), log_command("verify", given)));
  }
  const bool of_input = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
  throw_translated(error, system_error_of(handle, errno), of_input ? given : output, "merging");
}

std::uint64_t rows_of(SQLite::Database& database, const char* table) {
  return static_cast<std::uint64_t>(database.execAndGet(fmt::format("SELECT count(*) FROM {}", table)).getInt64());
}

/// Copies the pages of a log that are in use, and with them all that it holds, into a new file. `draft`: absolute,
/// since SQLite takes "file:..." for a URI.
void copy_log(const fs::path& file, const fs::path& draft, const fs::path& output) {
  const Log log = Log::open(file, OpenMode::read_only);
  SQLite::Database& database = log.impl().database.file();
  errno = 0;
  try {
    const Interruptible until_interrupted(database);
    // SQLite counts the copy as writing; this connection ends here, and nothing else is asked of it.
    database.exec("PRAGMA query_only = OFF");
    SQLite::Statement copy(database, "VACUUM INTO ?");
    copy.bind(1, draft.string());
    const std::uint64_t rows = rows_of(database, "evaluations");
    copy.exec();
    SQLite::Database made(draft.string(), SQLite::OPEN_READONLY);
    distrust(made);
    if (rows_of(made, "evaluations") < rows) {
      throw Error(ErrorKind::failure,
                  fmt::format("{}: its copy for {} lacks rows; nothing was written. Run this again, "
                              "and report it if it happens again.",
                              shown(file), shown(output)));
    }
  } catch (const SQLite::Exception& error) {
    throw_merging(error, database.getHandle(), file, output);
  }
}

/// Logs to bring along in turn, looked at before they are: while one is brought along, the next is read.
class CheckedLogs {
 public:
  explicit CheckedLogs(std::vector<fs::path> files, fs::path output)
      : files_(std::move(files)), output_(std::move(output)) {
    look_ahead();
  }

  /// The next one, open for reading; what its rows name is there. Errors: see require_sound_references.
  [[nodiscard]] Log take() {
    HINDSIGHT_EXPECT(ahead_.valid());
    Log log = ahead_.get();
    look_ahead();
    return log;
  }

 private:
  void look_ahead() {
    if (next_ == files_.size()) return;
    ahead_ = std::async(std::launch::async, [file = files_[next_++], output = output_] {
      Log log = Log::open(file, OpenMode::read_only);
      SQLite::Database& database = log.impl().database.file();
      errno = 0;
      try {
        const Interruptible until_interrupted(database);
        require_sound_references(database, file);
      } catch (const SQLite::Exception& error) {
        throw_merging(error, database.getHandle(), file, output);
      }
      return log;
    });
  }

  std::vector<fs::path> files_;
  fs::path output_;
  std::size_t next_ = 0;
  std::future<Log> ahead_;
};

/// One log to bring along.
struct Step {
  Origins given;    ///< in messages: the logs that its rows are from,
  Origins main;     ///< and those of the rows that are there already
  fs::path output;  ///< the log that is written, in messages
  Contradictions contradictions;
};

/// Brings `given` to `log` in one transaction, in which `at_end` is called with what was read.
template <class AtEnd>
void merge_into(Log& log, const Log& given, const Step& step, AtEnd&& at_end) {
  const bool repeats = identify(given.impl().database.file()).schema_version >= kFirstVersionWithRepeats;
  const WithoutForeignKeys without(log);
  const Attached attached(log, given);
  SQLite::Database& database = log.impl().database.file();
  errno = 0;
  try {
    const Interruptible until_interrupted(database);
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    const SourceCounts counts = SourceMerge(database, step.given, step.main, repeats, step.contradictions).merge();
    at_end(counts);
    transaction.commit();
  } catch (const SQLite::Exception& error) {
    throw_merging(error, log.impl().database.file().getHandle(), step.given.file(), step.output);
  }
}

std::string options_json(const std::vector<fs::path>& inputs, Contradictions contradictions) {
  nlohmann::ordered_json json{{"inputs", nlohmann::ordered_json::array()},
                              {"duplicates", std::string(name_in(kContradictions, contradictions))}};
  for (const fs::path& input : inputs) json["inputs"].push_back(printable(input.string(), kWholeText));
  return json.dump();
}

/// No file, or one as mktemp makes it: a log that is created there appears whole or not at all.
bool holds_nothing(const fs::path& file) {
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(file, ignored);
  return !fs::exists(status) ||
         (fs::is_regular_file(status) && fs::is_empty(file, ignored) && !fs::exists(file.string() + "-wal", ignored));
}

/// Merging in a row of steps, which ends with its run.
class Merge {
 public:
  Merge(const std::vector<fs::path>& inputs, const fs::path& output, Contradictions contradictions,
        const Provenance& provenance)
      : inputs_(inputs), output_(output), contradictions_(contradictions), provenance_(provenance) {}

  MergeResult run() {
    for (const fs::path& input : inputs_) {
      const Log log = Log::open(input, OpenMode::read_only);
      result_.inputs.push_back({.file = input});
    }
    result_.created = holds_nothing(output_);
    if (result_.created) {
      create();
    } else {
      extend();
    }
    return std::move(result_);
  }

 private:
  /// Those inputs in one draft. The first is copied as it is, which is faster than row by row. `origins` learns where
  /// its rows are from.
  [[nodiscard]] Log filled(const std::vector<std::size_t>& which, const DraftFile& draft, Origins& origins) {
    CheckedLogs checked(files_of(which), output_);
    static_cast<void>(checked.take());
    const fs::path& front = inputs_[which.front()];
    copy_log(front, draft.path(), output_);
    Log log = open_draft(draft);
    log.impl().guarded("merging", [&] {
      SQLite::Database& database = log.impl().database.file();
      MergedLog& first = result_.inputs[which.front()];
      result_.inserted = first.evaluations = rows_of(database, "evaluations");
      result_.designs = first.designs = rows_of(database, "designs");
      origins.add(database, front);
    });
    for (std::size_t k = 1; k < which.size(); ++k) {
      const std::size_t i = which[k];
      merge_into(log, checked.take(), step(Origins(inputs_[i]), origins), [&](const SourceCounts& read) {
        count_input(i, read);
        origins.add(log.impl().database.file(), inputs_[i]);
      });
    }
    return log;
  }

  [[nodiscard]] std::vector<fs::path> files_of(const std::vector<std::size_t>& which) const {
    std::vector<fs::path> files;
    for (const std::size_t i : which) files.push_back(inputs_[i]);
    return files;
  }

  void create() {
    const DraftFile draft(output_);
    {
      Origins origins(output_);
      std::vector<std::size_t> all(inputs_.size());
      std::iota(all.begin(), all.end(), std::size_t{0});
      Log log = filled(all, draft, origins);
      store_run(log);
      // The disk writes while blocks are counted; little is left for it afterwards.
      std::future<void> written = std::async(std::launch::async, [&] { draft.sync(); });
      log.impl().guarded("merging", [&] { store_all_blocks(log.impl().database.file(), draft.path()); });
      written.get();
    }
    draft.publish();
  }

  /// Inputs that bring something, in their order; what the others have is counted.
  [[nodiscard]] std::vector<std::size_t> leave_out_known() {
    const std::vector<std::optional<KnownLog>> known = known_logs(inputs_, output_);
    std::vector<std::size_t> bringing;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (known[i]) {
        result_.inputs[i].evaluations = known[i]->evaluations;
        result_.inputs[i].designs = known[i]->designs;
      } else {
        bringing.push_back(i);
      }
    }
    return bringing;
  }

  void extend() {
    const std::vector<std::size_t> bringing = leave_out_known();
    if (bringing.empty()) {
      Log log = Log::open(output_, OpenMode::read_write);
      Transaction whole(log);
      store_run_and_blocks(log);
      whole.commit();
    } else if (bringing.size() == 1) {
      extend_by(bringing.front());
    } else {
      extend_by(bringing);
    }
  }

  void extend_by(std::size_t input) {
    const Step only = step(Origins(inputs_[input]), Origins(output_));
    const Log given = CheckedLogs({inputs_[input]}, output_).take();
    rehearse(given, only);
    Log log = Log::open(output_, OpenMode::read_write_create);
    merge_into(log, given, only, [&](const SourceCounts& read) {
      count_input(input, read);
      store_run_and_blocks(log);
    });
  }

  /// Several inputs become one first, so that the output changes in one transaction.
  void extend_by(const std::vector<std::size_t>& which) {
    const DraftFile draft(output_);
    Origins origins(inputs_[which.back()]);
    static_cast<void>(filled(which, draft, origins));
    const Log given = Log::open(draft.path(), OpenMode::read_only);
    const Step all = step(origins, Origins(output_));
    rehearse(given, all);
    result_.inserted = result_.designs = 0;
    Log log = Log::open(output_, OpenMode::read_write_create);
    merge_into(log, given, all, [&](const SourceCounts& read) {
      count(read);
      store_run_and_blocks(log);
    });
  }

  /// An output of an older schema version is migrated when it is opened for writing: a copy shows first that nothing
  /// will be refused.
  void rehearse(const Log& given, const Step& last) const {
    try {
      const Log log = Log::open(output_, OpenMode::read_only);
      if (identify(log.impl().database.file()).schema_version == migrations().back().to_version) return;
    } catch (const Error&) {
      return;  // opening it for writing says why, or migrates what cannot be read as it is
    }
    const DraftFile draft(output_.string() + ".copy");
    copy_log(output_, draft.path(), output_);
    Log log = open_draft(draft);
    merge_into(log, given, last, [](const SourceCounts&) {});
  }

  void count_input(std::size_t input, const SourceCounts& read) {
    result_.inputs[input].evaluations = read.evaluations;
    result_.inputs[input].designs = read.all_designs;
    count(read);
  }

  [[nodiscard]] Step step(const Origins& given, const Origins& main) const {
    return {.given = given, .main = main, .output = output_, .contradictions = contradictions_};
  }

  void count(const SourceCounts& read) {
    result_.inserted += read.inserted;
    result_.designs += read.designs;
    result_.contradicting += read.contradicting;
  }

  void store_run(Log& log) {
    std::uint64_t evaluations = 0;
    for (const MergedLog& input : result_.inputs) evaluations += input.evaluations;
    result_.already_present = evaluations - result_.inserted - result_.contradicting;
    const std::int64_t id = log.begin_run(RunKind::merge, provenance_, options_json(inputs_, contradictions_));
    log.impl().guarded("merging", [&] {
      SQLite::Statement counted(log.impl().database.file(),
                                "UPDATE runs SET evaluations_inserted = ?, evaluations_present = ?, rows_rejected = ? "
                                "WHERE run_id = ?");
      counted.bind(1, static_cast<std::int64_t>(result_.inserted));
      counted.bind(2, static_cast<std::int64_t>(result_.already_present));
      counted.bind(3, static_cast<std::int64_t>(result_.contradicting));
      counted.bind(4, id);
      counted.exec();
    });
    log.end_run(id, RunStatus::finished);
  }

  /// Inside the transaction that brings the rows.
  void store_run_and_blocks(Log& log) {
    store_run(log);
    log.impl().guarded("merging", [&] { store_all_blocks(log.impl().database); });
  }

  const std::vector<fs::path>& inputs_;
  const fs::path& output_;
  Contradictions contradictions_;
  const Provenance& provenance_;
  MergeResult result_;
};

}  // namespace

Contradictions parse_contradictions(const std::string& name) {
  return parse_enum("treatment of contradictions", name, kContradictions);
}

MergeResult merge_logs(const std::vector<fs::path>& inputs, const fs::path& output, Contradictions contradictions,
                       const Provenance& provenance) {
  for (const fs::path& input : inputs) {
    require_file(input, "a merge", "`hindsight log copy` brings a log from a server to a file, or to another log");
  }
  require_file(output, "a merge", "`hindsight log copy LOG... ADDRESS` brings logs to a server");
  HINDSIGHT_EXPECT(!inputs.empty());
  return Merge(inputs, output, contradictions, provenance).run();
}

}  // namespace hindsight::log

/// Is what a repair recovers what was there, whatever page is damaged, and is the rest said?
#include "hindsight/log/repair.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <new>
#include <set>
#include <string_view>

#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/log/content.h"
#include "hindsight/log/query.h"
#include "log/log_fixture.h"
#include "log/process.h"
#include "log/schema.h"

namespace hindsight::log::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::size_t kPage = 4096;
constexpr int kDesigns = 400;

class RepairTest : public LogTest {
 protected:
  /// Definitions with their own hashes; rows with reasons, and of a second evaluator with further metrics.
  void make_log() {
    Log log = Log::open(file_, OpenMode::read_write_create);
    Ids ids;
    ids.run = log.begin_run(RunKind::sweep, provenance(), "{}");
    ids.space = log.add_space("edge", "definition", sha256_hex("definition"), {"pes_x", "pes_y", "dram_type"});
    const std::string layers = R"([{"name":")" + std::string(9000, 'l') + R"("}])";  // continues on further pages
    ids.workload =
        log.add_workload("net", "layers", sha256_hex("layers"), 1, layers, 1, {{"macs", 1e6}, {"bytes", 2e5}});
    ids.evaluator = log.add_evaluator("model", sha256_hex("model 1"), "model 1");
    log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, 0, kDesigns), Checkpoint{"sweep:1", "1"});
    const std::int64_t other = log.add_evaluator("tool", sha256_hex("tool 1"), "tool 1");
    std::vector<EvaluationRow> rows;
    for (int i = 0; i < kDesigns; i += 4) {
      rows.push_back(feasible_row(ids.workload, text_id(i), 2e-3, 1e-3 * i));
      rows.back().metrics.emplace_back("noise_db", 0.5 + i);
      rows.back().metrics.emplace_back("yield_frac", 0.25);
    }
    log.append(ids.run, ids.space, other, rows, Checkpoint{"training:1", "{}"});
    log.end_run(ids.run, RunStatus::finished);
  }
  /// Everything that an evaluation says, one text each.
  static std::set<std::string> rows_of(const fs::path& file) {
    const Log log = Log::open(file, OpenMode::read_only);
    std::set<std::string> rows;
    for_each_evaluation(log, {}, Detail::all, [&](const EvaluationRecord& row) {
      std::string text = std::to_string(row.evaluation_id) + " " + row.design_text_id;
      for (const auto& [name, value] : metrics_of(row)) text += " " + name + "=" + shortest(value);
      for (const ViolationRow& one : row.violations) text += " " + one.code + shortest(one.value) + one.message;
      rows.insert(text);
      return true;
    });
    return rows;
  }
  /// As a writer that is killed leaves them; its exit code.
  int leave_fifty_rows_in_the_wal() const {
    return wait_for(fork_child([&] {
      auto* log = new Log(Log::open(file_, OpenMode::read_write_create));
      const Ids ids = register_all(*log);
      log->append(ids.run, ids.space, ids.evaluator, batch_of(ids, 0, 50));
      _exit(0);
    }));
  }
  void write(const std::string& bytes) const { std::ofstream(file_, std::ios::binary) << bytes; }
  RepairResult repair() { return repair_log(file_, repaired_, provenance()); }
  static const RepairedTable& table(const RepairResult& result, const std::string& name) {
    return *std::find_if(result.tables.begin(), result.tables.end(), [&](const auto& one) { return one.name == name; });
  }
  void exec(const std::string& sql) const { SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(sql); }
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
  }
  std::string hash_of(const fs::path& file) const { return content(Log::open(file, OpenMode::read_only)).sha256; }
  fs::path repaired_ = folder_ / "repaired.db";
};

TEST_F(RepairTest, ASoundLogComesBackWhole) {
  make_log();
  const RepairResult result = repair();
  EXPECT_TRUE(result.whole());
  EXPECT_TRUE(result.notes.empty());
  EXPECT_EQ(rows_of(repaired_), rows_of(file_));
  EXPECT_EQ(hash_of(repaired_), hash_of(file_));
  const Log log = Log::open(repaired_, OpenMode::read_write_create);
  EXPECT_TRUE(log.verify().sound());
  EXPECT_EQ(log.checkpoint("sweep:1"), "1");
  EXPECT_EQ(recent_runs(log, 1).front().kind, "repair");
  SQLite::Database database(repaired_.string());
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM designs_edge WHERE pes_x = 7").getInt(), 1);
  EXPECT_EQ(table(result, "evaluations").recovered, 500U);
  EXPECT_EQ(table(result, "evaluation_metrics").recovered, 200U);
}

/// A reference that is NULL names no parent, also where the parent's table is empty.
TEST_F(RepairTest, WhatWasAskedForWithoutAModelComesBack) {
  make_log();
  {
    Log log = Log::open(file_, OpenMode::read_write);
    const std::int64_t ask = log.begin_run(RunKind::ask, provenance(), "{}");
    const ProposalRow first{.design_text_id = text_id(1),
                            .design_hash = content_hash(text_id(1)),
                            .rank = 1,
                            .objective = "latency_s",
                            .predicted_value = 1e-3,
                            .predicted_json = "{}"};
    ProposalRow second = first;
    second.design_text_id = text_id(2);
    second.design_hash = content_hash(text_id(2));
    second.rank = 2;
    second.workload_id = workloads(log).front().workload_id;
    log.add_proposals(ask, spaces(log).front().space_id, std::nullopt, {first, second});
    log.end_run(ask, RunStatus::finished);
  }
  const RepairResult result = repair();
  EXPECT_TRUE(result.whole());
  EXPECT_EQ(table(result, "proposals").recovered, 2U);
  EXPECT_EQ(table(result, "proposals").without_parent, 0U);
  SQLite::Database database(repaired_.string());
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM proposals WHERE model_id IS NULL").getInt(), 2);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM proposals WHERE workload_id IS NULL").getInt(), 1);
}

/// How the page is damaged.
enum class Damage { zeros, noise, torn, cut };

std::string damaged(const std::string& sound, std::size_t page, Damage damage) {
  std::string bytes = sound;
  const std::size_t begin = page * kPage;
  if (damage == Damage::cut) return bytes.substr(0, begin + 100);
  for (std::size_t i = damage == Damage::torn ? kPage / 2 : 0; i < kPage; ++i) {
    bytes[begin + i] = damage == Damage::noise ? static_cast<char>(0xA5U ^ (i * 31U)) : '\0';
  }
  return bytes;
}

TEST_F(RepairTest, WhateverPageIsDamagedOnlyItsRowsAreLost) {
  make_log();
  const std::string sound = read_file(file_);
  const std::set<std::string> rows = rows_of(file_);
  const std::size_t pages = sound.size() / kPage;
  ASSERT_GT(pages, 40U);
  std::set<std::size_t> costly;  // pages that take more than their own rows
  for (std::size_t page = 0; page < pages; ++page) {
    for (const Damage how : {page % 2 == 0 ? Damage::zeros : Damage::noise, Damage::torn}) {
      if (how == Damage::torn && page % 4 != 0) continue;
      SCOPED_TRACE("page " + std::to_string(page + 1) + ", damage " + std::to_string(static_cast<int>(how)));
      const std::string bytes = damaged(sound, page, how);
      write(bytes);
      fs::remove(repaired_);
      try {
        const RepairResult result = repair();
        const std::set<std::string> left = rows_of(repaired_);
        EXPECT_TRUE(std::includes(rows.begin(), rows.end(), left.begin(), left.end())) << "a row that never was";
        EXPECT_TRUE(Log::open(repaired_, OpenMode::read_only).verify().sound());
        EXPECT_TRUE(left == rows || !result.whole()) << "lost and not said";
        if (left.size() + 150 < rows.size()) costly.insert(page + 1);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::incompatible) << error.what();
        EXPECT_FALSE(fs::exists(repaired_));
        costly.insert(page + 1);
      }
      EXPECT_TRUE(read_file(file_) == bytes) << "the damaged file was touched";
    }
  }
  // What no row can do without: the space, the workload (with a long text on further pages), the evaluators. No page of
  // a list of tables, no root and no inner page is among them.
  EXPECT_LE(costly.size(), 7U) << ::testing::PrintToString(costly);
  fs::remove(repaired_);
  EXPECT_EQ(files(), std::set<std::string>{"study.db"});
}

TEST_F(RepairTest, ACutFileGivesWhatStoodBeforeTheCut) {
  make_log();
  const std::string sound = read_file(file_);
  const std::set<std::string> rows = rows_of(file_);
  std::size_t most = 0;
  for (std::size_t page = 1; page < sound.size() / kPage; page += 3) {
    SCOPED_TRACE(page);
    write(damaged(sound, page, Damage::cut));
    fs::remove(repaired_);
    try {
      EXPECT_FALSE(repair().whole());
      const std::set<std::string> left = rows_of(repaired_);
      EXPECT_TRUE(std::includes(rows.begin(), rows.end(), left.begin(), left.end()));
      most = std::max(most, left.size());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::incompatible) << error.what();
    }
  }
  EXPECT_GT(most, rows.size() / 2);
}

TEST_F(RepairTest, RowsWithoutParentsAreDroppedAndCounted) {
  make_log();
  exec("PRAGMA foreign_keys = OFF; DELETE FROM designs WHERE design_id <= 10");
  const RepairResult result = repair();
  // Designs 0, 4 and 8 have an evaluation of each evaluator.
  EXPECT_EQ(table(result, "evaluations").without_parent, 13U);
  EXPECT_EQ(table(result, "evaluations").recovered, 487U);
  EXPECT_EQ(table(result, "evaluation_metrics").without_parent, 6U);
  EXPECT_EQ(table(result, "evaluation_violations").without_parent, 14U);
  EXPECT_FALSE(result.whole());
  const Log log = Log::open(repaired_, OpenMode::read_only);
  EXPECT_TRUE(log.verify().sound());
  EXPECT_EQ(log.checkpoint("sweep:1"), std::nullopt) << "a sweep would not evaluate what is missing";
  EXPECT_EQ(log.checkpoint("training:1"), "{}");
}

TEST_F(RepairTest, WhatWasDeletedDoesNotComeBack) {
  make_log();
  // Pages that were put aside keep their rows; then the evaluations lose the page above them.
  exec(
      "PRAGMA secure_delete = OFF; PRAGMA foreign_keys = OFF; DELETE FROM evaluation_violations WHERE evaluation_id < "
      "250;"
      "DELETE FROM evaluations WHERE evaluation_id < 250");
  const std::set<std::string> rows = rows_of(file_);
  const std::size_t root =
      static_cast<std::size_t>(SQLite::Database(file_.string())
                                   .execAndGet("SELECT rootpage FROM sqlite_master WHERE name = 'evaluations'")
                                   .getInt64());
  write(damaged(read_file(file_), root - 1, Damage::zeros));
  repair();
  const std::set<std::string> left = rows_of(repaired_);
  EXPECT_TRUE(std::includes(rows.begin(), rows.end(), left.begin(), left.end()));
  EXPECT_GT(left.size(), rows.size() / 2);
}

TEST_F(RepairTest, ALostRunIsNamedAndItsRowsStay) {
  make_log();
  exec("PRAGMA foreign_keys = OFF; DELETE FROM runs");
  const RepairResult result = repair();
  EXPECT_EQ(table(result, "evaluations").recovered, 500U);
  EXPECT_THAT(result.notes,
              ::testing::Contains(HasSubstr("1 run that is named elsewhere got a row of the kind 'lost'")));
  EXPECT_EQ(rows_of(repaired_), rows_of(file_));
}

TEST_F(RepairTest, RowsThatAnImportOrVerifyRefusesAreDropped) {
  make_log();
  exec(
      "PRAGMA foreign_keys = OFF; UPDATE designs SET content_hash = content_hash + 1 WHERE design_id = 3;"
      "UPDATE evaluations SET latency_s = -1.0 WHERE evaluation_id = 1;"
      "UPDATE evaluations SET energy_j = 9e999 WHERE evaluation_id = 5;"
      "DELETE FROM evaluation_violations WHERE evaluation_id = 2;"
      "DELETE FROM evaluation_violations WHERE evaluation_id = 6 AND position = 0");
  const RepairResult result = repair();
  EXPECT_EQ(table(result, "designs").refused, 1U);
  EXPECT_EQ(table(result, "evaluations").refused, 4U);
  EXPECT_EQ(table(result, "evaluations").without_parent, 1U);
  EXPECT_EQ(table(result, "evaluations").recovered, 495U);
  EXPECT_THAT(result.notes, ::testing::Contains(HasSubstr("an import would refuse them")));
  EXPECT_TRUE(Log::open(repaired_, OpenMode::read_only).verify().sound());
}

TEST_F(RepairTest, ADamagedDefinitionIsNotKept) {
  make_log();
  exec("UPDATE evaluators SET definition = 'model 2' WHERE name = 'model'");
  const RepairResult result = repair();
  EXPECT_EQ(table(result, "evaluators").refused, 1U);
  EXPECT_EQ(table(result, "evaluations").recovered, 100U);
  EXPECT_EQ(table(result, "evaluations").without_parent, 400U);
}

TEST_F(RepairTest, CommitsInTheWriteAheadLogCount) {
  ASSERT_EQ(leave_fifty_rows_in_the_wal(), 0);
  const std::string before = read_file(file_), wal = read_file(file_.string() + "-wal");
  ASSERT_FALSE(wal.empty());
  EXPECT_EQ(table(repair(), "evaluations").recovered, 50U);
  EXPECT_TRUE(read_file(file_) == before);
  EXPECT_TRUE(read_file(file_.string() + "-wal") == wal);
}

TEST_F(RepairTest, CtrlCEndsTheCopyOfALog) {
  ASSERT_EQ(leave_fifty_rows_in_the_wal(), 0);
  const std::set<std::string> before = files();
  set_interrupt_requested(true);
  const auto [kind, message] = error_of([&] { repair(); });
  set_interrupt_requested(false);
  EXPECT_EQ(kind, ErrorKind::interrupted) << message;
  EXPECT_THAT(message, HasSubstr("interrupted while copying the log"));
  EXPECT_EQ(files(), before);
  EXPECT_EQ(table(repair(), "evaluations").recovered, 50U);
}

/// SQLite's memory, of which one piece is refused.
sqlite3_mem_methods& memory_of_sqlite() {
  static sqlite3_mem_methods methods{};
  return methods;
}
std::uint64_t pieces_until_refused = 0;  ///< 0: none is

bool is_refused() { return pieces_until_refused > 0 && --pieces_until_refused == 0; }
void* piece_or_nothing(int bytes) { return is_refused() ? nullptr : memory_of_sqlite().xMalloc(bytes); }
void* larger_piece_or_nothing(void* piece, int bytes) {
  return is_refused() ? nullptr : memory_of_sqlite().xRealloc(piece, bytes);
}

void refuse_pieces_on_demand() {
  sqlite3_shutdown();
  ASSERT_EQ(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory_of_sqlite()), SQLITE_OK);
  sqlite3_mem_methods refusing = memory_of_sqlite();
  refusing.xMalloc = piece_or_nothing;
  refusing.xRealloc = larger_piece_or_nothing;
  ASSERT_EQ(sqlite3_config(SQLITE_CONFIG_MALLOC, &refusing), SQLITE_OK);
  ASSERT_EQ(sqlite3_initialize(), SQLITE_OK);
}

TEST_F(RepairTest, WhereMemoryRunsOutNoCommitCountsAsLost) {
  ASSERT_EQ(leave_fifty_rows_in_the_wal(), 0);
  refuse_pieces_on_demand();
  int ended_while_brought_in = 0;
  bool was_refused = true;
  for (std::uint64_t n = 1; was_refused; n += 1 + n / 20) {
    SCOPED_TRACE("piece " + std::to_string(n));
    pieces_until_refused = n;
    try {
      const RepairResult result = repair();
      EXPECT_EQ(table(result, "evaluations").recovered, 50U);
      EXPECT_TRUE(result.whole());
      EXPECT_THAT(result.notes, ::testing::IsEmpty());
      EXPECT_TRUE(fs::remove(repaired_));
    } catch (const std::bad_alloc&) {
      ++ended_while_brought_in;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::failure) << error.what();
    }
    was_refused = pieces_until_refused == 0;
    pieces_until_refused = 0;
    EXPECT_FALSE(fs::exists(repaired_));
  }
  EXPECT_GT(ended_while_brought_in, 10);
}

/// Takes a design away from its rows whenever somebody opens the draft: when it is filled there are none yet, when it
/// is looked through there are.
int spoil_draft(sqlite3* handle, char** /*message*/, const sqlite3_api_routines* /*routines*/) {
  static bool is_spoiling = false;
  const char* name = sqlite3_db_filename(handle, "main");
  const std::string draft = "repaired.db." + std::to_string(getpid()) + ".new";
  if (is_spoiling || name == nullptr || !std::string_view(name).ends_with(draft)) return SQLITE_OK;
  is_spoiling = true;
  static_cast<void>(SQLite::Database(name, SQLite::OPEN_READWRITE).tryExec("DELETE FROM designs WHERE design_id = 1"));
  is_spoiling = false;
  return SQLITE_OK;
}

TEST_F(RepairTest, WhatIsNotSoundIsNotWritten) {
  make_log();
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(spoil_draft));
  const auto [kind, message] = error_of([&] { repair(); });
  sqlite3_reset_auto_extension();
  EXPECT_EQ(kind, ErrorKind::failure) << message;
  EXPECT_THAT(message, HasSubstr(std::string("repaired.db: not written, because ") + std::string(kUnsoundRepair)));
  EXPECT_EQ(message.find('\n'), std::string::npos);
  EXPECT_EQ(files(), std::set<std::string>{"study.db"});
  EXPECT_TRUE(repair().whole()) << "the log itself was sound";
}

TEST_F(RepairTest, AnOlderLogComesBackAsANewOne) {
  {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(migrations()[0].sql);
    database.exec(
        "PRAGMA application_id = 1213418567; PRAGMA user_version = 1;"
        "INSERT INTO runs (kind, command_line, version, commit_hash, host, user, cwd, started_at) VALUES "
        "('sweep', '', '', '', '', '', '', '');"
        "INSERT INTO spaces (name, definition, definition_hash) VALUES ('s', 'd', 'h');"
        "INSERT INTO workloads VALUES (1, 'w', 1, 'd', 'h', '[]', 0); INSERT INTO evaluators VALUES (1, 'e', 'h', "
        "'d')");
    SQLite::Statement design(database, "INSERT INTO designs VALUES (1, 1, ?, 'a=1')");
    design.bind(1, static_cast<std::int64_t>(content_hash("a=1")));
    design.exec();
    database.exec(
        "INSERT INTO evaluations (design_id, workload_id, evaluator_id, run_id, feasible, latency_s) "
        "VALUES (1, 1, 1, 1, 1, 0.5)");
  }
  const RepairResult result = repair();
  EXPECT_TRUE(result.whole());
  EXPECT_EQ(table(result, "evaluations").recovered, 1U);
  EXPECT_TRUE(Log::open(repaired_, OpenMode::read_only).verify().sound());
}

TEST_F(RepairTest, RefusesInOneLineAndWritesNothing) {
  make_log();
  const auto refused = [&](ErrorKind expected, const std::string& words) {
    const auto [kind, message] = error_of([&] { repair(); });
    EXPECT_EQ(kind, expected) << message;
    EXPECT_THAT(message, HasSubstr(words));
    EXPECT_EQ(message.find('\n'), std::string::npos);
  };
  std::ofstream(repaired_) << "mine";
  refused(ErrorKind::usage, "is there already");
  EXPECT_EQ(read_file(repaired_), "mine");
  fs::remove(repaired_);
  exec("PRAGMA user_version = 9");
  refused(ErrorKind::incompatible, "schema version 9");
  exec("PRAGMA application_id = 5");
  refused(ErrorKind::incompatible, "another program");
  write(std::string(50'000, 'x'));
  refused(ErrorKind::incompatible, "no row of a log is readable");
  write("");
  refused(ErrorKind::incompatible, "no row of a log is readable");
  fs::remove(file_);
  refused(ErrorKind::usage, "no such file");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(RepairTest, HostileSizesAndLoopsEnd) {
  make_log();
  const std::string sound = read_file(file_);
  // Every page names itself and its neighbours as children, continuations and free pages, with sizes beyond the file.
  std::string bytes = sound;
  for (std::size_t page = 1; page < sound.size() / kPage; ++page) {
    for (std::size_t i = 0; i < kPage; i += 1 + page % 3) bytes[page * kPage + i] = static_cast<char>(page + i / 512);
    bytes[page * kPage] = "\x05\x02\x0d\x0a"[page % 4];
  }
  write(bytes);
  EXPECT_EQ(error_of([&] { repair(); }).first, ErrorKind::incompatible);
}

}  // namespace
}  // namespace hindsight::log::test

/// Does an older log become a current one, completely or not at all, also when several processes open it at once?
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <map>

#include "hindsight/core/files.h"
#include "hindsight/log/backup.h"
#include "hindsight/log/query.h"
#include "log/log_fixture.h"
#include "log/process.h"
#include "log/schema.h"

namespace hindsight::log::test {
namespace {

using ::testing::HasSubstr;

/// A short history: version 2 renames a column and adds a table, version 3 fills it.
constexpr Migration kFirst = {.to_version = 1,
                              .sql =
                                  "CREATE TABLE schema_migrations (schema_version INTEGER PRIMARY KEY, applied_at "
                                  "TEXT, hindsight_version TEXT) STRICT; CREATE TABLE runs (run_id INTEGER PRIMARY "
                                  "KEY, machine TEXT) STRICT; INSERT INTO runs VALUES (1, 'old host')"};
constexpr Migration kSecond = {.to_version = 2,
                               .sql =
                                   "ALTER TABLE runs RENAME COLUMN machine TO host; CREATE TABLE notes (run_id "
                                   "INTEGER REFERENCES runs, note TEXT) STRICT"};
constexpr Migration kThird = {.to_version = 3, .sql = "INSERT INTO notes SELECT run_id, 'moved' FROM runs"};
constexpr Migration kBroken = {.to_version = 3,
                               .sql = "INSERT INTO notes VALUES (1, 'a'); INSERT INTO nowhere VALUES (1)"};
constexpr Migration kDangling = {.to_version = 3, .sql = "INSERT INTO notes VALUES (99, 'of no run')"};

class MigrationTest : public LogTest {
 protected:
  SQLite::Database open() {
    return SQLite::Database(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, 30'000);
  }
  void migrate_to(const std::vector<Migration>& steps) {
    SQLite::Database database = open();
    migrate(database, file_, steps);
  }
};

TEST_F(MigrationTest, StepsFollowEachOtherWithoutGaps) {
  int version = 0;
  for (const Migration& step : migrations()) {
    EXPECT_EQ(step.to_version, ++version);
  }
  EXPECT_EQ(version, kSchemaVersion);
}

TEST_F(MigrationTest, OlderLogRunsTheMissingSteps) {
  migrate_to({kFirst});
  migrate_to({kFirst, kSecond, kThird});
  migrate_to({kFirst, kSecond, kThird});  // nothing left to do
  SQLite::Database database = open();
  EXPECT_EQ(identify(database).schema_version, 3);
  EXPECT_EQ(identify(database).application_id, kApplicationId);
  EXPECT_EQ(database.execAndGet("SELECT host || note FROM runs JOIN notes USING (run_id)").getString(),
            "old hostmoved");
  EXPECT_EQ(database.execAndGet("SELECT group_concat(schema_version) FROM schema_migrations").getString(), "1,2,3");
}

/// A log as version 2 wrote it: one feasible and one infeasible evaluation, and a view of the user.
class Version2Test : public MigrationTest {
 protected:
  void SetUp() override {
    MigrationTest::SetUp();
    migrate_to({migrations().begin(), migrations().begin() + 2});
    open().exec(R"sql(
      INSERT INTO runs (kind, status, command_line, version, commit_hash, host, user, cwd, started_at)
        VALUES ('sweep', 'finished', 'hindsight sweep', '0.1.0', 'abc', 'host', 'user', '/tmp', '2026-01-31T12:00:00Z');
      INSERT INTO spaces VALUES (1, 'edge', 'definition of edge', 'hash-edge', NULL);
      INSERT INTO workloads VALUES (1, 'net_a', 1, 'layers of a', 'hash-a', '[]', 1);
      INSERT INTO evaluators VALUES (1, 'pe_array', 'hash-constants', 'model 1');
      INSERT INTO designs (design_id, space_id, content_hash, text_id) VALUES (1, 1, 11, 'x=1'), (2, 1, 12, 'x=2');
      INSERT INTO evaluations (evaluation_id, design_id, workload_id, evaluator_id, run_id, feasible, latency_s)
        VALUES (1, 1, 1, 1, 1, 1, 0.5), (2, 2, 1, 1, 1, 0, NULL);
      INSERT INTO evaluation_metrics VALUES (1, 'mac_j', 0.25);
      INSERT INTO evaluation_violations VALUES (2, 0, 'reticle', '', NULL, NULL, NULL, NULL, NULL);
      CREATE VIEW mine AS SELECT count(*) AS rows, max(latency_s) AS slowest FROM evaluations;
    )sql");
  }
  static std::vector<std::string> evaluations(const Log& log) {
    std::vector<std::string> rows;
    for_each_evaluation(log, {}, Detail::all, [&](const EvaluationRecord& record) {
      rows.push_back(record.design_text_id + (record.feasible ? " feasible " : " infeasible ") +
                     std::to_string(record.repeat) + " " + std::to_string(record.other_metrics.size()) +
                     std::to_string(record.violations.size()));
      return true;
    });
    return rows;
  }
  const std::vector<std::string> rows_{"x=1 feasible 0 10", "x=2 infeasible 0 01"};
};

TEST_F(Version2Test, IsReadAsItIs) {
  const std::string before = read_file(file_);
  {
    const Log log = Log::open(file_, OpenMode::read_only);
    EXPECT_EQ(evaluations(log), rows_);
    EXPECT_EQ(summary(log).schema_version, 2);
    EXPECT_EQ(summary(log).rows("evaluations"), 2U);
    EXPECT_EQ(workload_stats(log).at(0).feasible, 1U);
    EXPECT_EQ(best_designs(log, "net_a", "latency_s", 5).size(), 1U);
  }
  EXPECT_TRUE(read_file(file_) == before);
}

TEST_F(Version2Test, BecomesVersion3WithItsRowsAndTheViewsOfItsUser) {
  {
    Log log = Log::open(file_, OpenMode::read_write);
    EXPECT_EQ(evaluations(log), rows_);
    EXPECT_EQ(summary(log).schema_version, 3);
  }
  SQLite::Database database = open();
  EXPECT_EQ(database.execAndGet("SELECT rows || ' ' || slowest FROM mine").getString(), "2 0.5");
  EXPECT_EQ(database.execAndGet("SELECT group_concat(repeat || coalesce(reasons, '')) FROM v_evaluations").getString(),
            "0,0reticle");
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM pragma_foreign_key_check").getInt(), 0);
  EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
}

/// What `log backup` took before a migration is the log of the old version afterwards, and can be migrated itself.
TEST_F(Version2Test, ABackupFromBeforeKeepsItsVersion) {
  const std::filesystem::path copy = folder_ / "copy.db";
  EXPECT_EQ(back_up_log(file_, copy).evaluations, 2U);
  static_cast<void>(Log::open(file_, OpenMode::read_write));
  EXPECT_EQ(summary(Log::open(file_, OpenMode::read_only)).schema_version, 3);
  {
    const Log kept = Log::open(copy, OpenMode::read_only);
    EXPECT_EQ(summary(kept).schema_version, 2);
    EXPECT_EQ(evaluations(kept), rows_);
  }
  const Log migrated = Log::open(copy, OpenMode::read_write);
  EXPECT_EQ(summary(migrated).schema_version, 3);
  EXPECT_EQ(evaluations(migrated), rows_);
}

TEST_F(Version2Test, AnEarlierVersionNamesWhatMigratesIt) {
  std::filesystem::remove(file_);
  migrate_to({migrations().begin(), migrations().begin() + 1});
  const auto [kind, message] = error_of([&] { (void)Log::open(file_, OpenMode::read_only); });
  EXPECT_EQ(kind, ErrorKind::incompatible);
  EXPECT_THAT(message, HasSubstr("schema version 1 is older than 3"));
  static_cast<void>(Log::open(file_, OpenMode::read_write));  // what the message says helps
  static_cast<void>(Log::open(file_, OpenMode::read_only));
}

/// After a migration that ended anywhere the rows are there, in a log of the old version or of the new one.
class CutOffMigration : public Version2Test {
 protected:
  void SetUp() override {
    Version2Test::SetUp();
    before_ = read_file(file_);
  }
  void begin_again() const {
    for (const char* suffix : {"-wal", "-shm", "-journal"}) std::filesystem::remove(file_.string() + suffix);
    std::ofstream(file_, std::ios::binary) << before_;
  }
  /// The version that is there now.
  [[nodiscard]] int expect_whole(const std::string& when) const {
    const Log log = Log::open(file_, OpenMode::read_only);
    EXPECT_EQ(evaluations(log), rows_) << when;
    return summary(log).schema_version;
  }

  std::string before_;
};

TEST_F(CutOffMigration, OnADiskThatIsFullAnywhere) {
  std::map<int, int> ends;
  int version = 0;
  for (rlim_t bytes = 0; version < kSchemaVersion && bytes < (rlim_t{1} << 22U); bytes += 4096) {
    begin_again();
    const pid_t child = fork_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(3);
      try {
        static_cast<void>(Log::open(file_, OpenMode::read_write));
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::failure) std::fprintf(stderr, "%s\n", error.what());
        _exit(error.kind() == ErrorKind::failure ? 2 : 4);
      }
    });
    const int end = wait_for(child);
    ++ends[end];
    version = expect_whole("room for " + std::to_string(bytes) + " bytes");
    EXPECT_TRUE(end == 2 || (end == 0 && version == kSchemaVersion)) << end << ", version " << version;
  }
  EXPECT_EQ(version, kSchemaVersion) << "it never had room enough";
  EXPECT_GT(ends[2], 2) << "it always had room enough";
}

TEST_F(CutOffMigration, WhenItIsKilled) {
  std::map<int, int> versions;
  for (int after_us = 0; after_us < 30'000; after_us += 500) {
    begin_again();
    const pid_t child = fork_child([&] { static_cast<void>(Log::open(file_, OpenMode::read_write)); });
    ::usleep(static_cast<useconds_t>(after_us));
    ::kill(child, SIGKILL);
    static_cast<void>(wait_for(child));
    ++versions[expect_whole("killed after " + std::to_string(after_us) + " us")];
  }
  static_cast<void>(Log::open(file_, OpenMode::read_write));
  EXPECT_EQ(expect_whole("not killed"), kSchemaVersion);
  EXPECT_GT(versions[2], 0) << "no kill came before the commit";
}

TEST_F(MigrationTest, FailingStepLeavesTheOldLog) {
  migrate_to({kFirst});
  EXPECT_THROW(migrate_to({kFirst, kSecond, kBroken}), SQLite::Exception);
  const auto [kind, message] = error_of([&] { migrate_to({kFirst, kSecond, kDangling}); });
  EXPECT_EQ(kind, ErrorKind::incompatible);
  EXPECT_THAT(message, HasSubstr("broken reference in table notes"));
  SQLite::Database database = open();
  EXPECT_EQ(identify(database).schema_version, 1);
  EXPECT_EQ(database.execAndGet("SELECT machine FROM runs").getString(), "old host");
}

TEST_F(MigrationTest, ProcessesThatMigrateAtOnceDoItOnce) {
  for (int round = 0; round < 10; ++round) {
    std::filesystem::remove(file_);
    migrate_to({kFirst});
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
      children.push_back(fork_child([&] { migrate_to({kFirst, kSecond, kThird}); }));
    }
    for (const pid_t child : children) {
      EXPECT_EQ(wait_for(child), 0);
    }
    SQLite::Database database = open();
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM notes").getInt(), 1);
    EXPECT_EQ(identify(database).schema_version, 3);
  }
}

TEST_F(MigrationTest, NewerLogIsNotTouched) {
  migrate_to({kFirst, kSecond, kThird});
  const auto [kind, message] = error_of([&] { migrate_to({kFirst, kSecond}); });
  EXPECT_EQ(kind, ErrorKind::incompatible);
  EXPECT_THAT(message, HasSubstr("schema version 3"));
}

}  // namespace
}  // namespace hindsight::log::test

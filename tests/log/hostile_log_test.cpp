/// Can a file that somebody prepared make its reader run code, never end, or read what is no table?
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <sqlite3.h>

#include "hindsight/core/files.h"
#include "hindsight/log/content.h"
#include "hindsight/log/durability.h"
#include "hindsight/log/optuna_study.h"
#include "hindsight/log/query.h"
#include "log/connection.h"
#include "log/log_fixture.h"
#include "log/optuna_database.h"

namespace hindsight::log::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kEndless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";

class HostileLog : public LogTest {
 protected:
  void make_log() {
    Log log = Log::open(file_, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, 0, 20));
  }
  void exec(const std::string& sql) const {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec(sql);
  }
  void expect_refused(const std::string& words) {
    const std::string before = read_file(file_);
    for (const OpenMode mode : {OpenMode::read_only, OpenMode::read_write}) {
      const auto [kind, message] = error_of([&] { (void)Log::open(file_, mode); });
      EXPECT_EQ(kind, ErrorKind::incompatible) << message;
      EXPECT_THAT(message, HasSubstr(words));
    }
    EXPECT_TRUE(read_file(file_) == before);
  }
};

TEST_F(HostileLog, AViewInPlaceOfATableIsNoTable) {
  make_log();
  // Whoever asked it for a row would wait for ever.
  exec(std::string("ALTER TABLE checkpoints RENAME TO c; CREATE VIEW checkpoints(key, value_json, updated_at) AS ") +
       kEndless + "'k', i, '' FROM n WHERE i < 0");
  expect_refused("'checkpoints' is missing");
}

TEST_F(HostileLog, AVirtualTableInPlaceOfATableIsNoTable) {
  make_log();
  exec("DROP TABLE checkpoints; CREATE VIRTUAL TABLE checkpoints USING fts5(key, value_json, updated_at)");
  expect_refused("'checkpoints' is missing");
}

TEST_F(HostileLog, NoViewOfTheFileIsReadAndItsTriggersDoNotRun) {
  make_log();
  exec(std::string("DROP VIEW v_runs; CREATE VIEW v_runs AS ") + kEndless +
       "load_extension('evil.so') FROM n; CREATE TRIGGER evil AFTER INSERT ON runs BEGIN DELETE FROM evaluations; "
       "END");
  const Log log = Log::open(file_, OpenMode::read_write);
  EXPECT_TRUE(log.verify().sound());
  EXPECT_EQ(content(log).evaluations, 20U);
  EXPECT_EQ(recent_runs(log, 5).size(), 1U);
  EXPECT_EQ(summary(log).rows("evaluations"), 20U);
}

/// As every connection is set.
class Distrusted : public LogTest {
 protected:
  Distrusted() : database_(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE) { distrust(database_); }
  std::string refusal(const std::string& sql) {
    try {
      SQLite::Statement query(database_, sql);
      query.executeStep();
    } catch (const SQLite::Exception& error) {
      return error.what();
    }
    return "";
  }
  SQLite::Database database_;
};

TEST_F(Distrusted, SchemaRunsNoCodeAndLoadsNone) {
  database_.exec("CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t; INSERT INTO t VALUES (1)");
  EXPECT_THAT(refusal("SELECT * FROM v"), HasSubstr("prohibited"));
  EXPECT_THAT(refusal("SELECT load_extension('evil.so')"), HasSubstr("not authorized"));
  EXPECT_THAT(refusal("CREATE VIRTUAL TABLE f USING fts5(a)"), HasSubstr("no such module"));
  EXPECT_THAT(refusal("CREATE VIRTUAL TABLE r USING rtree(a, b, c)"), HasSubstr("no such module"));
  EXPECT_EQ(refusal("SELECT * FROM json_each('[1]')"), "") << "what SQLite makes by itself stays";
  EXPECT_EQ(database_.execAndGet("PRAGMA trusted_schema").getInt(), 0);
  EXPECT_EQ(database_.execAndGet("PRAGMA cell_size_check").getInt(), 1);
  database_.exec("PRAGMA writable_schema = ON");
  EXPECT_THAT(refusal("UPDATE sqlite_master SET sql = ''"), HasSubstr("may not be modified"));
}

TEST_F(Distrusted, ATextLongerThanTheBoundIsRefused) {
  EXPECT_EQ(sqlite3_limit(database_.getHandle(), SQLITE_LIMIT_LENGTH, -1), kMostTextBytes);
  EXPECT_THAT(refusal("SELECT length(zeroblob(1 << 29))"), HasSubstr("too big"));
}

TEST_F(HostileLog, AViewInPlaceOfOptunasTableIsNotRead) {
  hindsight::test::make_optuna_database(file_, hindsight::test::kOptunaReleases.back());
  exec(
      "ALTER TABLE studies RENAME TO t; CREATE VIEW studies(study_id, study_name) AS SELECT study_id, study_name FROM "
      "t");
  const auto [kind, message] = error_of([&] { (void)read_optuna_studies(file_); });
  EXPECT_THAT(message, HasSubstr("prohibited"));
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST_F(LogTest, DurabilityIsThatOfTheProcessAndInTheRun) {
  const auto synchronous = [&] {
    return open_connection(file_, OpenMode::read_write_create, Log::kBusyTimeout)
        .database.execAndGet("PRAGMA synchronous")
        .getInt();
  };
  const auto begin_run = [&] {
    Log::open(file_, OpenMode::read_write).begin_run(RunKind::sweep, provenance(), R"({"samples":10})");
  };
  constexpr int kNormal = 1, kFull = 2;
  EXPECT_EQ(synchronous(), kNormal);
  begin_run();
  set_durability(parse_durability("full"));
  EXPECT_EQ(synchronous(), kFull);
  begin_run();
  set_durability(Durability::normal);
  EXPECT_EQ(synchronous(), kNormal);
  SQLite::Database database(file_.string());
  const auto options = [&](const std::string& run) {
    return database.execAndGet("SELECT options_json FROM runs WHERE run_id = " + run).getString();
  };
  EXPECT_EQ(options("1"), R"({"samples":10})");
  EXPECT_EQ(options("2"), R"({"samples":10,"durability":"full"})");
  EXPECT_EQ(error_of([] { (void)parse_durability("ful"); }).first, ErrorKind::usage);
}

}  // namespace
}  // namespace hindsight::log::test

/// Does SQL of a person read what a log has, and can it change nothing?
#include "hindsight/log/sql_query.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "log/log_fixture.h"

namespace hindsight::log::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SqlQueryTest : public LogTest {
 protected:
  void SetUp() override {
    Log log = Log::open(file_, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, 0, 12));
  }
  std::vector<std::vector<SqlValue>> rows_of(const std::string& sql) {
    const Log log = Log::open(file_, OpenMode::read_only);
    SqlQuery query(log, sql);
    std::vector<std::vector<SqlValue>> rows;
    for (std::vector<SqlValue> row; query.next(row);) rows.push_back(row);
    return rows;
  }
  void expect_refused(const std::string& sql, const std::string& words) {
    const std::string before = read_file(file_);
    const auto [kind, message] = error_of([&] { (void)rows_of(sql); });
    EXPECT_EQ(kind, ErrorKind::usage) << sql << ": " << message;
    EXPECT_THAT(message, HasSubstr(words)) << sql;
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_TRUE(read_file(file_) == before) << sql;
  }
};

TEST_F(SqlQueryTest, ReadsTablesViewsAndValuesOfEveryType) {
  EXPECT_THAT(rows_of("SELECT count(*) FROM evaluations WHERE feasible = 0"), ElementsAre(ElementsAre(SqlValue(9))));
  EXPECT_THAT(rows_of("SELECT 1, 2.5, 'x', NULL, x'00ff'"),
              ElementsAre(ElementsAre(SqlValue(1), SqlValue(2.5), SqlValue("x"), SqlValue(), SqlValue("X'00ff'"))));
  EXPECT_EQ(rows_of("SELECT * FROM v_workloads").size(), 2U) << "a view that reads JSON";
  EXPECT_THAT(rows_of("SELECT layer FROM v_workload_layers ORDER BY position LIMIT 1"),
              ElementsAre(ElementsAre(SqlValue("conv1"))));
  EXPECT_THAT(rows_of("SELECT pes_x FROM designs_edge ORDER BY 1 DESC LIMIT 1"),
              ElementsAre(ElementsAre(SqlValue(11))));
  EXPECT_FALSE(rows_of("SELECT * FROM pragma_table_info('designs')").empty());
  EXPECT_THAT(rows_of("PRAGMA user_version"), ElementsAre(ElementsAre(SqlValue(kSchemaVersion))));
  EXPECT_FALSE(rows_of("PRAGMA table_info(designs)").empty());
  EXPECT_FALSE(
      rows_of("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT i FROM n ; -- end")
          .empty());
  const Log log = Log::open(file_, OpenMode::read_only);
  EXPECT_THAT(SqlQuery(log, "SELECT 1 AS a, 2 AS \"b c\"").columns(), ElementsAre("a", "b c"));
}

TEST_F(SqlQueryTest, RefusesWhateverWouldChangeSomething) {
  expect_refused("DELETE FROM evaluations", "writes to evaluations");
  expect_refused("UPDATE designs SET text_id = ''", "writes to designs");
  expect_refused("INSERT INTO designs DEFAULT VALUES", "writes to designs");
  expect_refused("WITH x AS (SELECT 1) INSERT INTO runs SELECT * FROM x", "runs");
  expect_refused("CREATE TABLE t (a)", "only reads");
  expect_refused("CREATE TEMP TABLE t (a)", "only reads");
  expect_refused("CREATE VIEW v AS SELECT 1", "only reads");
  expect_refused("DROP TABLE evaluations", "only reads");
  expect_refused("ALTER TABLE runs RENAME TO x", "only reads");
  expect_refused("UPDATE sqlite_master SET sql = ''", "sqlite_master");
  expect_refused("PRAGMA writable_schema = ON", "PRAGMA writable_schema changes a setting");
  expect_refused("PRAGMA query_only = OFF", "PRAGMA query_only changes a setting");
  expect_refused("PRAGMA user_version = 7", "PRAGMA user_version changes a setting");
  expect_refused("PRAGMA journal_mode = DELETE", "PRAGMA journal_mode changes a setting");
  expect_refused("PRAGMA journal_mode", "PRAGMA journal_mode changes a setting");
  EXPECT_EQ(rows_of("pragma User_Version"), rows_of("PRAGMA user_version"));
  expect_refused("PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_checkpoint changes a setting");
  expect_refused("ATTACH 'other.db' AS other", "attaches or detaches a file");
  expect_refused("VACUUM", "changes the log");
  expect_refused("VACUUM INTO '" + (folder_ / "copy.db").string() + "'", "changes the log");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "copy.db"));
  for (const char* sql : {"BEGIN", "COMMIT", "SAVEPOINT s", "REINDEX", "ANALYZE"}) expect_refused(sql, "only reads");
  expect_refused("SELECT load_extension('x')", "loads code");
  expect_refused("SELECT Load_Extension('x')", "loads code");
  expect_refused("SELECT fts3_tokenizer('simple')", "loads code");
  EXPECT_THAT(rows_of("SELECT count(*) FROM evaluations"), ElementsAre(ElementsAre(SqlValue(12))));
}

TEST_F(SqlQueryTest, SaysWhatIsWrongWithTheSql) {
  expect_refused("", "the SQL is empty");
  expect_refused("  -- nothing\n ;", "the SQL is empty");
  expect_refused("SELECT 1; SELECT 2", "more than one statement");
  expect_refused("SELECT 1; DELETE FROM runs", "writes to runs");
  expect_refused("SELECT frequency FROM designs", "SQL, column 8: no such column: frequency");
  expect_refused("SELEC 1", "syntax error");
  expect_refused("SELECT 1; garbage", "SQL, column 11: near \"garbage\"");
  expect_refused("SELECT * FROM nowhere", "no such table: nowhere");
  expect_refused("SELECT abs(-9223372036854775807 - 1)", "integer overflow");
  expect_refused("SELECT json('{')", "malformed JSON");
  expect_refused("SELECT length(randomblob(1000000000))", "too big");
  expect_refused(std::string("SELECT 1\0 2", 11), "NUL byte");
}

TEST_F(SqlQueryTest, EndsOnCtrlC) {
  set_interrupt_requested(true);
  const auto [kind, message] = error_of(
      [&] { (void)rows_of("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n"); });
  set_interrupt_requested(false);
  EXPECT_EQ(kind, ErrorKind::interrupted) << message;
}

TEST_F(SqlQueryTest, VerifyEndsOnCtrlC) {
  Log log = Log::open(file_, OpenMode::read_write);
  const Ids ids = register_all(log);
  // Enough rows for SQLite to look at Ctrl-C between two of them.
  log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, 100, 8000));
  set_interrupt_requested(true);
  const auto [kind, message] = error_of([&] { (void)log.verify(); });
  set_interrupt_requested(false);
  EXPECT_EQ(kind, ErrorKind::interrupted) << message;
}

TEST_F(SqlQueryTest, VerifyComparesValuesWithEachOther) {
  const auto problems_of = [&](std::vector<std::pair<std::string, double>> metrics) {
    const std::filesystem::path file = folder_ / "values.db";
    std::filesystem::remove(file);
    Log log = Log::open(file, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    EvaluationRow row = feasible_row(ids.workload, text_id(1), 1, 1);
    row.metrics = std::move(metrics);
    EXPECT_TRUE(log.append(ids.run, ids.space, ids.evaluator, {row}).rejected.empty());
    return log.verify().problems;
  };
  using ::testing::IsEmpty;
  EXPECT_THAT(problems_of({{"latency_s", 3}, {"energy_j", 1}, {"average_power_w", 1.0 / 3}}), IsEmpty());
  // 1.1 / 3.3 is a third; three digits of it are right, another third digit is not.
  EXPECT_THAT(problems_of({{"latency_s", 3.30}, {"energy_j", 1.10}, {"average_power_w", 0.333}}), IsEmpty());
  EXPECT_THAT(problems_of({{"latency_s", 3.3012}, {"energy_j", 1.1003}, {"average_power_w", 0.3383}}),
              ElementsAre(HasSubstr("evaluation 1: average_power_w is 0.3383, but energy_j / latency_s is 0.3333")));
  EXPECT_THAT(
      problems_of({{"latency_s", 2.0000000000000004}, {"energy_j", 1}, {"average_power_w", 0.5000001234567891}}),
      IsEmpty())
      << "an energy of one digit may have been 1.1";
  EXPECT_THAT(problems_of({{"latency_s", 2.125432178901234}, {"energy_j", 0}, {"average_power_w", 1}}),
              ElementsAre(HasSubstr("but energy_j / latency_s is 0")));
  EXPECT_THAT(problems_of({{"latency_s", 0}, {"energy_j", 1}}), ElementsAre(HasSubstr("evaluation 1: latency_s is 0")));
  EXPECT_THAT(problems_of({{"latency_s", -1}, {"energy_j", 1}}), ElementsAre(HasSubstr("latency_s is -1")));
  // Whole watts: 0.3 W is 0 W, 0.6 W is not.
  EXPECT_THAT(problems_of({{"latency_s", 1.5}, {"energy_j", 0.45}, {"average_power_w", 0}}), IsEmpty());
  EXPECT_THAT(problems_of({{"latency_s", 1.5}, {"energy_j", 0.9}, {"average_power_w", 0}}),
              ElementsAre(HasSubstr("average_power_w is 0")));
  EXPECT_THAT(problems_of({{"latency_s", 5e-324}, {"energy_j", 1}, {"average_power_w", 5}}),
              ElementsAre(HasSubstr("average_power_w is 5, but energy_j / latency_s is inf")));
  EXPECT_THAT(problems_of({{"latency_s", 1}, {"energy_j", -1}, {"average_power_w", -1}}),
              ElementsAre(HasSubstr("energy_j is -1")));
}

TEST_F(SqlQueryTest, VerifyFindsInfiniteMetrics) {
  EXPECT_TRUE(Log::open(file_, OpenMode::read_only).verify().sound());
  {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    database.exec(
        "UPDATE evaluations SET energy_j = 9e999, average_power_w = 9e999 WHERE evaluation_id = 1;"
        "UPDATE evaluations SET area_mm2 = -9e999 WHERE evaluation_id = 2;"
        "INSERT INTO evaluation_metrics VALUES (3, 'accuracy', 9e999)");
  }
  EXPECT_THAT(
      Log::open(file_, OpenMode::read_only).verify().problems,
      ::testing::UnorderedElementsAre("evaluation 1: energy_j is infinite", "evaluation 1: average_power_w is infinite",
                                      "evaluation 2: area_mm2 is infinite", "evaluation 3: accuracy is infinite"));
}

}  // namespace
}  // namespace hindsight::log::test

/// Does an older log become a current one, completely or not at all, also when several processes open it at once?
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "../../src/log/schema.h"
#include "log/log_fixture.h"
#include "log/process.h"

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

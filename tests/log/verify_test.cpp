/// Does the full check of a log name each row whose values cannot be?
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "log/log_fixture.h"

namespace hindsight::log::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

class VerifyTest : public LogTest {
 protected:
  /// Problems of a log of eight designs that was changed by `sql`.
  std::vector<std::string> problems_after(const std::string& sql) {
    {
      Log log = Log::open(file_, OpenMode::read_write_create);
      const Ids ids = register_all(log);
      log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, 0, 8));
    }
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(sql);
    return Log::open(file_, OpenMode::read_only).verify().problems;
  }
};

TEST_F(VerifyTest, OutcomesThatCannotBeAreNamed) {
  EXPECT_THAT(
      problems_after("UPDATE evaluations SET energy_j = 9e999 WHERE evaluation_id = 5;"
                     "UPDATE evaluations SET energy_j = -2, latency_s = 0 WHERE evaluation_id = 1"),
      ElementsAre("evaluation 5: energy_j is infinite", "evaluation 1: energy_j is -2, and no energy is below 0",
                  "evaluation 1: latency_s is 0, and nothing takes no time"));
}

TEST_F(VerifyTest, RowsThatAreNotThereAreNamed) {
  EXPECT_THAT(problems_after("PRAGMA foreign_keys = OFF; DELETE FROM workloads WHERE name = 'net_a'"),
              Contains("reference: a row of evaluations names a row of workloads that does not exist"));
}

}  // namespace
}  // namespace hindsight::log::test

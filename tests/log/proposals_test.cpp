/// Does the log keep what was learnt from it, once, and all proposals of a batch or none?
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include <limits>

#include "log/log_fixture.h"

namespace hindsight::log::test {
namespace {

class Proposals : public LogTest {
 protected:
  [[nodiscard]] std::int64_t count(const std::string& table) const {
    SQLite::Database database(file_.string(), SQLite::OPEN_READONLY);
    return database.execAndGet("SELECT count(*) FROM " + table).getInt64();
  }
  static ProposalRow proposal(const std::string& design, std::int64_t rank) {
    return {.design_text_id = design,
            .design_hash = content_hash(design),
            .rank = rank,
            .objective = "latency_s",
            .predicted_value = 1e-3,
            .predicted_json = R"({"p_feasible":0.9})"};
  }
};

TEST_F(Proposals, AModelIsKnownByItsBytes) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  const ModelRow model{.name = "m", .kind = "prime", .file = "m.st", .file_sha256 = "abc", .card_json = "{}"};
  const std::int64_t id = log.add_model(ids.run, ids.space, model);
  EXPECT_EQ(log.add_model(ids.run, ids.space, model), id);
  ModelRow other = model;
  other.file_sha256 = "def";
  EXPECT_NE(log.add_model(ids.run, ids.space, other), id);
  EXPECT_EQ(count("models"), 2);
}

TEST_F(Proposals, AreStoredWithNewDesigns) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  ProposalRow checked = proposal("a=1,b=2", 1);
  checked.workload_id = ids.workload;
  checked.verdict_json = R"({"feasible":true})";
  ProposalRow unknown = proposal("a=2,b=2", 2);
  unknown.predicted_value = std::numeric_limits<double>::quiet_NaN();
  log.add_proposals(ids.run, ids.space, std::nullopt, {checked, unknown});
  log.add_proposals(ids.run, ids.space, std::nullopt, {checked});
  EXPECT_EQ(count("designs"), 2);
  EXPECT_EQ(count("proposals"), 3);
  EXPECT_EQ(count("proposals WHERE verdict_json IS NULL AND predicted_value IS NULL AND workload_id IS NULL"), 1);
  EXPECT_THAT(log.verify().problems, ::testing::IsEmpty());
}

TEST_F(Proposals, ABatchIsStoredWholeOrNotAtAll) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  ProposalRow colliding = proposal("a=9,b=9", 2);
  colliding.design_hash = content_hash("a=1,b=2");
  EXPECT_THROW(log.add_proposals(ids.run, ids.space, std::nullopt, {proposal("a=1,b=2", 1), colliding}), Error);
  EXPECT_EQ(count("proposals"), 0);
  EXPECT_EQ(count("designs"), 0);
}

TEST_F(Proposals, NeedAWritableLog) {
  { Log::open(file_, OpenMode::read_write_create); }
  Log log = Log::open(file_, OpenMode::read_only);
  EXPECT_THROW(log.add_proposals(1, 1, std::nullopt, {}), Error);
}

}  // namespace
}  // namespace hindsight::log::test

/// Does the log keep what was learnt from it, once, and all proposals of a batch or none?
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>

#include <limits>

#include "hindsight/log/query.h"
#include "log/log_fixture.h"

namespace hindsight::log::test {
namespace {

class Proposals : public LogTest {
 protected:
  [[nodiscard]] std::int64_t count(const std::string& table) const { return count_of("SELECT count(*) FROM " + table); }
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

TEST_F(Proposals, AreReadBackByRunAndTakeVerdicts) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  EXPECT_THAT(proposals(log, std::nullopt), ::testing::IsEmpty());
  log.add_proposals(ids.run, ids.space, std::nullopt, {proposal("a=2,b=2", 2), proposal("a=1,b=2", 1)});
  const std::int64_t later = log.begin_run(RunKind::propose, provenance(), "{}");
  log.add_proposals(later, ids.space, std::nullopt, {proposal("a=1,b=1", 1)});

  EXPECT_EQ(proposals(log, std::nullopt).at(0).run_id, later);
  const std::vector<ProposalRecord> first = proposals(log, ids.run);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].design_text_id, "a=1,b=2");  // by rank, not in the order of the batch
  EXPECT_EQ(first[1].rank, 2);
  EXPECT_FALSE(first[0].verdict_json);

  const std::int64_t optimum = log.begin_run(RunKind::optimum, provenance(), "{}");
  log.add_proposals(optimum, ids.space, std::nullopt, {proposal("a=2,b=1", 1)});
  EXPECT_EQ(proposals(log, std::nullopt).at(0).run_id, later) << "an optimum is no proposal";
  EXPECT_EQ(proposals(log, optimum).at(0).design_text_id, "a=2,b=1");

  log.set_verdicts({{first[1].proposal_id, R"({"gpus":{}})"}});
  EXPECT_EQ(proposals(log, ids.run)[1].verdict_json, R"({"gpus":{}})");
  EXPECT_FALSE(proposals(log, ids.run)[0].verdict_json);
  EXPECT_THROW(static_cast<void>(proposals(log, optimum + 1)), Error);
}

TEST_F(Proposals, AnOptimumIsTheLatestWhereNothingElseIs) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  const std::int64_t optimum = log.begin_run(RunKind::optimum, provenance(), "{}");
  log.add_proposals(optimum, ids.space, std::nullopt, {proposal("a=2,b=1", 1)});
  EXPECT_EQ(proposals(log, std::nullopt).at(0).run_id, optimum);
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

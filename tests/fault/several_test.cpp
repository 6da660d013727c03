/// Classes 2, 23 and 24: do processes at once get in each other's way, and trainings in that of their own last model?
#include "apps/process.h"
#include "fault/fault_fixture.h"
#include "fault/meanwhile.h"
#include "fault/trainings.h"
#include "fault/writers.h"
#include "hindsight/core/files.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::fault::test {
namespace {

using app::test::Outcome;
using app::test::Process;
namespace fs = std::filesystem;

/// Guarantee: however many write to one log, no design is lost and none is there twice; readers see sound logs.
TEST_F(FaultFixture, Class02WritersAtOnceGiveTheContentOfOne) {
  const auto sweep = [&](const std::string& log, const std::string& shard) {
    std::vector<std::string> words{"sweep",     "--space", "tiny",  "--workloads", "m6",
                                   "--samples", "384",     "--log", file(log),     "--quiet"};
    if (!shard.empty()) words.insert(words.end(), {"--shard", shard});
    return words;
  };
  {
    std::vector<std::unique_ptr<Process>> writers;
    for (const char* shard : {"0/3", "1/3", "2/3"}) {
      writers.push_back(std::make_unique<Process>(sweep("log.db", shard)));
    }
    for (const auto& writer : writers) {
      const Outcome outcome = writer->wait();
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    }
  }
  ASSERT_EQ(run(sweep("whole.db", "")).exit_code, 0);
  EXPECT_EQ(rows_in(file("log.db")), 384);
  EXPECT_EQ(content_hash_of(file("log.db")), content_hash_of(file("whole.db")));
}

TEST_F(FaultFixture, Class02TheSameSweepTwiceAtOnceGivesItsContentOnce) {
  const std::vector<std::string> words{"sweep",     "--space", "tiny",  "--workloads",  "m6",
                                       "--samples", "384",     "--log", file("log.db"), "--quiet"};
  Process one(words), two(words);
  for (Process* process : {&one, &two}) {
    const Outcome outcome = process->wait();
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.err.find("another process") != std::string::npos) << outcome.err;
  }
  ASSERT_EQ(run(words).exit_code, 0);
  EXPECT_EQ(rows_in(file("log.db")), 384);
  EXPECT_EQ(fault_of(file("log.db")), "");
}

TEST_F(FaultFixture, Class02AReaderDuringAWriterSeesASoundLogThatGrows) {
  Process writer(
      {"sweep", "--space", "edge", "--workloads", "m6", "--samples", "100000000", "--log", file("log.db"), "--quiet"});
  for (int i = 0; i < 600 && (!fs::exists(file("log.db")) || rows_in(file("log.db")) <= 0); ++i) ::usleep(50'000);
  std::int64_t before = 0;
  for (int look = 0; look < 12; ++look) {
    const Ended reader = run({"log", look % 2 == 0 ? "show" : "verify", file("log.db")});
    EXPECT_EQ(reader.exit_code, 0) << reader.err;
    const std::int64_t rows = rows_in(file("log.db"));
    EXPECT_GE(rows, before);
    before = rows;
  }
  EXPECT_GT(before, 0);
  writer.send(SIGTERM);
  EXPECT_EQ(writer.wait().exit_code, 143);
}

/// scripts/soak.sh kills 400.
TEST_F(FaultFixture, Class02WritersThatAreKilledAmongOthersLoseNothing) {
  const Tally tally = write_at_once(3, 20261129, folder());
  EXPECT_GE(tally.count, 3);
  EXPECT_TRUE(tally.clean()) << tally.words();
}

/// Guarantee: a repair of a log that is written meanwhile has every row that was there when it began, or says why not.
/// scripts/soak.sh has a commit at every call.
TEST_F(FaultFixture, Class02ARepairDuringCommitsIsOfOneMoment) {
  HINDSIGHT_NEEDS_INTERPOSER();
  constexpr std::int64_t kMoments = 10;
  for (const Committer committer : {Committer::comes_and_goes, Committer::stays}) {
    const Tally tally = commit_at_every({.committer = committer, .most = kMoments}, folder());
    EXPECT_GE(tally.count, kMoments);
    EXPECT_TRUE(tally.clean()) << tally.words();
  }
}

TEST_F(FaultFixture, Class02ARepairDuringCommitsThatNeverEndSaysSo) {
  HINDSIGHT_NEEDS_INTERPOSER();
  const Tally tally = commit_at_every({.committer = Committer::stays, .times = "forever"}, folder());
  EXPECT_EQ(tally.count, 1);
  EXPECT_TRUE(tally.clean()) << tally.words();
}

/// Guarantee: a training that diverges fails with a remedy, and the model that was there stays.
TEST_F(FaultFixture, Class23ATrainingThatDivergesKeepsTheModelThatWasThere) {
  HINDSIGHT_NEEDS_TRAINING();
  const Scenario& train = scenario("train");
  lay_out(train, folder());
  const std::string before = read_file(folder() / train.file);
  std::vector<std::string> words = train.words;
  words.insert(words.end(), {"--set", "alpha=1e300"});  // beyond single precision: the loss is infinite
  const Ended ended = run(words, {.folder = folder()});
  EXPECT_EQ(ended.exit_code, 1) << ended.err;
  EXPECT_NE(ended.err.find("Lower learning_rate"), std::string::npos) << ended.err;
  EXPECT_TRUE(read_file(folder() / train.file) == before);
  EXPECT_EQ(fault_of(folder() / train.log), "");
  EXPECT_TRUE(left_behind(train, folder()).empty());
}

/// Guarantee: each training writes its model whole; the file is that of one of them.
TEST_F(FaultFixture, Class24TwoTrainingsToOneFileLeaveOneWholeModel) {
  HINDSIGHT_NEEDS_TRAINING();
  const auto train = [&](const std::string& log, const std::string& seed) {
    return std::vector<std::string>{"train",
                                    "--log",
                                    file(log),
                                    "--out",
                                    file("out.safetensors"),
                                    "--seed",
                                    seed,
                                    "--set",
                                    "steps=30",
                                    "--set",
                                    "final_steps=5",
                                    "--set",
                                    "evaluate_interval=10",
                                    "--set",
                                    "ensemble=1",
                                    "--set",
                                    "mining_generations=1",
                                    "--method",
                                    "prime",
                                    "--quiet"};
  };
  for (const char* log : {"a.db", "b.db"}) fs::copy_file(pantry() / "b.db", file(log));
  Process one(train("a.db", "1")), two(train("b.db", "2"));
  int written = 0;
  for (Process* process : {&one, &two}) {
    const Outcome outcome = process->wait();
    written += outcome.exit_code == 0 ? 1 : 0;
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 1) << outcome.err;
    if (outcome.exit_code == 1) {
      EXPECT_NE(outcome.err.find("out.safetensors"), std::string::npos) << outcome.err;
    }
  }
  EXPECT_GE(written, 1);
  EXPECT_NO_THROW(static_cast<void>(surrogate::load_model(file("out.safetensors"))));
  const std::string out = read_file(file("out.safetensors"));
  int equal_to = 0;
  for (const char* seed : {"1", "2"}) {
    ASSERT_EQ(run(train("a.db", seed)).exit_code, 0);
    const std::string alone = read_file(file("out.safetensors"));
    const auto weights = [](const std::string& bytes) { return bytes.substr(bytes.find("data_sha256"), 80); };
    equal_to += weights(alone) == weights(out) ? 1 : 0;
  }
  EXPECT_EQ(equal_to, 1) << "the weights of one of the two";
}

/// scripts/soak.sh has 400 pairs.
TEST_F(FaultFixture, Class24TrainingsAtAnyDistanceLeaveTheModelOfOneOfThem) {
  HINDSIGHT_NEEDS_TRAINING();
  const Tally tally = train_at_once(3, 20261129, folder());
  EXPECT_EQ(tally.count, 3);
  EXPECT_TRUE(tally.clean()) << tally.words();
}

}  // namespace
}  // namespace hindsight::fault::test

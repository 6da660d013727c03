/// Do ranks that share every step of a training learn what one process learns, and does the death of one end the
/// others?
#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "apps/learn_fixture.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

bool has_gloo() { return hindsight({"doctor", "--json"}).out.find("gloo") != std::string::npos; }

class TrainRanks : public Learn {
 protected:
  void SetUp() override {
    Learn::SetUp();
    if (IsSkipped()) return;
    if (!has_gloo()) GTEST_SKIP() << "built without Gloo (libgloo-dev)";
    ASSERT_EQ(sweep("mobilenet_v2,m6", "150").exit_code, 0);
  }
  [[nodiscard]] std::vector<std::string> words(const std::string& out, std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"train", "--log", log(), "--out", out};
    const std::vector<std::string> tiny = tiny_for(more);
    all.insert(all.end(), tiny.begin(), tiny.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] std::vector<std::string> rank(int index, const std::string& out, std::vector<std::string> more,
                                              const std::string& place = {}) const {
    if (std::find(more.begin(), more.end(), "--rank-timeout") == more.end()) {
      more.insert(more.end(), {"--rank-timeout", "30"});
    }
    more.insert(more.end(),
                {"--ranks", std::to_string(index) + "/2", "--rendezvous", place.empty() ? file("meet") : place});
    return words(out, more);
  }
  /// The share of weights that differ by more than `most` times the largest one.
  static double share_differing(const std::string& one, const std::string& other, double most) {
    const surrogate::Model::Parts a = surrogate::load_model(one).parts(), b = surrogate::load_model(other).parts();
    EXPECT_EQ(a.members.size(), b.members.size());
    std::vector<double> differences;
    double size = 0;
    for (std::size_t m = 0; m < a.members.size(); ++m) {
      for (const auto& [name, tensor] : a.members[m].weights()) {
        const std::vector<float>& others = b.members[m].weights().at(name).values;
        for (std::size_t i = 0; i < tensor.values.size(); ++i) {
          differences.push_back(std::abs(static_cast<double>(tensor.values[i]) - others[i]));
          size = std::max(size, std::abs(static_cast<double>(others[i])));
        }
      }
    }
    const auto beyond =
        std::count_if(differences.begin(), differences.end(), [&](double d) { return d > most * size; });
    return static_cast<double>(beyond) / static_cast<double>(differences.size());
  }
  /// The model of two ranks, checked against that of one process.
  void expect_near(const std::vector<std::string>& recipe) const {
    ASSERT_EQ(hindsight(words(model(), recipe)).exit_code, 0);
    Process second(rank(1, file("two.safetensors"), recipe));
    const Outcome first = hindsight(rank(0, file("two.safetensors"), recipe));
    const Outcome other = second.wait();
    ASSERT_EQ(first.exit_code, 0) << first.err;
    ASSERT_EQ(other.exit_code, 0) << other.err;
    // Steps of Adam are as long for a gradient that is rounding alone: a few weights may go another way.
    EXPECT_LT(share_differing(model(), file("two.safetensors"), 1e-4), 2e-3) << "the steps move most of them by more";
    EXPECT_EQ(surrogate::load_model(file("two.safetensors")).parts().provenance.at("ranks"), "2");
    EXPECT_FALSE(fs::exists(file("meet")));
    EXPECT_FALSE(fs::exists(file("two.safetensors.checkpoint")));
  }
};

TEST_F(TrainRanks, OneIsTheOrdinaryTrainingToTheBit) {
  const std::vector<std::string> recipe{"--method", "prime"};
  ASSERT_EQ(hindsight(words(model(), recipe)).exit_code, 0);
  std::vector<std::string> one = recipe;
  one.insert(one.end(), {"--ranks", "0/1"});
  ASSERT_EQ(hindsight(words(file("one.safetensors"), one)).exit_code, 0);
  EXPECT_EQ(share_differing(model(), file("one.safetensors"), 0), 0);
}

TEST_F(TrainRanks, TwoLearnWhatOneProcessLearns) {
  expect_near({"--method", "prime", "--set", "dropout=0.1", "--set", "transformer_layers=1"});
}

TEST_F(TrainRanks, TwoMineByGradientAlike) { expect_near({"--method", "coms"}); }

TEST_F(TrainRanks, TwoLearnMarginsAlike) {
  // Areas are learned so well that after more steps their gradients are rounding.
  expect_near({"--method", "margins", "--constraint", "area_mm2", "--set", "ensemble=2", "--set", "steps=10"});
}

TEST_F(TrainRanks, TwoLearnSumsOverLayersAlike) { expect_near({"--method", "layers", "--set", "batch_pairs=300"}); }

TEST_F(TrainRanks, MeetAtAPort) {
  const std::string place = "tcp://127.0.0.1:" + std::to_string(20000 + ::getpid() % 20000);
  const std::vector<std::string> recipe{"--method", "supervised"};
  Process second(rank(1, model(), recipe, place));
  const Outcome first = hindsight(rank(0, model(), recipe, place));
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(second.wait().exit_code, 0);
  EXPECT_TRUE(fs::exists(model()));
}

TEST_F(TrainRanks, AFileOfAnEarlierTrainingIsBegunAnew) {
  write("meet", "what a training left that was killed");
  const std::vector<std::string> recipe{"--method", "supervised"};
  Process second(rank(1, model(), recipe));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const Outcome first = hindsight(rank(0, model(), recipe));
  EXPECT_EQ(first.exit_code, 0) << first.err;
  const Outcome other = second.wait();
  EXPECT_EQ(other.exit_code, 0) << other.err;
}

TEST_F(TrainRanks, TheDeathOfOneEndsTheOtherWithItsName) {
  const std::vector<std::string> recipe{"--method", "prime", "--set", "steps=100000", "--rank-timeout", "10"};
  for (const int signal : {SIGKILL, SIGSTOP}) {
    Process first(rank(0, model(), recipe));
    Process second(rank(1, model(), recipe));
    std::this_thread::sleep_for(std::chrono::seconds(6));
    const auto start = std::chrono::steady_clock::now();
    second.send(signal);
    const Outcome left = first.wait();
    expect_one_line_error(left, 1, "rank 1 of 2 does not answer any more");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(40));
    second.send(SIGKILL);
    static_cast<void>(second.wait());
  }
}

TEST_F(TrainRanks, CtrlCInOneStopsBoth) {
  const std::vector<std::string> recipe{"--method", "prime", "--set", "steps=100000"};
  Process first(rank(0, model(), recipe));
  Process second(rank(1, model(), recipe));
  std::this_thread::sleep_for(std::chrono::seconds(6));
  second.send(SIGINT);
  EXPECT_EQ(second.wait().exit_code, 130);
  const Outcome outcome = first.wait();
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_TRUE(fs::exists(model() + ".checkpoint"));
  EXPECT_FALSE(fs::exists(model()));
}

TEST_F(TrainRanks, OnesThatDoNotComeOrDifferAreNamed) {
  expect_one_line_error(hindsight(rank(0, model(), {"--method", "supervised", "--rank-timeout", "2"})), 1,
                        "rank 1 of 2 did not come");
  expect_one_line_error(hindsight(rank(1, model(), {"--method", "supervised", "--rank-timeout", "2"})), 1,
                        "rank 0 did not come");
  Process second(rank(1, model(), {"--method", "supervised", "--seed", "2"}));
  const Outcome first = hindsight(rank(0, model(), {"--method", "supervised"}));
  expect_one_line_error(first, 1, "rank 1 has another recipe than rank 0");
  expect_one_line_error(second.wait(), 1, "rank 1 has another recipe than rank 0");
}

TEST_F(TrainRanks, OptionsThatDoNotGoTogetherAreRefused) {
  expect_one_line_error(hindsight(words(model(), {"--method", "prime", "--ranks", "0/2"})), 2, "--rendezvous FILE");
  expect_one_line_error(hindsight(rank(0, model(), {"--method", "prime"}, "tcp://here")), 2, "tcp://HOST:29500");
  expect_one_line_error(hindsight(rank(0, model(), {"--method", "prime"}, file("none/meet"))), 2,
                        "Create it: mkdir -p");
  expect_one_line_error(hindsight(rank(0, model(), {})), 2, "the recipe is to be named");
  expect_one_line_error(hindsight(rank(0, model(), {"--recipe", "v0.1", "--tune"})), 2, "--tune --trials");
  expect_one_line_error(hindsight(rank(0, model(), {"--method", "prime", "--shard", "0/2"})), 2, "or shards of it");
  expect_one_line_error(hindsight(words(model(), {"--method", "prime", "--ranks", "auto"})), 2, "--ranks auto");
  expect_one_line_error(hindsight(rank(0, model(), {"--method", "prime", "--set", "batch_feasible=1"})), 2,
                        "batches of 1 feasible rows");
}

}  // namespace
}  // namespace hindsight::app::test

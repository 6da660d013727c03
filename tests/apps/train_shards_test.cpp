/// Do shards of a training, started as launchers do, make the model of one process, and are wrong sets refused?
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "apps/learn_fixture.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class TrainShards : public Learn {
 protected:
  void SetUp() override {
    Learn::SetUp();
    if (!IsSkipped()) {
      ASSERT_EQ(sweep("mobilenet_v2,m6", "150").exit_code, 0);
    }
  }
  [[nodiscard]] std::vector<std::string> words(const std::string& out, std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"train", "--log", log(), "--out", out, "--method", "prime"};
    all.insert(all.end(), kTiny.begin(), kTiny.end());
    all.insert(all.end(), {"--set", "ensemble=3"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  [[nodiscard]] static Surroundings rank(int index, int count) {
    return {.environment = {{"OMPI_COMM_WORLD_RANK", std::to_string(index)},
                            {"OMPI_COMM_WORLD_SIZE", std::to_string(count)}}};
  }
  [[nodiscard]] std::string part(int index) const { return file("part." + std::to_string(index) + ".safetensors"); }
  void train_parts(int count) const {
    for (int i = 0; i < count; ++i) {
      const Outcome outcome = hindsight(words(file("part.{shard}.safetensors"), {"--shard", "auto"}), rank(i, count));
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    }
  }
  [[nodiscard]] Outcome join(const std::vector<std::string>& parts, std::vector<std::string> more = {}) const {
    std::vector<std::string> all{"model", "join"};
    all.insert(all.end(), parts.begin(), parts.end());
    all.insert(all.end(), {"--log", log(), "--out", file("joined.safetensors"), "--quiet"});
    all.insert(all.end(), more.begin(), more.end());
    return hindsight(all);
  }
  /// Weights, calibration and metrics; of the provenance what is not about commands.
  static void expect_same_model(const std::string& one, const std::string& other) {
    const surrogate::Model::Parts a = surrogate::load_model(one).parts(), b = surrogate::load_model(other).parts();
    ASSERT_EQ(a.members.size(), b.members.size());
    for (std::size_t m = 0; m < a.members.size(); ++m) {
      for (const auto& [name, tensor] : a.members[m].weights()) {
        EXPECT_EQ(tensor.values, b.members[m].weights().at(name).values) << m << ' ' << name;
      }
    }
    EXPECT_EQ(a.feasibility_temperature, b.feasibility_temperature);
    EXPECT_EQ(a.metrics.kendall_tau, b.metrics.kendall_tau);
    EXPECT_EQ(a.metrics.calibration_error, b.metrics.calibration_error);
    EXPECT_EQ(a.recipe_text, b.recipe_text);
    for (const auto& [key, value] : a.provenance) {
      if (key != "command_line" && key != "shards" && !key.starts_with("trained_")) {
        EXPECT_EQ(b.provenance.at(key), value) << key;
      }
    }
  }
  [[nodiscard]] std::size_t runs_of(const std::string& kind) const {
    std::size_t count = 0;
    for (const log::RunInfo& run : log::recent_runs(log::Log::open(log(), log::OpenMode::read_only), 100)) {
      count += run.kind == kind ? 1U : 0U;
    }
    return count;
  }
};

TEST_F(TrainShards, ByALauncherMakeTheModelOfOneProcess) {
  train_parts(2);
  EXPECT_EQ(runs_of("train"), 0U) << "shards only read the log";
  const Outcome joined = join({part(1), part(0)});
  ASSERT_EQ(joined.exit_code, 0) << joined.err;
  ASSERT_EQ(hindsight(words(model())).exit_code, 0);
  expect_same_model(file("joined.safetensors"), model());
  const auto facts = surrogate::load_model(file("joined.safetensors")).parts().provenance;
  EXPECT_EQ(facts.at("shards"), "2");
  EXPECT_THAT(facts.at("trained_by"), HasSubstr("--shard 0/2"));
  EXPECT_THAT(facts.at("command_line"), HasSubstr("model join"));
  EXPECT_THAT(hindsight({"log", "query", log(), "SELECT COUNT(*) AS n FROM models", "--csv"}).out, HasSubstr("2"));
}

TEST_F(TrainShards, StoppedByCtrlCGoOn) {
  const std::vector<std::string> longer{"--set", "steps=200", "--shard", "0/2"};
  {
    Process process(words(part(0), longer));
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    process.send(SIGINT);
    const Outcome stopped = process.wait();
    if (stopped.exit_code == 130) {
      EXPECT_FALSE(fs::exists(part(0)));
      EXPECT_THAT(stopped.err, HasSubstr("no part was written"));
      EXPECT_THAT(stopped.err, HasSubstr("--resume"));
    }
  }
  std::vector<std::string> resumed = longer;
  resumed.emplace_back("--resume");
  ASSERT_EQ(hindsight(words(part(0), resumed)).exit_code, 0);
  EXPECT_FALSE(fs::exists(part(0) + ".checkpoint"));
  ASSERT_EQ(hindsight(words(part(1), {"--set", "steps=200", "--shard", "1/2"})).exit_code, 0);
  ASSERT_EQ(join({part(0), part(1)}).exit_code, 0);
  ASSERT_EQ(hindsight(words(model(), {"--set", "steps=200"})).exit_code, 0);
  expect_same_model(file("joined.safetensors"), model());
}

TEST_F(TrainShards, ThatDoNotBelongTogetherAreRefused) {
  train_parts(2);
  expect_one_line_error(join({part(0)}), 2, "of 2 shards 1 is missing");
  fs::copy_file(part(0), file("copy"));
  expect_one_line_error(join({part(0), part(1), file("copy")}), 2, "is there twice");
  ASSERT_EQ(hindsight(words(file("o.safetensors"), {"--shard", "1/2", "--seed", "5"})).exit_code, 0);
  expect_one_line_error(join({part(0), file("o.safetensors")}), 4, "'seed: 5', and 'seed: 1'");
  ASSERT_EQ(hindsight(words(model())).exit_code, 0);
  expect_one_line_error(join({model()}), 4, "is a whole model");
  expect_one_line_error(hindsight({"model", "show", part(0)}), 4, "hindsight model join");
  ASSERT_EQ(sweep("mobilenet_v2,m6", "160").exit_code, 0);
  expect_one_line_error(join({part(0), part(1)}), 4, "other rows");
  EXPECT_FALSE(fs::exists(file("joined.safetensors")));
}

TEST_F(TrainShards, ShareBacktestsThroughAFolder) {
  const auto backtest = [&](const std::string& shard) -> std::vector<std::string> {
    return {"backtest", "--log",   log(),      "--methods", "plain,margins", "--set",
            "steps=30", "--set",   "hidden=8", "--rows",    "200",           "--quiet",
            "--json",   "--shard", shard,      "--trials",  file("trials")};
  };
  Process second(backtest("1/2"));
  const Outcome first = hindsight(backtest("0/2"));
  const Outcome other = second.wait();
  ASSERT_EQ(first.exit_code, 0) << first.err;
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(std::distance(fs::directory_iterator(file("trials")), fs::directory_iterator{}), 4);
  const auto judged = [](const std::string& text, bool timed) {
    Json json = Json::parse(text);
    json.erase("seconds");
    for (Json& candidate : json.at("candidates")) {
      for (Json& score : candidate.at("scores")) {
        if (!timed) score.erase("seconds");
      }
    }
    return json;
  };
  EXPECT_EQ(judged(first.out, true), judged(other.out, true)) << "one result of each training, its time included";
  std::vector<std::string> alone = backtest("0/1");
  alone.resize(alone.size() - 4);
  EXPECT_EQ(judged(hindsight(alone).out, false), judged(first.out, false));
  expect_one_line_error(hindsight({"backtest", "--log", log(), "--shard", "0/2"}), 2, "--trials FOLDER");
}

TEST_F(TrainShards, OptionsThatDoNotGoTogetherAreRefused) {
  expect_one_line_error(hindsight(words(part(0), {"--trials", file("t")})), 2, "nothing is tried");
  expect_one_line_error(hindsight({"train", "--log", log(), "--out", part(0), "--from", "edge-any", "--shard", "0/2"}),
                        2, "--shard is about training");
  expect_one_line_error(hindsight(words(part(0), {"--shard", "2/2"})), 2, "shard");
  expect_one_line_error(hindsight(words(part(0), {"--shard", "auto"}), rank(0, 2)), 2, "{shard}");
}

}  // namespace
}  // namespace hindsight::app::test

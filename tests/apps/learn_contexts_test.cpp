/// Do applications keep apart: contexts of several columns, held-out ones, networks of one name, other technologies?
#include <SQLiteCpp/SQLiteCpp.h>

#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// Settings with which a training takes about a second.
const std::vector<std::string> kTiny{"--set", "steps=30", "--set", "final_steps=0", "--set", "ensemble=1", "--quiet"};

/// A network of one's own under the name of one that ships.
constexpr const char* kOwnM4 =
    "name: m4\n"
    "layers:\n"
    "  - {name: stem, type: convolution, in: [96, 96, 3], out: 24, kernel: 3, stride: 2, pad: same}\n"
    "  - {name: dw, type: depthwise_convolution, in: [48, 48, 24], kernel: 5, pad: same}\n"
    "  - {name: pw, type: convolution, in: [48, 48, 24], out: 64, kernel: 1}\n"
    "  - {name: fc, type: fully_connected, reduction: 64, columns: 1000}\n";

class LearnContexts : public AppTest {
 protected:
  void SetUp() override {
    if (hindsight({"doctor", "--json"}).out.find("libtorch") == std::string::npos) {
      GTEST_SKIP() << "built without LibTorch";
    }
  }
  [[nodiscard]] static Outcome tiny(std::vector<std::string> arguments) {
    if (arguments.front() == "train") arguments.insert(arguments.end(), {"--method", "prime"});
    arguments.insert(arguments.end(), kTiny.begin(), kTiny.end());
    return hindsight(arguments);
  }
  /// Two applications by two sizes; infeasible where a * b > 100.
  [[nodiscard]] std::string table() const {
    std::string csv = "a,b,app,size,cost\n";
    for (int a = 1; a <= 12; ++a) {
      for (int b = 1; b <= 12; ++b) {
        for (const char* app : {"left,1", "left,2", "right,1"}) {
          csv += std::to_string(a) + "," + std::to_string(b) + "," + app + "," +
                 (a * b > 100 ? "too_big" : std::to_string(200.0 / a + b)) + "\n";
        }
      }
    }
    return write("table.csv", csv);
  }
  /// A log of the built-in model and a surrogate trained on it.
  void make_model() const {
    ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "mobilenet_v2,m6", "--samples", "200", "--log",
                         log(), "--quiet"})
                  .exit_code,
              0);
    const Outcome trained = tiny({"train", "--log", log(), "--out", model()});
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  [[nodiscard]] Outcome propose(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"propose", "--model", model(), "--evaluations", "2000"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
  [[nodiscard]] std::string log() const { return file("study.sqlite"); }
  [[nodiscard]] std::string model() const { return file("study.safetensors"); }
};

TEST_F(LearnContexts, ContextsOfSeveralColumnsCanBeNamed) {
  const std::string csv = table(), space = file("table.yaml");
  ASSERT_EQ(
      hindsight({"space", "infer", csv, "--objective", "cost", "--context", "app,size", "--out", space}).exit_code, 0);
  ASSERT_EQ(hindsight({"log", "import", "--csv", csv, "--space", space, "--objective", "cost", "--context", "app,size",
                       "--log", log()})
                .exit_code,
            0);
  const Outcome trained = tiny({"train", "--log", log(), "--out", model(), "--objective", "cost", "--workloads",
                                "app=left:size=1,app=right:size=1"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Outcome proposed = propose({"--workload", "app=left:size=1,app=right:size=1", "--json"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  EXPECT_EQ(Json::parse(proposed.out).at("proposals").at(0).at("predicted").at("workloads").size(), 2U);
  EXPECT_THAT(Json::parse(proposed.out).at("remarks").dump(), Not(HasSubstr("have no number that tells them apart")))
      << "their sizes are the same, and their words are learnt";
  const Outcome shown = hindsight({"model", "show", model(), "--json"});
  EXPECT_EQ(Json::parse(shown.out).at("context_features"), (Json{"size", "app=left", "app=right"}));
}

TEST_F(LearnContexts, AnUnseenApplicationIsDescribedByTheColumnsOfTheLog) {
  const std::string csv = table(), space = file("table.yaml");
  ASSERT_EQ(
      hindsight({"space", "infer", csv, "--objective", "cost", "--context", "app,size", "--out", space}).exit_code, 0);
  ASSERT_EQ(hindsight({"log", "import", "--csv", csv, "--space", space, "--objective", "cost", "--context", "app,size",
                       "--log", log()})
                .exit_code,
            0);
  const Outcome trained = tiny({"train", "--log", log(), "--out", model(), "--objective", "cost"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const Outcome proposed =
      propose({"--context", "size=3,app=left", "--context", "app=left,size=1", "--log", log(), "--json"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  const Json workloads = Json::parse(proposed.out).at("proposals").at(0).at("predicted").at("workloads");
  ASSERT_EQ(workloads.size(), 2U);
  EXPECT_EQ(workloads.at(0).at("name"), "app=left:size=3") << "unseen, named as an import would";
  EXPECT_EQ(workloads.at(1).at("name"), "app=left:size=1") << "the one of the log";
  expect_one_line_error(propose({"--context", "app=left"}), 2, "size");
  expect_one_line_error(propose({"--context", "app=left,size=3,width=2"}), 2, "width");
  expect_one_line_error(propose({"--context", "app=left,size=wide"}), 2, "wide");
  expect_one_line_error(propose({"--context", "app=middle,size=3"}), 2, "Known: left, right.");
  expect_one_line_error(propose({}), 2, "--workload");
}

TEST_F(LearnContexts, W50HoldsAContextOutOfTrainingAndScoresIt) {
  const Outcome w50 = tiny({"bench", "w50", "--csv", table(), "--objective", "cost", "--context", "app,size",
                            "--holdout-context", "app=left:size=2", "--train", "150", "--seeds", "1", "--top", "1",
                            "--methods", "prime,supervised,forest", "--json"});
  ASSERT_EQ(w50.exit_code, 0) << w50.err;
  const Json runs = Json::parse(w50.out).at("runs");
  ASSERT_EQ(runs.size(), 3U);
  for (const Json& run : runs) {
    ASSERT_EQ(run.at("scores").size(), 1U) << run.at("method");
    EXPECT_EQ(run.at("scores").at(0).at("context"), "app=left:size=2");
    EXPECT_EQ(run.at("scores").at(0).at("best_training_ratio"), 0);
  }
}

TEST_F(LearnContexts, NothingFeasibleIsSaidOfTheTable) {
  const std::string csv = write("bad.csv", "a,b,cost\n1,1,broken\n1,2,broken\n2,1,broken\n");
  expect_one_line_error(tiny({"bench", "w50", "--csv", csv, "--objective", "cost"}), 2, "bad.csv: no row is feasible");
}

TEST_F(LearnContexts, TheSameTrainingGivesTheSameBytes) {
  make_model();
  const std::string first = hash_of(model());
  ASSERT_EQ(tiny({"train", "--log", log(), "--out", model()}).exit_code, 0);
  EXPECT_EQ(hash_of(model()), first);
}

TEST_F(LearnContexts, ANetworkDoesNotPassForAnotherOfItsName) {
  make_model();
  const std::string layer = "layers:\n  - {name: one, type: fully_connected, rows: 1, reduction: 64, columns: 64}\n";
  const std::string head = "format: 1\nsource: test\nbatch: 1\ndescription: test\n";
  expect_one_line_error(propose({"--workload", write("m6.yaml", head + "name: m6\n" + layer)}), 4,
                        "'m6' is not the one of that name in the model");
  const std::string other = write("other.yaml", head + "name: other\n" + layer);
  EXPECT_EQ(propose({"--workload", other}).exit_code, 0);
  const std::string four = write("four.yaml", "name: four\nbatch: 4\n" + layer);
  EXPECT_THAT(propose({"--workload", four}).out, HasSubstr(" for four (batch 4)")) << "its latency is of all of them";
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "unet", "--samples", "20", "--log", log(), "--quiet"})
                .exit_code,
            0);
  const std::string unet = write("unet.yaml", head + "name: unet\n" + layer);
  EXPECT_EQ(propose({"--workload", unet}).exit_code, 0) << "the model does not know a unet";
  expect_one_line_error(propose({"--workload", unet, "--log", log()}), 4, "study.sqlite");
}

TEST_F(LearnContexts, ANetworkOfOnesOwnIsNotSimulatedAsTheShippedOneOfItsName) {
  const std::string own = write("own.yaml", kOwnM4);
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", own, "--samples", "200", "--log", log(), "--quiet"})
                .exit_code,
            0);
  ASSERT_EQ(tiny({"train", "--log", log(), "--out", model()}).exit_code, 0);
  const std::string refused = "the model's m4 is not the network that ships as m4";
  expect_one_line_error(propose({"--workload", "m4", "--simulate"}), 4, refused);
  expect_one_line_error(propose({"--simulate"}), 4, "Name its file (--workload FILE)");
  const std::vector<std::string> front{"--pareto", "latency,area_mm2", "--simulate", "--exact-front"};
  const auto with = [&](const std::string& workload) {
    std::vector<std::string> words = front;
    words.insert(words.end(), {"--workload", workload});
    return propose(words);
  };
  expect_one_line_error(with("m4"), 4, refused);
  EXPECT_EQ(with(own).exit_code, 0) << "as the message says";
  EXPECT_EQ(propose({"--workload", own, "--simulate"}).exit_code, 0);
  const std::string note = "note: no network that ships is the model's m4";
  EXPECT_THAT(propose({"--workload", "m4"}).out, HasSubstr(note)) << "it is predicted, without a bound";
  EXPECT_THAT(propose({"--workload", own}).out, Not(HasSubstr(note)));
}

TEST_F(LearnContexts, AScoreTakesANamesakeForUnseen) {
  make_model();
  const auto scored = [&](const std::string& workloads) {
    const std::string rows = file("rows.sqlite");
    std::filesystem::remove(rows);
    EXPECT_EQ(
        hindsight({"sweep", "--space", "tiny", "--workloads", workloads, "--samples", "60", "--log", rows, "--quiet"})
            .exit_code,
        0);
    return hindsight({"model", "score", model(), "--log", rows});
  };
  EXPECT_THAT(scored("m6").out, HasSubstr("m6 *"));
  std::string own = kOwnM4;
  own.replace(own.find("m4"), 2, "m6");
  const Outcome other = scored(write("own.yaml", own));
  ASSERT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.out, Not(HasSubstr("m6 *")));
  EXPECT_THAT(other.out, HasSubstr("note: the model was trained on another network that it calls m6"));
}

TEST_F(LearnContexts, LayersThatWereChangedInTheLogAreNotLearnt) {
  make_model();
  SQLite::Database(log(), SQLite::OPEN_READWRITE)
      .exec("UPDATE workloads SET layers_json = json_set(layers_json, '$[0].macs', 3) WHERE name = 'm6'");
  const std::string refused = "study.sqlite: workload 'm6': layer 1 ('";
  expect_one_line_error(tiny({"train", "--log", log(), "--out", file("b.safetensors")}), 4, refused);
  expect_one_line_error(propose({"--workload", "m6", "--log", log()}), 4, "macs is 3, and the definition gives");
  expect_one_line_error(hindsight({"model", "score", model(), "--log", log()}), 4, refused);
  EXPECT_EQ(tiny({"train", "--log", log(), "--out", file("b.safetensors"), "--workloads", "mobilenet_v2"}).exit_code, 0)
      << "the others are as they were";
}

TEST_F(LearnContexts, AModelOfOneTechnologyAnswersForItAlone) {
  make_model();
  EXPECT_EQ(propose({"--workload", "m6", "--technology", "22nm", "--simulate"}).exit_code, 0);
  expect_one_line_error(propose({"--workload", "m6", "--technology", "7nm", "--simulate"}), 4, "22nm");
}

}  // namespace
}  // namespace hindsight::app::test

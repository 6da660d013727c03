/// Do the verbs that measure learning rank methods, choose a recipe, and go on where they were?
#include <signal.h>

#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "apps/learn_fixture.h"
#include "hindsight/core/text.h"
#include "hindsight/surrogate/model.h"
#include "tolerances.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;

TEST_F(Learn, TrainChoosesARecipeByBacktestsAndSaysWhich) {
  ASSERT_EQ(sweep().exit_code, 0);
  const std::vector<std::string> tiny{"--workloads",   "m6",    "--set",          "steps=20", "--set",
                                      "final_steps=0", "--set", "batch_pairs=500"};
  std::vector<std::string> arguments{"backtest", "--log", log(), "--json"};
  arguments.insert(arguments.end(), tiny.begin(), tiny.end());
  const Outcome tested = hindsight(arguments);
  ASSERT_EQ(tested.exit_code, 0) << tested.err;
  const Json json = Json::parse(tested.out);
  EXPECT_EQ(json.at("candidates").size(), 6U);
  EXPECT_EQ(json.at("candidates").at(0).at("scores").size(), 2U);
  const std::string chosen = json.at("chosen");

  arguments = {"train", "--log", log(), "--out", model()};
  arguments.insert(arguments.end(), tiny.begin(), tiny.end());
  const Outcome trained = hindsight(arguments);
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("recipe: " + chosen + ", of 6 recipes"));
  const Json shown = Json::parse(hindsight({"model", "show", model(), "--json"}).out);
  EXPECT_THAT(shown.at("provenance").at("recipe_chosen").get<std::string>(), HasSubstr(chosen + ", of 6 recipes"));
  expect_one_line_error(hindsight({"train", "--log", log(), "--out", model(), "--tune"}), 2, "--recipe v0.1");
  // What is held out chooses nothing: without it the other application has no row left to choose by.
  expect_one_line_error(
      hindsight({"train", "--log", log(), "--out", model(), "--workloads", "m6", "--hold-out", "m6", "--quiet"}), 2,
      "nothing is left to choose a recipe by");
  // Named, nothing is tested.
  const Outcome named = train({"--recipe", "margins", "--workloads", "m6"});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_THAT(named.err, Not(HasSubstr("recipe:")));
}

TEST_F(Learn, BacktestShowsATableAndRefusesWhatItCannotTest) {
  ASSERT_EQ(sweep().exit_code, 0);
  const Outcome text = hindsight(
      {"backtest", "--log", log(), "--workloads", "m6", "--methods", "margins,plain", "--set", "steps=20", "--quiet"},
      {.environment = {{"COLUMNS", "80"}}});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const char* word : {"margins", "plain", "best_half", "chosen: "}) EXPECT_THAT(text.out, HasSubstr(word));
  expect_one_line_error(hindsight({"backtest", "--log", log(), "--methods", "margin"}), 2, "margins");
  expect_one_line_error(hindsight({"backtest", "--log", log(), "--set", "stepz=1"}), 2, "steps");
  expect_one_line_error(hindsight({"backtest", "--log", log(), "--workloads", "m7"}), 2, "m6");
}

TEST_F(Learn, AnInterruptedBacktestSaysWhatWouldKeepItsTrainings) {
  ASSERT_EQ(sweep().exit_code, 0);
  const auto stopped = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--log", log(), "--set", "steps=100000000", "--quiet"});
    Process process(words);
    std::this_thread::sleep_for(std::chrono::seconds(4));
    process.send(SIGINT);
    return process.wait();
  };
  expect_one_line_error(stopped({"backtest", "--methods", "margins"}), 130, "With --trials FOLDER");
  expect_one_line_error(stopped({"train", "--out", model()}), 130, "With --trials FOLDER");
  expect_one_line_error(stopped({"backtest", "--methods", "margins", "--trials", file("trials")}), 130,
                        "trials keeps the trainings that are finished, and the same command goes on there");
}

TEST_F(Learn, W50RanksWhoFindsTheHiddenOptimum) {
  std::string csv = "a,b,cost_ms\n";
  for (int a = 1; a <= 12; ++a) {
    for (int b = 1; b <= 12; ++b) {
      csv += std::to_string(a) + "," + std::to_string(b) + "," +
             (a * b > 100 ? "too_big" : std::to_string(200.0 / a + b)) + "\n";
    }
  }
  const std::string table = write("table.csv", csv);
  // All rows of the worse half are learnt from, so the best of them is the median of the feasible rows.
  std::vector<double> costs;
  for (int a = 1; a <= 12; ++a) {
    for (int b = 1; b <= 12; ++b) {
      if (a * b <= 100) costs.push_back(200.0 / a + b);
    }
  }
  std::sort(costs.begin(), costs.end());
  const Outcome w50 = hindsight(
      {"bench",  "w50",       "--csv", table,        "--objective", "cost_ms",       "--train",
       "1000",   "--seeds",   "1",     "--top",      "1,8",         "--methods",     "prime,margins,forest,best_in_log",
       "--set",  "steps=300", "--set", "ensemble=1", "--set",       "final_steps=0", "--json",
       "--quiet"});
  ASSERT_EQ(w50.exit_code, 0) << w50.err;
  const Json runs = Json::parse(w50.out).at("runs");
  ASSERT_EQ(runs.size(), 4U);
  std::map<std::string, double> ratio;  // optimum / best of eight proposals
  for (const Json& run : runs) {
    EXPECT_EQ(run.at("train_rows"), 144 - costs.size() / 2);
    ratio[run.at("method")] = run.at("scores").at(0).at("top").at(1).at("ratio");
  }
  EXPECT_NEAR(ratio["best_in_log"], costs.front() / costs[costs.size() / 2], hindsight::test::kSixDigits);
  // The cost falls with a and rises with b throughout: who learns goes on beyond the rows it saw.
  EXPECT_GT(ratio["prime"], ratio["best_in_log"]);
  EXPECT_GT(ratio["margins"], ratio["best_in_log"]);
  EXPECT_GT(ratio["forest"], ratio["best_in_log"]);
  EXPECT_LE(std::max({ratio["prime"], ratio["margins"], ratio["forest"]}), 1);
}

TEST_F(Learn, OfflineRunsOnceAndThenFindsEverythingDone) {
  const std::vector<std::string> offline{"bench",
                                         "offline",
                                         "--out",
                                         file("offline"),
                                         "--quick",
                                         "--tasks",
                                         "single/m6",
                                         "--methods",
                                         "best_in_log,prime,evolutionary@40",
                                         "--samples",
                                         "2000",
                                         "--set",
                                         "steps=30",
                                         "--set",
                                         "final_steps=0",
                                         "--set",
                                         "evaluate_interval=15",
                                         "--json"};
  const Outcome first = hindsight(offline);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const Json study = Json::parse(first.out);
  EXPECT_TRUE(study.at("complete").get<bool>());
  ASSERT_EQ(study.at("results").size(), 3U);
  EXPECT_EQ(study.at("results").at(1).at("queries"), 0) << "learning from a log asks no simulator";
  EXPECT_EQ(study.at("results").at(2).at("queries"), 40);
  EXPECT_EQ(Json::parse(hindsight(offline).out), study) << "the second run finds everything done";
}

}  // namespace
}  // namespace hindsight::app::test

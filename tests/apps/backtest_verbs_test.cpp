/// Do the verbs that measure learning rank methods, choose a recipe, and go on where they were?
#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
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
  expect_one_line_error(hindsight({"backtest", "--log", log(), "--methods", "zzz"}), 2,
                        "unknown method or recipe 'zzz'. Known: prime, coms, supervised, margins, layers, plain");
  expect_one_line_error(hindsight({"backtest", "--log", log(), "--set", "stepz=1"}), 2, "steps");
  expect_one_line_error(hindsight({"backtest", "--log", log(), "--workloads", "m7"}), 2, "m6");
}

TEST_F(Learn, AnInterruptedBacktestSaysWhatWouldKeepItsTrainings) {
  ASSERT_EQ(sweep().exit_code, 0);
  const auto started = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--log", log(), "--set", "steps=100000000", "--quiet", "--threads", "1"});
    return std::make_unique<Process>(words);
  };
  const auto tested = started({"backtest", "--methods", "margins"}), trained = started({"train", "--out", model()});
  const auto kept = started({"backtest", "--methods", "margins", "--trials", file("trials")});
  for (int turn = 0; turn < 600 && !std::filesystem::exists(file("trials")); ++turn) {  // a minute at most
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));  // the others began with it
  for (Process* process : {tested.get(), trained.get(), kept.get()}) process->send(SIGINT);
  expect_one_line_error(tested->wait(), 130, "With --trials FOLDER");
  expect_one_line_error(trained->wait(), 130, "With --trials FOLDER");
  expect_one_line_error(kept->wait(), 130,
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

TEST_F(Learn, W50OfAScoreOfNamesMaximises) {
  // More is better the further a word of four letters is down the alphabet, so the best is TTTT.
  std::string csv = "p0,p1,p2,p3,binding score\n", zero = csv;
  const std::string bases = "ACGT";
  for (std::size_t i = 0; i < 256; ++i) {
    const std::array<std::size_t, 4> word{i / 64, i / 16 % 4, i / 4 % 4, i % 4};
    std::string row;
    for (const std::size_t base : word) row += std::string(1, bases[base]) + ",";
    const std::size_t sum = word[0] + 2 * word[1] + 2 * word[2] + word[3];
    csv += row + std::to_string(0.1 + 0.05 * static_cast<double>(sum)) + "\n";
    zero += row + std::to_string(0.05 * static_cast<double>(sum)) + "\n";
  }
  const auto w50 = [&](const std::string& table) {
    return hindsight({"bench", "w50", "--csv", table, "--objective", "binding score", "--maximise", "--train", "1000",
                      "--seeds", "1", "--top", "1", "--methods", "forest,best_in_log", "--json", "--quiet"});
  };
  const Outcome scored = w50(write("motif.csv", csv));
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const Json runs = Json::parse(scored.out).at("runs");
  ASSERT_EQ(runs.size(), 2U);
  const auto ratio = [&](std::size_t run) {
    return runs.at(run).at("scores").at(0).at("top").at(0).at("ratio").get<double>();
  };
  // The visible half ends at the median: a sum of 9 of 18, whose score is 0.55 of 1.
  EXPECT_NEAR(ratio(1), 0.55, hindsight::test::kSixDigits);
  EXPECT_GT(ratio(0), ratio(1));
  expect_one_line_error(w50(write("zero.csv", zero)), 4,
                        "zero.csv: evaluation 1 (p0=A,p1=A,p2=A,p3=A): binding_score is 0");
}

TEST_F(Learn, W50DefaultScoresWhatTrainChoosesAndProposeProposes) {
  const auto cost = [](int a, int b) { return 200.0 / a + 1.37 * b; };  // no two are alike
  std::string csv = "a,b,cost_ms\n";
  double least = cost(1, 1);
  for (int a = 1; a <= 12; ++a) {
    for (int b = 1; b <= 12; ++b) {
      csv += fmt::format("{},{},{}\n", a, b, a * b > 100 ? "too_big" : shortest(cost(a, b)));
      if (a * b <= 100) least = std::min(least, cost(a, b));
    }
  }
  const std::string table = write("table.csv", csv);
  ASSERT_EQ(hindsight({"log", "import", "--csv", table, "--objective", "cost_ms", "--log", log()}).exit_code, 0);
  const std::vector<std::string> settings{"--set",         "steps=100", "--set",     "ensemble=1", "--set",
                                          "final_steps=0", "--quiet",   "--threads", "2"};
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), settings.begin(), settings.end());
    const Outcome outcome = hindsight(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string chosen = Json::parse(run({"backtest", "--log", log(), "--json"})).at("chosen");
  static_cast<void>(run({"train", "--log", log(), "--out", model(), "--device", "cpu"}));
  const Json shown = Json::parse(hindsight({"model", "show", model(), "--json"}).out);
  EXPECT_THAT(shown.at("provenance").at("recipe_chosen").get<std::string>(), HasSubstr(chosen + ", of 5 recipes"));
  const Outcome proposed =
      hindsight({"propose", "--model", model(), "--workload", "table", "--log", log(), "--top", "3", "--json"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  const Json proposals = Json::parse(proposed.out).at("proposals");
  // Nothing is hidden and every row is learnt from: the same rows.
  const Json w50 = Json::parse(run({"bench", "w50", "--csv", table, "--objective", "cost_ms", "--hide", "0", "--train",
                                    "1.0", "--seeds", "1", "--top", "3", "--methods", "default", "--json"}))
                       .at("runs")
                       .at(0);
  EXPECT_EQ(w50.at("recipe"), chosen);
  EXPECT_EQ(w50.at("train_rows"), 144);
  const Json& scored = w50.at("scores").at(0).at("proposals");
  ASSERT_EQ(scored.size(), proposals.size());
  for (std::size_t i = 0; i < scored.size(); ++i) {
    int a = 0, b = 0;
    const std::string design = proposals.at(i).at("design");
    ASSERT_EQ(std::sscanf(design.c_str(), "a=%d,b=%d", &a, &b), 2) << design;
    ASSERT_EQ(scored.at(i).at("feasible"), a * b <= 100) << design;
    if (a * b <= 100) {
      EXPECT_NEAR(scored.at(i).at("regret"), cost(a, b) / least, hindsight::test::kSixDigits) << design;
    }
  }
}

TEST_F(Learn, W50RefusesARecipeAndSettingsThatNobodyOfItsMethodsHears) {
  const std::string table = write("table.csv", "a,b,cost\n1,1,5\n1,2,6\n2,1,7\n2,2,9\n3,1,8\n3,2,4\n");
  const auto rehearsed = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"bench", "w50", "--csv", table, "--objective", "cost", "--dry-run"};
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  expect_one_line_error(rehearsed({"--methods", "zzz"}), 2,
                        "unknown method or recipe 'zzz'. Known: default, forest, best_in_log, prime, coms");
  const Outcome unknown_key = rehearsed({"--methods", "default", "--set", "nosuchkey=1"});
  expect_one_line_error(unknown_key, 2, "has no key 'nosuchkey'");
  EXPECT_THAT(unknown_key.err, ::testing::Not(HasSubstr("method,"))) << "which --set refuses";
  expect_one_line_error(rehearsed({"--methods", "best_in_log", "--set", "nosuchkey=1"}), 2, "has no key 'nosuchkey'");
  expect_one_line_error(rehearsed({"--methods", "best_in_log,forest", "--set", "steps=5"}), 2,
                        "no recipe is trained by best_in_log, forest");
  expect_one_line_error(rehearsed({"--methods", "best_in_log", "--recipe", "nosuch"}), 2, "nosuch");
  expect_one_line_error(rehearsed({"--methods", "default,plain", "--recipe", "margins"}), 2,
                        "none that it is for is among default, plain");
  expect_one_line_error(rehearsed({"--methods", "prime", "--recipe", "margins"}), 2, "is one of the method margins");
  expect_one_line_error(rehearsed({"--recipe", "default"}), 2, "name it in --methods: default");
  expect_one_line_error(rehearsed({"--methods", "margins", "--set", "alpha=3"}), 2, "not by margins");
  expect_one_line_error(rehearsed({"--methods", "default", "--set", "batch_pairs=9"}), 2, "read by the method layers");
  expect_one_line_error(rehearsed({"--methods", "prime", "--risk", "brave"}), 2, "brave");
  EXPECT_THAT(rehearsed({"--methods", "default,prime,forest", "--set", "alpha=3"}).err,
              HasSubstr("--set alpha=3 counts for pushed, v0.1, prime, and changes nothing in margins, trends, plain"));
  // Without --methods default competes, and --recipe is for those whose networks it describes.
  EXPECT_THAT(rehearsed({"--recipe", "plain", "--seeds", "1", "--results", file("r.csv")}).out, HasSubstr("7 cells"));
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

TEST_F(Learn, OfflineTrainsByRecipesAndByTheOneThatTrainWouldChoose) {
  const std::vector<std::string> settings{"--set",      "steps=30", "--set",           "final_steps=0", "--set",
                                          "ensemble=1", "--set",    "batch_pairs=500", "--quiet",       "--json"};
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.end(), settings.begin(), settings.end());
    const Outcome outcome = hindsight(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out);
  };
  const std::vector<std::string> study{
      "bench",     "offline", "--out",     file("offline"),        "--quick", "--tasks", "single/m6",
      "--samples", "2000",    "--methods", "default,layers,trends"};
  const Json results = run(study).at("results");
  ASSERT_EQ(results.size(), 3U);
  for (const Json& one : results) EXPECT_EQ(one.at("queries"), 0) << one;
  // As the quick study shortens them.
  const Json tested = run({"backtest", "--log", file("offline/log_2000.sqlite"), "--workloads", "m6", "--constraint",
                           "area_mm2", "--set", "evaluate_interval=100"});
  EXPECT_EQ(results.at(0).at("recipe"), tested.at("chosen"));
  EXPECT_FALSE(results.at(1).contains("recipe")) << "it is named";
  EXPECT_EQ(run(study).at("results"), results) << "the second run finds everything done";
}

}  // namespace
}  // namespace hindsight::app::test

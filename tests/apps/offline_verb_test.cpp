/// Does a finished offline study show its proposals' exact regrets and ranks, without running anything?
#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"
#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/check/optima.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

class BenchOffline : public AppTest {
 protected:
  [[nodiscard]] static std::filesystem::path results() {
    return hindsight::test::repository() / "bench/offline/results_20000.jsonl";
  }
  /// The study in this repository, of one task.
  [[nodiscard]] static Outcome show(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"bench",        "offline", "--tasks",   "single/t_rnn_dec",
                                       "--technology", "22nm",    "--results", results().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
};

TEST_F(BenchOffline, RanksAndRegretsAreThoseOfTheExactOptimum) {
  const std::string landscape = file("dec.landscape");
  ASSERT_EQ(hindsight({"optimum", "--all", "--workloads", "t_rnn_dec", "--max", "area_mm2=27", "--technology", "22nm",
                       "--out", landscape, "--quiet"})
                .exit_code,
            0);
  const Outcome shown = show({"--methods", "coms,prime,evolutionary@10x", "--landscape", landscape, "--json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const Json results = Json::parse(shown.out).at("results");
  ASSERT_EQ(results.size(), 9U);
  const check::OfflineTask task = check::select_tasks({"single/t_rnn_dec"}).front();
  const space::DesignSpace space = space::load_space("edge");
  const accel::Technology technology = accel::load_technology("22nm");
  const workload::Network network = workload::load_network("t_rnn_dec");
  const accel::optimum::Question question{.space = &space,
                                          .technology = &technology,
                                          .networks = {&network},
                                          .limits = {{accel::find_metric("area_mm2"), task.area_limit_mm2}}};
  const double optimum = check::latency_optimum(task, technology)->value;
  std::size_t infeasible = 0;
  for (const Json& one : results) {
    EXPECT_EQ(one.at("optimum_latency_s"), optimum);
    if (one.at("latency_s").is_null()) {
      ++infeasible;
      EXPECT_TRUE(one.at("rank").is_null());
      EXPECT_TRUE(one.at("regret").is_null());
      continue;
    }
    const double latency = one.at("latency_s").get<double>();
    EXPECT_EQ(one.at("regret"), latency / optimum);
    EXPECT_EQ(one.at("rank"), accel::optimum::count_better(question, latency).better + 1);
    EXPECT_LE(one.at("best_rank"), one.at("rank"));
  }
  EXPECT_GT(infeasible, 0U) << "both kinds are in the study";
  EXPECT_LT(infeasible, results.size());
  EXPECT_THAT(show({"--methods", "prime", "--landscape", landscape}).out, HasSubstr("Rank of the first proposal"));
}

TEST_F(BenchOffline, AFinishedStudyIsShownFromItsFileAlone) {
  const Outcome shown = show({"--methods", "prime"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.err, HasSubstr("results of the file not shown")) << "of other methods";
  EXPECT_THAT(shown.out, HasSubstr("| single/t_rnn_dec | 1.076 | 0.048573 |"));
  EXPECT_EQ(shown.out.find("Rank of"), std::string::npos) << "no landscape";
  expect_one_line_error(hindsight({"bench", "offline", "--results", results().string(), "--tasks", "single/t_rnn_dec"}),
                        4, "Name its --technology");
  expect_one_line_error(show({"--landscape", file("none.landscape")}), 2, "none.landscape");
  expect_one_line_error(show({"--out", file("offline")}), 2, "Leave one of the two out?");
  expect_one_line_error(hindsight({"bench", "offline"}), 2, "--out");
  expect_one_line_error(hindsight({"bench", "offline", "--quick", "--out", write("taken", "x")}), 2, "is no folder");
  expect_one_line_error(hindsight({"bench", "offline", "--results", file("none.jsonl")}), 2, "no such file");
  expect_one_line_error(show({"--samples", "7"}), 2, "with --samples 20000");
  expect_one_line_error(hindsight({"bench", "offline", "--results", results().string(), "--tasks", "single/t_rnn_dec",
                                   "--methods", "prime", "--technology", "45nm"}),
                        4, "less than the exact optimum");
  const std::string other = file("tiny.landscape");
  ASSERT_EQ(hindsight({"optimum", "--all", "--space", "tiny", "--workloads", "m6", "--out", other, "-q"}).exit_code, 0);
  expect_one_line_error(show({"--landscape", other}), 4, "landscape");
}

TEST_F(BenchOffline, ResultsOfEarlierVersionsAreGoneOnWithAndOtherQuestionsAreNot) {
  std::filesystem::create_directory(file("study"));
  std::filesystem::copy_file(results(), file("study/results.jsonl"));
  const auto left = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"bench",     "offline",          "--out",        file("study"),
                                   "--tasks",   "single/t_rnn_dec", "--technology", "22nm",
                                   "--dry-run", "--quiet",          "--methods"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = hindsight(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_THAT(left({"prime,coms,supervised,best_in_log"}), HasSubstr("gets 0 of 12 cells"));
  EXPECT_THAT(left({"prime,coms", "--recipe", "v0.1", "--min-feasible", "0.5", "--pessimism", "1", "--diversity", "2"}),
              HasSubstr("gets 0 of 6 cells"));
  for (const auto& more : std::vector<std::vector<std::string>>{{"--risk", "balanced"},
                                                                {"--diversity", "3"},
                                                                {"--min-feasible", "0.9"},
                                                                {"--set", "steps=7"},
                                                                {"--recipe", "plain"}}) {
    std::vector<std::string> words{"prime"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_THAT(left(words), HasSubstr("gets 3 of 3 cells")) << more.front();
  }
  EXPECT_THAT(left({"layers,default,prime-paper,best_in_log"}), HasSubstr("gets 9 of 12 cells"));
}

TEST_F(BenchOffline, WhatNobodyOfTheMethodsHearsIsRefused) {
  const auto refused = [&](const std::vector<std::string>& more, const std::string& part) {
    std::vector<std::string> words{"bench", "offline", "--out", file("study"), "--dry-run", "--tasks", "single/m4"};
    words.insert(words.end(), more.begin(), more.end());
    expect_one_line_error(hindsight(words), 2, part);
  };
  refused({"--methods", "prime", "--recipe", "layers"}, "--recipe layers: is one of the method layers");
  refused({"--methods", "layers", "--recipe", "prime-paper"}, "--recipe prime-paper: is one of the method prime");
  refused({"--methods", "default,trends", "--recipe", "margins"}, "none that it is for is among default, trends");
  refused({"--methods", "prime", "--recipe", "default"}, "name it in --methods: default");
  refused({"--methods", "prime", "--recipe", "nosuch"}, "nosuch");
  refused({"--methods", "layer"}, "layers");
  refused({"--methods", "best_in_log", "--set", "nosuchkey=1"}, "has no key 'nosuchkey'");
  refused({"--methods", "evolutionary@10", "--set", "steps=1"}, "no recipe is trained by evolutionary@10");
  refused({"--methods", "layers", "--set", "alpha=1"}, "not by layers");
  refused({"--methods", "prime", "--risk", "brave"}, "brave");
}

}  // namespace
}  // namespace hindsight::app::test

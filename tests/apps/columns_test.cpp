/// Do --columns, --weights and --color do what they are told, and say what they cannot?
#include "apps/app_fixture.h"
#include "hindsight/core/text.h"

namespace hindsight::app::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Columns : public AppTest {
 protected:
  void SetUp() override {
    log_ = file("a.sqlite");
    ASSERT_EQ(
        hindsight({"sweep", "--space", "tiny", "--workloads", "m4", "--samples", "40", "--log", log_, "-q"}).exit_code,
        0);
  }
  std::string log_;
};

TEST_F(Columns, QueriesShowThoseThatWereChosenInEveryFormat) {
  const std::vector<std::string> query{"log",       "query",    log_, "SELECT 1 AS one, 2 AS two, 3 AS three",
                                       "--columns", "three,one"};
  const auto with = [&](const std::string& format) {
    std::vector<std::string> words = query;
    if (!format.empty()) words.push_back(format);
    return hindsight(words).out;
  };
  EXPECT_EQ(with("--csv"), "three,one\n3,1\n");
  EXPECT_THAT(with("--json"), AllOf(HasSubstr("\"three\":3"), Not(HasSubstr("two"))));
  EXPECT_THAT(with(""), AllOf(StartsWith("three  one\n"), Not(HasSubstr("two"))));
  expect_one_line_error(hindsight({"log", "query", log_, "SELECT 1 AS one", "--columns", "on"}), 2,
                        "--columns: unknown column 'on'. Did you mean 'one'?");
}

TEST_F(Columns, BestDesignsHaveThoseThatWereChosen) {
  const Outcome outcome = hindsight({"log", "show", log_, "--columns", "Latency-s,rank"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("latency_s  rank\n"));
  EXPECT_THAT(hindsight({"log", "show", log_}).out, Not(HasSubstr("latency_s  rank\n")));
  expect_one_line_error(hindsight({"log", "show", log_, "--columns", "latncy_s"}), 2, "Did you mean 'latency_s'?");
  expect_one_line_error(hindsight({"log", "show", log_, "--columns", "rank", "--json"}), 2, "--columns");
}

TEST_F(Columns, ProposalsHaveThoseThatWereChosenInANarrowTerminal) {
  const std::vector<std::string> propose{
      "propose", "--workload", "m4", "--top", "2", "--evaluations", "500", "--columns", "rank,p_feasible,spread"};
  const Outcome outcome = hindsight(propose, {.environment = {{"COLUMNS", "60"}}, .terminal = true});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("rank  p feasible  spread\n"), Not(HasSubstr("cautious  "))));
  std::vector<std::string> wrong = propose;
  wrong.back() = "rank,p_feasable";
  const Outcome refused = hindsight(wrong);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("Did you mean 'p feasible'?"));
}

TEST_F(Columns, WeightsThatDoNotFitNameTheirOption) {
  const auto with = [](const std::string& weights) {
    return hindsight({"propose", "--workload", "m4,m6", "--top", "1", "--weights", weights});
  };
  expect_one_line_error(with("1"), 2, "--weights: 1 for 2 applications. Give one for each, above 0");
  expect_one_line_error(with("1,-1"), 2, "--weights: -1 is no number above 0. Leave an application that does");
}

TEST_F(Columns, OfProposalsAreRefusedBeforeTheSearch) {
  const std::string log = file("edge.sqlite");
  ASSERT_EQ(hindsight({"sweep", "--workloads", "m4", "--samples", "20", "--max", "area_mm2=60", "--log", log, "-q"})
                .exit_code,
            0);
  const std::string before = hash_of(log);
  const std::vector<std::string> propose{"propose", "--workload",    "m4",  "--top",    "2", "--log",
                                         log,       "--evaluations", "500", "--columns"};
  const auto with = [&](const std::string& columns, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = propose;
    words.push_back(columns);
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  expect_one_line_error(with("predictd"), 2, "--columns: unknown column 'predictd'. Did you mean 'predicted'?");
  expect_one_line_error(with("rank,true"), 2, "true");  // not without --simulate
  expect_one_line_error(with("pont", {"--pareto", "latency,energy"}), 2, "Did you mean 'point'?");
  EXPECT_EQ(hash_of(log), before);  // no run was begun
  // What no proposal may have is a column all the same where it was asked for.
  EXPECT_THAT(with("rank,in_log,in_no_row").out, HasSubstr("rank  in log  in no row\n"));
  EXPECT_THAT(with("rank,true", {"--simulate"}).out, HasSubstr("rank"));
  EXPECT_THAT(with("point,why_not", {"--simulate", "--pareto", "latency,energy"}).out, HasSubstr("point  why not\n"));
}

class Colour : public AppTest {
 protected:
  [[nodiscard]] static bool coloured(const std::vector<std::string>& command,
                                     const std::map<std::string, std::string>& variables = {}) {
    std::map<std::string, std::string> all = variables;
    all.insert({{"NO_COLOR", ""}, {"CLICOLOR_FORCE", ""}, {"TERM", "xterm"}});  // whatever the tests run in
    const Outcome outcome = hindsight(command, {.environment = all});
    return (outcome.out + outcome.err).find("\x1b[") != std::string::npos;
  }
};

TEST_F(Colour, TheOptionWinsOverTheEnvironmentAndThatOverTheTerminal) {
  const std::vector<std::string> page{"help", "spaces"}, wrong{"space", "lisst"};
  const auto with = [](std::vector<std::string> words, const std::string& use) {
    words.insert(words.end(), {"--color", use});
    return words;
  };
  for (const auto& command : {page, wrong}) {
    EXPECT_FALSE(coloured(command));  // a pipe
    EXPECT_TRUE(coloured(with(command, "always")));
    EXPECT_TRUE(coloured(with(command, "always"), {{"NO_COLOR", "1"}, {"TERM", "dumb"}}));
    EXPECT_TRUE(coloured(command, {{"CLICOLOR_FORCE", "1"}}));
    EXPECT_FALSE(coloured(command, {{"CLICOLOR_FORCE", "0"}}));
    EXPECT_FALSE(coloured(command, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}));
    EXPECT_FALSE(coloured(with(command, "never"), {{"CLICOLOR_FORCE", "1"}}));
    EXPECT_TRUE(coloured(with(command, "auto"), {{"CLICOLOR_FORCE", "1"}}));
  }
  EXPECT_TRUE(coloured({"--color=always", "space", "show", "no such"}));
  EXPECT_TRUE(coloured({"space", "show", "no such"}, {{"HINDSIGHT_COLOR", "always"}}));
  expect_one_line_error(hindsight({"space", "list", "--color", "allways"}), 2, "Did you mean 'always'?");
}

}  // namespace
}  // namespace hindsight::app::test

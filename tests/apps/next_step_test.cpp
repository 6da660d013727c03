/// Is the command that a verb names next one that works as it stands, and is it shown to people alone?
#include "apps/learn_fixture.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Words = std::vector<std::string>;

class NextStep : public AppTest {
 protected:
  /// The command that is named on a terminal, without "hindsight: next: "; empty where there is none.
  [[nodiscard]] std::string named(const Words& command, const std::string& role = "next") const {
    const Outcome outcome = hindsight(command, {.folder = folder_, .terminal = true});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::string mark = "hindsight: " + role + ": ";
    const std::size_t at = outcome.err.find(mark);
    if (at == std::string::npos) return {};
    const std::size_t from = at + mark.size();
    return outcome.err.substr(from, outcome.err.find('\n', from) - from);
  }
  /// Runs it in a shell, as it was copied.
  void expect_works(const std::string& command) const {
    ASSERT_FALSE(command.empty());
    const std::string folder = program_path().parent_path().string();
    const std::string line = "cd '" + folder_.string() + "' && PATH='" + folder + "':$PATH && " + command + " >'" +
                             file("said") + "' 2>&1 </dev/null";
    EXPECT_EQ(std::system(line.c_str()), 0) << command << "\n" << read_file(file("said"));
  }
  Words sweep(const std::string& log, const Words& more = {}) const {
    Words words{"sweep", "--space", "tiny", "--workloads", "m4,unet", "--samples", "60", "--log", log};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(NextStep, EveryCommandThatIsNamedWorks) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  expect_works(named(sweep("my log.sqlite")));  // a name that needs quotes
  write("t.csv", "a,b,cost_ms\n1,1,5\n2,1,4\n1,2,3\n2,2,oom\n3,1,7\n3,2,6\n");
  expect_works(named({"log", "import", "t.csv", "--objective", "cost_ms", "--log", "t.sqlite"}));
  const std::string train =
      named({"backtest", "--log", "my log.sqlite", "--workload", "m4", "--rows", "40", "--method", "margins"});
  EXPECT_THAT(train, HasSubstr("hindsight train --log 'my log.sqlite' --workloads m4 --recipe "));
  expect_works(train);
  expect_works(
      named({"train", "--log", "my log.sqlite", "--workloads", "m4", "--recipe", "margins", "--out", "m.safetensors"}));
  const Words propose{"propose", "--model",       "m.safetensors", "--workload", "m4",
                      "--log",   "my log.sqlite", "--top",         "2"};
  const std::string simulate = named(propose);
  EXPECT_THAT(simulate, HasSubstr("--simulate"));
  expect_works(simulate);
  Words simulated = propose;
  simulated.emplace_back("--simulate");
  if (const std::string check = named(simulated); !check.empty()) {  // none where the first proposal cannot be built
    EXPECT_THAT(check, HasSubstr("hindsight check --log 'my log.sqlite'"));
    expect_works(check);
  }
  expect_works(named({"check", "--design", "edge_tpu_v1", "--workload", "mobilenet_v2", "--gpu", "l4"}));
  expect_works(named({"optimum", "--space", "tiny", "--workloads", "m4,unet"}));
}

TEST_F(NextStep, VerdictsOfALogHaveAPage) {
  const std::string log = "best.sqlite";
  ASSERT_EQ(hindsight({"optimum", "--workloads", "m4", "--max", "area_mm2=27", "--log", log, "-q"}, {.folder = folder_})
                .exit_code,
            0);
  const std::string report = named({"check", "--log", log, "--workload", "m4", "--gpu", "l4"});
  EXPECT_THAT(report, HasSubstr("hindsight report --log best.sqlite --out report.html"));
  expect_works(report);
  EXPECT_TRUE(std::filesystem::exists(file("report.html")));
}

TEST_F(NextStep, ProposalsForANetworkOfAFileAreCheckedWithIt) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  std::string net = read_file(hindsight::test::repository() / "data/workloads/m4.yaml");
  net.replace(net.find("name: m4"), 8, "name: mine");
  write("my net.yaml", net);
  ASSERT_EQ(hindsight({"sweep", "--space", "edge", "--workloads", "my net.yaml", "--samples", "10", "--log",
                       "own.sqlite", "--quiet"},
                      {.folder = folder_})
                .exit_code,
            0);
  const std::string check = named({"propose", "--workload", "my net.yaml", "--max", "area_mm2=27", "--evaluations",
                                   "5000", "--top", "1", "--log", "own.sqlite", "--simulate"});
  EXPECT_THAT(check, HasSubstr("hindsight check --log own.sqlite --workload 'my net.yaml'"));
  expect_works(check);
}

TEST_F(NextStep, TheExactBestIsNamedBesideProposals) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  const auto exact = [&](const Words& more) {
    Words words{"propose", "--evaluations", "2000", "--top", "1"};
    words.insert(words.end(), more.begin(), more.end());
    return named(words, "exact best, without a model");
  };
  const std::string one = exact({"--workload", "m4", "--max", "area=27", "--set", "pes_x=1..4"});
  EXPECT_EQ(one, "hindsight optimum --space edge --workloads m4 --set pes_x=1..4 --max area=27 --objective latency");
  expect_works(one);
  write("my net.yaml", read_file(hindsight::test::repository() / "data/workloads/m4.yaml"));
  const std::string own = exact({"--workload", "my net.yaml,m6", "--aggregate", "mean"});
  EXPECT_EQ(own, "hindsight optimum --space edge --workloads 'my net.yaml,m6' --objective latency --aggregate mean");
  expect_works(own);
  EXPECT_EQ(exact({"--workload", "m4,m6", "--aggregate", "worst"}), "") << "of proposals that is a ratio";
  EXPECT_EQ(exact({"--workload", "m4", "--pareto", "latency,energy"}), "");
  EXPECT_EQ(exact({"--workload", "m4", "--json"}), "");
  EXPECT_EQ(exact({"--space", "datacenter", "--workload", "llama3_8b_decode"}), "") << "it has no exact bounds";
}

/// m4 has some dozens of layers: a hundred million designs of it take longer than fifty thousand of thousands.
TEST_F(NextStep, ALongSearchNamesWhatTakesLess) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  const auto told = [&](const Words& more) {
    Words words{"propose", "--top", "1", "--dry-run"};
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words, {.folder = folder_}).err;
  };
  EXPECT_THAT(
      told({"--workload", "m4", "--evaluations", "100000000"}),
      AllOf(HasSubstr("judging 100,000,000 designs of "),
            HasSubstr("layers each takes minutes; a smaller --evaluations judges fewer. The exact best, without "
                      "a model, takes less: hindsight optimum --space edge --workloads m4")));
  EXPECT_THAT(told({"--space", "datacenter", "--workload", "llama3_8b_decode", "--evaluations", "100000000"}),
              AllOf(HasSubstr("takes minutes; a smaller --evaluations"), Not(HasSubstr("hindsight optimum"))));
  EXPECT_THAT(told({"--workload", "m4", "--evaluations", "2000"}), Not(HasSubstr("takes minutes")));
}

TEST_F(NextStep, ScriptsAreToldNothing) {
  EXPECT_THAT(hindsight(sweep("a.sqlite"), {.folder = folder_}).err, Not(HasSubstr("next:")));
  EXPECT_EQ(named(sweep("a.sqlite", {"--quiet"})), "");
  EXPECT_EQ(named(sweep("a.sqlite", {"--json"})), "");
  EXPECT_NE(named(sweep("a.sqlite")), "");
}

}  // namespace
}  // namespace hindsight::app::test

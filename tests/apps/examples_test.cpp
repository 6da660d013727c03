/// Do the examples in Python read logs and go round, and does the tutorial say what its commands say?
#include <cstdlib>

#include "apps/learn_fixture.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;

class Examples : public AppTest {
 protected:
  /// Runs a command line in this test's folder; what it printed and said.
  [[nodiscard]] Outcome run(const std::string& command) const {
    const std::string out = file("said");
    const int status = std::system(
        ("cd " + shell_quoted(folder_.string()) + " && " + command + " > " + shell_quoted(out) + " 2>&1").c_str());
    return {.exit_code = status == 0 ? 0 : 1, .out = read_file(out), .err = ""};
  }
  [[nodiscard]] static std::string example(const std::string& name) {
    return shell_quoted((hindsight::test::repository() / "examples" / name).string());
  }
  /// A Python that has pandas, the system's where the first on the path has none; empty: there is none.
  [[nodiscard]] static std::string python_with_pandas() {
    for (const std::string python : {"python3", "/usr/bin/python3"}) {
      if (std::system((python + " -c 'import pandas' 2> /dev/null").c_str()) == 0) return python;
    }
    return "";
  }
};

TEST_F(Examples, ReadsALogIntoDataFrames) {
  const std::string python = python_with_pandas();
  if (python.empty()) GTEST_SKIP() << "no python3 with pandas";
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m4,m6", "--samples", "200", "--log",
                       file("a.sqlite"), "--quiet"})
                .exit_code,
            0);
  const Outcome read = run(python + " " + example("read_log.py") + " a.sqlite --top 1");
  ASSERT_EQ(read.exit_code, 0) << read.out;
  EXPECT_THAT(read.out, HasSubstr("200 designs, 400 evaluations, "));
  for (const char* part : {"m4: best by latency_s", "m6: best by latency_s", "tiny: feasibility by pes_x"}) {
    EXPECT_THAT(read.out, HasSubstr(part));
  }
  // The frames are those of the log: the best latency of m4, and the feasible share over all rows.
  const Outcome checked =
      run(python + " -c " +
          shell_quoted("import sys; sys.path.insert(0, '" + (hindsight::test::repository() / "examples").string() +
                       "'); from read_log import read_log; log = read_log('a.sqlite'); "
                       "rows = log.evaluations.query('workload == \"m4\" and feasible'); "
                       "print(repr(rows['latency_s'].min()), len(rows), len(log.designs['tiny']), "
                       "list(log.designs['tiny'])[0], log.reasons['code'].nunique() > 0)"));
  ASSERT_EQ(checked.exit_code, 0) << checked.out;
  const std::string expected =
      hindsight({"log", "query", file("a.sqlite"),
                 "SELECT count(*) AS n FROM v_evaluations WHERE workload = 'm4' AND feasible", "--csv"})
          .out;
  const std::size_t number = expected.find_first_of("0123456789");
  ASSERT_NE(number, std::string::npos) << expected;
  const std::string rows(trimmed(expected.substr(number)));
  EXPECT_THAT(checked.out, HasSubstr(" " + rows + " 200 pes_x True")) << expected;
}

TEST_F(Examples, ReadLogSaysWhatIsWrongInALine) {
  const std::string python = python_with_pandas();
  if (python.empty()) GTEST_SKIP() << "no python3 with pandas";
  write("no.sqlite", "not a database, but a text that is long enough to be looked at as one, which it is not");
  for (const auto& [arguments, said] :
       {std::pair("gone.sqlite", "there is no such file"), {"no.sqlite", "is no log of Hindsight"}}) {
    const Outcome outcome = run(python + " " + example("read_log.py") + " " + arguments);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_THAT(outcome.out, ::testing::StartsWith("read_log.py: "));
    EXPECT_THAT(outcome.out, HasSubstr(said));
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1) << outcome.out;
  }
}

TEST_F(Examples, ACampaignAsksAFunctionAndGoesOnWithWhatItAwaits) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "there is no python3";
  const std::string campaign =
      "python3 " + example("campaign.py") + " night.sqlite --hindsight " + shell_quoted(program_path().string());
  const Outcome first = run(campaign + " --rounds 1 --batch 5");
  ASSERT_EQ(first.exit_code, 0) << first.out;
  EXPECT_THAT(first.out, HasSubstr("round 1: 5 designs, "));
  // As if it had been killed between ask and tell: three designs are awaited, and come first.
  const Outcome asked = hindsight({"ask", "-n", "3", "--log", file("night.sqlite"), "--out", file("lost.csv")});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  const Outcome second = run(campaign + " --rounds 1 --batch 5");
  ASSERT_EQ(second.exit_code, 0) << second.out;
  EXPECT_THAT(second.out, HasSubstr("round 1: 3 designs, "));
  const std::string designs =
      hindsight({"log", "query", file("night.sqlite"), "SELECT count(*) AS n FROM evaluations", "--csv"}).out;
  EXPECT_THAT(designs, HasSubstr("8")) << designs;
}

class Tutorial : public Learn {};

TEST_F(Tutorial, SaysWhatItsCommandsSay) {
  const std::filesystem::path build = program_path().parent_path().parent_path().parent_path();
  const std::string repository = hindsight::test::repository().string();
  const int status =
      std::system(("BUILD_DIR=" + shell_quoted(build.string()) + " BENCH_DIR=" + shell_quoted(build.string()) + " " +
                   shell_quoted(repository + "/scripts/update-docs.sh") + " --check " +
                   shell_quoted(repository + "/docs/tutorial.md") + " > " + shell_quoted(file("said")) + " 2>&1")
                      .c_str());
  EXPECT_EQ(status, 0) << read_file(file("said"));
}

}  // namespace
}  // namespace hindsight::app::test

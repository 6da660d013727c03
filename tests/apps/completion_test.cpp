/// Do bash, zsh and fish offer what the program knows, quickly, and nothing that a shell would run?
#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "apps/app_fixture.h"
#include "apps/hindsight/command_tree.h"
#include "apps/hindsight/option_values.h"
#include "hindsight/core/text.h"

namespace hindsight::app::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using Words = std::vector<std::string>;

class ShellCompletion : public AppTest {
 protected:
  /// What the script offers for a typed line, a word per line.
  Words offered(const std::string& shell, const std::string& typed) {
    const std::string script = write("completion." + shell, hindsight({"completion", shell}).out);
    const std::string folder = program_path().parent_path().string();
    std::string command;
    if (shell == "bash") {
      command = "source " + script + "; COMP_LINE='" + typed +
                "'; COMP_POINT=${#COMP_LINE}; _hindsight; printf '%s\\n' " + "\"${COMPREPLY[@]}\"";
    } else {
      command = "source " + script + "; complete -C '" + typed + "' | cut -f1";
    }
    return lines(run(shell, "export PATH=\"" + folder + ":$PATH\"; cd " + folder_.string() + "; " + command));
  }
  std::string run(const std::string& shell, const std::string& command) {
    const std::string file = write("ask." + shell, command);
    const std::string options = shell == "fish" ? " --no-config " : " ";
    FILE* pipe = ::popen(("HOME=" + folder_.string() + " " + shell + options + file + " 2>&1").c_str(), "r");
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
  }
  static Words lines(const std::string& text) {
    Words words = split(text, '\n');
    std::erase(words, "");
    return words;
  }
  static bool has(const std::string& shell) {
    return std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) == 0;
  }
  std::string tiny_log() {
    const std::string log = file("tiny.sqlite");
    EXPECT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m4,unet", "--samples", "5", "--log", log, "-q"})
                  .exit_code,
              0);
    return log;
  }
};

TEST_F(ShellCompletion, BashOffersVerbsOptionsWordsAndNames) {
  if (!has("bash")) GTEST_SKIP() << "no bash";
  EXPECT_THAT(offered("bash", "hindsight swe"), ElementsAre("sweep"));
  EXPECT_THAT(offered("bash", "hindsight log "), IsSupersetOf({"show", "stats", "merge"}));
  EXPECT_THAT(offered("bash", "hindsight sweep --noise-"), ElementsAre("--noise-seed"));
  EXPECT_THAT(offered("bash", "hindsight sweep --sampler "),
              ElementsAre("uniform", "lhs", "sobol", "grid", "around", "trajectory"));
  EXPECT_THAT(offered("bash", "hindsight gemm --dtype fp"), ElementsAre("fp32", "fp16", "fp8", "fp4"));
  EXPECT_THAT(offered("bash", "hindsight gemm --gpu h100-sxm5,l40"), ElementsAre("h100-sxm5,l40", "h100-sxm5,l40s"));
  EXPECT_THAT(offered("bash", "hindsight sweep --space=ed"), ElementsAre("edge"));
  EXPECT_THAT(offered("bash", "hindsight sweep --around near"), ElementsAre("nearest:"));
  EXPECT_THAT(offered("bash", "hindsight space show ti"), ElementsAre("tiny"));
  EXPECT_THAT(offered("bash", "hindsight simulate --design edge_tpu_v1_"), ElementsAre("edge_tpu_v1_grid"));
  EXPECT_THAT(offered("bash", "hindsight propose --technology 22"), IsSupersetOf({"22nm"}));
  EXPECT_THAT(offered("bash", "hindsight train --recipe v0"), ElementsAre("v0.1"));
  EXPECT_THAT(offered("bash", "hindsight help gpu-k"), ElementsAre("gpu-kernels"));
  EXPECT_THAT(offered("bash", "hindsight completion "), ElementsAre("bash", "zsh", "fish"));
}

TEST_F(ShellCompletion, BashOffersWhatALogHas) {
  if (!has("bash")) GTEST_SKIP() << "no bash";
  tiny_log();
  EXPECT_THAT(offered("bash", "hindsight log show tiny.sqlite --workload "), ElementsAre("m4", "unet"));
  EXPECT_THAT(offered("bash", "hindsight train --log tiny.sqlite --workload m4,u"), ElementsAre("m4,unet"));
  EXPECT_THAT(offered("bash", "hindsight log show --log tiny.sqlite --run "), ElementsAre("1"));
  EXPECT_THAT(offered("bash", "hindsight log stats --log ~/tiny.sqlite --space "), ElementsAre("tiny"));
  EXPECT_THAT(offered("bash", "hindsight log show nothing.sqlite --workload "), Words{});
}

TEST_F(ShellCompletion, FishOffersTheSame) {
  if (!has("fish")) GTEST_SKIP() << "no fish";
  tiny_log();
  EXPECT_THAT(offered("fish", "hindsight swe"), ElementsAre("sweep"));
  EXPECT_THAT(offered("fish", "hindsight log show tiny.sqlite --workload "), ElementsAre("m4", "unet"));
  EXPECT_THAT(offered("fish", "hindsight sweep --space=ed"), ElementsAre("--space=edge"));
  EXPECT_THAT(offered("fish", "hindsight log show ti"), ElementsAre("tiny.sqlite"));
}

TEST_F(ShellCompletion, ZshOffersTheSame) {
  if (!has("zsh")) GTEST_SKIP() << "no zsh";
  // zsh completes in its line editor only: a terminal of its own, in which a key is pressed.
  const std::string script = write("_hindsight", hindsight({"completion", "zsh"}).out);
  const std::string text = run(
      "zsh",
      "zmodload zsh/zpty; zpty z \"PATH=" + program_path().parent_path().string() +
          ":$PATH TERM=xterm zsh -f -i\"\n"
          "ask() { zpty -w z \"$1\"; sleep ${2:-0.3}; local t; while zpty -rt z t; do print -rn -- \"$t\"; done }\n"
          "ask 'autoload -Uz compinit; compinit -u -D; source " +
          script +
          "' 1 >/dev/null\n"
          "zpty -w -n z $'hindsight swe\\t'; sleep 1; while zpty -rt z t; do print -rn -- \"$t\"; done\n"
          "zpty -w -n z $'--space=ed\\t --layout n\\t'; sleep 1; while zpty -rt z t; do print -rn -- \"$t\"; done\n");
  EXPECT_THAT(text, HasSubstr("sweep"));
  EXPECT_THAT(text, HasSubstr("--space=edge"));
}

TEST_F(ShellCompletion, OffersNothingThatAShellWouldRun) {
  const std::string log = tiny_log();
  SQLite::Database database(log, SQLite::OPEN_READWRITE);
  database.exec("UPDATE workloads SET name = '$(touch x)' WHERE name = 'm4'");
  EXPECT_EQ(hindsight({"__complete", "log", "show", log, "--workload", ""}).out, "words\nunet\n");
}

TEST_F(ShellCompletion, AnswersAtOnceAndSaysNothingOnErrors) {
  const std::string broken = write("broken.sqlite", "no log");
  for (const Words& typed : {Words{"log", "show", broken, "--workload", ""}, Words{"nothing", "at", "all"}, Words{},
                             Words{"sweep", "--space", broken, "--max", ""}}) {
    Words arguments{"__complete"};
    arguments.insert(arguments.end(), typed.begin(), typed.end());
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = hindsight(arguments);
    // 50 ms is the promise; a machine that runs other tests beside this one gets ten times as long.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, ::testing::AnyOf("files\n", "words\n"));
  }
  expect_one_line_error(hindsight({"completion", "zhs"}), 2, "Did you mean 'zsh'?");
}

TEST(ValueRules, EachSpeaksOfAnOptionThatIsThere) {
  Session session;
  CLI::App app;
  describe_program(app);
  add_verbs(app, session);
  for (const ValueRule& rule : value_rules()) {
    bool used = false;
    for (const CLI::App* verb : all_verbs(app)) {
      for (const CLI::Option* option : verb->get_options()) used = used || value_rule(*verb, *option) == &rule;
    }
    EXPECT_TRUE(used) << rule.verb << " " << rule.option;
  }
}

TEST_F(ShellCompletion, VerbsAreOfferedWhereTheyAreArguments) {
  EXPECT_THAT(lines(hindsight({"__complete", "config", "show", "swe"}).out).at(1), HasSubstr("sweep\t"));
  EXPECT_THAT(hindsight({"__complete", "config", "show", "log", "me"}).out, HasSubstr("merge\t"));
  EXPECT_THAT(hindsight({"__complete", "sweep", "--color", ""}).out, HasSubstr("always\n"));
  EXPECT_THAT(hindsight({"__complete", "conf"}).out, HasSubstr("config\t"));
}

}  // namespace
}  // namespace hindsight::app::test

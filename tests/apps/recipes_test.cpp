/// Do the recipes of docs/bring-your-own.md run as they stand?
#include <cstdlib>
#include <sstream>

#include "apps/learn_fixture.h"
#include "hindsight/core/files.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

/// The commands of a section, block after block.
std::string commands_of(const std::string& page, const std::string& section) {
  std::string commands;
  bool in_section = false, in_block = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) in_section = line.starts_with("## " + section);
    if (!in_section) continue;
    if (line.starts_with("```")) {
      in_block = line == "```sh";
    } else if (in_block) {
      commands += line + "\n";
    }
  }
  return commands;
}

class Recipes : public Learn {
 protected:
  /// Runs sections in one folder, each as a script that ends at the first command that fails.
  void run(const std::vector<std::string>& sections) const {
    if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "there is no python3";
    const std::string page = read_file(hindsight::test::repository() / "docs" / "bring-your-own.md");
    for (const std::string& section : sections) {
      const std::string commands = commands_of(page, section);
      ASSERT_FALSE(commands.empty()) << section;
      const std::string script =
          write("recipe" + section + ".sh", "set -eu\ncd '" + folder_.string() + "'\nPATH='" +
                                                program_path().parent_path().string() + "':$PATH\n" + commands);
      EXPECT_EQ(std::system(("sh '" + script + "' > '" + file("out") + "' 2>&1").c_str()), 0) << section << "\n"
                                                                                              << read_file(file("out"));
    }
  }
};

TEST_F(Recipes, ATableThatYouHave) { run({"1"}); }
TEST_F(Recipes, ASimulatorThatThisMachineRunsAndOneElsewhere) { run({"2", "3"}); }
TEST_F(Recipes, ANetworkOfYours) { run({"4"}); }
TEST_F(Recipes, LogsOfSeveralPeople) { run({"5"}); }

}  // namespace
}  // namespace hindsight::app::test

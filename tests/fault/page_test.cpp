/// Does docs/reliability.md name tests that exist, for every class of faults?
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "repository.h"

namespace hindsight::fault::test {
namespace {

namespace fs = std::filesystem;

/// "Suite.Name" of every test in the sources.
std::set<std::string> tests_in_sources() {
  std::set<std::string> names;
  const std::regex test(R"(TEST(?:_F|_P)?\((\w+),\s*(\w+)\))");
  for (const auto& entry : fs::recursive_directory_iterator(hindsight::test::repository() / "tests")) {
    if (!entry.path().string().ends_with("_test.cpp")) continue;
    const std::string text = read_file(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at) {
      names.insert((*at)[1].str() + "." + (*at)[2].str());
    }
  }
  return names;
}

/// A name in full has to be one; one that ends with * or ... stands for those that begin so and go on.
bool exists(const std::string& pattern, const std::set<std::string>& names) {
  const std::size_t star = pattern.find('*');
  const bool shortened = pattern.ends_with("...");
  if (!shortened && star == std::string::npos) return names.contains(pattern);
  if (!shortened && star + 1 != pattern.size()) return false;
  const std::string prefix = pattern.substr(0, shortened ? pattern.size() - 3 : star);
  const auto next = names.upper_bound(prefix);
  return next != names.end() && next->starts_with(prefix);
}

/// How many tests a text names; each has to exist.
int expect_tests_of(const std::string& text, const std::set<std::string>& names) {
  const std::regex quoted(R"(`([A-Z]\w+\.[\w*]+(?:\.\.\.)?)`)");
  int found = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at) {
    const std::string pattern = (*at)[1];
    if (pattern.ends_with(".md")) continue;
    EXPECT_TRUE(exists(pattern, names)) << "no test " << pattern;
    ++found;
  }
  return found;
}

TEST(ReliabilityPage, EveryClassHasATestThatExistsAndACommand) {
  const std::string page = read_file(hindsight::test::repository() / "docs/reliability.md");
  const std::set<std::string> names = tests_in_sources();
  ASSERT_GT(names.size(), 1000U);
  constexpr int kClasses = 27;
  for (int number = 1; number <= kClasses; ++number) {
    const std::size_t begin = page.find("\n| " + std::to_string(number) + " |");
    ASSERT_NE(begin, std::string::npos) << "class " << number;
    const std::string row = page.substr(begin + 1, page.find('\n', begin + 1) - begin - 1);
    EXPECT_GT(expect_tests_of(row, names), 0) << "class " << number << " names no test";
    EXPECT_NE(row.find("| `ctest -R "), std::string::npos) << "class " << number << " names no command";
  }
}

TEST(ReliabilityPage, EveryTestThatItNamesExists) {
  const std::string page = read_file(hindsight::test::repository() / "docs/reliability.md");
  EXPECT_GT(expect_tests_of(page, tests_in_sources()), 60);
}

TEST(ReliabilityPage, ANameInFullIsNoBeginning) {
  const std::set<std::string> names{"Suite.Name", "Suite.NameThatGoesOn"};
  for (const char* there : {"Suite.Name", "Suite.*", "Suite.Name*", "Suite.Name...", "Suite.NameThat..."}) {
    EXPECT_TRUE(exists(there, names)) << there;
  }
  for (const char* none : {"Suite.NameThat", "Suite.NameThatGoesOn...", "Suite.*That", "Other.*", "Suite"}) {
    EXPECT_FALSE(exists(none, names)) << none;
  }
}

}  // namespace
}  // namespace hindsight::fault::test

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

bool exists(const std::string& pattern, const std::set<std::string>& names) {
  const std::string prefix = pattern.substr(0, pattern.find_first_of("*") == std::string::npos
                                                   ? (pattern.ends_with("...") ? pattern.size() - 3 : pattern.size())
                                                   : pattern.find('*'));
  const auto next = names.lower_bound(prefix);
  if (next == names.end() || !next->starts_with(prefix)) return false;
  return prefix.size() < pattern.size() || *next == pattern;
}

TEST(ReliabilityPage, EveryClassHasATestThatExists) {
  const std::string page = read_file(hindsight::test::repository() / "docs/reliability.md");
  const std::set<std::string> names = tests_in_sources();
  ASSERT_GT(names.size(), 1000U);
  const std::regex quoted(R"(`([A-Z]\w+\.[\w*]+(?:\.\.\.)?)`)");
  constexpr int kClasses = 27, kNone = 27;  // there is no database server
  for (int number = 1; number <= kClasses; ++number) {
    const std::size_t begin = page.find("\n| " + std::to_string(number) + " |");
    ASSERT_NE(begin, std::string::npos) << "class " << number;
    const std::string row = page.substr(begin + 1, page.find('\n', begin + 1) - begin - 1);
    int found = 0;
    for (std::sregex_iterator at(row.begin(), row.end(), quoted), end; at != end; ++at) {
      const std::string pattern = (*at)[1];
      if (pattern.ends_with(".md")) continue;
      EXPECT_TRUE(exists(pattern, names)) << "class " << number << ": no test " << pattern;
      ++found;
    }
    EXPECT_TRUE(found > 0 || number == kNone) << "class " << number << " names no test";
  }
}

}  // namespace
}  // namespace hindsight::fault::test

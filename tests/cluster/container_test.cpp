/// Does the Containerfile build what is there, as the pages say to? An image cannot be built where no registry has
/// Debian's: what it names and runs is looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "repository.h"

namespace hindsight::cluster::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// Instructions with their lines joined: {"RUN", "scripts/package.sh"}.
std::vector<std::pair<std::string, std::string>> instructions() {
  const std::string text = read_file(hindsight::test::repository() / "configs/cluster/Containerfile");
  std::istringstream lines(text);
  std::vector<std::pair<std::string, std::string>> found;
  bool goes_on = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const bool more = line.ends_with('\\');
    if (more) line.pop_back();
    if (goes_on) {
      found.back().second += " " + std::string(trimmed(line));
    } else {
      const std::size_t blank = line.find(' ');
      found.emplace_back(line.substr(0, blank), std::string(trimmed(line.substr(blank))));
    }
    goes_on = more;
  }
  return found;
}

std::vector<std::string> all(const std::string& instruction) {
  std::vector<std::string> arguments;
  for (const auto& [name, argument] : instructions()) {
    if (name == instruction) arguments.push_back(argument);
  }
  return arguments;
}

TEST(Containerfile, StandsOnDebian12AndHasKnownInstructions) {
  for (const std::string& from : all("FROM")) EXPECT_THAT(from, ::testing::StartsWith("debian:12"));
  EXPECT_EQ(all("FROM").size(), 2U);
  for (const auto& [name, argument] : instructions())
    EXPECT_THAT(name, ::testing::AnyOf("FROM", "WORKDIR", "COPY", "RUN", "CMD")) << argument;
}

/// The build is one script of ours, which the pages name and which installs its packages itself.
TEST(Containerfile, RunsTheScriptsThatThePagesRun) {
  const fs::path repository = hindsight::test::repository();
  const std::string pages = read_file(repository / "README.md") + read_file(repository / "docs/install.md");
  const std::regex script("scripts/[a-z-]+\\.sh");
  std::size_t scripts = 0;
  for (const std::string& run : all("RUN")) {
    for (std::sregex_iterator at(run.begin(), run.end(), script), end; at != end; ++at, ++scripts) {
      EXPECT_TRUE(fs::exists(repository / at->str())) << at->str();
      EXPECT_NE(fs::status(repository / at->str()).permissions() & fs::perms::owner_exec, fs::perms::none) << at->str();
      EXPECT_THAT(pages, HasSubstr(at->str()));
    }
  }
  EXPECT_EQ(scripts, 1U);
}

/// What the second stage takes is what the script of the first writes.
TEST(Containerfile, TakesThePackagesThatAreBuilt) {
  const std::string script = read_file(hindsight::test::repository() / "scripts/package.sh");
  bool taken = false;
  for (const std::string& copy : all("COPY")) {
    if (!copy.starts_with("--from=build ")) continue;
    taken = true;
    EXPECT_THAT(copy, HasSubstr("/hindsight/build/package/packages/hindsight_*.deb"));
  }
  EXPECT_TRUE(taken);
  EXPECT_THAT(script, HasSubstr("default: build/package"));
  EXPECT_THAT(script, HasSubstr("hindsight_VERSION_ARCH.deb"));
  // Build folders and logs of the checkout do not go into the image.
  const std::string ignored = read_file(hindsight::test::repository() / ".dockerignore");
  EXPECT_THAT(ignored, HasSubstr("/build\n"));
  EXPECT_THAT(ignored, HasSubstr("**/*.sqlite\n"));
}

}  // namespace
}  // namespace hindsight::cluster::test

/// Does every artifact get true facts about the build and the run?
#include "hindsight/core/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <regex>

#include "hindsight/core/files.h"
#include "repository.h"

namespace hindsight {
namespace {

TEST(BuildInfo, IsFilledIn) {
  const BuildInfo& info = build_info();
  EXPECT_TRUE(std::regex_match(info.version, std::regex(R"(\d+\.\d+\.\d+)"))) << info.version;
  EXPECT_TRUE(std::regex_match(info.commit, std::regex("unknown|[0-9a-f]{40}(-dirty)?"))) << info.commit;
  EXPECT_TRUE(std::regex_match(info.compiler, std::regex(R"([A-Za-z]+ \d+\..*)"))) << info.compiler;
  EXPECT_FALSE(info.build_type.empty());
}

TEST(BuildInfo, TheCitationNamesItsVersion) {
  const std::string citation = read_file(hindsight::test::repository() / "CITATION.cff");
  EXPECT_THAT(citation, ::testing::StartsWith("cff-version: 1.2.0\n"));
  EXPECT_THAT(citation, ::testing::HasSubstr("\nversion: " + build_info().version + "\n"))
      << "the version of the project is that of CMakeLists.txt";
}

TEST(BuildInfo, CommitIsKnownInACheckout) {
  if (!std::filesystem::exists(hindsight::test::repository() / ".git")) {
    GTEST_SKIP() << "the source tree is not a git checkout";
  }
  EXPECT_NE(build_info().commit, "unknown");
}

TEST(Provenance, CommandLineReadsBackInAShell) {
  const std::array argv = {"hindsight", "sweep", "--out=a b.db", "", "it's", "$HOME", "x=1,y=2", "a;b"};
  const Provenance facts = make_provenance(static_cast<int>(argv.size()), argv.data());
  EXPECT_EQ(facts.command_line, R"(hindsight sweep '--out=a b.db' '' 'it'\''s' '$HOME' x=1,y=2 'a;b')");
}

TEST(Provenance, NamesHostUserAndFolder) {
  const std::array argv = {"hindsight"};
  const Provenance facts = make_provenance(1, argv.data());
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  EXPECT_EQ(facts.host, host.data());
  EXPECT_EQ(facts.cwd, std::filesystem::current_path().string());
  EXPECT_FALSE(facts.user.empty());
  EXPECT_EQ(facts.version, build_info().version);
  EXPECT_EQ(facts.commit, build_info().commit);
}

TEST(Provenance, AProcessRunsUntilItEnds) {
  if (!std::filesystem::exists("/proc/self/stat")) GTEST_SKIP() << "the machine does not say";
  const std::string here = this_process();
  EXPECT_TRUE(is_process_running(here)) << here;
  EXPECT_EQ(here, this_process());
  EXPECT_FALSE(is_process_running(here + "0")) << "a later one of the same number";
  for (const char* other : {"", "-", "1", "x-1", "999999999-1"}) EXPECT_FALSE(is_process_running(other)) << other;
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string name = this_process();
    _exit(write(pipe_ends[1], name.data(), name.size()) > 0 ? 0 : 1);
  }
  std::array<char, 64> name{};
  ASSERT_GT(read(pipe_ends[0], name.data(), name.size() - 1), 0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(is_process_running(name.data())) << name.data();
}

TEST(Provenance, UtcNowIsNow) {
  const std::time_t before = std::time(nullptr);
  const std::string text = utc_now();
  const std::time_t after = std::time(nullptr);
  std::tm utc{};
  ASSERT_EQ(text.size(), 20U) << text;
  const char* end = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  ASSERT_NE(end, nullptr) << text;
  EXPECT_EQ(*end, '\0');
  const std::time_t parsed = timegm(&utc);
  EXPECT_GE(parsed, before);
  EXPECT_LE(parsed, after);
}

}  // namespace
}  // namespace hindsight

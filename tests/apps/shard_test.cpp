/// Do shards that find their place by themselves make the log of one process, also where they are killed?
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>

#include "apps/app_fixture.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class Shards : public AppTest {
 protected:
  [[nodiscard]] static std::vector<std::string> words(const std::string& shard, const std::string& log) {
    return {"sweep", "--space",   "tiny", "--workloads", "m6,unet", "--samples", "400", "--seed",
            "3",     "--threads", "1",    "--shard",     shard,     "--log",     log};
  }
  [[nodiscard]] static std::string content_of(const std::string& log) {
    return nlohmann::json::parse(hindsight({"log", "hash", log, "--json"}).out).at("content_sha256");
  }
  [[nodiscard]] std::string whole() const {
    EXPECT_EQ(hindsight(words("0/1", file("whole.db"))).exit_code, 0);
    return content_of(file("whole.db"));
  }
  [[nodiscard]] std::string merged(const std::vector<std::string>& logs) const {
    std::vector<std::string> arguments{"log", "merge", "--out", file("merged.db")};
    arguments.insert(arguments.end(), logs.begin(), logs.end());
    const Outcome outcome = hindsight(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return content_of(file("merged.db"));
  }
};

TEST_F(Shards, OfEveryLauncherMakeTheLogOfOneProcess) {
  const std::string expected = whole();
  std::vector<std::string> logs;
  const std::vector<std::map<std::string, std::string>> environments{
      {{"SLURM_ARRAY_TASK_ID", "1"},
       {"SLURM_ARRAY_TASK_MIN", "1"},
       {"SLURM_ARRAY_TASK_MAX", "3"},
       {"SLURM_ARRAY_TASK_COUNT", "3"}},
      {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "3"}},
      {{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}}};
  for (std::size_t i = 0; i < environments.size(); ++i) {
    const Outcome outcome = hindsight(words("auto", file("study.{shard}.db")), {.environment = environments[i]});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("shard " + std::to_string(i) + "/3"));
    logs.push_back(file("study." + std::to_string(i) + ".db"));
    EXPECT_TRUE(fs::exists(logs.back()));
  }
  EXPECT_EQ(merged(logs), expected);
}

TEST_F(Shards, AutoIsRecordedAsWhatItMeant) {
  const Surroundings second{.environment = {{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "3"}}};
  const auto recorded = [](const std::string& log) {
    return hindsight({"log", "query", log, "SELECT command_line FROM runs", "--csv"}).out;
  };
  for (const std::string typed : {"auto", "auto/3"}) {
    const std::string log = file(typed == "auto" ? "a.db" : "b.db");
    ASSERT_EQ(hindsight(words(typed, log), second).exit_code, 0);
    EXPECT_THAT(recorded(log), HasSubstr(" --shard 1/3 --log "));
    EXPECT_EQ(recorded(log).find("auto"), std::string::npos);
    // The recorded words, anywhere, are the same sweep: the log has all of it.
    const std::string content = content_of(log);
    EXPECT_EQ(hindsight(words("1/3", log)).exit_code, 0);
    EXPECT_EQ(content_of(log), content);
  }
  std::vector<std::string> joined = words("", file("c.db"));
  joined.erase(joined.begin() + 11, joined.begin() + 13);
  joined.emplace_back("--shard=auto");
  ASSERT_EQ(hindsight(joined, second).exit_code, 0);
  EXPECT_THAT(recorded(file("c.db")), HasSubstr(" --shard 1/3"));
  ASSERT_EQ(hindsight(words("2/3", file("d.db"))).exit_code, 0);
  EXPECT_THAT(recorded(file("d.db")), HasSubstr(" --shard 2/3 --log "));
}

TEST_F(Shards, KilledAndStartedAgainMakeTheSame) {
  const std::string expected = whole();
  std::vector<std::string> logs;
  for (int i = 0; i < 3; ++i) {
    const Surroundings with{.environment = {{"JOB_COMPLETION_INDEX", std::to_string(i)}}};
    for (int kill = 0; kill < 3; ++kill) {
      Process process(words("auto/3", file("s{shard}.db")), with);
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + 30 * kill));
      process.send(SIGKILL);
      static_cast<void>(process.wait());
    }
    ASSERT_EQ(hindsight(words("auto/3", file("s{shard}.db")), with).exit_code, 0);
    logs.push_back(file("s" + std::to_string(i) + ".db"));
  }
  EXPECT_EQ(merged(logs), expected);
}

TEST_F(Shards, WithoutALauncherSayWhatToWrite) {
  expect_one_line_error(hindsight(words("auto", file("a.db")), {.environment = {{"SLURM_ARRAY_TASK_ID", ""}}}), 2,
                        "no launcher says which process this is");
  expect_one_line_error(hindsight(words("auto", file("a.db")), {.environment = {{"PARALLEL_SEQ", "1"}}}), 2, "auto/8");
  EXPECT_FALSE(fs::exists(file("a.db")));
}

TEST_F(Shards, ByGnuParallelMakeTheLogOfOneProcess) {
  if (std::system("command -v parallel > /dev/null") != 0) GTEST_SKIP() << "GNU parallel is not installed";
  const std::string expected = whole();
  const std::string script = (hindsight::test::repository() / "configs/cluster/parallel.sh").string();
  const std::string command = "cd '" + folder_.string() + "' && PATH='" + program_path().parent_path().string() +
                              "':\"$PATH\" '" + script +
                              "' 3 --space tiny --workloads m6,unet --samples 400 --seed 3 2> said.txt";
  ASSERT_EQ(std::system(command.c_str()), 0) << read_file(file("said.txt"));
  EXPECT_EQ(merged({file("study.0.sqlite"), file("study.1.sqlite"), file("study.2.sqlite")}), expected);
}

/// What the launchers' files ask of the command is what the command has.
TEST_F(Shards, LauncherFilesNameOptionsThatExist) {
  const std::string help = hindsight({"sweep", "--help"}).out;
  for (const fs::directory_entry& entry : fs::directory_iterator(hindsight::test::repository() / "configs/cluster")) {
    std::istringstream lines(read_file(entry.path()));
    const std::regex option("(^|[ ,\\[])(--[a-z-]+)");
    bool in_command = false;
    for (std::string line; std::getline(lines, line);) {
      in_command = line.find("hindsight sweep") != std::string::npos ||
                   line.find("[hindsight, sweep") != std::string::npos || (in_command && (line.starts_with(' ')));
      if (!in_command || line.starts_with('#') || line.find("volumeMounts") != std::string::npos) continue;
      for (std::sregex_iterator at(line.begin(), line.end(), option), end; at != end; ++at)
        EXPECT_THAT(help, HasSubstr((*at)[2].str())) << entry.path() << ": " << line;
    }
  }
}

}  // namespace
}  // namespace hindsight::app::test

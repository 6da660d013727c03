/// Do shards of searches, optima and studies give together what one process gives, and does a merge say what is amiss?
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/app_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

class ShardVerbs : public AppTest {
 protected:
  [[nodiscard]] static std::string content_of(const std::string& log) {
    return Json::parse(hindsight({"log", "hash", log, "--json"}).out).at("content_sha256");
  }
  [[nodiscard]] static Words with(Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  static Outcome succeeded(const Words& words, const Surroundings& surroundings = {}) {
    Outcome outcome = hindsight(words, surroundings);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome;
  }
  /// Files "NAME.0", "NAME.1", ...: `command` in so many shards, which find their places by MPI's variables.
  [[nodiscard]] Words sharded(const Words& command, const std::string& option, const std::string& name,
                              std::size_t count) const {
    Words files;
    const std::size_t width = std::to_string(count - 1).size();
    for (std::size_t i = 0; i < count; ++i) {
      const Surroundings place{.environment = {{"OMPI_COMM_WORLD_RANK", std::to_string(i)},
                                               {"OMPI_COMM_WORLD_SIZE", std::to_string(count)}}};
      const Outcome outcome = succeeded(with(command, {"--shard", "auto", option, file(name + ".{shard}")}), place);
      std::string number = std::to_string(i);
      number.insert(0, width - number.size(), '0');
      files.push_back(file(name + "." + number));
      EXPECT_TRUE(std::filesystem::exists(files.back())) << files.back();
    }
    return files;
  }
  [[nodiscard]] Outcome joined(const Words& files, const std::string& out) const {
    return hindsight(with(with({"join"}, files), {"--out", file(out)}));
  }
  [[nodiscard]] static bool has_rows(const std::string& log) {
    try {
      SQLite::Database database(log, SQLite::OPEN_READONLY);
      return database.execAndGet("SELECT count(*) FROM evaluations").getInt64() > 0;
    } catch (const SQLite::Exception&) {
      return false;  // it is not there yet
    }
  }
  Outcome merged(const Words& logs, const std::string& out = "merged.db") const {
    std::filesystem::remove(file(out));
    return succeeded(with(with({"log", "merge"}, logs), {"--out", file(out)}));
  }
};

const Words kSweep{"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "200", "--threads", "1", "--quiet"};

/// Every third is killed on its way, and begins again.
TEST_F(ShardVerbs, OfASweepGiveTheSameForEveryNumber) {
  succeeded(with(kSweep, {"--log", file("whole.db")}));
  const std::string expected = content_of(file("whole.db"));
  for (const std::size_t count : {1U, 2U, 7U, 64U}) {
    Words logs;
    for (std::size_t i = 0; i < count; ++i) {
      logs.push_back(file("n" + std::to_string(count) + "." + std::to_string(i)));
      const Words command =
          with(kSweep, {"--shard", std::to_string(i) + "/" + std::to_string(count), "--log", logs.back()});
      if (i % 3 == 0) {
        Process process(command);
        std::this_thread::sleep_for(std::chrono::milliseconds(10 + 5 * (i % 8)));
        process.send(SIGKILL);
        static_cast<void>(process.wait());
      }
      succeeded(command);
    }
    const Outcome all = merged(logs);
    EXPECT_EQ(content_of(file("merged.db")), expected) << count;
    EXPECT_EQ(all.err, "") << "all shards are there";
    if (count == 1) continue;
    // The first later than the others, and the last twice.
    const Outcome early = merged({logs.begin() + 1, logs.end()});
    EXPECT_THAT(early.err, HasSubstr("one is missing: 0"));
    EXPECT_NE(content_of(file("merged.db")), expected);
    succeeded({"log", "merge", logs.front(), logs.back(), "--out", file("merged.db")});
    EXPECT_EQ(content_of(file("merged.db")), expected) << count;
  }
}

TEST_F(ShardVerbs, MergeSaysWhichAreMissingTwiceOrUnfinished) {
  Words logs;
  for (int i = 0; i < 5; ++i) {
    logs.push_back(file("s" + std::to_string(i) + ".db"));
    succeeded(with(kSweep, {"--shard", std::to_string(i) + "/5", "--log", logs.back()}));
  }
  const Outcome some = merged({logs[0], logs[3]});
  EXPECT_THAT(some.err, HasSubstr("of 5 shards 3 are missing: 1-2 and 4. Evaluate them: hindsight sweep"));
  EXPECT_THAT(some.err, HasSubstr("--shard 1/5 --log"));
  // What the output has already counts.
  EXPECT_THAT(succeeded({"log", "merge", logs[1], logs[2], "--out", file("merged.db")}).err,
              HasSubstr("one is missing: 4"));
  EXPECT_EQ(succeeded({"log", "merge", logs[4], "--out", file("merged.db")}).err, "");

  // Merging what is there says nothing.
  EXPECT_EQ(succeeded({"log", "merge", logs[4], logs[0], "--out", file("merged.db")}).err, "");

  std::filesystem::copy_file(logs[1], file("copy.db"));
  const Outcome twice = merged(with(logs, {file("copy.db")}));
  EXPECT_THAT(twice.err, HasSubstr("of 5 shards 1 came more than once"));
  EXPECT_THAT(twice.err, Not(HasSubstr("missing")));

  // Two tasks with one shard: the other one is missing.
  succeeded(with(kSweep, {"--shard", "0/2", "--log", file("a.db")}));
  succeeded(with(kSweep, {"--shard", "0/2", "--log", file("b.db")}));
  const Outcome same = merged({file("a.db"), file("b.db")});
  EXPECT_THAT(same.err, HasSubstr("one is missing: 1"));
  EXPECT_THAT(same.err, HasSubstr("0 came more than once"));
  EXPECT_EQ(content_of(file("merged.db")), content_of(file("a.db")));

  const Words longer{"sweep",     "--space", "edge",    "--workloads", "m6",    "--samples",    "1000000",
                     "--threads", "1",       "--shard", "0/2",         "--log", file("cut.db"), "--quiet"};
  {
    Process process(longer);
    for (int i = 0; i < 600 && !has_rows(file("cut.db")); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    process.send(SIGKILL);
    static_cast<void>(process.wait());
  }
  EXPECT_THAT(merged({file("cut.db")}).err, HasSubstr("of 2 shards 0 is not finished. Continue: hindsight sweep"));
}

TEST_F(ShardVerbs, MergeSaysWhereCommandsAndModelsDiffer) {
  const auto shard = [&](const std::string& log, const Words& more) {
    succeeded(with(with(kSweep, more), {"--log", file(log)}));
    return file(log);
  };
  const std::string first = shard("a.db", {"--shard", "0/2"});
  const Outcome commands = merged({first, shard("b.db", {"--shard", "1/2", "--seed", "4"})});
  EXPECT_THAT(commands.err, HasSubstr("shards of different commands"));
  EXPECT_THAT(commands.err, HasSubstr("differ first in no such option and --seed=4"));
  const Outcome models = merged({first, shard("c.db", {"--shard", "1/2", "--technology", "22nm-silicon"})});
  EXPECT_THAT(models.err, HasSubstr("evaluated by different models"));
  EXPECT_THAT(models.err, HasSubstr("--technology=22nm-silicon"));
  EXPECT_THAT(merged({first, shard("d.db", {"--shard", "1/3"})}).err, HasSubstr("into 2-3 shards"));
  // Logs that are no shards are nobody's business.
  EXPECT_EQ(merged({shard("e.db", {"--seed", "1"}), shard("f.db", {"--seed", "2"})}).err, "");
}

TEST_F(ShardVerbs, OfASearchAreItsChains) {
  const Words search{"search", "--space", "tiny", "--workloads", "m6", "--queries", "40", "--seed", "5", "--quiet"};
  succeeded(with(search, {"--chains", "7", "--log", file("whole.db")}));
  const std::string expected = content_of(file("whole.db"));
  for (const std::size_t count : {2U, 7U}) {
    const Words logs = sharded(with(search, {"--chains", "7"}), "--log", "c" + std::to_string(count), count);
    EXPECT_EQ(merged(logs).err, "");
    EXPECT_EQ(content_of(file("merged.db")), expected) << count;
  }
  // Without --chains each shard is one; a chain is the search of its seed.
  const Words logs = sharded(search, "--log", "own", 7);
  merged(logs);
  EXPECT_EQ(content_of(file("merged.db")), expected);
  Words alone = search;
  alone[8] = "8";
  succeeded(with(alone, {"--log", file("alone.db")}));
  EXPECT_EQ(content_of(file("alone.db")), content_of(logs[3]));
  // Done before: nothing is asked again.
  const Json again = Json::parse(succeeded(with(search, {"--chains", "7", "--log", file("whole.db"), "--json"})).out);
  ASSERT_EQ(again.at("chains").size(), 7U);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(again.at("chains").at(i).at("status"), "already finished");
    EXPECT_EQ(again.at("chains").at(i).at("seed"), 5 + i);
  }
  expect_one_line_error(hindsight(with(search, {"--chains", "2", "--shard", "2/3", "--log", file("x.db")})), 2,
                        "there are only 2 chains");
}

TEST_F(ShardVerbs, OfALandscapeJoinToItsBytes) {
  const Words all{"optimum", "--all", "--space", "tiny", "--workloads", "m6,unet", "--quiet"};
  succeeded(with(all, {"--out", file("whole.landscape")}));
  for (const std::size_t count : {2U, 7U}) {
    const Words files = sharded(all, "--out", "l" + std::to_string(count), count);
    const Outcome outcome = joined(files, "joined.landscape");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_TRUE(hash_of(file("joined.landscape")) == hash_of(file("whole.landscape"))) << count;
    expect_one_line_error(joined({files.begin() + 1, files.end()}, "no.landscape"), 2, "one is missing: 0");
    EXPECT_FALSE(std::filesystem::exists(file("no.landscape")));
  }
  expect_one_line_error(hindsight(with(all, {"--shard", "0/2"})), 2, "a survey has no shards");
}

TEST_F(ShardVerbs, OfAnOptimumHaveItsBest) {
  const Words best{"optimum",     "--space",     "tiny", "--workloads", "m6,unet", "--max",
                   "area_mm2=40", "--objective", "edp",  "--top",       "3",       "--quiet"};
  const Json whole = Json::parse(succeeded(with(best, {"--json"})).out);
  for (const std::size_t count : {2U, 7U, 64U}) {
    ASSERT_EQ(joined(sharded(best, "--out", "o" + std::to_string(count), count), "best.json").exit_code, 0);
    const Json found = Json::parse(read_file(file("best.json")));
    EXPECT_EQ(found.at("designs"), whole.at("designs")) << count;
    EXPECT_EQ(found.at("certificate").at("designs"), whole.at("certificate").at("designs"));
    EXPECT_EQ(found.at("space_hash"), whole.at("space_hash"));
    EXPECT_EQ(found.at("proof"), whole.at("proof"));
  }
  expect_one_line_error(hindsight(with(best, {"--shard", "0/2", "--log", file("a.db")})), 2, "hindsight join");
  expect_one_line_error(hindsight({"optimum", "--workloads", "m6", "--pareto", "latency,energy", "--shard", "0/2"}), 2,
                        "fronts have no shards");
  Words tight = best;
  tight[6] = "area_mm2=0.1";
  expect_one_line_error(joined(sharded(tight, "--out", "none", 2), "none.json"), 3, "no design of any of 2 shards");
}

TEST_F(ShardVerbs, OfTheOptimaJoinToTheTable) {
  const Words optima{"bench", "optima", "--task", "single", "--objective", "latency_s"};
  succeeded(with(optima, {"--out", file("whole.csv")}));
  const Words files = sharded(optima, "--out", "optima", 4);
  ASSERT_EQ(joined(files, "joined.csv").exit_code, 0);
  EXPECT_EQ(read_file(file("joined.csv")), read_file(file("whole.csv")));
  EXPECT_EQ(succeeded({"join", files[0], files[1], files[2], files[3]}).out, read_file(file("whole.csv")));
  const Words older = sharded(with(optima, {"--technology", "22nm"}), "--out", "older", 4);
  expect_one_line_error(joined({files[0], older[1]}, "no.csv"), 4, "is no shard of the same table");
  expect_one_line_error(hindsight(with(optima, {"--shard", "9/10"})), 2, "there are only 9 cells");
}

TEST_F(ShardVerbs, OfTheOfflineStudyAreItsCells) {
  const Words study{"bench",     "offline", "--tasks",   "single/m4,single/m5",         "--seeds", "2",
                    "--samples", "60",      "--methods", "best_in_log,evolutionary@20", "--quiet"};
  succeeded(with(study, {"--out", file("whole")}));
  Words files = sharded(study, "--out", "study", 3);
  for (std::string& folder : files) folder += "/results.jsonl";
  std::filesystem::create_directory(file("joined"));
  ASSERT_EQ(joined(files, "joined/results.jsonl").exit_code, 0);
  const auto shown = [&](const std::string& folder) {
    Json json = Json::parse(succeeded(with(study, {"--results", file(folder) + "/results.jsonl", "--json"})).out);
    for (Json& result : json.at("results")) result.erase("seconds");
    return json.at("results");
  };
  ASSERT_EQ(shown("whole").size(), 8U);
  EXPECT_EQ(shown("joined"), shown("whole"));
  // A study goes on with what was joined: nothing is left to run.
  EXPECT_THAT(succeeded(with(study, {"--out", file("joined"), "--dry-run"})).out, HasSubstr("0 of 8 cells"));
  expect_one_line_error(hindsight(with(study, {"--out", file("x"), "--shard", "8/9"})), 2, "there are only 8 cells");
}

TEST_F(ShardVerbs, OfW50AreItsCellsAndGoOn) {
  std::string table = "x,y,cost,infeasible\n";
  for (int x = 0; x < 12; ++x) {
    for (int y = 0; y < 12; ++y) {
      table += std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(10 + (x - 7) * (x - 7) + y) + "," +
               (x == y ? "1" : "0") + "\n";
    }
  }
  write("table.csv", table);
  const Words w50{"bench",      "w50",     "--csv", file("table.csv"), "--objective",        "cost",    "--infeasible",
                  "infeasible", "--train", "40",    "--methods",       "forest,best_in_log", "--seeds", "3",
                  "--quiet"};
  succeeded(with(w50, {"--results", file("whole.csv")}));
  const std::string whole = read_file(file("whole.csv"));
  EXPECT_EQ(std::count(whole.begin(), whole.end(), '\n'), 4 + 6 * 3) << whole;
  const Words files = sharded(w50, "--results", "w50", 4);
  ASSERT_EQ(joined(files, "joined.csv").exit_code, 0);
  EXPECT_EQ(read_file(file("joined.csv")), whole);

  // Cut off behind its first cell: the same command runs the other one alone, and the file is as it was.
  const std::string finished = read_file(files[1]);
  write_file_atomically(files[1], finished.substr(0, finished.find("\n5,") + 1));
  ASSERT_NE(read_file(files[1]), finished);
  const Json again = Json::parse(succeeded(with(w50, {"--shard", "1/4", "--results", files[1], "--json"})).out);
  EXPECT_EQ(again.at("runs").size(), 1U);
  EXPECT_EQ(read_file(files[1]), finished);
  EXPECT_EQ(succeeded(with(w50, {"--shard", "1/4", "--results", files[1]})).out, "") << "nothing is left to score";
  Words other = w50;
  other[9] = "41";
  expect_one_line_error(hindsight(with(other, {"--shard", "1/4", "--results", files[1]})), 4, "--train=41");
  other = w50;
  other[13] = "4";  // far behind in the command: the message is about where the two part
  const Outcome seeds = hindsight(with(other, {"--shard", "1/4", "--results", files[1]}));
  expect_one_line_error(seeds, 4, "--seeds=4");
  EXPECT_THAT(seeds.err, ::testing::HasSubstr("--seeds=3"));
  expect_one_line_error(hindsight(with(w50, {"--shard", "1/4"})), 2, "--results");
}

TEST_F(ShardVerbs, OfALauncherNeedAFileEach) {
  const Surroundings place{.environment = {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}};
  const Words all{"optimum", "--all", "--space", "tiny", "--workloads", "m6", "--shard", "auto", "--out"};
  expect_one_line_error(hindsight(with(all, {file("one.landscape")}), place), 2, "all 2 shards would write it");
  for (const Words& verb : {Words{"search", "--workloads", "m6", "--queries", "3", "--log", file("a.db")},
                            Words{"optimum", "--workloads", "m6"}, Words{"bench", "optima"},
                            Words{"bench", "offline", "--out", file("study")}}) {
    expect_one_line_error(hindsight(with(verb, {"--shard", "2/2"})), 2, "is not a shard");
    expect_one_line_error(hindsight(with(verb, {"--shard", "auto"})), 2, "no launcher says");
  }
}

}  // namespace
}  // namespace hindsight::app::test

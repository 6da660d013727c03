/// Does a damaged log come back usable, a written one be copied, and a changed one be found out?
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"
#include "hindsight/accel/technology.h"
#include "repository.h"

namespace hindsight::app::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class LogSafety : public AppTest {
 protected:
  Outcome sweep(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"sweep", "--space", "tiny", "--workloads", "m4,unet", "--samples",
                                       "300",   "--seed",  "3",    "--quiet",     "--log",   file(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Outcome outcome = hindsight(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome;
  }
  static std::string content_of(const std::string& log) {
    const Outcome outcome = hindsight({"log", "hash", log});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out.substr(0, 64);
  }
  static void exec(const std::string& log, const std::string& sql) {
    SQLite::Database database(log, SQLite::OPEN_READWRITE);
    database.exec(sql);
  }
  static std::int64_t number(const std::string& log, const std::string& sql) {
    return SQLite::Database(log).execAndGet(sql).getInt64();
  }
};

TEST_F(LogSafety, ADamagedLogIsRepairedAndTheSweepMakesItWhole) {
  sweep("whole.db");
  const std::string whole = content_of(file("whole.db"));
  std::string bytes = read_file(file("whole.db"));
  // The root of the evaluations, and two leaves of tables (their first byte is 13).
  std::vector<std::size_t> pages{
      static_cast<std::size_t>(
          number(file("whole.db"), "SELECT rootpage FROM sqlite_master WHERE name = 'evaluations'")) -
      1};
  for (std::size_t page = bytes.size() / 4096; page-- > 0 && pages.size() < 3;) {
    if (bytes[page * 4096] == '\x0d') pages.push_back(page);
  }
  ASSERT_EQ(pages.size(), 3U);
  for (const std::size_t page : pages) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(page * 4096), 4096, '\0');
  }
  const std::string broken = write("broken.db", bytes);
  EXPECT_EQ(hindsight({"log", "verify", broken}).exit_code, 4);

  const Outcome repaired = hindsight({"log", "repair", broken, "--out", file("new.db")});
  ASSERT_EQ(repaired.exit_code, 0) << repaired.err;
  EXPECT_THAT(repaired.out, AllOf(ContainsRegex("table +recovered +lost"), ContainsRegex("evaluations +[1-9][0-9]+"),
                                  HasSubstr("what is readable and sound was recovered")));
  EXPECT_EQ(hindsight({"log", "verify", file("new.db"), "--deep"}).exit_code, 0);
  const std::int64_t rows = number(file("new.db"), "SELECT count(*) FROM evaluations");
  EXPECT_GT(rows, 300);
  EXPECT_LT(rows, 600);
  EXPECT_TRUE(read_file(broken) == bytes);

  sweep("new.db");
  EXPECT_EQ(content_of(file("new.db")), whole);
}

TEST_F(LogSafety, RepairAndBackupRefuseInOneLine) {
  sweep("a.db");
  for (const char* verb : {"repair", "backup"}) {
    expect_one_line_error(hindsight({"log", verb, file("a.db"), "--out", file("a.db")}), 2, "is the file that");
    expect_one_line_error(hindsight({"log", verb, file("a.db"), "--out", "-"}), 2, "Name a new one");
    expect_one_line_error(hindsight({"log", verb, file("a.db"), "--out", file("no/a.db")}), 2, "there is no folder");
    expect_one_line_error(hindsight({"log", verb, file("none.db"), "--out", file("b.db")}), 2, "no such");
    const std::string taken = write("taken.db", "mine");
    expect_one_line_error(hindsight({"log", verb, file("a.db"), "--out", taken}), 2, "is there already");
    EXPECT_EQ(read_file(taken), "mine");
    const Outcome dry = hindsight({"log", verb, file("a.db"), "--out", file("b.db"), "--dry-run"});
    EXPECT_EQ(dry.exit_code, 0) << dry.err;
    EXPECT_FALSE(fs::exists(file("b.db")));
    const Outcome json = hindsight({"log", verb, file("a.db"), "--out", file("b.db"), "--json"});
    EXPECT_EQ(Json::parse(json.out).at("hindsight_version").is_string(), true);
    EXPECT_EQ(content_of(file("b.db")), content_of(file("a.db")));
    fs::remove(file("b.db"));
  }
}

TEST_F(LogSafety, ABackupIsTakenWhileASweepWrites) {
  Process writer(
      {"sweep", "--space", "edge", "--workloads", "m4", "--samples", "200000", "--quiet", "--log", file("live.db")});
  Outcome backup;
  for (int turn = 0; turn < 200 && backup.exit_code != 0; ++turn) {
    ::usleep(50'000);
    backup = hindsight({"log", "backup", file("live.db"), "--out", file("copy.db")});
  }
  EXPECT_EQ(backup.exit_code, 0) << backup.err;
  writer.send(SIGINT);
  static_cast<void>(writer.wait());
  EXPECT_EQ(hindsight({"log", "verify", file("copy.db")}).exit_code, 0);
  // The copy is a sweep that was stopped there: it goes on, to what the other becomes.
  EXPECT_LE(number(file("copy.db"), "SELECT count(*) FROM evaluations"),
            number(file("live.db"), "SELECT count(*) FROM evaluations"));
}

/// A technology that ships states a newer version than the log was made with.
TEST_F(LogSafety, DeepVerificationRepeatsRowsOfAnOlderVersionOfTheModel) {
  std::string text = read_file(hindsight::test::repository() / "data/technology/22nm-silicon.yaml");
  const std::string stated = fmt::format("model_version: {}", accel::kSiliconModelVersion);
  ASSERT_NE(text.find(stated), std::string::npos);
  text.replace(text.find(stated), stated.size(), "model_version: 2");
  const std::string technology = file("22nm-silicon.yaml");
  write_file_atomically(technology, text);
  const Outcome swept = hindsight({"sweep", "--space", "edge", "--workloads", "llama3_8b_decode", "--samples", "20",
                                   "--quiet", "--technology", technology, "--log", file("two.db")});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  const Outcome verified = hindsight({"log", "verify", file("two.db"), "--deep", "--json"});
  ASSERT_EQ(verified.exit_code, 0) << verified.out;
  EXPECT_EQ(Json::parse(verified.out).at("repeatable"), 20);
}

TEST_F(LogSafety, DeepVerificationRepeatsRowsToTheBit) {
  sweep("a.db");
  const Outcome sound = hindsight({"log", "verify", file("a.db"), "--deep", "--sample", "300", "--json"});
  ASSERT_EQ(sound.exit_code, 0) << sound.out;
  const Json json = Json::parse(sound.out);
  EXPECT_EQ(json.at("repeated"), 300);
  EXPECT_EQ(json.at("repeatable"), 600);
  EXPECT_EQ(json.at("evaluations"), 600);
  EXPECT_TRUE(json.at("skipped").empty());

  const auto found = [&](const std::string& sql, const std::string& words) {
    SCOPED_TRACE(sql);
    fs::copy_file(file("a.db"), file("b.db"), fs::copy_options::overwrite_existing);
    exec(file("b.db"), sql);
    const Outcome outcome = hindsight({"log", "verify", file("b.db"), "--deep"});
    EXPECT_EQ(outcome.exit_code, 4) << outcome.out;
    EXPECT_THAT(outcome.out, HasSubstr(words));
    EXPECT_EQ(hindsight({"log", "verify", file("b.db")}).exit_code, 0) << "found without --deep, too";
  };
  const std::string feasible = "WHERE evaluation_id = (SELECT min(evaluation_id) FROM evaluations WHERE feasible = 1)";
  found("UPDATE evaluations SET area_mm2 = area_mm2 * (1 + 1e-15) " + feasible, "another result (1 row)");
  found("UPDATE evaluations SET instructions = instructions + 1 " + feasible, "instructions is");
  found("UPDATE evaluations SET utilisation_frac = 1.5 " + feasible, "a share is from 0 to 1");
  found("UPDATE evaluations SET dram_read_bytes = -1.0 " + feasible, "negative amount");
  found(
      "INSERT INTO evaluation_metrics SELECT min(evaluation_id), 'runtime_ms', -1.0 FROM evaluations WHERE feasible = "
      "1",
      "runtime_ms is -1, and no time is below 0");
  found(
      "UPDATE evaluation_violations SET value = limit_value WHERE (evaluation_id, position) = "
      "(SELECT evaluation_id, position FROM evaluation_violations LIMIT 1)",
      "reason within its limit");
  fs::copy_file(file("a.db"), file("b.db"), fs::copy_options::overwrite_existing);
  exec(file("b.db"),
       "INSERT INTO evaluation_metrics SELECT evaluation_id, 'runtime_ms', -1.0 FROM evaluations WHERE feasible = 0");
  EXPECT_EQ(hindsight({"log", "verify", file("b.db"), "--deep", "--sample", "0"}).exit_code, 0) << "tables' fillers";
  found("UPDATE evaluators SET definition = definition || ' '", "the definition of 'hindsight-accel");
  found("UPDATE spaces SET definition_hash = 'x'", "definition (1 row), first space 1");
  found("UPDATE workloads SET layers_json = json_set(layers_json, '$[0].macs', 3) WHERE name = 'm4'",
        "layers (1 row), first workload 1: 'm4': layer 1 ('stem'): macs is 3, and the definition gives 22118400");
}

TEST_F(LogSafety, DeepVerificationSaysWhatItCannotRepeat) {
  const std::string table = write("t.csv", "width,cost_ms\n1,2\n2,3\n3,5\n");
  ASSERT_EQ(hindsight({"log", "import", table, "--objective", "cost_ms", "--log", file("t.db")}).exit_code, 0);
  const Outcome outcome = hindsight({"log", "verify", file("t.db"), "--deep"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("3 evaluations not repeated"), HasSubstr("which is not built in")));
  expect_one_line_error(hindsight({"log", "verify", file("t.db"), "--sample", "3"}), 2, "--deep");
}

TEST_F(LogSafety, DurabilityIsAnOptionAndRecorded) {
  sweep("full.db", {"--durability", "full"});
  sweep("normal.db");
  EXPECT_EQ(content_of(file("full.db")), content_of(file("normal.db")));
  const std::string count = "SELECT count(*) FROM runs WHERE options_json ->> 'durability' = 'full'";
  EXPECT_EQ(number(file("full.db"), count), 1);
  EXPECT_EQ(number(file("normal.db"), count), 0);
  expect_one_line_error(hindsight({"sweep", "--workloads", "m4", "--log", file("x.db"), "--durability", "ful"}), 2,
                        "Did you mean 'full'?");
}

}  // namespace
}  // namespace hindsight::app::test

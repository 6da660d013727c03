/// What survives: interruption, kill, full disks, foreign files, bad input?
#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/app_fixture.h"
#include "repository.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr int kInterruptedExitCode = 130;

class SweepFaults : public AppTest {
 protected:
  [[nodiscard]] std::vector<std::string> sweep(const std::string& log, const std::string& samples) const {
    return {"sweep", "--workloads", "m6", "--samples", samples, "--log", file(log), "--json", "--quiet", "--seed", "3"};
  }
  /// Waits until a sweep has committed its first rows.
  void wait_for_rows(const std::string& log) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      try {
        SQLite::Database database(file(log), SQLite::OPEN_READONLY);
        if (database.execAndGet("SELECT count(*) FROM evaluations").getInt64() > 0) return;
      } catch (const SQLite::Exception&) {
        // not there yet
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL() << "the sweep wrote nothing";
  }
  [[nodiscard]] std::string small_log() const {
    EXPECT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "50", "--log",
                         file("small.sqlite"), "--quiet"})
                  .exit_code,
              0);
    return file("small.sqlite");
  }
};

TEST_F(SweepFaults, AnInterruptedSweepContinuesToTheSameRows) {
  Process process(sweep("parts.sqlite", "100000000"));
  wait_for_rows("parts.sqlite");
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  ASSERT_EQ(outcome.exit_code, kInterruptedExitCode) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("again to continue"));
  const Json summary = Json::parse(outcome.out);
  EXPECT_EQ(summary.at("status"), "interrupted");
  const std::string samples = std::to_string(summary.at("accepted").get<std::uint64_t>() + 300);
  const Outcome rest = hindsight(sweep("parts.sqlite", samples));
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(Json::parse(rest.out).at("designs_this_run"), 300);
  ASSERT_EQ(hindsight(sweep("whole.sqlite", samples)).exit_code, 0);
  EXPECT_EQ(hindsight::sweep::test::rows(file("parts.sqlite")), hindsight::sweep::test::rows(file("whole.sqlite")));
  const Json show = Json::parse(hindsight({"log", "show", file("parts.sqlite"), "--json"}).out);
  EXPECT_EQ(show.at("runs").at(1).at("status"), "interrupted");
}

TEST_F(SweepFaults, AKilledSweepContinuesToTheSameRows) {
  {
    Process process(sweep("parts.sqlite", "100000000"));
    wait_for_rows("parts.sqlite");
    process.send(SIGKILL);
    EXPECT_EQ(process.wait().exit_code, 128 + SIGKILL);
  }
  EXPECT_EQ(hindsight({"log", "verify", file("parts.sqlite")}).exit_code, 0);
  const Json show = Json::parse(hindsight({"log", "show", file("parts.sqlite"), "--json"}).out);
  const std::string samples = std::to_string(show.at("rows").at("designs").get<std::uint64_t>() + 300);
  const Outcome rest = hindsight(sweep("parts.sqlite", samples));
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(Json::parse(rest.out).at("designs_this_run"), 300);
  ASSERT_EQ(hindsight(sweep("whole.sqlite", samples)).exit_code, 0);
  EXPECT_EQ(hindsight::sweep::test::rows(file("parts.sqlite")), hindsight::sweep::test::rows(file("whole.sqlite")));
}

TEST_F(SweepFaults, AFinishedSweepSaysSo) {
  ASSERT_EQ(hindsight(sweep("a.sqlite", "100")).exit_code, 0);
  const std::string before = hash_of(file("a.sqlite"));
  const Outcome again = hindsight(sweep("a.sqlite", "100"));
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(Json::parse(again.out).at("status"), "already finished");
  EXPECT_EQ(hash_of(file("a.sqlite")), before);
}

TEST_F(SweepFaults, ALimitBelowEveryDesignIsExitCodeThree) {
  const Outcome outcome = hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "5", "--max",
                                     "area_mm2=0.01", "--log", file("a.sqlite"), "--quiet"});
  expect_one_line_error(outcome, 3, "the smallest has ");
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
}

TEST_F(SweepFaults, AFullDiskIsExitCodeOneAndTheLogStaysSound) {
  const std::string log = small_log();
  // Room for the shared-memory index (32 KiB) and the first pages of the write-ahead log, not for 334 evaluations.
  constexpr std::uintmax_t kRoomBytes = 64 * 1024;
  const Outcome outcome = hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "384", "--log", log},
                                    {.largest_file_bytes = kRoomBytes});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr(log));
  EXPECT_EQ(hindsight({"log", "verify", log}).exit_code, 0);
  const Outcome rest = hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "384", "--log", log});
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
}

TEST_F(SweepFaults, FullStandardOutputIsExitCodeOne) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"space", "show", "edge"}, {"workload", "list", "--json"}}) {
    const Outcome outcome = hindsight(arguments, {.standard_output = "/dev/full"});
    expect_one_line_error(outcome, 1, "standard output: cannot write");
  }
}

TEST_F(SweepFaults, AReaderThatLeavesIsNoError) {
  const Outcome outcome = hindsight({"space", "sample", "edge", "--count", "20000"}, {.close_output_early = true});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(SweepFaults, WhatIsNoLogIsRefusedUnchanged) {
  const std::string text = write("notes.txt", std::string(5000, 'x'));
  const std::string before = hash_of(text);
  for (const std::string verb : {"show", "stats", "verify"}) {
    expect_one_line_error(hindsight({"log", verb, text}), 4, "notes.txt");
  }
  expect_one_line_error(hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "5", "--log", text}),
                        4, "notes.txt");
  EXPECT_EQ(hash_of(text), before);
  expect_one_line_error(hindsight({"log", "show", file("missing.sqlite")}), 2, "missing.sqlite");
  expect_one_line_error(hindsight({"log", "show", folder_.string()}), 2, folder_.string());
  expect_one_line_error(hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "5", "--log",
                                   file("no/such/folder/a.sqlite"), "--quiet"}),
                        2, "no/such/folder");
}

TEST_F(SweepFaults, ALogOfANewerSchemaIsRefusedUnchanged) {
  const std::string log = small_log();
  {
    SQLite::Database database(log, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA user_version = 999");
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const std::string before = hash_of(log);
  expect_one_line_error(hindsight({"log", "show", log}), 4, "small.sqlite");
  expect_one_line_error(hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "90", "--log", log}),
                        4, "small.sqlite");
  EXPECT_EQ(hash_of(log), before);
}

TEST_F(SweepFaults, ConflictingDefinitionsAreRefusedAndTheLogIsUnchanged) {
  const std::string log = small_log();
  const std::string before = hash_of(log);
  const std::string space =
      write("other.yaml",
            "name: tiny\ndescription: Another space of that name\nparameters:\n"
            "  - {name: pes_x, unit: count, kind: ordinal, values: [2, 4], description: Columns}\n");
  const Outcome missing =
      hindsight({"sweep", "--space", space, "--workloads", "m6", "--samples", "2", "--log", log, "--quiet"});
  EXPECT_EQ(missing.exit_code, 2) << "a space without the template's parameters";
  std::string text = read_file(hindsight::test::repository() / "configs/spaces/tiny.yaml");
  text.replace(text.find("[2, 4, 8]"), 9, "[2, 4, 6]");
  const std::string changed = write("changed.yaml", text);
  expect_one_line_error(
      hindsight({"sweep", "--space", changed, "--workloads", "m6", "--samples", "2", "--log", log, "--quiet"}), 2,
      "'tiny'");
  text = read_file(hindsight::test::repository() / "data/workloads/m6.yaml");
  text.replace(text.find("batch: 1"), 8, "batch: 2");
  const std::string workload = write("m6.yaml", text);
  expect_one_line_error(
      hindsight({"sweep", "--space", "tiny", "--workloads", workload, "--samples", "2", "--log", log, "--quiet"}), 2,
      "'m6'");
  EXPECT_EQ(hash_of(log), before);
}

TEST_F(SweepFaults, MalformedFilesNameTheirLine) {
  const std::string broken = write("broken.yaml", "name: broken\nparameters: [\n");
  expect_one_line_error(hindsight({"space", "show", broken}), 2, "broken.yaml:");
  const std::string unknown = write("unknown.yaml", "name: x\ndescriptoin: y\nparameters: []\n");
  expect_one_line_error(hindsight({"space", "show", unknown}), 2, "unknown.yaml:2");
  expect_one_line_error(hindsight({"workload", "show", broken}), 2, "broken.yaml:");
  expect_one_line_error(hindsight({"simulate", "--design", broken, "--workload", "m6"}), 2, "broken.yaml:");
  expect_one_line_error(hindsight({"simulate", "--design", "edge_tpu_v1", "--workload", "m6", "--technology", broken}),
                        2, "broken.yaml:");
}

TEST_F(SweepFaults, TerminalCodesInNamesAreNotObeyed) {
  const Outcome outcome = hindsight({"workload", "show", "\x1b[31mred"});
  expect_one_line_error(outcome, 2, "red");
}

}  // namespace
}  // namespace hindsight::app::test

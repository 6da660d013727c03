/// Does the program make the biased logs that it promises, and say what is missing when it cannot?
#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/app_fixture.h"
#include "hindsight/log/query.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class SweepBias : public AppTest {
 protected:
  /// hindsight sweep of m6 on tiny into `log`, with further options.
  [[nodiscard]] Outcome sweep(const std::string& log, const std::vector<std::string>& options) const {
    std::vector<std::string> arguments{"sweep", "--space", "tiny",   "--workloads", "m6",
                                       "--log", file(log), "--json", "--quiet"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return hindsight(arguments);
  }
  /// What the newest run of the log says of its options.
  [[nodiscard]] Json recorded(const std::string& name) const {
    const log::Log log = log::Log::open(file(name), log::OpenMode::read_only);
    return Json::parse(log::recent_runs(log, 1).front().options_json);
  }
};

TEST_F(SweepBias, DrawsAroundADesign) {
  const Outcome outcome =
      sweep("a.sqlite", {"--sampler", "around", "--around", kTinyDesign, "--steps", "1", "--samples", "100"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json summary = Json::parse(outcome.out);
  EXPECT_EQ(summary.at("status"), "exhausted");
  // Eight of the ten parameters have another value, and the design has all of them at an end.
  EXPECT_EQ(summary.at("designs"), 8);
  for (const Json& says : {summary, recorded("a.sqlite")}) {
    EXPECT_EQ(says.at("sampler"), "around");
    EXPECT_EQ(says.at("around"), kTinyDesign);
    EXPECT_EQ(says.at("steps"), 1);
  }
}

TEST_F(SweepBias, DrawsAroundAReferenceChipOfTheSpace) {
  const std::vector<std::string> around{"--space",   "edge", "--sampler",   "around", "--around", "edge_tpu_v1_grid",
                                        "--samples", "5",    "--workloads", "m6",     "--log",    file("a.sqlite"),
                                        "--json"};
  std::vector<std::string> arguments{"sweep"};
  arguments.insert(arguments.end(), around.begin(), around.end());
  const Outcome outcome = hindsight(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(Json::parse(outcome.out).at("around").get<std::string>(), HasSubstr("pes_x=4,pes_y=4"));
  EXPECT_EQ(Json::parse(outcome.out).at("steps"), 3) << "the default of --help";
}

TEST_F(SweepBias, DrawsAroundTheNearestDesignOfAChip) {
  const std::vector<std::string> bias{"--sampler", "around", "--steps", "2", "--samples", "10", "--around"};
  const auto around = [&](const std::string& centre) {
    std::vector<std::string> more = bias;
    more.push_back(centre);
    return sweep("a.sqlite", more);
  };
  const Outcome refused = around("tpu_v1");
  expect_one_line_error(refused, 2, "is no design of space 'tiny'");
  EXPECT_THAT(refused.err, HasSubstr("Name nearest:tpu_v1, the design that differs least?"));
  EXPECT_THAT(refused.err, Not(HasSubstr("text id")));
  const Outcome outcome = around("nearest:tpu_v1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("in tiny: "));
  EXPECT_THAT(outcome.err, HasSubstr("clock_mhz 800 for 700"));
  EXPECT_EQ(Json::parse(outcome.out).at("around"), recorded("a.sqlite").at("around"));
  expect_one_line_error(around("nearest:no_such"), 2, "no_such");
}

TEST_F(SweepBias, RecordsItsNoiseAndKeepsItApart) {
  ASSERT_EQ(sweep("a.sqlite", {"--samples", "20"}).exit_code, 0);
  ASSERT_EQ(sweep("a.sqlite", {"--samples", "20", "--noise", "0.05", "--noise-seed", "3"}).exit_code, 0);
  EXPECT_EQ(recorded("a.sqlite").at("noise"), "0.05");
  EXPECT_EQ(recorded("a.sqlite").at("noise_seed"), "3");
  const log::Log log = log::Log::open(file("a.sqlite"), log::OpenMode::read_only);
  EXPECT_EQ(log::summary(log).evaluators.size(), 2U) << "exact and noisy rows never mix";
  EXPECT_THAT(sweep("b.sqlite", {"--samples", "20", "--noise", "nan"}).err, HasSubstr("0.05"));
  EXPECT_EQ(sweep("b.sqlite", {"--samples", "20", "--noise", "1.5"}).exit_code, 2);
  EXPECT_THAT(sweep("b.sqlite", {"--samples", "20", "--noise-seed", "3"}).err, HasSubstr("--noise"));
  EXPECT_FALSE(std::filesystem::exists(file("b.sqlite")));
}

TEST_F(SweepBias, DrawsAroundChipsInTheDatacenterSpace) {
  for (const std::string chip : {"tpu_v4i", "mtia_v1", "nvdla_512"}) {
    const Outcome outcome =
        hindsight({"sweep", "--space", "datacenter", "--workloads", "resnet50", "--sampler", "around", "--around",
                   "nearest:" + chip, "--samples", "5", "--log", file(chip + ".sqlite"), "--json", "--quiet"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("in datacenter: ")) << chip;
    EXPECT_EQ(Json::parse(outcome.out).at("designs"), 5) << chip;
  }
  EXPECT_THAT(recorded("tpu_v4i.sqlite").at("around").get<std::string>(), HasSubstr("precision=bf16"));
}

TEST_F(SweepBias, SaysWhatIsMissingForAWalk) {
  expect_one_line_error(sweep("a.sqlite", {"--sampler", "around", "--samples", "5"}), 2, "needs --around DESIGN");
  expect_one_line_error(sweep("a.sqlite", {"--around", kTinyDesign, "--samples", "5"}), 2,
                        "--around belongs to --sampler around and --sampler trajectory, not to --sampler uniform");
  expect_one_line_error(sweep("a.sqlite", {"--steps", "2", "--samples", "5"}), 2,
                        "--steps belongs to --sampler around");
  expect_one_line_error(sweep("a.sqlite", {"--sampler", "around", "--around", "rows=4,columns=8", "--samples", "5"}), 2,
                        "unknown parameter 'rows' in space 'tiny'");
  expect_one_line_error(sweep("a.sqlite", {"--sampler", "around", "--around", "pes_x=4", "--samples", "5"}), 2,
                        "is missing (space 'tiny' has 10)");
  expect_one_line_error(sweep("a.sqlite", {"--sampler", "around", "--around", "edge_tpu_v1", "--samples", "5"}), 2,
                        "is no design of space 'tiny'");
  expect_one_line_error(sweep("a.sqlite", {"--sampler", "arond", "--samples", "5"}), 2, "Did you mean 'around'?");
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
}

TEST_F(SweepBias, LogsWhatASearchTried) {
  const std::vector<std::string> options{"--sampler", "trajectory",   "--objective", "latency",
                                         "--max",     "area_mm2=100", "--seed",      "3"};
  const auto with_samples = [&](const std::string& samples) {
    std::vector<std::string> all = options;
    all.insert(all.end(), {"--samples", samples});
    return all;
  };
  ASSERT_EQ(sweep("parts.sqlite", with_samples("30")).exit_code, 0);
  const Outcome outcome = sweep("parts.sqlite", with_samples("60"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json summary = Json::parse(outcome.out);
  EXPECT_EQ(summary.at("designs_this_run"), 30);
  EXPECT_EQ(summary.at("objective"), "latency_s") << "by its name in the log";
  EXPECT_EQ(recorded("parts.sqlite").at("sampler"), "trajectory");
  EXPECT_EQ(recorded("parts.sqlite").at("objective"), "latency_s");
  ASSERT_EQ(sweep("whole.sqlite", with_samples("60")).exit_code, 0);
  EXPECT_EQ(hindsight::sweep::test::rows(file("parts.sqlite")), hindsight::sweep::test::rows(file("whole.sqlite")));
}

TEST_F(SweepBias, ASearchBeginsWithTheChipThatIsNamed) {
  const auto with_samples = [&](const std::string& log, const std::string& samples) {
    return sweep(
        log, {"--sampler", "trajectory", "--objective", "latency", "--around", "nearest:tpu_v1", "--samples", samples});
  };
  const Outcome outcome = with_samples("a.sqlite", "10");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("nearest to"));
  const std::string first = recorded("a.sqlite").at("around");
  EXPECT_EQ(Json::parse(outcome.out).at("around"), first);
  EXPECT_FALSE(recorded("a.sqlite").contains("steps"));
  EXPECT_FALSE(Json::parse(outcome.out).contains("steps"));
  const std::vector<std::string> rows = hindsight::sweep::test::rows(file("a.sqlite"));
  ASSERT_EQ(rows.size(), 10U);
  EXPECT_THAT(rows.front(), HasSubstr(first));
  ASSERT_EQ(with_samples("a.sqlite", "30").exit_code, 0);
  ASSERT_EQ(with_samples("whole.sqlite", "30").exit_code, 0);
  EXPECT_EQ(hindsight::sweep::test::rows(file("a.sqlite")), hindsight::sweep::test::rows(file("whole.sqlite")));
}

TEST_F(SweepBias, ASearchBeginsWithinTheLimits) {
  std::vector<std::string> words{"sweep",          "--space",   "tiny",       "--workloads", "m6",         "--log",
                                 file("a.sqlite"), "--sampler", "trajectory", "--objective", "latency_s",  "--around",
                                 "nearest:tpu_v1", "--samples", "5",          "--max",       "area_mm2=10"};
  const Outcome outcome = hindsight(words);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("that is beyond --max; the search begins with "));
  words.emplace_back("--quiet");
  EXPECT_THAT(hindsight(words).err, Not(HasSubstr("that is beyond --max")));
  EXPECT_THAT(hindsight::sweep::test::rows(file("a.sqlite")).front(),
              HasSubstr(recorded("a.sqlite").at("around").get<std::string>()));
  expect_one_line_error(sweep("b.sqlite", {"--sampler", "trajectory", "--objective", "latency_s", "--around",
                                           kTinyDesign, "--steps", "2", "--samples", "5"}),
                        2, "--steps belongs to --sampler around, not to --sampler trajectory");
}

TEST_F(SweepBias, SaysWhatASearchNeeds) {
  expect_one_line_error(sweep("a.sqlite", {"--sampler", "trajectory", "--samples", "5"}), 2,
                        "needs --objective METRIC");
  expect_one_line_error(sweep("a.sqlite", {"--sampler", "trajectory", "--objective", "latencies", "--samples", "5"}), 2,
                        "unknown objective 'latencies'. Did you mean 'latency_s'?");
  expect_one_line_error(sweep("a.sqlite", {"--objective", "latency_s", "--samples", "5"}), 2, "has no use here");
  expect_one_line_error(
      sweep("a.sqlite", {"--sampler", "trajectory", "--objective", "latency_s", "--shard", "0/2", "--samples", "5"}), 2,
      "--shard and --sampler trajectory exclude each other");
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
}

TEST_F(SweepBias, KeepsTheWorseHalf) {
  const std::vector<std::string> options{"--samples", "200", "--keep", "worst:0.5", "--objective", "latency_s"};
  const Outcome outcome = sweep("a.sqlite", options);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json summary = Json::parse(outcome.out);
  const Json& counts = summary.at("workloads").at(0);
  // Of an odd number the half is rounded up.
  const auto feasible = counts.at("feasible").get<std::uint64_t>();
  EXPECT_EQ(summary.at("rows_left_out"), feasible / 2);
  EXPECT_EQ(summary.at("rows_inserted"), 200 - feasible / 2);
  EXPECT_EQ(recorded("a.sqlite").at("keep"), "worst:0.5");
  EXPECT_EQ(Json::parse(sweep("a.sqlite", options).out).at("status"), "already finished");
  const Outcome text = hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--log", file("b.sqlite"),
                                  "--samples", "200", "--keep", "random:0.5"});
  EXPECT_THAT(text.out, HasSubstr("finished: of 200 designs x 1 workloads the rows of --keep random:0.5 are in"));
  EXPECT_THAT(text.out, HasSubstr(" left out, "));
}

TEST_F(SweepBias, AWholeSampleDoesNotGrow) {
  for (const std::vector<std::string>& kind :
       {std::vector<std::string>{"--keep", "random:0.5"}, std::vector<std::string>{"--sampler", "lhs"}}) {
    const std::string log = kind[1] == "lhs" ? "l.sqlite" : "k.sqlite";
    const auto with = [&](const std::string& samples, const std::vector<std::string>& more = {}) {
      std::vector<std::string> options{"--samples", samples};
      options.insert(options.end(), kind.begin(), kind.end());
      options.insert(options.end(), more.begin(), more.end());
      return sweep(log, options);
    };
    ASSERT_EQ(with("30").exit_code, 0);
    expect_one_line_error(with("40"), 2, "is this sweep with --samples 30");
    EXPECT_EQ(with("30").exit_code, 0);
    EXPECT_EQ(with("40", {"--seed", "2"}).exit_code, 0);
    EXPECT_EQ(sweep(log, {"--samples", "40"}).exit_code, 0) << "another sweep";
    std::vector<std::string> larger{"--samples", "40"};
    larger.insert(larger.end(), kind.begin(), kind.end());
    ASSERT_EQ(sweep("larger_" + log, larger).exit_code, 0);
    const std::string both = "both_" + log;
    ASSERT_EQ(hindsight({"log", "merge", file(log), file("larger_" + log), "--out", file(both)}).exit_code, 0);
    larger[1] = "30";
    EXPECT_EQ(sweep(both, larger).exit_code, 0) << "a log that has both goes on with each";
    larger[1] = "40";
    EXPECT_EQ(sweep(both, larger).exit_code, 0);
    larger[1] = "50";
    expect_one_line_error(sweep(both, larger), 2, "is this sweep with --samples ");
    SQLite::Database(file(both), SQLite::OPEN_READWRITE)
        .exec("UPDATE runs SET evaluations_inserted = 0, evaluations_present = 0");
    EXPECT_EQ(sweep(both, larger).exit_code, 0) << "runs without rows are none";
  }
}

TEST_F(SweepBias, SaysWhatKeepNeeds) {
  expect_one_line_error(sweep("a.sqlite", {"--samples", "5", "--keep", "worst:0.5"}), 2, "needs --objective METRIC");
  expect_one_line_error(sweep("a.sqlite", {"--samples", "5", "--keep", "worst:1.5", "--objective", "latency_s"}), 2,
                        "a number between 0 and 1");
  expect_one_line_error(sweep("a.sqlite", {"--samples", "5", "--keep", "best:0.5"}), 2, "worst:SHARE or random:SHARE");
  expect_one_line_error(sweep("a.sqlite", {"--samples", "5", "--keep", "random:0.5", "--shard", "0/2"}), 2,
                        "which rows stay follows from the whole sample");
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
}

TEST_F(SweepBias, AnInterruptedSampleOfKeepSaysThatNothingIsLogged) {
  Process process({"sweep", "--workloads", "m6", "--samples", "100000000", "--keep", "random:0.5", "--log",
                   file("a.sqlite"), "--quiet"});
  std::this_thread::sleep_for(std::chrono::seconds(1));  // well within its first pass of hours
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("nothing is in the log yet"));
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
}

}  // namespace
}  // namespace hindsight::app::test

/// Does the loop close: campaigns that survive kills, designs asked for once, answers that are told or refused whole?
#include <SQLiteCpp/SQLiteCpp.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "apps/learn_fixture.h"
#include "hindsight/core/files.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Loop : public Learn {
 protected:
  /// A recipe that learns within a second.
  [[nodiscard]] std::string quick() const {
    return write("quick.yaml", "method: margins\nhidden: [16]\nensemble: 2\nsteps: 60\nfinal_steps: 20\n");
  }
  [[nodiscard]] std::vector<std::string> campaign(const std::string& log, const std::string& rounds) const {
    return {"campaign", "--space", "tiny", "--workloads", "m6,mobilenet_v2", "--max", "area_mm2=27", "--rounds",
            rounds,     "--batch", "6",    "--recipe",    quick(),           "--log", file(log),     "--json"};
  }
  [[nodiscard]] std::string hash(const std::string& log) const {
    return hindsight({"log", "hash", file(log)}).out.substr(0, 64);
  }
  [[nodiscard]] std::int64_t count(const std::string& log, const std::string& sql) const {
    const SQLite::Database database(file(log), SQLite::OPEN_READONLY);
    SQLite::Statement query(database, sql);
    return query.executeStep() ? query.getColumn(0).getInt64() : -1;
  }
};

TEST_F(Loop, CampaignFindsBetterDesignsAndSaysWhatItDid) {
  const Outcome outcome = hindsight(campaign("a.sqlite", "3"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("round 3: 6 designs chosen by"));
  EXPECT_THAT(outcome.err, HasSubstr(" steps  ")) << "a training says how far it is";
  const Json summary = Json::parse(outcome.out);
  EXPECT_EQ(summary.at("status"), "finished");
  EXPECT_EQ(summary.at("evaluations_this_run"), 3 * 6 * 2);
  EXPECT_EQ(count("a.sqlite", "SELECT count(*) FROM evaluations"), 3 * 6 * 2);
  EXPECT_EQ(count("a.sqlite", "SELECT count(*) FROM designs"), 3 * 6) << "no design twice";
  EXPECT_EQ(count("a.sqlite", "SELECT count(*) FROM evaluations WHERE area_mm2 > 27"), 0);
  // The best of what was logged, by another way.
  const std::int64_t best_design =
      count("a.sqlite",
            "SELECT design_id FROM evaluations GROUP BY design_id HAVING min(feasible) = 1 "
            "ORDER BY sum(ln(latency_s)) LIMIT 1");
  const SQLite::Database database(file("a.sqlite"), SQLite::OPEN_READONLY);
  SQLite::Statement query(database, "SELECT text_id FROM designs WHERE design_id = ?");
  query.bind(1, best_design);
  ASSERT_TRUE(query.executeStep());
  EXPECT_EQ(summary.at("rounds").back().at("best_design"), query.getColumn(0).getString());
}

TEST_F(Loop, CampaignGoesOnWhereItStood) {
  ASSERT_EQ(hindsight(campaign("a.sqlite", "2")).exit_code, 0);
  const Json again = Json::parse(hindsight(campaign("a.sqlite", "2")).out);
  EXPECT_EQ(again.at("status"), "already finished");
  EXPECT_EQ(again.at("evaluations_this_run"), 0);
  const Json more = Json::parse(hindsight(campaign("a.sqlite", "4")).out);
  EXPECT_EQ(more.at("rounds_before"), 2);
  EXPECT_EQ(more.at("evaluations_this_run"), 2 * 6 * 2);
  ASSERT_EQ(hindsight(campaign("b.sqlite", "4")).exit_code, 0);
  EXPECT_EQ(hash("a.sqlite"), hash("b.sqlite"));
}

TEST_F(Loop, KilledCampaignsLoseNothingAndDoNothingTwice) {
  ASSERT_EQ(hindsight(campaign("whole.sqlite", "5")).exit_code, 0);
  for (int kill = 1; kill <= 8; ++kill) {
    Process process(campaign("parts.sqlite", "5"));
    std::this_thread::sleep_for(std::chrono::milliseconds(70 * kill));
    process.send(SIGKILL);
    static_cast<void>(process.wait());
  }
  const Outcome rest = hindsight(campaign("parts.sqlite", "5"));
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(hindsight({"log", "verify", file("parts.sqlite")}).exit_code, 0);
  EXPECT_EQ(hash("parts.sqlite"), hash("whole.sqlite"));
  EXPECT_EQ(count("parts.sqlite", "SELECT sum(evaluations_present) FROM runs"), 0) << "appended twice";
  EXPECT_EQ(count("parts.sqlite", "SELECT sum(evaluations_inserted) FROM runs"), 5 * 6 * 2);
}

TEST_F(Loop, WhatWasAnsweredBeforeAFaultIsNotAskedAgain) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "there is no python3";
  // Notes every design that it answers; its first life ends in the middle of a round.
  const std::string simulator = write("simulator.py", R"(
import json, os, sys
for line in sys.stdin:
    question = json.loads(line)
    notes = open(sys.argv[1], "a")
    if len(sys.argv) > 2 and len(open(sys.argv[1]).readlines()) >= int(sys.argv[2]):
        print("no answer", flush=True)
    notes.write(json.dumps(question["design"]) + "\n")
    notes.close()
    print(json.dumps({"id": question["id"], "metrics": {"latency_s": 1 / question["design"]["pes_x"]}}), flush=True)
)");
  const auto with = [&](const std::string& more) {
    return hindsight({"campaign", "--space", "tiny", "--workloads", "m6", "--rounds", "2", "--batch", "6", "--recipe",
                      quick(), "--log", file("a.sqlite"), "--quiet", "--evaluator-name", "mine", "--evaluator",
                      "python3 " + simulator + " " + file("notes") + more});
  };
  EXPECT_EQ(with(" 4").exit_code, 1);
  EXPECT_EQ(count("a.sqlite", "SELECT count(*) FROM evaluations"), 4);
  const Outcome rest = with("");
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(count("a.sqlite", "SELECT count(*) FROM evaluations"), 12);
  std::istringstream lines(read_file(file("notes")));
  std::map<std::string, int> asked;
  for (std::string line; std::getline(lines, line);) ++asked[line];
  EXPECT_EQ(asked.size(), 12U);
  EXPECT_EQ(std::count_if(asked.begin(), asked.end(), [](const auto& one) { return one.second > 1; }), 1)
      << "only the one that was in work";
}

TEST_F(Loop, AnAnswerWithoutWhatIsComparedOrLimitedEndsACampaignAndIsKept) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "there is no python3";
  const std::string simulator = write("simulator.py", R"(
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    print(json.dumps({"id": question["id"], "metrics": {"latency_ms": question["design"]["pes_x"]}}), flush=True)
)");
  const auto with = [&](const std::string& log, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "campaign", "--space", "tiny",      "--workloads", "m6",          "--rounds",
        "2",        "--batch", "6",         "--recipe",    quick(),       "--log",
        file(log),  "--quiet", "--threads", "1",           "--evaluator", "python3 " + simulator};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  };
  expect_one_line_error(with("a.sqlite", {}), 1,
                        "gives no 'latency_s', which is compared or limited here. It gives latency_ms");
  EXPECT_EQ(count("a.sqlite", "SELECT count(*) FROM evaluations"), 1) << "one was enough";
  expect_one_line_error(with("a.sqlite", {}), 1, "was answered without latency_s");
  EXPECT_EQ(count("a.sqlite", "SELECT count(*) FROM evaluations"), 1) << "and no further one is paid for";
  expect_one_line_error(with("a.sqlite", {"--objective", "latency_ms", "--max", "area_mm2=27"}), 1,
                        "gives no 'area_mm2'");
  EXPECT_EQ(with("b.sqlite", {"--objective", "latency_ms"}).exit_code, 0);
}

TEST_F(Loop, TwoProcessesDoNotRunOneCampaign) {
  ASSERT_EQ(hindsight(campaign("whole.sqlite", "6")).exit_code, 0);
  Process one(campaign("a.sqlite", "6")), two(campaign("a.sqlite", "6"));
  for (Process* process : {&one, &two}) {
    const Outcome outcome = process->wait();
    if (outcome.exit_code == 0) continue;
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("another process runs this campaign"));
  }
  ASSERT_EQ(hindsight(campaign("a.sqlite", "6")).exit_code, 0);
  EXPECT_EQ(hash("a.sqlite"), hash("whole.sqlite"));
}

/// Before it trains, and without a run of its own; a campaign that was killed is nobody's.
TEST_F(Loop, ASecondProcessIsRefusedBeforeItChooses) {
  const auto with = [&](const std::string& simulator) {
    return std::vector<std::string>{
        "campaign", "--space", "tiny",  "--workloads", "m6",      "--rounds",         "2",    "--batch",     "3",
        "--recipe", quick(),   "--log", log(),         "--quiet", "--evaluator-name", "mine", "--evaluator", simulator};
  };
  Process first(with("sleep 1000"));
  const auto is_under_way = [&] {
    return std::filesystem::exists(log()) &&
           !log::recent_runs(log::Log::open(log(), log::OpenMode::read_only), 1).empty();
  };
  for (int wait = 0; !is_under_way() && wait < 600; ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_TRUE(is_under_way());
  expect_one_line_error(hindsight(with("sleep 1000")), 1, "another process runs this campaign. Let it end, or stop it");
  EXPECT_EQ(count("study.sqlite", "SELECT count(*) FROM runs"), 1);
  first.send(SIGKILL);
  static_cast<void>(first.wait());
  const Outcome rest = hindsight(with(shell_quoted(program_path().string()) + " serve --space tiny"));
  EXPECT_EQ(rest.exit_code, 0) << rest.err;
}

/// Followed as it is printed.
TEST_F(Loop, ALimitThatNothingMeetsIsRefusedWithOneThatDesignsMeet) {
  const auto with = [&](const std::string& limit) {
    return hindsight({"campaign", "--space", "tiny", "--workloads", "m6", "--rounds", "1", "--batch", "2", "--max",
                      limit, "--log", log()});
  };
  const Outcome refused = with("area_mm2=0.5");
  expect_one_line_error(refused, 3, "nothing is within --max area_mm2=0.5");
  const std::string words = "Drawn designs are within --max ";
  const std::size_t at = refused.err.find(words);
  ASSERT_NE(at, std::string::npos) << refused.err;
  const std::string rest = refused.err.substr(at + words.size());
  const Outcome followed = with(rest.substr(0, rest.find_first_of(", \n")));
  EXPECT_EQ(followed.exit_code, 0) << refused.err << followed.err;
}

/// Power is learnt from answers, so that designs are drawn where a model chooses none.
TEST_F(Loop, WhatAModelCouldChooseWithIsSaidOfTheLastRound) {
  if (std::system("command -v python3 > /dev/null") != 0) GTEST_SKIP() << "there is no python3";
  const std::string simulator = write("simulator.py", R"(
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    x = question["design"]["pes_x"]
    print(json.dumps({"id": question["id"], "metrics": {"latency_ms": 1 / x, "power_w": 1 + x}}), flush=True)
)");
  const Outcome outcome = hindsight({"campaign",
                                     "--space",
                                     "tiny",
                                     "--workloads",
                                     "m6",
                                     "--rounds",
                                     "3",
                                     "--batch",
                                     "16",
                                     "--recipe",
                                     quick(),
                                     "--objective",
                                     "latency_ms",
                                     "--max",
                                     "power_w=0.001",
                                     "--evaluator",
                                     "python3 " + simulator,
                                     "--evaluator-metrics",
                                     "latency_ms,power_w",
                                     "--log",
                                     log(),
                                     "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json summary = Json::parse(outcome.out);
  const auto why = [&](std::size_t round) { return summary.at("rounds").at(round).at("why").get<std::string>(); };
  EXPECT_TRUE(why(1).ends_with("sees nothing to choose (no design found meets all limits)")) << why(1);
  EXPECT_THAT(why(2), HasSubstr("sees nothing to choose (no design meets power_w <= 0.001"));
}

TEST_F(Loop, InterruptedCampaignSaysHowToGoOn) {
  std::vector<std::string> arguments = campaign("a.sqlite", "1000");
  Process process(arguments);
  for (int wait = 0; wait < 600 && !std::filesystem::exists(file("a.sqlite")); ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("Run the same command again to continue"));
  EXPECT_EQ(Json::parse(outcome.out).at("status"), "interrupted");
  EXPECT_EQ(count("a.sqlite", "SELECT count(*) FROM runs WHERE kind = 'campaign' AND status = 'interrupted'"), 1);
}

TEST_F(Loop, CampaignLearnsFromRowsThatWereThere) {
  ASSERT_EQ(sweep("m6,mobilenet_v2", "100").exit_code, 0);
  std::vector<std::string> arguments = campaign("study.sqlite", "1");
  const Json summary = Json::parse(hindsight(arguments).out);
  EXPECT_EQ(summary.at("rounds").at(0).at("chosen_by"), "model");
  EXPECT_THAT(summary.at("rounds").at(0).at("why").get<std::string>(), HasSubstr("a model of 200 rows"));
}

TEST_F(Loop, CampaignLeavesAloneWhatSomebodyElseWasAskedFor) {
  ASSERT_EQ(hindsight({"ask", "--space", "tiny", "--workload", "m6", "--evaluator", "mine", "-n", "6", "--log",
                       file("a.sqlite"), "--recipe", quick(), "--out", file("asked.csv")})
                .exit_code,
            0);
  ASSERT_EQ(hindsight(campaign("a.sqlite", "2")).exit_code, 0);
  EXPECT_EQ(count("a.sqlite", "SELECT count(*) FROM evaluations WHERE design_id IN (SELECT design_id FROM proposals)"),
            0);
  EXPECT_EQ(count("a.sqlite", "SELECT count(DISTINCT design_id) FROM evaluations"), 12);
}

TEST_F(Loop, CampaignEndsWhereTheSpaceHasNoMoreDesigns) {
  const Outcome outcome =
      hindsight({"campaign", "--space", "tiny",  "--workloads",      "m6",    "--set",          "pes_x=4",
                 "--set",    "pes_y=2", "--set", "compute_lanes=16", "--set", "cores_per_pe=4", "--rounds",
                 "20",       "--batch", "8",     "--recipe",         quick(), "--log",          file("a.sqlite"),
                 "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json summary = Json::parse(outcome.out);
  EXPECT_EQ(summary.at("status"), "exhausted");
  EXPECT_EQ(count("a.sqlite", "SELECT count(*) FROM designs"),
            count("a.sqlite", "SELECT count(*) FROM designs WHERE text_id LIKE 'pes_x=4,pes_y=2,%'"));
}

TEST_F(Loop, ACampaignWithoutADesignWithinItsLimitsLeavesNoLogBehind) {
  const std::vector<std::string> hopeless{"campaign", "--space", "tiny",       "--workloads",
                                          "m6",       "--max",   "area_mm2=1", "--log"};
  const auto with = [&](const std::string& log, const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = hopeless;
    words.push_back(file(log));
    words.insert(words.end(), more.begin(), more.end());
    return hindsight(words);
  };
  expect_one_line_error(with("new.sqlite"), 3, "area_mm2=1");
  for (const char* ending : {"", "-wal", "-shm"}) {
    EXPECT_FALSE(std::filesystem::exists(file("new.sqlite") + ending)) << ending;
  }
  EXPECT_EQ(with("new.sqlite", {"--dry-run"}).exit_code, 3) << "what the command refuses";
  // A log that was there stays, with what it had.
  ASSERT_EQ(hindsight(campaign("old.sqlite", "1")).exit_code, 0);
  const std::string before = hash("old.sqlite");
  EXPECT_EQ(with("old.sqlite").exit_code, 3);
  EXPECT_EQ(hash("old.sqlite"), before);
}

TEST_F(Loop, CampaignKnowsItsRegret) {
  std::vector<std::string> arguments = campaign("a.sqlite", "2");
  arguments.emplace_back("--regret");
  const Json summary = Json::parse(hindsight(arguments).out);
  const Json optimum = Json::parse(
      hindsight({"optimum", "--space", "tiny", "--workloads", "m6,mobilenet_v2", "--max", "area_mm2=27", "--json"})
          .out);
  EXPECT_GE(summary.at("rounds").back().at("regret").get<double>(), 1);
  EXPECT_DOUBLE_EQ(summary.at("optimum").get<double>(), optimum.at("designs").at(0).at("value").get<double>());
}

TEST_F(Loop, RefusesCampaignsThatMakeNoSense) {
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = campaign("a.sqlite", "2");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  };
  expect_one_line_error(with({"--objective", "speed"}), 2, "the evaluator gives no 'speed'");
  expect_one_line_error(with({"--objective", "speed", "--maximise"}), 2, "the evaluator gives no 'speed'");
  expect_one_line_error(with({"--max", "are_mm2=27"}), 2, "area_mm2");
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite"))) << "what is refused leaves no log behind";
  std::vector<std::string> tight = campaign("a.sqlite", "2");
  std::replace(tight.begin(), tight.end(), std::string("area_mm2=27"), std::string("area_mm2=0.001"));
  expect_one_line_error(hindsight(tight), 3,
                        "nothing is within --max area_mm2=0.001. Drawn designs are within --max area_mm2=");
  expect_one_line_error(hindsight({"campaign", "--space", "tiny", "--workloads", "m6", "--log", file("b.sqlite"),
                                   "--recipe", "no_such", "--quiet"}),
                        2, "no_such");
}

TEST_F(Loop, WhatIsNoNetworkIsSentToAskAndTell) {
  const std::string log = file("own.sqlite");
  const Outcome refused = hindsight({"campaign", "--space", "tiny", "--workloads", "mykernel", "--log", log});
  expect_one_line_error(refused, 2, "unknown workload 'mykernel'");
  EXPECT_THAT(refused.err, HasSubstr("hindsight ask --log " + log + " --space tiny --application mykernel"));
  const Outcome asked = hindsight({"ask", "--log", log, "--space", "tiny", "--application", "mykernel"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err << "as the message says";
  expect_one_line_error(hindsight({"campaign", "--space", "tiny", "--workloads", "mobilenet_v3", "--log", log}), 2,
                        "Did you mean 'mobilenet_v3_large'?");
}

TEST_F(Loop, ProposeKeepsTheTruthWhereTrainSeesIt) {
  make_model();
  const std::int64_t before = count("study.sqlite", "SELECT count(*) FROM evaluations");
  const std::vector<std::string> more = {"--workload", "m6", "--log", log(), "--new", "--simulate", "--csv", "-"};
  const Outcome apart = hindsight([&] {
    std::vector<std::string> arguments{"propose", "--model", model(), "--evaluations", "2000", "--top", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.emplace_back("--no-record");
    return arguments;
  }());
  ASSERT_EQ(apart.exit_code, 0) << apart.err;
  EXPECT_EQ(count("study.sqlite", "SELECT count(*) FROM evaluations"), before);
  EXPECT_THAT(apart.err, Not(HasSubstr("3 new")));
  const Outcome first = propose(more);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out, apart.out);
  EXPECT_THAT(first.err, HasSubstr("3 evaluations in " + log() + ": 3 new"));
  EXPECT_EQ(count("study.sqlite", "SELECT count(*) FROM evaluations"), before + 3);
  EXPECT_EQ(count("study.sqlite", "SELECT count(*) FROM evaluations e JOIN runs USING (run_id) WHERE kind = 'propose'"),
            3);
  const Outcome second = propose(more);
  EXPECT_NE(second.out, first.out) << "asking twice proposed the same designs";
  EXPECT_EQ(count("study.sqlite", "SELECT count(DISTINCT evaluator_id) FROM evaluations"), 1);
}

}  // namespace
}  // namespace hindsight::app::test

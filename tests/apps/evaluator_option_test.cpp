/// Does a simulator of the user's take the place of the built-in model where a verb evaluates, and what survives it?
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/app_fixture.h"
#include "hindsight/core/shell.h"
#include "in_shell.h"
#include "repository.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;
using hindsight::test::in_shell;

constexpr int kInterruptedExitCode = 130;

class EvaluatorOption : public AppTest {
 protected:
  [[nodiscard]] static std::string serve() { return shell_quoted(program_path().string()) + " serve --space tiny"; }
  [[nodiscard]] std::vector<std::string> sweep(const std::string& log, const std::string& samples,
                                               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"sweep", "--space", "tiny",    "--workloads", "m6,unet", "--samples",
                                       samples, "--log",   file(log), "--json",      "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  [[nodiscard]] std::size_t lines_of(const std::string& name) const {
    std::ifstream in(file(name));
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(in), {}, '\n'));
  }
  template <class Condition>
  static void wait_until(const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition() && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    ASSERT_TRUE(condition());
  }
  [[nodiscard]] static bool runs(const std::string& process) {
    std::ifstream in("/proc/" + process + "/stat");
    std::string text;
    if (!std::getline(in, text)) return false;
    const char state = text[text.find_last_of(')') + 2];
    return state != 'Z' && state != 'X';
  }
  /// A simulator that never answers, ignores SIGTERM, and has a child.
  [[nodiscard]] std::string stubborn() const {
    return in_shell("trap '' TERM INT; sleep 1000 & echo $! >> " + file("pids") + "; echo $$ >> " + file("pids") +
                    "; while :; do sleep 1; done");
  }
  void expect_all_gone() const {
    std::ifstream in(file("pids"));
    for (std::string process; std::getline(in, process);) wait_until([&] { return !runs(process); });
  }
  [[nodiscard]] std::string option_of_run(const std::string& log, const std::string& name) const {
    SQLite::Database database(file(log), SQLite::OPEN_READONLY);
    return database.execAndGet("SELECT json_extract(options_json, '$." + name + "') FROM runs ORDER BY run_id DESC")
        .getString();
  }
};

TEST_F(EvaluatorOption, TheBuiltInModelAsAProcessGivesTheSameRows) {
  ASSERT_EQ(hindsight(sweep("plain.sqlite", "60")).exit_code, 0);
  const Outcome outcome = hindsight(sweep("served.sqlite", "60", {"--evaluator", serve(), "--evaluator-workers", "3"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(hindsight::sweep::test::rows(file("served.sqlite")), hindsight::sweep::test::rows(file("plain.sqlite")));
  EXPECT_EQ(hindsight({"log", "verify", file("served.sqlite")}).exit_code, 0);
  const Outcome chosen =
      hindsight(sweep("chosen.sqlite", "20", {"--networks-per-design", "1", "--evaluator", serve()}));
  ASSERT_EQ(chosen.exit_code, 0) << chosen.err;
  ASSERT_EQ(hindsight(sweep("chosen_plain.sqlite", "20", {"--networks-per-design", "1"})).exit_code, 0);
  EXPECT_EQ(hindsight::sweep::test::rows(file("chosen.sqlite")),
            hindsight::sweep::test::rows(file("chosen_plain.sqlite")));
}

TEST_F(EvaluatorOption, AKilledSweepContinuesAndAsksNothingTwiceButWhatWasInWork) {
  const std::string counting = in_shell("tee -a " + file("asked") + " | " + serve());
  const auto arguments = sweep("parts.sqlite", "60", {"--evaluator", counting, "--evaluator-name", "counted"});
  {
    Process process(arguments);
    wait_until([&] { return lines_of("asked") > 20; });
    process.send(SIGKILL);
    (void)process.wait();
  }
  EXPECT_EQ(hindsight({"log", "verify", file("parts.sqlite")}).exit_code, 0);
  const Outcome rest = hindsight(arguments);
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  ASSERT_EQ(hindsight(sweep("whole.sqlite", "60")).exit_code, 0);
  EXPECT_EQ(hindsight::sweep::test::rows(file("parts.sqlite")), hindsight::sweep::test::rows(file("whole.sqlite")));
  constexpr std::size_t kQuestions = 120;
  constexpr std::size_t kInWork = 2 * (1 + 4 + 4);  // designs asked, announced, answered and not yet committed
  EXPECT_GE(lines_of("asked"), kQuestions);
  EXPECT_LE(lines_of("asked"), kQuestions + kInWork);
}

TEST_F(EvaluatorOption, AFaultEndsTheSweepBehindWhatWasAnswered) {
  const std::string faulty = in_shell("sed -u 21q | " + serve() + "; echo 'out of licences' >&2; echo garbage");
  const auto arguments = sweep("a.sqlite", "60", {"--evaluator", faulty, "--evaluator-name", "sim"});
  const Outcome outcome = hindsight(arguments);
  expect_one_line_error(outcome, 1, "'garbage' ");  // an answer that is none, or one that nobody asked for
  EXPECT_THAT(outcome.err, HasSubstr("out of licences"));
  const auto rows = hindsight::sweep::test::rows(file("a.sqlite"));
  EXPECT_EQ(rows.size(), 20U) << "ten designs were whole";
  EXPECT_EQ(option_of_run("a.sqlite", "evaluator_stderr"), "out of licences");
  const Json show = Json::parse(hindsight({"log", "show", file("a.sqlite"), "--json"}).out);
  EXPECT_EQ(show.at("runs").at(0).at("status"), "failed");
  const Outcome rest = hindsight(sweep("a.sqlite", "60", {"--evaluator", serve(), "--evaluator-name", "sim"}));
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  EXPECT_EQ(Json::parse(rest.out).at("designs_this_run"), 50);
}

TEST_F(EvaluatorOption, AnEvaluatorThatNeverAnswersLeavesNoLog) {
  expect_one_line_error(hindsight(sweep("a.sqlite", "5", {"--evaluator", "echo hello"})), 1, "'hello' is no JSON");
  expect_one_line_error(hindsight(sweep("a.sqlite", "5", {"--evaluator", "no_such_simulator"})), 1, "cannot be run");
  const std::string remedy = "is for a shell, and none reads the command. Put one in front: --evaluator 'sh -c '";
  expect_one_line_error(hindsight(sweep("b.sqlite", "5", {"--evaluator", "cat | cat"})), 2, remedy);
  EXPECT_FALSE(std::filesystem::exists(file("b.sqlite")));
  expect_one_line_error(hindsight({"worker", "--log", file("a.sqlite"), "--evaluator", "cat | cat", "--dry-run"}), 2,
                        remedy);
  expect_one_line_error(
      hindsight({"propose", "--workload", "m4", "--evaluator", "cat | cat", "--simulate", "--dry-run"}), 2, remedy);
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
}

TEST_F(EvaluatorOption, AnEmptyTextIsNotTheBuiltInModel) {
  const std::string problem = "--evaluator: the text is empty. Is a variable not set?";
  expect_one_line_error(hindsight(sweep("a.sqlite", "5", {"--evaluator", ""})), 2, problem);
  const std::vector<std::vector<std::string>> commands{
      {"search", "--space", "tiny", "--workloads", "m6", "--queries", "3", "--log", file("a.sqlite"), "--evaluator",
       ""},
      {"campaign", "--space", "tiny", "--workloads", "m6", "--rounds", "1", "--log", file("a.sqlite"), "--evaluator",
       ""},
      {"propose", "--workload", "m4", "--simulate", "--evaluator", ""}};
  for (const auto& command : commands) expect_one_line_error(hindsight(command), 2, problem);
  expect_one_line_error(hindsight({"worker", "--log", file("a.sqlite"), "--evaluator", ""}), 2, "name your simulator");
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
}

TEST_F(EvaluatorOption, PlacesWithoutTheEndingsOfTheirFilesAreRefused) {
  const auto refused = [&](const std::string& command, const std::string& part) {
    expect_one_line_error(hindsight(sweep("a.sqlite", "5", {"--evaluator", command})), 2, part);
  };
  refused("sim {design} {workload} {out}", "--evaluator: there is no {design}. Did you mean {design.json}?");
  refused("sim {design.json} --out='{out}'", "there is no {out}. Did you mean {out.json}?");
  refused(in_shell("sim < {design.json} > {out}"), "there is no {out}. Did you mean {out.json}?");
  const std::string own = "no_such_simulator --log run_{design}.txt {design.json} {out.json}";
  expect_one_line_error(hindsight(sweep("a.sqlite", "5", {"--evaluator", own})), 1, "cannot be run (exit code 12");
  // What a shell's variable is, or a program's own text, is theirs.
  expect_one_line_error(hindsight(sweep("a.sqlite", "5", {"--evaluator", in_shell("out=5; echo ${out}")})), 1,
                        "'5' is");
  expect_one_line_error(hindsight(sweep("a.sqlite", "5", {"--evaluator", in_shell("echo '{out}'")})), 1, "'{out}' is");
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
}

TEST_F(EvaluatorOption, ACommandThatCannotBeRunIsSaidOnceWithWhatToDo) {
  const auto refused = [&](const std::string& command, const std::string& part) {
    const Outcome outcome = hindsight(sweep("a.sqlite", "5", {"--evaluator", command}), {.folder = folder_});
    expect_one_line_error(outcome, 1, "cannot be run (exit code 12");
    EXPECT_THAT(outcome.err, HasSubstr(part));
    EXPECT_THAT(outcome.err, ::testing::Not(::testing::AnyOf(HasSubstr("it says"), HasSubstr("Expected {"))));
  };
  const std::string script = write("sim.sh", "#!/bin/sh\necho '{\"metrics\":{\"latency_s\":1}}' > $1\n");
  refused("no_such_simulator", "Is no_such_simulator installed, and on the PATH?");
  refused("./no_such_simulator", "There is no such file. Is the path right?");
  refused("./sim.sh {out.json}", "Make it a program: chmod +x ./sim.sh\n");
  refused("sim.sh {out.json}", "The file is in this folder: chmod +x sim.sh, and write ./sim.sh\n");
  refused("/dev/null", "That is no program\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  refused("sim.sh {out.json}", "The file is in this folder: write ./sim.sh\n");
  EXPECT_EQ(hindsight(sweep("a.sqlite", "5", {"--evaluator", "./sim.sh {out.json}"}), {.folder = folder_}).exit_code,
            0);
}

/// To record its crashes would make all designs infeasible for good.
TEST_F(EvaluatorOption, ACommandThatNeverAnsweredIsToBeRunByHand) {
  const Outcome outcome = hindsight(sweep("a.sqlite", "5", {"--evaluator", in_shell("echo 'no licence' >&2; exit 2")}));
  expect_one_line_error(outcome, 1,
                        "no licence, 2 times (it has answered nothing so far). Run it by hand to see why (a fault of "
                        "this design: --evaluator-faults record)\n");
  const std::string once = in_shell("read -r line; printf '%s\\n' \"$line\" | " + serve() + "; read -r line; exit 3");
  const Outcome later = hindsight(
      sweep("a.sqlite", "5", {"--evaluator", once, "--evaluator-retries", "0", "--evaluator-faults", "stop"}));
  expect_one_line_error(later, 1, "--evaluator-faults record keeps it as the design's reason");
}

TEST_F(EvaluatorOption, CtrlCLeavesNoProcessBehind) {
  Process process(sweep("a.sqlite", "5", {"--evaluator", stubborn(), "--evaluator-workers", "2"}));
  wait_until([&] { return lines_of("pids") == 4; });
  process.send(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, kInterruptedExitCode) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("nothing is in the log yet"));
  expect_all_gone();
}

TEST_F(EvaluatorOption, AKilledCommandLeavesNoProcessBehind) {
  Process process(sweep("a.sqlite", "5", {"--evaluator", stubborn()}));
  wait_until([&] { return lines_of("pids") == 2; });
  process.send(SIGKILL);
  (void)process.wait();
  expect_all_gone();
}

TEST_F(EvaluatorOption, VersionsDoNotMix) {
  const std::vector<std::string> first{"--evaluator", serve(), "--evaluator-name", "sim"};
  ASSERT_EQ(hindsight(sweep("a.sqlite", "5", first)).exit_code, 0);
  auto second = first;
  second.insert(second.end(), {"--evaluator-version", "2"});
  const Outcome outcome = hindsight(sweep("a.sqlite", "5", second));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out).at("rows_inserted"), 10);
  SQLite::Database database(file("a.sqlite"), SQLite::OPEN_READONLY);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM evaluators WHERE name = 'sim'").getInt(), 2);
}

TEST_F(EvaluatorOption, SearchAsksItAndContinues) {
  const auto search = [&](const std::string& queries, const std::string& objective) {
    return hindsight({"search", "--space", "tiny", "--workloads", "m6", "--queries", queries, "--log", file("s.sqlite"),
                      "--evaluator", serve(), "--objective", objective, "--max", "area_mm2=27", "--json", "--quiet"});
  };
  ASSERT_EQ(search("30", "latency_s").exit_code, 0);
  const Outcome more = search("40", "latency_s");
  ASSERT_EQ(more.exit_code, 0) << more.err;
  EXPECT_EQ(Json::parse(more.out).at("designs_this_run"), 10);
  expect_one_line_error(search("5", "latency_parsecs"), 1, "gives no 'latency_parsecs'");
}

TEST_F(EvaluatorOption, ProposalsAreSimulatedByIt) {
  const auto propose = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"propose", "--workload",    "m6",   "--max",     "area_mm2=27", "--top", "3",
                                       "--json",  "--evaluations", "2000", "--simulate"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  };
  const std::string served = shell_quoted(program_path().string()) + " serve";
  const Outcome plain = propose({}), by_process = propose({"--evaluator", served, "--evaluator-workers", "2"});
  ASSERT_EQ(by_process.exit_code, 0) << by_process.err;
  Json first = Json::parse(plain.out);
  const Json second = Json::parse(by_process.out);
  for (Json& proposal : first.at("proposals")) {
    EXPECT_EQ(proposal.at("simulated").at("technology"), "22nm-silicon");
    proposal["simulated"]["technology"] = nullptr;  // the model's, which was not asked
  }
  ASSERT_EQ(second.at("proposals").size(), 3U);
  EXPECT_EQ(second.at("proposals"), first.at("proposals"));
  expect_one_line_error(propose({"--evaluator", "cat", "--exact-front", "--pareto", "latency,energy"}), 2,
                        "--exact-front");
  expect_one_line_error(propose({"--evaluator-workers", "2"}), 2, "--evaluator?");
}

TEST_F(EvaluatorOption, OptionsThatMakeNoSenseAreRefused) {
  expect_one_line_error(hindsight(sweep("a.sqlite", "5", {"--evaluator-workers", "2"})), 2, "--evaluator?");
  expect_one_line_error(hindsight(sweep("a.sqlite", "5", {"--evaluator", "cat", "--evaluator-timeout", "-1"})), 2,
                        "--evaluator-timeout");
  expect_one_line_error(hindsight(sweep("a.sqlite", "5", {"--evaluator", "cat", "--evaluator-faults", "stpo"})), 2,
                        "stop");
  expect_one_line_error(hindsight(sweep("a.sqlite", "5", {"--evaluator", "cat", "--max", "area_mm2=0"})), 2,
                        "is not a limit of area_mm2");
  expect_one_line_error(
      hindsight(sweep("a.sqlite", "5", {"--evaluator", "cat", "--max", "latency_s=1", "--max", "latency_s=2"})), 2,
      "the limit of 'latency_s' is given twice");
  const std::vector<std::string> named{"--evaluator", "cat", "--evaluator-metrics", "latency_s,area_mm2"};
  auto unknown = named;
  unknown.insert(unknown.end(), {"--max", "latencies=1"});
  expect_one_line_error(hindsight(sweep("a.sqlite", "5", unknown)), 2, "latency_s");
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
}

/// A campaign does not ask before it draws, and so does not know what an evaluator gives.
TEST_F(EvaluatorOption, ACampaignSaysHowToNameALimitedMetric) {
  const std::vector<std::string> campaign{"campaign",       "--space",     "tiny",    "--workloads", "m6",
                                          "--rounds",       "1",           "--batch", "2",           "--log",
                                          file("a.sqlite"), "--evaluator", "cat",     "--max",       "my_die_mm2=20"};
  expect_one_line_error(hindsight(campaign), 2, "--evaluator-metrics latency_s,my_die_mm2");
  EXPECT_FALSE(std::filesystem::exists(file("a.sqlite")));
  std::vector<std::string> named = campaign;
  named.insert(named.end(), {"--evaluator-metrics", "latency_s,my_die_mm2"});
  EXPECT_THAT(hindsight(named).err, ::testing::Not(HasSubstr("--max"))) << "the remedy works: then 'cat' is asked";
}

/// Rows of another version teach a campaign nothing, and do not end it.
TEST_F(EvaluatorOption, ACampaignKnowsTheRowsOfItsOwnVersionAlone) {
  const auto campaign = [&](const std::string& version, const std::string& rounds, const std::string& batch) {
    return hindsight({"campaign", "--space", "tiny", "--workloads", "m6", "--rounds", rounds, "--batch", batch, "--log",
                      file("a.sqlite"), "--evaluator", serve(), "--evaluator-name", "mine", "--evaluator-version",
                      version, "--json", "--quiet"});
  };
  ASSERT_EQ(campaign("1", "1", "40").exit_code, 0);
  const Outcome newer = campaign("2", "2", "3");
  ASSERT_EQ(newer.exit_code, 0) << newer.err;
  const Json rounds = Json::parse(newer.out).at("rounds");
  EXPECT_EQ(rounds.at(0).at("chosen_by"), "drawing") << rounds;
  EXPECT_EQ(rounds.at(1).at("chosen_by"), "drawing") << "six rows are too few";
  const std::string shown = hindsight({"log", "show", file("a.sqlite")}).out;
  EXPECT_THAT(shown, HasSubstr("(version=2), 6 evaluations"));
  const std::size_t at = shown.rfind("evaluator: mine@");
  ASSERT_NE(at, std::string::npos) << shown;
  const std::string reference = shown.substr(at + 11, 13);  // mine@ and eight digits
  const Outcome stats = hindsight({"log", "stats", file("a.sqlite"), "--evaluator", reference, "--json"});
  ASSERT_EQ(stats.exit_code, 0) << stats.err;
  EXPECT_EQ(Json::parse(stats.out).at("workloads").at(0).at("evaluations"), 6);
}

/// Proposals are held against the rows of the version that is asked, however many others the log has.
TEST_F(EvaluatorOption, ProposalsSeeTheRowsOfTheVersionThatIsAsked) {
  const std::string served = shell_quoted(program_path().string()) + " serve";
  const auto evaluator = [&](const std::string& version) {
    return std::vector<std::string>{"--evaluator", served, "--evaluator-name", "mine", "--evaluator-version", version};
  };
  const auto run = [&](std::vector<std::string> arguments, const std::string& version) {
    const std::vector<std::string> more = evaluator(version);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  };
  for (const char* version : {"1", "2"}) {
    const Outcome swept = run({"sweep", "--workloads", "m6", "--samples", version == std::string("1") ? "40" : "20",
                               "--log", file("a.sqlite"), "--quiet"},
                              version);
    ASSERT_EQ(swept.exit_code, 0) << swept.err;
  }
  const auto propose = [&](const std::string& version) {
    return run({"propose", "--workload", "m6", "--max", "area_mm2=27", "--top", "2", "--json", "--evaluations", "2000",
                "--simulate", "--log", file("a.sqlite")},
               version);
  };
  const Outcome known = propose("2");
  ASSERT_EQ(known.exit_code, 0) << known.err;
  EXPECT_THAT(Json::parse(known.out).at("remarks").dump(), ::testing::Not(HasSubstr("other versions")));
  EXPECT_TRUE(Json::parse(known.out).at("proposals").at(0).at("predicted").at("nearest_logged_distance").is_number())
      << known.out;
  const Outcome unknown = propose("3");
  ASSERT_EQ(unknown.exit_code, 0) << unknown.err;
  EXPECT_THAT(Json::parse(unknown.out).at("remarks").dump(), HasSubstr("rows of 2 other versions of 'mine'"));
}

/// Limits of what only an answer knows leave no row out, as in a search and a campaign; the summary counts them.
TEST_F(EvaluatorOption, LimitsOfAnswersAreCountedAndLeaveNoRowOut) {
  ASSERT_EQ(hindsight(sweep("plain.sqlite", "40")).exit_code, 0);
  std::vector<double> latencies;
  const log::Log plain = log::Log::open(file("plain.sqlite"), log::OpenMode::read_only);
  log::for_each_evaluation(plain, {}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    if (record.feasible) latencies.push_back(record.standard[0]);
    return true;
  });
  ASSERT_GT(latencies.size(), 4U);
  std::sort(latencies.begin(), latencies.end());
  const double limit = latencies[latencies.size() / 2];
  const auto beyond = std::count_if(latencies.begin(), latencies.end(), [&](double one) { return one > limit; });
  const std::vector<std::string> more{"--evaluator", serve(), "--max", fmt::format("latency_s={}", limit)};
  const Outcome outcome = hindsight(sweep("limited.sqlite", "40", more));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(hindsight::sweep::test::rows(file("limited.sqlite")), hindsight::sweep::test::rows(file("plain.sqlite")));
  const auto counted = [](const std::string& text) {
    std::int64_t sum = 0;
    const Json json = Json::parse(text);
    for (const Json& one : json.at("workloads")) sum += one.at("beyond_limits").get<std::int64_t>();
    return sum;
  };
  EXPECT_EQ(counted(outcome.out), beyond);
  EXPECT_EQ(counted(hindsight(sweep("limited.sqlite", "40", more)).out), beyond) << "of the checkpoint";
  const Outcome text = hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "3", "--log",
                                  file("text.sqlite"), "--evaluator", serve(), "--max", "area_mm2=5"});
  EXPECT_THAT(text.out, HasSubstr("area_mm2 <= 5: "));
  EXPECT_THAT(text.out, HasSubstr("feasible evaluations are beyond"));
  expect_one_line_error(hindsight(sweep("a.sqlite", "40", {"--evaluator", serve(), "--max", "beauty_frac=1"})), 1,
                        "beauty_frac");
}

/// A search takes designs beyond them for infeasible.
TEST_F(EvaluatorOption, ATrajectoryKeepsToLimitsOfAnswers) {
  const auto best = [&](const std::string& log, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"sweep",     "--space", "tiny",    "--workloads", "m6",         "--samples",
                                       "60",        "--log",   file(log), "--sampler",   "trajectory", "--objective",
                                       "latency_s", "--json",  "--quiet", "--evaluator", serve()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = hindsight(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return Json::parse(outcome.out).at("found").at("metrics").at("m6");
  };
  const double area = 10;
  EXPECT_LE(best("within.sqlite", {"--max", "area_mm2=10"}).at("area_mm2").get<double>(), area);
  EXPECT_FALSE(best("free.sqlite", {}).contains("area_mm2"));
}

TEST_F(EvaluatorOption, DerivedQuantitiesAreLimitedBeforeAnybodyIsAsked) {
  const std::string tiny = read_file(hindsight::test::repository() / "configs/spaces/tiny.yaml");
  const std::string path = write("derived.yaml", tiny + "\nderived:\n  macs: pes_x * pes_y * compute_lanes\n");
  const auto arguments = [&](const std::string& log, const std::vector<std::string>& more) {
    std::vector<std::string> all{"sweep", "--space", path,      "--workloads", "m6",    "--samples",
                                 "20",    "--log",   file(log), "--quiet",     "--max", "macs=32"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::string counting =
      in_shell("tee -a " + file("asked") + " | " + shell_quoted(program_path().string()) + " serve --space " + path);
  ASSERT_EQ(hindsight(arguments("plain.sqlite", {})).exit_code, 0);
  const Outcome outcome = hindsight(arguments("served.sqlite", {"--evaluator", counting, "--max", "area_mm2=8"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(hindsight::sweep::test::rows(file("served.sqlite")), hindsight::sweep::test::rows(file("plain.sqlite")));
  EXPECT_EQ(lines_of("asked"), 20U) << "one question for each design within the limit";
}

/// No file of a sample is left.
bool has_sample(const std::filesystem::path& folder) {
  return std::ranges::any_of(std::filesystem::directory_iterator(folder), [](const auto& entry) {
    return entry.path().string().find(".sample") != std::string::npos;
  });
}

TEST_F(EvaluatorOption, KeepAsksOnceAndKeepsTheRowsOfTheBuiltInModel) {
  const std::filesystem::path folder = std::filesystem::path(file("asked")).parent_path();
  for (const std::string keep : {"worst:0.5", "random:0.25"}) {
    SCOPED_TRACE(keep);
    std::filesystem::remove(file("asked"));
    std::vector<std::string> kept{"--keep", keep};
    if (keep.starts_with("worst")) kept.insert(kept.end(), {"--objective", "latency_s"});
    ASSERT_EQ(hindsight(sweep(keep + "plain.sqlite", "60", kept)).exit_code, 0);
    kept.insert(kept.end(),
                {"--evaluator", in_shell("tee -a " + file("asked") + " | " + serve()), "--evaluator-name", "sim"});
    const auto arguments = sweep(keep + "served.sqlite", "60", kept);
    const Outcome outcome = hindsight(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(hindsight::sweep::test::rows(file(keep + "served.sqlite")),
              hindsight::sweep::test::rows(file(keep + "plain.sqlite")));
    EXPECT_GT(Json::parse(outcome.out).at("rows_left_out"), 0);
    EXPECT_EQ(Json::parse(hindsight(arguments).out).at("status"), "already finished");
    EXPECT_EQ(lines_of("asked"), 120U) << "60 designs on two workloads, each asked once";
    EXPECT_FALSE(has_sample(folder));
  }
  // Rows beyond a limit of answers stay, as infeasible ones do.
  const Outcome all = hindsight(
      sweep("all.sqlite", "60",
            {"--keep", "worst:0.5", "--objective", "latency_s", "--max", "latency_s=1e-9", "--evaluator", serve()}));
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(Json::parse(all.out).at("rows_left_out"), 0);
}

TEST_F(EvaluatorOption, AKilledSampleOfKeepContinues) {
  const std::string slowly = "while IFS= read -r line; do sleep 0.02; printf '%s\\n' \"$line\"; done";
  const std::string counting = in_shell("tee -a " + file("asked") + " | (" + slowly + ") | " + serve());
  const std::vector<std::string> kept{"--keep", "worst:0.5", "--objective", "latency_s"};
  auto more = kept;
  more.insert(more.end(), {"--evaluator", counting, "--evaluator-name", "counted"});
  const auto arguments = sweep("parts.sqlite", "60", more);
  {
    Process process(arguments);
    wait_until([&] { return lines_of("asked") > 30; });
    process.send(SIGKILL);
    (void)process.wait();
  }
  EXPECT_FALSE(std::filesystem::exists(file("parts.sqlite"))) << "nothing of a part of the sample";
  {
    Process process(arguments);
    wait_until([&] { return lines_of("asked") > 70; });
    process.send(SIGINT);
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.exit_code, kInterruptedExitCode);
    EXPECT_THAT(outcome.err, HasSubstr(".sample"));
  }
  const Outcome rest = hindsight(arguments);
  ASSERT_EQ(rest.exit_code, 0) << rest.err;
  ASSERT_EQ(hindsight(sweep("whole.sqlite", "60", kept)).exit_code, 0);
  EXPECT_EQ(hindsight::sweep::test::rows(file("parts.sqlite")), hindsight::sweep::test::rows(file("whole.sqlite")));
  constexpr std::size_t kInWork = 2 * 2 * (1 + 4 + 4);  // of a kill and of an interrupt
  EXPECT_LE(lines_of("asked"), 120 + kInWork);
  EXPECT_FALSE(has_sample(std::filesystem::path(file("asked")).parent_path()));
}

TEST_F(EvaluatorOption, QuestionsThatAreNoneAreRefusedByTheServer) {
  const std::string question = write("question", "{\"id\":1}\n");
  const auto asked = [&](const std::string& text) {
    write("question", text);
    return hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "1", "--log", file("b.sqlite"),
                      "--evaluator", in_shell(serve() + " < " + question), "--evaluator-retries", "0"});
  };
  EXPECT_THAT(asked("{\"id\":1}\n").err, HasSubstr("standard input:1: a question has no field 'design'"));
  EXPECT_THAT(asked("hello\n").err, HasSubstr("standard input:1: 'hello' is no JSON"));
}

}  // namespace
}  // namespace hindsight::app::test

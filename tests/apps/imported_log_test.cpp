/// Does a table of somebody else's go all the way to proposals under the names and with the objective it came with?
#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"

namespace hindsight::app::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// 48 designs, 8 of them failed; the cost falls with the width.
std::string tuning_table() {
  std::string csv = "Width,mode,cost_ms,util_BRAM,failed\n";
  for (int width = 1; width <= 24; ++width) {
    for (const char* mode : {"fast", "small"}) {
      const double cost = 100.0 / width + (mode[0] == 'f' ? 1 : 2);
      const bool failed = width > 20;
      csv += std::to_string(width) + "," + mode + "," + (failed ? "" : std::to_string(cost)) + "," +
             std::to_string(width * 10) + "," + (failed ? "1" : "0") + "\n";
    }
  }
  return csv;
}

/// Two thirds of 64 designs, some of them failed.
std::string table_with_holes() {
  std::string csv = "a,b,cost_ms\n";
  for (int a = 1; a <= 8; ++a) {
    for (int b = 1; b <= 8; ++b) {
      if (a + b < 15 && (a + b) % 3 != 0) {
        csv += std::to_string(a) + "," + std::to_string(b) + "," + (a * b > 40 ? "fail" : std::to_string(90 - a * b)) +
               "\n";
      }
    }
  }
  return csv;
}

class ImportedLog : public AppTest {
 protected:
  [[nodiscard]] std::string log() const { return file("tuning.sqlite"); }
  [[nodiscard]] std::string model() const { return file("tuning.safetensors"); }
  [[nodiscard]] Outcome import(const std::string& csv, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"log", "import", "--csv", csv, "--log", log(), "--objective", "cost_ms"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
  [[nodiscard]] Outcome train(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"train",      "--log", log(),      "--out", model(),
                                       "--ensemble", "1",     "--method", "prime"};
    for (const char* setting : {"steps=40", "final_steps=5", "evaluate_interval=20", "mining_generations=1"}) {
      arguments.insert(arguments.end(), {"--set", setting});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
  [[nodiscard]] Outcome propose(std::vector<std::string> more) const {
    std::vector<std::string> arguments{"propose", "--model", model(), "--workload",  "tuning", "--evaluations",
                                       "2000",    "--top",   "3",     "--diversity", "1",      "--log",
                                       log()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hindsight(arguments);
  }
  static bool can_train() { return hindsight({"doctor", "--json"}).out.find("libtorch") != std::string::npos; }
};

TEST_F(ImportedLog, ContradictoryRowsAreRefusedUnlessOneIsChosen) {
  const std::string table = write("twice.csv", "a,cost_ms\n1,\n1,5\n2,3\n1,4\n2,3\n");
  expect_one_line_error(import(table), 2, "twice.csv:3: contradicts line 2");
  EXPECT_FALSE(std::filesystem::exists(log())) << "nothing half-written";
  const Outcome refused = import(table);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("the first of 2 such rows"),
                                 HasSubstr("--duplicates first, last or best, or every measurement with keep")));
  const auto stored = [&](const std::string& policy) {
    std::filesystem::remove(log());
    const Outcome outcome = import(table, {"--duplicates", policy});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("2 rows refused for another outcome of the same design"));
    const Json stats = Json::parse(hindsight({"log", "stats", log(), "--json"}).out).at("workloads").at(0);
    EXPECT_EQ(stats.at("evaluations"), 2);
    EXPECT_THAT(outcome.out, HasSubstr(stats.at("feasible") == 1 ? "1 feasible design" : "2 feasible designs"));
    return stats.at("best").size() == 2 ? stats.at("best").at(1).at("cost_ms").get<double>() : 0.0;
  };
  EXPECT_EQ(stored("first"), 0) << "design 1 was infeasible first";
  EXPECT_EQ(stored("last"), 4);
  EXPECT_EQ(stored("best"), 4);
  std::filesystem::remove(log());
  const Outcome kept = import(table, {"--duplicates", "keep"});
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_THAT(kept.out, HasSubstr("2 feasible designs")) << "of four feasible measurements";
  EXPECT_THAT(hindsight({"log", "show", log()}).out, HasSubstr("5 evaluations, 3 of them repeats"));
  EXPECT_THAT(hindsight({"log", "stats", log()}).out, ::testing::ContainsRegex("cost_ms  repeat.*  1\n.*  2\n"));
  expect_one_line_error(import(table, {"--duplicates", "frist"}), 2, "Did you mean 'first'?");
}

TEST_F(ImportedLog, AsksAboutObjectivesOfExactlyZero) {
  const std::string table = write("zeros.csv", "a,ran,cost_ms\n1,1,5\n2,0,0\n3,1,4\n4,0,0\n");
  const Outcome outcome = import(table);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("2 of 4 rows have a cost_ms of exactly 0"));
  EXPECT_THAT(outcome.err, HasSubstr("--infeasible ran=0"));
  std::filesystem::remove(log());
  const Outcome marked = import(table, {"--infeasible", "ran=0", "--json"});
  EXPECT_EQ(marked.err, "");
  EXPECT_EQ(Json::parse(marked.out).at("feasible"), 2);
}

TEST_F(ImportedLog, EveryApplicationIsShownByItsOwnObjective) {
  ASSERT_EQ(import(write("tuning.csv", tuning_table()), {"--infeasible", "failed"}).exit_code, 0);
  const std::string other = write("fpga.csv", "unroll,cycles\n1,90\n2,40\n4,70\n");
  ASSERT_EQ(hindsight({"log", "import", "--csv", other, "--log", log(), "--objective", "cycles"}).exit_code, 0);
  ASSERT_EQ(hindsight({"sweep", "--space", "tiny", "--workloads", "m6", "--samples", "100", "--quiet", "--log", log()})
                .exit_code,
            0);
  for (const char* verb : {"show", "stats"}) {
    const std::string text = hindsight({"log", verb, log()}).out;
    EXPECT_THAT(text, AllOf(HasSubstr("tuning: best by cost_ms"), HasSubstr("fpga: best by cycles"),
                            HasSubstr("m6: best by latency_s")));
    EXPECT_THAT(text, Not(HasSubstr("no feasible design")));
  }
  const Json stats = Json::parse(hindsight({"log", "stats", log(), "--json"}).out);
  for (const Json& workload : stats.at("workloads")) {
    EXPECT_FALSE(workload.at("best").empty()) << workload.at("workload");
  }
  EXPECT_THAT(hindsight({"log", "stats", log(), "--metric", "cycles"}).out, HasSubstr("tuning: best by cycles"));
}

/// Lists are separated by commas, and an application's name may have some.
TEST_F(ImportedLog, AnApplicationWithACommaIsNamedInLists) {
  const std::string table = write("tuning.csv", tuning_table());
  for (const char* name : {"a,b", "c"}) {
    const Outcome imported = import(table, {"--infeasible", "failed", "--workload", name});
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
  }
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  expect_one_line_error(train({"--workloads", "a,bb"}), 2, "Did you mean 'a,b'?");
  for (const char* list : {"a,b", "c,a,b"}) {
    const Outcome trained = train({"--workloads", list});
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
  }
  const Outcome scored = hindsight({"model", "score", model(), "--log", log(), "--workloads", "a,b"});
  EXPECT_EQ(scored.exit_code, 0) << scored.err;
  const Outcome proposed =
      hindsight({"propose", "--model", model(), "--workload", "a,b,c", "--evaluations", "2000", "--json"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  EXPECT_EQ(Json::parse(proposed.out).at("proposals").at(0).at("predicted").at("workloads").size(), 2U);
  expect_one_line_error(hindsight({"propose", "--model", model(), "--workload", "c,"}), 2, "Remove the extra comma?");
}

/// Columns and their roles are what an evaluator of tables is: a second table of the same is one with the first.
TEST_F(ImportedLog, EvaluatorsOfTwoTablesAreToldApartByTheirFiles) {
  const std::string table = write("tuning.csv", tuning_table()), again = write("again.csv", tuning_table());
  ASSERT_EQ(import(table, {"--infeasible", "failed"}).exit_code, 0);
  EXPECT_THAT(hindsight({"log", "show", log()}).out, Not(HasSubstr(", from "))) << "one evaluator needs no file";
  const std::string other = write("fpga.csv", "unroll,cycles\n1,90\n2,40\n4,70\n");
  ASSERT_EQ(hindsight({"log", "import", "--csv", other, "--log", log(), "--objective", "cycles"}).exit_code, 0);
  ASSERT_EQ(import(table, {"--infeasible", "failed"}).exit_code, 0);
  EXPECT_THAT(hindsight({"log", "show", log()}).out,
              AllOf(HasSubstr(" evaluations, from tuning.csv\n"), HasSubstr("3 evaluations, from fpga.csv\n")));
  ASSERT_EQ(import(again, {"--infeasible", "failed"}).exit_code, 0);
  EXPECT_THAT(hindsight({"log", "show", log()}).out, HasSubstr(" evaluations, from tuning.csv, again.csv\n"));
}

/// What a table was imported for goes before latency_s, and what rows beside it were for is said.
TEST_F(ImportedLog, TheObjectiveOfAnImportIsNotOverruledByAColumnOfLatencies) {
  const auto named = [&](const std::string& table, const std::string& objective, const std::string& other) {
    const Outcome imported = hindsight(
        {"log", "import", table, "--log", log(), "--workload", "app", "--objective", objective, "--constraint", other});
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
  };
  named(write("a.csv", "a,b,energy,latency_s\n1,1,5,1\n2,1,3,2\n1,2,4,3\n"), "energy", "latency_s");
  EXPECT_THAT(hindsight({"log", "show", log()}).out,
              AllOf(HasSubstr("app: best by energy, smallest first\n"), Not(HasSubstr("runs that wrote its rows"))));
  EXPECT_THAT(hindsight({"report", "--log", log(), "--format", "md"}).out, HasSubstr("is the best, with energy of 3"));
  named(write("b.csv", "a,b,energy,latency_s\n3,5,6,1.5\n4,5,2,2.5\n3,6,7,3.5\n"), "latency_s", "energy");
  EXPECT_THAT(hindsight({"log", "show", log()}).out,
              HasSubstr("app: best by latency_s\n      runs that wrote its rows were for energy, too (--metric)\n"));
  const Json stats = Json::parse(hindsight({"log", "stats", log(), "--json"}).out).at("workloads").at(0);
  EXPECT_EQ(stats.at("best_by"), "latency_s");
  EXPECT_EQ(stats.at("other_objectives"), Json{"energy"});
  EXPECT_THAT(hindsight({"log", "show", log(), "--metric", "energy"}).out, Not(HasSubstr("were for")));
  const Outcome asked = hindsight({"ask", "-n", "1", "--log", log(), "--space", "b", "--evaluator", "mine"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr("objective: latency_s; runs of the log were for energy, too: --objective energy"));
}

/// The model learns a label whose direction another log knows.
TEST_F(ImportedLog, AFrontOfALabelOfWhichMoreIsBetterIsRefused) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  std::string csv = "a,b,cost_ms,score\n";
  for (int a = 1; a <= 8; ++a) {
    for (int b = 1; b <= 8; ++b) {
      csv += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(90 - a * b) + "," +
             std::to_string(100 - a * b + a) + "\n";
    }
  }
  const std::string table = write("tuning.csv", csv), other = file("other.sqlite");
  ASSERT_EQ(import(table, {"--constraint", "score"}).exit_code, 0);
  ASSERT_EQ(train({"--constraint", "score"}).exit_code, 0);
  const auto front = [&](const std::string& of) {
    return hindsight({"propose", "--model", model(), "--workload", "tuning", "--log", of, "--pareto", "cost_ms,score"});
  };
  EXPECT_THAT(front(log()).out, HasSubstr("front of cost_ms, score (less is better)"));
  ASSERT_EQ(hindsight({"log", "import", table, "--log", other, "--objective", "score", "--maximise", "--constraint",
                       "cost_ms"})
                .exit_code,
            0);
  const std::string remedy = "train --objective score --maximise --constraint NAME";
  expect_one_line_error(front(other), 2, remedy);
  const Outcome from_other =
      hindsight({"train", "--log", other, "--out", model(), "--ensemble", "1", "--method", "margins", "--set",
                 "steps=40", "--objective", "cost_ms", "--constraint", "score"});
  ASSERT_EQ(from_other.exit_code, 0) << from_other.err;
  EXPECT_THAT(from_other.err, HasSubstr("--constraint score: more of it is better"));
  expect_one_line_error(front(log()), 2, remedy);
  const Outcome as_advised =
      hindsight({"train", "--log", other, "--out", model(), "--ensemble", "1", "--method", "margins", "--set",
                 "steps=40", "--objective", "score", "--maximise", "--constraint", "cost_ms"});
  ASSERT_EQ(as_advised.exit_code, 0) << as_advised.err;
  const Outcome proposed = front(other);
  EXPECT_EQ(proposed.exit_code, 0) << proposed.err;
  EXPECT_THAT(proposed.out, HasSubstr("front of cost_ms, score (more is better)"));
}

TEST_F(ImportedLog, CountsAddUpToTheRows) {
  const std::string table = write("counts.csv", "a,cost_ms\n1,5\n1,5\n2,3\n2,9\n,1\n3,oom\n");
  const Json counts = Json::parse(import(table, {"--duplicates", "first", "--json"}).out);
  EXPECT_EQ(counts.at("rows"), 6);
  EXPECT_EQ(counts.at("inserted"), 3);
  EXPECT_EQ(counts.at("repeated"), 1);
  EXPECT_EQ(counts.at("rejected_count"), 2);
  EXPECT_EQ(counts.at("contradictions"), 1);
  EXPECT_EQ(counts.at("feasible"), 2);
}

TEST_F(ImportedLog, ShowsTheBestByItsOwnObjective) {
  ASSERT_EQ(import(write("tuning.csv", tuning_table()), {"--infeasible", "failed", "--ignore", "util_BRAM"}).exit_code,
            0);
  EXPECT_THAT(hindsight({"log", "show", log()}).out,
              AllOf(HasSubstr("best by cost_ms"), Not(HasSubstr("no feasible design"))));
  EXPECT_THAT(hindsight({"log", "stats", log()}).out, HasSubstr("best by cost_ms"));
  EXPECT_THAT(hindsight({"log", "stats", log()}).out, HasSubstr("best by cost_ms, smallest first"));
  EXPECT_THAT(hindsight({"log", "stats", log(), "--metric", "latency_s"}).out,
              AllOf(HasSubstr("best by latency_s\n"), HasSubstr("no feasible row has latency_s. Others (--metric): "),
                    HasSubstr("cost_ms")));
}

/// A front is of rows that have all its metrics: what keeps others from it is said, and so is that none has one.
TEST_F(ImportedLog, FrontsSayWhatTheyLeaveOut) {
  const std::string table = write("part.csv", "a,cost_ms,energy_mj\n1,5,2\n2,3,\n3,9,1\n");
  ASSERT_EQ(import(table, {"--constraint", "energy_mj"}).exit_code, 0);
  const auto stats = [&](const std::string& pareto) {
    const Outcome shown = hindsight({"log", "stats", log(), "--pareto", pareto});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    return shown.out;
  };
  const std::string none = stats("latency_s,energy_mj");
  EXPECT_THAT(none, HasSubstr("no feasible row has latency_s. Others (--pareto): cost_ms, energy_mj."));
  EXPECT_THAT(hindsight({"log", "stats", log(), "--metric", "energy"}).out,
              HasSubstr("no feasible row has energy_j. Others (--metric): cost_ms, energy_mj. Did you mean"));
  EXPECT_THAT(stats("cost_ms,energy_mj"),
              HasSubstr("of 3 feasible rows, some lack a metric and stand on no front: energy_mj in 1\n"));
  EXPECT_THAT(hindsight({"log", "show", log(), "--plot", "--metric", "energy_mj"}).out,
              HasSubstr("2 feasible rows, 1 more lack energy_mj"));
}

TEST_F(ImportedLog, InferWithoutAnObjectiveNamesWhatLooksLikeResults) {
  const Outcome inferred = hindsight({"space", "infer", write("tuning.csv", tuning_table())});
  ASSERT_EQ(inferred.exit_code, 0) << inferred.err;
  EXPECT_THAT(inferred.out, AllOf(HasSubstr("width"), HasSubstr("mode"), HasSubstr("cost_ms")));
  EXPECT_THAT(inferred.err, AllOf(HasSubstr("look like results: cost_ms, util_BRAM, failed"), HasSubstr("--objective"),
                                  HasSubstr("--infeasible COLUMN or COLUMN=VALUE, --reason COLUMN")));
  EXPECT_THAT(hindsight({"space", "infer", write("units.csv", "a,Energy (mJ)\n1,2\n2,3\n")}).err,
              HasSubstr("--constraint or --ignore 'Energy (mJ)'"));
  std::string csv = "id,a,t\n";
  for (int row = 0; row < 120; ++row) csv += std::to_string(row) + "," + std::to_string(row % 4) + ",1\n";
  const std::string yaml = file("inferred.yaml");
  const Outcome json = hindsight({"space", "infer", write("tuning.csv", tuning_table()), "--out", yaml, "--json"});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_EQ(Json::parse(json.out).at("definition_hash"),
            Json::parse(hindsight({"space", "show", yaml, "--json"}).out).at("definition_hash"));
  EXPECT_EQ(hindsight({"space", "infer", file("tuning.csv"), "--json"}).out, json.out);
  const Outcome identified = hindsight({"space", "infer", write("ids.csv", csv)});
  EXPECT_EQ(identified.exit_code, 0) << identified.err;
  EXPECT_THAT(identified.err, HasSubstr("left out, as they hardly repeat a value (results or identifiers, not "
                                        "parameters): id"));
  EXPECT_THAT(identified.out, Not(HasSubstr("name: id\n")));
}

TEST_F(ImportedLog, OddCellsOfANumericColumnDoNotMakeItCategorical) {
  const std::string table = write("odd.csv", "tile,cost_ms\n1,1\n2,2\nnan,3\n0x10,4\n1e3,5\n");
  const Outcome imported = import(table);
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.err, HasSubstr("odd.csv:4:1: column 'tile': 'nan' is not a number"));
  EXPECT_THAT(imported.out, AllOf(HasSubstr("odd.csv:4:1: tile is 'nan'"), HasSubstr("odd.csv:5:1: tile is '0x10'"),
                                  HasSubstr("3 written")));
  const Outcome mixed = hindsight({"space", "infer", write("mixed.csv", "tile,t\n1,1\n2,2\noff,3\n")});
  EXPECT_THAT(mixed.err, HasSubstr("mixed.csv:4:1: column 'tile': 'off' stands beside numbers"));
}

TEST_F(ImportedLog, NamesAndObjectiveOfTheTableServeToTheEnd) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  const Outcome imported =
      import(write("tuning.csv", tuning_table()), {"--infeasible", "failed", "--constraint", "util_BRAM"});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("util_BRAM is util_bram, Width is width"));
  const Outcome trained = train({"--constraint", "util_BRAM"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, AllOf(HasSubstr("objective: cost_ms"), HasSubstr("only 8 feasible rows held out")));
  EXPECT_THAT(trained.out, AllOf(HasSubstr("1 member,"), Not(HasSubstr("nan"))));
  EXPECT_THAT(trained.err, AllOf(HasSubstr("tau "), ContainsRegex(" feas [0-9]+[.][0-9]"))) << "every loss term";
  EXPECT_THAT(trained.err, Not(HasSubstr("…")));

  const Outcome proposed = propose({"--max", "util_BRAM=200"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  EXPECT_THAT(proposed.out,
              AllOf(HasSubstr("util_bram <= 200"), HasSubstr("logged"), HasSubstr("--new"), Not(HasSubstr("x/1"))));
  expect_one_line_error(propose({"--new"}), 3, "no new design is left");
  expect_one_line_error(propose({"--max", "width=0"}), 3, "--max width=0 (nearest: 1): leaves no value of width");
  expect_one_line_error(propose({"--max", "util_bram=200", "--max", "util_BRAM=150"}), 2,
                        "--max: the limit of 'util_bram' is given twice");
  const Json tighter = Json::parse(propose({"--max", "util_BRAM=150", "--json"}).out);
  EXPECT_EQ(tighter.at("limits").size(), 1U);
  EXPECT_EQ(tighter.at("limits").at("util_bram").at("limit"), 150);
  EXPECT_THAT(propose({"--csv", "-"}).out, HasSubstr(",cost_ms,util_bram,reason\n")) << "as the log's rows have it";
  const Json& best = tighter.at("proposals").at(0);
  EXPECT_EQ(best.at("predicted").at("logged"), true);
  EXPECT_EQ(best.at("predicted").at("logged_feasible"), true);
  const std::string design = best.at("design");
  const double width = std::stod(design.substr(design.find("width=") + 6));
  const double true_cost_ms = 100 / width + (design.find("mode=fast") != std::string::npos ? 1 : 2);
  constexpr double kSixDecimals = 1e-6;  // as tuning_table() writes its costs
  EXPECT_NEAR(best.at("predicted").at("logged_value").get<double>(), true_cost_ms, kSixDecimals) << design;
  expect_one_line_error(propose({"--weights", "1", "--aggregate", "worst"}), 2, "--weights");
  const Outcome resumed = train({"--resume", "--quiet"});
  EXPECT_EQ(resumed.exit_code, 0);
  EXPECT_THAT(resumed.err, HasSubstr("--resume: there is no"));
}

TEST_F(ImportedLog, NewProposalsAreNotInTheLog) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  ASSERT_EQ(import(write("tuning.csv", table_with_holes())).exit_code, 0);
  const Outcome trained = train();
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string few = "p feasible rests on 36 feasible and 5 infeasible rows";
  EXPECT_THAT(trained.err, HasSubstr(few));
  const Outcome proposed = propose({"--new", "--json", "--min-feasible", "0"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  const Json answer = Json::parse(proposed.out);
  EXPECT_THAT(answer.at("remarks").dump(), HasSubstr(few));
  for (const Json& proposal : answer.at("proposals")) {
    EXPECT_EQ(proposal.at("predicted").at("logged"), false) << proposal;
    EXPECT_GT(proposal.at("predicted").at("nearest_logged_distance"), 0) << proposal;
  }
}

TEST_F(ImportedLog, DesignsThatWereOnlyAskedForAreNotCounted) {
  ASSERT_EQ(import(write("few.csv", "a,b,cost_ms\n1,1,5\n2,1,6\n1,2,7\n3,3,2\n4,4,1\n")).exit_code, 0);
  const Outcome asked = hindsight({"ask", "-n", "3", "--log", log()});
  ASSERT_EQ(asked.exit_code, 0) << asked.err;
  const Outcome shown = hindsight({"report", "--log", log(), "--format", "md"});
  EXPECT_THAT(shown.out, HasSubstr("Counted over all 5 designs of the space few"));
  EXPECT_THAT(shown.out, HasSubstr("5 rows, 5 designs"));
}

/// Each remedy is followed as it is printed.
TEST_F(ImportedLog, RemediesOfATableLeadOn) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  ASSERT_EQ(import(write("tuning.csv", table_with_holes())).exit_code, 0);
  ASSERT_EQ(train({"--quiet"}).exit_code, 0);
  const std::string remedy = "add --csv next.csv, write what your simulator says";
  expect_one_line_error(propose({"--simulate"}), 4, remedy);
  expect_one_line_error(propose({"--simulate", "--evaluator", "true"}), 4, remedy);
  const Outcome proposed = propose({"--new", "--json", "--min-feasible", "0"});
  ASSERT_EQ(proposed.exit_code, 0) << proposed.err;
  EXPECT_THAT(proposed.out, Not(HasSubstr("newer than the model")));
  const std::string doubts =
      Json::parse(hindsight({"report", "--log", log(), "--format", "json"}).out).at("answer").at("doubts").dump();
  EXPECT_THAT(doubts, Not(HasSubstr("--simulate")));
  EXPECT_THAT(doubts, HasSubstr("'hindsight tell FILE --log " + log() + "'"));
  const std::string header = "'design,cost_ms' and, below, '";
  const std::size_t at = doubts.find(header);
  ASSERT_NE(at, std::string::npos) << doubts;
  const std::string id = doubts.substr(at + header.size(), 8);
  const std::string answer = write("answer.csv", "design,cost_ms\n" + id + ",4.5\n");
  const Outcome told = hindsight({"tell", answer, "--log", log()});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(propose({"--new", "--json", "--min-feasible", "0"}).out,
              HasSubstr("the log has 1 row newer than the model. Train again"));
}

TEST_F(ImportedLog, WhatTheLogMaximisesIsLearntSo) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  ASSERT_EQ(import(write("tuning.csv", table_with_holes()), {"--maximise"}).exit_code, 0);
  const Outcome trained = train();
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("objective: cost_ms, that of the log; large values are good"));
  EXPECT_THAT(propose({}).out, ContainsRegex("largest.cost_ms"));
  EXPECT_THAT(hindsight({"log", "stats", log()}).out, HasSubstr("best by cost_ms, largest first"));
  const Outcome named = train({"--objective", "cost_ms", "--dry-run"});
  EXPECT_EQ(named.exit_code, 0) << named.err;
  EXPECT_THAT(named.err, HasSubstr("small values are learnt as good, though the log says large ones: --maximise"));
}

TEST_F(ImportedLog, WorkloadsThatWereHeldOutAreNotSaidToTrain) {
  if (!can_train()) GTEST_SKIP() << "built without LibTorch";
  std::string csv = "size,a,b,cost_ms\n";
  for (const char* size : {"1", "2", "3"}) {
    for (int a = 1; a <= 6; ++a) {
      for (int b = 1; b <= 6; ++b) {
        csv += std::string(size) + "," + std::to_string(a) + "," + std::to_string(b) + "," +
               (a * b > 25 ? "fail" : std::to_string(50.0 / a + b)) + "\n";
      }
    }
  }
  ASSERT_EQ(import(write("tuning.csv", csv), {"--context", "size"}).exit_code, 0);
  const Outcome trained = train({"--hold-out", "size=3"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_THAT(trained.out, AllOf(HasSubstr("on 72 rows ("), HasSubstr("held out"), HasSubstr("on 36 rows held out")));
}

}  // namespace
}  // namespace hindsight::app::test

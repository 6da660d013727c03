/// Do rows that leave a log come back as they were, and do measured proposals come back to where they belong?
#include <SQLiteCpp/SQLiteCpp.h>

#include <nlohmann/json.hpp>

#include "apps/app_fixture.h"
#include "hindsight/core/text.h"

namespace hindsight::app::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

class RoundTrip : public AppTest {
 protected:
  [[nodiscard]] static std::string content(const std::string& log) {
    return hindsight({"log", "hash", log}).out.substr(0, 64);
  }
  [[nodiscard]] static std::string value(const std::string& log, const std::string& sql) {
    return SQLite::Database(log).execAndGet(sql).getString();
  }
  void run(const std::vector<std::string>& arguments) const {
    const Outcome outcome = hindsight(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  }
  /// Rows of the built-in model, infeasible ones with several reasons among them.
  [[nodiscard]] std::string swept() const {
    run({"sweep", "--space", "tiny", "--workloads", "m4,unet", "--samples", "120", "--quiet", "--log", file("a.db")});
    return file("a.db");
  }
  /// Rows of a table with context columns, and measurements that were repeated.
  [[nodiscard]] std::string tabled() const {
    const std::string table = write("t.csv", "k,a,ms,lut\n64,1,2,3\n64,1,2.5,3\n64,2,oom,4\n128,1,4,5\n128,2,3,6\n");
    run({"log", "import", table, "--objective", "ms", "--context", "k", "--constraint", "lut", "--duplicates", "keep",
         "--log", file("t.db")});
    return file("t.db");
  }
  /// Everything that an export holds: rows by design, application and repeat, with metrics and reasons.
  [[nodiscard]] static std::string rows(const std::string& log) {
    return value(
        log,
        "SELECT group_concat(line, char(10)) FROM (SELECT d.text_id || '|' || w.name || '|' || e.repeat || '|' || "
        "e.feasible || '|' || coalesce(e.latency_s, '-') || '|' || coalesce(e.area_mm2, '-') || '|' || coalesce(("
        "SELECT group_concat(name || '=' || value) FROM (SELECT * FROM evaluation_metrics m WHERE m.evaluation_id "
        "= e.evaluation_id ORDER BY name)), '') || '|' || coalesce((SELECT group_concat(line) FROM (SELECT code || "
        "quantity || coalesce(value, '-') || coalesce(limit_value, '-') || coalesce(layer, '') AS line FROM "
        "evaluation_violations v WHERE v.evaluation_id = e.evaluation_id ORDER BY 1)), '') AS line FROM "
        "evaluations e JOIN designs d USING (design_id) JOIN workloads w USING (workload_id) ORDER BY 1)");
  }
};

TEST_F(RoundTrip, AnOptunaStudyIsTheWholeLog) {
  for (const auto& [log, metric] : {std::pair(swept(), "latency_s"), std::pair(tabled(), "ms")}) {
    const std::string study = log + ".study", back = log + ".back";
    run({"log", "export", log, "--format", "optuna", "--out", study});
    const Outcome imported = hindsight({"log", "import", study, "--log", back});
    ASSERT_EQ(imported.exit_code, 0) << imported.err;
    EXPECT_THAT(imported.out, HasSubstr("Optuna study of ours"));
    EXPECT_EQ(rows(back), rows(log));
    EXPECT_EQ(content(back), content(log)) << "definitions of workloads, evaluator and space came with the rows";
    EXPECT_THAT(value(back, "SELECT options_json FROM runs ORDER BY run_id DESC LIMIT 1"),
                HasSubstr("\"metric\":\"" + std::string(metric) + "\""));
    run({"log", "import", study, "--log", log});
    EXPECT_EQ(content(log), content(back)) << "they are there already";
  }
}

TEST_F(RoundTrip, TrialsThatSomebodyAddedAreNotThoseOfTheLog) {
  const std::string log = tabled(), study = file("s.db");
  run({"log", "export", log, "--workload", "k=64", "--format", "optuna", "--out", study});
  SQLite::Database(study, SQLite::OPEN_READWRITE)
      .exec(
          "INSERT INTO trials VALUES (90, 9, 1, 'COMPLETE', NULL, NULL); INSERT INTO trial_values VALUES (NULL, 90, 0, "
          "7, "
          "'FINITE'); INSERT INTO trial_params SELECT NULL, 90, param_name, 1, distribution_json FROM trial_params "
          "LIMIT "
          "1");
  const Outcome left = hindsight({"log", "import", study, "--log", file("n.db")});
  ASSERT_EQ(left.exit_code, 0) << left.err;
  EXPECT_THAT(left.out, AllOf(HasSubstr("3 written"), HasSubstr("1 made after the export")));
  const Outcome taken = hindsight({"log", "import", study, "--log", file("m.db"), "--evaluator", "me", "--duplicates",
                                   "best", "--objective", "ms"});
  ASSERT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_THAT(taken.out, HasSubstr("evaluator me"));
}

TEST_F(RoundTrip, RowsComeBackFromCsvAndJsonLines) {
  for (const std::string& log : {swept(), tabled()}) {
    const std::string hash = content(log);
    for (const char* format : {"csv", "jsonl"}) {
      const std::string out = log + "." + format, back = log + "." + format + ".db";
      run({"log", "export", log, "--out", out});
      const bool table = log == file("t.db");
      std::vector<std::string> import{"log", "import", out, "--log", back, "--objective", table ? "ms" : "latency_s"};
      if (!table) import.insert(import.end(), {"--space", "tiny"});
      run(import);
      EXPECT_EQ(rows(back), rows(log)) << format;
      // What such a file does not hold: how the evaluator is defined.
      EXPECT_EQ(value(back, "SELECT group_concat(definition_hash) FROM spaces"),
                value(log, "SELECT group_concat(definition_hash) FROM spaces"));
      const std::string workloads = "SELECT group_concat(definition_hash) FROM (SELECT * FROM workloads ORDER BY name)";
      EXPECT_EQ(value(back, workloads), value(log, workloads));
      EXPECT_EQ(value(back, "SELECT name FROM evaluators"), value(log, "SELECT name FROM evaluators"));
      EXPECT_NE(content(back), hash);
      // Into the log that they came from nothing is added.
      import[4] = log;
      run(import);
      EXPECT_EQ(content(log), hash) << format;
    }
  }
}

TEST_F(RoundTrip, AnExportOfSeveralEvaluatorsIsNotOneImport) {
  const std::string log = swept();
  SQLite::Database(log, SQLite::OPEN_READWRITE)
      .exec(
          "INSERT INTO evaluators (name, definition_hash, definition) VALUES ('other', 'h', 'd');"
          "UPDATE evaluations SET evaluator_id = 2 WHERE evaluation_id > 200");
  run({"log", "export", log, "--space", "tiny", "--out", file("e.csv")});
  expect_one_line_error(hindsight({"log", "import", file("e.csv"), "--log", file("m.db")}), 2, "--evaluator");
  EXPECT_FALSE(std::filesystem::exists(file("m.db")));
}

/// What `propose --csv` writes for the table of `tabled()`, with true values filled in.
constexpr const char* kNext =
    "rank,workload,a,predicted,score,cautious,spread,p_feasible,nearest_logged_distance,logged,logged_feasible,"
    "logged_value,predicted_lut,ms,reason,lut\n";

TEST_F(RoundTrip, MeasuredProposalsComeBackToTheirApplication) {
  const std::string log = tabled(), before = value(log, "SELECT count(*) FROM evaluations");
  SQLite::Database(log, SQLite::OPEN_READWRITE)
      .exec(
          "DELETE FROM evaluation_metrics WHERE evaluation_id IN (SELECT evaluation_id FROM evaluations WHERE "
          "workload_id = 2); DELETE FROM evaluations WHERE workload_id = 2");
  const std::string next = write("next.csv", std::string(kNext) +
                                                 "1,k=128,1,4,0,4,0.1,0.9,1,0,,,5,4.5,,7\n"
                                                 "2,k=128,2,4,0,4,0.1,0.9,1,0,,,5,,,\n");
  const Outcome imported = hindsight({"log", "import", next, "--log", log});
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.out, AllOf(HasSubstr("1 without a value yet"), HasSubstr("k=128"), HasSubstr("csv import")));
  EXPECT_EQ(value(log, "SELECT count(*) FROM evaluators") + value(log, "SELECT count(*) FROM workloads") +
                value(log, "SELECT count(*) FROM spaces"),
            "121");
  EXPECT_EQ(value(log,
                  "SELECT group_concat(name || '=' || value) FROM (SELECT * FROM evaluation_metrics JOIN evaluations "
                  "USING (evaluation_id) WHERE workload_id = 2 ORDER BY name)"),
            "lut=7.0,ms=4.5");
  const std::string later = write("later.csv", std::string(kNext) + "2,k=128,2,4,0,4,0.1,0.9,1,0,,,5,,timeout,\n");
  ASSERT_EQ(hindsight({"log", "import", later, "--log", log}).exit_code, 0);
  EXPECT_EQ(
      value(log, "SELECT code FROM evaluation_violations JOIN evaluations USING (evaluation_id) WHERE workload_id = 2"),
      "timeout");
}

/// A word in the metric that proposals were made for is why there is no value, and what else was measured beside it
/// does not make it a typing error.
TEST_F(RoundTrip, AWordForWhatWasProposedForIsAReason) {
  const std::string log = tabled();
  SQLite::Database database(log, SQLite::OPEN_READWRITE);
  database.exec(
      "DELETE FROM evaluation_metrics WHERE evaluation_id IN (SELECT evaluation_id FROM evaluations WHERE "
      "workload_id = 2); DELETE FROM evaluations WHERE workload_id = 2");
  const std::string next = write("next.csv", std::string(kNext) + "1,k=128,1,4,0,4,0.1,0.9,1,0,,,5,crash,,7\n");
  const std::vector<std::string> import{"log", "import", next, "--log", log};
  expect_one_line_error(hindsight(import), 2, "next.csv:2:");
  database.exec(
      "INSERT INTO proposals (run_id, rank, design_id, objective, created_at) SELECT 1, 1, design_id, 'ms', '' "
      "FROM designs LIMIT 1");
  const Outcome imported = hindsight(import);
  ASSERT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_EQ(
      value(log, "SELECT code FROM evaluation_violations JOIN evaluations USING (evaluation_id) WHERE workload_id = 2"),
      "crash");
}

/// A design that the log has may stand among the proposals with less than the log says of it.
TEST_F(RoundTrip, WhatTheLogKnowsMoreOfIsThereBefore) {
  const std::string log = file("p.db");
  run({"log", "import", write("p.csv", "a,b,ms,lut\n1,1,10.515,3.25\n2,2,8,4\n4,1,9,5\n1,4,9.5,5\n"), "--objective",
       "ms", "--constraint", "lut", "--log", log});
  const std::string header = "rank,workload,a,b,predicted,score,cautious,spread,p_feasible,logged,ms,reason";
  const auto imported = [&](const std::string& text, const std::vector<std::string>& more = {}) {
    std::vector<std::string> command{"log", "import", write("next.csv", text), "--log", log};
    command.insert(command.end(), more.begin(), more.end());
    return hindsight(command);
  };
  const auto evaluations = [&] { return value(log, "SELECT count(*) FROM evaluations"); };
  const Outcome less = imported(header + "\n1,p,1,1,10,0,10,0.1,0.9,1,10.515,\n2,p,1,2,7,0,7,0.1,0.9,0,7.5,\n");
  ASSERT_EQ(less.exit_code, 0) << less.err;
  EXPECT_THAT(less.out, AllOf(HasSubstr("1 written"), HasSubstr("1 were there before")));
  EXPECT_EQ(evaluations(), "5");
  const Outcome kept = imported(header + "\n1,p,1,1,10,0,10,0.1,0.9,1,10.515,\n", {"--duplicates", "keep"});
  ASSERT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_EQ(evaluations(), "5") << "it is the same measurement";
  // Rounded, and without a metric that other rows have.
  const Outcome digits =
      imported(header + ",lut\n1,p,1,1,10,0,10,0.1,0.9,1,10.5152,,\n2,p,2,1,7,0,7,0.1,0.9,0,7.5,,6\n");
  ASSERT_EQ(digits.exit_code, 0) << digits.err;
  EXPECT_EQ(evaluations(), "6");
  expect_one_line_error(imported(header + "\n1,p,1,1,10,0,10,0.1,0.9,1,10.53,\n"), 2, "ms is 10.515 there, 10.53 here");
  expect_one_line_error(imported(header + "\n1,p,2,2,8,0,8,0.1,0.9,1,9,\n"), 2, "ms is 8 there, 9 here");
  EXPECT_EQ(evaluations(), "6");
}

TEST_F(RoundTrip, ProposalsThatCannotComeBackAreRefused) {
  const std::string log = tabled();
  SQLite::Database(log, SQLite::OPEN_READWRITE)  // k=128 has designs that the log does not know
      .exec(
          "DELETE FROM evaluation_metrics WHERE evaluation_id IN (SELECT evaluation_id FROM evaluations WHERE "
          "workload_id = 2); DELETE FROM evaluations WHERE workload_id = 2");
  const std::string hash = content(log);
  const auto refused = [&](const std::string& row, const std::string& part, const std::string& header = kNext) {
    expect_one_line_error(hindsight({"log", "import", write("next.csv", header + row), "--log", log}), 2, part);
    EXPECT_EQ(content(log), hash) << part;
  };
  refused("1,k=64,3,4,0,4,0.1,0.9,1,0,,,5,4.5,,7\n",
          "next.csv:2:8: a is '3', which the space does not have. Nearest: 2");
  refused("1,k=64,1,4,0,4,0.1,0.9,1,0,,,5,4.5 ms,,7\n", "next.csv:2:32: ms is '4.5 ms', which is not a number");
  refused("1,\"k=64,k=128\",1,4,0,4,0.1,0.9,1,0,,,5,4.5,,7\n", "several applications. Write a row for each");
  refused("1,k=128,1,4,0,4,0.1,0.9,1,0,,,5,9,,7\n2,k=128,2,4,0,4,0.1,0.9,1,0,,,5,9,,\n", "next.csv:3: has no lut");
  refused("1,k=64,1,4,0,4,0.1,0.9,1,0,,,5,,,\n", "has no row to import: 1 without a value yet");
  refused("1,k=64,1,0.9,4,4,9\n",
          "column 'mss' is no parameter of t, no metric of the log, and none that `propose` writes",
          "rank,workload,a,p_feasible,predicted,cautious,mss\n");
  refused("1,k=64,1,0.9,4,4\n", "no column has true values", "rank,workload,a,p_feasible,predicted,cautious\n");
  refused("1,k=64,1,9,0,4,0.1,0.9,1,0,,,5,9,,7\n", "contradicts evaluation");
  expect_one_line_error(hindsight({"log", "import", write("next.csv", std::string(kNext)), "--log", file("none.db")}),
                        2, "proposals come back to the log that they were made from");
  EXPECT_FALSE(std::filesystem::exists(file("none.db")));
}

}  // namespace
}  // namespace hindsight::app::test

/// Does a batch end up in the log exactly once, complete, and without the rows that make no sense?
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "hindsight/core/interrupt.h"
#include "log/log_fixture.h"

namespace hindsight::log::test {
namespace {

using ::testing::HasSubstr;

class AppendTest : public LogTest {
 protected:
  std::int64_t count(const std::string& sql) { return count_of(sql); }
  std::string text(const std::string& sql) { return value_of(sql); }
};

TEST_F(AppendTest, StoresEveryColumnOfARow) {
  {
    Log log = Log::open(file_, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    EvaluationRow row = feasible_row(ids.workload, text_id(4), 2e-3, 0.5);
    row.metrics.clear();
    double value = 1.5;
    for (const std::string& name : standard_metrics()) {
      row.metrics.emplace_back(name, value++);
    }
    row.metrics.emplace_back("mac_j", 0.25);
    const AppendResult result =
        log.append(ids.run, ids.space, ids.evaluator, {row, infeasible_row(ids.workload, text_id(5), {"noc_timing"})});
    EXPECT_EQ(result.inserted, 2U);
    EXPECT_TRUE(result.rejected.empty());
    log.end_run(ids.run, RunStatus::finished);
    EXPECT_THAT(log.verify().problems, ElementsAre(HasSubstr("average_power_w is 4.5"))) << "all values are made up";
  }
  double value = 1.5;
  for (const std::string& name : standard_metrics()) {
    EXPECT_EQ(count("SELECT count(*) FROM evaluations WHERE feasible = 1 AND " + name + " = " + std::to_string(value)),
              1)
        << name;
    ++value;
  }
  EXPECT_EQ(text("SELECT name || value FROM evaluation_metrics"), "mac_j0.25");
  EXPECT_EQ(text("SELECT code || quantity || value || limit_value || layer || message "
                 "FROM evaluation_violations"),
            "noc_timingdelay_ns2.51.25conv1too slow");
  EXPECT_EQ(count("SELECT count(*) FROM evaluation_violations WHERE nearest_passing = 8"), 1);
  EXPECT_EQ(text("SELECT status || evaluations_inserted FROM runs"), "finished2");
}

TEST_F(AppendTest, ViewsShowNamesReasonsAndParameters) {
  {
    Log log = Log::open(file_, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, 0, 4));
    log.end_run(ids.run, RunStatus::finished);
  }
  EXPECT_EQ(count("SELECT sum(CAST(pes_x AS INTEGER) + CAST(pes_y AS INTEGER)) FROM designs_edge"), 1 + 2 + 3 + 4);
  EXPECT_EQ(text("SELECT min(dram_type) FROM designs_edge"), "hbm2");
  if (!on_server()) {  // which has one type in a column, the text's
    EXPECT_EQ(text("SELECT typeof(pes_x) || dram_type FROM designs_edge LIMIT 1"), "integerhbm2");
  }
  EXPECT_EQ(text("SELECT workload || reasons || design FROM v_evaluations WHERE feasible = 0 LIMIT 1"),
            "net_anoc_timing reticle" + text_id(1));
  EXPECT_EQ(
      text(
          "SELECT reason || evaluations FROM v_reasons WHERE share_of_infeasible_frac = 1 AND share_of_all_frac = 0.75 "
          "LIMIT 1"),
      "noc_timing3");
  EXPECT_EQ(text("SELECT name || layers || evaluations || feasible || feasible_frac FROM v_workloads LIMIT 1"),
            "net_a2410.25");
  EXPECT_EQ(text("SELECT min(layer) || max(layer) || count(*) FROM v_workload_layers"), "conv1fc2");
  EXPECT_EQ(text("SELECT kind || evaluations_inserted FROM v_runs"), "sweep4");
}

TEST_F(AppendTest, SameEvaluationTwiceIsOneRow) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  const auto rows = batch_of(ids, 0, 10);
  EXPECT_EQ(log.append(ids.run, ids.space, ids.evaluator, rows).inserted, 10U);
  const AppendResult again = log.append(ids.run, ids.space, ids.evaluator, rows);
  EXPECT_EQ(again.inserted, 0U);
  EXPECT_EQ(again.already_present, 10U);
  EXPECT_TRUE(again.rejected.empty());
  // Another evaluator is another opinion.
  const std::int64_t other = log.add_evaluator("pe_array", "hash-other-constants", "model 2");
  EXPECT_EQ(log.append(ids.run, ids.space, other, rows).inserted, 10U);
  EXPECT_EQ(count("SELECT count(*) FROM evaluations"), 20);
  EXPECT_EQ(count("SELECT count(*) FROM designs"), 10);
}

TEST_F(AppendTest, ContradictingEvaluationIsRejectedAndTheFirstKept) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  log.append(ids.run, ids.space, ids.evaluator, {feasible_row(ids.workload, text_id(1), 1.0, 2.0)});
  const AppendResult result = log.append(
      ids.run, ids.space, ids.evaluator,
      {feasible_row(ids.workload, text_id(1), 1.5, 2.0), infeasible_row(ids.workload, text_id(1), {"reticle"})});
  ASSERT_EQ(result.rejected.size(), 2U);
  EXPECT_THAT(result.rejected[0].reason, HasSubstr("latency_s is 1 there, 1.5 here"));
  EXPECT_THAT(result.rejected[1].reason, HasSubstr("feasible is 1 there, 0 here"));
  EXPECT_EQ(count("SELECT count(*) FROM evaluations WHERE latency_s = 1"), 1);
}

TEST_F(AppendTest, AMetricOutsideTheColumnsOrAReasonContradictsToo) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  EvaluationRow feasible = feasible_row(ids.workload, text_id(1), 1.0, 2.0);
  feasible.metrics.emplace_back("mac_j", 0.25);
  const EvaluationRow infeasible = infeasible_row(ids.workload, text_id(2), {"noc_timing", "reticle"});
  ASSERT_EQ(log.append(ids.run, ids.space, ids.evaluator, {feasible, infeasible}).inserted, 2U);

  EvaluationRow other_value = feasible, without_value = feasible, more = feasible;
  other_value.metrics.back().second = 0.5;
  without_value.metrics.pop_back();
  more.metrics.emplace_back("sram_j", 0.125);
  EvaluationRow other_reason = infeasible, other_limit = infeasible, fewer = infeasible;
  other_reason.violations[1].code = "no_mapping";
  other_limit.violations[0].limit = 1.5;
  fewer.violations.pop_back();
  const std::vector<EvaluationRow> rows = {other_value, without_value, more, other_reason, other_limit, fewer};
  const AppendResult result = log.append(ids.run, ids.space, ids.evaluator, rows);
  EXPECT_EQ(result.already_present, 0U);
  ASSERT_EQ(result.rejected.size(), rows.size());
  EXPECT_THAT(result.rejected[0].reason, HasSubstr("mac_j is 0.25 there, 0.5 here"));
  EXPECT_THAT(result.rejected[1].reason, HasSubstr("mac_j is 0.25 there, missing here"));
  EXPECT_THAT(result.rejected[2].reason, HasSubstr("sram_j is missing there, 0.125 here"));
  EXPECT_THAT(result.rejected[3].reason, HasSubstr("no_mapping"));
  EXPECT_THAT(result.rejected[4].reason, HasSubstr("limit 1.5"));
  EXPECT_THAT(result.rejected[5].reason, HasSubstr("reticle"));

  // The order of reasons and the advice in them may change.
  EvaluationRow advised = infeasible;
  std::swap(advised.violations[0], advised.violations[1]);
  advised.violations[0].message = "too slow by far";
  advised.violations[0].nearest_passing = std::nullopt;
  EXPECT_EQ(log.append(ids.run, ids.space, ids.evaluator, {feasible, advised}).already_present, 2U);
}

TEST_F(AppendTest, RepeatedMeasurementsStandSideBySide) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  EvaluationRow first = feasible_row(ids.workload, text_id(1), 1.0, 2.0);
  EvaluationRow second = feasible_row(ids.workload, text_id(1), 1.5, 2.0);
  second.repeat = 1;
  EXPECT_EQ(log.append(ids.run, ids.space, ids.evaluator, {first, second}).inserted, 2U);
  EXPECT_EQ(log.append(ids.run, ids.space, ids.evaluator, {first, second}).already_present, 2U);
  second.metrics[0].second = 1.75;
  const AppendResult result = log.append(ids.run, ids.space, ids.evaluator, {second});
  ASSERT_EQ(result.rejected.size(), 1U);
  EXPECT_THAT(result.rejected[0].reason, HasSubstr("repeat 1: latency_s is 1.5 there, 1.75 here"));
  EXPECT_EQ(count("SELECT count(*) FROM v_evaluations WHERE latency_s = 1 + 0.5 * repeat"), 2);
  EXPECT_TRUE(log.verify().sound());
}

TEST_F(AppendTest, ARunThatGoesAwayWithoutItsEndHasFailed) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  {
    log::Run finished(log, RunKind::import, provenance());
    finished.finish();
    log::Run interrupted(log, RunKind::propose, provenance());
    interrupted.finish(RunStatus::interrupted);
    const log::Run failed(log, RunKind::measure_import, provenance());
  }
  {
    const log::Run stopped(log, RunKind::train, provenance());
    set_interrupt_requested(true);  // and an error that says so ends the command
  }
  set_interrupt_requested(false);
  EXPECT_EQ(text("SELECT " + (on_server() ? std::string("string_agg") : std::string("group_concat")) +
                 "(kind || ' ' || status, ', ') FROM runs WHERE ended_at IS NOT NULL"),
            "import finished, propose interrupted, measure import failed, train interrupted");
}

/// One way to spoil a row, and a word of the reason that must be given for it.
struct BadRow {
  const char* word;
  void (*spoil)(EvaluationRow& feasible, EvaluationRow& infeasible);
};

void set_text(EvaluationRow& row, const std::string& text) {
  row.design_text_id = text;
  row.design_hash = content_hash(text);
}

const BadRow kBadRows[] = {
    {"is nan", [](EvaluationRow& f, EvaluationRow&) { f.metrics[0].second = std::nan(""); }},
    {"is inf", [](EvaluationRow& f, EvaluationRow&) { f.metrics[1].second = std::numeric_limits<double>::infinity(); }},
    {"workload id 99", [](EvaluationRow& f, EvaluationRow&) { f.workload_id = 99; }},
    {"text id is empty", [](EvaluationRow& f, EvaluationRow&) { set_text(f, ""); }},
    {"name the space's parameters", [](EvaluationRow& f, EvaluationRow&) { set_text(f, "design42"); }},
    {"control character", [](EvaluationRow& f, EvaluationRow&) { set_text(f, "pes_x=1\n,pes_y=1"); }},
    {"quote", [](EvaluationRow& f, EvaluationRow&) { set_text(f, "pes_x=\"1\",pes_y=1"); }},
    {"is not that of the text id", [](EvaluationRow& f, EvaluationRow&) { f.design_hash ^= 1U; }},
    {"repeat is -1", [](EvaluationRow& f, EvaluationRow&) { f.repeat = -1; }},
    {"no metric", [](EvaluationRow& f, EvaluationRow&) { f.metrics.clear(); }},
    {"given twice", [](EvaluationRow& f, EvaluationRow&) { f.metrics.push_back(f.metrics[0]); }},
    {"mac_j is given twice",
     [](EvaluationRow& f, EvaluationRow&) {
       f.metrics.emplace_back("mac_j", 1);
       f.metrics.emplace_back("mac_j", 2);
     }},
    {"has a violation", [](EvaluationRow& f, EvaluationRow& i) { f.violations = i.violations; }},
    {"no violation", [](EvaluationRow&, EvaluationRow& i) { i.violations.clear(); }},
    {"has latency_s", [](EvaluationRow&, EvaluationRow& i) { i.metrics.emplace_back("latency_s", 1); }},
    {"code of a violation is empty", [](EvaluationRow&, EvaluationRow& i) { i.violations[0].code = ""; }},
    {"not finite",
     [](EvaluationRow&, EvaluationRow& i) { i.violations[0].limit = std::numeric_limits<double>::infinity(); }},
};

TEST_F(AppendTest, BadDesignIsRefusedForEachOfItsRows) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  EvaluationRow bad = feasible_row(ids.workload, text_id(1), 1, 1);
  bad.design_hash ^= 1U;
  EvaluationRow bad_elsewhere = bad;
  bad_elsewhere.workload_id = ids.other_workload;
  const EvaluationRow good = feasible_row(ids.workload, text_id(1), 1, 1);
  const std::vector<EvaluationRow> rows = {good, bad, bad_elsewhere, good, bad};
  const AppendResult result = log.append(ids.run, ids.space, ids.evaluator, CheckedRows(rows));
  EXPECT_EQ(result.inserted, 1U);
  EXPECT_EQ(result.already_present, 1U);
  ASSERT_EQ(result.rejected.size(), 3U);
  EXPECT_EQ(result.rejected[0].index, 1U);
  EXPECT_EQ(result.rejected[1].index, 2U);
  EXPECT_EQ(result.rejected[2].index, 4U);
  for (const RejectedRow& one : result.rejected) EXPECT_THAT(one.reason, HasSubstr("is not that of the text id"));
}

TEST_F(AppendTest, BadRowIsRejectedWithAReasonAndTheBatchKept) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  int first = 0;
  for (const BadRow& bad : kBadRows) {
    SCOPED_TRACE(bad.word);
    std::vector<EvaluationRow> rows = {feasible_row(ids.workload, text_id(first), 1, 1),
                                       feasible_row(ids.workload, text_id(first + 1), 1, 1),
                                       infeasible_row(ids.workload, text_id(first + 2), {"reticle"}),
                                       feasible_row(ids.workload, text_id(first + 3), 1, 1)};
    first += 4;
    bad.spoil(rows[1], rows[2]);
    const AppendResult result = log.append(ids.run, ids.space, ids.evaluator, rows, Checkpoint{"sweep", "{}"});
    EXPECT_EQ(result.inserted, 3U);
    ASSERT_EQ(result.rejected.size(), 1U);
    EXPECT_THAT(result.rejected[0].reason, HasSubstr(bad.word));
    EXPECT_TRUE(result.rejected[0].index == 1 || result.rejected[0].index == 2);
  }
  EXPECT_TRUE(log.verify().sound());
  const auto bad_rows = static_cast<std::int64_t>(std::size(kBadRows));
  EXPECT_EQ(count("SELECT count(*) FROM evaluations"), 3 * bad_rows);
  EXPECT_EQ(count("SELECT rows_rejected FROM runs"), bad_rows);
}

TEST_F(AppendTest, ARowBehindARefusedOneOfItsDesignIsOfThatDesign) {
  {
    Log log = Log::open(file_, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    EvaluationRow bad = feasible_row(ids.workload, text_id(2), 2e-3, 0.5);
    bad.metrics.clear();
    const AppendResult result = log.append(
        ids.run, ids.space, ids.evaluator,
        {feasible_row(ids.workload, text_id(1), 2e-3, 0.5), bad, feasible_row(ids.workload, text_id(2), 3e-3, 0.5),
         infeasible_row(ids.other_workload, text_id(2), {"reticle"})});
    EXPECT_EQ(result.inserted, 3U);
    EXPECT_EQ(result.rejected.size(), 1U);
    log.end_run(ids.run, RunStatus::finished);
  }
  EXPECT_EQ(text("SELECT count(*) || ' ' || min(latency_s) FROM v_evaluations WHERE design = '" + text_id(2) + "'"),
            "2 0.003");
  EXPECT_EQ(count("SELECT count(*) FROM v_evaluations WHERE design = '" + text_id(1) + "'"), 1);
}

TEST_F(AppendTest, DesignsOfOneSpaceHaveTheSameParameters) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  const std::vector<EvaluationRow> rows = {
      feasible_row(ids.workload, "a=1,b=2", 1, 1),   feasible_row(ids.workload, "b=2,a=1", 1, 1),
      feasible_row(ids.workload, "a=1", 1, 1),       feasible_row(ids.workload, "a=1,b=2,c=3", 1, 1),
      feasible_row(ids.workload, "a=1,b=2=3", 1, 1), feasible_row(ids.workload, "a=,b=x y", 1, 1)};
  const AppendResult result = log.append(ids.run, ids.space, ids.evaluator, rows);
  EXPECT_EQ(result.inserted, 2U);
  ASSERT_EQ(result.rejected.size(), 4U);
  EXPECT_THAT(result.rejected[0].reason, HasSubstr("parameters in order (a, b)"));
}

TEST_F(AppendTest, FirstDesignNamesTheParametersUnlessTheSpaceDoes) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  const AppendResult first =
      log.append(ids.run, ids.space, ids.evaluator,
                 {feasible_row(ids.workload, "design42", 1, 1), feasible_row(ids.workload, "a=1,a=2", 1, 1),
                  feasible_row(ids.workload, "a=1", 1, 1)});
  EXPECT_EQ(first.inserted, 1U);
  ASSERT_EQ(first.rejected.size(), 2U);
  EXPECT_THAT(first.rejected[0].reason, HasSubstr("not of the form name=value"));
  EXPECT_THAT(first.rejected[1].reason, HasSubstr("named twice"));

  const std::int64_t described = log.add_space("cloud", "d", "h", {"b", "c"});
  EXPECT_EQ(count("SELECT count(b) + count(c) FROM designs_cloud"), 0);
  const AppendResult second =
      log.append(ids.run, described, ids.evaluator,
                 {feasible_row(ids.workload, "a=1", 1, 1), feasible_row(ids.workload, "b=1,c=2", 1, 1)});
  EXPECT_EQ(second.inserted, 1U);
  EXPECT_EQ(text("SELECT design_id || text_id || b || c FROM designs_cloud"), "2b=1,c=212");
  EXPECT_EQ(log.add_space("cloud", "d", "h", {"b", "c"}), described);
}

TEST_F(AppendTest, HashCollisionIsDetected) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  log.append(ids.run, ids.space, ids.evaluator, {feasible_row(ids.workload, text_id(1), 1, 1)});
  {  // A collision of 64 bits cannot be found in a test: store one by hand.
    const std::string update = "UPDATE designs SET text_id = '" + text_id(7) + "'";
    if (on_server()) {
      hindsight::test::TestServer::sql_at(file_.string(), update);
    } else {
      SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(update);
    }
  }
  const AppendResult result =
      log.append(ids.run, ids.space, ids.evaluator,
                 {feasible_row(ids.workload, text_id(1), 1, 1), feasible_row(ids.workload, text_id(2), 1, 1)});
  EXPECT_EQ(result.inserted, 1U);
  ASSERT_EQ(result.rejected.size(), 1U);
  EXPECT_THAT(result.rejected[0].reason, HasSubstr("another design in the log (" + text_id(7)));
  const Verification verification = log.verify();
  ASSERT_EQ(verification.problems.size(), 1U);
  EXPECT_THAT(verification.problems[0], HasSubstr("design 1: its hash"));
}

TEST_F(AppendTest, CheckpointMovesWithItsBatch) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  EXPECT_EQ(log.checkpoint("sweep/0"), std::nullopt);
  log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, 0, 5), Checkpoint{"sweep/0", R"({"next":5})"});
  log.append(ids.run, ids.space, ids.evaluator, {}, Checkpoint{"sweep/0", R"({"next":10})"});
  EXPECT_EQ(log.checkpoint("sweep/0"), R"({"next":10})");
  EXPECT_THROW(log.append(ids.run, ids.space, ids.evaluator, {}, Checkpoint{"sweep/0", "not json"}), ContractViolation);
  EXPECT_THROW(log.append(999, ids.space, ids.evaluator, {}), ContractViolation);
}

TEST_F(AppendTest, UnknownNumbersOfAViolationAreNull) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  EvaluationRow row = infeasible_row(ids.workload, text_id(1), {"no_mapping"});
  row.violations[0] = {.code = "no_mapping", .quantity = "", .value = std::nan(""), .limit = std::nan("")};
  log.append(ids.run, ids.space, ids.evaluator, {row});
  EXPECT_EQ(count("SELECT count(*) FROM evaluation_violations WHERE value IS NULL AND limit_value IS NULL AND "
                  "nearest_passing IS NULL AND layer IS NULL AND message IS NULL"),
            1);
}

TEST_F(AppendTest, SqlInNamesIsText) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  const std::string nasty = "x'; DROP TABLE designs; --\"";
  const std::int64_t space = log.add_space(nasty, "d", "h");
  const std::int64_t workload = log.add_workload(nasty, "d", "h", 1, "", 1, {{nasty, 1.0}});
  EXPECT_EQ(log.append(ids.run, space, ids.evaluator, {feasible_row(workload, "a'b=1,c d=x'", 1, 1)}).inserted, 1U);
  EXPECT_EQ(text("SELECT designs_view FROM spaces WHERE space_id = " + std::to_string(space)),
            "designs_x___DROP_TABLE_designs_____");
  EXPECT_EQ(text("SELECT \"a'b\" || \"c d\" FROM \"designs_x___DROP_TABLE_designs_____\""), "1x'");
  // Same name but for characters that the view's name cannot have: a view of its own.
  const std::int64_t twin = log.add_space("x'; DROP TABLE designs; --'", "d2", "h2");
  EXPECT_EQ(log.append(ids.run, twin, ids.evaluator, {feasible_row(workload, "a=1", 1, 1)}).inserted, 1U);
  EXPECT_EQ(text("SELECT designs_view FROM spaces WHERE space_id = " + std::to_string(twin)),
            "designs_x___DROP_TABLE_designs______" + std::to_string(twin));
}

TEST_F(AppendTest, DefinitionsAreRegisteredOnce) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids first = register_all(log);
  const Ids second = register_all(log);
  EXPECT_EQ(first.space, second.space);
  EXPECT_EQ(first.workload, second.workload);
  EXPECT_EQ(first.evaluator, second.evaluator);
  EXPECT_NE(first.run, second.run);
  const auto [space_kind, space_message] = error_of([&] { log.add_space("edge", "other", "other hash"); });
  EXPECT_EQ(space_kind, ErrorKind::usage);
  EXPECT_THAT(space_message, HasSubstr("another name"));
  const auto [kind, message] = error_of([&] { log.add_workload("net_a", "other", "other hash", 1, "[]", 1, {}); });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("net_a"));
}

TEST_F(AppendTest, NewerContextReplacesTheOlder) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  EXPECT_EQ(log.add_workload("net_a", "layers of a", "hash-a", 1, "[]", 2, {{"macs_per_byte", 3.0}}), ids.workload);
  EXPECT_EQ(count("SELECT count(*) FROM workload_context WHERE name = 'macs_per_byte' AND value = 3"), 1);
  EXPECT_EQ(count("SELECT count(*) FROM workload_context"), 1);
  log.add_workload("net_a", "layers of a", "hash-a", 1, "[]", 1, {{"macs", 1.0}});
  EXPECT_EQ(text("SELECT context_version || c.name FROM workload_context c JOIN workloads USING (workload_id)"),
            "2macs_per_byte");
}

}  // namespace
}  // namespace hindsight::log::test

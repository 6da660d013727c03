/// Do merged logs hold what their parts hold, once, in whatever order, and do bad parts change nothing?
#include "hindsight/log/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <thread>

#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/log/content.h"
#include "hindsight/log/query.h"
#include "log/merge_fixture.h"
#include "log/schema.h"

namespace hindsight::log::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(MergeTest, PartsInAnyOrderAreTheWhole) {
  const std::string whole = hash_of(make_batch("whole", 0, 60));
  for (const std::vector<int>& cuts : {std::vector<int>{0, 60}, {0, 20, 60}, {0, 7, 8, 60}, {0, 1, 20, 33, 59, 60}}) {
    std::vector<fs::path> parts;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const std::string name = "part" + std::to_string(cuts.size()) + "_" + std::to_string(i);
      parts.push_back(make_batch(name, cuts[i], cuts[i + 1] - cuts[i], static_cast<int>(i)));
    }
    std::mt19937 random(7);
    for (int turn = 0; turn < 3; ++turn) {
      const fs::path out = path("out");
      const MergeResult result = merge(parts, out);
      EXPECT_EQ(hash_of(out), whole) << parts.size() << " parts, turn " << turn;
      EXPECT_TRUE(result.created);
      EXPECT_EQ(result.inserted, 60U);
      EXPECT_EQ(result.designs, 60U);
      EXPECT_EQ(result.already_present, 0U);
      EXPECT_TRUE(Log::open(out, OpenMode::read_only).verify().sound());
      fs::remove(out);
      std::shuffle(parts.begin(), parts.end(), random);
    }
  }
  expect_no_litter();
}

TEST_F(MergeTest, MergingAgainAddsNothingAndOverlapsCountOnce) {
  const fs::path a = make_batch("a", 0, 30), b = make_batch("b", 20, 30, 1), out = path("out");
  const MergeResult first = merge({a, b}, out);
  EXPECT_EQ(first.inserted, 50U);
  EXPECT_EQ(first.already_present, 10U);
  EXPECT_EQ(first.read(), 60U);
  const std::string hash = hash_of(out);
  EXPECT_EQ(hash, hash_of(make_batch("whole", 0, 50)));
  for (const std::vector<fs::path>& inputs : {std::vector<fs::path>{a}, {b, a}, {a, b, b}}) {
    const MergeResult again = merge(inputs, out);
    EXPECT_FALSE(again.created);
    EXPECT_EQ(again.inserted, 0U);
    EXPECT_EQ(again.designs, 0U);
    EXPECT_EQ(again.already_present, 30U * inputs.size());
    EXPECT_EQ(hash_of(out), hash);
  }
  const MergeResult more = merge({make_batch("c", 45, 10), a}, out);
  EXPECT_EQ(more.inserted, 5U);
  EXPECT_EQ(more.already_present, 35U);
  EXPECT_EQ(hash_of(out), hash_of(make_batch("all", 0, 55)));
  expect_no_litter();
}

/// An index of somebody's on a generated column holds what the merged rows have.
TEST_F(MergeTest, ParametersOfDesignsAreReadBackAndIndexesOfThemHold) {
  const fs::path a = make_batch("a", 0, 30), b = make_batch("b", 30, 30, 1), out = path("out");
  exec(a, "CREATE INDEX by_parameters ON designs (parameters)");
  for (const std::vector<fs::path>& inputs : {std::vector<fs::path>{a, b}, {b, a}}) {  // the first brings its index
    merge(inputs, out);
    SQLite::Database database(out.string(), SQLite::OPEN_READONLY);
    EXPECT_EQ(database.execAndGet("PRAGMA integrity_check").getString(), "ok");
    EXPECT_EQ(
        database.execAndGet("SELECT count(*) FROM designs WHERE parameters IS NOT NULL AND json_valid(parameters)")
            .getInt(),
        60);
    fs::remove(out);
  }
}

TEST_F(MergeTest, DefinitionsKeepTheirMeaningWhereNumbersDiffer) {
  // In b the numbers of spaces, workloads and evaluators are others, because something else was registered first.
  const fs::path a = make_batch("a", 0, 8), b = path("b"), out = path("out");
  {
    Log log = Log::open(b, OpenMode::read_write_create);
    const std::int64_t space = log.add_space("other", "another space", "hash-other");
    const std::int64_t workload = log.add_workload("net_c", "layers of c", "hash-c", 1, "[]", 1, {{"macs", 5}});
    const std::int64_t evaluator = log.add_evaluator("measured", "hash-measured", "a board");
    Ids ids = register_all(log);
    ASSERT_NE(ids.workload, workload);
    EvaluationRow other = feasible_row(workload, "x=1", 1, 2);
    other.metrics.emplace_back("accuracy", 0.5);
    log.append(ids.run, space, evaluator, {other});
    log.append(
        ids.run, ids.space, ids.evaluator,
        {feasible_row(ids.other_workload, text_id(0), 3, 4), infeasible_row(ids.workload, text_id(9), {"sram"})});
  }
  merge({a, b}, out);
  const Log log = Log::open(out, OpenMode::read_only);
  EXPECT_TRUE(log.verify().sound());
  EXPECT_EQ(summary(log).rows("evaluations"), 11U);
  EXPECT_EQ(best_designs(log, "net_c", "accuracy", 1).at(0).design_text_id, "x=1");
  EXPECT_EQ(best_designs(log, "net_b", "latency_s", 1).at(0).design_text_id, text_id(0));
  EXPECT_EQ(best_designs(log, "net_b", "latency_s", 1).at(0).evaluator, "pe_array");
  EXPECT_EQ(workloads(log).size(), 3U);
  EXPECT_EQ(hash_of(out), [&] {
    merge({b, a}, path("reverse"));
    return hash_of(path("reverse"));
  }());
}

TEST_F(MergeTest, HistoryComesAlong) {
  const fs::path a = path("a"), out = path("out");
  {
    Log log = Log::open(a, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    log.append(ids.run, ids.space, ids.evaluator, batch_of(ids, 0, 4), Checkpoint{"sweep", "4"});
    add_model_and_proposal(log, ids);
  }
  merge({make_batch("b", 3, 9, 5), a}, out);
  merge({a}, out);
  const Log log = Log::open(out, OpenMode::read_only);
  EXPECT_TRUE(log.verify().sound());
  const Summary all = summary(log);
  EXPECT_EQ(all.rows("models"), 1U);
  EXPECT_EQ(all.rows("proposals"), 1U);
  EXPECT_EQ(proposals(log, std::nullopt).at(0).design_text_id, text_id(77));
  EXPECT_EQ(log.checkpoint("sweep"), "4");
  std::vector<std::string> commands;
  for (const RunInfo& run : recent_runs(log, 20)) commands.push_back(run.kind + ": " + run.status);
  EXPECT_THAT(commands,
              ElementsAre("merge: finished", "merge: finished", "train: finished", "sweep: finished", "sweep: running"))
      << "the run that both logs have, once; it was never ended";
  EXPECT_EQ(recent_runs(log, 2).at(1).evaluations_inserted, 12U);
}

TEST_F(MergeTest, EveryTableOfTheSchemaIsThoughtOf) {
  EXPECT_THAT(table_names(),
              ::testing::UnorderedElementsAre("runs", "spaces", "space_parameters", "workloads", "workload_context",
                                              "evaluators", "designs", "evaluations", "evaluation_metrics",
                                              "evaluation_violations", "models", "proposals", "checkpoints",
                                              "schema_migrations", "gpu_sessions", "gpu_gemms", "gpu_quantities"))
      << "a new table: SourceMerge must bring its rows along, and log/content.h say whether they are content";
}

TEST_F(MergeTest, ContradictionsAreRefusedOrCounted) {
  const fs::path a = make("a", 0, [](const Ids& ids) {
    EvaluationRow measured = feasible_row(ids.workload, text_id(3), 1, 2);
    measured.metrics.emplace_back("accuracy", 0.5);
    return std::vector<EvaluationRow>{feasible_row(ids.workload, text_id(1), 1, 2),
                                      infeasible_row(ids.workload, text_id(2), {"noc_timing", "reticle"}), measured};
  });
  struct Case {
    const char* name;
    std::function<EvaluationRow(const Ids&)> row;
    const char* words;
  };
  const auto other_reason = [](const Ids& ids) {
    EvaluationRow row = infeasible_row(ids.workload, text_id(2), {"noc_timing", "reticle"});
    row.violations[1].limit = 7;
    return row;
  };
  const std::vector<Case> cases = {
      {"latency", [](const Ids& ids) { return feasible_row(ids.workload, text_id(1), 1.5, 2); },
       "latency_s is 1 there, 1.5 here"},
      {"feasible", [](const Ids& ids) { return infeasible_row(ids.workload, text_id(1), {"sram"}); },
       "feasible is 1 there, 0 here"},
      {"reason", other_reason, "its reason reticle (delay_ns 2.5, limit 7) is here only"},
      {"fewer", [](const Ids& ids) { return infeasible_row(ids.workload, text_id(2), {"noc_timing"}); },
       "its reason reticle (delay_ns 2.5, limit 1.25) is there only"},
      {"metric", [](const Ids& ids) { return feasible_row(ids.workload, text_id(3), 1, 2); },
       "accuracy is 0.5 there, missing here"},
  };
  for (const Case& one : cases) {
    const fs::path b = make(one.name, 1, [&](const Ids& ids) {
      return std::vector<EvaluationRow>{one.row(ids), feasible_row(ids.workload, text_id(8), 1, 2)};
    });
    expect_refused({a, b}, path("out"), ErrorKind::usage, one.words);
    expect_refused({b}, a, ErrorKind::usage, std::string(one.name) + ".db: 1 row of it contradict");
    expect_refused({make_batch("far", 100, 2), b}, a, ErrorKind::usage,
                   std::string(one.name) + ".db: 1 row of it contradicts ");
    const MergeResult first = merge({a, b}, path("out"), Contradictions::keep_first);
    EXPECT_EQ(first.contradicting, 1U);
    EXPECT_EQ(first.inserted, 4U);
    EXPECT_EQ(first.read(), 5U);
    EXPECT_TRUE(Log::open(path("out"), OpenMode::read_only).verify().sound());
    fs::remove(path("out"));
  }
  // The order of reasons, and advice, contradict nothing.
  const fs::path same = make("same", 2, [](const Ids& ids) {
    EvaluationRow row = infeasible_row(ids.workload, text_id(2), {"reticle", "noc_timing"});
    row.violations[0].message = "put otherwise";
    return std::vector<EvaluationRow>{row};
  });
  EXPECT_EQ(merge({a, same}, path("out")).already_present, 1U);
  EXPECT_EQ(hash_of(path("out")), hash_of(a));
}

TEST_F(MergeTest, NamesOfOtherDefinitionsAreRefused) {
  const fs::path a = make_batch("a", 0, 4), b = path("b"), c = path("c"), d = path("d");
  Log::open(b, OpenMode::read_write_create).add_space("edge", "another definition", "hash-2");
  expect_refused({a, b}, path("out"), ErrorKind::usage, "b.db: its design space 'edge' has another definition");
  Log::open(c, OpenMode::read_write_create).add_workload("net_a", "other layers", "hash-2", 1, "[]", 1, {});
  expect_refused({c}, a, ErrorKind::usage, "c.db: its workload 'net_a' has another definition");
  Log::open(d, OpenMode::read_write_create).add_workload("net_a", "layers of a", "hash-a", 1, "[]", 1, {{"macs", 2}});
  expect_refused({d}, a, ErrorKind::usage, "d.db: its workload 'net_a' has other context features");
}

TEST_F(MergeTest, TheNewerContextFeaturesAreKept) {
  const fs::path a = make_batch("a", 0, 4), b = path("b");
  Log::open(b, OpenMode::read_write_create)
      .add_workload("net_a", "layers of a", "hash-a", 1, "[]", 2, {{"macs", 1e6}, {"depth", 3}});
  merge({a, b}, path("ab"));
  merge({b, a}, path("ba"));
  EXPECT_EQ(hash_of(path("ab")), hash_of(path("ba")));
  for (const WorkloadRecord& workload : workloads(Log::open(path("ab"), OpenMode::read_only))) {
    if (workload.name != "net_a") continue;
    EXPECT_EQ(workload.context_version, 2);
    EXPECT_THAT(workload.context, ElementsAre(std::pair("macs", 1e6), std::pair("depth", 3.0)));
  }
}

TEST_F(MergeTest, BadInputsChangeNothing) {
  const fs::path a = make_batch("a", 0, 300), out = make_batch("out", 0, 4), b = path("b");
  const auto as_b = [&](const std::string& bytes) { write_file_atomically(b, bytes); };
  as_b("no database, but long enough to be taken for one" + std::string(600, '.'));
  expect_refused({a, b}, path("new"), ErrorKind::incompatible, "b.db: not a Hindsight log");
  expect_refused({a, b}, out, ErrorKind::incompatible, "b.db: not a Hindsight log");
  as_b(read_file(a));
  exec(b, "PRAGMA user_version = 99");
  expect_refused({a, b}, out, ErrorKind::incompatible, "b.db: schema version 99");
  for (const double share : {0.3, 0.6, 0.9}) {
    const std::string whole = read_file(a);
    as_b(whole.substr(0, static_cast<std::size_t>(static_cast<double>(whole.size()) * share) / 4096 * 4096));
    expect_refused({b}, out, ErrorKind::incompatible, "b.db: damaged log");
    expect_refused({a, b}, path("new"), ErrorKind::incompatible, "b.db: damaged log");
    expect_refused({b, a}, path("new"), ErrorKind::incompatible, "b.db: damaged log");
  }
  as_b(read_file(a));
  exec(b, "PRAGMA foreign_keys = OFF; DELETE FROM designs WHERE design_id = 3");
  expect_refused({a, b}, out, ErrorKind::incompatible,
                 "b.db: damaged log: a row of evaluations names a row of designs");
  expect_refused({b, a}, out, ErrorKind::incompatible,
                 "b.db: damaged log: a row of evaluations names a row of designs");
  fs::remove(b);
  const auto [kind, message] = error_of([&] { merge({a, b}, out); });
  EXPECT_EQ(kind, ErrorKind::usage) << message;
  EXPECT_THAT(message, HasSubstr("b.db: no such log"));
}

TEST_F(MergeTest, AnInterruptLeavesNothingHalfWritten) {
  const fs::path a = make_batch("a", 0, 20'000), out = make_batch("out", 0, 4);
  set_interrupt_requested(true);
  expect_refused({a}, path("new"), ErrorKind::interrupted, "new.db: interrupted while merging");
  set_interrupt_requested(false);
  const std::string before = hash_of(out);
  set_interrupt_requested(true);
  const auto [kind, message] = error_of([&] { merge({a}, out); });
  set_interrupt_requested(false);
  EXPECT_EQ(kind, ErrorKind::interrupted) << message;
  EXPECT_EQ(hash_of(out), before);
  EXPECT_EQ(merge({a}, out).inserted, 19'996U) << "and the log still takes rows";
}

TEST_F(MergeTest, AnInterruptAtAnyMomentGivesAllOrNothing) {
  const fs::path a = make_batch("a", 0, 5'000), b = make_batch("b", 4'000, 3'000), out = path("out");
  const fs::path before = make_batch("before", 6'990, 1'000);
  const std::string nothing = hash_of(before);
  fs::copy_file(before, out);
  merge({a, b}, out);
  const std::string all = hash_of(out);
  int interrupted = 0;
  for (int delay_ms = 0; delay_ms < 60; delay_ms += 4) {
    fs::copy_file(before, out, fs::copy_options::overwrite_existing);
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
      set_interrupt_requested(true);
    });
    bool ended = true;
    try {
      merge({b}, out);
      merge({a}, out);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted) << error.what();
      ended = false;
      ++interrupted;
    }
    later.join();
    set_interrupt_requested(false);
    const std::string now = hash_of(out);
    if (ended) {
      EXPECT_EQ(now, all);
    } else {
      EXPECT_THAT(now, ::testing::AnyOf(nothing, hash_of_merged(before, b))) << "after " << delay_ms << " ms";
    }
    expect_no_litter();
  }
  EXPECT_GT(interrupted, 0);
}

TEST_F(MergeTest, LogsOfSchemaVersion2AreTakenAsTheyAre) {
  const fs::path old = path("old"), out = make_batch("out", 2, 4);
  make_version_2(old);
  const std::string before = read_file(old);
  EXPECT_EQ(merge({old}, path("new")).inserted, 1U);
  EXPECT_EQ(hash_of(path("new")), hash_of(old));
  EXPECT_EQ(merge({old}, out).inserted, 1U);
  EXPECT_EQ(read_file(old), before);
  const Log log = Log::open(out, OpenMode::read_only);
  EXPECT_TRUE(log.verify().sound());
  EXPECT_EQ(best_designs(log, "net_a", "latency_s", 1).at(0).design_text_id, text_id(9));
}

TEST_F(MergeTest, TheHashCountsWhatCountsAndNothingElse) {
  const fs::path a = make_batch("a", 0, 8);
  const std::string hash = hash_of(a);
  const Content counted = content_of(a);
  EXPECT_EQ(hash.size(), 64U);
  EXPECT_EQ(counted.designs, 8U);
  EXPECT_EQ(counted.evaluations, 8U);
  EXPECT_EQ(counted.reasons, 12U) << "six infeasible designs with two reasons each";
  EXPECT_EQ(hash, hash_of(make_batch("later", 0, 8, 9))) << "another time";
  struct Change {
    const char* sql;
    bool changes;
  };
  for (const Change& change : {
           Change{"UPDATE runs SET host = 'another'", false},
           Change{"UPDATE evaluations SET evaluation_id = evaluation_id + 1000; UPDATE evaluation_violations SET "
                  "evaluation_id = evaluation_id + 1000",
                  false},
           Change{"UPDATE evaluation_violations SET message = 'advice', nearest_passing = 3", false},
           Change{"UPDATE evaluation_violations SET position = 9 - position", false},
           Change{"UPDATE spaces SET name = 'another'", false},
           Change{"INSERT INTO designs (space_id, content_hash, text_id) VALUES (1, 1, 'only=proposed')", false},
           Change{"UPDATE evaluations SET latency_s = latency_s * 1.0000000000000002 WHERE feasible = 1", true},
           Change{"UPDATE evaluations SET repeat = 1 WHERE evaluation_id = 1", true},
           Change{"UPDATE evaluation_violations SET limit_value = 1.5 WHERE evaluation_id = 2", true},
           Change{"UPDATE evaluation_violations SET layer = NULL WHERE evaluation_id = 2", true},
           Change{"INSERT INTO evaluation_metrics VALUES (1, 'accuracy', 0.5)", true},
           Change{"UPDATE evaluations SET workload_id = 2 WHERE evaluation_id = 1", true},
           Change{"UPDATE spaces SET definition = 'another'", true},
           Change{"UPDATE evaluators SET definition_hash = 'another'", true},
           Change{"UPDATE workload_context SET value = 7 WHERE name = 'macs'", true},
           Change{"DELETE FROM evaluations WHERE evaluation_id = 1", true},
       }) {
    const fs::path changed = path("changed");
    fs::copy_file(a, changed, fs::copy_options::overwrite_existing);
    exec(changed, std::string("PRAGMA foreign_keys = OFF; ") + change.sql);
    EXPECT_EQ(hash_of(changed) != hash, change.changes) << change.sql;
  }
}

}  // namespace
}  // namespace hindsight::log::test

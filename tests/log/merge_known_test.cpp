/// Are logs that bring nothing left out of a merge, and no others?
#include "log/merge_known.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "hindsight/core/interrupt.h"
#include "log/merge_fixture.h"

namespace hindsight::log::test {
namespace {

using ::testing::HasSubstr;

/// A log with a row in every table that a sweep, a training and a proposal fill.
class KnownLogs : public MergeTest {
 protected:
  void SetUp() override {
    MergeTest::SetUp();
    far_ = make_batch("far", 100, 8, 3);
    base_ = make("base", 0, [](const Ids& ids) {
      std::vector<EvaluationRow> rows = batch_of(ids, 0, 8);
      rows[0].metrics.emplace_back("accuracy", 0.5);
      rows[4].metrics.emplace_back("accuracy", 0.75);
      return rows;
    });
    Log log = Log::open(base_, OpenMode::read_write);
    const Ids ids = register_all(log);  // its run stays unfinished
    log.append(ids.run, ids.space, ids.evaluator, {}, Checkpoint{"sweep", "4"});
    add_model_and_proposal(log, ids);
    // The numbers of the output are others than those of the base.
    merge({far_, base_}, out());
  }

  [[nodiscard]] fs::path out() const { return path("out"); }
  /// The base after this SQL.
  [[nodiscard]] fs::path changed(const std::string& name, const std::string& sql) const {
    fs::copy_file(base_, path(name), fs::copy_options::overwrite_existing);
    exec(path(name), sql);
    return path(name);
  }
  [[nodiscard]] static std::string answer(const fs::path& log, const std::string& sql) {
    SQLite::Database database(log.string(), SQLite::OPEN_READWRITE);
    return database.execAndGet(sql).getString();
  }
  [[nodiscard]] bool is_known(const fs::path& log) const { return known_logs({log}, out()).front().has_value(); }

  fs::path base_, far_;
};

struct NewThing {
  const char* name;
  const char* change;    ///< of the base
  const char* question;  ///< whose answer it changes
};
/// Each of these is new to the output.
const std::vector<NewThing> kNewThings = {
    {"space", "INSERT INTO spaces (name, definition, definition_hash) VALUES ('new', '', 'hash-new')",
     "SELECT count(*) FROM spaces"},
    {"workload",
     "INSERT INTO workloads (name, batch, definition, definition_hash, layers_json, context_version) "
     "VALUES ('new', 1, '', 'hash-new', '[]', 1)",
     "SELECT count(*) FROM workloads"},
    {"context",
     "UPDATE workloads SET context_version = 2 WHERE name = 'net_a'; UPDATE workload_context SET value = 7 WHERE "
     "name = 'macs'",
     "SELECT max(context_version) || (SELECT group_concat(value) FROM workload_context) FROM workloads"},
    {"evaluator", "INSERT INTO evaluators (name, definition_hash, definition) VALUES ('pe_array', 'hash-new', '')",
     "SELECT count(*) FROM evaluators"},
    {"run",
     "INSERT INTO runs (kind, command_line, version, commit_hash, host, user, cwd, started_at) "
     "VALUES ('sweep', 'another', '0', '', '', '', '', '2025')",
     "SELECT count(*) FROM runs WHERE kind <> 'merge'"},
    {"finished run", "UPDATE runs SET status = 'interrupted' WHERE status = 'running'",
     "SELECT count(*) FROM runs WHERE status = 'interrupted'"},
    {"rows of a run", "UPDATE runs SET evaluations_inserted = 9 WHERE status = 'running'",
     "SELECT evaluations_inserted FROM runs WHERE status = 'running'"},
    {"design", "INSERT INTO designs (space_id, content_hash, text_id) VALUES (1, 5, 'pes_x=5')",
     "SELECT count(*) FROM designs"},
    {"repeat",
     "INSERT INTO evaluations (design_id, workload_id, evaluator_id, run_id, repeat, feasible, latency_s, energy_j, "
     "area_mm2) SELECT design_id, workload_id, evaluator_id, run_id, 1, feasible, latency_s, energy_j, area_mm2 FROM "
     "evaluations WHERE evaluation_id = 1; INSERT INTO evaluation_metrics SELECT (SELECT max(evaluation_id) FROM "
     "evaluations), name, value FROM evaluation_metrics WHERE evaluation_id = 1",
     "SELECT count(*) FROM evaluations"},
    {"row of another workload",
     "INSERT INTO evaluations (design_id, workload_id, evaluator_id, run_id, feasible, latency_s) "
     "SELECT design_id, 2, evaluator_id, run_id, 1, 3 FROM evaluations LIMIT 1",
     "SELECT count(*) FROM evaluations"},
    {"model", "UPDATE models SET file_sha256 = 'def'", "SELECT count(*) FROM models"},
    {"proposals",
     "INSERT INTO proposals (run_id, design_id, rank, objective, created_at) VALUES (1, 1, 1, 'latency_s', '2025')",
     "SELECT count(*) FROM proposals"},
    {"checkpoint", "INSERT INTO checkpoints VALUES ('other', '5', '2025')",
     "SELECT count(*) FROM checkpoints WHERE key = 'other'"},
    {"newer checkpoint", "UPDATE checkpoints SET value_json = '6', updated_at = '2999' WHERE key = 'sweep'",
     "SELECT value_json FROM checkpoints WHERE key = 'sweep'"},
    {"session",
     "INSERT INTO gpu_sessions VALUES (1, 1, 'hash', '', '', '', '', '2025', 'gpu', '', '', 'nvml', 90, 1, 1, 1, 1, "
     "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)",
     "SELECT count(*) FROM gpu_sessions"},
};

TEST_F(KnownLogs, WhatWasMergedIsCounted) {
  const std::vector<std::optional<KnownLog>> known = known_logs({base_, path("nowhere"), far_, out()}, out());
  ASSERT_EQ(known.size(), 4U);
  ASSERT_TRUE(known[0] && known[2] && known[3]);
  EXPECT_FALSE(known[1]);
  EXPECT_EQ(known[0]->evaluations, 8U);
  EXPECT_EQ(known[0]->designs, 9U) << "eight with rows, and a proposed one";
  EXPECT_EQ(known[2]->designs, 8U);
  EXPECT_EQ(known[3]->evaluations, 16U);
  EXPECT_FALSE(known_logs({base_}, far_).front());
  EXPECT_FALSE(known_logs({base_}, path("nowhere")).front());

  const std::string rows = answer(out(), "SELECT group_concat(evaluation_id || ' ' || design_id) FROM evaluations");
  const MergeResult result = merge({base_, far_, base_}, out());
  EXPECT_EQ(result.already_present, 24U);
  EXPECT_EQ(result.inputs[1].evaluations, 8U);
  EXPECT_EQ(result.inputs[2].designs, 9U);
  EXPECT_EQ(answer(out(), "SELECT group_concat(evaluation_id || ' ' || design_id) FROM evaluations"), rows);
  EXPECT_EQ(answer(out(),
                   "SELECT status || ' ' || evaluations_inserted || ' ' || evaluations_present FROM runs "
                   "ORDER BY run_id DESC LIMIT 1"),
            "finished 0 24");
  expect_no_litter();
}

/// Each of these is new to the output: it is not left out, and merging it beside a known log gives what merging all
/// into a new log gives.
TEST_F(KnownLogs, WhateverIsNewIsBrought) {
  for (const NewThing& one : kNewThings) {
    SCOPED_TRACE(one.name);
    const fs::path given = changed("changed", one.change), mine = path("mine"), fresh = path("fresh");
    EXPECT_FALSE(is_known(given));
    fs::copy_file(out(), mine, fs::copy_options::overwrite_existing);
    merge({far_, given, base_}, mine);
    merge({far_, base_, given}, fresh);
    EXPECT_NE(answer(mine, one.question), answer(out(), one.question)) << "the case tests nothing";
    EXPECT_EQ(answer(mine, one.question), answer(fresh, one.question));
    EXPECT_EQ(hash_of(mine), hash_of(fresh));
    EXPECT_TRUE(known_logs({given}, mine).front() || std::string(one.name) == "session") << "it is known now";
    fs::remove(fresh);
  }
}

TEST_F(KnownLogs, ContradictionsAndDamageAreFound) {
  struct Case {
    const char* change;
    ErrorKind kind;
    const char* words;
  };
  const std::vector<Case> cases = {
      {"UPDATE evaluations SET area_mm2 = 26 WHERE evaluation_id = 1", ErrorKind::usage,
       "area_mm2 is 25 there, 26 here"},
      {"UPDATE evaluations SET area_mm2 = NULL WHERE evaluation_id = 1", ErrorKind::usage, "25 there, missing here"},
      {"UPDATE evaluations SET feasible = 0, latency_s = NULL, energy_j = NULL WHERE evaluation_id = 1",
       ErrorKind::usage, "feasible is 1 there, 0 here"},
      {"UPDATE evaluations SET feasible = 1 WHERE evaluation_id = 2", ErrorKind::usage, "feasible is 0 there, 1 here"},
      {"UPDATE evaluation_metrics SET value = 9 WHERE value = 0.5", ErrorKind::usage, "accuracy is 0.5 there, 9 here"},
      {"UPDATE evaluation_metrics SET name = 'loss' WHERE value = 0.5", ErrorKind::usage, "accuracy is 0.5 there"},
      {"DELETE FROM evaluation_metrics", ErrorKind::usage, "2 rows of it contradict"},
      {"UPDATE evaluation_violations SET value = 9 WHERE evaluation_id = 2 AND position = 1", ErrorKind::usage,
       "its reason reticle"},
      {"UPDATE evaluation_violations SET limit_value = NULL WHERE evaluation_id = 2 AND position = 1", ErrorKind::usage,
       "its reason reticle"},
      {"UPDATE evaluation_violations SET layer = 'fc' WHERE evaluation_id = 2 AND position = 1", ErrorKind::usage,
       "its reason reticle"},
      {"UPDATE evaluation_violations SET code = 'other' WHERE evaluation_id = 2 AND position = 1", ErrorKind::usage,
       "its reason other"},
      {"UPDATE evaluation_violations SET quantity = 'other_s' WHERE evaluation_id = 2 AND position = 1",
       ErrorKind::usage, "its reason reticle"},
      {"DELETE FROM evaluation_violations WHERE evaluation_id = 2 AND position = 1", ErrorKind::usage,
       "its reason reticle"},
      {"INSERT INTO evaluation_violations SELECT evaluation_id, 2, code, quantity, value, limit_value, "
       "nearest_passing, "
       "layer, message FROM evaluation_violations WHERE evaluation_id = 2 AND position = 1",
       ErrorKind::usage, "its reason reticle"},
      {"UPDATE designs SET text_id = 'pes_x=8' WHERE design_id = 1", ErrorKind::failure, "have the same 64-bit hash"},
      {"UPDATE workload_context SET value = 7 WHERE name = 'macs'", ErrorKind::usage, "other context features"},
      {"UPDATE spaces SET definition_hash = 'x'", ErrorKind::usage, "has another definition"},
      {"UPDATE space_parameters SET name = 'z' WHERE position = 0", ErrorKind::incompatible, "names other parameters"},
      {"DELETE FROM space_parameters WHERE position = 0", ErrorKind::incompatible, "names other parameters"},
      {"UPDATE evaluations SET run_id = 99 WHERE evaluation_id = 1", ErrorKind::incompatible, "damaged log"},
      {"INSERT INTO evaluation_metrics VALUES (999, 'accuracy', 1)", ErrorKind::incompatible, "damaged log"},
      {"UPDATE proposals SET design_id = 999", ErrorKind::incompatible, "damaged log"},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.change);
    const fs::path given = changed("changed", one.change);
    EXPECT_FALSE(is_known(given));
    expect_refused({far_, given, base_}, out(), one.kind, one.words);
  }
}

TEST_F(KnownLogs, WhatContradictsNothingIsKnown) {
  for (const char* change : {
           "UPDATE workloads SET context_version = 0; UPDATE workload_context SET value = 7",   // older features
           "UPDATE checkpoints SET value_json = '3', updated_at = '2020' WHERE key = 'sweep'",  // an older position
           "UPDATE evaluation_violations SET message = 'put otherwise'",
           "UPDATE runs SET status = 'failed' WHERE status = 'finished'",  // main knows how it ended
           "DELETE FROM space_parameters; DELETE FROM evaluation_violations WHERE 0",
       }) {
    EXPECT_TRUE(is_known(changed("changed", change))) << change;
  }
  // Reasons in another order are the merge's to compare, which finds nothing new.
  const fs::path turned = changed("turned",
                                  "UPDATE evaluation_violations SET position = 1 - position + 2; "
                                  "UPDATE evaluation_violations SET position = position - 2");
  EXPECT_FALSE(is_known(turned));
  EXPECT_EQ(merge({turned, far_}, out()).already_present, 16U);
}

/// More than a CASE holds, and numbered otherwise.
TEST_F(KnownLogs, ManyWorkloadsAreToldApart) {
  constexpr int kWorkloads = 40;
  const auto make_one = [&](const std::string& name, bool reversed) {
    Log log = Log::open(path(name), OpenMode::read_write_create);
    const Ids ids = register_all(log);
    std::vector<EvaluationRow> rows;
    for (int i = 0; i < kWorkloads; ++i) {
      const int k = reversed ? kWorkloads - 1 - i : i;
      const std::string number = std::to_string(k);
      rows.push_back(
          feasible_row(log.add_workload("net" + number, "", "hash" + number, 1, "[]", 1, {}), text_id(1), k + 1.0, 1));
    }
    log.append(ids.run, ids.space, ids.evaluator, rows);
    log.end_run(ids.run, RunStatus::finished);
    return path(name);
  };
  const fs::path forth = make_one("forth", false), back = make_one("back", true), both = path("both");
  merge({forth}, both);
  EXPECT_TRUE(known_logs({back}, both).front());
  exec(back, "UPDATE evaluations SET latency_s = 5 WHERE latency_s = 40");
  EXPECT_FALSE(known_logs({back}, both).front());
}

TEST_F(KnownLogs, AnInterruptEndsTheLook) {
  set_interrupt_requested(true);
  const auto [kind, message] = error_of([&] { static_cast<void>(known_logs({base_, far_}, out())); });
  set_interrupt_requested(false);
  EXPECT_EQ(kind, ErrorKind::interrupted);
}

}  // namespace
}  // namespace hindsight::log::test

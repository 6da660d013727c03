/// Does a log that counts its rows block by block say what one says that reads them all, whoever wrote it and how?
#include "log/blocks.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include "hindsight/log/merge.h"
#include "hindsight/log/query.h"
#include "hindsight/log/repair.h"
#include "log/log_fixture.h"

namespace hindsight::log::test {
namespace {

using ::testing::HasSubstr;

/// Rows whose values repeat, so that the best are told apart by their designs; every seventh has a further metric.
std::vector<EvaluationRow> rows_with_ties(const Ids& ids, int first, int count) {
  std::vector<EvaluationRow> rows;
  for (int i = first; i < first + count; ++i) {
    const std::int64_t workload = i % 3 == 0 ? ids.other_workload : ids.workload;
    // Scattered: the designs of a block are not in the order of their texts.
    const std::string design = text_id(static_cast<int>((i * 7919LL) % 1'000'003));
    if (i % 5 == 0) {
      rows.push_back(feasible_row(workload, design, 1e-3 * (1 + i % 17), 1e-2 * (1 + i % 1009)));
      if (i % 7 == 0) rows.back().metrics.emplace_back(i % 2 == 0 ? "mac_j" : "sram_j", i);
    } else {
      rows.push_back(infeasible_row(
          workload, design,
          i % 2 == 0 ? std::vector<std::string>{"reticle"} : std::vector<std::string>{"noc", "reticle", "noc"}));
    }
  }
  return rows;
}

std::string text_of(const std::vector<RankedEvaluation>& ranked) {
  std::string text;
  for (const RankedEvaluation& one : ranked) {
    text += std::to_string(one.evaluation_id) + " " + one.design_text_id + " " + std::to_string(one.values[0]) + "\n";
  }
  return text;
}

/// What is answered with the help of blocks.
std::string answers(const Log& log) {
  std::string text;
  const Summary all = summary(log);
  for (const TableCount& table : all.tables) text += table.table + " " + std::to_string(table.rows) + "\n";
  for (const SpaceSummary& space : all.spaces) text += space.name + " " + std::to_string(space.designs) + "\n";
  for (const EvaluatorSummary& one : all.evaluators) {
    text += one.name + " " + std::to_string(one.evaluations) + " " + std::to_string(one.repeats) + "\n";
  }
  for (const std::string& name : metric_names(log)) text += name + " ";
  std::vector<EvaluationFilter> filters(2);
  filters[1].run_id = all.rows("runs");
  filters[1].space = "edge";
  text += text_of(best_designs(log, "net_a", "energy_j", 2, Direction::maximise));
  text += text_of(best_designs(log, "net_a", "mac_j", 2));
  for (const EvaluationFilter& filter : filters) {
    for (const WorkloadStats& stats : workload_stats(log, filter)) {
      text += "\n" + stats.workload + " " + std::to_string(stats.evaluations) + " " + std::to_string(stats.feasible);
      for (const ReasonCount& reason : stats.reasons) text += " " + reason.code + std::to_string(reason.evaluations);
    }
    for (const WorkloadOrigin& origin : workload_origins(log, filter)) {
      text += "\n" + origin.workload + " " + std::to_string(origin.run_id) + (origin.has_latency ? " latency" : "");
    }
    for (const std::size_t limit : {0U, 3U, 40U}) {
      text += "\n" + text_of(best_designs(log, "net_a", "latency_s", limit, Direction::minimise, filter));
      text += "\n" + text_of(best_designs(log, "net_a", "energy_j", limit, Direction::minimise, filter));
    }
  }
  return text;
}

class Blocks : public LogTest {
 protected:
  static constexpr int kBatch = 14'000;  // divides no block
  static constexpr int kRows = 5 * kBatch;

  int stored_blocks(const std::filesystem::path& file) {
    SQLite::Database database(file.string());
    return database.execAndGet("SELECT count(*) FROM checkpoints WHERE key LIKE 'block:%'").getInt();
  }
  void exec(const std::filesystem::path& file, const std::string& sql) {
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(sql);
  }
  /// The answers are those of a log that reads every row.
  void expect_as_without(const std::filesystem::path& file, int blocks) {
    ASSERT_EQ(stored_blocks(file), blocks);
    const std::string with = answers(Log::open(file, OpenMode::read_only));
    EXPECT_TRUE(Log::open(file, OpenMode::read_only).verify().sound());
    exec(file, "CREATE TABLE kept AS SELECT * FROM checkpoints; DELETE FROM checkpoints WHERE key LIKE 'block:%'");
    EXPECT_EQ(with, answers(Log::open(file, OpenMode::read_only)));
    exec(file, "INSERT OR IGNORE INTO checkpoints SELECT * FROM kept; DROP TABLE kept");
  }
  void fill(const std::filesystem::path& file, int first = 0) {
    Log log = Log::open(file, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    for (int i = first; i < first + kRows; i += kBatch) {
      EXPECT_EQ(log.append(ids.run, ids.space, ids.evaluator, rows_with_ties(ids, i, kBatch)).inserted, kBatch);
    }
  }
};

TEST_F(Blocks, ALogOfOneWriterIsCountedAsItGrows) {
  fill(file_);
  expect_as_without(file_, 1);
}

TEST_F(Blocks, WritersInTurnAreCountedTogether) {
  Log a = Log::open(file_, OpenMode::read_write_create), b = Log::open(file_, OpenMode::read_write);
  const Ids of_a = register_all(a), of_b = register_all(b);
  for (int i = 0; i < kRows; i += kBatch) {
    const bool first = i / kBatch % 2 == 0;
    const Ids& ids = first ? of_a : of_b;
    static_cast<void>((first ? a : b).append(ids.run, ids.space, ids.evaluator, rows_with_ties(ids, i, kBatch)));
  }
  expect_as_without(file_, 1);
}

TEST_F(Blocks, WhatIsRolledBackIsNotCounted) {
  Log log = Log::open(file_, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  const auto append = [&](int first) {
    static_cast<void>(log.append(ids.run, ids.space, ids.evaluator, rows_with_ties(ids, first, kBatch)));
  };
  for (int i = 0; i < 4; ++i) append(i * kBatch);
  {
    const Transaction transaction(log);
    append(4 * kBatch);  // fills the first block, and is not committed
    EXPECT_EQ(summary(log).rows("evaluations"), 5U * kBatch);
  }
  EXPECT_EQ(summary(log).rows("evaluations"), 4U * kBatch);
  append(9 * kBatch);
  expect_as_without(file_, 1);
}

TEST_F(Blocks, ALogWithoutThemCatchesUpWhenItIsAppendedTo) {
  fill(file_);
  exec(file_, "DELETE FROM checkpoints");
  Log log = Log::open(file_, OpenMode::read_write);
  const Ids ids = register_all(log);
  static_cast<void>(log.append(ids.run, ids.space, ids.evaluator, rows_with_ties(ids, kRows, 1)));
  expect_as_without(file_, 1);
}

TEST_F(Blocks, MergedAndRepairedLogsHaveTheirOwn) {
  fill(folder_ / "a.db");
  fill(folder_ / "b.db", kRows - 1000);
  static_cast<void>(merge_logs({folder_ / "a.db", folder_ / "b.db"}, file_, Contradictions::keep_first, provenance()));
  expect_as_without(file_, 2);
  static_cast<void>(repair_log(file_, folder_ / "repaired.db", provenance()));
  expect_as_without(folder_ / "repaired.db", 2);
}

TEST_F(Blocks, WrongOnesAreFound) {
  fill(file_);
  exec(file_, "UPDATE evaluations SET feasible = 1 WHERE evaluation_id = 30003");
  const Verification verification = Log::open(file_, OpenMode::read_only).verify();
  EXPECT_THAT(verification.problems,
              ::testing::Contains(HasSubstr("counts: those that are stored of evaluations 0 to 65535")));
}

TEST_F(Blocks, AnUnreadableOneIsReadAsRows) {
  fill(file_);
  const std::string right = answers(Log::open(file_, OpenMode::read_only));
  const auto of_group = [](const std::string& group) {
    return R"({"version":1,"counted":true,"designs_to":0,"designs":[],"metrics":0,"violations":0,"metric_names":[],)"
           R"("groups":[)" +
           group + "]}";
  };
  const std::string four = "[[0.1,1],[0.1,2],[0.1,3],[0.1,4]]";  // one more than a block keeps
  for (const std::string& text :
       {std::string(R"({"version":1,"counted":true})"), of_group("[1,1,1,4,4,0,true,[],[" + four + "]]"),
        of_group("[1,1,1,4,5,0,true,[],[]]")}) {
    exec(file_, "UPDATE checkpoints SET value_json = '" + text + "' WHERE key = 'block:000000000000'");
    EXPECT_EQ(answers(Log::open(file_, OpenMode::read_only)), right);
  }
}

/// Whoever wrote the log: what its blocks name need not be there.
TEST_F(Blocks, NamesOfWhatIsNotThereAreLeftOut) {
  fill(file_);
  exec(file_,
       "UPDATE checkpoints SET value_json = '"
       R"({"version":1,"counted":true,"designs_to":9,"designs":[[999,4]],"metrics":0,"violations":1,"metric_names":[],)"
       R"("groups":[[999,999,999,4,2,0,true,[["noc",2]],[[[0.1,999999999]]]]]})"
       "' WHERE key = 'block:000000000000'");
  const Log log = Log::open(file_, OpenMode::read_only);
  EXPECT_FALSE(answers(log).empty());
  for (const WorkloadStats& stats : workload_stats(log)) EXPECT_NE(stats.workload_id, 999);
  EXPECT_FALSE(log.verify().sound());
}

TEST(BlockCounter, OfTooManyKindsOfRowsDoesNotCount) {
  BlockCounter counter(0);
  const std::vector<double> none(standard_metrics().size(), 0.0);
  for (int run = 1; run <= 1000; ++run) {
    counter.add(
        {.evaluation_id = run, .workload_id = 1, .evaluator_id = 1, .run_id = run, .standard = none, .text_id = ""});
  }
  const Block block = counter.take();
  EXPECT_FALSE(block.counted);
  EXPECT_TRUE(block.groups.empty());
  EXPECT_FALSE(block_of(0, block_json(block))->counted);
}

}  // namespace
}  // namespace hindsight::log::test

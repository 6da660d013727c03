/// Do batches that are written beside the evaluation stay in order, and let go of each other?
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "sweep/sweep_fixture.h"

namespace hindsight::sweep {
namespace {

using test::error_of;
using test::options;
using test::rows;
using test::TemporaryFolder;
using ::testing::HasSubstr;

TEST(SweepBatches, WritesNoBatchBehindOneThatCouldNotBeWritten) {
  const TemporaryFolder folder;
  SweepOptions whole = options(folder / "whole.sqlite", 200);
  whole.batch_designs = 4;
  (void)run_sweep(whole);
  SweepOptions parts = whole;
  parts.log = folder / "parts.sqlite";
  parts.samples = 40;
  (void)run_sweep(parts);
  const std::vector<std::string> before = rows(parts.log);

  std::string first, refused;  // the first design of all, and one in the second of the new batches
  log::for_each_evaluation(log::Log::open(whole.log, log::OpenMode::read_only), {}, log::Detail::columns,
                           [&](const log::EvaluationRecord& record) {
                             if (record.design_id == 1) first = record.design_text_id;
                             if (record.design_id == 47) refused = record.design_text_id;
                             return record.design_id < 47;
                           });
  SQLite::Database(parts.log.string(), SQLite::OPEN_READWRITE)
      .exec("CREATE UNIQUE INDEX not_both ON designs (space_id) WHERE text_id IN ('" + first + "', '" + refused + "')");
  parts.samples = 200;
  EXPECT_THAT(error_of([&] { (void)run_sweep(parts); }).what(),
              HasSubstr("UNIQUE constraint failed: designs.space_id"));
  EXPECT_EQ(rows(parts.log).size(), before.size() + 2 * parts.batch_designs) << "one batch before it, none behind it";

  SQLite::Database(parts.log.string(), SQLite::OPEN_READWRITE).exec("DROP INDEX not_both");
  (void)run_sweep(parts);
  EXPECT_EQ(rows(parts.log), rows(whole.log));
}

TEST(SweepBatches, LeaveAThreadToWritingThatIsBehind) {
  const TemporaryFolder folder;
  SweepOptions sweep = options(folder / "busy.sqlite", 320);  // five batches
  sweep.batch_designs = 64;
  sweep.evaluator = evaluator::built_in(space::load_space("edge"), accel::load_technology("22nm"));
  sweep.limits = {{.fact = "area_mm2", .limit = 3}};  // facts are asked for each batch: one in 1,000 is so small
  const auto count_rows = [&] { return rows(sweep.log).size(); };
  std::unique_ptr<SQLite::Database> other;     // another process that writes for a while
  std::vector<unsigned> threads;               // of each batch's evaluation
  std::vector<std::set<unsigned>> drawing(1);  // of the facts asked for before it
  const auto was_asked = [&](test::Watched::Question question, unsigned given) {
    if (question == test::Watched::Question::facts) {
      drawing.back().insert(given);
      return;
    }
    drawing.emplace_back();
    threads.push_back(given);
    if (threads.size() == 2) {
      while (count_rows() < 2 * sweep.batch_designs) std::this_thread::yield();  // the first batch is there
      constexpr int kPatienceMs = 10'000;
      other = std::make_unique<SQLite::Database>(sweep.log.string(), SQLite::OPEN_READWRITE, kPatienceMs);
      other->exec("BEGIN IMMEDIATE");
    }
    if (threads.size() == 5) other->exec("ROLLBACK");
  };
  sweep.evaluator = std::make_shared<const test::Watched>(sweep.evaluator, was_asked);
  (void)run_sweep(sweep);
  // The second batch waits from then on, and the third behind it before the fourth is drawn.
  ASSERT_EQ(threads.size(), 5U);
  const std::set<unsigned> all = {2}, one_less = {1};
  for (const std::size_t batch : {0U, 1U}) {
    EXPECT_EQ(threads[batch], 2U);
    EXPECT_EQ(drawing[batch], all);
  }
  for (const std::size_t batch : {3U, 4U}) {
    EXPECT_EQ(threads[batch], 1U);
    EXPECT_EQ(drawing[batch], one_less);
  }
  EXPECT_EQ(count_rows(), 640U);
}

// If each batch held on to the one before, the end of the sweep would let go of them one inside the other.
TEST(SweepBatches, OfManyBatchesEndsOnASmallStack) {
  const TemporaryFolder folder;
  SweepOptions sweep = options(folder / "many.sqlite", 4000);
  sweep.evaluator = evaluator::built_in(space::load_space("edge"), accel::load_technology("22nm"));
  sweep.networks.pop_back();
  sweep.batch_designs = 1;
  constexpr std::size_t kStackBytes = 160 * 1024;  // 4,000 frames of 48 bytes are more than all else leaves
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, kStackBytes), 0);
  pthread_t thread{};
  const auto run = [](void* which) -> void* {
    (void)run_sweep(*static_cast<const SweepOptions*>(which));
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &sweep), 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, nullptr);
  EXPECT_EQ(rows(sweep.log).size(), 4000U);
}

}  // namespace
}  // namespace hindsight::sweep

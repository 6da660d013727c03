/// Does a search that is asked again continue where it was, and does the log hold its questions in order?
#include "hindsight/sweep/queries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "sweep/sweep_fixture.h"
#include "tolerances.h"

namespace hindsight::sweep {
namespace {

using test::error_of;
using test::network;
using test::options;
using test::rows;
using test::TemporaryFolder;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

SweepOptions searched(const std::filesystem::path& log, std::uint64_t samples) {
  SweepOptions sweep = options(log, samples);
  sweep.search = "stroll";
  sweep.objective = "latency_s";
  return sweep;
}

/// Asks for designs from number `first` on: over every second one when the last answer was better than the one before.
Search stroll(const SweepOptions& options, std::vector<std::string>* asked = nullptr, std::uint64_t first = 0) {
  return [&options, asked, first](const Ask& ask) {
    double last = std::numeric_limits<double>::infinity();
    std::uint64_t number = first;
    for (std::uint64_t i = 0; i < options.samples && number < options.space().size(); ++i) {
      if (interrupt_requested()) return;
      const space::Design design = options.space().design(number);
      if (asked != nullptr) asked->push_back(options.space().text_id(design));
      const double now = ask(design).value_or(std::numeric_limits<double>::infinity());
      number += now < last ? 2 : 1;
      last = now;
    }
  };
}

std::vector<std::string> designs_in_order(const std::filesystem::path& file, std::size_t networks) {
  std::vector<std::string> designs;
  std::size_t row = 0;
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  log::for_each_evaluation(log, {}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    if (row++ % networks == 0) designs.push_back(record.design_text_id);
    return true;
  });
  return designs;
}

TEST(Queries, AreLoggedInOrderInfeasibleOnesToo) {
  const TemporaryFolder folder;
  const SweepOptions sweep = searched(folder / "a.sqlite", 50);  // 50 = 3 batches of 16, and 2
  std::vector<std::string> asked;
  const SweepSummary summary = run_queries(sweep, stroll(sweep, &asked));
  EXPECT_EQ(summary.status, SweepStatus::finished);
  EXPECT_EQ(summary.designs, 50U);
  EXPECT_EQ(summary.rows_inserted, 100U);
  EXPECT_THAT(designs_in_order(sweep.log, 2), ElementsAreArray(asked));
  for (const WorkloadCounts& counts : summary.workloads) EXPECT_EQ(counts.feasible + counts.infeasible, 50U);
  EXPECT_GT(summary.workloads[1].infeasible, 0U) << "or nothing shows that they are logged";
}

TEST(Queries, AnswerWithTheGeometricMeanOfTheNetworks) {
  const TemporaryFolder folder;
  const SweepOptions both = searched(folder / "both.sqlite", 384);
  std::size_t feasible = 0;
  (void)run_queries(both, [&](const Ask& ask) {
    for (std::uint64_t i = 0; i < both.samples; ++i) {
      const space::Design design = both.space().design(i);
      const std::optional<double> score = ask(design);
      const auto rows = both.evaluator->evaluate(design.levels, both.networks);
      ASSERT_EQ(score.has_value(), rows[0].feasible && rows[1].feasible);
      if (!score) continue;
      ++feasible;
      const double product =
          evaluator::metric_of(rows[0], "latency_s").value() * evaluator::metric_of(rows[1], "latency_s").value();
      EXPECT_NEAR(*score / std::sqrt(product), 1, hindsight::test::kRounding);  // two roundings of logarithms below 20
    }
  });
  EXPECT_GT(feasible, 0U);
}

TEST(Queries, AnswerLargerIsBetterWithItsNegative) {
  const TemporaryFolder folder;
  SweepOptions sweep = searched(folder / "a.sqlite", 384);
  sweep.networks = {network("small", 16)};
  sweep.objective = "utilisation_frac";
  double smallest = 0;
  (void)run_queries(sweep, [&](const Ask& ask) {
    for (std::uint64_t i = 0; i < sweep.samples; ++i) {
      smallest = std::min(smallest, ask(sweep.space().design(i)).value_or(0));
    }
  });
  EXPECT_LT(smallest, 0);
}

TEST(Queries, ContinueWithoutAskingAgainAfterInterruptions) {
  const TemporaryFolder folder;
  const SweepOptions whole = searched(folder / "whole.sqlite", 60);
  (void)run_queries(whole, stroll(whole));
  const SweepOptions parts = searched(folder / "parts.sqlite", 60);
  std::uint64_t evaluations = 0;
  SweepStatus status = SweepStatus::interrupted;
  int runs = 0;
  for (; status == SweepStatus::interrupted && runs < 20; ++runs) {
    const auto before = evaluator::count_so_far().evaluations;
    std::uint64_t patience =
        7 + 13 * static_cast<std::uint64_t>(runs);  // in batches of 16, at their ends, and past them
    set_interrupt_requested(false);
    status = run_queries(parts, [&](const Ask& ask) {
               stroll(parts)([&](const space::Design& design) {
                 if (--patience == 0) set_interrupt_requested(true);
                 return ask(design);
               });
             }).status;
    evaluations += evaluator::count_so_far().evaluations - before;
  }
  set_interrupt_requested(false);
  EXPECT_EQ(status, SweepStatus::finished);
  EXPECT_GT(runs, 2);
  EXPECT_EQ(evaluations, 2U * 60U) << "no query was repeated";
  EXPECT_EQ(rows(parts.log), rows(whole.log));
}

TEST(Queries, ContinueWhenSamplesGrowAndSayWhenNothingIsLeft) {
  const TemporaryFolder folder;
  SweepOptions sweep = searched(folder / "a.sqlite", 40);
  (void)run_queries(sweep, stroll(sweep));
  EXPECT_EQ(run_queries(sweep, stroll(sweep)).status, SweepStatus::already_finished);
  sweep.samples = 5000;
  const SweepSummary summary = run_queries(sweep, stroll(sweep));
  EXPECT_EQ(summary.status, SweepStatus::exhausted);
  EXPECT_EQ(summary.designs_this_run, summary.designs - 40);
  EXPECT_EQ(run_queries(sweep, stroll(sweep)).status, SweepStatus::exhausted);
  SweepOptions at_once = searched(folder / "b.sqlite", 5000);
  (void)run_queries(at_once, stroll(at_once));
  EXPECT_EQ(rows(sweep.log), rows(at_once.log));
}

TEST(Queries, ContinueBehindRowsOfAnotherSweep) {
  const TemporaryFolder folder;
  SweepOptions grid = options(folder / "a.sqlite", 0);
  grid.sampler = space::SamplerKind::grid;
  (void)run_sweep(grid);
  SweepOptions sweep = searched(grid.log, 20);
  const SweepSummary summary = run_queries(sweep, stroll(sweep));
  EXPECT_EQ(summary.rows_already_present, 40U);
  sweep.samples = 30;
  EXPECT_EQ(run_queries(sweep, stroll(sweep)).designs_this_run, 10U);
}

TEST(Queries, RefuseASearchThatChanged) {
  const TemporaryFolder folder;
  SweepOptions sweep = searched(folder / "a.sqlite", 20);
  (void)run_queries(sweep, stroll(sweep));
  sweep.samples = 40;
  const auto fails = [&](const Search& search) {
    const Error error = error_of([&] { (void)run_queries(sweep, search); });
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
    EXPECT_THAT(error.what(), HasSubstr("20 designs that it asked for before"));
  };
  fails(stroll(sweep, nullptr, 200));
  fails([](const Ask&) {});
}

TEST(Queries, RefuseWhatASearchCannotDo) {
  const auto message = [](const SweepOptions& sweep) {
    const Error error = error_of([&] { (void)run_queries(sweep, stroll(sweep)); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return std::string(error.what());
  };
  const TemporaryFolder folder;
  const SweepOptions good = searched(folder / "a.sqlite", 20);
  SweepOptions bad = good;
  bad.objective.clear();
  EXPECT_THAT(message(bad), HasSubstr("--sampler stroll needs --objective METRIC"));
  bad = good;
  bad.objective = "energy";
  EXPECT_THAT(message(bad), HasSubstr("unknown objective 'energy'"));
  bad = good;
  bad.shard = {.index = 1, .count = 2};
  EXPECT_THAT(message(bad), HasSubstr("--shard and --sampler stroll exclude each other"));
  bad = good;
  bad.keep = Keep{.kind = KeepKind::worst, .share_frac = 0.5};
  EXPECT_THAT(message(bad), HasSubstr("--keep and --sampler stroll exclude each other"));
  bad = good;
  bad.samples = 0;
  EXPECT_THAT(message(bad), HasSubstr("--samples is missing: the sampler 'stroll'"));
}

}  // namespace
}  // namespace hindsight::sweep

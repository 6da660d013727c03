/// Do exactly the worst rows of a sample stay, with all infeasible ones, whatever interrupts it?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/sweep/sweep.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::sweep {
namespace {

using test::error_of;
using test::Interrupter;
using test::options;
using test::rows;
using test::TemporaryFolder;
using ::testing::HasSubstr;

SweepOptions kept(const std::filesystem::path& log, std::uint64_t samples, const std::string& keep) {
  SweepOptions sweep = options(log, samples);
  sweep.keep = parse_keep(keep);
  if (sweep.keep->kind == KeepKind::worst) sweep.objective = "latency_s";
  return sweep;
}

/// What a log says of each network: latencies of its feasible rows in the order of the log, and infeasible rows.
struct Contents {
  std::map<std::int64_t, std::vector<double>> latency_s;
  std::map<std::int64_t, std::size_t> infeasible;
};
Contents contents(const std::filesystem::path& file) {
  const auto& metrics = log::standard_metrics();
  const auto latency =
      static_cast<std::size_t>(std::find(metrics.begin(), metrics.end(), "latency_s") - metrics.begin());
  Contents result;
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  log::for_each_evaluation(log, {}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    if (record.feasible) {
      result.latency_s[record.workload_id].push_back(record.standard[latency]);
    } else {
      ++result.infeasible[record.workload_id];
    }
    return true;
  });
  return result;
}

/// Rows of `share` among `count`, as the option promises.
std::size_t rounded(double share, std::size_t count) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(share * static_cast<double>(count))));
}

TEST(Keep, LeavesTheWorstShareOfEveryNetworkAndAllInfeasibleRows) {
  const TemporaryFolder folder;
  const SweepOptions all = options(folder / "all.sqlite", 300);
  (void)run_sweep(all);
  const Contents whole = contents(all.log);
  for (const double share : {0.5, 0.07}) {
    SCOPED_TRACE(share);
    const SweepOptions some = kept(folder / (std::to_string(share) + ".sqlite"), 300, "worst:" + std::to_string(share));
    const SweepSummary summary = run_sweep(some);
    EXPECT_EQ(summary.status, SweepStatus::finished);
    EXPECT_EQ(summary.designs, 300U);
    const Contents left = contents(some.log);
    EXPECT_EQ(left.infeasible, whole.infeasible);
    std::size_t rows_left = 0;
    for (const auto& [network, latencies] : whole.latency_s) {
      std::vector<double> expected = latencies;
      std::sort(expected.rbegin(), expected.rend());
      expected.resize(rounded(share, latencies.size()));
      std::vector<double> found = left.latency_s.at(network);
      std::sort(found.rbegin(), found.rend());
      EXPECT_EQ(found, expected);
      rows_left += found.size() + left.infeasible.at(network);
    }
    EXPECT_EQ(summary.rows_inserted, rows_left);
    EXPECT_EQ(summary.rows_left_out, 600 - rows_left);
    EXPECT_TRUE(log::Log::open(some.log, log::OpenMode::read_only).verify().sound());
  }
}

TEST(Keep, MeansTheSmallestWhereMoreIsBetter) {
  const TemporaryFolder folder;
  SweepOptions all = options(folder / "all.sqlite", 300);
  (void)run_sweep(all);
  SweepOptions some = kept(folder / "some.sqlite", 300, "worst:0.5");
  some.objective = "utilisation_frac";
  (void)run_sweep(some);
  const auto mean = [](const std::filesystem::path& file) {
    const auto& metrics = log::standard_metrics();
    const auto column =
        static_cast<std::size_t>(std::find(metrics.begin(), metrics.end(), "utilisation_frac") - metrics.begin());
    double sum = 0, count = 0;
    const log::Log log = log::Log::open(file, log::OpenMode::read_only);
    log::for_each_evaluation(log, {.feasible = true}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
      sum += record.standard[column];
      ++count;
      return true;
    });
    return sum / count;
  };
  EXPECT_LT(mean(some.log), mean(all.log));
}

TEST(Keep, AtRandomLeavesAsManyRowsOfAllQualities) {
  const TemporaryFolder folder;
  const SweepOptions worst = kept(folder / "worst.sqlite", 300, "worst:0.3");
  const SweepOptions random = kept(folder / "random.sqlite", 300, "random:0.3");
  const SweepOptions all = options(folder / "all.sqlite", 300);
  for (const SweepOptions* sweep : {&worst, &random, &all}) (void)run_sweep(*sweep);
  const Contents of_worst = contents(worst.log);
  const Contents of_random = contents(random.log);
  EXPECT_EQ(of_random.infeasible, of_worst.infeasible);
  for (const auto& [network, latencies] : contents(all.log).latency_s) {
    const std::vector<double>& found = of_random.latency_s.at(network);
    EXPECT_EQ(found.size(), of_worst.latency_s.at(network).size());
    const double median = test::median_of(latencies);
    const auto better = std::count_if(found.begin(), found.end(), [&](double value) { return value < median; });
    EXPECT_GT(better, 0) << "the worst 30 % hold none of these";
  }
}

TEST(Keep, GivesTheSameRowsWhenInterruptedAndForAnyBatch) {
  const TemporaryFolder folder;
  const SweepOptions whole = kept(folder / "whole.sqlite", 120, "worst:0.5");
  (void)run_sweep(whole);
  SweepOptions parts = kept(folder / "parts.sqlite", 120, "worst:0.5");
  parts.batch_designs = 5;  // 24 batches of the first pass, and 24 of the second
  SweepStatus status = SweepStatus::interrupted;
  std::uint64_t patience = 10;  // the first run ends in its first pass, later ones in the second
  int runs = 0;
  std::uint64_t asked = 0;
  for (; status == SweepStatus::interrupted && runs < 100; ++runs) {
    parts.evaluator = std::make_shared<const Interrupter>(whole.evaluator, patience);
    set_interrupt_requested(false);
    const auto before = evaluator::count_so_far().evaluations;
    status = run_sweep(parts).status;
    asked = evaluator::count_so_far().evaluations - before;
    EXPECT_EQ(std::filesystem::exists(parts.log), runs > 0) << "the first pass leaves no log";
    patience = runs == 0 ? 30 : 5;
  }
  set_interrupt_requested(false);
  EXPECT_EQ(status, SweepStatus::finished);
  EXPECT_GT(runs, 3);
  // The first pass alone is 120 x 2 evaluations, counted twice because the interrupter asks the model.
  EXPECT_LT(asked, 2U * 240U) << "thresholds come from the checkpoint";
  EXPECT_EQ(rows(parts.log), rows(whole.log));
}

TEST(Keep, TakesWholeGridsAndSpacesThatEnd) {
  const TemporaryFolder folder;
  SweepOptions grid = kept(folder / "grid.sqlite", 0, "worst:0.5");
  grid.sampler = space::SamplerKind::grid;
  EXPECT_EQ(run_sweep(grid).status, SweepStatus::finished);
  SweepOptions uniform = kept(folder / "uniform.sqlite", 5000, "worst:0.5");
  EXPECT_EQ(run_sweep(uniform).status, SweepStatus::exhausted);
  EXPECT_EQ(run_sweep(uniform).status, SweepStatus::exhausted);
  const Contents of_grid = contents(grid.log);
  const Contents of_uniform = contents(uniform.log);
  EXPECT_EQ(of_grid.infeasible, of_uniform.infeasible);
  for (auto [network, latencies] : of_grid.latency_s) {
    std::vector<double> others = of_uniform.latency_s.at(network);
    std::sort(latencies.begin(), latencies.end());
    std::sort(others.begin(), others.end());
    EXPECT_EQ(latencies, others);
  }
}

TEST(Keep, IsPartOfTheDefinition) {
  const SweepOptions all = options("a.sqlite", 100);
  const SweepOptions half = kept("a.sqlite", 100, "worst:0.5");
  EXPECT_NE(definition_hash(half), definition_hash(all));
  EXPECT_NE(definition_hash(kept("a.sqlite", 100, "worst:0.4")), definition_hash(half));
  EXPECT_NE(definition_hash(kept("a.sqlite", 100, "random:0.5")), definition_hash(half));
  EXPECT_NE(definition_hash(kept("a.sqlite", 101, "worst:0.5")), definition_hash(half)) << "other thresholds";
  SweepOptions other = half;
  other.objective = "energy_j";
  EXPECT_NE(definition_hash(other), definition_hash(half));
}

TEST(Keep, IsRefusedWhereItCannotBeMeant) {
  const auto message = [](const SweepOptions& sweep) {
    const Error error = error_of([&] { (void)run_sweep(sweep); });
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return std::string(error.what());
  };
  const TemporaryFolder folder;
  const SweepOptions good = kept(folder / "a.sqlite", 20, "worst:0.5");
  SweepOptions bad = good;
  bad.shard = {.index = 0, .count = 2};
  EXPECT_THAT(message(bad), HasSubstr("--shard exclude each other: which rows stay follows from the whole sample"));
  bad = good;
  bad.objective.clear();
  EXPECT_THAT(message(bad), HasSubstr("needs --objective METRIC"));
  bad = good;
  bad.objective = "latencys";
  EXPECT_THAT(message(bad), HasSubstr("unknown objective 'latencys'. Did you mean 'latency_s'?"));
  bad = good;
  bad.keep.reset();
  EXPECT_THAT(message(bad), HasSubstr("--objective latency_s has no use here"));
}

TEST(Keep, ParsesAKindAndAShare) {
  const Keep keep = parse_keep("worst:0.25");
  EXPECT_EQ(keep.kind, KeepKind::worst);
  EXPECT_EQ(keep.share_frac, 0.25);
  EXPECT_EQ(to_string(parse_keep("random:0.50")), "random:0.5");
  for (const char* text : {"worst:0", "worst:1", "worst:-0.5", "worst:50", "worst:nan", "worst:half"}) {
    EXPECT_THAT(error_of([&] { (void)parse_keep(text); }).what(), HasSubstr("a number between 0 and 1")) << text;
  }
  for (const char* text : {"", "worst", "best:0.5", "0.5", "worst:0.5:1"}) {
    EXPECT_THAT(error_of([&] { (void)parse_keep(text); }).what(), HasSubstr("worst:SHARE or random:SHARE")) << text;
  }
}

}  // namespace
}  // namespace hindsight::sweep

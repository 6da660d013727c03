/// Does a sweep evaluate what it says, in the order it says, whatever interrupts or splits it?
#include "hindsight/sweep/sweep.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <span>

#include "hindsight/accel/evaluation.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/space/sampling.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::sweep {
namespace {

using test::error_of;
using test::Interrupter;
using test::network;
using test::options;
using test::rows;
using test::TemporaryFolder;
using ::testing::HasSubstr;

std::string file_hash(const std::filesystem::path& file) { return sha256_hex(read_file(file)); }

TEST(Sweep, WritesEveryDesignOnEveryNetworkOnce) {
  const TemporaryFolder folder;
  for (const auto sampler :
       {space::SamplerKind::uniform, space::SamplerKind::lhs, space::SamplerKind::sobol, space::SamplerKind::grid}) {
    SCOPED_TRACE(space::to_string(sampler));
    SweepOptions sweep = options(folder / (space::to_string(sampler) + ".sqlite"), 100);
    sweep.sampler = sampler;
    const SweepSummary summary = run_sweep(sweep);
    EXPECT_EQ(summary.status, SweepStatus::finished);
    EXPECT_EQ(summary.designs, 100U);
    EXPECT_EQ(summary.rows_inserted, 200U);
    EXPECT_EQ(summary.rows_already_present, 0U);
    EXPECT_EQ(summary.rows_rejected, 0U) << summary.first_rejection;
    EXPECT_EQ(summary.accepted + summary.repeated + summary.constrained, summary.candidates);
    EXPECT_EQ(rows(sweep.log).size(), 200U);
    for (const WorkloadCounts& counts : summary.workloads) EXPECT_EQ(counts.feasible + counts.infeasible, 100U);
    EXPECT_TRUE(log::Log::open(sweep.log, log::OpenMode::read_only).verify().sound());
  }
}

TEST(Sweep, LogsWhatTheModelSays) {
  const TemporaryFolder folder;
  SweepOptions sweep = options(folder / "a.sqlite", 0);
  sweep.sampler = space::SamplerKind::grid;
  const SweepSummary summary = run_sweep(sweep);
  ASSERT_EQ(summary.status, SweepStatus::finished);
  ASSERT_EQ(summary.designs, sweep.space().size());
  const accel::Technology technology = accel::load_technology("22nm");
  const accel::ConfigBinding binding(sweep.space());
  const auto& metrics = log::standard_metrics();
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(metrics.begin(), metrics.end(), name) - metrics.begin());
  };
  const log::Log log = log::Log::open(sweep.log, log::OpenMode::read_only);
  const auto workloads = log::workloads(log);
  std::size_t renamed = 0;  // hints that are a level of the space and not the plain number
  log::for_each_evaluation(log, {}, log::Detail::all, [&](const log::EvaluationRecord& record) {
    const space::Design design = sweep.space().parse_design(record.design_text_id);
    const accel::ChipFacts chip = accel::chip_facts(binding.bind(sweep.space(), design), technology);
    const std::size_t which = record.workload_id == workloads[0].workload_id ? 0 : 1;
    accel::Evaluation expected = accel::evaluate(chip, sweep.networks[which].gemms(), accel::Depth::stop_at_hardware);
    const accel::ViolationList numbers = expected.violations;
    accel::name_levels(expected.violations, sweep.space(), design.levels);
    EXPECT_EQ(record.feasible, expected.feasible());
    EXPECT_EQ(record.violations.size(), expected.violations.count);
    for (std::size_t i = 0; i < std::min(record.violations.size(), expected.violations.count); ++i) {
      EXPECT_EQ(record.violations[i].nearest_passing, expected.violations.items[i].nearest_passing);
      if (numbers.items[i].nearest_passing != expected.violations.items[i].nearest_passing) ++renamed;
    }
    EXPECT_EQ(record.standard[column("area_mm2")], expected.area.total_mm2());
    if (expected.feasible()) {
      EXPECT_EQ(record.standard[column("latency_s")], expected.metrics->latency_s);
      EXPECT_EQ(record.standard[column("energy_j")], expected.metrics->energy_j);
      EXPECT_EQ(record.standard[column("dram_read_bytes")] + record.standard[column("dram_write_bytes")],
                expected.metrics->traffic.dram_bytes());
    }
    return !::testing::Test::HasFailure();
  });
  EXPECT_GT(renamed, 0U);
}

TEST(Sweep, GivesTheSameRowsForAnyNumberOfThreads) {
  const TemporaryFolder folder;
  std::vector<std::vector<std::string>> contents;
  for (const unsigned threads : {1U, 2U, 5U}) {
    SweepOptions sweep = options(folder / (std::to_string(threads) + ".sqlite"), 150);
    sweep.threads = threads;
    (void)run_sweep(sweep);
    contents.push_back(rows(sweep.log));
  }
  EXPECT_EQ(contents[0], contents[1]);
  EXPECT_EQ(contents[0], contents[2]);
}

TEST(Sweep, GivesTheSameRowsWhenInterruptedAtRandomPoints) {
  const TemporaryFolder folder;
  SweepOptions whole = options(folder / "whole.sqlite", 300);
  whole.batch_designs = 4;
  whole.limits = {{.fact = "area_mm2", .limit = 100}};
  (void)run_sweep(whole);
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  SweepOptions parts = whole;
  parts.log = folder / "parts.sqlite";
  SweepStatus status = SweepStatus::interrupted;
  std::uint64_t designs = 0;
  int interruptions = -1;
  for (; status == SweepStatus::interrupted && interruptions < 300; ++interruptions) {
    parts.threads = static_cast<unsigned>(1 + random() % 3);
    parts.evaluator = std::make_shared<const Interrupter>(whole.evaluator, 1 + random() % 10);
    set_interrupt_requested(false);
    const SweepSummary summary = run_sweep(parts);
    status = summary.status;
    designs += summary.designs_this_run;
  }
  set_interrupt_requested(false);
  EXPECT_NE(status, SweepStatus::interrupted);
  EXPECT_GT(interruptions, 0);
  EXPECT_EQ(designs, 300U) << "no design was evaluated twice";
  EXPECT_EQ(rows(parts.log), rows(whole.log));
}

TEST(Sweep, GetsOnHoweverOftenItIsInterruptedAtOnce) {
  const TemporaryFolder folder;
  const SweepOptions whole = options(folder / "whole.sqlite", 20);
  (void)run_sweep(whole);
  SweepOptions parts = whole;
  parts.log = folder / "parts.sqlite";
  SweepStatus status = SweepStatus::interrupted;
  int runs = 0;
  for (; status == SweepStatus::interrupted && runs < 100; ++runs) {
    set_interrupt_requested(true);
    status = run_sweep(parts).status;
  }
  set_interrupt_requested(false);
  EXPECT_EQ(status, SweepStatus::finished) << "after " << runs << " runs";
  EXPECT_GT(runs, 1) << "an interrupted run stops before its end";
  EXPECT_EQ(rows(parts.log), rows(whole.log));
}

TEST(Sweep, ContinuesWhenSamplesGrow) {
  const TemporaryFolder folder;
  SweepOptions grown = options(folder / "grown.sqlite", 50);
  (void)run_sweep(grown);
  grown.samples = 120;
  const SweepSummary summary = run_sweep(grown);
  EXPECT_TRUE(summary.resumed);
  EXPECT_EQ(summary.designs_this_run, 70U);
  EXPECT_EQ(summary.designs, 120U);
  const SweepOptions whole = options(folder / "whole.sqlite", 120);
  (void)run_sweep(whole);
  EXPECT_EQ(rows(grown.log), rows(whole.log));
}

TEST(Sweep, DoesNothingWhenFinished) {
  const TemporaryFolder folder;
  const SweepOptions sweep = options(folder / "a.sqlite", 40);
  (void)run_sweep(sweep);
  const std::string before = file_hash(sweep.log);
  const SweepSummary again = run_sweep(sweep);
  EXPECT_EQ(again.status, SweepStatus::already_finished);
  EXPECT_EQ(again.designs, 40U);
  EXPECT_FALSE(again.run_id);
  EXPECT_EQ(file_hash(sweep.log), before);
}

TEST(Sweep, EvaluatesExactlyTheDesignsWithinTheLimit) {
  const TemporaryFolder folder;
  SweepOptions sweep = options(folder / "a.sqlite", 0);
  sweep.sampler = space::SamplerKind::grid;
  // The median area of the space as limit, found by brute force.
  const accel::Technology technology = accel::load_technology("22nm");
  const accel::ConfigBinding binding(sweep.space());
  std::vector<double> areas;
  for (std::uint64_t i = 0; i < *sweep.space().size(); ++i) {
    areas.push_back(accel::area(binding.bind(sweep.space(), sweep.space().design(i)), technology).total_mm2());
  }
  std::vector<double> sorted = areas;
  std::sort(sorted.begin(), sorted.end());
  const double limit = sorted[sorted.size() / 2];
  const auto within = std::count_if(areas.begin(), areas.end(), [&](double area) { return area <= limit; });
  sweep.limits = {{.fact = "area_mm2", .limit = limit}};
  const SweepSummary summary = run_sweep(sweep);
  EXPECT_EQ(summary.designs, static_cast<std::uint64_t>(within));
  EXPECT_EQ(summary.constrained, areas.size() - static_cast<std::size_t>(within));
  EXPECT_EQ(rows(sweep.log).size(), 2 * static_cast<std::size_t>(within));
}

TEST(Sweep, SaysWhyNoDesignIsWithinTheLimitAndMakesNoLog) {
  const TemporaryFolder folder;
  SweepOptions sweep = options(folder / "a.sqlite", 10);
  sweep.limits = {{.fact = "area_mm2", .limit = 0.001}};
  const Error error = error_of([&] { (void)run_sweep(sweep); });
  EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
  EXPECT_THAT(error.what(), HasSubstr("area_mm2 <= 0.001"));
  EXPECT_THAT(error.what(), HasSubstr("the smallest has"));
  EXPECT_FALSE(std::filesystem::exists(sweep.log));
}

TEST(Sweep, NamesTheSmallestValueAtOnceAndThatValueIsReached) {
  const TemporaryFolder folder;
  const auto model = options("", 0).evaluator;
  for (const std::string& metric : model->fact_names()) {
    SweepOptions sweep = options(folder / (metric + ".sqlite"), 0);
    sweep.sampler = space::SamplerKind::grid;
    sweep.limits = {{.fact = metric, .limit = 0.001}};
    const std::string text = error_of([&] { (void)run_sweep(sweep); }).what();
    const std::string before = "the smallest has ";
    const auto begin = text.find(before) + before.size();
    const auto smallest = parse_double(text.substr(begin, text.find(". Raise", begin) - begin));
    ASSERT_TRUE(smallest) << text;
    EXPECT_LE(shortest(*smallest).size(), 6U) << "three digits";
    sweep.limits[0].limit = *smallest;  // the remedy, followed as little as possible
    EXPECT_GE(run_sweep(sweep).designs, 1U) << text;
    // Not found by drawing: the space has 452,760,000 designs, and this sampler would draw without end.
    SweepOptions large = options(folder / "large.sqlite", 5);
    large.evaluator = evaluator::built_in(space::load_space("edge"), accel::load_technology("22nm"));
    large.limits = {{.fact = metric, .limit = 0.001}};
    large.max_fruitless_candidates = 1'000'000'000'000;
    EXPECT_THAT(error_of([&] { (void)run_sweep(large); }).what(), HasSubstr("the smallest has"));
  }
}

TEST(Sweep, SaysWhatIsSmallestAmongTheDrawnWhenLimitsExcludeThemTogether) {
  const TemporaryFolder folder;
  SweepOptions sweep = options(folder / "a.sqlite", 10);
  sweep.evaluator = evaluator::built_in(space::load_space("edge"), accel::load_technology("22nm"));
  const double smallest = sweep.evaluator->smallest_fact("area_mm2").value();
  sweep.limits = {{.fact = "area_mm2", .limit = smallest * (1 + 1e-9)}};  // one design in 452,760,000
  sweep.max_fruitless_candidates = 10'000;
  const Error error = error_of([&] { (void)run_sweep(sweep); });
  EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
  EXPECT_THAT(error.what(), HasSubstr("among 10,"));
  EXPECT_THAT(error.what(), HasSubstr("smallest seen: area_mm2"));
}

TEST(Sweep, SaysHowSmallTheDrawnAreWithTheirWhiteSpace) {
  const TemporaryFolder folder;
  constexpr std::size_t kDrawn = 100;
  SweepOptions sweep = options(folder / "a.sqlite", 10);
  sweep.evaluator = evaluator::built_in(space::load_space("edge"), accel::load_technology("22nm-silicon@passive"));
  const double smallest = sweep.evaluator->smallest_fact("area_mm2").value();
  sweep.limits = {{.fact = "area_mm2", .limit = smallest * (1 + 1e-9)}};
  sweep.max_fruitless_candidates = kDrawn;
  const space::DesignSpace& space = sweep.space();
  const std::vector<std::string> area{"area_mm2"};
  const std::vector<double> limits{sweep.limits[0].limit};
  std::string with, without;
  for (sweep.seed = 1; with == without; ++sweep.seed) {  // until the smallest drawn one is hot
    ASSERT_LT(sweep.seed, 1000U);
    const auto sampler = space::make_sampler(space::SamplerKind::uniform, space, sweep.seed, 10, 0);
    std::vector<std::uint16_t> levels(kDrawn * space.parameters().size());
    for (std::size_t i = 0; i < kDrawn; ++i) {
      sampler->sample(i, std::span(levels).subspan(i * space.parameters().size(), space.parameters().size()));
    }
    with = fmt::format("{:.4g}", std::ranges::min(sweep.evaluator->facts(levels, area)));
    without = fmt::format("{:.4g}", std::ranges::min(sweep.evaluator->facts_within(limits, levels, area)));
  }
  --sweep.seed;
  EXPECT_THAT(error_of([&] { (void)run_sweep(sweep); }).what(), HasSubstr("smallest seen: area_mm2 " + with + ")"));
}

TEST(Sweep, EndsWhenTheSpaceHasNoMoreDesigns) {
  const TemporaryFolder folder;
  SweepOptions sweep = options(folder / "a.sqlite", 5000);
  const SweepSummary summary = run_sweep(sweep);
  EXPECT_EQ(summary.status, SweepStatus::exhausted);
  EXPECT_EQ(summary.accepted, sweep.space().size());
  EXPECT_GT(summary.repeated, 0U);
  EXPECT_EQ(rows(sweep.log).size(), 2 * *sweep.space().size());
  EXPECT_EQ(run_sweep(sweep).status, SweepStatus::exhausted);
}

TEST(Sweep, ShardsTogetherAreTheWholeSweep) {
  const TemporaryFolder folder;
  const SweepOptions whole = options(folder / "whole.sqlite", 101);
  (void)run_sweep(whole);
  std::vector<std::string> expected = rows(whole.log, false);
  std::vector<std::string> together;
  for (std::uint64_t i = 0; i < 3; ++i) {
    SweepOptions part = options(folder / ("part" + std::to_string(i) + ".sqlite"), 101);
    part.shard = {.index = i, .count = 3};
    const SweepSummary summary = run_sweep(part);
    // 101 = 34 + 34 + 33
    EXPECT_EQ(summary.designs, i < 2 ? 34U : 33U);
    for (std::string& row : rows(part.log, false)) together.push_back(std::move(row));
  }
  std::sort(expected.begin(), expected.end());
  std::sort(together.begin(), together.end());
  EXPECT_EQ(together, expected);
}

TEST(Sweep, CountsEvaluationsThatAnotherSweepHadLogged) {
  const TemporaryFolder folder;
  SweepOptions sweep = options(folder / "a.sqlite", 0);
  sweep.sampler = space::SamplerKind::grid;
  (void)run_sweep(sweep);
  SweepOptions other = options(sweep.log, 60);
  const SweepSummary summary = run_sweep(other);
  EXPECT_EQ(summary.rows_inserted, 0U);
  EXPECT_EQ(summary.rows_already_present, 120U);
  EXPECT_EQ(rows(sweep.log).size(), 2 * *sweep.space().size());
}

TEST(Sweep, RefusesConflictingDefinitionsAndLeavesTheLogAlone) {
  const TemporaryFolder folder;
  const SweepOptions sweep = options(folder / "a.sqlite", 20);
  (void)run_sweep(sweep);
  const std::string before = file_hash(sweep.log);
  SweepOptions other = sweep;
  other.networks[1] = network("large", 128);
  EXPECT_EQ(error_of([&] { (void)run_sweep(other); }).kind(), ErrorKind::usage);
  EXPECT_EQ(file_hash(sweep.log), before);
  other = sweep;
  std::vector<space::Parameter> parameters = sweep.space().parameters();
  parameters[0].values.pop_back();
  parameters[0].labels.clear();
  other.evaluator =
      evaluator::built_in(space::DesignSpace("tiny", "another", parameters), accel::load_technology("22nm"));
  EXPECT_EQ(error_of([&] { (void)run_sweep(other); }).kind(), ErrorKind::usage);
  EXPECT_EQ(file_hash(sweep.log), before);
}

/// Five networks, of which every design takes two.
SweepOptions two_of_five(const std::filesystem::path& log, std::uint64_t samples) {
  SweepOptions sweep = options(log, samples);
  sweep.networks.clear();
  for (const std::int64_t channels : {16, 32, 64, 128, 256}) {
    sweep.networks.push_back(network("n" + std::to_string(channels), channels));
  }
  sweep.networks_per_design = 2;
  return sweep;
}

/// Rows of a log without the numbers of their workloads' registration, in any order.
std::vector<std::string> sorted_rows(const std::filesystem::path& log) {
  std::vector<std::string> all = rows(log, false);
  std::sort(all.begin(), all.end());
  return all;
}

TEST(SweepOfChosenNetworks, EvaluatesEveryDesignOnThatManyOfThem) {
  const TemporaryFolder folder;
  const SweepOptions sweep = two_of_five(folder / "a.sqlite", 200);
  const SweepSummary summary = run_sweep(sweep);
  EXPECT_EQ(summary.rows_inserted, 400U);
  EXPECT_EQ(summary.rows_rejected, 0U) << summary.first_rejection;
  std::map<std::string, std::set<std::int64_t>> of_design;
  std::map<std::int64_t, std::uint64_t> of_workload;
  const log::Log log = log::Log::open(sweep.log, log::OpenMode::read_only);
  log::for_each_evaluation(log, {}, log::Detail::all, [&](const log::EvaluationRecord& record) {
    of_design[record.design_text_id].insert(record.workload_id);
    ++of_workload[record.workload_id];
    return true;
  });
  EXPECT_EQ(of_design.size(), 200U);
  for (const auto& [design, workloads] : of_design) EXPECT_EQ(workloads.size(), 2U) << design;
  const auto workloads = log::workloads(log);
  ASSERT_EQ(workloads.size(), 5U);
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const WorkloadCounts& counts = summary.workloads[i];
    EXPECT_EQ(counts.name, workloads[i].name);
    EXPECT_EQ(counts.feasible + counts.infeasible, of_workload[workloads[i].workload_id]) << counts.name;
    // 200 designs x 2 of 5 = 80 expected; five standard deviations of a binomial count: 5 sqrt(200 0.4 0.6) = 35.
    EXPECT_NEAR(static_cast<double>(of_workload[workloads[i].workload_id]), 80, 35) << counts.name;
  }
}

TEST(SweepOfChosenNetworks, GivesRowsThatTheWholeSweepHas) {
  const TemporaryFolder folder;
  const SweepOptions some = two_of_five(folder / "some.sqlite", 60);
  SweepOptions all = some;
  all.networks_per_design = 0;
  all.log = folder / "all.sqlite";
  (void)run_sweep(some);
  (void)run_sweep(all);
  const std::vector<std::string> few = sorted_rows(some.log), whole = sorted_rows(all.log);
  EXPECT_EQ(few.size(), 120U);
  EXPECT_EQ(whole.size(), 300U);
  EXPECT_TRUE(std::includes(whole.begin(), whole.end(), few.begin(), few.end()));
}

TEST(SweepOfChosenNetworks, GivesTheSameRowsForAnyThreadsBatchAndShards) {
  const TemporaryFolder folder;
  const SweepOptions whole = two_of_five(folder / "whole.sqlite", 101);
  (void)run_sweep(whole);
  SweepOptions other = whole;
  other.threads = 5;
  other.batch_designs = 7;
  other.log = folder / "other.sqlite";
  (void)run_sweep(other);
  EXPECT_EQ(rows(other.log), rows(whole.log));
  std::vector<std::string> together;
  for (std::uint64_t i = 0; i < 3; ++i) {
    SweepOptions part = whole;
    part.log = folder / ("part" + std::to_string(i) + ".sqlite");
    part.shard = {.index = i, .count = 3};
    (void)run_sweep(part);
    for (std::string& row : rows(part.log, false)) together.push_back(std::move(row));
  }
  std::sort(together.begin(), together.end());
  EXPECT_EQ(together, sorted_rows(whole.log));
}

TEST(SweepOfChosenNetworks, GivesTheSameRowsWhenInterruptedAndWhenSamplesGrow) {
  const TemporaryFolder folder;
  SweepOptions whole = two_of_five(folder / "whole.sqlite", 120);
  whole.batch_designs = 4;
  (void)run_sweep(whole);
  SweepOptions parts = whole;
  parts.log = folder / "parts.sqlite";
  parts.samples = 50;
  (void)run_sweep(parts);
  parts.samples = 120;
  SweepStatus status = SweepStatus::interrupted;
  int runs = 0;
  for (; status == SweepStatus::interrupted && runs < 100; ++runs) {
    parts.evaluator = std::make_shared<const Interrupter>(whole.evaluator, 3);
    set_interrupt_requested(false);
    status = run_sweep(parts).status;
  }
  set_interrupt_requested(false);
  EXPECT_EQ(status, SweepStatus::finished);
  EXPECT_GT(runs, 2);
  EXPECT_EQ(rows(parts.log), rows(whole.log));
}

TEST(SweepOfChosenNetworks, ChangesItsChoiceWithTheSeed) {
  const TemporaryFolder folder;
  SweepOptions sweep = two_of_five(folder / "a.sqlite", 0);
  sweep.sampler = space::SamplerKind::grid;  // the same designs for every seed
  SweepOptions other = sweep;
  other.seed = sweep.seed + 1;
  other.log = folder / "b.sqlite";
  (void)run_sweep(sweep);
  (void)run_sweep(other);
  EXPECT_NE(sorted_rows(sweep.log), sorted_rows(other.log));
}

TEST(Sweep, RefusesOptionsThatMakeNoSense) {
  const TemporaryFolder folder;
  const SweepOptions good = options(folder / "a.sqlite", 20);
  SweepOptions bad = good;
  bad.networks.clear();
  EXPECT_EQ(error_of([&] { (void)run_sweep(bad); }).kind(), ErrorKind::usage);
  bad = good;
  bad.networks[1] = bad.networks[0];
  EXPECT_THAT(error_of([&] { (void)run_sweep(bad); }).what(), HasSubstr("'small' is named twice"));
  bad = good;
  bad.samples = 0;
  EXPECT_EQ(error_of([&] { (void)run_sweep(bad); }).kind(), ErrorKind::usage);
  bad = good;
  bad.limits = {{.fact = "latency_s", .limit = 1}};
  EXPECT_EQ(error_of([&] { (void)run_sweep(bad); }).kind(), ErrorKind::usage);
  bad = good;
  bad.sampler = space::SamplerKind::grid;
  bad.grid_limit = 100;
  EXPECT_THAT(error_of([&] { (void)run_sweep(bad); }).what(), HasSubstr("384"));
  bad = good;
  bad.networks_per_design = 3;
  EXPECT_THAT(error_of([&] { (void)run_sweep(bad); }).what(),
              HasSubstr("--networks-per-design 3: there are 2 networks to choose from. Give at most 2?"));
  EXPECT_FALSE(std::filesystem::exists(good.log));
}

}  // namespace
}  // namespace hindsight::sweep

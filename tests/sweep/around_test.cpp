/// Does a sweep around a design stay near it, take each neighbour once, and end when it has all?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/sweep/sweep.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::sweep {
namespace {

using test::error_of;
using test::options;
using test::rows;
using test::TemporaryFolder;
using ::testing::HasSubstr;

/// The design number 200 of 384, in the midst of the space.
SweepOptions around(const std::filesystem::path& log, std::uint64_t samples, std::uint64_t steps) {
  SweepOptions sweep = options(log, samples);
  sweep.around = space::Neighbourhood{.centre = sweep.space().design(200), .steps = steps};
  return sweep;
}

std::set<std::string> designs_in(const std::filesystem::path& file) {
  std::set<std::string> designs;
  const log::Log log = log::Log::open(file, log::OpenMode::read_only);
  log::for_each_evaluation(log, {}, log::Detail::columns, [&](const log::EvaluationRecord& record) {
    designs.insert(record.design_text_id);
    return true;
  });
  return designs;
}

TEST(Around, EndsWithExactlyTheNeighboursWhenMoreAreWanted) {
  const TemporaryFolder folder;
  const SweepOptions sweep = around(folder / "a.sqlite", 5000, 1);
  const SweepSummary summary = run_sweep(sweep);
  EXPECT_EQ(summary.status, SweepStatus::exhausted);
  std::set<std::string> expected;
  for (const space::Design& design : sweep.space().neighbours(sweep.around->centre)) {
    expected.insert(sweep.space().text_id(design));
  }
  EXPECT_EQ(designs_in(sweep.log), expected);
  EXPECT_GT(summary.repeated, 0U);
  EXPECT_EQ(run_sweep(sweep).status, SweepStatus::exhausted);
}

TEST(Around, EndsBelowALimitToo) {
  const TemporaryFolder folder;
  SweepOptions sweep = around(folder / "a.sqlite", 5000, 1);
  const auto neighbours = sweep.space().neighbours(sweep.around->centre);
  std::vector<double> areas;
  const std::vector<std::string> area{"area_mm2"};
  for (const space::Design& design : neighbours) {
    areas.push_back(sweep.evaluator->facts(design.levels, area).front());
  }
  const double limit = test::median_of(areas);
  sweep.limits = {{.fact = "area_mm2", .limit = limit}};
  const auto within = std::count_if(areas.begin(), areas.end(), [&](double mm2) { return mm2 <= limit; });
  const SweepSummary summary = run_sweep(sweep);
  EXPECT_EQ(summary.status, SweepStatus::exhausted);
  EXPECT_EQ(summary.designs, static_cast<std::uint64_t>(within));
  // 64 draws per neighbour and direction of a step: found out soon, not after the ten million of an endless space.
  EXPECT_LT(summary.candidates, 10'000U);
}

TEST(Around, ContinuesAndSplitsLikeAnySequence) {
  const TemporaryFolder folder;
  const SweepOptions whole = around(folder / "whole.sqlite", 60, 3);
  EXPECT_EQ(run_sweep(whole).status, SweepStatus::finished);
  SweepOptions grown = around(folder / "grown.sqlite", 20, 3);
  (void)run_sweep(grown);
  grown.samples = 60;
  EXPECT_EQ(run_sweep(grown).designs_this_run, 40U);
  EXPECT_EQ(rows(grown.log), rows(whole.log));
  std::set<std::string> together;
  for (std::uint64_t i = 0; i < 2; ++i) {
    SweepOptions part = around(folder / ("part" + std::to_string(i) + ".sqlite"), 60, 3);
    part.shard = {.index = i, .count = 2};
    (void)run_sweep(part);
    together.merge(designs_in(part.log));
  }
  EXPECT_EQ(together, designs_in(whole.log));
}

TEST(Around, IsPartOfTheDefinition) {
  const SweepOptions sweep = around("a.sqlite", 20, 2);
  const std::string hash = definition_hash(sweep);
  SweepOptions other = sweep;
  other.sampler = space::SamplerKind::sobol;
  EXPECT_EQ(definition_hash(other), hash) << "the sampler is not used";
  other = sweep;
  other.around->steps = 3;
  EXPECT_NE(definition_hash(other), hash);
  other = sweep;
  other.around->centre = sweep.space().design(201);
  EXPECT_NE(definition_hash(other), hash);
  other = sweep;
  other.around.reset();
  EXPECT_NE(definition_hash(other), hash);
}

TEST(Around, NeedsANumberOfDesigns) {
  const TemporaryFolder folder;
  SweepOptions sweep = around(folder / "a.sqlite", 0, 1);
  sweep.sampler = space::SamplerKind::grid;
  EXPECT_THAT(error_of([&] { (void)run_sweep(sweep); }).what(),
              HasSubstr("--samples is missing: the sampler 'around'"));
}

}  // namespace
}  // namespace hindsight::sweep

/// Do sweeps of a space with constraints log legal designs only, each in one shard, within limits of derived
/// quantities?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/space/legal_designs.h"
#include "hindsight/space/rules.h"
#include "repository.h"
#include "sweep/sweep_fixture.h"

namespace hindsight::sweep {
namespace {

using test::error_of;
using test::rows;
using test::TemporaryFolder;
using ::testing::HasSubstr;

/// The space tiny with rules.
space::DesignSpace constrained_tiny(const std::string& rules) {
  const std::string tiny = read_file(hindsight::test::repository() / "configs/spaces/tiny.yaml");
  return space::parse_space(tiny + rules, "tiny.yaml");
}
const std::string kRules = R"yaml(
constraints:
  - pes_x * pes_y <= 8
  - if compute_lanes > 4 then core_memory_bytes >= 65536
derived:
  macs: pes_x * pes_y * compute_lanes
)yaml";

SweepOptions options_of(const space::DesignSpace& space, const std::filesystem::path& log, std::uint64_t samples) {
  SweepOptions options = test::options(log, samples);
  options.evaluator = evaluator::built_in(space, accel::load_technology("22nm"));
  return options;
}

std::set<std::string> designs_of(const std::filesystem::path& log) {
  std::set<std::string> designs;
  const log::Log opened = log::Log::open(log, log::OpenMode::read_only);
  log::for_each_evaluation(opened, {}, log::Detail::all, [&](const log::EvaluationRecord& record) {
    designs.insert(record.design_text_id);
    return true;
  });
  return designs;
}

std::set<std::string> legal_designs(const space::DesignSpace& space) {
  std::set<std::string> designs;
  for (std::uint64_t i = 0; i < *space.size(); ++i) {
    const space::Design design = space.design(i);
    if (space.is_legal(design.levels)) designs.insert(space.text_id(design));
  }
  return designs;
}

TEST(ConstrainedSweep, TheGridIsEveryLegalDesignAndSamplersStopThere) {
  const TemporaryFolder folder;
  const space::DesignSpace space = constrained_tiny(kRules);
  const std::set<std::string> legal = legal_designs(space);
  ASSERT_GT(legal.size(), 20U);
  ASSERT_LT(legal.size(), *space.size());
  SweepOptions grid = options_of(space, folder / "grid.sqlite", 0);
  grid.sampler = space::SamplerKind::grid;
  EXPECT_EQ(run_sweep(grid).designs, legal.size());
  EXPECT_EQ(designs_of(grid.log), legal);
  for (const auto sampler : {space::SamplerKind::uniform, space::SamplerKind::lhs, space::SamplerKind::sobol}) {
    SCOPED_TRACE(space::to_string(sampler));
    SweepOptions sweep = options_of(space, folder / (space::to_string(sampler) + ".sqlite"), *space.size());
    sweep.sampler = sampler;
    EXPECT_EQ(run_sweep(sweep).status, SweepStatus::exhausted);
    EXPECT_EQ(designs_of(sweep.log), legal);
  }
}

TEST(ConstrainedSweep, ShardsAreDisjointAndTogetherTheWhole) {
  const TemporaryFolder folder;
  const space::DesignSpace space = constrained_tiny(kRules);
  SweepOptions whole = options_of(space, folder / "whole.sqlite", 40);
  whole.sampler = space::SamplerKind::lhs;
  ASSERT_EQ(run_sweep(whole).status, SweepStatus::finished);
  std::set<std::string> together;
  std::size_t designs = 0;
  for (std::uint64_t i = 0; i < 3; ++i) {
    SweepOptions shard = options_of(space, folder / ("shard" + std::to_string(i) + ".sqlite"), 40);
    shard.sampler = space::SamplerKind::lhs;
    shard.shard = {.index = i, .count = 3};
    ASSERT_EQ(run_sweep(shard).status, SweepStatus::finished);
    const std::set<std::string> own = designs_of(shard.log);
    designs += own.size();
    together.insert(own.begin(), own.end());
  }
  EXPECT_EQ(designs, 40U);  // disjoint
  EXPECT_EQ(together, designs_of(whole.log));
}

TEST(ConstrainedSweep, AnInterruptedSweepContinuesWithTheSameDesigns) {
  const TemporaryFolder folder;
  const space::DesignSpace space = constrained_tiny(kRules);
  const SweepOptions whole = options_of(space, folder / "whole.sqlite", 40);
  (void)run_sweep(whole);
  SweepOptions parts = options_of(space, folder / "parts.sqlite", 25);
  (void)run_sweep(parts);
  parts.samples = 40;
  EXPECT_TRUE(run_sweep(parts).resumed);
  EXPECT_EQ(rows(parts.log), rows(whole.log));
}

TEST(ConstrainedSweep, DerivedQuantitiesAreLimitedBesideFacts) {
  const TemporaryFolder folder;
  const space::DesignSpace space = constrained_tiny(kRules);
  SweepOptions sweep = options_of(space, folder / "limited.sqlite", 0);
  sweep.sampler = space::SamplerKind::grid;
  sweep.limits = {{.fact = "macs", .limit = 16}, {.fact = "area_mm2", .limit = 30}};
  const SweepSummary summary = run_sweep(sweep);
  EXPECT_GT(summary.designs, 0U);
  EXPECT_GT(summary.constrained, 0U);
  std::set<std::string> expected;
  for (const std::string& id : legal_designs(space)) {
    const space::Design design = space.parse_design(id);
    std::vector<double> macs(1);
    space.rules()->derive(design.levels, macs);
    const std::vector<std::string> area = {"area_mm2"};
    if (macs[0] <= 16 && sweep.evaluator->facts(design.levels, area)[0] <= 30) expected.insert(id);
  }
  EXPECT_EQ(designs_of(sweep.log), expected);
}

TEST(ConstrainedSweep, ADefinitionKnowsDerivedQuantitiesOnlyWhereOneIsLimited) {
  const TemporaryFolder folder;
  const space::DesignSpace space = constrained_tiny(kRules);
  std::string other_rules = kRules;
  other_rules.replace(other_rules.find("* compute_lanes"), 15, "* compute_lanes * 2");
  const space::DesignSpace other = constrained_tiny(other_rules);
  SweepOptions a = options_of(space, folder / "a.sqlite", 10), b = options_of(other, folder / "a.sqlite", 10);
  EXPECT_EQ(definition_hash(a), definition_hash(b));
  a.limits = b.limits = {{.fact = "macs", .limit = 16}};
  EXPECT_NE(definition_hash(a), definition_hash(b));
}

TEST(ConstrainedSweep, ALimitMustHaveOneMeaning) {
  const TemporaryFolder folder;
  const space::DesignSpace space = constrained_tiny("\nderived:\n  area_mm2: pes_x * 2\n");
  SweepOptions sweep = options_of(space, folder / "a.sqlite", 10);
  EXPECT_EQ(run_sweep(sweep).status, SweepStatus::finished);  // as long as nobody limits it
  sweep.limits = {{.fact = "area_mm2", .limit = 16}};
  EXPECT_THAT(error_of([&] { (void)run_sweep(sweep); }).what(), HasSubstr("is the name of a derived quantity"));
}

TEST(ConstrainedSweep, ALimitThatNothingMeetsSaysTheSmallestValue) {
  const TemporaryFolder folder;
  SweepOptions sweep = options_of(constrained_tiny(kRules), folder / "a.sqlite", 10);
  sweep.limits = {{.fact = "macs", .limit = 0.5}};
  sweep.max_fruitless_candidates = 5000;
  const Error error = error_of([&] { (void)run_sweep(sweep); });
  EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
  EXPECT_THAT(error.what(), HasSubstr("smallest seen: macs"));
}

/// Ctrl-C ends a sweep within two seconds also where one block of draws takes minutes; nothing of it is lost or stored
/// twice.
TEST(ConstrainedSweep, DrawsThatTakeLongAreLeftForTheNextRun) {
  const TemporaryFolder folder;
  const std::string edge = read_file(hindsight::test::repository() / "configs/spaces/edge.yaml");
  const space::DesignSpace space = space::parse_space(
      edge +
          "\nconstraints:\n  - pes_x * pes_y * compute_lanes * core_memory_bytes * pe_memory_bytes * "
          "dram_bandwidth_gb_per_s > 0\n",
      "edge.yaml");
  ASSERT_FALSE(space.rules()->legal_designs(space::Listing::for_drawing)->is_complete());
  const SweepOptions whole = options_of(space, folder / "whole.sqlite", 20);
  EXPECT_EQ(run_sweep(whole).status, SweepStatus::finished);
  const SweepOptions parts = options_of(space, folder / "parts.sqlite", 20);
  set_interrupt_requested(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const SweepSummary nothing = run_sweep(parts);
  set_interrupt_requested(false);
  EXPECT_EQ(nothing.status, SweepStatus::interrupted);
  EXPECT_EQ(nothing.designs_this_run, 0U);
  EXPECT_EQ(run_sweep(parts).status, SweepStatus::finished);
  EXPECT_EQ(rows(parts.log), rows(whole.log));
}

}  // namespace
}  // namespace hindsight::sweep

/// Are facts from costs that are kept the very facts that are worked out?
#include "hindsight/accel/memory_costs.h"

#include <gtest/gtest.h>

#include <string>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/metrics.h"
#include "hindsight/core/random.h"
#include "hindsight/space/design_space.h"

namespace hindsight::accel {
namespace {

/// Seed of the random designs.
constexpr std::uint64_t kSeed = 6173;

void expect_same(const SramCost& ours, const SramCost& expected) {
  EXPECT_EQ(ours.macros, expected.macros);
  EXPECT_EQ(ours.read_pj_per_byte, expected.read_pj_per_byte);
  EXPECT_EQ(ours.write_pj_per_byte, expected.write_pj_per_byte);
  EXPECT_EQ(ours.area_mm2, expected.area_mm2);
  EXPECT_EQ(ours.leakage_mw, expected.leakage_mw);
}

void expect_same(const ChipFacts& ours, const ChipFacts& expected) {
  expect_same(ours.pe_memory, expected.pe_memory);
  expect_same(ours.core_memory, expected.core_memory);
  expect_same(ours.activation_memory, expected.activation_memory);
  expect_same(ours.parameter_memory, expected.parameter_memory);
  expect_same(ours.instruction_memory, expected.instruction_memory);
  expect_same(ours.shared_memory, expected.shared_memory);
  EXPECT_EQ(ours.area.activation_memory_mm2, expected.area.activation_memory_mm2);
  EXPECT_EQ(ours.area.total_mm2(), expected.area.total_mm2());
  EXPECT_EQ(ours.pe_pitch_mm, expected.pe_pitch_mm);
  EXPECT_EQ(ours.idle_w, expected.idle_w);
  EXPECT_EQ(ours.peak_power_w, expected.peak_power_w);
  EXPECT_EQ(ours.multicast_delay_ns, expected.multicast_delay_ns);
  ASSERT_EQ(ours.violations.count, expected.violations.count);
  for (std::size_t i = 0; i < ours.violations.count; ++i) {
    EXPECT_EQ(ours.violations.items[i].reason, expected.violations.items[i].reason);
    EXPECT_EQ(ours.violations.items[i].value, expected.violations.items[i].value);
  }
}

TEST(MemoryCosts, FactsFromThemAreThoseWorkedOut) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const RandomStream stream(kSeed, "facts");
  for (const char* node : {"22nm", "7nm-silicon@card"}) {
    const Technology technology = load_technology(node);
    for (const char* name : {"edge", "datacenter"}) {
      const space::DesignSpace space = space::load_space(name);
      if (technology.is_version_1() && space.find("precision")) continue;  // it knows int8 only
      const ConfigBinding binding(space);
      MemoryCosts costs(technology);
      for (std::uint64_t i = 0; i < 400; ++i) {
        const AcceleratorConfig config = binding.bind(space, space.design(stream.below(i, *space.size())));
        expect_same(chip_facts(config, costs), chip_facts(config, technology));
        const ChipFacts unchecked = unchecked_chip_facts(config, costs);
        EXPECT_EQ(unchecked.violations.count, 0U);
        for (const Metric& metric : metrics()) {
          if (!metric.known_before_evaluation()) continue;
          EXPECT_EQ(metric.of_chip(unchecked), metric.of_design(config, technology)) << metric.name;
        }
        const AreaBreakdown cold = area_without_cooling(config, costs);
        EXPECT_EQ(cold.cooling_mm2, 0);
        EXPECT_EQ(cold.placement_mm2, unchecked.area.placement_mm2);
        EXPECT_LE(cold.total_mm2(), unchecked.area.total_mm2());
        if (unchecked.area.cooling_mm2 == 0) {
          EXPECT_EQ(cold.total_mm2(), unchecked.area.total_mm2());
        }
      }
    }
  }
}

TEST(MemoryCosts, AreRightForManySizes) {
  const Technology technology = load_technology("22nm-silicon");
  MemoryCosts costs(technology);
  for (int turn = 0; turn < 2; ++turn) {
    for (double bytes = 0; bytes < 3e6; bytes += 1000) {
      expect_same(costs.plain(bytes), sram_cost(technology.sram, bytes));
      expect_same(costs.banked(bytes), banked_sram_cost(technology, bytes));
    }
  }
}

TEST(ChipFactsTest, LeaveRemediesOutWhereAsked) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const space::DesignSpace space = space::load_space("edge");
  const ConfigBinding binding(space);
  const RandomStream stream(kSeed, "remedies");
  for (const char* node : {"22nm", "22nm-silicon@card"}) {
    Technology technology = load_technology(node);
    technology.reticle_limit_mm2 = 200;  // few designs of the space are larger than a real one
    std::size_t left_out = 0;
    for (std::uint64_t i = 0; i < 500; ++i) {
      const AcceleratorConfig config = binding.bind(space, space.design(stream.below(i, *space.size())));
      const ChipFacts named = chip_facts(config, technology);
      const ChipFacts bare = chip_facts(config, technology, Remedies::left_out);
      expect_same(bare, named);
      for (std::size_t v = 0; v < named.violations.count; ++v) {
        const Violation& violation = bare.violations.items[v];
        const bool takes_chips = violation.reason == Reason::power_density || violation.reason == Reason::cooling ||
                                 violation.reason == Reason::reticle;
        EXPECT_EQ(violation.nearest_passing, takes_chips ? std::nullopt : named.violations.items[v].nearest_passing);
        left_out += takes_chips && named.violations.items[v].nearest_passing ? 1 : 0;
      }
    }
    EXPECT_GT(left_out, 50U) << node;
  }
}

}  // namespace
}  // namespace hindsight::accel

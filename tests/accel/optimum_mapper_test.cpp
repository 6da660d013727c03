/// Does the mapper have the properties by which a landscape asks it less often, and are they as strong as they can be?
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

#include "accel/optimum_fixture.h"
#include "hindsight/accel/optimum/structure.h"

namespace hindsight::accel::optimum::test {
namespace {

constexpr std::size_t kCases = 6000;
/// A bound that reaches this share of the truth somewhere would be seen to be wrong if it were one per cent larger.
constexpr double kTight = 0.995;

/// The terms that bind somewhere and are met there, so that each would be seen to be wrong if it were larger.
TEST(OptimumMapper, NoMappingOfASplitIsBelowItsMemoryFreeCycles) {
  Dice dice("memory-free bound");
  std::map<Bound, double> tightest;
  for (std::size_t n = 0; n < kCases; ++n) {
    const AcceleratorConfig config = inputs().config(dice.design());
    const auto& gemms = dice.network().gemms();
    const LayerShape layer = layer_shape(gemms[dice.below(gemms.size())]);
    const bool cached = dice.below(2) == 1;
    const Mapping mapping = on_chip_mapping(layer, config, cached);
    if (!mapping.found) continue;
    AcceleratorConfig largest = config;
    const double cycles = memory_free_cycles(layer, mapping.pe, mapping.core, config, cached);
    largest.pe_memory_bytes *= 2;
    largest.core_memory_bytes *= 2;
    largest.activation_memory_entries *= 2;
    ASSERT_LE(cycles, mapping.steady_cycles) << "case " << n;
    ASSERT_LE(memory_free_cycles(layer, mapping.pe, mapping.core, largest, cached), cycles) << "case " << n;
    double& share = tightest[binding_term(mapping, 0)];
    share = std::max(share, cycles / mapping.steady_cycles);
  }
  for (const Bound bound : {Bound::compute, Bound::core_memory, Bound::pe_memory, Bound::noc}) {
    EXPECT_GE(tightest[bound], kTight) << to_string(bound);
  }
}

TEST(OptimumMapper, LargerMemoriesSpoilNoMapping) {
  Dice dice("larger memories");
  std::size_t compared = 0, faster = 0, fewer_bytes = 0;
  for (std::size_t n = 0; n < kCases; ++n) {
    const auto grown = dice.grown_memory(n);
    if (!grown) continue;
    const auto& [layer, less, more, memory_name] = *grown;
    const double lane_bytes =
        smallest_weight_tile_bytes(layer, less.compute_lanes, less.macs_per_lane, less.rules.whole_windows);
    if (lane_bytes > working_memory(less).weight_tile_bytes) continue;
    const Residency residency{.weights_cached_frac = dice.below(2) == 1 ? 1.0 : 0.0};
    for_each_split(layer, less, [&](GridSplit, const PeShare& pe) {
      if (!mapper_detail::fits(smallest_tile(layer, pe, working_memory(less)), working_memory(less))) return;
      ASSERT_TRUE(mapper_detail::fits(smallest_tile(layer, pe, working_memory(more)), working_memory(more)));
      for_each_core_split(pe, less, [&](const CoreShare& core) {
        const auto judged_on = [&](const AcceleratorConfig& config) {
          const WorkingMemory memory = working_memory(config);
          const mapper_detail::Question asked{.layer = layer,
                                              .config = config,
                                              .memory = memory,
                                              .residency = residency,
                                              .dram_cycles = 0,
                                              .pe_port_bytes = pe_port_operands(config),
                                              .lane_tile_bytes = 0};
          const double lanes = config.compute_lanes;
          const TilePlan plan = plan_output_stationary(pe, core, lanes, mapper_detail::reuse_of(asked, lanes),
                                                       row_bands(layer, pe, memory), memory);
          const double floor_cycles =
              mapper_detail::core_memory_cycles(asked, pe, core, mapper_detail::reuse_of(asked, lanes));
          return mapper_detail::judge(asked, pe, core, lanes, plan, floor_cycles);
        };
        const mapper_detail::Judged before = judged_on(less), after = judged_on(more);
        ASSERT_LE(after.cycles, before.cycles) << memory_name;
        ASSERT_LE(after.noc_bytes, before.noc_bytes) << memory_name;
        ++compared;
        faster += after.cycles < before.cycles ? 1 : 0;
        fewer_bytes += after.noc_bytes < before.noc_bytes ? 1 : 0;
      });
    });
  }
  EXPECT_GE(compared, 5 * kCases);
  EXPECT_GE(faster, kCases / 20);
  EXPECT_GE(fewer_bytes, kCases / 20);
}

TEST(OptimumMapper, HiddenDramChangesNoMapping) {
  Dice dice("hidden DRAM");
  std::size_t hidden = 0, changed = 0;
  for (std::size_t n = 0; n < kCases; ++n) {
    const AcceleratorConfig config = inputs().config(dice.design());
    const auto& gemms = dice.network().gemms();
    const LayerShape layer = layer_shape(gemms[dice.below(gemms.size())]);
    const Residency residency{.weights_cached_frac = dice.below(2) == 1 ? 1.0 : 0.5};
    const Mapping free = on_chip_mapping(layer, config, residency.weights_cached_frac >= 1.0);
    if (!free.found) continue;
    const auto numbers_at = [&](double dram_cycles) {
      const Mapping mapping = best_mapping(layer, config, working_memory(config), residency, dram_cycles);
      return std::array{static_cast<double>(mapping.split.x),
                        static_cast<double>(mapping.split.y),
                        static_cast<double>(mapping.dataflow),
                        mapping.lanes,
                        mapping.core.split_n,
                        mapping.plan.tiles_m,
                        mapping.plan.tiles_n,
                        mapping.plan.tiles_k};
    };
    const auto of_free = numbers_at(0);
    const double cycles = free.steady_cycles;
    for (const double dram_cycles : {0.7 * cycles, 0.99 * cycles, std::nextafter(cycles, 0.0), 1.005 * cycles}) {
      const bool same = numbers_at(dram_cycles) == of_free;
      if (is_hidden(dram_cycles, cycles)) {
        ASSERT_TRUE(same) << "case " << n << ", DRAM " << dram_cycles << " of " << cycles;
        ++hidden;
      } else {
        changed += same ? 0 : 1;
      }
    }
  }
  EXPECT_GE(hidden, 3 * kCases / 2);
  EXPECT_GE(changed, 1U) << "DRAM a little slower changes nothing either: more could be called hidden";
}

}  // namespace
}  // namespace hindsight::accel::optimum::test

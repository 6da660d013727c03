/// Is a layer never slower for more of anything on the chip, while its mapping stays as it is?
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "accel/random_case.h"
#include "hindsight/accel/network_cost.h"
#include "tolerances.h"

namespace hindsight::accel {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;

constexpr std::uint64_t kSeed = 4417;

/// What was chosen for a layer: its mapping and what DRAM moves.
struct FixedChoice {
  LayerShape layer;
  Traffic dram_traffic;
  Mapping mapping;
};

/// Cycles while everything flows, as the mapper counts them, on a chip that need not be the one it chose for.
double steady_cycles(const FixedChoice& choice, const AcceleratorConfig& config, const ChipRates& rates) {
  const auto& [layer, dram_traffic, mapping] = choice;
  const double dram_cycles = bandwidth_cycles(dram_traffic.dram_bytes(), rates.dram_operands_per_cycle);
  const double reuse = std::max(1.0, accumulator_reuse(rates.working.accumulators_per_core, mapping.lanes));
  const double port_bytes = mapping.pe_memory.read_bytes + mapping.pe_memory.write_bytes;
  return pipelined_cycles(
      dram_beyond_granules(dram_cycles, dram_traffic, rates),
      compute_cycles(layer, mapping.core, mapping.pe.k, mapping.lanes, config.macs_per_lane),
      bandwidth_cycles(core_weight_read_bytes(layer, mapping.core, mapping.pe.k, reuse), config.core_port_operands()),
      bandwidth_cycles(port_bytes, pe_port_operands(config)), noc_cycles(mapping.noc, config));
}

double seconds(const FixedChoice& choice, const AcceleratorConfig& config) {
  const ChipRates rates = chip_rates(config);
  const double cycles = steady_cycles(choice, config, rates) + fill_drain_cycles(choice.dram_traffic, config, rates) +
                        layer_overhead_cycles(config) + vector_cycles(choice.layer, config);
  return cycles / config.clock_hz();
}

struct Growth {
  const char* name;
  double AcceleratorConfig::*field;
};
constexpr Growth kGrowths[] = {{"clock_mhz", &AcceleratorConfig::clock_mhz},
                               {"macs_per_lane", &AcceleratorConfig::macs_per_lane},
                               {"compute_lanes", &AcceleratorConfig::compute_lanes},
                               {"vector_lanes", &AcceleratorConfig::vector_lanes},
                               {"core_memory_port_bytes", &AcceleratorConfig::core_memory_port_bytes},
                               {"noc_link_bytes", &AcceleratorConfig::noc_link_bytes},
                               {"dram_bandwidth_gb_per_s", &AcceleratorConfig::dram_bandwidth_gb_per_s},
                               {"pe_memory_bytes", &AcceleratorConfig::pe_memory_bytes},
                               {"core_memory_bytes", &AcceleratorConfig::core_memory_bytes},
                               {"activation_memory_entries", &AcceleratorConfig::activation_memory_entries},
                               {"parameter_memory_entries", &AcceleratorConfig::parameter_memory_entries},
                               {"shared_memory_bytes", &AcceleratorConfig::shared_memory_bytes}};

TEST(MoreOnAFixedMapping, IsNeverSlower) {
  const RandomStream stream(kSeed, "fixed mappings");
  std::size_t compared = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    test::Case drawn = test::random_case(stream, i);
    drawn.layer.vector_elements = drawn.layer.output_bytes;
    drawn.layer.vector_ops = 4 * drawn.layer.output_bytes;
    AcceleratorConfig config = drawn.config;
    config.dram_bandwidth_gb_per_s = 20;
    config.vector_lanes = 8;
    config.shared_memory_bytes = 65536;
    const std::string text = "seed " + std::to_string(kSeed) + ", case " + std::to_string(i);
    const ChipRates rates = chip_rates(config);
    FixedChoice choice{
        .layer = drawn.layer,
        .dram_traffic = mean_dram_traffic(drawn.layer, drawn.residency.input_on_chip, drawn.residency.output_on_chip,
                                          drawn.residency.weights_on_chip_frac(), rates.resident),
        .mapping = {}};
    const double dram_cycles = bandwidth_cycles(choice.dram_traffic.dram_bytes(), rates.dram_operands_per_cycle);
    choice.mapping = best_mapping(drawn.layer, config, rates.working, drawn.residency,
                                  dram_beyond_granules(dram_cycles, choice.dram_traffic, rates));
    if (!choice.mapping.found) continue;
    // These are the model's own terms, and all of them.
    ChipFacts chip;
    chip.config = config;
    const LayerCost cost = layer_cost(drawn.layer, drawn.residency, chip, rates);
    const double before_s = seconds(choice, config);
    ASSERT_LE(relative_error(before_s, cost.result.total_cycles / config.clock_hz()), kRounding) << text;
    for (const Growth& growth : kGrowths) {
      AcceleratorConfig more = config;
      more.*growth.field *= 2;
      ASSERT_LE(seconds(choice, more), before_s * (1 + kRounding)) << growth.name << ", " << text;
    }
    ++compared;
  }
  EXPECT_GE(compared, 200U);
}

/// The mapper, which is free to choose, masks lanes but no products within a lane: one tile of weights for wider lanes
/// may hold fewer of them. 4,096 x 40 x 1,000 in 16 bits on a core of 8 KiB, whose tile holds 512 weights: 32 lanes of
/// 16 take 32 groups of channels in 3 steps, 16 lanes of 32 take 63 groups in 2.
TEST(MoreOnAFixedMapping, WiderLanesMayBeSlowerWhereTheMapperChoosesAgain_KnownLimitation) {
  LayerShape layer;
  layer.m = layer.out_rows = 4096;
  layer.n = 1000;
  layer.k = layer.in_channels = 40;
  layer.macs = layer.m * layer.n * layer.k;
  AcceleratorConfig config;
  config.rules = template_rules(load_technology("7nm-silicon"));
  config.precision = Precision::bf16;
  config.compute_lanes = 32;
  config.macs_per_lane = 16;
  config.pe_memory_bytes = 8388608;
  config.core_memory_bytes = 8192;
  config.activation_memory_entries = 65536;
  config.noc_link_bytes = 512;
  const auto best = [&] { return best_mapping(layer, config, working_memory(config), {}, 0); };
  const Mapping before = best();
  ASSERT_TRUE(before.found);
  EXPECT_EQ(before.lanes, 32);
  EXPECT_EQ(before.compute_cycles, 4096 * 32 * 3);
  config.macs_per_lane = 32;
  const Mapping after = best();
  EXPECT_EQ(after.lanes, 16);
  EXPECT_EQ(after.compute_cycles, 4096 * 63 * 2);
  EXPECT_GT(after.steady_cycles, before.steady_cycles);
}

}  // namespace
}  // namespace hindsight::accel

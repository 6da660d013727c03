/// Is the mapper's choice the best of all mappings, and does it find one exactly when a tile fits?
#include "hindsight/accel/mapping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "accel/plain_mapper.h"
#include "accel/random_case.h"
#include "hindsight/core/random.h"
#include "hindsight/workload/layer.h"

namespace hindsight::accel {
namespace {

/// Seed of the random layers and chips.
constexpr std::uint64_t kSeed = 9013;

LayerShape gemm(double m, double n, double k) {
  LayerShape layer;
  layer.m = layer.out_rows = m;
  layer.n = n;
  layer.k = layer.in_channels = k;
  layer.macs = m * n * k;
  return layer;
}

AcceleratorConfig small_chip() {
  AcceleratorConfig config;
  config.pes_x = 2;
  config.pes_y = 2;
  config.cores_per_pe = 4;
  config.compute_lanes = 4;
  config.pe_memory_bytes = 65536;
  config.core_memory_bytes = 8192;
  config.activation_memory_entries = 256;
  return config;
}

/// The fewest steady cycles over everything the mapper may choose, without any short cut.
double exhaustive_cycles(const LayerShape& layer, const AcceleratorConfig& config, const Residency& residency,
                         double dram_cycles) {
  const WorkingMemory memory = working_memory(config);
  double fewest = std::numeric_limits<double>::infinity();
  for (const GridSplit split : kGridSplits) {
    if (layer.depthwise && (split.x == GemmDimension::k || split.y == GemmDimension::k)) continue;
    const PeShare pe = pe_share(layer, split, config.pes_x, config.pes_y);
    const SmallestTile tile = smallest_tile(layer, pe, memory);
    if (tile.input_bytes > memory.input_tile_bytes || tile.output_bytes > memory.output_tile_bytes) continue;
    if (tile.channels > memory.channels) continue;
    const double bands = row_bands(layer, pe, memory);
    for (double split_n = 1; split_n <= config.cores_per_pe; split_n *= 2) {
      const CoreShare core = core_share(pe, config.cores_per_pe / split_n, split_n);
      for (const double lanes : {1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0, 20.0, 24.0, 32.0}) {
        if (lanes > config.compute_lanes) break;
        if (smallest_weight_tile_bytes(layer, lanes, config.macs_per_lane, config.rules.whole_windows) >
            memory.weight_tile_bytes)
          break;
        const double reuse = std::max(1.0, accumulator_reuse(memory.accumulators_per_core, lanes));
        for (const TilePlan& plan : {plan_output_stationary(pe, core, lanes, reuse, bands, memory),
                                     plan_weight_stationary(pe, core, lanes, bands, memory)}) {
          const PeMemoryLoad load = pe_memory_load(layer, pe, core, plan, lanes, config.sum_operands());
          fewest = std::min(
              fewest,
              std::max({dram_cycles, compute_cycles(layer, core, pe.k, lanes, config.macs_per_lane),
                        core_weight_read_bytes(layer, core, pe.k, reuse) / kCoreMemoryPortBytes,
                        (load.read_bytes + load.write_bytes) / pe_port_operands(config),
                        noc_cycles(noc_load(layer, pe, core, plan, residency, config.sum_operands()), config)}));
        }
      }
    }
  }
  return fewest;
}

TEST(BestMapping, NoMappingIsBetterThanTheOneChosen) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const RandomStream stream(kSeed, "best mapping");
  std::size_t found = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto [layer, config, residency, dram_cycles] = test::random_case(stream, i);
    const Mapping mapping = best_mapping(layer, config, working_memory(config), residency, dram_cycles);
    const double fewest = exhaustive_cycles(layer, config, residency, dram_cycles);
    ASSERT_EQ(mapping.found, fewest < std::numeric_limits<double>::infinity()) << "case " << i;
    if (!mapping.found) continue;
    ++found;
    ASSERT_EQ(mapping.steady_cycles, fewest) << "case " << i;
    ASSERT_EQ(mapping.steady_cycles, std::max({mapping.compute_cycles, mapping.core_memory_cycles,
                                               mapping.pe_memory_cycles, mapping.noc_cycles, dram_cycles}))
        << "case " << i;
  }
  EXPECT_GT(found, 500U);
}

/// Everything that a layer's result is made of.
std::array<double, 24> numbers_of(const Mapping& mapping) {
  return {static_cast<double>(mapping.dataflow),
          mapping.lanes,
          mapping.reuse,
          mapping.pe.split_m,
          mapping.pe.split_n,
          mapping.pe.split_k,
          mapping.pe.m,
          mapping.pe.n,
          mapping.pe.k,
          mapping.core.split_m,
          mapping.core.split_n,
          mapping.plan.tiles_m,
          mapping.plan.tiles_n,
          mapping.plan.tiles_k,
          mapping.plan.weight_passes,
          mapping.noc.weight_bytes,
          mapping.noc.input_bytes,
          mapping.noc.output_bytes,
          mapping.pe_memory.read_bytes,
          mapping.pe_memory.write_bytes,
          mapping.compute_cycles,
          mapping.core_memory_cycles,
          mapping.noc_cycles,
          mapping.steady_cycles};
}

TEST(BestMapping, WhatIsNotSearchedChangesNothing) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const RandomStream stream(kSeed, "plain mapper");
  std::size_t found = 0, misfits = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const auto [layer, config, residency, dram_cycles] = test::random_case(stream, i);
    const WorkingMemory memory = working_memory(config);
    const Mapping mapping = best_mapping(layer, config, memory, residency, dram_cycles);
    const Mapping plain = test::plain_best_mapping(layer, config, memory, residency, dram_cycles);
    ASSERT_EQ(mapping.found, plain.found) << "case " << i;
    if (mapping.found) {
      ++found;
      ASSERT_EQ(numbers_of(mapping), numbers_of(plain)) << "case " << i;
    } else {
      ++misfits;
      if (mapping.needed_channels > 0) {
        AcceleratorConfig enough = config;
        enough.parameter_memory_entries = 2 * mapping.needed_channels;
        ASSERT_TRUE(best_mapping(layer, enough, working_memory(enough), residency, dram_cycles).found) << "case " << i;
        enough.parameter_memory_entries -= 1;
        ASSERT_FALSE(best_mapping(layer, enough, working_memory(enough), residency, dram_cycles).found) << "case " << i;
        continue;
      }
      ASSERT_EQ(mapping.needed_tile_bytes, plain.needed_tile_bytes) << "case " << i;
      ASSERT_EQ(mapping.available_tile_bytes, plain.available_tile_bytes) << "case " << i;
      ASSERT_EQ(mapping.weights_too_large, plain.weights_too_large) << "case " << i;
    }
  }
  EXPECT_GT(found, 10'000U);
  EXPECT_GT(misfits, 100U);
}

TEST(BestMapping, NumbersOfLanesBetweenThoseThatAreTriedMayBeFaster_KnownLimitation) {
  workload::Layer layer;
  layer.name = "windows of 961 weights";
  layer.type = workload::LayerType::depthwise_convolution;
  layer.in_height = layer.in_width = 56;
  layer.in_channels = layer.out_channels = layer.groups = 120;
  layer.kernel_height = layer.kernel_width = 31;
  layer.pad_top = layer.pad_bottom = layer.pad_left = layer.pad_right = 15;
  AcceleratorConfig config;
  config.pe_memory_bytes = 1 << 24;
  config.core_memory_bytes = 40'000;  // a tile of 5,000 bytes holds five windows
  config.activation_memory_entries = 1024;
  const auto mapped = [&](double lanes) {
    config.compute_lanes = lanes;
    return best_mapping(layer_shape(workload::lower(layer, 1)), config, working_memory(config), {}, 0);
  };
  EXPECT_EQ(mapped(5).lanes, 5);
  EXPECT_EQ(mapped(6).lanes, 4) << "5 is no rung of the ladder";
  EXPECT_EQ(mapped(6).compute_cycles / mapped(5).compute_cycles, 30.0 / 24);  // groups of 120 channels
}

TEST(BestMapping, ComputeBoundGemmUsesTheWholeChip) {
  // 64 x 64 x 256 on 4 PEs * 4 cores * 4 lanes * 4: 1,048,576 / 256 = 4096 cycles.
  const AcceleratorConfig config = small_chip();
  const Mapping mapping = best_mapping(gemm(64, 64, 256), config, working_memory(config), {}, 0);
  ASSERT_TRUE(mapping.found);
  EXPECT_EQ(mapping.steady_cycles, 4096);
  EXPECT_EQ(mapping.compute_cycles, 4096);
  EXPECT_EQ(mapping.lanes, 4);
}

TEST(BestMapping, AmongEqualsTheFewestNocBytes) {
  // DRAM needs more cycles than any mapping: all are equal, so M is not split where weights would be sent again.
  const AcceleratorConfig config = small_chip();
  const Mapping mapping = best_mapping(gemm(64, 64, 256), config, working_memory(config), {}, 1e9);
  ASSERT_TRUE(mapping.found);
  EXPECT_EQ(mapping.steady_cycles, 1e9);
  // 64 x 256 inputs, 256 x 64 weights, 64 x 64 outputs, each once.
  EXPECT_EQ(mapping.noc.weight_bytes + mapping.noc.input_bytes + mapping.noc.output_bytes, 16384 + 16384 + 4096);
}

/// Version 2. 64 x 64 x 256 on a grid of 4 x 1: splitting M leaves 64 channels in every PE, splitting N 16.
TEST(BestMapping, OfEquallyFastOnesOneWhoseConstantsFit) {
  AcceleratorConfig config = small_chip();
  config.rules.constants_in_halves = true;
  config.pes_x = 4;
  config.pes_y = 1;
  config.parameter_memory_entries = 128;
  const auto mapped = [&](double m, double n) {
    const LayerShape layer = gemm(m, n, 256);
    return best_mapping(layer, config, working_memory(config), {.weights_cached_frac = 1}, 0);
  };
  // Half of 128 is enough for any split: the one that the mapper takes when nobody asks for constants.
  const Mapping free = mapped(64, 64);
  ASSERT_TRUE(free.found);
  config.parameter_memory_entries = 2 * 16;
  const Mapping fitting = mapped(64, 64);
  ASSERT_TRUE(fitting.found);
  EXPECT_EQ(fitting.pe.n, 16);
  EXPECT_GE(fitting.steady_cycles, free.steady_cycles);
  // 4 channels on 4 PEs leave the lanes idle; with room for 4 channels M is split, at a quarter of the cycles.
  config.parameter_memory_entries = 2 * 4;
  const Mapping wide = mapped(256, 4);
  config.parameter_memory_entries = 2 * 1;
  const Mapping narrow = mapped(256, 4);
  ASSERT_TRUE(wide.found && narrow.found);
  EXPECT_EQ(wide.pe.n, 4);
  EXPECT_EQ(narrow.pe.n, 1);
  EXPECT_GT(narrow.steady_cycles, wide.steady_cycles);
  config.parameter_memory_entries = 1;
  const Mapping none = mapped(256, 4);
  EXPECT_FALSE(none.found);
  EXPECT_EQ(none.needed_channels, 1);
}

TEST(BestMapping, DepthwiseNeverSplitsItsWindow) {
  workload::Layer layer;
  layer.name = "depthwise";
  layer.type = workload::LayerType::depthwise_convolution;
  layer.in_height = layer.in_width = 10;
  layer.in_channels = layer.out_channels = layer.groups = 3;  // fewer channels than PEs and lanes
  layer.kernel_height = layer.kernel_width = 5;
  AcceleratorConfig config = small_chip();
  config.pes_x = 32;
  config.pes_y = 32;
  const Mapping mapping = best_mapping(layer_shape(workload::lower(layer, 1)), config, working_memory(config), {}, 0);
  ASSERT_TRUE(mapping.found);
  EXPECT_EQ(mapping.pe.split_k, 1);
  EXPECT_EQ(mapping.pe.k, 25);
}

TEST(BestMapping, FindsAMappingExactlyWhenTheInputWindowFits) {
  // One PE, 1 x 1 grid: a 3 x 3 window of rows of 12 pixels * 8 channels = 288 bytes = 1/16 of the memory.
  workload::Layer layer;
  layer.name = "window";
  layer.in_height = layer.in_width = 12;
  layer.in_channels = 8;
  layer.out_channels = 2;
  layer.kernel_height = layer.kernel_width = 3;
  const LayerShape shape = layer_shape(workload::lower(layer, 1));
  AcceleratorConfig config = small_chip();
  config.pes_x = config.pes_y = 1;
  config.pe_memory_bytes = 288 * 16;
  EXPECT_TRUE(best_mapping(shape, config, working_memory(config), {}, 0).found);
  config.pe_memory_bytes = 287 * 16;
  const Mapping mapping = best_mapping(shape, config, working_memory(config), {}, 0);
  EXPECT_FALSE(mapping.found);
  EXPECT_EQ(mapping.needed_tile_bytes, 288);
  EXPECT_EQ(mapping.available_tile_bytes, 287);
  EXPECT_FALSE(mapping.weights_too_large);
}

TEST(BestMapping, FindsAMappingExactlyWhenOneLanesWeightsFit) {
  // 4 weights of one lane against an eighth of the core memory; four lanes would need 16.
  AcceleratorConfig config = small_chip();
  config.core_memory_bytes = 4 * 8;
  const Mapping narrow = best_mapping(gemm(64, 64, 256), config, working_memory(config), {}, 0);
  ASSERT_TRUE(narrow.found);
  EXPECT_EQ(narrow.lanes, 1);
  config.core_memory_bytes = 3 * 8;
  const Mapping mapping = best_mapping(gemm(64, 64, 256), config, working_memory(config), {}, 0);
  EXPECT_FALSE(mapping.found);
  EXPECT_TRUE(mapping.weights_too_large);
  EXPECT_EQ(mapping.needed_tile_bytes, 4);
  EXPECT_EQ(mapping.available_tile_bytes, 3);
}

}  // namespace
}  // namespace hindsight::accel

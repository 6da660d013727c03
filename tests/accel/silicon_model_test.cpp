/// What version 2 of the model sees differently: supplies, weights in whole tiles, distance, programs, heat.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accel/silicon_parts.h"
#include "edited_yaml.h"
#include "hindsight/accel/energy.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/memory_costs.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/accel/traffic.h"
#include "hindsight/workload/network.h"
#include "repository.h"
#include "tolerances.h"

namespace hindsight::accel {
namespace {

using test::costs_of;
using test::kDifference;
using test::silicon;

/// A chip of the edge space: 4 x 4 PEs of 4 cores with 16 lanes.
AcceleratorConfig edge_chip() {
  AcceleratorConfig config;
  config.pes_x = config.pes_y = 4;
  config.pe_memory_bytes = 524288;
  config.cores_per_pe = 4;
  config.core_memory_bytes = 32768;
  config.compute_lanes = 16;
  config.instruction_memory_entries = 8192;
  config.parameter_memory_entries = 4096;
  config.activation_memory_entries = 1024;
  config.dram_bandwidth_gb_per_s = 10;
  return config;
}

bool has(const ChipFacts& chip, Reason reason) {
  const auto violations = chip.violations.view();
  return std::any_of(violations.begin(), violations.end(), [&](const Violation& one) { return one.reason == reason; });
}

AreaBreakdown area_of(const AcceleratorConfig& config) { return unchecked_chip_facts(config, silicon()).area; }

TEST(SiliconModel, ProcessorsAndASecondFormatTakeRoomAndProcessorsPower) {
  const AcceleratorConfig plain = edge_chip();
  AcceleratorConfig config = plain;
  config.processors_per_pe = 2;
  // 16 PEs of an engine of 0.228 mm2 and two processors of 0.144.
  EXPECT_NEAR(area_of(config).engine_mm2 / (16 * (0.228 + 2 * 0.144)), 1, hindsight::test::kRounding);
  const ChipFacts busy = unchecked_chip_facts(config, silicon()), idle = unchecked_chip_facts(plain, silicon());
  const double processors_w = 16 * 2 * 25e-12 * 0.03782 / 0.04454 * 800e6;  // 25 pJ at 22 nm
  const double leakage_w = busy.leakage_w - idle.leakage_w;
  EXPECT_NEAR((busy.pe_array_peak_w - idle.pe_array_peak_w - leakage_w) / (1.72 * processors_w), 1, kDifference);
  config.processors_per_pe = config.engines_per_pe = 0;
  EXPECT_EQ(area_of(config).engine_mm2, 0);
  EXPECT_NEAR((area_of(plain).pe_mm2 - area_of(config).pe_mm2) * 0.7 / 0.228, 1, kDifference);
  config = plain;
  config.bf16_macs_per_lane = 2;
  EXPECT_NEAR((area_of(config).mac_mm2 - area_of(plain).mac_mm2) / (16 * 4 * 16 * 2 * 1098e-6), 1, kDifference);
}

TEST(SiliconModel, EnergiesGoWithTheSquareOfAChipsSupplies) {
  const workload::Network network = workload::load_network("mobilenet_v2");
  AcceleratorConfig config = edge_chip();
  const Metrics usual = costs_of(config, network);
  config.logic_v = 0.4;  // of 0.8
  const Metrics low = costs_of(config, network);
  EXPECT_EQ(low.latency_s, usual.latency_s);
  EXPECT_NEAR(low.energy.mac_j / usual.energy.mac_j, 0.25, kDifference);
  EXPECT_NEAR(low.energy.noc_j / usual.energy.noc_j, 0.25, kDifference);
  EXPECT_EQ(low.energy.core_memory_j, usual.energy.core_memory_j);  // one bank: no wires
  EXPECT_LT(low.energy.pe_memory_j, usual.energy.pe_memory_j);
  EXPECT_LT(low.energy.leakage_j, usual.energy.leakage_j);
  config.memory_v = 0.4;
  const Metrics low_both = costs_of(config, network);
  EXPECT_NEAR(low_both.energy.pe_memory_j / usual.energy.pe_memory_j, 0.25, kDifference);
  EXPECT_NEAR(low_both.energy.leakage_j / usual.energy.leakage_j, 0.5, kDifference);
  EXPECT_EQ(low_both.energy.dram_j, usual.energy.dram_j);
  MemoryCosts kept(silicon());
  EXPECT_EQ(unchecked_chip_facts(config, kept).die_peak_w, unchecked_chip_facts(config, silicon()).die_peak_w);
}

TEST(SiliconModel, WhatWouldCoolAChipOfItsOwnSuppliesDoes) {
  AcceleratorConfig config = edge_chip();
  config.cooling = Cooling::card;
  config.compute_lanes = 256;
  config.cores_per_pe = 16;
  config.activation_memory_entries = 16384;
  config.logic_v = 0.5;
  const auto cooling = [&]() -> std::optional<Violation> {
    const ChipFacts chip = chip_facts(config, silicon());
    for (const Violation& violation : chip.violations.view()) {
      if (violation.reason == Reason::cooling) return violation;
    }
    return std::nullopt;
  };
  const auto hot = cooling();
  ASSERT_TRUE(hot && hot->nearest_passing && hot->parameter == std::string("compute_lanes"));
  config.compute_lanes = *hot->nearest_passing;
  EXPECT_FALSE(cooling());
  config.compute_lanes += 1;
  EXPECT_TRUE(cooling()) << "the largest that passes";
}

TEST(SiliconModel, WeightsInWholeTilesArePadded) {
  workload::GemmLayer layer{.m = 96, .n = 600, .k = 600};
  layer.macs = 96.0 * 600 * 600;
  layer.weight_bytes = 600.0 * 600;
  const LayerShape shape = layer_shape(layer);
  AcceleratorConfig tpu = load_reference_chip("tpu_v1").config;
  EXPECT_EQ(stored_weight_bytes(shape, resident_memory(tpu)), 9 * 65536) << "3 x 3 tiles of 256 x 256";
  tpu.whole_weight_tiles = 0;
  EXPECT_EQ(stored_weight_bytes(shape, resident_memory(tpu)), 600 * 600);
  EXPECT_EQ(load_reference_chip("nvdla_2048").config.whole_weight_tiles, 0) << "a FIFO, and nothing says that it pads";
}

/// One of DenseNet's 3 x 3 convolutions at 7 x 7: 32 columns of 1,152 terms.
LayerShape densenet_convolution() {
  workload::GemmLayer layer{.m = 49, .n = 32, .k = 1152};
  layer.macs = 49.0 * 32 * 1152;
  layer.weight_bytes = 32.0 * 1152;
  return layer_shape(layer);
}

TEST(SiliconModel, WeightsInWholeTilesTakeTheirRoomOnTheChip) {
  const LayerShape layer = densenet_convolution();
  ResidentMemory memory = resident_memory(load_reference_chip("coral_edge_tpu").config);
  memory.parameter_bytes = 36864;  // as many as the layer has
  const auto kept_frac = [&](double earlier_bytes) {
    return residency_of(layer, true, false, earlier_bytes, memory).weights_on_chip_frac();
  };
  EXPECT_EQ(stored_parameter_bytes(layer, memory), 2 * 36864) << "64 columns";
  EXPECT_EQ(kept_frac(0), 0.5);
  EXPECT_EQ(kept_frac(18432), 0.25);
  Traffic traffic;
  add_dram_traffic(layer, residency_of(layer, true, false, 0, memory), memory, traffic);
  EXPECT_EQ(traffic.dram_read_weight_bytes, 36864) << "half of what is stored";
  memory.pe_parameter_bytes = 18432;
  EXPECT_EQ(kept_frac(0), 0.75);
  memory.weight_tile_k = memory.weight_tile_n = 0;
  EXPECT_EQ(kept_frac(0), 1) << "as they are they find room";
}

/// On the way through a network the padding of every layer counts for those behind it.
TEST(SiliconModel, WeightsInWholeTilesTakeRoomFromLayersBehind) {
  const workload::Network network =
      workload::load_network((hindsight::test::repository() / "data/silicon/workloads/densenet121.yaml").string());
  const Technology technology = load_technology("22nm-silicon");
  AcceleratorConfig config = load_reference_chip("coral_edge_tpu").config;
  const auto run = [&] { return evaluate(chip_facts(config, technology), network, Depth::stop_at_hardware); };
  const Evaluation padded = run();
  ASSERT_TRUE(padded.feasible());
  config.whole_weight_tiles = 0;
  const Evaluation plain = run();
  ASSERT_TRUE(plain.feasible());
  // 6.284 MiB are left of the memories; the weights are 7.561 MiB, and 9.726 MiB in whole tiles.
  constexpr double kMib = 1048576, kRounded = 0.002;
  EXPECT_NEAR(padded.metrics->traffic.dram_read_weight_bytes / kMib, 9.726 - 6.284, kRounded);
  EXPECT_NEAR(plain.metrics->traffic.dram_read_weight_bytes / kMib, 7.561 - 6.284, kRounded);
  EXPECT_GT(padded.metrics->latency_s, 1.5 * plain.metrics->latency_s);
}

/// What Coral's compiler reports of parts of DenseNet-201, all of whose weights find room [data: edgetpu-segments]: MiB
/// on the chip, with the constants of the channels, which are not weights.
TEST(SiliconModel, WeightsTakeTheRoomThatCoralsCompilerReports) {
  struct Part {
    std::int64_t channels, layers;  // of the map in front of the first layer; each adds 32
    double reported_mib;
  };
  const ResidentMemory memory = resident_memory(load_reference_chip("coral_edge_tpu").config);
  const auto stored_mib = [&](std::int64_t k, std::int64_t n) {
    workload::GemmLayer layer{.m = 49, .n = n, .k = k};
    layer.weight_bytes = static_cast<double>(k * n);
    return stored_parameter_bytes(layer_shape(layer), memory) / 1048576;
  };
  constexpr double kConstantsMib = 0.015;  // of 18 layers, and the third digit of the reports
  for (const Part& part : {Part{704, 18, 3.42}, {1280, 12, 2.98}, {896, 14, 2.88}, {1344, 11, 2.80}}) {
    double mib = 0;
    for (std::int64_t i = 0; i < part.layers; ++i)
      mib += stored_mib(part.channels + 32 * i, 128) + stored_mib(1152, 32);
    EXPECT_NEAR(mib, part.reported_mib, kConstantsMib) << part.channels;
  }
  EXPECT_NEAR(stored_mib(1920, 1000), 1.88, kConstantsMib) << "1,024 columns";
}

TEST(SiliconModel, DistanceCostsCyclesAndNeverTheClock) {
  const workload::Network network = workload::load_network("t_rnn_enc");
  AcceleratorConfig config = edge_chip();
  const ChipFacts chip = chip_facts(config, silicon());
  std::vector<LayerResult> layers(network.gemms().size());
  (void)evaluate(unchecked_chip_facts(config, silicon()), network.gemms(), Depth::all_checks, layers);
  // 2 cycles per hop: in and out over 4 + 4 hops; 39 instructions, and 16 cycles to tell the PEs.
  EXPECT_EQ(grid_fill_cycles(chip.config), 32);
  EXPECT_EQ(layers.front().overhead_cycles, 39 + 16);
  config.pes_x = config.pes_y = 32;
  config.pe_memory_bytes = 16777216;  // version 1 refuses it: too far apart for one cycle
  EXPECT_TRUE(has(chip_facts(config, load_technology("16nm")), Reason::noc_timing)) << "version 1 refuses it";
  EXPECT_FALSE(has(chip_facts(config, silicon()), Reason::noc_timing));
}

TEST(SiliconModel, AProgramLongerThanItsMemoryStreams) {
  const workload::Network network = workload::load_network("resnet50");
  AcceleratorConfig config = edge_chip();
  const double stored = 39.0 * static_cast<double>(network.gemms().size());
  // An instruction has 32 bytes whatever the operands have: the same cycles.
  for (const Precision precision : {Precision::int8, Precision::fp8, Precision::bf16}) {
    SCOPED_TRACE(to_string(precision));
    config.precision = precision;
    config.instruction_memory_entries = stored;
    const Metrics whole = costs_of(config, network);
    EXPECT_EQ(whole.instructions, stored);
    EXPECT_EQ(whole.program_bytes, 0);
    config.instruction_memory_entries = stored - 100;
    const Metrics streamed = costs_of(config, network);
    EXPECT_EQ(streamed.program_bytes, 100 * kInstructionBytes);
    const double cycles = 3200 / (10e9 * kDramEfficiency / 800e6);
    EXPECT_NEAR((streamed.latency_cycles - whole.latency_cycles) / cycles, 1, kDifference);
    EXPECT_NEAR((streamed.energy.dram_j - whole.energy.dram_j) / (3200 * 64e-12), 1, kDifference);
  }
}

TEST(SiliconModel, ALayersConstantsAreSaidToHaveHalfOfTheMemory) {
  workload::GemmLayer layer{.m = 1, .n = 3200, .k = 64};
  layer.macs = 3200.0 * 64;
  layer.weight_bytes = 3200.0 * 64;
  layer.input_bytes = 64;
  layer.output_bytes = 3200;
  AcceleratorConfig config = edge_chip();
  config.parameter_memory_entries = 256;  // 128 of a layer, and the fewest of a PE are 3200 / 16
  const Evaluation evaluation =
      evaluate(unchecked_chip_facts(config, silicon()), std::vector{layer}, Depth::all_checks);
  ASSERT_EQ(evaluation.violations.count, 1U);
  const Violation& violation = evaluation.violations.items[0];
  EXPECT_EQ(violation.value, 400);
  EXPECT_EQ(violation.limit, 256);
  EXPECT_EQ(
      message(violation, "logits"),
      "layer logits: a PE keeps 200 channel constants in half of its parameter memory: 400 entries, there are 256; "
      "parameter_memory_entries = 400 would pass (a number: the design is of no space with values to choose from)");
  config.parameter_memory_entries = 400;
  EXPECT_TRUE(evaluate(unchecked_chip_facts(config, silicon()), std::vector{layer}, Depth::all_checks).feasible());
}

TEST(SiliconModel, AHotChipGetsWhiteSpaceAndNoMemoryHelpsIt) {
  AcceleratorConfig config = edge_chip();
  config.compute_lanes = 32;
  config.cores_per_pe = 16;
  config.activation_memory_entries = 16384;
  config.pe_memory_bytes = 262144;
  const ChipFacts hot = chip_facts(config, silicon());
  ASSERT_GT(hot.area.cooling_mm2, 0);
  EXPECT_NEAR(hot.area.total_mm2() * 0.16 / hot.die_peak_w, 1, hindsight::test::kRounding);
  const auto cooling = [](const ChipFacts& chip) {
    for (const Violation& violation : chip.violations.view()) {
      if (violation.reason == Reason::cooling) return violation.value;
    }
    return 0.0;
  };
  ASSERT_GT(cooling(hot), 2.5);
  for (double AcceleratorConfig::*const memory :
       {&AcceleratorConfig::pe_memory_bytes, &AcceleratorConfig::core_memory_bytes,
        &AcceleratorConfig::instruction_memory_entries, &AcceleratorConfig::parameter_memory_entries,
        &AcceleratorConfig::activation_memory_entries, &AcceleratorConfig::shared_memory_bytes}) {
    AcceleratorConfig larger = config;
    larger.*memory = 8 * std::max(config.*memory, 65536.0);  // pads the chip, as version 1's optima did
    const ChipFacts padded = chip_facts(larger, silicon());
    EXPECT_GE(padded.area.total_mm2(), hot.area.total_mm2());
    EXPECT_GE(cooling(padded), cooling(hot));
  }
}

TEST(SiliconModel, ClassesAndClocksHaveLimits) {
  AcceleratorConfig config = edge_chip();
  config.clock_mhz = 2000;
  EXPECT_FALSE(has(chip_facts(config, silicon()), Reason::clock));
  config.clock_mhz = 2001;
  EXPECT_TRUE(has(chip_facts(config, silicon()), Reason::clock));
  config.cooling = Cooling::card;
  const ChipFacts card = chip_facts(config, silicon());
  EXPECT_FALSE(has(card, Reason::cooling));
  EXPECT_EQ(card.area.interfaces_mm2, 23);
}

TEST(SiliconModel, AClassMayBeNamedWithTheTechnology) {
  const Technology air = load_technology("16nm-silicon@air");
  EXPECT_EQ(air.name, "16nm-silicon@air");
  EXPECT_EQ(air.cooling_class, Cooling::air);
  EXPECT_NE(evaluator_definition(air), evaluator_definition(silicon()));
  EXPECT_EQ(evaluator_name(air), "hindsight-accel 4 16nm-silicon@air");
  const auto refused = [](const char* name, std::initializer_list<std::string> words) {
    hindsight::test::expect_usage_error([&] { (void)load_technology(name); }, words);
  };
  refused("16nm-silicon@ari", {"ari", "air"});
  refused("22nm@air", {"22nm-silicon"});
  EXPECT_EQ(evaluator_definition(load_technology("16nm-silicon@passive")), evaluator_definition(silicon()));
  refused("16nm-silicon@", {"16nm-silicon@"});
  EXPECT_EQ(named_cooling("16nm-silicon@air"), Cooling::air);
  EXPECT_EQ(named_cooling("16nm-silicon"), std::nullopt);
  hindsight::test::expect_usage_error([] { (void)named_cooling("16nm-silicon@ari"); }, {"ari", "air"});
}

TEST(SiliconModel, MoreOfAnythingIsNeverSlower) {
  const std::vector<workload::Network> networks = workload::load_networks("mobilenet_v2,resnet50,t_rnn_enc,bert_base");
  for (const workload::Network& network : networks) {
    AcceleratorConfig config = edge_chip();
    const double latency_s = costs_of(config, network).latency_s;
    for (double AcceleratorConfig::*const field :
         {&AcceleratorConfig::pe_memory_bytes, &AcceleratorConfig::core_memory_bytes,
          &AcceleratorConfig::activation_memory_entries, &AcceleratorConfig::instruction_memory_entries,
          &AcceleratorConfig::dram_bandwidth_gb_per_s, &AcceleratorConfig::clock_mhz}) {
      AcceleratorConfig more = config;
      more.*field *= 2;
      EXPECT_LE(costs_of(more, network).latency_s, latency_s * (1 + hindsight::test::kRounding)) << network.name();
    }
  }
}

}  // namespace
}  // namespace hindsight::accel

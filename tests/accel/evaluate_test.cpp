/// Does a whole evaluation come out as by hand, and do its parts fit together?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/workload/layer.h"
#include "tolerances.h"

namespace hindsight::accel {
namespace {

using test::kRounding;
using test::relative_error;

constexpr double kPj = 1e-12;

#define EXPECT_SAME(got, wanted) EXPECT_LT(relative_error(got, wanted), kRounding) << (got) << " is not " << (wanted)

/// One PE, one core, one lane at 1 GHz; 10 GB/s of DRAM are 8 bytes per cycle at 80 %.
constexpr AcceleratorConfig tiny_chip() {
  AcceleratorConfig config;
  config.pe_memory_bytes = 65536;
  config.core_memory_bytes = 65536;
  config.instruction_memory_entries = 64;
  config.parameter_memory_entries = 16;
  config.activation_memory_entries = 256;
  config.dram_bandwidth_gb_per_s = 10;
  config.clock_mhz = 1000;
  return config;
}

/// Every SRAM reads a byte for 1 pJ, writes one for 2 pJ, leaks 1 mW and takes 1 mm2.
Technology round_technology() {
  Technology technology;
  technology.name = "round";
  technology.sram.read_pj = {.coefficient = 16, .exponent = 0};  // of a 16-byte port
  technology.sram.write_pj = {.coefficient = 32, .exponent = 0};
  technology.sram.area_mm2 = {.coefficient = 1, .exponent = 0};
  technology.sram.leakage_mw = {.coefficient = 1, .exponent = 0};
  technology.mac_int8_pj = 0.5;
  technology.register_bit_pj = 0.01;
  technology.noc_router_pj_per_byte = 1;
  technology.dram_pj_per_bit[0] = 10;
  technology.power_density_limit_w_per_mm2 = 1;
  return technology;
}

workload::GemmLayer gemm(std::int64_t rows, std::int64_t columns, std::int64_t reduction, std::int64_t repeat = 1) {
  workload::Layer layer;
  layer.name = "gemm";
  layer.type = workload::LayerType::fully_connected;
  layer.rows = rows;
  layer.columns = columns;
  layer.reduction = reduction;
  layer.repeat = repeat;
  return workload::lower(layer, 1);
}

struct HandCase {
  ChipFacts chip = chip_facts(tiny_chip(), round_technology());
  std::vector<workload::GemmLayer> layers{gemm(4, 8, 16)};
  std::vector<LayerResult> details{std::vector<LayerResult>(1)};
  Evaluation evaluation = evaluate(chip, layers, Depth::stop_at_hardware, details);
};

/// The hand case at compile time: what a compiler can evaluate as a constant, device code can too.
constexpr Evaluation constant_evaluation() {
  ChipFacts chip;
  chip.config = tiny_chip();
  workload::GemmLayer layer;
  layer.m = 4, layer.n = 8, layer.k = 16;
  layer.out_width = layer.m, layer.in_channels = layer.k;
  layer.macs = 512, layer.weight_bytes = 128, layer.input_bytes = 64, layer.output_bytes = 32;
  return evaluate_layers(chip, {&layer, 1}, Depth::all_checks, {});
}
static_assert(constant_evaluation().feasible());
static_assert(constant_evaluation().metrics->instructions == 29);

TEST(HandCase, Latency) {
  const HandCase c;
  ASSERT_TRUE(c.evaluation.feasible()) << message(c.evaluation.violations.items[0], "");
  const LayerResult& layer = c.details[0];
  EXPECT_EQ(layer.compute_cycles, 128);       // 4 rows * 8 columns * 16 / 4
  EXPECT_EQ(layer.core_memory_cycles, 4);     // 128 weights once, 32 bytes per cycle
  EXPECT_EQ(layer.pe_memory_cycles, 38);      // 4 * 8 * 16 reads + 64 inputs + 32 outputs = 608 bytes, 16 per cycle
  EXPECT_EQ(layer.noc_cycles, 1.5);           // 64 in + 32 out over one bus of 64; the weights stay
  EXPECT_SAME(layer.dram_cycles, 12);         // 64 in + 32 out, 8 per cycle
  EXPECT_SAME(layer.fill_drain_cycles, 114);  // 2 hops + 100 ns + 64 / 8 + 32 / 8
  EXPECT_EQ(layer.overhead_cycles, 256);
  EXPECT_SAME(layer.total_cycles, 498);
  EXPECT_EQ(layer.bound, Bound::compute);
  EXPECT_SAME(c.evaluation.metrics->latency_cycles, 498);
  EXPECT_SAME(c.evaluation.metrics->latency_s, 498e-9);
  EXPECT_SAME(c.evaluation.metrics->utilisation_frac, 512.0 / (4 * 498));
  EXPECT_EQ(c.evaluation.metrics->instructions, 29);  // 16 + 4 * (1 + 1) + 4 steps of one tile + 1 descriptor
  EXPECT_EQ(c.evaluation.metrics->weights_cached_frac, 1);
}

TEST(HandCase, Traffic) {
  const HandCase c;
  const Traffic& traffic = c.evaluation.metrics->traffic;
  EXPECT_EQ(traffic.dram_read_weight_bytes, 0);
  EXPECT_EQ(traffic.dram_read_input_bytes, 64);
  EXPECT_EQ(traffic.dram_write_output_bytes, 32);
  EXPECT_EQ(traffic.noc_weight_bytes, 0);
  EXPECT_EQ(traffic.noc_input_bytes, 64);
  EXPECT_EQ(traffic.noc_output_bytes, 32);
  EXPECT_EQ(traffic.noc_hop_bytes, 192);  // 96 bytes * (1/2 + 1/2 + 1) hops
  EXPECT_EQ(traffic.core_memory_read_bytes, 128);
  EXPECT_EQ(traffic.core_memory_write_bytes, 0);
  EXPECT_EQ(traffic.pe_memory_read_bytes, 512);
  EXPECT_EQ(traffic.pe_memory_write_bytes, 96);
  EXPECT_EQ(traffic.accumulator_read_bytes, 512);  // 512 MACs / 4 per lane * 4 bytes
  EXPECT_EQ(traffic.accumulator_write_bytes, 512);
}

TEST(HandCase, Energy) {
  const HandCase c;
  const EnergyBreakdown& energy = c.evaluation.metrics->energy;
  EXPECT_SAME(energy.mac_j, 256 * kPj);          // 512 * 0.5
  EXPECT_SAME(energy.register_j, 122.88 * kPj);  // 128 lane cycles * (4 * 8 + 32 + 4 * 8) bits * 0.01
  EXPECT_SAME(energy.pe_memory_j, 704 * kPj);    // 512 + 96 * 2
  EXPECT_SAME(energy.core_memory_j, 128 * kPj);
  EXPECT_SAME(energy.activation_memory_j, 1536 * kPj);  // 512 + 512 * 2
  EXPECT_SAME(energy.parameter_memory_j, 16 * kPj);     // 32 outputs * 8 bytes / 16
  EXPECT_SAME(energy.instruction_memory_j, 928 * kPj);  // 29 * 32 bytes
  EXPECT_SAME(energy.noc_j, 192 * kPj);
  EXPECT_SAME(energy.dram_j, 7680 * kPj);     // 96 * 80
  EXPECT_SAME(energy.leakage_j, 2490 * kPj);  // 5 memories * 1 mW * 498 ns
  EXPECT_SAME(c.evaluation.metrics->energy_j, 14052.88 * kPj);
  EXPECT_SAME(c.evaluation.metrics->average_power_w, 14052.88 * kPj / 498e-9);
  EXPECT_SAME(c.evaluation.area.total_mm2(), 5);
}

TEST(ParameterCaching, FillsInExecutionOrder) {
  const ResidentMemory memory{.parameter_bytes = 250, .activation_half_bytes = 100};
  LayerShape layer;
  layer.weight_bytes = 100;
  layer.repeat = 2;
  EXPECT_EQ(cached_frac(layer, 0, memory), 1);
  EXPECT_EQ(cached_frac(layer, 50, memory), 1);     // 250 - 50 = 200
  EXPECT_EQ(cached_frac(layer, 150, memory), 0.5);  // 100 of 200
  EXPECT_EQ(cached_frac(layer, 250, memory), 0);
  EXPECT_EQ(cached_frac(layer, 1000, memory), 0);
  layer.weights_are_activations = true;  // where activations stay, or not at all
  layer.repeat = 1;
  EXPECT_EQ(cached_frac(layer, 1000, memory), 1);
  layer.weight_bytes = 101;
  EXPECT_EQ(cached_frac(layer, 0, memory), 0);
}

TEST(ParameterCaching, LeavesKeysOfEarlierPassesInDram) {
  ResidentMemory memory{.parameter_bytes = 250, .activation_half_bytes = 100, .pe_activation_half_bytes = 100};
  LayerShape keys;
  keys.weight_bytes = 60;
  keys.input_bytes = keys.output_bytes = 1;
  keys.weights_are_activations = keys.from_earlier_passes = true;
  for (const bool in_dram : {false, true}) {
    memory.caches_in_dram = in_dram;
    EXPECT_EQ(cached_frac(keys, 0, memory), in_dram ? 0 : 1);
    EXPECT_EQ(handed_over_bytes(keys, false, false, memory), in_dram ? 1 : 60) << "nobody hands them over";
    keys.from_earlier_passes = false;  // made by the pass itself
    EXPECT_EQ(cached_frac(keys, 0, memory), 1);
    EXPECT_EQ(handed_over_bytes(keys, false, false, memory), 60);
    keys.from_earlier_passes = true;
  }
}

/// DRAM has all parameters, the keys of earlier passes, and one layer's input and output at a time.
TEST(StoredOperands, AreThoseThatOutliveALayerAndTheLargestLayer) {
  LayerShape product;
  product.weight_bytes = 100;
  product.repeat = 2;
  product.input_bytes = 30;
  product.output_bytes = 50;
  LayerShape made = product, keys = product;
  made.weights_are_activations = keys.weights_are_activations = keys.from_earlier_passes = true;
  made.output_bytes = 20;
  const auto stored = [&](bool since_version_3) {
    StoredOperands sum;
    sum.parameters = 7;
    for (const LayerShape& layer : {product, made, keys}) sum.add(layer, {.caches_in_dram = since_version_3});
    return sum.total();
  };
  EXPECT_EQ(stored(true), 7 + 200 + 200 + 80);
  EXPECT_EQ(stored(false), 7 + 200 + 200 + 200);
}

TEST(FillAndDrain, ChargeDramOnlyWhenUsed) {
  AcceleratorConfig config = tiny_chip();
  config.pes_x = 3;
  config.pes_y = 4;
  const ChipRates rates = chip_rates(config);
  EXPECT_SAME(rates.dram_operands_per_cycle, 8);
  EXPECT_SAME(rates.dram_latency_cycles, 100);
  Traffic traffic;
  EXPECT_EQ(fill_drain_cycles(traffic, config, rates), 7);
  traffic.dram_read_weight_bytes = 1e6;  // one granule of 16384 bytes
  EXPECT_SAME(fill_drain_cycles(traffic, config, rates), 7 + 100 + 2048);
  traffic.dram_write_output_bytes = 80;
  EXPECT_SAME(fill_drain_cycles(traffic, config, rates), 7 + 100 + 2048 + 10);
}

TEST(Evaluate, NeighbouringLayersHandOverOnChip) {
  const ChipFacts chip = chip_facts(tiny_chip(), round_technology());
  // Activations have 65536 * 3/4 / 2 = 24576 bytes: 3072 rows of 8 fit, one more does not.
  for (const std::int64_t rows : {3072, 3073}) {
    const std::vector<workload::GemmLayer> layers{gemm(rows, 8, 16), gemm(rows, 4, 8)};
    std::vector<LayerResult> details(2);
    const NetworkCost cost = network_cost(chip, layers, details);
    EXPECT_FALSE(details[0].input_on_chip);   // the network's input
    EXPECT_FALSE(details[1].output_on_chip);  // the network's output
    EXPECT_EQ(details[0].output_on_chip, rows == 3072);
    EXPECT_EQ(details[1].input_on_chip, rows == 3072);
    const double between = rows == 3072 ? 0 : 8.0 * static_cast<double>(rows);
    EXPECT_EQ(details[0].traffic.dram_write_output_bytes, between);
    EXPECT_EQ(details[1].traffic.dram_read_input_bytes, between);
    EXPECT_EQ(cost.totals.traffic.dram_write_output_bytes, between + 4.0 * static_cast<double>(rows));
  }
}

std::size_t count(const Evaluation& evaluation, Reason reason) {
  std::size_t found = 0;
  for (const Violation& violation : evaluation.violations.view()) found += violation.reason == reason ? 1 : 0;
  return found;
}

TEST(Evaluate, ConstantsOfConsecutiveLayersShareTheParameterMemory) {
  AcceleratorConfig config = tiny_chip();
  const std::vector<workload::GemmLayer> layers{gemm(4, 8, 16), gemm(4, 12, 8), gemm(4, 2, 12)};
  config.parameter_memory_entries = 20;  // 8 + 12
  config.instruction_memory_entries = 1024;
  EXPECT_TRUE(evaluate(chip_facts(config, round_technology()), layers, Depth::stop_at_hardware).feasible());
  config.parameter_memory_entries = 19;
  const Evaluation evaluation = evaluate(chip_facts(config, round_technology()), layers, Depth::stop_at_hardware);
  ASSERT_EQ(count(evaluation, Reason::parameter_memory), 1U);
  EXPECT_EQ(evaluation.violations.items[0].layer, 1);
  EXPECT_EQ(evaluation.violations.items[0].value, 20);
  EXPECT_EQ(evaluation.violations.items[0].nearest_passing, 20);
}

TEST(Evaluate, RepeatedLayerFollowsItself) {
  AcceleratorConfig config = tiny_chip();
  config.parameter_memory_entries = 16;  // twice 8
  EXPECT_EQ(
      count(evaluate(chip_facts(config, round_technology()), std::vector{gemm(4, 8, 16, 2)}, Depth::stop_at_hardware),
            Reason::parameter_memory),
      0U);
  config.parameter_memory_entries = 15;
  EXPECT_EQ(
      count(evaluate(chip_facts(config, round_technology()), std::vector{gemm(4, 8, 16, 2)}, Depth::stop_at_hardware),
            Reason::parameter_memory),
      1U);
  EXPECT_EQ(
      count(evaluate(chip_facts(config, round_technology()), std::vector{gemm(4, 8, 16)}, Depth::stop_at_hardware),
            Reason::parameter_memory),
      0U);
}

TEST(Evaluate, ProgramFitsExactly) {
  AcceleratorConfig config = tiny_chip();
  config.instruction_memory_entries = 29;
  EXPECT_TRUE(evaluate(chip_facts(config, round_technology()), std::vector{gemm(4, 8, 16)}, Depth::stop_at_hardware)
                  .feasible());
  config.instruction_memory_entries = 28;
  const Evaluation evaluation =
      evaluate(chip_facts(config, round_technology()), std::vector{gemm(4, 8, 16)}, Depth::stop_at_hardware);
  ASSERT_EQ(count(evaluation, Reason::instruction_memory), 1U);
  EXPECT_EQ(evaluation.violations.items[0].layer, -1);
  EXPECT_EQ(evaluation.violations.items[0].nearest_passing, 29);
}

TEST(Evaluate, RepeatsMultiplyWorkAndChainThroughTheChip) {
  // 4x8x16 three times in a row: work, NoC bytes and instructions three times; the network's 64 input bytes are read
  // and its 32 output bytes written once, because between repeats they stay on chip.
  const ChipFacts chip = chip_facts(tiny_chip(), round_technology());
  const Metrics once = network_cost(chip, std::vector{gemm(4, 8, 16)}, {}).totals;
  const Metrics thrice = network_cost(chip, std::vector{gemm(4, 8, 16, 3)}, {}).totals;
  EXPECT_SAME(thrice.energy.mac_j, 3 * once.energy.mac_j);
  EXPECT_SAME(thrice.traffic.noc_input_bytes, 3 * once.traffic.noc_input_bytes);
  EXPECT_EQ(thrice.instructions, 3 * once.instructions);
  EXPECT_SAME(thrice.traffic.dram_read_input_bytes, 64);
  EXPECT_SAME(thrice.traffic.dram_write_output_bytes, 32);
  EXPECT_LE(thrice.latency_s, 3 * once.latency_s);
}

TEST(Evaluate, OnlyTheFirstRepeatReadsTheNetworksInput) {
  const ChipFacts chip = chip_facts(tiny_chip(), round_technology());
  const NetworkCost cost = network_cost(chip, std::vector{gemm(4, 16, 16, 36), gemm(4, 1, 16)}, {});
  EXPECT_SAME(cost.totals.traffic.dram_read_input_bytes, 64);
}

TEST(Evaluate, NothingMappedGivesNumbersNotNan) {
  AcceleratorConfig config = tiny_chip();
  config.core_memory_bytes = 8;  // a weight tile of one byte
  const ChipFacts chip = chip_facts(config, round_technology());
  const std::vector layers{gemm(4, 8, 16)};
  const Evaluation evaluation = evaluate(chip, layers, Depth::all_checks);
  EXPECT_FALSE(evaluation.feasible());
  EXPECT_EQ(count(evaluation, Reason::no_mapping), 1U);
  const Metrics totals = network_cost(chip, layers, {}).totals;
  EXPECT_EQ(totals.utilisation_frac, 0);
  EXPECT_EQ(totals.average_power_w, 0);
}

TEST(Evaluate, NoMemoryAlonePassesWhereBothAreTooSmall) {
  AcceleratorConfig config = tiny_chip();
  config.pe_memory_bytes = 32;   // an input tile of two bytes, four are needed
  config.core_memory_bytes = 8;  // a weight tile of one byte, four are needed
  const auto violation = [&] {
    const ChipFacts chip = chip_facts(config, round_technology());
    const Evaluation evaluation = evaluate(chip, std::vector{gemm(4, 8, 16)}, Depth::all_checks);
    return evaluation.violations.count > 0 ? evaluation.violations.items[0] : Violation{};
  };
  EXPECT_EQ(violation().reason, Reason::no_mapping);
  EXPECT_EQ(violation().nearest_passing, std::nullopt);
  EXPECT_THAT(message(violation(), ""), testing::HasSubstr("no value of pe_memory_bytes alone would pass"));
  config.core_memory_bytes = tiny_chip().core_memory_bytes;
  ASSERT_EQ(violation().nearest_passing, 64);
  config.pe_memory_bytes = 64;
  EXPECT_EQ(network_cost(chip_facts(config, round_technology()), std::vector{gemm(4, 8, 16)}, {}).violations.count, 0U);
}

TEST(Evaluate, BrokenChipIsNotCompiledForUnlessAsked) {
  AcceleratorConfig config = tiny_chip();
  config.activation_memory_entries = 1;  // two are needed
  config.parameter_memory_entries = 4;   // eight are needed
  const ChipFacts chip = chip_facts(config, round_technology());
  const Evaluation flow = evaluate(chip, std::vector{gemm(4, 8, 16)}, Depth::stop_at_hardware);
  EXPECT_EQ(flow.violations.count, 1U);
  EXPECT_FALSE(flow.metrics.has_value());
  const Evaluation all = evaluate(chip, std::vector{gemm(4, 8, 16)}, Depth::all_checks);
  EXPECT_EQ(count(all, Reason::accumulators), 1U);
  EXPECT_EQ(count(all, Reason::parameter_memory), 1U);
}

TEST(EvaluatorDefinition, ChangesWithEveryNumberOfTheTechnology) {
  const Technology original = load_technology("22nm");
  const std::string definition = evaluator_definition(original);
  const auto expect_changed = [&](const Technology& changed, const char* what) {
    EXPECT_NE(evaluator_definition(changed), definition) << what;
  };
  double Technology::*const numbers[] = {&Technology::mac_int8_pj,
                                         &Technology::mac_int8_um2,
                                         &Technology::register_bit_pj,
                                         &Technology::register_bit_um2,
                                         &Technology::logic_leakage_mw_per_mm2,
                                         &Technology::noc_pj_per_byte_mm,
                                         &Technology::noc_router_pj_per_byte,
                                         &Technology::noc_router_um2_per_bit,
                                         &Technology::wire_delay_ps_per_mm,
                                         &Technology::tap_delay_ps,
                                         &Technology::flop_overhead_ps,
                                         &Technology::control_area_fraction,
                                         &Technology::power_density_limit_w_per_mm2,
                                         &Technology::reticle_limit_mm2};
  for (std::size_t i = 0; i < std::size(numbers); ++i) {
    Technology changed = original;
    changed.*numbers[i] *= 1 + kRounding;
    expect_changed(changed, std::to_string(i).c_str());
  }
  for (PowerLaw SramModel::*const law :
       {&SramModel::read_pj, &SramModel::write_pj, &SramModel::area_mm2, &SramModel::leakage_mw}) {
    Technology changed = original;
    (changed.sram.*law).coefficient *= 1.5;
    expect_changed(changed, "coefficient");
    changed = original;
    (changed.sram.*law).exponent *= 1.5;
    expect_changed(changed, "exponent");
  }
  for (std::size_t type = 0; type < kDramTypesOfVersion1; ++type) {
    Technology changed = original;
    changed.dram_pj_per_bit[type] *= 2;
    expect_changed(changed, "dram_pj_per_bit");
    changed = original;
    changed.dram_phy_mm2_per_gb_per_s[type] *= 2;
    expect_changed(changed, "dram_phy_mm2_per_gb_per_s");
  }
}

TEST(EvaluatorDefinition, NamesEveryTemplateConstant) {
  const std::string definition = evaluator_definition(load_technology("22nm"));
  for (const char* constant : {"accumulator_bytes=4",
                               "parameter_entry_bytes=8",
                               "instruction_bytes=32",
                               "noc_link_bytes_per_cycle=64",
                               "core_memory_port_bytes=32",
                               "pe_memory_bank_bytes=65536",
                               "pe_memory_bank_port_bytes=16",
                               "pe_memory_max_banks=32",
                               "working_fraction=0.25",
                               "dram_efficiency=0.8",
                               "dram_latency_ns=100",
                               "dma_granule_bytes=16384",
                               "layer_overhead_cycles=256",
                               "requantisation_reuse=16",
                               "setup_instructions=16",
                               "setup_instructions_per_row_and_column=4",
                               "instructions_per_tile=4",
                               "noc_buses_per_pe=2",
                               "operand_bits=8",
                               "accumulator_bits=32"}) {
    EXPECT_NE(definition.find(constant), std::string::npos) << constant;
  }
}

}  // namespace
}  // namespace hindsight::accel

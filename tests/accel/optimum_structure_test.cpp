/// Does the accelerator model have the properties that the exact optimum relies on, one by one, and are the bounds that
/// use them tight enough that one per cent more would show?
#include <gtest/gtest.h>

#include <limits>

#include "accel/optimum/chips.h"
#include "accel/optimum/energy_floor.h"
#include "accel/optimum/layers.h"
#include "accel/optimum/leaf.h"
#include "accel/optimum_fixture.h"
#include "hindsight/accel/energy.h"
#include "hindsight/accel/optimum/structure.h"
#include "tolerances.h"

namespace hindsight::accel::optimum::test {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kCases = 300;
/// A bound that reaches this share of the truth somewhere would be seen to be wrong if it were one per cent larger.
constexpr double kTight = 0.995;

/// A random chip with a random network, whether it can be built or not, layer by layer.
struct Case {
  space::Design design;
  AcceleratorConfig config;
  ChipFacts chip;
  const workload::Network* network = nullptr;
  std::vector<LayerResult> layers;
  std::string text;
};
Case next_case(Dice& dice) {
  Case one;
  one.design = dice.design();
  one.config = inputs().config(one.design);
  one.chip = chip_facts(one.config, inputs().technology);
  one.network = &dice.network();
  one.layers.resize(one.network->gemms().size());
  (void)evaluate(one.chip, one.network->gemms(), Depth::all_checks, one.layers);
  one.text = one.network->name() + " on " + inputs().space.text_id(one.design) + ", seed " + std::to_string(kSeed);
  return one;
}

/// Calls visit(layer, residency, result) for every layer that has a mapping.
template <class Visit>
void for_each_mapped_layer(const Case& one, const Visit& visit) {
  double earlier_weight_bytes = 0;
  bool previous_on_chip = false;
  const auto& gemms = one.network->gemms();
  const ResidentMemory memory = resident_for(one.config, resident_memory(one.config), gemms.size(),
                                             [&](std::size_t i) { return layer_shape(gemms[i]); });
  for (std::size_t i = 0; i < gemms.size(); ++i) {
    const LayerShape layer = layer_shape(gemms[i]);
    const Residency residency =
        residency_of(layer, previous_on_chip, i + 1 == gemms.size(), earlier_weight_bytes, memory);
    previous_on_chip = residency.output_on_chip;
    earlier_weight_bytes += stored_parameter_bytes(layer, memory);
    if (one.layers[i].total_cycles > 0) visit(layer, residency, one.layers[i]);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(OptimumStructure, SplitLatency) {
  Dice dice("split latency");
  for (std::size_t n = 0; n < kCases; ++n) {
    const Case one = next_case(dice);
    const ChipRates rates = chip_rates(one.config);
    for_each_mapped_layer(one, [&](const LayerShape& layer, const Residency& residency, const LayerResult& result) {
      const LayerDram dram = layer_dram(layer, residency, rates.resident);
      const double on_chip = on_chip_cycles(layer, one.config, dram.cached);
      ASSERT_LE(relative_error(latency_cycles(on_chip, dram, one.config, rates), result.total_cycles), kRounding)
          << one.text;
      ASSERT_EQ(dram.total_bytes, result.traffic.dram_bytes()) << one.text;
    });
  }
}

TEST(OptimumStructure, OnChipCyclesFallWithMemoriesAndCaching) {
  Dice dice("on-chip cycles fall");
  std::size_t compared = 0;
  for (std::size_t n = 0; n < 4 * kCases; ++n) {
    const auto grown = dice.grown_memory(n);
    if (!grown) continue;
    const auto& [layer, less, more, memory_name] = *grown;
    for (const bool cached : {false, true}) {
      ASSERT_LE(on_chip_cycles(layer, more, cached), on_chip_cycles(layer, less, cached)) << memory_name;
    }
    ASSERT_LE(on_chip_cycles(layer, less, true), on_chip_cycles(layer, less, false));
    ++compared;
  }
  EXPECT_GE(compared, 3 * kCases);
}

/// DRAM of all layers of a network.
std::vector<LayerDram> dram_of(const workload::Network& network, const AcceleratorConfig& config) {
  Case one;
  one.config = config;
  one.network = &network;
  one.layers.resize(network.gemms().size());
  for (LayerResult& layer : one.layers) layer.total_cycles = 1;  // visit all
  std::vector<LayerDram> drams;
  for_each_mapped_layer(one, [&](const LayerShape& layer, const Residency& residency, const LayerResult&) {
    drams.push_back(layer_dram(layer, residency, resident_memory(config)));
  });
  return drams;
}

TEST(OptimumStructure, DramByCapacity) {
  Dice dice("dram by capacity");
  for (std::size_t n = 0; n < kCases; ++n) {
    const AcceleratorConfig config = inputs().config(dice.design());
    const workload::Network& network = dice.network();
    const std::vector<LayerDram> drams = dram_of(network, config);
    AcceleratorConfig other = config;  // the same capacities from other parts
    other.pes_x *= 2;
    other.pe_memory_bytes /= 2;
    other.cores_per_pe *= 4;
    other.core_memory_bytes /= 8;
    AcceleratorConfig pe = config, core = config;
    pe.pe_memory_bytes *= 2;
    core.core_memory_bytes *= 2;
    const std::vector<LayerDram> same = dram_of(network, other), by_pe = dram_of(network, pe),
                                 by_core = dram_of(network, core);
    for (std::size_t i = 0; i < drams.size(); ++i) {
      ASSERT_EQ(same[i].beyond_bytes, drams[i].beyond_bytes);
      ASSERT_EQ(same[i].granule_bytes, drams[i].granule_bytes);
      ASSERT_EQ(same[i].total_bytes, drams[i].total_bytes);
      ASSERT_EQ(same[i].cached, drams[i].cached);
      ASSERT_EQ(same[i].weights_in_pes_frac, drams[i].weights_in_pes_frac);
      for (const LayerDram& more : {by_pe[i], by_core[i]}) {
        ASSERT_LE(more.total_bytes, drams[i].total_bytes * (1 + kRounding));
        ASSERT_LE(more.beyond_bytes + more.granule_bytes,
                  (drams[i].beyond_bytes + drams[i].granule_bytes) * (1 + kRounding));
        ASSERT_LE(more.granule_bytes, drams[i].granule_bytes * (1 + kRounding));
        ASSERT_LE(more.reads, drams[i].reads);
        ASSERT_GE(more.cached, drams[i].cached);
      }
    }
  }
}

TEST(OptimumStructure, ArithmeticAndSplitsBoundOnChipCycles) {
  Dice dice("arithmetic bound");
  double tightest_arithmetic = 0, tightest_split = 0, tightest_compute = 0;
  for (std::size_t n = 0; n < kCases; ++n) {
    const Case one = next_case(dice);
    for_each_mapped_layer(one, [&](const LayerShape& layer, const Residency&, const LayerResult& result) {
      const double on_chip = on_chip_cycles(layer, one.config, true);
      const double arithmetic = least_on_chip_cycles(layer, one.config);
      const LeastCycles split = least_split_cycles(layer, one.config);
      ASSERT_LE(arithmetic, on_chip * (1 + kRounding)) << one.text;
      ASSERT_LE(split.on_chip, on_chip) << one.text;
      ASSERT_LE(split.compute, result.compute_cycles) << one.text;
      tightest_arithmetic = std::max(tightest_arithmetic, arithmetic / on_chip);
      tightest_split = std::max(tightest_split, split.on_chip / on_chip);
      tightest_compute = std::max(tightest_compute, split.compute / result.compute_cycles);
    });
  }
  EXPECT_GE(tightest_arithmetic, kTight);
  EXPECT_GE(tightest_split, kTight);
  EXPECT_GE(tightest_compute, kTight);
}

TEST(OptimumStructure, DramNoSlowerThanComputingChangesNoMapping) {
  Dice dice("compute bound");
  for (std::size_t n = 0; n < 4 * kCases; ++n) {
    const AcceleratorConfig config = inputs().config(dice.design());
    const auto& gemms = dice.network().gemms();
    const LayerShape layer = layer_shape(gemms[dice.below(gemms.size())]);
    const double dram_cycles = least_split_cycles(layer, config).compute;
    const bool cached = dice.below(2) == 1;
    const Mapping free = on_chip_mapping(layer, config, cached);
    const Mapping hidden =
        best_mapping(layer, config, working_memory(config), {.weights_cached_frac = cached ? 1.0 : 0.5}, dram_cycles);
    ASSERT_EQ(free.found, hidden.found);
    if (!free.found) continue;
    Traffic of_free, of_hidden;
    add_on_chip_traffic(layer, free, config, of_free);
    add_on_chip_traffic(layer, hidden, config, of_hidden);
    for_each_traffic_field([](const char* name, double a, double b) { ASSERT_EQ(a, b) << name; }, of_free, of_hidden);
    ASSERT_EQ(free.steady_cycles, hidden.steady_cycles);
    ASSERT_EQ(free.plan.tiles_m * free.plan.tiles_n * free.plan.tiles_k,
              hidden.plan.tiles_m * hidden.plan.tiles_n * hidden.plan.tiles_k);
  }
}

TEST(OptimumStructure, LargerThanSaturatedMemoriesChangeNoMapping) {
  Dice dice("saturation");
  for (std::size_t n = 0; n < 4 * kCases; ++n) {
    AcceleratorConfig enough = inputs().config(dice.design());
    const auto& gemms = dice.network().gemms();
    const LayerShape layer = layer_shape(gemms[dice.below(gemms.size())]);
    const SaturatedMemory saturated = saturated_memory(layer, enough);
    AcceleratorConfig more = enough;
    const std::size_t place = n % (inputs().technology.is_version_1() ? 3 : 4);
    // one memory at a time at its saturation and beyond it, the others as they are
    double AcceleratorConfig::*const members[] = {
        &AcceleratorConfig::pe_memory_bytes, &AcceleratorConfig::core_memory_bytes,
        &AcceleratorConfig::activation_memory_entries, &AcceleratorConfig::parameter_memory_entries};
    const double enoughs[] = {saturated.pe_memory_bytes, saturated.core_memory_bytes,
                              saturated.activation_memory_entries, saturated.parameter_memory_entries};
    enough.*members[place] = enoughs[place] * (1 + kMargin);
    more.*members[place] = enoughs[place] * (1.5 + static_cast<double>(dice.below(20)));
    const double dram_cycles = dice.below(2) == 0 ? 0.0 : least_split_cycles(layer, enough).compute * 3;
    const Mapping a = best_mapping(layer, enough, working_memory(enough), {.weights_cached_frac = 1}, dram_cycles);
    const Mapping b = best_mapping(layer, more, working_memory(more), {.weights_cached_frac = 1}, dram_cycles);
    ASSERT_EQ(a.found, b.found);
    if (!a.found) continue;
    ASSERT_EQ(a.steady_cycles, b.steady_cycles) << place;
    Traffic of_a, of_b;
    add_on_chip_traffic(layer, a, enough, of_a);
    add_on_chip_traffic(layer, b, more, of_b);
    for_each_traffic_field([&](const char* name, double x, double y) { ASSERT_EQ(x, y) << name << place; }, of_a, of_b);
    ASSERT_EQ(layer_instructions(a.pe, a.core, a.plan, enough.pes_x, enough.pes_y),
              layer_instructions(b.pe, b.core, b.plan, more.pes_x, more.pes_y));
    ASSERT_EQ(a.pe.n, b.pe.n);
  }
}

/// `width` pixels of 150 channels in each of `height` rows under windows of one row.
workload::Layer rows_of_pixels(std::int64_t height, std::int64_t width, std::int64_t stride) {
  workload::Layer layer;
  layer.name = "rows";
  layer.in_height = height;
  layer.in_width = width;
  layer.in_channels = 150;
  layer.out_channels = 8;
  layer.stride_width = stride;
  return layer;
}

TEST(OptimumStructure, SequencesOfABatchSaturateTheMemoryThatHoldsAllOfThem) {
  const LayerShape layer = layer_shape(workload::lower(rows_of_pixels(1, 25, 8), 64));
  AcceleratorConfig config = inputs().config(inputs().space.design(0));
  config.rules.cuts_sequences = true;
  ASSERT_TRUE(layer.windowed && layer.of_sequence);
  config.pe_memory_bytes = saturated_memory(layer, config).pe_memory_bytes;
  for_each_split(layer, config, [&](GridSplit, const PeShare& pe) {
    EXPECT_EQ(row_bands(layer, pe, working_memory(config)), 1) << "of 64 rows of four pixels, eight apart";
  });
}

TEST(OptimumStructure, AMapWithRowsIsAnotherShapeThanAsManySequences) {
  const workload::Network map("map", "", "", false, 1, {rows_of_pixels(2, 1000, 1)});
  const workload::Network sequences("sequences", "", "", false, 2, {rows_of_pixels(1, 1000, 1)});
  const Layers layers({&map, &sequences}, template_rules(inputs().technology));
  ASSERT_EQ(layers.shapes().size(), 2U);
  EXPECT_FALSE(layers.shapes()[layers.uses()[0].shape].of_sequence);
  EXPECT_TRUE(layers.shapes()[layers.uses()[1].shape].of_sequence);
  EXPECT_EQ(Layers({&map, &map}, template_rules(inputs().technology)).shapes().size(), 1U);
}

TEST(OptimumStructure, NeedsIgnoreTheMemoriesThatAreNeeded) {
  Dice dice("needs ignore");
  const std::size_t parameter = inputs().space.index_of("parameter_memory_entries");
  const std::size_t instruction = inputs().space.index_of("instruction_memory_entries");
  std::size_t feasible = 0;
  for (std::size_t n = 0; n < 100 * kCases && feasible < kCases; ++n) {
    space::Design design = dice.design();
    const ChipFacts chip = chip_facts(inputs().config(design), inputs().technology);
    if (chip.violations.count > 0) continue;
    const workload::Network& network = dice.network();
    space::Design other = design;
    const bool by_parameter = !inputs().technology.is_version_1();  // version 2: compiled for each
    if (!by_parameter) other.levels[parameter] = static_cast<std::uint16_t>(dice.below(5));
    other.levels[instruction] = static_cast<std::uint16_t>(dice.below(4));
    const ChipFacts reference = chip_facts(inputs().config(other), inputs().technology);
    const Compiled compiled = compile(reference, network);
    const Evaluation truth = evaluate(chip, network.gemms(), Depth::stop_at_hardware);
    const bool fits = compiled.mapped && compiled.constants <= chip.config.parameter_memory_entries &&
                      compiled.instructions <= chip.config.instruction_memory_entries;
    ASSERT_EQ(fits, truth.feasible()) << inputs().space.text_id(design);
    if (!fits) continue;
    ++feasible;
    const Metrics metrics = priced(compiled.totals, reference, chip);
    ASSERT_EQ(metrics.latency_s, truth.metrics->latency_s);
    ASSERT_EQ(metrics.instructions, truth.metrics->instructions);
    ASSERT_LE(relative_error(metrics.energy_j, truth.metrics->energy_j), kRounding);
  }
  EXPECT_EQ(feasible, kCases);
}

TEST(OptimumStructure, AChoiceThatFitsASmallerParameterMemoryIsChosenBesideIt) {
  Dice dice("fitting choice");
  std::size_t fits = 0, changes = 0;
  for (std::size_t n = 0; n < 10 * kCases; ++n) {
    AcceleratorConfig config = inputs().config(dice.design());
    const auto& gemms = dice.network().gemms();
    const LayerShape layer = layer_shape(gemms[dice.below(gemms.size())]);
    const Residency residency{.weights_cached_frac = dice.below(2) == 1 ? 1.0 : 0.5};
    const double dram_cycles = dice.below(2) == 0 ? 0.0 : least_split_cycles(layer, config).compute * 2;
    config.parameter_memory_entries = 1U << 20U;
    const Mapping large = best_mapping(layer, config, working_memory(config), residency, dram_cycles);
    config.parameter_memory_entries = static_cast<double>(16U << dice.below(9));
    const Mapping small = best_mapping(layer, config, working_memory(config), residency, dram_cycles);
    if (!large.found) {
      ASSERT_FALSE(small.found);
    } else if (!config.rules.constants_in_halves || 2 * large.pe.n <= config.parameter_memory_entries) {
      ++fits;
      ASSERT_EQ(small.pe.n, large.pe.n);
      ASSERT_EQ(small.steady_cycles, large.steady_cycles);
      ASSERT_EQ(mapper_detail::noc_bytes(small.noc), mapper_detail::noc_bytes(large.noc));
      ASSERT_EQ(small.lanes, large.lanes);
      ASSERT_EQ(small.core.split_n, large.core.split_n);
    } else if (small.found) {
      ++changes;
      ASSERT_LE(2 * small.pe.n, config.parameter_memory_entries);
      ASSERT_GE(small.steady_cycles, large.steady_cycles);
    }
  }
  EXPECT_GE(fits, kCases);
  if (!inputs().technology.is_version_1()) {
    EXPECT_GE(changes, kCases / 3);
  }
}

/// Axes and chips of the whole edge space.
struct Edge {
  Question question{.space = &inputs().space, .technology = &inputs().technology};
  Axes axes{question};
  Chips chips{axes, inputs().technology, {.area_mm2 = 27, .peak_power_w = kInfinity}};
};

TEST(OptimumStructure, FactsAreSeparable) {
  Dice dice("separable facts");
  const Edge edge;
  std::size_t compared = 0, allowed = 0;
  for (std::size_t n = 0; n < 40 * kCases; ++n) {
    const space::Design design = dice.design();
    const ChipFacts truth = chip_facts(inputs().config(design), inputs().technology);
    const bool passes = truth.violations.count == 0 && truth.area.total_mm2() <= 27;
    const Point point = edge.axes.point_of(design).value();
    ASSERT_EQ(edge.axes.design(point), design);
    const auto group = edge.chips.group(point);
    if (!group || group->accumulates[at(point, Role::activation)] == 0) {
      ASSERT_FALSE(passes) << inputs().space.text_id(design);
      continue;
    }
    const Core core = edge.chips.core(*group, point);
    const Whole whole = edge.chips.whole(*group, core, point);
    const Prices prices = edge.chips.prices(*group, whole, point);
    ASSERT_LE(relative_error(edge.chips.area_mm2(*group, whole, point), truth.area.total_mm2()), kRounding);
    ASSERT_LE(relative_error(whole.leakage_w, truth.leakage_w), kRounding);
    ASSERT_LE(relative_error(whole.idle_w, truth.idle_w), kRounding);
    ASSERT_LE(relative_error(whole.array_w, truth.pe_array_peak_w), kRounding);
    ASSERT_LE(relative_error(edge.chips.peak_power_w(*group, whole, point), truth.peak_power_w), kRounding);
    ASSERT_LE(relative_error(prices.noc_pj_per_hop_byte, truth.event.noc_pj_per_hop_byte), kRounding);
    ASSERT_LE(edge.chips.least_area_mm2(*group, point), truth.area.total_mm2() * (1 + kRounding));
    if (inputs().technology.is_version_1()) {
      const bool in_time = whole.pe_mm2 <= group->most_pe_mm2;
      ASSERT_EQ(in_time, truth.multicast_delay_ns <= 1e3 / truth.config.clock_mhz);
    }
    ASSERT_EQ(edge.chips.bandwidths(*group, core, point) > at(point, Role::bandwidth), passes)
        << inputs().space.text_id(design);
    ++compared;
    allowed += passes ? 1 : 0;
  }
  EXPECT_GE(compared, kCases);
  EXPECT_GE(allowed, kCases);
}

TEST(OptimumStructure, AreaAndPeakPowerFallWithNoParameter) {
  Dice dice("facts grow");
  for (std::size_t n = 0; n < 4 * kCases; ++n) {
    space::Design design = dice.design();
    const std::size_t p = dice.below(design.levels.size());
    if (design.levels[p] + 1U >= inputs().space.parameters()[p].level_count()) continue;
    const ChipFacts less = chip_facts(inputs().config(design), inputs().technology);
    ++design.levels[p];
    const ChipFacts more = chip_facts(inputs().config(design), inputs().technology);
    ASSERT_LE(less.area.total_mm2(), more.area.total_mm2() * (1 + kRounding)) << inputs().space.parameters()[p].name;
    ASSERT_LE(less.peak_power_w, more.peak_power_w) << inputs().space.parameters()[p].name;
  }
}

TEST(OptimumStructure, NoMappingMovesLess) {
  Dice dice("least energy");
  double tightest_bytes = 0, tightest_choice = 0;
  for (std::size_t n = 0; n < kCases; ++n) {
    const Case one = next_case(dice);
    for_each_mapped_layer(one, [&](const LayerShape& layer, const Residency& residency, const LayerResult& result) {
      const Traffic& t = result.traffic;
      const OnChipBytes moved{.noc_hops = t.noc_hop_bytes * (1 + kRounding),
                              .core_read = t.core_memory_read_bytes * (1 + kRounding),
                              .core_write = t.core_memory_write_bytes * (1 + kRounding),
                              .pe_read = t.pe_memory_read_bytes * (1 + kRounding),
                              .pe_write = t.pe_memory_write_bytes * (1 + kRounding)};
      const OnChipBytes least = least_bytes(layer, mean_hops(one.config));
      ASSERT_TRUE(least.covers(moved)) << one.text;
      tightest_bytes = std::max(tightest_bytes, least.noc_hops / moved.noc_hops);
      const LeastTraffic traffic = least_traffic(layer, one.config);
      const auto& choices = residency.weights_cached_frac >= 1.0 ? traffic.cached : traffic.streamed;
      bool covered = false;
      for (const OnChipBytes& choice : choices) {
        covered = covered || choice.covers(moved);
        if (choice.covers(moved)) tightest_choice = std::max(tightest_choice, choice.noc_hops / moved.noc_hops);
      }
      ASSERT_TRUE(covered) << one.text;
      ASSERT_LE(traffic.instructions, result.executed_instructions) << one.text;
    });
  }
  EXPECT_GE(tightest_bytes, kTight);
  EXPECT_GE(tightest_choice, kTight);
}

/// Every part of a sum over an application, layer by layer: one that is off by one per cent shows, however loose the
/// floor is.
TEST(OptimumStructure, TheFloorOfAnApplicationIsTheSumOfItsLayers) {
  Dice dice("sum of layers");
  const Edge edge;
  std::size_t compared = 0;
  for (std::size_t n = 0; n < 4 * kCases; ++n) {
    const space::Design design = dice.design();
    const ChipFacts chip = chip_facts(inputs().config(design), inputs().technology);
    const Point point = edge.axes.point_of(design).value();
    const auto group = edge.chips.group(point);
    if (!group) continue;
    const workload::Network& network = dice.network();
    double sum_j = 0;
    for (const workload::GemmLayer& gemm : network.gemms()) {
      const LayerShape layer = layer_shape(gemm);
      const OnChipBytes least = least_bytes(layer, mean_hops(chip.config));
      const double accumulations = lane_cycles(layer, chip.config.macs_per_lane) * kAccumulatorBytes;
      const Traffic traffic{.noc_hop_bytes = least.noc_hops,
                            .core_memory_read_bytes = least.core_read,
                            .core_memory_write_bytes = least.core_write,
                            .pe_memory_read_bytes = least.pe_read,
                            .pe_memory_write_bytes = least.pe_write,
                            .accumulator_read_bytes = accumulations,
                            .accumulator_write_bytes = accumulations};
      sum_j += layer.repeat *
               (layer_energy(layer, traffic, 0, chip).total_j() - layer_energy(layer, {}, 0, chip).parameter_memory_j);
    }
    const Core core = edge.chips.core(*group, point);
    const Prices prices = edge.chips.prices(*group, edge.chips.whole(*group, core, point), point);
    const double floor =
        ApplicationFloor(Layers({&network}, edge.axes.rules()), *group).dynamic_j(0, byte_prices(core, prices));
    ASSERT_LE(relative_error(floor, sum_j), kRounding) << inputs().space.text_id(design);
    ++compared;
  }
  EXPECT_GE(compared, kCases / 10);
}

/// The floors of energy against the truth of feasible designs: below it everywhere, and close to it somewhere.
TEST(OptimumStructure, EnergyFloorsAreBelowTheTruthAndNotFar) {
  Dice dice("energy floors");
  const Edge edge;
  double closest_application = 0, closest_layers = 0;
  std::size_t compared = 0;
  for (std::size_t n = 0; n < 100 * kCases && compared < kCases; ++n) {
    const space::Design design = dice.design();
    const ChipFacts truth = chip_facts(inputs().config(design), inputs().technology);
    if (truth.violations.count > 0 || truth.area.total_mm2() > 27) continue;
    const workload::Network& network = dice.network();
    const Evaluation evaluation = evaluate(truth, network.gemms(), Depth::stop_at_hardware);
    if (!evaluation.feasible()) continue;
    const Point point = edge.axes.point_of(design).value();
    const Group group = edge.chips.group(point).value();
    const Core core = edge.chips.core(group, point);
    const Prices prices = edge.chips.prices(group, edge.chips.whole(group, core, point), point);
    const Layers layers({&network}, edge.axes.rules());
    const DramPoint& dram = layers.dram(truth.config);
    const double floor = ApplicationFloor(layers, group).dynamic_j(0, byte_prices(core, prices));
    const double by_layer = layers.on_chip_j(0, LayerFloor(layers, truth.config).least_j(core, prices), dram);
    const EnergyBreakdown& energy = evaluation.metrics->energy;
    const double on_chip_j = energy.total_j() - energy.leakage_j - energy.dram_j;
    ASSERT_LE(relative_error(Layers::dram_j(dram.sums[0], truth), energy.dram_j), kRounding);
    ASSERT_LE(floor, on_chip_j) << inputs().space.text_id(design);
    ASSERT_LE(by_layer, on_chip_j) << inputs().space.text_id(design);
    closest_application = std::max(closest_application, floor / on_chip_j);
    closest_layers = std::max(closest_layers, by_layer / on_chip_j);
    ++compared;
  }
  EXPECT_EQ(compared, kCases);
  EXPECT_GE(closest_application, 0.8);
  EXPECT_GE(closest_layers, 0.95);
}

}  // namespace
}  // namespace hindsight::accel::optimum::test

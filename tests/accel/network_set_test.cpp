/// Does sharing layers among networks leave every evaluation as it is?
#include "hindsight/accel/network_set.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "accel/layer_cost.h"
#include "hindsight/core/random.h"
#include "hindsight/space/design_space.h"

namespace hindsight::accel {
namespace {

/// Seed of the random designs.
constexpr std::uint64_t kSeed = 5077;

std::vector<double> numbers_of(const Evaluation& evaluation) {
  std::vector<double> numbers{evaluation.area.total_mm2(), evaluation.peak_power_w};
  if (evaluation.feasible()) {
    const Metrics& metrics = *evaluation.metrics;
    numbers.insert(numbers.end(), {metrics.latency_s, metrics.latency_cycles, metrics.energy_j, metrics.average_power_w,
                                   metrics.utilisation_frac, metrics.instructions, metrics.weights_cached_frac});
    for_each_traffic_field([&](const char*, double bytes) { numbers.push_back(bytes); }, metrics.traffic);
    for_each_energy_field([&](const char*, double energy_j) { numbers.push_back(energy_j); }, metrics.energy);
  }
  for (const Violation& violation : evaluation.violations.view()) {
    numbers.insert(numbers.end(), {static_cast<double>(violation.reason), static_cast<double>(violation.layer),
                                   violation.value, violation.limit, violation.nearest_passing.value_or(-1)});
  }
  return numbers;
}

TEST(NetworkSet, KeepsEveryLayerAndEachShapeOnce) {
  const std::vector<workload::Network> networks = workload::load_networks("prime9");
  const NetworkSet set(networks);
  ASSERT_EQ(set.size(), networks.size());
  std::size_t layers = 0;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const auto& gemms = networks[i].gemms();
    ASSERT_EQ(set.layers(i).size(), gemms.size());
    layers += gemms.size();
    for (std::size_t j = 0; j < gemms.size(); ++j) EXPECT_EQ(set.shapes()[set.layers(i)[j]], layer_shape(gemms[j]));
  }
  for (std::size_t i = 0; i < set.shapes().size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(set.shapes()[i], set.shapes()[j]) << i << ' ' << j;
  }
  EXPECT_LT(set.shapes().size(), layers * 2 / 3);
}

TEST(NetworkSet, EvaluatesAsEachNetworkAlone) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const RandomStream stream(kSeed, "network set");
  const space::DesignSpace space = space::load_space("edge");
  const ConfigBinding binding(space);
  const Technology technology = load_technology("22nm");
  const std::vector<workload::Network> networks = workload::load_networks("prime9,resnet50,vit_b_16");
  const NetworkSet set(networks);
  SetEvaluator evaluator(set);
  std::vector<Evaluation> together(set.size());
  std::size_t feasible = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const ChipFacts chip = chip_facts(binding.bind(space, space.design(stream.below(i, *space.size()))), technology);
    if (chip.area.total_mm2() > 100) continue;  // few of the larger ones can be built
    const Depth depth = i % 3 == 0 ? Depth::stop_at_hardware : Depth::all_checks;
    evaluator.evaluate(chip, depth, together);
    for (std::size_t j = 0; j < networks.size(); ++j) {
      const Evaluation alone = evaluate(chip, networks[j].gemms(), depth);
      feasible += alone.feasible() ? 1 : 0;
      ASSERT_EQ(numbers_of(together[j]), numbers_of(alone)) << "case " << i << " on " << networks[j].name();
    }
  }
  EXPECT_GT(feasible, 20U);
}

/// The bytes of every number that a sum over layers or a table shows.
std::vector<double> numbers_of(const LayerCost& cost) {
  const LayerResult& layer = cost.result;
  std::vector<double> numbers{cost.found ? 1.0 : 0.0,
                              cost.constants,
                              cost.no_mapping.value,
                              cost.no_mapping.limit,
                              cost.no_mapping.nearest_passing.value_or(-1),
                              static_cast<double>(layer.dataflow),
                              static_cast<double>(layer.bound),
                              static_cast<double>(layer.pe_split_m),
                              static_cast<double>(layer.pe_split_n),
                              static_cast<double>(layer.pe_split_k),
                              static_cast<double>(layer.core_split_m),
                              static_cast<double>(layer.core_split_n),
                              static_cast<double>(layer.active_lanes),
                              layer.tile_m,
                              layer.tile_n,
                              layer.tile_k,
                              layer.utilisation_frac,
                              layer.compute_cycles,
                              layer.core_memory_cycles,
                              layer.pe_memory_cycles,
                              layer.noc_cycles,
                              layer.dram_cycles,
                              layer.fill_drain_cycles,
                              layer.total_cycles,
                              layer.instructions};
  for_each_traffic_field([&](const char*, double bytes) { numbers.push_back(bytes); }, layer.traffic);
  for_each_energy_field([&](const char*, double energy_j) { numbers.push_back(energy_j); }, layer.energy);
  return numbers;
}

TEST(InstructionSets, EachOneGivesTheSameBits) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const RandomStream stream(kSeed, "layer instructions");
  const space::DesignSpace space = space::load_space("edge");
  const ConfigBinding binding(space);
  const Technology technology = load_technology("22nm");
  const NetworkSet set(workload::load_networks("all"));
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const ChipFacts chip =
        chip_facts(binding.bind(space, space.design(stream.below(4 * i, *space.size()))), technology);
    const LayerShape& layer = set.shapes()[stream.below(4 * i + 1, set.shapes().size())];
    const std::uint64_t draw = stream.below(4 * i + 2, 12);
    const Residency residency{.input_on_chip = draw % 2 == 0,
                              .output_on_chip = draw / 2 % 2 == 0,
                              .weights_cached_frac = static_cast<double>(draw / 4) / 2};
    // The header's function, as this file is compiled, is what devices run.
    const LayerCost wanted = layer_cost(layer, residency, chip, chip_rates(chip.config));
    for (const InstructionSet instructions : supported_instruction_sets()) {
      LayerCost cost;
      layer_cost_function(instructions)(layer, residency, chip, chip_rates(chip.config), cost);
      ASSERT_EQ(numbers_of(cost), numbers_of(wanted)) << "case " << i << " set " << static_cast<int>(instructions);
    }
  }
}

}  // namespace
}  // namespace hindsight::accel

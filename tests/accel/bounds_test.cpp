/// Property: no mapping beats the bound of arithmetic, DRAM traffic and the start of layers.
#include "hindsight/accel/bounds.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "hindsight/accel/config.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/random.h"
#include "hindsight/space/design_space.h"
#include "hindsight/workload/network.h"
#include "tolerances.h"

namespace hindsight::accel {
namespace {

/// [chosen] Times its bound that a network of one tiny layer takes at most: what its start leaves to a mapping.
constexpr double kMostOfTiny = 1.25;

/// Design `design` of a random sequence.
AcceleratorConfig random_config(const space::DesignSpace& space, const ConfigBinding& binding, std::uint64_t design) {
  const RandomStream random(design, "designs");
  std::vector<std::uint16_t> levels;
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    levels.push_back(static_cast<std::uint16_t>(random.below(i, space.parameters()[i].level_count())));
  }
  return binding.bind(space, {levels});
}

/// `count` layers of at most a few thousand multiply-accumulates each.
workload::Network tiny_network(std::uint64_t seed, std::size_t count) {
  const RandomStream random(seed, "tiny layers");
  std::uint64_t draws = 0;
  const auto size = [&](std::uint64_t most) { return static_cast<std::int64_t>(1 + random.below(draws++, most)); };
  std::vector<workload::Layer> layers;
  for (std::size_t l = 0; l < count; ++l) {
    constexpr std::array kTypes{workload::LayerType::fully_connected, workload::LayerType::matmul,
                                workload::LayerType::convolution, workload::LayerType::depthwise_convolution};
    workload::Layer layer;
    layer.name = "layer " + std::to_string(l);
    layer.type = kTypes[random.below(draws++, kTypes.size())];
    layer.repeat = size(3);
    if (layer.type == workload::LayerType::fully_connected || layer.type == workload::LayerType::matmul) {
      layer.rows = size(4);
      layer.columns = size(8);
      layer.reduction = size(16);
      if (layer.type == workload::LayerType::matmul) layer.heads = size(3);
    } else {
      layer.kernel_height = layer.kernel_width = size(3);
      layer.in_height = layer.in_width = layer.kernel_height + size(4);
      layer.in_channels = layer.out_channels = size(4);
      if (layer.type == workload::LayerType::depthwise_convolution) layer.groups = layer.in_channels;
    }
    layers.push_back(layer);
  }
  return {"tiny", "", "", false, 1, layers};
}

TEST(LatencyBound, NoEvaluationIsBelowIt) {
  const space::DesignSpace space = space::load_space("edge");
  const ConfigBinding binding(space);
  const Technology technology = load_technology("22nm");
  const std::vector<workload::Network> networks =
      workload::load_networks("prime9,resnet50,bert_base,synthetic:40/3,synthetic:40/17");
  std::size_t compared = 0, tight = 0;
  for (std::uint64_t design = 0; design < 1200; ++design) {
    const AcceleratorConfig config = random_config(space, binding, design);
    const ChipFacts chip = chip_facts(config, technology);
    for (const workload::Network& network : networks) {
      const Evaluation evaluation = evaluate(chip, network.gemms(), Depth::stop_at_hardware);
      if (!evaluation.feasible()) continue;
      const double bound = latency_bound_s(config, network.gemms());
      ASSERT_GT(bound, 0);
      ASSERT_LE(bound, evaluation.metrics->latency_s * (1 + 1e-12)) << network.name() << ", design " << design;
      ++compared;
      tight += evaluation.metrics->latency_s < 1.2 * bound ? 1 : 0;
    }
  }
  EXPECT_GT(compared, 300U);
  EXPECT_GT(tight, compared / 50) << "a bound that is never near says nothing";
}

/// Sequences that are cut along their row, weights in PE memories, and batches are of later versions or no network
/// above.
TEST(LatencyBound, NoEvaluationOfTheNewestVersionIsBelowIt) {
  const space::DesignSpace space = space::load_space("edge");
  const ConfigBinding binding(space);
  const Technology technology = load_technology("22nm-silicon");
  ASSERT_TRUE(template_rules(technology).cuts_sequences);
  const std::vector<workload::Network> networks = workload::load_networks("whisper_base,mobilenet_v2,bert_base@4");
  std::vector<std::size_t> compared(networks.size());
  for (std::uint64_t design = 0; design < 300; ++design) {
    AcceleratorConfig config = random_config(space, binding, design);
    config.rules = template_rules(technology);
    const ChipFacts chip = unchecked_chip_facts(config, technology);  // whether it can be built is not asked
    for (std::size_t n = 0; n < networks.size(); ++n) {
      const Evaluation evaluation = evaluate(chip, networks[n].gemms(), Depth::all_checks);
      if (!evaluation.feasible()) continue;
      const double bound = latency_bound_s(config, networks[n].gemms());
      ASSERT_LE(bound, evaluation.metrics->latency_s * (1 + 1e-12)) << networks[n].name() << ", design " << design;
      ++compared[n];
    }
  }
  for (std::size_t n = 0; n < networks.size(); ++n) EXPECT_GE(compared[n], 20U) << networks[n].name();
}

TEST(LatencyBound, OfTinyNetworksIsTheStartOfTheirLayers) {
  const space::DesignSpace space = space::load_space("edge");
  const ConfigBinding binding(space);
  std::size_t compared = 0;
  for (const char* node : {"22nm", "22nm-silicon"}) {
    const Technology technology = load_technology(node);
    for (std::uint64_t design = 0; design < 3000; ++design) {
      AcceleratorConfig config = random_config(space, binding, design);
      config.rules = template_rules(technology);
      const std::size_t layers = 1 + design % 3;
      const workload::Network network = tiny_network(design, layers);
      const NetworkCost cost = network_cost(chip_facts(config, technology), network.gemms(), {});
      if (cost.violations.count > 0) continue;
      const double bound = latency_bound_s(config, network.gemms());
      ASSERT_LE(bound, cost.totals.latency_s * (1 + hindsight::test::kRounding)) << node << ", design " << design;
      ++compared;
      if (layers > 1) continue;
      EXPECT_LE(cost.totals.latency_s, kMostOfTiny * bound) << node << ", design " << design;
    }
  }
  EXPECT_GT(compared, 4000U);
}

TEST(LatencyBound, CountsWholeCyclesAndTheStartByHand) {
  AcceleratorConfig config;  // one PE, one core, one lane of four MACs, rules of version 1
  config.pe_memory_bytes = config.core_memory_bytes = 1 << 20;
  config.dram_bandwidth_gb_per_s = 16;
  config.clock_mhz = 1000;
  workload::Layer layer;
  layer.name = "a";
  layer.type = workload::LayerType::fully_connected;
  layer.rows = 1;
  layer.reduction = 7;
  layer.columns = 2;
  const workload::Network network("by hand", "", "", false, 1, {layer});
  // Hops 2 x 1, DRAM latency 100 ns, 7 bytes in and 2 out at 0.8 x 16 bytes per cycle, set-up 256, one cycle. The
  // weights stay on chip. Arithmetic: two outputs of two cycles each, on one lane.
  const double start_s = 1e-9 * (2 + 100 + 9 / 12.8 + 256 + 1);
  EXPECT_LE(hindsight::test::relative_error(latency_bound_s(config, network.gemms()), start_s),
            hindsight::test::kRounding);
  const LayerShape shape = layer_shape(network.gemms(), 0);
  config.compute_lanes = 3;
  config.rules = {.fill_cycles_per_hop = 0, .layer_overhead_cycles = 0};
  const CertainCycles certain{config};
  EXPECT_EQ(certain(shape, Traffic{}, chip_rates(config)), 2) << "four steps on three lanes";
}

TEST(LatencyBound, IsTheTimeOfAllMultipliersWhereNothingElseCounts) {
  AcceleratorConfig config;
  workload::GemmLayer layer;
  layer.m = 4096;
  layer.n = 64;
  layer.k = 64;
  layer.macs = 4096.0 * 64 * 64;
  layer.weight_bytes = 64 * 64;
  layer.input_bytes = layer.output_bytes = 1;
  config.dram_bandwidth_gb_per_s = 1e6;
  const std::vector<workload::GemmLayer> layers(1, layer);
  const double at_peak_s = layer.macs / (config.macs_per_cycle() * config.clock_hz());
  EXPECT_LE(hindsight::test::relative_error(latency_bound_s(config, layers), at_peak_s), hindsight::test::kRounding);
}

}  // namespace
}  // namespace hindsight::accel

/// Property: no mapping beats the bound of arithmetic and DRAM traffic.
#include "hindsight/accel/bounds.h"

#include <gtest/gtest.h>

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

TEST(LatencyBound, NoEvaluationIsBelowIt) {
  const space::DesignSpace space = space::load_space("edge");
  const ConfigBinding binding(space);
  const Technology technology = load_technology("22nm");
  const std::vector<workload::Network> networks =
      workload::load_networks("prime9,resnet50,bert_base,synthetic:40/3,synthetic:40/17");
  std::size_t compared = 0, tight = 0;
  std::vector<std::uint16_t> levels(space.parameters().size());
  std::vector<double> values(levels.size());
  for (std::uint64_t design = 0; design < 1200; ++design) {
    const RandomStream random(design, "designs");
    for (std::size_t i = 0; i < levels.size(); ++i) {
      levels[i] = static_cast<std::uint16_t>(random.below(i, space.parameters()[i].level_count()));
    }
    space.values(levels, values);
    const AcceleratorConfig config = binding.bind(values);
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

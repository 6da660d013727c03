/// Do the laws that every accelerator obeys hold for random designs and the shipped networks?
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/core/random.h"
#include "hindsight/workload/network.h"
#include "tolerances.h"
#include "version_under_test.h"

namespace hindsight::accel {
namespace {

using test::kRounding;
using test::relative_error;

/// Seed of every random choice below; part of every failure's text.
constexpr std::uint64_t kSeed = 20260;

/// The edge space, the default technology and the networks, read once.
struct Inputs {
  space::DesignSpace space = space::load_space("edge");
  ConfigBinding binding{space};
  Technology technology = load_technology(hindsight::test::technology_under_test());
  std::vector<workload::Network> networks = workload::load_networks("prime9,resnet50,vit_b_16,bert_base");
};
const Inputs& inputs() {
  static const Inputs shared;
  return shared;
}

/// One design on one network with every layer's costs.
struct Outcome {
  Evaluation evaluation;
  Metrics totals;  ///< over the layers that have a mapping, whether the design is feasible or not
  std::vector<LayerResult> layers;
  /// All layers have a mapping, in version 2 one whose constants fit: their costs can be compared whatever else is
  /// wrong with the design.
  [[nodiscard]] bool mapped() const {
    const auto violations = evaluation.violations.view();
    return std::none_of(violations.begin(), violations.end(), [](const Violation& violation) {
      return violation.reason == Reason::no_mapping ||
             (!inputs().technology.is_version_1() && violation.reason == Reason::parameter_memory);
    });
  }
};
Outcome outcome(const AcceleratorConfig& config, const workload::Network& network, Depth depth = Depth::all_checks) {
  Outcome result;
  result.layers.resize(network.gemms().size());
  const ChipFacts chip = chip_facts(config, inputs().technology);
  result.evaluation = evaluate(chip, network.gemms(), depth, result.layers);
  result.totals = network_cost(chip, network.gemms(), {}).totals;
  return result;
}

/// A random design with a random network.
struct Case {
  space::Design design;
  const workload::Network* network = nullptr;
  [[nodiscard]] AcceleratorConfig config() const { return inputs().binding.bind(inputs().space, design); }
  [[nodiscard]] std::string text() const {
    return "seed " + std::to_string(kSeed) + ", " + network->name() + " on " + inputs().space.text_id(design);
  }
};

/// Random cases; with a parameter, designs that can still be raised by one level of it.
std::vector<Case> random_cases(std::size_t count, const char* stream_name, const char* parameter = nullptr) {
  const space::DesignSpace& space = inputs().space;
  const RandomStream stream(kSeed, stream_name);
  std::vector<Case> cases;
  std::uint64_t word = 0;
  while (cases.size() < count) {
    Case random;
    random.design = space.design(stream.below(word++, *space.size()));
    random.network = &inputs().networks[stream.below(word++, inputs().networks.size())];
    if (parameter != nullptr) {
      const std::size_t axis = space.index_of(parameter);
      if (random.design.levels[axis] + 1U >= space.parameters()[axis].level_count()) continue;
    }
    cases.push_back(random);
  }
  return cases;
}

/// Pairs of a design and the one with the next value of a parameter; most must reach the comparison.
constexpr std::size_t kPairs = 400;
constexpr std::size_t kLeastPairs = 350;
template <typename Compare>
void for_neighbours(const char* parameter, Compare compare) {
  std::size_t compared = 0;
  for (const Case& less : random_cases(kPairs, parameter, parameter)) {
    Case more = less;
    ++more.design.levels[inputs().space.index_of(parameter)];
    const Outcome before = outcome(less.config(), *less.network);
    const Outcome after = outcome(more.config(), *more.network);
    if (!before.mapped() || !after.mapped()) continue;
    ++compared;
    compare(before, after, less.text());
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GE(compared, kLeastPairs);
}

void expect_never_slower(const char* parameter) {
  for_neighbours(parameter, [](const Outcome& before, const Outcome& after, const std::string& text) {
    for (std::size_t i = 0; i < before.layers.size(); ++i) {
      ASSERT_LE(after.layers[i].total_cycles, before.layers[i].total_cycles * (1 + kRounding))
          << text << ", layer " << i;
    }
  });
}
TEST(MoreIsNeverSlower, DramBandwidth) { expect_never_slower("dram_bandwidth_gb_per_s"); }
TEST(MoreIsNeverSlower, ComputeLanes) { expect_never_slower("compute_lanes"); }
TEST(MoreIsNeverSlower, PeMemory) { expect_never_slower("pe_memory_bytes"); }
TEST(MoreIsNeverSlower, CoreMemory) { expect_never_slower("core_memory_bytes"); }
TEST(MoreIsNeverSlower, ParameterMemory) { expect_never_slower("parameter_memory_entries"); }
TEST(MoreIsNeverSlower, Accumulators) { expect_never_slower("activation_memory_entries"); }

void expect_never_more_dram_traffic(const char* parameter) {
  for_neighbours(parameter, [](const Outcome& before, const Outcome& after, const std::string& text) {
    for (std::size_t i = 0; i < before.layers.size(); ++i) {
      ASSERT_LE(after.layers[i].traffic.dram_bytes(), before.layers[i].traffic.dram_bytes() * (1 + kRounding))
          << text << ", layer " << i;
    }
  });
}
TEST(MoreMemoryIsNeverMoreDramTraffic, PeMemory) { expect_never_more_dram_traffic("pe_memory_bytes"); }
TEST(MoreMemoryIsNeverMoreDramTraffic, CoreMemory) { expect_never_more_dram_traffic("core_memory_bytes"); }

constexpr std::size_t kCases = 500;

TEST(Bounds, LatencyIsAboveTheRoofline) {
  for (const Case& c : random_cases(kCases, "roofline")) {
    const AcceleratorConfig config = c.config();
    const Outcome result = outcome(config, *c.network);
    if (!result.mapped()) continue;
    const double compute_s = c.network->totals().macs * kOpsPerMac / config.peak_ops_per_s();
    const double dram_s = result.totals.traffic.dram_bytes() / (config.dram_bandwidth_gb_per_s * 1e9);
    EXPECT_GE(result.totals.latency_s, compute_s) << c.text();
    EXPECT_GE(result.totals.latency_s, dram_s) << c.text();
    EXPECT_LT(relative_error(result.totals.utilisation_frac, compute_s / result.totals.latency_s), kRounding)
        << c.text();
  }
}

TEST(Bounds, DramMovesEveryOperandThatDoesNotStay) {
  for (const Case& c : random_cases(kCases, "compulsory")) {
    const Outcome result = outcome(c.config(), *c.network);
    if (!result.mapped()) continue;
    for (std::size_t i = 0; i < result.layers.size(); ++i) {
      const LayerResult& layer = result.layers[i];
      const workload::GemmLayer& gemm = c.network->gemms()[i];
      EXPECT_GE(layer.traffic.dram_read_weight_bytes,
                gemm.weight_bytes * (1 - layer.weights_cached_frac) * (1 - kRounding))
          << c.text() << ", layer " << i;
      // With repeats these are means over the first, the last and those between.
      if (gemm.repeat > 1) continue;
      EXPECT_GE(layer.traffic.dram_read_input_bytes, layer.input_on_chip ? 0 : gemm.input_bytes * (1 - kRounding));
      EXPECT_EQ(layer.traffic.dram_write_output_bytes, layer.output_on_chip ? 0 : gemm.output_bytes);
    }
  }
}

TEST(Bounds, UtilisationIsAShareAndTrafficIsNotNegative) {
  for (const Case& c : random_cases(kCases, "shares")) {
    const Outcome result = outcome(c.config(), *c.network);
    if (!result.mapped()) continue;
    EXPECT_GT(result.totals.utilisation_frac, 0) << c.text();
    EXPECT_LE(result.totals.utilisation_frac, 1) << c.text();
    for (const LayerResult& layer : result.layers) {
      EXPECT_GT(layer.utilisation_frac, 0) << c.text();
      EXPECT_LE(layer.utilisation_frac, 1) << c.text();
      EXPECT_GE(layer.weights_cached_frac, 0) << c.text();
      EXPECT_LE(layer.weights_cached_frac, 1) << c.text();
      std::array<double, sizeof(Traffic) / sizeof(double)> bytes{};
      std::memcpy(bytes.data(), &layer.traffic, sizeof(Traffic));
      for (const double value : bytes) EXPECT_GE(value, 0) << c.text();
    }
  }
}

TEST(Bounds, AveragePowerIsAtMostPeakPower) {
  for (const Case& c : random_cases(2 * kCases, "power")) {
    const Outcome result = outcome(c.config(), *c.network);
    if (result.mapped()) {
      EXPECT_LE(result.totals.average_power_w, result.evaluation.peak_power_w) << c.text();
    }
  }
}

TEST(Sums, MetricsAreSumsOverLayersAndRepeats) {
  for (const Case& c : random_cases(200, "sums")) {
    const Outcome result = outcome(c.config(), *c.network);
    if (!result.mapped()) continue;
    Metrics sum;
    for (std::size_t i = 0; i < result.layers.size(); ++i) {
      const LayerResult& layer = result.layers[i];
      const auto repeat = static_cast<double>(c.network->gemms()[i].repeat);
      sum.latency_cycles += repeat * layer.total_cycles;
      // Version 2's programs loop over repeats.
      sum.instructions += (inputs().technology.is_version_1() ? repeat : 1.0) * layer.instructions;
      sum.energy_j += repeat * layer.energy.total_j();
      sum.traffic.add_scaled(layer.traffic, repeat);
      const double on_chip =
          std::max({layer.compute_cycles, layer.core_memory_cycles, layer.pe_memory_cycles, layer.noc_cycles});
      const double granules = granule_cycles(layer.traffic, chip_rates(c.config()));
      const double steady = std::max(on_chip + granules, layer.dram_cycles);
      EXPECT_LT(relative_error(layer.total_cycles, steady + layer.fill_drain_cycles - granules + layer.overhead_cycles),
                kRounding)
          << c.text() << ", layer " << i;
    }
    const Metrics& metrics = result.totals;
    EXPECT_LT(relative_error(metrics.latency_cycles, sum.latency_cycles), kRounding) << c.text();
    EXPECT_LT(relative_error(metrics.latency_s * c.config().clock_hz(), sum.latency_cycles), kRounding);
    EXPECT_EQ(metrics.instructions, sum.instructions) << c.text();
    EXPECT_LT(relative_error(metrics.energy_j, sum.energy_j), kRounding) << c.text();
    EXPECT_LT(relative_error(metrics.energy_j, metrics.energy.total_j()), kRounding) << c.text();
    EXPECT_LT(relative_error(metrics.average_power_w * metrics.latency_s, metrics.energy_j), kRounding) << c.text();
    EXPECT_LT(relative_error(metrics.traffic.dram_bytes(), sum.traffic.dram_bytes()), kRounding) << c.text();
    EXPECT_LT(relative_error(metrics.traffic.noc_hop_bytes, sum.traffic.noc_hop_bytes), kRounding) << c.text();
  }
}

TEST(Batch, MoreImagesNeverTakeLessTimeOrDramTraffic) {
  for (const Case& c : random_cases(200, "batch")) {
    Outcome fewer = outcome(c.config(), *c.network);
    for (const std::int64_t batch : {2, 3, 4, 8}) {
      const workload::Network network = c.network->with_batch(batch);
      Outcome more = outcome(c.config(), network);
      if (!fewer.mapped() || !more.mapped()) break;
      EXPECT_EQ(network.totals().macs, static_cast<double>(batch) * c.network->totals().macs);
      EXPECT_GE(more.totals.latency_s * (1 + kRounding), fewer.totals.latency_s) << c.text() << " x" << batch;
      EXPECT_GE(more.totals.traffic.dram_bytes() * (1 + kRounding), fewer.totals.traffic.dram_bytes())
          << c.text() << " x" << batch;
      EXPECT_GE(more.totals.energy.mac_j, fewer.totals.energy.mac_j);
      fewer = std::move(more);
    }
  }
}

/// The mapper minimises cycles, then NoC bytes, not energy: with more work another mapping may be fastest that also
/// reads the core memories less.
TEST(Batch, EnergyMayFallWithOneMoreImage_KnownLimitation) {
  std::size_t falls = 0, compared = 0;
  for (const Case& c : random_cases(200, "batch energy")) {
    const Outcome one = outcome(c.config(), *c.network), two = outcome(c.config(), c.network->with_batch(2));
    if (!one.mapped() || !two.mapped()) continue;
    ++compared;
    if (two.totals.energy_j < one.totals.energy_j) ++falls;
    EXPECT_GE(two.totals.energy_j, 0.5 * one.totals.energy_j) << c.text();
  }
  EXPECT_LE(falls, compared / 50);
}

/// A batch that no longer fits on chip spills as a whole: the images are not run one after the other.
TEST(Batch, TwiceTheImagesMayCostMoreThanTwice_KnownLimitation) {
  std::size_t above = 0, compared = 0;
  for (const Case& c : random_cases(200, "twice")) {
    const Outcome one = outcome(c.config(), *c.network), two = outcome(c.config(), c.network->with_batch(2));
    if (!one.mapped() || !two.mapped()) continue;
    ++compared;
    if (two.totals.latency_s > 2 * one.totals.latency_s * (1 + kRounding)) ++above;
    // Without a spill there is nothing to pay twice.
    const bool spills = two.totals.traffic.dram_bytes() > 2 * one.totals.traffic.dram_bytes();
    if (!spills) {
      EXPECT_LE(two.totals.latency_s, 2 * one.totals.latency_s * (1 + kRounding)) << c.text();
    }
  }
  EXPECT_GT(above, 0U);
  EXPECT_LE(above, compared / 5);
}

TEST(Scaling, ClockAndDramTogetherLeaveTheCycles) {
  for (const Case& c : random_cases(200, "clock")) {
    AcceleratorConfig config = c.config();
    const Outcome slow = outcome(config, *c.network);
    config.clock_mhz *= 2;
    config.dram_bandwidth_gb_per_s *= 2;
    const Outcome fast = outcome(config, *c.network);
    if (!slow.mapped()) continue;
    for (std::size_t i = 0; i < slow.layers.size(); ++i) {
      // The latency of DRAM stays 100 ns: 80 cycles at 800 MHz become 160 in layers that read from it.
      const Traffic& traffic = slow.layers[i].traffic;
      const bool reads = traffic.dram_read_weight_bytes + traffic.dram_read_input_bytes > 0;
      EXPECT_NEAR(fast.layers[i].total_cycles - slow.layers[i].total_cycles, reads ? 80 : 0,
                  kRounding * fast.layers[i].total_cycles)
          << c.text() << ", layer " << i;
    }
  }
}

TEST(Scaling, ComputeBoundGemmIsOneOverLanes) {
  workload::Layer layer;
  layer.name = "gemm";
  layer.type = workload::LayerType::fully_connected;
  layer.rows = layer.columns = layer.reduction = 1024;
  const std::vector<workload::GemmLayer> gemms{workload::lower(layer, 1)};
  AcceleratorConfig config = load_reference_chip("edge_tpu_v1_grid").config;
  config.dram_bandwidth_gb_per_s = 1000;
  config.activation_memory_entries = 16384;
  double previous_cycles = 0;
  for (const double lanes : {1.0, 2.0, 4.0, 8.0}) {
    config.compute_lanes = lanes;
    std::vector<LayerResult> details(1);
    const NetworkCost cost = network_cost(chip_facts(config, inputs().technology), gemms, details);
    ASSERT_EQ(details[0].bound, Bound::compute) << lanes;
    // 1024^3 MACs on 16 PEs * 16 cores * lanes * 4.
    EXPECT_EQ(details[0].compute_cycles, 1048576 / lanes);
    const double overhead = details[0].fill_drain_cycles + details[0].overhead_cycles;
    if (previous_cycles > 0) {
      EXPECT_LT(relative_error(cost.totals.latency_cycles - overhead, previous_cycles / 2), kRounding);
    }
    previous_cycles = cost.totals.latency_cycles - overhead;
  }
}

void expect_same(const Outcome& a, const Outcome& b, const std::string& text) {
  ASSERT_EQ(a.evaluation.feasible(), b.evaluation.feasible()) << text;
  if (a.evaluation.feasible()) {
    EXPECT_EQ(std::memcmp(&*a.evaluation.metrics, &*b.evaluation.metrics, sizeof(Metrics)), 0) << text;
  }
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_EQ(a.layers[i].total_cycles, b.layers[i].total_cycles) << text << ", layer " << i;
    EXPECT_EQ(a.layers[i].energy.total_j(), b.layers[i].energy.total_j()) << text << ", layer " << i;
  }
}

TEST(Evaluation, IsDeterministicAtBothDepths) {
  std::size_t built = 0;
  for (const Case& c : random_cases(kCases, "depth")) {
    const Outcome all = outcome(c.config(), *c.network, Depth::all_checks);
    const Outcome again = outcome(c.config(), *c.network, Depth::all_checks);
    expect_same(all, again, c.text());
    const Outcome flow = outcome(c.config(), *c.network, Depth::stop_at_hardware);
    EXPECT_EQ(flow.evaluation.feasible(), all.evaluation.feasible()) << c.text();
    if (chip_facts(c.config(), inputs().technology).violations.count > 0) {
      EXPECT_FALSE(flow.evaluation.feasible());
      continue;
    }
    ++built;
    expect_same(all, flow, c.text());
    EXPECT_EQ(flow.evaluation.violations.count, all.evaluation.violations.count) << c.text();
  }
  EXPECT_GE(built, kCases / 40);  // about one in twenty of the whole space can be built
}

TEST(Evaluation, InfeasibleMeansViolationsOneAReasonAndAboveTheLimit) {
  for (const Case& c : random_cases(kCases, "violations")) {
    const Evaluation evaluation = outcome(c.config(), *c.network).evaluation;
    EXPECT_EQ(evaluation.feasible(), evaluation.violations.count == 0) << c.text();
    std::array<int, kReasonCount> seen{};
    for (const Violation& violation : evaluation.violations.view()) {
      EXPECT_EQ(++seen[static_cast<std::size_t>(violation.reason)], 1) << c.text();
      EXPECT_GT(violation.value, violation.limit) << c.text() << ": " << message(violation, "");
      EXPECT_LT(violation.layer, static_cast<std::int32_t>(c.network->layers().size()));
      EXPECT_STRNE(violation.parameter, "");
    }
  }
}

}  // namespace
}  // namespace hindsight::accel

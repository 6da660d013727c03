/// Properties of what the datacenter space adds: formats, shared memory, vector units, external memory by devices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/accel/bounds.h"
#include "hindsight/accel/dram.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/accel/network_set.h"
#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/space/rules.h"
#include "hindsight/workload/network.h"
#include "tolerances.h"

namespace hindsight::accel {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;

workload::Network one_layer(const std::string& keys) {
  return workload::parse_network("format: 1\nname: one\nlayers:\n  - {name: one, " + keys + "}\n", "one.yaml");
}

class Datacenter : public testing::Test {
 protected:
  /// A chip in the middle of the space.
  [[nodiscard]] static AcceleratorConfig middle() {
    AcceleratorConfig config;
    config.pes_x = config.pes_y = 4;
    config.cores_per_pe = 8;
    config.compute_lanes = 16;
    config.macs_per_lane = 16;
    config.clock_mhz = 1100;
    config.pe_memory_bytes = 2097152;
    config.core_memory_bytes = 65536;
    config.activation_memory_entries = 16384;
    config.parameter_memory_entries = 32768;
    config.instruction_memory_entries = 16384;
    config.shared_memory_bytes = 67108864;
    config.noc_link_bytes = 256;
    config.vector_lanes = 32;
    config.dram_type = DramType::hbm2e;
    config.dram_devices = 4;
    config.dram_bandwidth_gb_per_s = 4 * dram_device(DramType::hbm2e).bandwidth_gb_per_s;
    config.rules = template_rules(load_technology("7nm-silicon@air"));
    return config;
  }
  [[nodiscard]] Metrics metrics_of(const AcceleratorConfig& config, const workload::Network& network) const {
    const Evaluation evaluation = evaluate(chip_facts(config, technology_), network.gemms(), Depth::all_checks);
    EXPECT_TRUE(evaluation.feasible()) << network.name() << ": "
                                       << (evaluation.violations.count > 0
                                               ? message(evaluation.violations.items[0], network.name())
                                               : std::string());
    return evaluation.metrics.value_or(Metrics{});
  }

  const Technology technology_ = load_technology("7nm-silicon@air");
};

TEST_F(Datacenter, WiderOperandsMoveTwiceTheBytesAndTakeMoreEnergyAndArea) {
  const workload::Network decode = workload::load_network("llama3_8b_decode");
  AcceleratorConfig config = middle();
  config.dram_devices = 6;
  config.dram_bandwidth_gb_per_s = 6 * dram_device(DramType::hbm2e).bandwidth_gb_per_s;
  const Metrics int8 = metrics_of(config, decode);
  const ChipFacts int8_chip = chip_facts(config, technology_);
  config.precision = Precision::fp8;
  const Metrics fp8 = metrics_of(config, decode);
  const ChipFacts fp8_chip = chip_facts(config, technology_);
  config.precision = Precision::bf16;
  const Metrics bf16 = metrics_of(config, decode);
  const ChipFacts bf16_chip = chip_facts(config, technology_);
  EXPECT_EQ(fp8.latency_s, int8.latency_s) << "as many bytes and MACs";
  EXPECT_GT(fp8.energy_j, int8.energy_j);
  // Weights, keys and values come from DRAM, and less than the share that stays on chip.
  EXPECT_GT(bf16.traffic.dram_bytes(), 1.98 * int8.traffic.dram_bytes());
  EXPECT_GT(bf16.latency_s, 1.9 * int8.latency_s);
  EXPECT_LT(int8_chip.area.mac_mm2, fp8_chip.area.mac_mm2);
  EXPECT_LT(fp8_chip.area.mac_mm2, bf16_chip.area.mac_mm2);
  EXPECT_LT(int8_chip.peak_power_w, bf16_chip.peak_power_w);
}

/// The mapper chooses anew for every design. `macs_per_lane` is left out: a tile of the core memory may hold fewer
/// lanes of more products (fixed_mapping_test.cpp). The hardware's checks, which more lanes may fail, are not asked.
TEST_F(Datacenter, MoreOfAnythingIsNeverSlowerAndNeverReadsMoreFromDram) {
  const space::DesignSpace space = space::load_space("datacenter");
  const ConfigBinding binding(space);
  const std::vector<workload::Network> networks = workload::load_networks("bert_base@8,resnet50,llama3_8b_decode");
  const auto compiled = [&](const AcceleratorConfig& config, const workload::Network& network) {
    return evaluate(unchecked_chip_facts(config, technology_), network, Depth::all_checks);
  };
  std::map<std::string, std::size_t> compared;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const RandomStream random(seed, "datacenter designs");
    std::vector<std::uint16_t> levels;
    for (std::size_t p = 0; p < space.parameters().size(); ++p) {
      levels.push_back(static_cast<std::uint16_t>(random.below(p, space.parameters()[p].level_count())));
    }
    for (const workload::Network& network : networks) {
      const Evaluation less = compiled(binding.bind(space, {levels}), network);
      if (!less.feasible()) continue;
      for (const char* const name : {"shared_memory_bytes", "pe_memory_bytes", "core_memory_bytes",
                                     "activation_memory_entries", "parameter_memory_entries", "vector_lanes",
                                     "compute_lanes", "clock_mhz", "noc_link_bytes", "dram_devices"}) {
        std::vector<std::uint16_t> more = levels;
        const std::size_t p = space.index_of(name);
        if (++more[p] >= space.parameters()[p].level_count()) continue;
        const Evaluation with_more = compiled(binding.bind(space, {more}), network);
        SCOPED_TRACE(fmt::format("{}, design {}, {}", name, seed, network.name()));
        ASSERT_TRUE(with_more.feasible());
        ASSERT_LE(with_more.metrics->latency_s, less.metrics->latency_s * (1 + kRounding));
        ASSERT_LE(with_more.metrics->traffic.dram_bytes(), less.metrics->traffic.dram_bytes() * (1 + kRounding));
        ++compared[name];
      }
    }
  }
  EXPECT_EQ(compared.size(), 10U);
  for (const auto& [name, count] : compared) EXPECT_GE(count, 50U) << name;
}

TEST_F(Datacenter, ASharedMemoryKeepsWeightsThatCoresCannot) {
  const workload::Network bert = workload::load_network("bert_base");  // 85 MB of weights
  AcceleratorConfig config = middle();
  config.shared_memory_bytes = 16777216;
  const Metrics small = metrics_of(config, bert);
  config.shared_memory_bytes = 268435456;
  const Metrics large = metrics_of(config, bert);
  EXPECT_LT(small.weights_cached_frac, 0.5) << "cores keep 6 MB, PEs 23 MB, half of the shared memory 8 MB";
  EXPECT_EQ(large.weights_cached_frac, 1);
  EXPECT_LT(large.traffic.dram_bytes(), 0.1 * small.traffic.dram_bytes());
  EXPECT_GT(large.energy.shared_memory_j, 0);
  EXPECT_GT(chip_facts(config, technology_).area.shared_memory_mm2, 50);
}

/// Two layers of 1024 x 1024 weights on 64 rows: 64 KiB are handed over.
TEST_F(Datacenter, PeMemoriesKeepWeightsWhereAllActivationsStay) {
  const workload::Network two = workload::parse_network(
      "format: 1\nname: two\nlayers:\n"
      "  - {name: a, type: fully_connected, rows: 64, columns: 1024, reduction: 1024}\n"
      "  - {name: b, type: fully_connected, rows: 64, columns: 1024, reduction: 1024}\n",
      "two.yaml");
  AcceleratorConfig config = middle();
  config.pes_x = config.pes_y = 1;
  config.cores_per_pe = 1;
  config.core_memory_bytes = 65536;  // keeps 3/4 of it
  config.shared_memory_bytes = 0;
  config.vector_lanes = 0;
  // Three quarters are 2 x 65,536 of activations; nothing is left.
  config.pe_memory_bytes = 2 * 65536 * 4.0 / 3;
  const Metrics none = metrics_of(config, two);
  EXPECT_LE(relative_error(none.weights_cached_frac, 49152.0 / 2097152), 1e-9);
  // Half a megabyte more, all of it for weights.
  config.pe_memory_bytes = (2 * 65536 + 524288) * 4.0 / 3;
  const Metrics some = metrics_of(config, two);
  EXPECT_LE(relative_error(some.weights_cached_frac, (49152.0 + 524288) / 2097152), 1e-9);
  // At least once each: weights that do not stay are read again for every part of the input.
  EXPECT_LE(some.traffic.dram_read_weight_bytes, none.traffic.dram_read_weight_bytes - 524288);
  // What stays in the PE is read there on its way to the core.
  EXPECT_GT(some.traffic.pe_memory_read_bytes, none.traffic.pe_memory_read_bytes);
  // One byte less than the activations take, and none of them finds room with weights beside it.
  config.pe_memory_bytes = (2 * 65536 - 8) * 4.0 / 3;
  EXPECT_LE(relative_error(metrics_of(config, two).weights_cached_frac, 49152.0 / 2097152), 1e-9);
  config.pe_memory_bytes = (2 * 65536 + 524288) * 4.0 / 3;
  config.core_working_frac = 1;  // a FIFO: such a chip streams its weights
  EXPECT_EQ(metrics_of(config, two).weights_cached_frac, 0);
}

/// The share of the class is of the whole, not of what works.
TEST_F(Datacenter, ServersIdleAtAShareOfTheirPeakPower) {
  const AcceleratorConfig config = middle();
  Technology block = technology_;
  for (CoolingClass& one : block.cooling) one.idle_frac = 0;
  const ChipFacts server = chip_facts(config, technology_), idles_not = chip_facts(config, block);
  EXPECT_LE(relative_error(server.die_peak_w, idles_not.die_peak_w / (1 - 0.38)), 1e-12);
  EXPECT_LE(relative_error(server.idle_w - server.leakage_w, 0.38 * server.die_peak_w), 1e-12);
  EXPECT_EQ(idles_not.idle_w, idles_not.leakage_w);
  EXPECT_EQ(server.leakage_w, idles_not.leakage_w);
  const Metrics metrics = metrics_of(config, workload::load_network("bert_base"));
  EXPECT_LE(relative_error(metrics.energy.leakage_j, server.idle_w * metrics.latency_s), 1e-9);
  EXPECT_LE(metrics.average_power_w, server.peak_power_w);
}

TEST_F(Datacenter, NetworksThatTheDramCannotHoldAreRefusedWithTheDevicesThatCould) {
  AcceleratorConfig config = middle();
  config.parameter_memory_entries = 131072;
  config.dram_devices = 1;  // 16 GB
  config.dram_bandwidth_gb_per_s = dram_device(DramType::hbm2e).bandwidth_gb_per_s;
  const workload::Network llama = workload::load_network("llama3_70b_decode");
  const Evaluation evaluation = evaluate(chip_facts(config, technology_), llama.gemms(), Depth::stop_at_hardware);
  ASSERT_EQ(evaluation.violations.count, 1U);
  const Violation& violation = evaluation.violations.items[0];
  EXPECT_EQ(code(violation.reason), "dram_capacity");
  EXPECT_EQ(violation.limit, 16e9);
  EXPECT_GT(violation.value, 69e9);
  ASSERT_EQ(violation.nearest_passing, 5) << "70 GB of int8 weights, keys and values";
  config.dram_devices = 5;
  config.dram_bandwidth_gb_per_s *= 5;
  EXPECT_TRUE(evaluate(chip_facts(config, technology_), llama.gemms(), Depth::stop_at_hardware).feasible());
}

/// 46.7 billion parameters of eight experts, of which a token asks two.
TEST_F(Datacenter, EveryExpertOfAMixtureHasItsPlaceInTheDram) {
  AcceleratorConfig config = middle();
  config.parameter_memory_entries = 131072;
  config.dram_devices = 2;
  const workload::Network mixtral = workload::load_network("mixtral_8x7b_decode");
  const ChipFacts chip = chip_facts(config, technology_);
  EXPECT_TRUE(evaluate(chip, mixtral.gemms(), Depth::stop_at_hardware).feasible()) << "what a token asks would fit";
  const Evaluation evaluation = evaluate(chip, mixtral, Depth::stop_at_hardware);
  ASSERT_EQ(evaluation.violations.count, 1U);
  EXPECT_EQ(code(evaluation.violations.items[0].reason), "dram_capacity");
  EXPECT_GE(evaluation.violations.items[0].value, 46'702'792'704.0) << "int8";
  std::array<Evaluation, 1> of_set;
  const NetworkSet set(std::span(&mixtral, 1));
  SetEvaluator(set).evaluate(chip, Depth::stop_at_hardware, of_set);
  EXPECT_EQ(of_set[0].violations.items[0].value, evaluation.violations.items[0].value) << "what sweeps ask";
}

/// A batch reads more of the experts; stored are all of them, each once, the keys and values of every sequence, and
/// what the largest layer takes in and puts out.
TEST_F(Datacenter, ABatchOfAMixtureReadsMoreExpertsAndStoresTheSame) {
  AcceleratorConfig config = middle();
  config.parameter_memory_entries = 131072;
  const ChipFacts chip = chip_facts(config, technology_);
  const double keys_and_values = 32 * 2 * 8 * 2048 * 128.0;
  for (const std::int64_t batch : {1, 8, 64}) {
    const workload::Network network = workload::load_network("mixtral_8x7b_decode").with_batch(batch);
    const double largest_layer = static_cast<double>(batch) * 32 * (128 + 2048);  // queries and scores of 32 heads
    EXPECT_EQ(stored_operands(network, chip.config.rules),
              46'702'792'704 + static_cast<double>(batch) * keys_and_values + largest_layer)
        << batch;
    const NetworkCost cost = network_cost(chip, network.gemms(), {}, network.other_parameters());
    EXPECT_EQ(cost.stored_bytes, stored_operands(network, chip.config.rules)) << batch << ": int8";
    EXPECT_EQ(cost.weight_bytes, network.totals().weight_bytes) << batch;
    EXPECT_EQ(cost.macs, network.totals().macs) << batch;
  }
  const workload::Network one = workload::load_network("mixtral_8x7b_decode");
  const double one_bytes = metrics_of(config, one).traffic.dram_read_weight_bytes;
  EXPECT_GT(metrics_of(config, one.with_batch(8)).traffic.dram_read_weight_bytes, 3 * one_bytes);
}

TEST_F(Datacenter, WorkBehindALayerTakesTheOperationsOfItsOutputs) {
  const std::string product = "type: fully_connected, rows: 1024, reduction: 1024, columns: 1024";
  const AcceleratorConfig config = middle();
  const Metrics alone = metrics_of(config, one_layer(product));
  const double lanes = 16 * 32, outputs = 1024.0 * 1024;
  // The port: 16 PEs with 32 banks of 16 bytes move outputs in and out, and operands of other layers in.
  const double port = 16 * pe_memory_bytes_per_cycle(config);
  for (const auto& [after, ops, others] : {std::tuple("add", 1.0, 1.0),
                                           {"norm", 6.0, 0.0},
                                           {"activation", 4.0, 0.0},
                                           {"gate", 2.5, 0.5},
                                           {"rotary", 3.0, 0.0},
                                           {"pool", 1.0, 0.0},
                                           {"add, norm", 7.0, 1.0}}) {
    const Metrics with = metrics_of(config, one_layer(product + fmt::format(", after: [{}]", after)));
    const double expected = std::max(ops * outputs / lanes, (2 + others) * outputs / port);
    EXPECT_LE(relative_error(with.latency_cycles - alone.latency_cycles, expected), 1e-9) << after;
    const double expected_j = ops * outputs * technology_.vector_op_pj * 1e-12;
    EXPECT_LE(relative_error(with.energy.vector_j, expected_j), kRounding) << after;
  }
  AcceleratorConfig without = config;
  without.vector_lanes = 0;
  EXPECT_EQ(metrics_of(without, one_layer(product + ", after: [add, norm]")).latency_s,
            metrics_of(without, one_layer(product)).latency_s)
      << "designs without vector units count products alone";
}

TEST_F(Datacenter, ManyLanesWaitForTheMemorysPort) {
  const std::string product = "type: fully_connected, rows: 1024, reduction: 1024, columns: 1024";
  AcceleratorConfig config = middle();
  config.vector_lanes = 1024;
  const double outputs = 1024.0 * 1024, port = 16 * pe_memory_bytes_per_cycle(config);
  ASSERT_GT(3 * outputs / port, outputs / (16 * 1024)) << "the port is what an addition waits for";
  const double cycles = metrics_of(config, one_layer(product + ", after: [add]")).latency_cycles -
                        metrics_of(config, one_layer(product)).latency_cycles;
  // Outputs in and out, and the other operand in.
  EXPECT_LE(relative_error(cycles, 3 * outputs / port), 1e-9);
}

TEST_F(Datacenter, DevicesOfAKindDecideTheBandwidth) {
  const space::DesignSpace space = space::load_space("datacenter");
  const ConfigBinding binding(space);
  const std::size_t type = space.index_of("dram_type"), devices = space.index_of("dram_devices");
  std::vector<std::uint16_t> levels(space.parameters().size(), 0);
  levels[type] = 3;
  levels[devices] = 3;
  const AcceleratorConfig config = binding.bind(space, {levels});
  EXPECT_EQ(config.dram_type, DramType::hbm3);
  EXPECT_EQ(config.dram_devices, 6);
  EXPECT_EQ(config.dram_bandwidth_gb_per_s, 6 * 819.2);
}

TEST_F(Datacenter, OperandsOfOtherLayersComeFromDramWhereOutputsGoThere) {
  const std::string product = "type: fully_connected, rows: 1024, reduction: 1024, columns: 1024";
  const AcceleratorConfig config = middle();
  // A single layer hands its outputs to DRAM.
  const double more = metrics_of(config, one_layer(product + ", after: [add]")).traffic.dram_bytes() -
                      metrics_of(config, one_layer(product)).traffic.dram_bytes();
  EXPECT_EQ(more, 1024.0 * 1024);
}

TEST_F(Datacenter, AttentionHandsItsScoresOverHeadByHeadAndCountsSoftmax) {
  const workload::Network prefill = workload::load_network("llama3_8b_prefill");
  AcceleratorConfig config = middle();
  config.pe_memory_bytes = 8388608;
  const Metrics fused = metrics_of(config, prefill);
  config.vector_lanes = 0;
  const Metrics without = metrics_of(config, prefill);
  // 32 heads of 2,048 x 2,048 scores in 32 blocks, written and read: 2 x 4.3 GB that stay on chip head by head.
  EXPECT_LT(fused.traffic.dram_bytes(), without.traffic.dram_bytes() - 4e9);
  EXPECT_GT(fused.energy.vector_j, 0);
  EXPECT_EQ(without.energy.vector_j, 0);
}

TEST_F(Datacenter, NetworksThatSayNothingKeepNormalisationsBehindAttention) {
  const workload::Network stated = workload::load_network("bert_base");
  std::vector<workload::Layer> layers = stated.layers();
  for (workload::Layer& layer : layers) layer.after = {};
  const workload::Network silent("silent", "", "", false, 1, layers);
  const Metrics with = metrics_of(middle(), stated), without = metrics_of(middle(), silent);
  // Twelve activations of 128 x 3,072 with four operations are what the description adds.
  const double added_j = 12.0 * 128 * 3072 * 4 * technology_.vector_op_pj * 1e-12;
  EXPECT_LE(relative_error(with.energy.vector_j - without.energy.vector_j, added_j), 1e-9);
}

TEST_F(Datacenter, ItsBoundIsBelowEveryEvaluation) {
  const space::DesignSpace space = space::load_space("datacenter");
  const ConfigBinding binding(space);
  const std::vector<workload::Network> networks =
      workload::load_networks("bert_base@8,resnet50,llama3_8b_decode@8,vit_b_16");
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const RandomStream random(seed, "bounded designs");
    std::vector<std::uint16_t> levels;
    for (std::size_t p = 0; p < space.parameters().size(); ++p) {
      levels.push_back(static_cast<std::uint16_t>(random.below(p, space.parameters()[p].level_count())));
    }
    AcceleratorConfig config = binding.bind(space, {levels});
    config.rules = template_rules(technology_);
    for (const workload::Network& network : networks) {
      const NetworkCost cost = network_cost(chip_facts(config, technology_), network.gemms(), {});
      if (cost.violations.count > 0) continue;
      ASSERT_LE(latency_bound_s(config, network.gemms()), cost.totals.latency_s * (1 + 1e-12))
          << network.name() << ", design " << seed;
      ++compared;
    }
  }
  EXPECT_GT(compared, 500U);
}

TEST(DatacenterSpace, IsRefusedByVersion1AndBoundsItsStacks) {
  const space::DesignSpace space = space::load_space("datacenter");
  try {
    require_expressible(load_technology("22nm"), space);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("7nm-silicon@liquid"), std::string::npos) << error.what();
  }
  const std::size_t type = space.index_of("dram_type"), devices = space.index_of("dram_devices");
  std::vector<std::uint16_t> levels(space.parameters().size(), 0);
  levels[devices] = 5;  // twelve
  EXPECT_TRUE(space.rules()->is_legal(levels)) << "lpddr5";
  levels[type] = 3;
  EXPECT_FALSE(space.rules()->is_legal(levels)) << "hbm3";
  levels[devices] = 3;  // six
  EXPECT_TRUE(space.rules()->is_legal(levels));
}

}  // namespace
}  // namespace hindsight::accel

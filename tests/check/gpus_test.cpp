/// Do designs and GPUs meet on equal terms: same network, same batch, energy = power x time, best batch found?
#include "hindsight/check/gpus.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/traffic.h"
#include "hindsight/check/caches.h"
#include "hindsight/check/node_scaling.h"
#include "hindsight/gpu/tensor_parallel.h"
#include "tolerances.h"

namespace hindsight::check {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;
using ::testing::HasSubstr;
using ::testing::Not;

const workload::Network& mobilenet() {
  static const workload::Network network = workload::load_network("mobilenet_v2");
  return network;
}

/// A GPU with numbers that are easy to compare with.
GpuRuns round_gpu(const std::string& name, double latency_s, double energy_j, std::int64_t batch, double batch_s,
                  double batch_j) {
  return {.gpu = name,
          .dtype = gpu::DType::int8,
          .calibrated = true,
          .die_mm2 = 300,
          .node_nm = 5,
          .node = "TSMC 4N",
          .single = {.batch = 1, .latency_s = latency_s, .energy_j = energy_j},
          .saturated = {.batch = batch, .latency_s = batch_s, .energy_j = batch_j}};
}

TEST(GpuCheck, Int8WhereTheGpuHasIt) {
  EXPECT_EQ(contender(gpu::load_gpu("l4")).dtype, gpu::DType::int8);
  EXPECT_EQ(contender(gpu::load_gpu("h100-sxm5")).dtype, gpu::DType::int8);
  EXPECT_EQ(contender(gpu::load_gpu("v100-sxm2-16gb")).dtype, gpu::DType::fp16);
}

TEST(GpuCheck, NetworksHoldRealWeightsWhateverTheCalibrationsRowsHeld) {
  const gpu::GpuSpec h200 = gpu::load_gpu("h200");
  const gpu::Gemm recorded_as_zero{.m = 4096, .n = 4096, .k = 65536, .dtype = gpu::DType::bf16};
  const gpu::Calibration recorded = gpu::load_calibration(h200, gpu::DType::bf16);
  const auto settled = gpu::RunMode::sustained;
  ASSERT_EQ(gpu::predict(h200, recorded, recorded_as_zero, settled).operands, gpu::Operands::partly_zero_weights);
  EXPECT_EQ(gpu::predict(h200, contender(h200).calibration, recorded_as_zero, settled).operands, gpu::Operands::random);
}

TEST(GpuCheck, NoFrameworkLaunchesTheKernelsOfANetwork) {
  gpu::GpuSpec fp32_only = gpu::load_gpu("t4");
  for (const gpu::DType dtype : gpu::kAllDTypes) {
    if (dtype != gpu::DType::fp32) fp32_only.math[static_cast<std::size_t>(dtype)].reset();
  }
  const GpuContender t4 = contender(fp32_only);
  ASSERT_EQ(t4.dtype, gpu::DType::fp32);
  ASSERT_TRUE(gpu::launched_by_framework(gpu::load_calibration(fp32_only, gpu::DType::fp32)));
  EXPECT_FALSE(gpu::launched_by_framework(t4.calibration));
}

TEST(GpuCheck, SaturationNeverLosesThroughputAndLeavesNothingOnTheTable) {
  const GpuContender l4 = contender(gpu::load_gpu("l4"));
  const GpuRuns runs = run_on_gpu(l4, mobilenet());
  EXPECT_EQ(runs.single.batch, 1);
  EXPECT_GE(runs.saturated.inferences_per_s(), runs.single.inferences_per_s());
  EXPECT_GT(runs.saturated.batch, 1);  // 300 million MACs do not fill a GPU
  const workload::Network doubled = mobilenet().with_batch(2 * runs.saturated.batch);
  const gpu::NetworkPrediction next = gpu::predict_network(l4.spec, l4.calibration, doubled, l4.dtype);
  const double next_rate = static_cast<double>(doubled.batch()) / next.latency_s;
  EXPECT_LT(next_rate, runs.saturated.inferences_per_s() * (1 + kSaturationGain));
  EXPECT_FALSE(runs.memory_bound_batch);
}

TEST(GpuCheck, RunsRespectThePowerLimitAndSayWhatIsNoGemm) {
  for (const char* name : {"l4", "h200"}) {
    const GpuContender contender_ = contender(gpu::load_gpu(name));
    const GpuRuns runs = run_on_gpu(contender_, mobilenet());
    for (const BatchRun* run : {&runs.single, &runs.saturated}) {
      EXPECT_LE(run->power_w(), contender_.spec.tdp_w) << name;
      EXPECT_GT(run->power_w(), contender_.spec.idle.front().power_w) << name;
      EXPECT_LT(relative_error(run->power_w() * run->latency_s, run->energy_j), kRounding);
    }
    EXPECT_GT(runs.single.other_frac, 0);  // depthwise layers
    EXPECT_LT(runs.single.other_frac, 0.5);
    EXPECT_GT(runs.saturated.other_frac, 0);
  }
}

/// The rule of `hindsight gemm --workload`: no row is in int8 or a settled run, and no design was ever measured.
TEST(GpuCheck, FiguresThatNoMeasurementCoversAreMarked) {
  for (const char* name : {"h100-sxm5", "l4", "v100-sxm2-16gb"}) {
    const GpuContender gpu = contender(gpu::load_gpu(name));
    const GpuRuns runs = run_on_gpu(gpu, mobilenet());
    const gpu::NetworkPrediction prediction =
        gpu::predict_network(gpu.spec, gpu.calibration, mobilenet().with_batch(1), gpu.dtype);
    EXPECT_EQ(runs.single.validated, prediction.in_validated_range) << name;
    EXPECT_FALSE(runs.single.validated) << name;
    EXPECT_FALSE(runs.single.energy_validated) << name;
  }
  const accel::ReferenceChip chip = accel::load_reference_chip("edge_tpu_v1");
  const NetworkComparison comparison = compare(chip.config, accel::load_technology("22nm"), mobilenet(), {});
  EXPECT_FALSE(comparison.accelerator->single.validated);
}

TEST(GpuCheck, ASmallMemoryEndsTheDoubling) {
  GpuContender small = contender(gpu::load_gpu("l4"));
  small.spec.dram_bytes = 4e6 + 3e6;  // 3.4 MB of weights and the activations of one or two images
  const GpuRuns runs = run_on_gpu(small, mobilenet());
  EXPECT_TRUE(runs.memory_bound_batch);
  EXPECT_LT(runs.saturated.batch, 8);
}

TEST(GpuCheck, TheDesignIsWhatTheAcceleratorModelSays) {
  const accel::ReferenceChip chip = accel::load_reference_chip("edge_tpu_v1");
  const accel::Technology technology = accel::load_technology("22nm");
  const NetworkComparison comparison = compare(chip.config, technology, mobilenet(), {});
  ASSERT_TRUE(comparison.accelerator);
  const accel::Evaluation evaluation =
      accel::evaluate(accel::chip_facts(chip.config, technology), mobilenet().gemms(), accel::Depth::stop_at_hardware);
  EXPECT_EQ(comparison.accelerator->single.latency_s, evaluation.metrics->latency_s);
  EXPECT_EQ(comparison.accelerator->single.energy_j, evaluation.metrics->energy_j);
  // Version 1 at 5 nm: smaller and thriftier, by less than the logic alone, because DRAM and its PHY stay.
  EXPECT_EQ(comparison.accelerator->basis, NodeBasis::scaled);
  const AtCommonNode there = comparison.accelerator->at_common_node.value();
  const NodeScaling scaling = node_scaling(22, 5);
  const double dram_j = evaluation.metrics->energy.dram_j, phy_mm2 = evaluation.area.dram_phy_mm2;
  EXPECT_LT(relative_error(there.energy_j - dram_j, (evaluation.metrics->energy_j - dram_j) * scaling.energy),
            kRounding);
  EXPECT_LT(relative_error(there.area_mm2 - phy_mm2, (evaluation.area.total_mm2() - phy_mm2) * scaling.area),
            kRounding);
}

/// Four images and more do not stay on the chip between layers: 26.5 ms for 8 in one pass, 5.41 for 2, 2.84 for one.
TEST(GpuCheck, PassesOfAPartOfTheBatchAreNamedWhereTheyAreFaster) {
  const space::DesignSpace edge = space::load_space("edge");
  const accel::Technology technology = accel::load_technology("22nm-silicon");
  const accel::AcceleratorConfig config = accel::ConfigBinding(edge).bind(
      edge, edge.parse_design("pes_x=1,pes_y=1,pe_memory_bytes=1048576,cores_per_pe=64,core_memory_bytes=8192,"
                              "compute_lanes=2,instruction_memory_entries=32768,parameter_memory_entries=4096,"
                              "activation_memory_entries=8192,dram_bandwidth_gb_per_s=5"));
  const auto run = [&](std::int64_t batch) {
    return compare(config, technology, mobilenet().with_batch(batch), {}).accelerator.value();
  };
  const AcceleratorRun eight = run(8), two = run(2);
  ASSERT_TRUE(eight.faster_pass);
  EXPECT_EQ(eight.faster_pass->batch, 2);
  EXPECT_EQ(eight.faster_pass->latency_s, two.single.latency_s);
  EXPECT_EQ(eight.faster_pass->energy_j, two.single.energy_j);
  EXPECT_LT(4 * eight.faster_pass->latency_s, eight.single.latency_s / (1 + kSaturationGain));
  EXPECT_EQ(eight.single.batch, 8) << "what is compared stays one pass";
  EXPECT_FALSE(two.faster_pass);
  EXPECT_FALSE(run(1).faster_pass);
}

/// SRAM shrinks less than logic and interfaces do not at all: only the model at 5 nm knows what a design has of each.
TEST(GpuCheck, ADesignOfVersion2IsEvaluatedAtTheCommonNode) {
  const workload::Network resnet = workload::load_network("resnet50");
  for (const auto& [chip, from, there_name] : {std::tuple("coral_edge_tpu", "22nm-silicon", "5nm-silicon"),
                                               {"coral_edge_tpu", "22nm-silicon@card", "5nm-silicon@card"},
                                               {"tpu_v4i", "7nm-silicon@liquid", "5nm-silicon@liquid"},
                                               {"nnp_t", "16nm-silicon@air", "5nm-silicon@air"}}) {
    accel::AcceleratorConfig config = accel::load_reference_chip(chip).config;
    if (std::string(from).find('@') != std::string::npos) config.cooling = accel::Cooling::as_technology;
    const NetworkComparison comparison = compare(config, accel::load_technology(from), resnet, {});
    ASSERT_TRUE(comparison.accelerator) << chip << from;
    const AcceleratorRun& run = *comparison.accelerator;
    EXPECT_EQ(run.basis, NodeBasis::evaluated);
    const accel::Evaluation direct = accel::evaluate(accel::chip_facts(config, accel::load_technology(there_name)),
                                                     resnet, accel::Depth::stop_at_hardware);
    ASSERT_TRUE(direct.feasible()) << there_name;
    EXPECT_EQ(run.at_common_node.value().energy_j, direct.metrics->energy_j) << chip << from;
    EXPECT_EQ(run.at_common_node.value().area_mm2, direct.area.total_mm2()) << chip << from;
    EXPECT_EQ(run.single.latency_s, direct.metrics->latency_s) << "the clock and all cycles are kept";
    EXPECT_TRUE(run.reasons_there.empty());
  }
}

/// What its file says of the chip itself stands in place of what is known of others.
TEST(GpuCheck, AChipsOwnPublishedAreaIsWhatItIsHeldAgainst) {
  const workload::Network resnet = workload::load_network("resnet50");
  const accel::ReferenceChip chip = accel::load_reference_chip("mtia_v1");
  const accel::Technology technology = accel::load_technology(chip.technology);
  const NetworkComparison known = compare(chip.config, technology, resnet, {}, chip.published_area);
  ASSERT_TRUE(known.published_area);
  EXPECT_EQ(known.dies.chips, 1);
  EXPECT_EQ(known.dies.least_ratio, 373 / known.accelerator.value().area_mm2);
  EXPECT_EQ(known.dies.most_ratio, known.dies.least_ratio);
  const NetworkComparison unknown = compare(chip.config, technology, resnet, {});
  EXPECT_FALSE(unknown.published_area);
  EXPECT_GT(unknown.dies.chips, 1);
}

TEST(GpuCheck, AMemoryOfUnknownSizeIsAnEstimateBeyondOneDevice) {
  accel::AcceleratorConfig config = accel::load_reference_chip("tpu_v4i").config;
  const accel::Technology technology = accel::load_technology("7nm-silicon");
  const workload::Network large = workload::load_network("llama3_8b_decode");  // 16 GB of bf16; a stack holds 8
  EXPECT_THAT(compare(config, technology, large, {}).reasons, ::testing::ElementsAre("dram_capacity"));
  config.dram_gb = 0;
  EXPECT_THAT(estimates(compare(config, technology, large, {})), ::testing::Contains("unknown_design_memory"));
  EXPECT_THAT(estimates(compare(config, technology, workload::load_network("bert_base"), {})),
              Not(::testing::Contains("unknown_design_memory")));
}

/// Attention of 8 heads of 64 behind one product, `layers` times: `queries` tokens a pass ask `keys`.
workload::Network attentions(int layers, int queries, int keys) {
  std::string text = "format: 1\nname: attentions\nlayers:\n";
  for (int i = 0; i < layers; ++i) {
    text +=
        fmt::format("  - {{name: p{}, type: fully_connected, rows: {}, reduction: 512, columns: 512}}\n", i, queries);
    text +=
        fmt::format("  - {{name: a{}, type: attention, heads: 8, query_length: {}, key_length: {}, head_dim: 64}}\n", i,
                    queries, keys);
  }
  return workload::parse_network(text, "attentions.yaml");
}

/// Keys of a layer are `keys` x 512 operands.
TEST(GpuCheck, CachesOfAllLayersOnAChipThatHoldsThoseOfOneAreAnEstimateBeforeVersion3) {
  const accel::ReferenceChip chip = accel::load_reference_chip("tpu_v4i");
  const accel::AcceleratorConfig& config = chip.config;
  accel::Technology technology = accel::load_technology(chip.technology);
  technology.model_version = 2;
  const double room = accel::resident_memory(config).activation_half_bytes;
  const int keys = static_cast<int>(room / 512);
  const auto estimated = [&](const workload::Network& network) {
    const NetworkComparison comparison = compare(config, technology, network, {});
    EXPECT_TRUE(comparison.accelerator) << network.name();
    const std::vector<std::string> found = estimates(comparison);
    return std::find(found.begin(), found.end(), "caches_on_chip") != found.end();
  };
  EXPECT_TRUE(estimated(attentions(4, 1, keys)));                  // keys of each layer fit, those of four do not
  EXPECT_FALSE(estimated(attentions(4, 1, 2 * keys)));             // read from DRAM, as they are
  EXPECT_FALSE(estimated(attentions(1, 1, keys / 2)));             // keys and values of one layer fit side by side
  EXPECT_FALSE(spares_caches(config, attentions(4, keys, keys)));  // made by the pass itself
  technology.model_version = 3;
  EXPECT_FALSE(estimated(attentions(4, 1, keys))) << "read from DRAM, as on a GPU";
}

/// One rule of what memory holds: biases, which GPUs hold besides, are a thousandth.
TEST(GpuCheck, ADesignAndAGpuHoldTheSameOperands) {
  constexpr double kBiases = 0.004;
  for (const char* name : {"llama3_8b_decode", "llama3_8b_prefill", "mixtral_8x7b_decode", "bert_base", "resnet50"}) {
    for (const std::int64_t batch : {1, 64}) {
      const workload::Network network = workload::load_network(name).with_batch(batch);
      const double design = accel::stored_operands(network, {.caches_in_dram = true});
      EXPECT_NEAR(design / gpu::resident_bytes(network, gpu::DType::int8), 1, kBiases) << name << ", " << batch;
    }
  }
}

TEST(GpuCheck, ADesignAtTheCommonNodeStaysAsItIs) {
  const accel::AcceleratorConfig config = accel::load_reference_chip("coral_edge_tpu").config;
  const NetworkComparison comparison = compare(config, accel::load_technology("5nm-silicon"), mobilenet(), {});
  const AcceleratorRun& run = comparison.accelerator.value();
  EXPECT_EQ(run.basis, NodeBasis::own);
  EXPECT_EQ(run.at_common_node.value().energy_j, run.single.energy_j);
  EXPECT_EQ(run.at_common_node.value().area_mm2, run.area_mm2);
}

TEST(GpuCheck, ADesignThatTheCommonNodeRefusesHasReasonsAndNoFiguresThere) {
  accel::AcceleratorConfig config = accel::load_reference_chip("coral_edge_tpu").config;
  accel::Technology faster = accel::load_technology("22nm-silicon@liquid");
  faster.max_clock_mhz = 3000;  // 5nm-silicon ends at 2000
  config.clock_mhz = 2500;
  config.cooling = accel::Cooling::as_technology;
  const NetworkComparison comparison = compare(config, faster, mobilenet(), {});
  ASSERT_TRUE(comparison.accelerator) << ::testing::PrintToString(comparison.reasons);
  EXPECT_FALSE(comparison.accelerator->at_common_node);
  EXPECT_THAT(comparison.accelerator->reasons_there, ::testing::ElementsAre("clock"));
  // A node with more registers on a hop takes more cycles, at 5 nm as well.
  faster.max_clock_mhz = 1000;
  config.clock_mhz = 500;
  const double usual_s = compare(config, faster, mobilenet(), {}).accelerator.value().single.latency_s;
  const double usual_j = compare(config, faster, mobilenet(), {}).accelerator->at_common_node.value().energy_j;
  faster.noc_hop_cycles = 50;
  const AcceleratorRun slow = compare(config, faster, mobilenet(), {}).accelerator.value();
  EXPECT_GT(slow.single.latency_s, usual_s);
  EXPECT_GT(slow.at_common_node.value().energy_j, usual_j) << "idle for as many cycles";
}

TEST(GpuCheck, TheVerdictNamesTheClosestAndTheStrongest) {
  NetworkComparison comparison{.network = "net", .accelerator = AcceleratorRun{}};
  comparison.accelerator->single = {.batch = 1, .latency_s = 1e-3, .energy_j = 2e-3};
  comparison.gpus = {round_gpu("small", 2.1e-3, 16e-3, 8, 8e-3, 64e-3),
                     round_gpu("large", 0.5e-3, 90e-3, 64, 1.6e-3, 320e-3)};
  // 2.1 ms against 1 ms, 16 mJ against 2 mJ; 64 in 1.6 ms are 40,000 against 1,000 per second; 5 mJ against 2 mJ.
  const std::string first = "2.1x lower latency than small at batch 1, at 1/8 of the energy; ";
  const std::string last = "where an inference costs it 2.5 times this design's energy";
  EXPECT_EQ(verdict_line(comparison),
            first + "no GPU here is as fast at that batch; large has 40x the throughput at batch 64, " + last);
  // 16 in 0.8 ms are 20,000 per second, 6 mJ each.
  comparison.gpus.back().at_equal_latency = {.batch = 16, .latency_s = 0.8e-3, .energy_j = 96e-3};
  EXPECT_EQ(verdict_line(comparison),
            first +
                "in this design's time large has 20x the throughput at batch 16, each for 3 times the energy; "
                "large has 40x the throughput at batch 64, " +
                last);
  // The smaller one has more of them in that time: 30 in 1 ms.
  comparison.gpus.front().at_equal_latency = {.batch = 30, .latency_s = 1e-3, .energy_j = 30e-3};
  EXPECT_THAT(verdict_line(comparison), HasSubstr("in this design's time small has 30x the throughput at batch 30, "
                                                  "each for 1/2 of the energy; large has 40x"));
  comparison.accelerator->single.latency_s = 2e-3;
  comparison.gpus.back().at_equal_latency = comparison.gpus.back().saturated;
  EXPECT_THAT(verdict_line(comparison),
              HasSubstr("of the energy; large has 80x the throughput at batch 64, in no more time, where"));
  comparison.gpus.front().single.latency_s = 0.25e-3;
  EXPECT_THAT(verdict_line(comparison), HasSubstr("8x higher latency than small"));
  comparison.gpus.front().single.latency_s = 2.09e-3;
  comparison.gpus.front().single.energy_j = 1.95e-3;
  EXPECT_TRUE(verdict_line(comparison).starts_with("as fast as small at batch 1, at about the same energy;"));
  comparison.gpus.back().at_equal_latency.reset();
  comparison.gpus.back().saturated = {.batch = 2, .latency_s = 4.04e-3, .energy_j = 4.04e-3};
  comparison.gpus.front().saturated = comparison.gpus.front().single;
  comparison.gpus.front().single.latency_s = comparison.gpus.front().saturated.latency_s = 8e-3;
  EXPECT_THAT(verdict_line(comparison), HasSubstr("large has the same throughput at batch 2, where an inference costs "
                                                  "it about this design's energy"))
      << "no 0.99x and no 1x";
  comparison.accelerator.reset();
  EXPECT_EQ(verdict_line(comparison), "");
}

/// Every doubled batch is there, and the next one after that at equal latency would take longer.
TEST(GpuCheck, TheBatchAtEqualLatencyIsTheLargestThatTakesNoLonger) {
  const GpuRuns runs = run_on_gpu(contender(gpu::load_gpu("l4")), mobilenet());
  ASSERT_GT(runs.batches.size(), 3U);
  for (std::size_t i = 0; i < runs.batches.size(); ++i) EXPECT_EQ(runs.batches[i].batch, std::int64_t{1} << i);
  EXPECT_EQ(runs.batches.back().batch, runs.saturated.batch);
  const accel::AcceleratorConfig chip = accel::load_reference_chip("edge_tpu_v1").config;
  const accel::Technology technology = accel::load_technology("22nm");
  const double design_s = compare(chip, technology, mobilenet(), {}).accelerator.value().single.latency_s;
  // Batches of 1, 2, 4 take a third of the design's time, exactly the same, and a third more.
  GpuRuns planted = runs;
  planted.batches.resize(3);
  planted.batches[0].latency_s = design_s / 3;
  planted.batches[1].latency_s = design_s;
  planted.batches[2].latency_s = 4 * design_s / 3;
  GpuRuns slower = planted;
  for (BatchRun& run : slower.batches) run.latency_s += design_s;
  const NetworkComparison comparison = compare(chip, technology, mobilenet(), {planted, slower});
  ASSERT_TRUE(comparison.gpus[0].at_equal_latency);
  EXPECT_EQ(comparison.gpus[0].at_equal_latency->batch, 2);
  EXPECT_FALSE(comparison.gpus[1].at_equal_latency);
  accel::AcceleratorConfig refused = chip;
  refused.instruction_memory_entries = 1;
  EXPECT_FALSE(compare(refused, technology, mobilenet(), {planted}).gpus[0].at_equal_latency);
}

TEST(GpuCheck, AVerdictSaysThatItIsAnEstimateAndWhatOf) {
  NetworkComparison comparison{.network = "net", .accelerator = AcceleratorRun{}};
  comparison.accelerator->single = {.batch = 1, .latency_s = 1e-3, .energy_j = 2e-3};
  comparison.gpus = {round_gpu("large", 0.5e-3, 90e-3, 64, 1.6e-3, 320e-3)};
  EXPECT_THAT(estimates(comparison), ::testing::IsEmpty());
  EXPECT_FALSE(verdict_line(comparison).starts_with("estimate: "));
  const auto expect = [&](const std::vector<std::string>& codes, const auto& doubt) {
    NetworkComparison doubted = comparison;
    doubt(doubted);
    EXPECT_EQ(estimates(doubted), codes);
    EXPECT_TRUE(verdict_line(doubted).starts_with("estimate: 2x higher latency")) << codes.front();
  };
  expect({"fp8"}, [](NetworkComparison& c) { c.precision = accel::Precision::fp8; });
  expect({"non_gemm_work"}, [](NetworkComparison& c) { c.counts_vector_work = true; });
  expect({"non_gemm_work"}, [](NetworkComparison& c) { c.gpus[0].saturated.other_frac = 0.1; });
  expect({"non_gemm_work", "products_alone"}, [](NetworkComparison& c) {
    c.gpus[0].single.other_frac = 0.1;
    c.gpus[0].single.beyond_products = true;
  });
  expect({"non_gemm_work"}, [](NetworkComparison& c) {
    c.counts_vector_work = true;
    c.gpus[0].single.beyond_products = true;
  });
  expect({"exceeds_gpu_memory"}, [](NetworkComparison& c) { c.gpus[0].exceeds_memory = true; });
  expect({"exceeds_power_limit"}, [](NetworkComparison& c) { c.gpus[0].least_limit_w = 158; });
  expect({"experts_of_one_token"}, [](NetworkComparison& c) { c.more_experts = true; });
  expect({"die_area"}, [](NetworkComparison& c) { c.dies.chips = 1; });
  expect({"chip_power"}, [](NetworkComparison& c) { c.power.chips = 1; });
}

/// No clock of an L4 keeps to 10 W.
TEST(GpuCheck, APowerLimitThatNoClockMeetsIsKnown) {
  gpu::GpuSpec l4 = gpu::load_gpu("l4");
  const workload::Network network = workload::load_network("resnet50");
  EXPECT_EQ(run_on_gpu(contender(l4), network).least_limit_w, 0);
  l4.tdp_w = 10;
  EXPECT_GT(run_on_gpu(contender(l4), network).least_limit_w, 10);
}

/// Depthwise convolutions are products, which every design counts; softmax is none.
TEST(GpuCheck, ProductsAloneAreToldFromWhatElseAGpuRuns) {
  const std::string layers =
      "format: 1\nname: net\nlayers:\n  - {name: a, type: depthwise_convolution, in: [56, 56, 64], kernel: 3, pad: "
      "1}\n";
  const workload::Network products = workload::parse_network(layers, "net.yaml");
  const GpuContender l4 = contender(gpu::load_gpu("l4"));
  const GpuRuns depthwise = run_on_gpu(l4, products);
  EXPECT_GT(depthwise.single.other_frac, 0);
  EXPECT_FALSE(depthwise.single.beyond_products);
  EXPECT_TRUE(run_on_gpu(l4, workload::load_network("vit_b_16")).single.beyond_products);
  const workload::Network vit = workload::load_network("vit_b_16");
  accel::AcceleratorConfig config = accel::load_reference_chip("coral_edge_tpu").config;
  const accel::Technology technology = accel::load_technology("22nm-silicon");
  EXPECT_TRUE(counts_products_alone(compare(config, technology, vit, {run_on_gpu(l4, vit)})));
  EXPECT_FALSE(counts_products_alone(compare(config, technology, products, {depthwise})));
  config.vector_lanes = 32;
  EXPECT_FALSE(counts_products_alone(compare(config, technology, vit, {run_on_gpu(l4, vit)})));
}

TEST(GpuCheck, AnInfeasibleDesignHasReasonsAndNoFigures) {
  accel::AcceleratorConfig config = accel::load_reference_chip("edge_tpu_v1").config;
  config.instruction_memory_entries = 1;
  const NetworkComparison comparison = compare(config, accel::load_technology("22nm"), mobilenet(), {});
  EXPECT_FALSE(comparison.accelerator);
  EXPECT_THAT(comparison.reasons, ::testing::Contains("instruction_memory"));
}

}  // namespace
}  // namespace hindsight::check

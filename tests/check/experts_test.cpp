/// Do both sides of a comparison read the experts that a batch asks, and is it noticed where a file does not say how
/// many?
#include "hindsight/check/experts.h"

#include <gtest/gtest.h>

#include "hindsight/accel/technology.h"
#include "hindsight/check/gpus.h"
#include "hindsight/gpu/network.h"
#include "tolerances.h"

namespace hindsight::check {
namespace {

/// A mixture as files described it before layers could state their group.
workload::Network of_one_token() {
  return workload::parse_network(
      "name: of_one_token\nextra_parameters: {count: 1000, what: \"norms, experts that are not asked\"}\n"
      "layers:\n  - {name: expert, type: fully_connected, repeat: 2, reduction: 64, columns: 64, bias: false}\n",
      "of_one_token.yaml");
}

TEST(Experts, ABatchOfAMixtureAsksMore) {
  EXPECT_FALSE(asks_more_experts(of_one_token(), 1));
  EXPECT_TRUE(asks_more_experts(of_one_token(), 2));
  EXPECT_FALSE(asks_more_experts(workload::load_network("mixtral_8x7b_decode"), 64)) << "its layers say how many";
  EXPECT_FALSE(asks_more_experts(workload::load_network("mixtral_8x7b_prefill"), 2)) << "a prompt asks all";
  EXPECT_FALSE(asks_more_experts(workload::load_network("llama3_70b_decode"), 64));
}

/// The GPU's doubled batches read no more experts than the design's one token.
TEST(Experts, AComparisonLooksAtTheBatchesOfBothSides) {
  const accel::AcceleratorConfig chip = accel::load_reference_chip("coral_edge_tpu").config;
  const accel::Technology technology = accel::load_technology("22nm-silicon");
  const workload::Network one = of_one_token();
  GpuRuns single{.gpu = "g", .node = "", .single = {.batch = 1}, .saturated = {.batch = 1}};
  GpuRuns doubled = single;
  doubled.saturated.batch = 2;
  EXPECT_FALSE(compare(chip, technology, one, {single}).more_experts);
  EXPECT_TRUE(compare(chip, technology, one, {single, doubled}).more_experts);
  EXPECT_TRUE(compare(chip, technology, one.with_batch(64), {}).more_experts);
}

/// Both sides take the network's GEMMs: the GPU's products are its MACs, the weights that they read its weights.
TEST(Experts, AGpuCountsTheWorkOfTheNetworkAtEveryBatch) {
  const GpuContender h200 = contender(gpu::load_gpu("h200"), {}, accel::Precision::fp8);
  for (const char* name : {"mixtral_8x7b_decode", "mixtral_8x7b_decode@8", "mixtral_8x7b_decode@64"}) {
    const workload::Network network = workload::load_network(name);
    const gpu::NetworkPrediction prediction =
        gpu::predict_network(h200.spec, h200.calibration, network, h200.dtype, {.attention = gpu::AttentionRun::gemms});
    double macs = 0, weight_bytes = 0;
    for (const gpu::LayerPrediction& layer : prediction.layers) {
      const gpu::Gemm& gemm = layer.gemm;
      const double operand =
          static_cast<double>(gemm.batch) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
      macs += layer.repeat * operand * static_cast<double>(gemm.m);
      if (!network.gemms()[layer.layer].weights_are_activations) weight_bytes += layer.repeat * operand;
    }
    for (const gpu::OtherLayer& other : prediction.others) {
      if (!other.grouped) continue;
      macs += other.repeat * gpu::ops(*other.grouped) / 2;
      weight_bytes += other.repeat * static_cast<double>(other.grouped->rows.size()) *
                      static_cast<double>(other.grouped->n) * static_cast<double>(other.grouped->k);
    }
    EXPECT_EQ(macs, network.totals().macs) << name;
    EXPECT_EQ(weight_bytes, network.totals().weight_bytes) << name;
    EXPECT_LE(hindsight::test::relative_error(prediction.ops - prediction.other_ops, 2 * network.totals().macs),
              hindsight::test::kRounding)
        << name;
  }
}

/// Up to some tokens of 16 experts, each with one, twice the batch reads twice the weights and gains nothing; its best
/// batch is far beyond.
TEST(Experts, AGpuIsNotTakenForSaturatedWhileItsBatchesAskMoreExperts) {
  const workload::Network mixture = workload::parse_network(
      "name: mixture\nlayers:\n  - {name: expert, type: fully_connected, repeat: 8, reduction: 4096, columns: 4096, "
      "experts: 16, experts_per_token: 1, bias: false}\n",
      "mixture.yaml");
  const GpuRuns runs = run_on_gpu(contender(gpu::load_gpu("h200"), {}, accel::Precision::fp8), mixture);
  EXPECT_EQ(runs.single.other_frac, 0) << "experts are products";
  EXPECT_FALSE(runs.single.beyond_products);
  EXPECT_EQ(mixture.with_batch(2).totals().weight_bytes, 2 * mixture.totals().weight_bytes);
  EXPECT_EQ(mixture.with_batch(runs.saturated.batch).totals().weight_bytes, 16 * mixture.totals().weight_bytes);
  EXPECT_GT(runs.saturated.inferences_per_s(), 4 * runs.single.inferences_per_s());
}

}  // namespace
}  // namespace hindsight::check

/// Is a network on a GPU the sum of its GEMMs and of its other kernels?
#include "hindsight/gpu/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;

/// A 1 x 1 convolution from 8 to 16 channels on 10 x 10 pixels, three times, and a depthwise 3 x 3 one.
workload::Network small_network() {
  return workload::parse_network(
      "format: 1\n"
      "name: small\n"
      "description: two layers\n"
      "source: this test\n"
      "batch: 1\n"
      "layers:\n"
      "  - {name: wide, type: convolution, repeat: 3, in: [10, 10, 8], out: 16}\n"
      "  - {name: deep, type: depthwise_convolution, in: [10, 10, 8], kernel: 3, pad: same}\n",
      "small.yaml");
}

NetworkPrediction predict_on(const char* gpu, const workload::Network& network, DType dtype) {
  const GpuSpec spec = load_gpu(gpu);
  return predict_network(spec, load_calibration(spec, dtype), network, dtype);
}

/// 3 x (100 x 16 x 8) multiply-adds of GEMMs and 100 x 8 x 9 of the depthwise layer, which moves (800 + 72 + 800) x 2
/// bytes.
TEST(NetworkOnGpu, CountsGemmsAndDepthwiseLayers) {
  const NetworkPrediction result = predict_on("h100-sxm5", small_network(), DType::bf16);
  ASSERT_EQ(result.layers.size(), 1U);
  EXPECT_EQ(result.layers[0].gemm.m, 100);
  EXPECT_EQ(result.layers[0].gemm.n, 16);
  EXPECT_EQ(result.layers[0].gemm.k, 8);
  EXPECT_EQ(result.ops, 2 * (3 * 100 * 16 * 8 + 7200));
  EXPECT_EQ(result.other_ops, 2 * 7200);
  ASSERT_EQ(result.others.size(), 1U);
  EXPECT_EQ(result.others[0].kind, OtherKind::depthwise);
  EXPECT_EQ(result.others[0].layer, 1U);
  EXPECT_EQ(result.others[0].prediction.l2_bytes, 3344);
  EXPECT_LE(relative_error(result.latency_s, 3 * result.layers[0].prediction.latency_s + result.other_latency_s),
            kRounding);
  EXPECT_FALSE(result.in_validated_range);
}

/// Activations meet weights quantised; products of two activations (attention) take them as they are.
TEST(NetworkOnGpu, QuantisesTheActivationsOfLayersWithWeights) {
  const GpuSpec spec = load_gpu("h100-sxm5");
  const Calibration calibration = load_calibration(spec, DType::fp8);
  const workload::Network network = workload::load_network("bert_base");
  const auto run = [&](Quantisation quantisation) {
    return predict_network(spec, calibration, network, DType::fp8,
                           {.attention = AttentionRun::gemms, .quantisation = quantisation});
  };
  const NetworkPrediction plain = run(Quantisation::none), dynamic = run(Quantisation::dynamic);
  int with_weights = 0, without = 0;
  ASSERT_EQ(plain.layers.size(), dynamic.layers.size());
  for (std::size_t i = 0; i < plain.layers.size(); ++i) {
    const double before_s = plain.layers[i].prediction.latency_s, after_s = dynamic.layers[i].prediction.latency_s;
    if (network.gemms()[plain.layers[i].layer].weights_are_activations) {
      EXPECT_EQ(after_s, before_s);
      ++without;
    } else {
      EXPECT_GE(after_s, before_s + 2e-6) << "the start of a kernel";
      ++with_weights;
    }
  }
  EXPECT_GT(with_weights, 0);
  EXPECT_GT(without, 0);
}

TEST(NetworkOnGpu, IsTheSumOfItsLayersTimesTheirRepeats) {
  const GpuSpec spec = load_gpu("l40s");
  const Calibration calibration = load_calibration(spec, DType::fp16);
  const workload::Network network = workload::load_network("bert_base").with_batch(2);
  const NetworkPrediction result =
      predict_network(spec, calibration, network, DType::fp16, {.attention = AttentionRun::gemms});
  ASSERT_EQ(result.others.size(), 2U);  // behind the attention and behind the feed-forward layers
  double latency_s = 0, energy_j = 0, ops_sum = 0;
  for (const OtherLayer& other : result.others) {
    EXPECT_EQ(other.kind, OtherKind::normalisation);
    latency_s += other.repeat * other.prediction.latency_s;
    energy_j += other.repeat * other.prediction.energy_j;
  }
  for (const workload::GemmLayer& layer : network.gemms()) {
    Gemm gemm = library_gemm(layer, DType::fp16);
    gemm.reuse_bytes =
        layer.weights_are_activations ? compulsory_bytes(gemm) : inference_bytes(network, DType::fp16, DType::fp16);
    const GemmPrediction one = predict(spec, calibration, gemm, RunMode::sustained);
    latency_s += static_cast<double>(layer.repeat) * one.latency_s;
    energy_j += static_cast<double>(layer.repeat) * one.energy_j;
    ops_sum += static_cast<double>(layer.repeat) * ops(gemm);
  }
  EXPECT_LE(relative_error(result.latency_s, latency_s), kRounding);
  EXPECT_LE(relative_error(result.energy_j, energy_j), kRounding);
  EXPECT_LE(relative_error(result.ops, ops_sum + result.other_ops), kRounding);
  EXPECT_LE(relative_error(ops_sum, 2 * network.totals().macs), kRounding);
  EXPECT_LE(relative_error(result.average_power_w() * result.latency_s, result.energy_j), kRounding);
}

/// 171 MB of weights pass between two uses of the same ones; none of an L4's 48 MiB of L2 keeps them.
TEST(NetworkOnGpu, WeightsThatExceedTheL2AreReadFromDramInEveryInference) {
  const GpuSpec l4 = load_gpu("l4");
  const Calibration calibration = load_calibration(l4, DType::bf16);
  for (const workload::Network& network : workload::load_networks("all")) {
    const double weight_bytes = network.totals().weight_bytes * input_bytes(DType::bf16);
    if (weight_bytes <= l4.l2_bytes) continue;
    const NetworkPrediction result = predict_network(l4, calibration, network, DType::bf16);
    EXPECT_GE(result.dram_bytes, weight_bytes - l4.l2_bytes) << network.name();
  }
  const workload::Network bert = workload::load_network("bert_base");
  EXPECT_GT(bert.totals().weight_bytes * 2, 150e6);
  EXPECT_GT(predict_network(l4, calibration, bert, DType::bf16).dram_bytes, 150e6);
}

TEST(NetworkOnGpu, ASmallNetworkStaysInTheL2) {
  const workload::Network network = small_network();
  // 3 x (128 + 1600) and 72 + 800 elements of weights and results.
  EXPECT_EQ(inference_bytes(network, DType::bf16, DType::bf16), 2 * (3 * (128 + 1600) + 72 + 800));
  EXPECT_EQ(inference_bytes(network, DType::fp8, DType::bf16), 3 * (128 + 2 * 1600) + 72 + 2 * 800);
  EXPECT_LT(predict_on("h100-sxm5", network, DType::bf16).dram_bytes, 1);
}

/// One byte for each of 4096 x 4096 inputs and 4096 x 16384 weights and outputs, which exceed the L2: the format that
/// the next layer reads, and 16 bits where a kernel quantises them before it.
TEST(NetworkOnGpu, LayersPutOutWhatTheNextOneReads) {
  const workload::Network network = workload::parse_network(
      "name: wide\nlayers:\n  - {name: a, type: fully_connected, repeat: 8, rows: 4096, reduction: 4096, columns: "
      "16384, bias: false}\n",
      "wide.yaml");
  const GpuSpec spec = load_gpu("h100-sxm5");
  constexpr double kRows = 4096, kInputs = 4096, kOutputs = 16384;
  for (const DType dtype : {DType::int8, DType::fp8}) {
    const Calibration calibration = load_calibration(spec, dtype);
    const NetworkPrediction plain = predict_network(spec, calibration, network, dtype);
    EXPECT_EQ(plain.layers[0].gemm.output, dtype);
    EXPECT_EQ(compulsory_bytes(plain.layers[0].gemm), kRows * kInputs + kInputs * kOutputs + kRows * kOutputs);
    EXPECT_GE(plain.dram_bytes, 8 * compulsory_bytes(plain.layers[0].gemm) * (1 - kRounding));
    EXPECT_FALSE(plain.layers[0].prediction.in_validated_range);
    const NetworkPrediction dynamic =
        predict_network(spec, calibration, network, dtype, {.quantisation = Quantisation::dynamic});
    EXPECT_EQ(dynamic.layers[0].gemm.output, DType::bf16);
    EXPECT_EQ(compulsory_bytes(dynamic.layers[0].gemm), compulsory_bytes(plain.layers[0].gemm) + kRows * kOutputs);
    EXPECT_GE(dynamic.dram_bytes, 8 * compulsory_bytes(dynamic.layers[0].gemm) * (1 - kRounding));
  }
}

/// Half of the bytes at twice the rate. An A100 is left out: nothing of it was measured in 8 bits.
TEST(NetworkOnGpu, Int8IsNeverSlowerThanBf16) {
  const std::vector<workload::Network> zoo = workload::load_networks("zoo");
  for (const char* gpu : {"h100-sxm5", "h200", "l40s", "l4"}) {
    const GpuSpec spec = load_gpu(gpu);
    const Calibration eight = load_calibration(spec, DType::int8), sixteen = load_calibration(spec, DType::bf16);
    for (const workload::Network& shipped : zoo) {
      for (const std::int64_t batch : {1, 8}) {
        const workload::Network network = shipped.with_batch(batch);
        EXPECT_LE(predict_network(spec, eight, network, DType::int8).latency_s,
                  predict_network(spec, sixteen, network, DType::bf16).latency_s)
            << gpu << " " << network.name() << " at " << batch;
      }
    }
  }
}

workload::Network one_convolution(int kernel) {
  return workload::parse_network(
      "name: one\nbatch: 64\nlayers:\n  - {name: a, type: convolution, in: [112, 112, 64], "
      "out: 64, kernel: " +
          std::to_string(kernel) + ", pad: same, bias: false}\n",
      "one.yaml");
}

/// 64 images of 112 x 112 x 64 in 2 bytes exceed the L2: read once, written once. The SMs read every window.
TEST(NetworkOnGpu, AConvolutionReadsItsImageFromDramAndItsWindowsFromTheL2) {
  const double image = 64.0 * 112 * 112 * 64;
  const NetworkPrediction result = predict_on("h100-sxm5", one_convolution(3), DType::bf16);
  EXPECT_LE(relative_error(result.dram_bytes, 2 * (2 * image + 9 * 64 * 64)), kRounding);
  const LayerPrediction& layer = result.layers[0];
  EXPECT_EQ(layer.gemm.k, 9 * 64);
  EXPECT_GE(layer.prediction.l2_bytes, 2 * 9 * image);
  Gemm windows = layer.gemm;
  windows.activation_bytes = 0;
  const GpuSpec spec = load_gpu("h100-sxm5");
  const GemmPrediction copied = predict(spec, load_calibration(spec, DType::bf16), windows, RunMode::sustained);
  EXPECT_LE(relative_error(copied.dram_bytes, 2 * (10 * image + 9 * 64 * 64)), kRounding);
  EXPECT_LT(layer.prediction.latency_s, copied.latency_s);
  EXPECT_EQ(layer.prediction.l2_bytes, copied.l2_bytes);
  EXPECT_FALSE(layer.prediction.in_validated_range);
}

workload::Network one_transposed(int kernel) {
  return workload::parse_network(
      "name: one\nbatch: 64\nlayers:\n  - {name: a, type: transposed_convolution, in: [112, 112, 64], "
      "out: 64, kernel: " +
          std::to_string(kernel) + ", stride: 2, pad: same, bias: false}\n",
      "one.yaml");
}

/// 4 x 4 windows that overlap by half: of 16 products a pixel 4 outputs are written, as on a design.
TEST(NetworkOnGpu, ATransposedConvolutionWritesItsOutputOnce) {
  const double image = 64.0 * 112 * 112 * 64;
  const NetworkPrediction result = predict_on("h100-sxm5", one_transposed(4), DType::bf16);
  EXPECT_EQ(result.layers[0].gemm.n, 16 * 64);
  EXPECT_EQ(result.layers[0].gemm.result_elements, 4 * image);
  EXPECT_LE(relative_error(result.dram_bytes, 2 * (image + 4 * image + 16 * 64 * 64)), kRounding);
  EXPECT_FALSE(result.layers[0].prediction.in_validated_range);
  EXPECT_EQ(predict_on("h100-sxm5", one_transposed(2), DType::bf16).layers[0].gemm.result_elements, 0)
      << "nothing overlaps";
}

/// The lowest limit that a network meets is that of its hungriest kernel.
TEST(NetworkOnGpu, KnowsTheLowestLimitThatItMeets) {
  GpuSpec spec = load_gpu("h100-sxm5");
  const Calibration calibration = load_calibration(spec, DType::bf16);
  const workload::Network network = workload::load_network("bert_base");
  EXPECT_EQ(predict_network(spec, calibration, network, DType::bf16).least_limit_w, 0);
  spec.tdp_w = 100;
  const double least_w = predict_network(spec, calibration, network, DType::bf16).least_limit_w;
  EXPECT_GT(least_w, 100);
  spec.tdp_w = least_w;
  EXPECT_EQ(predict_network(spec, calibration, network, DType::bf16).least_limit_w, 0);
}

/// Its windows are its pixels: the GEMM that anybody may ask for.
TEST(NetworkOnGpu, APointwiseConvolutionIsItsMatrix) {
  const NetworkPrediction result = predict_on("h100-sxm5", one_convolution(1), DType::bf16);
  const Gemm& gemm = result.layers[0].gemm;
  EXPECT_EQ(repeated_bytes(gemm), 0);
  const GpuSpec spec = load_gpu("h100-sxm5");
  const GemmPrediction alone =
      predict(spec, load_calibration(spec, DType::bf16),
              {.m = gemm.m, .n = gemm.n, .k = gemm.k, .dtype = gemm.dtype, .reuse_bytes = gemm.reuse_bytes},
              RunMode::sustained);
  EXPECT_EQ(result.layers[0].prediction.latency_s, alone.latency_s);
  EXPECT_EQ(result.layers[0].prediction.dram_bytes, alone.dram_bytes);
  EXPECT_EQ(result.layers[0].prediction.energy_j, alone.energy_j);
}

/// 8 tokens ask 11 of 16 experts, 5 of 2 rows and 6 of one: 3 kernels for 3 groups, and 3 gates of all 16 rows.
TEST(NetworkOnGpu, TheExpertsOfALayerAreOneKernel) {
  const workload::Network network = workload::parse_network(
      "name: mixture\nbatch: 8\nlayers:\n  - {name: expert, type: fully_connected, repeat: 3, reduction: 1024, "
      "columns: "
      "2048, experts: 16, experts_per_token: 2, bias: false, after: [gate]}\n",
      "mixture.yaml");
  const GpuSpec spec = load_gpu("h200");
  for (const Quantisation quantisation : {Quantisation::none, Quantisation::dynamic}) {
    const Calibration calibration = load_calibration(spec, DType::fp8);
    const NetworkPrediction result =
        predict_network(spec, calibration, network, DType::fp8, {.quantisation = quantisation});
    EXPECT_TRUE(result.layers.empty());
    ASSERT_EQ(result.others.size(), 2U);
    const OtherLayer &experts = result.others[0], &gate = result.others[1];
    EXPECT_EQ(experts.kind, OtherKind::grouped);
    EXPECT_EQ(experts.repeat, 3);
    const DType results = quantisation == Quantisation::none ? DType::fp8 : DType::bf16;
    const GroupedGemm expected{.rows = {2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1},
                               .n = 2048,
                               .k = 1024,
                               .dtype = DType::fp8,
                               .reuse_bytes = inference_bytes(network, DType::fp8, results),
                               .quantisation = quantisation,
                               .output = results};
    ASSERT_TRUE(experts.grouped.has_value());
    EXPECT_EQ(experts.grouped->rows, expected.rows);
    const OtherPrediction kernel = OtherKernels(spec, calibration, DType::fp8).predict(expected, RunMode::sustained);
    EXPECT_EQ(experts.prediction.latency_s, kernel.latency_s);
    EXPECT_EQ(experts.prediction.energy_j, kernel.energy_j);
    EXPECT_EQ(gate.kind, OtherKind::elementwise);
    EXPECT_EQ(gate.repeat, 3);
    EXPECT_EQ(gate.prediction.l2_bytes, 1.5 * 16 * 2048);
    EXPECT_LE(relative_error(result.latency_s, 3 * (kernel.latency_s + gate.prediction.latency_s)), kRounding);
    EXPECT_LE(relative_error(result.other_latency_s, 3 * gate.prediction.latency_s), kRounding);
    EXPECT_LE(relative_error(result.ops - result.other_ops, 2 * network.totals().macs), kRounding);
    EXPECT_FALSE(result.in_validated_range);
  }
}

/// 57 experts of each of 58 blocks are read at the bandwidth of the DRAM, in 174 launches and not in 9,918.
TEST(NetworkOnGpu, ManyExpertsShareALaunch) {
  const workload::Network network = workload::load_network("deepseek_v3_decode@8");
  const NetworkPrediction result = predict_on("h200", network, DType::fp8);
  double grouped_s = 0, launches = 0;
  for (const OtherLayer& other : result.others) {
    if (other.kind != OtherKind::grouped) continue;
    grouped_s += other.repeat * other.prediction.latency_s;
    launches += other.repeat;
  }
  EXPECT_EQ(launches, 116 + 58) << "gate and up of 58 blocks, and down";
  const double weight_bytes = 174.0 * 57 * 2048 * 7168;
  EXPECT_GE(grouped_s, weight_bytes / load_gpu("h200").dram_bytes_per_s);
  EXPECT_LE(grouped_s, 1.4 * weight_bytes / load_gpu("h200").dram_bytes_per_s);
}

/// Attention multiplies two activations stored by rows; linear layers and filters are stored n x k.
TEST(NetworkOnGpu, LayoutsAreThoseThatFrameworksUse) {
  const NetworkPrediction result = predict_on("h200", workload::load_network("vit_b_16"), DType::bf16);
  for (const LayerPrediction& layer : result.layers) {
    EXPECT_EQ(layer.gemm.layout, usual_layout(layer.gemm.batch)) << layer.layer;
  }
}

TEST(NetworkOnGpu, ANetworkWithoutGemmsIsItsOtherKernels) {
  const workload::Network network = workload::parse_network(
      "format: 1\nname: deep\ndescription: one layer\nsource: this test\nbatch: 1\nlayers:\n"
      "  - {name: deep, type: depthwise_convolution, in: [10, 10, 8], kernel: 3, pad: same}\n",
      "deep.yaml");
  const NetworkPrediction result = predict_on("l4", network, DType::bf16);
  EXPECT_GT(result.latency_s, 0);
  EXPECT_EQ(result.latency_s, result.other_latency_s);
  EXPECT_EQ(result.other_ops, result.ops);
}

/// The 12 blocks of BERT base: scores and values of 12 heads become one attention; a normalisation of 128 x 768 follows
/// its output and that of the feed-forward layers.
TEST(NetworkOnGpu, AttentionIsOneKernelWithItsSoftmax) {
  const workload::Network network = workload::load_network("bert_base");
  const NetworkPrediction fused = predict_on("h100-sxm5", network, DType::bf16);
  ASSERT_EQ(fused.others.size(), 3U);
  EXPECT_EQ(fused.others[0].kind, OtherKind::attention);
  EXPECT_EQ(network.layers()[fused.others[0].layer].name, "attention.scores");
  EXPECT_EQ(fused.others[0].repeat, 12);
  EXPECT_EQ(fused.others[0].prediction.ops, 2.0 * 12 * 128 * 128 * (64 + 64));
  for (const OtherLayer& norm : {fused.others[1], fused.others[2]}) {
    EXPECT_EQ(norm.kind, OtherKind::normalisation);
    EXPECT_EQ(norm.repeat, 12);
    EXPECT_EQ(norm.prediction.l2_bytes, 4.0 * 128 * 768 * 2);
  }
  EXPECT_EQ(fused.layers.size() + 2, network.layers().size());
  for (const LayerPrediction& layer : fused.layers) {
    EXPECT_FALSE(network.gemms()[layer.layer].weights_are_activations);
  }
  // 85 million weights and as many multiply-adds per token remain those of the network.
  EXPECT_LE(relative_error(fused.ops - 24 * fused.others[1].prediction.ops, 2 * network.totals().macs), kRounding);
}

/// Every work that streams is a kernel behind its layer, with the bytes and operations of the layer's outputs; what
/// libraries fuse into a GEMM is none. A network that says nothing keeps two normalisations per attention.
TEST(NetworkOnGpu, WorkBehindLayersIsWhatTheNetworkSays) {
  const auto network = [](const std::string& after) {
    return workload::parse_network(
        "format: 1\nname: one\nlayers:\n"
        "  - {name: up, type: fully_connected, repeat: 6, rows: 256, reduction: 512, columns: 2048" +
            after + "}\n",
        "one.yaml");
  };
  EXPECT_TRUE(predict_on("h200", network(""), DType::bf16).others.empty());
  EXPECT_TRUE(predict_on("h200", network(", after: [add, activation]"), DType::bf16).others.empty());
  const NetworkPrediction result = predict_on("h200", network(", after: [norm, gate, rotary, pool]"), DType::bf16);
  ASSERT_EQ(result.others.size(), 4U);
  EXPECT_EQ(result.others[0].kind, OtherKind::normalisation);
  EXPECT_EQ(result.others[0].prediction.l2_bytes, 4.0 * 256 * 2048 * 2);
  // Of the outputs all are read; gating writes half of them, rotary embeddings all, pooling a quarter.
  const double outputs_bytes = 256 * 2048 * 2;
  const std::array<std::pair<double, double>, 3> expected{{{1.5, 2.5}, {2, 3}, {1.25, 1}}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const OtherLayer& other = result.others[i + 1];
    EXPECT_EQ(other.kind, OtherKind::elementwise);
    EXPECT_EQ(other.repeat, 6);
    EXPECT_EQ(other.prediction.l2_bytes, expected[i].first * outputs_bytes);
    EXPECT_EQ(other.prediction.ops, expected[i].second * 256 * 2048);
  }
}

/// A token that is decoded sees the keys of those before it, which only DRAM has kept; tokens that see one
/// another have just computed theirs.
TEST(NetworkOnGpu, DecodingReadsItsKeysFromDram) {
  for (const auto& [name, cached] : {std::pair("llama3_8b_decode", true), {"bert_base", false}}) {
    const workload::Network network = workload::load_network(name);
    const NetworkPrediction result = predict_on("h200", network, DType::bf16);
    const auto attention = std::ranges::find(result.others, OtherKind::attention, &OtherLayer::kind);
    ASSERT_NE(attention, result.others.end());
    const workload::GemmLayer& scores = network.gemms()[attention->layer];
    const double keys = static_cast<double>(scores.count * scores.n * 2 * scores.k) * 2;
    EXPECT_EQ(attention->prediction.dram_bytes >= keys, cached) << name;
  }
}

TEST(NetworkOnGpu, OnlyScoresAndTheirValuesAreAttention) {
  const workload::Network network = workload::load_network("llama3_8b_prefill");
  const std::vector<workload::GemmLayer>& gemms = network.gemms();
  const auto scores = std::find_if(gemms.begin(), gemms.end(), [](const auto& g) { return g.weights_are_activations; });
  const workload::GemmLayer &first = *scores, &second = *(scores + 1);
  const auto attention = attention_of(first, second, DType::bf16);
  ASSERT_TRUE(attention);
  EXPECT_EQ(attention->heads, 8);
  EXPECT_EQ(attention->rows, 4 * 2048) << "the four heads that share keys";
  EXPECT_EQ(attention->context, 2048);
  EXPECT_EQ(attention->key_length, 128);
  EXPECT_FALSE(attention->cached);
  EXPECT_FALSE(attention_of(*(scores - 1), first, DType::bf16));
  workload::GemmLayer other = second;
  other.repeat += 1;
  EXPECT_FALSE(attention_of(first, other, DType::bf16));
}

}  // namespace
}  // namespace hindsight::gpu

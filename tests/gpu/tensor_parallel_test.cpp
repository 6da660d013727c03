/// Is a network shared out as tensor parallelism does it, and do collectives take what their equation says?
#include "hindsight/gpu/tensor_parallel.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "hindsight/core/error.h"
#include "tolerances.h"

namespace hindsight::gpu {
namespace {

using test::kRounding;
using test::relative_error;
using ::testing::HasSubstr;

const workload::Layer& layer_of(const workload::Network& network, const std::string& name) {
  return *std::find_if(network.layers().begin(), network.layers().end(),
                       [&](const workload::Layer& layer) { return layer.name == name; });
}

std::string refusal(const std::string& workload, std::int64_t devices) {
  try {
    static_cast<void>(share_out(workload::load_network(workload), devices));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

/// Llama 3 70B has 64 heads and 8 key/value heads; two all-reduces a block, of 2048 x 8192 results, and logits.
TEST(TensorParallel, SharesOutATransformerAsMegatronDoes) {
  const workload::Network network = workload::load_network("llama3_70b_prefill");
  const SharedNetwork shared = share_out(network, 4);
  EXPECT_EQ(layer_of(shared.network, "attention.query").columns, 8192 / 4);
  EXPECT_EQ(layer_of(shared.network, "attention.query").reduction, 8192);
  EXPECT_EQ(layer_of(shared.network, "attention.key_value").columns, 1024 / 4);
  EXPECT_EQ(layer_of(shared.network, "attention.scores").heads, 64 / 4);
  EXPECT_EQ(layer_of(shared.network, "attention.scores").kv_heads, 2);
  EXPECT_EQ(layer_of(shared.network, "attention.output").columns, 8192);
  EXPECT_EQ(layer_of(shared.network, "attention.output").reduction, 8192 / 4);
  EXPECT_EQ(layer_of(shared.network, "feed_forward.gate_up").columns, 28672 / 4);
  EXPECT_EQ(layer_of(shared.network, "feed_forward.down").reduction, 28672 / 4);
  EXPECT_EQ(layer_of(shared.network, "logits").columns, 128256 / 4);
  ASSERT_EQ(shared.collectives.size(), 3U);
  EXPECT_EQ(network.layers()[shared.collectives[0].layer].name, "attention.output");
  EXPECT_TRUE(shared.collectives[0].reduces);
  EXPECT_EQ(shared.collectives[0].repeat, 80);
  EXPECT_EQ(shared.collectives[0].elements, 2048.0 * 8192);
  EXPECT_EQ(network.layers()[shared.collectives[1].layer].name, "feed_forward.down");
  EXPECT_FALSE(shared.collectives[2].reduces);
  EXPECT_EQ(shared.collectives[2].elements, 128256);
}

/// Work and weights of all GPUs together are those of the network.
TEST(TensorParallel, SharesWorkAndWeightsEvenly) {
  for (const char* name :
       {"bert_base", "llama3_70b_decode", "llama3_8b_prefill", "mixtral_8x7b_decode", "mixtral_8x7b_decode@8"}) {
    const workload::Network network = workload::load_network(name);
    for (const std::int64_t devices : {2, 4}) {
      const SharedNetwork shared = share_out(network, devices);
      EXPECT_EQ(shared.network.totals().macs * static_cast<double>(devices), network.totals().macs) << name;
      EXPECT_EQ(shared.network.totals().weight_bytes * static_cast<double>(devices), network.totals().weight_bytes)
          << name;
    }
  }
}

/// 8 tokens ask 7 of 8 experts of each of 32 blocks, 2 of 3 rows and 5 of 2, whose results are reduced one by one.
TEST(TensorParallel, ReducesWhatEveryExpertPutsOut) {
  const workload::Network network = workload::load_network("mixtral_8x7b_decode@8");
  const SharedNetwork shared = share_out(network, 2);
  ASSERT_EQ(shared.collectives.size(), 4U);
  std::size_t i = 0;
  for (const auto& [name, rows, repeat] : std::vector<std::tuple<std::string, double, double>>{
           {"attention.output", 8, 32}, {"expert.down", 3, 64}, {"expert.down", 2, 160}}) {
    const SharedNetwork::Collective& one = shared.collectives[i++];
    EXPECT_EQ(network.layer_of(one.layer).name, name);
    EXPECT_EQ(static_cast<double>(network.gemms()[one.layer].m), rows);
    EXPECT_TRUE(one.reduces);
    EXPECT_EQ(one.elements, rows * 4096);
    EXPECT_EQ(one.repeat, repeat);
  }
  EXPECT_EQ(network.layer_of(shared.collectives[3].layer).name, "logits");
}

TEST(TensorParallel, RefusesWhatCannotBeSharedOut) {
  EXPECT_THAT(refusal("resnet50", 2), HasSubstr("is a convolution: only linear layers and attention are shared out"));
  EXPECT_THAT(refusal("resnet50", 2), HasSubstr("No number of GPUs shares it out: leave --devices out"));
  EXPECT_THAT(refusal("bert_base", 5), HasSubstr("has 768 columns, no multiple of 5 GPUs"));
  EXPECT_THAT(refusal("bert_base", 5), HasSubstr("Choose another number of --devices, or 1"));
  EXPECT_THAT(refusal("bert_base", 8), HasSubstr("has 12 heads, no multiple of 8 GPUs"));
  EXPECT_THAT(refusal("llama3_70b_decode", 16), HasSubstr("has 8 key/value heads, no multiple of 16 GPUs"));
  EXPECT_THAT(refusal("deepseek_v3_decode", 2), HasSubstr("'attention.key_value_up' reads 512 values, which no layer"));
  const auto squares = [](const std::string& layers) {
    return workload::parse_network("format: 1\nname: squares\ndescription: x\nsource: x\nbatch: 1\nlayers:\n" + layers,
                                   "squares.yaml");
  };
  const auto refused = [&](const std::string& layers) -> std::string {
    try {
      static_cast<void>(share_out(squares(layers), 2));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string square = "type: fully_connected, rows: 4, reduction: 64, columns: 64}\n";
  EXPECT_THAT(refused("  - {name: a, " + square + "  - {name: b, " + square), HasSubstr("'b' reads as many values"));
  EXPECT_THAT(refused("  - {name: a, repeat: 5, " + square), HasSubstr("'a' repeats a square product"));
  EXPECT_EQ(refused("  - {name: a, " + square), "");
}

TEST(TensorParallel, CollectivesByHand) {
  const Link nvlink{.bytes_per_s = 100e9, .switched = true, .most = 8, .what = ""},
      pcie{.bytes_per_s = 10e9, .switched = false, .most = 8, .what = ""};
  // 3/4 of the bytes twice at 80 GB/s, two steps of 1.5 us, a launch of 2 us.
  EXPECT_LE(relative_error(collective_s(nvlink, true, 8e6, 4, 2e-6), 2e-6 + 3e-6 + 1.5 * 8e6 / 80e9), kRounding);
  EXPECT_LE(relative_error(collective_s(nvlink, false, 8e6, 4, 2e-6), 2e-6 + 1.5e-6 + 0.75 * 8e6 / 80e9), kRounding);
  EXPECT_LE(relative_error(collective_s(pcie, true, 8e6, 4, 2e-6), 2e-6 + 6 * 1.5e-6 + 1.5 * 8e6 / 8e9), kRounding);
}

TEST(TensorParallel, KnowsTheLinksOfShippedGpus) {
  EXPECT_EQ(load_link("h100-sxm5").bytes_per_s, 450e9);
  EXPECT_TRUE(load_link("h200").switched);
  EXPECT_FALSE(load_link("l40s").switched);
  try {
    static_cast<void>(load_link("rtx-4090"));
    ADD_FAILURE() << "a GPU without a link";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("--devices takes: a100-pcie-40gb"));
  }
}

/// Decoding waits for the weights: four GPUs read a quarter each, and more than half of the gain stays after the
/// all-reduces. 141 GB in bf16 fit on two H100, not on one.
TEST(TensorParallel, FourGpusDecodeALargeModelFaster) {
  const workload::Network network = workload::load_network("llama3_70b_decode");
  const GpuSpec spec = load_gpu("h100-sxm5");
  const Calibration calibration = load_calibration(spec, DType::bf16);
  std::map<std::int64_t, NetworkPrediction> by_devices;
  for (const std::int64_t devices : {1, 2, 4, 8}) {
    by_devices[devices] = predict_shared(spec, calibration, network, DType::bf16, {}, devices, load_link("h100-sxm5"));
  }
  const auto speed_up = [&](std::int64_t devices) {
    return by_devices.at(1).latency_s / by_devices.at(devices).latency_s;
  };
  EXPECT_GT(speed_up(2), 1.5);
  EXPECT_LT(speed_up(2), 2.02);
  EXPECT_GT(speed_up(4), 2.2);
  EXPECT_LT(speed_up(4), 4.02);
  EXPECT_GT(speed_up(8), speed_up(4));
  const NetworkPrediction& four = by_devices.at(4);
  double collectives_s = 0, all_s = 0;
  for (const OtherLayer& other : four.others) {
    all_s += other.repeat * other.prediction.latency_s;
    if (other.kind == OtherKind::all_reduce || other.kind == OtherKind::all_gather) {
      collectives_s += other.repeat * other.prediction.latency_s;
    }
  }
  EXPECT_GT(collectives_s, 161 * 5e-6) << "160 all-reduces and a gather, three steps and a launch each";
  EXPECT_LE(relative_error(four.other_latency_s, all_s), kRounding);
  EXPECT_LE(relative_error(four.ops, by_devices.at(1).ops), 0.01) << "of all GPUs; normalisations run on each";
  EXPECT_FALSE(four.in_validated_range);
  const double one = resident_bytes(network, DType::bf16);
  EXPECT_GT(one, 141e9) << "70.6 billion parameters";
  EXPECT_GT(one, spec.dram_bytes);
  EXPECT_LT(resident_bytes(share_out(network, 2).network, DType::bf16), spec.dram_bytes);
}

}  // namespace
}  // namespace hindsight::gpu

/// Does a batch read as many experts of a mixture as its tokens ask, and do files say which layers are experts?
#include "hindsight/workload/experts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/workload/context.h"
#include "hindsight/workload/network.h"
#include "workload/random_layer.h"

namespace hindsight::workload {
namespace {

using testing::Draw;
using ::testing::HasSubstr;

/// Layers of a fully connected network, each with `keys` behind its sizes (width 4 to 3, no bias).
Network expert_network(const std::string& keys, const std::string& head = "") {
  return parse_network("name: net\n" + head +
                           "layers:\n  - {name: up, type: fully_connected, reduction: 4, columns: 3, bias: false" +
                           keys + "}\n",
                       "net.yaml");
}

std::string refusal(const std::string& keys, const std::string& head = "") {
  try {
    (void)expert_network(keys, head);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

/// Mixtral's, of one token, eight and 64: 8 (1 - 0.75^8) = 7.2 and 16 = 7 * 2 + 2; 8 (1 - 0.75^64) = 8.0.
TEST(ExpertLoad, OfEightExpertsTwoPerToken) {
  for (const auto& [tokens, distinct, rows, fuller] :
       std::vector<std::array<double, 4>>{{1, 2, 1, 0}, {8, 7, 2, 2}, {64, 8, 16, 0}, {2048, 8, 512, 0}}) {
    const ExpertLoad load = expert_load(8, 2, tokens);
    EXPECT_EQ(load.distinct, distinct) << tokens;
    EXPECT_EQ(load.rows, rows) << tokens;
    EXPECT_EQ(load.fuller, fuller) << tokens;
  }
}

/// Every choice of `asked` of `experts` for each of `tokens`, all equally likely: the mean number of different experts.
double mean_distinct(int experts, int asked, int tokens) {
  std::vector<unsigned> choices;
  for (unsigned set = 0; set < 1U << experts; ++set) {
    if (std::popcount(set) == asked) choices.push_back(set);
  }
  std::vector<unsigned> unions{0};
  for (int token = 0; token < tokens; ++token) {
    std::vector<unsigned> longer;
    for (const unsigned before : unions) {
      for (const unsigned choice : choices) longer.push_back(before | choice);
    }
    unions = std::move(longer);
  }
  double sum = 0;
  for (const unsigned one : unions) sum += std::popcount(one);
  return sum / static_cast<double>(unions.size());
}

TEST(ExpertLoad, IsTheMeanOverAllChoicesRounded) {
  for (const auto& [experts, asked, tokens] :
       std::vector<std::array<int, 3>>{{4, 2, 2}, {5, 2, 3}, {5, 1, 4}, {6, 3, 3}, {3, 3, 2}, {7, 2, 3}}) {
    EXPECT_EQ(expert_load(experts, asked, tokens).distinct, std::round(mean_distinct(experts, asked, tokens)))
        << experts << " " << asked << " " << tokens;
  }
}

TEST(ExpertLoad, EveryTokenHasItsExpertsAndMoreTokensAskNoFewer) {
  Draw draw("experts");
  for (int i = 0; i < 300; ++i) {
    const std::int64_t experts = draw.between(1, 300), asked = draw.between(1, experts);
    SCOPED_TRACE("seed " + std::to_string(testing::kSeed) + ", " + std::to_string(asked) + " of " +
                 std::to_string(experts));
    double before = 0;
    for (double tokens = 1; tokens <= 4096; tokens *= 2) {
      const ExpertLoad load = expert_load(experts, asked, tokens);
      const double places = tokens * static_cast<double>(asked);
      EXPECT_GE(load.distinct, std::max(before, static_cast<double>(asked)));
      EXPECT_LE(load.distinct, std::min(places, static_cast<double>(experts)));
      EXPECT_EQ(load.distinct * load.rows + load.fuller, places);
      EXPECT_GE(load.rows, 1);
      EXPECT_GE(load.fuller, 0);
      EXPECT_LT(load.fuller, load.distinct);
      before = load.distinct;
    }
    EXPECT_EQ(expert_load(experts, asked, 1).distinct, static_cast<double>(asked));
    EXPECT_EQ(expert_load(experts, asked, 1).rows, 1);
    EXPECT_EQ(expert_load(experts, asked, 1).fuller, 0);
  }
}

/// Three groups of eight experts of 12 weights: 8 tokens ask 7 of each, of 16 rows in all.
TEST(LayersOfExperts, AreOneGemmPerExpertThatIsRead) {
  const Network network = expert_network(", repeat: 3, experts: 8, experts_per_token: 2", "batch: 8\n");
  ASSERT_EQ(network.gemms().size(), 2U);
  EXPECT_EQ(network.gemm_layers(), (std::vector<std::size_t>{0, 0}));
  for (const auto& [i, rows, experts] : std::vector<std::array<std::int64_t, 3>>{{0, 3, 2}, {1, 2, 5}}) {
    const GemmLayer& gemm = network.gemms()[static_cast<std::size_t>(i)];
    EXPECT_EQ(gemm.m, rows);
    EXPECT_EQ(gemm.out_width, rows);
    EXPECT_EQ(gemm.repeat, 3 * experts);
    EXPECT_EQ(gemm.macs, static_cast<double>(rows * 12));
    EXPECT_EQ(gemm.input_bytes, static_cast<double>(rows * 4));
    EXPECT_EQ(gemm.output_bytes, static_cast<double>(rows * 3));
  }
  EXPECT_EQ(network.totals().macs, 3 * 16 * 12);
  EXPECT_EQ(network.totals().weight_bytes, 3 * 7 * 12);
  EXPECT_EQ(network.totals().parameters, 3 * 8 * 12) << "all experts";
  EXPECT_EQ(network.other_parameters(), 3 * 12) << "the one of each group that nobody asks";
  EXPECT_EQ(count_layers(network).fully_connected, 21);
}

/// 12 rows of three experts: no expert has one more.
TEST(LayersOfExperts, AreOneGemmWhereTheirRowsDivide) {
  const Network network = expert_network(", rows: 6, experts: 3, experts_per_token: 2");
  ASSERT_EQ(network.gemms().size(), 1U);
  EXPECT_EQ(network.gemms()[0].m, 4);
  EXPECT_EQ(network.gemms()[0].repeat, 3);
}

/// What costs, features and logs see of a group is what they see of two layers with these rows.
TEST(LayersOfExperts, AreTheLayersThatTheyStandFor) {
  const std::string sizes = ", type: fully_connected, reduction: 4, columns: 3, bias: false";
  const std::string last = "  - {name: down" + sizes + "}\n";
  const Network group = parse_network(
      "name: net\nlayers:\n  - {name: up" + sizes + ", repeat: 3, rows: 8, experts: 8, experts_per_token: 2}\n" + last,
      "group.yaml");
  const Network plain = parse_network(
      "name: net\nextra_parameters: {count: 36, what: \"the expert of each group that nobody asks\"}\n"
      "layers:\n  - {name: more" +
          sizes + ", repeat: 6, rows: 3}\n  - {name: fewer" + sizes + ", repeat: 15, rows: 2}\n" + last,
      "plain.yaml");
  EXPECT_EQ(group.canonical_definition(), plain.canonical_definition());
  EXPECT_EQ(context_vector(group), context_vector(plain));
  EXPECT_EQ(group.layer_of(0).name, "up");
  EXPECT_EQ(group.layer_of(1).name, "up");
  EXPECT_EQ(group.layer_of(2).name, "down");
}

/// Rows and batch are tokens alike: what 4 rows at batch 2 come to, 8 rows do at batch 1.
TEST(LayersOfExperts, CountTheTokensOfAllRowsAndOfTheBatch) {
  const Network rows = expert_network(", rows: 8, experts: 8, experts_per_token: 2");
  const Network both = expert_network(", rows: 4, experts: 8, experts_per_token: 2", "batch: 2\n");
  ASSERT_EQ(rows.gemms().size(), both.gemms().size());
  for (std::size_t i = 0; i < rows.gemms().size(); ++i) {
    EXPECT_EQ(rows.gemms()[i].m, both.gemms()[i].m);
    EXPECT_EQ(rows.gemms()[i].repeat, both.gemms()[i].repeat);
  }
}

TEST(LayersOfExperts, AllOfThemAreAnOrdinaryLayerPerExpert) {
  const Network all = expert_network(", rows: 5, experts: 4, experts_per_token: 4", "batch: 3\n");
  const Network plain = expert_network(", rows: 5, repeat: 4", "batch: 3\n");
  EXPECT_EQ(all.definition_hash(), plain.definition_hash());
}

TEST(LayersOfExperts, AreWrittenAsTheyAreRead) {
  const std::string line =
      "  - {name: up, type: fully_connected, repeat: 3, rows: 2, reduction: 4, columns: 3, experts: 8, "
      "experts_per_token: 2, bias: false, after: [gate]}\n";
  const Network network = parse_network("name: net\nbatch: 8\nlayers:\n" + line, "net.yaml");
  EXPECT_EQ(network.layers()[0].experts, 8);
  EXPECT_EQ(network.layers()[0].experts_per_token, 2);
  EXPECT_THAT(to_yaml(network), HasSubstr(line));
  EXPECT_EQ(to_yaml(network.with_batch(1).with_batch(8)), to_yaml(network)) << "a batch leaves the layers alone";
  EXPECT_THAT(to_yaml(expert_network(", repeat: 3")), ::testing::Not(HasSubstr("expert")));
}

TEST(LayersOfExperts, RoundTripAtRandom) {
  Draw draw("layers of experts");
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE("seed " + std::to_string(testing::kSeed) + ", network " + std::to_string(i));
    Layer layer;
    layer.name = "one";
    layer.type = LayerType::fully_connected;
    layer.repeat = draw.between(1, 5);
    layer.rows = draw.between(1, 40);
    layer.columns = draw.between(1, 50);
    layer.reduction = draw.between(1, 50);
    layer.has_bias = draw.coin();
    layer.experts = draw.between(1, 40);
    layer.experts_per_token = draw.between(1, layer.experts);
    const Network network("net", "", "", false, draw.between(1, 9), {layer}, {.count = 5, .what = "norms"});
    const Network again = parse_network(to_yaml(network), "again.yaml");
    EXPECT_EQ(again.layers(), network.layers());
    EXPECT_EQ(again.definition_hash(), network.definition_hash());
    EXPECT_EQ(to_yaml(again), to_yaml(network));
    EXPECT_EQ(network.totals().parameters, network.with_batch(64).totals().parameters) << "all experts, whoever asks";
    const double rows = static_cast<double>(layer.repeat * network.batch() * layer.rows * layer.experts_per_token);
    const auto inputs = static_cast<double>(layer.reduction), outputs = static_cast<double>(layer.columns);
    EXPECT_EQ(network.totals().macs, rows * inputs * outputs);
    EXPECT_EQ(network.totals().input_bytes, rows * inputs);
    EXPECT_EQ(network.totals().output_bytes, rows * outputs);
  }
}

TEST(LayersOfExperts, ImpossibleGroupsAreRefusedInOneLineWithARemedy) {
  const auto expect = [](const std::string& keys, const std::string& problem) {
    const std::string said = refusal(keys);
    EXPECT_THAT(said, ::testing::StartsWith("net.yaml:3:")) << keys;
    EXPECT_THAT(said, HasSubstr(problem));
    EXPECT_LE(said.size(), 400U);
    EXPECT_EQ(said.find('\n'), std::string::npos);
  };
  expect(", experts: 8", "layer 'up' has experts without experts_per_token");
  expect(", experts: 8", "Add experts_per_token, or remove experts?");
  expect(", experts_per_token: 2", "Add experts, or remove experts_per_token?");
  expect(", experts: 8, experts_per_token: 9", "experts_per_token 9 is more than all experts (8). Write 1 to 8?");
  expect(", experts: 0, experts_per_token: 2", "is 0 but must be in [1, ");
  expect(", experts: 8, experts_per_token: 0", "is 0 but must be in [1, ");
  expect(", repeat: 2147483648, experts: 8, experts_per_token: 2", "repeat 2147483648 of 8 experts is beyond");
  EXPECT_EQ(refusal(", experts: 8, experts_per_token: 8"), "");
}

TEST(LayersOfExperts, AreFullyConnected) {
  EXPECT_THROW((void)parse_network("name: net\nlayers:\n  - {name: c, type: convolution, in: [4, 4, 1], out: 1, "
                                   "experts: 8, experts_per_token: 2}\n",
                                   "net.yaml"),
               Error);
  Layer layer;
  layer.name = "c";
  layer.in_height = layer.in_width = layer.in_channels = layer.out_channels = 4;
  layer.experts = 8;
  layer.experts_per_token = 2;
  EXPECT_THAT(find_problem(layer), HasSubstr("experts of a convolution (only fully_connected layers are)"));
}

TEST(LayersOfExperts, TokensOfANetworkAreNotThoseOfAnExpert) {
  const Network network = parse_network(
      "name: net\nbatch: 8\nlayers:\n"
      "  - {name: up, type: fully_connected, rows: 4, reduction: 4, columns: 3, experts: 8, experts_per_token: 2}\n"
      "  - {name: scores, type: matmul, rows: 1, reduction: 2, columns: 3}\n",
      "net.yaml");
  EXPECT_EQ(tokens_of(network), 32);
}

/// What a batch reads grows with it, what there is does not; int8 weights outside the experts: attention, router,
/// logits.
TEST(ShippedMixtures, ABatchReadsTheExpertsThatItsTokensAsk) {
  const double outside = 32.0 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 4096 * 8) + 4096 * 32000.0;
  const double expert = 32.0 * 3 * 4096 * 14336;  // of all blocks: gate, up and down
  const Network mixtral = load_network("mixtral_8x7b_decode");
  for (const auto& [name, experts, rows] : std::vector<std::tuple<const char*, double, std::int64_t>>{
           {"mixtral_8x7b_decode", 2, 1}, {"mixtral_8x7b_decode@8", 7, 3}, {"mixtral_8x7b_decode@64", 8, 16}}) {
    const Network network = load_network(name);
    EXPECT_EQ(network.totals().weight_bytes, outside + experts * expert) << name;
    EXPECT_EQ(network.totals().parameters, 46702792704) << name;
    EXPECT_EQ(network.totals().weight_bytes + network.other_parameters(), 46702792704) << name;
    EXPECT_EQ(network.layers(), mixtral.layers()) << "a batch is the same network";
    EXPECT_EQ(network.gemms()[6].m, rows) << name;
    EXPECT_EQ(network.layer_of(6).name, "expert.gate_up");
  }
  // DeepSeek-V3: 256 (1 - (31 / 32)^8) = 57.4 of 256.
  const Network deepseek = load_network("deepseek_v3_decode@8");
  EXPECT_EQ(deepseek.totals().weight_bytes - load_network("deepseek_v3_decode").totals().weight_bytes,
            58.0 * 3 * 7168 * 2048 * (57 - 8));
  EXPECT_EQ(deepseek.totals().parameters, 671026419200);
}

/// Of every token two (or eight) experts, at any batch: nothing is rounded.
TEST(ShippedMixtures, ABatchHasTheWorkOfItsTokens) {
  for (const char* name : {"mixtral_8x7b_decode", "deepseek_v3_decode", "mixtral_8x7b_prefill"}) {
    const Network one = load_network(name);
    for (const std::int64_t batch : {2, 3, 5, 8, 13, 30, 64}) {
      const Network network = one.with_batch(batch);
      const auto tokens = static_cast<double>(batch);
      EXPECT_EQ(network.totals().macs, tokens * one.totals().macs) << name << " " << batch;
      EXPECT_EQ(network.totals().input_bytes, tokens * one.totals().input_bytes) << name << " " << batch;
      EXPECT_EQ(network.totals().output_bytes, tokens * one.totals().output_bytes) << name << " " << batch;
    }
  }
}

/// One token and a prompt were described rightly before layers could say that they are experts: logs and models of them
/// stay (hashes of the files of before).
TEST(ShippedMixtures, AtTheirOwnBatchAreWhatTheyWere) {
  for (const auto& [name, hash] : std::vector<std::pair<const char*, const char*>>{
           {"mixtral_8x7b_decode", "4dd6e5d2af32717049ec9f6ac42b90a149afa688035471cb8a49a8469ad09536"},
           {"mixtral_8x7b_prefill", "aab5814e1355101e724bd564d65ee03fae0fc5548b99392c775f3d0d3889d4f3"},
           {"deepseek_v3_decode", "6ce5015711032808e1757e4eaaa612e59989213a878fa5941f13e1091665057d"},
           {"deepseek_v3_prefill", "e492b104f48caad8b135422d9e74ce1a9f61324905381342bac38429321bfd24"}}) {
    EXPECT_EQ(load_network(name).definition_hash(), hash) << name;
  }
}

}  // namespace
}  // namespace hindsight::workload

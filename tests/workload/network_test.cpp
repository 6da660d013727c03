/// Do workload files say what they mean: read, refuse with a place and a reason, write, and hash?
#include "hindsight/workload/network.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "hindsight/core/error.h"
#include "temporary_folder.h"
#include "workload/random_layer.h"

namespace hindsight::workload {
namespace {

using testing::Draw;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::random_layer;

Network parse_layers(const std::string& layers, const std::string& head = "") {
  return parse_network("name: net\n" + head + "layers:\n" + layers, "net.yaml");
}

std::string error_of(const std::string& layers, const std::string& head = "") {
  try {
    (void)parse_layers(layers, head);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ParseNetwork, ReadsEveryFieldOfAConvolution) {
  const Network network = parse_layers(
      "  - {name: c, type: convolution, repeat: 2, in: [9, 11, 4], out: 6, kernel: [3, 5], stride: [2, 1],\n"
      "     dilation: [1, 2], pad: [0, 1, 2, 3], groups: 2, bias: true, batch_norm: true}\n",
      "batch: 3\ndescription: d\nsource: s\nstand_in: true\nextra_parameters: {count: 7, what: norms}\n");
  const Layer& layer = network.layers()[0];
  EXPECT_EQ(layer.repeat, 2);
  EXPECT_EQ(layer.in_height, 9);
  EXPECT_EQ(layer.in_width, 11);
  EXPECT_EQ(layer.in_channels, 4);
  EXPECT_EQ(layer.kernel_width, 5);
  EXPECT_EQ(layer.stride_height, 2);
  EXPECT_EQ(layer.dilation_width, 2);
  EXPECT_EQ(layer.pad_top, 0);
  EXPECT_EQ(layer.pad_bottom, 1);
  EXPECT_EQ(layer.pad_left, 2);
  EXPECT_EQ(layer.pad_right, 3);
  EXPECT_EQ(network.batch(), 3);
  EXPECT_TRUE(network.stand_in());
  EXPECT_EQ(network.description(), "d");
  EXPECT_EQ(network.source(), "s");
  // P = floor((9 + 1 - 3) / 2) + 1 = 4; Q = 11 + 5 - 9 + 1 = 8; weights 2 * 15 * 6 = 180.
  EXPECT_EQ(network.totals().macs, 2.0 * 3 * 4 * 8 * 180);
  EXPECT_EQ(network.totals().parameters, 2.0 * (180 + 6 * 3) + 7);
  EXPECT_EQ(network.totals().layers, 2);
}

TEST(ParseNetwork, BiasIsOnUnlessBatchNormalisationFollows) {
  const Network network = parse_layers(
      "  - {name: a, type: convolution, in: [4, 4, 1], out: 1}\n"
      "  - {name: b, type: convolution, in: [4, 4, 1], out: 1, batch_norm: true}\n");
  EXPECT_TRUE(network.layers()[0].has_bias);
  EXPECT_FALSE(network.layers()[1].has_bias);
}

TEST(ParseNetwork, SamePaddingIsResolved) {
  const Network network =
      parse_layers("  - {name: a, type: convolution, in: [8, 9, 1], out: 1, kernel: 3, stride: 2, pad: same}\n");
  EXPECT_EQ(network.layers()[0].pad_top, 0);
  EXPECT_EQ(network.layers()[0].pad_bottom, 1);
  EXPECT_EQ(network.layers()[0].pad_left, 1);
  EXPECT_EQ(network.layers()[0].pad_right, 1);
}

TEST(ParseNetwork, AttentionExpandsToScoresAndValues) {
  const Network network = parse_layers(
      "  - {name: a, type: attention, repeat: 3, heads: 8, kv_heads: 2, query_length: 5, key_length: 7, head_dim: "
      "16}\n");
  ASSERT_EQ(network.layers().size(), 2U);
  EXPECT_EQ(network.layers()[0].name, "a.scores");
  EXPECT_EQ(network.layers()[1].name, "a.values");
  EXPECT_EQ(network.gemms()[0].m, 20);  // 5 queries of 8 / 2 heads
  EXPECT_EQ(network.gemms()[0].n, 7);
  EXPECT_EQ(network.gemms()[0].k, 16);
  EXPECT_EQ(network.gemms()[0].count, 2);
  EXPECT_EQ(network.gemms()[1].n, 16);
  EXPECT_EQ(network.gemms()[1].k, 7);
  EXPECT_EQ(network.totals().macs, 2.0 * 3 * 8 * 5 * 7 * 16);
  EXPECT_EQ(network.totals().weight_bytes, 0.0);
  // Per head pair: scores read 20 x 16 and 16 x 7, values read 20 x 7 and 7 x 16.
  EXPECT_EQ(network.totals().input_bytes, 3.0 * 2 * (320 + 112 + 140 + 112));
}

/// The keys and values of as many tokens as the pass has are its own, those of more are of passes before.
TEST(Network, KeysOfMoreTokensThanThePassHasAreOfEarlierPasses) {
  const auto marks = [](const Network& network) {
    std::vector<bool> of_layers;
    for (const GemmLayer& gemm : network.gemms()) of_layers.push_back(gemm.from_earlier_passes);
    return of_layers;
  };
  const auto attention_of = [&](int rows, int keys) {
    return parse_layers(fmt::format(
        "  - {{name: p, type: fully_connected, rows: {}, reduction: 64, columns: 64}}\n"
        "  - {{name: a, type: attention, heads: 4, kv_heads: 2, query_length: {}, key_length: {}, head_dim: 16}}\n"
        "  - {{name: o, type: fully_connected, rows: {}, reduction: 64, columns: 64}}\n",
        rows, rows, keys, rows));
  };
  for (const std::int64_t batch : {1, 8}) {
    EXPECT_EQ(marks(attention_of(1, 512).with_batch(batch)), std::vector({false, true, true, false})) << batch;
    EXPECT_EQ(marks(attention_of(511, 512).with_batch(batch)), std::vector({false, true, true, false})) << batch;
    EXPECT_EQ(marks(attention_of(512, 512).with_batch(batch)), std::vector({false, false, false, false})) << batch;
    EXPECT_EQ(marks(attention_of(512, 77).with_batch(batch)), std::vector({false, false, false, false})) << "cross";
  }
  EXPECT_EQ(marks(parse_layers("  - {name: one, type: matmul, rows: 1, reduction: 16, columns: 512, heads: 4}\n")),
            std::vector({false}))
      << "no attention: nobody says what its operand is";
}

TEST(ParseNetwork, ErrorsNamePlaceProblemAndRemedy) {
  EXPECT_THAT(error_of("  - {name: a, type: convolutoin, in: [4, 4, 1], out: 1}\n"),
              ::testing::AllOf(HasSubstr("net.yaml:3:"), HasSubstr("Did you mean 'convolution'?")));
  EXPECT_THAT(error_of("  - {name: a, type: atention, heads: 1}\n"), HasSubstr("Did you mean 'attention'?"));
  EXPECT_THAT(error_of("  - {name: a, type: convolution, in: [4, 4, 1], out: 1, kernal: 3}\n"), HasSubstr("kernel"));
  EXPECT_THAT(error_of("  - {name: a, type: convolution, in: [4, 0, 1], out: 1}\n"), HasSubstr("net.yaml:3:"));
  EXPECT_THAT(error_of("  - {name: a, type: convolution, in: [4, 4], out: 1}\n"),
              HasSubstr("in has 2 values, but is [height, width, channels]"));
  EXPECT_THAT(error_of("  - {name: a, type: convolution, in: [4, 4, 1]}\n"), HasSubstr("out"));
  EXPECT_THAT(error_of("  - {name: a, type: convolution, in: [4, 4, 1], out: 1, kernel: 5}\n"),
              HasSubstr("layer 'a': kernel height 5"));
  EXPECT_THAT(error_of("  - {name: a, type: convolution, in: [4, 4, 1], out: 1, pad: valid}\n"),
              HasSubstr("pad is 'valid', but takes same"));
  EXPECT_THAT(error_of("  - {name: a, type: convolution, in: [4, 4, 1], out: 1, pad: [1, 2, 3]}\n"),
              HasSubstr("pad has 3 values"));
  EXPECT_THAT(error_of("  - {name: a, type: convolution, in: [4, 4, 1], out: 1, stride: [1, 1, 1]}\n"),
              HasSubstr("stride has 3 values"));
  EXPECT_THAT(error_of("  - {name: a, type: transposed_convolution, in: [4, 4, 1], out: 1, stride: 2, pad: same}\n"),
              HasSubstr("kernel at least as large as the stride"));
  EXPECT_THAT(error_of("  - {name: a, type: matmul, rows: 1, reduction: 1, columns: 1, heads: 3, kv_heads: 2}\n"),
              HasSubstr("kv_heads 2 does not divide heads 3"));
  EXPECT_THAT(error_of("  - {name: a, type: fully_connected, reduction: 2147483648, columns: 2147483648}\n"),
              HasSubstr("more than 2^53"));
  EXPECT_THAT(error_of("  - {name: a, typ: matmul, rows: 1, reduction: 1, columns: 1}\n"),
              HasSubstr("unknown key 'typ'. Did you mean 'type'?"));
  EXPECT_THAT(error_of("  - {type: matmul, rows: 1, reduction: 1, columns: 1}\n"), HasSubstr("missing key 'name'"));
  EXPECT_THAT(error_of("  []\n"), HasSubstr("net.yaml:3:3: a network without layers. Add at least one"));
}

TEST(ParseNetwork, BatchCountsInTheOverflowCheck) {
  const std::string layer = "  - {name: a, type: fully_connected, reduction: 1048576, columns: 1048576}\n";
  EXPECT_EQ(error_of(layer), "");
  EXPECT_THAT(error_of(layer, "batch: 8193\n"), HasSubstr("more than 2^53"));  // 2^40 * 8193 > 2^53
}

TEST(ParseNetwork, DuplicateNamesAreRefusedWithBothPlaces) {
  const std::string error = error_of(
      "  - {name: a, type: fully_connected, reduction: 1, columns: 1}\n"
      "  - {name: a, type: fully_connected, reduction: 1, columns: 1}\n");
  EXPECT_THAT(error, HasSubstr("net.yaml:4:"));
  EXPECT_THAT(error, HasSubstr("layer 'a' is already defined at net.yaml:3:"));
}

TEST(ParseNetwork, AnotherFormatIsIncompatible) {
  try {
    (void)parse_layers("  - {name: a, type: fully_connected, reduction: 1, columns: 1}\n", "format: 2\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
  }
}

TEST(NetworkConstructor, RefusesNothingDuplicatesAndInvalidLayers) {
  Layer layer;
  layer.name = "a";
  layer.type = LayerType::fully_connected;
  layer.rows = layer.columns = layer.reduction = 1;
  EXPECT_THROW(Network("n", "", "", false, 1, {}), Error);
  EXPECT_THROW(Network("n", "", "", false, 1, {layer, layer}), Error);
  EXPECT_THROW(Network("n", "", "", false, 0, {layer}), Error);
  layer.rows = 0;
  EXPECT_THROW(Network("n", "", "", false, 1, {layer}), Error);
}

TEST(NetworkConstructor, TotalsBeyondExactCountingAreRefused) {
  std::vector<Layer> layers(3);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].name = std::string(1, static_cast<char>('a' + i));
    layers[i].type = LayerType::fully_connected;
    layers[i].has_bias = false;
    layers[i].rows = 1;
    layers[i].columns = layers[i].reduction = std::int64_t{1} << 26;  // 2^52 MACs each
  }
  EXPECT_THROW(Network("n", "", "", false, 1, layers), Error);
  layers.pop_back();
  EXPECT_EQ(Network("n", "", "", false, 1, layers).totals().macs, 9007199254740992.0);
}

TEST(NetworkYaml, RoundTripsRandomNetworks) {
  Draw draw("yaml");
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE("seed " + std::to_string(testing::kSeed) + ", network " + std::to_string(i));
    std::vector<Layer> layers;
    for (std::int64_t j = 0; j < draw.between(1, 8); ++j) {
      layers.push_back(random_layer(draw));
      layers.back().name = "l" + std::to_string(layers.size());
    }
    const Network network("net", "a \"quoted\" \\ text: # with, signs", "tab\there", draw.coin(), draw.between(1, 9),
                          layers, {.count = draw.between(0, 5), .what = "norms"});
    const Network again = parse_network(to_yaml(network), "again.yaml");
    EXPECT_EQ(again.layers(), network.layers());
    EXPECT_EQ(again.description(), network.description());
    EXPECT_EQ(again.source(), network.source());
    EXPECT_EQ(again.stand_in(), network.stand_in());
    EXPECT_EQ(again.batch(), network.batch());
    EXPECT_EQ(again.extra_parameters().count, network.extra_parameters().count);
    EXPECT_EQ(again.definition_hash(), network.definition_hash());
    EXPECT_EQ(to_yaml(again), to_yaml(network));
  }
}

// A log cannot be asked for a network without a name.
TEST(ParseNetwork, WhatHasAWrongHeadIsRefusedByItsPlace) {
  const auto problem = [](const std::string& head) {
    try {
      (void)parse_network(head + "layers:\n  - {name: a, type: fully_connected, reduction: 8, columns: 4}\n", "n.yaml");
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  EXPECT_EQ(problem("name: ''\n"), "n.yaml:1:7: 'name' is the text '', but a name is not blank. Write one.");
  EXPECT_THAT(problem("name: '  '\n"), HasSubstr("n.yaml:1:7: 'name' is"));
  EXPECT_EQ(problem("name: n\nstand_in: 1\n"), "n.yaml:2:11: 'stand_in' is '1' but must be true or false.");
}

TEST(NetworkYaml, OddLayerNamesSurvive) {
  std::vector<Layer> layers;
  for (const char* name : {"features.0/Conv:0", "null", "- dash", "a, b}", "quote\"", "1.5", "true", "~"}) {
    Layer layer;
    layer.name = name;
    layer.type = LayerType::fully_connected;
    layer.rows = layer.columns = layer.reduction = 2;
    layers.push_back(layer);
  }
  const Network network("net", "", "", false, 1, layers);
  EXPECT_EQ(parse_network(to_yaml(network), "odd.yaml").layers(), network.layers());
}

TEST(NetworkYaml, AttentionIsWrittenAsOneLineOnlyWhereItExpandsToTheSame) {
  const std::string line = "  - {name: a, type: attention, heads: 4, query_length: 3, key_length: 9, head_dim: 8}\n";
  EXPECT_THAT(to_yaml(parse_layers(line)), HasSubstr(line));
  const Network other = parse_layers(
      "  - {name: a.scores, type: matmul, rows: 3, reduction: 8, columns: 9, heads: 4}\n"
      "  - {name: a.values, type: matmul, rows: 3, reduction: 9, columns: 7, heads: 4}\n");
  EXPECT_THAT(to_yaml(other), HasSubstr("{name: a.values, type: matmul, rows: 3, reduction: 9, columns: 7, heads: 4}"));
}

TEST(DefinitionHash, DependsOnWhatTheModelSeesAndOnNothingElse) {
  const std::string layer = "type: convolution, in: [8, 8, 4], out: 4, kernel: 3";
  const Network base = parse_layers("  - {name: a, " + layer + "}\n");
  EXPECT_EQ(parse_layers("  - {name: b, " + layer + "}\n", "description: other\n").definition_hash(),
            base.definition_hash());
  EXPECT_NE(parse_layers("  - {name: a, " + layer + ", pad: 1}\n").definition_hash(), base.definition_hash());
  EXPECT_NE(parse_layers("  - {name: a, " + layer + ", dilation: 2, pad: 1}\n").definition_hash(),
            base.definition_hash());
  EXPECT_NE(base.with_batch(2).definition_hash(), base.definition_hash());
  EXPECT_EQ(base.with_batch(2).with_batch(1).definition_hash(), base.definition_hash());
  EXPECT_EQ(base.definition_hash().size(), 64U);
}

/// A log knows networks by their hash: of two that cost unlike (`of_sequence`) rows of one would stand under the other.
TEST(DefinitionHash, TellsASequenceFromAMapOfWhichAStrideLeavesOneRow) {
  const auto one = [](const std::string& in, const std::string& more) {
    return parse_layers("  - {name: a, type: convolution, in: " + in + ", out: 8, " + more + "}\n");
  };
  for (const char* more : {"kernel: [1, 3], stride: 2", "kernel: 1, stride: 2", "kernel: [1, 64], stride: [2, 1]"}) {
    const Network sequence = one("[1, 64, 8]", more), map = one("[2, 64, 8]", more);
    ASSERT_TRUE(sequence.gemms()[0].of_sequence && !map.gemms()[0].of_sequence) << more;
    for (const std::int64_t batch : {1, 8}) {
      const std::string text = sequence.with_batch(batch).canonical_definition();
      const std::size_t word = text.find(" of_sequence 1");
      ASSERT_NE(word, std::string::npos) << text;
      EXPECT_EQ(text.substr(0, word) + "\n", map.with_batch(batch).canonical_definition()) << "nothing else differs";
    }
  }
  const std::string pixels = "kernel: 1, stride: [1, 2]";
  EXPECT_NE(one("[1, 2, 8]", pixels).with_batch(8).definition_hash(),
            one("[1, 1, 8]", pixels).with_batch(8).definition_hash());
  // Each pixel becomes two, and nothing overlaps: but for the maps' rows the product of a convolution to 16 channels.
  const std::string transposed = "  - {name: a, type: transposed_convolution, in: [1, 64, 8], out: 8, kernel: [1, 2], ";
  EXPECT_NE(parse_layers(transposed + "stride: [1, 2], bias: false}\n").with_batch(8).definition_hash(),
            parse_layers("  - {name: a, type: convolution, in: [1, 64, 8], out: 16, bias: false}\n")
                .with_batch(8)
                .definition_hash());
}

/// Logs and models of them stay (hashes of before the definition knew sequences).
TEST(DefinitionHash, OfOtherSequencesAndMapsIsWhatItWas) {
  const Network network = parse_layers(R"(
  - {name: a, type: convolution, in: [1, 400, 16], out: 32, kernel: [1, 9], stride: [1, 2], pad: same}
  - {name: b, type: convolution, in: [1, 200, 32], out: 64}
  - {name: c, type: convolution, in: [1, 200, 32], out: 64, stride: [1, 2]}
  - {name: d, type: depthwise_convolution, in: [1, 200, 64], kernel: [1, 5], dilation: [1, 2], pad: same}
  - {name: e, type: convolution, in: [1, 200, 64], out: 64, kernel: [1, 200], groups: 4, bias: false, batch_norm: true}
  - {name: f, type: transposed_convolution, in: [1, 100, 64], out: 32, kernel: [1, 2], stride: [1, 2]}
  - {name: g, type: transposed_convolution, in: [1, 100, 64], out: 32, kernel: [1, 4], stride: [1, 2], pad: same,
     bias: false}
  - {name: h, type: convolution, in: [7, 7, 64], out: 64, kernel: 7}
  - {name: i, type: convolution, in: [1, 1, 64], out: 128}
  - {name: j, type: convolution, in: [2, 2, 64], out: 128, stride: 2}
  - {name: k, type: convolution, in: [2, 25, 64], out: 128, stride: 2}
  - {name: l, type: fully_connected, rows: 200, reduction: 64, columns: 8}
  - {name: m, type: attention, heads: 4, query_length: 200, head_dim: 16}
)");
  EXPECT_EQ(network.definition_hash(), "d02afd955a6a85193e63feb088691b20f2b82e7083231560fd176bfba8de1bf6");
  EXPECT_EQ(network.with_batch(8).definition_hash(),
            "21379fb4d7084b03f41f0b2d0309fe54c59ba94926d9fd4dfc75b288b1cda8c5");
}

TEST(DefinitionHash, OfShippedAndSyntheticNetworksIsWhatItWas) {
  for (const Network& network : load_networks("zoo,synthetic:300")) {
    for (const std::int64_t batch : {std::int64_t{1}, network.batch(), std::int64_t{8}}) {
      EXPECT_EQ(network.with_batch(batch).canonical_definition().find(kOfSequence), std::string::npos)
          << network.name() << " at batch " << batch;
    }
  }
}

/// A log that knows it by its path could not be looked up elsewhere.
TEST(LoadNetwork, AFileAtABatchKeepsTheNetworksName) {
  const hindsight::test::TemporaryFolder folder;
  const std::string file =
      folder.write("other.yaml", "name: net\nlayers:\n  - {name: a, type: fully_connected, reduction: 8, columns: 4}\n")
          .string();
  const Network network = load_network(file + "@8");
  EXPECT_EQ(network.name(), "net@8");
  EXPECT_EQ(network.batch(), 8);
  EXPECT_EQ(load_network("unet@8").name(), "unet@8");
}

/// What was exported at a batch and runs at another is named by the last one.
TEST(LoadNetwork, AnotherBatchTakesThePlaceOfTheFirst) {
  EXPECT_EQ(load_network("unet@8@1").name(), "unet@1");
  EXPECT_EQ(load_network("unet@8@1").batch(), 1);
  const hindsight::test::TemporaryFolder folder;
  const std::string file = folder.write("eight.yaml", to_yaml(load_network("unet@8"))).string();
  EXPECT_EQ(load_network(file).name(), "unet@8");
  EXPECT_EQ(load_network(file + "@2").name(), "unet@2");
}

TEST(LoadNetwork, OneOfAListOrASetIsWanted) {
  const auto message = [](const std::string& name) -> std::string {
    try {
      (void)load_network(name);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("m4,m5"), "'m4,m5' is 2 networks, and one is wanted. Name one of them, e.g. m4");
  EXPECT_EQ(message("m4@8,m5@8"), "'m4@8,m5@8' is 2 networks, and one is wanted. Name one of them, e.g. m4@8");
  for (const char* name : {"prime9", "prime9@8"}) {
    EXPECT_EQ(message(name), "'prime9' is 9 networks, and one is wanted. Name one of them, e.g. mobilenet_edgetpu");
  }
  EXPECT_THAT(message("datacenter"), HasSubstr("'datacenter' is 12 networks"));
  EXPECT_THAT(message("all"), HasSubstr("one is wanted"));
}

TEST(LoadNetwork, UnknownNameSuggestsTheNearestShippedOne) {
  try {
    (void)load_network("mobilenet_v22");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("mobilenet_v2"));
  }
}

TEST(LoadNetworks, ResolvesListsAliasesAndDropsRepeats) {
  EXPECT_EQ(load_networks("resnet50, bert_base").size(), 2U);
  const std::vector<Network> nine = load_networks("prime9,m4");
  ASSERT_EQ(nine.size(), 9U);
  EXPECT_EQ(nine[0].name(), "mobilenet_edgetpu");
  EXPECT_EQ(nine[8].name(), "t_rnn_enc");
  EXPECT_GE(load_networks("all").size(), 15U);
  EXPECT_THROW((void)load_networks("m4,,m5"), Error);
  EXPECT_THROW((void)load_networks(""), Error);
}

/// A comma may be part of a name: what is a file, or what a log or model knows, is not cut.
TEST(LoadNetworks, AFileWithACommaIsOne) {
  const hindsight::test::TemporaryFolder folder;
  const std::string layer = "layers:\n  - {name: a, type: fully_connected, reduction: 1, columns: 1}\n";
  const std::string file = folder.write("a,b.yaml", "name: \"kws, v2\"\n" + layer).string();
  EXPECT_EQ(load_network(file).name(), "kws, v2");
  EXPECT_EQ(load_network(file + "@8").name(), "kws, v2@8");
  const std::vector<Network> three = load_networks("m4, " + file + "@2," + file);
  ASSERT_EQ(three.size(), 3U);
  EXPECT_EQ(three[1].name(), "kws, v2@2");
  EXPECT_EQ(three[2].name(), "kws, v2");
  EXPECT_THAT(names_in_list("m4,kws, v2,m5", {"kws, v2"}), ElementsAre("m4", "kws, v2", "m5"));
  EXPECT_THAT(names_in_list("m4,kws, v2,m5"), ElementsAre("m4", "kws", "v2", "m5"));
}

TEST(LoadNetworks, AnEmptyNameIsAnExtraComma) {
  for (const char* list : {"m4,", ",m4", "m4,,m5"}) {
    try {
      (void)pieces_of_list(list);
      ADD_FAILURE() << list;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "empty name in workload list '" + std::string(list) + "'. Remove the extra comma?");
    }
  }
}

/// What a file may say at most is another bound.
TEST(LoadNetwork, BatchesHaveOneBound) {
  EXPECT_EQ(kLargestBatch, 1'048'576);
  EXPECT_EQ(load_network("m4@1000001").batch(), 1'000'001);
}

TEST(LoadNetworks, TwoFilesOfOneNameAreRefused) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "hindsight_second_m4.yaml";
  std::ofstream(file) << "name: m4\nlayers:\n  - {name: a, type: fully_connected, reduction: 1, columns: 1}\n";
  try {
    (void)load_networks("m4," + file.string());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("both define a network named 'm4'"));
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace hindsight::workload

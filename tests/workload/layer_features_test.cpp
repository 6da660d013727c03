/// Unit: what a surrogate sees of layers.
#include "hindsight/workload/layer_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "hindsight/core/files.h"
#include "hindsight/workload/network.h"
#include "repository.h"
#include "tolerances.h"

namespace hindsight::workload {
namespace {

double feature(const LayerTable& table, std::size_t row, const std::string& name) {
  const auto& all = layer_features();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return table.features.at(row * all.size() + i);
  }
  ADD_FAILURE() << "no feature " << name;
  return 0;
}

GemmLayer fully_connected(std::int64_t m, std::int64_t n, std::int64_t k) {
  GemmLayer layer;
  layer.m = m;
  layer.n = n;
  layer.k = k;
  layer.macs = static_cast<double>(m * n * k);
  layer.weight_bytes = static_cast<double>(n * k);
  layer.input_bytes = static_cast<double>(m * k);
  layer.output_bytes = static_cast<double>(m * n);
  return layer;
}

/// Of single pixels.
Layer convolution(std::int64_t height, std::int64_t width, std::int64_t in_channels, std::int64_t out_channels) {
  Layer layer;
  layer.name = "convolution";
  layer.type = LayerType::convolution;
  layer.in_height = height;
  layer.in_width = width;
  layer.in_channels = in_channels;
  layer.out_channels = out_channels;
  return layer;
}

TEST(LayerFeatures, AreLogarithmsOfSizesAndKnowWhatRanBefore) {
  GemmLayer first = fully_connected(8, 16, 32);
  first.repeat = 3;
  GemmLayer scores = fully_connected(8, 8, 16);
  scores.weights_are_activations = true;
  const LayerTable table = layer_table({first, scores, fully_connected(1, 4, 8)});
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_THAT(table.repeats, testing::ElementsAre(3, 1, 1));
  EXPECT_EQ(feature(table, 0, "log2_m"), 3);
  EXPECT_EQ(feature(table, 0, "log2_repeat"), std::log2(3));
  EXPECT_EQ(feature(table, 0, "log2_earlier_weight_bytes"), 0);
  EXPECT_EQ(feature(table, 0, "log2_previous_output_bytes"), 0);
  EXPECT_EQ(feature(table, 1, "log2_earlier_weight_bytes"), std::log2(1 + 3 * 16 * 32)) << "repeats counted";
  EXPECT_EQ(feature(table, 1, "log2_previous_output_bytes"), std::log2(1 + 8 * 16));
  EXPECT_EQ(feature(table, 1, "weights_are_activations"), 1);
  EXPECT_EQ(feature(table, 2, "log2_earlier_weight_bytes"), std::log2(1 + 3 * 16 * 32))
      << "operands made at run time are no weights";
  EXPECT_EQ(feature(table, 2, "log2_weight_bytes_so_far"), std::log2(1 + 3 * 16 * 32 + 4 * 8));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(feature(table, i, "log2_all_weight_bytes"), std::log2(1 + 3 * 16 * 32 + 4 * 8)) << "of every layer";
  }
  EXPECT_EQ(feature(table, 2, "one_row"), 1);
  EXPECT_EQ(feature(table, 1, "last"), 0);
  EXPECT_EQ(feature(table, 2, "last"), 1);
}

/// Bytes from their logarithm and back.
constexpr double kBytes = 1e-6;

TEST(LayerFeatures, TheMostHandedOverIsOfTheWholeNetworkWithoutItsOwnInputAndOutput) {
  const auto most = [](const std::vector<GemmLayer>& layers) {
    const LayerTable table = layer_table(layers);
    const double first = feature(table, 0, "log2_most_handed_over_bytes");
    for (std::size_t i = 1; i < table.rows(); ++i) {
      EXPECT_EQ(feature(table, i, "log2_most_handed_over_bytes"), first) << "one for all layers";
    }
    return std::exp2(first) - 1;
  };
  const GemmLayer wide_input = fully_connected(8, 16, 512), middle = fully_connected(8, 64, 16),
                  wide_output = fully_connected(8, 1024, 64);
  EXPECT_NEAR(most({wide_input, middle, wide_output}), 8 * 64, kBytes);
  EXPECT_NEAR(most({wide_input}), 0, kBytes) << "it hands over nothing";
  GemmLayer repeated = wide_input;
  repeated.repeat = 2;
  EXPECT_NEAR(most({repeated, middle, wide_output}), 8 * 512, kBytes) << "to itself";
  repeated = wide_output;
  repeated.repeat = 2;
  EXPECT_NEAR(most({wide_input, middle, repeated}), 8 * 1024, kBytes);
  GemmLayer scores = fully_connected(8, 32, 64);
  scores.weights_are_activations = true;
  scores.repeat = 3;
  EXPECT_NEAR(most({wide_input, middle, scores, wide_output}), 3 * 32 * 64, kBytes);
}

TEST(LayerFeatures, KeysOfEarlierPassesAreHandedOverByNobody) {
  const GemmLayer wide_input = fully_connected(8, 16, 512), wide_output = fully_connected(8, 1024, 64);
  GemmLayer keys = fully_connected(8, 32, 64);
  keys.weights_are_activations = true;
  const auto made = [&] {
    const LayerTable table = layer_table({wide_input, keys, wide_output});
    EXPECT_EQ(feature(table, 1, "from_earlier_passes"), keys.from_earlier_passes ? 1 : 0);
    EXPECT_EQ(feature(table, 0, "from_earlier_passes"), 0);
    EXPECT_NEAR(std::exp2(feature(table, 0, "log2_most_handed_over_bytes")) - 1, 32 * 64, kBytes) << "as it ever was";
    return std::exp2(feature(table, 0, "log2_most_made_bytes")) - 1;
  };
  EXPECT_NEAR(made(), 32 * 64, kBytes);
  keys.from_earlier_passes = true;
  EXPECT_NEAR(made(), 8 * 64, kBytes) << "the inputs of the layers behind";
}

TEST(LayerFeatures, StandInTheDocumentation) {
  const std::string text = read_file(hindsight::test::repository() / "docs" / "workloads.md");
  std::string table = "| feature | meaning |\n|:---|:---|\n";
  for (const LayerFeature& one : layer_features()) {
    table += "| `" + std::string(one.name) + "` | " + std::string(one.description) + " |\n";
  }
  EXPECT_NE(text.find(table), std::string::npos) << table;
  EXPECT_NE(text.find("(`layer_table`), version " + std::to_string(kLayerFeatureVersion) + ";"), std::string::npos);
}

TEST(LayerFeatures, OfOlderVersionsAreTheFirstOnes) {
  EXPECT_EQ(layer_feature_count(kLayerFeatureVersion), layer_features().size());
  EXPECT_EQ(layer_features()[layer_feature_count(1) - 1].name, "last");
  EXPECT_EQ(layer_features()[layer_feature_count(2) - 1].name, "log2_all_weight_bytes");
  EXPECT_EQ(layer_feature_version(21), 1);
  EXPECT_EQ(layer_feature_version(23), 2);
  EXPECT_EQ(layer_features()[layer_feature_count(3) - 1].name, "log2_out_width");
  EXPECT_EQ(layer_feature_version(24), 3);
  EXPECT_EQ(layer_features()[layer_feature_count(4) - 1].name, "log2_row_outputs");
  EXPECT_EQ(layer_feature_version(26), 4);
  EXPECT_EQ(layer_features()[layer_feature_count(5) - 1].name, "log2_most_made_bytes");
  EXPECT_EQ(layer_feature_version(28), 5);
  EXPECT_EQ(layer_features()[layer_feature_count(6) - 1].name, "log2_whole_window");
  EXPECT_EQ(layer_feature_version(32), 6);
  EXPECT_EQ(layer_feature_version(22), std::nullopt);
  EXPECT_EQ(layer_feature_version(20), std::nullopt);
  EXPECT_EQ(layer_feature_version(-1), std::nullopt);
}

TEST(LayerFeatures, ALongRowIsNoSquareMapOfAsManyPixels) {
  Layer layer = convolution(32, 32, 16, 32);
  const LayerTable map = layer_table({lower(layer, 4)});
  layer.in_height = 1;
  layer.in_width = 1024;
  const LayerTable row = layer_table({lower(layer, 4)});
  EXPECT_EQ(feature(map, 0, "log2_out_width"), 5);
  EXPECT_EQ(feature(row, 0, "log2_out_width"), 10);
  for (std::size_t i = 0; i < layer_feature_count(2); ++i) {
    EXPECT_EQ(map.features[i], row.features[i]) << layer_features()[i].name << ": nothing older tells them apart";
  }
}

TEST(LayerFeatures, KnowWhatOneRowOfOutputsReadsAndIs) {
  Layer layer = convolution(20, 33, 16, 64);
  layer.kernel_height = 5;
  layer.kernel_width = 3;
  layer.stride_height = layer.stride_width = 2;
  const LayerTable wide = layer_table({lower(layer, 2)});
  // 16 outputs, two columns apart and three wide: 15 * 2 + 3 = 33 columns of 5 rows of 16 channels.
  EXPECT_NEAR(feature(wide, 0, "log2_row_inputs"), std::log2(5 * 33 * 16), hindsight::test::kRounding);
  EXPECT_EQ(feature(wide, 0, "log2_row_outputs"), std::log2(16 * 64));
  layer.type = LayerType::depthwise_convolution;
  layer.out_channels = layer.groups = 16;
  const LayerTable depthwise = layer_table({lower(layer, 2)});
  EXPECT_NEAR(feature(depthwise, 0, "log2_row_inputs"), std::log2(5 * 33 * 16), hindsight::test::kRounding)
      << "of all channels";
  EXPECT_EQ(feature(depthwise, 0, "log2_row_outputs"), std::log2(16 * 16));
  layer.type = LayerType::convolution;
  layer.out_channels = 64;
  layer.groups = 4;
  const LayerTable grouped = layer_table({lower(layer, 2)});
  EXPECT_NEAR(feature(grouped, 0, "log2_row_inputs"), std::log2(5 * 33 * 4), hindsight::test::kRounding) << "a group's";
  EXPECT_EQ(feature(grouped, 0, "log2_row_outputs"), std::log2(16 * 16));
}

TEST(LayerFeatures, OfRowsWithoutNeighboursAreThoseOfOneOutput) {
  // The rows of a product need no neighbours, nor does a convolution of single pixels over one row; over two rows (or
  // two images) a tile has all of a row.
  const LayerTable product = layer_table({fully_connected(8, 16, 32)});
  EXPECT_EQ(feature(product, 0, "log2_row_inputs"), 5);
  EXPECT_EQ(feature(product, 0, "log2_row_outputs"), 4);
  const Layer layer = convolution(1, 64, 32, 16);
  const LayerTable one_row = layer_table({lower(layer, 1)}), two_rows = layer_table({lower(layer, 2)});
  EXPECT_EQ(feature(one_row, 0, "log2_row_inputs"), 5);
  EXPECT_EQ(feature(one_row, 0, "log2_row_outputs"), 4);
  EXPECT_EQ(feature(two_rows, 0, "log2_row_inputs"), 5 + 6);
  EXPECT_EQ(feature(two_rows, 0, "log2_row_outputs"), 4 + 6);
}

TEST(LayerFeatures, KnowTheLargerOfARowsInputsAndOutputs) {
  Layer layer = convolution(8, 32, 16, 64);
  EXPECT_EQ(feature(layer_table({lower(layer, 1)}), 0, "log2_row"), std::log2(32 * 64)) << "outputs";
  layer.out_channels = 4;
  EXPECT_EQ(feature(layer_table({lower(layer, 1)}), 0, "log2_row"), std::log2(32 * 16)) << "inputs";
  GemmLayer product = fully_connected(8, 16, 32);
  product.out_width = product.m;
  EXPECT_EQ(feature(layer_table({product}), 0, "log2_row"), 0) << "it has no rows";
  Layer sequence = convolution(1, 32, 16, 64);
  sequence.kernel_width = 3;
  EXPECT_EQ(feature(layer_table({lower(sequence, 1)}), 0, "log2_row"), 0) << "cut anywhere";
}

TEST(LayerFeatures, KnowTheWindowOfADepthwiseConvolution) {
  Layer layer = convolution(32, 32, 16, 16);
  layer.kernel_height = layer.kernel_width = 4;
  EXPECT_EQ(feature(layer_table({lower(layer, 1)}), 0, "log2_whole_window"), 0) << "a lane takes part of it";
  layer.type = LayerType::depthwise_convolution;
  layer.groups = 16;
  EXPECT_EQ(feature(layer_table({lower(layer, 1)}), 0, "log2_whole_window"), 4);
}

TEST(LayerFeatures, KnowWhatAChipKeepsThatReadsNothingTwice) {
  // Weights of 512 and of 1,024 bytes; 8 x 32 outputs are handed over.
  const LayerTable table = layer_table({fully_connected(8, 32, 16), fully_connected(8, 32, 32)});
  EXPECT_NEAR(std::exp2(feature(table, 0, "log2_kept_bytes_so_far")) - 1, 512 + 2 * 256, kBytes);
  EXPECT_NEAR(std::exp2(feature(table, 1, "log2_kept_bytes_so_far")) - 1, 1536 + 2 * 256, kBytes);
  for (const std::size_t row : {0U, 1U}) {
    EXPECT_NEAR(std::exp2(feature(table, row, "log2_kept_bytes")) - 1, 1536 + 2 * 256, kBytes);
  }
}

TEST(LayerFeatures, InChannelsAreTheReductionWithoutTheKernel) {
  GemmLayer layer = fully_connected(64, 8, 9 * 32);
  layer.kernel_height = layer.kernel_width = 3;
  EXPECT_NEAR(feature(layer_table({layer}), 0, "log2_in_channels"), 5, hindsight::test::kRounding);
}

TEST(LayerFeatures, NeighboursThatAreAlikeAreOneRow) {
  GemmLayer scores = fully_connected(8, 8, 16);
  scores.weights_are_activations = true;  // without weights, and with outputs like those before
  const LayerTable table = layer_table({scores, scores, scores, fully_connected(1, 4, 8)});
  ASSERT_EQ(table.rows(), 3U) << "the first has nothing before it";
  EXPECT_THAT(table.repeats, testing::ElementsAre(1, 2, 1));
}

TEST(LayerFeatures, OfEveryShippedNetworkAreFiniteAndKeepItsLayers) {
  for (const Network& network : load_networks("all")) {
    const LayerTable table = layer_table(network.gemms());
    double repeats = 0;
    for (const double repeat : table.repeats) repeats += repeat;
    EXPECT_EQ(repeats, static_cast<double>(network.totals().layers)) << network.name();
    EXPECT_EQ(table.features.size(), table.rows() * layer_features().size());
    for (const double value : table.features) {
      EXPECT_TRUE(std::isfinite(value) && value >= 0 && value < 64) << network.name();
    }
  }
  std::set<std::string_view> names;
  for (const LayerFeature& one : layer_features()) names.insert(one.name);
  EXPECT_EQ(names.size(), layer_features().size());
}

}  // namespace
}  // namespace hindsight::workload

/// Do the context features say what their descriptions say, and do they tell the applications apart?
#include "hindsight/workload/context.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "tolerances.h"

namespace hindsight::workload {
namespace {

std::map<std::string, double> features_of(const Network& network) {
  const std::vector<double> values = context_vector(network);
  EXPECT_EQ(values.size(), context_features().size());
  std::map<std::string, double> result;
  for (std::size_t i = 0; i < values.size(); ++i) result.emplace(context_features()[i].name, values[i]);
  return result;
}

/// One layer of every type with round numbers.
Network sample() {
  return parse_network(
      "name: sample\n"
      "extra_parameters: {count: 10, what: norms}\n"
      "layers:\n"
      "  - {name: conv, type: convolution, in: [10, 10, 4], out: 100, kernel: 3, pad: same, bias: false}\n"
      "  - {name: depthwise, type: depthwise_convolution, in: [10, 10, 100], kernel: 3, pad: same, bias: false}\n"
      "  - {name: fc, type: fully_connected, repeat: 2, reduction: 1000, columns: 20, bias: false}\n"
      "  - {name: attention, type: attention, heads: 2, query_length: 10, head_dim: 50}\n",
      "sample.yaml");
}

TEST(Context, ByHand) {
  auto features = features_of(sample());
  EXPECT_EQ(features["convolution_layers"], 1);
  EXPECT_EQ(features["depthwise_layers"], 1);
  EXPECT_EQ(features["fully_connected_layers"], 2);
  EXPECT_EQ(features["matmul_layers"], 2);
  // conv 100 * 36 * 100 = 360000, depthwise 100 * 9 * 100 = 90000, fc 2 * 20000, scores and values 2 * 10 * 10 * 50
  // each.
  EXPECT_EQ(features["macs"], 360000 + 90000 + 40000 + 20000);
  // conv 3600, depthwise 900, fc 2 * 20000.
  EXPECT_EQ(features["weight_bytes"], 44500);
  EXPECT_EQ(features["parameters"], 44510);
  // conv 400 + 10000, depthwise 20000, fc 2 * (1000 + 20),
  // scores 2 * (500 + 500) + 200, values 2 * (100 + 500) + 1000.
  EXPECT_EQ(features["activation_bytes"], 10400 + 20000 + 2040 + 2200 + 2200);
  EXPECT_DOUBLE_EQ(features["intensity_ops_per_byte"], 2.0 * 510000 / (44500 + 36840));
  EXPECT_EQ(features["largest_weight_bytes"], 20000);
  EXPECT_EQ(features["largest_activation_bytes"], 20000);
  EXPECT_EQ(features["max_m"], 100);
  EXPECT_EQ(features["max_n"], 100);
  EXPECT_EQ(features["max_k"], 1000);
  // m: 100 on 450000 MACs, 1 on 40000, 10 on 20000 -> 10^((2 * 450000 + 20000) / 510000).
  EXPECT_LT(test::relative_error(features["mean_m"], std::pow(10.0, 920000.0 / 510000.0)), test::kRounding);
  EXPECT_DOUBLE_EQ(features["depthwise_macs_frac"], 90000.0 / 510000);
  EXPECT_DOUBLE_EQ(features["fully_connected_macs_frac"], 40000.0 / 510000);
  EXPECT_DOUBLE_EQ(features["matmul_macs_frac"], 20000.0 / 510000);
  EXPECT_DOUBLE_EQ(features["large_kernel_macs_frac"], 360000.0 / 510000);
  EXPECT_DOUBLE_EQ(features["weight_heavy_macs_frac"], 40000.0 / 510000);      // fc only
  EXPECT_DOUBLE_EQ(features["short_reduction_macs_frac"], 470000.0 / 510000);  // k: 36, 9, 1000, 50, 10
  EXPECT_DOUBLE_EQ(features["few_columns_macs_frac"], 60000.0 / 510000);       // n: 100, 100, 20, 10, 50
  EXPECT_DOUBLE_EQ(features["single_row_weight_bytes_frac"], 40000.0 / 44500);
}

TEST(Context, ValuesAreFiniteAndSharesLieInTheUnitInterval) {
  for (const Network& network : load_networks("all")) {
    for (const auto& [name, value] : features_of(network)) {
      EXPECT_TRUE(std::isfinite(value) && value >= 0.0) << network.name() << " " << name;
      if (name.ends_with("_frac")) {
        EXPECT_LE(value, 1.0) << network.name() << " " << name;
      }
    }
  }
}

TEST(Context, TellsTheApplicationsOfPrimeApart) {
  std::set<std::vector<double>> seen;
  for (const Network& network : load_networks("prime9")) {
    EXPECT_TRUE(seen.insert(context_vector(network)).second) << network.name();
  }
}

TEST(Context, BatchMovesRowsAndActivationsOnly) {
  auto one = features_of(sample());
  auto eight = features_of(sample().with_batch(8));
  EXPECT_EQ(eight["macs"], 8 * one["macs"]);
  EXPECT_EQ(eight["activation_bytes"], 8 * one["activation_bytes"]);
  EXPECT_EQ(eight["weight_bytes"], one["weight_bytes"]);
  EXPECT_EQ(eight["max_m"], 8 * one["max_m"]);
  EXPECT_EQ(eight["single_row_weight_bytes_frac"], 0.0);
  EXPECT_GT(eight["intensity_ops_per_byte"], one["intensity_ops_per_byte"]);
}

TEST(Context, EveryFeatureIsNamedOnceAndDescribed) {
  std::set<std::string_view> names;
  for (const ContextFeature& feature : context_features()) {
    EXPECT_TRUE(names.insert(feature.name).second) << feature.name;
    EXPECT_TRUE(feature.description.ends_with('.')) << feature.name;
  }
}

}  // namespace
}  // namespace hindsight::workload

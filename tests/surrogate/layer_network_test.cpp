/// Unit: networks of kind `layers` are their equations, on every instruction set, for costs of any size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hindsight/core/error.h"
#include "surrogate/codes.h"
#include "surrogate/head_training.h"
#include "surrogate/margin_training.h"
#include "surrogate/small_model.h"

namespace hindsight::surrogate {
namespace {

using testing::ElementsAre;

/// Single precision against double over a few hundred terms of size 1.
constexpr double kNetworkRounding = 5e-5;

/// Three reasons and two labels, of which the first and the last depend on the application.
Architecture layer_architecture(const Codes& codes) {
  Architecture architecture{.level_counts = {4, 3, 2}, .constraint_count = 2, .reason_count = 3, .hidden = {8, 5}};
  set_table_kind(architecture, NetworkKind::layers, codes);
  architecture.layer_features = 3;
  architecture.layered_reasons = {0, 2};
  architecture.layered_constraints = {1};
  return architecture;
}

Weights layer_weights(const Architecture& architecture, const Codes& codes, std::uint64_t seed) {
  Weights weights = test::random_weights(architecture, seed);
  for (std::size_t i = 0; i < codes.tables.size(); ++i) weights["code." + std::to_string(i)] = codes.tables[i];
  return weights;
}

dataset::LayerList three_layers() {
  return {.features = Eigen::MatrixXf{{0.5F, -1, 2}, {1.5F, 0.25F, -0.5F}, {-2, 1, 0.75F}},
          .repeats = Eigen::Vector3f(1, 4, 2)};
}

Eigen::MatrixXd as_matrix(const Tensor& tensor) {
  return Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
             tensor.values.data(), tensor.shape.at(0), tensor.values.size() / static_cast<std::size_t>(tensor.shape[0]))
      .cast<double>();
}

/// The last layer's outputs of a head by the equations of architecture.h, in double precision; `layer`: null for heads
/// of the design alone.
Eigen::VectorXd mlp(const Weights& weights, const std::string& name, const Eigen::VectorXd& s,
                    const Eigen::VectorXd* layer) {
  Eigen::VectorXd x = s;
  for (int j = 0; j < 3; ++j) {
    Eigen::VectorXd y = as_matrix(weights.at(name + "." + std::to_string(j) + ".weight")) * x +
                        as_matrix(weights.at(name + "." + std::to_string(j) + ".bias"));
    if (j == 0 && layer != nullptr) y += as_matrix(weights.at(name + ".layer.weight")) * *layer;
    if (j < 2) y = y.unaryExpr([](double value) { return value < 0 ? 0.1 * value : value; });
    x = y;
  }
  if (layer == nullptr) return x;
  return x + as_matrix(weights.at(name + ".skip.weight")) * s +
         as_matrix(weights.at(name + ".layer_skip.weight")) * *layer;
}

Eigen::VectorXd sum(const Weights& weights, const std::string& name, const Eigen::VectorXd& s,
                    const dataset::LayerList& layers) {
  Eigen::VectorXd total = Eigen::VectorXd::Zero(weights.at(name + ".factor").shape.at(0));
  for (Eigen::Index l = 0; l < layers.repeats.size(); ++l) {
    const Eigen::VectorXd layer = layers.features.row(l).cast<double>().transpose();
    total += double{layers.repeats[l]} * mlp(weights, name, s, &layer).array().exp().matrix();
  }
  return as_matrix(weights.at(name + ".factor")).cwiseProduct(total.array().log().matrix());
}

TEST(LayerNetwork, EqualsItsEquationsOnEveryInstructionSet) {
  const Codes codes = make_codes(test::small_space(), true, true);
  const Architecture architecture = layer_architecture(codes);
  const Weights weights = layer_weights(architecture, codes, 3);
  const Network network(architecture, weights);
  const LevelMatrix levels = test::random_levels(architecture.level_counts, 101, 5);  // more than two blocks
  const dataset::LayerList layers = three_layers();
  const auto prepared = network.prepare(layers);
  const auto inputs = inputs_of(codes, levels);
  for (const Instructions instructions : supported_instructions()) {
    const Prediction prediction = network.predict(levels, Heads{}, *prepared, instructions);
    for (Eigen::Index row = 0; row < levels.rows(); ++row) {
      const Eigen::VectorXd s = inputs.row(row).cast<double>().transpose();
      EXPECT_NEAR(prediction.objective[row], sum(weights, "objective", s, layers)[0], kNetworkRounding)
          << to_string(instructions);
      EXPECT_NEAR(prediction.constraints(row, 0), mlp(weights, "constraint", s, nullptr)[0], kNetworkRounding);
      EXPECT_NEAR(prediction.constraints(row, 1), sum(weights, "constraint_layers", s, layers)[0], kNetworkRounding);
      const Eigen::VectorXd layered = sum(weights, "feasible_layers", s, layers);
      const double own = mlp(weights, "feasible", s, nullptr)[0];
      double p = 1;
      for (const double logit : {layered[0], own, layered[1]}) p /= 1 + std::exp(-logit);
      EXPECT_NEAR(prediction.feasible_logit[row], std::log(p / (1 - p)), 10 * kNetworkRounding);
    }
  }
}

TEST(LayerNetwork, CostsOfAnySizeAddUp) {
  const Codes codes = make_codes(test::small_space(), true, true);
  const Architecture architecture = layer_architecture(codes);
  Weights weights = layer_weights(architecture, codes, 4);
  weights.at("objective.2.bias").values = {0};
  weights.at("objective.factor").values = {1};
  for (float& weight : weights.at("objective.layer_skip.weight").values) weight *= 100;  // e^300 is no float
  const Network network(architecture, weights);
  const LevelMatrix levels = test::random_levels(architecture.level_counts, 5, 6);
  dataset::LayerList once = three_layers(), twice = once;
  twice.repeats *= 2;
  const Prediction a = network.predict(levels, Heads{}, *network.prepare(once));
  const Prediction b = network.predict(levels, Heads{}, *network.prepare(twice));
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    ASSERT_TRUE(std::isfinite(a.objective[i]));
    EXPECT_NEAR(b.objective[i] - a.objective[i], std::log(2), kNetworkRounding * std::abs(a.objective[i]));
  }
}

TEST(LayerNetwork, RefusesHeadsThatItCannotHave) {
  const Codes codes = make_codes(test::small_space(), true, true);
  const auto refused = [&](auto change) {
    Architecture architecture = layer_architecture(codes);
    change(architecture);
    EXPECT_THROW(static_cast<void>(weight_shapes(architecture)), Error);
  };
  refused([](Architecture& a) { a.layered_reasons = {2, 0}; });
  refused([](Architecture& a) { a.layered_reasons = {3}; });
  refused([](Architecture& a) { a.layered_constraints = {2}; });
  refused([](Architecture& a) { a.layer_features = 0; });
  refused([](Architecture& a) { a.context_size = 2; });
  refused([](Architecture& a) { a.kind = NetworkKind::margins; });
}

TEST(StandardLayers, HaveMeanZeroAndDeviationOneAndRememberBoth) {
  const StandardLayers layers = standard_layers({three_layers(), three_layers()});
  EXPECT_THAT(layers.layers.first, ElementsAre(0, 3, 6));
  const Eigen::Map<const InputMatrix> rows(layers.layers.rows.data(), 6, 3);
  for (Eigen::Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(rows.col(j).mean(), 0, kNetworkRounding);
    EXPECT_NEAR(rows.col(j).squaredNorm() / 6, 1, kNetworkRounding);
    EXPECT_NEAR(rows(1, j) * layers.deviation[j] + layers.mean[j], three_layers().features(1, j), kNetworkRounding);
  }
  EXPECT_FLOAT_EQ(layers.layers.log_repeats[1], std::log(4.0F));
}

}  // namespace
}  // namespace hindsight::surrogate

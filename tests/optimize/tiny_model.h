/// Surrogates whose predictions are known: additive networks with weights set by hand.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/surrogate/model.h"
#include "optimize/problems.h"

namespace hindsight::optimize {

/// A value per level of every parameter; a prediction is their sum.
using LevelTable = std::function<double(std::size_t parameter, std::size_t level)>;

/// How far a prediction of additive_network may be from its sum, for spaces of six parameters: beside a bias of 256 a
/// float is rounded by at most 2^-16 = 1.5e-5, six times. exp() of it is off by that share of its value.
inline constexpr double kScoreError = 1e-4;

/// objective z = sum of objective(p, level), feasibility logit = sum of logit(p, level), constraint z likewise.
///
/// Every head is an MLP with one hidden unit: a large bias keeps the unit in the linear part of its leaky ReLU, and
/// the last layer takes the bias off again. The trunk is the embeddings themselves (no transformer layer, no context).
inline surrogate::Network additive_network(const space::DesignSpace& space, const LevelTable& objective,
                                           const LevelTable& logit, const LevelTable& constraint) {
  constexpr std::int64_t kWidth = 4;  // of an embedding; the first three features serve the three heads
  constexpr float kBias = 256;
  surrogate::Architecture architecture;
  for (const auto& parameter : space.parameters()) {
    architecture.level_counts.push_back(static_cast<std::int64_t>(parameter.level_count()));
  }
  architecture.constraint_count = 1;
  architecture.d_model = kWidth;
  architecture.transformer_layers = 0;
  architecture.attention_heads = 1;
  architecture.feed_forward = 1;
  architecture.experts = 1;
  architecture.hidden = {1};
  surrogate::Weights weights;
  for (const auto& [name, shape] : surrogate::weight_shapes(architecture)) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    weights[name] = {.shape = shape, .values = std::vector<float>(count, 0.0F)};
  }
  const std::size_t parameters = space.parameters().size();
  for (std::size_t p = 0; p < parameters; ++p) {
    auto& table = weights["embed." + std::to_string(p) + ".weight"].values;
    for (std::size_t level = 0; level < space.parameters()[p].level_count(); ++level) {
      table[level * kWidth] = static_cast<float>(objective(p, level));
      table[level * kWidth + 1] = static_cast<float>(logit(p, level));
      table[level * kWidth + 2] = static_cast<float>(constraint(p, level));
    }
  }
  const std::pair<std::string, std::size_t> heads[] = {{"expert.0", 0}, {"feasible", 1}, {"constraint", 2}};
  for (const auto& [head, feature] : heads) {
    for (std::size_t p = 0; p < parameters; ++p) weights[head + ".0.weight"].values[p * kWidth + feature] = 1;
    weights[head + ".0.bias"].values[0] = kBias;
    weights[head + ".1.weight"].values[0] = 1;
    weights[head + ".1.bias"].values[0] = -kBias;
  }
  return {architecture, weights};
}

inline dataset::Context plain_context(const std::string& name) {
  return {.name = name, .feature_names = {"size"}, .features = Eigen::VectorXd::Ones(1)};
}

/// Applications "one" (mean log objective 0, deviation 1) and "two" (log 10, deviation 0.5); constraint "power_w" with
/// log mean 0 and deviation 1.
inline surrogate::Model make_model(const space::DesignSpace& space, std::vector<surrogate::Network> members) {
  surrogate::Model::Parts parts{.space = space,
                                .objective_text = "latency",
                                .constraint_names = {"power_w"},
                                .reason_names = {"infeasible"},
                                .training_contexts = {plain_context("one"), plain_context("two")},
                                .context_scaler = {},
                                .objective_scaler = {},
                                .constraint_scaler = {},
                                .recipe_text = "",
                                .provenance = {},
                                .metrics = {},
                                .members = std::move(members)};
  parts.context_scaler = {
      .feature_names = {"size"}, .mean = Eigen::VectorXd::Zero(1), .deviation = Eigen::VectorXd::Ones(1)};
  parts.objective_scaler = {.context_names = {"one", "two"},
                            .mean = Eigen::VectorXd{{0.0, std::log(10.0)}},
                            .deviation = Eigen::VectorXd{{1.0, 0.5}},
                            .mean_weights = Eigen::VectorXd::Zero(2),
                            .deviation_weights = Eigen::VectorXd{{0.0, 1.0}}};
  parts.constraint_scaler = {.names = {"power_w"},
                             .mean = Eigen::VectorXd::Zero(1),
                             .deviation = Eigen::VectorXd::Ones(1),
                             .value_scales = {dataset::ValueScale::logarithmic}};
  return surrogate::Model(std::move(parts));
}

}  // namespace hindsight::optimize

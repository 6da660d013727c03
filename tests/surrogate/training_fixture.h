/// A small table whose best designs are known, for tests of training.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hindsight/core/random.h"
#include "hindsight/dataset/dataset.h"
#include "hindsight/surrogate/train.h"

namespace hindsight::test {

/// Four ordinal parameters a, b, c, d of six levels 0..5.
inline space::DesignSpace small_space() {
  std::vector<space::Parameter> parameters;
  for (const char* name : {"a", "b", "c", "d"}) {
    parameters.push_back(
        {.name = name, .unit = "count", .description = "", .values = {1, 2, 3, 4, 5, 6}, .labels = {}});
  }
  return {"small", "", std::move(parameters)};
}

/// log objective = 0.5 a - 0.3 b + 0.1 c + shift per context; feasible when a + d <= 6; one constraint label
/// exp(0.2 a + 0.1 d), logged for every row. `rows` uniform designs per context, seeded.
inline dataset::Dataset small_table(std::size_t contexts, std::size_t rows, std::uint64_t seed = 1) {
  dataset::Dataset data{.space = small_space(),
                        .contexts = {},
                        .objective_text = "latency",
                        .constraint_names = {"area_mm2"},
                        .reason_names = {"too_wide"},
                        .levels = {},
                        .context = {},
                        .feasible = {},
                        .objective = {},
                        .constraints = {},
                        .reasons = {},
                        .evaluation_id = {}};
  const auto n = static_cast<Eigen::Index>(contexts * rows);
  data.levels.resize(n, 4);
  data.objective.resize(n);
  data.constraints.resize(n, 1);
  const RandomStream stream(seed, "small_table");
  for (std::size_t c = 0; c < contexts; ++c) {
    const auto size = static_cast<double>(c + 1);
    data.contexts.push_back({.name = "app_" + std::to_string(c),
                             .feature_names = {"layers", "macs"},
                             .features = Eigen::Vector2d(size * size, 10 + size)});
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < 4; ++j) {
      data.levels(i, j) = static_cast<std::uint16_t>(stream.below(static_cast<std::uint64_t>(4 * i + j), 6));
    }
    const auto context = static_cast<std::int32_t>(static_cast<std::size_t>(i) / rows);
    const double a = data.levels(i, 0), b = data.levels(i, 1), c = data.levels(i, 2), d = data.levels(i, 3);
    const bool feasible = a + d <= 6;
    data.context.push_back(context);
    data.feasible.push_back(feasible);
    data.reasons.push_back(feasible ? 0 : 1);
    data.evaluation_id.push_back(0);
    data.objective[i] =
        feasible ? std::exp(0.5 * a - 0.3 * b + 0.1 * c + context) : std::numeric_limits<double>::quiet_NaN();
    data.constraints(i, 0) = std::exp(0.2 * a + 0.1 * d);
  }
  return data;
}

/// A network and a run small enough for a second.
inline surrogate::Recipe small_recipe() {
  surrogate::Recipe recipe;
  recipe.name = "small";
  recipe.d_model = 8;
  recipe.attention_heads = 2;
  recipe.transformer_layers = 1;
  recipe.feed_forward = 16;
  recipe.experts = 2;
  recipe.hidden = {16};
  recipe.steps = 60;
  recipe.final_steps = 20;
  recipe.evaluate_interval = 20;
  recipe.batch_feasible = 32;
  recipe.batch_infeasible = 32;
  recipe.batch_negatives = 16;
  recipe.mining_interval = 20;
  recipe.mining_population = 16;
  recipe.mining_generations = 3;
  recipe.gradient_steps = 3;
  recipe.learning_rate = 3e-3;
  recipe.push_limit = 1;
  recipe.split.kind = dataset::SplitKind::worst_for_training;
  return recipe;
}

/// Margins, learnt in about a second.
inline surrogate::Recipe margin_recipe() {
  surrogate::Recipe recipe = small_recipe();
  recipe.method = surrogate::Method::margins;
  recipe.hidden = {16, 16};
  recipe.ensemble = 2;
  recipe.steps = 400;
  recipe.final_steps = 100;
  recipe.batch_feasible = 64;
  recipe.batch_infeasible = 64;
  recipe.learning_rate = 0.01;
  recipe.weight_decay = 0.01;
  recipe.split.kind = dataset::SplitKind::random;
  return recipe;
}

}  // namespace hindsight::test

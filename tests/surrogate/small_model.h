/// Networks with random weights and a small model, for the tests of this folder.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/random.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::surrogate::test {

/// Weights in +-sqrt(3 / fan_in): activations keep their size from layer to layer.
inline Weights random_weights(const Architecture& architecture, std::uint64_t seed) {
  Weights weights;
  for (const auto& [name, shape] : weight_shapes(architecture)) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    const RandomStream random(seed, name);
    Tensor tensor{.shape = shape, .values = std::vector<float>(count)};
    const double width = std::sqrt(3.0 / static_cast<double>(shape.back()));
    for (std::size_t i = 0; i < count; ++i) tensor.values[i] = static_cast<float>(width * (2 * random.uniform(i) - 1));
    weights.emplace(name, std::move(tensor));
  }
  return weights;
}

inline Network random_network(const Architecture& architecture, std::uint64_t seed) {
  return {architecture, random_weights(architecture, seed)};
}

inline LevelMatrix random_levels(const std::vector<std::int64_t>& counts, Eigen::Index rows, std::uint64_t seed) {
  LevelMatrix levels(rows, static_cast<Eigen::Index>(counts.size()));
  const RandomStream random(seed, "levels");
  for (Eigen::Index i = 0; i < levels.size(); ++i) {
    const auto count = static_cast<std::uint64_t>(counts[static_cast<std::size_t>(i % levels.cols())]);
    levels.data()[i] = static_cast<std::uint16_t>(random.below(static_cast<std::uint64_t>(i), count));
  }
  return levels;
}

inline space::DesignSpace small_space() {
  return {"small",
          "",
          {{.name = "pes_x",
            .unit = "count",
            .description = "",
            .kind = space::ParameterKind::ordinal,
            .values = {1, 2, 4, 8},
            .labels = {}},
           {.name = "memory_bytes",
            .unit = "bytes",
            .description = "",
            .kind = space::ParameterKind::ordinal,
            .values = {1024, 2048, 4096},
            .labels = {}},
           {.name = "dataflow",
            .unit = "",
            .description = "",
            .kind = space::ParameterKind::categorical,
            .values = {},
            .labels = {"weights", "outputs"}}}};
}

inline Architecture small_architecture() {
  return {.level_counts = {4, 3, 2},
          .context_size = 2,
          .context_bias = 1,
          .constraint_count = 1,
          .reason_count = 2,
          .d_model = 4,
          .transformer_layers = 1,
          .attention_heads = 2,
          .feed_forward = 8,
          .experts = 2,
          .hidden = {8, 8}};
}

inline Eigen::VectorXd vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

inline dataset::Context context(const std::string& name, double macs, double bytes) {
  return {.name = name, .feature_names = {"macs", "weight_bytes"}, .features = vector_of({macs, bytes})};
}

inline Model::Parts small_parts(std::size_t members) {
  Model::Parts parts{
      .space = small_space(),
      .objective_text = "latency_s",
      .constraint_names = {"area_mm2"},
      .reason_names = {"noc_timing", "reticle"},
      .training_contexts = {context("alpha", 1e6, 1e3), context("beta", 1e9, 1e5)},
      .context_scaler = {.feature_names = {"macs", "weight_bytes"},
                         .mean = vector_of({17, 9}),
                         .deviation = vector_of({3, 2})},
      .objective_scaler = {.context_names = {"alpha", "beta"},
                           .mean = vector_of({-6, -2}),
                           .deviation = vector_of({0.5, 0.75}),
                           .mean_weights = vector_of({0.5, 0.25, -4}),
                           .deviation_weights = vector_of({0.125, 0, 0.625})},
      .constraint_scaler = {.names = {"area_mm2"},
                            .mean = vector_of({3}),
                            .deviation = vector_of({0.5}),
                            .value_scales = {dataset::ValueScale::logarithmic}},
      .feasibility_temperature = 1.5,
      .recipe_text = "name: test\nalpha: 0.1\n",
      .provenance = {{"version", "0.1.0"}, {"log_hash", "abc"}, {"command_line", "hindsight train 'a|b'"}},
      .metrics = {.kendall_tau = 0.5,
                  .spearman = 0.625,
                  .top_k_precision = 0.25,
                  .feasibility_auc = 0.875,
                  .calibration_error = 0.0625},
      .members = {}};
  for (std::size_t m = 0; m < members; ++m) parts.members.push_back(random_network(small_architecture(), m + 1));
  return parts;
}

/// The small model of two applications that words alone tell apart, "app=bert" and "app=conv".
inline Model::Parts parts_of_words(std::size_t members) {
  Model::Parts parts = small_parts(members);
  parts.training_contexts.clear();
  for (const char* name : {"app=bert", "app=conv"}) {
    parts.training_contexts.push_back({.name = name, .feature_names = {}, .features = {}});
  }
  parts.context_scaler =
      dataset::fit_context_scaler(parts.training_contexts, dataset::distinguishing_words(parts.training_contexts));
  parts.objective_scaler.context_names = {"app=bert", "app=conv"};
  return parts;
}

}  // namespace hindsight::surrogate::test

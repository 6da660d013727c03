/// Is p_feasible as sure as rows can show, and no surer?
#include "surrogate/temperature.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace hindsight::surrogate {
namespace {

/// The biases of a linear unit of 256 round a logit by 2e-5.
constexpr double kTemperatureError = 1e-3;

/// A network of one parameter whose level i has the logit `logits[i]`.
Network network_of_logits(const std::vector<float>& logits) {
  constexpr float kBias = 256;  // keeps the hidden unit in the linear part of its leaky ReLU
  Architecture architecture;
  architecture.level_counts = {std::ssize(logits)};
  architecture.d_model = 1;
  architecture.transformer_layers = 0;
  architecture.attention_heads = 1;
  architecture.feed_forward = 1;
  architecture.experts = 1;
  architecture.hidden = {1};
  Weights weights;
  for (const auto& [name, shape] : weight_shapes(architecture)) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    weights[name] = {.shape = shape, .values = std::vector<float>(count, 0.0F)};
  }
  weights["embed.0.weight"].values = logits;
  weights["feasible.0.weight"].values = {1};
  weights["feasible.0.bias"].values = {kBias};
  weights["feasible.1.weight"].values = {1};
  weights["feasible.1.bias"].values = {-kBias};
  return {std::move(architecture), std::move(weights)};
}

/// Rows of the levels 0 and 1, so many of them feasible and infeasible.
TrainingRows rows_of(const std::vector<std::vector<std::size_t>>& feasible_infeasible_of_level) {
  TrainingRows rows;
  TrainingRows::OfContext all;
  std::vector<std::uint16_t> levels;
  for (std::size_t level = 0; level < feasible_infeasible_of_level.size(); ++level) {
    for (std::size_t kind = 0; kind < 2; ++kind) {
      for (std::size_t i = 0; i < feasible_infeasible_of_level[level][kind]; ++i) {
        (kind == 0 ? all.feasible : all.infeasible).push_back(levels.size());
        levels.push_back(static_cast<std::uint16_t>(level));
      }
    }
  }
  rows.levels.resize(std::ssize(levels), 1);
  for (std::size_t i = 0; i < levels.size(); ++i) rows.levels(static_cast<Eigen::Index>(i), 0) = levels[i];
  rows.context.assign(levels.size(), 0);
  rows.context_features.resize(1, 0);
  rows.by_context = {std::move(all)};
  return rows;
}

double temperature(const std::vector<float>& logits, const std::vector<std::vector<std::size_t>>& rows) {
  return fit_temperature({network_of_logits(logits)}, rows_of(rows));
}

TEST(Temperature, FewRowsToldApartWithoutAMistakeMakeNoDesignCertain) {
  // 6 feasible rows of logit 20, 7 infeasible ones of -20: the likelihood alone has no end (0.05 is where it stopped).
  // 13 log(1 + exp(-20 / T)) is below 0.02 at T = 3, where what is usual is likeliest.
  const double found = temperature({20, -20}, {{6, 0}, {0, 7}});
  EXPECT_GT(found, 2.8);
  EXPECT_LT(found, 3);
  // Rows near their limit say more: logits of 4 and -4 would hardly be kept apart so well at 3.
  EXPECT_LT(temperature({4, -4}, {{6, 0}, {0, 7}}), 2);
}

TEST(Temperature, ManyRowsSayIt) {
  // One in ten of the surest is wrong: sigmoid(4 / T) = 0.9, T = 4 / ln 9 = 1.8205; the prior's pull is a thousandth.
  EXPECT_NEAR(temperature({4, -4}, {{9000, 1000}, {1000, 9000}}), 1.8205, kTemperatureError);
}

TEST(Temperature, IsOneWhereLabelsAreOfOneKind) {
  EXPECT_EQ(temperature({4, -4}, {{6, 0}, {7, 0}}), 1);
  EXPECT_EQ(temperature({4, -4}, {{0, 0}, {0, 7}}), 1);
}

}  // namespace
}  // namespace hindsight::surrogate

/// Is every loss term its equation, and does LibTorch compute what our own forward pass computes?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/core/random.h"
#include "hindsight/surrogate/learner_library.h"
#include "surrogate/initial_weights.h"
#include "surrogate/learner.h"
#include "tolerances.h"

namespace hindsight::surrogate {
namespace {

using test::kSinglePrecision;
using test::relative_error;

Architecture architecture() {
  return {.level_counts = {3, 5, 2},
          .context_size = 4,
          .context_bias = 1,
          .constraint_count = 2,
          .reason_count = 3,
          .d_model = 8,
          .transformer_layers = 2,
          .attention_heads = 4,
          .feed_forward = 12,
          .experts = 3,
          .hidden = {10, 6}};
}

/// `negatives` + `feasible` + `infeasible` random rows with labels.
Batch random_batch(const Architecture& shape, std::int64_t negatives, std::int64_t feasible, std::int64_t infeasible) {
  const RandomStream stream(3, "batch");
  std::uint64_t next = 0;
  Batch batch;
  batch.negatives = negatives;
  batch.feasible = feasible;
  batch.infeasible = infeasible;
  for (std::int64_t i = 0; i < negatives + feasible + infeasible; ++i) {
    for (const std::int64_t count : shape.level_counts) {
      batch.levels.push_back(static_cast<std::int64_t>(stream.below(next++, static_cast<std::uint64_t>(count))));
    }
    for (std::int64_t j = 0; j < shape.context_size; ++j) {
      batch.context.push_back(static_cast<float>(2 * stream.uniform(next++) - 1));
    }
  }
  for (std::int64_t i = 0; i < feasible; ++i) batch.objective.push_back(static_cast<float>(stream.uniform(next++)));
  for (std::int64_t i = 0; i < feasible + infeasible; ++i) {
    batch.feasibility_weight.push_back(static_cast<float>(0.5 + stream.uniform(next++)));
    for (std::int64_t j = 0; j < shape.reason_count; ++j) {
      const bool known = i < feasible || (i + j) % 3 != 0;
      const float passes = i < feasible || (i + j) % 3 == 1 ? 1 : 0;
      batch.passes.push_back(known ? passes : std::numeric_limits<float>::quiet_NaN());
    }
    for (std::int64_t j = 0; j < shape.constraint_count; ++j) {
      const bool logged = (i + j) % 3 != 0;
      batch.constraints.push_back(logged ? static_cast<float>(stream.uniform(next++))
                                         : std::numeric_limits<float>::quiet_NaN());
    }
  }
  return batch;
}

/// Ordinal parameters with as many levels as the network expects.
space::DesignSpace space_of(const Architecture& shape) {
  std::vector<space::Parameter> parameters;
  for (const std::int64_t count : shape.level_counts) {
    space::Parameter parameter;
    parameter.name = "p" + std::to_string(parameters.size());
    for (std::int64_t level = 0; level < count; ++level) parameter.values.push_back(static_cast<double>(level + 1));
    parameters.push_back(parameter);
  }
  return {"shape", "", std::move(parameters)};
}

LearnerOptions options_for(const Architecture& shape, const LossWeights& loss) {
  return {.architecture = shape,
          .initial = initial_weights(shape, space_of(shape), 5, FeasibilityStart::undecided),
          .loss = loss,
          .seed = 1};
}

constexpr LossWeights kAllTerms{
    .alpha = 0.3, .beta = 0.2, .rank = 0.7, .feasibility = 0.5, .doubt = 0.6, .constraint = 0.4, .push_limit = 0.05};

class LossesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
    batch = random_batch(shape, 5, 7, 6);
    batch.pair_better = {0, 2, 4};
    batch.pair_worse = {1, 3, 6};
    learner = learner_factory().create(options_for(shape, kAllTerms));
    outputs = learner->predict(batch.levels, batch.context);
    terms = learner->losses(batch);
  }
  [[nodiscard]] double f(std::size_t row) const { return outputs.objective[row]; }

  Architecture shape = architecture();
  Batch batch;
  std::unique_ptr<Learner> learner;
  LearnerOutputs outputs;
  LossTerms terms;
};

TEST_F(LossesTest, SquaredErrorIsTheMeanOverFeasibleRows) {
  double sum = 0;
  for (std::size_t i = 0; i < 7; ++i) sum += std::pow(f(5 + i) - batch.objective[i], 2);
  EXPECT_LT(relative_error(terms.squared_error, sum / 7), kSinglePrecision);
}

TEST_F(LossesTest, PushedMeansAreHingedAtTheLimit) {
  double negatives = 0, infeasible = 0;
  for (std::size_t i = 0; i < 5; ++i) negatives += std::min(f(i), kAllTerms.push_limit);
  for (std::size_t i = 0; i < 6; ++i) infeasible += std::min(f(12 + i), kAllTerms.push_limit);
  EXPECT_LT(relative_error(terms.negative_mean, negatives / 5), kSinglePrecision);
  EXPECT_LT(relative_error(terms.infeasible_mean, infeasible / 6), kSinglePrecision);
}

TEST_F(LossesTest, RankLossIsTheLogisticLossOfOrderedPairs) {
  double sum = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto better = static_cast<std::size_t>(batch.pair_better[i]);
    const auto worse = static_cast<std::size_t>(batch.pair_worse[i]);
    sum += std::log(1 + std::exp(-(f(5 + worse) - f(5 + better))));
  }
  EXPECT_LT(relative_error(terms.rank, sum / 3), kSinglePrecision);
}

/// A learner whose only reason is the `reason`-th of `shape`, with the same weights otherwise.
std::unique_ptr<Learner> only_reason(const Architecture& shape, std::int64_t reason) {
  LearnerOptions options = options_for(shape, kAllTerms);
  options.architecture.reason_count = 1;
  Tensor& weight = options.initial.at("feasible.2.weight");
  const auto first = weight.values.begin() + static_cast<std::ptrdiff_t>(reason * weight.shape[1]);
  weight = {.shape = {1, weight.shape[1]}, .values = {first, first + static_cast<std::ptrdiff_t>(weight.shape[1])}};
  Tensor& bias = options.initial.at("feasible.2.bias");
  bias = {.shape = {1}, .values = {bias.values.at(static_cast<std::size_t>(reason))}};
  return learner_factory().create(options);
}

TEST_F(LossesTest, FeasibilityIsAWeightedCrossEntropyOfEveryKnownReason) {
  double sum = 0;
  for (std::int64_t j = 0; j < shape.reason_count; ++j) {
    const LearnerOutputs reason = only_reason(shape, j)->predict(batch.levels, batch.context);
    for (std::size_t i = 0; i < 13; ++i) {
      const float passes = batch.passes[i * 3 + static_cast<std::size_t>(j)];
      const double p = 1 / (1 + std::exp(-double{reason.feasible_logit[5 + i]}));
      if (!std::isnan(passes)) sum -= batch.feasibility_weight[i] * std::log(passes == 1 ? p : 1 - p);
    }
  }
  EXPECT_LT(relative_error(terms.feasibility, sum / 13), kSinglePrecision);
}

TEST_F(LossesTest, ADesignIsFeasibleWhenNoReasonApplies) {
  for (std::size_t row = 0; row < 18; ++row) {
    double p = 1;
    for (std::int64_t j = 0; j < shape.reason_count; ++j) {
      p /= 1 + std::exp(-double{only_reason(shape, j)->predict(batch.levels, batch.context).feasible_logit[row]});
    }
    EXPECT_NEAR(outputs.feasible_logit[row], std::log(p / (1 - p)), kSinglePrecision) << row;
  }
}

TEST_F(LossesTest, DoubtCallsEveryNegativeInfeasible) {
  double sum = 0;
  for (std::size_t i = 0; i < 5; ++i) sum -= std::log(1 - 1 / (1 + std::exp(-double{outputs.feasible_logit[i]})));
  EXPECT_LT(relative_error(terms.doubt, sum / 5), kSinglePrecision);
}

TEST_F(LossesTest, ConstraintsCountOnlyWhereLogged) {
  double sum = 0;
  int logged = 0;
  for (std::size_t i = 0; i < 13 * 2; ++i) {
    if (std::isnan(batch.constraints[i])) continue;
    sum += std::pow(outputs.constraints[10 + i] - batch.constraints[i], 2);
    ++logged;
  }
  EXPECT_LT(relative_error(terms.constraint, sum / logged), kSinglePrecision);
}

TEST_F(LossesTest, TotalIsTheWeightedSumWithPushesSubtracted) {
  const double total = terms.squared_error - 0.3 * terms.negative_mean - 0.2 * terms.infeasible_mean +
                       0.7 * terms.rank + 0.5 * terms.feasibility + 0.6 * terms.doubt + 0.4 * terms.constraint;
  EXPECT_LT(relative_error(terms.total, total), kSinglePrecision);
}

/// Predictions of designs, by our own forward pass, on the weights a learner holds.
Prediction own_prediction(const Learner& learner, const Architecture& shape, const Batch& batch, std::int64_t row) {
  const Network network(shape, learner.weights());
  const auto p = std::ssize(shape.level_counts);
  Eigen::Matrix<std::uint16_t, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> levels(1, p);
  for (std::int64_t j = 0; j < p; ++j) {
    levels(0, j) = static_cast<std::uint16_t>(batch.levels[static_cast<std::size_t>(row * p + j)]);
  }
  const Eigen::VectorXf context =
      Eigen::Map<const Eigen::VectorXf>(batch.context.data() + row * shape.context_size, shape.context_size);
  return network.predict(levels, context);
}

void expect_equal_forward_passes(const Architecture& shape) {
  const auto learner = learner_factory().create(options_for(shape, kAllTerms));
  const Batch batch = random_batch(shape, 0, 20, 0);
  const LearnerOutputs outputs = learner->predict(batch.levels, batch.context);
  for (std::int64_t i = 0; i < 20; ++i) {
    const Prediction own = own_prediction(*learner, shape, batch, i);
    const auto row = static_cast<std::size_t>(i);
    // Values near zero are differences of larger ones: compare with the scale of the outputs, which is 1.
    EXPECT_NEAR(own.objective[0], outputs.objective[row], kSinglePrecision);
    EXPECT_NEAR(own.feasible_logit[0], outputs.feasible_logit[row], kSinglePrecision);
    for (Eigen::Index j = 0; j < shape.constraint_count; ++j) {
      const auto flat = static_cast<std::size_t>(i * shape.constraint_count + j);
      EXPECT_NEAR(own.constraints(0, j), outputs.constraints[flat], kSinglePrecision);
    }
  }
}

/// Tests that train skip themselves without it.
TEST(LearnerLibrary, IsThereWhereLibTorchIsBuiltIn) {
  const std::vector<std::string>& features = build_info().features;
  const bool is_built_in = std::any_of(features.begin(), features.end(),
                                       [](const std::string& feature) { return feature.starts_with("libtorch"); });
  EXPECT_EQ(learner_library().has_value(), is_built_in);
}

TEST(Forward, LibTorchAgreesWithOurOwn) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  expect_equal_forward_passes(architecture());
}

TEST(Forward, LibTorchAgreesWithOurOwnWithoutContextConstraintsAndTransformer) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Architecture shape = architecture();
  shape.context_size = 0;
  shape.constraint_count = 0;
  shape.transformer_layers = 0;
  expect_equal_forward_passes(shape);
}

TEST(Learner, AStepLowersEachTermItIsAskedToLower) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Architecture shape = architecture();
  const auto learner = learner_factory().create(options_for(shape, kAllTerms));
  Batch batch = random_batch(shape, 8, 16, 16);
  batch.pair_better = {0, 1, 2};
  batch.pair_worse = {3, 4, 5};
  const LossTerms before = learner->losses(batch);
  for (int i = 0; i < 30; ++i) static_cast<void>(learner->step(batch, 3e-3));
  EXPECT_LT(learner->losses(batch).total, before.total);
}

TEST(Learner, ObjectiveOfOtherMethodsDoesNotFeelTheHeads) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Architecture shape = architecture();
  LossWeights weights = kAllTerms;
  weights.alpha = weights.beta = weights.doubt = 0;
  weights.heads_shape_trunk = false;
  LossWeights no_heads = weights;
  no_heads.feasibility = no_heads.constraint = 0;
  const Batch batch = random_batch(shape, 0, 16, 16);
  const auto with_heads = learner_factory().create(options_for(shape, weights));
  const auto without = learner_factory().create(options_for(shape, no_heads));
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(with_heads->step(batch, 1e-2));
    static_cast<void>(without->step(batch, 1e-2));
  }
  EXPECT_EQ(with_heads->predict(batch.levels, batch.context).objective,
            without->predict(batch.levels, batch.context).objective);
}

TEST(GradientMining, EveryRowFollowsItsOwnGradient) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Architecture shape = architecture();
  const auto learner = learner_factory().create(options_for(shape, kAllTerms));
  Batch together = random_batch(shape, 4, 0, 0);
  together.gradient_steps = 5;
  together.gradient_rate = 0.1;
  const std::vector<float> mined = learner->mine(together);
  constexpr std::size_t kCodes = 3 + 5 + 2;
  ASSERT_EQ(mined.size(), 4 * kCodes);
  for (std::size_t i = 0; i < 4; ++i) {
    Batch alone = together;
    alone.negatives = 1;
    alone.levels.assign(together.levels.begin() + std::ptrdiff_t(3 * i),
                        together.levels.begin() + std::ptrdiff_t(3 * i + 3));
    alone.context.assign(together.context.begin() + std::ptrdiff_t(4 * i),
                         together.context.begin() + std::ptrdiff_t(4 * i + 4));
    const std::vector<float> own = learner->mine(alone);
    for (std::size_t j = 0; j < kCodes; ++j) EXPECT_NEAR(own[j], mined[i * kCodes + j], kSinglePrecision);
  }
}

TEST(GradientMining, CodesThatDidNotMoveAreTheDesignsThemselves) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Architecture shape = architecture();
  const auto learner = learner_factory().create(options_for(shape, kAllTerms));
  Batch batch = random_batch(shape, 6, 5, 4);
  const LossTerms by_level = learner->losses(batch);
  batch.gradient_steps = 1;
  batch.gradient_rate = 0;
  const LossTerms by_code = learner->losses(batch);
  EXPECT_NEAR(by_code.negative_mean, by_level.negative_mean, kSinglePrecision);
  EXPECT_NEAR(by_code.doubt, by_level.doubt, kSinglePrecision);
  EXPECT_NEAR(by_code.total, by_level.total, kSinglePrecision);
}

TEST(GradientMining, MovesAgainstTheGradientByTheRate) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Architecture shape = architecture();
  const auto learner = learner_factory().create(options_for(shape, kAllTerms));
  Batch batch = random_batch(shape, 1, 0, 0);
  batch.gradient_steps = 1;
  batch.gradient_rate = 1;
  const std::vector<float> full = learner->mine(batch);
  batch.gradient_rate = 0.5;
  const std::vector<float> half = learner->mine(batch);
  std::vector<float> start(10, 0.0F);
  start[static_cast<std::size_t>(batch.levels[0])] = 1;
  start[static_cast<std::size_t>(3 + batch.levels[1])] = 1;
  start[static_cast<std::size_t>(8 + batch.levels[2])] = 1;
  double moved = 0;
  for (std::size_t j = 0; j < 10; ++j) {
    EXPECT_NEAR(full[j] - start[j], 2 * (half[j] - start[j]), kSinglePrecision);
    moved += std::abs(full[j] - start[j]);
  }
  EXPECT_GT(moved, 0);
}

}  // namespace
}  // namespace hindsight::surrogate

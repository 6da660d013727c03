/// Unit: does the fast forward pass compute the equations of architecture.h, wherever a row stands, on every
/// instruction set?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <thread>

#include "hindsight/core/error.h"
#include "hindsight/surrogate/architecture.h"
#include "surrogate/small_model.h"

namespace hindsight::surrogate {
namespace {

using test::random_levels;
using test::random_network;
using test::random_weights;
using ::testing::HasSubstr;
using Numbers = std::vector<double>;

/// Single precision against double: each of about 500 accumulated terms of size 1 rounds by 6e-8; outputs are of
/// size 1.
constexpr double kNetworkRounding = 2e-5;

/// The equations of architecture.h as plain loops in double precision, one design at a time.
class Reference {
 public:
  Reference(Architecture architecture, Weights weights) : a_(std::move(architecture)), weights_(std::move(weights)) {}

  struct Result {
    double objective = 0, feasible_logit = 0;
    Numbers constraints;
  };
  [[nodiscard]] Result predict(const std::vector<std::uint16_t>& levels, const Numbers& context) const {
    const std::size_t p = levels.size(), d = static_cast<std::size_t>(a_.d_model);
    std::vector<Numbers> tokens(p, Numbers(d));
    for (std::size_t t = 0; t < p; ++t) {
      for (std::size_t j = 0; j < d; ++j) {
        tokens[t][j] =
            value("embed." + std::to_string(t) + ".weight", levels[t] * d + j) + value("position", t * d + j);
      }
    }
    for (std::int64_t l = 0; l < a_.transformer_layers; ++l) transform(tokens, "layer." + std::to_string(l) + ".");
    Numbers trunk;
    for (const Numbers& token : tokens) trunk.insert(trunk.end(), token.begin(), token.end());
    Numbers contextual = trunk, gate_input = trunk;
    if (a_.context_size > 0) {
      const bool biased = a_.context_bias == 1;
      const Numbers factors = biased ? linear("context", context) : product("context.weight", context);
      const Numbers gate_factors = biased ? linear("gate_context", context) : product("gate_context.weight", context);
      for (std::size_t i = 0; i < trunk.size(); ++i) contextual[i] = trunk[i] * factors[i];
      for (std::size_t i = 0; i < trunk.size(); ++i) gate_input.push_back(trunk[i] * gate_factors[i]);
    }
    const Numbers gate = softmax(linear("gate.1", leaky(linear("gate.0", gate_input))));
    Result result;
    for (std::size_t e = 0; e < gate.size(); ++e) {
      result.objective += gate[e] * mlp("expert." + std::to_string(e), contextual).at(0);
    }
    double all_pass = 1;
    for (const double logit : mlp("feasible", contextual)) all_pass /= 1 + std::exp(-logit);
    result.feasible_logit = std::log(all_pass / (1 - all_pass));
    if (a_.constraint_count > 0) result.constraints = mlp("constraint", contextual);
    return result;
  }

 private:
  [[nodiscard]] double value(const std::string& name, std::size_t i) const { return weights_.at(name).values.at(i); }
  [[nodiscard]] Numbers product(const std::string& name, const Numbers& x) const {
    Numbers y(static_cast<std::size_t>(weights_.at(name).shape.at(0)));
    for (std::size_t o = 0; o < y.size(); ++o) {
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += value(name, o * x.size() + i) * x[i];
    }
    return y;
  }
  [[nodiscard]] Numbers linear(const std::string& name, const Numbers& x) const {
    Numbers y = product(name + ".weight", x);
    for (std::size_t o = 0; o < y.size(); ++o) y[o] += value(name + ".bias", o);
    return y;
  }
  [[nodiscard]] Numbers mlp(const std::string& name, Numbers x) const {
    for (std::size_t j = 0; j <= a_.hidden.size(); ++j) {
      x = linear(name + "." + std::to_string(j), x);
      if (j < a_.hidden.size()) x = leaky(x);
    }
    return x;
  }
  static Numbers leaky(Numbers x) {
    for (double& each : x) each = each > 0 ? each : 0.1 * each;
    return x;
  }
  static Numbers softmax(Numbers x) {
    const double largest = *std::ranges::max_element(x);
    double sum = 0;
    for (double& each : x) sum += each = std::exp(each - largest);
    for (double& each : x) each /= sum;
    return x;
  }
  [[nodiscard]] Numbers normalised(const std::string& name, const Numbers& x, const Numbers& y) const {
    const auto d = static_cast<double>(x.size());
    Numbers z(x.size());
    double mean = 0, variance = 0;
    for (std::size_t j = 0; j < x.size(); ++j) mean += (z[j] = x[j] + y[j]) / d;
    for (const double each : z) variance += (each - mean) * (each - mean) / d;
    for (std::size_t j = 0; j < x.size(); ++j) {
      z[j] = (z[j] - mean) / std::sqrt(variance + 1e-5) * value(name + ".weight", j) + value(name + ".bias", j);
    }
    return z;
  }
  void transform(std::vector<Numbers>& tokens, const std::string& layer) const {
    const std::size_t p = tokens.size(), d = tokens[0].size(), head = d / static_cast<std::size_t>(a_.attention_heads);
    std::vector<Numbers> query, key, values, mixed(p, Numbers(d));
    for (const Numbers& token : tokens) {
      query.push_back(linear(layer + "attention.query", token));
      key.push_back(linear(layer + "attention.key", token));
      values.push_back(linear(layer + "attention.value", token));
    }
    for (std::size_t t = 0; t < p; ++t) {
      for (std::size_t first = 0; first < d; first += head) {
        Numbers scores(p);
        for (std::size_t s = 0; s < p; ++s) {
          for (std::size_t j = first; j < first + head; ++j) scores[s] += query[t][j] * key[s][j];
          scores[s] /= std::sqrt(static_cast<double>(head));
        }
        const Numbers attention = softmax(scores);
        for (std::size_t s = 0; s < p; ++s) {
          for (std::size_t j = first; j < first + head; ++j) mixed[t][j] += attention[s] * values[s][j];
        }
      }
    }
    for (std::size_t t = 0; t < p; ++t) {
      tokens[t] = normalised(layer + "norm1", tokens[t], linear(layer + "attention.out", mixed[t]));
      Numbers hidden = linear(layer + "feed_forward.0", tokens[t]);
      for (double& each : hidden) each = std::max(each, 0.0);
      tokens[t] = normalised(layer + "norm2", tokens[t], linear(layer + "feed_forward.1", hidden));
    }
  }

  Architecture a_;
  Weights weights_;
};

void expect_equal_to_reference(const Architecture& architecture, std::uint64_t seed, Instructions instructions) {
  const Network network = random_network(architecture, seed);
  const Reference reference(architecture, network.weights());
  const LevelMatrix levels = random_levels(architecture.level_counts, 53, seed);
  const Eigen::VectorXf context = Eigen::VectorXf::LinSpaced(architecture.context_size, -1.5F, 0.75F);
  const Prediction got = network.predict(levels, context, instructions);
  for (Eigen::Index row = 0; row < levels.rows(); ++row) {
    const auto wanted =
        reference.predict({levels.row(row).begin(), levels.row(row).end()}, Numbers(context.begin(), context.end()));
    ASSERT_NEAR(got.objective(row), wanted.objective, kNetworkRounding) << "row " << row << " seed " << seed;
    ASSERT_NEAR(got.feasible_logit(row), wanted.feasible_logit, kNetworkRounding) << "row " << row << " seed " << seed;
    for (std::size_t k = 0; k < wanted.constraints.size(); ++k) {
      ASSERT_NEAR(got.constraints(row, static_cast<Eigen::Index>(k)), wanted.constraints[k], kNetworkRounding);
    }
  }
}

Architecture default_recipe() {
  Architecture architecture;
  architecture.level_counts = {10, 10, 7, 10, 7, 11, 7, 4, 5, 6};
  architecture.context_size = 12;
  architecture.constraint_count = 1;
  architecture.reason_count = 8;
  return architecture;
}

TEST(Network, EqualsTheReferenceForTheDefaultRecipeOnEveryInstructionSet) {
  for (const Instructions instructions : supported_instructions()) {
    SCOPED_TRACE(to_string(instructions));
    expect_equal_to_reference(default_recipe(), 1, instructions);
  }
}

TEST(Network, AHeadThatIsNotAskedChangesNoOther) {
  for (const std::int64_t layers : {0, 1}) {
    Architecture architecture = default_recipe();
    architecture.transformer_layers = layers;
    const Network network = random_network(architecture, 3);
    const LevelMatrix levels = random_levels(architecture.level_counts, 53, 3);
    const Eigen::VectorXf context = Eigen::VectorXf::LinSpaced(architecture.context_size, -1.5F, 0.75F);
    const Prediction all = network.predict(levels, context);
    const auto prepared = network.prepare(context);
    const Prediction objective = network.predict(levels, {.feasibility = false, .constraints = false}, *prepared);
    EXPECT_EQ(objective.objective, all.objective) << "the same bits";
    EXPECT_EQ(objective.feasible_logit.size(), 0);
    EXPECT_EQ(objective.constraints.size(), 0);
    const Prediction limits = network.predict(levels, {.objective = false}, *prepared);
    EXPECT_EQ(limits.objective.size(), 0);
    EXPECT_EQ(limits.feasible_logit, all.feasible_logit);
    EXPECT_EQ(limits.constraints, all.constraints);
  }
}

TEST(Network, EqualsTheReferenceForOddSizes) {
  // No size is a multiple of a register or of the packed outputs.
  for (const Instructions instructions : supported_instructions()) {
    SCOPED_TRACE(to_string(instructions));
    Architecture architecture = default_recipe();
    architecture.level_counts = {3, 1, 5};
    architecture.context_size = 1;
    architecture.constraint_count = 3;
    architecture.reason_count = 17;  // wider than any layer
    architecture.d_model = 6;
    architecture.attention_heads = 3;
    architecture.transformer_layers = 3;
    architecture.feed_forward = 13;
    architecture.experts = 5;
    architecture.hidden = {11, 7, 9};
    expect_equal_to_reference(architecture, 2, instructions);
    architecture.context_bias = 0;
    expect_equal_to_reference(architecture, 2, instructions);
  }
}

TEST(Network, ContextOfZerosLeavesTheDesignVisible) {
  // The average application of a standardised context: without biases its designs would all look the same.
  Architecture architecture = default_recipe();
  const LevelMatrix levels = random_levels(architecture.level_counts, 2, 1);
  const Eigen::VectorXf zeros = Eigen::VectorXf::Zero(architecture.context_size);
  const Prediction biased = random_network(architecture, 1).predict(levels, zeros);
  EXPECT_NE(biased.feasible_logit(0), biased.feasible_logit(1));
  architecture.context_bias = 0;
  const Prediction released = random_network(architecture, 1).predict(levels, zeros);
  EXPECT_EQ(released.feasible_logit(0), released.feasible_logit(1));
}

TEST(Network, EqualsTheReferenceWithoutContextConstraintsTransformerOrChoiceOfExpert) {
  Architecture architecture = default_recipe();
  architecture.reason_count = 1;
  architecture.context_size = 0;
  expect_equal_to_reference(architecture, 3, Instructions::automatic);
  architecture.constraint_count = 0;
  expect_equal_to_reference(architecture, 4, Instructions::automatic);
  architecture.transformer_layers = 0;
  expect_equal_to_reference(architecture, 5, Instructions::automatic);
  architecture.experts = 1;
  architecture.hidden = {32};
  expect_equal_to_reference(architecture, 6, Instructions::automatic);
  architecture.level_counts = {9};
  expect_equal_to_reference(architecture, 7, Instructions::automatic);
}

/// The network without the transformer's help is computable by hand: one token of one feature.
TEST(Network, HandExample) {
  const Architecture architecture{.level_counts = {2},
                                  .context_size = 1,
                                  .context_bias = 0,
                                  .constraint_count = 0,
                                  .d_model = 1,
                                  .transformer_layers = 0,
                                  .attention_heads = 1,
                                  .feed_forward = 1,
                                  .experts = 2,
                                  .hidden = {1}};
  Weights weights;
  for (const auto& [name, shape] : weight_shapes(architecture)) {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    weights[name] = {.shape = shape, .values = std::vector<float>(count, 0.0F)};
  }
  weights["embed.0.weight"].values = {1, 3};
  weights["position"].values = {1};
  weights["context.weight"].values = {2};
  weights["gate_context.weight"].values = {1};
  weights["expert.0.0.weight"].values = {1};
  weights["expert.0.1.weight"].values = {1};
  weights["expert.1.0.weight"].values = {-1};
  weights["expert.1.1.weight"].values = {1};
  weights["feasible.1.bias"].values = {5};
  weights["gate.0.weight"].values = {1, 1};
  weights["gate.1.weight"].values = {0, 0};
  // Level 1, x = 0.5: trunk 3 + 1 = 4, contextual trunk 4 * (2 * 0.5) = 4. Expert 0: 4; expert 1: 0.1 * -4 = -0.4.
  // Equal gates: (4 - 0.4) / 2 = 1.8. Level 0: trunk 2: (2 - 0.2) / 2 = 0.9.
  const Prediction equal =
      Network(architecture, weights).predict(LevelMatrix{{1}, {0}}, Eigen::VectorXf::Constant(1, 0.5F));
  EXPECT_FLOAT_EQ(equal.objective(0), 1.8F);
  EXPECT_FLOAT_EQ(equal.objective(1), 0.9F);
  EXPECT_FLOAT_EQ(equal.feasible_logit(0), 5.0F);
  // gate.1 = (ln 3 / 6, 0): gate input (4, 4 * 0.5) sums to 6, so g = softmax(ln 3, 0) = (3/4, 1/4):
  // 3/4 * 4 - 1/4 * 0.4 = 2.9.
  weights["gate.1.weight"].values = {std::log(3.0F) / 6.0F, 0};
  const Prediction gated = Network(architecture, weights).predict(LevelMatrix{{1}}, Eigen::VectorXf::Constant(1, 0.5F));
  EXPECT_FLOAT_EQ(gated.objective(0), 2.9F);
}

/// logit(prod_j sigmoid(l_j)) by hand, and where a float could overflow.
TEST(Network, ADesignIsFeasibleWhenNoReasonApplies) {
  Architecture architecture = test::small_architecture();
  architecture.context_size = 0;
  architecture.reason_count = 2;
  const auto logit_of = [&](float first, float second) {
    Weights weights = random_weights(architecture, 1);
    std::ranges::fill(weights["feasible.2.weight"].values, 0.0F);
    weights["feasible.2.bias"].values = {first, second};
    return Network(architecture, weights).predict(LevelMatrix{{1, 2, 0}}, {}).feasible_logit(0);
  };
  const float three_quarters = std::log(3.0F);
  EXPECT_FLOAT_EQ(logit_of(three_quarters, three_quarters), std::log(0.5625F / 0.4375F));
  EXPECT_FLOAT_EQ(logit_of(-three_quarters, 100), -three_quarters);  // a reason that never applies changes nothing
  EXPECT_FLOAT_EQ(logit_of(-200, -100), -300);
  EXPECT_GT(logit_of(80, 90), 60);
  EXPECT_TRUE(std::isfinite(logit_of(1000, 1000)));
}

TEST(Network, ARowDoesNotDependOnItsPlaceOrItsCompany) {
  const Network network = random_network(default_recipe(), 8);
  const LevelMatrix levels = random_levels(default_recipe().level_counts, 150, 8);
  const Eigen::VectorXf context = Eigen::VectorXf::LinSpaced(12, -1.0F, 1.0F);
  for (const Instructions instructions : supported_instructions()) {
    const Prediction all = network.predict(levels, context, instructions);
    for (Eigen::Index first : {0, 1, 47, 48, 49, 131}) {
      for (Eigen::Index count : {1, 3, 5, 16, 17}) {
        const Prediction some = network.predict(levels.middleRows(first, count), context, instructions);
        ASSERT_EQ(some.objective, all.objective.segment(first, count)) << to_string(instructions);
        ASSERT_EQ(some.feasible_logit, all.feasible_logit.segment(first, count)) << to_string(instructions);
        ASSERT_EQ(some.constraints, all.constraints.middleRows(first, count)) << to_string(instructions);
      }
    }
  }
}

TEST(Network, TakesRowsOfAWiderMatrixAndNoRows) {
  const Network network = random_network(test::small_architecture(), 9);
  const Eigen::VectorXf context = Eigen::VectorXf::Ones(2);
  const LevelMatrix wide = random_levels({4, 3, 2, 60000}, 20, 9);
  const LevelMatrix narrow = wide.leftCols(3);
  EXPECT_EQ(network.predict(wide.leftCols(3), context).objective, network.predict(narrow, context).objective);
  EXPECT_EQ(network.predict(LevelMatrix(0, 3), context).objective.size(), 0);
}

TEST(Network, ServesSeveralThreadsAndOutlivesItsSource) {
  auto source = std::make_unique<Network>(random_network(default_recipe(), 10));
  const Network copy = *source;
  const LevelMatrix levels = random_levels(default_recipe().level_counts, 96, 10);
  const Eigen::VectorXf context = Eigen::VectorXf::Ones(12);
  const Eigen::VectorXf wanted = source->predict(levels, context).objective;
  source.reset();
  std::vector<Eigen::VectorXf> results(4);
  std::vector<std::jthread> threads;
  for (Eigen::VectorXf& result : results) {
    threads.emplace_back([&] { result = copy.predict(levels, context).objective; });
  }
  threads.clear();
  for (const Eigen::VectorXf& result : results) EXPECT_EQ(result, wanted);
}

TEST(Network, LargeWeightsSaturateInsteadOfFailing) {
  Weights weights = random_weights(test::small_architecture(), 11);
  for (float& value : weights["layer.0.attention.query.weight"].values) value *= 1e4F;
  for (float& value : weights["gate.1.weight"].values) value *= 1e4F;
  const Network network(test::small_architecture(), weights);
  EXPECT_TRUE(network.predict(random_levels({4, 3, 2}, 60, 11), Eigen::VectorXf::Ones(2)).objective.allFinite());
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
    return error.what();
  }
  return "accepted";
}

TEST(Network, RefusesWeightsThatAreMissingMisshapenSuperfluousOrNotFinite) {
  const Architecture architecture = test::small_architecture();
  const auto refused = [&](const std::function<void(Weights&)>& damage) {
    Weights weights = random_weights(architecture, 1);
    damage(weights);
    return refusal([&] { static_cast<void>(Network(architecture, weights)); });
  };
  EXPECT_THAT(refused([](Weights& w) { w.erase("position"); }), HasSubstr("'position' is missing"));
  EXPECT_THAT(refused([](Weights& w) { w["gate.1.bias"] = {{3}, {0, 0, 0}}; }), HasSubstr("'gate.1.bias' has shape"));
  EXPECT_THAT(refused([](Weights& w) { w["other"] = {{1}, {0}}; }), HasSubstr("'other' has no place"));
  EXPECT_THAT(refused([](Weights& w) { w["gate.1.bias"].values[1] = std::numeric_limits<float>::infinity(); }),
              HasSubstr("'gate.1.bias' is inf at position 1"));
  EXPECT_THAT(refused([](Weights& w) { w["position"].values[0] = std::numeric_limits<float>::quiet_NaN(); }),
              HasSubstr("nan"));
}

TEST(Network, RefusesSizesNoNetworkHas) {
  const auto refused = [](const std::function<void(Architecture&)>& change) {
    Architecture architecture = test::small_architecture();
    change(architecture);
    return refusal([&] { static_cast<void>(weight_shapes(architecture)); });
  };
  EXPECT_THAT(refused([](Architecture& a) { a.level_counts.clear(); }), HasSubstr("parameters = 0"));
  EXPECT_THAT(refused([](Architecture& a) { a.level_counts[0] = 0; }), HasSubstr("levels of a parameter = 0"));
  EXPECT_THAT(refused([](Architecture& a) { a.attention_heads = 3; }), HasSubstr("heads that divide"));
  EXPECT_THAT(refused([](Architecture& a) { a.hidden.clear(); }), HasSubstr("hidden layers = 0"));
  EXPECT_THAT(refused([](Architecture& a) { a.experts = -1; }), HasSubstr("experts = -1"));
  EXPECT_THAT(refused([](Architecture& a) { a.d_model = std::int64_t{1} << 62; }), HasSubstr("d_model"));
  EXPECT_THAT(refused([](Architecture& a) { a.hidden = {1 << 20, 1 << 20}; }), HasSubstr("weights is refused"));
}

TEST(Network, RefusesLevelsOutsideTheSpaceAsABug) {
  const Network network = random_network(test::small_architecture(), 1);
  EXPECT_THROW(static_cast<void>(network.predict(LevelMatrix{{0, 3, 0}}, Eigen::VectorXf::Ones(2))), ContractViolation);
  EXPECT_THROW(static_cast<void>(network.predict(LevelMatrix{{0, 0}}, Eigen::VectorXf::Ones(2))), ContractViolation);
  EXPECT_THROW(static_cast<void>(network.predict(LevelMatrix{{0, 0, 0}}, Eigen::VectorXf::Ones(3))), ContractViolation);
}

}  // namespace
}  // namespace hindsight::surrogate

/// Unit: networks of kind `margins`: their codes, their forward pass, what they learn from, and that search finds no
/// hole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/random.h"
#include "hindsight/dataset/scaling.h"
#include "hindsight/surrogate/learner_library.h"
#include "hindsight/surrogate/train.h"
#include "surrogate/codes.h"
#include "surrogate/learner.h"
#include "surrogate/margin_training.h"
#include "surrogate/small_model.h"
#include "surrogate/training_fixture.h"
#include "temporary_folder.h"
#include "tolerances.h"

namespace hindsight::surrogate {
namespace {

using hindsight::test::margin_recipe;

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();
/// Single precision against double over a few hundred terms of size 1.
constexpr double kNetworkRounding = 2e-5;

Architecture margin_architecture(const Codes& codes) {
  Architecture architecture{
      .level_counts = {4, 3, 2}, .context_size = 2, .constraint_count = 1, .reason_count = 2, .hidden = {8, 5}};
  set_table_kind(architecture, NetworkKind::margins, codes);
  return architecture;
}

/// Random weights with the codes of the space.
Weights margin_weights(const Architecture& architecture, const Codes& codes, std::uint64_t seed) {
  Weights weights = test::random_weights(architecture, seed);
  for (std::size_t i = 0; i < codes.tables.size(); ++i) weights["code." + std::to_string(i)] = codes.tables[i];
  return weights;
}

/// A head by the equations of architecture.h, in double precision.
std::vector<double> head(const Weights& weights, const std::string& name, std::size_t layers,
                         const Eigen::VectorXd& inputs, const Eigen::VectorXd& context) {
  std::vector<double> x(inputs.begin(), inputs.end());
  for (std::size_t j = 0; j < layers; ++j) {
    const Tensor& weight = weights.at(name + "." + std::to_string(j) + ".weight");
    const Tensor& bias = weights.at(name + "." + std::to_string(j) + ".bias");
    std::vector<double> y(static_cast<std::size_t>(weight.shape.at(0)));
    for (std::size_t o = 0; o < y.size(); ++o) {
      y[o] = bias.values.at(o);
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += double{weight.values.at(o * x.size() + i)} * x[i];
      if (j == 0) {
        const Tensor& image = weights.at(name + ".context.weight");
        for (std::size_t i = 0; i < 2; ++i) y[o] += double{image.values.at(o * 2 + i)} * context[static_cast<int>(i)];
      }
      if (j + 1 < layers && y[o] < 0) y[o] *= 0.1;
    }
    x = std::move(y);
  }
  return x;
}

TEST(MarginCodes, OrdinalLevelsAreStandardisedLogarithmsAndOneNumberPerLevel) {
  const Codes codes = make_codes(test::small_space(), true, true);
  EXPECT_THAT(codes.sizes, testing::ElementsAre(1 + 4, 1 + 3, 2));
  EXPECT_THAT(codes.paired, testing::ElementsAre(0, 1)) << "names have no order";
  // 1, 2, 4, 8: logarithms 0, 1, 2, 3 with mean 1.5 and variance 1.25.
  const double step = 1 / std::sqrt(1.25);
  const std::vector<float>& pes = codes.tables[0].values;
  for (std::size_t level = 0; level < 4; ++level) {
    EXPECT_NEAR(pes[level * 5], (static_cast<double>(level) - 1.5) * step, hindsight::test::kSinglePrecision);
    for (std::size_t other = 0; other < 4; ++other) EXPECT_EQ(pes[level * 5 + 1 + other], level == other ? 1 : 0);
  }
  EXPECT_THAT(codes.tables[2].values, testing::ElementsAre(1, 0, 0, 1));
}

TEST(MarginCodes, InputsEndInSumsAndDifferencesOfTheFirstCodes) {
  const Codes codes = make_codes(test::small_space(), true, false);
  EXPECT_THAT(codes.sizes, testing::ElementsAre(1, 1, 2));
  LevelMatrix design(1, 3);
  design << 3, 0, 1;
  const auto inputs = inputs_of(codes, design);
  const float a = codes.tables[0].values[3], b = codes.tables[1].values[0];
  ASSERT_EQ(inputs.cols(), 4 + 2);
  EXPECT_EQ(inputs(0, 0), a);
  EXPECT_EQ(inputs(0, 1), b);
  EXPECT_NEAR(inputs(0, 4), (a + b) / std::numbers::sqrt2_v<float>, hindsight::test::kSinglePrecision);
  EXPECT_NEAR(inputs(0, 5), (b - a) / std::numbers::sqrt2_v<float>, hindsight::test::kSinglePrecision);
}

TEST(MarginCodes, SpacesOfManyParametersHaveNoPairs) {
  std::vector<space::Parameter> parameters;
  for (std::size_t i = 0; i <= kMostPaired; ++i) {
    parameters.push_back(
        {.name = "p" + std::to_string(i), .unit = "count", .description = "", .values = {1, 2}, .labels = {}});
  }
  EXPECT_TRUE(make_codes(space::DesignSpace("many", "", parameters), true, true).paired.empty());
}

TEST(MarginNetwork, EqualsItsEquationsOnEveryInstructionSet) {
  const Codes codes = make_codes(test::small_space(), true, true);
  const Architecture architecture = margin_architecture(codes);
  const Weights weights = margin_weights(architecture, codes, 3);
  const Network network(architecture, weights);
  const LevelMatrix levels = test::random_levels(architecture.level_counts, 101, 5);  // more than two blocks
  const Eigen::Vector2f context(0.7F, -1.3F);
  const auto inputs = inputs_of(codes, levels);
  for (const Instructions instructions : supported_instructions()) {
    const Prediction prediction = network.predict(levels, context, instructions);
    for (Eigen::Index row = 0; row < levels.rows(); ++row) {
      const Eigen::VectorXd input = inputs.row(row).cast<double>().transpose();
      const auto of = [&](const char* name) { return head(weights, name, 3, input, context.cast<double>()); };
      EXPECT_NEAR(prediction.objective[row], of("objective").at(0), kNetworkRounding) << to_string(instructions);
      EXPECT_NEAR(prediction.constraints(row, 0), of("constraint").at(0), kNetworkRounding);
      double p = 1;
      for (const double logit : of("feasible")) p /= 1 + std::exp(-logit);
      EXPECT_NEAR(prediction.feasible_logit[row], std::log(p / (1 - p)), 10 * kNetworkRounding);
    }
  }
}

TEST(MarginNetwork, ARowDoesNotDependOnItsPlace) {
  const Codes codes = make_codes(test::small_space(), true, true);
  const Architecture architecture = margin_architecture(codes);
  const Network network(architecture, margin_weights(architecture, codes, 4));
  const LevelMatrix levels = test::random_levels(architecture.level_counts, 70, 6);
  const Eigen::Vector2f context(0.1F, 0.2F);
  const Prediction together = network.predict(levels, context);
  for (Eigen::Index row = 0; row < levels.rows(); ++row) {
    const Prediction alone = network.predict(levels.middleRows(row, 1), context);
    EXPECT_EQ(alone.objective[0], together.objective[row]);
    EXPECT_EQ(alone.feasible_logit[0], together.feasible_logit[row]);
  }
}

TEST(MarginNetwork, RefusesPairsThatTheSpaceDoesNotHave) {
  Architecture architecture = margin_architecture(make_codes(test::small_space(), true, true));
  architecture.paired = {0, 3};
  EXPECT_THROW(static_cast<void>(weight_shapes(architecture)), Error);
  architecture.paired = {};
  architecture.code_sizes.pop_back();
  EXPECT_THROW(static_cast<void>(weight_shapes(architecture)), Error);
}

/// Rows that say all there is to say about two reasons.
TrainingRows said_rows() {
  TrainingRows rows;
  rows.passes.resize(5, 2);
  rows.passes << 1, 1, 0, 1, 0, 0, kUnknown, 0, 0, kUnknown;
  rows.margins.resize(5, 2);
  rows.margins << kUnknown, kUnknown, 3, kUnknown, 4, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown;
  return rows;
}

TEST(MarginTargets, MissesAreInUnitsOfTheirRootMeanSquare) {
  const TrainingRows rows = said_rows();
  const Eigen::VectorXf units = margin_units(rows);
  EXPECT_FLOAT_EQ(units[0], std::sqrt((9.0F + 16) / 2));
  EXPECT_EQ(units[1], 1);
  const auto targets = margin_targets(rows, {.names = {"a", "b"}, .lists_all = true, .silences = {0, 0}}, units);
  EXPECT_EQ(targets(0, 0), 0) << "kept";
  EXPECT_FLOAT_EQ(targets(1, 0), 3 / units[0]);
  EXPECT_EQ(targets(1, 1), 0);
  EXPECT_EQ(targets(2, 1), kInfinite) << "missed, nobody wrote by how much";
  EXPECT_TRUE(std::isnan(targets(3, 0)));
  EXPECT_EQ(targets(4, 0), kInfinite);
}

TEST(MarginTargets, AReasonOfAnEarlierStageLeavesLaterOnesUnknown) {
  const auto targets = margin_targets(said_rows(), {.names = {"a", "b"}, .lists_all = true, .silences = {2, 0}},
                                      Eigen::VectorXf::Ones(2));
  EXPECT_EQ(targets(0, 1), 0);
  EXPECT_TRUE(std::isnan(targets(1, 1))) << "the chip could not be built: nobody asked whether programs fit";
  EXPECT_EQ(targets(2, 1), kInfinite) << "what was listed all the same is known";
}

/// Two stages: `wide` when a > 3; `narrow` only looked at otherwise, when b < 2.
dataset::Dataset staged_table(std::size_t rows) {
  dataset::Dataset data = hindsight::test::small_table(1, rows);
  data.reason_names = {"narrow", "wide", "deep"};
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const bool wide = data.levels(row, 0) > 3, narrow = data.levels(row, 1)<2, deep = data.levels(row, 3)> 4;
    data.reasons[i] = (wide ? 2U : (narrow ? 1U : 0U)) | (deep ? 4U : 0U);
    data.feasible[i] = data.reasons[i] == 0;
    data.objective[row] = data.feasible[i] ? 1.0 + static_cast<double>(data.levels(row, 2)) : kUnknown;
  }
  return data;
}

TEST(ReasonHeads, ReasonsThatAreNeverListedTogetherSilenceEachOther) {
  const ReasonHeads heads = reason_heads(staged_table(2000));
  ASSERT_THAT(heads.names, testing::ElementsAre("narrow", "wide", "deep"));
  EXPECT_THAT(heads.silences, testing::ElementsAre(2, 1, 0));
  const ReasonHeads few = reason_heads(staged_table(40));
  EXPECT_THAT(few.silences, testing::Each(0)) << "so few rows could miss each other by chance";
}

/// One learner of one member with weights 0 and this bias.
double loss_of(EnsembleLoss loss, float bias, std::vector<float> targets) {
  const std::vector<float> ones(targets.size(), 1.0F);
  const EnsembleOptions options{
      .initial = {.layers = {{.members = 1, .out = 1, .in = 1, .weight = {0}, .bias = {bias}}}},
      .loss = loss,
      .inputs = 1,
      .outputs = 1,
      .rows = ones,
      .targets = targets};
  EnsembleGroup group;
  for (std::size_t i = 0; i < targets.size(); ++i) group.designs.push_back(static_cast<std::int64_t>(i));
  group.targets = group.designs;
  return learner_factory().create_ensemble(options)->step({group}, 0);
}

TEST(EnsembleLoss, EqualsTheEquations) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  constexpr double kLossRounding = 1e-6;
  EXPECT_NEAR(loss_of(EnsembleLoss::huber, 0.5F, {0, 3, kUnknown}), (0.125 + (2.5 - 0.5)) / 2, kLossRounding);
  const double s = std::exp(-1.0), m = 0.25;  // the scale starts at e^-1
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const double kept = softplus(m / s), missed = softplus(-m / s), z = (2 - m) / s;
  const double measured = std::log(s) + z + 2 * softplus(-z);
  EXPECT_NEAR(loss_of(EnsembleLoss::margins, 0.25F, {0}), kept, kLossRounding);
  EXPECT_NEAR(loss_of(EnsembleLoss::margins, 0.25F, {kInfinite}), missed, kLossRounding);
  EXPECT_NEAR(loss_of(EnsembleLoss::margins, 0.25F, {2}), measured, kLossRounding);
  EXPECT_NEAR(loss_of(EnsembleLoss::margins, 0.25F, {0, 2, kUnknown}), (kept + measured) / 3, kLossRounding)
      << "a row of which nothing is known adds nothing";
}

TrainOptions with_threads(unsigned threads) {
  return {.threads = threads, .checkpoint = std::nullopt, .resume = false, .progress = {}};
}

/// The small table with the limit a product of values, (a + 1)(d + 1) <= 12, and the misses logged.
dataset::Dataset product_table(std::size_t rows, bool with_margins) {
  dataset::Dataset data = hindsight::test::small_table(1, rows);
  if (with_margins) data.margins = Eigen::MatrixXf::Constant(static_cast<Eigen::Index>(rows), 1, kUnknown);
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const double product = (1.0 + data.levels(row, 0)) * (1.0 + data.levels(row, 3));
    data.feasible[i] = product <= 12;
    data.reasons[i] = product <= 12 ? 0 : 1;
    data.objective[row] = product <= 12 ? std::exp(0.5 * data.levels(row, 1) - 0.2 * data.levels(row, 0)) : kUnknown;
    if (with_margins && product > 12) data.margins(row, 0) = static_cast<float>(std::log(product / 12));
  }
  return data;
}

/// All 1,296 designs of the small space.
LevelMatrix all_designs() {
  LevelMatrix levels(6 * 6 * 6 * 6, 4);
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    for (Eigen::Index j = 0, rest = i; j < 4; ++j, rest /= 6) levels(i, j) = static_cast<std::uint16_t>(rest % 6);
  }
  return levels;
}

TEST(TrainMargins, TheLimitOfAProductIsLearnedEverywhereFromFewRows) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const TrainResult result = train(product_table(400, true), margin_recipe(), with_threads(1));
  const Model& model = result.model;
  const LevelMatrix designs = all_designs();
  const EnsemblePrediction prediction = model.predict(designs, model.parts().training_contexts.front());
  std::size_t holes = 0, missed = 0;
  for (Eigen::Index i = 0; i < designs.rows(); ++i) {
    const double product = (1.0 + designs(i, 0)) * (1.0 + designs(i, 3));
    holes += product > 12 * 1.3 && prediction.p_feasible[i] > 0.5 ? 1 : 0;
    missed += product < 12 / 1.3 && prediction.p_feasible[i] < 0.5 ? 1 : 0;
  }
  EXPECT_EQ(holes, 0) << "designs 30 % beyond the limit that the model would propose";
  EXPECT_LE(missed, designs.rows() / 100);
  EXPECT_GT(model.parts().metrics.kendall_tau, 0.9);
  EXPECT_GT(model.parts().metrics.feasibility_auc, 0.99);
}

/// The product table of which the rows beyond the limit are reason rows, and those within them whole.
dataset::Dataset product_table_by_reasons() {
  dataset::Dataset data = product_table(400, true);
  std::vector<std::size_t> whole;
  dataset::ReasonRows others{.levels = {}, .context = {}, .missed = {}, .kept = {}, .evaluation_id = {}};
  std::vector<Eigen::Index> places;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i]) {
      whole.push_back(i);
      continue;
    }
    places.push_back(static_cast<Eigen::Index>(i));
    others.context.push_back(0);
    others.missed.push_back(1);
    others.kept.push_back(0);
    others.evaluation_id.push_back(data.evaluation_id[i]);
  }
  others.levels = data.levels(places, Eigen::all);
  others.margins = data.margins(places, Eigen::all);
  data.reason_rows = dataset::shared(std::move(others));
  return data.subset(whole);
}

TEST(TrainMargins, ALimitThatReasonRowsAloneMissIsLearned) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = product_table_by_reasons();
  ASSERT_EQ(data.feasible_count(), data.size());
  const TrainResult result = train(data, margin_recipe(), with_threads(1));
  ASSERT_TRUE(result.model.parts().feasibility_learned);
  const LevelMatrix designs = all_designs();
  const EnsemblePrediction prediction = result.model.predict(designs, result.model.parts().training_contexts.front());
  std::size_t holes = 0, missed = 0;
  for (Eigen::Index i = 0; i < designs.rows(); ++i) {
    const double product = (1.0 + designs(i, 0)) * (1.0 + designs(i, 3));
    holes += product > 12 * 1.3 && prediction.p_feasible[i] > 0.5 ? 1 : 0;
    missed += product < 12 / 1.3 && prediction.p_feasible[i] < 0.5 ? 1 : 0;
  }
  EXPECT_EQ(holes, 0);
  EXPECT_LE(missed, designs.rows() / 100);
}

TEST(TrainMargins, MethodsThatDrawWholeRowsLearnAsWithoutReasonRows) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Dataset with = product_table(200, true), without = with;
  with.reason_names.emplace_back("only beside");
  with.margins = Eigen::MatrixXf::Constant(with.margins.rows(), 2, kUnknown);
  with.margins.col(0) = without.margins.col(0);
  dataset::ReasonRows others{.levels = with.levels.topRows(3),
                             .context = {0, 0, 0},
                             .missed = {2, 2, 3},
                             .kept = {1, 0, 0},
                             .evaluation_id = {1, 2, 3},
                             .margins = Eigen::MatrixXf::Constant(3, 2, 0.5F)};
  with.reason_rows = dataset::shared(std::move(others));
  Recipe recipe = hindsight::test::small_recipe();
  const Model a = train(with, recipe, with_threads(1)).model, b = train(without, recipe, with_threads(1)).model;
  EXPECT_EQ(a.parts().reason_names, b.parts().reason_names);
  EXPECT_EQ(a.parts().provenance.at("dataset_sha256"), b.parts().provenance.at("dataset_sha256"));
  const LevelMatrix designs = all_designs();
  const dataset::Context& application = a.parts().training_contexts.front();
  EXPECT_EQ(a.predict(designs, application).p_feasible, b.predict(designs, application).p_feasible);
  recipe = margin_recipe();
  recipe.steps = 20;
  EXPECT_THAT(train(with, recipe, with_threads(1)).model.parts().reason_names, testing::SizeIs(2));
}

TEST(ReasonHeads, ReasonRowsListTogetherWhatWholeRowsDoNot) {
  dataset::Dataset data = staged_table(2000);
  dataset::ReasonRows other{
      .levels = data.levels.topRows(1), .context = {0}, .missed = {0b011}, .kept = {0b100}, .evaluation_id = {1}};
  data.reason_rows = dataset::shared(std::move(other));
  EXPECT_THAT(reason_heads(data).silences, testing::ElementsAre(0, 0, 0));
}

TEST(TrainMargins, MissesAreReadBackFromTheLogits) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const TrainResult result = train(product_table(400, true), margin_recipe(), with_threads(1));
  const Network& network = result.model.parts().members.front();
  const double scale = network.weights().at("feasible.scale").values.front();
  const LevelMatrix designs = all_designs();
  const Prediction prediction = network.predict(designs, Eigen::VectorXf());
  double error = 0, beyond = 0;
  for (Eigen::Index i = 0; i < designs.rows(); ++i) {
    const double miss = std::log((1.0 + designs(i, 0)) * (1.0 + designs(i, 3)) / 12);
    if (miss <= 0) continue;
    error += std::abs(-scale * double{prediction.feasible_logit[i]} - miss);
    ++beyond;
  }
  EXPECT_LT(error / beyond, 0.1) << "how far a limit is missed, on average within 10 %";
}

TEST(TrainMargins, TheFinalStepsGoOnFromTheLearnedScales) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Recipe recipe = margin_recipe();
  const auto scale_after = [&](std::int64_t final_steps) {
    recipe.final_steps = final_steps;
    const TrainResult result = train(product_table(400, true), recipe, with_threads(1));
    return result.model.parts().members.front().weights().at("feasible.scale").values.front();
  };
  // One step of AdamW at 0.3 of the rate moves a logarithm by at most about the rate; a new start is e times away.
  EXPECT_NEAR(std::log(scale_after(1)), std::log(scale_after(0)), recipe.learning_rate);
}

TEST(TrainMargins, ResumingIsRefusedBecauseNothingIsKept) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  TrainOptions options = with_threads(1);
  options.resume = true;
  try {
    static_cast<void>(train(product_table(100, true), margin_recipe(), options));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), testing::HasSubstr("Leave --resume out"));
  }
}

TEST(TrainMargins, FlagsAloneTeachFeasibilityToo) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const TrainResult result = train(product_table(400, false), margin_recipe(), with_threads(1));
  EXPECT_GT(result.model.parts().metrics.feasibility_auc, 0.98);
}

TEST(TrainMargins, TheSameWhateverTheThreads) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = product_table(200, true);
  const TrainResult one = train(data, margin_recipe(), with_threads(1));
  const TrainResult two = train(data, margin_recipe(), with_threads(2));
  ASSERT_EQ(one.model.parts().members.size(), 2U);
  for (std::size_t m = 0; m < 2; ++m) {
    for (const auto& [name, tensor] : one.model.parts().members[m].weights()) {
      EXPECT_EQ(tensor.values, two.model.parts().members[m].weights().at(name).values) << name;
    }
  }
}

TEST(TrainMargins, SeveralApplicationsAreTakenApartByTheirContexts) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Recipe recipe = margin_recipe();
  const TrainResult result = train(hindsight::test::small_table(3, 300), recipe, with_threads(2));
  EXPECT_GT(result.model.parts().members.front().architecture().context_size, 0);
  EXPECT_GT(result.model.parts().metrics.kendall_tau, 0.9);
}

TEST(TrainMargins, WithoutInfeasibleRowsOnlyTheObjectiveIsLearned) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Dataset data = hindsight::test::small_table(1, 200);
  std::vector<std::size_t> feasible;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i]) feasible.push_back(i);
  }
  const TrainResult result = train(data.subset(feasible), margin_recipe(), with_threads(1));
  EXPECT_FALSE(result.model.parts().feasibility_learned);
  EXPECT_GT(result.model.parts().metrics.kendall_tau, 0.9);
}

TEST(TrainMargins, AnInterruptedTrainingKeepsNothingAndSaysSo) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  TrainOptions options = with_threads(1);
  options.progress = [](const TrainProgress&) { set_interrupt_requested(true); };
  try {
    static_cast<void>(train(product_table(100, true), margin_recipe(), options));
    ADD_FAILURE() << "not interrupted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
    EXPECT_THAT(error.what(), testing::HasSubstr("keeps nothing"));
  }
  set_interrupt_requested(false);
}

TEST(TrainMargins, AModelIsTheSameAfterItsFile) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const TrainResult result = train(product_table(200, true), margin_recipe(), with_threads(1));
  const hindsight::test::TemporaryFolder folder;
  const auto file = folder.path() / "model.safetensors";
  save_model(result.model, file);
  const Model read = load_model(file);
  const LevelMatrix designs = all_designs();
  const auto& context = result.model.parts().training_contexts.front();
  const EnsemblePrediction before = result.model.predict(designs, context), after = read.predict(designs, context);
  EXPECT_EQ(before.score, after.score);
  EXPECT_EQ(before.p_feasible, after.p_feasible);
  EXPECT_THAT(model_card(read), testing::HasSubstr("2 networks of "));
  EXPECT_THAT(model_card(read), testing::HasSubstr("Nothing makes predictions pessimistic"));
  EXPECT_THAT(model_card(read), testing::HasSubstr(" inputs, feasibility by how far limits are missed)"));
  EXPECT_EQ(read.parts().members.front().architecture(), result.model.parts().members.front().architecture());
}

TEST(TrainMargins, TheEnsembleIsAsSureAsItsMostDoubtfulMember) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const TrainResult result = train(product_table(300, true), margin_recipe(), with_threads(1));
  const Model& model = result.model;
  const LevelMatrix designs = all_designs();
  const EnsemblePrediction prediction = model.predict(designs, model.parts().training_contexts.front());
  const auto p_of = [&](std::size_t m, Eigen::Index i) {
    const double logit =
        model.parts().members[m].predict(designs.middleRows(i, 1), Eigen::VectorXf()).feasible_logit[0];
    return 1 / (1 + std::exp(-logit / model.parts().feasibility_temperature));
  };
  for (Eigen::Index i = 0; i < designs.rows(); i += 7) {
    EXPECT_DOUBLE_EQ(prediction.p_feasible[i], std::min(p_of(0, i), p_of(1, i)));
    EXPECT_EQ(prediction.p_spread[i], 0);
  }
}

}  // namespace
}  // namespace hindsight::surrogate

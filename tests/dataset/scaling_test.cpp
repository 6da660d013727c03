/// Are the scalers' equations right, and fitted on nothing but the training rows?
#include "hindsight/dataset/scaling.h"

#include <gmock/gmock.h>

#include <cmath>

#include "dataset/dataset_fixture.h"
#include "hindsight/dataset/split.h"
#include "tolerances.h"

namespace hindsight::dataset {
namespace {

using hindsight::test::kRounding;
using hindsight::test::relative_error;
using test::error_of;
using test::hand_made;
using test::HandRow;
using test::kNaN;
using ::testing::HasSubstr;

Context context(const std::string& name, const std::vector<double>& features) {
  Context result{.name = name, .feature_names = {}, .features = Eigen::VectorXd(features.size())};
  for (std::size_t i = 0; i < features.size(); ++i) {
    result.feature_names.push_back("f" + std::to_string(i));
    result.features[static_cast<Eigen::Index>(i)] = features[i];
  }
  return result;
}

TEST(ContextScaler, StandardisesTheLogarithms) {
  // log1p(e - 1) = 1 and log1p(e^3 - 1) = 3: mean 2, population deviation 1.
  const double one = std::exp(1.0) - 1.0, three = std::exp(3.0) - 1.0;
  const ContextScaler scaler = fit_context_scaler({context("a", {one, 5.0}), context("b", {three, 5.0})});
  EXPECT_LT(relative_error(scaler.mean[0], 2.0), kRounding);
  EXPECT_LT(relative_error(scaler.deviation[0], 1.0), kRounding);
  EXPECT_EQ(scaler.deviation[1], 0.0);
  EXPECT_LT(relative_error(scaler.apply(context("b", {three, 5.0}))[0], 1.0), kRounding);
  // A feature that never varied says nothing about a new context.
  EXPECT_EQ(scaler.apply(context("c", {one, 500.0}))[1], 0.0);
}

TEST(ContextScaler, NegativeFeaturesKeepTheirSign) {
  const ContextScaler scaler = fit_context_scaler({context("a", {-1.0}), context("b", {1.0})});
  EXPECT_EQ(scaler.mean[0], 0.0);
  EXPECT_LT(relative_error(scaler.apply(context("c", {-1.0}))[0], -1.0), kRounding);
}

TEST(ContextScaler, OneContextMapsToZero) {
  const ContextScaler scaler = fit_context_scaler({context("a", {3.0, 1e9})});
  EXPECT_EQ(scaler.apply(context("z", {7.0, 1.0})), Eigen::Vector2d::Zero());
}

TEST(ContextScaler, NoFeaturesNoScales) {
  const ContextScaler scaler = fit_context_scaler({context("a", {}), context("b", {})});
  EXPECT_EQ(scaler.apply(context("a", {})).size(), 0);
}

/// Two words of three contexts: shares 2/3 and 1/3, deviation sqrt(2)/3, so 1 becomes (1/3) / (sqrt(2)/3) = 1/sqrt(2)
/// and sqrt(2), 0 becomes -sqrt(2) and -1/sqrt(2).
TEST(ContextScaler, WordsFollowTheFeaturesStandardised) {
  std::vector<Context> contexts = {context("app=bert:size=1", {1.0}), context("app=conv:size=1", {1.0}),
                                   context("app=bert:size=2", {2.0})};
  for (Context& one : contexts) one.feature_names = {"size"};
  const std::vector<ContextWord> words = distinguishing_words(contexts);
  ASSERT_EQ(words.size(), 2U);
  const ContextScaler scaler = fit_context_scaler(contexts, words);
  EXPECT_EQ(scaler.size(), 3U);
  const Eigen::VectorXd bert = scaler.apply(contexts[0]), conv = scaler.apply(contexts[1]);
  ASSERT_EQ(bert.size(), 3);
  EXPECT_EQ(bert[0], conv[0]) << "the size is the same";
  EXPECT_LT(relative_error(bert[1], 1 / std::sqrt(2.0)), kRounding);
  EXPECT_LT(relative_error(bert[2], -1 / std::sqrt(2.0)), kRounding);
  EXPECT_LT(relative_error(conv[1], -std::sqrt(2.0)), kRounding);
  EXPECT_LT(relative_error(conv[2], std::sqrt(2.0)), kRounding);
  Context unseen = contexts[0];
  unseen.name = "app=gpt:size=1";
  EXPECT_EQ(scaler.apply(unseen).tail(2), Eigen::Vector2d::Zero()) << "of another word nothing is known";
}

TEST(ContextScaler, ContextsThatNumbersTellApartShareNothingWithTheWordsOfOthers) {
  const std::vector<Context> contexts = {context("left", {1.0}), context("right", {1.0}), context("big", {9.0}),
                                         context("bigger", {99.0})};
  const ContextScaler scaler = fit_context_scaler(contexts, distinguishing_words(contexts));
  ASSERT_EQ(scaler.size(), 3U);
  EXPECT_EQ(scaler.apply(contexts[0]).tail(2), Eigen::Vector2d(1, -1));
  EXPECT_EQ(scaler.apply(contexts[1]).tail(2), Eigen::Vector2d(-1, 1));
  EXPECT_EQ(scaler.apply(contexts[2]).tail(2), Eigen::Vector2d::Zero());
  const ContextScaler plain = fit_context_scaler(contexts);
  EXPECT_EQ(scaler.apply(contexts[3])[0], plain.apply(contexts[3])[0]) << "features are scaled as without words";
}

TEST(ContextScaler, Refusals) {
  const ContextScaler scaler = fit_context_scaler({context("a", {1, 2})});
  const auto [kind, message] = error_of([&] { static_cast<void>(scaler.apply(context("b", {1}))); });
  EXPECT_EQ(kind, ErrorKind::incompatible);
  EXPECT_THAT(message, HasSubstr("context 'b' has 1 features, 2 expected; feature 2 is nothing, 'f1' expected"));
  const auto [mixed_kind, mixed] = error_of([] {
    static_cast<void>(fit_context_scaler({context("a", {1}), context("b", {1, 2})}));
  });
  EXPECT_EQ(mixed_kind, ErrorKind::incompatible);
  const auto [bad_kind, bad] = error_of([] { static_cast<void>(fit_context_scaler({context("a", {kNaN})})); });
  EXPECT_EQ(bad_kind, ErrorKind::usage);
  EXPECT_THAT(bad, HasSubstr("feature f0 is nan"));
}

/// Objectives e^1, e^3 in context 0 (mean 2, deviation 1), e^10, e^14 in context 1 (mean 12, deviation 2).
Dataset two_contexts() {
  return hand_made({{0, std::exp(1.0)}, {0, std::exp(3.0)}, {1, std::exp(10.0)}, {1, std::exp(14.0)}, {1, kNaN}}, 2);
}

TEST(ObjectiveScaler, MeanAndDeviationOfTheLogarithmPerContext) {
  const Dataset data = two_contexts();
  const ContextScaler contexts = fit_context_scaler(data.contexts);
  const ObjectiveScaler scaler = fit_objective_scaler(data, contexts, ValueScale::logarithmic);
  const auto scale = scaler.scale("net_1", contexts.apply(data.contexts[1]));
  EXPECT_LT(relative_error(scale.mean, 12.0), kRounding);
  EXPECT_LT(relative_error(scale.deviation, 2.0), kRounding);
  EXPECT_FALSE(scale.extrapolated);
}

TEST(ObjectiveScaler, RidgeOverTheTrainingContexts) {
  const Dataset data = two_contexts();
  const ContextScaler contexts = fit_context_scaler(data.contexts);
  const ObjectiveScaler scaler = fit_objective_scaler(data, contexts, ValueScale::logarithmic);
  // Scaled features of the two contexts are (-1, -1) and (1, 1), targets 2 and 12. Centred: X'X + I = [[3, 2], [2, 3]],
  // X't = (10, 10), so w = (2, 2), intercept 7.
  EXPECT_LT(relative_error(scaler.mean_weights[0], 2.0), kRounding);
  EXPECT_LT(relative_error(scaler.mean_weights[1], 2.0), kRounding);
  EXPECT_LT(relative_error(scaler.mean_weights[2], 7.0), kRounding);
  const auto between = scaler.scale("new", Eigen::Vector2d(0.5, 0.5));
  EXPECT_TRUE(between.extrapolated);
  EXPECT_LT(relative_error(between.mean, 9.0), kRounding);
  EXPECT_GT(between.deviation, 1.0);
  EXPECT_LT(between.deviation, 2.0);
}

TEST(ObjectiveScaler, GuessesAreBounded) {
  const Dataset data = two_contexts();
  const ObjectiveScaler scaler = fit_objective_scaler(data, fit_context_scaler(data.contexts), ValueScale::logarithmic);
  const auto far = scaler.scale("far", Eigen::Vector2d(1e6, 1e6));
  EXPECT_LT(relative_error(far.mean, 22.0), kRounding);  // 12 + (12 - 2)
  EXPECT_LT(relative_error(far.deviation, 2.0), kRounding);
}

TEST(ObjectiveScaler, WithOneContextAGuessIsItsOwn) {
  const Dataset data = hand_made({{0, std::exp(1.0)}, {0, std::exp(3.0)}});
  const ObjectiveScaler scaler = fit_objective_scaler(data, fit_context_scaler(data.contexts), ValueScale::logarithmic);
  const auto guess = scaler.scale("new", Eigen::Vector2d(4, -2));
  EXPECT_TRUE(guess.extrapolated);
  EXPECT_LT(relative_error(guess.mean, 2.0), kRounding);
  EXPECT_LT(relative_error(guess.deviation, 1.0), kRounding);
}

TEST(ObjectiveScaler, AConstantContextTakesTheUsualDeviation) {
  const Dataset data = hand_made({{0, 5.0}, {0, 5.0}, {1, std::exp(1.0)}, {1, std::exp(3.0)}, {2, kNaN}}, 3);
  const ContextScaler contexts = fit_context_scaler(data.contexts);
  const ObjectiveScaler scaler = fit_objective_scaler(data, contexts, ValueScale::logarithmic);
  EXPECT_EQ(scaler.context_names.size(), 2U);  // net_2 has no feasible row
  EXPECT_LT(relative_error(scaler.deviation[0], 1.0), kRounding);
  EXPECT_TRUE(scaler.scale("net_2", contexts.apply(data.contexts[2])).extrapolated);
  const ObjectiveScaler lone =
      fit_objective_scaler(hand_made({{0, 5.0}}), fit_context_scaler({data.contexts[0]}), ValueScale::logarithmic);
  EXPECT_EQ(lone.deviation[0], 1.0);
}

TEST(ObjectiveScaler, NoFeasibleRowIsRefused) {
  const Dataset data = hand_made({{0, kNaN}});
  const auto [kind, message] = error_of([&] {
    static_cast<void>(fit_objective_scaler(data, fit_context_scaler(data.contexts), ValueScale::logarithmic));
  });
  EXPECT_EQ(kind, ErrorKind::usage);
  EXPECT_THAT(message, HasSubstr("no training row is feasible"));
}

TEST(ConstraintScaler, LogarithmsWhereLogged) {
  Dataset data = hand_made({{0, 1}, {0, kNaN}, {0, 2}, {0, 3}});
  data.constraint_names = {"area_mm2", "never", "constant"};
  data.constraints.resize(4, 3);
  data.constraints << std::exp(1.0), kNaN, 4.0, std::exp(3.0), kNaN, 4.0, kNaN, kNaN, 4.0, kNaN, kNaN, 4.0;
  const ConstraintScaler scaler = fit_constraint_scaler(data, std::vector<ValueScale>(3, ValueScale::logarithmic));
  EXPECT_LT(relative_error(scaler.mean[0], 2.0), kRounding);
  EXPECT_LT(relative_error(scaler.deviation[0], 1.0), kRounding);
  EXPECT_EQ(scaler.mean[1], 0.0);
  EXPECT_EQ(scaler.deviation[1], 1.0);
  EXPECT_LT(relative_error(scaler.mean[2], std::log(4.0)), kRounding);
  EXPECT_EQ(scaler.deviation[2], 1.0);
}

TEST(ValueScale, ThereAndBack) {
  for (const double value : {0.5, 3.0, 1e9}) {
    for (const ValueScale scale : {ValueScale::logarithmic, ValueScale::log1p, ValueScale::linear}) {
      EXPECT_LT(relative_error(unscaled_value(scale, scaled_value(scale, value)), value), 1e-12) << to_string(scale);
      EXPECT_EQ(parse_value_scale(to_string(scale)), scale);
    }
  }
  EXPECT_EQ(scaled_value(ValueScale::log1p, 0), 0);
  EXPECT_EQ(scaled_value(ValueScale::linear, -3), -3);
  EXPECT_EQ(error_of([] { static_cast<void>(parse_value_scale("log")); }).first, ErrorKind::incompatible);
}

ValueScale scale_of_objective(const std::vector<HandRow>& rows) { return value_scales(hand_made(rows)).objective; }

TEST(ValueScale, AnObjectiveIsLogarithmicWhereAllValuesArePositive) {
  EXPECT_EQ(scale_of_objective({{0, 1}, {0, 1.1}, {0, kNaN}}), ValueScale::logarithmic);
  EXPECT_EQ(scale_of_objective({{0, 1}, {0, 0}}), ValueScale::linear);
  EXPECT_EQ(scale_of_objective({{0, -1}, {0, 100}}), ValueScale::linear);
}

ValueScale scale_of_label(const std::vector<double>& values) {
  Dataset data = hand_made(std::vector<HandRow>(values.size(), HandRow{0, 1}));
  data.constraint_names = {"label"};
  data.constraints = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  return value_scales(data).constraints.front();
}

TEST(ValueScale, ALabelIsLogarithmicOverMoreThanADecade) {
  EXPECT_EQ(scale_of_label({1, 10.5, kNaN}), ValueScale::logarithmic);
  EXPECT_EQ(scale_of_label({1, 10}), ValueScale::linear);
  EXPECT_EQ(scale_of_label({0.0, 0.02, 0.5}), ValueScale::linear) << "shares with a zero";
  EXPECT_EQ(scale_of_label({-1, 1000}), ValueScale::linear);
  EXPECT_EQ(scale_of_label({0, 1, 10}), ValueScale::log1p) << "counts: 1 + 10 is more than ten times 1 + 0";
  EXPECT_EQ(scale_of_label({0, 1, 9}), ValueScale::linear);
  EXPECT_EQ(scale_of_label({0, 0.5, 100}), ValueScale::linear) << "no counts";
  EXPECT_EQ(scale_of_label({kNaN, kNaN}), ValueScale::linear);
}

TEST(ObjectiveScaler, ALinearObjectiveIsStandardisedAsItIs) {
  const Dataset data = hand_made({{0, -4}, {0, 0}, {0, kNaN}});
  const ObjectiveScaler scaler = fit_objective_scaler(data, fit_context_scaler(data.contexts), ValueScale::linear);
  EXPECT_EQ(scaler.value_scale, ValueScale::linear);
  EXPECT_EQ(scaler.mean[0], -2);
  EXPECT_EQ(scaler.deviation[0], 2);
  const Dataset tiny = hand_made({{0, -4e-12}, {0, 0}});
  EXPECT_LT(relative_error(
                fit_objective_scaler(tiny, fit_context_scaler(tiny.contexts), ValueScale::linear).deviation[0], 2e-12),
            kRounding)
      << "small values are not rounding";
}

TEST(ConstraintScaler, EveryLabelOnItsScale) {
  Dataset data = hand_made({{0, 1}, {0, 2}});
  data.constraint_names = {"share", "count"};
  data.constraints.resize(2, 2);
  data.constraints << 0.0, 0.0, 0.5, std::exp(2.0) - 1;
  const ConstraintScaler scaler = fit_constraint_scaler(data, {ValueScale::linear, ValueScale::log1p});
  EXPECT_EQ(scaler.mean[0], 0.25);
  EXPECT_EQ(scaler.deviation[0], 0.25);
  EXPECT_LT(relative_error(scaler.mean[1], 1.0), kRounding);
  EXPECT_THAT(scaler.value_scales, ::testing::ElementsAre(ValueScale::linear, ValueScale::log1p));
}

TEST(Scalers, ValidationRowsChangeNothing) {
  std::vector<HandRow> rows;
  for (int i = 0; i < 40; ++i) rows.push_back({i % 2, 1.0 + i});
  Dataset data = hand_made(rows, 2);
  const Split parts = split(data, {});
  const auto fitted = [&] {
    const Dataset train = data.subset(parts.train);
    return fit_objective_scaler(train, fit_context_scaler(train.contexts), ValueScale::logarithmic);
  };
  const ObjectiveScaler before = fitted();
  for (const std::size_t row : parts.validation) data.objective[static_cast<Eigen::Index>(row)] *= 1e-6;
  const ObjectiveScaler after = fitted();
  EXPECT_EQ(before.mean, after.mean);
  EXPECT_EQ(before.deviation, after.deviation);
  EXPECT_EQ(before.mean_weights, after.mean_weights);
}

TEST(EncodeLevel, PositionsFromMinusOneToOne) {
  const space::DesignSpace space("s", "",
                                 {{.name = "x",
                                   .unit = "",
                                   .description = "",
                                   .kind = space::ParameterKind::ordinal,
                                   .values = {1, 2, 4, 16},
                                   .labels = {}},
                                  {.name = "z",
                                   .unit = "",
                                   .description = "",
                                   .kind = space::ParameterKind::ordinal,
                                   .values = {0, 1, 4},
                                   .labels = {}},
                                  {.name = "m",
                                   .unit = "",
                                   .description = "",
                                   .kind = space::ParameterKind::categorical,
                                   .values = {},
                                   .labels = {"a", "b", "c"}},
                                  {.name = "one",
                                   .unit = "",
                                   .description = "",
                                   .kind = space::ParameterKind::ordinal,
                                   .values = {7},
                                   .labels = {}}});
  const auto encode = [&](std::size_t parameter, std::size_t level, LevelEncoding encoding) {
    return encode_level(space.parameters()[parameter], level, encoding);
  };
  EXPECT_EQ(encode(0, 0, LevelEncoding::value), -1.0);
  EXPECT_EQ(encode(0, 3, LevelEncoding::value), 1.0);
  EXPECT_LT(relative_error(encode(0, 2, LevelEncoding::value), 2.0 * 3.0 / 15.0 - 1.0), kRounding);
  EXPECT_LT(std::abs(encode(0, 2, LevelEncoding::log_value)), kRounding);  // log2: 0, 1, 2, 4
  EXPECT_LT(relative_error(encode(0, 1, LevelEncoding::level), -1.0 / 3.0), kRounding);
  EXPECT_EQ(encode(1, 1, LevelEncoding::log_value), 0.0);  // 0 has no logarithm: the level
  EXPECT_EQ(encode(1, 1, LevelEncoding::value), -0.5);
  for (const LevelEncoding encoding : {LevelEncoding::value, LevelEncoding::log_value, LevelEncoding::level}) {
    EXPECT_EQ(encode(2, 1, encoding), 0.0);
    EXPECT_EQ(encode(3, 0, encoding), 0.0);
    for (std::size_t p = 0; p < 3; ++p) {
      for (std::size_t level = 1; level < space.parameters()[p].level_count(); ++level) {
        EXPECT_GT(encode(p, level, encoding), encode(p, level - 1, encoding));
      }
    }
  }
}

}  // namespace
}  // namespace hindsight::dataset

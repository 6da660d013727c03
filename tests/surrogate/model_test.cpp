/// Unit: are an ensemble's predictions the members', scaled to usable units?
#include "hindsight/surrogate/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hindsight/core/error.h"
#include "surrogate/small_model.h"
#include "tolerances.h"

namespace hindsight::surrogate {
namespace {

using hindsight::test::kRounding;
using test::context;
using test::small_architecture;
using test::small_parts;
using test::vector_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Model, ScalesAndAveragesItsMembers) {
  const Model model(small_parts(2));
  const LevelMatrix levels = test::random_levels({4, 3, 2}, 30, 1);
  const dataset::Context alpha = model.parts().training_contexts[0];
  const EnsemblePrediction got = model.predict(levels, alpha);
  const Eigen::VectorXf features = model.parts().context_scaler.apply(alpha).cast<float>();
  const Prediction a = model.parts().members[0].predict(levels, features);
  const Prediction b = model.parts().members[1].predict(levels, features);
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    const double score = (double{a.objective(i)} + double{b.objective(i)}) / 2;
    EXPECT_NEAR(got.score(i), score, kRounding);
    // Two values: standard deviation |a - b| / sqrt(2).
    EXPECT_NEAR(got.spread(i), std::abs(double{a.objective(i)} - double{b.objective(i)}) / std::sqrt(2.0), kRounding);
    EXPECT_NEAR(got.objective(i), std::exp(-6 + 0.5 * score), kRounding);
    const auto probability = [](double logit) { return 1 / (1 + std::exp(-logit / 1.5)); };
    const double p = probability(a.feasible_logit(i)), q = probability(b.feasible_logit(i));
    EXPECT_NEAR(got.p_feasible(i), (p + q) / 2, kRounding);
    EXPECT_NEAR(got.p_spread(i), std::abs(p - q) / std::sqrt(2.0), kRounding);
    const double area = (double{a.constraints(i, 0)} + double{b.constraints(i, 0)}) / 2;
    EXPECT_NEAR(got.constraints(i, 0) / std::exp(3 + 0.5 * area), 1, kRounding);
    const double apart = std::abs(double{a.constraints(i, 0)} - double{b.constraints(i, 0)});
    EXPECT_NEAR(got.constraint_spread(i, 0), 0.5 * apart / std::sqrt(2.0), kRounding) << "in log units";
  }
  EXPECT_FALSE(got.extrapolated);
}

TEST(Model, OneMemberHasNoSpread) {
  const Model model(small_parts(1));
  const auto got = model.predict(test::random_levels({4, 3, 2}, 5, 1), model.parts().training_contexts[1]);
  EXPECT_EQ(got.spread, Eigen::VectorXd::Zero(5));
  EXPECT_EQ(got.p_spread, Eigen::VectorXd::Zero(5));
  EXPECT_EQ(got.constraint_spread, Eigen::MatrixXd::Zero(5, 1));
}

TEST(Model, MarksContextsItWasNotTrainedOn) {
  const Model model(small_parts(2));
  const auto got = model.predict(LevelMatrix{{0, 0, 0}}, context("gamma", 1e8, 1e4));
  EXPECT_TRUE(got.extrapolated);
  EXPECT_TRUE(std::isfinite(got.objective(0)));
  dataset::Context other = context("gamma", 1, 1);
  other.feature_names[1] = "layers";
  EXPECT_THROW(static_cast<void>(model.predict(LevelMatrix{{0, 0, 0}}, other)), Error);
}

TEST(Model, TakesAnUnseenApplicationAsTheEvenMixtureOfTheTrainedOnes) {
  const Model model(small_parts(1));
  const LevelMatrix levels = test::random_levels({4, 3, 2}, 30, 3);
  const auto& contexts = model.parts().training_contexts;
  ASSERT_EQ(contexts.size(), 2U);
  const EnsemblePrediction first = model.predict(levels, contexts[0]);
  const EnsemblePrediction second = model.predict(levels, contexts[1]);
  const EnsemblePrediction got = model.predict(levels, context("gamma", 1e8, 1e4));
  EXPECT_TRUE(got.extrapolated);
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    EXPECT_NEAR(got.score(i), (first.score(i) + second.score(i)) / 2, kRounding);
    EXPECT_NEAR(got.p_feasible(i), (first.p_feasible(i) + second.p_feasible(i)) / 2, kRounding);
    // One member: the spread is the population deviation of two values.
    EXPECT_NEAR(got.spread(i), std::abs(first.score(i) - second.score(i)) / 2, hindsight::test::kSinglePrecision);
  }
}

TEST(Model, APreparedApplicationIsAnsweredHeadByHead) {
  const Model model(small_parts(2));
  const LevelMatrix levels = test::random_levels({4, 3, 2}, 30, 4);
  for (const dataset::Context& application : {model.parts().training_contexts[0], context("gamma", 1e8, 1e4)}) {
    const EnsemblePrediction all = model.predict(levels, application);
    const PreparedContext prepared = model.prepare(application);
    const EnsemblePrediction objective = model.predict(levels, {.feasibility = false, .constraints = false}, prepared);
    EXPECT_EQ(objective.score, all.score) << "the same bits";
    EXPECT_EQ(objective.spread, all.spread);
    EXPECT_EQ(objective.objective, all.objective);
    EXPECT_EQ(objective.extrapolated, all.extrapolated);
    EXPECT_EQ(objective.p_feasible.size() + objective.p_spread.size() + objective.constraints.size(), 0);
    const EnsemblePrediction limits = model.predict(levels, {.objective = false}, prepared);
    EXPECT_EQ(limits.p_feasible, all.p_feasible);
    EXPECT_EQ(limits.p_spread, all.p_spread);
    EXPECT_EQ(limits.constraints, all.constraints);
    EXPECT_EQ(limits.score.size() + limits.spread.size() + limits.objective.size(), 0);
  }
}

TEST(Model, RefusesNetworksThatDisagreeOnSeeingTheApplication) {
  Model::Parts mixed = small_parts(1);
  Architecture blind = small_architecture();
  blind.context_size = 0;
  mixed.members.push_back(test::random_network(blind, 1));
  EXPECT_THROW(Model{mixed}, Error);
  Model::Parts nameless = small_parts(1);
  nameless.training_contexts.clear();
  EXPECT_THROW(Model{nameless}, Error);
}

TEST(Model, WordsTellApplicationsWithoutFeaturesApart) {
  const Model model(test::parts_of_words(2));
  const LevelMatrix levels = test::random_levels({4, 3, 2}, 10, 4);
  const auto& contexts = model.parts().training_contexts;
  EXPECT_FALSE(model.seen_alike(contexts[0], contexts[1]));
  EXPECT_NE(model.predict(levels, contexts[0]).score, model.predict(levels, contexts[1]).score);
  dataset::Context unseen = contexts[0];
  unseen.name = "app=gpt";
  EXPECT_TRUE(model.predict(levels, unseen).extrapolated);
  EXPECT_FALSE(model.seen_alike(unseen, contexts[0]));
  Model::Parts wordless = test::parts_of_words(1);
  wordless.context_scaler.words.pop_back();
  EXPECT_THROW(Model{wordless}, Error) << "its networks see two";
}

TEST(Model, AnUnseenNameWithKnownFeaturesIsTheKnownApplication) {
  const Model model(small_parts(2));
  const LevelMatrix levels = test::random_levels({4, 3, 2}, 10, 4);
  dataset::Context twin = model.parts().training_contexts[1];
  const EnsemblePrediction known = model.predict(levels, twin);
  twin.name = "twin";
  EXPECT_EQ(model.predict(levels, twin).score, known.score);
  EXPECT_EQ(model.predict(levels, twin).p_feasible, known.p_feasible);
  const auto& contexts = model.parts().training_contexts;
  EXPECT_TRUE(model.seen_alike(twin, contexts[1]));
  EXPECT_FALSE(model.seen_alike(twin, contexts[0]));
  EXPECT_TRUE(model.seen_alike(context("gamma", 1e8, 1e4), context("delta", 1e6, 1e7)));
  EXPECT_FALSE(model.seen_alike(context("gamma", 1e8, 1e4), contexts[0]));
}

TEST(Model, ThreadsDoNotChangeTheResult) {
  const Model model(small_parts(2));
  const LevelMatrix levels = test::random_levels({4, 3, 2}, 20'001, 2);
  const dataset::Context alpha = model.parts().training_contexts[0];
  const EnsemblePrediction one = model.predict(levels, alpha, 1);
  for (const unsigned threads : {0U, 2U, 5U}) {
    const EnsemblePrediction several = model.predict(levels, alpha, threads);
    EXPECT_EQ(one.score, several.score);
    EXPECT_EQ(one.spread, several.spread);
    EXPECT_EQ(one.objective, several.objective);
    EXPECT_EQ(one.p_feasible, several.p_feasible);
    EXPECT_EQ(one.constraints, several.constraints);
  }
  EXPECT_EQ(model.predict(LevelMatrix(0, 3), alpha).score.size(), 0);
}

TEST(Model, WithoutContextStillScalesByTheApplication) {
  Model::Parts parts = small_parts(0);
  Architecture architecture = small_architecture();
  architecture.context_size = 0;
  parts.members = {test::random_network(architecture, 1)};
  const Model model(parts);
  const LevelMatrix levels{{1, 2, 0}};
  const auto alpha = model.predict(levels, parts.training_contexts[0]);
  const auto beta = model.predict(levels, parts.training_contexts[1]);
  EXPECT_EQ(alpha.score, beta.score);
  EXPECT_NEAR(beta.objective(0), std::exp(-2 + 0.75 * beta.score(0)), kRounding);
}

TEST(Model, PredictsOnTheScalesItWasTrainedOn) {
  Model::Parts parts = small_parts(1);
  const LevelMatrix levels{{1, 2, 0}};
  const dataset::Context& alpha = parts.training_contexts[0];
  const EnsemblePrediction logarithmic = Model(parts).predict(levels, alpha);
  parts.objective_scaler.value_scale = dataset::ValueScale::linear;
  parts.constraint_scaler.value_scales = {dataset::ValueScale::log1p};
  const EnsemblePrediction linear = Model(parts).predict(levels, alpha);
  EXPECT_EQ(linear.score, logarithmic.score);
  EXPECT_NEAR(linear.objective(0), -6 + 0.5 * linear.score(0), kRounding) << "mean -6, deviation 0.5";
  EXPECT_NEAR(linear.constraints(0, 0), logarithmic.constraints(0, 0) - 1, kRounding * logarithmic.constraints(0, 0));
  parts.constraint_scaler.value_scales = {dataset::ValueScale::linear};
  EXPECT_NEAR(Model(parts).predict(levels, alpha).constraints(0, 0), std::log(logarithmic.constraints(0, 0)),
              kRounding);
}

TEST(Model, FeasibilityThatNothingTaughtIsOne) {
  Model::Parts parts = small_parts(2);
  const LevelMatrix levels = test::random_levels({4, 3, 2}, 50, 1);
  EXPECT_LT(Model(parts).predict(levels, parts.training_contexts[0]).p_feasible.maxCoeff(), 1);
  parts.feasibility_learned = false;
  const EnsemblePrediction prediction = Model(parts).predict(levels, parts.training_contexts[0]);
  EXPECT_EQ(prediction.p_feasible, Eigen::VectorXd::Ones(50));
  EXPECT_EQ(prediction.p_spread, Eigen::VectorXd::Zero(50));
  EXPECT_THAT(model_card(Model(parts)), HasSubstr("`p_feasible` is 1 for every design and says nothing"));
}

TEST(Model, ExtremeLogitsGiveProbabilitiesNotNan) {
  Model::Parts parts = small_parts(1);
  for (const float logit : {1e30F, -1e30F}) {
    Weights weights = parts.members[0].weights();
    weights["feasible.2.bias"].values = {logit, logit};
    parts.members = {Network(small_architecture(), weights)};
    const double p = Model(parts).predict(LevelMatrix{{0, 0, 0}}, parts.training_contexts[0]).p_feasible(0);
    EXPECT_EQ(p, logit > 0 ? 1.0 : 0.0);
  }
}

TEST(Model, RefusesPartsThatContradictEachOther) {
  const auto refusal = [](const auto& damage) -> std::string {
    Model::Parts parts = small_parts(1);
    damage(parts);
    try {
      static_cast<void>(Model(parts));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::incompatible);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal([](auto& p) { p.members.clear(); }), HasSubstr("no network"));
  EXPECT_THAT(refusal([](auto& p) { p.context_scaler.mean = vector_of({1}); }), HasSubstr("context features"));
  EXPECT_THAT(refusal([](auto& p) { p.constraint_names = {"power_w"}; }), HasSubstr("constraint names differ"));
  EXPECT_THAT(refusal([](auto& p) { p.constraint_scaler.deviation = vector_of({-1}); }), HasSubstr("negative"));
  EXPECT_THAT(refusal([](auto& p) { p.objective_scaler.mean_weights = vector_of({1}); }), HasSubstr("weights of the"));
  EXPECT_THAT(refusal([](auto& p) { p.constraint_scaler.value_scales.clear(); }), HasSubstr("scales of constraints"));
  EXPECT_THAT(refusal([](auto& p) { p.feasibility_temperature = 0; }), HasSubstr("temperature 0"));
  EXPECT_THAT(refusal([](auto& p) { p.training_contexts[0].features = vector_of({1}); }), HasSubstr("'alpha'"));
  EXPECT_THAT(refusal([](auto& p) {
                Architecture architecture = small_architecture();
                architecture.level_counts[1] = 4;
                p.members = {test::random_network(architecture, 1)};
              }),
              HasSubstr("other parameters"));
}

std::string space_refusal(const std::vector<space::Parameter>& parameters) {
  try {
    require_space(Model(small_parts(1)), space::DesignSpace("other", "", parameters));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
    return error.what();
  }
  return "accepted";
}

TEST(RequireSpace, NamesTheFirstDifference) {
  const std::vector<space::Parameter> own = test::small_space().parameters();
  EXPECT_EQ(space_refusal(own), "accepted") << "the name of a space does not matter";
  auto changed = own;
  changed[1].name = "sram_bytes";
  EXPECT_THAT(space_refusal(changed), AllOf(HasSubstr("parameter 2 is 'memory_bytes' in the model, 'sram_bytes' here"),
                                            HasSubstr("'small'"), HasSubstr("'other'")));
  changed = own;
  changed[0].values = {1, 2, 4, 16};
  EXPECT_THAT(space_refusal(changed), HasSubstr("'pes_x' has value 8 in the model where it has 16 here"));
  changed = own;
  changed[0].values = {1, 2, 4};
  EXPECT_THAT(space_refusal(changed), HasSubstr("'pes_x' has 4 values in the model, 3 here"));
  changed = own;
  changed[0].unit = "none";
  EXPECT_THAT(space_refusal(changed), HasSubstr("unit"));
  changed = own;
  changed.pop_back();
  EXPECT_THAT(space_refusal(changed), HasSubstr("3 parameters in the model, 2 here"));
}

TEST(ModelCard, SaysWhatAPersonNeeds) {
  const std::string card = model_card(Model(small_parts(2)));
  for (const char* part : {"`latency_s`", "`small`", "area_mm2", "alpha", "beta", "log_hash", "abc", "0.875",
                           "## Intended use", "## Limits", "alpha: 0.1", "hindsight train 'a|b'"}) {
    EXPECT_THAT(card, HasSubstr(part));
  }
  Model::Parts parts = small_parts(1);
  parts.metrics.feasibility_auc = std::nan("");
  EXPECT_THAT(model_card(Model(parts)), HasSubstr("not defined"));
  EXPECT_THAT(model_card(Model(parts)), HasSubstr("Scales: objective logarithmic, area_mm2 logarithmic."));
  parts.objective_scaler.value_scale = dataset::ValueScale::linear;
  EXPECT_THAT(model_card(Model(parts)), AllOf(HasSubstr("Mean of the objective"), HasSubstr("-6 |")));
  parts.provenance["method"] = "coms";
  EXPECT_THAT(model_card(Model(parts)), HasSubstr("Predictions are pessimistic by training"));
  parts.provenance["method"] = "supervised";
  EXPECT_THAT(model_card(Model(parts)), HasSubstr("Nothing makes predictions pessimistic"));
}

}  // namespace
}  // namespace hindsight::surrogate

/// Does training learn, repeat itself exactly, stop cleanly, resume, and refuse what it cannot learn from?
#include "hindsight/surrogate/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/surrogate/learner_library.h"
#include "hindsight/surrogate/tune.h"
#include "surrogate/member.h"
#include "surrogate/negatives.h"
#include "surrogate/training_fixture.h"
#include "temporary_folder.h"
#include "tolerances.h"

namespace hindsight::surrogate {
namespace {

namespace fs = std::filesystem;
using test::small_recipe;
using test::small_table;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TrainOptions quiet() {
  TrainOptions options;
  options.device = Device::cpu;
  options.threads = 2;
  return options;
}

using Folder = hindsight::test::TemporaryFolder;

TEST(WhyNoLearner, AProgramThatWasBuiltWithItIsNotToBeBuiltAgain) {
  EXPECT_THAT(why_no_learner(std::vector<std::string>{"cuda", "libtorch 1.13.1"}),
              testing::AllOf(HasSubstr("built in, but its library libhindsight_torch.so is not with this program"),
                             HasSubstr("install Hindsight whole"), testing::Not(HasSubstr("HINDSIGHT_TORCH"))));
  EXPECT_THAT(why_no_learner(std::vector<std::string>{"cuda"}),
              testing::AllOf(testing::StartsWith("not built in"), HasSubstr("-DHINDSIGHT_TORCH=ON"),
                             testing::Not(HasSubstr("libtorch"))));  // by which tests see that they can train
}

bool same_weights(const Model& a, const Model& b) {
  if (a.parts().members.size() != b.parts().members.size()) return false;
  for (std::size_t i = 0; i < a.parts().members.size(); ++i) {
    for (const auto& [name, tensor] : a.parts().members[i].weights()) {
      if (tensor.values != b.parts().members[i].weights().at(name).values) return false;
    }
  }
  return true;
}

TEST(Train, LearnsTheOrderAndTheFeasibleRegion) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Recipe recipe = small_recipe();
  recipe.steps = 400;
  recipe.patience = 0;
  recipe.method = Method::supervised;
  recipe.split.kind = dataset::SplitKind::random;
  const TrainResult result = train(small_table(2, 300), recipe, quiet());
  const ModelMetrics& metrics = result.model.parts().metrics;
  EXPECT_GT(metrics.kendall_tau, 0.85);
  EXPECT_GT(metrics.feasibility_auc, 0.9);
  EXPECT_EQ(result.steps_done(), 2 * (400 + 20));
  EXPECT_FALSE(result.interrupted);
}

TEST(Train, PrimeRanksDesignsOverTheEdgeWorseThanSupervisedDoes) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Recipe recipe = small_recipe();
  recipe.steps = 300;
  recipe.alpha = 0.5;
  recipe.beta = 0.5;
  const dataset::Dataset data = small_table(1, 300);
  const TrainResult prime = train(data, recipe, quiet());
  recipe.method = Method::supervised;
  const TrainResult supervised = train(data, recipe, quiet());
  // Every design of the space that the table's rule calls infeasible.
  LevelMatrix levels(6 * 6 * 6 * 6, 4);
  Eigen::Index count = 0;
  for (std::uint64_t i = 0; i < 6 * 6 * 6 * 6; ++i) {
    const space::Design design = data.space.design(i);
    if (design.levels[0] + design.levels[3] <= 6) continue;
    for (Eigen::Index j = 0; j < 4; ++j) levels(count, j) = design.levels[static_cast<std::size_t>(j)];
    ++count;
  }
  levels.conservativeResize(count, 4);
  EXPECT_GT(prime.model.predict(levels, data.contexts[0]).score.mean(),
            supervised.model.predict(levels, data.contexts[0]).score.mean());
}

TEST(Train, SameSeedSameBytesWhateverTheThreads) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = small_table(2, 100);
  Recipe recipe = small_recipe();
  recipe.dropout = 0.1;
  TrainOptions one = quiet();
  one.threads = 1;
  const TrainResult first = train(data, recipe, quiet());
  EXPECT_TRUE(same_weights(first.model, train(data, recipe, quiet()).model));
  EXPECT_TRUE(same_weights(first.model, train(data, recipe, one).model));
  recipe.seed = 2;
  EXPECT_FALSE(same_weights(first.model, train(data, recipe, quiet()).model));
}

TEST(Train, EveryMethodAndMiningRuns) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = small_table(2, 60);
  Recipe recipe = small_recipe();
  recipe.ensemble = 1;
  for (const Method method : {Method::prime, Method::coms, Method::supervised}) {
    for (const NegativeMining mining : {NegativeMining::search, NegativeMining::gradient}) {
      recipe.method = method;
      recipe.mining = mining;
      EXPECT_EQ(train(data, recipe, quiet()).model.parts().members.size(), 1U) << to_string(method);
    }
  }
}

/// The feasible rows of a small table.
dataset::Dataset feasible_table(std::size_t count) {
  const dataset::Dataset all = small_table(1, count);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.feasible[i]) rows.push_back(i);
  }
  return all.subset(rows);
}

TEST(Train, DoubtMinesNegativesOfItsOwn) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = small_table(1, 200);
  Recipe recipe = small_recipe();
  recipe.alpha = 0;
  recipe.ensemble = 1;
  const auto weights_with = [&](double doubt) {
    recipe.doubt_weight = doubt;
    return train(data, recipe, {}).model.parts().members.front().weights().at("feasible.1.bias").values;
  };
  EXPECT_NE(weights_with(0), weights_with(1)) << "alpha of 0 leaves the other term that uses negatives";
}

TEST(Train, WhatAMethodDoesNotReadChangesNothing) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const std::vector<std::pair<std::string, std::string>> others = {{"d_model", "16"},
                                                                   {"transformer_layers", "0"},
                                                                   {"attention_heads", "4"},
                                                                   {"feed_forward", "8"},
                                                                   {"context_bias", "0"},
                                                                   {"experts", "3"},
                                                                   {"dropout", "0.2"},
                                                                   {"pair_codes", "0"},
                                                                   {"level_codes", "0"},
                                                                   {"batch_pairs", "10"},
                                                                   {"alpha", "3"},
                                                                   {"beta", "2"},
                                                                   {"rank_weight", "1"},
                                                                   {"feasibility_weight", "2"},
                                                                   {"doubt_weight", "1"},
                                                                   {"constraint_weight", "2"},
                                                                   {"push_limit", "3"},
                                                                   {"mining", "gradient"},
                                                                   {"mining_interval", "7"},
                                                                   {"mining_population", "8"},
                                                                   {"mining_generations", "1"},
                                                                   {"gradient_steps", "1"},
                                                                   {"gradient_rate", "0.1"},
                                                                   {"batch_negatives", "5"},
                                                                   {"evaluate_interval", "7"},
                                                                   {"patience", "1"},
                                                                   {"applications_per_step", "1"}};
  const dataset::Dataset data = small_table(2, 150);
  for (const Method method : {Method::prime, Method::coms, Method::supervised, Method::margins}) {
    SCOPED_TRACE(to_string(method));
    Recipe recipe = small_recipe();
    recipe.method = method;
    recipe.ensemble = 1;
    Recipe other = recipe;
    std::size_t unread = 0;
    for (const auto& [key, value] : others) {
      Recipe changed = other;
      set_recipe_value(changed, key, value);
      if (reads(changed, key)) continue;
      other = changed;
      ++unread;
    }
    EXPECT_GE(unread, 4U);
    const auto predicted = [&](const Recipe& by) {
      return train(data, by, quiet()).model.predict(data.levels, data.contexts[0]);
    };
    const EnsemblePrediction one = predicted(recipe), two = predicted(other);
    EXPECT_EQ(one.objective, two.objective);
    EXPECT_EQ(one.p_feasible, two.p_feasible);
    EXPECT_EQ(one.constraints, two.constraints);
  }
}

TEST(Train, EveryMethodLearnsWithoutInfeasibleRowsAndSaysThatFeasibilityWasNotTaught) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = feasible_table(200);
  Recipe recipe = small_recipe();
  recipe.split.kind = dataset::SplitKind::random;
  recipe.steps = 200;
  for (const Method method : {Method::prime, Method::coms, Method::supervised}) {
    recipe.method = method;
    const Model model = train(data, recipe, quiet()).model;
    const EnsemblePrediction prediction = model.predict(data.levels, data.contexts[0]);
    EXPECT_EQ(prediction.p_feasible.minCoeff(), 1) << to_string(method);
    EXPECT_EQ(prediction.p_spread.maxCoeff(), 0) << to_string(method);
    EXPECT_FALSE(model.parts().feasibility_learned);
    EXPECT_TRUE(std::isnan(model.parts().metrics.feasibility_auc));
    EXPECT_TRUE(std::isnan(model.parts().metrics.calibration_error)) << "nothing was learnt that could be calibrated";
    EXPECT_GT(model.parts().metrics.kendall_tau, 0.5) << to_string(method);
    EXPECT_THAT(model_card(model), HasSubstr("Feasibility was not learned"));
  }
}

TEST(Train, AnObjectiveWithZeroAndBelowIsLearnedOnALinearScale) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Dataset data = small_table(2, 200);
  for (double& value : data.objective) value = std::log(value) - 1;  // from about -2.5 on
  ASSERT_LT(data.objective.array().isNaN().select(0, data.objective).minCoeff(), 0);
  Recipe recipe = small_recipe();
  recipe.method = Method::supervised;
  recipe.steps = 400;
  recipe.patience = 0;
  recipe.split.kind = dataset::SplitKind::random;
  const Model model = train(data, recipe, quiet()).model;
  EXPECT_EQ(model.parts().objective_scaler.value_scale, dataset::ValueScale::linear);
  EXPECT_GT(model.parts().metrics.kendall_tau, 0.8);
  const EnsemblePrediction prediction = model.predict(data.levels.topRows(200), data.contexts[0]);
  double error = 0, count = 0;
  for (Eigen::Index i = 0; i < 200; ++i) {
    if (!data.feasible[static_cast<std::size_t>(i)]) continue;
    error += std::abs(prediction.objective[i] - data.objective[i]);
    ++count;
  }
  EXPECT_LT(error / count, 0.3) << "in the objective's own unit; its deviation is about 1";
}

std::string off(const TrainingPlan& plan, Term term) { return plan.terms.at(static_cast<std::size_t>(term)).off; }

TEST(PlanTraining, TermsWithoutDataSwitchThemselvesOff) {
  const TrainingPlan whole = plan_training(small_table(1, 100), small_recipe());
  for (const TermPlan& term : whole.terms) EXPECT_EQ(term.off, "") << to_string(term.term);
  EXPECT_TRUE(whole.learns_feasibility);
  EXPECT_TRUE(whole.remarks.empty());
  EXPECT_EQ(whole.split.train, dataset::split(small_table(1, 100), small_recipe().split).train);

  const TrainingPlan plan = plan_training(feasible_table(100), small_recipe());
  for (const Term term : {Term::infeasible, Term::feasibility, Term::doubt}) {
    EXPECT_EQ(off(plan, term), "no row to train on is infeasible") << to_string(term);
    EXPECT_EQ(plan.weight(term), 0);
  }
  EXPECT_EQ(off(plan, Term::negatives), "");
  EXPECT_EQ(plan.weight(Term::negatives), small_recipe().alpha);
  EXPECT_FALSE(plan.learns_feasibility);
  ASSERT_EQ(plan.remarks.size(), 1U);
  EXPECT_THAT(plan.remarks[0], HasSubstr("(terms off: infeasible, feasibility, doubt)"));
}

TEST(PlanTraining, SaysWhichTermsAMethodOrARecipeLeavesOut) {
  Recipe recipe = small_recipe();
  recipe.method = Method::supervised;
  recipe.rank_weight = 0;
  const TrainingPlan plan = plan_training(small_table(1, 100), recipe);
  EXPECT_EQ(off(plan, Term::negatives), "supervised has no such term");
  EXPECT_EQ(off(plan, Term::infeasible), "supervised has no such term");
  EXPECT_EQ(off(plan, Term::rank), "its weight is 0");
  EXPECT_EQ(off(plan, Term::feasibility), "");
}

TEST(PlanTraining, HeldOutRowsTeachNothing) {
  dataset::Dataset data = small_table(2, 60);
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i] || data.context[i] == 1) rows.push_back(i);
  }
  data = data.subset(rows);
  Recipe recipe = small_recipe();
  EXPECT_TRUE(plan_training(data, recipe).learns_feasibility);
  recipe.split.kind = dataset::SplitKind::leave_workloads_out;
  recipe.split.held_out = {"app_1"};
  EXPECT_FALSE(plan_training(data, recipe).learns_feasibility) << "only the held-out application has infeasible rows";
}

TEST(PlanTraining, WhatRepeatedMeasurementsCannotTellIsSaid) {
  dataset::Dataset data = small_table(1, 60);
  EXPECT_THAT(plan_training(data, small_recipe()).remarks, IsEmpty());
  data.repeats = {.designs = 3, .measurements = 12, .deviation = 0.1};
  EXPECT_THAT(
      plan_training(data, small_recipe()).remarks,
      ElementsAre("3 designs were measured 4.0 times on average: the mean of each is learnt. One measurement is "
                  "off by 10 % (standard deviation), such a mean by 5 %: smaller differences between designs "
                  "are chance"));
  data.repeats = {.designs = 1, .measurements = 2, .deviation = 0};
  EXPECT_THAT(plan_training(data, small_recipe()).remarks,
              ElementsAre("1 design was measured 2.0 times on average: the mean of each is learnt"));
}

TEST(PlanTraining, ALabelThatNoRowHasIsSaid) {
  dataset::Dataset data = small_table(1, 60);
  data.constraints.setConstant(std::nan(""));
  const TrainingPlan plan = plan_training(data, small_recipe());
  EXPECT_EQ(off(plan, Term::constraint), "no row to train on has a label");
  ASSERT_EQ(plan.remarks.size(), 1U);
  EXPECT_THAT(plan.remarks[0], HasSubstr("no row has area_mm2"));
}

std::vector<std::string> words_of(const TrainingPlan& plan) {
  std::vector<std::string> words;
  for (const dataset::ContextWord& word : plan.words) words.push_back(to_string(word));
  return words;
}

/// What a table of each application gives, or an import with words in --context.
TEST(PlanTraining, ApplicationsThatNoNumberTellsApartAreKnownByWords) {
  dataset::Dataset data = small_table(3, 60);
  EXPECT_THAT(plan_training(data, small_recipe()).words, IsEmpty()) << "their numbers differ";
  data.contexts[2].features = data.contexts[0].features;
  const TrainingPlan plan = plan_training(data, small_recipe());
  EXPECT_THAT(words_of(plan), ElementsAre("app_0", "app_2"));
  EXPECT_THAT(plan.remarks, IsEmpty());
  Recipe recipe = small_recipe();
  recipe.use_context = 0;
  EXPECT_THAT(plan_training(data, recipe).words, IsEmpty()) << "no application is seen";
  EXPECT_THAT(plan_training(data, recipe).remarks, IsEmpty()) << "that is what was asked for";
  recipe = small_recipe();
  recipe.split.kind = dataset::SplitKind::leave_workloads_out;
  recipe.split.held_out = {"app_2"};
  EXPECT_THAT(plan_training(data, recipe).words, IsEmpty()) << "no row to train on is of app_2";
}

TEST(PlanTraining, MoreApplicationsThanWordsAreSaid) {
  dataset::Dataset data = small_table(dataset::kMostWords + 1, 20);
  for (std::size_t c = 0; c < data.contexts.size(); ++c) data.contexts[c].features.setOnes();
  const TrainingPlan plan = plan_training(data, small_recipe());
  EXPECT_THAT(plan.words, IsEmpty());
  ASSERT_EQ(plan.remarks.size(), 1U);
  EXPECT_THAT(plan.remarks[0], HasSubstr("app_0, app_1, app_2 and 62 more have no number that tells them apart, and "
                                         "more words than 64 are not learnt: a model has one order of designs, one "
                                         "p_feasible and one area_mm2 for all of them"));
}

TEST(RemarkOnAlike, AModelWithoutWordsIsToBeTrainedAgain) {
  dataset::Dataset data = small_table(2, 20);
  data.contexts[1].features = data.contexts[0].features;
  EXPECT_THAT(
      remark_on_alike(data.contexts, {}, {}),
      testing::AllOf(HasSubstr("app_0, app_1 have no number that tells them apart, and the model learnt no words"),
                     HasSubstr("train it again")));
  EXPECT_THAT(remark_on_alike(data.contexts, dataset::distinguishing_words(data.contexts), {}), IsEmpty());
}

TEST(RemarkOnAlike, HoldsInALineWhateverTheNames) {
  std::vector<dataset::Context> many;
  for (std::size_t i = 0; i <= dataset::kMostWords; ++i) {
    many.push_back({std::string(300, 'a') + std::to_string(i), {}, Eigen::VectorXd(0)});
  }
  const std::string remark = remark_on_alike(many, {}, {std::string(300, 'b')});
  EXPECT_LE(remark.size(), 400U);
  EXPECT_THAT(remark, HasSubstr("and 62 more have no number"));
}

/// Two applications that words alone tell apart: `bert` is cheapest at large a and `conv` at small a, and bert takes
/// five times conv's energy.
dataset::Dataset opposite_table(std::size_t rows) {
  dataset::Dataset data = small_table(2, rows);
  data.constraint_names = {"energy_mj"};
  for (dataset::Context& context : data.contexts) {
    context.name = &context == &data.contexts.front() ? "app=bert" : "app=conv";
    context.feature_names.clear();
    context.features.resize(0);
  }
  for (Eigen::Index i = 0; i < data.levels.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double a = data.levels(i, 0), b = data.levels(i, 1), d = data.levels(i, 3);
    const bool bert = data.context[row] == 0;
    data.feasible[row] = b + d <= 8;
    data.reasons[row] = data.feasible[row] ? 0 : 1;
    data.objective[i] = data.feasible[row] ? std::exp((bert ? -0.5 : 0.5) * a + 0.2 * b) : std::nan("");
    data.constraints(i, 0) = (bert ? 5 : 1) * std::exp(0.2 * b);
  }
  return data;
}

TEST(Train, ApplicationsThatWordsTellApartHaveTheirOwnOrdersAndLabels) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = opposite_table(250);
  const Model model = train(data, test::margin_recipe(), quiet()).model;
  EXPECT_EQ(model.parts().members.front().architecture().context_size, 2);
  // From large a to small a, at the same b, c and d.
  const LevelMatrix designs{{5, 2, 2, 2}, {3, 2, 2, 2}, {0, 2, 2, 2}};
  const EnsemblePrediction bert = model.predict(designs, data.contexts[0]);
  const EnsemblePrediction conv = model.predict(designs, data.contexts[1]);
  EXPECT_LT(bert.score[0], bert.score[2]);
  EXPECT_LT(bert.score[0], bert.score[1]);
  EXPECT_GT(conv.score[0], conv.score[2]);
  EXPECT_GT(conv.score[1], conv.score[2]);
  constexpr double kOff = 0.25;  // of a logarithm; an application taken for the other one is off by log 5 = 1.6
  for (Eigen::Index i = 0; i < designs.rows(); ++i) {
    EXPECT_NEAR(std::log(bert.constraints(i, 0) / (5 * std::exp(0.4))), 0, kOff);
    EXPECT_NEAR(std::log(conv.constraints(i, 0) / std::exp(0.4)), 0, kOff);
    EXPECT_GT(bert.p_feasible[i], 0.5);
  }
  dataset::Context unseen = data.contexts[0];
  unseen.name = "app=gpt";
  const EnsemblePrediction mixed = model.predict(designs, unseen);
  EXPECT_TRUE(mixed.extrapolated);
  EXPECT_NEAR(mixed.score[0], (bert.score[0] + conv.score[0]) / 2, test::kSinglePrecision)
      << "the even mixture of those learnt";
}

TEST(Train, HeldOutWorkloadsStayUnseen) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Recipe recipe = small_recipe();
  recipe.split.kind = dataset::SplitKind::leave_workloads_out;
  recipe.split.held_out = {"app_1"};
  const TrainResult result = train(small_table(3, 80), recipe, quiet());
  std::vector<std::string> names;
  for (const dataset::Context& context : result.model.parts().training_contexts) names.push_back(context.name);
  EXPECT_THAT(names, testing::ElementsAre("app_0", "app_2"));
  EXPECT_EQ(result.steps_done(), 2 * recipe.steps);  // no final steps on all rows
}

TEST(Train, InterruptKeepsTheBestSoFar) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Recipe recipe = small_recipe();
  recipe.ensemble = 1;
  recipe.steps = 100000;
  TrainOptions options = quiet();
  options.progress = [](const TrainProgress& progress) {
    if (progress.step >= 30) set_interrupt_requested(true);
  };
  const TrainResult result = train(small_table(1, 100), recipe, options);
  set_interrupt_requested(false);
  EXPECT_TRUE(result.interrupted);
  EXPECT_LT(result.steps_done(), recipe.steps);
  EXPECT_EQ(result.model.parts().members.size(), 1U);
  EXPECT_EQ(result.complete_members(), 0);
}

TEST(Train, ACtrlCAfterTheLastStepInterruptsNothing) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Recipe recipe = small_recipe();
  recipe.ensemble = 1;
  TrainOptions options = quiet();
  options.progress = [](const TrainProgress& progress) {
    if (progress.step == progress.steps) set_interrupt_requested(true);
  };
  const TrainResult result = train(small_table(1, 100), recipe, options);
  set_interrupt_requested(false);
  EXPECT_FALSE(result.interrupted);
  EXPECT_EQ(result.complete_members(), 1);
}

TEST(Train, AnInterruptedOneKeepsWhereEveryMemberStandsAndResumesToTheSameModel) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Folder folder;
  const dataset::Dataset data = small_table(1, 100);
  const Recipe recipe = small_recipe();
  const TrainResult whole = train(data, recipe, quiet());
  TrainOptions options = quiet();
  options.checkpoint = folder / "checkpoint";
  options.progress = [](const TrainProgress&) { set_interrupt_requested(true); };  // side by side, after a first step
  const TrainResult part = train(data, recipe, options);
  set_interrupt_requested(false);
  ASSERT_TRUE(part.interrupted);
  EXPECT_LT(part.complete_members(), 2);
  EXPECT_GE(part.steps_done(), 1);
  ASSERT_TRUE(fs::exists(folder / "checkpoint"));
  options.progress = {};
  options.resume = true;
  const TrainResult resumed = train(data, recipe, options);
  EXPECT_TRUE(same_weights(whole.model, resumed.model));
  EXPECT_EQ(whole.model.parts().metrics.kendall_tau, resumed.model.parts().metrics.kendall_tau);
  EXPECT_EQ(resumed.steps_done(), whole.steps_done());
}

TEST(Train, AResumedTrainingThatIsStoppedAtOnceLosesNothing) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Folder folder;
  const dataset::Dataset data = small_table(1, 100);
  TrainOptions options = quiet();
  options.checkpoint = folder / "checkpoint";
  options.progress = [](const TrainProgress&) { set_interrupt_requested(true); };
  const TrainResult part = train(data, small_recipe(), options);
  options.resume = true;  // Ctrl-C has been pressed already
  const TrainResult again = train(data, small_recipe(), options);
  set_interrupt_requested(false);
  EXPECT_TRUE(again.interrupted);
  EXPECT_EQ(again.steps_done(), part.steps_done());
  EXPECT_TRUE(same_weights(again.model, part.model));
}

TEST(Train, AKilledTrainingGoesOnFromWhatWasKeptOnTheWay) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Folder folder;
  const dataset::Dataset data = small_table(1, 100);
  const Recipe recipe = small_recipe();
  TrainOptions options = quiet();
  options.checkpoint = folder / "checkpoint";
  options.checkpoint_interval = std::chrono::seconds(0);  // after every step
  const fs::path killed = folder / "killed";
  options.progress = [&](const TrainProgress& progress) {
    // As a kill would leave it: the file of some moment, while both members train.
    if (progress.step > 1 && !fs::exists(killed) && fs::exists(*options.checkpoint)) {
      fs::copy_file(*options.checkpoint, killed);
    }
  };
  Recipe slow = recipe;
  slow.steps = 400;  // beyond the relay's 0.2 s
  const TrainResult whole = train(data, slow, options);
  ASSERT_TRUE(fs::exists(killed));
  options.checkpoint = killed;
  options.checkpoint_interval = std::chrono::hours(1);
  options.resume = true;
  std::int64_t first_step = 0;
  options.progress = [&](const TrainProgress& progress) {
    if (first_step == 0) first_step = progress.step;
  };
  const TrainResult resumed = train(data, slow, options);
  EXPECT_GT(first_step, 1) << "it did not begin anew";
  EXPECT_TRUE(same_weights(whole.model, resumed.model));
}

TEST(Train, DivergenceOfEveryMemberIsAFailureWithARemedy) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  Recipe recipe = small_recipe();
  recipe.alpha = 1e300;  // beyond single precision: the loss is infinite
  try {
    static_cast<void>(train(small_table(1, 100), recipe, quiet()));
    FAIL() << "did not diverge";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failure);
    EXPECT_THAT(error.what(), HasSubstr("Lower learning_rate"));
  }
}

TEST(Train, ResumesAfterTheFinishedMembers) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const Folder folder;
  const dataset::Dataset data = small_table(1, 100);
  const Recipe recipe = small_recipe();
  TrainOptions options = quiet();
  options.threads = 1;
  const TrainResult whole = train(data, recipe, options);
  options.checkpoint = folder / "checkpoint";
  options.progress = [](const TrainProgress& progress) {
    // A wait beyond the relay's 0.2 s, so that a fast machine hears of member 1 before its last step, too.
    if (progress.member == 0 && progress.step == progress.steps) {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
    if (progress.member == 1) set_interrupt_requested(true);
  };
  const TrainResult part = train(data, recipe, options);
  set_interrupt_requested(false);
  EXPECT_TRUE(part.interrupted);
  EXPECT_EQ(part.complete_members(), 1);
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoint"));
  EXPECT_FALSE(std::filesystem::exists(folder / "checkpoint.md")) << "a checkpoint has no card";
  options.resume = true;
  std::int64_t first_member_steps = 0;
  options.progress = [&](const TrainProgress& progress) { first_member_steps += progress.member == 0 ? 1 : 0; };
  const TrainResult resumed = train(data, recipe, options);
  EXPECT_EQ(first_member_steps, 0);
  EXPECT_TRUE(same_weights(whole.model, resumed.model));
  EXPECT_EQ(whole.model.parts().metrics.kendall_tau, resumed.model.parts().metrics.kendall_tau);

  Recipe other = recipe;
  other.alpha = 0.7;
  try {
    static_cast<void>(train(data, other, options));
    FAIL() << "took another training's checkpoint";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible);
  }
}

/// A table of five rows: one feasible, the others infeasible for the given sets of reasons (bits of "narrow", "wide").
dataset::Dataset table_of_reasons(const std::vector<std::uint64_t>& infeasible) {
  dataset::Dataset data = small_table(1, 1 + infeasible.size());
  data.reason_names = {"narrow", "wide"};
  data.feasible.assign(data.size(), false);
  data.feasible[0] = true;
  data.objective.setOnes();
  data.reasons.assign(1, 0);
  data.reasons.insert(data.reasons.end(), infeasible.begin(), infeasible.end());
  return data;
}

Eigen::MatrixXf passes_of(const dataset::Dataset& data) {
  return scale_rows(data, fit_scalers(data, dataset::value_scales(data)), reason_heads(data), 0).passes;
}

TEST(ReasonHeads, ALogThatListsSeveralReasonsSaysWhichDoNotApply) {
  const dataset::Dataset data = table_of_reasons({0b01, 0b10, 0b11});
  EXPECT_THAT(reason_heads(data).names, testing::ElementsAre("narrow", "wide"));
  EXPECT_EQ(passes_of(data), (Eigen::MatrixXf{{1, 1}, {0, 1}, {1, 0}, {0, 0}}));
}

TEST(ReasonHeads, AnEvaluatorThatStopsAtItsFirstComplaintLeavesTheOthersUnknown) {
  const dataset::Dataset data = table_of_reasons({0b01, 0b10});
  const Eigen::MatrixXf passes = passes_of(data);
  EXPECT_EQ(passes.row(0), (Eigen::RowVectorXf{{1, 1}}));
  EXPECT_EQ(passes(1, 0), 0);
  EXPECT_TRUE(std::isnan(passes(1, 1)));
  EXPECT_TRUE(std::isnan(passes(2, 0)));
  EXPECT_EQ(passes(2, 1), 0);
}

TEST(ReasonHeads, RowsWithoutAReasonHaveAHeadOfTheirOwn) {
  const dataset::Dataset some = table_of_reasons({0b11, 0});
  EXPECT_THAT(reason_heads(some).names, testing::ElementsAre("narrow", "wide", "unexplained"));
  const Eigen::MatrixXf passes = passes_of(some);
  EXPECT_EQ(passes.row(1), (Eigen::RowVectorXf{{0, 0, 1}}));
  EXPECT_TRUE(std::isnan(passes(2, 0)) && std::isnan(passes(2, 1)));
  EXPECT_EQ(passes(2, 2), 0);
  const dataset::Dataset none = table_of_reasons({0, 0});
  EXPECT_THAT(reason_heads(none).names, testing::ElementsAre("infeasible"));
  EXPECT_EQ(passes_of(none), (Eigen::MatrixXf{{1}, {0}, {0}}));
}

TEST(Train, KeepsTheNamesOfTheReasons) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const TrainResult result = train(small_table(1, 100), small_recipe(), quiet());
  EXPECT_THAT(result.model.parts().reason_names, testing::ElementsAre("too_wide"));
  EXPECT_EQ(result.model.parts().members[0].architecture().reason_count, 1);
}

TEST(Negatives, AreAttractiveToTheModelAndNeverFeasibleRows) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = small_table(1, 200);
  const Recipe recipe = small_recipe();
  const TrainResult result = train(data, recipe, quiet());
  const Network& network = result.model.parts().members[0];
  const Scalers scalers = fit_scalers(data, dataset::value_scales(data));
  const TrainingRows rows = scale_rows(data, scalers, reason_heads(data), 0);
  NegativePool pool(rows, recipe, 1);
  EXPECT_TRUE(pool.empty());
  pool.search(network);
  const LevelMatrix found = pool.designs(0);
  ASSERT_GT(found.rows(), 0);
  for (Eigen::Index i = 0; i < found.rows(); ++i) {
    EXPECT_FALSE(rows.by_context[0].feasible_keys.contains(design_key(found.row(i).data(), found.cols())));
  }
  const Eigen::VectorXf none;
  EXPECT_LT(network.predict(found, none).objective.mean(), network.predict(rows.levels, none).objective.mean());
}

TEST(Tune, KeepsTheBestOfLongestTrialsAndRepeatsItself) {
  if (!learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = small_table(1, 150);
  Recipe recipe = small_recipe();
  recipe.ensemble = 1;
  recipe.tune = {{.key = "learning_rate", .from = 1e-6, .to = 1e-2, .logarithmic = true}};
  const TuneOptions options{.largest_steps = 90, .smallest_steps = 10, .train = quiet()};
  const TuneResult result = tune(data, recipe, options);
  // Hyperband with R = 90, r = 10, eta = 3: brackets of 9, 5 and 3 candidates; rungs 9+3+1, 5+1, 3.
  EXPECT_EQ(result.trials.size(), 22U);
  double best = -2;
  for (const Trial& trial : result.trials) {
    if (trial.steps == 90) best = std::max(best, trial.score);
  }
  const auto winner = std::find_if(result.trials.begin(), result.trials.end(),
                                   [&](const Trial& t) { return t.steps == 90 && t.score == best; });
  ASSERT_NE(winner, result.trials.end());
  if (winner->values.contains("learning_rate")) {
    EXPECT_EQ(result.recipe.learning_rate, winner->values.at("learning_rate"));
  }
  EXPECT_EQ(result.recipe.steps, recipe.steps);
  EXPECT_TRUE(result.recipe.tune.empty());
  EXPECT_EQ(to_yaml(tune(data, recipe, options).recipe), to_yaml(result.recipe));
}

TEST(Tune, NeedsRanges) { EXPECT_THROW(static_cast<void>(tune(small_table(1, 50), small_recipe(), {})), Error); }

}  // namespace
}  // namespace hindsight::surrogate

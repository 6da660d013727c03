/// Is what backtests hide hidden, do their figures tell good recipes from bad ones, and is the choice what they say?
#include "hindsight/study/backtest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hand_table.h"
#include "hindsight/core/error.h"
#include "hindsight/core/statistics.h"
#include "hindsight/evaluator/evaluator.h"
#include "hindsight/surrogate/learner_library.h"
#include "tolerances.h"

namespace hindsight::study {
namespace {

using hindsight::test::kInfeasible;
using hindsight::test::ordinal;
using hindsight::test::table_of;
using hindsight::test::TableRow;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// 20 x 20 designs for two applications; the cost falls with a and rises with b, and from a + b = 30 on nothing can be
/// built. `towards`: the cost falls with b, too, so that the best designs are next to those that cannot be built.
dataset::Dataset cliff(bool towards = false) {
  std::vector<double> twenty;
  for (int i = 1; i <= 20; ++i) twenty.push_back(i);
  std::vector<TableRow> rows;
  for (std::int32_t c = 0; c < 2; ++c) {
    for (std::uint16_t a = 0; a < 20; ++a) {
      for (std::uint16_t b = 0; b < 20; ++b) {
        const double cost = 100.0 / (a + 1) + (towards ? 100.0 / (b + 1) : b);
        rows.push_back({c, {a, b}, a + b < 30 ? cost * (c + 1) : kInfeasible});
      }
    }
  }
  return table_of({"cliff", "", {ordinal("a", twenty), ordinal("b", twenty)}}, rows);
}

surrogate::Recipe named(const std::string& name) {
  surrogate::Recipe recipe = surrogate::load_recipe(name);
  recipe.ensemble = 1;
  return recipe;
}

double objective_of(const dataset::Dataset& data, std::size_t row) {
  return data.objective[static_cast<Eigen::Index>(row)];
}

TEST(Hide, EveryRowIsHiddenOrLeft) {
  const dataset::Dataset data = cliff();
  for (const auto& [hiding, name] : kHidings) {
    const HiddenRows rows = hide(data, hiding, 3);
    std::vector<std::size_t> all = rows.hidden;
    all.insert(all.end(), rows.train.begin(), rows.train.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::unique(all.begin(), all.end()) - all.begin(), std::ssize(data.context)) << name;
    EXPECT_EQ(all.size(), data.size()) << name;
    EXPECT_EQ(hide(data, hiding, 3).hidden, rows.hidden) << name;
  }
}

TEST(Hide, TheBetterHalfIsWhatEveryApplicationLoses) {
  const dataset::Dataset data = cliff();
  const HiddenRows rows = hide(data, Hiding::best_half, 1);
  for (std::int32_t c = 0; c < 2; ++c) {
    double worst_hidden = 0, best_left = std::numeric_limits<double>::infinity();
    std::size_t hidden = 0, left = 0;
    for (const std::size_t row : rows.hidden) {
      if (data.context[row] != c || !data.feasible[row]) continue;
      ++hidden;
      worst_hidden = std::max(worst_hidden, objective_of(data, row));
    }
    for (const std::size_t row : rows.train) {
      if (data.context[row] != c || !data.feasible[row]) continue;
      ++left;
      best_left = std::min(best_left, objective_of(data, row));
    }
    EXPECT_LT(worst_hidden, best_left);
    EXPECT_NEAR(static_cast<double>(hidden), static_cast<double>(left), 4);  // ties at the median are left
  }
  const auto infeasible = [&](const std::vector<std::size_t>& list) {
    return std::count_if(list.begin(), list.end(), [&](std::size_t row) { return !data.feasible[row]; });
  };
  EXPECT_GT(infeasible(rows.hidden), 20);
  EXPECT_GT(infeasible(rows.train), 20);
}

TEST(Hide, TheNeighbourhoodIsAQuarterAroundTheBestDesign) {
  const dataset::Dataset data = cliff();
  const HiddenRows rows = hide(data, Hiding::neighbourhood, 1);
  EXPECT_LE(rows.hidden.size(), data.size() / 4);
  EXPECT_GT(rows.hidden.size(), data.size() / 6);
  // The best design of both applications: a = 20, b = 1. Distances are shares of the range, here of 19 steps.
  const auto away = [&](std::size_t row) {
    const auto i = static_cast<Eigen::Index>(row);
    return 19 - data.levels(i, 0) + data.levels(i, 1);
  };
  int farthest = 0, nearest = 100;
  for (const std::size_t row : rows.hidden) farthest = std::max(farthest, away(row));
  for (const std::size_t row : rows.train) nearest = std::min(nearest, away(row));
  EXPECT_LT(farthest, nearest);
}

/// The cliff with a reason row for every design and application.
dataset::Dataset cliff_with_reasons() {
  dataset::Dataset data = cliff();
  dataset::ReasonRows rows{.levels = data.levels,
                           .context = data.context,
                           .missed = data.reasons,
                           .kept = std::vector<std::uint64_t>(data.size(), 0),
                           .evaluation_id = data.evaluation_id};
  data.reason_rows = dataset::shared(std::move(rows));
  return data;
}

TEST(Hide, WhatIsBeyondAStatedLimitIsHiddenInTheNeighbourhoodToo) {
  const dataset::Dataset data = cliff_with_reasons();
  EXPECT_EQ(hide(data, Hiding::best_half, 1).train_reason_rows.size(), data.size());
  const HiddenRows rows = hide(data, Hiding::neighbourhood, 1);
  EXPECT_EQ(rows.train_reason_rows, rows.train) << "here both have the same designs";
}

TEST(Backtest, TellsWhoLearnsFromWhoDoesNot) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  surrogate::Recipe untaught = named("margins");
  untaught.name = "untaught";
  untaught.steps = 1;
  BacktestOptions options;
  options.candidates = {untaught, named("margins")};
  const BacktestResult result = backtest(cliff(), options);
  ASSERT_THAT(result.candidates, SizeIs(2));
  EXPECT_EQ(result.chosen, 1U);
  EXPECT_LT(result.candidates[1].loss, result.candidates[0].loss);
  for (const BacktestScore& score : result.candidates[1].scores) {
    EXPECT_EQ(score.applications, 2U);
    EXPECT_GE(score.first_regret, 1);
    EXPECT_LE(score.best_regret, score.first_regret);
    EXPECT_LT(score.best_regret, 1.5);
    EXPECT_GT(score.recall, 0.5);
  }
  EXPECT_EQ(result.rows, 800U);
}

TEST(Backtest, OfRecipesThatFareAlikeTheFirstIsTaken) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  surrogate::Recipe slower = named("margins");
  slower.name = "slower";
  slower.learning_rate *= 0.8;
  BacktestOptions options;
  const auto result_of = [&](bool turned) {
    options.candidates = {named("margins"), slower};
    if (turned) std::swap(options.candidates[0], options.candidates[1]);
    return backtest(cliff(), options);
  };
  // Short trainings until the two differ, but by little.
  for (const double effort : {0.15, 0.1, 0.05, 0.02, 0.01, 0.2}) {
    options.effort = effort;
    const BacktestResult one = result_of(false);
    const double difference = std::abs(one.candidates[0].loss - one.candidates[1].loss);
    if (difference == 0 || difference > 0.025) continue;
    EXPECT_EQ(one.chosen, 0U);
    EXPECT_EQ(result_of(true).chosen, 0U) << "one of them has the smaller loss in both orders";
    return;
  }
  FAIL() << "no two trainings that differ by little";
}

TEST(Backtest, WhatCannotBeBuiltCountsThreeAmongTheFirstFour) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  BacktestOptions options;
  options.candidates = {named("plain")};
  options.hidings = {Hiding::best_half};
  options.min_p_feasible = 0;  // what the objective likes best, beyond the cliff
  const Backtest test = backtest(cliff(true), options).candidates.front();
  const BacktestScore& score = test.scores.front();
  ASSERT_EQ(score.infeasible_firsts, score.applications);
  EXPECT_NEAR(test.loss, (std::log(3.0) + std::log(score.best_regret)) / 2, hindsight::test::kRounding);
}

TEST(Backtest, TakesObjectivesOfZeroAndBelow) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Dataset data = cliff();
  data.objective.array() -= 50;
  BacktestOptions options;
  options.candidates = {named("plain")};
  options.hidings = {Hiding::best_half};
  const auto tested = [&] {
    BacktestResult result = backtest(data, options);
    EXPECT_FALSE(result.has_ratios);
    EXPECT_THAT(result.remarks, Contains(HasSubstr("no ratios")));
    return result.candidates.front();
  };
  const Backtest test = tested();
  EXPECT_TRUE(std::isfinite(test.loss));
  const BacktestScore& score = test.scores.front();
  EXPECT_EQ(score.applications, 2U);
  EXPECT_GE(score.first_regret, 1) << "of shares of the range";
  EXPECT_TRUE(std::isnan(score.true_over_predicted)) << "there is no ratio";
  ASSERT_TRUE(std::isfinite(score.true_minus_predicted_sd));
  data.objective *= 1024;  // exactly: the same training in another unit
  EXPECT_NEAR(tested().scores.front().true_minus_predicted_sd, score.true_minus_predicted_sd,
              hindsight::test::kSinglePrecision);
}

/// What is learnt from has logarithms, what is chosen among has none.
TEST(Backtest, HasNoRatiosWhereTheHiddenRowsAloneAreBelowZero) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  dataset::Dataset data = cliff();
  std::vector<double> first;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.context[i] == 0 && data.feasible[i]) first.push_back(objective_of(data, i));
  }
  data.objective.array() -= median(first) - 0.5;
  for (const std::size_t row : hide(data, Hiding::best_half, 1).train) {
    if (data.feasible[row]) {
      ASSERT_GT(objective_of(data, row), 0);
    }
  }
  BacktestOptions options;
  options.candidates = {named("plain")};
  options.hidings = {Hiding::best_half};
  const BacktestResult result = backtest(data, options);
  EXPECT_FALSE(result.has_ratios);
  const BacktestScore& score = result.candidates.front().scores.front();
  EXPECT_TRUE(std::isnan(score.true_over_predicted)) << "of signed numbers";
  EXPECT_TRUE(std::isfinite(score.true_minus_predicted_sd));
}

TEST(Backtest, ComparesPositiveObjectivesByRatios) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  BacktestOptions options;
  options.candidates = {named("plain")};
  options.hidings = {Hiding::best_half};
  options.effort = 0.05;
  const BacktestResult result = backtest(cliff(), options);
  EXPECT_TRUE(result.has_ratios);
  const BacktestScore& score = result.candidates.front().scores.front();
  EXPECT_GT(score.true_over_predicted, 0);
  EXPECT_TRUE(std::isnan(score.true_minus_predicted_sd));
}

TEST(Backtest, IsTheSameAgainAndAsksNoSimulator) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  BacktestOptions options;
  options.candidates = {named("trends")};
  options.effort = 0.05;
  const evaluator::Count before = evaluator::count_so_far();
  const BacktestResult first = backtest(cliff(), options), second = backtest(cliff(), options);
  EXPECT_EQ(first.candidates.front().loss, second.candidates.front().loss);
  EXPECT_EQ(evaluator::count_so_far().evaluations, before.evaluations);
}

TEST(Backtest, ARecipeThatDoubtsEverythingNewIsVetoed) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  surrogate::Recipe doubtful = named("v0.1");
  doubtful.doubt_weight = 100;
  doubtful.name = "doubtful";
  BacktestOptions options;
  options.candidates = {doubtful, named("margins")};
  options.hidings = {Hiding::best_half};
  const BacktestResult result = backtest(cliff(), options);
  EXPECT_LT(result.candidates[0].scores.front().recall, 0.5);
  EXPECT_THAT(result.candidates[0].veto, HasSubstr("unlikely"));
  EXPECT_EQ(result.chosen, 1U);
}

TEST(Backtest, AFlagIsNoGuardWhereTheObjectiveLikesWhatCannotBeBuilt) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  BacktestOptions options;
  options.candidates = {named("plain")};
  options.hidings = {Hiding::best_half};
  const BacktestResult result = backtest(cliff(true), options);
  EXPECT_GT(result.candidates.front().scores.front().danger, 0.25);
  EXPECT_NE(result.candidates.front().veto, "");
  EXPECT_THAT(result.remarks, ::testing::Contains(HasSubstr("something against it")));
}

TEST(Backtest, TrainsEveryRecipeOnceBeforeAnyTwice) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  std::vector<std::string> order;
  BacktestOptions options;
  options.candidates = {named("margins"), named("trends")};
  options.effort = 0.02;
  options.progress = [&](const surrogate::Recipe& recipe, Hiding /*hiding*/) { order.push_back(recipe.name); };
  const BacktestResult result = backtest(cliff(), options);
  EXPECT_THAT(order, ::testing::ElementsAre("margins", "trends", "margins", "trends"));
  for (const Backtest& test : result.candidates) {
    ASSERT_THAT(test.scores, SizeIs(2));
    EXPECT_EQ(test.scores.front().hiding, Hiding::best_half);
  }
}

TEST(BacktestRemarks, SayWhatRegretsAreWorthWhereNothingHiddenWouldBeProposed) {
  std::vector<Backtest> tests(2);
  tests[0].scores = {{.hiding = Hiding::best_half, .recall = 0}, {.hiding = Hiding::neighbourhood, .recall = 0}};
  tests[1].scores = tests[0].scores;
  EXPECT_THAT(backtest_remarks(cliff(), tests), Contains(HasSubstr("(recall 0)")));
  tests[1].scores.back().recall = 0.1;
  EXPECT_THAT(backtest_remarks(cliff(), tests), ::testing::Not(Contains(HasSubstr("(recall 0)"))));
}

TEST(Backtest, SaysWhatALogCannotTell) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = cliff();
  const auto feasible_rows = [&](std::size_t count) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < data.size() && rows.size() < count; i += 7) {
      if (data.feasible[i] && data.context[i] == 0) rows.push_back(i);
    }
    return data.subset(rows).without_empty_contexts();
  };
  BacktestOptions options;
  options.candidates = {named("trends")};
  options.effort = 0.05;
  const BacktestResult few = backtest(feasible_rows(12), options);
  EXPECT_THAT(few.remarks, ::testing::Contains(HasSubstr("Only 12 feasible rows")));
  EXPECT_THAT(few.remarks, ::testing::Contains(HasSubstr("No row is infeasible")));
  try {
    static_cast<void>(backtest(feasible_rows(3), options));
    FAIL() << "three rows were enough";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("Log more designs"));
  }
}

TEST(Backtest, ARecipeThatCannotLearnFromTheseRowsIsNoCandidate) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  BacktestOptions options;
  options.candidates = {named("layers"), named("trends")};  // the table has no layers
  options.effort = 0.05;
  const BacktestResult result = backtest(cliff(), options);
  EXPECT_THAT(result.candidates[0].failure, HasSubstr("layers"));
  EXPECT_EQ(result.chosen, 1U);
}

TEST(Candidates, AreAtLeastSixWhereLayersAreKnown) {
  dataset::Dataset data = cliff();
  EXPECT_THAT(candidate_recipes(data), SizeIs(5));
  for (dataset::Context& context : data.contexts) {
    context.layers = {.features = Eigen::MatrixXf::Ones(1, 3), .repeats = Eigen::VectorXf::Ones(1)};
  }
  EXPECT_THAT(candidate_recipes(data), SizeIs(6));
}

}  // namespace
}  // namespace hindsight::study

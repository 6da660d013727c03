/// Is hiding the better half exactly that, do hidden rows stay hidden, and are proposals scored by the truth?
#include "hindsight/check/w50.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "hand_table.h"
#include "hindsight/core/error.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/study/backtest.h"
#include "hindsight/surrogate/learner_library.h"

namespace hindsight::check::test {
namespace {

using hindsight::test::kInfeasible;
using hindsight::test::ordinal;
using hindsight::test::table_of;
using hindsight::test::TableRow;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A full table of 16 x 4 designs in two contexts. Context c: objective (a + 1) * (b + 1) * (c + 1), infeasible
/// where b = 3: 48 feasible rows each, optimum c + 1 at a = b = 0.
dataset::Dataset truth() {
  std::vector<double> sixteen;
  for (int i = 0; i < 16; ++i) sixteen.push_back(i);
  std::vector<TableRow> rows;
  for (std::int32_t c = 0; c < 2; ++c) {
    for (std::uint16_t a = 0; a < 16; ++a) {
      for (std::uint16_t b = 0; b < 4; ++b) {
        rows.push_back({c, {a, b}, b < 3 ? (a + 1.0) * (b + 1.0) * (c + 1.0) : kInfeasible});
      }
    }
  }
  return table_of({"table", "", {ordinal("a", sixteen), ordinal("b", {0, 1, 2, 3})}}, rows);
}

/// Objectives of the feasible rows of the first context, ascending.
std::vector<double> sorted_objectives(const dataset::Dataset& data, int context) {
  std::vector<double> values;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.context[i] == context && data.feasible[i]) values.push_back(data.objective[static_cast<Eigen::Index>(i)]);
  }
  std::sort(values.begin(), values.end());
  return values;
}

TEST(W50Rows, HidesWhatIsBetterThanTheMedianOfItsContext) {
  const dataset::Dataset data = truth();
  const W50Rows rows = choose_rows(data, {});
  for (int context = 0; context < 2; ++context) {
    const double median = sorted_objectives(data, context)[24];  // upper median of 48
    std::size_t hidden = 0;
    for (const std::size_t row : rows.hidden) {
      if (data.context[row] != context) continue;
      ++hidden;
      EXPECT_TRUE(data.feasible[row]);
      EXPECT_LT(data.objective[static_cast<Eigen::Index>(row)], median);
    }
    const auto values = sorted_objectives(data, context);
    EXPECT_EQ(hidden,
              static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), median) - values.begin()));
  }
  EXPECT_EQ(rows.hidden.size() + rows.train.size(), data.size());  // train_frac = 1: all others
}

TEST(W50Rows, HiddenRowsAreNeverTrainedOn) {
  const dataset::Dataset data = truth();
  for (const double hide : {0.0, 0.5, 0.8}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(testing::Message() << "hide " << hide << " seed " << seed);
      W50Options options;
      options.hide_frac = hide;
      options.seed = seed;
      options.train_rows = 30;
      const W50Rows rows = choose_rows(data, options);
      std::set<std::size_t> all(rows.hidden.begin(), rows.hidden.end());
      all.insert(rows.train.begin(), rows.train.end());
      EXPECT_EQ(all.size(), rows.hidden.size() + 30);
      EXPECT_TRUE(std::is_sorted(rows.train.begin(), rows.train.end()));
    }
  }
  EXPECT_TRUE(choose_rows(data, {.hide_frac = 0}).hidden.empty());
}

TEST(W50Rows, SamplesInfeasibleRowsTooAndDependsOnTheSeedOnly) {
  const dataset::Dataset data = truth();
  W50Options options;
  options.train_frac = 0.5;
  const W50Rows rows = choose_rows(data, options);
  EXPECT_EQ(choose_rows(data, options).train, rows.train);
  EXPECT_TRUE(std::any_of(rows.train.begin(), rows.train.end(), [&](std::size_t row) { return !data.feasible[row]; }));
  options.seed = 2;
  EXPECT_NE(choose_rows(data, options).train, rows.train);
}

TEST(W50Rows, HoldsContextsOut) {
  const dataset::Dataset data = truth();
  W50Options options;
  options.holdout_contexts = {"second"};
  for (const std::size_t row : choose_rows(data, options).train) EXPECT_EQ(data.context[row], 0);
  options.holdout_contexts = {"secnd"};
  try {
    static_cast<void>(choose_rows(data, options));
    FAIL() << "an unknown context was accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'second'"));
  }
}

TEST(W50Rows, RefusesObjectivesThatHaveNoRatios) {
  dataset::Dataset data = truth();
  data.objective[0] = 0;
  try {
    static_cast<void>(choose_rows(data, {}));
    FAIL() << "an optimum of 0 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("values of 0 or below"));
  }
}

TEST(W50Rows, RefusesSharesThatMakeNoSense) {
  const dataset::Dataset data = truth();
  EXPECT_THROW(static_cast<void>(choose_rows(data, {.hide_frac = 1})), Error);
  EXPECT_THROW(static_cast<void>(choose_rows(data, {.train_rows = 0})), Error);
  EXPECT_THROW(static_cast<void>(choose_rows(data, {.train_frac = 0})), Error);
  EXPECT_THROW(static_cast<void>(choose_rows(data, {.top = {}})), Error);
  const auto message = [&](const W50Options& options) -> std::string {
    try {
      static_cast<void>(choose_rows(data, options));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message({.hide_frac = 1}), testing::HasSubstr("--hide 1: is no share"));
  EXPECT_THAT(message({.train_frac = 1.5}), testing::HasSubstr("--train 1.5: is no share"));
  EXPECT_THAT(message({.top = {0}}), testing::HasSubstr("--top: numbers of proposals"));
}

TEST(W50Score, IsTheOptimumOverTheBestProposal) {
  const dataset::Dataset data = truth();
  // Second context: optimum 2. Proposals: infeasible; (a=4, b=0) -> 5 * 1 * 2 = 10; (a=1, b=1) -> 2 * 2 * 2 = 8.
  const std::vector<space::Design> proposals{{{0, 3}}, {{4, 0}}, {{1, 1}}};
  const W50Score score = score_proposals(data, 1, proposals, {1, 2, 3, 128});
  EXPECT_EQ(score.context, "second");
  EXPECT_DOUBLE_EQ(score.optimum, 2);
  std::vector<double> ratios;
  std::vector<double> infeasible;
  for (const W50Top& top : score.top) {
    ratios.push_back(top.ratio);
    infeasible.push_back(top.infeasible_frac);
  }
  EXPECT_THAT(ratios, ElementsAre(0, 0.2, 0.25, 0.25));
  EXPECT_THAT(infeasible, ElementsAre(1, 0.5, 1.0 / 3, 1.0 / 3));
}

TEST(W50Score, EveryProposalHasItsRankAmongTheFeasibleRowsAndItsRegret) {
  const dataset::Dataset data = truth();
  const std::vector<double> all = sorted_objectives(data, 1);
  const auto below = [&all](double value) {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](double one) { return one < value; }));
  };
  const W50Score score = score_proposals(data, 1, {{{0, 3}}, {{4, 0}}, {{1, 1}}, {{0, 0}}}, {1, 2, 3, 4});
  EXPECT_EQ(score.feasible, all.size());
  ASSERT_EQ(score.proposals.size(), 4U);
  EXPECT_TRUE(score.proposals[0].known) << "the table has it, as infeasible";
  EXPECT_FALSE(score.proposals[0].regret);
  EXPECT_FALSE(score.proposals[0].better);
  EXPECT_THAT(score.proposals[1].regret, testing::Optional(5.0));
  EXPECT_THAT(score.proposals[1].better, testing::Optional(below(10)));
  EXPECT_THAT(score.proposals[2].better, testing::Optional(below(8)));
  EXPECT_THAT(score.proposals[3].better, testing::Optional(std::size_t{0}));
  EXPECT_LT(below(8), below(10));
  std::vector<std::size_t> better;
  for (const W50Top& top : score.top) better.push_back(top.better);
  EXPECT_THAT(better, ElementsAre(all.size() - 1, below(10), below(8), 0U));
}

TEST(W50Score, ADesignThatTheTableDoesNotHaveScoresNothing) {
  const dataset::Dataset data = truth();
  std::vector<std::size_t> rows;
  for (std::size_t i = 1; i < 64; ++i) rows.push_back(i);
  const dataset::Dataset partial = data.subset(rows);  // without (a=0, b=0)
  const W50Score score = score_proposals(partial, 0, {{{0, 0}}, {{1, 0}}}, {1, 2});
  EXPECT_DOUBLE_EQ(score.unknown_frac, 0.5);
  EXPECT_DOUBLE_EQ(score.top[0].ratio, 0);
  EXPECT_DOUBLE_EQ(score.top[1].ratio, 1);  // 2 is the best of what the table has
}

TEST(W50, BestInLogScoresTheBestRowThatWasLeft) {
  const dataset::Dataset data = truth();
  W50Options options;
  options.method = W50Method::best_in_log;
  options.top = {1};
  const W50Result result = run_w50(data, options);
  ASSERT_EQ(result.scores.size(), 2U);
  for (std::size_t c = 0; c < 2; ++c) {
    const double median = sorted_objectives(data, static_cast<int>(c))[24];
    EXPECT_DOUBLE_EQ(result.scores[c].top[0].ratio, (static_cast<double>(c) + 1) / median);
    EXPECT_DOUBLE_EQ(result.scores[c].best_training, result.scores[c].top[0].ratio);
    EXPECT_DOUBLE_EQ(result.scores[c].top[0].infeasible_frac, 0);
  }
}

TEST(W50, TheForestLearnsWhatIsInfeasibleAndExtendsTheTrend) {
  W50Options options;
  options.method = W50Method::forest;
  options.top = {1, 16};
  const W50Result result = run_w50(truth(), options);
  for (const W50Score& score : result.scores) {
    EXPECT_LE(score.top[1].infeasible_frac, 0.25);  // a random design: 0.25
    EXPECT_GT(score.top[1].ratio, score.best_training);
  }
  EXPECT_EQ(run_w50(truth(), options).scores.front().top[1].ratio, result.scores.front().top[1].ratio);
}

/// Those that compete for a table, as short trainings.
std::vector<surrogate::Recipe> short_candidates() {
  std::vector<surrogate::Recipe> recipes = study::candidate_recipes(false);
  for (surrogate::Recipe& recipe : recipes) {
    recipe.steps = 60;
    recipe.final_steps = 0;
    recipe.ensemble = 1;
    recipe.mining_generations = 1;
  }
  return recipes;
}

TEST(W50, TheChosenRecipeIsThatOfTheBacktestsAndItsProposalsAreThoseOfAModelBesideItsLog) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  const dataset::Dataset data = truth();
  W50Options options;
  options.method = W50Method::chosen;
  options.candidates = short_candidates();
  options.top = {3};
  options.seed = 2;
  const W50Result result = run_w50(data, options);
  const dataset::Dataset train = data.subset(choose_rows(data, options).train).without_empty_contexts();
  study::BacktestOptions backtests;
  backtests.candidates = options.candidates;
  const study::BacktestResult tested = study::backtest(train, backtests);
  surrogate::Recipe recipe = tested.candidates[tested.chosen].recipe;
  EXPECT_EQ(result.recipe, recipe.name);
  recipe.seed = options.seed;
  surrogate::TrainOptions on_cpu;
  on_cpu.device = surrogate::Device::cpu;
  const surrogate::Model model = surrogate::train(train, recipe, on_cpu).model;
  ASSERT_EQ(result.scores.size(), 2U);
  for (std::size_t c = 0; c < 2; ++c) {
    optimize::ProposeOptions how;
    how.contexts = {data.contexts[c]};
    optimize::take_risk({}, model, how);
    EXPECT_TRUE(how.trust_log) << "as `propose --log` does";
    how.search.seed = options.seed;
    how.count = 3;
    how.logged = &train;
    std::vector<space::Design> designs;
    for (const optimize::Proposal& one : optimize::propose(model, how).proposals) designs.push_back(one.design);
    const W50Score expected = score_proposals(data, c, designs, {3});
    const W50Score& score = result.scores[c];
    ASSERT_EQ(score.proposals.size(), expected.proposals.size());
    for (std::size_t i = 0; i < expected.proposals.size(); ++i) {
      EXPECT_EQ(score.proposals[i].regret, expected.proposals[i].regret) << i;
    }
    EXPECT_EQ(score.top[0].regret, expected.top[0].regret);
  }
}

TEST(W50, WithTooLittleToHideTheChosenRecipeIsTheOneThatTrainTakes) {
  if (!surrogate::learner_library()) GTEST_SKIP() << "built without LibTorch";
  std::vector<TableRow> rows;  // six feasible ones, the better half of which is hidden
  for (std::uint16_t a = 0; a < 8; ++a) rows.push_back({0, {a, 0}, a < 6 ? a + 1.0 : kInfeasible});
  const dataset::Dataset data =
      table_of({"few", "", {ordinal("a", {0, 1, 2, 3, 4, 5, 6, 7}), ordinal("b", {0, 1})}}, rows)
          .without_empty_contexts();
  W50Options options;
  options.method = W50Method::chosen;
  options.candidates = short_candidates();
  options.top = {1};
  options.risk.min_p_feasible = 0;
  ASSERT_LT(data.subset(choose_rows(data, options).train).feasible_count(), study::kLeastFeasible);
  EXPECT_EQ(run_w50(data, options).recipe, study::kUntestedRecipe);
}

TEST(W50Score, ASetWithoutAFeasibleProposalCountsAsTheWorstFeasibleRow) {
  const W50Score score = score_proposals(truth(), 0, {{{0, 3}}, {{4, 1}}}, {1, 2});
  EXPECT_DOUBLE_EQ(score.top[0].regret, 16 * 3);
  EXPECT_DOUBLE_EQ(score.top[0].ratio, 0);
  EXPECT_DOUBLE_EQ(score.top[1].regret, 5 * 2);
  EXPECT_DOUBLE_EQ(score.top[1].ratio, 0.1);
}

TEST(W50Score, EveryNumberOfProposalsIsAListOfItsOwn) {
  // One: (4, 1), 10 times the optimum; of two one is better, of three none is feasible but the first.
  std::vector<std::size_t> asked;
  const W50Score score = score_lists(truth(), 0, {1, 3, 2}, [&](std::size_t count) {
    asked.push_back(count);
    std::vector<space::Design> designs{{{4, 1}}};
    if (count == 2) designs.push_back({{0, 0}});
    if (count == 3) designs.insert(designs.end(), {{{1, 3}}, {{2, 3}}});
    return designs;
  });
  EXPECT_THAT(asked, ElementsAre(3, 1, 2));
  ASSERT_EQ(score.top.size(), 3U);
  EXPECT_DOUBLE_EQ(score.top[0].regret, 10);
  EXPECT_DOUBLE_EQ(score.top[1].regret, 10);
  EXPECT_DOUBLE_EQ(score.top[1].infeasible_frac, 2.0 / 3);
  EXPECT_DOUBLE_EQ(score.top[2].regret, 1);
  EXPECT_EQ(score.top[2].k, 2U);
  EXPECT_EQ(score.proposals.size(), 3U);
}

TEST(W50, ATableThatLacksDesignsIsScoredAmongItsOwnRows) {
  const dataset::Dataset data = truth();
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < 64; ++i) {
    if (i % 3 != 0) rows.push_back(i);  // of the first context
  }
  W50Options options;
  options.method = W50Method::forest;
  options.top = {16};
  const W50Result part = run_w50(data.subset(rows).without_empty_contexts(), options);
  EXPECT_FALSE(part.scores.front().whole_space);
  EXPECT_EQ(part.scores.front().unknown_frac, 0);
  const W50Result whole = run_w50(data, options);
  EXPECT_TRUE(whole.scores.front().whole_space);
}

}  // namespace
}  // namespace hindsight::check::test

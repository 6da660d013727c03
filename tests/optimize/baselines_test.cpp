/// Is "best in log" the best design that really stands in the log, for exactly the question asked?
#include "hindsight/optimize/baselines.h"

#include <gtest/gtest.h>

#include <limits>

#include "hand_table.h"
#include "tolerances.h"

namespace hindsight::optimize {
namespace {

using hindsight::test::kInfeasible;
using hindsight::test::TableRow;
using Levels = std::vector<std::uint16_t>;

/// Two parameters of four values.
dataset::Dataset log_of(const std::vector<TableRow>& rows) {
  return hindsight::test::table_of(
      {"table", "", {hindsight::test::ordinal("a", {1, 2, 3, 4}), hindsight::test::ordinal("b", {1, 2, 3, 4})}}, rows);
}

/// (0, 0) is best for `first` and second best for `second`; (1, 1) the other way round and best on average; (2, 2)
/// would be best for both but fails in `second`; (3, 3) was evaluated for `first` only.
dataset::Dataset usual_log() {
  return log_of({{0, {0, 0}, 4},
                 {1, {0, 0}, 30},
                 {0, {1, 1}, 8},
                 {1, {1, 1}, 10},
                 {0, {2, 2}, 2},
                 {1, {2, 2}, kInfeasible},
                 {0, {3, 3}, 3}});
}

LoggedQuestion about(const std::vector<std::string>& applications, Aggregate aggregate = Aggregate::mean) {
  return {.applications = applications, .aggregate = aggregate, .weights = {}, .constraints = {}, .allowed = {}};
}

Levels best_levels(const dataset::Dataset& data, const LoggedQuestion& question) {
  const auto best = best_in_log(data, question);
  return best ? best->design.levels : Levels{};
}

TEST(AggregateValue, IsWhatItsNameSays) {
  const std::vector<double> values = {2, 8};
  EXPECT_DOUBLE_EQ(aggregate_value(values, Aggregate::mean, {}), 5);
  EXPECT_DOUBLE_EQ(aggregate_value(values, Aggregate::worst, {}), 8);
  EXPECT_NEAR(aggregate_value(values, Aggregate::geomean, {}), 4, hindsight::test::kRounding);
  EXPECT_DOUBLE_EQ(aggregate_value(values, Aggregate::weighted, std::vector<double>{3, 1}), 3.5);
}

TEST(BestInLog, OfOneApplicationIsItsBestFeasibleRow) {
  const auto best = best_in_log(usual_log(), about({"first"}));
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->design.levels, (Levels{2, 2}));
  EXPECT_EQ(best->value, 2);
  EXPECT_EQ(best->objectives, std::vector<double>{2});
  EXPECT_EQ(best_levels(usual_log(), about({"second"})), (Levels{1, 1}));
}

TEST(BestInLog, OfSeveralMustBeFeasibleForAllOfThem) {
  const auto best = best_in_log(usual_log(), about({"second", "first"}));
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->design.levels, (Levels{1, 1})) << "mean 9 against 17";
  EXPECT_EQ(best->value, 9);
  EXPECT_EQ(best->objectives, (std::vector<double>{10, 8})) << "in the order of the question";
  EXPECT_EQ(best_levels(usual_log(), about({"first", "second"}, Aggregate::worst)), (Levels{1, 1}));
}

TEST(BestInLog, FollowsTheWeights) {
  LoggedQuestion question = about({"first", "second"}, Aggregate::weighted);
  question.weights = {9, 1};
  EXPECT_EQ(best_levels(usual_log(), question), (Levels{0, 0})) << "6.6 against 8.2";
  question.weights = {1, 9};
  EXPECT_EQ(best_levels(usual_log(), question), (Levels{1, 1}));
}

TEST(BestInLog, MeetsConstraintsAndBounds) {
  LoggedQuestion question = about({"first"});
  question.constraints = {{.name = "sum", .limit = 1, .value = [](const optimize::LevelMatrix& levels) {
                             return Eigen::VectorXd(levels.cast<double>().rowwise().sum());
                           }}};
  EXPECT_EQ(best_levels(usual_log(), question), (Levels{0, 0}));
  question = about({"first"});
  question.allowed = {{1, 3}, {}};
  EXPECT_EQ(best_levels(usual_log(), question), (Levels{3, 3}));
  question.allowed = {{1}, {3}};
  EXPECT_FALSE(best_in_log(usual_log(), question).has_value());
}

TEST(BestInLog, MeetsLearnedLimitsByTheValuesOfTheLog) {
  dataset::Dataset data = usual_log();
  data.constraint_names = {"slack", "lut_frac"};
  data.constraints = Eigen::MatrixXd::Constant(static_cast<Eigen::Index>(data.size()), 2, 0.9);
  data.constraints.col(1) << 0.3, 0.3, 0.6, 0.2, 0.8, 0.8, 0.5;
  LoggedQuestion question = about({"first"});
  question.constraints = {{.name = "lut_frac", .limit = 0.5}};
  EXPECT_EQ(best_levels(data, question), (Levels{3, 3})) << "the best design, (2, 2), has 0.8";
  data.constraints(6, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(best_levels(data, question), (Levels{0, 0})) << "who knows what was not logged";
  question.applications = {"first", "second"};
  question.constraints.front().limit = 0.25;
  EXPECT_FALSE(best_in_log(data, question).has_value()) << "(1, 1) meets it in `second` alone";
  question.constraints.front().name = "power_w";
  EXPECT_FALSE(best_in_log(data, question).has_value()) << "the log does not have it";
}

TEST(LoggedTruth, IsWhatTheLogHasForAllApplications) {
  const dataset::Dataset data = usual_log();
  const auto truths = logged_truth(data, about({"second", "first"}), {{{1, 1}}, {{2, 2}}, {{3, 3}}, {{0, 1}}});
  ASSERT_EQ(truths.size(), 4U);
  ASSERT_TRUE(truths[0].has_value());
  EXPECT_TRUE(truths[0]->feasible);
  EXPECT_EQ(truths[0]->value, 9) << "mean of 10 and 8";
  ASSERT_TRUE(truths[1].has_value());
  EXPECT_FALSE(truths[1]->feasible) << "fails in `second`, whatever it reaches in `first`";
  EXPECT_FALSE(truths[2].has_value()) << "evaluated for `first` only";
  EXPECT_FALSE(truths[3].has_value()) << "not logged";
  EXPECT_EQ(logged_truth(data, about({"first"}), {{{3, 3}}})[0]->value, 3);
  EXPECT_FALSE(logged_truth(data, about({"third"}), {{{3, 3}}})[0].has_value());
}

TEST(BestInLog, OfTiesTheFirstRowWins) {
  const dataset::Dataset data = log_of({{0, {3, 0}, 5}, {0, {0, 3}, 5}});
  EXPECT_EQ(best_levels(data, about({"first"})), (Levels{3, 0}));
}

TEST(BestInLog, IsNothingForAnUnknownApplicationOrWithoutAFeasibleRow) {
  EXPECT_FALSE(best_in_log(usual_log(), about({"third"})).has_value());
  EXPECT_FALSE(best_in_log(usual_log(), about({})).has_value());
  EXPECT_FALSE(best_in_log(log_of({{0, {0, 0}, kInfeasible}}), about({"first"})).has_value());
}

}  // namespace
}  // namespace hindsight::optimize

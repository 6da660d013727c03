/// Do tables and JSON of backtests compare predictions by what the objective has?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hindsight/report/backtest.h"

namespace hindsight::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

study::BacktestResult result_of(const study::BacktestScore& score, bool has_ratios) {
  study::BacktestResult result;
  result.has_ratios = has_ratios;
  result.candidates.resize(1);
  result.candidates.front().recipe.name = "plain";
  result.candidates.front().scores = {score};
  return result;
}

TEST(BacktestReport, RatiosWhereTheObjectiveHasThem) {
  study::BacktestScore score;
  score.true_over_predicted = 1.25;
  const study::BacktestResult result = result_of(score, true);
  EXPECT_THAT(backtest_text(result, 0), AllOf(HasSubstr("true/predicted"), HasSubstr("1.25"), Not(HasSubstr("(SD)"))));
  EXPECT_THAT(backtest_json(result),
              AllOf(HasSubstr("\"true_over_predicted\": 1.25"), HasSubstr("\"true_minus_predicted_sd\": null")));
}

TEST(BacktestReport, DifferencesInSpreadsWhereItHasNone) {
  study::BacktestScore score;
  score.true_minus_predicted_sd = -0.416;
  const study::BacktestResult result = result_of(score, false);
  EXPECT_THAT(backtest_text(result, 0),
              AllOf(HasSubstr("true - predicted (SD)"), HasSubstr("-0.42"), Not(HasSubstr("true/predicted"))));
  EXPECT_THAT(backtest_json(result),
              AllOf(HasSubstr("\"true_over_predicted\": null"), HasSubstr("\"true_minus_predicted_sd\": -0.416")));
}

}  // namespace
}  // namespace hindsight::report

/// Does a front keep to what a log knows: its designs as they are, and no prediction that one of them may dominate?
#include "optimize/logged_front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hand_table.h"
#include "hindsight/core/error.h"
#include "hindsight/optimize/propose.h"
#include "optimize/tiny_model.h"
#include "tolerances.h"

namespace hindsight::optimize {
namespace {

using ::testing::HasSubstr;
using Levels = std::vector<std::uint16_t>;

double slope(double per_level, std::size_t level) { return per_level * static_cast<double>(level); }

/// Only the first two parameters matter: log latency = -0.3 a, log power = 0.2 a - 0.1 b.
surrogate::Model trading_model() {
  const auto latency = [](std::size_t p, std::size_t level) { return p == 0 ? slope(-0.3, level) : 0; };
  const auto power = [](std::size_t p, std::size_t level) {
    return p == 0 ? slope(0.2, level) : p == 1 ? slope(-0.1, level) : 0;
  };
  const auto sure = [](std::size_t p, std::size_t) { return p == 0 ? 9.0 : 0.0; };
  return make_model(mixed_space(), {additive_network(mixed_space(), latency, sure, power)});
}

ProposeOptions front_options(const dataset::Dataset* logged) {
  ProposeOptions options;
  options.contexts = {plain_context("one")};
  options.search.evaluations = 4000;
  options.threads = 1;
  options.count = 1000;
  options.front = {{.name = "latency"}, {.name = "power_w"}};
  options.logged = logged;
  // The others are fixed, so that the whole front is the designs (a, 7) with the model's e^(-0.3 a), e^(0.2 a - 0.7).
  options.allowed = {{}, {}, {0}, {0}, {0}, {0}};
  return options;
}

struct LoggedRow {
  std::uint16_t a = 0, b = 0;
  double latency = 0, power = 0;
  std::int32_t context = 0;
};

dataset::Dataset log_of(const std::vector<LoggedRow>& rows) {
  std::vector<hindsight::test::TableRow> table;
  for (const LoggedRow& row : rows) table.push_back({row.context, {row.a, row.b, 0, 0, 0, 0}, row.latency});
  dataset::Dataset data = hindsight::test::table_of(mixed_space(), table);
  data.contexts[0].name = "one";
  data.contexts[1].name = "two";
  data.constraint_names = {"power_w"};
  data.constraints.resize(std::ssize(rows), 1);
  for (std::size_t i = 0; i < rows.size(); ++i) data.constraints(static_cast<Eigen::Index>(i), 0) = rows[i].power;
  return data;
}

double said_latency(int a) { return std::exp(-0.3 * a); }
double said_power(int a, int b) { return std::exp(0.2 * a - 0.1 * b); }

const Proposal* find(const ProposeResult& result, std::uint16_t a, std::uint16_t b) {
  for (const Proposal& proposal : result.proposals) {
    if (proposal.design.levels == Levels{a, b, 0, 0, 0, 0}) return &proposal;
  }
  return nullptr;
}

TEST(LoggedFront, ALoggedDesignStandsWithItsOwnValues) {
  // As predicted, but (5, 3) which the model takes for worse than (5, 7): it draws half of what is said there.
  const double power = 0.5 * said_power(5, 7);
  const dataset::Dataset logged = log_of({{5, 3, said_latency(5), power}, {1, 7, said_latency(1), said_power(1, 7)}});
  const ProposeResult result = propose(trading_model(), front_options(&logged));
  const Proposal* known = find(result, 5, 3);
  ASSERT_NE(known, nullptr);
  EXPECT_TRUE(known->from_log);
  EXPECT_NEAR(known->front[1].predicted, power, kScoreError);
  EXPECT_NEAR(known->front[1].cautious, power, kScoreError);
  EXPECT_NEAR(known->front[0].by_context.at(0), said_latency(5), kScoreError);
  EXPECT_EQ(find(result, 5, 7), nullptr) << "the logged one is as fast and needs less";
  EXPECT_EQ(find(result, 4, 7), nullptr) << "slower, and log power 0.1 against 0.3 - log 2";
  ASSERT_NE(find(result, 6, 7), nullptr) << "faster";
  EXPECT_FALSE(find(result, 6, 7)->from_log);
  ASSERT_TRUE(result.log_beside);
  EXPECT_EQ(result.log_beside->designs, 2U);
  EXPECT_GE(result.log_beside->beaten, 2U);
  EXPECT_EQ(result.front_size, result.proposals.size());
}

TEST(LoggedFront, PredictionsCountByTheErrorsNearTheFrontWorse) {
  // The truth is 20 % slower than predicted, and exactly what is said of power: log(1.2) = 0.18 is less than a step.
  std::vector<LoggedRow> rows;
  for (std::uint16_t a = 0; a < 10; ++a) rows.push_back({a, 6, 1.2 * said_latency(a), said_power(a, 6)});
  const dataset::Dataset logged = log_of(rows);
  const ProposeResult result = propose(trading_model(), front_options(&logged));
  ASSERT_TRUE(result.log_beside);
  ASSERT_EQ(result.log_beside->margins.size(), 2U);
  EXPECT_NEAR(result.log_beside->margins[0], std::log(1.2), kScoreError);
  EXPECT_NEAR(result.log_beside->margins[1], 0.025, kScoreError) << "the least";
  EXPECT_EQ(result.log_beside->compared, 10U);
  // (a, 7) needs a step less power than the logged (a, 6) and is as slow as that with the margin: all of them stand.
  EXPECT_EQ(result.log_beside->beaten, 0U);
  EXPECT_NE(find(result, 3, 7), nullptr);
}

TEST(LoggedFront, MarksWhatNoLoggedDesignComesNear) {
  // Latency of the log ends at a = 4, as predicted; power at (0, 7), the least that is predicted at all.
  const dataset::Dataset logged =
      log_of({{4, 6, said_latency(4), said_power(4, 6)}, {0, 7, said_latency(0), said_power(0, 7)}});
  const ProposeResult result = propose(trading_model(), front_options(&logged));
  ASSERT_TRUE(result.log_beside);
  ASSERT_EQ(result.log_beside->least.size(), 2U);
  EXPECT_NEAR(result.log_beside->least[0], said_latency(4), kScoreError);
  EXPECT_NEAR(result.log_beside->least[1], said_power(0, 7), kScoreError);
  const Proposal* faster = find(result, 5, 7);
  ASSERT_NE(faster, nullptr);
  EXPECT_TRUE(faster->front[0].beyond_log) << "log latency 0.3 less, against 0.025";
  EXPECT_FALSE(faster->front[1].beyond_log);
  const Proposal* between = find(result, 2, 7);
  ASSERT_NE(between, nullptr);
  EXPECT_FALSE(between->front[0].beyond_log);
  const Proposal* known = find(result, 0, 7);
  ASSERT_NE(known, nullptr);
  EXPECT_FALSE(known->front[1].beyond_log) << "it is of the log";
}

TEST(LoggedFront, WhatALoggedDesignMayDominateIsLeftOut) {
  // (6, 7) is logged as predicted; the errors elsewhere say that predictions are up to 1.5 times too fast and too low.
  std::vector<LoggedRow> rows{{6, 7, said_latency(6), said_power(6, 7)}};
  for (std::uint16_t a = 0; a < 5; ++a) rows.push_back({a, 7, 1.5 * said_latency(a), 1.5 * said_power(a, 7)});
  const dataset::Dataset logged = log_of(rows);
  const ProposeResult result = propose(trading_model(), front_options(&logged));
  EXPECT_NEAR(result.log_beside->margins[0], std::log(1.5), kScoreError);
  EXPECT_EQ(find(result, 7, 7), nullptr) << "0.3 faster as said, 0.1 slower if said as wrongly as the others";
  EXPECT_EQ(find(result, 5, 7), nullptr);
  ASSERT_NE(find(result, 8, 7), nullptr) << "faster even so: 0.6 against log 1.5";
  ASSERT_NE(find(result, 6, 7), nullptr);
  EXPECT_TRUE(find(result, 6, 7)->from_log);
  ProposeOptions other = front_options(&logged);
  other.pessimism = 0;
  EXPECT_NE(find(propose(trading_model(), other), 7, 7), nullptr) << "as predicted";
  other.pessimism = 2;
  EXPECT_EQ(find(propose(trading_model(), other), 8, 7), nullptr) << "0.6 against 2 log 1.5";
}

TEST(LoggedFront, OnlyWhatIsWithinTheLimitsAndFeasibleForAllCounts) {
  const double low = 0.1;                                             // of power: would beat everything
  dataset::Dataset logged = log_of({{5, 3, said_latency(9), low, 0},  // no row of application "two"
                                    {4, 4, said_latency(9), low, 0},  // infeasible there
                                    {4, 4, hindsight::test::kInfeasible, low, 1},
                                    {3, 3, said_latency(3), 40, 0},  // over the limit of power
                                    {3, 3, 1, 40, 1},
                                    {2, 2, said_latency(2), 2, 0},
                                    {2, 2, 10, 2, 1}});
  ProposeOptions options = front_options(&logged);
  options.contexts.push_back(plain_context("two"));
  options.constraints = {{.name = "power_w", .limit = 20}};
  const ProposeResult result = propose(trading_model(), options);
  ASSERT_TRUE(result.log_beside);
  EXPECT_EQ(result.log_beside->designs, 1U);
  EXPECT_EQ(result.log_beside->compared, 1U);
  options.allowed[0] = {0, 1};
  EXPECT_FALSE(propose(trading_model(), options).log_beside) << "none is allowed";
  logged.constraint_names = {"energy_j"};
  options.allowed[0] = {};
  EXPECT_FALSE(propose(trading_model(), options).log_beside) << "the log does not have power";
}

TEST(LoggedFront, WhatTheLogHasIsNotPredicted) {
  // (9, 7), the fastest by the model, is ten times slower in truth, and (8, 7) cannot be built; the model is right
  // about all others, so that nothing else keeps the two away.
  std::vector<LoggedRow> rows{{9, 7, 10 * said_latency(9), said_power(9, 7)},
                              {8, 7, hindsight::test::kInfeasible, said_power(8, 7)}};
  for (std::uint16_t a = 0; a < 6; ++a) {
    for (const std::uint16_t b : {std::uint16_t{5}, std::uint16_t{6}})
      rows.push_back({a, b, said_latency(a), said_power(a, b)});
  }
  const dataset::Dataset logged = log_of(rows);
  const ProposeResult result = propose(trading_model(), front_options(&logged));
  EXPECT_EQ(find(result, 9, 7), nullptr);
  EXPECT_EQ(find(result, 8, 7), nullptr);
}

double true_latency(int a, int b) { return std::exp(0.4 * b) * said_latency(a); }

/// Half of all (a, b): each step of b, which the model takes to cost nothing, costs more latency than one of a gains.
std::vector<LoggedRow> half_of_all() {
  std::vector<LoggedRow> rows;
  for (std::uint16_t a = 0; a < 10; ++a) {
    for (std::uint16_t b = 0; b < 8; ++b) {
      if ((a + b) % 2 == 0) rows.push_back({a, b, true_latency(a, b), said_power(a, b)});
    }
  }
  return rows;
}

TEST(LoggedFront, PredictionsAreCorrectedByWhatTheModelIsOffByInTheLog) {
  // By the model the front is (a, 7). In truth a step of a saves twice the power that one of b does: it is (a, 0), of
  // which odd a are not logged, and then (0, b).
  const dataset::Dataset logged = log_of(half_of_all());
  const ProposeResult result = propose(trading_model(), front_options(&logged));
  ASSERT_TRUE(result.log_beside);
  EXPECT_TRUE(result.log_beside->corrected);
  EXPECT_EQ(result.log_beside->compared, logged.size());
  ASSERT_EQ(result.log_beside->errors_before.size(), 2U);
  EXPECT_LT(result.log_beside->errors_after[0], 0.1 * result.log_beside->errors_before[0]);
  EXPECT_NEAR(result.log_beside->errors_after[1], 0, kScoreError);
  EXPECT_NEAR(result.log_beside->margins[0], 0.025, kScoreError) << "by what is left of the errors";
  for (const Proposal& proposal : result.proposals) {
    const auto a = proposal.design.levels[0], b = proposal.design.levels[1];
    EXPECT_TRUE(a == 0 || b == 0) << a << ", " << b;
    EXPECT_NEAR(proposal.front[0].predicted, true_latency(a, b), 0.1 * true_latency(a, b)) << a << ", " << b;
    EXPECT_EQ(proposal.objective.at(0), proposal.front[0].predicted) << "one number for one thing";
    EXPECT_EQ(proposal.cautious, proposal.front[0].cautious);
  }
  for (const std::uint16_t a : {std::uint16_t{3}, std::uint16_t{5}, std::uint16_t{7}}) {
    ASSERT_NE(find(result, a, 0), nullptr) << a;
    EXPECT_FALSE(find(result, a, 0)->from_log);
    EXPECT_TRUE(find(result, a + 1, 0)->from_log);
  }
}

TEST(LoggedFront, WhatIsCorrectedStaysAboveItsBound) {
  // By the log everything is four times faster than predicted, but no more than half of that can be.
  std::vector<LoggedRow> rows;
  for (std::uint16_t a = 0; a < 10; ++a) {
    for (const std::uint16_t b : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{2}})
      rows.push_back({a, b, said_latency(a) / 4, said_power(a, b)});
  }
  const dataset::Dataset logged = log_of(rows);
  ProposeOptions options = front_options(&logged);
  options.lower_bounds = {[](const LevelMatrix& levels) {
    Eigen::VectorXd bounds(levels.rows());
    for (Eigen::Index i = 0; i < levels.rows(); ++i) bounds[i] = said_latency(levels(i, 0)) / 2;
    return bounds;
  }};
  const ProposeResult result = propose(trading_model(), options);
  int predicted = 0;
  for (const Proposal& proposal : result.proposals) {
    if (proposal.from_log) continue;
    ++predicted;
    const double bound = said_latency(proposal.design.levels[0]) / 2;
    EXPECT_GE(proposal.front[0].predicted, bound * (1 - kScoreError));
    EXPECT_GE(proposal.front[0].cautious, bound * (1 - kScoreError));
    EXPECT_LT(proposal.front[0].cautious, 1.1 * bound) << "corrected down to it";
  }
  EXPECT_GT(predicted, 0);
}

TEST(LoggedFront, LoggedDesignsAroundWhatIsFoundCorrectToo) {
  // 900 designs: 400 near the front count, and after a first search 400 others.
  std::vector<LoggedRow> rows;
  for (std::uint16_t i = 0; i < 900; ++i) {
    const std::uint16_t a = i % 10, b = i / 10 % 8;
    rows.push_back({a, b, true_latency(a, b), said_power(a, b)});
  }
  dataset::Dataset logged = log_of(rows);
  for (Eigen::Index i = 0; i < 900; ++i) {
    logged.levels(i, 2) = static_cast<std::uint16_t>(i / 80 % 8);
    logged.levels(i, 3) = static_cast<std::uint16_t>(i / 640);
  }
  ProposeOptions options = front_options(&logged);
  options.allowed = {{}, {}, {}, {}, {0}, {0}};
  options.search.evaluations = 3000;  // of 3,840
  const ProposeResult result = propose(trading_model(), options);
  ASSERT_TRUE(result.log_beside);
  EXPECT_EQ(result.log_beside->compared, 800U);
  EXPECT_LE(result.solution.evaluations, options.search.evaluations) << "the two searches share what one has";
}

TEST(LoggedFront, FewDesignsDoNotCorrect) {
  std::vector<LoggedRow> rows = half_of_all();
  rows.resize(19);
  const dataset::Dataset logged = log_of(rows);
  EXPECT_FALSE(propose(trading_model(), front_options(&logged)).log_beside->corrected);
}

TEST(LoggedFront, NewOnesAloneAreThoseThatBeatTheLog) {
  std::vector<LoggedRow> rows;
  for (std::uint16_t a = 0; a < 9; ++a) rows.push_back({a, 7, said_latency(a), said_power(a, 7)});
  dataset::Dataset logged = log_of(rows);
  ProposeOptions options = front_options(&logged);
  options.only_new = true;
  const ProposeResult result = propose(trading_model(), options);
  ASSERT_EQ(result.proposals.size(), 1U);
  EXPECT_EQ(result.proposals.front().design.levels, (Levels{9, 7, 0, 0, 0, 0}));
  EXPECT_FALSE(result.proposals.front().from_log);

  rows.push_back({0, 0, 0.99 * said_latency(9), 0.1});
  logged = log_of(rows);
  try {
    static_cast<void>(propose(trading_model(), options));
    FAIL() << "one logged design beats everything";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
    EXPECT_THAT(error.what(), HasSubstr("Leave out --new"));
  }
  options.only_new = false;
  EXPECT_NE(find(propose(trading_model(), options), 0, 0), nullptr);
  options.never = {{{0, 0, 0, 0, 0, 0}}};
  EXPECT_THROW(static_cast<void>(propose(trading_model(), options)), Error) << "that one is not wanted";
}

TEST(LoggedFront, FactsHaveNoMargin) {
  std::vector<LoggedRow> rows;
  for (std::uint16_t a = 0; a < 5; ++a) rows.push_back({a, 6, 1.2 * said_latency(a), 1.2 * said_power(a, 6)});
  const dataset::Dataset logged = log_of(rows);
  ProposeOptions options = front_options(&logged);
  options.front.push_back({.name = "area_mm2", .value = batched(product_area)});
  const ProposeResult result = propose(trading_model(), options);
  ASSERT_EQ(result.log_beside->margins.size(), 3U);
  EXPECT_EQ(result.log_beside->margins[2], 0);
  for (const Proposal& proposal : result.proposals) {
    EXPECT_NEAR(proposal.front[2].predicted, product_area(proposal.design.levels.data()), kScoreError);
  }
}

}  // namespace
}  // namespace hindsight::optimize

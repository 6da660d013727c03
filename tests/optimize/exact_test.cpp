/// Does an exact search find what enumeration finds, account for every design, and rest on bounds that hold?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/random.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/workload/layer_features.h"
#include "optimize/problems.h"
#include "optimize/score_bounds.h"
#include "optimize/tiny_model.h"
#include "surrogate/codes.h"
#include "surrogate/margin_training.h"
#include "surrogate/small_model.h"

namespace hindsight::optimize {
namespace {

using surrogate::NetworkKind;
using ::testing::HasSubstr;

/// Smallest and largest product_area of a box: it grows with every parameter but the categorical one.
ValueRange area_range(const AllowedLevels& box) {
  std::array<std::uint16_t, 6> low{}, high{};
  for (std::size_t p = 0; p < box.size(); ++p) {
    low[p] = box[p].front();
    high[p] = box[p].back();
  }
  return {.smallest = product_area(low.data()), .largest = product_area(high.data())};
}

/// Of product_time: nothing but the part of a and b, then all of it. `error`: added to the last.
ScoreBounds time_bounds(double error = 0) {
  ScoreBounds bounds{.steps = {}, .known = 1};
  bounds.steps.emplace_back([](const LevelMatrix& levels, Eigen::MatrixXd& known) {
    const Eigen::VectorXd part =
        batched([](const std::uint16_t* x) { return 1000.0 / ((x[0] + 1.0) * (x[1] + 1.0)); })(levels);
    known.col(0) = part;
    return part;
  });
  bounds.steps.emplace_back([error](const LevelMatrix& levels, Eigen::MatrixXd& known) {
    const Eigen::VectorXd rest = batched(
        [](const std::uint16_t* x) { return product_time(x) - 1000.0 / ((x[0] + 1.0) * (x[1] + 1.0)); })(levels);
    return Eigen::VectorXd((known.col(0) + rest).array() + error);
  });
  return bounds;
}

Problem bounded_problem(double limit, double error = 0) {
  Problem problem = constrained_problem(limit);
  problem.constraints.front().range = area_range;
  problem.score_bounds = [error](const LevelMatrix& /*sample*/, double /*cutoff*/) { return time_bounds(error); };
  return problem;
}

SearchOptions options_of_kind(SearchKind kind, std::uint64_t keep = 20) {
  return {.kind = kind, .evaluations = 100, .population = 16, .keep = keep, .start = {}};
}

void expect_same_best(const Solution& found, const Solution& wanted) {
  ASSERT_EQ(found.best.size(), wanted.best.size());
  for (std::size_t i = 0; i < found.best.size(); ++i) {
    EXPECT_EQ(found.best[i].design.levels, wanted.best[i].design.levels) << i;
    EXPECT_EQ(found.best[i].score, wanted.best[i].score) << i;
  }
}

TEST(ExactSearch, KeepsWhatEnumerationKeepsAndAccountsForEveryDesign) {
  for (const double limit : {8.0, 20.0, 45.0, 1000.0}) {
    SCOPED_TRACE(limit);
    Problem problem = bounded_problem(limit);
    const Solution all = search(problem, options_of_kind(SearchKind::enumeration));
    SearchOptions options = options_of_kind(SearchKind::exact);
    for (const unsigned threads : {1U, 2U}) {
      options.threads = threads;
      const Solution found = search(problem, options);
      expect_same_best(found, all);
      EXPECT_EQ(found.termination, Termination::enumerated);
      ASSERT_TRUE(found.proof);
      EXPECT_EQ(found.proof->designs, 115200U);
      EXPECT_EQ(found.proof->open(), 0U);
      EXPECT_LT(found.proof->judged, 6000U) << "bounds leave little to judge";
      EXPECT_GE(found.proof->bounded, limit >= 20 ? 1U : 0U);
      EXPECT_EQ(found.proof->beyond_limits > 0, limit < 1000);
    }
    problem.constraints.front().range = nullptr;
    problem.score_bounds = nullptr;
    const Solution unaided = search(problem, options);
    expect_same_best(unaided, all);
    EXPECT_EQ(unaided.proof->bounded, 0U);
    EXPECT_EQ(unaided.proof->judged + unaided.proof->beyond_limits, 115200U);
  }
}

TEST(ExactSearch, RestsOnItsBounds) {
  const Solution all = search(bounded_problem(1000), options_of_kind(SearchKind::enumeration, 500));
  const Solution wrong = search(bounded_problem(1000, 5), options_of_kind(SearchKind::exact, 500));
  EXPECT_NE(wrong.best.back().design.levels, all.best.back().design.levels)
      << "a bound above the score loses designs: this test would see it";
}

TEST(ExactSearch, HonoursAllowedLevelsAndLearnedLimits) {
  Problem problem = bounded_problem(60);
  problem.allowed = {{}, {1, 3, 5}, {}, {2}, {}, {}};
  problem.constraints.push_back({.name = "power_w", .limit = 6});
  problem.model = [](const LevelMatrix& levels) {
    return Learned{.score = batched(product_time)(levels),
                   .values = batched([](const std::uint16_t* x) { return 1.0 * x[0] + x[5]; })(levels)};
  };
  const Solution found = search(problem, options_of_kind(SearchKind::exact));
  expect_same_best(found, search(problem, options_of_kind(SearchKind::enumeration)));
  EXPECT_EQ(found.proof->designs, 10U * 3 * 8 * 1 * 5 * 6);
  EXPECT_EQ(found.proof->open(), 0U);
}

TEST(ExactSearch, SaysWhatTheSearchByChanceHadLeft) {
  SearchOptions options = options_of_kind(SearchKind::exact);
  options.evaluations = 20;
  const Solution found = search(bounded_problem(45), options);
  ASSERT_TRUE(found.proof->found_before);
  EXPECT_GT(*found.proof->found_before, found.best.front().score) << "twenty tries";
  std::atomic<std::uint64_t> calls = 0, last = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    ++calls;
    if (done == total) last = total;
  };
  (void)search(bounded_problem(45), options);
  EXPECT_EQ(calls, last);
}

TEST(ExactSearch, OfLimitsThatNoDesignMeetsSaysTheSmallest) {
  const Problem problem = bounded_problem(1);
  const Solution found = search(problem, options_of_kind(SearchKind::exact));
  EXPECT_TRUE(found.best.empty() || found.best.front().violation > 0);
  EXPECT_EQ(found.proof->beyond_limits, 115200U);
  const std::string text = explain_infeasible(problem, found, options_of_kind(SearchKind::exact));
  EXPECT_THAT(text, HasSubstr("of all 115,200 allowed designs is 4.8. Allow area_mm2 <= 4.8?"));
}

TEST(ExactSearch, InterruptedProvesNothing) {
  std::atomic<int> calls = 0;
  Problem problem = bounded_problem(1000);
  problem.score_bounds = nullptr;
  problem.model = scoring([&](const std::uint16_t* levels) {
    if (++calls == 20'000) set_interrupt_requested(true);
    return product_time(levels);
  });
  const Solution found = search(problem, options_of_kind(SearchKind::exact));
  set_interrupt_requested(false);
  EXPECT_EQ(found.termination, Termination::interrupted);
  ASSERT_TRUE(found.proof);
  EXPECT_GT(found.proof->open(), 0U);
  EXPECT_FALSE(found.best.empty());
}

/// Random networks: they bend more than trained ones.
surrogate::Model random_model(NetworkKind kind) {
  const space::DesignSpace& space = mixed_space();
  const surrogate::Codes codes = surrogate::make_codes(space, true, true);
  surrogate::Architecture architecture{.level_counts = {}, .constraint_count = 1, .reason_count = 1, .hidden = {12, 8}};
  for (const space::Parameter& parameter : space.parameters()) {
    architecture.level_counts.push_back(static_cast<std::int64_t>(parameter.level_count()));
  }
  surrogate::set_table_kind(architecture, kind, codes);
  if (kind == NetworkKind::layers) architecture.layer_features = std::ssize(workload::layer_features());
  std::vector<surrogate::Network> members;
  for (std::uint64_t m = 0; m < 3; ++m) {
    surrogate::Weights weights = surrogate::test::random_weights(architecture, 7 + m);
    for (std::size_t i = 0; i < codes.tables.size(); ++i) weights["code." + std::to_string(i)] = codes.tables[i];
    if (kind == NetworkKind::layers) weights.at("objective.factor").values = {1};
    members.emplace_back(architecture, std::move(weights));
  }
  return make_model(space, std::move(members));
}

dataset::Context layered(const std::string& name, Eigen::Index layers) {
  dataset::Context context = plain_context(name);
  const RandomStream random(static_cast<std::uint64_t>(layers), name);
  context.layers = {.features = Eigen::MatrixXf(layers, std::ssize(workload::layer_features())),
                    .repeats = Eigen::VectorXf::Ones(layers)};
  for (Eigen::Index i = 0; i < context.layers.features.size(); ++i) {
    context.layers.features.data()[i] = static_cast<float>(4 * random.uniform(static_cast<std::uint64_t>(i)) - 2);
  }
  context.layers.repeats[0] = 500;  // most of the cost, as in networks that people have
  return context;
}

ProposeOptions question(Aggregate aggregate) {
  ProposeOptions options;
  options.contexts = {layered("one", 17), layered("two", 5)};
  options.aggregate = aggregate;
  options.weights = {1, 3};
  options.min_p_feasible = 0;
  options.search.evaluations = 200;
  options.threads = 1;
  return options;
}

TEST(ScoreBounds, StepByStepComeCloserToTheScoreFromBelow) {
  const surrogate::Model model = random_model(NetworkKind::layers);
  const LevelMatrix designs = surrogate::test::random_levels({10, 8, 8, 6, 5, 6}, 3000, 1);
  for (const Aggregate aggregate : {Aggregate::mean, Aggregate::weighted, Aggregate::worst, Aggregate::geomean}) {
    for (const double pessimism : {0.0, 2.0}) {
      SCOPED_TRACE(to_string(aggregate) + " " + std::to_string(pessimism));
      ProposeOptions options = question(aggregate);
      options.pessimism = pessimism;
      const auto forecast = std::make_shared<const Forecast>(model, options, 1);
      const Eigen::VectorXd score = forecast->score_alone(designs);
      std::vector<double> sorted(score.begin(), score.end());
      std::sort(sorted.begin(), sorted.end());
      const ScoreBounds bounds = score_bounds(model, options, forecast, designs.topRows(500), sorted[10]);
      EXPECT_GE(bounds.steps.size(), pessimism == 0 ? 2U : 1U) << "some layers first";
      Eigen::MatrixXd known(designs.rows(), bounds.known);
      Eigen::VectorXd before = Eigen::VectorXd::Constant(designs.rows(), -1e30);
      for (const ScoreBound& step : bounds.steps) {
        const Eigen::VectorXd bound = step(designs, known);
        const Eigen::ArrayXd rounding = 1e-4 * (1 + score.array().abs());
        EXPECT_TRUE((bound.array() <= score.array() + rounding).all());
        EXPECT_TRUE((bound.array() >= before.array() - rounding).all());
        before = bound;
      }
      EXPECT_EQ(before, score) << "the last step is the score";
    }
  }
}

/// Lower bounds that grow a hundredfold with every level of the first parameter: far above what a network says of most.
LowerBound steep_bound() {
  return [](const LevelMatrix& levels) -> Eigen::VectorXd {
    return Eigen::pow(100.0, levels.col(0).cast<double>().array() - 4).matrix();
  };
}

TEST(ScoreBounds, LowerBoundsThatLeaveOutEnoughComeFirst) {
  const surrogate::Model model = random_model(NetworkKind::layers);
  const LevelMatrix designs = surrogate::test::random_levels({10, 8, 8, 6, 5, 6}, 3000, 1);
  for (const Aggregate aggregate : {Aggregate::mean, Aggregate::weighted, Aggregate::worst, Aggregate::geomean}) {
    SCOPED_TRACE(to_string(aggregate));
    ProposeOptions options = question(aggregate);
    options.lower_bounds = {steep_bound(), steep_bound()};
    const auto forecast = std::make_shared<const Forecast>(model, options, 1);
    const Eigen::VectorXd score = forecast->score_alone(designs);
    std::vector<double> sorted(score.begin(), score.end());
    std::sort(sorted.begin(), sorted.end());
    const ScoreBounds bounds = score_bounds(model, options, forecast, designs.topRows(500), sorted[10]);
    Eigen::MatrixXd known(designs.rows(), bounds.known);
    const Eigen::VectorXd first = bounds.steps.front()(designs, known);
    EXPECT_EQ(first, *forecast->score_of_bounds(designs));
    EXPECT_GT((first.array() > sorted[10]).cast<double>().mean(), 0.25) << "they are worth asking";
    for (const ScoreBound& step : bounds.steps) {
      EXPECT_TRUE((step(designs, known).array() <= score.array() + 1e-4 * (1 + score.array().abs())).all());
    }
    options.lower_bounds[1] = {};
    const auto half = std::make_shared<const Forecast>(model, options, 1);
    EXPECT_TRUE((half->score_of_bounds(designs)->array() <= half->score_alone(designs).array() + 1e-9).all())
        << "one application without a bound";
    options.lower_bounds.clear();
    EXPECT_FALSE(Forecast(model, options, 1).score_of_bounds(designs));
  }
}

TEST(ExactProposals, AreThoseOfEnumerationWithLowerBounds) {
  const surrogate::Model model = random_model(NetworkKind::layers);
  ProposeOptions options = question(Aggregate::mean);
  options.allowed = {{2, 4, 5, 6, 8, 9}, {1, 3, 5, 7}, {}, {}, {}, {0, 2, 4}};  // bounds 1e-4 to 1e10
  options.lower_bounds = {steep_bound(), steep_bound()};
  options.search.evaluations = 4000;  // enough for a cutoff, by which it is known that the bounds are worth asking
  options.search.kind = SearchKind::enumeration;
  const ProposeResult all = propose(model, options);
  options.search.kind = SearchKind::exact;
  const ProposeResult exact = propose(model, options);
  ASSERT_TRUE(exact.solution.proof);
  EXPECT_GT(exact.solution.proof->bounded, 0U);
  EXPECT_EQ(exact.solution.proof->open(), 0U);
  ASSERT_EQ(exact.solution.best.size(), all.solution.best.size());
  for (std::size_t i = 0; i < all.solution.best.size(); ++i) {
    EXPECT_EQ(exact.solution.best[i].design.levels, all.solution.best[i].design.levels);
  }
}

TEST(ExactProposals, AreThoseOfEnumerationForEveryKindOfNetwork) {
  for (const NetworkKind kind : {NetworkKind::layers, NetworkKind::margins}) {
    const surrogate::Model model = random_model(kind);
    for (const Aggregate aggregate : {Aggregate::geomean, Aggregate::worst}) {
      ProposeOptions options = question(aggregate);
      options.allowed = {{0, 1, 2, 3, 4}, {1, 3, 5, 7}, {}, {}, {}, {0, 2, 4}};
      options.search.kind = SearchKind::enumeration;
      const ProposeResult all = propose(model, options);
      options.search.kind = SearchKind::exact;
      const ProposeResult exact = propose(model, options);
      EXPECT_FALSE(all.solution.proof);
      ASSERT_TRUE(exact.solution.proof);
      EXPECT_EQ(exact.solution.proof->designs, 5U * 4 * 8 * 6 * 5 * 3);
      EXPECT_EQ(exact.solution.proof->open(), 0U);
      ASSERT_EQ(exact.proposals.size(), all.proposals.size());
      EXPECT_EQ(exact.proposals.front().design.levels, all.proposals.front().design.levels);
      ASSERT_EQ(exact.solution.best.size(), all.solution.best.size());
      EXPECT_EQ(exact.solution.best.back().design.levels, all.solution.best.back().design.levels);
    }
  }
}

}  // namespace
}  // namespace hindsight::optimize

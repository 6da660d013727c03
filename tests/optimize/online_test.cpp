/// Do the simulator-driven baselines count right, stay within the constraints, and learn?
#include "hindsight/optimize/online.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "optimize/problems.h"

namespace hindsight::optimize {
namespace {

using ::testing::HasSubstr;

constexpr OnlineMethod kMethods[] = {OnlineMethod::random, OnlineMethod::evolutionary, OnlineMethod::firefly,
                                     OnlineMethod::bayesian};

Simulator simulator(RowFunction function) {
  return [function = std::move(function)](const space::Design& design) -> std::optional<double> {
    const double value = function(design.levels.data());
    if (std::isnan(value)) return std::nullopt;
    return value;
  };
}

/// A smooth positive function with one basin: e^(distance to (6, 2, 5, 4, 3, 5)).
double smooth(const std::uint16_t* x) { return std::exp(0.1 * separable(x)); }

/// The same, infeasible where the product of the first two parameters is large or small.
double partly_infeasible(const std::uint16_t* x) {
  const int product = (x[0] + 1) * (x[1] + 1);
  return product > 40 || product < 6 ? std::numeric_limits<double>::quiet_NaN() : smooth(x);
}

double last_best(const OnlineTrace& trace) { return trace.best_so_far.back(); }

TEST(Online, UsesExactlyItsQueriesOnDistinctDesignsWithinTheConstraints) {
  const Problem problem = constrained_problem(14);
  for (const OnlineMethod method : kMethods) {
    std::uint64_t calls = 0;
    std::set<std::vector<std::uint16_t>> seen;
    const OnlineTrace trace = optimize_online(
        method, problem,
        [&](const space::Design& design) -> std::optional<double> {
          ++calls;
          EXPECT_TRUE(seen.insert(design.levels).second) << to_string(method);
          EXPECT_LE(product_area(design.levels.data()), 14) << to_string(method);
          if (design.levels[4] == 2) return std::nullopt;
          return product_time(design.levels.data());
        },
        60, 1);
    EXPECT_EQ(calls, 60U);
    ASSERT_EQ(trace.design.size(), 60U);
    ASSERT_EQ(trace.objective.size(), 60U);
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < 60; ++i) {
      EXPECT_EQ(trace.objective[i].has_value(), trace.design[i].levels[4] != 2);
      best = std::min(best, trace.objective[i].value_or(best));
      EXPECT_EQ(trace.best_so_far[i], best);
    }
  }
}

TEST(Online, SameSeedSameQueries) {
  for (const OnlineMethod method : kMethods) {
    const auto run = [&](std::uint64_t seed) {
      return optimize_online(method, make_problem(smooth), simulator(partly_infeasible), 50, seed);
    };
    EXPECT_EQ(run(3).design, run(3).design) << to_string(method);
    EXPECT_NE(run(3).design, run(4).design) << to_string(method);
  }
}

TEST(Online, BeginsWithTheDesignsOfTheStartThatAreOpen) {
  const Problem problem = constrained_problem(14);
  const space::Design within{{1, 2, 0, 0, 0, 0}}, beyond{{7, 7, 0, 0, 0, 0}};
  ASSERT_LE(product_area(within.levels.data()), 14);
  ASSERT_GT(product_area(beyond.levels.data()), 14);
  for (const OnlineMethod method : kMethods) {
    const auto run = [&](const std::vector<space::Design>& start) {
      return optimize_online(method, problem, simulator(product_time), 40, 1, start).design;
    };
    const std::vector<space::Design> begun = run({beyond, within, within});
    ASSERT_EQ(begun.size(), 40U) << to_string(method);
    EXPECT_EQ(begun.front(), within) << to_string(method);
    EXPECT_EQ(std::count(begun.begin(), begun.end(), within), 1) << to_string(method);
    EXPECT_EQ(run({beyond}), run({})) << to_string(method);
  }
}

TEST(Online, StopsWhenNoDesignIsLeft) {
  Problem problem = make_problem(smooth);
  problem.allowed = {{1, 2}, {3}, {4}, {5, 0}, {1, 2, 3}, {0}};  // 12 designs
  for (const OnlineMethod method : kMethods) {
    const OnlineTrace trace = optimize_online(method, problem, simulator(smooth), 30, 1);
    EXPECT_EQ(trace.design.size(), 12U) << to_string(method);
    for (const space::Design& design : trace.design) EXPECT_TRUE(problem.is_allowed(design.levels.data()));
  }
  problem.allowed = {{1}, {3}, {4}, {5}, {1}, {0}};
  EXPECT_EQ(optimize_online(OnlineMethod::bayesian, problem, simulator(smooth), 30, 1).design.size(), 1U);
}

TEST(Online, FindsTheFewDesignsThatTightConstraintsLeave) {
  // A space too large to list (10^6 times larger), where one design in 10^5 meets the limit.
  std::vector<space::Parameter> parameters;
  for (char name = 'a'; name <= 'l'; ++name) parameters.push_back(ordinal(std::string(1, name), 10));
  const space::DesignSpace space("large", "", std::move(parameters));
  const auto sum = [](const std::uint16_t* x) { return static_cast<double>(std::accumulate(x, x + 12, 0)); };
  Problem problem;
  problem.space = &space;
  problem.model = scoring(sum);
  problem.constraints.push_back({.name = "sum", .limit = 11, .value = batched(sum)});
  for (const OnlineMethod method : kMethods) {
    const OnlineTrace trace = optimize_online(
        method, problem,
        [&](const space::Design& design) -> std::optional<double> {
          EXPECT_LE(sum(design.levels.data()), 11);
          return 1.0 + design.levels[0];
        },
        40, 1);
    EXPECT_EQ(trace.design.size(), 40U) << to_string(method);
  }
}

TEST(Online, BayesianBeatsRandomOnASmoothFunction) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Problem problem = make_problem(smooth);
    const double random = last_best(optimize_online(OnlineMethod::random, problem, simulator(smooth), 80, seed));
    const double bayesian = last_best(optimize_online(OnlineMethod::bayesian, problem, simulator(smooth), 80, seed));
    EXPECT_LT(bayesian, random) << "seed " << seed;
    EXPECT_LE(bayesian, std::exp(0.1) + 1e-12) << "seed " << seed << ": more than one step from the optimum, 1";
  }
}

TEST(Online, PopulationsBeatRandom) {
  for (const OnlineMethod method : {OnlineMethod::evolutionary, OnlineMethod::firefly}) {
    int wins = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Problem problem = make_problem(smooth);
      const double random = last_best(optimize_online(OnlineMethod::random, problem, simulator(smooth), 300, seed));
      wins += last_best(optimize_online(method, problem, simulator(smooth), 300, seed)) < random ? 1 : 0;
    }
    EXPECT_GE(wins, 4) << to_string(method);
  }
}

TEST(Online, BayesianAvoidsInfeasibleRegions) {
  // Half of the space is infeasible, and the objective falls towards it: the best feasible design is at the border,
  // with (6 - 4)^2 for a, so e^0.4.
  const auto half = [](const std::uint16_t* x) {
    return x[0] > 4 ? std::numeric_limits<double>::quiet_NaN() : smooth(x);
  };
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const OnlineTrace trace = optimize_online(OnlineMethod::bayesian, make_problem(smooth), simulator(half), 60, seed);
    const auto infeasible = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      return std::count(trace.objective.begin() + begin, trace.objective.begin() + end, std::nullopt);
    };
    EXPECT_GE(infeasible(0, 20), 5) << "the first 20 are random: about half is infeasible";
    EXPECT_LE(infeasible(20, 60), 8) << "seed " << seed << ": random queries would have 20";
    EXPECT_LE(last_best(trace), std::exp(0.5) + 1e-12) << "seed " << seed << ": more than one step from the optimum";
  }
}

TEST(Online, CopesWithAnswersThatAreAllAlikeOrNegative) {
  const Problem problem = make_problem(smooth);
  for (const OnlineMethod method : kMethods) {
    const auto never = [](const space::Design& /*design*/) -> std::optional<double> { return std::nullopt; };
    EXPECT_EQ(optimize_online(method, problem, never, 40, 1).best_so_far.back(),
              std::numeric_limits<double>::infinity());
    const auto constant = [](const space::Design& /*design*/) -> std::optional<double> { return 2.5; };
    EXPECT_EQ(last_best(optimize_online(method, problem, constant, 40, 1)), 2.5);
    const auto negative = simulator([](const std::uint16_t* x) { return separable(x) - 20; });
    EXPECT_LT(last_best(optimize_online(method, problem, negative, 60, 1)), 0);
  }
}

TEST(Online, NamesTheConstraintThatNothingMeets) {
  try {
    (void)optimize_online(OnlineMethod::random, constrained_problem(3), simulator(product_time), 10, 1);
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
    EXPECT_THAT(error.what(), HasSubstr("no design meets area_mm2 <= 3"));
    EXPECT_THAT(error.what(), HasSubstr("of all 115,200 allowed designs"));
    EXPECT_THAT(error.what(), HasSubstr("Allow area_mm2 <= 4.8?"));
  }
}

TEST(Online, StopsAtAnInterrupt) {
  const OnlineTrace trace = optimize_online(
      OnlineMethod::evolutionary, make_problem(smooth),
      [calls = 0](const space::Design& design) mutable -> std::optional<double> {
        if (++calls == 7) set_interrupt_requested(true);
        return smooth(design.levels.data());
      },
      50, 1);
  set_interrupt_requested(false);
  EXPECT_EQ(trace.design.size(), 7U);
}

TEST(Online, KnowsItsMethodsByName) {
  EXPECT_EQ(parse_online_method("bayesian"), OnlineMethod::bayesian);
  EXPECT_THROW((void)parse_online_method("bayes_opt"), Error);
}

}  // namespace
}  // namespace hindsight::optimize

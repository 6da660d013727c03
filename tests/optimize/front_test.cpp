/// Are fronts what domination says, volumes what counting says, and does the search find the front that is there?
#include "hindsight/optimize/front.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/random.h"
#include "optimize/problems.h"
#include "tolerances.h"

namespace hindsight::optimize {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Points on a grid of `side` values per metric, so that many are equal; beyond `metrics` they are 0.
std::vector<MetricValues> grid_points(std::size_t count, std::size_t metrics, std::uint64_t side, std::uint64_t seed) {
  const RandomStream random(seed, "points");
  std::vector<MetricValues> points(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t m = 0; m < metrics; ++m) points[i][m] = static_cast<double>(random.below(3 * i + m, side));
  }
  return points;
}

TEST(Domination, NowhereLargerAndSomewhereSmaller) {
  EXPECT_TRUE(dominates({1, 2, 0}, {1, 3, 0}));
  EXPECT_FALSE(dominates({1, 3, 0}, {1, 2, 0}));
  EXPECT_FALSE(dominates({1, 2, 0}, {1, 2, 0})) << "equal ones do not";
  EXPECT_FALSE(dominates({1, 3, 0}, {2, 2, 0}));
  EXPECT_TRUE(dominates({1, 2, 3}, {1, 2, 4}));
  EXPECT_FALSE(dominates({1, 2, 4}, {2, 3, 3})) << "the third metric counts";
}

TEST(NonDominated, AreThoseThatNoOtherPointDominatesEachOnce) {
  EXPECT_THAT(non_dominated(std::vector<MetricValues>{{2, 1, 0}, {1, 2, 0}, {2, 2, 0}, {1, 2, 0}, {1, 3, 0}}),
              ElementsAre(1, 0));
  EXPECT_THAT(non_dominated(std::vector<MetricValues>{}), IsEmpty());
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(non_dominated(std::vector<MetricValues>{{1, infinity, 0}, {2, infinity, 0}}), ElementsAre(0));
  for (const std::size_t metrics : {2U, 3U}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const std::vector<MetricValues> points = grid_points(200, metrics, 12, seed);
      std::vector<MetricValues> expected, found;
      for (const MetricValues& point : points) {
        const bool beaten =
            std::any_of(points.begin(), points.end(), [&](const auto& other) { return dominates(other, point); });
        if (!beaten) expected.push_back(point);
      }
      std::sort(expected.begin(), expected.end());
      expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
      for (const std::size_t i : non_dominated(points)) found.push_back(points[i]);
      EXPECT_EQ(found, expected) << metrics << " metrics, seed " << seed;
    }
  }
}

TEST(Hypervolume, IsTheNumberOfUnitCellsThatArePartlyDominated) {
  EXPECT_EQ(hypervolume(std::vector<MetricValues>{{1, 2, 0}, {2, 1, 0}}, {4, 4, 1}), 3 * 2 + 2 * 3 - 2 * 2);
  EXPECT_EQ(hypervolume(std::vector<MetricValues>{{5, 0, 0}, {0, 4, 0}, {0, 0, 1}}, {4, 4, 1}), 0) << "none is below";
  constexpr int kSide = 7;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<MetricValues> points = grid_points(12, 3, kSide, seed);
    int cells = 0;
    for (int x = 0; x < kSide; ++x) {
      for (int y = 0; y < kSide; ++y) {
        for (int z = 0; z < kSide; ++z) {
          cells += std::any_of(points.begin(), points.end(),
                               [&](const auto& p) { return p[0] <= x && p[1] <= y && p[2] <= z; })
                       ? 1
                       : 0;
        }
      }
    }
    EXPECT_EQ(hypervolume(points, {kSide, kSide, kSide}), cells) << "seed " << seed;
  }
}

TEST(Representatives, KeepTheEndsAndThenWhatAddsMost) {
  // A straight line, and a point that stands out of it: the ends first, then that one, then the middles of the gaps.
  const std::vector<MetricValues> line = {{0, 10, 0},  {1, 9, 0}, {2, 8, 0}, {3, 2, 0},
                                          {8, 1.5, 0}, {9, 1, 0}, {10, 0, 0}};
  EXPECT_THAT(representatives(line, 2), ElementsAre(0, 6));
  EXPECT_THAT(representatives(line, 3), ElementsAre(0, 3, 6));
  EXPECT_THAT(representatives(line, 7), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(representatives(line, 100).size(), 7);
  // No unit matters: a metric a million times larger gives the same choice.
  std::vector<MetricValues> scaled = line;
  for (MetricValues& point : scaled) point[1] *= 1e6;
  EXPECT_EQ(representatives(scaled, 4), representatives(line, 4));
}

TEST(Representatives, OfThreeMetricsAddAsMuchAsTheGreedyChoiceComputedAnew) {
  // On a sphere around a corner no point dominates another.
  std::vector<MetricValues> all = grid_points(60, 3, 1000, 3), front;
  for (MetricValues& point : all) {
    const double radius = std::hypot(point[0], point[1], point[2]);
    for (double& value : point) value = 1 - value / radius;
  }
  for (const std::size_t i : non_dominated(all)) front.push_back(all[i]);
  ASSERT_GT(front.size(), 25U);
  const std::vector<std::size_t> chosen = representatives(front, 12);
  ASSERT_EQ(chosen.size(), 12U);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  MetricValues low = front.front(), high = front.front();
  for (const MetricValues& point : front) {
    for (std::size_t m = 0; m < 3; ++m) {
      low[m] = std::min(low[m], point[m]);
      high[m] = std::max(high[m], point[m]);
    }
  }
  const auto volume = [&](const std::vector<std::size_t>& some) {
    std::vector<MetricValues> points;
    for (const std::size_t i : some) {
      MetricValues& point = points.emplace_back();
      for (std::size_t m = 0; m < 3; ++m) point[m] = (front[i][m] - low[m]) / (high[m] - low[m]);
    }
    return hypervolume(points, {1.1, 1.1, 1.1});
  };
  std::vector<std::size_t> greedy;
  for (std::size_t m = 0; m < 3; ++m) {
    std::size_t least = 0;
    for (std::size_t i = 0; i < front.size(); ++i) {
      if (std::pair(front[i][m], front[i]) < std::pair(front[least][m], front[least])) least = i;
    }
    if (std::find(greedy.begin(), greedy.end(), least) == greedy.end()) greedy.push_back(least);
    EXPECT_THAT(chosen, ::testing::Contains(least)) << "an end of metric " << m;
  }
  while (greedy.size() < 12) {
    std::size_t best = 0;
    double most = -1;
    for (std::size_t i = 0; i < front.size(); ++i) {
      std::vector<std::size_t> more = greedy;
      more.push_back(i);
      if (volume(more) > most) {
        most = volume(more);
        best = i;
      }
    }
    greedy.push_back(best);
  }
  EXPECT_NEAR(volume(chosen), volume(greedy), hindsight::test::kRounding);
}

/// Time, area and, as third, how far d and f are from a corner that neither of them favours.
Problem trade_off(std::size_t metrics) {
  Problem problem;
  problem.space = &mixed_space();
  problem.constraints = {{.name = "power", .limit = 11},
                         {.name = "sum", .limit = 30, .value = batched([](const auto* x) {
                                                        return static_cast<double>(x[0] + x[1] + x[2] + x[3]);
                                                      })}};
  problem.model = [metrics](const LevelMatrix& levels) {
    Learned learned{.score = Eigen::VectorXd::Zero(levels.rows()),
                    .values = Eigen::MatrixXd(levels.rows(), 1),
                    .metrics = Eigen::MatrixXd(levels.rows(), static_cast<Eigen::Index>(metrics))};
    for (Eigen::Index i = 0; i < levels.rows(); ++i) {
      const std::uint16_t* x = levels.data() + i * levels.cols();
      learned.values(i, 0) = x[0] + x[3] + (x[4] == 2 ? 4 : 0);
      learned.metrics(i, 0) = product_time(x);
      learned.metrics(i, 1) = product_area(x);
      if (metrics > 2) learned.metrics(i, 2) = std::abs(x[3] - 2.0) + 2.0 * std::abs(x[5] - 1.0) + 0.1 * x[4];
    }
    return learned;
  };
  return problem;
}

/// Every feasible design's metrics, without any code of the searches.
std::vector<MetricValues> feasible_metrics(const Problem& problem) {
  std::vector<MetricValues> points;
  const std::uint64_t size = *mixed_space().size();
  LevelMatrix levels(1, 6);
  for (std::uint64_t i = 0; i < size; ++i) {
    const space::Design design = mixed_space().design(i);
    std::copy(design.levels.begin(), design.levels.end(), levels.data());
    const Learned learned = problem.model(levels);
    if (learned.values(0, 0) > problem.constraints[0].limit) continue;
    if (problem.constraints[1].value(levels)[0] > problem.constraints[1].limit) continue;
    MetricValues& point = points.emplace_back();
    for (Eigen::Index m = 0; m < learned.metrics.cols(); ++m)
      point[static_cast<std::size_t>(m)] = learned.metrics(0, m);
  }
  return points;
}

std::vector<MetricValues> metrics_of(const Front& front) {
  std::vector<MetricValues> points;
  for (const FrontMember& member : front.members) points.push_back(member.metrics);
  return points;
}

MetricValues reference_of(const std::vector<MetricValues>& points, std::size_t metrics) {
  MetricValues reference = {1, 1, 1};
  for (std::size_t m = 0; m < metrics; ++m) {
    reference[m] = 1e-9 + (*std::max_element(points.begin(), points.end(),
                                             [m](const auto& a, const auto& b) { return a[m] < b[m]; }))[m];
  }
  return reference;
}

TEST(SearchFront, FindsTheFrontThatEnumerationProves) {
  for (const std::size_t metrics : {2U, 3U}) {
    const Problem problem = trade_off(metrics);
    const std::vector<MetricValues> points = feasible_metrics(problem);
    ASSERT_GT(points.size(), 1000U);
    ASSERT_LT(points.size(), *mixed_space().size()) << "some are infeasible";
    std::vector<MetricValues> exact;
    for (const std::size_t i : non_dominated(points)) exact.push_back(points[i]);
    ASSERT_GT(exact.size(), 20U);
    const MetricValues reference = reference_of(exact, metrics);
    SearchOptions options;
    options.kind = SearchKind::enumeration;
    for (const unsigned threads : {1U, 3U}) {
      options.threads = threads;
      const Front front = search_front(problem, metrics, options);
      EXPECT_EQ(metrics_of(front), exact) << metrics << " metrics, " << threads << " threads";
      EXPECT_EQ(front.termination, Termination::enumerated);
    }
    options.kind = SearchKind::evolutionary;
    options.evaluations = 10000;
    for (options.seed = 1; options.seed <= 5; ++options.seed) {
      const Front front = search_front(problem, metrics, options);
      EXPECT_LE(front.evaluations, 10000U);
      EXPECT_EQ(front.termination, Termination::evaluations_used);
      const double share = hypervolume(metrics_of(front), reference) / hypervolume(exact, reference);
      EXPECT_GE(share, 0.98) << metrics << " metrics, seed " << options.seed;
      EXPECT_LE(share, 1 + hindsight::test::kRounding);
    }
  }
}

TEST(SearchFront, IsTheSameForASeedAndHoldsOneDesignPerPoint) {
  const Problem problem = trade_off(2);
  SearchOptions options;
  options.evaluations = 3000;
  const Front one = search_front(problem, 2, options), again = search_front(problem, 2, options);
  ASSERT_EQ(one.members.size(), again.members.size());
  for (std::size_t i = 0; i < one.members.size(); ++i) {
    EXPECT_EQ(one.members[i].design, again.members[i].design);
    EXPECT_TRUE(i == 0 || one.members[i - 1].metrics < one.members[i].metrics);
  }
}

TEST(SearchFront, OfDesignsWithEqualMetricsKeepsThatOfTheSmallestLevels) {
  Problem problem;
  problem.space = &mixed_space();
  problem.model = [](const LevelMatrix& levels) {  // e and f do not matter, a trades against b
    Learned learned{.score = Eigen::VectorXd::Zero(levels.rows()), .values = {}, .metrics = {}};
    learned.metrics.resize(levels.rows(), 2);
    learned.metrics.col(0) = levels.col(0).cast<double>() - levels.col(1).cast<double>();
    learned.metrics.col(1) = levels.col(1).cast<double>() + levels.col(2).cast<double>() + levels.col(3).cast<double>();
    return learned;
  };
  SearchOptions options;
  options.kind = SearchKind::enumeration;
  options.threads = 2;
  const Front front = search_front(problem, 2, options);
  ASSERT_EQ(front.members.size(), 8U) << "a = 0, every b";
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_THAT(front.members[i].design.levels, ElementsAre(0, 7 - i, 0, 0, 0, 0));
  }
}

TEST(SearchFront, StartsAreJudgedAndInfeasibleOnesAreNoMembers) {
  Problem problem = trade_off(2);
  SearchOptions options;
  options.evaluations = 1;
  options.start = {{{0, 0, 0, 0, 0, 0}}};
  const Front one = search_front(problem, 2, options);
  ASSERT_EQ(one.members.size(), 1U);
  EXPECT_THAT(one.members[0].design.levels, ElementsAre(0, 0, 0, 0, 0, 0));
  problem.constraints[0].limit = -1;
  options.evaluations = 500;
  EXPECT_THAT(search_front(problem, 2, options).members, IsEmpty());
  EXPECT_EQ(search_front(problem, 2, options).evaluations, 500U);
}

TEST(SearchFront, RefusesSearchesOfOneNumber) {
  for (const SearchKind kind : {SearchKind::firefly, SearchKind::local}) {
    SearchOptions options;
    options.kind = kind;
    try {
      static_cast<void>(search_front(trade_off(2), 2, options));
      FAIL() << to_string(kind);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.what(), HasSubstr("minimises one number"));
    }
  }
}

TEST(SearchFront, CtrlCEndsIt) {
  set_interrupt_requested(true);
  const Front front = search_front(trade_off(2), 2, {.evaluations = 5000, .start = {}});
  set_interrupt_requested(false);
  EXPECT_EQ(front.termination, Termination::interrupted);
  EXPECT_EQ(front.evaluations, 0U);
}

}  // namespace
}  // namespace hindsight::optimize

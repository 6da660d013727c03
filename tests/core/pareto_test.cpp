/// Are fronts what their definition says, also where nearly every point is on them?
#include "hindsight/core/pareto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>

#include "hindsight/core/random.h"

namespace hindsight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// n points x dimensions, every coordinate one of `values` numbers.
std::vector<double> random_points(std::uint64_t seed, std::size_t points, std::size_t dimensions,
                                  std::uint64_t values) {
  const RandomStream random(seed, "points");
  std::vector<double> coordinates;
  for (std::size_t i = 0; i < points * dimensions; ++i) {
    coordinates.push_back(static_cast<double>(random.below(i, values)));
  }
  return coordinates;
}

/// By the definition.
std::vector<std::size_t> by_comparing_all(const std::vector<double>& coordinates, std::size_t dimensions) {
  const std::size_t count = coordinates.size() / dimensions;
  const auto point = [&](std::size_t i) {
    const auto begin = coordinates.begin() + static_cast<std::ptrdiff_t>(i * dimensions);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(dimensions));
  };
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < count; ++i) {
    bool dominated = false;
    for (std::size_t j = 0; j < count && !dominated; ++j) {
      bool no_larger = true;
      for (std::size_t k = 0; k < dimensions; ++k) no_larger = no_larger && point(j)[k] <= point(i)[k];
      dominated = no_larger && point(j) != point(i);
    }
    if (!dominated) front.push_back(i);
  }
  std::stable_sort(front.begin(), front.end(), [&](std::size_t a, std::size_t b) { return point(a) < point(b); });
  return front;
}

TEST(Pareto, FewPointsByHand) {
  EXPECT_THAT(pareto_positions({}, 3), IsEmpty());
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THAT(pareto_positions(std::vector{2.0, 1.0, 2.0, 1.0}, 1), ElementsAre(1, 3));
  EXPECT_THAT(pareto_positions(std::vector{2.0, 1.0, 1.0, 2.0, 2.0, 1.0, 2.0, 2.0}, 2), ElementsAre(1, 0, 2));
  EXPECT_THAT(pareto_positions(std::vector{1.0, infinity, 0.0, 2.0, infinity, 0.0}, 3), ElementsAre(0));
}

TEST(Pareto, IsThatOfTheDefinition) {
  for (std::size_t dimensions = 1; dimensions <= 5; ++dimensions) {
    for (const std::uint64_t values : {2U, 7U, 1'000'000U}) {  // from many ties to none
      for (const std::size_t points : {1U, 2U, 50U, 400U}) {
        SCOPED_TRACE(std::to_string(points) + " points of " + std::to_string(values) + " values in " +
                     std::to_string(dimensions));
        const std::vector<double> coordinates = random_points(dimensions, points, dimensions, values);
        EXPECT_EQ(pareto_positions(coordinates, dimensions), by_comparing_all(coordinates, dimensions));
      }
    }
  }
}

/// By comparing each with all this would take minutes; on a sphere around a corner no point dominates another.
TEST(Pareto, ALongFrontOfManyMetrics) {
  constexpr std::size_t kPoints = 100'000;
  for (const std::size_t dimensions : {3U, 4U}) {
    std::vector<double> coordinates = random_points(dimensions, kPoints, dimensions, 1'000'000'000);
    for (std::size_t i = 0; i < kPoints; ++i) {
      const auto point = std::span(coordinates).subspan(i * dimensions, dimensions);
      for (double& one : point) ++one;  // none is the corner
      const double length = std::sqrt(std::inner_product(point.begin(), point.end(), point.begin(), 0.0));
      for (double& one : point) one = 1 - one / length;
    }
    EXPECT_GT(pareto_positions(coordinates, dimensions).size(), kPoints - 10) << "of those that are rounded alike";
  }
}

}  // namespace
}  // namespace hindsight

/// Property: the permutation is one, for every length, and looks random.
#include "hindsight/space/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "hindsight/core/error.h"

namespace hindsight::space {
namespace {

std::vector<std::uint64_t> images(const Permutation& permutation) {
  std::vector<std::uint64_t> result(permutation.count());
  std::iota(result.begin(), result.end(), 0U);
  std::ranges::transform(result, result.begin(), [&](std::uint64_t i) { return permutation(i); });
  return result;
}

TEST(Permutation, IsABijectionForEveryLength) {
  for (std::uint64_t count = 1; count <= 300; ++count) {
    std::vector<std::uint64_t> sorted = images(Permutation(count, 42, "test"));
    std::ranges::sort(sorted);
    for (std::uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(sorted[i], i) << "count " << count;
    }
  }
  std::vector<std::uint64_t> sorted = images(Permutation(100'003, 42, "test"));
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
  EXPECT_EQ(sorted.back(), 100'002U);
}

TEST(Permutation, StaysInRangeForTheLargestLengths) {
  for (const std::uint64_t count : {(std::uint64_t{1} << 40U) + 1, std::uint64_t{1} << 63U}) {
    const Permutation permutation(count, 1, "test");
    EXPECT_LT(permutation(0), count);
    EXPECT_LT(permutation(count - 1), count);
    EXPECT_NE(permutation(0), permutation(count - 1));
  }
}

TEST(Permutation, DependsOnSeedAndName) {
  EXPECT_EQ(images(Permutation(1000, 1, "a")), images(Permutation(1000, 1, "a")));
  EXPECT_NE(images(Permutation(1000, 1, "a")), images(Permutation(1000, 2, "a")));
  EXPECT_NE(images(Permutation(1000, 1, "a")), images(Permutation(1000, 1, "b")));
}

TEST(Permutation, SmallOnesReachEveryOrderAboutEquallyOften) {
  // 24 orders of 4 items; 24,000 seeds give 1000 each, standard deviation about sqrt(1000) = 32; the bound of
  // +-200 is more than six of them.
  std::map<std::vector<std::uint64_t>, int> orders;
  for (std::uint64_t seed = 0; seed < 24'000; ++seed) {
    ++orders[images(Permutation(4, seed, "test"))];
  }
  EXPECT_EQ(orders.size(), 24U);
  for (const auto& [order, times] : orders) {
    EXPECT_NEAR(times, 1000, 200);
  }
}

TEST(Permutation, ImagesDoNotFollowTheirArguments) {
  // Correlation of i and its image over n = 4096 random pairs has standard deviation 1 / sqrt(n) = 0.016;
  // the bound is five of them.
  const Permutation permutation(4096, 9, "test");
  double sum = 0.0;
  const double mean = 4095.0 / 2.0;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    sum += (static_cast<double>(i) - mean) * (static_cast<double>(permutation(i)) - mean);
  }
  const double variance = (4096.0 * 4096.0 - 1.0) / 12.0;
  EXPECT_NEAR(sum / 4096.0 / variance, 0.0, 0.08);
}

TEST(Permutation, ArgumentsOutOfRangeBreakTheContract) {
  EXPECT_THROW(Permutation(0, 1, "test"), ContractViolation);
  EXPECT_THROW((void)Permutation(5, 1, "test")(5), ContractViolation);
}

}  // namespace
}  // namespace hindsight::space

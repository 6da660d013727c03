/// Are the streams stable, uniform and independent?
#include "hindsight/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core_fixture.h"
#include "tolerances.h"

namespace hindsight {
namespace {

TEST(RandomStream, WordsNeverChange) {
  // Computed with an independent implementation of the equation in the header: a log must stay reproducible.
  const RandomStream stream(42, "sampling");
  EXPECT_EQ(stream.word(0), 0xe98d8cd3f4cd82d8ULL);
  EXPECT_EQ(stream.word(1), 0x21de9ff47fa6bd46ULL);
  EXPECT_EQ(stream.word(1ULL << 40U), 0x1d3643455b35601cULL);
  // 0x21de9ff47fa6bd46 / 2^64 = 0.13230...; times 1000 and rounded down: 132.
  EXPECT_DOUBLE_EQ(stream.uniform(1), 0.13230323523716947);
  EXPECT_EQ(stream.below(1, 1000), 132U);
}

TEST(RandomStream, UniformStaysBelowOneAndHasTheRightMoments) {
  const std::uint64_t seed = test::test_seed();
  const RandomStream stream(seed, "moments");
  constexpr int kCount = 200'000;
  double sum = 0.0;
  double sum_of_squares = 0.0;
  for (int i = 0; i < kCount; ++i) {
    const double u = stream.uniform(static_cast<std::uint64_t>(i));
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    sum_of_squares += u * u;
  }
  // Mean 1/2 with variance 1/12; mean square 1/3 with variance 1/5 - 1/9 = 4/45.
  EXPECT_NEAR(sum / kCount, 0.5, test::kFiveSigma * std::sqrt(1.0 / 12.0 / kCount));
  EXPECT_NEAR(sum_of_squares / kCount, 1.0 / 3.0, test::kFiveSigma * std::sqrt(4.0 / 45.0 / kCount));
}

TEST(RandomStream, BelowFillsItsRangeEvenly) {
  const RandomStream stream(test::test_seed(), "bins");
  constexpr std::size_t kBins = 7;  // not a power of two: a plain modulo or mask would show
  constexpr std::uint64_t kCount = 70'000;
  std::vector<double> counts(kBins);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const std::uint64_t bin = stream.below(i, kBins);
    ASSERT_LT(bin, kBins);
    ++counts[bin];
  }
  double chi_square = 0.0;
  const double expected = static_cast<double>(kCount) / kBins;
  for (const double count : counts) {
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, test::chi_square_limit(kBins));
  EXPECT_EQ(stream.below(0, 1), 0U);
  EXPECT_THROW((void)stream.below(0, 0), ContractViolation);
}

/// Correlation of two streams over `count` values.
double correlation(const RandomStream& a, const RandomStream& b, std::uint64_t count, std::uint64_t shift) {
  double sum = 0.0;
  for (std::uint64_t i = 0; i < count; ++i) {
    sum += (a.uniform(i) - 0.5) * (b.uniform(i + shift) - 0.5);
  }
  return 12.0 * sum / static_cast<double>(count);
}

TEST(RandomStream, NamesSeedsAndNeighboursAreIndependent) {
  const std::uint64_t seed = test::test_seed();
  const RandomStream a(seed, "a");
  constexpr std::uint64_t kCount = 100'000;
  const double limit = test::kFiveSigma / std::sqrt(static_cast<double>(kCount));
  EXPECT_NEAR(correlation(a, RandomStream(seed, "b"), kCount, 0), 0.0, limit);
  EXPECT_NEAR(correlation(a, RandomStream(seed + 1, "a"), kCount, 0), 0.0, limit);
  EXPECT_NEAR(correlation(a, a, kCount, 1), 0.0, limit);
  EXPECT_NEAR(correlation(a, a, kCount, 0), 1.0, limit);  // the check itself sees a correlation
}

}  // namespace
}  // namespace hindsight

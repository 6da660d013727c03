/// Unit and property: Sobol points against published ones, and their even spread.
#include "hindsight/space/sobol.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "hindsight/core/error.h"

namespace hindsight::space {
namespace {

/// A word as a number in [0, 1); exact for the short points used here.
double unit(std::uint64_t word) { return static_cast<double>(word) * 0x1p-64; }

TEST(Sobol, FirstPointsOfTwoDimensionsAreThePublishedOnes) {
  // Points in Gray-code order: the zero point, then those listed in the documentation of Boost.Random.
  const std::array<std::array<double, 2>, 6> expected = {
      {{0.0, 0.0}, {0.5, 0.5}, {0.75, 0.25}, {0.25, 0.75}, {0.375, 0.375}, {0.875, 0.875}}};
  const SobolSequence sequence(2);
  for (std::uint64_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(unit(sequence.word(i, 0)), expected[i][0]) << "point " << i;
    EXPECT_EQ(unit(sequence.word(i, 1)), expected[i][1]) << "point " << i;
  }
}

TEST(Sobol, ThirdDimensionFollowsItsPrimitivePolynomial) {
  // Joe and Kuo: dimension 3 has polynomial x^2 + x + 1 and m = 1, 3, so v1 = 1/2, v2 = 3/4, and
  // m3 = 2 * m2 ^ 4 * m1 ^ m1 = 6 ^ 4 ^ 1 = 3, v3 = 3/8.
  // Gray codes 1, 3, 2, 6: 1/2; 1/2 ^ 3/4 = 1/4; 3/4; 3/4 ^ 3/8 = 0.11b ^ 0.011b = 0.101b = 5/8.
  const SobolSequence sequence(3);
  EXPECT_EQ(unit(sequence.word(1, 2)), 0.5);
  EXPECT_EQ(unit(sequence.word(2, 2)), 0.25);
  EXPECT_EQ(unit(sequence.word(3, 2)), 0.75);
  EXPECT_EQ(unit(sequence.word(4, 2)), 0.625);
}

TEST(Sobol, EveryDyadicIntervalGetsItsShareInEachDimension) {
  const std::size_t dimensions = 10;
  const SobolSequence sequence(dimensions);
  for (const unsigned bits : {1U, 4U, 8U}) {
    const std::uint64_t points = std::uint64_t{1} << (bits + 2);
    for (std::size_t d = 0; d < dimensions; ++d) {
      std::vector<int> hits(std::size_t{1} << bits, 0);
      for (std::uint64_t i = 0; i < points; ++i) {
        ++hits[sequence.word(i, d) >> (64U - bits)];
      }
      EXPECT_EQ(hits, std::vector<int>(hits.size(), 4)) << "dimension " << d << ", " << bits << " bits";
    }
  }
}

TEST(Sobol, FirstTwoDimensionsAreANetOfStrengthZero) {
  // (0, m, 2)-net: each of the 2^m boxes of 2^-a x 2^-(m-a) holds one of the first 2^m points, for every a.
  const unsigned m = 10;
  const SobolSequence sequence(2);
  for (unsigned a = 0; a <= m; ++a) {
    std::vector<int> hits(std::size_t{1} << m, 0);
    for (std::uint64_t i = 0; i < std::uint64_t{1} << m; ++i) {
      const std::uint64_t column = a == 0 ? 0 : sequence.word(i, 0) >> (64U - a);
      const std::uint64_t row = a == m ? 0 : sequence.word(i, 1) >> (64U - (m - a));
      ++hits[(column << (m - a)) | row];
    }
    EXPECT_EQ(hits, std::vector<int>(hits.size(), 1)) << a;
  }
}

TEST(Sobol, PointsFarOutDifferFromTheirPredecessorInOneDirectionNumber) {
  // Points i and i - 1 differ by the direction number of the lowest set bit of i (Gray code).
  const SobolSequence sequence(5);
  for (const std::uint64_t i : {std::uint64_t{1} << 40U, (std::uint64_t{1} << 62U) + 12, ~std::uint64_t{0}}) {
    const std::uint64_t lowest = i & (~i + 1);
    for (std::size_t d = 0; d < 5; ++d) {
      // Point 2 * lowest - 1 has the Gray code `lowest`, so it is that direction number.
      EXPECT_EQ(sequence.word(i, d) ^ sequence.word(i - 1, d), sequence.word(2 * lowest - 1, d));
    }
  }
}

TEST(Sobol, DimensionsEndWithTheTables) {
  const std::size_t last = SobolSequence::max_dimensions();
  const SobolSequence sequence(last);
  EXPECT_EQ(sequence.dimensions(), last);
  EXPECT_EQ(unit(sequence.word(1, last - 1)), 0.5);
  EXPECT_THROW(SobolSequence{last + 1}, Error);
  EXPECT_THROW((void)sequence.word(0, last), ContractViolation);
}

}  // namespace
}  // namespace hindsight::space

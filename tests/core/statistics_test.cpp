/// Medians of odd and even numbers of values.
#include "hindsight/core/statistics.h"

#include <gtest/gtest.h>

#include <limits>

#include "hindsight/core/error.h"

namespace hindsight {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Median, IsTheMiddleValueOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({7, 1}), 4);
  EXPECT_EQ(median({8, 1, 2, 4}), 3);
  EXPECT_EQ(median({1, kInfinity, kInfinity}), kInfinity);
  EXPECT_EQ(median({1, 2, kInfinity, kInfinity}), kInfinity);
}

TEST(Median, TheUpperOneIsAlwaysOneOfTheValues) {
  EXPECT_EQ(upper_median({9, 1, 5}), 5);
  EXPECT_EQ(upper_median({7, 1}), 7);
  EXPECT_EQ(upper_median({8, 1, 2, 4}), 4);
}

TEST(Median, OfNothingIsABug) {
  EXPECT_THROW((void)median({}), ContractViolation);
  EXPECT_THROW((void)upper_median({}), ContractViolation);
}

}  // namespace
}  // namespace hindsight

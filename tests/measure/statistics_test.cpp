/// When does sampling stop, and is the spread that of a Gaussian?
#include "hindsight/measure/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hindsight::measure {
namespace {

Samples samples_of(std::initializer_list<double> values) {
  Samples samples;
  for (const double value : values) samples.add(value);
  return samples;
}

TEST(Statistics, MedianAndSpreadByHand) {
  EXPECT_DOUBLE_EQ(samples_of({3, 1, 2}).median(), 2);
  EXPECT_DOUBLE_EQ(samples_of({4, 1, 2, 3}).median(), 2.5);
  // Median 10; deviations 2, 1, 0, 1, 90: their median is 1, so 1.4826 * 1 / 10. The outlier does not count.
  EXPECT_DOUBLE_EQ(samples_of({8, 9, 10, 11, 100}).spread_frac(), 0.14826);
  EXPECT_TRUE(std::isnan(Samples().median()));
  EXPECT_EQ(samples_of({5}).spread_frac(), 0);
}

TEST(Statistics, SteadySamplesStopAtTheLeastNumber) {
  const StoppingRule rule{.least_samples = 4, .most_samples = 100, .spread_of_median_frac = 0.01, .most_s = 1e9};
  EXPECT_FALSE(enough(samples_of({1, 1, 1}), rule));
  EXPECT_TRUE(enough(samples_of({1, 1, 1, 1}), rule));
}

TEST(Statistics, NoisySamplesGoOnUntilTheMedianIsKnown) {
  const StoppingRule rule{.least_samples = 2, .most_samples = 1000, .spread_of_median_frac = 0.01, .most_s = 1e9};
  Samples samples;
  std::size_t count = 0;
  while (!enough(samples, rule)) samples.add(count++ % 2 == 0 ? 0.95 : 1.05);
  // Median 1, all deviations 0.05: spread 0.07413 / sqrt(n) <= 0.01 needs n >= 54.95; at odd n the median is 0.95 or
  // 1.05 and the median deviation 0, so the even n before is where the rule first sees both.
  EXPECT_LE(count, 56U);
  EXPECT_GE(samples.count(), rule.least_samples);
}

TEST(Statistics, LimitsEndIt) {
  const StoppingRule rule{
      .least_samples = 50, .most_samples = 60, .spread_of_median_frac = 0, .most_s = 10, .least_samples_of_slow = 3};
  EXPECT_FALSE(enough(samples_of({6, 6}), rule)) << "slow, but two samples only";
  EXPECT_TRUE(enough(samples_of({4, 4, 4}), rule)) << "more than 10 s of samples";
  Samples quick;
  for (int i = 0; i < 60; ++i) quick.add(1e-3 * (i % 3));
  EXPECT_TRUE(enough(quick, rule)) << "most_samples";
}

/// A board that ramps up from idle: batches get shorter until the clock is reached.
TEST(Statistics, WarmUpEndsWhenBatchesNoLongerGetShorter) {
  const WarmUpRule rule{.least_samples = 3, .gain_frac = 0.01, .most_s = 1};
  std::vector<double> batches_s = {9, 6, 4};
  EXPECT_FALSE(warmed_up(batches_s, rule));
  batches_s.push_back(3);
  batches_s.push_back(2.99);
  EXPECT_FALSE(warmed_up(batches_s, rule)) << "4 to 2.99 is still a gain";
  batches_s.push_back(2.98);
  EXPECT_TRUE(warmed_up(batches_s, rule)) << "3 to 2.98 is less than 1 %";
  EXPECT_TRUE(warmed_up(std::vector{1.0, 1.5, 2.0}, rule)) << "the power limit lowers the clock: warm for long";
  EXPECT_FALSE(warmed_up(std::vector{1.0, 1.0}, rule)) << "too few";
}

}  // namespace
}  // namespace hindsight::measure

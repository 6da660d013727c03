/// Are offered limits lenient, short, and kept to what can be set?
#include "optimize/offers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hindsight/core/text.h"

namespace hindsight::optimize {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Two limits of a problem that is not asked.
Problem problem_of_limits() {
  Problem problem;
  problem.constraints = {{.name = "area_mm2", .limit = 3}, {.name = "power_w", .limit = 1, .most = 2.5}};
  return problem;
}

TEST(Offers, AreRoundedUpToThreeDigitsWithoutAnExponent) {
  EXPECT_EQ(rounded_up(11.371577546159994, 3), "11.4");
  EXPECT_EQ(rounded_up(11.4, 3), "11.4");
  EXPECT_EQ(rounded_up(0.0018390514, 3), "0.00184");
  EXPECT_EQ(rounded_up(12345, 3), "12400");
  EXPECT_EQ(rounded_up(9999, 3), "10000");
  EXPECT_EQ(rounded_up(0.0001, 3), "0.0001");
  EXPECT_EQ(rounded_up(-11.37, 3), "-11.3") << "up is towards 0";
  EXPECT_EQ(rounded_up(0.1 + 0.2, 3), "0.301") << "0.3 is below it in the last digit";
  for (double value = 1e-7; value < 1e7; value *= 1.37) {
    const std::string text = rounded_up(value, 3);
    EXPECT_GE(parse_double(text).value(), value) << text;
    EXPECT_LE(parse_double(text).value(), 1.0101 * value) << text;
  }
}

TEST(Offers, AreLoosenedTogetherUntilTheyAreMet) {
  const Problem problem = problem_of_limits();
  const Offers offers(problem, [](const Loosened& loosened) { return loosened.limits.at(0).value >= 10.4; });
  // 10 and 1 by 2 %: 10.2 is not enough; by 5 %.
  EXPECT_THAT(offers.of({{.constraint = 0, .value = 10}, {.constraint = 1, .value = 1}}),
              ElementsAre("area_mm2 <= 10.5", "power_w <= 1.05"));
  EXPECT_THAT(offers.of({{.constraint = 0, .value = 1}}), IsEmpty()) << "1.5 at most";
}

TEST(Offers, GoNoFurtherThanALimitCanBeSet) {
  const Problem problem = problem_of_limits();
  const Offers untried(problem, nullptr);
  EXPECT_THAT(untried.of({{.constraint = 1, .value = 2.4321}}), ElementsAre("power_w <= 2.44"));
  EXPECT_THAT(untried.of({{.constraint = 1, .value = 2.6}}), IsEmpty());
  const Offers late(problem, [](const Loosened& loosened) { return loosened.limits.at(0).value >= 2.6; });
  EXPECT_THAT(late.of({{.constraint = 1, .value = 2.4}}), IsEmpty());
}

TEST(Offers, AreTriedAsTheyAreWritten) {
  const Problem problem = problem_of_limits();
  double tried = 0;
  const Offers offers(problem, [&](const Loosened& loosened) {
    tried = loosened.limits.at(0).value;
    return true;
  });
  EXPECT_THAT(offers.of({{.constraint = 0, .value = 11.3716}}), ElementsAre("area_mm2 <= 11.4"));
  EXPECT_EQ(tried, 11.4);
}

}  // namespace
}  // namespace hindsight::optimize

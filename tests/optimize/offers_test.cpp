/// Are offered limits lenient, short, and kept to what can be set?
#include "optimize/offers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

/// Do walks around a design reach exactly what their steps allow, as a pure function of their number?
#include "hindsight/space/around.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "hindsight/core/error.h"
#include "space/edge_space.h"

namespace hindsight::space {
namespace {

using ::testing::HasSubstr;
using Levels = std::vector<std::uint16_t>;

constexpr std::uint64_t kSeed = 3;

Parameter ordinal(const std::string& name, std::vector<double> values) {
  return {.name = name, .unit = "", .description = "", .values = std::move(values), .labels = {}};
}

/// An ordinal parameter in the middle of its levels, one at its end, a categorical one, and one that is fixed.
DesignSpace mixed_space() {
  return {"mixed",
          "",
          {ordinal("a", {1, 2, 3, 4, 5}), ordinal("b", {1, 2, 3}),
           Parameter{.name = "c",
                     .unit = "",
                     .description = "",
                     .kind = ParameterKind::categorical,
                     .values = {},
                     .labels = {"x", "y", "z"}},
           ordinal("fixed", {7})}};
}
const Design kCentre{.levels = {2, 0, 1, 0}};

Levels design_of(const Sampler& sampler, std::uint64_t i, std::size_t dimensions) {
  Levels levels(dimensions);
  sampler.sample(i, levels);
  return levels;
}

std::map<Levels, std::uint64_t> drawn(const DesignSpace& space, const Neighbourhood& around, std::uint64_t count) {
  const auto sampler = make_around_sampler(space, around, kSeed);
  std::map<Levels, std::uint64_t> times;
  for (std::uint64_t i = 0; i < count; ++i) ++times[design_of(*sampler, i, space.parameters().size())];
  return times;
}

/// Where 1 to `steps` moves to a neighbour end, found by trying all of them.
std::set<Levels> reached_by_brute_force(const DesignSpace& space, const Design& centre, std::uint64_t steps) {
  std::set<Levels> reached;
  std::set<Levels> front{centre.levels};
  for (std::uint64_t step = 0; step < steps; ++step) {
    std::set<Levels> next;
    for (const Levels& levels : front) {
      for (const Design& neighbour : space.neighbours({.levels = levels})) next.insert(neighbour.levels);
    }
    reached.insert(next.begin(), next.end());
    front = std::move(next);
  }
  return reached;
}

TEST(AroundSampler, ReachesWhatItsStepsAllowAndNothingElse) {
  const DesignSpace space = mixed_space();
  for (const std::uint64_t steps : {1, 2, 3, 20}) {
    SCOPED_TRACE(steps);
    const Neighbourhood around{.centre = kCentre, .steps = steps};
    const std::set<Levels> expected = reached_by_brute_force(space, kCentre, steps);
    std::set<Levels> reached;
    for (const auto& [levels, times] : drawn(space, around, 20'000)) reached.insert(levels);  // of at most 45 designs
    EXPECT_EQ(reached, expected);
    EXPECT_EQ(reachable_count(space, around), expected.size());
  }
}

TEST(AroundSampler, CountsTheNeighboursOfEveryDesign) {
  const DesignSpace& space = tiny_space();
  for (std::uint64_t i = 0; i < *space.size(); ++i) {
    const Design centre = space.design(i);
    EXPECT_EQ(reachable_count(space, {.centre = centre, .steps = 1}), space.neighbours(centre).size());
  }
  const Design corner = edge_space().design(0);
  EXPECT_EQ(reachable_count(edge_space(), {.centre = corner, .steps = kMostSteps}), edge_space().size());
}

TEST(AroundSampler, DrawsNothingMoreRarelyThanItSays) {
  constexpr std::uint64_t kDraws = 100'000;
  const DesignSpace space = mixed_space();
  for (const std::uint64_t steps : {1, 3}) {
    const Neighbourhood around{.centre = kCentre, .steps = steps};
    const double expected = smallest_share(space, around) * kDraws;
    for (const auto& [levels, times] : drawn(space, around, kDraws)) {
      // Five standard deviations of a rare event's count: one seed in 10^6 would miss it.
      EXPECT_GT(static_cast<double>(times), expected - 5 * std::sqrt(expected)) << "seed " << kSeed;
    }
  }
}

TEST(AroundSampler, IsAPureFunctionOfSeedAndNumber) {
  const DesignSpace& space = edge_space();
  const Neighbourhood around{.centre = space.design(*space.size() / 2), .steps = 4};
  const std::size_t dimensions = space.parameters().size();
  const auto first = make_around_sampler(space, around, kSeed);
  const auto second = make_around_sampler(space, around, kSeed);
  const auto other = make_around_sampler(space, around, kSeed + 1);
  int differences = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(design_of(*first, i, dimensions), design_of(*second, i, dimensions));
    (void)design_of(*second, 99 - i, dimensions);
    if (design_of(*first, i, dimensions) != design_of(*other, i, dimensions)) ++differences;
  }
  EXPECT_GT(differences, 50);
}

TEST(AroundSampler, RefusesWalksThatMakeNoSense) {
  const auto message = [](const DesignSpace& space, const Neighbourhood& around) -> std::string {
    try {
      (void)make_around_sampler(space, around, kSeed);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message(mixed_space(), {.centre = kCentre, .steps = 0}), HasSubstr("1 to 1,000"));
  EXPECT_THAT(message(mixed_space(), {.centre = kCentre, .steps = kMostSteps + 1}), HasSubstr("1,001 steps"));
  EXPECT_THAT(message({"one", "", {ordinal("a", {1})}}, {.centre = {.levels = {0}}, .steps = 1}),
              HasSubstr("single design"));
}

}  // namespace
}  // namespace hindsight::space

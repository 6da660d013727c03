/// Property: every sampler is a pure function of (space, sampler, seed, count), legal, and as even as it promises.
#include "hindsight/space/sampling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <ranges>
#include <set>
#include <thread>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/thread_pool.h"
#include "hindsight/space/legal_designs.h"
#include "hindsight/space/sobol.h"
#include "space/edge_space.h"

namespace hindsight::space {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();
constexpr SamplerKind kKinds[] = {SamplerKind::uniform, SamplerKind::lhs, SamplerKind::sobol, SamplerKind::grid};

using Levels = std::vector<std::uint16_t>;

std::vector<Levels> draw(const Sampler& sampler, std::size_t dimensions, std::uint64_t count, unsigned threads = 1) {
  std::vector<Levels> designs(count, Levels(dimensions));
  parallel_for(count, 7, threads, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      sampler.sample(i, designs[i]);
    }
  });
  return designs;
}

std::vector<Levels> draw(SamplerKind kind, const DesignSpace& space, std::uint64_t seed, std::uint64_t count,
                         unsigned threads = 1) {
  return draw(*make_sampler(kind, space, seed, count, kNoLimit), space.parameters().size(), count, threads);
}

/// A space of `dimensions` parameters with `levels` levels each.
DesignSpace cube(std::size_t dimensions, std::size_t levels) {
  std::vector<double> values(levels);
  std::iota(values.begin(), values.end(), 0.0);
  std::vector<Parameter> parameters;
  for (std::size_t p = 0; p < dimensions; ++p) {
    parameters.push_back({.name = "p" + std::to_string(p),
                          .unit = "",
                          .description = "",
                          .kind = ParameterKind::ordinal,
                          .values = values,
                          .labels = {}});
  }
  return {"cube", "", parameters};
}

/// How often each level of parameter `p` occurs.
std::vector<int> level_hits(const std::vector<Levels>& designs, std::size_t p, std::size_t level_count) {
  std::vector<int> hits(level_count, 0);
  for (const Levels& levels : designs) {
    ++hits.at(levels[p]);
  }
  return hits;
}

std::string usage_message(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

TEST(SamplerNames, ReadBackAndSuggest) {
  for (const SamplerKind kind : kKinds) {
    EXPECT_EQ(parse_sampler(to_string(kind)), kind);
  }
  EXPECT_THAT(usage_message([] { (void)parse_sampler("sobel"); }),
              AllOf(HasSubstr("'sobel'"), HasSubstr("Did you mean 'sobol'?")));
}

TEST(Samplers, GiveLegalDesignsThatDoNotDependOnThreadsOrOrder) {
  const DesignSpace& space = edge_space();
  for (const SamplerKind kind : kKinds) {
    const std::vector<Levels> once = draw(kind, space, 5, 2000);
    EXPECT_EQ(once, draw(kind, space, 5, 2000, 4)) << to_string(kind);
    for (const Levels& levels : once) {
      ASSERT_LT(space.index(Design{levels}), *space.size());
    }
    const auto sampler = make_sampler(kind, space, 5, 2000, kNoLimit);
    Levels late(space.parameters().size());
    sampler->sample(1999, late);
    EXPECT_EQ(late, once[1999]) << to_string(kind);
    sampler->sample(3, late);
    EXPECT_EQ(late, once[3]) << to_string(kind);
  }
}

TEST(Samplers, TwoSeedsGiveTwoSequencesExceptForTheGrid) {
  for (const SamplerKind kind : kKinds) {
    const bool same = draw(kind, edge_space(), 1, 100) == draw(kind, edge_space(), 2, 100);
    EXPECT_EQ(same, kind == SamplerKind::grid) << to_string(kind);
  }
}

TEST(Samplers, KnowTheirLength) {
  const std::uint64_t unbounded = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(make_sampler(SamplerKind::uniform, tiny_space(), 1, 10, 0)->length(), unbounded);
  EXPECT_EQ(make_sampler(SamplerKind::sobol, tiny_space(), 1, 10, 0)->length(), unbounded);
  EXPECT_EQ(make_sampler(SamplerKind::lhs, tiny_space(), 1, 10, 0)->length(), 10U);
  EXPECT_EQ(make_sampler(SamplerKind::grid, tiny_space(), 1, 10, 384)->length(), 384U);
}

TEST(Samplers, GoldenDesignsOfTheEdgeSpace) {
  // Logs name a sweep by (space, sampler, seed, count); a change here makes them impossible to resume.
  // Computed apart from this code, the Sobol points from the direction numbers of Joe and Kuo.
  const DesignSpace& space = edge_space();
  const auto index_of = [&](SamplerKind kind, std::uint64_t i) {
    Levels levels(space.parameters().size());
    make_sampler(kind, space, 2026, 1000, kNoLimit)->sample(i, levels);
    return space.index(Design{levels});
  };
  EXPECT_EQ(index_of(SamplerKind::uniform, 0), 376'707'013U);
  EXPECT_EQ(index_of(SamplerKind::uniform, 999), 364'005'792U);
  EXPECT_EQ(index_of(SamplerKind::lhs, 0), 312'744'837U);
  EXPECT_EQ(index_of(SamplerKind::lhs, 999), 173'787'775U);
  EXPECT_EQ(index_of(SamplerKind::sobol, 0), 100'494'236U);
  EXPECT_EQ(index_of(SamplerKind::sobol, 999), 163'407'772U);
}

TEST(UniformSampler, HitsEveryLevelAboutEquallyOften) {
  // Binomial hits: n p (1 - p) bounds the variance by n p; five standard deviations.
  const DesignSpace& space = edge_space();
  const std::uint64_t count = 20'000;
  const std::vector<Levels> designs = draw(SamplerKind::uniform, space, 3, count);
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const std::size_t level_count = space.parameters()[p].level_count();
    const double expected = static_cast<double>(count) / static_cast<double>(level_count);
    for (const int hits : level_hits(designs, p, level_count)) {
      EXPECT_NEAR(hits, expected, 5.0 * std::sqrt(expected)) << space.parameters()[p].name;
    }
  }
}

TEST(UniformSampler, ReachesEveryDesignOfTheTinySpace) {
  // 384 designs, 384 * 16 draws: a design is missed with probability e^-16, any of them with 4e-5.
  std::set<Levels> seen;
  for (const Levels& levels : draw(SamplerKind::uniform, tiny_space(), 11, 384 * 16)) {
    seen.insert(levels);
  }
  EXPECT_EQ(seen.size(), 384U);
}

TEST(LhsSampler, UsesEveryStratumOnceInEveryParameter) {
  // With as many levels as points the level is the stratum.
  for (const std::size_t count : {1U, 2U, 3U, 64U, 100U, 1000U}) {
    const DesignSpace space = cube(5, count);
    const std::vector<Levels> designs = draw(SamplerKind::lhs, space, 17, count);
    for (std::size_t p = 0; p < 5; ++p) {
      ASSERT_EQ(level_hits(designs, p, count), std::vector<int>(count, 1)) << count << " points, parameter " << p;
    }
  }
}

TEST(LhsSampler, BalancesLevelsExactlyWhereTheyDivideTheCount) {
  const DesignSpace& space = edge_space();
  // 4620 = lcm(10, 7, 11, 4, 5, 6), so that every level of every parameter occurs 4620 / levels times.
  const std::vector<Levels> designs = draw(SamplerKind::lhs, space, 23, 4620);
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const std::size_t level_count = space.parameters()[p].level_count();
    EXPECT_EQ(level_hits(designs, p, level_count), std::vector<int>(level_count, static_cast<int>(4620 / level_count)))
        << space.parameters()[p].name;
  }
}

TEST(LhsSampler, BalancesLevelsWithinOneStratumElsewhere) {
  const DesignSpace& space = edge_space();
  const std::uint64_t count = 997;
  const std::vector<Levels> designs = draw(SamplerKind::lhs, space, 23, count);
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const std::size_t level_count = space.parameters()[p].level_count();
    const double expected = static_cast<double>(count) / static_cast<double>(level_count);
    // A level covers `expected` strata, of which at most the two at its ends are shared with its neighbours.
    for (const int hits : level_hits(designs, p, level_count)) {
      EXPECT_GT(hits, expected - 2.0);
      EXPECT_LT(hits, expected + 2.0);
    }
  }
}

TEST(LhsSampler, JittersWithinItsStratum) {
  // 100 levels per stratum: the level modulo 100 is the jitter, and it varies.
  const std::vector<Levels> designs = draw(SamplerKind::lhs, cube(1, 1000), 29, 10);
  std::set<int> strata;
  std::set<int> jitters;
  for (const Levels& levels : designs) {
    strata.insert(levels[0] / 100);
    jitters.insert(levels[0] % 100);
  }
  EXPECT_EQ(strata.size(), 10U);
  EXPECT_GT(jitters.size(), 5U);
}

TEST(LhsSampler, PermutesParametersIndependently) {
  const std::vector<Levels> designs = draw(SamplerKind::lhs, cube(2, 1000), 31, 1000);
  std::uint64_t equal = 0;
  for (const Levels& levels : designs) {
    equal += levels[0] == levels[1] ? 1 : 0;
  }
  // Two random permutations agree in one place on average (Poisson): more than ten has probability 1e-8.
  EXPECT_LE(equal, 10U);
}

TEST(LhsSampler, TakesTheLargestCountAndRefusesTheNext) {
  const std::uint64_t largest = std::uint64_t{1} << 40U;
  const auto sampler = make_sampler(SamplerKind::lhs, edge_space(), 1, largest, 0);
  Levels levels(10);
  sampler->sample(largest - 1, levels);
  EXPECT_LT(edge_space().index(Design{levels}), *edge_space().size());
  EXPECT_THROW(sampler->sample(largest, levels), ContractViolation);
  EXPECT_THAT(usage_message([&] { (void)make_sampler(SamplerKind::lhs, edge_space(), 1, largest + 1, 0); }),
              HasSubstr("1,099,511,627,777"));
  EXPECT_THAT(usage_message([&] { (void)make_sampler(SamplerKind::lhs, edge_space(), 1, 0, 0); }),
              HasSubstr("hypercube of 0 designs"));
}

TEST(SobolSampler, GivesEveryLevelItsShareDespiteTheShift) {
  // 2^m levels, 2^(m + k) points: every level occurs 2^k times, whatever the shift.
  const DesignSpace space = cube(6, 64);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const std::vector<Levels> designs = draw(SamplerKind::sobol, space, seed, 256);
    for (std::size_t p = 0; p < 6; ++p) {
      ASSERT_EQ(level_hits(designs, p, 64), std::vector<int>(64, 4)) << "seed " << seed << ", parameter " << p;
    }
  }
}

TEST(SobolSampler, FillsTheFirstTwoParametersEvenly) {
  // 16 x 16 levels, 256 points: one point per pair of levels, as the digital shift keeps nets.
  const std::vector<Levels> designs = draw(SamplerKind::sobol, cube(2, 16), 3, 256);
  EXPECT_EQ(std::set<Levels>(designs.begin(), designs.end()).size(), 256U);
}

TEST(SobolSampler, RefusesMoreDimensionsThanItsTables) {
  const std::size_t limit = SobolSequence::max_dimensions();
  EXPECT_NO_THROW((void)make_sampler(SamplerKind::sobol, cube(limit, 2), 1, 1, 0));
  EXPECT_THAT(usage_message([&] { (void)make_sampler(SamplerKind::sobol, cube(limit + 1, 2), 1, 1, 0); }),
              AllOf(HasSubstr("3,668"), HasSubstr("3,667"), HasSubstr("uniform or lhs")));
}

TEST(Samplers, CoverASpaceWithoutSize) {
  const DesignSpace space = cube(70, 3);
  ASSERT_EQ(space.size(), std::nullopt);
  for (const SamplerKind kind : {SamplerKind::uniform, SamplerKind::lhs, SamplerKind::sobol}) {
    for (const Levels& levels : draw(kind, space, 1, 50)) {
      EXPECT_NO_THROW((void)space.text_id(Design{levels})) << to_string(kind);
    }
  }
  EXPECT_THAT(usage_message([&] { (void)make_sampler(SamplerKind::grid, space, 1, 1, kNoLimit); }),
              AllOf(HasSubstr("9,223,372,036,854,775,807"), HasSubstr("Use uniform, lhs or sobol")));
}

TEST(GridSampler, ListsEveryDesignInOrder) {
  const std::vector<Levels> designs = draw(SamplerKind::grid, tiny_space(), 1, 384);
  for (std::uint64_t i = 0; i < 384; ++i) {
    EXPECT_EQ(tiny_space().index(Design{designs[i]}), i);
  }
}

TEST(GridSampler, RefusesMoreDesignsThanTheLimit) {
  EXPECT_NO_THROW((void)make_sampler(SamplerKind::grid, tiny_space(), 1, 0, 384));
  EXPECT_THROW((void)make_sampler(SamplerKind::grid, tiny_space(), 1, 0, 383), Error);
  EXPECT_THAT(usage_message([] { (void)make_sampler(SamplerKind::grid, edge_space(), 1, 0, 10'000'000); }),
              AllOf(HasSubstr("452,760,000 designs"), HasSubstr("limit: 10,000,000"), HasSubstr("--grid-limit"),
                    HasSubstr("sobol")));
}

/// Constraints may take so long that one design does: a loop that looks between designs is not enough.
TEST(Draws, EndASecondAfterCtrlC) {
  std::string text = "name: long\nparameters:\n";
  for (const char* name : {"a", "b", "c", "d"}) {
    text += fmt::format("  - {{name: {}, unit: none, values: [{}]}}\n", name, fmt::join(std::views::iota(1, 31), ", "));
  }
  const DesignSpace space = parse_space(text + "constraints:\n  - a + b + c + d < 100\n", "long.yaml");
  const auto legal = space.rules()->legal_designs(Listing::for_drawing);
  ASSERT_FALSE(legal->is_complete()) << "what is drawn is not checked";
  const auto sampler = make_sampler(SamplerKind::uniform, space, 1, 100, 0);
  Levels levels(4);
  set_interrupt_requested(true);
  EXPECT_NO_THROW(sampler->sample(0, levels));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const auto expect_interrupted = [](const auto& action) {
    try {
      action();
      ADD_FAILURE() << "goes on";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted);
    }
  };
  expect_interrupted([&] { sampler->sample(0, levels); });
  expect_interrupted([&] { legal->draw(levels, [](std::uint64_t) { return std::uint64_t{0}; }); });
  expect_interrupted([&] { (void)has_legal(*space.rules(), {}); });
  set_interrupt_requested(false);
  EXPECT_NO_THROW(sampler->sample(0, levels));
}

}  // namespace
}  // namespace hindsight::space

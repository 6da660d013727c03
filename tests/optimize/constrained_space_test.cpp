/// Do searches keep to the legal designs of a space with constraints, and find the best of them?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "hindsight/core/error.h"
#include "hindsight/optimize/front.h"
#include "hindsight/optimize/online.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/space/rules.h"
#include "optimize/operators.h"
#include "optimize/problems.h"
#include "optimize/tiny_model.h"

namespace hindsight::optimize {
namespace {

using ::testing::HasSubstr;

/// mixed_space() with rules: values are levels + 1.
space::DesignSpace with_rules(const std::vector<std::string>& constraints, const std::string& only_if_f = "") {
  space::RuleTexts rules;
  for (const std::string& text : constraints) {
    rules.constraints.push_back({.name = "", .text = text, .origin = {.what = "constraint", .file = ""}});
  }
  if (!only_if_f.empty()) {
    rules.conditions.push_back({.name = "f", .text = only_if_f, .origin = {.what = "only_if", .file = ""}});
  }
  return {"mixed", "", mixed_space().parameters(), rules};
}

const space::DesignSpace& ruled_space() {
  static const space::DesignSpace space =
      with_rules({"a * b <= 24", "(a + b + c) % 3 == 0", "if e == 'kind_1' then d >= 3"}, "e == 'kind_3'");
  return space;
}
/// A constraint leaves one value of b, so that no proposal can have another one.
const space::DesignSpace& fixed_space() {
  static const space::DesignSpace space = with_rules({"b == 3", "a + c >= 10"});
  return space;
}
/// 30 of 115,200 designs: the largest sum, 38, or one less, with any e.
const space::DesignSpace& tight_space() {
  static const space::DesignSpace space = with_rules({"a + b + c + d + f >= 37"});
  return space;
}

double best_by_brute_force(const space::DesignSpace& space, const RowFunction& score, std::size_t& legal) {
  double best = std::numeric_limits<double>::infinity();
  legal = 0;
  for (std::uint64_t i = 0; i < *space.size(); ++i) {
    const space::Design design = space.design(i);
    if (!space.is_legal(design.levels)) continue;
    ++legal;
    best = std::min(best, score(design.levels.data()));
  }
  return best;
}

/// A problem over a space whose model refuses to be asked about an illegal design.
Problem strict_problem(const space::DesignSpace& space, RowFunction score) {
  Problem problem;
  problem.space = &space;
  problem.model = [&space, score = batched(std::move(score))](const LevelMatrix& levels) {
    for (Eigen::Index i = 0; i < levels.rows(); ++i) {
      const std::span<const std::uint16_t> row(levels.data() + i * levels.cols(),
                                               static_cast<std::size_t>(levels.cols()));
      EXPECT_TRUE(space.is_legal(row)) << "an illegal design was judged";
    }
    return Learned{.score = score(levels), .values = {}};
  };
  return problem;
}

TEST(ConstrainedSpace, EverySearchKeepsToLegalDesignsAndFindsTheBest) {
  for (const space::DesignSpace* space : {&ruled_space(), &tight_space()}) {
    std::size_t legal = 0;
    const double best = best_by_brute_force(*space, separable, legal);
    const Problem problem = strict_problem(*space, separable);
    for (const SearchKind kind : {SearchKind::mixed, SearchKind::firefly, SearchKind::evolutionary, SearchKind::local,
                                  SearchKind::enumeration, SearchKind::exact}) {
      SCOPED_TRACE(to_string(kind));
      const Solution solution =
          search(problem, {.kind = kind, .evaluations = 3000, .keep = 50, .seed = 3, .start = {}});
      ASSERT_FALSE(solution.best.empty());
      for (const Candidate& candidate : solution.best) ASSERT_TRUE(space->is_legal(candidate.design.levels));
      EXPECT_NEAR(solution.best.front().score, best, kind == SearchKind::firefly ? 3 : 0);
      if (kind == SearchKind::exact && solution.proof) {
        EXPECT_EQ(solution.proof->designs, legal);
        EXPECT_EQ(solution.proof->open(), 0U);
      }
      if (kind == SearchKind::enumeration) {
        EXPECT_EQ(solution.evaluations, legal);
      }
    }
  }
}

TEST(ConstrainedSpace, AnExactSearchWithALimitAccountsForEveryLegalDesign) {
  Problem problem = strict_problem(ruled_space(), product_time);
  problem.constraints.push_back({.name = "area_mm2", .limit = 25, .value = batched(product_area)});
  std::size_t legal = 0;
  const double best = best_by_brute_force(
      ruled_space(), [](const std::uint16_t* x) { return product_area(x) <= 25 ? product_time(x) : 1e9; }, legal);
  const Solution solution =
      search(problem, {.kind = SearchKind::exact, .evaluations = 500, .keep = 5, .seed = 1, .start = {}});
  ASSERT_TRUE(solution.proof);
  EXPECT_EQ(solution.proof->designs, legal);
  EXPECT_EQ(solution.proof->open(), 0U);
  EXPECT_EQ(solution.best.front().score, best);
}

TEST(ConstrainedSpace, ValuesThatAreFixedLeaveTheLegalOnesAmongThem) {
  Problem problem = strict_problem(ruled_space(), separable);
  problem.allowed = AllowedLevels(6);
  problem.allowed[0] = {5};     // a = 6, so b <= 4
  problem.allowed[4] = {1, 2};  // f is inactive
  const Solution solution =
      search(problem, {.kind = SearchKind::evolutionary, .evaluations = 50, .keep = 20, .seed = 1, .start = {}});
  for (const Candidate& candidate : solution.best) {
    EXPECT_EQ(candidate.design.levels[0], 5);
    EXPECT_EQ(candidate.design.levels[5], 0);
    EXPECT_TRUE(ruled_space().is_legal(candidate.design.levels));
  }
  problem.allowed[1] = {7};  // b = 8: a * b = 48
  try {
    (void)search(problem, {.start = {}});
    FAIL() << "found a design";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_feasible);
    EXPECT_THAT(error.what(), HasSubstr("'a * b <= 24' leaves none"));
  }
}

TEST(ConstrainedSpace, MovesOfLegalDesignsGiveLegalOnes) {
  const LevelSpace space(ruled_space(), {});
  Random random(5, "moves");
  const auto legal = [&](const Point& point) { return ruled_space().is_legal(space.design(point).levels); };
  for (int i = 0; i < 300; ++i) {
    Point a = random_point(space, random);
    const Point b = random_point(space, random);
    ASSERT_TRUE(legal(a));
    ASSERT_TRUE(legal(crossover(a, b, space, random)));
    ASSERT_TRUE(legal(move_towards(a, b, space, {}, random)));
    for (const Point& near : neighbours(a, space, 2)) ASSERT_TRUE(legal(near));
    for (const Point& near : pair_neighbours(a, space)) ASSERT_TRUE(legal(near));
    mutate(a, space, 0.4, random);
    ASSERT_TRUE(legal(a));
  }
  EXPECT_TRUE(legal(space.nearest_point({{9, 7, 7, 5, 1, 5}})));  // breaks all three
}

TEST(ConstrainedSpace, OnlineMethodsAskForLegalDesignsOnly) {
  Problem problem;
  problem.space = &ruled_space();
  for (const OnlineMethod method :
       {OnlineMethod::random, OnlineMethod::evolutionary, OnlineMethod::firefly, OnlineMethod::bayesian}) {
    const OnlineTrace trace = optimize_online(
        method, problem, [](const space::Design& design) { return separable(design.levels.data()); }, 60, 2);
    EXPECT_EQ(trace.design.size(), 60U);
    std::set<std::vector<std::uint16_t>> different;
    for (const space::Design& design : trace.design) {
      EXPECT_TRUE(ruled_space().is_legal(design.levels)) << to_string(method);
      different.insert(design.levels);
    }
    EXPECT_EQ(different.size(), 60U);
  }
}

TEST(ConstrainedSpace, FrontsObey) {
  Problem problem = strict_problem(ruled_space(), separable);
  problem.model = [](const LevelMatrix& levels) {
    Learned learned{.score = batched(separable)(levels), .values = {}};
    learned.metrics.resize(levels.rows(), 2);
    learned.metrics.col(0) = batched(product_time)(levels);
    learned.metrics.col(1) = batched(product_area)(levels);
    return learned;
  };
  for (const SearchKind kind : {SearchKind::enumeration, SearchKind::mixed}) {
    const Front front = search_front(problem, 2, {.kind = kind, .evaluations = 2000, .seed = 1, .start = {}});
    EXPECT_GT(front.members.size(), 5U);
    for (const FrontMember& member : front.members) EXPECT_TRUE(ruled_space().is_legal(member.design.levels));
  }
}

TEST(ConstrainedSpace, ProposalsObeyAndStartFromWhatIsLegal) {
  const auto bowl = [](std::size_t p, std::size_t level) {
    static constexpr double kMiddle[] = {6, 2, 5, 4, 3, 5};
    const double difference = static_cast<double>(level) - kMiddle[p];
    return 0.1 * difference * difference;
  };
  const auto likely = [](std::size_t p, std::size_t /*level*/) { return p == 0 ? 3.0 : 0.0; };
  const auto zero = [](std::size_t /*p*/, std::size_t /*level*/) { return 0.0; };
  for (const space::DesignSpace* space : {&tight_space(), &fixed_space()}) {
    const surrogate::Model model = make_model(*space, {additive_network(*space, bowl, likely, zero)});
    ProposeOptions options;
    options.contexts.push_back(plain_context("one"));
    options.search.evaluations = 3000;
    options.search.start = {{{0, 0, 0, 0, 0, 0}}};
    options.threads = 1;
    options.diversity = 1;
    options.portfolio = Portfolio::spread;
    for (const SearchKind kind : {SearchKind::mixed, SearchKind::exact}) {
      options.search.kind = kind;
      const ProposeResult result = propose(model, options);
      EXPECT_EQ(result.proposals.size(), options.count);
      for (const Proposal& proposal : result.proposals) {
        EXPECT_TRUE(space->is_legal(proposal.design.levels)) << space->text_id(proposal.design);
      }
    }
  }
}

}  // namespace
}  // namespace hindsight::optimize

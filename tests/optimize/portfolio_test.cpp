/// Spread lists of proposals: which parameters are switches, and who comes in which turn.
#include "optimize/portfolio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace hindsight::optimize {
namespace {

space::Parameter numbers(const std::string& name, std::size_t count) {
  space::Parameter parameter{.name = name, .unit = "", .description = name, .values = {}, .labels = {}};
  for (std::size_t i = 0; i < count; ++i) parameter.values.push_back(static_cast<double>(1 + i));
  return parameter;
}
space::Parameter names(const std::string& name, std::size_t count) {
  space::Parameter parameter{.name = name,
                             .unit = "",
                             .description = name,
                             .kind = space::ParameterKind::categorical,
                             .values = {},
                             .labels = {}};
  for (std::size_t i = 0; i < count; ++i) parameter.labels.push_back("v" + std::to_string(i));
  return parameter;
}
space::DesignSpace space_of(std::vector<space::Parameter> parameters) { return {"s", "s", std::move(parameters)}; }

TEST(Switches, AreParametersOfThreeNamesOrTwoNumbersAtMost) {
  const space::DesignSpace space = space_of({numbers("one", 1), numbers("two", 2), numbers("three", 3),
                                             names("names3", 3), names("names4", 4), names("n1", 1)});
  EXPECT_EQ(switches_of(space, {}), (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(settings_of({1, 3}, space, {}),
            (std::vector<std::vector<std::uint16_t>>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
  EXPECT_EQ(settings_of({}, space, {}).size(), 1U);
  // What may be used counts, not what there is.
  const AllowedLevels allowed{{}, {1}, {0, 2}, {}, {1, 2, 3}, {}};
  EXPECT_EQ(switches_of(space, allowed), (std::vector<std::size_t>{2, 3, 4}));
  EXPECT_TRUE(switches_of(space_of({numbers("two", 2), numbers("three", 3)}), {}).empty()) << "one alone is none";
  EXPECT_EQ(settings_of({2}, space, allowed), (std::vector<std::vector<std::uint16_t>>{{0}, {2}}));
}

TEST(Switches, OfManyThoseOfFewestValuesAreKept) {
  std::vector<space::Parameter> many{names("three", 3)};
  for (std::size_t p = 0; p < 7; ++p) many.push_back(numbers("two" + std::to_string(p), 2));
  EXPECT_EQ(switches_of(space_of(many), {}), (std::vector<std::size_t>{1, 2, 3, 4, 5, 6})) << "2^6 settings";
  many.resize(6);
  EXPECT_EQ(switches_of(space_of(many), {}), (std::vector<std::size_t>{1, 2, 3, 4, 5})) << "3 x 2^5 are too many";
  EXPECT_EQ(switches_of(space_of(many), {}, 4), (std::vector<std::size_t>{1, 2}));
  EXPECT_TRUE(switches_of(space_of(many), {}, 3).empty());
}

using Levels = std::vector<std::uint16_t>;
using BestLogged = std::function<std::optional<double>(const AllowedLevels&)>;
/// A log whose designs are all of the first setting.
std::optional<double> nothing_of_it(const AllowedLevels& allowed) {
  const bool elsewhere =
      std::any_of(allowed.begin(), allowed.end(), [](const Levels& levels) { return levels == Levels{1}; });
  return elsewhere ? std::nullopt : std::optional(0.0);
}

/// Asks all designs of a space for their score.
class Asking {
 public:
  Asking(space::DesignSpace space, double (*score)(const std::vector<std::uint16_t>&))
      : space_(std::move(space)), score_(score) {}

  std::vector<Candidate> best_among(const AllowedLevels& allowed) const {
    std::vector<Candidate> best;
    for (std::uint64_t i = 0; i < *space_.size(); ++i) {
      const space::Design design = space_.design(i);
      bool may = true;
      for (std::size_t p = 0; p < design.levels.size(); ++p) {
        const auto levels = allowed_levels(p, space_, allowed);
        may = may && std::find(levels.begin(), levels.end(), design.levels[p]) != levels.end();
      }
      if (may) best.push_back({.design = design, .score = score_(design.levels)});
    }
    std::stable_sort(best.begin(), best.end(),
                     [](const Candidate& a, const Candidate& b) { return a.score < b.score; });
    return best;
  }
  std::vector<Asked> list(std::size_t count, std::size_t diversity,
                          const BestLogged& best_logged = nothing_of_it) const {
    const AllowedLevels any;
    const SpreadQuestion question{.space = space_,
                                  .allowed = any,
                                  .count = count,
                                  .diversity = diversity,
                                  .evaluations = 1000,
                                  .best_among =
                                      [&](const AllowedLevels& allowed, std::uint64_t evaluations) {
                                        EXPECT_LE(evaluations, 100U) << "a share";
                                        return best_among(allowed);
                                      },
                                  .best_logged = best_logged};
    return spread_out(best_among(any), question);
  }

 private:
  space::DesignSpace space_;
  double (*score_)(const std::vector<std::uint16_t>&);
};

/// Ten numbers, two switches that are only tolerable together at 0 or together at 1.
double with_switches(const std::vector<std::uint16_t>& levels) {
  const double apart = levels[1] != levels[2] ? 1.8 : 0, together = levels[1] == 1 && levels[2] == 1 ? 1 : 0;
  return apart + together + 0.01 * levels[0];
}
TEST(SpreadOut, TriesTheBestOfEverySettingOfTheSwitches) {
  const Asking asking(space_of({numbers("n", 10), numbers("a", 2), numbers("b", 2)}), with_switches);
  const std::vector<Asked> five = asking.list(5, 1);
  ASSERT_EQ(five.size(), 5U);
  EXPECT_EQ(five[0].candidate.design.levels, (Levels{0, 0, 0}));
  EXPECT_TRUE(five[0].parameters.empty());
  // By score: another n, both switches otherwise (which no single one finds); then one by rank.
  EXPECT_EQ(five[1].candidate.design.levels, (Levels{1, 0, 0}));
  EXPECT_EQ(five[1].parameters, (std::vector<std::size_t>{0}));
  EXPECT_EQ(five[2].candidate.design.levels, (Levels{0, 1, 1}));
  EXPECT_EQ(five[2].parameters, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(five[3].candidate.design.levels, (Levels{2, 0, 0}));
  EXPECT_TRUE(five[3].parameters.empty()) << "the next best";
  EXPECT_NE(five[4].candidate.design.levels[1], five[4].candidate.design.levels[2]);
  std::set<Levels> settings;
  for (const Asked& asked : asking.list(6, 1)) {
    settings.insert({asked.candidate.design.levels[1], asked.candidate.design.levels[2]});
  }
  EXPECT_EQ(settings.size(), 4U);
  EXPECT_EQ(asking.list(40, 1).size(), 40U) << "all of them, each once";
  EXPECT_EQ(asking.list(1, 1).size(), 1U);
}

TEST(SpreadOut, BehindTheSixteenthNoneIsTakenByRank) {
  const Asking asking(space_of({numbers("n", 30), numbers("a", 2), numbers("b", 2)}), with_switches);
  const std::vector<Asked> many = asking.list(28, 1);
  ASSERT_EQ(many.size(), 28U);
  std::map<Levels, int> turns;
  for (std::size_t i = 16; i < many.size(); ++i) {
    EXPECT_FALSE(many[i].parameters.empty()) << i;
    ++turns[{many[i].candidate.design.levels[1], many[i].candidate.design.levels[2]}];
  }
  EXPECT_EQ(std::count_if(many.begin(), many.end(), [](const Asked& asked) { return asked.parameters.empty(); }), 6)
      << "the first and every third of fifteen";
  // Those of the first's own setting were partly taken by rank before.
  EXPECT_THAT(turns, ::testing::ElementsAre(std::pair(Levels{0, 0}, 1), std::pair(Levels{0, 1}, 4),
                                            std::pair(Levels{1, 0}, 3), std::pair(Levels{1, 1}, 4)));
}

TEST(SpreadOut, TheBestOfASettingThatIsTooCloseToTheFirstMakesWayForTheNext) {
  const Asking asking(space_of({numbers("n", 10), numbers("a", 2), numbers("b", 2)}), with_switches);
  const std::vector<Asked> list = asking.list(6, 2);
  // (0, 1, 0) and (0, 0, 1) differ from (0, 0, 0) in one parameter.
  const auto has = [&](const Levels& levels) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Asked& asked) { return asked.candidate.design.levels == levels; });
  };
  EXPECT_TRUE(has({0, 1, 1}));
  EXPECT_TRUE(has({1, 0, 1}) || has({1, 1, 0}));
}

TEST(SpreadOut, TriesNothingHopeless) {
  const Asking asking(space_of({numbers("n", 10), numbers("a", 2), numbers("b", 2)}),
                      [](const Levels& levels) { return 0.6 * levels[0] + 2.1 * (levels[1] + levels[2]); });
  for (const Asked& asked : asking.list(10, 1)) {
    const bool first_setting = asked.candidate.design.levels[1] == 0 && asked.candidate.design.levels[2] == 0;
    EXPECT_TRUE(asked.parameters.empty() || first_setting);
  }
}

TEST(SpreadOut, ASettingThatTheLogSpeaksAgainstIsTriedOnlyWhenItIsClose) {
  const Asking asking(space_of({numbers("n", 10), numbers("a", 2), numbers("b", 2)}), with_switches);
  const auto has_apart = [](const std::vector<Asked>& list) {
    return std::any_of(list.begin(), list.end(), [](const Asked& asked) {
      return asked.candidate.design.levels[1] != asked.candidate.design.levels[2];
    });
  };
  // A log that has all settings, and whose best design of others than the first is so much worse.
  const auto known = [](double worse) -> BestLogged {
    return [worse](const AllowedLevels& allowed) { return std::optional(nothing_of_it(allowed) ? 3.0 : 3.0 + worse); };
  };
  EXPECT_TRUE(has_apart(asking.list(6, 1, known(0.4)))) << "as good as the best in the log";
  EXPECT_FALSE(has_apart(asking.list(6, 1, known(0.6))));
  const BestLogged nothing = [](const AllowedLevels&) { return std::nullopt; };
  EXPECT_FALSE(has_apart(asking.list(6, 1, nothing))) << "without a log the model alone speaks";
  const Asking near(space_of({numbers("n", 10), numbers("a", 2), numbers("b", 2)}),
                    [](const Levels& levels) { return 0.1 * levels[0] + 0.2 * (levels[1] + levels[2]); });
  EXPECT_TRUE(has_apart(near.list(6, 1, nothing))) << "0.2 is close";
  EXPECT_TRUE(has_apart(near.list(6, 1, known(9))));
}

TEST(SpreadOut, KeepsItsDistance) {
  const Asking asking(space_of({numbers("n", 10), numbers("a", 2), numbers("b", 2)}), with_switches);
  const std::vector<Asked> list = asking.list(10, 2);
  EXPECT_GE(list.size(), 4U);
  for (std::size_t i = 0; i < list.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_GE(hamming(list[i].candidate.design, list[j].candidate.design), 2U);
  }
}

TEST(SpreadOut, WithoutSwitchesEverySecondIsTakenByRank) {
  const Asking asking(space_of({numbers("n", 5), numbers("m", 4)}),
                      [](const std::vector<std::uint16_t>& levels) { return 0.01 * levels[0] + 0.4 * levels[1]; });
  const std::vector<Asked> list = asking.list(5, 1);
  ASSERT_EQ(list.size(), 5U);
  EXPECT_EQ(list[1].parameters, (std::vector<std::size_t>{0}));
  EXPECT_TRUE(list[2].parameters.empty());
  EXPECT_EQ(list[2].candidate.design.levels, (std::vector<std::uint16_t>{2, 0}));
  EXPECT_EQ(list[3].parameters, (std::vector<std::size_t>{1}));
  EXPECT_EQ(list[3].candidate.design.levels, (std::vector<std::uint16_t>{0, 1}));
  EXPECT_TRUE(list[4].parameters.empty());
}

/// The evaluations of every search for another value: parameters of three values, the first design the smallest.
struct CountedSearches {
  CountedSearches(std::size_t parameters, std::uint64_t evaluations) {
    std::vector<space::Parameter> all;
    for (std::size_t p = 0; p < parameters; ++p) all.push_back(numbers("n" + std::to_string(p), 3));
    const space::DesignSpace space = space_of(std::move(all));
    const AllowedLevels any;
    const SpreadQuestion question{.space = space,
                                  .allowed = any,
                                  .count = 5,
                                  .diversity = 1,
                                  .evaluations = evaluations,
                                  .best_among =
                                      [&](const AllowedLevels& allowed, std::uint64_t share) {
                                        each.push_back(share);
                                        const auto other = std::ranges::find_if(
                                            allowed, [](const Levels& levels) { return !levels.empty(); });
                                        searched.push_back(static_cast<std::size_t>(other - allowed.begin()));
                                        EXPECT_EQ(*other, (Levels{1, 2}));
                                        return std::vector<Candidate>{};
                                      },
                                  .best_logged = nothing_of_it};
    (void)spread_out({{.design = {Levels(parameters, 0)}}}, question);
  }
  std::vector<std::uint64_t> each;
  std::vector<std::size_t> searched;  ///< parameters
};

TEST(SpreadOut, SearchesForOtherValuesTakeATenthEachAndOneAndAHalfTimesTheBudgetTogetherAtMost) {
  EXPECT_EQ(CountedSearches(10, 50'000).each, std::vector<std::uint64_t>(10, 5000));
  EXPECT_EQ(CountedSearches(15, 50'000).each, std::vector<std::uint64_t>(15, 5000));
  EXPECT_EQ(CountedSearches(15, 333).each, std::vector<std::uint64_t>(15, 33));
  EXPECT_EQ(CountedSearches(16, 50'000).each, std::vector<std::uint64_t>(16, 4687));
  EXPECT_EQ(CountedSearches(100, 50'000).each, std::vector<std::uint64_t>(100, 750));
  // With so few evaluations not for all of them, but for some of the whole space.
  const CountedSearches few(100, 2000);
  EXPECT_EQ(few.each, std::vector<std::uint64_t>(30, 100));
  EXPECT_EQ(few.searched.front(), 0U);
  EXPECT_EQ(few.searched[15], 50U);
  EXPECT_EQ(few.searched.back(), 96U);
  EXPECT_EQ(CountedSearches(100, 100).each, std::vector<std::uint64_t>(15, 10));
}

TEST(SpreadOut, OneSwitchIsAParameterLikeOthers) {
  const Asking asking(space_of({numbers("n", 10), numbers("a", 2)}),
                      [](const Levels& levels) { return 0.01 * levels[0] + 0.4 * levels[1]; });
  const std::vector<Asked> list = asking.list(4, 1);
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[1].parameters, (std::vector<std::size_t>{0}));
  EXPECT_TRUE(list[2].parameters.empty());
  EXPECT_EQ(list[3].parameters, (std::vector<std::size_t>{1}));
}

std::vector<Asked> asked(const std::vector<Levels>& designs) {
  std::vector<Asked> list;
  for (const Levels& levels : designs) list.push_back({.candidate = {.design = {levels}}});
  return list;
}
std::vector<Levels> levels_in(const std::vector<Asked>& list) {
  std::vector<Levels> all;
  for (const Asked& one : list) all.push_back(one.candidate.design.levels);
  return all;
}

TEST(WithHedges, JudgesTakeTurnsForTheLastPlaces) {
  const std::vector<Asked> spread = asked({{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}});
  const HedgePlaces members{.count = 2, .judges = {asked({{0, 5}, {0, 6}}), asked({{1, 1}, {7, 7}})}};
  const HedgePlaces nobody{.count = 1, .judges = {{}}};
  // Two are kept; each judge has one, the second its next as its best is there; the third place stays as it was.
  EXPECT_EQ(levels_in(with_hedges(spread, {members, nobody}, 5, 1)),
            (std::vector<Levels>{{0, 0}, {1, 1}, {0, 5}, {7, 7}, {2, 2}}));
  // {0, 5} and {0, 6} are too close to the first.
  EXPECT_EQ(levels_in(with_hedges(spread, {members, nobody}, 5, 2)),
            (std::vector<Levels>{{0, 0}, {1, 1}, {7, 7}, {2, 2}, {3, 3}}));
}

TEST(WithHedges, ChangeNothingWhereThereAreNoneAndNeverTheFirst) {
  const std::vector<Asked> spread = asked({{0, 0}, {1, 1}, {2, 2}});
  EXPECT_EQ(levels_in(with_hedges(spread, {}, 3, 1)), levels_in(spread));
  EXPECT_EQ(levels_in(with_hedges(spread, {{}, {.count = 2}}, 3, 1)), levels_in(spread));
  const HedgePlaces many{.count = 9, .judges = {asked({{5, 5}, {6, 6}, {7, 7}, {8, 8}})}};
  EXPECT_EQ(levels_in(with_hedges(spread, {many}, 3, 1)), (std::vector<Levels>{{0, 0}, {5, 5}, {6, 6}}));
  EXPECT_EQ(levels_in(with_hedges(asked({{0, 0}}), {many}, 1, 1)), (std::vector<Levels>{{0, 0}}));
  EXPECT_EQ(with_hedges(asked({{0, 0}}), {many}, 3, 1).size(), 3U) << "a short list has room for more";
}

}  // namespace
}  // namespace hindsight::optimize

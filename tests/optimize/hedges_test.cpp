/// Do hedged lists have what single networks, a surer and an optimistic judgement prefer, and the first as it was?
#include "optimize/hedges.h"

#include <gtest/gtest.h>

#include <set>

#include "optimize/tiny_model.h"

namespace hindsight::optimize {
namespace {

using Levels = std::vector<std::uint16_t>;
using Judgement = Hedge::Judgement;
const Levels kBest = {6, 2, 5, 4, 3, 5};

double nothing(std::size_t /*parameter*/, std::size_t /*level*/) { return 0; }
double sure(std::size_t p, std::size_t /*level*/) { return p == 0 ? 3 : 0; }  // p_feasible 0.953 everywhere
/// z = 0.1 x sum of (level - that of kBest)^2.
double valley(std::size_t p, std::size_t level) {
  const double difference = static_cast<double>(level) - kBest[p];
  return 0.1 * difference * difference;
}
/// The same, but for level 5 of a and level 5 of d, each a step from the bottom, of which networks disagree.
LevelTable disputed(double at_a, double at_d) {
  return [at_a, at_d](std::size_t p, std::size_t level) {
    if (level == 5 && p == 0) return at_a;
    return level == 5 && p == 3 ? at_d : valley(p, level);
  };
}
surrogate::Model two_networks(const LevelTable& first, const LevelTable& second, const LevelTable& first_logit = sure,
                              const LevelTable& second_logit = sure) {
  return make_model(mixed_space(), {additive_network(mixed_space(), first, first_logit, nothing),
                                    additive_network(mixed_space(), second, second_logit, nothing)});
}

/// All of 2,025 designs around the bottom are judged: no parameter of them is a switch.
ProposeOptions hedged_options() {
  ProposeOptions options;
  options.contexts = {plain_context("one")};
  options.search.evaluations = 20000;
  options.threads = 1;
  options.diversity = 1;
  options.portfolio = Portfolio::hedged;
  options.member_every = 4;
  options.allowed = {{4, 5, 6, 7, 8}, {1, 2, 3}, {4, 5, 6}, {3, 4, 5}, {}, {3, 4, 5}};
  return options;
}

std::vector<Proposal> chosen_by(Judgement judgement, const ProposeResult& result) {
  std::vector<Proposal> chosen;
  for (const Proposal& proposal : result.proposals) {
    if (proposal.hedge && proposal.hedge->judgement == judgement) chosen.push_back(proposal);
  }
  return chosen;
}

TEST(Hedges, NetworksProposeInTurnWhatTheyPreferToTheFirst) {
  // By the mean both disputed steps cost 0.1 as any other, and 0.30 for the spread; each network gains 0.11 by one.
  const surrogate::Model model = two_networks(disputed(-0.11, 0.31), disputed(0.31, -0.11));
  ProposeOptions options = hedged_options();
  const ProposeResult hedged = propose(model, options);
  ASSERT_EQ(hedged.proposals.size(), 10U);
  EXPECT_EQ(hedged.proposals.front().design.levels, kBest);
  EXPECT_FALSE(hedged.proposals.front().hedge);
  const std::vector<Proposal> members = chosen_by(Judgement::member, hedged);
  ASSERT_EQ(members.size(), 2U) << "one in four of ten";
  for (const Proposal& proposal : members) {
    const Levels expected = proposal.hedge->member == 0 ? Levels{5, 2, 5, 4, 3, 5} : Levels{6, 2, 5, 5, 3, 5};
    EXPECT_EQ(proposal.design.levels, expected);
  }
  EXPECT_NE(members[0].hedge->member, members[1].hedge->member);
  const std::vector<Proposal> hopeful = chosen_by(Judgement::optimistic, hedged);
  ASSERT_EQ(hopeful.size(), 1U) << "one in ten";
  EXPECT_GT(hopeful.front().spread, 0.2);
  EXPECT_TRUE(chosen_by(Judgement::surer, hedged).empty()) << "0.953 is a tenth of what may be missed: 0.95";
  // The rest is of the spread list, whose first designs these are.
  options.portfolio = Portfolio::spread;
  std::set<Levels> spread;
  for (const Proposal& proposal : propose(model, options).proposals) {
    EXPECT_FALSE(proposal.hedge);
    spread.insert(proposal.design.levels);
  }
  for (const Proposal& proposal : hedged.proposals) {
    EXPECT_EQ(spread.contains(proposal.design.levels), !proposal.hedge);
  }
  options.portfolio = Portfolio::hedged;
  options.member_every = 0;
  EXPECT_TRUE(chosen_by(Judgement::member, propose(model, options)).empty());
  options.member_every = 3;
  EXPECT_EQ(chosen_by(Judgement::member, propose(model, options)).size(), 3U);
}

TEST(Hedges, ANetworkMustItselfTakeItsDesignForFeasible) {
  const auto doubting = [](std::size_t p, std::size_t level) { return p != 0 ? 0 : level == 5 ? -0.2 : 3.0; };
  const auto surest = [](std::size_t p, std::size_t level) { return p != 0 ? 0 : level == 5 ? 7.0 : 3.0; };
  // Level 5 of a has p_feasible 0.45 by the network that prefers it, 0.999 by the other.
  const surrogate::Model model = two_networks(disputed(-0.1, 0.35), disputed(0.4, -0.05), doubting, surest);
  ProposeOptions options = hedged_options();
  options.pessimism = 0;
  const auto first_networks = [&] {
    std::set<Levels> designs;
    for (const Proposal& proposal : chosen_by(Judgement::member, propose(model, options))) {
      if (proposal.hedge->member == 0) designs.insert(proposal.design.levels);
    }
    return designs;
  };
  options.min_p_feasible = 0.5;
  EXPECT_TRUE(first_networks().empty());
  options.min_p_feasible = 0.4;
  EXPECT_TRUE(first_networks().contains({5, 2, 5, 4, 3, 5}));
}

TEST(Hedges, OnePlaceIsForTheBestOfTheSurerDesigns) {
  // The bottom's level of a has p_feasible 0.88, every other one 0.998.
  const auto near_a_limit = [](std::size_t p, std::size_t level) { return p != 0 ? 0 : level == 6 ? 2.0 : 6.0; };
  const surrogate::Model model =
      make_model(mixed_space(), {additive_network(mixed_space(), valley, near_a_limit, nothing)});
  const ProposeResult result = propose(model, hedged_options());
  EXPECT_EQ(result.proposals.front().design.levels, kBest);
  const std::vector<Proposal> surer = chosen_by(Judgement::surer, result);
  ASSERT_EQ(surer.size(), 1U);
  EXPECT_NE(surer.front().design.levels[0], 6);
  EXPECT_GE(surer.front().p_feasible.front(), 0.95);
  EXPECT_DOUBLE_EQ(surer.front().hedge->p_feasible, 0.95) << "1 - (1 - 0.5) / 10";
}

TEST(Hedges, OneNetworkThatIsSureHasNone) {
  const surrogate::Model model = make_model(mixed_space(), {additive_network(mixed_space(), valley, sure, nothing)});
  ProposeOptions options = hedged_options();
  const ProposeResult hedged = propose(model, options);
  options.portfolio = Portfolio::spread;
  const ProposeResult spread = propose(model, options);
  ASSERT_EQ(hedged.proposals.size(), spread.proposals.size());
  for (std::size_t i = 0; i < spread.proposals.size(); ++i) {
    EXPECT_FALSE(hedged.proposals[i].hedge) << i;
    EXPECT_EQ(hedged.proposals[i].design, spread.proposals[i].design) << i;
    EXPECT_EQ(hedged.proposals[i].other_parameters, spread.proposals[i].other_parameters) << i;
  }
}

TEST(Hedges, MeetLimitsAndDistanceWhateverTheThreads) {
  const surrogate::Model model = two_networks(disputed(-0.6, 0.8), disputed(0.8, -0.6));
  ProposeOptions options = hedged_options();
  options.allowed.clear();
  options.pessimism = 0;
  options.diversity = 2;
  options.count = 16;
  options.member_every = 3;
  options.constraints = {{.name = "area_mm2", .limit = 40, .value = batched(product_area)}};
  const ProposeResult result = propose(model, options);
  EXPECT_FALSE(chosen_by(Judgement::member, result).empty());
  for (std::size_t i = 0; i < result.proposals.size(); ++i) {
    const Proposal& proposal = result.proposals[i];
    EXPECT_LE(proposal.constraint_values.front(), 40);
    EXPECT_GE(proposal.p_feasible.front(), options.min_p_feasible);
    EXPECT_LE(proposal.score, result.proposals.front().score + kFarWorse + kScoreError);
    for (std::size_t j = 0; j < i; ++j) EXPECT_GE(hamming(proposal.design, result.proposals[j].design), 2U);
  }
  options.threads = 3;
  const ProposeResult again = propose(model, options);
  ASSERT_EQ(again.proposals.size(), result.proposals.size());
  for (std::size_t i = 0; i < result.proposals.size(); ++i) {
    EXPECT_EQ(again.proposals[i].design, result.proposals[i].design) << i;
    EXPECT_EQ(again.proposals[i].hedge.has_value(), result.proposals[i].hedge.has_value()) << i;
  }
  options.portfolio = Portfolio::spread;
  EXPECT_EQ(propose(model, options).proposals.front().design, result.proposals.front().design);
}

TEST(Hedges, WhatTiesWithTheFirstOrIsHopelessBesideItIsNone) {
  const surrogate::Model model = two_networks(disputed(-0.11, 0.31), disputed(0.31, -0.11));
  const ProposeOptions options = hedged_options();
  const Forecast forecast(model, options, 1);
  const Candidate first{.design = {kBest}, .score = 0};
  const HedgeQuestion question{.model = model, .options = options, .forecast = forecast, .threshold = 0.5};
  const auto preferred = [&](double score) {
    const Candidate other{.design = {{5, 2, 5, 4, 3, 5}}, .score = score};
    std::size_t count = 0;
    for (const HedgePlaces& places : hedge_places(first, {other, first, other}, question)) {
      for (const std::vector<Asked>& judge : places.judges) count += judge.size();
    }
    return count;
  };
  EXPECT_EQ(preferred(0.38), 2U) << "by the first network and by the optimist, each once";
  EXPECT_EQ(preferred(0), 0U);
  EXPECT_EQ(preferred(-0.1), 0U) << "the first is the first";
  EXPECT_EQ(preferred(0.51), 0U);
}

}  // namespace
}  // namespace hindsight::optimize

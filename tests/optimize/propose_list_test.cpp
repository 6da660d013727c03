/// Do designs of a list differ as its portfolio says?
#include <gtest/gtest.h>

#include <set>

#include "hindsight/core/error.h"
#include "hindsight/optimize/propose.h"
#include "optimize/bowl_model.h"

namespace hindsight::optimize {
namespace {

TEST(Propose, ASpreadListTriesOtherValuesOfItsParameters) {
  const surrogate::Model model = bowl_model();
  ProposeOptions options = options_for({"one"});
  const ProposeResult alike = propose(model, options);
  for (const Proposal& proposal : alike.proposals) EXPECT_TRUE(proposal.other_parameters.empty());
  options.portfolio = Portfolio::spread;
  const ProposeResult spread = propose(model, options);
  ASSERT_EQ(spread.proposals.size(), 10U);
  const space::Design& best = spread.proposals.front().design;
  EXPECT_EQ(best.levels, kBottom);
  std::set<std::size_t> tried;
  for (std::size_t i = 0; i < spread.proposals.size(); ++i) {
    const Proposal& proposal = spread.proposals[i];
    for (std::size_t j = 0; j < i; ++j) EXPECT_GE(hamming(proposal.design, spread.proposals[j].design), 2U);
    if (proposal.other_parameters.empty()) continue;
    for (const std::size_t p : proposal.other_parameters) EXPECT_NE(proposal.design.levels[p], best.levels[p]);
    EXPECT_LE(proposal.score, spread.proposals.front().score + 0.5 + kScoreError) << "a hopeless try is none";
    tried.insert(proposal.other_parameters.begin(), proposal.other_parameters.end());
  }
  EXPECT_GE(tried.size(), 3U);
  EXPECT_TRUE(spread.proposals.front().other_parameters.empty());
  EXPECT_EQ(propose(model, options).proposals.back().design.levels, spread.proposals.back().design.levels);
  options.allowed.resize(6);
  for (std::size_t p = 1; p < 6; ++p) options.allowed[p] = {kBottom[p]};
  EXPECT_EQ(propose(model, options).proposals.front().design.levels, kBottom) << "one free parameter is enough";
}

TEST(Propose, ASpreadListTriesNothingHopeless) {
  // Another value of the first parameter costs a factor of e^5 or more.
  const auto steep = [](std::size_t p, std::size_t level) { return (p == 0 ? 50 : 1) * bowl(p, level); };
  const surrogate::Model model = make_model(mixed_space(), {additive_network(mixed_space(), steep, likely, zero)});
  ProposeOptions options = options_for({"one"});
  options.portfolio = Portfolio::spread;
  for (const Proposal& proposal : propose(model, options).proposals) {
    EXPECT_EQ(std::count(proposal.other_parameters.begin(), proposal.other_parameters.end(), 0U), 0);
  }
}

TEST(Propose, SettingsOfSwitchesAreTriedWithinWhatMayBeUsed) {
  // Two parameters are free in two values each, and better together at their second than apart.
  const surrogate::Model model = bowl_model();
  ProposeOptions options = options_for({"one"});
  options.portfolio = Portfolio::spread;
  options.count = 12;
  options.allowed.resize(6);
  options.allowed[1] = {kBottom[1], static_cast<std::uint16_t>(kBottom[1] == 0 ? 1 : kBottom[1] - 1)};
  options.allowed[2] = {kBottom[2], static_cast<std::uint16_t>(kBottom[2] == 0 ? 1 : kBottom[2] - 1)};
  const ProposeResult result = propose(model, options);
  const space::Design& best = result.proposals.front().design;
  bool both = false;
  int asked = 0;
  for (const Proposal& proposal : result.proposals) {
    for (const std::size_t p : {1U, 2U}) {
      const auto& may = options.allowed[p];
      EXPECT_EQ(std::count(may.begin(), may.end(), proposal.design.levels[p]), 1);
    }
    for (const std::size_t p : proposal.other_parameters) EXPECT_NE(proposal.design.levels[p], best.levels[p]);
    asked += proposal.other_parameters.empty() ? 0 : 1;
    both = both || (proposal.design.levels[1] != best.levels[1] && proposal.design.levels[2] != best.levels[2]);
  }
  EXPECT_TRUE(both) << "a setting in which both are otherwise";
  EXPECT_GE(asked, 6) << "of eleven two of three, but for those that rank found first";
  const ProposeResult again = propose(model, options);
  for (std::size_t i = 0; i < result.proposals.size(); ++i) {
    EXPECT_EQ(again.proposals[i].design, result.proposals[i].design) << i;
  }
}

TEST(Propose, APortfolioThatIsNamedCountsAndNetworksChooseForHedgedListsAlone) {
  const surrogate::Model model = bowl_model();
  ProposeOptions options;
  take_risk({.portfolio = Portfolio::hedged, .member_every = 2}, model, options);
  EXPECT_EQ(options.portfolio, Portfolio::hedged);
  EXPECT_EQ(options.member_every, 2U);
  take_risk({.risk = Risk::safe, .portfolio = Portfolio::hedged}, model, options);
  EXPECT_EQ(options.portfolio, Portfolio::hedged);
  EXPECT_EQ(options.member_every, 0U) << "safe has no network choose by itself";
  EXPECT_THROW(take_risk({.portfolio = Portfolio::spread, .member_every = 2}, model, options), Error);
  for (const Portfolio portfolio : {Portfolio::alike, Portfolio::spread, Portfolio::hedged}) {
    EXPECT_EQ(parse_portfolio(to_string(portfolio)), portfolio);
  }
  EXPECT_THROW(static_cast<void>(parse_portfolio("mixed")), Error);
}

TEST(Propose, FindsDiverseDesignsBeyondItsPool) {
  // Pairwise distance 5 of 6: the 1000 best designs are far too close to each other.
  ProposeOptions options = options_for({"one"});
  options.count = 8;
  options.diversity = 5;
  const ProposeResult result = propose(bowl_model(), options);
  ASSERT_EQ(result.proposals.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_GE(hamming(result.proposals[i].design, result.proposals[j].design), 5U);
    }
  }
}

}  // namespace
}  // namespace hindsight::optimize

/// Does a log lend starts, bar what it knows to fail, and lower the threshold where its best design says so?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/optimize/propose.h"
#include "optimize/bowl_model.h"

namespace hindsight::optimize {
namespace {

using ::testing::HasSubstr;

TEST(Propose, ALogIsTrustedUnlessAThresholdOrSafetyIsAskedFor) {
  const surrogate::Model model = bowl_model();
  const auto taken = [&](const AskedRisk& asked) {
    ProposeOptions options;
    take_risk(asked, model, options);
    return options;
  };
  const ProposeOptions usual = taken({});
  EXPECT_TRUE(usual.trust_log);
  EXPECT_EQ(usual.min_p_feasible, default_min_p_feasible(model));
  EXPECT_EQ(usual.portfolio, kUsualPortfolio);
  EXPECT_TRUE(taken({.risk = Risk::bold}).trust_log);
  EXPECT_FALSE(taken({.risk = Risk::safe}).trust_log);
  const ProposeOptions own = taken({.risk = Risk::bold, .min_p_feasible = 0.6, .pessimism = 3, .diversity = 1});
  EXPECT_FALSE(own.trust_log);
  EXPECT_EQ(own.min_p_feasible, 0.6);
  EXPECT_EQ(own.pessimism, 3);
  EXPECT_EQ(own.diversity, 1U);
}

TEST(Propose, UsesTheLogForStartsAndDistances) {
  dataset::Dataset logged{.space = mixed_space(),
                          .contexts = {plain_context("one")},
                          .objective_text = "latency",
                          .constraint_names = {},
                          .reason_names = {},
                          .levels = {},
                          .context = {0, 0},
                          .feasible = {true, false},
                          .objective = Eigen::VectorXd{{2.0, std::nan("")}},
                          .constraints = {},
                          .reasons = {0, 1},
                          .evaluation_id = {1, 2}};
  logged.levels.resize(2, 6);
  logged.levels.row(0) << 6, 2, 5, 4, 3, 0;
  logged.levels.row(1) << 6, 2, 5, 0, 0, 5;
  ProposeOptions options = options_for({"one"});
  options.logged = &logged;
  const ProposeResult result = propose(bowl_model(), options);
  EXPECT_EQ(result.proposals.front().design.levels, kBottom);
  EXPECT_EQ(result.proposals.front().nearest_logged_distance, 1U);
  // With a budget of a few designs only the logged start can be this good.
  options.search.evaluations = 40;
  options.search.kind = SearchKind::local;
  options.search.seed = 5;
  EXPECT_LE(propose(bowl_model(), options).proposals.front().score, 2.5 + kScoreError);
}

TEST(Propose, NewDesignsAreThoseThatTheLogDoesNotHave) {
  dataset::Dataset logged = one_row_log(kBottom);
  ProposeOptions options = options_for({"one"});
  options.logged = &logged;
  const ProposeResult all = propose(bowl_model(), options);
  EXPECT_EQ(all.proposals.front().design.levels, kBottom);
  EXPECT_EQ(all.proposals.front().nearest_logged_distance, 0U);
  options.only_new = true;
  const ProposeResult fresh = propose(bowl_model(), options);
  EXPECT_EQ(fresh.proposals.size(), all.proposals.size());
  EXPECT_EQ(fresh.proposals.front().constraint_values.size(), 0U);
  for (const Proposal& proposal : fresh.proposals) EXPECT_GE(proposal.nearest_logged_distance, 1U);
  options.logged = nullptr;
  EXPECT_THROW(static_cast<void>(propose(bowl_model(), options)), Error);
}

TEST(Propose, WhatTheLogKnowsToBeInfeasibleIsNotProposed) {
  dataset::Dataset logged = one_row_log(kBottom);
  logged.feasible[0] = false;
  ProposeOptions options = options_for({"one"});
  EXPECT_EQ(propose(bowl_model(), options).proposals.front().design.levels, kBottom);
  options.logged = &logged;
  for (const Proposal& proposal : propose(bowl_model(), options).proposals) EXPECT_NE(proposal.design.levels, kBottom);
  options.bars_infeasible = false;
  EXPECT_EQ(propose(bowl_model(), options).proposals.front().design.levels, kBottom);
  options.bars_infeasible = true;
  for (const std::uint16_t level : kBottom) options.allowed.push_back({level});
  EXPECT_THAT(no_feasible_message(bowl_model(), options),
              HasSubstr("the log knows every design that was tried (1) to be infeasible"));
  options.contexts = {plain_context("two")};
  EXPECT_EQ(propose(bowl_model(), options).proposals.front().design.levels, kBottom) << "another application's row";
}

TEST(Propose, IsNoMoreCarefulThanWhereTheLogsBestDesignCanBeBuilt) {
  // 0.95 up to the third level of the first parameter, 0.62 above: what is sure to be feasible is at best 4 levels
  // away.
  const auto model_with = [](double doubted) {
    return bowl_model([=](std::size_t p, std::size_t level) {
      const double p_feasible = level <= 2 ? 0.95 : doubted;
      return p == 0 ? std::log(p_feasible / (1 - p_feasible)) : 0;
    });
  };
  ProposeOptions options = options_for({"one"});
  options.min_p_feasible = 0.9;
  const ProposeResult alone = propose(model_with(0.62), options);
  EXPECT_EQ(alone.proposals.front().design.levels[0], 2);
  EXPECT_FALSE(alone.relaxed_by_log);

  const auto with_log = [&](const std::vector<std::uint16_t>& levels, double doubted) {
    const dataset::Dataset logged = one_row_log(levels);
    options.logged = &logged;
    return propose(model_with(doubted), options);
  };
  EXPECT_EQ(with_log(kBottom, 0.62).min_p_feasible_used, 0.9) << "nobody said that the log is to be trusted";
  options.trust_log = true;
  const ProposeResult known = with_log(kBottom, 0.62);
  EXPECT_TRUE(known.relaxed_by_log);
  EXPECT_EQ(known.min_p_feasible_used, 0.6);
  EXPECT_EQ(known.proposals.front().design.levels, kBottom);
  EXPECT_GT(known.solution.evaluations, alone.solution.evaluations);
  EXPECT_TRUE(known.proposals.front().from_log);
  // A better design is taken to be as likely, but the log does not know it.
  const std::vector<std::uint16_t> near = {6, 2, 5, 4, 2, 4};
  const ProposeResult better = with_log(near, 0.62);
  ASSERT_EQ(better.proposals.size(), known.proposals.size());
  EXPECT_EQ(better.proposals[0].design.levels, near);
  EXPECT_EQ(better.proposals[1].design.levels, kBottom);
  EXPECT_FALSE(better.proposals[1].from_log);
  for (std::size_t i = 1; i < better.proposals.size(); ++i) {
    EXPECT_GE(hamming(better.proposals[i].design, better.proposals[0].design), 2U);
  }

  const auto stays = [&](const ProposeResult& result) {
    EXPECT_FALSE(result.relaxed_by_log);
    EXPECT_EQ(result.min_p_feasible_used, 0.9);
    EXPECT_EQ(result.proposals.front().design.levels[0], 2);
  };
  stays(with_log({6, 2, 5, 0, 3, 0}, 0.62));  // worse than what is sure
  stays(with_log(kBottom, 0.05));             // all but sure to fail: the model knows nothing there
  options.only_new = true;
  stays(with_log(kBottom, 0.62));  // it is no proposal, and others are not known
  options.only_new = false;
  options.constraints = {{.name = "power_w", .limit = 100}};
  stays(with_log(kBottom, 0.62));  // the model says that it keeps a learned limit; the log may know better
  options.constraints.clear();
  options.contexts.push_back(plain_context("two"));
  stays(with_log(kBottom, 0.62));  // of the other application the log has nothing
}

TEST(Propose, NamesALogThatHasEveryAllowedDesign) {
  const dataset::Dataset logged = one_row_log(kBottom);
  ProposeOptions options = options_for({"one"});
  options.logged = &logged;
  options.only_new = true;
  for (const std::uint16_t level : kBottom) options.allowed.push_back({level});
  EXPECT_THAT(no_feasible_message(bowl_model(), options), HasSubstr("no new design is left"));
}

}  // namespace
}  // namespace hindsight::optimize

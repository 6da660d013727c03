/// Are limits honoured, the threshold of p_feasible lowered no further than it must be, and remedies right?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/optimize/propose.h"
#include "optimize/bowl_model.h"
#include "tolerances.h"

namespace hindsight::optimize {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Propose, HonoursConstraintsAndFixedParameters) {
  // Learned power_w = exp(sum of 0.2 x level over a, b, c).
  const auto power = [](std::size_t p, std::size_t level) { return p < 3 ? 0.2 * static_cast<double>(level) : 0; };
  const surrogate::Model model = bowl_model(likely, power);
  for (const char* search : {"mixed", "firefly", "evolutionary", "local", "enumeration"}) {
    ProposeOptions options = options_for({"one"});
    options.search.kind = parse_search(search);
    options.allowed = {{}, {}, {}, {0, 1}, {2}, {}};
    options.constraints = {{.name = "area_mm2", .limit = 27, .value = batched(product_area)},
                           {.name = "power_w", .limit = 6}};
    const ProposeResult result = propose(model, options);
    ASSERT_FALSE(result.proposals.empty());
    for (const Proposal& proposal : result.proposals) {
      const auto& x = proposal.design.levels;
      EXPECT_LE(x[3], 1) << search;
      EXPECT_EQ(x[4], 2) << search;
      ASSERT_EQ(proposal.constraint_values.size(), 2U);
      EXPECT_LE(test::relative_error(proposal.constraint_values[0], product_area(x.data())), test::kRounding);
      EXPECT_LE(proposal.constraint_values[0], 27);
      EXPECT_LE(test::relative_error(proposal.constraint_values[1], std::exp(0.2 * (x[0] + x[1] + x[2]))), kScoreError);
      EXPECT_LE(proposal.constraint_values[1], 6);
    }
    // exp(0.2 x 8) = 4.95, exp(0.2 x 9) = 6.05: a + b + c <= 8 instead of 13. Taking 1 and 2 steps evenly costs least:
    // a and c down by 2, b down by 1: z = 0.1 (4 + 4 + 1) + 0.1 x 9 (d = 1) + 0.1 (e = 2).
    EXPECT_NEAR(result.proposals.front().score, 0.9 + 0.9 + 0.1, kScoreError) << search;
  }
}

TEST(Propose, RelaxesFeasibilityStepByStepAndSaysSo) {
  const auto logit_of = [](double probability) { return std::log(probability / (1 - probability)); };
  const auto model_with = [&](double best_probability) {
    return bowl_model([=](std::size_t p, std::size_t level) {
      return p == 0 ? logit_of(best_probability) - (level == 9 ? 0.0 : 0.5) : 0;
    });
  };
  const ProposeOptions options = options_for({"one", "two"});
  const ProposeResult third = propose(model_with(0.33), options);
  EXPECT_EQ(third.min_p_feasible_used, 0.3);
  EXPECT_EQ(third.proposals.front().design.levels[0], 9) << "only there p_feasible reaches 0.3";
  EXPECT_EQ(propose(model_with(0.38), options).min_p_feasible_used, 0.35) << "no lower than it has to be";
  EXPECT_EQ(propose(model_with(0.8), options).min_p_feasible_used, 0.5);
  ProposeOptions safe = options;
  safe.min_p_feasible = 0.95;
  EXPECT_EQ(propose(model_with(0.92), safe).min_p_feasible_used, 0.9) << "not below what a balanced list asks for";
}

TEST(Propose, RefusesWhenEveryDesignIsAllButSureToFail) {
  const surrogate::Model model = bowl_model(
      [](std::size_t p, std::size_t level) { return p == 0 ? std::log(0.05 / 0.95) - (level == 9 ? 0.0 : 0.5) : 0.0; });
  ProposeOptions options = options_for({"one"});
  const std::string text = no_feasible_message(model, options);
  EXPECT_THAT(text, HasSubstr("p_feasible reaches 0.0"));
  const std::string before = "Allow p_feasible >= ";
  ASSERT_THAT(text, HasSubstr(before));
  options.min_p_feasible = std::stod(text.substr(text.find(before) + before.size()));
  constexpr double kThreeDigits = 2e-4;  // a step of the last of three digits, rounded down, and its own rounding
  EXPECT_NEAR(options.min_p_feasible, 0.05, kThreeDigits);
  EXPECT_FALSE(propose(model, options).proposals.empty()) << "as the message says";
  options.min_p_feasible = 0;
  EXPECT_FALSE(propose(model, options).proposals.empty()) << "asked for regardless";
}

TEST(Propose, OffersNoChanceThatIsAllButNone) {
  const auto message_at = [](double chance) {
    return no_feasible_message(bowl_model([=](std::size_t p, std::size_t /*level*/) {
                                 return p == 0 ? std::log(chance / (1 - chance)) : 0.0;
                               }),
                               options_for({"one"}));
  };
  EXPECT_THAT(message_at(0.011), HasSubstr("Allow p_feasible >= 0.01"));
  EXPECT_THAT(message_at(0.009), Not(HasSubstr("Allow p_feasible")));
  EXPECT_THAT(message_at(1e-9), HasSubstr("needed: no design found meets p_feasible >= 0.1 (--min-feasible) and all"));
  EXPECT_THAT(message_at(1e-9), HasSubstr("Relax several, or allow more values?"));
}

TEST(Propose, AdvisesWhatTheCallerKnowsWhereNothingIsLikely) {
  const auto model_at = [](double chance) {
    return bowl_model(
        [=](std::size_t p, std::size_t /*level*/) { return p == 0 ? std::log(chance / (1 - chance)) : 0.0; });
  };
  ProposeOptions options = options_for({"one"});
  int asked = 0;
  options.unlikely_remedy = [&asked] {
    ++asked;
    return std::string("Ask another model?");
  };
  for (const double chance : {1e-9, 0.05}) {
    const std::string message = no_feasible_message(model_at(chance), options);
    EXPECT_THAT(message, HasSubstr("meets p_feasible >= 0.1 (--min-feasible) and all else"));
    EXPECT_TRUE(message.ends_with("nor with one other limit relaxed. Ask another model?")) << message;
    EXPECT_THAT(message, Not(HasSubstr("Allow p_feasible"))) << "a chance that is not to be believed";
  }
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(propose(model_at(0.95), options).proposals.empty());
  EXPECT_EQ(asked, 2) << "only where nothing is found";
  options.unlikely_remedy = [] { return std::string(); };
  EXPECT_THAT(no_feasible_message(model_at(0.05), options), HasSubstr("Allow p_feasible >= 0.0"));
}

TEST(Propose, TriesNoOfferThatNobodyReads) {
  std::uint64_t judged = 0;  // by all searches: each asks for the facts of what it looks at
  const auto area = [&judged](const LevelMatrix& levels) {
    judged += static_cast<std::uint64_t>(levels.rows());
    return batched(product_area)(levels);
  };
  ProposeOptions options = options_for({"one"});
  options.constraints = {{.name = "area_mm2", .limit = 6, .value = area},
                         {.name = "time_s", .limit = 100, .value = batched(product_time)}};
  const surrogate::Model model = bowl_model();
  EXPECT_THAT(no_feasible_message(model, options), HasSubstr("or time_s <= "));
  const std::uint64_t explained = std::exchange(judged, 0);
  options.explains = false;
  EXPECT_EQ(no_feasible_message(model, options), "no design found meets all limits");
  EXPECT_LT(judged, explained);
  options.constraints = {{.name = "area_mm2", .limit = 27, .value = area}};
  const std::vector<std::uint16_t> best = propose(model, options).proposals.front().design.levels;
  options.explains = true;
  EXPECT_EQ(propose(model, options).proposals.front().design.levels, best);
}

TEST(Propose, AsksForNoRemedyThatNobodyReads) {
  ProposeOptions options = options_for({"one"});
  options.explains = false;
  options.unlikely_remedy = [] {
    ADD_FAILURE() << "asked";
    return std::string("Ask another model?");
  };
  const surrogate::Model model =
      bowl_model([](std::size_t p, std::size_t /*level*/) { return p == 0 ? std::log(0.05 / 0.95) : 0.0; });
  EXPECT_TRUE(no_feasible_message(model, options).ends_with("needed: no design found meets all limits"));
}

TEST(Propose, OffersNothingBeyondALimitThatNobodySets) {
  ProposeOptions options = options_for({"one"});
  const auto text = [](double value) { return std::string(value > 3 ? "" : "area_mm2 <= 3"); };
  options.constraints = {{.name = "area_mm2", .limit = 3, .value = batched(product_area), .text = text}};
  const std::string message = no_feasible_message(bowl_model(likely), options);
  EXPECT_THAT(message, HasSubstr("no design found meets area_mm2 <= 3 and all else"));
  EXPECT_THAT(message, Not(HasSubstr("known")));
}

TEST(Propose, NamesTheUnsatisfiableConstraintAndTheNearestValue) {
  const auto power = [](std::size_t p, std::size_t level) { return p < 3 ? 0.2 * static_cast<double>(level) : 0.1; };
  const surrogate::Model model = bowl_model(likely, power);
  ProposeOptions options = options_for({"one"});
  options.constraints = {{.name = "area_mm2", .limit = 3, .value = batched(product_area)}};
  EXPECT_THAT(no_feasible_message(model, options), HasSubstr("no design meets area_mm2 <= 3"));
  EXPECT_THAT(no_feasible_message(model, options), HasSubstr("Allow area_mm2 <= 4.8?"));
  options.constraints = {{.name = "power_w", .limit = 0.5}};
  // exp(3 x 0.1) = 1.34986, rounded up
  EXPECT_THAT(no_feasible_message(model, options), HasSubstr("Allow power_w <= 1.35?"));
  options.constraints = {{.name = "area_mm2", .limit = 6, .value = batched(product_area)},
                         {.name = "time_s", .limit = 100, .value = batched(product_time)}};
  EXPECT_THAT(no_feasible_message(model, options), HasSubstr("or time_s <= "));
}

TEST(Propose, WhatIsNamedAsALimitIsLikelyToBeFeasible) {
  // Power falls with the first parameter, and with it the chance: the smallest power of all is no design to propose.
  const auto power = [](std::size_t p, std::size_t level) { return p == 0 ? 0.3 * static_cast<double>(level) : 0.0; };
  const auto chance = [](std::size_t p, std::size_t level) {
    return p == 0 ? static_cast<double>(level) - 4.0 : 0.0;  // 0.5 at the fifth level
  };
  const surrogate::Model model = bowl_model(chance, power);
  ProposeOptions options = options_for({"one"});
  options.min_p_feasible = 0.5;
  options.constraints = {{.name = "power_w", .limit = 0.9}};
  const std::string text = no_feasible_message(model, options);
  const std::string before = "Allow power_w <= ";
  ASSERT_THAT(text, HasSubstr(before));
  options.constraints.front().limit = std::stod(text.substr(text.find(before) + before.size()));
  const ProposeResult result = propose(model, options);
  ASSERT_FALSE(result.proposals.empty());
  EXPECT_EQ(result.min_p_feasible_used, 0.5);
}

TEST(Propose, WhatIsNamedAsALimitIsWhatTheThresholdGivesWayTo) {
  const auto power = [](std::size_t p, std::size_t level) { return p == 0 ? 0.3 * static_cast<double>(level) : 0.0; };
  const auto chance = [](std::size_t p, std::size_t level) {
    return p == 0 ? static_cast<double>(level) - 3.9 : 0.0;  // 0.525 at the fifth level, 0.957 at the eighth
  };
  const surrogate::Model model = bowl_model(chance, power);
  ProposeOptions options = options_for({"one"});
  options.min_p_feasible = 0.9;
  options.constraints = {{.name = "power_w", .limit = 0.9}};
  const std::string text = no_feasible_message(model, options);
  EXPECT_THAT(text, HasSubstr("p_feasible >= 0.9 is lowered for that, to 0.5 at least"));
  const std::string before = "Allow power_w <= ";
  ASSERT_THAT(text, HasSubstr(before));
  options.constraints.front().limit = std::stod(text.substr(text.find(before) + before.size()));
  // exp(4 x 0.3) = 3.32; of the eighth level 8.17
  EXPECT_LT(options.constraints.front().limit, 4);
  const ProposeResult result = propose(model, options);
  ASSERT_FALSE(result.proposals.empty());
  EXPECT_EQ(result.min_p_feasible_used, 0.5) << "as the message says";
  const std::string to_keep = "lowered for that, to 0.5 at least; to keep it, allow power_w <= ";
  ASSERT_THAT(text, HasSubstr(to_keep));
  options.constraints.front().limit = std::stod(text.substr(text.find(to_keep) + to_keep.size()));
  EXPECT_NEAR(options.constraints.front().limit, 8.17, kScoreError) << "exp(7 x 0.3) = 8.166, rounded up";
  EXPECT_EQ(propose(model, options).min_p_feasible_used, 0.9) << "kept";
}

TEST(Propose, WhatIsNamedAsALimitKeepsTheThresholdWhereNothingIsNearerBelowIt) {
  const auto power = [](std::size_t p, std::size_t level) { return p == 0 ? 0.3 * static_cast<double>(level) : 0.0; };
  const surrogate::Model model = bowl_model(likely, power);  // 0.953 everywhere
  ProposeOptions options = options_for({"one"});
  options.min_p_feasible = 0.9;
  options.constraints = {{.name = "power_w", .limit = 0.9}};
  const std::string text = no_feasible_message(model, options);
  EXPECT_THAT(text, Not(HasSubstr("is lowered")));
  const std::string before = "Allow power_w <= ";
  ASSERT_THAT(text, HasSubstr(before));
  options.constraints.front().limit = std::stod(text.substr(text.find(before) + before.size()));
  constexpr double kLastDigit = 0.01;  // of three, where 1 is missed by rounding
  EXPECT_NEAR(options.constraints.front().limit, 1, kLastDigit + kScoreError);
  EXPECT_EQ(propose(model, options).min_p_feasible_used, 0.9);
}

TEST(Propose, WhatSeveralLimitsNeedIsLikelyToBeFeasible) {
  const auto power = [](std::size_t p, std::size_t level) { return p == 0 ? 0.3 * static_cast<double>(level) : 0.0; };
  const auto chance = [](std::size_t p, std::size_t level) { return p == 0 ? static_cast<double>(level) - 4.0 : 0.0; };
  const surrogate::Model model = bowl_model(chance, power);
  ProposeOptions options = options_for({"one"});
  options.min_p_feasible = 0.5;
  options.constraints = {{.name = "power_w", .limit = 0.9},
                         {.name = "area_mm2", .limit = 3, .value = batched(product_area)}};
  const std::string text = no_feasible_message(model, options);
  ASSERT_THAT(text, HasSubstr("The nearest would need power_w <= "));
  EXPECT_THAT(text, HasSubstr("Allow both?")) << "the chance is kept";
  for (Constraint& constraint : options.constraints) {
    const std::string before = constraint.name + " <= ";
    constraint.limit = std::stod(text.substr(text.rfind(before) + before.size()));
  }
  const ProposeResult result = propose(model, options);
  ASSERT_FALSE(result.proposals.empty());
  EXPECT_EQ(result.min_p_feasible_used, 0.5);
}

TEST(Propose, NamesNoLimitThatNobodySets) {
  // The only design within the limit is logged: the area of the next can be allowed, what the log has cannot.
  const dataset::Dataset logged = one_row_log({0, 0, 0, 0, 0, 0});
  ProposeOptions options = options_for({"one"});
  options.logged = &logged;
  options.only_new = true;
  options.allowed.resize(logged.space.parameters().size());
  options.allowed[4] = {0};  // which does not change the area
  options.constraints = {{.name = "area_mm2", .limit = 4.9, .value = batched(product_area)}};
  const std::string text = no_feasible_message(bowl_model(), options);
  EXPECT_THAT(text, ::testing::Not(HasSubstr("logged_before")));
  EXPECT_THAT(text, HasSubstr("With the others kept, one meets area_mm2 <= 5.3. Allow that?"));
}

}  // namespace
}  // namespace hindsight::optimize

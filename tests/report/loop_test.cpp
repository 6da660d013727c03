/// Does the table of a campaign show what was found, in the direction in which it is better?
#include "hindsight/report/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hindsight::report {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

study::CampaignSummary one_round(const std::string& objective, double best, double best_so_far) {
  study::CampaignSummary summary{.definition_hash = "1", .rounds = {}, .objective = objective};
  summary.rounds.push_back({.learned = true,
                            .why = "a model of 32 rows (20 feasible)",
                            .designs = 8,
                            .best = best,
                            .best_so_far = best_so_far,
                            .best_design = "rows=8",
                            .true_over_predicted = 2.0});
  return summary;
}

TEST(CampaignText, AMaximisedMetricIsShownAsItself) {
  const study::CampaignSummary summary = one_round("throughput_gops^-1", 0.004, 0.002);
  EXPECT_THAT(round_text(summary), HasSubstr("; best 250, so far 500"));
  const std::string text = campaign_text(summary, "c.sqlite", std::nullopt, 200);
  EXPECT_THAT(text, AllOf(HasSubstr("largest throughput_gops\n"), HasSubstr("best so far: 500\n"), HasSubstr("0.500"),
                          Not(HasSubstr("^-1"))))
      << "half of what was predicted is true";
  EXPECT_THAT(campaign_json(summary, "c.sqlite", std::nullopt), HasSubstr("\"best_so_far\": 0.002"))
      << "JSON has the objective's values";
}

TEST(CampaignText, AMinimisedMetricHasItsUnit) {
  const study::CampaignSummary summary = one_round("latency_s", 0.004, 0.002);
  EXPECT_THAT(round_text(summary), HasSubstr("; best 4.00 ms, so far 2.00 ms"));
  EXPECT_THAT(campaign_text(summary, "c.sqlite", std::nullopt, 200),
              AllOf(HasSubstr("smallest latency_s\n"), HasSubstr("best so far: 2.00 ms\n"), HasSubstr("2.000")));
}

}  // namespace
}  // namespace hindsight::report

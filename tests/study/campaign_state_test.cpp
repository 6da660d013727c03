/// Is what a campaign keeps in its log read as it was written, and everything else refused?
#include "study/campaign_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hindsight/core/error.h"

namespace hindsight::study {
namespace {

using Json = nlohmann::ordered_json;

CampaignState state() {
  CampaignState all;
  all.rounds.push_back({.learned = true,
                        .why = "a model of 40 rows",
                        .designs = 8,
                        .infeasible = 2,
                        .beyond_limits = 1,
                        .best = 0.5,
                        .best_so_far = 0.25,
                        .best_design = "a=1",
                        .choose_s = 1.5,
                        .evaluate_s = 2.5});
  all.batch = CampaignBatch{.designs = {"a=2", "a=3"},
                            .predicted = {0.75, std::nullopt},
                            .learned = true,
                            .why = "a model of 48 rows",
                            .choose_s = 3.5};
  return all;
}

/// The message of the refusal; empty when it is read.
std::string refusal(const std::string& text) {
  try {
    static_cast<void>(parse_campaign_state(text, "a.db"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::incompatible) << error.what();
    return error.what();
  }
  return "";
}
const std::string kDamaged = "a.db: the campaign's checkpoint is damaged. Use a new log?";

TEST(CampaignState, IsReadAsItWasWritten) {
  const CampaignState read = parse_campaign_state(to_json(state()), "a.db");
  EXPECT_EQ(to_json(read), to_json(state()));
  ASSERT_EQ(read.rounds.size(), 1U);
  EXPECT_EQ(read.rounds[0].best_so_far, 0.25);
  ASSERT_TRUE(read.batch.has_value());
  EXPECT_EQ(read.batch->designs, state().batch->designs);
  EXPECT_EQ(read.batch->predicted, state().batch->predicted);
  EXPECT_EQ(refusal(R"({"rounds":[],"batch":null})"), "");
}

TEST(CampaignState, EveryCutAndEveryMissingOrOtherValueIsRefused) {
  const std::string text = to_json(state());
  for (std::size_t size = 0; size < text.size(); ++size) EXPECT_EQ(refusal(text.substr(0, size)), kDamaged) << size;
  const Json good = Json::parse(text);
  for (const char* place : {"", "/rounds/0", "/batch"}) {
    const Json& object = good[Json::json_pointer(place)];
    for (const auto& [key, value] : object.items()) {
      Json changed = good;
      changed[Json::json_pointer(place)].erase(key);
      EXPECT_EQ(refusal(changed.dump()), kDamaged) << "without " << place << "/" << key;
      changed = good;
      changed[Json::json_pointer(place)][key] = Json{{"x", {1}}};
      EXPECT_EQ(refusal(changed.dump()), kDamaged) << "another " << place << "/" << key;
    }
  }
}

/// A round that is gone on with looks at the prediction of each of its designs.
TEST(CampaignState, ADesignWithoutAPredictionIsRefused) {
  for (const Json& predicted : {Json::array({0.75}), Json::array(), Json::array({0.75, nullptr, 1})}) {
    Json changed = Json::parse(to_json(state()));
    changed["batch"]["predicted"] = predicted;
    EXPECT_EQ(refusal(changed.dump()), kDamaged) << predicted;
  }
}

}  // namespace
}  // namespace hindsight::study

/// A campaign's checkpoint as JSON.
#include "study/campaign_state.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/json_whole.h"
#include "hindsight/core/text.h"

namespace hindsight::study {
namespace {

using Json = nlohmann::ordered_json;

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
std::optional<double> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<double>(json.get<double>());
}

Json to_json(const CampaignRound& round) {
  return {{"learned", round.learned},
          {"why", round.why},
          {"designs", round.designs},
          {"infeasible", round.infeasible},
          {"beyond_limits", round.beyond_limits},
          {"best", number(round.best)},
          {"best_so_far", number(round.best_so_far)},
          {"best_design", round.best_design},
          {"true_over_predicted", number(round.true_over_predicted)},
          {"choose_s", round.choose_s},
          {"evaluate_s", round.evaluate_s}};
}

CampaignRound round_of(const Json& json) {
  return {.learned = json.at("learned").get<bool>(),
          .why = json.at("why").get<std::string>(),
          .designs = whole_number(json.at("designs")),
          .infeasible = whole_number(json.at("infeasible")),
          .beyond_limits = whole_number(json.at("beyond_limits")),
          .best = optional_of(json.at("best")),
          .best_so_far = optional_of(json.at("best_so_far")),
          .best_design = json.at("best_design").get<std::string>(),
          .true_over_predicted = optional_of(json.at("true_over_predicted")),
          .choose_s = json.at("choose_s").get<double>(),
          .evaluate_s = json.at("evaluate_s").get<double>()};
}

}  // namespace

std::string to_json(const CampaignState& state) {
  Json json{{"rounds", Json::array()}, {"batch", nullptr}};
  for (const CampaignRound& round : state.rounds) json["rounds"].push_back(to_json(round));
  if (state.batch) {
    const CampaignBatch& batch = *state.batch;
    Json predicted = Json::array();
    for (const auto& value : batch.predicted) predicted.push_back(number(value));
    json["batch"] = {{"designs", batch.designs},
                     {"predicted", std::move(predicted)},
                     {"learned", batch.learned},
                     {"why", batch.why},
                     {"choose_s", batch.choose_s}};
  }
  return json.dump();
}

void refuse_campaign_state(const std::filesystem::path& log) {
  throw Error(ErrorKind::incompatible,
              fmt::format("{}: the campaign's checkpoint is damaged. Use a new log?", printable(log.string(), 200)));
}

CampaignState parse_campaign_state(const std::string& text, const std::filesystem::path& log) {
  try {
    const auto json = Json::parse(bounded_json(text));
    CampaignState state;
    for (const Json& round : json.at("rounds")) state.rounds.push_back(round_of(round));
    if (const Json& given = json.at("batch"); !given.is_null()) {
      CampaignBatch batch{.designs = given.at("designs").get<std::vector<std::string>>(),
                          .predicted = {},
                          .learned = given.at("learned").get<bool>(),
                          .why = given.at("why").get<std::string>(),
                          .choose_s = given.at("choose_s").get<double>()};
      for (const Json& value : given.at("predicted")) batch.predicted.push_back(optional_of(value));
      if (batch.predicted.size() != batch.designs.size()) refuse_campaign_state(log);
      state.batch = std::move(batch);
    }
    return state;
  } catch (const nlohmann::json::exception&) {
    refuse_campaign_state(log);
  }
}

}  // namespace hindsight::study

/// What a campaign keeps in its log's checkpoint: the rounds that are over and the batch of the one that is not.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/study/campaign.h"

namespace hindsight::study {

/// The designs of a round that is not finished.
struct CampaignBatch {
  std::vector<std::string> designs;  ///< text ids
  std::vector<std::optional<double>> predicted;
  bool learned = false;
  std::string why;
  double choose_s = 0;
};
struct CampaignState {
  std::vector<CampaignRound> rounds;
  std::optional<CampaignBatch> batch;
};

std::string to_json(const CampaignState& state);
/// Error{incompatible}: what `log` keeps of a campaign is not what one writes.
[[noreturn]] void refuse_campaign_state(const std::filesystem::path& log);
/// `log`: for the message. Errors: as refuse_campaign_state(), when the text is none, or has not a prediction, known or
/// not, for each design.
CampaignState parse_campaign_state(const std::string& text, const std::filesystem::path& log);

}  // namespace hindsight::study

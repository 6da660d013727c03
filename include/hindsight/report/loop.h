/// Renders what the loop asks for and hears: tables that simulators fill in, and what a campaign found.
#pragma once

#include <string>

#include "hindsight/study/asking.h"
#include "hindsight/study/campaign.h"

namespace hindsight::report {

/// A row per design and workload, to be filled in: design (short id), workload, the parameters, predicted, p_feasible
/// (both empty where designs were drawn), then empty the metrics to answer with and the reason.
[[nodiscard]] std::string ask_csv(const study::Asked& asked);
[[nodiscard]] std::string ask_json(const study::Asked& asked);
/// The same table of designs that await an answer; `metrics` to answer with.
[[nodiscard]] std::string pending_csv(const std::vector<log::PendingDesign>& pending, const space::DesignSpace& space,
                                      const std::vector<std::string>& metrics);

[[nodiscard]] std::string told_text(const study::Told& told, const std::string& log, int columns);
[[nodiscard]] std::string told_json(const study::Told& told, const std::string& log);

/// One line on the round that has just ended, the last.
[[nodiscard]] std::string round_text(const study::CampaignSummary& so_far);
/// `optimum`: the best value there is, where it is known; regret is its ratio to the best found.
[[nodiscard]] std::string campaign_text(const study::CampaignSummary& summary, const std::string& log,
                                        std::optional<double> optimum, int columns);
[[nodiscard]] std::string campaign_json(const study::CampaignSummary& summary, const std::string& log,
                                        std::optional<double> optimum);

}  // namespace hindsight::report

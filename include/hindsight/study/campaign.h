/// A closed loop around a simulator: propose, evaluate, append, learn again; every step in the log.
///
/// A campaign is identified by everything that decides its designs but the number of rounds. It stands in the log: the
/// designs of the round that runs, and what every finished round found. Killed at any moment it continues where it
/// stood; an evaluation that was appended is not done again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/evaluator/evaluator.h"
#include "hindsight/study/simulator_search.h"
#include "hindsight/surrogate/train.h"
#include "hindsight/workload/network.h"

namespace hindsight::study {

struct CampaignOptions {
  std::shared_ptr<const evaluator::Evaluator> evaluator;
  std::vector<workload::Network> networks;
  SearchWords words = {};  ///< objective, aggregate, limits; the method is not used
  std::size_t rounds = 5;  ///< those done before included
  std::size_t batch = 16;  ///< designs of a round
  std::size_t drawn = 2;   ///< of those, drawn where a model chooses the others (NextQuestion::drawn)
  std::string recipe = "margins";
  std::uint64_t seed = 1;
  unsigned threads = 0;
  /// Workers (worker.h) evaluate: each round is asked for in a log on a server, and waited for. `evaluator` says name
  /// and version, and is not started. Several campaigns of one log never ask for the same design.
  bool by_workers = false;
  std::filesystem::path log;
  Provenance provenance = {};
  std::function<void(const surrogate::TrainProgress&)> progress = {};  ///< of each round's training
  std::function<void()> after_choice = {};  ///< called once the designs of a round of this run are chosen
};

/// What a round asked for and found.
struct CampaignRound {
  bool learned = false;                    ///< a model chose; else designs were drawn
  std::string why = {};                    ///< NextDesigns::why, explained (NextQuestion::explains) in the last round
  std::size_t designs = 0;                 ///< of them:
  std::size_t infeasible = 0;              ///< on some network
  std::size_t beyond_limits = 0;           ///< feasible, but over a limit that only an evaluation knows
  std::optional<double> best = {};         ///< objective over all networks; nothing: none within the limits
  std::optional<double> best_so_far = {};  ///< of all rows of the log that answer the question
  std::string best_design = {};            ///< text id of best_so_far
  /// Median over the designs that were predicted and are feasible of true / predicted; nothing: there are none.
  std::optional<double> true_over_predicted = {};
  double choose_s = 0, evaluate_s = 0;
};

enum class CampaignStatus { finished, already_finished, interrupted, exhausted };

struct CampaignSummary {
  CampaignStatus status = CampaignStatus::finished;
  std::string definition_hash;
  std::vector<CampaignRound> rounds;  ///< all, earlier runs included
  std::size_t rounds_before = 0;      ///< of those, done before this run
  std::uint64_t evaluations_this_run = 0;
  std::string why_exhausted = {};  ///< why no further design was found
  std::string objective;           ///< as it is minimised, in the names of the log
};

/// Called after each round of this run, with all rounds so far.
using AfterRound = std::function<void(const CampaignSummary& so_far)>;

/// Runs, or continues, a campaign. Errors: Error{usage} for names that do not fit, or that the log holds with another
/// definition; those of the evaluator, of next_designs() and of log::Log. Ctrl-C ends it with what was appended.
/// A log that was not there is not left behind where nothing is within the limits (Error{no_feasible}).
[[nodiscard]] CampaignSummary run_campaign(const CampaignOptions& options, const AfterRound& after_round = {});

/// What the log has of a campaign, for which nothing is chosen or evaluated: its finished rounds. Its space, workloads
/// and evaluator are registered in the log. Errors: as run_campaign() before its first round.
[[nodiscard]] CampaignSummary campaign_so_far(const CampaignOptions& options);

}  // namespace hindsight::study

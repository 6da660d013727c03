/// Tuning of a recipe by Hyperband, judged offline: no simulator is asked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hindsight/surrogate/train.h"
#include "hindsight/surrogate/trials.h"

namespace hindsight::surrogate {

struct TuneOptions {
  std::int64_t largest_steps = 0;   ///< of the last rung; 0 = the recipe's own
  std::int64_t smallest_steps = 0;  ///< of the first rung; 0 = a ninth of the largest
  double reduction = 3;             ///< of each rung the best 1 / reduction go on, with `reduction` times the steps
  std::uint64_t seed = 1;           ///< of the drawn values
  TrainOptions train;               ///< checkpoint and resume are not used
  TrialSharing sharing = {};        ///< with a folder, the rungs of all brackets are run side by side
};

/// One training of a drawn recipe.
struct Trial {
  std::int64_t bracket = 0, rung = 0, candidate = 0;
  std::map<std::string, double> values;
  std::int64_t steps = 0;
  double kendall_tau = 0, feasibility_auc = 0;
  double score = 0;     ///< larger is better, see tuning_score
  bool failed = false;  ///< diverged
};

struct TuneResult {
  Recipe recipe;              ///< the winner's values in the given recipe, with the recipe's own steps and no `tune`
  std::vector<Trial> trials;  ///< in the order they ran
  bool interrupted = false;   ///< Ctrl-C: the best so far
};

/// Offline score of a model: tau + auc - 1/2, that is how far both rankings are above chance, the feasibility's
/// scaled as tau is (2 auc - 1, halved because proposals are ranked by the objective first).
[[nodiscard]] double tuning_score(const ModelMetrics& metrics);

/// Takes over what a trial scored, by its result as JSON, which another process may have left in the folder of shared
/// trials. Error{incompatible} for what is no such result.
void set_scores(Trial& trial, const std::string& result);

/// Error{usage} where the recipe has no `tune` ranges, or none of a key that its method reads.
void require_tunable(const Recipe& recipe);

/// Hyperband (Li et al. 2018) over the recipe's `tune` ranges: brackets of successive halving that trade many short
/// trials against few long ones. Candidate 0 of the first bracket is the recipe as given. Deterministic.
/// `report` is called after every trial. Error{usage} by require_tunable(); Error{failure} when every trial
/// diverged.
[[nodiscard]] TuneResult tune(const dataset::Dataset& data, const Recipe& recipe, const TuneOptions& options,
                              const std::function<void(const Trial&)>& report = {});

}  // namespace hindsight::surrogate

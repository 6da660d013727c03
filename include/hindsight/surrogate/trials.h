/// Trials, short trainings that judge a recipe, as independent jobs: processes share their results through a folder.
///
/// A trial is a function of its identity (data, recipe, steps, seed), so a result that is there is taken and not made
/// again: by another shard, or by the same command after it was killed. Of the trials that are due a process runs those
/// of its shard first and then waits for the others. Where no result arrives any more it runs the missing ones itself:
/// a process that died costs time, not the result, and a trial that ran twice does no harm.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/surrogate/parts.h"

namespace hindsight::surrogate {

struct TrialSharing {
  std::filesystem::path folder = {};  ///< created where it is missing; empty: every trial is run here, nothing is kept
  TrainingShard shard = {};
  /// How long nothing may arrive before missing trials are run here: this, and three times as long as the slowest trial
  /// of this process would have taken at the size of the largest that is missing. [chosen] a minute of starting late
  std::chrono::duration<double> patience = std::chrono::minutes(1);
};

struct SharedTrial {
  std::string identity;  ///< all that decides the result; its hash names the file
  double size = 1;       ///< time it takes, in any unit
};

/// What became of trials that are due together.
class SharedTrials {
 public:
  /// Error{failure} when the folder cannot be made.
  explicit SharedTrials(const TrialSharing& sharing);
  /// The results of all of `trials`, as texts (JSON). `run` makes that of a trial; `known` hears of each result once,
  /// in the order in which they become known. Ctrl-C: those that are not known stay empty. Errors: those of `run`;
  /// Error{incompatible} for a file of the folder that is no result, Error{failure} when one cannot be written.
  [[nodiscard]] std::vector<std::optional<std::string>> results(
      const std::vector<SharedTrial>& trials, const std::function<std::string(std::size_t)>& run,
      const std::function<void(std::size_t, const std::string&)>& known);
  /// Whether there is a folder.
  [[nodiscard]] bool is_shared() const { return !sharing_.folder.empty(); }

 private:
  struct Round;
  void run_here(Round& round, std::size_t trial);
  bool look(Round& round, std::size_t trial) const;

  TrialSharing sharing_;
  double slowest_s_per_size_ = 0;
};

}  // namespace hindsight::surrogate

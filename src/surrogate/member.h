/// Training of one member of an ensemble.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "hindsight/surrogate/train.h"
#include "surrogate/learner.h"
#include "surrogate/training_rows.h"

namespace hindsight::surrogate {

/// What all members share; outlives their training.
struct MemberInputs {
  const TrainingPlan& plan;
  const space::DesignSpace& space;
  Architecture architecture;
  TrainingRows train;       ///< rows of the split's training part
  TrainingRows validation;  ///< the held-out rows
  TrainingRows all;         ///< both, for the final steps; without rows when there are none
  bool cuda = false;
};

struct TrainedMember {
  Network selected;  ///< best on the validation rows
  Network final;     ///< after the final steps; equal to `selected` without them
  double kendall_tau = 0;
  std::int64_t selected_step = 0, steps_done = 0;
  bool diverged = false;     ///< stopped at a loss that is not finite
  bool interrupted = false;  ///< stopped by Ctrl-C
};

/// Hands progress to the caller, from any thread, not more often than every 0.2 s.
class ProgressRelay {
 public:
  explicit ProgressRelay(const std::function<void(const TrainProgress&)>& receiver) : receiver_(receiver) {}
  void report(const TrainProgress& progress);

 private:
  const std::function<void(const TrainProgress&)>& receiver_;
  std::mutex mutex_;
  std::optional<std::chrono::steady_clock::time_point> last_;
};

/// Mean over contexts of Kendall's tau between predicted and logged objective on feasible rows (PRIME's selection
/// rule); nothing when no context has two such rows.
[[nodiscard]] std::optional<double> validation_tau(const Network& network, const TrainingRows& rows);

/// Trains member `index`. Nothing when it diverged or was interrupted before its first useful weights.
[[nodiscard]] std::optional<TrainedMember> train_member(const MemberInputs& inputs, std::int64_t index,
                                                        LearnerFactory& factory, ProgressRelay& relay);

}  // namespace hindsight::surrogate

/// Training of one member of an ensemble.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "hindsight/surrogate/train.h"
#include "surrogate/learner.h"
#include "surrogate/negatives.h"
#include "surrogate/training_rows.h"

namespace hindsight::surrogate {

/// What all members share; outlives their training.
struct MemberInputs {
  const TrainingPlan& plan;
  const space::DesignSpace& space;
  Architecture architecture;
  Eigen::VectorXd constraint_deviation = {};  ///< k, of the labels' scaler
  TrainingRows train;                         ///< rows of the split's training part
  TrainingRows validation;                    ///< the held-out rows, no reason rows
  TrainingRows all;                           ///< both, for the final steps; without rows when there are none
  bool cuda = false;
};

struct TrainedMember {
  Network selected;  ///< best on the validation rows
  Network final;     ///< after the final steps; equal to `selected` without them
  double kendall_tau = 0;
  std::int64_t selected_step = 0, steps_done = 0;
  bool diverged = false;     ///< stopped at a loss that is not finite
  bool interrupted = false;  ///< stopped by Ctrl-C: `final` is `selected`
};

/// Where a pass of steps over one set of rows stands.
struct PassState {
  std::int64_t steps = 0;         ///< taken
  std::uint64_t batch_draws = 0;  ///< of the sampler
  NegativePool::State negatives;
};

/// Where the training of a member stands: continued from there, it ends with the same bits as one that never stopped.
struct MemberState {
  LearnerState learner;
  bool in_final_pass = false;  ///< among the final steps on all rows
  PassState pass;              ///< the present one
  std::optional<Network> best;
  std::optional<double> best_tau;
  std::int64_t selected_step = 0, evaluations_since_best = 0;
  std::int64_t steps_done = 0;  ///< of both passes
};

/// What became of a member; neither when it diverged before anything useful was learnt, or never began.
struct MemberOutcome {
  std::optional<TrainedMember> complete;
  std::optional<MemberState> unfinished;  ///< stopped by Ctrl-C
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

/// Whether Ctrl-C came, in this process or in any of the ranks; then it has come here, too.
[[nodiscard]] bool stop_requested(LearnerFactory& factory);

/// Mean over contexts of Kendall's tau between predicted and logged objective on feasible rows (PRIME's selection
/// rule); nothing when no context has two such rows.
[[nodiscard]] std::optional<double> validation_tau(const Network& network, const TrainingRows& rows);

/// What is to be kept of a training under way, so that little is lost when the process is killed.
struct KeepStates {
  std::chrono::duration<double> interval;
  std::function<void(MemberState)> keep;  ///< empty: nothing is kept
};

/// Trains member `index`, from `start` on where there is one.
[[nodiscard]] MemberOutcome train_member(const MemberInputs& inputs, std::int64_t index,
                                         const std::optional<MemberState>& start, LearnerFactory& factory,
                                         ProgressRelay& relay, const KeepStates& keep);

/// An unfinished member with its best weights so far, its present ones before any were judged; nothing when these are
/// not finite.
[[nodiscard]] std::optional<TrainedMember> so_far(const MemberInputs& inputs, const MemberState& state);

}  // namespace hindsight::surrogate

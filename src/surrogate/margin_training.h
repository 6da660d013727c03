/// Training of all members of kinds `margins` and `layers` side by side: the objective in one learner, feasibility in
/// another.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hindsight/surrogate/parts.h"
#include "surrogate/codes.h"
#include "surrogate/head_training.h"
#include "surrogate/member.h"

namespace hindsight::surrogate {

/// Root mean square of every reason's known misses; 1 where none is known.
[[nodiscard]] Eigen::VectorXf margin_units(const TrainingRows& rows);
/// How far rows miss the limits of the reasons, as the censored regression learns it, n x r: the miss in `units`; 0 =
/// the limit is kept; infinity = missed by an unknown amount; NaN = unknown.
[[nodiscard]] Eigen::MatrixXf margin_targets(const TrainingRows& rows, const ReasonHeads& heads,
                                             const Eigen::VectorXf& units);

/// Architecture of a network of kind `margins` or `layers` on a space with these codes.
void set_table_kind(Architecture& architecture, NetworkKind kind, const Codes& codes);

/// The columns of `values` (one row per row of the log, NaN = unknown) that depend on the application: those in which
/// some design has two values, and, unless a reason row knows them, those that no design has for two applications.
/// (What is found of a design whose own limits already rule it out is a matter of the design.)
[[nodiscard]] std::vector<std::int64_t> columns_of_applications(const TrainingRows& rows,
                                                                const Eigen::MatrixXf& values);

/// A head of all members after both passes; nothing when its loss diverged or Ctrl-C came.
struct TrainedHead {
  std::optional<EnsembleWeights> selected, final;  ///< `final`: only where there are final steps
};

struct TableSetting;

/// The training of all heads of all members; `inputs` and `heads` outlive it.
class TableTraining {
 public:
  TableTraining(const MemberInputs& inputs, const ReasonHeads& heads);
  TableTraining(const TableTraining&) = delete;  // the tasks point into the setting
  TableTraining& operator=(const TableTraining&) = delete;
  ~TableTraining();

  /// Objective, feasibility and labels, as far as there are rows of them.
  [[nodiscard]] const std::vector<HeadTask>& tasks() const { return tasks_; }
  /// Of both passes.
  [[nodiscard]] std::int64_t steps() const;
  /// Weights of a head of all members before its first step: the shapes that it has at its end, too.
  [[nodiscard]] EnsembleWeights start_of(std::size_t head) const;
  [[nodiscard]] bool is_complete(const TrainedHead& head) const { return head.selected && (head.final || !goes_on_); }

  /// Trains the heads of a shard side by side; the others stay empty.
  [[nodiscard]] std::vector<TrainedHead> train(LearnerFactory& factory, ProgressRelay& relay, unsigned threads,
                                               const TrainingShard& shard) const;
  /// recipe.ensemble members from one head per task. All are complete, or none: where a head is not.
  [[nodiscard]] std::vector<MemberOutcome> members(const std::vector<TrainedHead>& heads) const;

 private:
  std::unique_ptr<TableSetting> setting_;
  std::uint64_t seed_;
  bool goes_on_;
  std::vector<HeadTask> tasks_;
};

}  // namespace hindsight::surrogate

/// What a training leaves in the log that it learns from.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/log/log.h"
#include "hindsight/space/design_space.h"
#include "hindsight/surrogate/train.h"

namespace hindsight::study {

/// How the loss of every member went, in few points: where there are too many, every other one goes.
class TrainingCurve {
 public:
  void add(const surrogate::TrainProgress& progress);
  /// {"model", "started_at", "members", "steps" (of a member), "points": [[member from 0, step, loss, tau or null]]},
  /// by member, then step. `model`: name of the file that is to come.
  [[nodiscard]] std::string json(const std::string& model, const std::string& started_at) const;

  /// Points of all members together. [chosen] about what a plot can show
  static constexpr std::size_t kMostPoints = 4000;

 private:
  struct Point {
    std::int64_t step = 0;
    double loss = 0, kendall_tau = 0;
  };
  struct Member {
    std::vector<Point> points;
    std::int64_t every = 1, waiting = 0;  ///< one of `every` reports is kept
  };
  std::vector<Member> members_;
  std::int64_t steps_ = 0;
};

/// Checkpoints of trainings have keys that begin so.
inline constexpr const char* kTrainingKey = "training:";

/// The run of a training, begun before it and ended as log::Run does: one that goes away unfinished has failed, or was
/// interrupted. The log is open meanwhile, not locked: others write to it.
class TrainingRecord {
 public:
  /// Error{failure} when the log cannot be written.
  TrainingRecord(const std::filesystem::path& log, const Provenance& provenance, const std::string& options_json);
  /// Stores how far a member came, every few seconds and at its end: the curve of this training under kTrainingKey.
  /// `model`: name of the file that is to come. One thread at a time. Error{failure} when the log cannot be written.
  void note(const surrogate::TrainProgress& progress, const std::string& model);
  /// Stores the model that was written; gives its number.
  std::int64_t finish(const space::DesignSpace& space, const log::ModelRow& model);

 private:
  log::Log log_;
  log::Run run_;
  TrainingCurve curve_;
  std::string started_at_, key_;
  std::optional<std::chrono::steady_clock::time_point> noted_;
};

}  // namespace hindsight::study

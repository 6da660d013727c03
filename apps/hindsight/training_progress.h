/// What is shown and kept of a training while it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hindsight/core/progress.h"
#include "hindsight/study/training_record.h"
#include "hindsight/surrogate/parts.h"
#include "hindsight/surrogate/train.h"

namespace hindsight::app {

/// One progress line over all members, which train side by side, and their curve in the log.
class TrainingProgress {
 public:
  /// `record` must outlive this; null: no curve is kept. `model`: the file's name, which curves have in the log.
  /// `shard`: of which members it is the progress.
  TrainingProgress(bool quiet, study::TrainingRecord* record, std::string model, const surrogate::TrainingShard& shard);
  void operator()(const surrogate::TrainProgress& state);
  void finish();

 private:
  /// A log that takes no curve now is no reason to end a long training; at its end the log must take the model.
  void note(const surrogate::TrainProgress& state);

  bool quiet_;
  study::TrainingRecord* record_;
  std::string model_;
  surrogate::TrainingShard shard_;
  bool is_noted_ = true;
  std::unique_ptr<Progress> line_;
  std::vector<std::uint64_t> done_;
  std::vector<std::string> notes_;
};

}  // namespace hindsight::app

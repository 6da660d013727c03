/// Shows and keeps how a training gets on.
#include "training_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/report/model.h"
#include "output.h"

namespace hindsight::app {

TrainingProgress::TrainingProgress(bool quiet, study::TrainingRecord* record, std::string model,
                                   const surrogate::TrainingShard& shard)
    : quiet_(quiet), record_(record), model_(std::move(model)), shard_(shard) {}

void TrainingProgress::operator()(const surrogate::TrainProgress& state) {
  done_.resize(static_cast<std::size_t>(state.members), 0);
  std::uint64_t own = 0;
  for (std::uint64_t member = 0; member < done_.size(); ++member) own += shard_.has(member) ? 1 : 0;
  // Heads take the steps of all members one after the other: a step is done once every head has taken it.
  const std::uint64_t heads = state.by_heads ? std::max<std::uint64_t>(own, 1) : 1;
  if (!line_) {
    line_ = std::make_unique<Progress>("train", own * static_cast<std::uint64_t>(state.steps) / heads, "steps", quiet_);
  }
  done_[static_cast<std::size_t>(state.member)] = static_cast<std::uint64_t>(state.step);
  std::uint64_t sum = 0;
  for (const std::uint64_t steps : done_) sum += steps;
  notes_ = report::training_notes(state);
  line_->update(sum / heads, notes_);
  note(state);
}

void TrainingProgress::finish() {
  if (line_) line_->finish(notes_);
}

void TrainingProgress::note(const surrogate::TrainProgress& state) {
  if (record_ == nullptr || !is_noted_) return;
  try {
    record_->note(state, model_);
  } catch (const Error& error) {
    is_noted_ = false;
    remark(fmt::format("the training goes on, but its curve is not stored any more: {}", error.what()));
  }
}

}  // namespace hindsight::app

/// What a training has before its first step, and the model that it has after its last: all that does not depend on
/// where the members were trained.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hindsight/surrogate/train.h"
#include "surrogate/member.h"
#include "surrogate/training_rows.h"

namespace hindsight::surrogate {

/// Rows, scales and architecture; `plan` and `data` outlive it.
struct Preparation {
  dataset::Dataset validation;  ///< the held-out rows
  Scalers scalers;
  std::vector<dataset::Context> training_contexts;
  ReasonHeads heads;
  std::string data_sha256;
  MemberInputs inputs;
};
[[nodiscard]] Preparation prepare_training(const dataset::Dataset& data, const TrainingPlan& plan, bool cuda);

/// What trained the members, as the provenance names it.
struct TrainedBy {
  std::string library, device;
};
/// The model of the members, those unfinished with what they have: calibrated, judged on the held-out rows. Its
/// `seconds` are 0. Errors as train().
[[nodiscard]] TrainResult assemble_model(const dataset::Dataset& data, const Preparation& prepared,
                                         const std::vector<MemberOutcome>& outcomes, const TrainedBy& by);

}  // namespace hindsight::surrogate

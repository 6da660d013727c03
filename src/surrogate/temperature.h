/// Calibration of the feasibility prediction on rows that were not trained on.
#pragma once

#include <vector>

#include "surrogate/training_rows.h"

namespace hindsight::surrogate {

/// The T that minimises the negative log likelihood of labels under mean over members of sigmoid(logit / T), by
/// golden-section search over ln T; 1 when the rows have labels of one kind only.
[[nodiscard]] double fit_temperature(const std::vector<Network>& members, const TrainingRows& validation);

}  // namespace hindsight::surrogate

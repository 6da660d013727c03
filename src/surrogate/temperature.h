/// Calibration of the feasibility prediction on rows that were not trained on.
#pragma once

#include <vector>

#include "surrogate/training_rows.h"

namespace hindsight::surrogate {

/// The likeliest T, of labels under mean over members of sigmoid(logit / T) and of what temperatures usually are, by
/// golden-section search over ln T; 1 when the rows have labels of one kind only. Many rows outweigh what is usual; few
/// that are told apart without a mistake do not make every design certain.
[[nodiscard]] double fit_temperature(const std::vector<Network>& members, const TrainingRows& validation);

}  // namespace hindsight::surrogate

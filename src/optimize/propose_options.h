/// What can be asked of a model, and what of it is refused.
#pragma once

#include <string>

#include "hindsight/optimize/propose.h"

namespace hindsight::optimize {

/// Error{usage}: a question that contradicts itself, or that this model has no answer to.
void require_valid(const surrogate::Model& model, const ProposeOptions& options);

/// What the model predicts under this name. Error{usage} with the nearest one.
[[nodiscard]] LearnedQuantity quantity_of(const surrogate::Model& model, const std::string& name);

}  // namespace hindsight::optimize

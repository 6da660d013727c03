/// Gradient-boosted regression trees by XGBoost, whose library is opened at run time: machines that build or predict
/// need neither its header nor the library.
#pragma once

#include <cstddef>
#include <vector>

#include "gpu/residual_features.h"

namespace hindsight::gpu {

/// Rows to learn from: n inputs, n targets, n weights.
struct TreeRows {
  std::vector<ResidualInputs> inputs;
  std::vector<float> targets;
  std::vector<float> weights;
};

/// Trees whose leaves add up to a prediction of the targets.
struct Trees {
  std::vector<std::int32_t> roots;
  std::vector<ResidualNode> nodes;
};

/// The same rows give the same trees. Errors: Error{unavailable} where no libxgboost is found, naming the package;
/// Error{failure} with the library's own message.
[[nodiscard]] Trees train_trees(const TreeRows& rows);

}  // namespace hindsight::gpu

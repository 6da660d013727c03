/// The context vector: named, versioned features of a network that condition a surrogate on the application.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "hindsight/workload/network.h"

namespace hindsight::workload {

/// Bumped whenever a feature is added, removed, reordered or computed differently.
inline constexpr int kContextVersion = 1;

struct ContextFeature {
  std::string_view name;         ///< with unit suffix
  std::string_view description;  ///< one sentence
};

/// The features in order. Their meaning is documented in `docs/workloads.md`.
[[nodiscard]] const std::vector<ContextFeature>& context_features();
/// Raw (unscaled) features of a network, same order as context_features(). All finite and >= 0.
[[nodiscard]] std::vector<double> context_vector(const Network& network);

}  // namespace hindsight::workload

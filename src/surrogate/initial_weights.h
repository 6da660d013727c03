/// Weights before the first step, a pure function of architecture and seed.
#pragma once

#include <cstdint>

#include "hindsight/surrogate/architecture.h"

namespace hindsight::surrogate {

/// What the feasibility head says before training.
enum class FeasibilityStart {
  undecided,  ///< trained on labels of both kinds
  feasible,   ///< never trained, since no row of the log is infeasible: p_feasible stays near 1
};

/// Linear layers: weights and biases uniform in +-1/sqrt(inputs), as LibTorch does. Embedding tables and the images of
/// the context: uniform in +-sqrt(6 / (inputs + outputs)), as the released code does [paper: prime-code]. Positions:
/// the sinusoids of that code. Normalisations: identity.
[[nodiscard]] Weights initial_weights(const Architecture& architecture, std::uint64_t seed, FeasibilityStart start);

}  // namespace hindsight::surrogate

/// Weights before the first step, a pure function of architecture and seed.
#pragma once

#include <cstdint>

#include "hindsight/space/design_space.h"
#include "hindsight/surrogate/architecture.h"

namespace hindsight::surrogate {

/// [chosen] Logit of a feasibility head that no row taught, on a log without infeasible rows: p = 0.9975.
inline constexpr float kSurelyFeasible = 6;

/// What the feasibility head says before training.
enum class FeasibilityStart {
  undecided,  ///< trained on labels of both kinds
  feasible,   ///< never trained, since no row of the log is infeasible: p_feasible stays near 1
};

/// Linear layers: weights and biases uniform in +-1/sqrt(inputs), as LibTorch does. Images of the context: uniform in
/// +-sqrt(6 / (inputs + outputs)), as the released code does [paper: prime-code]. Positions: the sinusoids of that
/// code. Normalisations: identity.
///
/// Embedding tables of ordinal parameters: smooth in the parameter's value. Element j of level l starts as
///   a_j v_log(l) + b_j v(l) + c_j cos(pi (v_level(l) + 1) / 2) + noise,   a, b, c uniform in [-1, 1],
/// where v_log, v, v_level are the codes of encode_level(). Differs: the released code starts every level at random, so
/// that a network must learn from the log alone that 8 lies between 4 and 16. Categorical parameters do start that way.
[[nodiscard]] Weights initial_weights(const Architecture& architecture, const space::DesignSpace& space,
                                      std::uint64_t seed, FeasibilityStart start);

}  // namespace hindsight::surrogate

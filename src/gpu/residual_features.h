/// The inputs of the learned correction's trees.
#pragma once

#include <array>

#include "hindsight/gpu/residual.h"

namespace hindsight::gpu {

using ResidualInputs = std::array<float, kResidualFeatures>;
/// Logarithm of the strongest correction, either way. [chosen] e: rows further off are outliers of a measurement
inline constexpr double kMostCorrection = 1.0;

/// Precondition: the weights of `row` are its second operand.
[[nodiscard]] ResidualInputs residual_inputs(const Gemm& row, double sms);

}  // namespace hindsight::gpu

/// The logistic function and its integral, without overflow.
#pragma once

#include <algorithm>
#include <cmath>

namespace hindsight::surrogate {

/// 1 / (1 + e^-x).
[[nodiscard]] inline double sigmoid(double x) {
  const double tail = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + tail) : tail / (1 + tail);
}

/// log(1 + e^x).
[[nodiscard]] inline double softplus(double x) { return std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0); }

}  // namespace hindsight::surrogate

/// The remainder of a division, with the sign of the divisor.
#pragma once

#include <cmath>

namespace hindsight::space {

/// x - y * floor(x / y) without the rounding of the quotient; y is not 0.
inline double modulo(double x, double y) {
  const double rest = std::fmod(x, y);
  const bool other_side = rest != 0 && (rest < 0) != (y < 0);
  return (other_side ? rest + y : rest) + 0.0;  // no -0
}

}  // namespace hindsight::space

/// Tolerances that tests share, each with the reason for its size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace hindsight::test {

/// |got - wanted| over the larger magnitude; 0 when both are 0. Compare it with one of the tolerances below.
[[nodiscard]] inline double relative_error(double got, double wanted) {
  const double scale = std::max(std::abs(got), std::abs(wanted));
  return scale == 0.0 ? 0.0 : std::abs(got - wanted) / scale;
}

/// Same formula in another order of operations: each of up to 1000 steps rounds by 2^-53 = 1.1e-16.
inline constexpr double kRounding = 1e-12;

/// Against numbers written with `%.6g`, as in golden files: half a unit of the sixth digit is at most 5e-6.
inline constexpr double kSixDigits = 5e-6;

/// Against numbers printed with three significant digits, as in data sheets and `si()`: at most 5e-3.
inline constexpr double kThreeDigits = 5e-3;

/// Against values that single-precision code computed: 2^-24 = 6e-8 per step, about 100 steps.
inline constexpr double kSinglePrecision = 1e-5;

/// Standard deviations that a sample statistic may be off: exceeded by chance once in 1.7 million seeds.
inline constexpr double kFiveSigma = 5.0;

/// Pearson's chi-square statistic that a correct sampler stays below, for `bins` equally likely bins: mean
/// bins - 1, standard deviation sqrt(2 (bins - 1)).
[[nodiscard]] inline double chi_square_limit(std::size_t bins) {
  const double freedom = static_cast<double>(bins) - 1.0;
  return freedom + kFiveSigma * std::sqrt(2.0 * freedom);
}

}  // namespace hindsight::test

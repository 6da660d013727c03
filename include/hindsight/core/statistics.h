/// Medians, in one place.
#pragma once

#include <vector>

namespace hindsight {

/// The middle value, the mean of the middle two where their number is even. At least one value; none is NaN (infinities
/// are values: half of them infinite gives infinity).
[[nodiscard]] double median(std::vector<double> values);

/// The middle value, the larger of the middle two where their number is even: always one of `values`, of which there is
/// at least one and none is NaN.
[[nodiscard]] double upper_median(std::vector<double> values);

}  // namespace hindsight

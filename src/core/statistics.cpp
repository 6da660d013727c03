/// Medians.
#include "hindsight/core/statistics.h"

#include <algorithm>
#include <cstddef>

#include "hindsight/core/error.h"

namespace hindsight {

double median(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  const double upper = upper_median(values);
  if (values.size() % 2 == 1) return upper;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half) - 1, values.end());
  return (values[half - 1] + upper) / 2;
}

double upper_median(std::vector<double> values) {
  HINDSIGHT_EXPECT(!values.empty());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace hindsight

/// Log-uniform draws and their rounding.
///
/// exp and log may differ in the last bit between C libraries. Everything is rounded to whole numbers afterwards, so
/// that another network would need a value within 1e-15 of a half; the golden hash of the tests would show it.
#include "workload/synthetic/draw.h"

#include <algorithm>
#include <cmath>

namespace hindsight::workload {

double Draw::log_uniform(double low, double high) {
  return low * std::exp(stream_.uniform(next_++) * std::log(high / low));
}

std::int64_t Draw::size(double low, double high, std::int64_t multiple) {
  return rounded_to(log_uniform(low, high), multiple);
}

std::int64_t Draw::channels(double low, double high) { return rounded_channels(log_uniform(low, high)); }

std::int64_t Draw::power_of_two(std::int64_t low, std::int64_t high) {
  std::int64_t choices = 1;
  while (low << choices <= high) ++choices;
  return low << between(0, choices - 1);
}

std::int64_t rounded_to(double value, std::int64_t multiple) {
  const auto steps = static_cast<std::int64_t>(std::llround(value / static_cast<double>(multiple)));
  return std::max<std::int64_t>(steps, 1) * multiple;
}

std::int64_t rounded_channels(double value) {
  // [chosen] Steps of at most an eighth, as in published networks: 24, 40, 56; 80, 96, 112; 288, 320; 1088, 1152.
  if (value < 64) return rounded_to(value, 8);
  if (value < 256) return rounded_to(value, 16);
  if (value < 1024) return rounded_to(value, 32);
  return rounded_to(value, 64);
}

}  // namespace hindsight::workload

/// Draws the dimensions of one synthetic network: log-uniform, rounded as people round them.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "hindsight/core/random.h"

namespace hindsight::workload {

/// Values of one stream, one after the other.
class Draw {
 public:
  explicit Draw(RandomStream stream) : stream_(stream) {}

  /// True in `percent` of a hundred cases.
  bool chance(int percent) { return stream_.below(next_++, 100) < static_cast<std::uint64_t>(percent); }
  /// Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(stream_.below(next_++, static_cast<std::uint64_t>(high - low + 1)));
  }
  /// One of these; a value that stands there twice comes twice as often.
  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[stream_.below(next_++, values.size())];
  }
  double log_uniform(double low, double high);
  /// Log-uniform, rounded to the nearest multiple above 0.
  std::int64_t size(double low, double high, std::int64_t multiple = 1);
  /// Log-uniform, rounded as channels are.
  std::int64_t channels(double low, double high);
  /// A power of two in [low, high], each as likely.
  std::int64_t power_of_two(std::int64_t low, std::int64_t high);

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

/// The multiple of `multiple` that is nearest to `value`, at least one.
[[nodiscard]] std::int64_t rounded_to(double value, std::int64_t multiple);
/// The number of channels that a network would have near `value`: a multiple of 8, of more where it is larger.
[[nodiscard]] std::int64_t rounded_channels(double value);

}  // namespace hindsight::workload

/// Counter-based random streams: value i of stream (seed, name) is a pure function, so results
/// do not depend on the thread count or on the order of evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace hindsight {

/// A named stream of random words derived from one seed.
///
/// Equation: word(i) = mix64(mix64(key + i * golden) ^ key), key = mix64(seed ^ content_hash(name)).
/// Valid for: simulation sampling (not cryptography); streams are independent for distinct names.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);
  /// The i-th 64-bit word.
  [[nodiscard]] std::uint64_t word(std::uint64_t i) const;
  /// The i-th uniform double in [0, 1) with 53 random bits.
  [[nodiscard]] double uniform(std::uint64_t i) const;
  /// The i-th uniform integer in [0, bound), bound > 0. Lemire's multiply-shift (bias below bound / 2^64).
  [[nodiscard]] std::uint64_t below(std::uint64_t i, std::uint64_t bound) const;
  [[nodiscard]] std::uint64_t key() const { return key_; }

 private:
  std::uint64_t key_;
};

/// Moves a uniform sample of `count` items, in random order, to the front (Fisher and Yates).
template <typename Item>
void draw_first(std::vector<Item>& items, std::size_t count, const RandomStream& stream) {
  for (std::size_t i = 0; i < count; ++i) std::swap(items[i], items[i + stream.below(i, items.size() - i)]);
}

}  // namespace hindsight

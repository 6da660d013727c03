/// A seeded pseudo-random permutation of [0, count) in constant memory.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace hindsight::space {

/// A bijection of [0, count) that is evaluated point by point, so that a Latin hypercube of any length needs
/// no table and no order of evaluation.
///
/// Model: a Feistel network over the smallest power of two >= count, walked along its cycle until the value
/// falls below `count` [paper: black-rogaway-2002]; under two steps on average.
/// Valid for: simulation sampling (not cryptography).
class Permutation {
 public:
  /// The permutation depends on (count, seed, name) only. Requires 1 <= count <= 2^63.
  Permutation(std::uint64_t count, std::uint64_t seed, std::string_view name);
  /// Image of `i`, i < count.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t i) const;
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  /// [chosen] Three passes over both halves: four rounds are the proven minimum for large halves (Luby and
  /// Rackoff 1988), small ones need more.
  static constexpr std::size_t kRounds = 6;
  std::uint64_t count_;
  unsigned low_bits_;
  std::uint64_t low_mask_;
  std::uint64_t high_mask_;
  std::array<std::uint64_t, kRounds> round_keys_;
};

}  // namespace hindsight::space

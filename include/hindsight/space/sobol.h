/// Points of the Sobol sequence, each computed on its own from its number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hindsight::space {

/// The Sobol sequence with 64 bits per coordinate.
///
/// Equation: x(i, d) = XOR over the set bits r of g of v(d, r), g = i ^ (i >> 1) (Gray code).
/// Symbols: v(d, r) direction number r of dimension d; x / 2^64 lies in [0, 1).
/// Source: [paper: joe-kuo-2008] direction numbers, read from Boost.Random; Gray-code order of Antonov and
/// Saleev (1979).
/// Differs: starts with the zero point, which Boost leaves out: without it the first 2^m points would not be
/// spread evenly over the dyadic intervals.
class SobolSequence {
 public:
  /// Errors: Error{usage} when `dimensions` exceeds max_dimensions().
  explicit SobolSequence(std::size_t dimensions);
  /// Coordinate `dimension` of point `i`, as a fraction of 2^64.
  [[nodiscard]] std::uint64_t word(std::uint64_t i, std::size_t dimension) const;
  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }
  /// Dimensions that the tables of direction numbers hold.
  [[nodiscard]] static std::size_t max_dimensions();

 private:
  std::size_t dimensions_;
  std::vector<std::uint64_t> directions_;  // dimensions x 64
};

}  // namespace hindsight::space

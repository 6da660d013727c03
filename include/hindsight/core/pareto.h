/// Which points of many no other one dominates, in few comparisons where nearly all of them are on the front.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hindsight {

/// Positions of the points that no other one dominates (is nowhere larger than and somewhere smaller), in lexicographic
/// order of the points, equal ones, which are all kept, by position. `coordinates`: n points x dimensions, no NaN.
/// O(n log n) for two dimensions, and one logarithm more for each further one.
[[nodiscard]] std::vector<std::size_t> pareto_positions(std::span<const double> coordinates, std::size_t dimensions);

}  // namespace hindsight

/// The fixed codes of levels that networks of kind `margins` learn from, and designs as their inputs.
#pragma once

#include <vector>

#include "hindsight/space/design_space.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::surrogate {

/// Codes of a space: sizes for the architecture and the values for its weights "code.{i}".
struct Codes {
  std::vector<std::int64_t> sizes;   // p
  std::vector<std::int64_t> paired;  // parameters that enter sums and differences
  std::vector<Tensor> tables;        // p, [levels_i, sizes_i]
};
/// Ordinal parameters: the logarithm of the value (the value itself where some are not above 0), standardised over the
/// levels, then, for three levels or more, one number per level that is 1 at it: a power of two or a tile that divides
/// evenly differs from its neighbours. Categorical ones: one number per level. Pairs are formed of ordinal parameters,
/// of none when there are more than kMostPaired.
/// `pairs`, `levels`: whether to form pairs, and codes of single levels of ordinal parameters.
[[nodiscard]] Codes make_codes(const space::DesignSpace& space, bool pairs, bool levels);
/// [chosen] 24 parameters give 552 sums and differences, as much as one second of training can carry.
inline constexpr std::size_t kMostPaired = 24;

/// Inputs of designs (architecture.h): n x input_count.
[[nodiscard]] Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> inputs_of(
    const Codes& codes, const LevelMatrix& levels);

}  // namespace hindsight::surrogate

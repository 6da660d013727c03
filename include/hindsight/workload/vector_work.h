/// Work behind a layer that is no GEMM: what runs over its outputs before the next layer reads them.
///
/// Operations are counted per element of the layer's output; an exponential, a reciprocal and a root count as one, as a
/// table with interpolation gives them. Softmax of attention is not listed with a layer: two products of activations
/// with a softmax between them are known by their shapes (accel/spatial.h, gpu/network.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::workload {

enum class VectorWork : std::uint8_t {
  add,         ///< another layer's output, of the same size: a residual
  norm,        ///< normalisation of layers, groups or root mean squares
  activation,  ///< GELU, SiLU, sigmoid; a ReLU is part of the rounding to the output's format
  gate,        ///< SiLU of one matrix times the other, where both are repeats of one line
  rotary,      ///< rotary position embedding
  pool,        ///< maximum or mean of windows
};
inline constexpr std::size_t kVectorWorkCount = 6;
/// "add", "norm", ...
[[nodiscard]] std::string_view to_string(VectorWork work);
/// All names, in the order of the enumeration.
[[nodiscard]] std::vector<std::string> vector_work_names();

/// Of one element of the layer's output.
struct VectorCost {
  double ops = 0;
  double other_operands = 0;  ///< elements that another layer wrote
};

/// By VectorWork. Counts from the definitions.
inline constexpr std::array<VectorCost, kVectorWorkCount> kVectorCosts{{
    {.ops = 1, .other_operands = 1},      // a sum
    {.ops = 6},                           // [paper: transformer-2017] mean, difference, square, variance, scale, shift
    {.ops = 4},                           // [chosen] exponential, sum, reciprocal, product
    {.ops = 2.5, .other_operands = 0.5},  // [paper: llama3] four of SiLU and a product, for two elements
    {.ops = 3},                           // [paper: llama3] two products and a sum
    {.ops = 1},                           // [chosen] a comparison or a sum; overlap of windows stays in registers
}};

/// What runs behind one layer, each at most once.
class VectorWorks {
 public:
  constexpr void add(VectorWork work) { bits_ = static_cast<std::uint8_t>(bits_ | bit(work)); }
  [[nodiscard]] constexpr bool has(VectorWork work) const { return (bits_ & bit(work)) != 0; }
  [[nodiscard]] constexpr bool any() const { return bits_ != 0; }
  /// Sums over all of them.
  [[nodiscard]] constexpr VectorCost cost() const {
    VectorCost sum;
    for (std::size_t i = 0; i < kVectorWorkCount; ++i) {
      if (!has(static_cast<VectorWork>(i))) continue;
      const VectorCost& one = kVectorCosts.data()[i];  // no check of bounds: device code has none
      sum.ops += one.ops;
      sum.other_operands += one.other_operands;
    }
    return sum;
  }
  /// In the order of the enumeration.
  [[nodiscard]] std::vector<VectorWork> list() const;
  friend constexpr bool operator==(VectorWorks, VectorWorks) = default;

 private:
  static constexpr unsigned bit(VectorWork work) { return 1U << static_cast<unsigned>(work); }
  std::uint8_t bits_ = 0;
};

}  // namespace hindsight::workload

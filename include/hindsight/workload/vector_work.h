/// Work behind a layer that is no GEMM: what runs over its outputs before the next layer reads them.
///
/// Operations are counted per element of the layer's output; an exponential, a reciprocal and a root count as one, as a
/// table with interpolation gives them. Softmax of attention is not listed with a layer: two products of activations
/// with a softmax between them are known by their shapes (accel/spatial.h, gpu/network.h).
#pragma once

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

/// Counts from the definitions. A switch, because device code cannot read a table at namespace scope.
[[nodiscard]] constexpr VectorCost vector_cost(VectorWork work) {
  switch (work) {
    case VectorWork::add:
      return {.ops = 1, .other_operands = 1};  // a sum
    case VectorWork::norm:
      return {.ops = 6};  // [paper: transformer-2017] mean, difference, square, variance, scale, shift
    case VectorWork::activation:
      return {.ops = 4};  // [paper: gelu-2016] x / (1 + e^-x), SiLU: exponential, sum, reciprocal, product
    case VectorWork::gate:
      return {.ops = 2.5, .other_operands = 0.5};  // [paper: llama3] four of SiLU and a product, for two elements
    case VectorWork::rotary:
      return {.ops = 3};  // [paper: llama3] two products and a sum
    case VectorWork::pool:
      return {.ops = 1};  // [data: ptflops] a comparison or a sum; overlap of windows stays in registers
  }
  return {};
}

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
      const auto work = static_cast<VectorWork>(i);
      if (!has(work)) continue;
      const VectorCost one = vector_cost(work);
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

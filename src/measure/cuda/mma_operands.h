/// Operands of the tensor-core kernels: random, with a second operand of opposite sign so that sums stay bounded; or
/// ones, whose products any layout of the fragments gives right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/gpu/dtype.h"
#include "measure/cuda/device_bench.h"

namespace hindsight::measure {

/// Registers of one warp: per lane a[4], plus[2], minus[2].
struct MmaOperands {
  static constexpr std::size_t kLanes = 32;
  static constexpr std::size_t kWordsPerLane = 8;
  static constexpr std::size_t kBytes = kLanes * kWordsPerLane * sizeof(std::uint32_t);
  static void random(std::uint32_t* device, gpu::DType dtype, cudaStream_t stream);
  static void ones(std::uint32_t* device, gpu::DType dtype, cudaStream_t stream);
};

/// Shared-memory tiles: a (64 rows of 32 bytes), plus and minus (128 rows of 32 bytes each).
struct WgmmaOperands {
  static constexpr std::size_t kABytes = std::size_t{64} * 32;
  static constexpr std::size_t kBBytes = std::size_t{128} * 32;
  static constexpr std::size_t kBytes = kABytes + 2 * kBBytes;
  static void random(std::uint32_t* device, gpu::DType dtype, cudaStream_t stream);
  static void ones(std::uint32_t* device, gpu::DType dtype, cudaStream_t stream);
};

/// What a kernel gave where the exact result is known.
struct ProductCheck {
  std::string name;
  double got = 0;
  double expected = 0;
};
[[nodiscard]] std::vector<ProductCheck> check_mma(const DeviceContext& context);
[[nodiscard]] std::vector<ProductCheck> check_wgmma(const DeviceContext& context);

[[nodiscard]] float float_of_bits(std::uint32_t bits);
[[nodiscard]] double half_value(std::uint16_t bits);

}  // namespace hindsight::measure

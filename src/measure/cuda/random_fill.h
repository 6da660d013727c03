/// Standard-normal random operands: zeros or constants draw less power and let clocks rise.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "hindsight/gpu/dtype.h"

namespace hindsight::measure {

/// int8 holds normal values of this standard deviation, rounded and clipped to -127..127.
inline constexpr float kInt8Deviation = 32.0F;  // [chosen] a quarter of the range: clipping one value in 10,000

/// Bytes of one input element as an integer.
[[nodiscard]] constexpr std::size_t element_bytes(gpu::DType dtype) {
  return static_cast<std::size_t>(gpu::input_bytes(dtype));
}

/// Fills `bytes` (a multiple of the element) with normal values of the format, a function of the seed alone.
void fill_normal(void* data, std::size_t bytes, gpu::DType dtype, std::uint64_t seed, cudaStream_t stream);

}  // namespace hindsight::measure

/// The plain shared-memory tiled kernel: one thread per output element, T x T tiles, no register tiling.
#pragma once

#include <cuda_runtime_api.h>

#include "hindsight/gpu/gemm.h"

namespace hindsight::measure {

/// c[m, n] = a[m, k] * b[k, n] in fp32, all row-major (layout nn), batch 1, tile edge 1..32 (blocks of tile x tile
/// threads). Sizes need not be multiples of the tile. `gemm.m` is at most 65,535 tiles.
void launch_tiled_gemm(const gpu::Gemm& gemm, int tile, const float* a, const float* b, float* c, cudaStream_t stream);

}  // namespace hindsight::measure

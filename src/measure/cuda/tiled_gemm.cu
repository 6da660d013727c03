/// The tiled kernel and its launch.
#include "hindsight/gpu/tiled_kernel.h"
#include "measure/cuda/support.h"
#include "measure/cuda/tiled_gemm.h"

namespace hindsight::measure {
namespace {

/// Each step over k stages one tile of a and one of b in shared memory, which `tile` threads each then read `tile`
/// times. The tile size is an argument, as in the kernel that it stands for [paper: gpperf-2024]: one machine code
/// serves all sizes, addresses are computed with it, and the loop over the products is not unrolled. A template over
/// the size would be another, faster kernel than the one that the model describes.
__global__ void __launch_bounds__(gpu::kLargestTile* gpu::kLargestTile)
    tiled_gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k,
               int tile) {
  extern __shared__ float shared[];
  float* a_tile = shared;                // rows of a x step
  float* b_tile = shared + tile * tile;  // step x columns of b
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * tile + y;
  const int column = static_cast<int>(blockIdx.x) * tile + x;
  float sum = 0.0F;
  for (int step = 0; step < k; step += tile) {
    a_tile[y * tile + x] = row < m && step + x < k ? a[static_cast<long long>(row) * k + step + x] : 0.0F;
    b_tile[y * tile + x] = step + y < k && column < n ? b[static_cast<long long>(step + y) * n + column] : 0.0F;
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < tile; ++i) sum += a_tile[y * tile + i] * b_tile[i * tile + x];
    __syncthreads();
  }
  if (row < m && column < n) c[static_cast<long long>(row) * n + column] = sum;
}

}  // namespace

void launch_tiled_gemm(const gpu::Gemm& gemm, int tile, const float* a, const float* b, float* c, cudaStream_t stream) {
  const auto edge = static_cast<unsigned>(tile);
  const dim3 grid((static_cast<unsigned>(gemm.n) + edge - 1) / edge, (static_cast<unsigned>(gemm.m) + edge - 1) / edge);
  const std::size_t shared_bytes = 2 * sizeof(float) * edge * edge;  // at most 8 KiB: no opt-in needed
  tiled_gemm<<<grid, dim3(edge, edge), shared_bytes, stream>>>(
      a, b, c, static_cast<int>(gemm.m), static_cast<int>(gemm.n), static_cast<int>(gemm.k), tile);
  check_launch("launching the tiled kernel");
}

}  // namespace hindsight::measure

#include <array>
#include <utility>

#include "hindsight/measure/plan.h"
#include "measure/cuda/support.h"
#include "measure/cuda/tiled_gemm.h"

namespace hindsight::measure {
namespace {

/// Each step over k stages one tile of a and one of b in shared memory, which T threads each then read T times.
template <int T>
__global__ void __launch_bounds__(T* T)
    tiled_gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ float a_tile[T][T];  // rows of a x step
  __shared__ float b_tile[T][T];  // step x columns of b
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * T + y;
  const int column = static_cast<int>(blockIdx.x) * T + x;
  float sum = 0.0F;
  for (int step = 0; step < k; step += T) {
    a_tile[y][x] = row < m && step + x < k ? a[static_cast<long long>(row) * k + step + x] : 0.0F;
    b_tile[y][x] = step + y < k && column < n ? b[static_cast<long long>(step + y) * n + column] : 0.0F;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[static_cast<long long>(row) * n + column] = sum;
}

using Kernel = void (*)(const float*, const float*, float*, int, int, int);

template <int... I>
constexpr std::array<Kernel, sizeof...(I)> kernels(std::integer_sequence<int, I...> /*tiles*/) {
  return {tiled_gemm<I + 1>...};
}

}  // namespace

void launch_tiled_gemm(const gpu::Gemm& gemm, int tile, const float* a, const float* b, float* c, cudaStream_t stream) {
  static constexpr auto kKernels = kernels(std::make_integer_sequence<int, gpu::kLargestTile>());
  const auto edge = static_cast<unsigned>(tile);
  const dim3 grid((static_cast<unsigned>(gemm.n) + edge - 1) / edge, (static_cast<unsigned>(gemm.m) + edge - 1) / edge);
  kKernels[static_cast<std::size_t>(tile - 1)]<<<grid, dim3(edge, edge), 0, stream>>>(
      a, b, c, static_cast<int>(gemm.m), static_cast<int>(gemm.n), static_cast<int>(gemm.k));
  check_launch("launching the tiled kernel");
}

}  // namespace hindsight::measure

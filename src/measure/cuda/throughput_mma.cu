/// Arithmetic rate of the tensor cores by warp-level mma.sync, with all operands in registers.
#include <cstdint>

#include "measure/cuda/clock.cuh"
#include "measure/cuda/mma_operands.h"

namespace hindsight::measure {
namespace {

constexpr int kWarpThreads = 32;
constexpr int kThreads = 512;    // [chosen] 16 warps, four per tensor core
constexpr int kBlocksPerSm = 1;  // whose time is the SM's (throughput_cuda_core.cu)
constexpr int kChains = 4;       // [chosen] independent accumulators per warp
constexpr int kUnroll = 4;       // [chosen] pairs of products per trip: 32 instructions

enum class Mma { fp16, fp16_fp16, bf16, tf32, fp8, int8 };

/// d += a * b for one 16 x 8 x k tile per warp. a: 4 registers, b: 2, d: 4 (2 of them used with fp16 accumulators).
template <Mma F>
__device__ void mma(std::uint32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
#define HINDSIGHT_MMA(SHAPE_AND_TYPES)                                                                      \
  asm volatile("mma.sync.aligned." SHAPE_AND_TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                                             \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define HINDSIGHT_MMA_FP32(SHAPE_AND_TYPES)                                                                    \
  do {                                                                                                         \
    float f[4] = {__uint_as_float(d[0]), __uint_as_float(d[1]), __uint_as_float(d[2]), __uint_as_float(d[3])}; \
    asm volatile("mma.sync.aligned." SHAPE_AND_TYPES " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"  \
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                                              \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                          \
    for (int i = 0; i < 4; ++i) d[i] = __float_as_uint(f[i]);                                                  \
  } while (false)
#if __CUDA_ARCH__ >= 800
  if constexpr (F == Mma::fp16) {
    HINDSIGHT_MMA_FP32("m16n8k16.row.col.f32.f16.f16.f32");
  } else if constexpr (F == Mma::bf16) {
    HINDSIGHT_MMA_FP32("m16n8k16.row.col.f32.bf16.bf16.f32");
  } else if constexpr (F == Mma::tf32) {
    HINDSIGHT_MMA_FP32("m16n8k8.row.col.f32.tf32.tf32.f32");
  } else if constexpr (F == Mma::int8) {
    HINDSIGHT_MMA("m16n8k32.row.col.s32.s8.s8.s32");
  } else if constexpr (F == Mma::fp16_fp16) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#endif
#if __CUDA_ARCH__ >= 890
  if constexpr (F == Mma::fp8) HINDSIGHT_MMA_FP32("m16n8k32.row.col.f32.e4m3.e4m3.f32");
#endif
#undef HINDSIGHT_MMA
#undef HINDSIGHT_MMA_FP32
}

/// `operands`: MmaOperands. Each trip adds a * plus and a * minus, kUnroll times, to every accumulator.
template <Mma F>
__global__ void __launch_bounds__(kThreads)
    busy(const std::uint32_t* operands, int trips, std::uint32_t* accumulators, BlockClock* clock) {
  const std::uint32_t* own = operands + threadIdx.x % kWarpThreads * MmaOperands::kWordsPerLane;
  const std::uint32_t a[4] = {own[0], own[1], own[2], own[3]};
  const std::uint32_t plus[2] = {own[4], own[5]}, minus[2] = {own[6], own[7]};
  std::uint32_t d[kChains][4] = {};
  __syncthreads();
  const BlockTimer timer;
  for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
#pragma unroll
      for (int j = 0; j < kChains; ++j) mma<F>(d[j], a, plus);
#pragma unroll
      for (int j = 0; j < kChains; ++j) mma<F>(d[j], a, minus);
    }
  }
  timer.finish(clock);
  // The first warp's first accumulators are looked at by the check of the kernels; all are needed for the sum.
  std::uint32_t checksum = 0;
#pragma unroll
  for (int j = 0; j < kChains; ++j) checksum ^= d[j][0] ^ d[j][1] ^ d[j][2] ^ d[j][3];
  if (blockIdx.x == 0 && threadIdx.x < kWarpThreads) accumulators[threadIdx.x] = d[0][0];
  if (checksum == 0x9e3779b9U) accumulators[kWarpThreads] = checksum;
}

struct Format {
  const char* name;
  const char* instruction;
  int k;  ///< depth of one instruction
  int least_compute_capability;
  gpu::DType dtype;
  void (*kernel)(const std::uint32_t*, int, std::uint32_t*, BlockClock*);
};

constexpr Format kFormats[] = {
    {"mma_fp16", "mma.sync m16n8k16 f16, fp32 accumulators", 16, 80, gpu::DType::fp16, busy<Mma::fp16>},
    {"mma_fp16_acc16", "mma.sync m16n8k16 f16, fp16 accumulators", 16, 80, gpu::DType::fp16, busy<Mma::fp16_fp16>},
    {"mma_bf16", "mma.sync m16n8k16 bf16, fp32 accumulators", 16, 80, gpu::DType::bf16, busy<Mma::bf16>},
    {"mma_tf32", "mma.sync m16n8k8 tf32, fp32 accumulators", 8, 80, gpu::DType::tf32, busy<Mma::tf32>},
    {"mma_fp8", "mma.sync m16n8k32 e4m3, fp32 accumulators", 32, 89, gpu::DType::fp8, busy<Mma::fp8>},
    {"mma_int8", "mma.sync m16n8k32 s8, int32 accumulators", 32, 80, gpu::DType::int8, busy<Mma::int8>}};

constexpr int kM = 16, kN = 8;
constexpr std::size_t kSinkWords = kWarpThreads + 1;

void prepare(BusyBuffers& buffers) {
  buffers.sink.reserve(kSinkWords * sizeof(std::uint32_t));
  buffers.clock.reserve(sizeof(BlockClock));
}

}  // namespace

std::vector<BusyKernel> mma_kernels(const DeviceContext& context, BusyBuffers& buffers) {
  constexpr int kTrips = 2048;  // [chosen] about two milliseconds at 1024 FMA per clock and SM
  prepare(buffers);
  const int blocks = static_cast<int>(context.facts.sms) * kBlocksPerSm;
  constexpr std::size_t kFormatCount = std::size(kFormats);
  const std::size_t slot = MmaOperands::kBytes;
  buffers.operands.reserve(kFormatCount * slot);
  std::vector<BusyKernel> kernels;
  for (std::size_t i = 0; i < kFormatCount; ++i) {
    const Format& format = kFormats[i];
    if (context.facts.compute_capability < format.least_compute_capability) continue;
    auto* operands = reinterpret_cast<std::uint32_t*>(buffers.operands.as<std::byte>() + i * slot);
    MmaOperands::random(operands, format.dtype, context.stream);
    const double warps = static_cast<double>(blocks) * (kThreads / kWarpThreads);
    const double products = warps * kTrips * kUnroll * 2 * kChains;
    kernels.push_back({.name = format.name,
                       .instruction = format.instruction,
                       .ops = 2.0 * kM * kN * format.k * products,
                       .launch = [&buffers, &format, operands, blocks](cudaStream_t stream, std::int64_t /*copy*/) {
                         format.kernel<<<blocks, kThreads, 0, stream>>>(
                             operands, kTrips, buffers.sink.as<std::uint32_t>(), buffers.clock.as<BlockClock>());
                         check_launch("running mma");
                       }});
  }
  return kernels;
}

std::vector<ProductCheck> check_mma(const DeviceContext& context) {
  constexpr int kTrips = 3;
  BusyBuffers buffers;
  prepare(buffers);
  buffers.operands.reserve(MmaOperands::kBytes);
  std::vector<ProductCheck> checks;
  for (const Format& format : kFormats) {
    if (context.facts.compute_capability < format.least_compute_capability) continue;
    MmaOperands::ones(buffers.operands.as<std::uint32_t>(), format.dtype, context.stream);
    format.kernel<<<1, kThreads, 0, context.stream>>>(buffers.operands.as<std::uint32_t>(), kTrips,
                                                      buffers.sink.as<std::uint32_t>(), buffers.clock.as<BlockClock>());
    check_launch("checking mma");
    std::uint32_t word = 0;
    check(cudaMemcpyAsync(&word, buffers.sink.as(), sizeof(word), cudaMemcpyDeviceToHost, context.stream), "copying");
    context.stream.synchronize();
    // a = 1, plus = minus = 1: every product adds k to every element.
    const double expected = 2.0 * kTrips * kUnroll * format.k;
    const bool half = format.kernel == busy<Mma::fp16_fp16>;
    const double got = half                               ? half_value(static_cast<std::uint16_t>(word & 0xffffU))
                       : format.dtype == gpu::DType::int8 ? static_cast<double>(static_cast<std::int32_t>(word))
                                                          : static_cast<double>(float_of_bits(word));
    checks.push_back({format.name, got, expected});
  }
  return checks;
}

}  // namespace hindsight::measure

/// Arithmetic rate of Hopper's tensor cores by wgmma, both operands in shared memory.
#include <cstdint>
#include <type_traits>

#include "measure/cuda/clock.cuh"
#include "measure/cuda/mma_operands.h"

namespace hindsight::measure {
namespace {

constexpr int kWarpgroupThreads = 128;
constexpr int kThreads = 2 * kWarpgroupThreads;  // [chosen] two warpgroups hide each other's waits
constexpr int kBlocksPerSm = 1;
constexpr int kAccumulators = 64;  // fp32 or int32 registers per thread of a 64 x 128 tile
constexpr int kPairs = 8;          // [chosen] pairs of products between two waits: 1024 cycles at full rate
constexpr int kM = 64, kN = 128;   // full rate needs n >= 64

enum class Wgmma { fp16, bf16, tf32, fp8, int8 };

/// Descriptor of a K-major tile without swizzle [spec: ptx-isa]: core matrices of 8 rows x 16 bytes, contiguous; the
/// two that lie next to each other along k are 128 bytes apart (leading offset), rows of them 256 (stride offset).
/// Offsets and address are in units of 16 bytes: bits 0-13 address, 16-29 leading, 32-45 stride.
[[maybe_unused]] __device__ std::uint64_t descriptor(std::uint32_t shared_address) {
  constexpr std::uint64_t kLeading = 128 / 16, kStride = 256 / 16;
  return ((shared_address & 0x3ffffU) >> 4U) | (kLeading << 16U) | (kStride << 32U);
}

// The 64 accumulators as operands of an asm statement, and their places in its text.
#define HINDSIGHT_D8(K, I) \
  K(d[I]), K(d[I + 1]), K(d[I + 2]), K(d[I + 3]), K(d[I + 4]), K(d[I + 5]), K(d[I + 6]), K(d[I + 7])
#define HINDSIGHT_D64(K)                                                                                 \
  HINDSIGHT_D8(K, 0), HINDSIGHT_D8(K, 8), HINDSIGHT_D8(K, 16), HINDSIGHT_D8(K, 24), HINDSIGHT_D8(K, 32), \
      HINDSIGHT_D8(K, 40), HINDSIGHT_D8(K, 48), HINDSIGHT_D8(K, 56)
#define HINDSIGHT_FLOAT(X) "+f"(X)
#define HINDSIGHT_INT(X) "+r"(X)
#define HINDSIGHT_PLACES                                                                                 \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,"  \
  "%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51," \
  "%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, %64, %65"
/// d += a * b: the predicate says that d is added. MODIFIERS: what the type has of signs and transposition.
#define HINDSIGHT_WGMMA(TYPES, KIND, MODIFIERS)                                                    \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\nwgmma.mma_async.sync.aligned." TYPES \
               " " HINDSIGHT_PLACES ", add" MODIFIERS ";\n}"                                       \
               : HINDSIGHT_D64(KIND)                                                               \
               : "l"(a), "l"(b), "r"(1))

template <Wgmma F, class Value>
__device__ void wgmma(Value (&d)[kAccumulators], std::uint64_t a, std::uint64_t b) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  if constexpr (F == Wgmma::fp16) HINDSIGHT_WGMMA("m64n128k16.f32.f16.f16", HINDSIGHT_FLOAT, ", 1, 1, 0, 0");
  if constexpr (F == Wgmma::bf16) HINDSIGHT_WGMMA("m64n128k16.f32.bf16.bf16", HINDSIGHT_FLOAT, ", 1, 1, 0, 0");
  if constexpr (F == Wgmma::tf32) HINDSIGHT_WGMMA("m64n128k8.f32.tf32.tf32", HINDSIGHT_FLOAT, ", 1, 1");
  if constexpr (F == Wgmma::fp8) HINDSIGHT_WGMMA("m64n128k32.f32.e4m3.e4m3", HINDSIGHT_FLOAT, ", 1, 1");
  if constexpr (F == Wgmma::int8) HINDSIGHT_WGMMA("m64n128k32.s32.s8.s8", HINDSIGHT_INT, "");
#endif
}

/// Between the wait and what reads or writes the accumulators next: without it the compiler may move either across the
/// wait, which names no register.
template <class Value>
__device__ void tie(Value (&d)[kAccumulators]) {
  if constexpr (std::is_same_v<Value, float>) {
    asm volatile("" : HINDSIGHT_D64(HINDSIGHT_FLOAT)::"memory");
  } else {
    asm volatile("" : HINDSIGHT_D64(HINDSIGHT_INT)::"memory");
  }
}

/// `operands`: WgmmaOperands, copied to shared memory once.
template <Wgmma F, class Value>
__global__ void __launch_bounds__(kThreads)
    busy(const std::uint32_t* operands, int trips, Value* accumulators, BlockClock* clock) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  // Both warpgroups read the same tiles, so that the descriptors are uniform and stay in uniform registers.
  constexpr unsigned kWords = WgmmaOperands::kBytes / sizeof(std::uint32_t);
  __shared__ alignas(128) std::uint32_t tiles[kWords];
  for (unsigned i = threadIdx.x; i < kWords; i += kThreads) tiles[i] = operands[i];
  // The tensor cores read shared memory through the asynchronous proxy.
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(tiles));
  const std::uint64_t a = descriptor(base);
  const std::uint64_t plus = descriptor(base + WgmmaOperands::kABytes);
  const std::uint64_t minus = descriptor(base + WgmmaOperands::kABytes + WgmmaOperands::kBBytes);
  Value d[kAccumulators] = {};
  const BlockTimer timer;
  for (int trip = 0; trip < trips; ++trip) {
    tie(d);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < kPairs; ++i) {
      wgmma<F>(d, a, plus);
      wgmma<F>(d, a, minus);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    tie(d);
  }
  timer.finish(clock);
  Value sum = 0;
#pragma unroll
  for (int j = 0; j < kAccumulators; ++j) sum += d[j];
  if (blockIdx.x == 0) accumulators[threadIdx.x] = sum;
#endif
}

struct Format {
  const char* name;
  const char* instruction;
  int k;  ///< depth of one instruction
  gpu::DType dtype;
  void (*launch)(const std::uint32_t* operands, int trips, void* accumulators, BlockClock* clock, int blocks,
                 cudaStream_t stream);
};

template <Wgmma F, class Value>
void launch(const std::uint32_t* operands, int trips, void* accumulators, BlockClock* clock, int blocks,
            cudaStream_t stream) {
  busy<F><<<blocks, kThreads, 0, stream>>>(operands, trips, static_cast<Value*>(accumulators), clock);
  check_launch("running wgmma");
}

constexpr Format kFormats[] = {
    {"wgmma_fp16", "wgmma m64n128k16 f16, fp32 accumulators", 16, gpu::DType::fp16, launch<Wgmma::fp16, float>},
    {"wgmma_bf16", "wgmma m64n128k16 bf16, fp32 accumulators", 16, gpu::DType::bf16, launch<Wgmma::bf16, float>},
    {"wgmma_tf32", "wgmma m64n128k8 tf32, fp32 accumulators", 8, gpu::DType::tf32, launch<Wgmma::tf32, float>},
    {"wgmma_fp8", "wgmma m64n128k32 e4m3, fp32 accumulators", 32, gpu::DType::fp8, launch<Wgmma::fp8, float>},
    {"wgmma_int8", "wgmma m64n128k32 s8, int32 accumulators", 32, gpu::DType::int8, launch<Wgmma::int8, std::int32_t>}};

/// Only compute capability 9.0 has these instructions; its code is the one for sm_90a.
bool has_wgmma(const DeviceContext& context) { return context.facts.compute_capability == 90; }

}  // namespace

std::vector<BusyKernel> wgmma_kernels(const DeviceContext& context, BusyBuffers& buffers) {
  constexpr int kTrips = 2048;  // [chosen] about two milliseconds
  std::vector<BusyKernel> kernels;
  if (!has_wgmma(context)) return kernels;
  constexpr std::size_t kFormatCount = std::size(kFormats);
  buffers.sink.reserve(kThreads * sizeof(float));
  buffers.clock.reserve(sizeof(BlockClock));
  buffers.operands.reserve(kFormatCount * WgmmaOperands::kBytes);
  const int blocks = static_cast<int>(context.facts.sms) * kBlocksPerSm;
  for (std::size_t i = 0; i < kFormatCount; ++i) {
    const Format& format = kFormats[i];
    auto* operands = reinterpret_cast<std::uint32_t*>(buffers.operands.as<std::byte>() + i * WgmmaOperands::kBytes);
    WgmmaOperands::random(operands, format.dtype, context.stream);
    const double groups = static_cast<double>(blocks) * (kThreads / kWarpgroupThreads);
    const double products = groups * kTrips * kPairs * 2;
    kernels.push_back({.name = format.name,
                       .instruction = format.instruction,
                       .ops = 2.0 * kM * kN * format.k * products,
                       .launch = [&buffers, &format, operands, blocks](cudaStream_t stream, std::int64_t /*copy*/) {
                         format.launch(operands, kTrips, buffers.sink.as(), buffers.clock.as<BlockClock>(), blocks,
                                       stream);
                       }});
  }
  return kernels;
}

std::vector<ProductCheck> check_wgmma(const DeviceContext& context) {
  constexpr int kTrips = 3;
  std::vector<ProductCheck> checks;
  if (!has_wgmma(context)) return checks;
  const DeviceBuffer operands(WgmmaOperands::kBytes), sink(kThreads * sizeof(float)), clock(sizeof(BlockClock));
  for (const Format& format : kFormats) {
    WgmmaOperands::ones(operands.as<std::uint32_t>(), format.dtype, context.stream);
    format.launch(operands.as<std::uint32_t>(), kTrips, sink.as(), clock.as<BlockClock>(), 1, context.stream);
    std::uint32_t word = 0;
    check(cudaMemcpyAsync(&word, sink.as(), sizeof(word), cudaMemcpyDeviceToHost, context.stream), "copying");
    context.stream.synchronize();
    // All operands are 1: every product adds k to each of the thread's accumulators.
    const double expected = 2.0 * kTrips * kPairs * format.k * kAccumulators;
    const double got = format.dtype == gpu::DType::int8 ? static_cast<double>(static_cast<std::int32_t>(word))
                                                        : static_cast<double>(float_of_bits(word));
    checks.push_back({format.name, got, expected});
  }
  return checks;
}

}  // namespace hindsight::measure

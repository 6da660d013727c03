/// Arithmetic rate of the CUDA cores: independent chains of fused multiply-adds in registers.
#include <cstdint>

#include "measure/cuda/clock.cuh"

namespace hindsight::measure {
namespace {

/// One CTA per SM, so that the time of one CTA is that of its SM: of several, the scheduler serves the oldest first,
/// and its own clock counts a part of the work only (an H100 with four CTAs of 256 threads: 479 FMA per clock instead
/// of 128).
constexpr int kThreads = 1024;  // [chosen] 32 warps: enough to cover four cycles of latency with eight chains
constexpr int kBlocksPerSm = 1;
constexpr int kChains = 8;   // [chosen]
constexpr int kUnroll = 16;  // [chosen] 128 instructions per trip of the loop

enum class Fma { fp32, fp16x2, bf16x2, fp64, int8x4 };

template <Fma F>
struct Traits;
template <>
struct Traits<Fma::fp32> {
  using Value = float;
  static constexpr int kFmas = 1;
  static constexpr const char* kName = "fp32_fma";
  static constexpr const char* kInstruction = "fma.rn.f32";
  __device__ static Value start(int seed) { return 0.5F + 0.001F * static_cast<float>(seed); }
  __device__ static Value factor() { return -0.75F; }  // the sign alternates and the value stays bounded
  __device__ static void step(Value& d, Value a, Value b) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(d) : "f"(a), "f"(b));
  }
  __device__ static std::uint32_t bits(Value v) { return __float_as_uint(v); }
};
template <>
struct Traits<Fma::fp64> {
  using Value = double;
  static constexpr int kFmas = 1;
  static constexpr const char* kName = "fp64_fma";
  static constexpr const char* kInstruction = "fma.rn.f64";
  __device__ static Value start(int seed) { return 0.5 + 0.001 * seed; }
  __device__ static Value factor() { return -0.75; }
  __device__ static void step(Value& d, Value a, Value b) {
    asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(d) : "d"(a), "d"(b));
  }
  __device__ static std::uint32_t bits(Value v) { return static_cast<std::uint32_t>(__double2hiint(v)); }
};
/// Two halves in one register.
template <>
struct Traits<Fma::fp16x2> {
  using Value = std::uint32_t;
  static constexpr int kFmas = 2;
  static constexpr const char* kName = "fp16_fma";
  static constexpr const char* kInstruction = "fma.rn.f16x2";
  __device__ static Value start(int seed) { return 0x38003800U + static_cast<std::uint32_t>(seed); }  // 0.5 and more
  __device__ static Value factor() { return 0xba00ba00U; }                                            // -0.75
  __device__ static void step(Value& d, Value a, Value b) {
    asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(d) : "r"(a), "r"(b));
  }
  __device__ static std::uint32_t bits(Value v) { return v; }
};
template <>
struct Traits<Fma::bf16x2> {
  using Value = std::uint32_t;
  static constexpr int kFmas = 2;
  static constexpr const char* kName = "bf16_fma";
  static constexpr const char* kInstruction = "fma.rn.bf16x2";
  __device__ static Value start(int seed) { return 0x3f003f00U + static_cast<std::uint32_t>(seed); }  // 0.5 and more
  __device__ static Value factor() { return 0xbf40bf40U; }                                            // -0.75
  __device__ static void step(Value& d, Value a, Value b) {
    asm volatile("fma.rn.bf16x2 %0, %0, %1, %2;" : "+r"(d) : "r"(a), "r"(b));
  }
  __device__ static std::uint32_t bits(Value v) { return v; }
};
template <>
struct Traits<Fma::int8x4> {
  using Value = std::int32_t;
  static constexpr int kFmas = 4;
  static constexpr const char* kName = "int8_dp4a";
  static constexpr const char* kInstruction = "dp4a.s32.s32";
  __device__ static Value start(int seed) { return 0x12345678 + seed; }
  __device__ static Value factor() { return 0x7f01fe55; }
  __device__ static void step(Value& d, Value a, Value b) {
    asm volatile("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(d) : "r"(a), "r"(b));
  }
  __device__ static std::uint32_t bits(Value v) { return static_cast<std::uint32_t>(v); }
};

template <Fma F>
__global__ void __launch_bounds__(kThreads) busy(int trips, std::uint32_t* sink, BlockClock* clock) {
  using T = Traits<F>;
  typename T::Value chains[kChains];
#pragma unroll
  for (int j = 0; j < kChains; ++j) chains[j] = T::start(static_cast<int>(threadIdx.x) + j);
  const typename T::Value a = T::factor(), b = T::start(static_cast<int>(threadIdx.x));
  __syncthreads();
  const BlockTimer timer;
  for (int trip = 0; trip < trips; ++trip) {
#pragma unroll
    for (int i = 0; i < kUnroll; ++i) {
#pragma unroll
      for (int j = 0; j < kChains; ++j) T::step(chains[j], a, b);
    }
  }
  timer.finish(clock);
  std::uint32_t checksum = 0;
#pragma unroll
  for (int j = 0; j < kChains; ++j) checksum ^= T::bits(chains[j]);
  if (checksum == 0x9e3779b9U) *sink = checksum;
}

template <Fma F>
BusyKernel kernel(const DeviceContext& context, BusyBuffers& buffers, int trips) {
  using T = Traits<F>;
  const int blocks = static_cast<int>(context.facts.sms) * kBlocksPerSm;
  const double instructions = static_cast<double>(blocks) * kThreads * trips * kUnroll * kChains;
  return {.name = T::kName,
          .instruction = T::kInstruction,
          .ops = 2.0 * T::kFmas * instructions,
          .launch = [&buffers, blocks, trips](cudaStream_t stream, std::int64_t /*copy*/) {
            busy<F><<<blocks, kThreads, 0, stream>>>(trips, buffers.sink.as<std::uint32_t>(),
                                                     buffers.clock.as<BlockClock>());
            check_launch("running fused multiply-adds");
          }};
}

}  // namespace

std::vector<BusyKernel> cuda_core_kernels(const DeviceContext& context, BusyBuffers& buffers) {
  // About a millisecond on an SM that issues 128 FMA per clock; fp64 runs at 1/64 of that on consumer boards.
  constexpr int kTrips = 2048, kTripsOfFp64 = 128;  // [chosen]
  buffers.sink.reserve(sizeof(std::uint32_t));
  buffers.clock.reserve(sizeof(BlockClock));
  std::vector<BusyKernel> kernels;
  kernels.push_back(kernel<Fma::fp32>(context, buffers, kTrips));
  kernels.push_back(kernel<Fma::fp16x2>(context, buffers, kTrips));
  kernels.push_back(kernel<Fma::bf16x2>(context, buffers, kTrips));
  kernels.push_back(kernel<Fma::fp64>(context, buffers, kTripsOfFp64));
  kernels.push_back(kernel<Fma::int8x4>(context, buffers, kTrips));
  return kernels;
}

}  // namespace hindsight::measure

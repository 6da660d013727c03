/// Bandwidth of DRAM, L2, L1 and shared memory by 16-byte accesses of the whole device.
#include <array>
#include <cstdint>

#include "measure/cuda/clock.cuh"
#include "measure/cuda/random_fill.h"

namespace hindsight::measure {
namespace {

constexpr int kThreads = 256;                  // [chosen] eight blocks fill an SM of 2048 threads
constexpr int kBlocksPerSm = 8;                // [chosen]
constexpr int kInFlight = 4;                   // [chosen] independent loads per thread
constexpr std::uint32_t kNever = 0x9e3779b9U;  // a value that a checksum of random data does not take

__device__ uint4 load_l2(const uint4* address) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address));
  return v;
}

__device__ uint4 load_l1(const uint4* address) {
  uint4 v;
  asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(address));
  return v;
}

__device__ uint4 load_shared(std::uint32_t address) {
  uint4 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(address));
  return v;
}

__device__ std::uint32_t folded(const uint4& v) { return v.x ^ v.y ^ v.z ^ v.w; }

/// Keeps loads alive: the compiler cannot know that the store never happens.
__device__ void consume(std::uint32_t checksum, std::uint32_t* sink) {
  if (checksum == kNever) *sink = checksum;
}

/// Reads `count` vectors once.
__global__ void read_once(const uint4* data, std::size_t count, std::uint32_t* sink) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  std::uint32_t checksum = 0;
  for (; i + (kInFlight - 1) * stride < count; i += kInFlight * stride) {
    std::array<uint4, kInFlight> v;
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) v[j] = load_l2(data + i + j * stride);
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) checksum ^= folded(v[j]);
  }
  for (; i < count; i += stride) checksum ^= folded(load_l2(data + i));
  consume(checksum, sink);
}

__global__ void write_once(uint4* data, std::size_t count, std::uint32_t value) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    data[i] = make_uint4(value, value ^ 1U, value ^ 2U, static_cast<std::uint32_t>(i));
  }
}

__global__ void triad(float4* a, const float4* b, const float4* c, float factor, std::size_t count) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    const float4 x = b[i], y = c[i];
    a[i] = make_float4(x.x + factor * y.x, x.y + factor * y.y, x.z + factor * y.z, x.w + factor * y.w);
  }
}

/// Reads a buffer of `count` vectors round and round, `rounds` x kInFlight loads per thread, around L1.
__global__ void read_l2(const uint4* data, std::size_t count, int rounds, std::uint32_t* sink) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x % count;
  std::size_t i = (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) % count;
  std::uint32_t checksum = 0;
  for (int round = 0; round < rounds; ++round) {
    std::array<uint4, kInFlight> v;
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
      v[j] = load_l2(data + i);
      i += stride;
      i -= i >= count ? count : 0;
    }
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) checksum ^= folded(v[j]);
  }
  consume(checksum, sink);
}

constexpr int kL1Vectors = 1024;  // 16 KiB per block of 1024 threads

/// Each block reads its own 16 KiB from L1; the lines differ from load to load.
__global__ void __launch_bounds__(kL1Vectors)
    read_l1(const uint4* data, int rounds, std::uint32_t* sink, BlockClock* clock) {
  const uint4* own = data + static_cast<std::size_t>(blockIdx.x) * kL1Vectors;
  std::uint32_t checksum = folded(load_l1(own + threadIdx.x));
  __syncthreads();
  const BlockTimer timer;
  unsigned i = threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    std::array<uint4, kInFlight> v;
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) v[j] = load_l1(own + ((i + 32U * static_cast<unsigned>(j)) % kL1Vectors));
    i += 32U * kInFlight;
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) checksum ^= folded(v[j]);
  }
  timer.finish(clock);
  consume(checksum, sink);
}

__global__ void __launch_bounds__(kL1Vectors)
    read_shared(const uint4* data, int rounds, std::uint32_t* sink, BlockClock* clock) {
  __shared__ uint4 own[kL1Vectors];
  own[threadIdx.x] = data[threadIdx.x];
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(own));
  __syncthreads();
  const BlockTimer timer;
  unsigned i = threadIdx.x;
  std::uint32_t checksum = 0;
  for (int round = 0; round < rounds; ++round) {
    std::array<uint4, kInFlight> v;
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) {
      v[j] = load_shared(base + (i + 32U * static_cast<unsigned>(j)) % kL1Vectors * 16U);
    }
    i += 32U * kInFlight;
#pragma unroll
    for (int j = 0; j < kInFlight; ++j) checksum ^= folded(v[j]);
  }
  timer.finish(clock);
  consume(checksum, sink);
}

int sm_count(const DeviceContext& context) { return static_cast<int>(context.facts.sms); }

}  // namespace

void launch_read(const void* data, std::size_t bytes, std::uint32_t* sink, int sms, cudaStream_t stream) {
  read_once<<<sms * kBlocksPerSm, kThreads, 0, stream>>>(static_cast<const uint4*>(data), bytes / sizeof(uint4), sink);
  check_launch("reading memory");
}

void measure_dram_bandwidth(const DeviceContext& context, Quantities& out) {
  // Several times the L2, so that what stays in it between launches does not count.
  constexpr std::size_t kL2s = 8, kLeastBytes = std::size_t{512} << 20U;  // [chosen]
  const std::size_t bytes = std::max(kL2s * static_cast<std::size_t>(context.facts.l2_bytes), kLeastBytes) / 256 * 256;
  const std::size_t vectors = bytes / sizeof(uint4);
  const DeviceBuffer a(bytes), b(bytes), c(bytes), sink(sizeof(std::uint32_t));
  for (const DeviceBuffer* buffer : {&a, &b, &c}) {
    fill_normal(buffer->as(), bytes, gpu::DType::fp32, static_cast<std::uint64_t>(context.facts.seed), context.stream);
  }
  const int sms = sm_count(context), blocks = sms * kBlocksPerSm;
  const auto size = static_cast<double>(bytes);
  const Samples read = time_kernel(context, [&](cudaStream_t stream, std::int64_t /*copy*/) {
    launch_read(a.as(), bytes, sink.as<std::uint32_t>(), sms, stream);
  });
  out.add_rate("dram_read_bytes_per_s", size, read, "ld.global.cg.v4, each byte once", size);
  const Samples write = time_kernel(context, [&](cudaStream_t stream, std::int64_t /*copy*/) {
    write_once<<<blocks, kThreads, 0, stream>>>(a.as<uint4>(), vectors, kNever);
    check_launch("writing memory");
  });
  out.add_rate("dram_write_bytes_per_s", size, write, "st.global.v4, each byte once", size);
  const Samples copy = time_kernel(context, [&](cudaStream_t stream, std::int64_t /*copy*/) {
    check(cudaMemcpyAsync(b.as(), a.as(), bytes, cudaMemcpyDeviceToDevice, stream), "copying memory");
  });
  out.add_rate("dram_copy_bytes_per_s", 2 * size, copy, "cudaMemcpy, bytes read and written", size);
  const Samples sum = time_kernel(context, [&](cudaStream_t stream, std::int64_t /*copy*/) {
    triad<<<blocks, kThreads, 0, stream>>>(a.as<float4>(), b.as<const float4>(), c.as<const float4>(), 0.5F, vectors);
    check_launch("running triad");
  });
  out.add_rate("dram_triad_bytes_per_s", 3 * size, sum, "a = b + s c, bytes read and written", size);
}

void measure_l2_bandwidth(const DeviceContext& context, Quantities& out) {
  // Shares of the L2 around the knee, where lines begin to be replaced or cross between its halves.
  constexpr std::array kShares = {0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0, 1.25, 1.5, 2.0};
  constexpr double kBytesPerLaunch = 3e9;  // [chosen] half a millisecond: the gap between launches does not count
  const auto l2 = static_cast<double>(context.facts.l2_bytes);
  const DeviceBuffer data(static_cast<std::size_t>(kShares.back() * l2)), sink(sizeof(std::uint32_t));
  fill_normal(data.as(), data.bytes() / 4 * 4, gpu::DType::fp32, static_cast<std::uint64_t>(context.facts.seed),
              context.stream);
  const int blocks = sm_count(context) * kBlocksPerSm;
  const double bytes_per_round = static_cast<double>(blocks) * kThreads * kInFlight * sizeof(uint4);
  const int rounds = 1 + static_cast<int>(kBytesPerLaunch / bytes_per_round);
  for (const double share : kShares) {
    const auto count = static_cast<std::size_t>(share * l2) / sizeof(uint4);
    const Samples seconds = time_kernel(context, [&](cudaStream_t stream, std::int64_t /*copy*/) {
      read_l2<<<blocks, kThreads, 0, stream>>>(data.as<const uint4>(), count, rounds, sink.as<std::uint32_t>());
      check_launch("reading the L2");
    });
    out.add_rate("l2_read_bytes_per_s", bytes_per_round * rounds, seconds,
                 "ld.global.cg.v4 of one buffer again and again", static_cast<double>(count) * sizeof(uint4));
  }
}

void measure_on_chip_bandwidth(const DeviceContext& context, Quantities& out) {
  constexpr int kRounds = 4096;
  const int blocks = sm_count(context);  // one block of 1024 threads per SM
  const DeviceBuffer data(static_cast<std::size_t>(blocks) * kL1Vectors * sizeof(uint4)), sink(sizeof(std::uint32_t));
  const DeviceBuffer clock(sizeof(BlockClock));
  fill_normal(data.as(), data.bytes(), gpu::DType::fp32, static_cast<std::uint64_t>(context.facts.seed),
              context.stream);
  const double block_bytes = static_cast<double>(kRounds) * kInFlight * kL1Vectors * sizeof(uint4);
  const auto add = [&](const std::string& name, const std::string& instruction, const Launch& launch) {
    const Samples seconds = time_kernel(context, launch);
    BlockClock ticks{};
    check(cudaMemcpy(&ticks, clock.as(), sizeof(ticks), cudaMemcpyDeviceToHost), "copying a clock");
    out.add_rate(name + "_read_bytes_per_s", block_bytes * blocks, seconds, instruction + ", all SMs");
    out.add(name + "_read_bytes_per_clock_per_sm", block_bytes / static_cast<double>(ticks.cycles), instruction);
  };
  add("l1", "ld.global.ca.v4 of 16 KiB", [&](cudaStream_t stream, std::int64_t /*copy*/) {
    read_l1<<<blocks, kL1Vectors, 0, stream>>>(data.as<const uint4>(), kRounds, sink.as<std::uint32_t>(),
                                               clock.as<BlockClock>());
    check_launch("reading the L1");
  });
  add("shared", "ld.shared.v4 of 16 KiB", [&](cudaStream_t stream, std::int64_t /*copy*/) {
    read_shared<<<blocks, kL1Vectors, 0, stream>>>(data.as<const uint4>(), kRounds, sink.as<std::uint32_t>(),
                                                   clock.as<BlockClock>());
    check_launch("reading shared memory");
  });
}

}  // namespace hindsight::measure

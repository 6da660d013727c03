/// Latency of a load by level: one thread follows a chain of pointers, so that each load waits for the one before.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "hindsight/core/hash.h"
#include "measure/cuda/clock.cuh"

namespace hindsight::measure {
namespace {

/// One element per cache line, so that no load finds the line of the one before.
constexpr std::size_t kLineBytes = 128;  // [spec: cuda-guide]
constexpr int kUnroll = 16;              // [chosen] hides the loop's own instructions behind the loads
constexpr int kSharedEntries = 1024;     // 4 KiB
constexpr int kSingles = 2048;           // [chosen] accesses timed one by one

enum class Cache { level1, level2 };

/// The next link of the chain. `ca` caches in L1, `cg` in L2 only.
template <Cache C>
__device__ std::uint64_t follow(std::uint64_t address) {
  std::uint64_t next;
  if constexpr (C == Cache::level1) {
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(address) : "memory");
  } else {
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(address) : "memory");
  }
  return next;
}

struct ChaseResult {
  unsigned long long cycles;
  std::uint64_t last;
};

/// `steps` (a multiple of kUnroll) links, after `warm_steps` that are not timed.
template <Cache C>
__global__ void chase(std::uint64_t address, int warm_steps, int steps, ChaseResult* result) {
  for (int i = 0; i < warm_steps; ++i) address = follow<C>(address);
  const unsigned long long start = sm_cycles();
  for (int i = 0; i < steps; i += kUnroll) {
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) address = follow<C>(address);
  }
  result->last = address;  // the store waits for the chain's end
  __threadfence_block();
  result->cycles = sm_cycles() - start;
}

/// Times each access by itself; the store between load and clock waits for the loaded value.
__global__ void chase_singly(std::uint64_t address, std::uint32_t* cycles) {
  __shared__ std::uint32_t taken[kSingles];
  __shared__ volatile std::uint64_t last;
  for (int i = 0; i < kSingles; ++i) {
    const unsigned long long start = sm_cycles();
    address = follow<Cache::level2>(address);
    last = address;
    taken[i] = static_cast<std::uint32_t>(sm_cycles() - start);
  }
  for (int i = 0; i < kSingles; ++i) cycles[i] = taken[i];
}

__global__ void chase_shared(int steps, ChaseResult* result) {
  __shared__ std::uint32_t ring[kSharedEntries];
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(ring));
  // An odd stride visits every entry.
  constexpr std::uint32_t kStride = 33;
  for (std::uint32_t i = 0; i < kSharedEntries; ++i) {
    ring[i] = base + (i + kStride) % kSharedEntries * static_cast<std::uint32_t>(sizeof(std::uint32_t));
  }
  std::uint32_t address = base;
  const unsigned long long start = sm_cycles();
  for (int i = 0; i < steps; i += kUnroll) {
#pragma unroll
    for (int j = 0; j < kUnroll; ++j) {
      asm volatile("ld.shared.u32 %0, [%0];" : "+r"(address)::"memory");
    }
  }
  result->last = address;
  __threadfence_block();
  result->cycles = sm_cycles() - start;
}

/// Line i points to line successor[i].
__global__ void link(std::byte* base, const std::uint32_t* successor, std::uint32_t lines) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < lines; i += gridDim.x * blockDim.x) {
    *reinterpret_cast<std::uint64_t*>(base + i * kLineBytes) =
        reinterpret_cast<std::uint64_t>(base + successor[i] * kLineBytes);
  }
}

/// A single cycle through all lines in random order (Sattolo): neither the prefetcher nor a page's row helps.
std::vector<std::uint32_t> random_cycle(std::uint32_t lines, std::uint64_t seed) {
  std::vector<std::uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = lines - 1; i > 0; --i) std::swap(order[i], order[mix64(seed + i) % i]);
  return order;
}

/// A buffer of linked lines.
class Chain {
 public:
  Chain(std::size_t bytes, std::uint64_t seed, const Stream& stream) : buffer_(bytes) {
    const auto lines = static_cast<std::uint32_t>(bytes / kLineBytes);
    const std::vector<std::uint32_t> successor = random_cycle(lines, seed);
    const DeviceBuffer copy(lines * sizeof(std::uint32_t));
    check(cudaMemcpyAsync(copy.as(), successor.data(), copy.bytes(), cudaMemcpyHostToDevice, stream),
          "copying a chain");
    constexpr int kBlocks = 1024, kThreads = 256;
    link<<<kBlocks, kThreads, 0, stream>>>(buffer_.as<std::byte>(), copy.as<const std::uint32_t>(), lines);
    check_launch("linking a chain");
    stream.synchronize();
  }
  [[nodiscard]] std::uint64_t start() const { return reinterpret_cast<std::uint64_t>(buffer_.as()); }

 private:
  DeviceBuffer buffer_;
};

/// Median cycles per step over several runs; `prepare` comes before each.
template <class Run, class Prepare>
Samples cycles_per_step(const DeviceContext& context, int steps, const Run& run, const Prepare& prepare) {
  constexpr int kRuns = 9;  // [chosen]
  const DeviceBuffer result(sizeof(ChaseResult));
  Samples samples;
  for (int i = 0; i < kRuns; ++i) {
    prepare();
    run(result.as<ChaseResult>());
    check_launch("chasing pointers");
    ChaseResult host{};
    check(cudaMemcpyAsync(&host, result.as(), sizeof(host), cudaMemcpyDeviceToHost, context.stream),
          "copying a result");
    context.stream.synchronize();
    samples.add(static_cast<double>(host.cycles) / steps);
  }
  return samples;
}

void add_samples(Quantities& out, const std::string& name, const Samples& cycles, const std::string& detail,
                 double bytes) {
  out.add(name, cycles.median(), detail, bytes);
  out.last().spread_frac = cycles.spread_frac();
  out.last().samples = static_cast<std::int64_t>(cycles.count());
}

/// Near and far part of the L2: the 10th and 90th percentile of single accesses, less the cost of timing them, which
/// is the difference between their mean and the mean of the untimed chain.
void add_near_and_far(const DeviceContext& context, const Chain& chain, double mean_cycles, double bytes,
                      Quantities& out) {
  const DeviceBuffer device(kSingles * sizeof(std::uint32_t));
  std::vector<std::uint32_t> cycles(kSingles);
  for (int i = 0; i < 2; ++i) {  // the first run brings the lines into the L2
    chase_singly<<<1, 1, 0, context.stream>>>(chain.start(), device.as<std::uint32_t>());
    check_launch("timing single accesses");
  }
  check(cudaMemcpyAsync(cycles.data(), device.as(), device.bytes(), cudaMemcpyDeviceToHost, context.stream),
        "copying a result");
  context.stream.synchronize();
  const double mean = std::accumulate(cycles.begin(), cycles.end(), 0.0) / kSingles;
  std::sort(cycles.begin(), cycles.end());
  const std::string detail = "percentile of single ld.global.cg, less the cost of timing";
  out.add("l2_near_latency_cycles", cycles[kSingles / 10] - (mean - mean_cycles), "10th " + detail, bytes);
  out.add("l2_far_latency_cycles", cycles[kSingles - kSingles / 10] - (mean - mean_cycles), "90th " + detail, bytes);
}

}  // namespace

void measure_latency(const DeviceContext& context, Quantities& out) {
  constexpr std::size_t kL1Bytes = 16 * 1024;              // [chosen] inside every L1
  constexpr std::size_t kL2Bytes = std::size_t{4} << 20U;  // [chosen] beyond every L1, inside every L2
  constexpr int kSteps = 8192;
  constexpr int kDramL2s = 8;  // [chosen] a random line is in the L2 with probability below 1/8, and after a flush less
  const auto seed = static_cast<std::uint64_t>(context.facts.seed);
  const auto nothing = [] {};
  const cudaStream_t stream = context.stream;

  add_samples(
      out, "shared_latency_cycles",
      cycles_per_step(
          context, kSteps, [&](ChaseResult* result) { chase_shared<<<1, 1, 0, stream>>>(kSteps, result); }, nothing),
      "dependent ld.shared.u32", kSharedEntries * sizeof(std::uint32_t));
  {
    const Chain chain(kL1Bytes, seed, context.stream);
    constexpr int kLines = kL1Bytes / kLineBytes;
    add_samples(out, "l1_latency_cycles",
                cycles_per_step(
                    context, kSteps,
                    [&](ChaseResult* result) {
                      chase<Cache::level1><<<1, 1, 0, stream>>>(chain.start(), 2 * kLines, kSteps, result);
                    },
                    nothing),
                "dependent ld.global.ca.u64", kL1Bytes);
  }
  {
    const Chain chain(kL2Bytes, seed + 1, context.stream);
    constexpr int kLines = kL2Bytes / kLineBytes;
    const Samples cycles = cycles_per_step(
        context, kSteps,
        [&](ChaseResult* result) { chase<Cache::level2><<<1, 1, 0, stream>>>(chain.start(), kLines, kSteps, result); },
        nothing);
    add_samples(out, "l2_latency_cycles", cycles, "dependent ld.global.cg.u64, mean over near and far parts", kL2Bytes);
    add_near_and_far(context, chain, cycles.median(), kL2Bytes, out);
  }
  const std::size_t dram_bytes =
      std::max<std::size_t>(kDramL2s * static_cast<std::size_t>(context.facts.l2_bytes), std::size_t{256} << 20U);
  const Chain chain(dram_bytes, seed + 2, context.stream);
  const DeviceBuffer scratch(static_cast<std::size_t>(4 * context.facts.l2_bytes));
  const auto flush = [&] { check(cudaMemsetAsync(scratch.as(), 1, scratch.bytes(), stream), "flushing the L2"); };
  add_samples(
      out, "dram_latency_cycles",
      cycles_per_step(
          context, kSteps,
          [&](ChaseResult* result) { chase<Cache::level2><<<1, 1, 0, stream>>>(chain.start(), 0, kSteps, result); },
          flush),
      "dependent ld.global.cg.u64 after a flush of the L2, address translation included",
      static_cast<double>(dram_bytes));
}

}  // namespace hindsight::measure

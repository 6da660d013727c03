/// Reading the SM's clock in device code.
#pragma once

#include "measure/cuda/device_bench.h"

namespace hindsight::measure {

__device__ inline unsigned long long sm_cycles() {
  unsigned long long value;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(value)::"memory");
  return value;
}

__device__ inline unsigned long long global_nanoseconds() {
  unsigned long long value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
  return value;
}

/// Start of the block's life; every thread may make one.
struct BlockTimer {
  unsigned long long cycles = sm_cycles(), nanoseconds = global_nanoseconds();
  /// All threads of the block; the first thread of the first block writes.
  __device__ void finish(BlockClock* clock) const {
    __syncthreads();
    if (blockIdx.x == 0 && threadIdx.x == 0) *clock = {sm_cycles() - cycles, global_nanoseconds() - nanoseconds};
  }
};

}  // namespace hindsight::measure

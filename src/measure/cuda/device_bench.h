/// What a device is made of, measured: latencies, bandwidths, arithmetic rates, launch overheads, power.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/measure/board.h"
#include "hindsight/measure/record.h"
#include "measure/cuda/support.h"
#include "measure/cuda/timing.h"

namespace hindsight::measure {

/// What the benchmarks of the device share.
struct DeviceContext {
  const Session& facts;
  Board* board = nullptr;  ///< may be null
  const Stream& stream;
  SustainedOptions sustained;
};

/// Collects quantities of one task.
class Quantities {
 public:
  void add(const std::string& name, double value, const std::string& detail, double argument = kUnknown) {
    Quantity& row = rows_.emplace_back();
    row.name = name;
    row.detail = detail;
    row.argument = argument;
    row.value = value;
  }
  /// The median of samples times `scale`, e.g. bytes over seconds: value = scale / median.
  void add_rate(const std::string& name, double amount, const Samples& seconds, const std::string& detail,
                double argument = kUnknown) {
    add(name, amount / seconds.median(), detail, argument);
    rows_.back().spread_frac = seconds.spread_frac();
    rows_.back().samples = static_cast<std::int64_t>(seconds.count());
  }
  Quantity& last() { return rows_.back(); }
  [[nodiscard]] std::vector<Quantity> take() { return std::move(rows_); }

 private:
  std::vector<Quantity> rows_;
};

void measure_latency(const DeviceContext& context, Quantities& out);
void measure_dram_bandwidth(const DeviceContext& context, Quantities& out);
void measure_l2_bandwidth(const DeviceContext& context, Quantities& out);
void measure_on_chip_bandwidth(const DeviceContext& context, Quantities& out);
void measure_cuda_core_throughput(const DeviceContext& context, Quantities& out);
void measure_mma_throughput(const DeviceContext& context, Quantities& out);
/// Only the number of formats, 0, on devices that have no wgmma (all but compute capability 9.0).
void measure_wgmma_throughput(const DeviceContext& context, Quantities& out);
void measure_launch_overhead(const DeviceContext& context, Quantities& out);
void measure_idle_power(const DeviceContext& context, Quantities& out);
void measure_loaded_power(const DeviceContext& context, Quantities& out);

/// Median seconds of `launch`, in burst mode with one operand set.
[[nodiscard]] Samples time_kernel(const DeviceContext& context, const Launch& launch);

/// Cycles and nanoseconds that the first block of a kernel lived: the SM's clock, and rates per cycle.
struct BlockClock {
  unsigned long long cycles, nanoseconds;
};

/// One kernel that keeps an arithmetic unit of the whole device busy; see throughput kernels.
struct BusyKernel {
  std::string name;         ///< "fp32_fma", "mma_bf16", "wgmma_fp8" ...
  std::string instruction;  ///< what it repeats
  double ops = 0;           ///< operations of one launch (an FMA is two), spread evenly over the SMs
  Launch launch;            ///< all blocks are resident at once; the first writes its BlockClock
};

/// Adds `name`_ops_per_s and `name`_fma_per_clock_per_sm. `clock`: where the kernel writes it, in device memory.
void add_throughput(const DeviceContext& context, const BusyKernel& kernel, const BlockClock* clock, Quantities& out);

/// The kernels of cuda_core_throughput, mma_throughput and wgmma_throughput that this device can run. Operands and
/// clock live in the objects given, which must outlive the kernels.
struct BusyBuffers {
  DeviceBuffer operands, clock, sink;
};
[[nodiscard]] std::vector<BusyKernel> cuda_core_kernels(const DeviceContext& context, BusyBuffers& buffers);
[[nodiscard]] std::vector<BusyKernel> mma_kernels(const DeviceContext& context, BusyBuffers& buffers);
[[nodiscard]] std::vector<BusyKernel> wgmma_kernels(const DeviceContext& context, BusyBuffers& buffers);
/// Reads the whole of `data` once.
void launch_read(const void* data, std::size_t bytes, std::uint32_t* sink, int sms, cudaStream_t stream);

}  // namespace hindsight::measure

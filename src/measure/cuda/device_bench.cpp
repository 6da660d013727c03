/// Runs the micro-benchmarks of a device and names their results.
#include "measure/cuda/device_bench.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "measure/cuda/random_fill.h"

namespace hindsight::measure {
namespace {

constexpr double kOpsPerFma = 2;

/// The energy counter, over a window in which `work` keeps the device busy or leaves it alone.
template <class Work>
BoardSummary watch(const DeviceContext& context, double seconds, const Work& work) {
  BoardMonitor monitor(context.board);
  const double start_s = steady_now_s();
  while (steady_now_s() - start_s < seconds) {
    work();
    monitor.poll(steady_now_s());
  }
  return monitor.summary();
}

void add_power(Quantities& out, const std::string& name, const BoardSummary& board, const std::string& detail) {
  out.add(name, board.power_w, detail);
  out.last().board = board;
}

void add_loaded(const DeviceContext& context, const std::string& name, const std::string& detail, const Launch& launch,
                Quantities& out) {
  const Timing timing = time_sustained(launch, 1, context.sustained, context.board, context.stream);
  add_power(out, name, timing.board, detail);
}

}  // namespace

Samples time_kernel(const DeviceContext& context, const Launch& launch) {
  return time_burst(launch, 1, StoppingRule{}, context.board, context.stream).kernel_s;
}

void add_throughput(const DeviceContext& context, const BusyKernel& kernel, const BlockClock* clock, Quantities& out) {
  const Samples seconds = time_kernel(context, kernel.launch);
  BlockClock ticks{};
  check(cudaMemcpy(&ticks, clock, sizeof(ticks), cudaMemcpyDeviceToHost), "copying a clock");
  const double clock_hz = static_cast<double>(ticks.cycles) / static_cast<double>(ticks.nanoseconds) * 1e9;
  out.add_rate(kernel.name + "_ops_per_s", kernel.ops, seconds, kernel.instruction + ", all SMs, burst");
  out.last().board.sm_clock_hz = clock_hz;
  const double fma_per_sm = kernel.ops / kOpsPerFma / static_cast<double>(context.facts.sms);
  out.add(kernel.name + "_per_clock_per_sm", fma_per_sm / static_cast<double>(ticks.cycles),
          kernel.instruction + ", multiply-adds");
  out.last().board.sm_clock_hz = clock_hz;
}

void measure_cuda_core_throughput(const DeviceContext& context, Quantities& out) {
  BusyBuffers buffers;
  for (const BusyKernel& kernel : cuda_core_kernels(context, buffers)) {
    add_throughput(context, kernel, buffers.clock.as<const BlockClock>(), out);
  }
}

void measure_mma_throughput(const DeviceContext& context, Quantities& out) {
  BusyBuffers buffers;
  for (const BusyKernel& kernel : mma_kernels(context, buffers)) {
    add_throughput(context, kernel, buffers.clock.as<const BlockClock>(), out);
  }
}

void measure_wgmma_throughput(const DeviceContext& context, Quantities& out) {
  BusyBuffers buffers;
  const std::vector<BusyKernel> kernels = wgmma_kernels(context, buffers);
  // Also where it is 0: the task has been done, and a resumed run need not ask again.
  out.add("wgmma_formats_count", static_cast<double>(kernels.size()), "only compute capability 9.0 has wgmma");
  for (const BusyKernel& kernel : kernels) {
    add_throughput(context, kernel, buffers.clock.as<const BlockClock>(), out);
  }
}

void measure_idle_power(const DeviceContext& context, Quantities& out) {
  // The board is polled after every pause: a step of the energy counter is dated to a twentieth of its distance.
  static constexpr auto kPause = std::chrono::milliseconds(5);  // [chosen]
  constexpr int kPausesPerWork = 40;                            // [chosen] 200 ms: boards keep their clocks for longer
  const auto rest = [] { std::this_thread::sleep_for(kPause); };
  context.stream.synchronize();
  static_cast<void>(watch(context, context.sustained.settle_s, rest));
  add_power(out, "idle_power_w", watch(context, context.sustained.window_s + 1, rest),
            "no kernel runs, the context is alive; the board chooses its clocks");
  // Clocks stay up for a while after work: what leakage and clock trees cost without work.
  BusyBuffers buffers;
  const std::vector<BusyKernel> kernels = cuda_core_kernels(context, buffers);
  int pauses = 0;
  add_power(out, "awake_power_w",
            watch(context, context.sustained.window_s + 1,
                  [&] {
                    if (pauses++ % kPausesPerWork == 0) {
                      kernels.front().launch(context.stream, 0);
                      context.stream.synchronize();
                    }
                    rest();
                  }),
            "two milliseconds of work every 200 ms keep the clocks up");
}

void measure_loaded_power(const DeviceContext& context, Quantities& out) {
  {
    BusyBuffers buffers;
    for (const BusyKernel& kernel : cuda_core_kernels(context, buffers)) {
      if (kernel.name == "fp32_fma") {
        add_loaded(context, kernel.name + "_power_w", kernel.instruction + ", all SMs, sustained", kernel.launch, out);
      }
    }
  }
  for (auto* make_kernels : {&wgmma_kernels, &mma_kernels}) {
    BusyBuffers buffers;
    for (const BusyKernel& kernel : (*make_kernels)(context, buffers)) {
      if (kernel.name.ends_with("_bf16")) {
        add_loaded(context, kernel.name + "_power_w", kernel.instruction + ", all SMs, sustained", kernel.launch, out);
      }
    }
  }
  constexpr std::size_t kBytes = std::size_t{1} << 30U;  // [chosen] several times the largest L2
  const DeviceBuffer data(kBytes), sink(sizeof(std::uint32_t));
  fill_normal(data.as(), kBytes, gpu::DType::fp32, static_cast<std::uint64_t>(context.facts.seed), context.stream);
  add_loaded(
      context, "dram_read_power_w", "ld.global.cg.v4 of 1 GiB of random data, sustained",
      [&](cudaStream_t stream, std::int64_t /*copy*/) {
        launch_read(data.as(), kBytes, sink.as<std::uint32_t>(), static_cast<int>(context.facts.sms), stream);
      },
      out);
}

}  // namespace hindsight::measure

/// Runs a plan on a CUDA device.
#include "hindsight/measure/run.h"

#include <array>
#include <cmath>
#include <memory>

#include "hindsight/measure/bench.h"
#include "measure/cuda/device_bench.h"
#include "measure/cuda/devices.h"
#include "measure/cuda/gemm_bench.h"
#include "measure/cuda/kernel_check.h"

namespace hindsight::measure {
namespace {

constexpr std::int64_t kSessionSeed = 20260131;  // [chosen] any; stored with the session

std::string toolkit_name() {
  return "CUDA " + std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

std::int64_t attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "asking for an attribute of the device");
  return value;
}

std::string uuid_text(const cudaUUID_t& uuid) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

/// What the device and its driver say.
Session describe(int device, const RunOptions& options, Board* board, const std::string& sensor_problem) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "asking for the properties of the device");
  Session session;
  session.command_line = options.command_line;
  session.version = options.version;
  session.commit = options.commit;
  session.host = options.host;
  session.started_at = utc_second();
  session.gpu_name = properties.name;
  session.gpu_uuid = uuid_text(properties.uuid);
  session.compute_capability = 10 * properties.major + properties.minor;
  session.sms = properties.multiProcessorCount;
  session.threads_per_sm = properties.maxThreadsPerMultiProcessor;
  session.blocks_per_sm = properties.maxBlocksPerMultiProcessor;
  session.registers_per_sm = properties.regsPerMultiprocessor;
  session.shared_bytes_per_sm = static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor);
  session.shared_bytes_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  session.l2_bytes = properties.l2CacheSize;
  session.dram_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  session.memory_bus_bits = properties.memoryBusWidth;
  constexpr double kHertzPerKilohertz = 1e3;
  session.boost_hz = kHertzPerKilohertz * static_cast<double>(attribute(cudaDevAttrClockRate, device));
  session.memory_clock_hz = kHertzPerKilohertz * static_cast<double>(attribute(cudaDevAttrMemoryClockRate, device));
  int version = 0;
  check(cudaDriverGetVersion(&version), "asking for the driver's version");
  session.cuda_driver_version = version;
  check(cudaRuntimeGetVersion(&version), "asking for the runtime's version");
  session.cuda_runtime_version = version;
  session.sensor = board == nullptr ? sensor_problem : "nvml";
  if (board != nullptr) {
    session.boost_hz = board->boost_hz().value_or(session.boost_hz);
    session.driver_version = board->driver_version();
    session.power_limit_w = board->power_limit_w().value_or(kUnknown);
    session.default_power_limit_w = board->default_power_limit_w().value_or(kUnknown);
  }
  session.seed = kSessionSeed;
  return session;
}

using DeviceBench = void (*)(const DeviceContext&, Quantities&);

DeviceBench bench_of(DeviceTask task) {
  switch (task) {
    case DeviceTask::latency:
      return measure_latency;
    case DeviceTask::dram_bandwidth:
      return measure_dram_bandwidth;
    case DeviceTask::l2_bandwidth:
      return measure_l2_bandwidth;
    case DeviceTask::on_chip_bandwidth:
      return measure_on_chip_bandwidth;
    case DeviceTask::cuda_core_throughput:
      return measure_cuda_core_throughput;
    case DeviceTask::mma_throughput:
      return measure_mma_throughput;
    case DeviceTask::wgmma_throughput:
      return measure_wgmma_throughput;
    case DeviceTask::launch_overhead:
      return measure_launch_overhead;
    case DeviceTask::idle_power:
      return measure_idle_power;
    case DeviceTask::loaded_power:
      break;
  }
  return measure_loaded_power;
}

/// A row for a GEMM that could not be measured, so that the log says so.
GemmRow failed_row(const Task& task, const std::string& reason) {
  GemmRow row = row_of(task);
  row.status = "failed";
  row.message = reason;
  return row;
}

/// Everything that lives as long as a run.
class Runner final : public Bench {
 public:
  Runner(int device, const RunOptions& options, bool needs_cublaslt) {
    select_device(device, "measure");
    check(cudaFree(nullptr), "creating a context");
    std::array<char, 32> bus_id{};
    check(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), device), "asking for the bus address");
    BoardResult opened = open_nvml_board(bus_id.data());
    board_ = std::move(opened.board);
    stream_ = std::make_unique<Stream>();
    session_ = describe(device, options, board_.get(), opened.problem);
    if (needs_cublaslt) {
      cublaslt_ = std::make_unique<CublasLt>();
      session_.cublaslt_version = cublaslt_->version();
    }
    const SustainedOptions sustained{.settle_s = options.settle_s, .window_s = options.window_s};
    context_ = std::make_unique<DeviceContext>(DeviceContext{session_, board_.get(), *stream_, sustained});
    gemms_ =
        std::make_unique<GemmBench>(static_cast<double>(session_.l2_bytes), static_cast<std::uint64_t>(kSessionSeed),
                                    sustained, cublaslt_.get(), board_.get(), *stream_);
  }
  [[nodiscard]] const Session& session() const override { return session_; }
  [[nodiscard]] const DeviceContext& context() const { return *context_; }
  [[nodiscard]] const CublasLt& cublaslt() const { return *cublaslt_; }

  [[nodiscard]] TaskResults measure(const Task& task) override {
    TaskResults results;
    try {
      if (task.kind == Task::Kind::device) {
        Quantities collected;
        bench_of(task.device)(*context_, collected);
        results.quantities = collected.take();
      } else {
        results.gemms = gemms_->measure(task);
        for (const GemmRow& row : results.gemms) {
          if (row.status == "failed") results.problems.push_back(row.message);
        }
      }
    } catch (const Error& error) {
      cudaGetLastError();
      // A kernel that broke the context ends the run; memory that is too small does not.
      check(cudaDeviceSynchronize(), error.what());
      results.problems.emplace_back(error.what());
      if (task.kind == Task::Kind::gemm) results.gemms = {failed_row(task, error.what())};
    }
    return results;
  }

 private:
  std::unique_ptr<Board> board_;
  std::unique_ptr<Stream> stream_;
  Session session_;
  std::unique_ptr<CublasLt> cublaslt_;
  std::unique_ptr<DeviceContext> context_;
  std::unique_ptr<GemmBench> gemms_;
};

}  // namespace

Availability availability() {
  Availability result{.built_in = true, .toolkit = toolkit_name(), .devices = {}, .uuids = {}, .problem = ""};
  const int count = count_devices(result.problem);
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    const bool known = cudaGetDeviceProperties(&properties, device) == cudaSuccess;
    result.devices.emplace_back(known ? properties.name : "unknown device");  // places are device numbers
    result.uuids.push_back(known ? uuid_text(properties.uuid) : "");
  }
  return result;
}

void require_device(int device) { select_device(device, "measure"); }

RunResult run(const std::vector<Task>& plan, const RunOptions& options, Sink& sink) {
  const OpenBench open = [&](bool needs_cublaslt) {
    return std::make_unique<Runner>(options.device, options, needs_cublaslt);
  };
  return run_on(open, plan, options, sink);
}

KernelCheck check_kernels(int device) {
  const Runner runner(device, RunOptions{}, true);
  return check_kernels(runner.context(), runner.cublaslt());
}

}  // namespace hindsight::measure

/// NVIDIA's management library, opened at run time: machines that build need neither its header nor the library.
#include <dlfcn.h>

#include <array>

#include "hindsight/measure/board.h"

namespace hindsight::measure {
namespace {

// The part of NVML's C interface that is used [spec: nvml].
using Device = void*;
using Status = int;
constexpr Status kSuccess = 0;
constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kTemperatureGpu = 0;
constexpr unsigned kVersionLength = 80;
constexpr double kHertzPerMegahertz = 1e6;
constexpr double kWattsPerMilliwatt = 1e-3;

struct Functions {
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  Status (*driver_version)(char*, unsigned) = nullptr;
  Status (*handle)(const char*, Device*) = nullptr;
  Status (*energy)(Device, unsigned long long*) = nullptr;
  Status (*clock)(Device, int, unsigned*) = nullptr;
  Status (*max_clock)(Device, int, unsigned*) = nullptr;
  Status (*temperature)(Device, int, unsigned*) = nullptr;
  Status (*throttle_reasons)(Device, unsigned long long*) = nullptr;
  Status (*power_limit)(Device, unsigned*) = nullptr;
  Status (*default_power_limit)(Device, unsigned*) = nullptr;
};

template <class Function>
bool load_symbol(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

class NvmlBoard final : public Board {
 public:
  NvmlBoard(void* library, const Functions& functions, Device device)
      : library_(library), nvml_(functions), device_(device) {}
  ~NvmlBoard() override {
    nvml_.shutdown();
    ::dlclose(library_);
  }
  NvmlBoard(const NvmlBoard&) = delete;
  NvmlBoard& operator=(const NvmlBoard&) = delete;

  std::optional<std::uint64_t> energy_mj() override {
    unsigned long long value = 0;
    if (nvml_.energy == nullptr || nvml_.energy(device_, &value) != kSuccess) return std::nullopt;
    return value;
  }
  BoardReading read() override {
    BoardReading reading;
    reading.sm_clock_hz = clock(nvml_.clock, kClockSm);
    reading.memory_clock_hz = clock(nvml_.clock, kClockMemory);
    unsigned celsius = 0;
    if (nvml_.temperature != nullptr && nvml_.temperature(device_, kTemperatureGpu, &celsius) == kSuccess) {
      reading.temperature_c = celsius;
    }
    unsigned long long reasons = 0;
    if (nvml_.throttle_reasons != nullptr && nvml_.throttle_reasons(device_, &reasons) == kSuccess) {
      reading.throttle_reasons = reasons;
    }
    return reading;
  }
  std::optional<double> power_limit_w() override { return limit(nvml_.power_limit); }
  std::optional<double> default_power_limit_w() override { return limit(nvml_.default_power_limit); }
  std::optional<double> boost_hz() override { return clock(nvml_.max_clock, kClockSm); }
  std::string driver_version() override {
    std::array<char, kVersionLength> text{};
    if (nvml_.driver_version == nullptr || nvml_.driver_version(text.data(), kVersionLength) != kSuccess) return "";
    return text.data();
  }

 private:
  std::optional<double> clock(Status (*function)(Device, int, unsigned*), int domain) const {
    unsigned megahertz = 0;
    if (function == nullptr || function(device_, domain, &megahertz) != kSuccess) return std::nullopt;
    return kHertzPerMegahertz * megahertz;
  }
  std::optional<double> limit(Status (*function)(Device, unsigned*)) const {
    unsigned milliwatts = 0;
    if (function == nullptr || function(device_, &milliwatts) != kSuccess) return std::nullopt;
    return kWattsPerMilliwatt * milliwatts;
  }

  void* library_;
  Functions nvml_;
  Device device_;
};

/// Loads what there is; only the functions without which nothing can be read are required.
bool load_functions(void* library, Functions& nvml) {
  load_symbol(library, "nvmlSystemGetDriverVersion", nvml.driver_version);
  load_symbol(library, "nvmlDeviceGetTotalEnergyConsumption", nvml.energy);
  load_symbol(library, "nvmlDeviceGetClockInfo", nvml.clock);
  load_symbol(library, "nvmlDeviceGetMaxClockInfo", nvml.max_clock);
  load_symbol(library, "nvmlDeviceGetTemperature", nvml.temperature);
  if (!load_symbol(library, "nvmlDeviceGetCurrentClocksEventReasons", nvml.throttle_reasons)) {
    load_symbol(library, "nvmlDeviceGetCurrentClocksThrottleReasons",
                nvml.throttle_reasons);  // its name before driver 535
  }
  load_symbol(library, "nvmlDeviceGetEnforcedPowerLimit", nvml.power_limit);
  load_symbol(library, "nvmlDeviceGetPowerManagementDefaultLimit", nvml.default_power_limit);
  return load_symbol(library, "nvmlInit_v2", nvml.init) && load_symbol(library, "nvmlShutdown", nvml.shutdown) &&
         load_symbol(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.handle);
}

}  // namespace

BoardResult open_nvml_board(const std::string& pci_bus_id) {
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {nullptr, "libnvidia-ml.so.1 is not installed"};
  Functions nvml;
  Device device = nullptr;
  std::string problem;
  if (!load_functions(library, nvml)) {
    problem = "libnvidia-ml.so.1 lacks a function that is needed";
  } else if (const Status status = nvml.init(); status != kSuccess) {
    problem = "nvmlInit failed with status " + std::to_string(status);
  } else if (const Status found = nvml.handle(pci_bus_id.c_str(), &device); found != kSuccess) {
    nvml.shutdown();
    problem = "NVML does not know the device " + pci_bus_id + " (status " + std::to_string(found) + ")";
  } else {
    return {std::make_unique<NvmlBoard>(library, nvml, device), ""};
  }
  ::dlclose(library);
  return {nullptr, problem};
}

}  // namespace hindsight::measure

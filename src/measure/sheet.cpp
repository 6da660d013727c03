/// Writes a spec sheet from the measured quantities of one board.
#include "hindsight/measure/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/measure/plan.h"

namespace hindsight::measure {
namespace {

constexpr double kRegistersPerThread = 255;  // [spec: cuda-guide] all compute capabilities since 3.5
constexpr double kTransfersPerClock = 2;     // [spec: cuda-guide] double data rate
/// What a read of all of memory reaches of the bus where the memory clock is not known.
constexpr double kReadEfficiency = 0.92;  // [chosen] H100 0.85 to 0.93, Ada 0.92 to 0.98

std::optional<double> latest(const SessionRecords& records, const std::string& name) {
  std::optional<double> value;
  for (const Quantity& quantity : records.quantities) {
    if (quantity.name == name && std::isfinite(quantity.value)) value = quantity.value;
  }
  return value;
}

double required(const SessionRecords& records, const std::string& name, const std::string& task) {
  if (const auto value = latest(records, name)) return *value;
  throw Error(ErrorKind::usage, fmt::format("the measurements of {} have no {} (a spec sheet needs it). Run `hindsight "
                                            "measure device` again; the task device/{} gives it?",
                                            records.session.gpu_name, name, task));
}

double largest(const SessionRecords& records, const std::string& name) {
  double value = 0;
  for (const Quantity& quantity : records.quantities) {
    if (quantity.name == name && std::isfinite(quantity.value)) value = std::max(value, quantity.value);
  }
  return value;
}

/// The hardware's rate behind a measured one.
double nominal_rate(double measured) {
  const double power_of_two = std::exp2(std::round(std::log2(measured)));
  return std::abs(measured / power_of_two - 1) <= kRateSlack ? power_of_two : measured;
}

/// Multiply-adds per clock and SM of one kernel: as the SM counted them, unless the rate per second contradicts. Before
/// 2026-11-27 one CTA of several on an SM was timed, which the scheduler serves first: up to four times the rate.
std::optional<double> rate_of(const SessionRecords& records, const std::string& kernel) {
  constexpr double kOpsPerFma = 2;
  const auto counted = latest(records, kernel + "_per_clock_per_sm"),
             ops_per_s = latest(records, kernel + "_ops_per_s");
  double clock_hz = 0;
  for (const Quantity& quantity : records.quantities) {
    if (quantity.name == kernel + "_ops_per_s") clock_hz = quantity.board.sm_clock_hz;
  }
  if (!counted || !ops_per_s || !(clock_hz > 0)) return counted;
  const double timed = *ops_per_s / (kOpsPerFma * static_cast<double>(records.session.sms) * clock_hz);
  return *counted > (1 + kRateSlack) * timed ? timed : *counted;
}

/// Best rate of a format, multiply-adds per clock and SM: CUDA cores for fp32, else mma.sync or wgmma.
std::optional<double> best_rate(const SessionRecords& records, gpu::DType dtype) {
  if (dtype == gpu::DType::fp32) return rate_of(records, "fp32_fma");
  std::optional<double> best;
  for (const char* unit : {"mma_", "wgmma_"}) {
    const auto rate = rate_of(records, fmt::format("{}{}", unit, dtype_name(dtype)));
    if (rate && (!best || *rate > *best)) best = rate;
  }
  return best;
}

gpu::Architecture architecture_of(std::int64_t compute_capability) {
  constexpr std::int64_t kTuring = 75, kAmpere = 80, kAda = 89, kHopper = 90, kBlackwell = 100;
  if (compute_capability < kTuring) return gpu::Architecture::volta;
  if (compute_capability < kAmpere) return gpu::Architecture::turing;
  if (compute_capability < kAda) return gpu::Architecture::ampere;
  if (compute_capability < kHopper) return gpu::Architecture::ada;
  // What comes after Blackwell is taken for Blackwell, of the data centre or not by its compute capability.
  return compute_capability < kBlackwell ? gpu::Architecture::hopper : gpu::Architecture::blackwell;
}

double dram_bytes_per_s(const SessionRecords& records) {
  const double read = required(records, "dram_read_bytes_per_s", "dram_bandwidth");
  const Session& session = records.session;
  const double bus =
      kTransfersPerClock * session.memory_clock_hz * static_cast<double>(session.memory_bus_bits) / kBitsPerByte;
  return bus >= read ? bus : read / kReadEfficiency;  // false where the clock is not known (NaN, 0)
}

/// The highest SM clock at which anything ran: throughput kernels read the SM's own counter, the rest asks the board.
double reached_clock_hz(const SessionRecords& records) {
  double highest_hz = 0;
  const auto see = [&](const BoardSummary& board) { highest_hz = std::fmax(highest_hz, board.sm_clock_hz); };  // NaN
  for (const GemmRow& row : records.gemms) see(row.board);
  for (const Quantity& quantity : records.quantities) see(quantity.board);
  const double allowed_hz = records.session.boost_hz;
  if (!(highest_hz > 0)) return allowed_hz;
  return allowed_hz > 0 ? std::min(highest_hz, allowed_hz) : highest_hz;  // timers jitter
}

/// Points of nearly the same clock as one, the mean of both coordinates.
std::vector<gpu::IdlePoint> merged_points(const std::vector<gpu::IdlePoint>& sorted) {
  std::vector<gpu::IdlePoint> points;
  for (std::size_t begin = 0; begin < sorted.size();) {
    gpu::IdlePoint sum{.clock_hz = 0, .power_w = 0};
    std::size_t end = begin;
    for (; end < sorted.size() && sorted[end].clock_hz <= sorted[begin].clock_hz * (1 + kSameClock); ++end) {
      sum.clock_hz += sorted[end].clock_hz;
      sum.power_w += sorted[end].power_w;
    }
    const auto count = static_cast<double>(end - begin);
    points.push_back({.clock_hz = sum.clock_hz / count, .power_w = sum.power_w / count});
    begin = end;
  }
  return points;
}

/// The nearest powers (least squares) that do not fall with the clock: pool adjacent violators.
void make_monotone(std::vector<gpu::IdlePoint>& points) {
  struct Pool {
    double sum_w;
    std::size_t count;
    [[nodiscard]] double mean_w() const { return sum_w / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const gpu::IdlePoint& point : points) {
    pools.push_back({point.power_w, 1});
    while (pools.size() > 1 && pools.back().mean_w() < pools[pools.size() - 2].mean_w()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum_w += last.sum_w;
      pools.back().count += last.count;
    }
  }
  auto point = points.begin();
  for (const Pool& pool : pools) {
    for (std::size_t i = 0; i < pool.count; ++i) (point++)->power_w = pool.mean_w();
  }
}

/// Power without work against the clock, clocks ascending, power not falling.
std::vector<gpu::IdlePoint> idle_points(const SessionRecords& records, double highest_clock_hz) {
  std::vector<gpu::IdlePoint> points;
  std::optional<double> without_clock_w;
  for (const Quantity& row : records.quantities) {
    if ((row.name != "idle_power_w" && row.name != "awake_power_w") || !(row.value > 0)) continue;  // false for NaN
    if (row.board.sm_clock_hz > 0) {
      points.push_back({.clock_hz = row.board.sm_clock_hz, .power_w = row.value});
    } else {
      without_clock_w = std::max(without_clock_w.value_or(0), row.value);
    }
  }
  if (points.empty() && without_clock_w) points.push_back({.clock_hz = highest_clock_hz, .power_w = *without_clock_w});
  if (points.empty()) required(records, "idle_power_w", "idle_power");
  std::sort(points.begin(), points.end(),
            [](const gpu::IdlePoint& a, const gpu::IdlePoint& b) { return a.clock_hz < b.clock_hz; });
  points = merged_points(points);
  make_monotone(points);
  return points;
}

[[noreturn]] void refuse(const Session& session, const std::string& problem) {
  throw Error(ErrorKind::usage, fmt::format("the measurements of {} make no spec sheet: {}. Measure the device again?",
                                            session.gpu_name, problem));
}

}  // namespace

gpu::GpuSpec spec_of(const SessionRecords& records, const std::string& name) {
  const Session& session = records.session;
  gpu::GpuSpec spec;
  spec.name = name;
  spec.title = session.gpu_name;
  spec.architecture = architecture_of(session.compute_capability);
  spec.compute_capability = static_cast<int>(session.compute_capability);
  spec.sms = static_cast<double>(session.sms);
  if (session.sms < 1) refuse(session, fmt::format("{} SMs", session.sms));
  spec.boost_hz = reached_clock_hz(records);
  if (!(spec.boost_hz > 0)) refuse(session, "no SM clock is known");
  for (const gpu::DType dtype : gpu::kAllDTypes) {
    const std::optional<double> measured = best_rate(records, dtype);
    if (!measured) continue;
    const double rate = nominal_rate(*measured);
    spec.math[static_cast<std::size_t>(dtype)] = gpu::MathRate{
        .fma_per_clock_per_sm = rate, .peak_ops_per_s = 2 * rate * spec.sms * spec.boost_hz, .clock_hz = spec.boost_hz};
  }
  if (!spec.has(gpu::DType::fp32)) required(records, "fp32_fma_per_clock_per_sm", "cuda_core_throughput");
  spec.sm = {.threads = static_cast<double>(session.threads_per_sm),
             .blocks = static_cast<double>(session.blocks_per_sm),
             .registers = static_cast<double>(session.registers_per_sm),
             .registers_per_thread = kRegistersPerThread,
             .shared_bytes = static_cast<double>(session.shared_bytes_per_sm),
             .shared_bytes_per_block = static_cast<double>(session.shared_bytes_per_block)};
  spec.l2_bytes = static_cast<double>(session.l2_bytes);
  required(records, "l2_read_bytes_per_s", "l2_bandwidth");
  spec.l2_bytes_per_s = largest(records, "l2_read_bytes_per_s");
  spec.l2_clock_hz = spec.boost_hz;
  spec.dram_bytes = static_cast<double>(session.dram_bytes);
  spec.dram_bytes_per_s = dram_bytes_per_s(records);
  if (!(session.default_power_limit_w > 0)) {
    throw Error(ErrorKind::usage,
                fmt::format("the power limit of {} is not known (sensors: {}). Add tdp_w by hand to a "
                            "copy of the nearest sheet in data/gpus?",
                            session.gpu_name, session.sensor));
  }
  spec.tdp_w = session.default_power_limit_w;
  spec.idle = idle_points(records, spec.boost_hz);
  if (spec.idle.back().power_w >= spec.tdp_w) {
    refuse(session, fmt::format("{} W without work are not below the power limit, {} W",
                                shortest(spec.idle.back().power_w), shortest(spec.tdp_w)));
  }
  return spec;
}

std::string sheet_yaml(const SessionRecords& records, const std::string& name) {
  const Session& session = records.session;
  std::string yaml = gpu::to_yaml(
      spec_of(records, name), std::string(gpu::kMeasuredSource),
      fmt::format("hindsight {} on {}, driver {}, {}; counts and sizes as the driver gives them, the highest "
                  "clock as it was reached",
                  session.version, session.gpu_name, session.driver_version, session.started_at));
  try {
    static_cast<void>(gpu::parse_gpu(yaml, "sheet of " + session.gpu_name));
  } catch (const Error& error) {
    throw Error(ErrorKind::usage,
                fmt::format("the measurements of {} make no spec sheet: {}", session.gpu_name, error.what()));
  }
  return yaml;
}

SessionRecords merged(const std::vector<SessionRecords>& sessions) {
  if (sessions.empty()) {
    throw Error(ErrorKind::usage, "there is no session of measurements. Run `hindsight measure device` first?");
  }
  SessionRecords result;
  result.session = sessions.back().session;
  for (const SessionRecords& records : sessions) {
    if (records.session.gpu_uuid != result.session.gpu_uuid) {
      throw Error(ErrorKind::usage,
                  fmt::format("measurements of two devices, {} ({}) and {} ({}): a sheet is of one. Split the file?",
                              records.session.gpu_name, records.session.gpu_uuid, result.session.gpu_name,
                              result.session.gpu_uuid));
    }
    result.gemms.insert(result.gemms.end(), records.gemms.begin(), records.gemms.end());
    for (const Quantity& quantity : records.quantities) {
      const auto same = [&](const Quantity& other) {
        const bool both_plain = std::isnan(other.argument) && std::isnan(quantity.argument);
        return other.name == quantity.name && (both_plain || other.argument == quantity.argument);
      };
      std::erase_if(result.quantities, same);
      result.quantities.push_back(quantity);
    }
  }
  return result;
}

}  // namespace hindsight::measure

/// Decides which learned correction serves which GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/residual.h"

namespace hindsight::gpu {
namespace {

constexpr const char* kResiduals = "data/gpus/calibration/residual";

bool is_shipped_sheet(const GpuSpec& spec) {
  const std::vector<std::string> names = gpu_names();
  return std::find(names.begin(), names.end(), spec.name) != names.end() &&
         sheet_hash(load_gpu(spec.name)) == sheet_hash(spec);
}

/// Whether two sheets are of the same chip: what a kernel sees apart from memory, of which an H200 has more L2 as well.
bool as_learned_on(const GpuSpec& one, const GpuSpec& other) {
  for (const DType dtype : kAllDTypes) {
    if (one.has(dtype) != other.has(dtype)) return false;
    if (one.has(dtype) && one.rate(dtype).fma_per_clock_per_sm != other.rate(dtype).fma_per_clock_per_sm) return false;
  }
  return one.architecture == other.architecture && one.compute_capability == other.compute_capability &&
         one.sms == other.sms && one.boost_hz == other.boost_hz;
}

/// A file that was read before and has not changed is not read again.
std::shared_ptr<const Residual> cached_residual(const std::filesystem::path& file) {
  struct Entry {
    std::filesystem::file_time_type written;
    std::uintmax_t bytes = 0;
    std::shared_ptr<const Residual> residual;
  };
  static std::mutex mutex;
  static std::map<std::filesystem::path, Entry> known;
  const std::scoped_lock lock(mutex);
  Entry& entry = known[file];
  const auto written = std::filesystem::last_write_time(file);
  const std::uintmax_t bytes = std::filesystem::file_size(file);
  if (!entry.residual || entry.written != written || entry.bytes != bytes) {
    entry = {.written = written, .bytes = bytes, .residual = read_residual(file)};
  }
  return entry.residual;
}

/// Whether a file is named after `gpu`: l4, l4-fp32, not l40s.
bool is_named_after(std::string_view name, std::string_view gpu) {
  if (!name.starts_with(gpu)) return false;
  return name.size() == gpu.size() || std::isalnum(static_cast<unsigned char>(name[gpu.size()])) == 0;
}

}  // namespace

std::string residual_problem(const Residual& residual, const GpuSpec& spec, const Calibration& calibration) {
  if (residual.dtype_class != calibration.dtype_class) {
    return fmt::format("it is of class {}", to_string(residual.dtype_class));
  }
  if (residual.architecture != spec.architecture) {
    return fmt::format("it learned {} on {}, {} is {}", to_string(residual.architecture), residual.gpu, spec.name,
                       to_string(spec.architecture));
  }
  if (calibration.gpu != residual.gpu) {
    return fmt::format("it learned on top of constants of {}, these are of {}", residual.gpu, calibration.gpu);
  }
  if (residual.sheet != sheet_hash(spec)) {
    if (!is_shipped_sheet(spec)) {
      return fmt::format("the sheet of {} differs from that of {} it learned on (an edited sheet or clock)", spec.name,
                         residual.gpu);
    }
    const std::vector<std::string> names = gpu_names();
    const bool known = std::find(names.begin(), names.end(), residual.gpu) != names.end();
    if (!known || sheet_hash(load_gpu(residual.gpu)) != residual.sheet ||
        !as_learned_on(load_gpu(residual.gpu), spec)) {
      return fmt::format("{} is another chip than {}, on which it learned", spec.name, residual.gpu);
    }
  }
  if (residual.sms != spec.sms) {
    return fmt::format("it counts waves on {} SMs, {} has {}", shortest(residual.sms), spec.name, shortest(spec.sms));
  }
  // A sibling's energy per operation is scaled by one, so that the constants are the very same.
  const bool same = constants_hash(calibration.constants) == residual.constants;
  return same ? "" : fmt::format("it learned on top of other constants of {}", residual.gpu);
}

Calibration with_residual(Calibration calibration, const GpuSpec& spec) {
  calibration.residual = nullptr;
  calibration.residual_off = "none was learned on this chip in this class of formats";
  for (const std::string& name : list_data_files(kResiduals)) {
    if (!is_named_after(name, calibration.gpu)) continue;  // the GPU it learned on
    auto residual = cached_residual(find_data_file(name, kResiduals, "residual"));
    const std::string problem = residual_problem(*residual, spec, calibration);
    const bool nearest = residual->gpu == calibration.gpu && residual->dtype_class == calibration.dtype_class;
    if (!problem.empty()) {
      if (nearest) calibration.residual_off = problem;
      continue;
    }
    calibration.residual = std::move(residual);
    calibration.residual_off.clear();
    break;
  }
  return calibration;
}

Calibration with_residual(Calibration calibration, const GpuSpec& spec, const std::filesystem::path& file) {
  auto residual = cached_residual(file);
  if (const std::string problem = residual_problem(*residual, spec, calibration); !problem.empty()) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: the residual does not serve {}: {}. Leave it out, or train one with 'hindsight "
                            "calibrate --residual'",
                            printable(file.string(), 400), spec.name, problem));
  }
  calibration.residual = std::move(residual);
  calibration.residual_off.clear();
  return calibration;
}

}  // namespace hindsight::gpu

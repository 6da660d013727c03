/// Looks up spec sheets, and what follows from them.
#include "hindsight/gpu/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/ascii.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::gpu {
namespace {

/// Two entries of a list of GPUs, of which `first` comes first, whose sheets have the same name.
[[noreturn]] void refuse_same_name(const std::string& first, const std::string& second, const std::string& gpu) {
  if (lower_case(first) == lower_case(second)) {
    throw Error(ErrorKind::usage, fmt::format("GPU '{}' is named twice. Name it once", printable(second)));
  }
  throw Error(ErrorKind::usage,
              fmt::format("the sheets of '{}' and '{}' both have the name {} (results go by it). Change `name:` in the "
                          "file of yours",
                          printable(first, 130), printable(second, 130), printable(gpu)));
}

}  // namespace

const MathRate& GpuSpec::rate(DType dtype) const {
  const std::optional<MathRate>& entry = math[static_cast<std::size_t>(dtype)];
  if (entry) return *entry;
  throw Error(ErrorKind::usage, lacks_text(dtype));
}

std::string GpuSpec::lacks_text(DType dtype) const {
  std::vector<std::string> names;
  for (const DType candidate : kAllDTypes) {
    if (has(candidate)) names.emplace_back(to_string(candidate));
  }
  return fmt::format("{} has no {} arithmetic. It has: {}.", name, to_string(dtype), join(names, ", "));
}

double GpuSpec::ops_per_s(DType dtype, double clock_hz) const {
  return kOpsPerMac * rate(dtype).fma_per_clock_per_sm * sms * clock_hz;
}

double GpuSpec::idle_w(double clock_hz) const {
  HINDSIGHT_EXPECT(!idle.empty());
  const auto above = std::find_if(idle.begin(), idle.end(), [&](const IdlePoint& p) { return p.clock_hz > clock_hz; });
  if (above == idle.begin()) return idle.front().power_w;
  if (above == idle.end()) return idle.back().power_w;
  const IdlePoint& low = *(above - 1);
  const double share = (clock_hz - low.clock_hz) / (above->clock_hz - low.clock_hz);
  return low.power_w + share * (above->power_w - low.power_w);
}

GpuSpec without_lock(GpuSpec spec) {
  spec.boost_hz = spec.own_boost_hz();
  spec.unlocked_hz = 0;
  return spec;
}

Architecture kernel_architecture(const GpuSpec& spec) {
  constexpr int kGa100 = 80, kGb20x = 120;  // [spec: cuda-guide] compute capabilities, times ten
  const bool like_ada = (spec.architecture == Architecture::ampere && spec.compute_capability > kGa100) ||
                        (spec.architecture == Architecture::blackwell && spec.compute_capability >= kGb20x);
  return like_ada ? Architecture::ada : spec.architecture;
}

bool has_kernel_model(const GpuSpec& spec) { return spec.architecture != Architecture::cdna3; }

void require_kernel_model(const GpuSpec& spec, std::string_view what) {
  if (has_kernel_model(spec)) return;
  throw Error(ErrorKind::usage, fmt::format("{}: {} has a roofline estimate and no kernel model, {}", spec.name,
                                            to_string(spec.architecture), what));
}

namespace {

bool nearly_equal(double a, double b) { return std::abs(a - b) <= kSameBoard * std::max(a, b); }

}  // namespace

bool same_chip(const GpuSpec& one, const GpuSpec& other) {
  for (const DType dtype : kAllDTypes) {
    if (!one.has(dtype) || !other.has(dtype)) continue;
    if (!nearly_equal(one.rate(dtype).fma_per_clock_per_sm, other.rate(dtype).fma_per_clock_per_sm)) return false;
  }
  return one.compute_capability == other.compute_capability && one.sms == other.sms &&
         nearly_equal(one.own_boost_hz(), other.own_boost_hz()) && nearly_equal(one.l2_bytes, other.l2_bytes) &&
         nearly_equal(one.dram_bytes_per_s, other.dram_bytes_per_s);
}

bool same_board(const GpuSpec& one, const GpuSpec& other) {
  return same_chip(one, other) && nearly_equal(one.tdp_w, other.tdp_w) && nearly_equal(one.boost_hz, other.boost_hz);
}

std::vector<std::string> gpu_names() { return list_data_files("data/gpus"); }

std::string known_gpus() { return fmt::format("Known: {}, or a YAML file", join(gpu_names(), ",")); }

bool means_all_gpus(std::string_view list) { return lower_case(list) == "all"; }

std::vector<GpuSpec> load_gpus(const std::string& list) {
  const std::vector<std::string> names = means_all_gpus(list) ? gpu_names() : split(list, ',');
  std::vector<GpuSpec> gpus;
  for (const std::string& name : names) {
    if (name.empty()) {
      throw Error(ErrorKind::usage, fmt::format("list of GPUs '{}': an empty name. Is there a comma too many? {}",
                                                printable(list), known_gpus()));
    }
    if (means_all_gpus(name)) {
      throw Error(ErrorKind::usage, fmt::format("list of GPUs '{}': 'all' stands alone. Leave the others out, or 'all'",
                                                printable(list)));
    }
    GpuSpec gpu = load_gpu(name);
    for (std::size_t i = 0; i < gpus.size(); ++i) {  // by the order of `names`
      if (gpus[i].name == gpu.name) refuse_same_name(names[i], name, gpu.name);
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

}  // namespace hindsight::gpu

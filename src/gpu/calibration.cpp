/// Reads and writes fitted constants as YAML, and borrows those of the nearest GPU where there are none.
#include "hindsight/gpu/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "hindsight/core/config.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/gpu/residual.h"

namespace hindsight::gpu {
namespace {

constexpr const char* kGemmCalibrations = "data/gpus/calibration/gemm";

Constants read_constants(const ConfigNode& node, DTypeClass dtype_class) {
  std::vector<std::string> keys;
  for (const ConstantField& field : kConstantFields) {
    if (field.written_for(dtype_class)) keys.emplace_back(field.key);
  }
  node.require_only_keys(keys);
  Constants constants;
  for (const ConstantField& field : kConstantFields) {
    if (!field.written_for(dtype_class) || (field.of_no_fit() && !node.has(field.key))) continue;
    constants.*field.member = node.at(field.key).as_double({.low = field.low, .high = field.high});
  }
  return constants;
}

std::vector<const ConstantField*> read_held(const ConfigNode& root) {
  std::vector<const ConstantField*> held;
  if (!root.has("held")) return held;
  for (const ConfigNode& key : root.at("held").items()) {
    try {
      held.push_back(&constant_field(key.as_string()));
    } catch (const Error& error) {
      key.fail(error.what());
    }
    if (held.back()->of_no_fit()) {
      key.fail(fmt::format("'{}' is never fitted, so never held. Leave it away?", held.back()->key));
    }
  }
  return held;
}

/// Peak rates of both GPUs in the first format that both have (fp32 as a rule); in SM clocks where they share none.
std::pair<double, double> comparable_rates(const GpuSpec& one, const GpuSpec& other) {
  for (const DType dtype : kAllDTypes) {
    if (!one.has(dtype) || !other.has(dtype)) continue;
    return {one.ops_per_s(dtype, one.own_boost_hz()), other.ops_per_s(dtype, other.own_boost_hz())};
  }
  return {one.sms * one.own_boost_hz(), other.sms * other.own_boost_hz()};
}

/// How far a calibrated GPU is from the one that needs constants; smaller is nearer.
double distance(const GpuSpec& from, const GpuSpec& to) {
  constexpr double kGeneration = 100.0;  // [chosen] above any ratio of peak rates
  const double generations =
      std::abs(static_cast<double>(kernel_architecture(from)) - static_cast<double>(kernel_architecture(to)));
  const auto [from_rate, to_rate] = comparable_rates(from, to);
  return kGeneration * generations + std::abs(std::log(from_rate / to_rate));
}

std::string held_text(const Calibration& calibration) {
  if (calibration.held.empty()) return {};
  std::vector<std::string> keys;
  for (const ConstantField* field : calibration.held) keys.emplace_back(field->key);
  return fmt::format("held: [{}]\n", fmt::join(keys, ", "));
}

void add_power(Calibration& calibration, const GpuSpec& spec) {
  const PowerCalibration power = load_power_calibration(spec, calibration.dtype_class);
  calibration.power = power.constants;
  calibration.unwritten = power.unwritten;
  calibration.power_range = power.range;
}

/// What turns a roofline into an estimate.
Calibration roofline_calibration(const GpuSpec& spec, DTypeClass dtype_class) {
  constexpr double kLaunchS = 5e-6;         // [chosen] an empty kernel in a HIP graph; Hopper takes 2.5
  constexpr double kDramEfficiency = 0.81;  // [data: gpu-benches] an MI210: 1.30 to 1.36 of 1.64 TB/s
  constexpr double kCacheEfficiency = 0.7;  // [chosen] as the L2 of an L40S
  Calibration calibration;
  calibration.gpu = spec.name;
  calibration.dtype_class = dtype_class;
  calibration.constants.launch_cycles = kLaunchS * spec.boost_hz;
  calibration.constants.dram_efficiency = kDramEfficiency;
  calibration.constants.l2_efficiency = kCacheEfficiency;
  calibration.constants.op_j = default_power_constants(spec, dtype_class).op_j;
  calibration.source = CalibrationSource::roofline;
  calibration.residual_off = "a roofline estimate";
  add_power(calibration, spec);
  return calibration;
}

constexpr EnumNames<CalibrationSource, 3> kSources{{{CalibrationSource::own, "own"},
                                                    {CalibrationSource::transfer, "transfer"},
                                                    {CalibrationSource::roofline, "roofline"}}};

}  // namespace

std::string_view to_string(CalibrationSource source) { return name_in(kSources, source); }

const ConstantField& constant_field(std::string_view key) {
  std::vector<std::string> keys;
  for (const ConstantField& field : kConstantFields) {
    if (key == field.key) return field;
    keys.emplace_back(field.key);
  }
  throw Error(ErrorKind::usage,
              fmt::format("'{}' is no constant of the model.{}", printable(key), did_you_mean(key, keys)));
}

namespace {

/// Constants of power have files of nearly the same keys, and another place.
void require_not_of_power(const ConfigNode& root) {
  const std::optional<ConfigNode> constants = root.find("constants");
  if (!constants || !constants->is_map() || !constants->has("active_w")) return;
  constants->fail(
      "these are constants of power, not of runtimes. Put the file into data/gpus/calibration/power of the folder that "
      "HINDSIGHT_DATA_DIR names, and name it nowhere");
}

}  // namespace

Calibration read_calibration(const std::filesystem::path& file) {
  const ConfigNode root = ConfigNode::load(file);
  require_not_of_power(root);
  root.require_only_keys({"gpu", "dtype_class", "data", "split", "rows", "date", "command", "note", "fitted",
                          "held_out", "held", "range", "constants"});
  const ConfigNode error = root.at("held_out");
  error.require_only_keys({"mape_frac", "median_frac"});
  Calibration calibration;
  calibration.gpu = root.at("gpu").as_string();
  calibration.dtype_class = read_dtype_class(root.at("dtype_class"));
  calibration.constants = read_constants(root.at("constants"), calibration.dtype_class);
  calibration.source = CalibrationSource::own;
  calibration.data = root.at("data").as_string();
  calibration.row_count = static_cast<std::size_t>(root.at("rows").as_int(1));
  calibration.held_out_mape_frac = error.at("mape_frac").as_double(kNonNegative);
  calibration.held_out_median_frac = error.at("median_frac").as_double(kNonNegative);
  calibration.held = read_held(root);
  if (root.has("note")) calibration.note = root.at("note").as_string();
  if (root.has("date")) static_cast<void>(root.at("date").as_day());  // of the fit: for a reader
  calibration.range = read_range(root.at("range"));
  return calibration;
}

Constants transferred(const Constants& constants, DTypeClass dtype_class, const GpuSpec& source,
                      const GpuSpec& target) {
  Constants other = constants;
  const Constants usual = start_constants(target, dtype_class);
  if (dtype_class == DTypeClass::cuda_core) other.settle_s = usual.settle_s;
  other.op_j *= default_power_constants(target, dtype_class).op_j / default_power_constants(source, dtype_class).op_j;
  return other;
}

Calibration transferred(const Calibration& calibration, const GpuSpec& source, const GpuSpec& target,
                        Residuals residuals) {
  Calibration other = calibration;
  other.source = CalibrationSource::transfer;
  other.constants = transferred(calibration.constants, calibration.dtype_class, source, target);
  const Constants usual = start_constants(target, calibration.dtype_class);
  for (const ConstantField* field : calibration.held) other.constants.*field->member = usual.*field->member;
  other.held.clear();
  other.note.clear();
  add_power(other, target);
  return residuals == Residuals::shipped ? with_residual(std::move(other), target) : other;
}

namespace {

/// Those of one class: given, fitted or transferred.
Calibration load_of_class(const GpuSpec& spec, DType dtype, std::span<const Calibration> given, Residuals residuals) {
  const auto corrected = [&](Calibration calibration) {
    return residuals == Residuals::shipped ? with_residual(std::move(calibration), spec) : calibration;
  };
  for (const Calibration& one : given) {
    if (one.gpu != spec.name || one.dtype_class != dtype_class(dtype)) {
      continue;
    }
    Calibration calibration = one;
    require_kernel_model(spec, "which has no constants. Leave its calibration out");
    add_power(calibration, spec);
    return corrected(std::move(calibration));
  }
  if (!has_kernel_model(spec)) return roofline_calibration(spec, dtype_class(dtype));
  std::optional<Calibration> nearest;
  std::optional<GpuSpec> nearest_spec;
  for (const std::string& name : list_data_files(kGemmCalibrations)) {
    const std::filesystem::path file = find_data_file(name, kGemmCalibrations, "calibration");
    Calibration calibration = read_calibration(file);
    if (calibration.dtype_class != dtype_class(dtype)) {
      continue;
    }
    std::optional<GpuSpec> source = fitted_gpu(file, calibration.gpu);
    if (calibration.gpu == spec.name && (!source || same_chip(*source, spec))) {
      // The chip's constants serve any power limit and locked clock; what was measured says nothing of the board's.
      if (source && !same_board(*source, spec)) calibration.source = CalibrationSource::transfer;
      add_power(calibration, spec);
      return corrected(std::move(calibration));
    }
    if (source && (!nearest || distance(*source, spec) < distance(*nearest_spec, spec))) {
      nearest = std::move(calibration);
      nearest_spec = std::move(source);
    }
  }
  if (!nearest) {
    throw Error(ErrorKind::failure,
                fmt::format("no calibration of class {} under {} (the model needs constants). Is the installation "
                            "complete?",
                            to_string(dtype_class(dtype)), kGemmCalibrations));
  }
  return transferred(*nearest, *nearest_spec, spec, residuals);
}

}  // namespace

Calibration load_calibration(const GpuSpec& spec, DType dtype, std::span<const Calibration> given,
                             Residuals residuals) {
  Calibration calibration = load_of_class(spec, dtype, given, residuals);
  const bool products_alone = calibration.range.quantisations[static_cast<std::size_t>(Quantisation::none)];
  if (dtype != DType::fp8 || spec.architecture != Architecture::hopper || products_alone) return calibration;
  Calibration library = load_of_class(spec, DType::bf16, given, residuals);
  library.constants.op_j = calibration.constants.op_j;
  library.power = calibration.power;
  library.range = {};
  library.power_range.reset();
  library.unwritten = {};
  calibration.library = std::make_shared<const Calibration>(std::move(library));
  return calibration;
}

const Calibration& serving(const Calibration& calibration, const Gemm& gemm) {
  return calibration.library && gemm.quantisation == Quantisation::none ? *calibration.library : calibration;
}

bool launched_by_framework(const Calibration& calibration) {
  constexpr double kLeastOfHost = 10e-6;  // [chosen] frameworks take 23 us and more, a stream of kernels 2 to 5
  return calibration.constants.launch_floor_s >= kLeastOfHost;
}

Calibration with_kernel_launch(const Calibration& calibration, const GpuSpec& spec,
                               std::span<const Calibration> given) {
  if (!launched_by_framework(calibration)) {
    Calibration same = calibration;
    same.host_launched_blocks = false;
    return same;
  }
  const Constants kernels = load_calibration(spec, DType::bf16, given, Residuals::none).constants;  // any format
  Calibration other = calibration;
  if (kernels.launch_cycles < other.constants.launch_cycles) {
    other.constants.launch_cycles = kernels.launch_cycles;
    other.constants.burst_start_s = kernels.burst_start_s;
  }
  other.constants.reduction_cycles = std::min(other.constants.reduction_cycles, kernels.reduction_cycles);
  other.constants.launch_floor_s = 0;
  other.range = {};
  other.residual = nullptr;
  other.residual_off = "it learned on top of the launches that were recorded";
  return other;
}

Calibration with_stream_launch(const Calibration& calibration, const GpuSpec& spec,
                               std::span<const Calibration> given) {
  // Empty kernels back to back in a stream, start to start: 4.2 us beside an H100, 3.7 us beside an H200; in a graph
  // 0.8 and 0.5 us [measured: data/measurements, 2026-11-27, docs/gpu.md].
  constexpr double kStreamLaunchSeconds = 4e-6;
  const auto from_stream = [&](Calibration other) {
    other.constants.launch_floor_s = kStreamLaunchSeconds;
    other.range = {};
    other.residual = nullptr;
    other.residual_off = "it learned on launches inside CUDA graphs";
    return other;
  };
  Calibration other = from_stream(with_kernel_launch(calibration, spec, given));
  if (other.library) other.library = std::make_shared<const Calibration>(from_stream(*other.library));
  return other;
}

std::string to_yaml(const CalibrationReport& report, const std::string& command, const std::string& date) {
  const Calibration& c = report.calibration;
  std::string text = fmt::format(
      "# Constants of the GEMM model, fitted by `hindsight calibrate`; docs/gpu.md says what they mean.\n"
      "gpu: {}\ndtype_class: {}\ndata: {}\nsplit: five folds, grouped by (n, k)\nrows: {}\ndate: {}\ncommand: {}\n"
      "{}fitted: {{mape_frac: {:.4f}, median_frac: {:.4f}}}\nheld_out: {{mape_frac: {:.4f}, median_frac: {:.4f}}}\n"
      "{}range: {}\nconstants:\n",
      yaml_quoted(c.gpu), to_string(c.dtype_class), yaml_quoted(c.data), c.row_count, date, yaml_quoted(command),
      c.note.empty() ? "" : fmt::format("note: {}\n", yaml_quoted(c.note)), report.fitted.mape_frac,
      report.fitted.median_frac, c.held_out_mape_frac, c.held_out_median_frac, held_text(c), to_yaml(c.range));
  for (const ConstantField& field : kConstantFields) {
    if (!field.written_for(c.dtype_class) || (field.of_no_fit() && c.constants.*field.member == 0)) continue;
    text += fmt::format("  {}: {:.5g}\n", field.key, c.constants.*field.member);
  }
  return text;
}

}  // namespace hindsight::gpu

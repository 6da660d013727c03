/// Reads and writes fitted power constants as YAML.
#include "hindsight/gpu/power_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hindsight/core/config.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/units.h"

namespace hindsight::gpu {
namespace {

constexpr const char* kPowerCalibrations = "data/gpus/calibration/power";

/// Wide enough for any process node; refuses a wrong unit.
constexpr Bounds kBytePj{.low = 0, .high = 1e4};
constexpr Bounds kActiveW{.low = 0, .high = 1e4};
constexpr Bounds kShare{.low = 0, .high = 1};
constexpr Bounds kLeadSeconds{.low = 0, .high = 10};
constexpr Bounds kLeadLaunches{.low = 0, .high = 1e6};

/// A file together with what decides whom it serves.
struct PowerFile {
  PowerCalibration calibration;
  DTypeClass dtype_class = DTypeClass::tensor_core;
};

UnwrittenWeights read_unwritten(const ConfigNode& root) {
  UnwrittenWeights unwritten;
  if (const auto node = root.find("unwritten_weights")) {
    node->require_only_keys({"k_at_least", "weight_gb_at_least"});
    unwritten.k_at_least = node->get_double("k_at_least", 0, kNonNegative);
    unwritten.weight_bytes_at_least = units::kGiga * node->get_double("weight_gb_at_least", 0, kNonNegative);
  }
  if (const auto node = root.find("long_vectors")) {
    node->require_only_keys({"k_at_least"});
    unwritten.long_vector_k_at_least = node->at("k_at_least").as_double(kPositive);
  }
  return unwritten;
}

PowerFile read_power_file(const std::filesystem::path& path) {
  const ConfigNode root = ConfigNode::load(path);
  root.require_only_keys({"gpu", "dtype_class", "data", "split", "rows", "range", "held_out", "date", "command",
                          "constants", "unwritten_weights", "long_vectors"});
  const ConfigNode constants = root.at("constants");
  constants.require_only_keys({"active_w", "l2_pj_per_byte", "dram_pj_per_byte", "zero_weight_share",
                               "zero_weight_byte_share", "partly_zero_share", "lead_s", "lead_launches"});
  const ConfigNode error = root.at("held_out");
  error.require_only_keys({"mape_frac", "median_frac", "r2"});
  if (root.has("date")) static_cast<void>(root.at("date").as_day());  // of the fit: for a reader
  const double zero_weight_share = constants.at("zero_weight_share").as_double(kShare);
  PowerFile file;
  file.dtype_class = read_dtype_class(root.at("dtype_class"));
  file.calibration = {
      .gpu = root.at("gpu").as_string(),
      .source = PowerSource::own,
      .constants = {.active_w = constants.at("active_w").as_double(kActiveW),
                    .l2_byte_j = units::kPico * constants.at("l2_pj_per_byte").as_double(kBytePj),
                    .dram_byte_j = units::kPico * constants.at("dram_pj_per_byte").as_double(kBytePj),
                    .zero_weight_share = zero_weight_share,
                    // A file of before 2026-11-26 has one share for both.
                    .zero_weight_byte_share = constants.get_double("zero_weight_byte_share", zero_weight_share, kShare),
                    // One of before 2026-11-28 takes all such weights as zero and all readings as settled.
                    .partly_zero_share = constants.get_double("partly_zero_share", 1, kShare),
                    .lead_s = constants.get_double("lead_s", 1, kLeadSeconds),
                    .lead_launches = constants.get_double("lead_launches", 0, kLeadLaunches)},
      .range = read_range(root.at("range")),
      .unwritten = read_unwritten(root),
      .data = root.at("data").as_string(),
      .row_count = root.at("rows").as_double(kNonNegative),
      .held_out_mape_frac = error.at("mape_frac").as_double(kNonNegative),
      .held_out_median_frac = error.at("median_frac").as_double(kNonNegative),
      .held_out_r2 = error.at("r2").as_double({.high = 1}),
  };
  return file;
}

/// The nearest file of one class; defaults where there is none.
PowerCalibration files_of_class(const GpuSpec& spec, DTypeClass dtype_class) {
  PowerCalibration found;
  found.constants = default_power_constants(spec, dtype_class);
  for (const std::string& name : list_data_files(kPowerCalibrations)) {
    const std::filesystem::path path = find_data_file(name, kPowerCalibrations, "power calibration");
    PowerFile file = read_power_file(path);
    if (file.dtype_class != dtype_class) continue;
    file.calibration.constants.op_j = found.constants.op_j;
    const std::optional<GpuSpec> measured = fitted_gpu(path, file.calibration.gpu);
    if (file.calibration.gpu == spec.name && (!measured || same_board(*measured, spec))) return file.calibration;
    if (found.source == PowerSource::transfer || !measured || measured->architecture != spec.architecture) continue;
    found = std::move(file.calibration);
    found.range.reset();
    found.source = PowerSource::transfer;
    found.unwritten = {};
    // Busy SMs draw in proportion to their number and the clock.
    found.constants.active_w *= spec.sms * spec.own_boost_hz() / (measured->sms * measured->own_boost_hz());
  }
  return found;
}

constexpr EnumNames<PowerSource, 3> kPowerSources{
    {{PowerSource::own, "own"}, {PowerSource::transfer, "transfer"}, {PowerSource::defaults, "defaults"}}};

}  // namespace

std::string_view to_string(PowerSource source) { return name_in(kPowerSources, source); }

PowerCalibration load_power_calibration(const GpuSpec& spec, DTypeClass dtype_class) {
  PowerCalibration found = files_of_class(spec, dtype_class);
  if (dtype_class != DTypeClass::tensor_core_8bit || found.source != PowerSource::defaults) return found;
  // The board draws alike around 8 bits and 16: all but the energy of an operation.
  PowerCalibration wider = files_of_class(spec, DTypeClass::tensor_core);
  wider.constants.op_j = found.constants.op_j;
  return wider;
}

std::string to_yaml(const PowerCalibration& calibration, DTypeClass dtype_class, const std::string& command,
                    const std::string& date) {
  HINDSIGHT_EXPECT(calibration.range.has_value());
  const PowerConstants& c = calibration.constants;
  std::string text = fmt::format(
      "# Power constants, fitted on measured power; docs/gpu-power.md says what the fields mean.\n"
      "gpu: {}\ndtype_class: {}\ndata: {}\nsplit: five folds, grouped by (n, k)\nrows: {}\nrange: {}\n"
      "date: {}\ncommand: {}\nheld_out: {{mape_frac: {:.4f}, median_frac: {:.4f}, r2: {:.3f}}}\n",
      yaml_quoted(calibration.gpu), to_string(dtype_class), yaml_quoted(calibration.data), calibration.row_count,
      to_yaml(*calibration.range), date, yaml_quoted(command), calibration.held_out_mape_frac,
      calibration.held_out_median_frac, calibration.held_out_r2);
  text += fmt::format(
      "constants:\n  active_w: {:.4g}\n  l2_pj_per_byte: {:.4g}\n  dram_pj_per_byte: {:.4g}\n"
      "  zero_weight_share: {:.4g}\n  zero_weight_byte_share: {:.4g}\n  partly_zero_share: {:.4g}\n"
      "  lead_s: {:.4g}\n  lead_launches: {:.4g}\n",
      c.active_w, c.l2_byte_j / units::kPico, c.dram_byte_j / units::kPico, c.zero_weight_share,
      c.zero_weight_byte_share, c.partly_zero_share, c.lead_s, c.lead_launches);
  const UnwrittenWeights& unwritten = calibration.unwritten;
  if (unwritten.k_at_least > 0 || unwritten.weight_bytes_at_least > 0) {
    text += fmt::format(
        "# Weights of these shapes were never written by the collector: zero, those of a long k partly.\n"
        "unwritten_weights: {{k_at_least: {}, weight_gb_at_least: {}}}\n",
        unwritten.k_at_least, unwritten.weight_bytes_at_least / units::kGiga);
  }
  if (unwritten.long_vector_k_at_least > 0) {
    text += fmt::format(
        "# Products of one row with such a k read less than those of two rows.\nlong_vectors: {{k_at_least: {}}}\n",
        unwritten.long_vector_k_at_least);
  }
  return text;
}

Operands recorded_operands(const UnwrittenWeights& unwritten, const Gemm& gemm) {
  const bool vector = std::min(gemm.m, gemm.n) == 1 && gemm.batch == 1 && unwritten.long_vector_k_at_least > 0;
  if (vector && static_cast<double>(gemm.k) >= unwritten.long_vector_k_at_least) return Operands::long_vector;
  const double weight_bytes =
      static_cast<double>(std::max(gemm.m, gemm.n)) * static_cast<double>(gemm.k) * input_bytes(gemm.dtype);
  const bool long_rows = unwritten.k_at_least > 0 && static_cast<double>(gemm.k) >= unwritten.k_at_least;
  const bool large = unwritten.weight_bytes_at_least > 0 && weight_bytes >= unwritten.weight_bytes_at_least;
  return large ? Operands::zero_weights : long_rows ? Operands::partly_zero_weights : Operands::random;
}

}  // namespace hindsight::gpu

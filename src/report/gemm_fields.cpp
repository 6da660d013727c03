/// Shapes, tiles, rates and notes as the GEMM reports show them.
#include "report/gemm_fields.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <utility>

#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/gpu/residual.h"
#include "report/fields.h"

namespace hindsight::report {
namespace {

/// Groups of as many rows, one behind the other.
struct RowCount {
  std::size_t groups = 0;
  std::int64_t rows = 0;
};
std::vector<RowCount> row_counts(const gpu::GroupedGemm& grouped) {
  std::vector<RowCount> counts;
  for (const std::int64_t rows : grouped.rows) {
    if (counts.empty() || counts.back().rows != rows) counts.push_back({.groups = 0, .rows = rows});
    ++counts.back().groups;
  }
  return counts;
}

}  // namespace

GemmOnGpu predict_on(const CalibratedGpu& gpu, const gpu::Gemm& gemm, gpu::RunMode mode) {
  return {.gpu = {gpu.spec, gpu::serving(gpu.calibration, gemm)},
          .prediction = gpu::predict(gpu.spec, gpu.calibration, gemm, mode),
          .roofline_s = gpu::roofline_s(gpu.spec, gemm),
          .without_lock_s = gpu.spec.unlocked_hz > 0
                                ? gpu::predict(gpu::without_lock(gpu.spec), gpu.calibration, gemm, mode).latency_s
                                : 0,
          .fits_memory = gpu::compulsory_bytes(gemm) <= gpu.spec.dram_bytes};
}

std::string shape_text(const gpu::Gemm& gemm) {
  const std::string shape = fmt::format("{} x {} x {}", gemm.m, gemm.n, gemm.k);
  return gemm.batch == 1 ? shape : fmt::format("{} * {}", gemm.batch, shape);
}

std::string shape_text(const gpu::GroupedGemm& grouped) {
  std::vector<std::string> parts;
  for (const RowCount& one : row_counts(grouped)) parts.push_back(fmt::format("{} * {}", one.groups, one.rows));
  return fmt::format("{} rows x {} x {}", join(parts, ", "), grouped.n, grouped.k);
}

std::string format_text(gpu::DType dtype, gpu::Quantisation quantisation) {
  const std::string name(gpu::to_string(dtype));
  return quantisation == gpu::Quantisation::none ? name : fmt::format("{} ({})", name, gpu::to_string(quantisation));
}

std::string tile_text(const gpu::Tile& tile) {
  if (tile.m == 0) return "none";
  if (tile.m == 1 && tile.n == 1) return "matrix times vector";
  const std::string text = fmt::format("{} x {} x {}", tile.m, tile.n, tile.k);
  return tile.split_k == 1 ? text : fmt::format("{}, split {}", text, tile.split_k);
}

std::string tflops_text(double ops_per_s) {
  const double tflops = ops_per_s / units::kTera;
  constexpr double kThreeDigits = 100;
  return tflops < kThreeDigits ? fmt::format("{:.3g}", tflops) : fmt::format("{:.0f}", tflops);
}

double energy_per_op_pj(const gpu::GemmPrediction& prediction, const gpu::Gemm& gemm) {
  return prediction.energy_j / gpu::ops(gemm) / units::kPico;
}

std::string_view bound_meaning(gpu::Bound bound) {
  switch (bound) {
    case gpu::Bound::launch:
      return "starting the kernel";
    case gpu::Bound::latency:
      return "filling the pipelines";
    case gpu::Bound::math:
      return "arithmetic";
    case gpu::Bound::l2:
      return "L2 bandwidth";
    case gpu::Bound::dram:
      return "DRAM bandwidth";
    case gpu::Bound::power:
      return "the power limit: the full clock would draw more";
    case gpu::Bound::quantise:
      return "the kernel that quantises the activations";
  }
  return "";
}

std::string_view validity(const gpu::Calibration& calibration, bool calibrated, bool in_validated_range,
                          bool power_in_validated_range) {
  if (calibration.source == gpu::CalibrationSource::roofline) return "roofline";
  if (!calibrated) return "uncalibrated";
  if (!in_validated_range) return "out of range";
  return power_in_validated_range ? "validated" : "runtime only";
}

std::string power_cell(double value, std::string_view unit, bool power_in_validated_range) {
  return si(value, unit) + (power_in_validated_range ? "" : "*");
}

std::string power_note(bool starred, int columns) {
  if (!starred) return "";
  return wrapped("* ", "no power was measured on this GPU near this: power and energy are not validated.", columns, 2);
}

std::string calibration_text(const CalibratedGpu& gpu) {
  const gpu::Calibration& c = gpu.calibration;
  if (c.source == gpu::CalibrationSource::roofline) {
    return fmt::format("{}: {} at efficiencies reached elsewhere", gpu.spec.name, kRooflineEstimate);
  }
  const std::string rows = with_commas(c.row_count);
  if (c.source == gpu::CalibrationSource::own) {
    return fmt::format("fitted on {} measurements of {}; error on held-out ones {} mean, {} median", rows, c.gpu,
                       percent(c.held_out_mape_frac), percent(c.held_out_median_frac));
  }
  if (c.gpu == gpu.spec.name) {
    return fmt::format(
        "fitted on {} measurements of {}, a board with other numbers than this sheet's (power limit, "
        "clock or chip): not calibrated",
        rows, c.gpu);
  }
  return fmt::format("{} is not calibrated; those of {} ({} measurements) with this GPU's spec sheet", gpu.spec.name,
                     c.gpu, rows);
}

double outside_latency_frac(const gpu::NetworkPrediction& prediction) {
  double inside_s = 0;
  for (const gpu::LayerPrediction& layer : prediction.layers) {
    if (layer.prediction.in_validated_range) inside_s += layer.repeat * layer.prediction.latency_s;
  }
  return prediction.latency_s > 0 ? 1 - inside_s / prediction.latency_s : 0;
}

std::string validity_notes(const std::vector<ValidityNote>& notes, int columns) {
  std::map<std::string, std::vector<std::string>> uncalibrated;  // by the GPU whose constants serve them
  std::vector<std::string> outside, rooflines, edited;
  for (const ValidityNote& note : notes) {
    if (note.gpu->calibration.source == gpu::CalibrationSource::roofline) {
      rooflines.push_back(note.gpu->spec.name);
    } else if (!note.calibrated && note.gpu->calibration.gpu == note.gpu->spec.name) {
      edited.push_back(note.gpu->spec.name);
    } else if (!note.calibrated) {
      uncalibrated[note.gpu->calibration.gpu].push_back(note.gpu->spec.name);
    } else if (!note.in_validated_range) {
      outside.push_back(note.outside_frac < 1
                            ? fmt::format("{} ({} of the latency)", note.gpu->spec.name, percent(note.outside_frac))
                            : note.gpu->spec.name);
    }
  }
  std::string out;
  for (const auto& [constants_of, gpus] : uncalibrated) {
    out += wrapped("", fmt::format("Not calibrated, constants of {}: {}.", constants_of, join(gpus, ", ")), columns, 2);
  }
  if (!edited.empty()) {
    out += wrapped("",
                   "Not calibrated, other numbers in the sheet than those of the board that was measured (power limit, "
                   "clock or chip): " +
                       join(edited, ", ") + ".",
                   columns, 2);
  }
  if (!rooflines.empty()) {
    out += wrapped("", fmt::format("R{}: {}.", kRooflineEstimate.substr(1), join(rooflines, ", ")), columns, 2);
  }
  if (!outside.empty()) out += wrapped("", "Outside the validated range: " + join(outside, ", ") + ".", columns, 2);
  return out;
}

std::string_view operands_name(gpu::Operands operands) {
  return operands == gpu::Operands::random         ? "random operands"
         : operands == gpu::Operands::zero_weights ? "zero weights"
         : operands == gpu::Operands::long_vector  ? "a long vector"
                                                   : "partly zero weights";
}

std::string correction_text(const GemmOnGpu& on) {
  const gpu::Calibration& calibration = on.gpu.calibration;
  if (!calibration.residual) return calibration.residual_off;
  const gpu::Residual& residual = *calibration.residual;
  const char* held = on.prediction.held_at_roofline ? "; held at the roofline" : "";
  switch (on.prediction.correction.gate) {
    case gpu::ResidualGate::product:
      return fmt::format("format, layout or batch that no row of {} had", residual.gpu);
    case gpu::ResidualGate::far:
      return fmt::format("far from all sizes measured on {}", residual.gpu);
    case gpu::ResidualGate::faded:
      return fmt::format("at full clock; learned on {}, weight {:.2f} at this distance from its rows{}", residual.gpu,
                         on.prediction.correction.weight, held);
    case gpu::ResidualGate::full:
      return fmt::format("at full clock; learned on {} rows of {}{}", residual.row_count, residual.gpu, held);
    case gpu::ResidualGate::none:
      break;
  }
  return "none";
}

std::vector<const GemmOnGpu*> uncorrected_among_corrected(const GemmReport& report) {
  std::vector<const GemmOnGpu*> without;
  for (const GemmOnGpu& on : report.gpus) {
    if (!on.gpu.calibration.residual) without.push_back(&on);
  }
  if (without.size() == report.gpus.size()) without.clear();
  return without;
}

std::string recorded_power_note(const std::vector<std::string>& gpus, gpu::Operands operands, int columns) {
  if (gpus.empty()) return "";
  const bool vector = operands == gpu::Operands::long_vector;
  return wrapped(
      "",
      fmt::format("Power of {} is that of {}, as recorded for this shape; with --operands random it is that of real "
                  "data.",
                  join(gpus, ", "), vector ? "a long vector" : "unwritten weights"),
      columns, 2);
}

std::string framework_launch_text(const std::vector<std::string>& gpus) {
  return fmt::format("launch of {}: a framework's eager call, as recorded; --launch kernel takes the kernel's own",
                     join(gpus, ", "));
}

std::string framework_launch_note(const std::vector<const CalibratedGpu*>& gpus, int columns) {
  std::vector<std::string> names;
  for (const CalibratedGpu* gpu : gpus) {
    if (gpu::launched_by_framework(gpu->calibration)) names.push_back(gpu->spec.name);
  }
  return names.empty() ? "" : wrapped("", "Note: " + framework_launch_text(names) + ".", columns, 2);
}

std::string left_out_note(const std::vector<std::string>& gpus, gpu::DType dtype, int columns) {
  if (gpus.empty()) return "";
  return wrapped("", fmt::format("Left out, no {}: {}.", gpu::to_string(dtype), join(gpus, ", ")), columns, 2);
}

std::string unmet_limits_note(const std::vector<LeastLimit>& limits, int columns) {
  std::string out;
  for (const auto& [spec, least_limit_w] : limits) {
    if (least_limit_w <= 0) continue;
    out += wrapped("",
                   fmt::format("Power limit of {} not met: at the lowest clock, {} MHz, it draws more than {:.4g} W; "
                               "the lowest limit that it meets here is {:.0f} W.",
                               spec->name, gpu::kLeastClockMhz, spec->tdp_w, least_limit_w),
                   columns, 2);
  }
  return out;
}

std::string lock_note(const std::vector<LockedLatency>& locked, int columns) {
  constexpr double kRounding = 1e-9;  // [chosen] equal predictions differ in their last digits
  std::string out;
  for (const auto& [gpu, latency_s, without_lock_s] : locked) {
    if (without_lock_s <= latency_s * (1 + kRounding)) continue;
    out += wrapped("",
                   fmt::format("{} is predicted faster than without its lock ({}), which no board is: under a power "
                               "limit the model slows DRAM with the clock, at a lock it does not. Expect a latency "
                               "between the two.",
                               gpu, si(without_lock_s, "s")),
                   columns, 2);
  }
  return out;
}

Json without_lock_json(double without_lock_s) {
  return without_lock_s > 0 ? Json(without_lock_s / units::kMicro) : Json(nullptr);
}

Json least_limit_json(double least_limit_w) { return least_limit_w > 0 ? Json(least_limit_w) : Json(nullptr); }

Json other_prediction_json(const gpu::OtherPrediction& p) {
  return {{"latency_us", p.latency_s / units::kMicro},
          {"power_w", p.average_power_w},
          {"least_limit_w", least_limit_json(p.least_limit_w)},
          {"energy_mj", p.energy_j / units::kMilli},
          {"tflops", p.ops / p.latency_s / units::kTera},
          {"dram_bytes", p.dram_bytes},
          {"l2_bytes", p.l2_bytes},
          {"bound", gpu::to_string(p.bound)},
          {"in_validated_range", false},
          {"terms",
           {{"launch_us", p.terms.launch_s / units::kMicro},
            {"arithmetic_us", p.terms.arithmetic_s / units::kMicro},
            {"l2_us", p.terms.l2_s / units::kMicro},
            {"dram_us", p.terms.dram_s / units::kMicro},
            {"reduction_us", p.terms.reduction_s / units::kMicro},
            {"link_us", p.terms.link_s / units::kMicro},
            {"slowdown", p.terms.slowdown}}}};
}

Json gemm_fields_json(const gpu::Gemm& gemm) {
  return {{"m", gemm.m},
          {"n", gemm.n},
          {"k", gemm.k},
          {"batch", gemm.batch},
          {"dtype", gpu::to_string(gemm.dtype)},
          {"quantise", gpu::to_string(gemm.quantisation)},
          {"layout", gpu::to_string(gemm.layout)}};
}

Json grouped_fields_json(const gpu::GroupedGemm& grouped) {
  Json groups = Json::array();
  for (const RowCount& one : row_counts(grouped)) groups.push_back({{"count", one.groups}, {"rows", one.rows}});
  return {{"groups", std::move(groups)}, {"n", grouped.n}, {"k", grouped.k}};
}

Json prediction_json(const gpu::GemmPrediction& p) {
  return {
      {"latency_us", p.latency_s / units::kMicro},
      {"analytical_us", p.analytical_s / units::kMicro},
      {"correction",
       {{"factor", p.correction.factor}, {"weight", p.correction.weight}, {"gate", gpu::to_string(p.correction.gate)}}},
      {"held_at_roofline", p.held_at_roofline},
      {"power_w", p.average_power_w},
      {"least_limit_w", least_limit_json(p.least_limit_w)},
      {"power_of", operands_name(p.operands)},
      {"energy_mj", p.energy_j / units::kMilli},
      {"tflops", p.ops_per_s / units::kTera},
      {"bound", gpu::to_string(p.bound)},
      {"sm_clock_mhz", p.sm_clock_hz * units::kMicro},
      {"dram_bytes", p.dram_bytes},
      {"l2_bytes", p.l2_bytes},
      {"tile", {{"m", p.tile.m}, {"n", p.tile.n}, {"k", p.tile.k}, {"split_k", p.tile.split_k}}},
      {"blocks", p.ctas},
      {"waves", p.waves},
      {"terms",
       {{"launch_us", p.terms.launch_s / units::kMicro},
        {"fill_us", p.terms.fill_s / units::kMicro},
        {"chain_us", p.terms.chain_s / units::kMicro},
        {"math_us", p.terms.math_s / units::kMicro},
        {"l2_us", p.terms.l2_s / units::kMicro},
        {"dram_us", p.terms.dram_s / units::kMicro},
        {"reduction_us", p.terms.reduction_s / units::kMicro},
        {"quantise_us", p.terms.quantise_s / units::kMicro},
        {"slowdown", p.terms.slowdown}}},
      {"roofline_estimate", p.roofline_estimate},
      {"aligned", p.aligned},
      {"calibrated", p.calibrated},
      {"in_validated_range", p.in_validated_range},
      {"power_in_validated_range", p.power_in_validated_range}};
}

/// The learned correction that a calibration carries, or why there is none.
Json residual_json(const gpu::Calibration& calibration) {
  if (!calibration.residual) return {{"off", calibration.residual_off}};
  const gpu::Residual& r = *calibration.residual;
  return {{"learned_on", r.gpu},
          {"data", r.data},
          {"rows", r.row_count},
          {"held_out_mape_frac", r.with_mape_frac},
          {"held_out_mape_frac_without", r.without_mape_frac}};
}

Json calibration_json(const CalibratedGpu& gpu) {
  const gpu::Calibration& c = gpu.calibration;
  return {{"constants_of", c.gpu},
          {"source", gpu::to_string(c.source)},
          {"data", c.data},
          {"rows", c.row_count},
          {"launch_of", gpu::launched_by_framework(c) ? "framework" : "kernel"},
          {"held_out_mape_frac", c.held_out_mape_frac},
          {"held_out_median_frac", c.held_out_median_frac},
          {"residual", residual_json(c)}};
}

}  // namespace hindsight::report

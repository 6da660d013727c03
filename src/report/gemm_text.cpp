/// Text of one product on one or several GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/report/gemm.h"
#include "report/fields.h"
#include "report/gemm_fields.h"

namespace hindsight::report {
namespace {

std::string title(const GemmReport& report) {
  return fmt::format("GEMM {}, {}, {}, {}\n", shape_text(report.gemm),
                     format_text(report.gemm.dtype, report.gemm.quantisation), gpu::to_string(report.gemm.layout),
                     gpu::to_string(report.mode));
}

double peak_share(const GemmOnGpu& on, gpu::DType dtype) {
  return on.prediction.ops_per_s / on.gpu.spec.rate(dtype).peak_ops_per_s;
}

std::string clock_text(double clock_hz) { return fmt::format("{:.0f} MHz", clock_hz / units::kMega); }

std::string highest_clock_text(const gpu::GpuSpec& spec) {
  const std::string highest = fmt::format("highest {}", clock_text(spec.own_boost_hz()));
  return spec.unlocked_hz > 0 ? fmt::format("locked at {}, {}", clock_text(spec.boost_hz), highest) : highest;
}

/// The power limit, and why it is exceeded where it is.
std::string limit_text(const gpu::GemmPrediction& p, const gpu::GpuSpec& spec) {
  const std::string limit = fmt::format("limit {:.4g} W", spec.tdp_w);
  if (p.least_limit_w > 0) return limit + ", the lowest clock draws more";
  return p.average_power_w <= spec.tdp_w ? limit : limit + ", a burst ends before it counts";
}

std::string blocks_text(const gpu::GemmPrediction& p) {
  return p.roofline_estimate ? std::string(kRooflineEstimate)
                             : fmt::format("{:.0f} blocks, {:.3g} waves", p.ctas, p.waves);
}

std::string one_gpu_text(const GemmReport& report, int columns) {
  const GemmOnGpu& on = report.gpus.front();
  const gpu::GemmPrediction& p = on.prediction;
  Table table;
  table.add_column(on.gpu.spec.name, Align::left);
  table.add_column("predicted", Align::right);
  table.add_column("note", Align::left, 1);
  const auto peak_tflops = on.gpu.spec.rate(report.gemm.dtype).peak_ops_per_s / units::kTera;
  table.add_row({"latency", si(p.latency_s, "s"), fmt::format("roofline {}", si(on.roofline_s, "s"))});
  table.add_row({"rate", tflops_text(p.ops_per_s) + " TFLOP/s",
                 fmt::format("{} of the published {:.4g}", percent(peak_share(on, report.gemm.dtype)), peak_tflops)});
  if (peak_share(on, report.gemm.dtype) > 1) {
    table.add_row({"", "", fmt::format("which is at {}", clock_text(on.gpu.spec.rate(report.gemm.dtype).clock_hz))});
  }
  table.add_row({"bound by", std::string(gpu::to_string(p.bound)), std::string(bound_meaning(p.bound))});
  table.add_row({"power", power_cell(p.average_power_w, "W", p.power_in_validated_range), limit_text(p, on.gpu.spec)});
  table.add_row({"energy", power_cell(p.energy_j, "J", p.power_in_validated_range),
                 fmt::format("{:.3g} pJ per operation", energy_per_op_pj(p, report.gemm))});
  table.add_row({"SM clock", clock_text(p.sm_clock_hz), highest_clock_text(on.gpu.spec)});
  table.add_row({"DRAM traffic", binary_bytes(p.dram_bytes),
                 fmt::format("operands {}", binary_bytes(gpu::compulsory_bytes(report.gemm)))});
  table.add_row({"L2 traffic", binary_bytes(p.l2_bytes), ""});
  table.add_row({"kernel", tile_text(p.tile), blocks_text(p)});
  return table.render(columns);
}

std::string side_by_side_text(const GemmReport& report, int columns) {
  Table table;
  table.add_column("GPU", Align::left);
  table.add_column("latency", Align::right);
  table.add_column("TFLOP/s", Align::right, 1);
  table.add_column("of peak", Align::right, 4);
  table.add_column("bound", Align::left, 2);
  table.add_column("power", Align::right, 1);
  table.add_column("energy", Align::right);
  table.add_column("clock", Align::right, 6);
  table.add_column("DRAM", Align::right, 7);
  table.add_column("kernel", Align::left, 8);
  table.add_column("validity", Align::left, 3);
  for (const GemmOnGpu& on : report.gpus) {
    const gpu::GemmPrediction& p = on.prediction;
    table.add_row(
        {on.gpu.spec.name, si(p.latency_s, "s"), tflops_text(p.ops_per_s), percent(peak_share(on, report.gemm.dtype)),
         std::string(gpu::to_string(p.bound)), power_cell(p.average_power_w, "W", p.power_in_validated_range),
         power_cell(p.energy_j, "J", p.power_in_validated_range), clock_text(p.sm_clock_hz), binary_bytes(p.dram_bytes),
         tile_text(p.tile),
         std::string(validity(on.gpu.calibration, p.calibrated, p.in_validated_range, p.power_in_validated_range))});
  }
  return table.render(columns);
}

/// Why a rate can exceed the published peak; empty where none does.
std::string above_peak_note(const GemmReport& report, int columns) {
  std::vector<std::string> gpus;
  for (const GemmOnGpu& on : report.gpus) {
    if (peak_share(on, report.gemm.dtype) <= 1) continue;
    gpus.push_back(fmt::format("{} ({} against {})", on.gpu.spec.name, clock_text(on.prediction.sm_clock_hz),
                               clock_text(on.gpu.spec.rate(report.gemm.dtype).clock_hz)));
  }
  if (gpus.empty()) return "";
  return wrapped(
      "", "Above the published peak, because the board clocks higher than that assumes: " + join(gpus, ", ") + ".",
      columns, kIndent);
}

/// Which GPUs have no learned correction, and why, where others have one; empty where all are alike.
std::string correction_note(const GemmReport& report, int columns) {
  std::map<std::string, std::vector<std::string>> gpus;  // by the reason
  for (const GemmOnGpu* on : uncorrected_among_corrected(report)) {
    gpus[on->gpu.calibration.residual_off].push_back(on->gpu.spec.name);
  }
  std::vector<std::string> parts;
  for (const auto& [reason, names] : gpus) parts.push_back(fmt::format("{} ({})", join(names, ", "), reason));
  if (parts.empty()) return "";
  return wrapped("",
                 fmt::format("Learned correction off, which the others have: {}. With --no-residual all are alike.",
                             join(parts, "; ")),
                 columns, kIndent);
}

/// What of the product no library was timed on, and which GPUs cannot hold it; empty where nothing.
std::string product_notes(const GemmReport& report, int columns) {
  std::string out;
  const bool unmeasured = std::any_of(report.gpus.begin(), report.gpus.end(), [](const GemmOnGpu& on) {
    return !on.prediction.aligned && !on.prediction.in_validated_range && !on.prediction.roofline_estimate;
  });
  if (unmeasured) {
    out += wrapped("",
                   fmt::format("Not measured: {}. Libraries have slower kernels for such rows, of which the model "
                               "knows nothing; pad them?",
                               gpu::misalignment(report.gemm)),
                   columns, kIndent);
  }
  std::vector<std::string> small;
  for (const GemmOnGpu& on : report.gpus) {
    if (!on.fits_memory)
      small.push_back(fmt::format("{} ({})", on.gpu.spec.name, binary_bytes(on.gpu.spec.dram_bytes)));
  }
  if (!small.empty()) {
    out += wrapped("",
                   fmt::format("Operands and result take {}, more than the memory of {}.",
                               binary_bytes(gpu::compulsory_bytes(report.gemm)), join(small, ", ")),
                   columns, kIndent);
  }
  return out;
}

std::string footnotes(const GemmReport& report, int columns) {
  std::string out;
  if (report.gpus.size() == 1) {
    const GemmOnGpu& on = report.gpus.front();
    out += wrapped("", "Constants: " + calibration_text(on.gpu) + ".", columns, kIndent);
    if (on.prediction.calibrated && !on.prediction.in_validated_range) {
      out += wrapped("", "This shape lies outside the range that was validated.", columns, kIndent);
    }
  } else {
    std::vector<ValidityNote> notes;
    for (const GemmOnGpu& on : report.gpus) {
      notes.push_back({&on.gpu, on.prediction.calibrated, on.prediction.in_validated_range});
    }
    out += validity_notes(notes, columns);
  }
  out += product_notes(report, columns) + correction_note(report, columns) + above_peak_note(report, columns);
  std::vector<std::string> as_recorded;
  gpu::Operands operands = gpu::Operands::random;
  for (const GemmOnGpu& on : report.gpus) {
    if (on.prediction.operands == gpu::Operands::random) continue;
    as_recorded.push_back(on.gpu.spec.name);
    operands = on.prediction.operands;
  }
  out += recorded_power_note(as_recorded, operands, columns);
  std::vector<const CalibratedGpu*> gpus;
  std::vector<LeastLimit> limits;
  std::vector<LockedLatency> locked;
  for (const GemmOnGpu& on : report.gpus) {
    gpus.push_back(&on.gpu);
    limits.push_back({&on.gpu.spec, on.prediction.least_limit_w});
    locked.push_back({on.gpu.spec.name, on.prediction.latency_s, on.without_lock_s});
  }
  out += unmet_limits_note(limits, columns) + lock_note(locked, columns) + framework_launch_note(gpus, columns);
  return out + left_out_note(report.left_out, report.gemm.dtype, columns);
}

/// One line per term; terms overlap, so that their shares need not add up to one.
std::string terms_text(const GemmOnGpu& on, int columns) {
  const gpu::GemmPrediction& p = on.prediction;
  const gpu::GemmTerms& t = p.terms;
  Table table;
  table.add_column(on.gpu.spec.name, Align::left);
  table.add_column("time", Align::right);
  table.add_column("of latency", Align::right, 1);
  table.add_column("of what", Align::left, 2);
  const auto row = [&](const char* name, double term_s, const std::string& what) {
    table.add_row({name, si(term_s, "s"), percent(term_s / p.latency_s), what});
  };
  row("launch", t.launch_s, "start of the kernel");
  row("fill", t.fill_s, "prologue and epilogue of the blocks");
  row("chain", t.chain_s, "latency of the main loop's steps");
  row("math", t.math_s,
      p.roofline_estimate ? blocks_text(p)
                          : fmt::format("{:.0f} blocks of {}, {:.3g} waves", p.ctas, tile_text(p.tile), p.waves));
  const char* const both = t.quantise_s > 0 ? ", with what quantising moves" : "";
  row("L2", t.l2_s, binary_bytes(p.l2_bytes) + both);
  row("DRAM", t.dram_s, binary_bytes(p.dram_bytes) + both);
  row("reduction", t.reduction_s, fmt::format("split k {}", p.tile.split_k));
  if (t.quantise_s > 0) {
    row("quantise", t.quantise_s, binary_bytes(p.quantise_bytes) + " of activations, before the product");
  }
  if (t.slowdown > 1) {
    table.add_row({"slow-down", "", fmt::format("x {:.3f}", t.slowdown), "clock under the power limit"});
  }
  if (p.correction.factor != 1) {
    row("analytical", p.analytical_s, "latency by the terms alone");
    table.add_row({"correction", "", fmt::format("x {:.3f}", p.correction.factor), correction_text(on)});
  } else {
    table.add_row({"correction", "", "none", correction_text(on)});
  }
  table.add_rule();
  row("latency", p.latency_s, fmt::format("bound by {} at {}", gpu::to_string(p.bound), clock_text(p.sm_clock_hz)));
  const char* const of = p.roofline_estimate ? "estimate" : "fastest kernel";
  return "\n" + table.render(columns) +
         wrapped("", fmt::format("(terms of the {} at the highest clock; they overlap)", of), columns, 0);
}

/// What the power is made of, one line each: they add up to it.
std::string power_text(const GemmReport& report, const GemmOnGpu& on, int columns) {
  const gpu::GemmPrediction& p = on.prediction;
  const gpu::PowerTerms t = gpu::Predictor(on.gpu.spec, on.gpu.calibration, report.gemm.dtype).power_terms(p);
  Table table;
  table.add_column(on.gpu.spec.name, Align::left);
  table.add_column("power", Align::right);
  table.add_column("energy", Align::right);
  table.add_column("of power", Align::right, 1);
  table.add_column("of what", Align::left, 2);
  const auto row = [&](const char* name, double term_w, const std::string& what) {
    table.add_row({name, si(term_w, "W"), si(term_w * p.latency_s, "J"), percent(term_w / p.average_power_w), what});
  };
  row("idle", t.idle_w, "static: the board without work");
  row("busy SMs", t.active_w, fmt::format("{} of the time", percent(p.work.busy_frac)));
  row("operations", t.operations_w, fmt::format("{}, {}", si(p.work.ops, "op"), operands_name(p.operands)));
  row("L2 bytes", t.l2_w, binary_bytes(p.work.l2_bytes) + ", the least of any kernel");
  row("DRAM bytes", t.dram_w, binary_bytes(p.work.dram_bytes));
  table.add_rule();
  const std::string full = si(t.full_clock_w, "W") + " at the highest clock";
  row("power", p.average_power_w, t.full_clock_w > t.limit_w ? full + ": the cap binds" : full);
  table.add_row(
      {"cap", si(t.limit_w, "W"), "", "", fmt::format("where the limit of {:.4g} W settles", on.gpu.spec.tdp_w)});
  return "\n" + table.render(columns);
}

}  // namespace

std::string gemm_text(const GemmReport& report, int columns) {
  const std::string figures =
      report.gpus.size() == 1 ? one_gpu_text(report, columns) : side_by_side_text(report, columns);
  const bool starred = std::any_of(report.gpus.begin(), report.gpus.end(),
                                   [](const GemmOnGpu& on) { return !on.prediction.power_in_validated_range; });
  return title(report) + "\n" + figures + "\n" + footnotes(report, columns) + power_note(starred, columns);
}

std::string gemm_explanation(const GemmReport& report, int columns) {
  std::string out = gemm_text(report, columns);
  for (const GemmOnGpu& on : report.gpus) out += terms_text(on, columns) + power_text(report, on, columns);
  return out;
}

std::string gemm_candidates_text(const GemmReport& report, int columns) {
  std::string out = title(report);
  for (const GemmOnGpu& on : report.gpus) {
    Table table;
    table.add_column(on.gpu.spec.name, Align::left);
    table.add_column("latency", Align::right);
    table.add_column("of best", Align::right, 3);
    table.add_column("TFLOP/s", Align::right, 1);
    table.add_column("bound", Align::left, 2);
    table.add_column("blocks", Align::right, 4);
    table.add_column("waves", Align::right, 1);
    table.add_column("DRAM", Align::right, 5);
    table.add_column("L2", Align::right, 6);
    for (const gpu::GemmPrediction& p : on.candidates) {
      table.add_row({tile_text(p.tile), si(p.latency_s, "s"),
                     fmt::format("{:.2f} x", p.latency_s / on.candidates.front().latency_s), tflops_text(p.ops_per_s),
                     std::string(gpu::to_string(p.bound)), fmt::format("{:.0f}", p.ctas),
                     fmt::format("{:.3g}", p.waves), binary_bytes(p.dram_bytes), binary_bytes(p.l2_bytes)});
    }
    out += "\n" + table.render(columns);
  }
  return out + "\n" + footnotes(report, columns);
}

}  // namespace hindsight::report

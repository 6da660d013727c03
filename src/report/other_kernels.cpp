/// Text and JSON of GPU kernels that are no single GEMM.
#include "hindsight/report/other_kernels.h"

#include <fmt/format.h>

#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "report/fields.h"
#include "report/gemm_fields.h"

namespace hindsight::report {
namespace {

std::string head(const KernelReport& report, int columns) {
  return wrapped("",
                 fmt::format("{}: {}, {}, {}", report.kernel, report.shape, gpu::to_string(report.dtype),
                             gpu::to_string(report.mode)),
                 columns, kIndent);
}

std::string notes(const KernelReport& report, int columns) {
  // Mean errors [measured: data/measurements, 2026-11-27, docs/gpu-kernels.md].
  const std::string_view measured = report.kernel == std::string_view("attention")
                                        ? "cuDNN's kernels on an H100 and an H200 were met within 4 to 7 %"
                                        : "PyTorch's kernels were 12 % slower on an H100 and 24 % on an H200";
  std::vector<LeastLimit> limits;
  for (const KernelOnGpu& on : report.gpus) limits.push_back({&on.gpu.spec, on.prediction.least_limit_w});
  return wrapped("", fmt::format("Estimated by equations; {}, no other GPU's were measured.", measured), columns,
                 kIndent) +
         unmet_limits_note(limits, columns) + left_out_note(report.left_out, report.dtype, columns);
}

}  // namespace

std::string kernel_text(const KernelReport& report, int columns) {
  Table table;
  table.add_column("GPU", Align::left);
  table.add_column("latency", Align::right);
  table.add_column("roofline", Align::right, 1);
  table.add_column("TFLOP/s", Align::right);
  table.add_column("bound", Align::left);
  table.add_column("power", Align::right, 2);
  table.add_column("energy", Align::right, 3);
  table.add_column("DRAM", Align::right, 4);
  for (const KernelOnGpu& on : report.gpus) {
    const gpu::OtherPrediction& p = on.prediction;
    table.add_row({on.gpu.spec.name, si(p.latency_s, "s"), si(on.roofline_s, "s"), tflops_text(p.ops / p.latency_s),
                   std::string(gpu::to_string(p.bound)), si(p.average_power_w, "W"), si(p.energy_j, "J"),
                   binary_bytes(p.dram_bytes)});
  }
  return head(report, columns) + "\n" + table.render(columns) + "\n" + notes(report, columns);
}

std::string kernel_explanation(const KernelReport& report, int columns) {
  std::string out = kernel_text(report, columns);
  for (const KernelOnGpu& on : report.gpus) {
    const gpu::OtherTerms& t = on.prediction.terms;
    Table table;
    table.add_column(on.gpu.spec.name, Align::left);
    table.add_column("time", Align::right);
    table.add_column("of what", Align::left, 1);
    table.add_row({"launch", si(t.launch_s, "s"), "an empty kernel"});
    table.add_row({"arithmetic", si(t.arithmetic_s, "s"), fmt::format("{}op", si(on.prediction.ops, ""))});
    table.add_row({"L2", si(t.l2_s, "s"), ""});
    table.add_row({"DRAM", si(t.dram_s, "s"), binary_bytes(on.prediction.dram_bytes)});
    table.add_row({"fill, parts", si(t.reduction_s, "s"), "a GEMM's fill; adding up parts"});
    table.add_row({"slow-down", fmt::format("x{:.3f}", t.slowdown), "by the power limit"});
    out += "\n" + table.render(columns);
  }
  if (!report.gpus.empty()) out += "(times at the highest clock; arithmetic, L2 and DRAM overlap)\n";
  return out;
}

std::string kernel_json(const KernelReport& report) {
  Json json{{"hindsight_version", build_info().version},
            {"kernel", report.kernel},
            {"shape", report.shape},
            {"dtype", gpu::to_string(report.dtype)},
            {"mode", gpu::to_string(report.mode)},
            {"gpus", Json::array()},
            {"left_out", report.left_out}};
  for (const KernelOnGpu& on : report.gpus) {
    Json entry{{"gpu", on.gpu.spec.name}, {"roofline_us", on.roofline_s / units::kMicro}};
    entry.update(other_prediction_json(on.prediction));
    json["gpus"].push_back(std::move(entry));
  }
  return to_text(json);
}

}  // namespace hindsight::report

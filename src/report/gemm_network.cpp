/// Text of whole networks on GPUs.
#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/report/gemm.h"
#include "report/fields.h"
#include "report/gemm_fields.h"

namespace hindsight::report {
namespace {

constexpr int kIndent = 2;

std::string_view network_validity(bool calibrated, const gpu::NetworkPrediction& prediction) {
  const double outside = outside_latency_frac(prediction);
  return calibrated && outside > 0 && outside < 1 ? "in part" : validity(calibrated, prediction.in_validated_range);
}

std::string sums_text(const NetworkReport& report, int columns) {
  const workload::Network& network = *report.network;
  Table table;
  table.add_column(network.name(), Align::left);
  table.add_column("latency", Align::right);
  table.add_column("per second", Align::right, 2);
  table.add_column("TFLOP/s", Align::right, 3);
  table.add_column("power", Align::right, 1);
  table.add_column("energy", Align::right);
  table.add_column("DRAM", Align::right, 5);
  table.add_column("ignored at least", Align::right, 6);
  table.add_column("validity", Align::left, 4);
  for (const NetworkOnGpu& on : report.gpus) {
    const gpu::NetworkPrediction& p = on.prediction;
    const bool calibrated = on.gpu.calibration.source == gpu::CalibrationSource::own;
    const double per_second = p.latency_s > 0 ? static_cast<double>(network.batch()) / p.latency_s : 0;
    table.add_row({on.gpu.spec.name, si(p.latency_s, "s"), si(per_second, ""), tflops_text(p.ops_per_s()),
                   si(p.average_power_w(), "W"), si(p.energy_j, "J"), binary_bytes(p.dram_bytes),
                   p.ignored_layers.empty() ? "-" : si(p.ignored_least_s, "s"),
                   std::string(network_validity(calibrated, p))});
  }
  return table.render(columns);
}

std::string notes_text(const NetworkReport& report, int columns) {
  if (report.gpus.empty()) return "";
  const gpu::NetworkPrediction& first = report.gpus.front().prediction;
  std::string out;
  if (first.ignored_layers.empty()) {
    out += wrapped("", "Every layer is a GEMM. Activation functions, normalisation and softmax are not counted.",
                   columns, kIndent);
  } else {
    out += wrapped(
        "",
        fmt::format("Ignored, no GEMM: {} depthwise layers with {} of the operations and {} of the operands' "
                    "bytes. Activation functions, normalisation and softmax are not counted either.",
                    first.ignored_layers.size(), percent(first.ignored_ops_frac), percent(first.ignored_bytes_frac)),
        columns, kIndent);
  }
  std::vector<ValidityNote> notes;
  std::vector<const CalibratedGpu*> gpus;
  for (const NetworkOnGpu& on : report.gpus) {
    gpus.push_back(&on.gpu);
    notes.push_back({&on.gpu, on.gpu.calibration.source == gpu::CalibrationSource::own,
                     on.prediction.in_validated_range, outside_latency_frac(on.prediction)});
  }
  out += framework_launch_note(gpus, columns);
  return out + validity_notes(notes, columns) + left_out_note(report.left_out, report.dtype, columns);
}

std::string network_text(const NetworkReport& report, int columns) {
  const workload::Network& network = *report.network;
  std::string out = wrapped("",
                            fmt::format("{}, batch {}, {}, {}: GEMMs of one inference", network.name(), network.batch(),
                                        gpu::to_string(report.dtype), gpu::to_string(report.mode)),
                            columns, kIndent);
  return out + "\n" + sums_text(report, columns) + "\n" + notes_text(report, columns);
}

std::string layers_text(const NetworkReport& report, const NetworkOnGpu& on, int columns) {
  Table table;
  table.add_column(on.gpu.spec.name, Align::left);
  table.add_column("repeat", Align::right, 3);
  table.add_column("GEMM m x n x k", Align::left, 2);
  table.add_column("latency", Align::right);
  table.add_column("share", Align::right, 1);
  table.add_column("TFLOP/s", Align::right, 4);
  table.add_column("bound", Align::left, 1);
  table.add_column("energy", Align::right, 5);
  table.add_column("kernel", Align::left, 6);
  for (const gpu::LayerPrediction& layer : on.prediction.layers) {
    const gpu::GemmPrediction& p = layer.prediction;
    table.add_row({report.network->layers()[layer.layer].name, fmt::format("{:.0f}", layer.repeat),
                   shape_text(layer.gemm), si(p.latency_s, "s"),
                   percent(layer.repeat * p.latency_s / on.prediction.latency_s), tflops_text(p.ops_per_s),
                   std::string(gpu::to_string(p.bound)), si(p.energy_j, "J"), tile_text(p.tile)});
  }
  return "\n" + table.render(columns) + "(latency and energy of one repeat; share of all repeats)\n";
}

enum class Layers { hidden, shown };

std::string texts(const std::vector<NetworkReport>& reports, int columns, Layers layers) {
  std::string out;
  for (const NetworkReport& report : reports) {
    if (!out.empty()) out += "\n";
    out += network_text(report, columns);
    if (layers == Layers::hidden) continue;
    for (const NetworkOnGpu& on : report.gpus) {
      if (!on.prediction.layers.empty()) out += layers_text(report, on, columns);
    }
  }
  return out;
}

}  // namespace

std::string networks_gemm_text(const std::vector<NetworkReport>& reports, int columns) {
  return texts(reports, columns, Layers::hidden);
}

std::string networks_gemm_explanation(const std::vector<NetworkReport>& reports, int columns) {
  return texts(reports, columns, Layers::shown);
}

}  // namespace hindsight::report

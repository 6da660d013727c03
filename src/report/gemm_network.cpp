/// Text of whole networks on GPUs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/report/gemm.h"
#include "report/fields.h"
#include "report/gemm_fields.h"

namespace hindsight::report {
namespace {

std::string_view network_validity(const gpu::Calibration& calibration, const gpu::NetworkPrediction& prediction) {
  const bool calibrated = calibration.source == gpu::CalibrationSource::own;
  const double outside = outside_latency_frac(prediction);
  return calibrated && outside > 0 && outside < 1
             ? "in part"
             : validity(calibration, calibrated, prediction.in_validated_range, prediction.power_in_validated_range);
}

/// "h100-sxm5", "h100-sxm5 x 4".
std::string shown_name(const NetworkOnGpu& on) {
  return on.devices == 1 ? on.gpu.spec.name : fmt::format("{} x {}", on.gpu.spec.name, on.devices);
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
  if (network.batch() > 1) table.add_column("per inference", Align::right, 3);  // of the energy
  table.add_column("DRAM", Align::right, 5);
  table.add_column("no GEMM", Align::right, 6);
  table.add_column("validity", Align::left, 4);
  const auto batch = static_cast<double>(network.batch());
  for (const NetworkOnGpu& on : report.gpus) {
    const gpu::NetworkPrediction& p = on.prediction;
    const double per_second = p.latency_s > 0 ? batch / p.latency_s : 0;
    std::vector<std::string> row = {shown_name(on),
                                    si(p.latency_s, "s"),
                                    si(per_second, ""),
                                    tflops_text(p.ops_per_s()),
                                    power_cell(p.average_power_w(), "W", p.power_in_validated_range),
                                    power_cell(p.energy_j, "J", p.power_in_validated_range)};
    if (network.batch() > 1) row.push_back(power_cell(p.energy_j / batch, "J", p.power_in_validated_range));
    for (const std::string& cell :
         {binary_bytes(p.dram_bytes), p.others.empty() ? std::string("-") : percent(p.other_latency_s / p.latency_s),
          std::string(network_validity(on.gpu.calibration, p))}) {
      row.push_back(cell);
    }
    table.add_row(std::move(row));
  }
  return table.render(columns);
}

/// What is no single GEMM: how many kernels of which kind, and what is not counted at all.
std::string others_text(const gpu::NetworkPrediction& p) {
  constexpr const char* kFused = "activation functions and batch normalisation are taken as fused into them";
  if (p.others.empty()) return fmt::format("Every layer is a GEMM; {}.", kFused);
  std::map<gpu::OtherKind, double> launches;
  for (const gpu::OtherLayer& other : p.others) launches[other.kind] += other.repeat;
  std::vector<std::string> parts;
  for (const auto& [kind, count] : launches) parts.push_back(fmt::format("{:.0f} {}", count, gpu::to_string(kind)));
  return fmt::format("No single GEMM, estimated by equations, not validated: {} kernels. Of the GEMMs, {}.",
                     join(parts, ", "), kFused);
}

std::string notes_text(const NetworkReport& report, int columns) {
  if (report.gpus.empty()) return "";
  const auto most = std::max_element(report.gpus.begin(), report.gpus.end(), [](const auto& a, const auto& b) {
    return a.prediction.others.size() < b.prediction.others.size();
  });
  std::string out;
  out += wrapped("", others_text(most->prediction), columns, kIndent);
  for (const NetworkOnGpu& on : report.gpus) {
    if (on.fits()) continue;
    out += wrapped("",
                   fmt::format("{} cannot hold it: {} of {} each.", shown_name(on), binary_bytes(on.resident_bytes),
                               binary_bytes(on.gpu.spec.dram_bytes)),
                   columns, kIndent);
  }
  if (std::any_of(report.gpus.begin(), report.gpus.end(), [](const NetworkOnGpu& on) { return on.devices > 1; })) {
    out +=
        wrapped("", "Several GPUs: tensor-parallel, an estimate; power, energy and DRAM of all of them, layers of one.",
                columns, kIndent);
  }
  std::vector<ValidityNote> notes;
  std::vector<const CalibratedGpu*> gpus;
  std::vector<LeastLimit> limits;
  std::vector<LockedLatency> locked;
  std::set<std::string> noted;  // several numbers of one GPU
  for (const NetworkOnGpu& on : report.gpus) {
    locked.push_back({shown_name(on), on.prediction.latency_s, on.without_lock_s});
    if (!noted.insert(on.gpu.spec.name).second) continue;
    gpus.push_back(&on.gpu);
    limits.push_back({&on.gpu.spec, on.prediction.least_limit_w});
    notes.push_back({&on.gpu, on.gpu.calibration.source == gpu::CalibrationSource::own,
                     on.prediction.in_validated_range, outside_latency_frac(on.prediction)});
  }
  out += unmet_limits_note(limits, columns) + lock_note(locked, columns) + framework_launch_note(gpus, columns);
  const bool starred = std::any_of(report.gpus.begin(), report.gpus.end(),
                                   [](const NetworkOnGpu& on) { return !on.prediction.power_in_validated_range; });
  return out + validity_notes(notes, columns) + power_note(starred, columns) +
         left_out_note(report.left_out, report.dtype, columns);
}

/// What latency and energy are of.
std::string pass_text(const workload::Network& network) {
  return network.batch() == 1 ? "one inference" : fmt::format("one pass of {} inferences", network.batch());
}

std::string network_text(const NetworkReport& report, int columns) {
  const workload::Network& network = *report.network;
  std::string out = wrapped(
      "",
      fmt::format("{}, batch {}, {}, {}: {}", network.name(), network.batch(),
                  format_text(report.dtype, report.quantisation), gpu::to_string(report.mode), pass_text(network)),
      columns, kIndent);
  return out + "\n" + sums_text(report, columns) + "\n" + notes_text(report, columns);
}

std::string layers_text(const NetworkReport& report, const NetworkOnGpu& on, int columns) {
  Table table;
  table.add_column(shown_name(on), Align::left);
  table.add_column("repeat", Align::right, 3);
  table.add_column("GEMM m x n x k, or kernel", Align::left, 2);
  table.add_column("latency", Align::right);
  table.add_column("share", Align::right, 1);
  table.add_column("TFLOP/s", Align::right, 4);
  table.add_column("bound", Align::left, 1);
  table.add_column("energy", Align::right, 5);
  table.add_column("kernel", Align::left, 6);
  for (const gpu::LayerPrediction& layer : on.prediction.layers) {
    const gpu::GemmPrediction& p = layer.prediction;
    table.add_row({report.network->layer_of(layer.layer).name, fmt::format("{:.0f}", layer.repeat),
                   shape_text(layer.gemm), si(p.latency_s, "s"),
                   percent(layer.repeat * p.latency_s / on.prediction.latency_s), tflops_text(p.ops_per_s),
                   std::string(gpu::to_string(p.bound)), si(p.energy_j, "J"), tile_text(p.tile)});
  }
  for (const gpu::OtherLayer& other : on.prediction.others) {
    const gpu::OtherPrediction& p = other.prediction;
    table.add_row({report.network->layer_of(other.layer).name, fmt::format("{:.0f}", other.repeat),
                   other.grouped ? shape_text(*other.grouped) : std::string(gpu::to_string(other.kind)),
                   si(p.latency_s, "s"), percent(other.repeat * p.latency_s / on.prediction.latency_s),
                   tflops_text(p.ops / p.latency_s), std::string(gpu::to_string(p.bound)), si(p.energy_j, "J"), "-"});
  }
  return "\n" + table.render(columns) +
         wrapped(
             "",
             "(latency and energy of one repeat; share of all repeats; a kernel that is no GEMM has the name of the "
             "layer behind which or instead of which it runs)",
             columns, 0);
}

/// What the energy of one pass is made of, one line each.
std::string energy_text(const NetworkReport& report, const NetworkOnGpu& on, int columns) {
  const gpu::NetworkPrediction& p = on.prediction;
  const gpu::Predictor predictor(on.gpu.spec, on.gpu.calibration, report.dtype);
  double idle_j = 0, active_j = 0, operations_j = 0, l2_j = 0, dram_j = 0, limited_s = 0, cap_w = 0;
  const auto devices = static_cast<double>(on.devices);
  const auto count = [&](const gpu::PowerTerms& t, double latency_s) {
    const double run_s = devices * latency_s;
    idle_j += run_s * t.idle_w;
    active_j += run_s * t.active_w;
    operations_j += run_s * t.operations_w;
    l2_j += run_s * t.l2_w;
    dram_j += run_s * t.dram_w;
    cap_w = devices * t.limit_w;
    if (t.full_clock_w > t.limit_w) limited_s += latency_s;
  };
  for (const gpu::LayerPrediction& layer : p.layers) {
    count(predictor.power_terms(layer.prediction), layer.repeat * layer.prediction.latency_s);
  }
  const gpu::OtherKernels others(on.gpu.spec, on.gpu.calibration, report.dtype);
  for (const gpu::OtherLayer& other : p.others) {
    if (other.kind == gpu::OtherKind::all_reduce || other.kind == gpu::OtherKind::all_gather) {
      idle_j += devices * other.repeat * other.prediction.energy_j;  // boards wait
    } else {
      count(others.power_terms(other.prediction), other.repeat * other.prediction.latency_s);
    }
  }
  Table table;
  table.add_column(shown_name(on), Align::left);
  table.add_column("energy", Align::right);
  table.add_column("power", Align::right);
  table.add_column("of energy", Align::right, 1);
  table.add_column("of what", Align::left, 2);
  const auto row = [&](const char* name, double term_j, const std::string& what) {
    table.add_row({name, si(term_j, "J"), si(term_j / p.latency_s, "W"), percent(term_j / p.energy_j), what});
  };
  row("idle", idle_j, "static: the board without work");
  row("busy SMs", active_j, "while they have work");
  row("operations", operations_j, si(p.ops, "op"));
  row("L2 bytes", l2_j, "");
  row("DRAM bytes", dram_j, binary_bytes(p.dram_bytes));
  table.add_rule();
  row(report.network->batch() == 1 ? "inference" : "pass", p.energy_j,
      fmt::format("cap {}, it binds {} of the time", si(cap_w, "W"), percent(limited_s / p.latency_s)));
  return "\n" + table.render(columns);
}

enum class Layers { hidden, shown };

std::string texts(const std::vector<NetworkReport>& reports, int columns, Layers layers) {
  std::string out;
  for (const NetworkReport& report : reports) {
    if (!out.empty()) out += "\n";
    out += network_text(report, columns);
    if (layers == Layers::hidden) continue;
    for (const NetworkOnGpu& on : report.gpus) {
      out += layers_text(report, on, columns) + energy_text(report, on, columns);
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

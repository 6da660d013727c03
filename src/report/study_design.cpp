/// Sections on the chosen design itself: its rooflines beside those of GPUs, and where time and energy go.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "report/fields.h"
#include "report/study_parts.h"

namespace hindsight::report {
namespace {

gpu::DType dtype_of(accel::Precision precision) {
  switch (precision) {
    case accel::Precision::int8:
      return gpu::DType::int8;
    case accel::Precision::fp8:
      return gpu::DType::fp8;
    case accel::Precision::bf16:
      return gpu::DType::bf16;
  }
  return gpu::DType::int8;
}

/// Corners of a roof over [low, high] operations per byte.
std::vector<std::vector<double>> roof(double peak_ops_per_s, double bytes_per_s, double low, double high) {
  const double ridge = peak_ops_per_s / bytes_per_s;
  std::vector<std::vector<double>> corners{{low, std::min(peak_ops_per_s, low * bytes_per_s)}};
  if (ridge > low && ridge < high) corners.push_back({ridge, peak_ops_per_s});
  corners.push_back({high, std::min(peak_ops_per_s, high * bytes_per_s)});
  return corners;
}

/// The name of a GEMM's layer, with its rows where the layer is more than one GEMM.
std::string gemm_name(const workload::Network& network, std::size_t gemm) {
  const std::string& name = network.layer_of(gemm).name;
  if (std::ranges::count(network.gemm_layers(), network.gemm_layers()[gemm]) == 1) return name;
  return fmt::format("{}, {}", name, counted(static_cast<std::uint64_t>(network.gemms()[gemm].m), "row"));
}

double layer_ops(const workload::GemmLayer& gemm) { return gemm.macs * kOpsPerMac; }

struct LayerPoint {
  double intensity = 0, ops_per_s = 0;
};
/// Nothing for a layer without a mapping, or that no byte from DRAM is moved for.
std::optional<LayerPoint> point_of(const EvaluatedDesign& design, const EvaluatedNetwork& network, std::size_t layer) {
  const accel::LayerResult& result = network.layers[layer];
  const double ops = layer_ops(network.network->gemms()[layer]), bytes = result.traffic.dram_bytes();
  if (!(result.total_cycles > 0) || !(bytes > 0) || !(ops > 0)) return std::nullopt;
  return LayerPoint{.intensity = ops / bytes, .ops_per_s = ops / (result.total_cycles / design.chip.config.clock_hz())};
}

ReportPanel roofline_panel(const StudyContext& context, const EvaluatedNetwork& network, ReportTable& table) {
  const EvaluatedDesign& design = *context.sources.explained;
  ReportPanel panel{.name = network.network->name()};
  ReportSeries layers{.name = "layers", .role = SeriesRole::feasible},
      whole{.name = "whole network", .role = SeriesRole::proposed};
  double ops = 0, bytes = 0, low = 1, high = 1e3;  // [chosen] a decade or two around what layers have, widened below
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const double repeat = static_cast<double>(network.network->gemms()[i].repeat);
    ops += repeat * layer_ops(network.network->gemms()[i]);
    bytes += repeat * network.layers[i].traffic.dram_bytes();
    const std::optional<LayerPoint> point = point_of(design, network, i);
    if (!point) continue;
    low = std::min(low, point->intensity / 2);
    high = std::max(high, point->intensity * 2);
    layers.values.push_back({point->intensity, point->ops_per_s});
    layers.notes.push_back(fmt::format("{}, bound by {}", printable(gemm_name(*network.network, i)),
                                       accel::to_string(network.layers[i].bound)));
  }
  if (network.evaluation.feasible() && bytes > 0) {
    whole.values.push_back({ops / bytes, ops / network.evaluation.metrics->latency_s});
    whole.notes.push_back(
        fmt::format("{} in {}", network.network->name(), si(network.evaluation.metrics->latency_s, "s")));
  }
  const accel::AcceleratorConfig& config = design.chip.config;
  const double bandwidth = config.dram_bandwidth_gb_per_s * units::kGiga;
  panel.series.push_back({.name = "roof of the design",
                          .role = SeriesRole::line,
                          .values = roof(config.peak_ops_per_s(), bandwidth, low, high)});
  for (const gpu::GpuSpec& gpu : context.sources.gpus) {
    const auto& math = gpu.math[static_cast<std::size_t>(dtype_of(config.precision))];
    if (!math) continue;
    panel.series.push_back({.name = gpu.name,
                            .role = SeriesRole::reference,
                            .values = roof(math->peak_ops_per_s, gpu.dram_bytes_per_s, low, high)});
  }
  if (!whole.values.empty()) {
    table.rows.push_back(
        {panel.name, fmt::format("{:.1f}", whole.values[0][0]), si(whole.values[0][1], "op/s"),
         fmt::format("{:.1f} %",
                     100 * whole.values[0][1] / std::min(config.peak_ops_per_s(), whole.values[0][0] * bandwidth))});
  }
  panel.series.push_back(std::move(layers));
  panel.series.push_back(std::move(whole));
  return panel;
}

/// Layers that take most of `values`, most first; the others together at the end.
std::vector<std::size_t> largest_layers(const std::vector<double>& values) {
  constexpr std::size_t kLayers = 24;  // [chosen] bars that a page has room for
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] > values[b]; });
  order.resize(std::min(order.size(), kLayers));
  return order;
}

/// Parts of each layer, repeats included, by component; `total` decides which layers are shown.
ReportPanel parts_panel(const EvaluatedNetwork& network, const std::vector<NamedValues>& parts, ReportTable& table) {
  ReportPanel panel{.name = network.network->name()};
  std::vector<double> totals;
  double all = 0;
  for (const NamedValues& layer : parts) {
    double sum = 0;
    for (const auto& [name, value] : layer) sum += value;
    totals.push_back(sum);
    all += sum;
  }
  const std::vector<std::size_t> order = largest_layers(totals);
  if (order.empty()) return panel;
  for (std::size_t part = 0; part < parts[order[0]].size(); ++part) {
    ReportSeries series{.name = label(parts[order[0]][part].first), .role = SeriesRole::bar};
    double shown = 0, others = 0;
    for (const std::size_t i : order) {
      series.values.push_back({parts[i][part].second});
      shown += parts[i][part].second;
    }
    for (const NamedValues& layer : parts) {
      if (part < layer.size()) others += layer[part].second;
    }
    series.values.push_back({std::max(others - shown, 0.0)});
    if (others > 0) panel.series.push_back(std::move(series));
  }
  for (const std::size_t i : order) {
    panel.categories.push_back(gemm_name(*network.network, i));
    table.rows.push_back({panel.name, panel.categories.back(),
                          study_value(table.caption.starts_with("Time") ? "latency_s" : "energy_j", totals[i]),
                          fmt::format("{:.1f} %", 100 * totals[i] / all)});
  }
  panel.categories.emplace_back("all others");
  return panel;
}

/// As a field with a unit, which a legend leaves out.
std::string_view seconds_name(accel::Bound bound) {
  switch (bound) {
    case accel::Bound::compute:
      return "compute_s";
    case accel::Bound::core_memory:
      return "core_memory_s";
    case accel::Bound::pe_memory:
      return "pe_memory_s";
    case accel::Bound::noc:
      return "noc_s";
    case accel::Bound::dram:
      return "dram_s";
  }
  return {};
}

/// Seconds of a layer by what bounds it, one part each, so that a colour tells the bound.
NamedValues time_parts(const EvaluatedDesign& design, const EvaluatedNetwork& network, std::size_t i) {
  const accel::LayerResult& layer = network.layers[i];
  const double seconds = static_cast<double>(network.network->gemms()[i].repeat) / design.chip.config.clock_hz();
  const double rest = layer.fill_drain_cycles + layer.overhead_cycles + layer.vector_cycles;
  const double steady = std::max(layer.total_cycles - rest, 0.0) * seconds;
  NamedValues parts;
  for (const accel::Bound bound : {accel::Bound::compute, accel::Bound::core_memory, accel::Bound::pe_memory,
                                   accel::Bound::noc, accel::Bound::dram}) {
    parts.emplace_back(seconds_name(bound), layer.bound == bound ? steady : 0.0);
  }
  parts.emplace_back("fill and drain", layer.fill_drain_cycles * seconds);
  parts.emplace_back("overhead", layer.overhead_cycles * seconds);
  parts.emplace_back("softmax and norms", layer.vector_cycles * seconds);
  return parts;
}

NamedValues energy_parts(const EvaluatedDesign& design, const EvaluatedNetwork& network, std::size_t i) {
  NamedValues parts = fields(network.layers[i].energy, design.chip);
  for (auto& [name, value] : parts) value *= static_cast<double>(network.network->gemms()[i].repeat);
  return parts;
}

}  // namespace

ReportSection roofline_section(StudyContext& context) {
  ReportSection section{.id = "roofline", .title = "Rooflines of the design and of GPUs"};
  if (context.sources.explained == nullptr) {
    section.missing = context.sources.why_unexplained;
    return section;
  }
  ReportFigure figure{
      .name = "roofline",
      .title = "How close each layer comes to what arithmetic and DRAM allow",
      .note =
          "Explained by the built-in model. A layer below the slope waits for DRAM, below the flat roof for "
          "lanes; on neither, for what lies between. Roofs of GPUs are their published peaks in the same "
          "format: no GPU reaches its own. Layers that move nothing from DRAM are left out.",
      .columns = {{.name = "ops_per_byte", .label = "operations per DRAM byte", .logarithmic = true},
                  {.name = "ops_per_s", .label = "operations per s", .logarithmic = true}}};
  figure.table = {.caption = "Whole networks",
                  .columns = {"workload", "operations per byte", "reached", "of the design's roof"}};
  for (const EvaluatedNetwork& network : context.sources.explained->networks) {
    figure.panels.push_back(roofline_panel(context, network, figure.table));
  }
  section.figures.push_back(std::move(figure));
  return section;
}

ReportSection layer_section(StudyContext& context) {
  ReportSection section{.id = "layers", .title = "Where time and energy go"};
  if (context.sources.explained == nullptr) {
    section.missing = context.sources.why_unexplained;
    return section;
  }
  const EvaluatedDesign& design = *context.sources.explained;
  ReportFigure time{.name = "layer-time",
                    .title = "Time by layer, coloured by what bounds it",
                    .note = "The layers that take most, repeats included; the others together below.",
                    .kind = FigureKind::bars,
                    .columns = {{.name = "latency_s", .label = "time, s"}}};
  ReportFigure energy{.name = "layer-energy",
                      .title = "Energy by layer and component",
                      .note = "The layers that take most, repeats included; the others together below.",
                      .kind = FigureKind::bars,
                      .columns = {{.name = "energy_j", .label = "energy, J"}}};
  time.table = {.caption = "Time by layer", .columns = {"workload", "layer", "time", "share"}};
  energy.table = {.caption = "Energy by layer", .columns = {"workload", "layer", "energy", "share"}};
  for (const EvaluatedNetwork& network : design.networks) {
    std::vector<NamedValues> times, energies;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      times.push_back(time_parts(design, network, i));
      energies.push_back(energy_parts(design, network, i));
    }
    for (auto [figure, parts] : {std::pair(&time, &times), std::pair(&energy, &energies)}) {
      ReportPanel panel = parts_panel(network, *parts, figure->table);
      if (!panel.categories.empty()) figure->panels.push_back(std::move(panel));
    }
  }
  if (time.panels.empty()) {
    section.missing = "No layer of the design's workloads has a mapping.";
    return section;
  }
  section.figures = {std::move(time), std::move(energy)};
  return section;
}

}  // namespace hindsight::report

/// Products below the roofs of GPUs, as a picture of characters.
///
/// Model: roof(i) = min(arithmetic at the highest clock, i x DRAM bandwidth), i: operations per byte that any kernel
/// moves. [paper: roofline]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/report/gemm.h"
#include "report/fields.h"
#include "report/gemm_fields.h"

namespace hindsight::report {
namespace {

constexpr std::size_t kMostRoofs = 8;  // [chosen] more cannot be told apart on 16 lines
constexpr std::size_t kMostMarks = 4;  // the marks of a scatter plot
constexpr double kBesideRidges = 2;    // the roofs go on for as much beyond ridges and products

/// One GPU of the picture. Rates in TFLOP/s.
struct Roof {
  std::string name;
  double peak = 0;
  double per_byte = 0;                              ///< DRAM bandwidth, TB/s
  std::vector<std::pair<double, double>> products;  ///< operations per byte, rate
  [[nodiscard]] double ridge() const { return peak / per_byte; }
  [[nodiscard]] double at(double intensity) const { return std::min(peak, intensity * per_byte); }
};

Roof roof_of(const std::string& name, const gpu::GpuSpec& spec, gpu::DType dtype) {
  return {.name = name,
          .peak = spec.ops_per_s(dtype, spec.boost_hz) / units::kTera,
          .per_byte = spec.dram_bytes_per_s / units::kTera,
          .products = {}};
}

template <typename Product>
void add_product(Roof& roof, const Product& gemm, double ops_per_s) {
  roof.products.emplace_back(gpu::ops(gemm) / gpu::compulsory_bytes(gemm), ops_per_s / units::kTera);
}

char roof_letter(std::size_t roof, bool upper) { return static_cast<char>((upper ? 'A' : 'a') + roof); }

/// A line per roof that ends in its letter.
std::vector<PlotSeries> roof_lines(const std::vector<Roof>& roofs) {
  double low = roofs.front().ridge(), high = low;
  for (const Roof& roof : roofs) {
    low = std::min(low, roof.ridge());
    high = std::max(high, roof.ridge());
    for (const auto& [intensity, rate] : roof.products) {
      low = std::min(low, intensity);
      high = std::max(high, intensity);
    }
  }
  low /= kBesideRidges;
  high *= kBesideRidges;
  std::vector<PlotSeries> lines;
  for (std::size_t i = 0; i < roofs.size(); ++i) {
    const Roof& roof = roofs[i];
    lines.push_back({.name = "",
                     .points = {{low, roof.at(low)}, {roof.ridge(), roof.peak}, {high, roof.peak}},
                     .labels = {"", "", std::string(1, roof_letter(i, false))},
                     .kind = PlotKind::line});
  }
  return lines;
}

/// "a h100-sxm5: 1,026 TFLOP/s, 3.35 TB/s" and what follows.
std::string roof_key(const Roof& roof, std::size_t number, const std::string& more, int columns) {
  return wrapped(fmt::format("{} ", roof_letter(number, false)),
                 fmt::format("{}: {} TFLOP/s, {:.3g} TB/s{}", roof.name, tflops_text(roof.peak * units::kTera),
                             roof.per_byte, more),
                 columns, 2);
}

std::string roofline_picture(const std::vector<PlotSeries>& series, int columns, PlotGlyphs glyphs) {
  return scatter_text(series, {"operations per byte", PlotSpacing::logarithmic}, {"TFLOP/s", PlotSpacing::logarithmic},
                      columns, glyphs);
}

constexpr const char* kWhatRoofsAre =
    "Roofs: arithmetic at the highest clock and DRAM; what stays in the L2 may lie above one.";

std::string left_to_draw(std::size_t drawn, std::size_t all) {
  return drawn == all ? "" : fmt::format(" Drawn: the first {} of {} in the table.", drawn, all);
}

}  // namespace

std::string gemm_plot_text(const GemmReport& report, int columns, PlotGlyphs glyphs) {
  if (report.gpus.empty()) return "nothing to plot\n";
  const std::size_t count = std::min(report.gpus.size(), kMostRoofs);
  std::vector<Roof> roofs;
  for (std::size_t i = 0; i < count; ++i) {
    const GemmOnGpu& on = report.gpus[i];
    roofs.push_back(roof_of(on.gpu.spec.name, on.gpu.spec, report.gemm.dtype));
    add_product(roofs.back(), report.gemm, on.prediction.ops_per_s);
  }
  std::vector<PlotSeries> series = roof_lines(roofs);
  std::string keys;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& [intensity, rate] = roofs[i].products.front();
    const std::string upper(1, roof_letter(i, true));
    series.push_back({.name = "", .points = roofs[i].products, .labels = {upper}});
    keys += roof_key(roofs[i], i,
                     fmt::format("; {}: {} TFLOP/s, {} of the roof at {:.3g} operations per byte", upper,
                                 tflops_text(rate * units::kTera), percent(rate / roofs[i].at(intensity)), intensity),
                     columns);
  }
  return roofline_picture(series, columns, glyphs) + keys +
         wrapped("", kWhatRoofsAre + left_to_draw(count, report.gpus.size()), columns, 0);
}

std::string networks_plot_text(const std::vector<NetworkReport>& reports, int columns, PlotGlyphs glyphs) {
  std::string out;
  for (const NetworkReport& report : reports) {
    out += "\n" + printable(report.network->name()) + ": GEMMs of its layers\n";
    const std::size_t count = std::min(report.gpus.size(), kMostMarks);
    std::vector<Roof> roofs;
    for (std::size_t i = 0; i < count; ++i) {
      const NetworkOnGpu& on = report.gpus[i];
      const std::string shared = on.devices == 1 ? "" : fmt::format(" x {}, of each", on.devices);
      roofs.push_back(roof_of(on.gpu.spec.name + shared, on.gpu.spec, report.dtype));
      for (const gpu::LayerPrediction& layer : on.prediction.layers) {
        add_product(roofs.back(), layer.gemm, layer.prediction.ops_per_s);
      }
      for (const gpu::OtherLayer& other : on.prediction.others) {
        if (other.grouped) add_product(roofs.back(), *other.grouped, other.prediction.ops / other.prediction.latency_s);
      }
    }
    if (roofs.empty()) {
      out += "nothing to plot\n";
      continue;
    }
    std::vector<PlotSeries> series = roof_lines(roofs);
    std::string keys;
    for (std::size_t i = 0; i < count; ++i) {
      if (!roofs[i].products.empty()) series.push_back({.name = roofs[i].name, .points = roofs[i].products});
      keys += roof_key(roofs[i], i, "", columns);
    }
    out += roofline_picture(series, columns, glyphs) + keys +
           wrapped("", kWhatRoofsAre + left_to_draw(count, report.gpus.size()), columns, 0);
  }
  return out;
}

}  // namespace hindsight::report

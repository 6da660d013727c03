/// The plain shared-memory tiled kernel at every tile size, as text and JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "hindsight/core/error.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/gpu/tiled_kernel.h"
#include "report/fields.h"
#include "report/gemm_fields.h"

namespace hindsight::report {
namespace {

constexpr double kPercent = 100;
constexpr int kFavourite = 16;  // [paper: gpperf-2024] the tile that it recommends

/// Every tile size that fits on the GPU, ascending.
std::vector<gpu::TiledPrediction> tiles_of(const gpu::GpuSpec& spec, const gpu::Gemm& gemm) {
  std::vector<gpu::TiledPrediction> tiles;
  for (int tile = 1; tile <= gpu::kLargestTile; ++tile) {
    if (gpu::tiled_occupancy(spec, tile).blocks_per_sm >= 1) tiles.push_back(gpu::predict_tiled(spec, gemm, tile));
  }
  if (tiles.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: its SMs hold no block of the tiled kernel. Check `sm` in the sheet", spec.name));
  }
  return tiles;
}

/// The fastest of the tiles that the model was fitted on; where none of those fits, of all.
const gpu::TiledPrediction& best_of(const std::vector<gpu::TiledPrediction>& tiles) {
  return *std::min_element(tiles.begin(), tiles.end(), [](const auto& a, const auto& b) {
    const bool a_measured = gpu::is_measured_tile(a.tile), b_measured = gpu::is_measured_tile(b.tile);
    return a_measured != b_measured ? a_measured : a.latency_s < b.latency_s;
  });
}

/// Speed-up of the best tile over 16 x 16; nothing where that does not fit.
std::optional<double> best_over_favourite(const std::vector<gpu::TiledPrediction>& tiles) {
  for (const gpu::TiledPrediction& p : tiles) {
    if (p.tile == kFavourite) return p.latency_s / best_of(tiles).latency_s;
  }
  return std::nullopt;
}

std::string summary(const gpu::GpuSpec& spec, const gpu::Gemm& gemm, const std::vector<gpu::TiledPrediction>& tiles) {
  const gpu::TiledPrediction& best = best_of(tiles);
  std::string text = fmt::format("{}, plain tiled kernel, fp32, {}: best measured tile {} with {}", spec.name,
                                 shape_text(gemm), best.tile, si(best.latency_s, "s"));
  if (const auto gain = best_over_favourite(tiles); gain && best.tile != kFavourite) {
    text += fmt::format(", {:.2f} times as fast as {}", *gain, kFavourite);
  }
  return text + "\n";
}

/// What the star of a tile means.
std::string extrapolation_note(const gpu::GpuSpec& spec, int columns) {
  std::string text =
      fmt::format("extrapolated: the model was fitted on tiles {}", fmt::join(gpu::kMeasuredTiles, ", "));
  if (spec.name != gpu::kTiledFittedOn) text += fmt::format(" of an {}; on {} all are", gpu::kTiledFittedOn, spec.name);
  return wrapped("* ", text + ".", columns, 2);
}

}  // namespace

std::string tiled_text(const std::vector<gpu::GpuSpec>& specs, const gpu::Gemm& gemm, int columns) {
  std::string text;
  for (const gpu::GpuSpec& spec : specs) {
    const std::vector<gpu::TiledPrediction> tiles = tiles_of(spec, gemm);
    Table table;
    for (const char* header : {"tile", "latency", "TFLOP/s", "occupancy %", "blocks/SM"}) {
      table.add_column(header, Align::right);
    }
    table.add_column("blocks limited by", Align::left, 1);
    table.add_column("bound by", Align::left);
    for (const gpu::TiledPrediction& p : tiles) {
      table.add_row({std::to_string(p.tile) + (gpu::is_measured_tile(p.tile) ? " " : "*"), si(p.latency_s, "s"),
                     fmt::format("{:.3f}", p.ops_per_s / units::kTera),
                     fmt::format("{:.1f}", p.occupancy.occupancy_frac * kPercent),
                     fmt::format("{:.0f}", p.occupancy.blocks_per_sm), std::string(to_string(p.occupancy.limit)),
                     std::string(to_string(p.bound))});
    }
    text += (text.empty() ? "" : "\n") + summary(spec, gemm, tiles) + table.render(columns) +
            extrapolation_note(spec, columns);
  }
  return text;
}

std::string tiled_json(const std::vector<gpu::GpuSpec>& specs, const gpu::Gemm& gemm) {
  Json json{{"hindsight_version", build_info().version}, {"commit", build_info().commit}};
  json["gemm"] = {{"m", gemm.m}, {"n", gemm.n}, {"k", gemm.k}, {"batch", gemm.batch}, {"dtype", "fp32"}};
  json["kernel"] = "tiled";
  json["gpus"] = Json::array();
  for (const gpu::GpuSpec& spec : specs) {
    const std::vector<gpu::TiledPrediction> tiles = tiles_of(spec, gemm);
    Json entry{{"gpu", spec.name}, {"title", spec.title}, {"best_tile", best_of(tiles).tile}};
    const std::optional<double> gain = best_over_favourite(tiles);
    entry["best_over_16"] = gain ? Json(*gain) : Json();
    entry["tiles"] = Json::array();
    for (const gpu::TiledPrediction& p : tiles) {
      entry["tiles"].push_back({{"tile", p.tile},
                                {"extrapolated", !gpu::is_measured_tile(p.tile) || spec.name != gpu::kTiledFittedOn},
                                {"latency_us", p.latency_s / units::kMicro},
                                {"tflops", p.ops_per_s / units::kTera},
                                {"occupancy_frac", p.occupancy.occupancy_frac},
                                {"blocks_per_sm", p.occupancy.blocks_per_sm},
                                {"blocks_limited_by", to_string(p.occupancy.limit)},
                                {"lanes_used_frac", p.occupancy.lanes_used_frac},
                                {"l2_bytes", p.l2_bytes},
                                {"dram_bytes", p.dram_bytes},
                                {"bound", to_string(p.bound)}});
    }
    json["gpus"].push_back(std::move(entry));
  }
  return to_text(json);
}

}  // namespace hindsight::report

/// `hindsight gemm --tiled`: the plain shared-memory tiled kernel (fp32) at every tile size.
#pragma once

#include <string>
#include <vector>

#include "hindsight/gpu/gemm.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::app {

/// Per GPU the best tile, then a row per tile size 1 to 32: predicted runtime, rate, occupancy, what binds. Tiles of
/// which no block fits on an SM are left out. `columns` as Table::render.
[[nodiscard]] std::string tiled_text(const std::vector<gpu::GpuSpec>& specs, const gpu::Gemm& gemm, int columns);
/// {"gemm": ..., "gpus": [{"gpu", "best_tile", "best_over_16", "tiles": [...]}]}
[[nodiscard]] std::string tiled_json(const std::vector<gpu::GpuSpec>& specs, const gpu::Gemm& gemm);

}  // namespace hindsight::app

/// Temporal tiling: what fits in the PE, core and accumulator memories, and what must be fetched again.
///
/// Model: a quarter of each PE memory and core memory is working space for double-buffered tiles; the rest keeps
/// activations and parameters on chip. A tile of the input is a band of whole rows of the PE's part of the feature
/// map (the DMA engine moves rows); its halo rows stay in a rolling buffer and are not read twice by the same PE.
/// Valid for: operands of 8 or 16 bits, partial sums of 32. What is called bytes here and in the mapper are operands,
/// which take a byte at 8 bits: capacities and rates of a chip are divided by its operand's bytes where they come in
/// (`operand_bytes`), and traffic is multiplied by them where it goes out (layer_result). Ignores: bank conflicts,
/// alignment, tiles of part of a row but for those of a sequence (version 4 of the model).
#pragma once

#include <algorithm>
#include <limits>

#include "hindsight/accel/spatial.h"
#include "hindsight/accel/template_constants.h"
#include "hindsight/accel/terms.h"

namespace hindsight::accel {

/// Capacities available to one layer's tiles.
struct WorkingMemory {
  double input_tile_bytes = 0;       ///< per PE, one of two buffers
  double output_tile_bytes = 0;      ///< per PE, one of two buffers
  double partial_sum_bytes = 0;      ///< per PE, both output buffers together: int32 sums are not double buffered
  double weight_tile_bytes = 0;      ///< per core, one of two buffers
  double accumulators_per_core = 0;  ///< int32 entries, one of two buffers
  bool cuts_sequences = false;       ///< as TemplateRules
  /// Channels whose constants a PE holds for one layer, one of two halves; infinity where the mapper does not ask.
  double channels = std::numeric_limits<double>::infinity();
};

/// Equation: working = memory * working_frac; half of a PE's for inputs, half for outputs, each in two buffers.
/// accumulators_per_core = entries / (2 * cores). Version 2: channels = parameter memory / 2 at int8; floating point
/// needs no constants to get back into range. Where operands are wider than a byte, tiles are counted in operands.
[[nodiscard]] constexpr WorkingMemory working_memory(const AcceleratorConfig& config) {
  const double pe_working_bytes = config.pe_memory_bytes * config.working_frac;
  const double operand = config.operand_bytes();
  return {.input_tile_bytes = pe_working_bytes / 4.0 / operand,
          .output_tile_bytes = pe_working_bytes / 4.0 / operand,
          .partial_sum_bytes = pe_working_bytes / 2.0,
          .weight_tile_bytes = config.core_memory_bytes * config.core_working_frac / 2.0 / operand,
          .accumulators_per_core = config.activation_memory_entries / (2.0 * config.cores_per_pe),
          .cuts_sequences = config.rules.cuts_sequences,
          .channels = config.rules.constants_in_halves && config.precision == Precision::int8
                          ? config.parameter_memory_entries / 2.0
                          : std::numeric_limits<double>::infinity()};
}

/// Pixels that a core's accumulators hold for `lanes` lanes: how often a weight, once read, is used.
///
/// Equation: reuse = floor(accumulators / lanes), at least one pixel is always possible on a chip that passes
/// the `accumulators` check.
[[nodiscard]] constexpr double accumulator_reuse(double accumulators_per_core, double lanes) {
  return static_cast<double>(static_cast<std::int64_t>(accumulators_per_core / lanes));
}

/// Whether a tile of the layer may end within a row of its maps.
[[nodiscard]] constexpr bool is_cut_along_row(const LayerShape& layer, const WorkingMemory& memory) {
  return layer.of_sequence && memory.cuts_sequences;
}

/// Smallest input and output tiles of a PE: what a mapping needs at the least.
struct SmallestTile {
  double input_bytes = 0;
  double output_bytes = 0;
  double channels = 0;  ///< whose constants have to be there
};
/// Equation: input = window rows * columns with halo * pixel bytes (one row of outputs); a plain GEMM can stream K,
/// so it needs one row of one 4-byte group. Output = one row of int8 outputs. Of a sequence that is cut along its row:
/// one window, and one pixel of outputs.
[[nodiscard]] constexpr SmallestTile smallest_tile(const LayerShape& layer, const PeShare& pe,
                                                   const WorkingMemory& memory) {
  if (!layer.windowed) {
    return {.input_bytes = std::min(pe.k, 4.0), .output_bytes = std::min(pe.n, 1.0), .channels = pe.n};
  }
  const bool is_cut = is_cut_along_row(layer, memory);
  return {.input_bytes = layer.kernel_rows * (is_cut ? layer.kernel_columns : pe.in_columns) * pe.pixel_bytes,
          .output_bytes = (is_cut ? 1.0 : pe.columns) * pe.n,
          .channels = pe.n};
}

/// Smallest weight tile of a core: one window of four channels for every active lane; in version 2 of the model one
/// step of the lane, because a tile may end within a window. Of a depthwise layer a lane's whole window in all
/// versions: a lane has a channel of its own.
[[nodiscard]] constexpr double smallest_weight_tile_bytes(const LayerShape& layer, double lanes, double macs_per_lane,
                                                          bool whole_windows = true) {
  const double window = layer.windowed && whole_windows ? layer.k / layer.in_channels : 1.0;
  const double slice = layer.depthwise ? layer.k : std::min(layer.k, window * macs_per_lane);
  return slice * lanes;
}

/// Number of row bands that a PE's share is cut into, so that one band of inputs and one of outputs fit.
///
/// Equation: rows = min((input buffer / row bytes - window) / stride + 1, output buffer / output row bytes). A sequence
/// that is cut along its row has as many rows as that has pixels.
[[nodiscard]] constexpr double row_bands(const LayerShape& layer, const PeShare& pe, const WorkingMemory& memory) {
  if (is_cut_along_row(layer, memory)) {
    const double by_input =
        (memory.input_tile_bytes / pe.pixel_bytes - layer.kernel_columns) / layer.stride_columns + 1.0;
    const double all = pe.rows * pe.columns, by_output = memory.output_tile_bytes / pe.n;
    const double pixels = std::max(1.0, std::min({by_input, by_output, all}));
    return tile_count(all, static_cast<double>(static_cast<std::int64_t>(pixels)));
  }
  double rows_by_input = 0;
  if (layer.windowed) {
    const double input_row_bytes = pe.in_columns * pe.pixel_bytes;
    rows_by_input = (memory.input_tile_bytes / input_row_bytes - layer.kernel_rows) / layer.stride_rows + 1.0;
  } else {
    rows_by_input = memory.input_tile_bytes / pe.pixel_bytes;
  }
  const double rows_by_output = memory.output_tile_bytes / (pe.columns * pe.n);
  const double rows = std::max(1.0, std::min({rows_by_input, rows_by_output, pe.rows}));
  return tile_count(pe.rows, static_cast<double>(static_cast<std::int64_t>(rows)));
}

/// How a core's weights pass through its working memory, and what that makes the PE fetch again.
struct TilePlan {
  double tiles_m = 1, tiles_n = 1, tiles_k = 1;
  double weight_passes = 1;       ///< times the PE's weights cross the NoC
  double input_passes = 1;        ///< times the PE's inputs cross the NoC
  double partial_sum_passes = 0;  ///< times every output is written and read back as int32 in PE memory
};

/// Output stationary: row bands outside, output channels inside, K innermost; outputs leave as int8 once.
///
/// Equation: lanes * k <= weight tile:  weights stay for a band; fetched once when all of the core's weights fit,
/// else once per band.  Otherwise the K loop does not fit: the weights of a lane group stream through for every
/// block of `reuse` pixels that the accumulators hold, and at least once per band: passes = max(bands, m_core / reuse).
[[nodiscard]] constexpr TilePlan plan_output_stationary(const PeShare& pe, const CoreShare& core, double lanes,
                                                        double reuse, double bands, const WorkingMemory& memory) {
  TilePlan plan;
  plan.tiles_m = bands;
  const double channel_bytes = pe.k;
  const double group_bytes = channel_bytes * lanes;
  if (group_bytes <= memory.weight_tile_bytes) {
    const double groups = static_cast<double>(static_cast<std::int64_t>(memory.weight_tile_bytes / group_bytes));
    plan.tiles_n = tile_count(core.n, groups * lanes);
    plan.weight_passes = plan.tiles_n > 1.0 ? bands : 1.0;
  } else {
    plan.tiles_n = tile_count(core.n, lanes);
    plan.tiles_k = tile_count(group_bytes, memory.weight_tile_bytes);
    plan.weight_passes = std::max(bands, core.m / reuse);
  }
  return plan;
}

/// Weight stationary: weights outside, pixels inside; every weight is fetched once, partial sums wait in PE memory.
///
/// Equation: tiles_k = ceil(lanes * k / weight tile); partial sums are written and read back tiles_k - 1 times;
/// they need m * lanes * cores * 4 bytes, and when these exceed the partial-sum space the pixels are cut into
/// blocks and the weights fetched once per block. Inputs pass once per output-channel tile unless the PE's whole
/// input stays in its buffer.
[[nodiscard]] constexpr TilePlan plan_weight_stationary(const PeShare& pe, const CoreShare& core, double lanes,
                                                        double bands, const WorkingMemory& memory) {
  TilePlan plan;
  plan.tiles_m = bands;
  const double group_bytes = pe.k * lanes;
  if (group_bytes <= memory.weight_tile_bytes) {
    const double groups = static_cast<double>(static_cast<std::int64_t>(memory.weight_tile_bytes / group_bytes));
    plan.tiles_n = tile_count(core.n, groups * lanes);
  } else {
    plan.tiles_n = tile_count(core.n, lanes);
    plan.tiles_k = tile_count(group_bytes, memory.weight_tile_bytes);
    plan.partial_sum_passes = plan.tiles_k - 1.0;
    const double sums_bytes = pe.m * std::min(pe.n, lanes * core.split_n) * kAccumulatorBytes;
    plan.weight_passes = std::max(1.0, tile_count(sums_bytes, memory.partial_sum_bytes));
    plan.tiles_m = std::max(plan.tiles_m, plan.weight_passes);
  }
  plan.input_passes = bands > 1.0 ? plan.tiles_n : 1.0;
  return plan;
}

}  // namespace hindsight::accel

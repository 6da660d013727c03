#include "hindsight/accel/mapping.h"

#include <algorithm>
#include <array>
#include <limits>

namespace hindsight::accel {

LayerShape layer_shape(const workload::GemmLayer& layer) {
  LayerShape shape;
  shape.m = static_cast<double>(layer.m);
  shape.n = static_cast<double>(layer.n);
  shape.k = static_cast<double>(layer.k);
  shape.count = static_cast<double>(layer.count);
  shape.repeat = static_cast<double>(layer.repeat);
  shape.windowed = layer.out_width != layer.m || layer.kernel_height > 1 || layer.kernel_width > 1;
  shape.out_columns = shape.windowed ? static_cast<double>(layer.out_width) : 1.0;
  shape.out_rows = shape.m / shape.out_columns;
  shape.kernel_rows = static_cast<double>((layer.kernel_height - 1) * layer.dilation_height + 1);
  shape.kernel_columns = static_cast<double>((layer.kernel_width - 1) * layer.dilation_width + 1);
  shape.stride_rows = static_cast<double>(layer.stride_height);
  shape.stride_columns = static_cast<double>(layer.stride_width);
  shape.in_channels = static_cast<double>(layer.in_channels);
  shape.macs = layer.macs;
  shape.weight_bytes = layer.weight_bytes;
  shape.input_bytes = layer.input_bytes;
  shape.output_bytes = layer.output_bytes;
  shape.depthwise = layer.depthwise;
  shape.weights_are_activations = layer.weights_are_activations;
  return shape;
}

namespace {

/// Numbers of active lanes that are tried below a core's own: the values of the published space and, for wider
/// cores, the next powers of two and their halves.
constexpr std::array<double, 18> kLaneLadder{256, 192, 128, 96, 64, 48, 32, 24, 20, 16, 14, 12, 10, 8, 6, 4, 2, 1};

/// On an axis of one PE all splits mean the same: only those with n on x and m on y are kept there.
bool is_redundant(GridSplit split, const AcceleratorConfig& config) {
  return (config.pes_x <= 1.0 && split.x != GemmDimension::n) || (config.pes_y <= 1.0 && split.y != GemmDimension::m);
}

/// Completes a candidate whose spatial part is set and keeps it when it beats the best so far.
void consider(Mapping& candidate, Mapping& best, const LayerShape& layer, const AcceleratorConfig& config,
              const WorkingMemory& memory, const Residency& residency, double bands, double pe_port,
              double floor_cycles) {
  for (const Dataflow dataflow : {Dataflow::output_stationary, Dataflow::weight_stationary}) {
    candidate.dataflow = dataflow;
    candidate.plan =
        dataflow == Dataflow::output_stationary
            ? plan_output_stationary(candidate.pe, candidate.core, candidate.lanes, candidate.reuse, bands, memory)
            : plan_weight_stationary(candidate.pe, candidate.core, candidate.lanes, bands, memory);
    candidate.noc = noc_load(layer, candidate.pe, candidate.core, candidate.plan, residency);
    candidate.noc_cycles = noc_cycles(candidate.noc, config.pes_y);
    if (candidate.noc_cycles > best.steady_cycles) continue;
    candidate.pe_memory = pe_memory_load(layer, candidate.pe, candidate.core, candidate.plan, candidate.lanes);
    candidate.pe_memory_cycles =
        bandwidth_cycles(candidate.pe_memory.read_bytes + candidate.pe_memory.write_bytes, pe_port);
    candidate.steady_cycles = pipelined_cycles(floor_cycles, candidate.noc_cycles, candidate.pe_memory_cycles);
    const double noc_bytes = candidate.noc.weight_bytes + candidate.noc.input_bytes + candidate.noc.output_bytes;
    const double best_noc_bytes = best.noc.weight_bytes + best.noc.input_bytes + best.noc.output_bytes;
    if (!best.found || candidate.steady_cycles < best.steady_cycles ||
        (candidate.steady_cycles == best.steady_cycles && noc_bytes < best_noc_bytes)) {
      const double needed = best.needed_tile_bytes;
      best = candidate;
      best.found = true;
      best.needed_tile_bytes = needed;
    }
    // Everything crosses the NoC once and no sums wait: the other tile order cannot move less.
    if (candidate.plan.weight_passes <= 1.0 && candidate.plan.input_passes <= 1.0) break;
  }
}

/// Remembers the smallest requirement of the mappings that do not fit.
void note_misfit(Mapping& best, double needed_bytes, double available_bytes, bool weights) {
  if (best.needed_tile_bytes > 0 &&
      best.needed_tile_bytes / best.available_tile_bytes <= needed_bytes / available_bytes)
    return;
  best.needed_tile_bytes = needed_bytes;
  best.available_tile_bytes = available_bytes;
  best.weights_too_large = weights;
}

}  // namespace

Mapping best_mapping(const LayerShape& layer, const AcceleratorConfig& config, const WorkingMemory& memory,
                     const Residency& residency, double dram_cycles) {
  Mapping best;
  best.steady_cycles = std::numeric_limits<double>::infinity();
  const double pe_port = pe_memory_bytes_per_cycle(config.pe_memory_bytes);
  Mapping candidate;
  for (const GridSplit split : kGridSplits) {
    if (is_redundant(split, config)) continue;
    if (layer.depthwise && (split.x == GemmDimension::k || split.y == GemmDimension::k)) continue;
    candidate.split = split;
    candidate.pe = pe_share(layer, split, config.pes_x, config.pes_y);
    const SmallestTile tile = smallest_tile(layer, candidate.pe);
    if (tile.input_bytes > memory.input_tile_bytes || tile.output_bytes > memory.output_tile_bytes) {
      note_misfit(best, std::max(tile.input_bytes, tile.output_bytes), memory.input_tile_bytes, false);
      continue;
    }
    const double bands = row_bands(layer, candidate.pe, memory);
    for (double split_n = config.cores_per_pe; split_n >= 1.0;
         split_n = static_cast<double>(static_cast<std::int64_t>(split_n / 2.0))) {
      const double split_m = static_cast<double>(static_cast<std::int64_t>(config.cores_per_pe / split_n));
      candidate.core = core_share(candidate.pe, split_m, split_n);
      std::size_t rung = 0;
      for (double lanes = config.compute_lanes; lanes >= 1.0;) {
        candidate.lanes = lanes;
        candidate.compute_cycles = compute_cycles(layer, candidate.core, candidate.pe.k, lanes, config.macs_per_lane);
        const double bound_cycles = pipelined_cycles(candidate.compute_cycles, dram_cycles);
        if (bound_cycles > best.steady_cycles) break;
        const double weight_tile_bytes = smallest_weight_tile_bytes(layer, lanes, config.macs_per_lane);
        if (weight_tile_bytes <= memory.weight_tile_bytes) {
          candidate.reuse = std::max(1.0, accumulator_reuse(memory.accumulators_per_core, lanes));
          candidate.core_memory_cycles = bandwidth_cycles(
              core_weight_read_bytes(layer, candidate.core, candidate.pe.k, candidate.reuse), kCoreMemoryPortBytes);
          const double floor_cycles = pipelined_cycles(bound_cycles, candidate.core_memory_cycles);
          if (floor_cycles <= best.steady_cycles) {
            consider(candidate, best, layer, config, memory, residency, bands, pe_port, floor_cycles);
          }
          if (best.found && best.steady_cycles <= bound_cycles) break;
        } else {
          note_misfit(best, weight_tile_bytes, memory.weight_tile_bytes, true);
        }
        while (rung < kLaneLadder.size() && kLaneLadder[rung] >= lanes) ++rung;
        lanes = rung < kLaneLadder.size() ? kLaneLadder[rung] : 0.0;
      }
    }
  }
  return best;
}

}  // namespace hindsight::accel

/// The mapper as one loop over everything it may choose, in the order that breaks ties: what best_mapping() has to
/// equal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "hindsight/accel/mapping.h"

namespace hindsight::accel::test {

/// On an axis of one PE all splits mean the same: only those with n on x and m on y are kept there.
inline bool is_redundant(GridSplit split, const AcceleratorConfig& config) {
  return (config.pes_x <= 1.0 && split.x != GemmDimension::n) || (config.pes_y <= 1.0 && split.y != GemmDimension::m);
}

/// Completes a candidate whose spatial part is set and keeps it when it beats the best so far.
inline void consider(Mapping& candidate, Mapping& best, const LayerShape& layer, const AcceleratorConfig& config,
                     const WorkingMemory& memory, const Residency& residency, double bands, double pe_port,
                     double floor_cycles) {
  for (const Dataflow dataflow : {Dataflow::output_stationary, Dataflow::weight_stationary}) {
    candidate.dataflow = dataflow;
    candidate.plan =
        dataflow == Dataflow::output_stationary
            ? plan_output_stationary(candidate.pe, candidate.core, candidate.lanes, candidate.reuse, bands, memory)
            : plan_weight_stationary(candidate.pe, candidate.core, candidate.lanes, bands, memory);
    candidate.noc = noc_load(layer, candidate.pe, candidate.core, candidate.plan, residency, config.sum_operands());
    candidate.noc_cycles = noc_cycles(candidate.noc, config);
    if (candidate.noc_cycles > best.steady_cycles) continue;
    candidate.pe_memory =
        pe_memory_load(layer, candidate.pe, candidate.core, candidate.plan, candidate.lanes, config.sum_operands());
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
inline void note_misfit(Mapping& best, double needed_bytes, double available_bytes, bool weights) {
  if (best.needed_tile_bytes > 0 &&
      best.needed_tile_bytes / best.available_tile_bytes <= needed_bytes / available_bytes)
    return;
  best.needed_tile_bytes = needed_bytes;
  best.available_tile_bytes = available_bytes;
  best.weights_too_large = weights;
}

/// Arguments and result as those of best_mapping().
[[nodiscard]] inline Mapping plain_best_mapping(const LayerShape& layer, const AcceleratorConfig& config,
                                                const WorkingMemory& memory, const Residency& residency,
                                                double dram_cycles) {
  const auto& lane_ladder = mapper_detail::kLaneLadder;
  Mapping best;
  best.steady_cycles = std::numeric_limits<double>::infinity();
  const double pe_port = pe_port_operands(config);
  Mapping candidate;
  for (const GridSplit split : kGridSplits) {
    if (is_redundant(split, config)) continue;
    if (layer.depthwise && (split.x == GemmDimension::k || split.y == GemmDimension::k)) continue;
    candidate.split = split;
    candidate.pe = pe_share(layer, split, config.pes_x, config.pes_y);
    const SmallestTile tile = smallest_tile(layer, candidate.pe, memory);
    if (tile.input_bytes > memory.input_tile_bytes || tile.output_bytes > memory.output_tile_bytes) {
      note_misfit(best, std::max(tile.input_bytes, tile.output_bytes), memory.input_tile_bytes, false);
      continue;
    }
    if (tile.channels > memory.channels) continue;
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
        const double weight_tile_bytes =
            smallest_weight_tile_bytes(layer, lanes, config.macs_per_lane, config.rules.whole_windows);
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
        while (rung < lane_ladder.size() && lane_ladder[rung] >= lanes) ++rung;
        lanes = rung < lane_ladder.size() ? lane_ladder[rung] : 0.0;
      }
    }
  }
  return best;
}

}  // namespace hindsight::accel::test

/// The mapper: the best of all enumerated mappings for one layer on one chip.
///
/// Model: every grid split (`kGridSplits`) x every power-of-two split of a PE's cores between N and M x output- and
/// weight-stationary tile loops x the number of active lanes. The best mapping has the fewest steady-state cycles,
///   cycles = max(compute, core memory, PE memory, NoC, DRAM),
/// and among equals the fewest NoC bytes; the order of enumeration breaks exact ties.
/// Fewer active lanes than the core has are tried only where computing is not what binds, so that a mapping of a
/// smaller core is always among those of a larger one: more lanes are never slower.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/spatial.h"
#include "hindsight/accel/tiling.h"
#include "hindsight/accel/traffic.h"

namespace hindsight::accel {

/// A mapping with its steady-state cost for one repeat of a layer.
struct Mapping {
  bool found = false;
  GridSplit split{};
  Dataflow dataflow = Dataflow::output_stationary;
  double lanes = 1;
  double reuse = 1;
  PeShare pe;
  CoreShare core;
  TilePlan plan;
  NocLoad noc;
  PeMemoryLoad pe_memory;
  double compute_cycles = 0, core_memory_cycles = 0, pe_memory_cycles = 0, noc_cycles = 0;
  double steady_cycles = 0;
  /// When nothing was found: the smallest requirement over all mappings and the buffer it exceeds.
  double needed_tile_bytes = 0;
  double available_tile_bytes = 0;
  bool weights_too_large = false;
};

namespace mapper_detail {

/// Numbers of active lanes that are tried below a core's own: the values of the published space and, for wider
/// cores, the next powers of two and their halves.
inline constexpr std::array<double, 18> kLaneLadder{256, 192, 128, 96, 64, 48, 32, 24, 20,
                                                    16,  14,  12,  10, 8,  6,  4,  2,  1};

/// On an axis of one PE all splits mean the same: only those with n on x and m on y are kept there.
constexpr bool is_redundant(GridSplit split, const AcceleratorConfig& config) {
  return (config.pes_x <= 1.0 && split.x != GemmDimension::n) || (config.pes_y <= 1.0 && split.y != GemmDimension::m);
}

/// Completes a candidate whose spatial part is set and keeps it when it beats the best so far.
constexpr void consider(Mapping& candidate, Mapping& best, const LayerShape& layer, const AcceleratorConfig& config,
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
constexpr void note_misfit(Mapping& best, double needed_bytes, double available_bytes, bool weights) {
  if (best.needed_tile_bytes > 0 &&
      best.needed_tile_bytes / best.available_tile_bytes <= needed_bytes / available_bytes)
    return;
  best.needed_tile_bytes = needed_bytes;
  best.available_tile_bytes = available_bytes;
  best.weights_too_large = weights;
}

}  // namespace mapper_detail

/// `dram_cycles` does not depend on the mapping and is part of the maximum.
[[nodiscard]] constexpr Mapping best_mapping(const LayerShape& layer, const AcceleratorConfig& config,
                                             const WorkingMemory& memory, const Residency& residency,
                                             double dram_cycles) {
  // Local copies: device code cannot address constants at namespace scope.
  const auto grid_splits = kGridSplits;
  const auto lane_ladder = mapper_detail::kLaneLadder;
  Mapping best;
  best.steady_cycles = std::numeric_limits<double>::infinity();
  const double pe_port = pe_memory_bytes_per_cycle(config.pe_memory_bytes);
  Mapping candidate;
  for (const GridSplit split : grid_splits) {
    if (mapper_detail::is_redundant(split, config)) continue;
    if (layer.depthwise && (split.x == GemmDimension::k || split.y == GemmDimension::k)) continue;
    candidate.split = split;
    candidate.pe = pe_share(layer, split, config.pes_x, config.pes_y);
    const SmallestTile tile = smallest_tile(layer, candidate.pe);
    if (tile.input_bytes > memory.input_tile_bytes || tile.output_bytes > memory.output_tile_bytes) {
      mapper_detail::note_misfit(best, std::max(tile.input_bytes, tile.output_bytes), memory.input_tile_bytes, false);
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
            mapper_detail::consider(candidate, best, layer, config, memory, residency, bands, pe_port, floor_cycles);
          }
          if (best.found && best.steady_cycles <= bound_cycles) break;
        } else {
          mapper_detail::note_misfit(best, weight_tile_bytes, memory.weight_tile_bytes, true);
        }
        while (rung < lane_ladder.size() && lane_ladder[rung] >= lanes) ++rung;
        lanes = rung < lane_ladder.size() ? lane_ladder[rung] : 0.0;
      }
    }
  }
  return best;
}

}  // namespace hindsight::accel

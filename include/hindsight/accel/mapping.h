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

/// The next number of active lanes below `lanes`, or 0; `rung` is the caller's place on the ladder, from 0.
constexpr double fewer_lanes(const std::array<double, 18>& ladder, double lanes, std::size_t& rung) {
  while (rung < ladder.size() && ladder[rung] >= lanes) ++rung;
  return rung < ladder.size() ? ladder[rung] : 0.0;
}

constexpr double whole(double value) { return static_cast<double>(static_cast<std::int64_t>(value)); }

/// On an axis of one PE all splits mean the same: only those with n on x and m on y are kept there.
constexpr bool is_redundant(GridSplit split, const AcceleratorConfig& config) {
  return (config.pes_x <= 1.0 && split.x != GemmDimension::n) || (config.pes_y <= 1.0 && split.y != GemmDimension::m);
}

/// What one search asks again and again.
struct Question {
  const LayerShape& layer;
  const AcceleratorConfig& config;
  const WorkingMemory& memory;
  const Residency& residency;
  double dram_cycles;
  double pe_port_bytes;    ///< per cycle
  double lane_tile_bytes;  ///< smallest weight tile of one active lane
};

constexpr double noc_bytes(const NocLoad& load) { return load.weight_bytes + load.input_bytes + load.output_bytes; }

/// A grid split with what no mapping of it can beat.
struct SplitBound {
  GridSplit split{};
  PeShare pe = {};
  SmallestTile tile = {};
  bool fits = false;
  double cycles = 0;
  double noc_bytes = 0;  ///< at one pass
};

/// Cycles that no mapping of a PE's share is below: every weight and input crosses the NoC once, and the lanes and the
/// PE memory's port are never idle.
///
/// Equation: max(DRAM, NoC at one pass, count m n ceil(k / 4) / (cores lanes), (reads + writes) / port), with
/// reads = count k m max(1, n / (cores lanes)), of a depthwise layer its fresh pixels, writes = count (input + m n).
/// The divisions that a mapping rounds up to whole tiles are not rounded here; one part in 10^12 covers that floating
/// point rounds the two ways differently.
constexpr double split_bound_cycles(const Question& asked, const PeShare& pe, const NocLoad& one_pass) {
  constexpr double kRounding = 1.0 - 1e-12;  // [chosen] far above the last bit of a product of a dozen factors
  const LayerShape& layer = asked.layer;
  const double lanes = asked.config.cores_per_pe * asked.config.compute_lanes;
  const double outputs = pe.m * pe.n;
  const double busy_cycles = layer.count * outputs * tile_count(pe.k, asked.config.macs_per_lane) / lanes;
  const double fresh_frac = layer.depthwise ? std::min(1.0, layer.stride_columns / layer.kernel_columns) : 1.0;
  const double channels = layer.depthwise ? pe.n * fresh_frac : std::max(1.0, pe.n / lanes);
  const double port_bytes = layer.count * (pe.k * pe.m * channels + pe.input_bytes + outputs);
  return pipelined_cycles(asked.dram_cycles, noc_cycles(one_pass, asked.config.pes_y), kRounding * busy_cycles,
                          kRounding * port_bytes / asked.pe_port_bytes);
}

constexpr SplitBound split_bound(GridSplit split, const Question& asked) {
  SplitBound bound{.split = split, .pe = pe_share(asked.layer, split, asked.config.pes_x, asked.config.pes_y)};
  bound.tile = smallest_tile(asked.layer, bound.pe);
  bound.fits = bound.tile.input_bytes <= asked.memory.input_tile_bytes &&
               bound.tile.output_bytes <= asked.memory.output_tile_bytes;
  if (!bound.fits) return bound;
  const NocLoad one_pass = noc_load(asked.layer, bound.pe, CoreShare{}, TilePlan{}, asked.residency);
  bound.noc_bytes = noc_bytes(one_pass);
  bound.cycles = split_bound_cycles(asked, bound.pe, one_pass);
  return bound;
}

/// What the accumulators allow a candidate whose place and lanes are set.
constexpr void set_reuse(Mapping& candidate, const Question& asked) {
  candidate.reuse = std::max(1.0, accumulator_reuse(asked.memory.accumulators_per_core, candidate.lanes));
  candidate.core_memory_cycles = bandwidth_cycles(
      core_weight_read_bytes(asked.layer, candidate.core, candidate.pe.k, candidate.reuse), kCoreMemoryPortBytes);
}

/// Costs of a candidate whose place, lanes and dataflow are set; false when they are above `most_cycles`.
constexpr bool complete(Mapping& candidate, const Question& asked, double bands, double most_cycles) {
  const PeShare& pe = candidate.pe;
  const CoreShare& core = candidate.core;
  candidate.plan = candidate.dataflow == Dataflow::output_stationary
                       ? plan_output_stationary(pe, core, candidate.lanes, candidate.reuse, bands, asked.memory)
                       : plan_weight_stationary(pe, core, candidate.lanes, bands, asked.memory);
  candidate.noc = noc_load(asked.layer, pe, core, candidate.plan, asked.residency);
  candidate.noc_cycles = noc_cycles(candidate.noc, asked.config.pes_y);
  if (candidate.noc_cycles > most_cycles) return false;
  candidate.pe_memory = pe_memory_load(asked.layer, pe, core, candidate.plan, candidate.lanes);
  candidate.pe_memory_cycles =
      bandwidth_cycles(candidate.pe_memory.read_bytes + candidate.pe_memory.write_bytes, asked.pe_port_bytes);
  candidate.steady_cycles = pipelined_cycles(asked.dram_cycles, candidate.compute_cycles, candidate.core_memory_cycles,
                                             candidate.noc_cycles, candidate.pe_memory_cycles);
  return candidate.steady_cycles <= most_cycles;
}

/// Both dataflows of a candidate whose place and lanes are set; kept when it beats the best so far.
constexpr void consider(Mapping& candidate, Mapping& best, const Question& asked, double bands) {
  for (const Dataflow dataflow : {Dataflow::output_stationary, Dataflow::weight_stationary}) {
    candidate.dataflow = dataflow;
    if (complete(candidate, asked, bands, best.steady_cycles)) {
      if (!best.found || candidate.steady_cycles < best.steady_cycles ||
          noc_bytes(candidate.noc) < noc_bytes(best.noc)) {
        const double needed = best.needed_tile_bytes;
        best = candidate;
        best.found = true;
        best.needed_tile_bytes = needed;
      }
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

/// Whether a mapping of at least so many cycles and NoC bytes is no better than the best so far. Where the best is
/// known by its cycles only (`!found`), one that is as fast still has to be found.
constexpr bool cannot_win(const Mapping& best, double cycles, double bytes) {
  return cycles > best.steady_cycles || (best.found && cycles == best.steady_cycles && bytes >= noc_bytes(best.noc));
}

/// Tries the numbers of active lanes for a candidate whose PE and core shares are set.
constexpr void try_lanes(Mapping& candidate, Mapping& best, const Question& asked, double bands, double least_bytes) {
  const AcceleratorConfig& config = asked.config;
  const auto ladder = kLaneLadder;  // a local copy: device code cannot address constants at namespace scope
  std::size_t rung = 0;
  for (double lanes = config.compute_lanes; lanes >= 1.0; lanes = fewer_lanes(ladder, lanes, rung)) {
    candidate.lanes = lanes;
    candidate.compute_cycles = compute_cycles(asked.layer, candidate.core, candidate.pe.k, lanes, config.macs_per_lane);
    const double bound_cycles = pipelined_cycles(candidate.compute_cycles, asked.dram_cycles);
    const double port_cycles =
        bandwidth_cycles(pe_memory_load(asked.layer, candidate.pe, candidate.core, TilePlan{}, lanes).read_bytes +
                             asked.layer.count * (candidate.pe.input_bytes + candidate.pe.m * candidate.pe.n),
                         asked.pe_port_bytes);
    if (cannot_win(best, pipelined_cycles(bound_cycles, port_cycles), least_bytes)) return;
    const double weight_tile_bytes = asked.lane_tile_bytes * lanes;
    if (weight_tile_bytes > asked.memory.weight_tile_bytes) {
      note_misfit(best, weight_tile_bytes, asked.memory.weight_tile_bytes, true);
      continue;
    }
    set_reuse(candidate, asked);
    if (!cannot_win(best, candidate.core_memory_cycles, least_bytes)) consider(candidate, best, asked, bands);
    if (best.found && best.steady_cycles <= bound_cycles) return;
  }
}

/// Tries the splits of a PE's cores under one split of the grid.
constexpr void try_split(const SplitBound& split, Mapping& best, const Question& asked) {
  if (!split.fits) {
    note_misfit(best, std::max(split.tile.input_bytes, split.tile.output_bytes), asked.memory.input_tile_bytes, false);
    return;
  }
  Mapping candidate;
  candidate.split = split.split;
  candidate.pe = split.pe;
  const double bands = row_bands(asked.layer, split.pe, asked.memory);
  for (double split_n = asked.config.cores_per_pe; split_n >= 1.0; split_n = whole(split_n / 2.0)) {
    candidate.core = core_share(split.pe, whole(asked.config.cores_per_pe / split_n), split_n);
    try_lanes(candidate, best, asked, bands, split.noc_bytes);
  }
}

/// Cycles of one good mapping under a split that fits: the cores split so that they compute the fewest cycles, as many
/// lanes as their weights allow. Infinite when no number of lanes fits.
constexpr double good_cycles(const SplitBound& split, const Question& asked) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const AcceleratorConfig& config = asked.config;
  const auto ladder = kLaneLadder;
  Mapping candidate;
  candidate.pe = split.pe;
  candidate.lanes = config.compute_lanes;
  std::size_t rung = 0;
  while (asked.lane_tile_bytes * candidate.lanes > asked.memory.weight_tile_bytes) {
    candidate.lanes = fewer_lanes(ladder, candidate.lanes, rung);
    if (candidate.lanes < 1.0) return kInfinity;
  }
  candidate.compute_cycles = kInfinity;
  for (double split_n = config.cores_per_pe; split_n >= 1.0; split_n = whole(split_n / 2.0)) {
    const CoreShare core = core_share(split.pe, whole(config.cores_per_pe / split_n), split_n);
    const double cycles = compute_cycles(asked.layer, core, split.pe.k, candidate.lanes, config.macs_per_lane);
    if (cycles >= candidate.compute_cycles) continue;
    candidate.core = core;
    candidate.compute_cycles = cycles;
  }
  set_reuse(candidate, asked);
  const double bands = row_bands(asked.layer, split.pe, asked.memory);
  double fewest_cycles = kInfinity;
  for (const Dataflow dataflow : {Dataflow::output_stationary, Dataflow::weight_stationary}) {
    candidate.dataflow = dataflow;
    if (complete(candidate, asked, bands, fewest_cycles)) fewest_cycles = candidate.steady_cycles;
  }
  return fewest_cycles;
}

}  // namespace mapper_detail

/// `dram_cycles` does not depend on the mapping and is part of the maximum.
///
/// A split whose bound is above the cycles of a mapping that is known is not searched. The others are, in the order of
/// enumeration, so that exact ties are broken as if all of them were (test `BestMapping`, against the plain loop).
[[nodiscard]] constexpr Mapping best_mapping(const LayerShape& layer, const AcceleratorConfig& config,
                                             const WorkingMemory& memory, const Residency& residency,
                                             double dram_cycles) {
  const auto grid_splits = kGridSplits;  // a local copy: device code cannot address constants at namespace scope
  const mapper_detail::Question asked{.layer = layer,
                                      .config = config,
                                      .memory = memory,
                                      .residency = residency,
                                      .dram_cycles = dram_cycles,
                                      .pe_port_bytes = pe_memory_bytes_per_cycle(config.pe_memory_bytes),
                                      .lane_tile_bytes = smallest_weight_tile_bytes(layer, 1.0, config.macs_per_lane)};
  std::array<mapper_detail::SplitBound, kGridSplits.size()> splits;
  std::size_t count = 0;
  std::size_t promising = kGridSplits.size();
  for (const GridSplit split : grid_splits) {
    if (mapper_detail::is_redundant(split, config)) continue;
    if (layer.depthwise && (split.x == GemmDimension::k || split.y == GemmDimension::k)) continue;
    splits[count] = mapper_detail::split_bound(split, asked);
    if (splits[count].fits && (promising == splits.size() || splits[count].cycles < splits[promising].cycles)) {
      promising = count;
    }
    ++count;
  }
  Mapping best;
  best.steady_cycles = promising < splits.size() ? mapper_detail::good_cycles(splits[promising], asked)
                                                 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    if (!mapper_detail::cannot_win(best, splits[i].cycles, splits[i].noc_bytes)) {
      mapper_detail::try_split(splits[i], best, asked);
    }
  }
  return best;
}

}  // namespace hindsight::accel

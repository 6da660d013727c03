/// The mapper: the best of all enumerated mappings for one layer on one chip.
///
/// Model: every grid split (`kGridSplits`) x every halving of a PE's cores along N, the others along M x output- and
/// weight-stationary tile loops x the number of active lanes. The best mapping has the fewest steady-state cycles,
///   cycles = max(compute, core memory, PE memory, NoC, DRAM),
/// and among equals the fewest NoC bytes; the order of enumeration breaks exact ties.
/// Fewer active lanes than the core has are tried only where computing is not what binds, so that a mapping of a
/// smaller core is always among those of a larger one: more lanes are never slower. That holds for numbers of lanes of
/// `kLaneLadder`: a core of 6 tries 4, not 5.
/// Version 2: only splits whose constants fit half of the parameter memory are enumerated, so that of equally fast
/// mappings one that fits is taken, and where the fastest does not fit the fastest that does.
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
  bool weights_too = false;    ///< the buffer is the PE memory's, and no lane's weights fit a core's either
  double needed_channels = 0;  ///< when tiles fit and constants do not: the fewest of a PE; otherwise 0
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

/// On an axis of one PE all splits mean the same: only those with n on x and m on y are kept there. A depthwise layer
/// has no sum over channels to split.
constexpr bool is_possible(GridSplit split, const LayerShape& layer, const AcceleratorConfig& config) {
  if (config.pes_x <= 1.0 && split.x != GemmDimension::n) return false;
  if (config.pes_y <= 1.0 && split.y != GemmDimension::m) return false;
  return !layer.depthwise || (split.x != GemmDimension::k && split.y != GemmDimension::k);
}

constexpr double noc_bytes(const NocLoad& load) { return load.weight_bytes + load.input_bytes + load.output_bytes; }

/// A grid split with what no mapping of it can beat.
struct SplitBound {
  GridSplit split{};
  PeShare pe = {};
  double cycles = 0;
  double noc_bytes = 0, noc_cycles = 0;  ///< at one pass
};

/// Cycles that no mapping of a PE's share is below: every weight and input crosses the NoC once, and the lanes and the
/// PE memory's port are never idle.
///
/// Equation: max(DRAM, NoC at one pass, count m n ceil(k / 4) / (cores lanes), (reads + writes) / port), with
/// reads = count k m max(1, n / (cores lanes)), of a depthwise layer its fresh pixels, writes = count (input + m n).
/// The divisions that a mapping rounds up to whole tiles are not rounded here; one part in 10^12 covers that floating
/// point rounds the two ways differently.
constexpr double split_bound_cycles(const Question& asked, const PeShare& pe, double one_pass_cycles) {
  constexpr double kRounding = 1.0 - 1e-12;  // [chosen] far above the last bit of a product of a dozen factors
  const LayerShape& layer = asked.layer;
  const double lanes = asked.config.cores_per_pe * asked.config.compute_lanes;
  const double outputs = pe.m * pe.n;
  const double busy_cycles = layer.count * outputs * tile_count(pe.k, asked.config.macs_per_lane) / lanes;
  const double fresh_frac = layer.depthwise ? std::min(1.0, layer.stride_columns / layer.kernel_columns) : 1.0;
  const double channels = layer.depthwise ? pe.n * fresh_frac : std::max(1.0, pe.n / lanes);
  const double port_bytes = layer.count * (pe.k * pe.m * channels + pe.input_bytes + outputs);
  return pipelined_cycles(asked.dram_cycles, one_pass_cycles, kRounding * busy_cycles,
                          kRounding * port_bytes / asked.pe_port_bytes);
}

constexpr bool fits(const SmallestTile& tile, const WorkingMemory& memory) {
  return tile.input_bytes <= memory.input_tile_bytes && tile.output_bytes <= memory.output_tile_bytes &&
         tile.channels <= memory.channels;
}

/// A mapping by what tells it from the others, with what it is judged by. Not found, its cycles are those that some
/// mapping has.
struct Choice {
  bool found = false;
  std::size_t split = 0;  ///< place among the bounds
  double split_n = 1, lanes = 1;
  Dataflow dataflow = Dataflow::output_stationary;
  double cycles = std::numeric_limits<double>::infinity();
  double noc_bytes = 0;
};

/// Whether a mapping of at least so many cycles and NoC bytes is no better than the best so far. Where of the best only
/// the cycles are known, one that is as fast still has to be found.
constexpr bool cannot_win(const Choice& best, double cycles, double bytes) {
  return cycles > best.cycles || (best.found && cycles == best.cycles && bytes >= best.noc_bytes);
}

constexpr double reuse_of(const Question& asked, double lanes) {
  return std::max(1.0, accumulator_reuse(asked.memory.accumulators_per_core, lanes));
}

constexpr double core_memory_cycles(const Question& asked, const PeShare& pe, const CoreShare& core, double reuse) {
  return bandwidth_cycles(core_weight_read_bytes(asked.layer, core, pe.k, reuse), asked.config.core_port_operands());
}

constexpr double pe_memory_cycles(const Question& asked, const PeMemoryLoad& load) {
  return bandwidth_cycles(load.read_bytes + load.write_bytes, asked.pe_port_bytes);
}

constexpr TilePlan plan_of(Dataflow dataflow, const Question& asked, const PeShare& pe, const CoreShare& core,
                           double lanes, double bands) {
  return dataflow == Dataflow::output_stationary
             ? plan_output_stationary(pe, core, lanes, reuse_of(asked, lanes), bands, asked.memory)
             : plan_weight_stationary(pe, core, lanes, bands, asked.memory);
}

/// What a mapping is judged by.
struct Judged {
  double cycles = 0;
  double noc_bytes = 0;
  bool once = false;  ///< everything crosses the NoC once: the other dataflow cannot move less
};
/// `floor_cycles` are those of DRAM, lanes and core memory.
constexpr Judged judge(const Question& asked, const PeShare& pe, const CoreShare& core, double lanes,
                       const TilePlan& plan, double floor_cycles) {
  const NocLoad noc = noc_load(asked.layer, pe, core, plan, asked.residency, asked.config.sum_operands());
  const PeMemoryLoad load = pe_memory_load(asked.layer, pe, core, plan, lanes, asked.config.sum_operands());
  return {.cycles = pipelined_cycles(floor_cycles, noc_cycles(noc, asked.config), pe_memory_cycles(asked, load)),
          .noc_bytes = noc_bytes(noc),
          .once = plan.weight_passes <= 1.0 && plan.input_passes <= 1.0};
}

/// Tries both dataflows with so many lanes; `floor_cycles` as in judge().
constexpr Choice try_dataflows(Choice best, const Question& asked, const SplitBound& split, std::size_t place,
                               const CoreShare& core, double bands, double lanes, double floor_cycles) {
  for (const Dataflow dataflow : {Dataflow::output_stationary, Dataflow::weight_stationary}) {
    const TilePlan plan = plan_of(dataflow, asked, split.pe, core, lanes, bands);
    const Judged judged = judge(asked, split.pe, core, lanes, plan, floor_cycles);
    if (!cannot_win(best, judged.cycles, judged.noc_bytes)) {
      best = {.found = true,
              .split = place,
              .split_n = core.split_n,
              .lanes = lanes,
              .dataflow = dataflow,
              .cycles = judged.cycles,
              .noc_bytes = judged.noc_bytes};
    }
    if (judged.once) break;
  }
  return best;
}

/// The splits of a PE's cores between N and M, from all over N down, with the cycles that they compute with all lanes.
struct CoreSplits {
  static constexpr std::size_t kMost = 53;  // halvings of a whole number below 2^53, the largest size there is
  std::size_t count = 0;
  // The first `count` of each; the others are not initialised, which would take longer than the few that are used.
  std::array<double, kMost> split_m, split_n, m, n, compute_cycles;
  [[nodiscard]] constexpr CoreShare share(std::size_t i) const { return {split_m[i], split_n[i], m[i], n[i]}; }
};

constexpr void list_core_splits(const Question& asked, const PeShare& pe, CoreSplits& splits) {
  splits.count = 0;
  double split_n = asked.config.cores_per_pe;
  for (; split_n >= 1.0 && splits.count < CoreSplits::kMost; split_n = whole(split_n / 2.0)) {
    const CoreShare core = core_share(pe, whole(asked.config.cores_per_pe / split_n), split_n);
    const std::size_t i = splits.count++;
    splits.split_m[i] = core.split_m;
    splits.split_n[i] = core.split_n;
    splits.m[i] = core.m;
    splits.n[i] = core.n;
    splits.compute_cycles[i] =
        compute_cycles(asked.layer, core, pe.k, asked.config.compute_lanes, asked.config.macs_per_lane);
  }
}

/// Cycles of a PE memory's port at one pass, which no mapping with so many lanes or fewer is below.
constexpr double one_pass_port_cycles(const Question& asked, const PeShare& pe, const CoreShare& core, double lanes) {
  return pe_memory_cycles(asked, pe_memory_load(asked.layer, pe, core, TilePlan{}, lanes, asked.config.sum_operands()));
}

/// Tries the numbers of active lanes of one split of a PE's cores, which computes `busy_cycles` with all of them.
constexpr Choice try_lanes(Choice best, const Question& asked, const SplitBound& split, std::size_t place,
                           const CoreShare& core, double bands, double busy_cycles) {
  const auto ladder = kLaneLadder;  // a local copy: device code cannot address constants at namespace scope
  const PeShare& pe = split.pe;
  std::size_t rung = 0;
  double lanes = asked.config.compute_lanes;
  while (true) {
    const double bound_cycles = pipelined_cycles(busy_cycles, asked.dram_cycles);
    // None of these falls with fewer lanes. The port is asked last: most splits fail before it.
    const double one_pass_cycles = pipelined_cycles(bound_cycles, split.noc_cycles);
    if (cannot_win(best, one_pass_cycles, split.noc_bytes)) break;
    const double least_cycles = pipelined_cycles(one_pass_cycles, one_pass_port_cycles(asked, pe, core, lanes));
    if (cannot_win(best, least_cycles, split.noc_bytes)) break;
    if (asked.lane_tile_bytes * lanes <= asked.memory.weight_tile_bytes) {
      const double floor_cycles =
          pipelined_cycles(bound_cycles, core_memory_cycles(asked, pe, core, reuse_of(asked, lanes)));
      if (!cannot_win(best, pipelined_cycles(floor_cycles, least_cycles), split.noc_bytes)) {
        best = try_dataflows(best, asked, split, place, core, bands, lanes, floor_cycles);
      }
      if (best.found && best.cycles <= bound_cycles) break;
    }
    lanes = fewer_lanes(ladder, lanes, rung);
    if (lanes < 1.0) break;
    busy_cycles = compute_cycles(asked.layer, core, pe.k, lanes, asked.config.macs_per_lane);
  }
  return best;
}

/// Tries the splits of a PE's cores under one split of the grid.
constexpr Choice try_split(Choice best, const Question& asked, const SplitBound& split, std::size_t place,
                           const CoreSplits& cores) {
  const double bands = row_bands(asked.layer, split.pe, asked.memory);
  for (std::size_t i = 0; i < cores.count; ++i) {
    best = try_lanes(best, asked, split, place, cores.share(i), bands, cores.compute_cycles[i]);
  }
  return best;
}

/// The most lanes whose smallest weight tile fits; 0 when none does.
constexpr double most_lanes(const Question& asked) {
  const auto ladder = kLaneLadder;
  std::size_t rung = 0;
  double lanes = asked.config.compute_lanes;
  while (lanes >= 1.0 && asked.lane_tile_bytes * lanes > asked.memory.weight_tile_bytes) {
    lanes = fewer_lanes(ladder, lanes, rung);
  }
  return lanes;
}

/// Cycles of one good mapping under a split: the cores split so that they compute the fewest cycles, as many lanes as
/// their weights allow. Infinite when no number of lanes fits.
constexpr double good_cycles(const Question& asked, const SplitBound& split, const CoreSplits& cores) {
  const double lanes = most_lanes(asked);
  double fewest_cycles = std::numeric_limits<double>::infinity();
  if (lanes < 1.0) return fewest_cycles;
  const PeShare& pe = split.pe;
  CoreShare best;
  for (std::size_t i = 0; i < cores.count; ++i) {
    const double cycles = lanes == asked.config.compute_lanes
                              ? cores.compute_cycles[i]
                              : compute_cycles(asked.layer, cores.share(i), pe.k, lanes, asked.config.macs_per_lane);
    if (cycles >= fewest_cycles) continue;
    fewest_cycles = cycles;
    best = cores.share(i);
  }
  const double floor_cycles =
      pipelined_cycles(asked.dram_cycles, fewest_cycles, core_memory_cycles(asked, pe, best, reuse_of(asked, lanes)));
  const double bands = row_bands(asked.layer, pe, asked.memory);
  double cycles = std::numeric_limits<double>::infinity();
  for (const Dataflow dataflow : {Dataflow::output_stationary, Dataflow::weight_stationary}) {
    const Judged judged = judge(asked, pe, best, lanes, plan_of(dataflow, asked, pe, best, lanes, bands), floor_cycles);
    cycles = std::min(cycles, judged.cycles);
    if (judged.once) break;
  }
  return cycles;
}

/// Everything of a mapping that was found.
constexpr Mapping mapping_of(const Choice& choice, const SplitBound& split, const Question& asked) {
  Mapping mapping;
  mapping.found = true;
  mapping.split = split.split;
  mapping.dataflow = choice.dataflow;
  mapping.lanes = choice.lanes;
  mapping.reuse = reuse_of(asked, choice.lanes);
  mapping.pe = split.pe;
  mapping.core = core_share(split.pe, whole(asked.config.cores_per_pe / choice.split_n), choice.split_n);
  mapping.plan = plan_of(choice.dataflow, asked, split.pe, mapping.core, choice.lanes,
                         row_bands(asked.layer, split.pe, asked.memory));
  mapping.noc =
      noc_load(asked.layer, split.pe, mapping.core, mapping.plan, asked.residency, asked.config.sum_operands());
  mapping.pe_memory =
      pe_memory_load(asked.layer, split.pe, mapping.core, mapping.plan, choice.lanes, asked.config.sum_operands());
  mapping.compute_cycles =
      compute_cycles(asked.layer, mapping.core, split.pe.k, choice.lanes, asked.config.macs_per_lane);
  mapping.core_memory_cycles = core_memory_cycles(asked, split.pe, mapping.core, mapping.reuse);
  mapping.pe_memory_cycles = pe_memory_cycles(asked, mapping.pe_memory);
  mapping.noc_cycles = noc_cycles(mapping.noc, asked.config);
  mapping.steady_cycles = choice.cycles;
  return mapping;
}

/// Remembers the smallest requirement of the mappings that do not fit.
constexpr void note_misfit(Mapping& misfit, double needed_bytes, double available_bytes, bool weights) {
  if (misfit.needed_tile_bytes > 0 &&
      misfit.needed_tile_bytes / misfit.available_tile_bytes <= needed_bytes / available_bytes)
    return;
  misfit.needed_tile_bytes = needed_bytes;
  misfit.available_tile_bytes = available_bytes;
  misfit.weights_too_large = weights;
}

/// Why there is no mapping: under no split do the tiles of the PE, those of the core and the constants fit.
constexpr Mapping misfit_of(const Question& asked) {
  const auto grid_splits = kGridSplits;
  const auto ladder = kLaneLadder;
  Mapping misfit;
  misfit.steady_cycles = std::numeric_limits<double>::infinity();
  for (const GridSplit split : grid_splits) {
    if (!is_possible(split, asked.layer, asked.config)) continue;
    const SmallestTile tile =
        smallest_tile(asked.layer, pe_share(asked.layer, split, asked.config.pes_x, asked.config.pes_y), asked.memory);
    if (std::max(tile.input_bytes, tile.output_bytes) > asked.memory.input_tile_bytes) {
      note_misfit(misfit, std::max(tile.input_bytes, tile.output_bytes), asked.memory.input_tile_bytes, false);
      continue;
    }
    if (tile.channels > asked.memory.channels && asked.lane_tile_bytes <= asked.memory.weight_tile_bytes) {
      const double fewest = misfit.needed_channels;
      misfit.needed_channels = fewest > 0 ? std::min(fewest, tile.channels) : tile.channels;
      continue;
    }
    std::size_t rung = 0;
    for (double lanes = asked.config.compute_lanes; lanes >= 1.0; lanes = fewer_lanes(ladder, lanes, rung)) {
      note_misfit(misfit, asked.lane_tile_bytes * lanes, asked.memory.weight_tile_bytes, true);
    }
  }
  misfit.weights_too = !misfit.weights_too_large && asked.lane_tile_bytes > asked.memory.weight_tile_bytes;
  return misfit;
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
  const mapper_detail::Question asked{
      .layer = layer,
      .config = config,
      .memory = memory,
      .residency = residency,
      .dram_cycles = dram_cycles,
      .pe_port_bytes = pe_port_operands(config),
      .lane_tile_bytes = smallest_weight_tile_bytes(layer, 1.0, config.macs_per_lane, config.rules.whole_windows)};
  std::array<mapper_detail::SplitBound, kGridSplits.size()> splits;
  std::size_t count = 0, promising = 0;
#if defined(__GNUC__) && !defined(__CUDACC__)
#pragma GCC unroll 8  // the splits: what several of them divide is divided once
#endif
  for (const GridSplit split : grid_splits) {
    if (!mapper_detail::is_possible(split, asked.layer, asked.config)) continue;
    mapper_detail::SplitBound& bound = splits[count];
    bound.split = split;
    bound.pe = pe_share(layer, split, config.pes_x, config.pes_y);
    if (!mapper_detail::fits(smallest_tile(layer, bound.pe, memory), memory)) continue;
    const NocLoad one_pass = noc_load(layer, bound.pe, CoreShare{}, TilePlan{}, residency, config.sum_operands());
    bound.noc_bytes = mapper_detail::noc_bytes(one_pass);
    bound.noc_cycles = noc_cycles(one_pass, config);
    bound.cycles = mapper_detail::split_bound_cycles(asked, bound.pe, bound.noc_cycles);
    if (bound.cycles < splits[promising].cycles) promising = count;
    ++count;
  }
  if (count == 0) return mapper_detail::misfit_of(asked);
  mapper_detail::CoreSplits promising_cores, cores;
  mapper_detail::list_core_splits(asked, splits[promising].pe, promising_cores);
  mapper_detail::Choice best;
  best.cycles = mapper_detail::good_cycles(asked, splits[promising], promising_cores);
  for (std::size_t i = 0; i < count; ++i) {
    if (mapper_detail::cannot_win(best, splits[i].cycles, splits[i].noc_bytes)) continue;
    if (i != promising) mapper_detail::list_core_splits(asked, splits[i].pe, cores);
    best = mapper_detail::try_split(best, asked, splits[i], i, i == promising ? promising_cores : cores);
  }
  return best.found ? mapper_detail::mapping_of(best, splits[best.split], asked) : mapper_detail::misfit_of(asked);
}

}  // namespace hindsight::accel

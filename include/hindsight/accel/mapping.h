/// The mapper: the best of all enumerated mappings for one layer on one chip.
///
/// Model: every grid split (`kGridSplits`) x every power-of-two split of a PE's cores between N and M x output- and
/// weight-stationary tile loops x the number of active lanes. The best mapping has the fewest steady-state cycles,
///   cycles = max(compute, core memory, PE memory, NoC, DRAM),
/// and among equals the fewest NoC bytes; the order of enumeration breaks exact ties.
/// Fewer active lanes than the core has are tried only where computing is not what binds, so that a mapping of a
/// smaller core is always among those of a larger one: more lanes are never slower.
#pragma once

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

/// `dram_cycles` does not depend on the mapping and is part of the maximum.
[[nodiscard]] Mapping best_mapping(const LayerShape& layer, const AcceleratorConfig& config,
                                   const WorkingMemory& memory, const Residency& residency, double dram_cycles);

}  // namespace hindsight::accel

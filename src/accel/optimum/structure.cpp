/// The least traffic of any mapping, from all splits with memories that hold everything.
#include "hindsight/accel/optimum/structure.h"

#include <algorithm>

#include "hindsight/accel/energy.h"

namespace hindsight::accel::optimum {
namespace {

/// Keeps `choices` a set of which none covers another.
void add_choice(std::vector<OnChipBytes>& choices, const OnChipBytes& bytes) {
  const auto covers = [&](const OnChipBytes& other) { return other.covers(bytes); };
  if (std::any_of(choices.begin(), choices.end(), covers)) return;
  std::erase_if(choices, [&](const OnChipBytes& other) { return bytes.covers(other); });
  choices.push_back(bytes);
}

}  // namespace

LeastTraffic least_traffic(const LayerShape& layer, const AcceleratorConfig& largest) {
  LeastTraffic least{.streamed = {}, .cached = {}, .instructions = std::numeric_limits<double>::infinity()};
  const WorkingMemory memory = working_memory(largest);
  Mapping mapping;
  mapping.plan = {.tiles_m = 1, .tiles_n = 1, .tiles_k = 1, .weight_passes = 1, .input_passes = 1};
  mapping.reuse = std::max(1.0, accumulator_reuse(memory.accumulators_per_core, 1));
  for_each_split(layer, largest, [&](GridSplit, const PeShare& pe) {
    mapping.pe = pe;
    const SmallestTile tile = smallest_tile(layer, pe, memory);
    if (tile.input_bytes > memory.input_tile_bytes || tile.output_bytes > memory.output_tile_bytes) return;
    for_each_core_split(pe, largest, [&](const CoreShare& core) {
      mapping.core = core;
      mapping.pe_memory = pe_memory_load(layer, pe, core, mapping.plan, largest.compute_lanes, largest.sum_operands());
      least.instructions =
          std::min(least.instructions, layer_instructions(pe, core, mapping.plan, largest.pes_x, largest.pes_y));
      for (const bool cached : {false, true}) {
        mapping.noc = noc_load(layer, pe, core, mapping.plan, {.weights_cached_frac = cached ? 1.0 : 0.0},
                               largest.sum_operands());
        Traffic traffic;
        add_on_chip_traffic(layer, mapping, largest, traffic);
        add_choice(cached ? least.cached : least.streamed, on_chip_bytes(traffic));
      }
    });
  });
  return least;
}

}  // namespace hindsight::accel::optimum

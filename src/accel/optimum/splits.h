/// One layer on the PEs, cores and lanes of a group: every split of it, with a bound that no memory changes.
///
/// Model: the mapper's, choice for choice (best_mapping(); test `Splits`). A chip asks for the best mapping at its
/// memories; splits whose bound is above what is known are not looked at (memory_free_bound of structure.h), and a
/// choice that no split can beat at larger memories is not made again (larger_memories).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hindsight/accel/mapping.h"

namespace hindsight::accel::optimum {

/// The memories of one chip, for the mapper.
struct MapperMemory {
  WorkingMemory working;
  double pe_port_bytes = 0;  ///< per cycle
};
[[nodiscard]] MapperMemory mapper_memory(const AcceleratorConfig& config);

class Splits {
 public:
  /// `largest`: the group with its largest memories, or larger. `layer` is referred to.
  Splits(const LayerShape& layer, const AcceleratorConfig& largest, bool cached);

  /// The best mapping when DRAM takes no time.
  [[nodiscard]] mapper_detail::Choice on_chip(const MapperMemory& memory);
  /// The best mapping when DRAM takes `dram_cycles`, no less than the steady cycles of on_chip(), which has one.
  [[nodiscard]] mapper_detail::Choice beside_dram(const MapperMemory& memory, double dram_cycles);
  /// Everything of a choice that one of the two made for these memories and DRAM cycles.
  [[nodiscard]] Mapping mapping(const mapper_detail::Choice& choice, const MapperMemory& memory) const;
  [[nodiscard]] double constants(const mapper_detail::Choice& choice) const { return grid_[choice.split].bound.pe.n; }
  [[nodiscard]] double instructions(const mapper_detail::Choice& choice, const MapperMemory& memory);

 private:
  /// A split of the grid.
  struct Grid {
    mapper_detail::SplitBound bound;
    SmallestTile tile;
    double bands_of_bytes = -1;  ///< input buffer that `bands` is for
    double bands = 0;
  };
  /// A split of the grid and of a PE's cores.
  struct Core {
    CoreShare share;
    double busy_cycles = 0;  ///< of all lanes
    std::uint32_t grid = 0;
  };
  /// The choice at these memories and all larger ones, beside a DRAM of as many cycles as it takes itself or more, but
  /// fewer than the first split needs that might be preferred: fewer bytes over the NoC at one pass, or as many and
  /// earlier in the mapper's order.
  struct Settled {
    MapperMemory memory;
    mapper_detail::Choice choice;
    double from_cycles = 0, below_cycles = 0;
  };
  [[nodiscard]] const Settled* settled(const MapperMemory& memory, double dram_cycles) const;
  /// Remembers the choice, of the split `core`, when it is settled: every byte crosses the NoC once, and it is what the
  /// mapper tries first of its split.
  void settle(const mapper_detail::Choice& choice, std::uint32_t core, const mapper_detail::Question& asked);
  [[nodiscard]] mapper_detail::Question question(const MapperMemory& memory, double dram_cycles) const;
  /// Goes on from `best` with the mappings of one split; whether one of them is now the best.
  bool attempt(mapper_detail::Choice& best, const mapper_detail::Question& asked, std::uint32_t core);
  /// row_bands() of a split; those of the last PE memory are remembered.
  double bands(Grid& grid, const WorkingMemory& memory);

  const LayerShape& layer_;
  AcceleratorConfig config_;
  Residency residency_;
  double lane_tile_bytes_ = 0;
  std::vector<Grid> grid_;
  std::vector<Core> cores_;              ///< in the mapper's order
  std::vector<double> cycles_;           ///< of each: memory_free_cycles()
  std::vector<double> noc_bytes_;        ///< of each, at one pass
  std::vector<std::uint32_t> by_bound_;  ///< places in cores_, those first that may be fastest
  std::vector<Settled> settled_;
  std::vector<std::uint32_t> tied_;  ///< places in cores_ of mappings that are equally fast
};

}  // namespace hindsight::accel::optimum

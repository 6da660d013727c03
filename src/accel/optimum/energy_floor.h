/// What no mapping on the chips of a group can do without: bytes, and so joules.
#pragma once

#include <span>
#include <vector>

#include "accel/optimum/chips.h"
#include "accel/optimum/layers.h"

namespace hindsight::accel::optimum {

/// Energies of one byte on the chip of `core`, pJ.
struct BytePrices {
  OnChipBytes pj;
  double accumulator_pj = 0;  ///< read and written
};
[[nodiscard]] BytePrices byte_prices(const Core& core, const Prices& prices);
/// The chip of `core` with these prices, for layer_energy().
[[nodiscard]] ChipFacts priced_chip(const Core& core, const Prices& prices);

/// Sums over each application, for a bound of a few operations.
class ApplicationFloor {
 public:
  ApplicationFloor(const Layers& layers, const Group& group);
  /// Joules without DRAM and leakage that application `a` takes at least on chips of the group.
  [[nodiscard]] double dynamic_j(std::size_t a, const BytePrices& prices) const;

 private:
  struct Sums {
    double logic_j = 0;
    OnChipBytes bytes;
    double accumulator_bytes = 0;
  };
  std::vector<Sums> sums_;  ///< per application
};

/// Layer by layer, from all splits.
class LayerFloor {
 public:
  /// `largest`: the group's config with its largest memories.
  LayerFloor(const Layers& layers, const AcceleratorConfig& largest);
  /// Joules of one repeat of every shape on chips with the memories of `core`, without DRAM and leakage: 2 x shapes,
  /// weights streamed, then cached.
  [[nodiscard]] std::vector<double> least_j(const Core& core, const Prices& prices) const;

 private:
  const Layers& layers_;
  std::vector<LeastTraffic> least_;  ///< per shape
};

}  // namespace hindsight::accel::optimum

/// What no mapping can beat: the time that a network's arithmetic and its DRAM traffic take alone.
///
/// No mapping is searched: a few dozen operations per layer, so a search over a surrogate can ask for every design.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "hindsight/accel/network_cost.h"

namespace hindsight::accel {

/// Adds nothing to what latency_bound_s() knows of a layer.
struct NoOtherCycles {
  [[nodiscard]] constexpr double operator()(const LayerShape&) const { return 0; }
};

/// A latency that no mapping of `layers` on a chip is below; whether the chip can be built is not asked. `config` with
/// the rules of its technology (template_rules()), which say where weights may stay.
///
/// Equation: sum_l repeat_l (max(lane cycles_l / (PEs * cores * lanes), DRAM cycles_l) + vector cycles_l) / clock, and
/// no layer's arithmetic takes less than its MACs at `most_macs_per_s`, and no layer less than `other_cycles` of it.
/// Symbols: lane cycles_l, steps of one lane that does all of layer l; DRAM cycles_l, what the layer moves to and from
/// DRAM over the bandwidth: weights that do not stay on chip, activations that do not fit.
template <class OtherCycles = NoOtherCycles>
[[nodiscard]] constexpr double latency_bound_s(const AcceleratorConfig& config,
                                               std::span<const workload::GemmLayer> layers,
                                               double most_macs_per_s = std::numeric_limits<double>::infinity(),
                                               const OtherCycles& other_cycles = {}) {
  const ChipRates rates = chip_rates(config);
  const double lanes = config.pes() * config.cores_per_pe * config.compute_lanes;
  const ResidentMemory resident =
      resident_for(config, rates.resident, layers.size(), [&](std::size_t i) { return layer_shape(layers, i); });
  double cycles = 0, earlier_weight_bytes = 0;
  bool previous_on_chip = false;  // the network's input comes from DRAM
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerShape layer = layer_shape(layers, i);
    const Residency residency =
        residency_of(layer, previous_on_chip, i + 1 == layers.size(), earlier_weight_bytes, resident);
    previous_on_chip = residency.output_on_chip;
    if (!layer.weights_are_activations) earlier_weight_bytes += layer.weight_bytes * layer.repeat;
    const Traffic traffic = mean_dram_traffic(layer, residency.input_on_chip, residency.output_on_chip,
                                              residency.weights_on_chip_frac(), rates.resident);
    const double arithmetic_cycles =
        std::max(lane_cycles(layer, config.macs_per_lane) / lanes, layer.macs * (config.clock_hz() / most_macs_per_s));
    const double dram_cycles = bandwidth_cycles(traffic.dram_bytes(), rates.dram_operands_per_cycle);
    cycles +=
        layer.repeat * (std::max({arithmetic_cycles, dram_cycles, other_cycles(layer)}) + vector_cycles(layer, config));
  }
  return cycles / config.clock_hz();
}

}  // namespace hindsight::accel

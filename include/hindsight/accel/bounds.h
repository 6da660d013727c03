/// What no mapping can beat: the time that a network's arithmetic and its DRAM traffic take alone, of each layer no
/// less than its start.
///
/// No mapping is searched: a few dozen operations per layer, so a search over a surrogate can ask for every design.
#pragma once

#include <algorithm>
#include <limits>
#include <span>

#include "hindsight/accel/network_cost.h"

namespace hindsight::accel {

/// What a layer takes on one chip however little it has to do: whole cycles of its lanes, and its start, which no
/// mapping and nothing else of the layer hides.
///
/// Equation: max(ceil(lane cycles / (PEs * cores * lanes)), fill and drain + overhead + 1), as network_cost.h adds them
/// to the cycles of every mapping: hops of the grid, the DRAM's latency where something is read, the first and the last
/// DMA granule (fill_drain_cycles), set-up and hops of the descriptor (layer_overhead_cycles); one cycle computes.
/// Valid for: one chip. Hops grow with the grid: what bounds boxes of chips (optimum/floor.h) leaves the start out.
/// Differs: the model adds the start to what the layer's mapping takes. Here the larger of both stands, which decides
/// only about layers whose work is shorter than their start.
struct CertainCycles {
  const AcceleratorConfig& config;
  [[nodiscard]] constexpr double operator()(const LayerShape& layer, const Traffic& dram_traffic,
                                            const ChipRates& rates) const {
    const double lanes = config.pes() * config.cores_per_pe * config.compute_lanes;
    return std::max(tile_count(lane_cycles(layer, config.macs_per_lane), lanes),
                    fill_drain_cycles(dram_traffic, config, rates) + layer_overhead_cycles(config) + 1.0);
  }
};

/// A latency that no mapping of `layers` on a chip is below; whether the chip can be built is not asked. `config` with
/// the rules of its technology (template_rules()), which say where weights may stay.
///
/// Equation: sum_l repeat_l (max(lane cycles_l / (PEs * cores * lanes), DRAM cycles_l) + vector cycles_l) / clock, and
/// no layer's arithmetic takes less than its MACs at `most_macs_per_s`, and no layer less than `other_cycles` of it.
/// Symbols: lane cycles_l, steps of one lane that does all of layer l; DRAM cycles_l, what the layer moves to and from
/// DRAM over the bandwidth: weights that do not stay on chip, activations that do not fit.
template <class OtherCycles>
[[nodiscard]] constexpr double latency_bound_s(const AcceleratorConfig& config,
                                               std::span<const workload::GemmLayer> layers, double most_macs_per_s,
                                               const OtherCycles& other_cycles) {
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
    earlier_weight_bytes += stored_parameter_bytes(layer, resident);
    const Traffic traffic = mean_dram_traffic(layer, residency.input_on_chip, residency.output_on_chip,
                                              residency.weights_on_chip_frac(), rates.resident);
    const double arithmetic_cycles =
        std::max(lane_cycles(layer, config.macs_per_lane) / lanes, layer.macs * (config.clock_hz() / most_macs_per_s));
    const double dram_cycles = bandwidth_cycles(traffic.dram_bytes(), rates.dram_operands_per_cycle);
    const double most_cycles = std::max({arithmetic_cycles, dram_cycles, other_cycles(layer, traffic, rates)});
    cycles += layer.repeat * (most_cycles + vector_cycles(layer, config));
  }
  return cycles / config.clock_hz();
}

/// The same of one chip, with what is certain of each of its layers (CertainCycles).
[[nodiscard]] constexpr double latency_bound_s(const AcceleratorConfig& config,
                                               std::span<const workload::GemmLayer> layers) {
  return latency_bound_s(config, layers, std::numeric_limits<double>::infinity(), CertainCycles{config});
}

}  // namespace hindsight::accel

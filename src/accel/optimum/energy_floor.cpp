/// Prices of bytes, and sums of what no mapping avoids.
#include "accel/optimum/energy_floor.h"

#include <algorithm>
#include <limits>

#include "hindsight/accel/energy.h"
#include "hindsight/core/units.h"

namespace hindsight::accel::optimum {
namespace {

double least_of(const std::vector<OnChipBytes>& choices, const OnChipBytes& pj) {
  double least = std::numeric_limits<double>::infinity();
  for (const OnChipBytes& bytes : choices) least = std::min(least, joules(bytes, pj));
  return least;
}

}  // namespace

ChipFacts priced_chip(const Core& core, const Prices& prices) {
  ChipFacts chip = core.chip;
  chip.parameter_memory.read_pj_per_byte = prices.parameter_read_pj;
  chip.instruction_memory.read_pj_per_byte = prices.instruction_read_pj;
  chip.event.noc_pj_per_hop_byte = prices.noc_pj_per_hop_byte;
  return chip;
}

BytePrices byte_prices(const Core& core, const Prices& prices) {
  return {
      .pj = {.noc_hops = prices.noc_pj_per_hop_byte,
             .core_read = core.chip.core_memory.read_pj_per_byte,
             .core_write = core.chip.core_memory.write_pj_per_byte,
             .pe_read = core.chip.pe_memory.read_pj_per_byte,
             .pe_write = core.chip.pe_memory.write_pj_per_byte},
      .accumulator_pj = core.chip.activation_memory.read_pj_per_byte + core.chip.activation_memory.write_pj_per_byte};
}

ApplicationFloor::ApplicationFloor(const Layers& layers, const Group& group) {
  const double hops = mean_hops(group.config);
  for (const Span& span : layers.applications()) {
    Sums sums;
    for (std::size_t i = span.begin; i < span.end; ++i) {
      const Use use = layers.uses()[i];
      const LayerShape& layer = layers.shapes()[use.shape];
      const OnChipBytes bytes = least_bytes(layer, hops);
      sums.logic_j += use.repeat * layer_energy(layer, {}, 0, group.chip).total_j();
      sums.accumulator_bytes += use.repeat * lane_cycles(layer, group.config.macs_per_lane) * kAccumulatorBytes;
      sums.bytes.add_scaled(bytes, use.repeat);
    }
    sums_.push_back(sums);
  }
}

double ApplicationFloor::dynamic_j(std::size_t a, const BytePrices& prices) const {
  const Sums& sums = sums_[a];
  return sums.logic_j + joules(sums.bytes, prices.pj) + units::kPico * sums.accumulator_bytes * prices.accumulator_pj;
}

LayerFloor::LayerFloor(const Layers& layers, const AcceleratorConfig& largest) : layers_(layers) {
  for (const LayerShape& layer : layers.shapes()) least_.push_back(least_traffic(layer, largest));
}

std::vector<double> LayerFloor::least_j(const Core& core, const Prices& prices) const {
  const ChipFacts chip = priced_chip(core, prices);
  const BytePrices byte = byte_prices(core, prices);
  std::vector<double> energies_j;
  energies_j.reserve(2 * least_.size());
  for (std::size_t s = 0; s < least_.size(); ++s) {
    const LayerShape& layer = layers_.shapes()[s];
    const double accumulations = lane_cycles(layer, chip.config.macs_per_lane) * kAccumulatorBytes;
    const double fixed_j = layer_energy(layer, {}, least_[s].instructions, chip).total_j() +
                           units::kPico * accumulations * byte.accumulator_pj;
    energies_j.push_back(fixed_j + least_of(least_[s].streamed, byte.pj));
    energies_j.push_back(fixed_j + least_of(least_[s].cached, byte.pj));
  }
  return energies_j;
}

}  // namespace hindsight::accel::optimum

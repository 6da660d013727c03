/// Remembers mappings by the memories that matter, and adds applications up as the model does.
#include "accel/optimum/sites.h"

#include <algorithm>
#include <limits>

#include "accel/optimum/energy_floor.h"
#include "hindsight/accel/energy.h"
#include "hindsight/core/units.h"

namespace hindsight::accel::optimum {
namespace {

constexpr std::array<Role, 3> kMemories{Role::pe_memory, Role::core_memory, Role::activation};

/// First level of an axis that is at least `enough`, or its last.
std::uint16_t first_level(const Axis& axis, double enough) {
  const auto found = std::lower_bound(axis.values.begin(), axis.values.end(), enough * (1.0 + kMargin));
  return static_cast<std::uint16_t>(std::min<std::ptrdiff_t>(found - axis.values.begin(), std::ssize(axis.values) - 1));
}

/// First level that is at least `need`; the number of levels when none is.
std::uint8_t level_of(const Axis& axis, double need) {
  return static_cast<std::uint8_t>(std::lower_bound(axis.values.begin(), axis.values.end(), need) -
                                   axis.values.begin());
}

/// A chip on which nothing costs energy but the constants of requantisation, 1 pJ per byte.
ChipFacts only_parameters(const AcceleratorConfig& config) {
  ChipFacts chip;
  chip.config = config;
  chip.parameter_memory.read_pj_per_byte = 1;
  return chip;
}

}  // namespace

Sites::Sites(const Axes& axes, const Layers& layers, LandscapeMetrics metrics)
    : axes_(axes), layers_(layers), metrics_(metrics) {}

void Sites::open(const Group& group) {
  config_ = group.config;
  fixed_.clear();
  saturated_.clear();
  known_.clear();
  for (const LayerShape& layer : layers_.shapes()) {
    fixed_.push_back(
        {.least_compute_cycles = least_split_cycles(layer, config_).compute,
         .logic_j = layer_energy(layer, {}, 0, group.chip).total_j(),
         .accumulator_bytes = lane_cycles(layer, config_.macs_per_lane) * kAccumulatorBytes,
         .parameter_read_bytes = layer_energy(layer, {}, 0, only_parameters(config_)).total_j() / units::kPico});
    const SaturatedMemory enough = saturated_memory(layer, config_);
    saturated_.push_back({first_level(axes_[Role::pe_memory], enough.pe_memory_bytes),
                          first_level(axes_[Role::core_memory], enough.core_memory_bytes),
                          first_level(axes_[Role::activation], enough.activation_memory_entries)});
    std::size_t count = 2;
    for (const std::uint16_t level : saturated_.back()) count *= level + 1U;
    known_.emplace_back(count);
  }
}

Sites::Mapped Sites::map(std::uint32_t shape, const AcceleratorConfig& config, bool cached, double dram_cycles) {
  ++mappings_;
  const LayerShape& layer = layers_.shapes()[shape];
  const Residency residency{.weights_cached_frac = cached ? 1.0 : 0.0};
  const Mapping mapping = best_mapping(layer, config, working_memory(config), residency, dram_cycles);
  Mapped mapped;
  mapped.dram_cycles = dram_cycles;
  mapped.steady_cycles = mapping.steady_cycles;
  if (!mapping.found) return mapped;
  mapped.constants = mapping.pe.n;
  mapped.instructions = layer_instructions(mapping.pe, mapping.core, mapping.plan, config.pes_x, config.pes_y);
  if (metrics_ == LandscapeMetrics::latency) return mapped;
  Traffic traffic;
  add_on_chip_traffic(layer, mapping, config, traffic);
  mapped.bytes = {.noc_hops = traffic.noc_hop_bytes,
                  .core_read = traffic.core_memory_read_bytes,
                  .core_write = traffic.core_memory_write_bytes,
                  .pe_read = traffic.pe_memory_read_bytes,
                  .pe_write = traffic.pe_memory_write_bytes};
  return mapped;
}

const Sites::Mapped& Sites::mapped(std::uint32_t shape, const Point& point, bool cached, double dram_cycles) {
  Point enough = point;
  std::size_t index = 0;
  for (std::size_t i = 0; i < kMemories.size(); ++i) {
    const std::uint16_t level = std::min(at(point, kMemories[i]), saturated_[shape][i]);
    at(enough, kMemories[i]) = level;
    index = index * (saturated_[shape][i] + 1U) + level;
  }
  const double shown_cycles = dram_cycles <= fixed_[shape].least_compute_cycles ? 0.0 : dram_cycles;
  std::vector<Mapped>& known = known_[shape][2 * index + (cached ? 1 : 0)];
  for (const Mapped& one : known) {
    if (one.dram_cycles == shown_cycles) return one;
  }
  known.push_back(map(shape, axes_.config(enough), cached, shown_cycles));
  return known.back();
}

void Sites::visit(const Point& point, const Core& core, std::vector<Site>& sites) {
  const AcceleratorConfig config = axes_.config(point);
  const ChipRates rates = chip_rates(config);
  const DramPoint& dram = layers_.dram(config);
  const BytePrices prices = byte_prices(core, {});
  sites.clear();
  for (std::size_t a = 0; a < layers_.applications().size(); ++a) {
    Site site;
    double cycles = 0, instructions = 0, constants = 0, last_constants = 0;
    const Span span = layers_.applications()[a];
    for (std::size_t i = span.begin; i < span.end && cycles < std::numeric_limits<double>::infinity(); ++i) {
      const Use use = layers_.uses()[i];
      const LayerDram& memory = dram.layers[i];
      const double granules = bandwidth_cycles(memory.granule_bytes, rates.dram_bytes_per_cycle);
      const double beyond = std::max(0.0, bandwidth_cycles(memory.total_bytes, rates.dram_bytes_per_cycle) - granules);
      const Mapped& one = mapped(use.shape, point, memory.cached, beyond);
      // The model's own order of operations: the sum is the model's to the last digit.
      const double steady = std::max(one.steady_cycles, beyond);
      const double fill_drain =
          config.pes_x + config.pes_y + (memory.reads ? rates.dram_latency_cycles : 0.0) + granules;
      cycles += use.repeat * (steady + fill_drain + kLayerOverheadCycles);
      instructions += use.repeat * one.instructions;
      const double together =
          one.constants + (use.repeat > 1.0 ? std::max(last_constants, one.constants) : last_constants);
      constants = std::max(constants, together);
      last_constants = one.constants;
      if (metrics_ == LandscapeMetrics::latency) continue;
      const Fixed& fixed = fixed_[use.shape];
      site.energy.fixed_j += use.repeat * (fixed.logic_j + joules(one.bytes, prices.pj) +
                                           units::kPico * fixed.accumulator_bytes * prices.accumulator_pj);
      site.energy.noc_hop_bytes += use.repeat * one.bytes.noc_hops;
      site.energy.parameter_read_bytes += use.repeat * fixed.parameter_read_bytes;
      site.energy.instruction_read_bytes += use.repeat * one.instructions * kInstructionBytes;
    }
    site.latency_s = cycles / config.clock_hz();
    site.parameter = level_of(axes_[Role::parameter], constants);
    site.instruction = level_of(axes_[Role::instruction], instructions);
    if (metrics_ != LandscapeMetrics::latency) site.energy.fixed_j += Layers::dram_j(dram.sums[a], core.chip);
    sites.push_back(site);
  }
}

}  // namespace hindsight::accel::optimum

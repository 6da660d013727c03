/// Adds applications up as the model does, to the last digit.
#include "accel/optimum/sites.h"

#include <algorithm>
#include <limits>

#include "hindsight/core/units.h"

namespace hindsight::accel::optimum {
namespace {

std::uint8_t level_of(const Axis& axis, double need) {
  return batch_detail::level_of(axis.values.data(), static_cast<std::uint32_t>(axis.size()), need);
}

}  // namespace

Sites::Sites(const Axes& axes, const Layers& layers, LandscapeMetrics metrics)
    : axes_(axes), layers_(layers), metrics_(metrics), mappings_(axes, layers, metrics) {}

std::span<const Site> Sites::of(std::size_t chip, std::size_t bandwidth) const {
  const std::size_t applications = layers_.applications().size();
  const std::size_t first = (chip * axes_.size(Role::bandwidth) + bandwidth) * applications;
  return std::span(sites_).subspan(first, applications);
}

void Sites::open(const Group& group) {
  config_ = group.config;
  mappings_.open(config_);
  fixed_.clear();
  for (const LayerShape& layer : layers_.shapes()) {
    if (metrics_ == LandscapeMetrics::latency) break;
    fixed_.push_back(fixed_cost(layer, group.chip));
  }
}

void Sites::visit(std::span<const BuildableChip> chips) {
  chips_ = chips;
  const std::size_t bandwidths = axes_.size(Role::bandwidth);
  sites_.assign(chips.size() * bandwidths * layers_.applications().size(), Site{});
  dram_.clear();
  prices_.clear();
  for (const BuildableChip& chip : chips) {
    dram_.push_back(&layers_.dram(chip.core.chip.config));
    prices_.push_back(byte_prices(chip.core, {}));
  }
  for (std::size_t first = 0; first < bandwidths; first += kWide) {
    for (std::size_t b = 0; b < kWide; ++b) {
      AcceleratorConfig config = config_;
      config.dram_bandwidth_gb_per_s = axes_[Role::bandwidth].values[std::min(first + b, bandwidths - 1)];
      const ChipRates rates = chip_rates(config);
      bytes_per_cycle_[b] = rates.dram_operands_per_cycle;
      dram_latency_cycles_ = rates.dram_latency_cycles;
    }
    for (std::size_t a = 0; a < layers_.applications().size(); ++a) {
      sums_.assign(chips.size(), Sums{});
      if (metrics_ != LandscapeMetrics::latency) energies_.assign(chips.size(), EnergySums{});
      const Span span = layers_.applications()[a];
      for (std::size_t i = span.begin; i < span.end; ++i) add_use(i, first);
      finish(a, first);
    }
  }
}

void Sites::transfer_of(const DramPoint& point, std::size_t use) {
  const LayerDram& dram = point.layers[use];
  const double hops = grid_fill_cycles(config_) + (dram.reads ? dram_latency_cycles_ : 0.0);
  transfer_.point = &point;
  for (std::size_t b = 0; b < kWide; ++b) {
    const double granules = bandwidth_cycles(dram.granule_bytes, bytes_per_cycle_[b]);
    transfer_.beyond_cycles[b] = std::max(0.0, bandwidth_cycles(dram.total_bytes, bytes_per_cycle_[b]) - granules);
    transfer_.fill_drain_cycles[b] = hops + granules;
  }
}

void Sites::choose(const Mappings::Slot& slot, std::size_t count) {
  const std::int32_t on_chip = mappings_.on_chip(slot);
  const Mapped free = mappings_.at(on_chip);
  chosen_.slot = slot;
  chosen_.count = count;
  chosen_.steady_cycles = free.steady_cycles;
  chosen_.number.fill(on_chip);
  chosen_.constants.fill(free.constants);
  chosen_.instructions.fill(free.instructions);
  for (std::size_t b = 0; b < count; ++b) {
    if (is_hidden(transfer_.beyond_cycles[b], free.steady_cycles)) continue;
    chosen_.number[b] = mappings_.beside_dram(slot, on_chip, transfer_.beyond_cycles[b]);
    const Mapped& mapped = mappings_.at(chosen_.number[b]);
    chosen_.constants[b] = mapped.constants;
    chosen_.instructions[b] = mapped.instructions;
  }
}

/// The model's own order of operations: the sums are the model's to the last digit.
void Sites::add(Sums& __restrict sums, double repeat, const Transfer& __restrict transfer,
                const Chosen& __restrict chosen, const AcceleratorConfig& config) {
  const double overhead_cycles = layer_overhead_cycles(config);
  for (std::size_t b = 0; b < kWide; ++b) {
    const double steady = std::max(chosen.steady_cycles, transfer.beyond_cycles[b]);
    sums.cycles[b] += repeat * (steady + transfer.fill_drain_cycles[b] + overhead_cycles);
    sums.instructions[b] += stored_instructions(config.rules, repeat, chosen.instructions[b]);
    const double constants = chosen.constants[b];
    const double last = sums.last_constants[b];
    // A repeated layer follows itself.
    sums.constants[b] = std::max(sums.constants[b], constants + (repeat > 1.0 ? std::max(last, constants) : last));
    sums.last_constants[b] = constants;
  }
}

void Sites::add_use(std::size_t use, std::size_t first_bandwidth) {
  const Use one = layers_.uses()[use];
  transfer_.point = nullptr;
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    Sums& sums = sums_[c];
    // The first layer without a mapping ends an application.
    if (!(sums.cycles[0] < std::numeric_limits<double>::infinity())) continue;
    if (chips_[c].bandwidths <= first_bandwidth) continue;
    const std::size_t count = std::min(chips_[c].bandwidths - first_bandwidth, kWide);
    const Mappings::Slot slot = mappings_.slot(one.shape, dram_[c]->layers[use].cached, chips_[c].point);
    const bool other_dram = transfer_.point != dram_[c];
    if (other_dram) {
      transfer_of(*dram_[c], use);
      __builtin_prefetch(dram_[c]->layers.data() + use + 1);
    }
    if (other_dram || slot != chosen_.slot || count > chosen_.count) choose(slot, count);
    add(sums, one.repeat, transfer_, chosen_, config_);
    if (metrics_ != LandscapeMetrics::latency) add_energy(use, c);
  }
}

void Sites::add_energy(std::size_t number, std::size_t chip) {
  const Use use = layers_.uses()[number];
  const double weights_in_pes_frac = dram_[chip]->layers[number].weights_in_pes_frac;
  const FixedCost& fixed = fixed_[use.shape];
  const BytePrices& prices = prices_[chip];
  EnergySums& sums = energies_[chip];
  Wide on_chip_j, hop_bytes;
  for (std::size_t b = 0; b < kWide; ++b) {
    if (b > 0 && chosen_.number[b] == chosen_.number[b - 1]) {
      on_chip_j[b] = on_chip_j[b - 1];
      hop_bytes[b] = hop_bytes[b - 1];
      continue;
    }
    const OnChipBytes bytes =
        with_weights_from_pes(mappings_.bytes(mappings_.at(chosen_.number[b])), weights_in_pes_frac);
    on_chip_j[b] = joules(bytes, prices.pj);
    hop_bytes[b] = bytes.noc_hops;
  }
  for (std::size_t b = 0; b < kWide; ++b) {
    sums.fixed_j[b] +=
        use.repeat * (fixed.logic_j + on_chip_j[b] + units::kPico * fixed.accumulator_bytes * prices.accumulator_pj);
    sums.noc_hop_bytes[b] += use.repeat * hop_bytes[b];
    sums.parameter_read_bytes[b] += use.repeat * fixed.parameter_read_bytes;
    sums.instruction_read_bytes[b] += use.repeat * chosen_.instructions[b] * kInstructionBytes;
  }
}

void Sites::finish(std::size_t application, std::size_t first_bandwidth) {
  const std::size_t bandwidths = axes_.size(Role::bandwidth);
  for (std::size_t c = 0; c < chips_.size(); ++c) {
    for (std::size_t b = 0; b < kWide && first_bandwidth + b < chips_[c].bandwidths; ++b) {
      Site& site = sites_[(c * bandwidths + first_bandwidth + b) * layers_.applications().size() + application];
      const Sums& sums = sums_[c];
      site.latency_s = sums.cycles[b] / config_.clock_hz();
      // Version 2: a mapping that was found fits.
      site.parameter =
          config_.rules.constants_in_halves ? std::uint8_t{0} : level_of(axes_[Role::parameter], sums.constants[b]);
      site.instruction = level_of(axes_[Role::instruction], sums.instructions[b]);
      if (metrics_ == LandscapeMetrics::latency) continue;
      const EnergySums& energy = energies_[c];
      site.energy = {.fixed_j = energy.fixed_j[b] + Layers::dram_j(dram_[c]->sums[application], chips_[c].core.chip),
                     .parameter_read_bytes = energy.parameter_read_bytes[b],
                     .instruction_read_bytes = energy.instruction_read_bytes[b],
                     .noc_hop_bytes = energy.noc_hop_bytes[b]};
    }
  }
}

}  // namespace hindsight::accel::optimum

/// Distinct layers, and their DRAM traffic by capacity.
#include "accel/optimum/layers.h"

#include <algorithm>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/core/units.h"

namespace hindsight::accel::optimum {

Layers::Layers(const std::vector<const workload::Network*>& networks, const TemplateRules& rules) {
  std::map<LayerShape, std::uint32_t> known;
  const ResidentMemory memory{.caches_in_dram = rules.caches_in_dram};
  for (const workload::Network* network : networks) {
    Span span{.begin = uses_.size(), .end = 0};
    double repeats = 0, handed_over = 0;
    for (const workload::GemmLayer& gemm : network->gemms()) {
      const LayerShape shape = layer_shape(gemm);
      handed_over = std::max(handed_over, handed_over_bytes(shape, &gemm == &network->gemms().front(),
                                                            &gemm == &network->gemms().back(), memory));
      const auto [found, fresh] = known.try_emplace(shape, static_cast<std::uint32_t>(shapes_.size()));
      if (fresh) shapes_.push_back(shape);
      uses_.push_back({.shape = found->second, .repeat = shape.repeat});
      repeats += shape.repeat;
    }
    span.end = uses_.size();
    applications_.push_back(span);
    repeats_.push_back(repeats);
    handed_over_bytes_.push_back(handed_over);
  }
}

DramPoint Layers::compute(const AcceleratorConfig& config) const {
  DramPoint point;
  point.beyond_bytes.reserve(uses_.size());
  point.cached.reserve(uses_.size());
  for (std::size_t a = 0; a < applications_.size(); ++a) {
    const Span& span = applications_[a];
    const ResidentMemory memory = with_weights_in_pes(resident_memory(config), config, handed_over_bytes_[a]);
    DramPoint::Sums sums;
    double earlier_weight_bytes = 0;
    bool previous_on_chip = false;  // the network's input comes from DRAM
    for (std::size_t i = span.begin; i < span.end; ++i) {
      const LayerShape& layer = shapes_[uses_[i].shape];
      const Residency residency =
          residency_of(layer, previous_on_chip, i + 1 == span.end, earlier_weight_bytes, memory);
      previous_on_chip = residency.output_on_chip;
      earlier_weight_bytes += stored_parameter_bytes(layer, memory);
      const LayerDram dram = layer_dram(layer, residency, memory);
      point.beyond_bytes.push_back(dram.beyond_bytes);
      point.cached.push_back(dram.cached ? 1 : 0);
      point.layers.push_back(dram);
      sums.granule_bytes += layer.repeat * dram.granule_bytes;
      sums.total_bytes += layer.repeat * dram.total_bytes;
      sums.reads += dram.reads ? layer.repeat : 0.0;
    }
    point.sums.push_back(sums);
  }
  return point;
}

const DramPoint& Layers::dram(const AcceleratorConfig& config) const {
  const ResidentMemory memory = resident_memory(config);
  std::unique_ptr<DramPoint>& point = points_[{memory.activation_half_bytes, memory.parameter_bytes}];
  if (!point) point = std::make_unique<DramPoint>(compute(config));
  return *point;
}

void Layers::forget_if_full() const {
  constexpr std::size_t kMostValues = 1'000'000;  // [chosen] 50 MB; groups of the same PEs need a tenth of it
  if (points_.size() * uses_.size() > kMostValues) points_.clear();
}

double Layers::latency_s(std::size_t a, std::span<const double> on_chip, const DramPoint& dram,
                         const AcceleratorConfig& config) const {
  const ChipRates rates = chip_rates(config);
  const double cycles_per_byte = 1.0 / rates.dram_operands_per_cycle;
  const Span span = applications_[a];
  double cycles = 0;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    const Use use = uses_[i];
    const double on_chip_cycles = on_chip[2 * use.shape + static_cast<std::size_t>(dram.cached[i])];
    cycles += use.repeat * std::max(on_chip_cycles, dram.beyond_bytes[i] * cycles_per_byte);
  }
  const DramPoint::Sums& sums = dram.sums[a];
  cycles += sums.granule_bytes * cycles_per_byte + sums.reads * rates.dram_latency_cycles +
            repeats_[a] * (grid_fill_cycles(config) + layer_overhead_cycles(config));
  return cycles / config.clock_hz();
}

double Layers::dram_j(const DramPoint::Sums& sums, const ChipFacts& chip) {
  return units::kPico * sums.total_bytes * chip.event.dram_pj_per_byte;
}

double Layers::on_chip_j(std::size_t a, std::span<const double> on_chip_j, const DramPoint& dram) const {
  const Span span = applications_[a];
  double energy_j = 0;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    const Use use = uses_[i];
    energy_j += use.repeat * on_chip_j[2 * use.shape + static_cast<std::size_t>(dram.cached[i])];
  }
  return energy_j;
}

double Layers::mapped_j(std::size_t a, const MappedEnergy& energy, const DramPoint& dram,
                        const AcceleratorConfig& config) const {
  const Span span = applications_[a];
  const double cycles_per_byte = 1.0 / chip_rates(config).dram_operands_per_cycle;
  double energy_j = 0;
  for (std::size_t i = span.begin; i < span.end; ++i) {
    const Use use = uses_[i];
    const std::size_t slot = 2 * use.shape + static_cast<std::size_t>(dram.cached[i]);
    const bool as_mapped = dram.beyond_bytes[i] * cycles_per_byte <= energy.least_compute[use.shape] * (1.0 - kMargin);
    energy_j += use.repeat * (as_mapped ? energy.mapped_j[slot] : energy.least_j[slot]);
  }
  return energy_j;
}

}  // namespace hindsight::accel::optimum

/// Facts of a chip, and the identity of the evaluator.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "accel/layer_cost.h"
#include "hindsight/accel/dram.h"
#include "hindsight/accel/energy.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/feasibility.h"
#include "hindsight/accel/memory_costs.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/accel/technology_fields.h"
#include "hindsight/accel/template_constants.h"
#include "hindsight/core/error.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {

namespace {

/// Costs of memories, worked out each time.
struct WorkedOut {
  const Technology& its_technology;
  [[nodiscard]] const Technology& technology() const { return its_technology; }
  [[nodiscard]] SramCost plain(double bytes) const { return sram_cost(its_technology.sram, bytes); }
  [[nodiscard]] SramCost banked(double bytes) const { return banked_sram_cost(its_technology, bytes); }
  [[nodiscard]] double area_mm2(double bytes) const { return sram_area_mm2(its_technology.sram, bytes); }
};
/// Those that are known.
struct Kept {
  MemoryCosts& costs;
  [[nodiscard]] const Technology& technology() const { return costs.technology(); }
  [[nodiscard]] SramCost plain(double bytes) const { return costs.plain(bytes); }
  [[nodiscard]] SramCost banked(double bytes) const { return costs.banked(bytes); }
  [[nodiscard]] double area_mm2(double bytes) const { return costs.plain(bytes).area_mm2; }
};

template <class Memories>
SramCost core_memory_of(const AcceleratorConfig& config, const Memories& memories) {
  const double bytes = config.core_memory_bytes;
  return memories.technology().is_version_1() ? memories.plain(bytes) : memories.banked(bytes);
}

/// One memory of each kind.
struct MemoryAreas {
  double pe_mm2, core_mm2, activation_mm2, parameter_mm2, instruction_mm2, shared_mm2;
};

/// Without the white space that cooling takes, which is known only when the power is.
AreaBreakdown area_of(const AcceleratorConfig& config, const Technology& technology, const MemoryAreas& one) {
  const double pes = config.pes();
  return area_with_logic({.pe_memory_mm2 = pes * one.pe_mm2,
                          .core_memory_mm2 = pes * config.cores_per_pe * one.core_mm2,
                          .activation_memory_mm2 = pes * one.activation_mm2,
                          .parameter_memory_mm2 = pes * one.parameter_mm2,
                          .instruction_memory_mm2 = one.instruction_mm2,
                          .shared_memory_mm2 = one.shared_mm2},
                         config, technology);
}

template <class Memories>
ChipFacts facts_of(const AcceleratorConfig& config, const Memories& memories) {
  const Technology& technology = memories.technology();
  ChipFacts chip;
  chip.config = config;
  chip.config.rules = template_rules(technology);
  chip.pe_memory = memories.banked(config.pe_memory_bytes);
  chip.core_memory = core_memory_of(config, memories);
  chip.activation_memory = memories.plain(config.activation_memory_entries * kAccumulatorBytes / config.cores_per_pe);
  chip.parameter_memory = memories.plain(config.parameter_memory_entries * kParameterEntryBytes);
  chip.instruction_memory = memories.plain(config.instruction_memory_entries * kInstructionBytes);
  chip.shared_memory = memories.banked(config.shared_memory_bytes);
  chip.area = area_of(config, technology,
                      {.pe_mm2 = chip.pe_memory.area_mm2,
                       .core_mm2 = chip.core_memory.area_mm2,
                       .activation_mm2 = memories.area_mm2(config.activation_memory_entries * kAccumulatorBytes),
                       .parameter_mm2 = chip.parameter_memory.area_mm2,
                       .instruction_mm2 = chip.instruction_memory.area_mm2,
                       .shared_mm2 = chip.shared_memory.area_mm2});
  const double sram_leakage_mw =
      config.pes() * (chip.pe_memory.leakage_mw + chip.parameter_memory.leakage_mw +
                      config.cores_per_pe * (chip.core_memory.leakage_mw + chip.activation_memory.leakage_mw)) +
      chip.instruction_memory.leakage_mw + chip.shared_memory.leakage_mw;
  chip.leakage_w = units::kMilli * sram_leakage_mw + logic_idle_w(logic_mm2(chip.area), config, technology);
  chip.pe_pitch_mm = std::sqrt(chip.area.pe_mm2);
  chip.event = event_energy(config, chip.pe_pitch_mm, technology);
  chip.multicast_delay_ns = multicast_delay_ns(config.pes_x + config.pes_y, chip.pe_pitch_mm, technology);
  const PeakPower peak = peak_power(chip);
  chip.pe_array_peak_w = peak.pe_array_w;
  chip.peak_power_w = peak.chip_w;
  chip.die_peak_w = peak.die_w;
  chip.idle_w = chip.leakage_w + chip.event.idle_frac * chip.die_peak_w;
  if (!technology.is_version_1()) {
    const double cool_mm2 = chip.die_peak_w / technology.cooling_of(config.cooling).w_per_mm2;
    chip.area.cooling_mm2 = std::max(0.0, cool_mm2 - chip.area.total_mm2());
  }
  return chip;
}

/// The hardware's checks.
void check(ChipFacts& chip, const Technology& technology, Remedies remedies) {
  const AcceleratorConfig& config = chip.config;
  const auto note = [&](const std::optional<Violation>& violation) {
    if (violation) chip.violations.add(*violation);
  };
  note(check_accumulators(config));
  note(check_sram_bandwidth(config));
  if (technology.is_version_1()) {
    note(check_noc_timing(chip, technology));
    note(check_power_density(chip, chip.pe_array_peak_w, technology, remedies));
  } else {
    note(check_clock(config, technology));
    note(check_cooling(chip, technology, remedies));
  }
  note(check_reticle(chip, technology, remedies));
}

}  // namespace

namespace {

/// Calls facts(config, technology) with the technology at the chip's own supplies and a config that states none, so
/// that whatever is worked out from both scales once.
template <class Facts>
ChipFacts with_own_supplies(const AcceleratorConfig& config, const Technology& technology, const Facts& facts) {
  AcceleratorConfig scaled = config;
  scaled.logic_v = scaled.memory_v = 0;
  ChipFacts chip = facts(scaled, at_supplies(technology, config));
  chip.config.logic_v = config.logic_v;
  chip.config.memory_v = config.memory_v;
  return chip;
}

}  // namespace

ChipFacts unchecked_chip_facts(const AcceleratorConfig& config, const Technology& technology) {
  if (has_own_supplies(config)) {
    return with_own_supplies(config, technology, [](const AcceleratorConfig& scaled, const Technology& own) {
      return unchecked_chip_facts(scaled, own);
    });
  }
  return facts_of(config, WorkedOut{technology});
}
ChipFacts unchecked_chip_facts(const AcceleratorConfig& config, MemoryCosts& costs) {
  if (has_own_supplies(config)) return unchecked_chip_facts(config, costs.technology());
  return facts_of(config, Kept{costs});
}
AreaBreakdown area_without_cooling(const AcceleratorConfig& config, MemoryCosts& costs) {
  const Kept memories{costs};
  return area_of(config, costs.technology(),
                 {.pe_mm2 = memories.banked(config.pe_memory_bytes).area_mm2,
                  .core_mm2 = core_memory_of(config, memories).area_mm2,
                  .activation_mm2 = memories.area_mm2(config.activation_memory_entries * kAccumulatorBytes),
                  .parameter_mm2 = memories.area_mm2(config.parameter_memory_entries * kParameterEntryBytes),
                  .instruction_mm2 = memories.area_mm2(config.instruction_memory_entries * kInstructionBytes),
                  .shared_mm2 = memories.banked(config.shared_memory_bytes).area_mm2});
}
ChipFacts chip_facts(const AcceleratorConfig& config, const Technology& technology, Remedies remedies) {
  if (has_own_supplies(config)) {
    return with_own_supplies(config, technology, [remedies](const AcceleratorConfig& scaled, const Technology& own) {
      return chip_facts(scaled, own, remedies);
    });
  }
  ChipFacts chip = unchecked_chip_facts(config, technology);
  check(chip, technology, remedies);
  return chip;
}
ChipFacts chip_facts(const AcceleratorConfig& config, MemoryCosts& costs, Remedies remedies) {
  if (has_own_supplies(config)) return chip_facts(config, costs.technology(), remedies);
  ChipFacts chip = unchecked_chip_facts(config, costs);
  check(chip, costs.technology(), remedies);
  return chip;
}

std::string evaluator_name(const Technology& technology) {
  return fmt::format("{} {} {}", kModelName, technology.model_version, technology.name);
}

namespace {

/// Constants of the template and the mapper that decide results, of both versions.
constexpr std::pair<std::string_view, double> kTemplateConstants[] = {
    {"working_fraction", AcceleratorConfig{}.working_frac},
    {"dram_efficiency", kDramEfficiency},
    {"dram_latency_ns", kDramLatencyNs},
    {"dma_granule_bytes", kDmaGranuleBytes},
    {"layer_overhead_cycles", TemplateRules{}.layer_overhead_cycles},
    {"noc_link_bytes_per_cycle", kNocLinkBytesPerCycle},
    {"core_memory_port_bytes", kCoreMemoryPortBytes},
    {"pe_memory_bank_bytes", kPeMemoryBankBytes},
    {"pe_memory_bank_port_bytes", kPeMemoryBankPortBytes},
    {"pe_memory_max_banks", kPeMemoryMaxBanks},
    {"instruction_bytes", kInstructionBytes},
    {"setup_instructions", kSetupInstructions},
    {"setup_instructions_per_row_and_column", kSetupInstructionsPerRowAndColumn},
    {"instructions_per_tile", kInstructionsPerTile},
    {"accumulator_bytes", kAccumulatorBytes},
    {"parameter_entry_bytes", kParameterEntryBytes},
    {"requantisation_reuse", kRequantisationReuse},
    {"noc_buses_per_pe", kNocBusesPerPe},
    {"operand_bits", kOperandBits},
    {"accumulator_bits", kAccumulatorBits},
};

/// Appends " name=value" for every field of the version that a visitor hands over.
struct Definition {
  std::string& text;
  int version;
  void operator()(const char* name, double number, const NumberRule& rule) const {
    if (!rule.is_known_in(version)) return;
    text += fmt::format(" {}={}", name, number);
  }
  void operator()(const char* name, const PowerLaw& law) const {
    text += fmt::format(" {}={}*KiB^{}", name, law.coefficient, law.exponent);
  }
  void operator()(const char*, const SramModel& sram) const { for_each_sram_field(sram, *this); }
  void operator()(const char* name, const double (&per_dram_type)[kDramTypeCount]) const {
    text += fmt::format(" {}={}", name, fmt::join(std::span(per_dram_type).first(dram_types_of(version)), ","));
  }
  void operator()(const char* name, const CoolingClass (&classes)[kCoolingClassCount]) const {
    if (version == 1) return;
    for (const CoolingClass& one : classes) {
      text += fmt::format(" {}={}w,{},{},{}", name, one.most_w, one.w_per_mm2, one.interfaces_mm2, one.idle_frac);
    }
  }
};

}  // namespace

std::string evaluator_definition(const Technology& technology) {
  std::string text = fmt::format("model={} version={}", kModelName, technology.model_version);
  for (const auto& [name, value] : kTemplateConstants) text += fmt::format(" {}={}", name, value);
  if (!technology.is_version_1()) {
    text += fmt::format(" instructions_per_loop={} cooling_class={}", kInstructionsPerLoop,
                        to_string(technology.cooling_class));
    text += fmt::format(" softmax_ops={} normalisation_ops={} normalisations_per_attention={} shared_weight_frac={}",
                        kSoftmaxOps, kNormalisationOps, kNormalisationsPerAttention, kSharedWeightFrac);
    text += " weights_in_pes=what_activations_leave constants=halves";
    for (std::size_t i = 0; i < kDramTypeCount; ++i) {
      const DramDevice device = dram_device(static_cast<DramType>(i));
      text += fmt::format(" dram_device={}gb_per_s,{}gb", device.bandwidth_gb_per_s, device.capacity_gb);
    }
  }
  if (technology.model_version > 2) text += " earlier_passes=dram stored=parameters,earlier_passes,largest_layer";
  text += fmt::format("\ntechnology={}", technology.name);
  for_each_technology_field(technology, Definition{text, technology.model_version});
  return text + "\n";
}

Evaluation evaluate(const ChipFacts& chip, std::span<const workload::GemmLayer> layers, Depth depth,
                    std::span<LayerResult> details, double other_parameters) {
  HINDSIGHT_EXPECT(details.empty() || details.size() == layers.size());
  if (depth == Depth::stop_at_hardware && chip.violations.count > 0) return hardware_evaluation(chip);
  const ChipRates rates = chip_rates(chip.config);
  const LayerCostFunction layer_cost = layer_cost_function();
  LayerShape shape;
  LayerCost one;
  const NetworkCost cost = sum_layers(
      chip, rates, layers.size(), [&](std::size_t i) -> const LayerShape& { return shape = layer_shape(layers, i); },
      [&](std::size_t, const Residency& residency) -> const LayerCost& {
        layer_cost(shape, residency, chip, rates, one);
        return one;
      },
      [&](std::size_t i, const LayerCost& of_layer) {
        if (!details.empty() && of_layer.found) details[i] = of_layer.result;
      },
      other_parameters);
  return network_evaluation(chip, cost);
}

double stored_operands(const workload::Network& network, const TemplateRules& rules) {
  StoredOperands stored;
  stored.parameters = network.other_parameters();
  for (const workload::GemmLayer& layer : network.gemms()) stored.add(layer_shape(layer), rules);
  return stored.total();
}

Evaluation evaluate(const ChipFacts& chip, const workload::Network& network, Depth depth,
                    std::span<LayerResult> details) {
  return evaluate(chip, network.gemms(), depth, details, network.other_parameters());
}

}  // namespace hindsight::accel

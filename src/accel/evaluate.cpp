#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hindsight/accel/energy.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/feasibility.h"
#include "hindsight/accel/mapping.h"
#include "hindsight/accel/program.h"
#include "hindsight/accel/template_constants.h"
#include "hindsight/accel/traffic.h"
#include "hindsight/core/error.h"

namespace hindsight::accel {

namespace {

/// The chip's rates and capacities that every layer uses.
struct ChipRates {
  WorkingMemory working;
  ResidentMemory resident;
  double dram_bytes_per_cycle = 0;
  double dram_latency_cycles = 0;
};

ChipRates chip_rates(const AcceleratorConfig& config) {
  const double cycles_per_second = config.clock().value();
  return {.working = working_memory(config),
          .resident = resident_memory(config),
          .dram_bytes_per_cycle =
              units::gb_per_s(config.dram_bandwidth_gb_per_s).value() * kDramEfficiency / cycles_per_second,
          .dram_latency_cycles = units::nanoseconds(kDramLatencyNs).value() * cycles_per_second};
}

/// Share of a layer's weights that stays on chip: parameters are cached in execution order until the space is full.
///
/// Equation: cached = clamp(space - weights of earlier layers, 0, W) / W. Run-time operands of matmuls count as
/// on chip when all of them fit where activations stay.
double cached_frac(const LayerShape& layer, double earlier_weight_bytes, const ResidentMemory& memory) {
  const double all_bytes = layer.weight_bytes * layer.repeat;
  if (all_bytes <= 0) return 1.0;
  if (layer.weights_are_activations) return all_bytes <= memory.activation_half_bytes ? 1.0 : 0.0;
  return std::clamp(memory.parameter_bytes - earlier_weight_bytes, 0.0, all_bytes) / all_bytes;
}

/// Cycles before the first tile can start and after the last one ends.
///
/// Equation: hops of the grid, plus the DRAM latency and one DMA granule in and out when DRAM is used.
double fill_drain_cycles(const Traffic& traffic, const AcceleratorConfig& config, const ChipRates& rates) {
  double cycles = config.pes_x + config.pes_y;
  const double read_bytes = traffic.dram_read_weight_bytes + traffic.dram_read_input_bytes;
  if (read_bytes > 0) {
    cycles += rates.dram_latency_cycles +
              bandwidth_cycles(std::min(read_bytes, kDmaGranuleBytes), rates.dram_bytes_per_cycle);
  }
  if (traffic.dram_write_output_bytes > 0) {
    cycles += bandwidth_cycles(std::min(traffic.dram_write_output_bytes, kDmaGranuleBytes), rates.dram_bytes_per_cycle);
  }
  return cycles;
}

/// On-chip bytes of the chosen mapping, summed over PEs and cores with work.
void add_on_chip_traffic(const LayerShape& layer, const Mapping& mapping, const AcceleratorConfig& config,
                         Traffic& traffic) {
  const double used_pes = std::min(mapping.pe.split_m, layer.m) * std::min(mapping.pe.split_n, layer.n) *
                          std::min(mapping.pe.split_k, layer.k);
  const double used_cores = std::min(mapping.core.split_m, mapping.pe.m) * std::min(mapping.core.split_n, mapping.pe.n);
  traffic.noc_weight_bytes = mapping.noc.weight_bytes;
  traffic.noc_input_bytes = mapping.noc.input_bytes;
  traffic.noc_output_bytes = mapping.noc.output_bytes;
  traffic.noc_hop_bytes =
      (mapping.noc.weight_bytes + mapping.noc.input_bytes + mapping.noc.output_bytes) * mean_hops(config);
  traffic.core_memory_read_bytes =
      used_pes * used_cores * core_weight_read_bytes(layer, mapping.core, mapping.pe.k, mapping.reuse);
  traffic.core_memory_write_bytes =
      mapping.noc.weight_bytes * std::min(mapping.pe.split_m, layer.m) * std::min(mapping.core.split_m, mapping.pe.m);
  traffic.pe_memory_read_bytes = used_pes * mapping.pe_memory.read_bytes;
  traffic.pe_memory_write_bytes = used_pes * mapping.pe_memory.write_bytes;
  const double accumulations = layer.macs / config.macs_per_lane;
  traffic.accumulator_read_bytes = accumulations * kAccumulatorBytes;
  traffic.accumulator_write_bytes = accumulations * kAccumulatorBytes;
}

Bound binding_term(const Mapping& mapping, double dram_cycles) {
  const double steady = pipelined_cycles(mapping.steady_cycles, dram_cycles);
  if (mapping.compute_cycles >= steady) return Bound::compute;
  if (dram_cycles >= steady) return Bound::dram;
  if (mapping.noc_cycles >= steady) return Bound::noc;
  return mapping.pe_memory_cycles >= steady ? Bound::pe_memory : Bound::core_memory;
}

Violation no_mapping_violation(const Mapping& mapping, std::int32_t layer, const AcceleratorConfig& config) {
  const double factor = mapping.needed_tile_bytes / mapping.available_tile_bytes;
  return {.reason = Reason::no_mapping,
          .layer = layer,
          .value = mapping.needed_tile_bytes,
          .limit = mapping.available_tile_bytes,
          .nearest_passing = factor * (mapping.weights_too_large ? config.core_memory_bytes : config.pe_memory_bytes),
          .parameter = mapping.weights_too_large ? "core_memory_bytes" : "pe_memory_bytes"};
}

/// Costs of one repeat of a layer under its best mapping.
LayerResult layer_result(const LayerShape& layer, const Mapping& mapping, const Residency& residency,
                         const Traffic& dram_traffic, double dram_cycles, const ChipFacts& chip, const ChipRates& rates,
                         const Technology& technology) {
  const AcceleratorConfig& config = chip.config;
  LayerResult result;
  result.dataflow = mapping.dataflow;
  result.bound = binding_term(mapping, dram_cycles);
  result.pe_split_m = static_cast<std::int32_t>(mapping.pe.split_m);
  result.pe_split_n = static_cast<std::int32_t>(mapping.pe.split_n);
  result.pe_split_k = static_cast<std::int32_t>(mapping.pe.split_k);
  result.core_split_m = static_cast<std::int32_t>(mapping.core.split_m);
  result.core_split_n = static_cast<std::int32_t>(mapping.core.split_n);
  result.active_lanes = static_cast<std::int32_t>(mapping.lanes);
  result.tiles_m = mapping.plan.tiles_m;
  result.tiles_n = mapping.plan.tiles_n;
  result.tiles_k = mapping.plan.tiles_k;
  result.tile_m = tile_count(mapping.pe.m, result.tiles_m);
  result.tile_n = tile_count(mapping.core.n, result.tiles_n);
  result.tile_k = tile_count(mapping.pe.k, result.tiles_k);
  result.compute_cycles = mapping.compute_cycles;
  result.core_memory_cycles = mapping.core_memory_cycles;
  result.pe_memory_cycles = mapping.pe_memory_cycles;
  result.noc_cycles = mapping.noc_cycles;
  result.dram_cycles = dram_cycles;
  result.traffic = dram_traffic;
  result.fill_drain_cycles = fill_drain_cycles(dram_traffic, config, rates);
  result.overhead_cycles = kLayerOverheadCycles;
  result.total_cycles = mapping.steady_cycles + result.fill_drain_cycles + result.overhead_cycles;
  result.instructions = layer_instructions(mapping.pe, mapping.core, mapping.plan, config.pes_x, config.pes_y);
  result.utilisation_frac = layer.macs / (config.macs_per_cycle() * result.total_cycles);
  result.weights_cached_frac = residency.weights_cached_frac;
  result.input_on_chip = residency.input_on_chip;
  result.output_on_chip = residency.output_on_chip;
  add_on_chip_traffic(layer, mapping, config, result.traffic);
  result.energy = layer_energy(layer, result.traffic, result.instructions, chip, technology);
  result.energy.leakage_j = chip.leakage_w * result.total_cycles / config.clock().value();
  return result;
}

void add_repeats(Metrics& metrics, const LayerResult& layer, double repeat) {
  metrics.latency_cycles += repeat * layer.total_cycles;
  metrics.instructions += repeat * layer.instructions;
  metrics.traffic.add_scaled(layer.traffic, repeat);
  metrics.energy.add_scaled(layer.energy, repeat);
}

}  // namespace

ChipFacts chip_facts(const AcceleratorConfig& config, const Technology& technology) {
  ChipFacts chip;
  chip.config = config;
  chip.area = area(config, technology);
  chip.pe_memory = banked_sram_cost(technology, config.pe_memory_bytes);
  chip.core_memory = sram_cost(technology.sram, config.core_memory_bytes);
  chip.activation_memory =
      sram_cost(technology.sram, config.activation_memory_entries * kAccumulatorBytes / config.cores_per_pe);
  chip.parameter_memory = sram_cost(technology.sram, config.parameter_memory_entries * kParameterEntryBytes);
  chip.instruction_memory = sram_cost(technology.sram, config.instruction_memory_entries * kInstructionBytes);
  constexpr double kWattsPerMilliwatt = 1e-3;
  const double sram_leakage_mw =
      config.pes() * (chip.pe_memory.leakage_mw + chip.parameter_memory.leakage_mw +
                      config.cores_per_pe * (chip.core_memory.leakage_mw + chip.activation_memory.leakage_mw)) +
      chip.instruction_memory.leakage_mw;
  const double logic_mm2 = chip.area.mac_mm2 + chip.area.register_mm2 + chip.area.noc_mm2 + chip.area.control_mm2;
  chip.leakage_w = kWattsPerMilliwatt * (sram_leakage_mw + logic_mm2 * technology.logic_leakage_mw_per_mm2);
  chip.pe_pitch_mm = std::sqrt(chip.area.pe_mm2);
  chip.multicast_delay_ns = multicast_delay_ns(config.pes_x + config.pes_y, chip.pe_pitch_mm, technology);
  const PeakPower peak = peak_power(chip, technology);
  chip.pe_array_peak_w = peak.pe_array_w;
  chip.peak_power_w = peak.chip_w;
  for (const auto& violation :
       {check_accumulators(config), check_sram_bandwidth(config), check_noc_timing(chip, technology),
        check_power_density(chip, peak.pe_array_w, technology), check_reticle(chip, technology)}) {
    if (violation) chip.violations.add(*violation);
  }
  return chip;
}

std::string evaluator_definition(const Technology& technology) {
  const SramModel& sram = technology.sram;
  const auto law = [](const PowerLaw& p) { return fmt::format("{}*KiB^{}", p.coefficient, p.exponent); };
  return fmt::format(
      "model={} version={} working_fraction={} dram_efficiency={} dram_latency_ns={} dma_granule_bytes={} "
      "layer_overhead_cycles={} noc_link_bytes_per_cycle={} core_memory_port_bytes={} pe_memory_bank_bytes={} "
      "pe_memory_bank_port_bytes={} pe_memory_max_banks={} instruction_bytes={} setup_instructions={} "
      "setup_instructions_per_row_and_column={} instructions_per_tile={}\n"
      "technology={} node_nm={} supply_v={} port_bits={} read_pj={} write_pj={} area_mm2={} leakage_mw={} "
      "largest_macro_kib={} mac_int8_pj={} mac_int8_um2={} register_bit_pj={} register_bit_um2={} "
      "logic_leakage_mw_per_mm2={} noc_pj_per_byte_mm={} noc_router_pj_per_byte={} noc_router_um2_per_bit={} "
      "wire_delay_ps_per_mm={} tap_delay_ps={} flop_overhead_ps={} control_area_fraction={} dram_pj_per_bit={} "
      "dram_phy_mm2_per_gb_per_s={} power_density_limit_w_per_mm2={} reticle_limit_mm2={}\n",
      kModelName, kModelVersion, kWorkingFraction, kDramEfficiency, kDramLatencyNs, kDmaGranuleBytes,
      kLayerOverheadCycles, kNocLinkBytesPerCycle, kCoreMemoryPortBytes, kPeMemoryBankBytes, kPeMemoryBankPortBytes,
      kPeMemoryMaxBanks, kInstructionBytes, kSetupInstructions, kSetupInstructionsPerRowAndColumn, kInstructionsPerTile,
      technology.name, technology.node_nm, technology.supply_v, sram.port_bits, law(sram.read_pj), law(sram.write_pj),
      law(sram.area_mm2), law(sram.leakage_mw), sram.largest_macro_kib, technology.mac_int8_pj, technology.mac_int8_um2,
      technology.register_bit_pj, technology.register_bit_um2, technology.logic_leakage_mw_per_mm2,
      technology.noc_pj_per_byte_mm, technology.noc_router_pj_per_byte, technology.noc_router_um2_per_bit,
      technology.wire_delay_ps_per_mm, technology.tap_delay_ps, technology.flop_overhead_ps,
      technology.control_area_fraction, fmt::join(technology.dram_pj_per_bit, ","),
      fmt::join(technology.dram_phy_mm2_per_gb_per_s, ","), technology.power_density_limit_w_per_mm2,
      technology.reticle_limit_mm2);
}

Evaluation evaluate(const ChipFacts& chip, std::span<const workload::GemmLayer> layers, const Technology& technology,
                    Depth depth, std::span<LayerResult> details) {
  HINDSIGHT_EXPECT(details.empty() || details.size() == layers.size());
  const AcceleratorConfig& config = chip.config;
  Evaluation evaluation;
  evaluation.area = chip.area;
  evaluation.peak_power_w = chip.peak_power_w;
  evaluation.violations = chip.violations;
  if (depth == Depth::as_a_flow && chip.violations.count > 0) return evaluation;

  const ChipRates rates = chip_rates(config);
  Metrics& metrics = evaluation.metrics;
  double earlier_weight_bytes = 0, cached_bytes = 0, macs = 0, previous_constants = 0;
  bool previous_on_chip = false;  // the network's input comes from DRAM
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerShape layer = layer_shape(layers[i]);
    Residency residency;
    residency.weights_cached_frac = cached_frac(layer, earlier_weight_bytes, rates.resident);
    residency.input_on_chip = previous_on_chip && layer.input_bytes <= rates.resident.activation_half_bytes;
    residency.output_on_chip = i + 1 < layers.size() && layer.output_bytes <= rates.resident.activation_half_bytes;
    previous_on_chip = residency.output_on_chip;
    if (!layer.weights_are_activations) {
      earlier_weight_bytes += layer.weight_bytes * layer.repeat;
      cached_bytes += layer.weight_bytes * layer.repeat * residency.weights_cached_frac;
    }
    Traffic dram_traffic;
    add_dram_traffic(layer, residency, rates.resident, dram_traffic);
    const double dram_cycles = bandwidth_cycles(dram_traffic.dram_bytes(), rates.dram_bytes_per_cycle);

    const Mapping mapping = best_mapping(layer, config, rates.working, residency, dram_cycles);
    if (!mapping.found) {
      evaluation.violations.add(no_mapping_violation(mapping, static_cast<std::int32_t>(i), config));
      continue;
    }
    const double constants = mapping.pe.n;
    if (constants + previous_constants > config.parameter_memory_entries) {
      evaluation.violations.add({.reason = Reason::parameter_memory,
                                 .layer = static_cast<std::int32_t>(i),
                                 .value = constants + previous_constants,
                                 .limit = config.parameter_memory_entries,
                                 .nearest_passing = constants + previous_constants,
                                 .parameter = "parameter_memory_entries"});
    }
    previous_constants = constants;
    const LayerResult result =
        layer_result(layer, mapping, residency, dram_traffic, dram_cycles, chip, rates, technology);
    add_repeats(metrics, result, layer.repeat);
    macs += layer.macs * layer.repeat;
    if (!details.empty()) details[i] = result;
  }
  if (metrics.instructions > config.instruction_memory_entries) {
    evaluation.violations.add({.reason = Reason::instruction_memory,
                               .value = metrics.instructions,
                               .limit = config.instruction_memory_entries,
                               .nearest_passing = metrics.instructions,
                               .parameter = "instruction_memory_entries"});
  }
  metrics.latency_s = metrics.latency_cycles / config.clock().value();
  metrics.energy_j = metrics.energy.total_j();
  metrics.average_power_w = metrics.latency_s > 0 ? metrics.energy_j / metrics.latency_s : 0.0;
  metrics.utilisation_frac = macs / (config.macs_per_cycle() * metrics.latency_cycles);
  metrics.weights_cached_frac = earlier_weight_bytes > 0 ? cached_bytes / earlier_weight_bytes : 1.0;
  evaluation.feasible = evaluation.violations.count == 0;
  return evaluation;
}

}  // namespace hindsight::accel

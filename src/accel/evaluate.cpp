#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "hindsight/accel/energy.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/feasibility.h"
#include "hindsight/accel/network_cost.h"
#include "hindsight/accel/template_constants.h"
#include "hindsight/core/error.h"

namespace hindsight::accel {

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
  chip.leakage_w = kWattsPerMilliwatt * sram_leakage_mw + logic_leakage_w(chip.area, technology);
  chip.pe_pitch_mm = std::sqrt(chip.area.pe_mm2);
  chip.event = event_energy(config, chip.pe_pitch_mm, technology);
  chip.multicast_delay_ns = multicast_delay_ns(config.pes_x + config.pes_y, chip.pe_pitch_mm, technology);
  const PeakPower peak = peak_power(chip);
  chip.pe_array_peak_w = peak.pe_array_w;
  chip.peak_power_w = peak.chip_w;
  for (const auto& violation :
       {check_accumulators(config), check_sram_bandwidth(config), check_noc_timing(chip, technology),
        check_power_density(chip, peak.pe_array_w, technology), check_reticle(chip, technology)}) {
    if (violation) chip.violations.add(*violation);
  }
  return chip;
}

std::string evaluator_name(const Technology& technology) {
  return fmt::format("{} {} {}", kModelName, kModelVersion, technology.name);
}

std::string evaluator_definition(const Technology& technology) {
  const SramModel& sram = technology.sram;
  const auto law = [](const PowerLaw& p) { return fmt::format("{}*KiB^{}", p.coefficient, p.exponent); };
  return fmt::format(
      "model={} version={} working_fraction={} dram_efficiency={} dram_latency_ns={} dma_granule_bytes={} "
      "layer_overhead_cycles={} noc_link_bytes_per_cycle={} core_memory_port_bytes={} pe_memory_bank_bytes={} "
      "pe_memory_bank_port_bytes={} pe_memory_max_banks={} instruction_bytes={} setup_instructions={} "
      "setup_instructions_per_row_and_column={} instructions_per_tile={} accumulator_bytes={} parameter_entry_bytes={} "
      "requantisation_reuse={} noc_buses_per_pe={} operand_bits={} accumulator_bits={}\n"
      "technology={} node_nm={} supply_v={} port_bits={} read_pj={} write_pj={} area_mm2={} leakage_mw={} "
      "largest_macro_kib={} mac_int8_pj={} mac_int8_um2={} register_bit_pj={} register_bit_um2={} "
      "logic_leakage_mw_per_mm2={} noc_pj_per_byte_mm={} noc_router_pj_per_byte={} noc_router_um2_per_bit={} "
      "wire_delay_ps_per_mm={} tap_delay_ps={} flop_overhead_ps={} control_area_fraction={} dram_pj_per_bit={} "
      "dram_phy_mm2_per_gb_per_s={} power_density_limit_w_per_mm2={} reticle_limit_mm2={}\n",
      kModelName, kModelVersion, kWorkingFraction, kDramEfficiency, kDramLatencyNs, kDmaGranuleBytes,
      kLayerOverheadCycles, kNocLinkBytesPerCycle, kCoreMemoryPortBytes, kPeMemoryBankBytes, kPeMemoryBankPortBytes,
      kPeMemoryMaxBanks, kInstructionBytes, kSetupInstructions, kSetupInstructionsPerRowAndColumn, kInstructionsPerTile,
      kAccumulatorBytes, kParameterEntryBytes, kRequantisationReuse, kNocBusesPerPe, kOperandBits, kAccumulatorBits,
      technology.name, technology.node_nm, technology.supply_v, sram.port_bits, law(sram.read_pj), law(sram.write_pj),
      law(sram.area_mm2), law(sram.leakage_mw), sram.largest_macro_kib, technology.mac_int8_pj, technology.mac_int8_um2,
      technology.register_bit_pj, technology.register_bit_um2, technology.logic_leakage_mw_per_mm2,
      technology.noc_pj_per_byte_mm, technology.noc_router_pj_per_byte, technology.noc_router_um2_per_bit,
      technology.wire_delay_ps_per_mm, technology.tap_delay_ps, technology.flop_overhead_ps,
      technology.control_area_fraction, fmt::join(technology.dram_pj_per_bit, ","),
      fmt::join(technology.dram_phy_mm2_per_gb_per_s, ","), technology.power_density_limit_w_per_mm2,
      technology.reticle_limit_mm2);
}

Evaluation evaluate(const ChipFacts& chip, std::span<const workload::GemmLayer> layers, Depth depth,
                    std::span<LayerResult> details) {
  HINDSIGHT_EXPECT(details.empty() || details.size() == layers.size());
  return evaluate_layers(chip, layers, depth, details);
}

}  // namespace hindsight::accel

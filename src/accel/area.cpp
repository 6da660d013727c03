/// Area of an accelerator: counts of parts times their areas.
#include "hindsight/accel/area.h"

#include "hindsight/accel/template_constants.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {

/// Per PE p and chip, with P = pes_x * pes_y PEs, C cores per PE, L lanes per core, W MACs per lane:
///   mac       = P C L W * a_mac
///   register  = P C * core_register_bits(L, W) * a_bit
///   SRAMs     = P * pe_memory + P C * core_memory + P * activation_memory + P * parameter_memory
///               + instruction_memory (one per chip)
///   noc       = P * kNocBusesPerPe * bits(noc_link_bytes) * a_noc
///   control   = control_area_fraction * (mac + register + noc)
///   dram_phy  = dram_bandwidth * PHY area per GB/s
/// Version 2: the technology has no register and control areas (a_mac has them), and
///   engine    = P * (engines + processors * kProcessorEngines) * engine_mm2
///   mac       = and P C L * bf16 MACs per lane * a_bf16
///   vector    = P * vector lanes * vector_lane_mm2; shared_memory as one memory of the chip
///   placement = (1 / fill - 1) * all of these but the PHY
/// Wires run over the macros and take no area of their own.
AreaBreakdown area(const AcceleratorConfig& config, const Technology& technology) {
  const double pes = config.pes();
  const SramModel& sram = technology.sram;
  AreaBreakdown memories;
  memories.pe_memory_mm2 = pes * sram_area_mm2(sram, config.pe_memory_bytes);
  memories.core_memory_mm2 = pes * config.cores_per_pe * sram_area_mm2(sram, config.core_memory_bytes);
  memories.activation_memory_mm2 = pes * sram_area_mm2(sram, config.activation_memory_entries * kAccumulatorBytes);
  memories.parameter_memory_mm2 = pes * sram_area_mm2(sram, config.parameter_memory_entries * kParameterEntryBytes);
  memories.shared_memory_mm2 = sram_area_mm2(sram, config.shared_memory_bytes);
  memories.instruction_memory_mm2 = sram_area_mm2(sram, config.instruction_memory_entries * kInstructionBytes);
  return area_with_logic(memories, config, technology);
}

AreaBreakdown area_with_logic(const AreaBreakdown& memories, const AcceleratorConfig& config,
                              const Technology& technology) {
  const double pes = config.pes();
  AreaBreakdown result = memories;
  result.mac_mm2 = config.macs_per_cycle() * technology.mac_um2(config.precision) * kMm2PerUm2;
  if (config.bf16_macs_per_lane > 0) {
    result.mac_mm2 += pes * config.cores_per_pe * config.compute_lanes * config.bf16_macs_per_lane *
                      technology.mac_um2(Precision::bf16) * kMm2PerUm2;
  }
  result.register_mm2 = pes * config.cores_per_pe *
                        core_register_bits(config.compute_lanes, config.macs_per_lane, config.operand_bytes()) *
                        technology.register_bit_um2 * kMm2PerUm2;
  result.noc_mm2 =
      pes * kNocBusesPerPe * config.noc_link_bytes * kBitsPerByte * technology.noc_router_um2_per_bit * kMm2PerUm2;
  result.control_mm2 = technology.control_area_fraction * (result.mac_mm2 + result.register_mm2 + result.noc_mm2);
  const double engines = config.engines_per_pe + config.processors_per_pe * kProcessorEngines;
  result.engine_mm2 = pes * engines * technology.engine_mm2;
  result.vector_mm2 = pes * config.vector_lanes * technology.vector_lane_mm2;
  result.dram_phy_mm2 =
      config.dram_bandwidth_gb_per_s * technology.dram_phy_mm2_per_gb_per_s[static_cast<std::size_t>(config.dram_type)];
  result.pe_mm2 = (result.mac_mm2 + result.register_mm2 + result.pe_memory_mm2 + result.core_memory_mm2 +
                   result.activation_memory_mm2 + result.parameter_memory_mm2 + result.noc_mm2 + result.control_mm2) /
                  pes;
  if (technology.is_version_1()) return result;
  result.pe_mm2 += engines * technology.engine_mm2 + config.vector_lanes * technology.vector_lane_mm2;
  const double white = 1.0 / technology.placement_fill - 1.0;
  result.placement_mm2 = white * (pes * result.pe_mm2 + result.instruction_memory_mm2 + result.shared_memory_mm2);
  result.interfaces_mm2 = technology.cooling_of(config.cooling).interfaces_mm2;
  result.cooling_mm2 = 0;
  result.pe_mm2 /= technology.placement_fill;
  return result;
}

}  // namespace hindsight::accel

/// Energy of one layer by component, and the chip's peak power.
///
/// Model: activity counts times energy per access; idle lanes, cores and PEs are clock gated, but for the clocks of a
/// version 2 technology's `clock_pj_per_mm2`, which count as leakage, and for the share of its cooling class that
/// idles; leakage and this share flow for the whole latency. Valid for: the technologies in `data/technology/`.
/// Ignores: clock tree beyond the registers, temperature, data-dependent toggling, DRAM standby.
#pragma once

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/spatial.h"
#include "hindsight/accel/technology.h"
#include "hindsight/accel/traffic.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {

/// Dynamic energy of one repeat of a layer; leakage is added by the caller, who knows the latency.
///
/// Equation: E = macs * e_mac + lane cycles * register bits * e_register + sum over memories (bytes * e per byte)
///             + NoC: byte hops * (e_router + pitch * e_wire) + DRAM bytes * 8 * e_bit
///             + instructions * bytes * e_read. `layer_traffic` holds the bytes; `instructions` those of the layer.
[[nodiscard]] constexpr EnergyBreakdown layer_energy(const LayerShape& layer, const Traffic& traffic,
                                                     double instructions, const ChipFacts& chip) {
  const AcceleratorConfig& config = chip.config;
  const double active_lane_cycles = lane_cycles(layer, config.macs_per_lane);
  EnergyBreakdown energy;
  energy.mac_j = units::kPico * layer.macs * chip.event.mac_pj;
  energy.register_j = units::kPico * active_lane_cycles * chip.event.lane_register_pj;
  energy.pe_memory_j = units::kPico * (traffic.pe_memory_read_bytes * chip.pe_memory.read_pj_per_byte +
                                       traffic.pe_memory_write_bytes * chip.pe_memory.write_pj_per_byte);
  energy.core_memory_j = units::kPico * (traffic.core_memory_read_bytes * chip.core_memory.read_pj_per_byte +
                                         traffic.core_memory_write_bytes * chip.core_memory.write_pj_per_byte);
  energy.activation_memory_j =
      units::kPico * (traffic.accumulator_read_bytes * chip.activation_memory.read_pj_per_byte +
                      traffic.accumulator_write_bytes * chip.activation_memory.write_pj_per_byte);
  energy.parameter_memory_j = units::kPico * layer.output_bytes * kParameterEntryBytes *
                              chip.parameter_memory.read_pj_per_byte / kRequantisationReuse;
  energy.instruction_memory_j =
      units::kPico * instructions * kInstructionBytes * chip.instruction_memory.read_pj_per_byte;
  energy.noc_j = units::kPico * traffic.noc_hop_bytes * chip.event.noc_pj_per_hop_byte;
  energy.shared_memory_j = units::kPico * (traffic.shared_memory_read_bytes * chip.shared_memory.read_pj_per_byte +
                                           traffic.shared_memory_write_bytes * chip.shared_memory.write_pj_per_byte);
  if (config.vector_lanes > 0) energy.vector_j = units::kPico * layer.vector_ops * chip.event.vector_op_pj;
  energy.dram_j = units::kPico * traffic.dram_bytes() * chip.event.dram_pj_per_byte;
  return energy;
}

/// Equation: see the fields; register bits by core_register_bits().
[[nodiscard]] EventEnergy event_energy(const AcceleratorConfig& config, double pe_pitch_mm,
                                       const Technology& technology);

/// Energy per byte of a memory built of 64 KiB banks: one bank, then the wires across half of the memory's side.
///
/// Equation: e = e(bank) + wire energy per byte and mm * sqrt(area) / 2. Area and leakage are those of `sram_cost`.
/// Valid for: memories that are read a bank's port at a time; one wide access of a single macro costs more.
[[nodiscard]] SramCost banked_sram_cost(const Technology& technology, double bytes);

/// Mean number of PE-to-PE hops of a byte: half the column to reach a row, then along the row bus. Version 1 counts one
/// more.
[[nodiscard]] constexpr double mean_hops(const AcceleratorConfig& config) {
  return config.pes_y / 2.0 + config.pes_x / 2.0 + config.rules.extra_hops;
}

/// Multipliers, registers, NoC, control, engines.
[[nodiscard]] double logic_mm2(const AreaBreakdown& area);
/// What so much logic takes whether it works or not: leakage, and in version 2 of the model clock trees that are not
/// gated, clock_pj_per_mm2 * clock rate for each square millimetre.
[[nodiscard]] constexpr double logic_idle_w(double mm2, const AcceleratorConfig& config, const Technology& technology) {
  const double clock_w_per_mm2 = technology.clock_pj_per_mm2 * units::kPico * config.clock_hz();
  return units::kMilli * mm2 * technology.logic_leakage_mw_per_mm2 + mm2 * clock_w_per_mm2;
}

/// Power with every lane busy, weights read at the port's rate, every core on pixels of its own, the NoC and DRAM at
/// full rate, plus leakage. Version 2: on the data that toggle most (`peak_activity` of the technology), and with what
/// a chip of its class does not switch off when it waits.
///
/// Equation: die = (array + NoC + shared memory) / (1 - idle share), of which the idle share flows always.
struct PeakPower {
  double pe_array_w = 0;  ///< inside the PE tiles
  double die_w = 0;       ///< pe_array_w plus NoC links, over 1 - idle share
  double chip_w = 0;      ///< die_w plus DRAM
};
/// Peak power inside the PE tiles of a chip of this configuration with the memories of `memories`.
[[nodiscard]] double pe_array_peak_w(const AcceleratorConfig& config, const ChipFacts& memories,
                                     const EventEnergy& event, double leakage_w);
/// The array's `pe_array_w` and what is added to it.
[[nodiscard]] PeakPower peak_power_around(const AcceleratorConfig& config, double pe_array_w, const EventEnergy& event);
/// `chip` with config, memories, event energies and leakage set.
[[nodiscard]] PeakPower peak_power(const ChipFacts& chip);

}  // namespace hindsight::accel

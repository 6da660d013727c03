/// Energy per event, leakage and peak power from the technology data.
#include "hindsight/accel/energy.h"

#include <algorithm>
#include <cmath>

#include "hindsight/accel/template_constants.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {

EventEnergy event_energy(const AcceleratorConfig& config, double pe_pitch_mm, const Technology& technology) {
  return {.mac_pj = technology.mac_pj(config.precision),
          .lane_register_pj = core_register_bits(config.compute_lanes, config.macs_per_lane, config.operand_bytes()) /
                              config.compute_lanes * technology.register_bit_pj,
          .noc_pj_per_hop_byte = technology.noc_router_pj_per_byte + technology.noc_pj_per_byte_mm * pe_pitch_mm,
          .dram_pj_per_byte = technology.dram_j_per_byte(config.dram_type) / units::kPico,
          .vector_op_pj = technology.vector_op_pj,
          .processor_pj = kProcessorMacs * technology.mac_int8_pj,
          .peak_activity = technology.peak_activity,
          .idle_frac = technology.cooling_of(config.cooling).idle_frac};
}

double logic_mm2(const AreaBreakdown& area) {
  return area.mac_mm2 + area.register_mm2 + area.noc_mm2 + area.control_mm2 + area.engine_mm2 + area.vector_mm2;
}

SramCost banked_sram_cost(const Technology& technology, double bytes) {
  SramCost cost = sram_cost(technology.sram, bytes);
  if (bytes <= kPeMemoryBankBytes) return cost;
  const SramCost bank = sram_cost(technology.sram, kPeMemoryBankBytes);
  const double wire_pj_per_byte = technology.noc_pj_per_byte_mm * std::sqrt(cost.area_mm2) / 2.0;
  cost.read_pj_per_byte = bank.read_pj_per_byte + wire_pj_per_byte;
  cost.write_pj_per_byte = bank.write_pj_per_byte + wire_pj_per_byte;
  return cost;
}

double pe_array_peak_w(const AcceleratorConfig& config, const ChipFacts& memories, const EventEnergy& event,
                       double leakage_w) {
  const double accumulator_pj =
      kAccumulatorBytes * (memories.activation_memory.read_pj_per_byte + memories.activation_memory.write_pj_per_byte);
  const double lane_pj = config.macs_per_lane * event.mac_pj + event.lane_register_pj;
  const double core_pj = config.compute_lanes * (lane_pj + accumulator_pj) +
                         config.core_memory_port_bytes * memories.core_memory.read_pj_per_byte;
  const double activation_bytes =
      std::min(pe_memory_bytes_per_cycle(config), config.cores_per_pe * config.macs_per_lane * config.operand_bytes());
  const double pe_memory_pj = activation_bytes * memories.pe_memory.read_pj_per_byte +
                              config.noc_link_bytes * memories.pe_memory.write_pj_per_byte;
  const double pe_pj = config.cores_per_pe * core_pj + pe_memory_pj + config.vector_lanes * event.vector_op_pj +
                       config.processors_per_pe * event.processor_pj;
  return event.peak_activity * (config.pes() * pe_pj * units::kPico * config.clock_hz()) + leakage_w;
}

PeakPower peak_power_around(const AcceleratorConfig& config, double pe_array_w, const EventEnergy& event) {
  const double noc_pj =
      config.noc_link_bytes * config.pes_y * mean_hops(config) * event.noc_pj_per_hop_byte;  // as noc_cycles()
  const double noc_w = noc_pj * units::kPico * config.clock_hz();
  const double dram_w = config.dram_bandwidth_gb_per_s * units::kGiga * event.dram_pj_per_byte * units::kPico;
  PeakPower power{.pe_array_w = pe_array_w};
  power.die_w = (pe_array_w + event.peak_activity * noc_w) / (1.0 - event.idle_frac);
  power.chip_w = power.die_w + dram_w;
  return power;
}

PeakPower peak_power(const ChipFacts& chip) {
  PeakPower power =
      peak_power_around(chip.config, pe_array_peak_w(chip.config, chip, chip.event, chip.leakage_w), chip.event);
  // The shared memory feeds every row bus.
  const double shared_pj = chip.config.noc_link_bytes * chip.config.pes_y * chip.shared_memory.read_pj_per_byte;
  const double busy_w = chip.event.peak_activity * shared_pj * units::kPico * chip.config.clock_hz();
  const double shared_w = busy_w / (1.0 - chip.event.idle_frac);
  power.die_w += shared_w;
  power.chip_w += shared_w;
  return power;
}

}  // namespace hindsight::accel

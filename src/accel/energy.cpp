#include "hindsight/accel/energy.h"

#include <algorithm>
#include <cmath>

#include "hindsight/accel/template_constants.h"

namespace hindsight::accel {

void EnergyBreakdown::add_scaled(const EnergyBreakdown& other, double factor) {
  mac_j += factor * other.mac_j;
  register_j += factor * other.register_j;
  pe_memory_j += factor * other.pe_memory_j;
  core_memory_j += factor * other.core_memory_j;
  activation_memory_j += factor * other.activation_memory_j;
  parameter_memory_j += factor * other.parameter_memory_j;
  instruction_memory_j += factor * other.instruction_memory_j;
  noc_j += factor * other.noc_j;
  dram_j += factor * other.dram_j;
  leakage_j += factor * other.leakage_j;
}

namespace {

constexpr double kJoulesPerPicojoule = 1e-12;

/// Energy of one byte that leaves a router and crosses one PE pitch.
double noc_pj_per_hop_byte(const ChipFacts& chip, const Technology& technology) {
  return technology.noc_router_pj_per_byte + technology.noc_pj_per_byte_mm * chip.pe_pitch_mm;
}

/// Pipeline registers that toggle with one active lane, its share of the core's included.
double lane_register_pj(const AcceleratorConfig& config, const Technology& technology) {
  return core_register_bits(config.compute_lanes, config.macs_per_lane) / config.compute_lanes *
         technology.register_bit_pj;
}

}  // namespace

SramCost banked_sram_cost(const Technology& technology, double bytes) {
  SramCost cost = sram_cost(technology.sram, bytes);
  if (bytes <= kPeMemoryBankBytes) return cost;
  const SramCost bank = sram_cost(technology.sram, kPeMemoryBankBytes);
  const double wire_pj_per_byte = technology.noc_pj_per_byte_mm * std::sqrt(cost.area_mm2) / 2.0;
  cost.read_pj_per_byte = bank.read_pj_per_byte + wire_pj_per_byte;
  cost.write_pj_per_byte = bank.write_pj_per_byte + wire_pj_per_byte;
  return cost;
}

EnergyBreakdown layer_energy(const LayerShape& layer, const Traffic& traffic, double instructions,
                             const ChipFacts& chip, const Technology& technology) {
  const AcceleratorConfig& config = chip.config;
  const double lane_cycles = layer.macs / config.macs_per_lane;
  EnergyBreakdown energy;
  energy.mac_j = kJoulesPerPicojoule * layer.macs * technology.mac_int8_pj;
  energy.register_j = kJoulesPerPicojoule * lane_cycles * lane_register_pj(config, technology);
  energy.pe_memory_j = kJoulesPerPicojoule * (traffic.pe_memory_read_bytes * chip.pe_memory.read_pj_per_byte +
                                              traffic.pe_memory_write_bytes * chip.pe_memory.write_pj_per_byte);
  energy.core_memory_j = kJoulesPerPicojoule * (traffic.core_memory_read_bytes * chip.core_memory.read_pj_per_byte +
                                                traffic.core_memory_write_bytes * chip.core_memory.write_pj_per_byte);
  energy.activation_memory_j =
      kJoulesPerPicojoule * (traffic.accumulator_read_bytes * chip.activation_memory.read_pj_per_byte +
                             traffic.accumulator_write_bytes * chip.activation_memory.write_pj_per_byte);
  energy.parameter_memory_j = kJoulesPerPicojoule * layer.output_bytes * kParameterEntryBytes *
                              chip.parameter_memory.read_pj_per_byte / kRequantisationReuse;
  energy.instruction_memory_j =
      kJoulesPerPicojoule * instructions * kInstructionBytes * chip.instruction_memory.read_pj_per_byte;
  energy.noc_j = kJoulesPerPicojoule * traffic.noc_hop_bytes * noc_pj_per_hop_byte(chip, technology);
  energy.dram_j = traffic.dram_bytes() * technology.dram_energy(config.dram_type).value();
  return energy;
}

PeakPower peak_power(const ChipFacts& chip, const Technology& technology) {
  const AcceleratorConfig& config = chip.config;
  const double accumulator_pj =
      kAccumulatorBytes * (chip.activation_memory.read_pj_per_byte + chip.activation_memory.write_pj_per_byte);
  const double lane_pj = config.macs_per_lane * technology.mac_int8_pj + lane_register_pj(config, technology);
  const double core_pj =
      config.compute_lanes * (lane_pj + accumulator_pj) + kCoreMemoryPortBytes * chip.core_memory.read_pj_per_byte;
  const double activation_bytes =
      std::min(pe_memory_bytes_per_cycle(config.pe_memory_bytes), config.cores_per_pe * config.macs_per_lane);
  const double pe_memory_pj =
      activation_bytes * chip.pe_memory.read_pj_per_byte + kNocLinkBytesPerCycle * chip.pe_memory.write_pj_per_byte;
  const double pe_pj = config.cores_per_pe * core_pj + pe_memory_pj;
  const double link_pj = kNocLinkBytesPerCycle * noc_pj_per_hop_byte(chip, technology);
  const double dram_w = config.dram_bandwidth_gb_per_s * 1e9 * technology.dram_energy(config.dram_type).value();
  const double clock_hz = config.clock().value();
  PeakPower power;
  power.pe_array_w = config.pes() * pe_pj * kJoulesPerPicojoule * clock_hz + chip.leakage_w;
  power.chip_w = power.pe_array_w + config.pes() * link_pj * kJoulesPerPicojoule * clock_hz + dram_w;
  return power;
}

}  // namespace hindsight::accel

/// Is every component of the energy the activity times its energy per event?
#include "hindsight/accel/energy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tolerances.h"

namespace hindsight::accel {
namespace {

using test::kRounding;
using test::relative_error;

constexpr double kPj = 1e-12;

#define EXPECT_SAME(got, wanted) EXPECT_LT(relative_error(got, wanted), kRounding) << (got) << " is not " << (wanted)

/// A chip of round numbers: every memory has its own energy per byte.
ChipFacts hand_chip() {
  ChipFacts chip;
  chip.config.pes_x = 2;
  chip.config.pes_y = 3;
  chip.config.cores_per_pe = 4;
  chip.config.compute_lanes = 5;
  chip.config.pe_memory_bytes = 65536;
  chip.config.clock_mhz = 1000;
  chip.config.dram_bandwidth_gb_per_s = 10;
  chip.pe_memory = {.read_pj_per_byte = 2, .write_pj_per_byte = 3};
  chip.core_memory = {.read_pj_per_byte = 0.5, .write_pj_per_byte = 0.7};
  chip.activation_memory = {.read_pj_per_byte = 0.1, .write_pj_per_byte = 0.2};
  chip.parameter_memory = {.read_pj_per_byte = 0.8};
  chip.instruction_memory = {.read_pj_per_byte = 1.5};
  chip.event = {.mac_pj = 0.25, .lane_register_pj = 0.4, .noc_pj_per_hop_byte = 1.25, .dram_pj_per_byte = 64};
  return chip;
}

TEST(LayerEnergy, EveryComponentByHand) {
  LayerShape layer;
  layer.macs = 4000;
  layer.k = 4;  // no partial group of products
  layer.output_bytes = 100;
  Traffic traffic;
  traffic.dram_read_weight_bytes = 10;
  traffic.dram_read_input_bytes = 20;
  traffic.dram_write_output_bytes = 30;
  traffic.noc_weight_bytes = 1e6;  // only hops count
  traffic.noc_hop_bytes = 80;
  traffic.core_memory_read_bytes = 200;
  traffic.core_memory_write_bytes = 300;
  traffic.pe_memory_read_bytes = 400;
  traffic.pe_memory_write_bytes = 500;
  traffic.accumulator_read_bytes = 600;
  traffic.accumulator_write_bytes = 700;
  const EnergyBreakdown energy = layer_energy(layer, traffic, 9, hand_chip());
  EXPECT_SAME(energy.mac_j, 1000 * kPj);                // 4000 * 0.25
  EXPECT_SAME(energy.register_j, 400 * kPj);            // 4000 / 4 lane cycles * 0.4
  EXPECT_SAME(energy.pe_memory_j, 2300 * kPj);          // 400 * 2 + 500 * 3
  EXPECT_SAME(energy.core_memory_j, 310 * kPj);         // 200 * 0.5 + 300 * 0.7
  EXPECT_SAME(energy.activation_memory_j, 200 * kPj);   // 600 * 0.1 + 700 * 0.2
  EXPECT_SAME(energy.parameter_memory_j, 40 * kPj);     // 100 outputs * 8 bytes / 16 outputs per read * 0.8
  EXPECT_SAME(energy.instruction_memory_j, 432 * kPj);  // 9 * 32 bytes * 1.5
  EXPECT_SAME(energy.noc_j, 100 * kPj);                 // 80 * 1.25
  EXPECT_SAME(energy.dram_j, 3840 * kPj);               // 60 * 64
  EXPECT_EQ(energy.leakage_j, 0);                       // the caller's
  EXPECT_SAME(energy.total_j(), 8622 * kPj);
}

TEST(LayerEnergy, PartialGroupOfProductsTakesAWholeLaneCycle) {
  // A 9-tap depthwise window at 4 products per cycle: 3 cycles for 9 MACs; 100 outputs take 300 lane cycles.
  LayerShape layer;
  layer.macs = 900;
  layer.k = 9;
  EXPECT_SAME(lane_cycles(layer, 4), 300);
  EXPECT_SAME(layer_energy(layer, Traffic{}, 0, hand_chip()).register_j, 120 * kPj);  // 300 * 0.4
}

TEST(EnergySums, AddScaledScalesEveryComponent) {
  EnergyBreakdown one;
  double* first = &one.mac_j;
  constexpr std::size_t kFields = sizeof(EnergyBreakdown) / sizeof(double);
  for (std::size_t i = 0; i < kFields; ++i) first[i] = static_cast<double>(i + 1);
  EnergyBreakdown sum = one;
  sum.add_scaled(one, 2);
  const double* got = &sum.mac_j;
  for (std::size_t i = 0; i < kFields; ++i) EXPECT_EQ(got[i], 3 * static_cast<double>(i + 1)) << i;
  EXPECT_EQ(one.total_j(), 78);  // 1 + 2 + ... + 12
}

TEST(EventEnergies, FollowTheTechnology) {
  Technology technology;
  technology.mac_int8_pj = 0.25;
  technology.register_bit_pj = 0.01;
  technology.noc_router_pj_per_byte = 0.5;
  technology.noc_pj_per_byte_mm = 2;
  technology.dram_pj_per_bit[static_cast<std::size_t>(DramType::hbm2)] = 4;
  AcceleratorConfig config;
  config.compute_lanes = 5;
  config.dram_type = DramType::hbm2;
  const EventEnergy event = event_energy(config, 1.5, technology);
  EXPECT_EQ(event.mac_pj, 0.25);
  // (5 lanes * (4 * 8 + 32) + 4 * 8 bits) / 5 lanes = 70.4 bits * 0.01.
  EXPECT_SAME(event.lane_register_pj, 0.704);
  EXPECT_SAME(event.noc_pj_per_hop_byte, 3.5);  // 0.5 + 1.5 mm * 2
  EXPECT_SAME(event.dram_pj_per_byte, 32);      // 8 bits * 4
}

TEST(MeanHops, IsHalfTheGridEachWay) {
  AcceleratorConfig config;
  EXPECT_EQ(mean_hops(config), 2);
  config.pes_x = 4;
  config.pes_y = 6;
  EXPECT_EQ(mean_hops(config), 6);  // 3 down, 2 across, 1 into the PE
}

TEST(PeakPower, AddsEveryBusyPart) {
  ChipFacts chip = hand_chip();
  chip.leakage_w = 0.001;
  // Lane: 4 * 0.25 + 0.4 + 4 bytes * (0.1 + 0.2) = 2.6. Core: 5 * 2.6 + 32 bytes * 0.5 = 29.
  // PE memory: one bank, so 16 bytes * 2 (of 4 cores * 4 bytes) + 64 bytes * 3 = 224. PE: 4 * 29 + 224 = 340.
  // 6 PEs * 340 pJ * 1 GHz = 2.04 W.
  const PeakPower power = peak_power(chip);
  EXPECT_SAME(power.pe_array_w, 2.041);
  // NoC: 3 row buses * 64 bytes * (1.5 + 1 + 1) hops * 1.25 = 840 pJ; DRAM: 10 GB/s * 64 pJ = 0.64 W.
  EXPECT_SAME(power.chip_w, 2.041 + 0.84 + 0.64);
}

TEST(PeakPower, PeMemoryReadsAreThoseOfItsCoresOrItsPorts) {
  ChipFacts chip = hand_chip();
  chip.config.pe_memory_bytes = 1048576;  // 16 banks, 256 bytes per cycle, of which 4 cores take 16
  EXPECT_SAME(peak_power(chip).pe_array_w, 2.04);
  chip.config.cores_per_pe = 32;  // 128 bytes per cycle: 6 * (32 * 29 + 128 * 2 + 192)
  EXPECT_SAME(peak_power(chip).pe_array_w, 8.256);
  chip.config.cores_per_pe = 128;  // 256 bytes of 512: 6 * (128 * 29 + 256 * 2 + 192)
  EXPECT_SAME(peak_power(chip).pe_array_w, 26.496);
}

TEST(BankedSram, IsABankPlusHalfTheSideOfWire) {
  Technology technology;
  technology.sram.read_pj = {.coefficient = 2, .exponent = 0.5};   // 64 KiB: 16 pJ of 16 bytes
  technology.sram.write_pj = {.coefficient = 4, .exponent = 0.5};  // 64 KiB: 32 pJ of 16 bytes
  technology.sram.area_mm2 = {.coefficient = 1.0 / 64, .exponent = 1};
  technology.sram.leakage_mw = {.coefficient = 0.25, .exponent = 1};
  technology.noc_pj_per_byte_mm = 3;
  const SramCost bank = banked_sram_cost(technology, 65536);
  EXPECT_SAME(bank.read_pj_per_byte, 1);
  EXPECT_SAME(bank.write_pj_per_byte, 2);
  // 256 KiB are 4 mm2, a side of 2 mm: 1 mm of wire.
  const SramCost memory = banked_sram_cost(technology, 262144);
  EXPECT_SAME(memory.read_pj_per_byte, 4);
  EXPECT_SAME(memory.write_pj_per_byte, 5);
  EXPECT_SAME(memory.area_mm2, 4);
  EXPECT_SAME(memory.leakage_mw, 64);
}

TEST(BankedSram, CostsMoreTheLargerItIs) {
  for (const char* name : {"7nm", "16nm", "22nm", "45nm"}) {
    const Technology technology = load_technology(name);
    double previous = 0;
    for (double bytes = 16384; bytes <= 16777216; bytes *= 2) {
      const SramCost cost = banked_sram_cost(technology, bytes);
      EXPECT_GT(cost.read_pj_per_byte, previous) << name << ", " << bytes;
      previous = cost.read_pj_per_byte;
    }
  }
}

}  // namespace
}  // namespace hindsight::accel

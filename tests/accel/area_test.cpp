/// Does the area add up from its parts, by hand and in every direction of the space?
#include "hindsight/accel/area.h"

#include <gtest/gtest.h>

#include "hindsight/accel/template_constants.h"

namespace hindsight::accel {
namespace {

/// Rounding of a few floating-point operations.
constexpr double kRounding = 1e-12;

AcceleratorConfig small_config() {
  AcceleratorConfig config;
  config.pes_x = 2;
  config.pes_y = 3;
  config.pe_memory_bytes = 262144;
  config.cores_per_pe = 4;
  config.core_memory_bytes = 8192;
  config.compute_lanes = 2;
  config.instruction_memory_entries = 8192;
  config.parameter_memory_entries = 2048;
  config.activation_memory_entries = 256;
  config.dram_bandwidth_gb_per_s = 10;
  return config;
}

/// One mm2 per MiB of SRAM, exactly linear; 100 um2 per MAC, 2 um2 per register bit, 3 um2 per NoC bit.
Technology hand_technology() {
  Technology technology;
  technology.sram.area_mm2 = {.coefficient = 1.0 / 1024, .exponent = 1};
  technology.mac_int8_um2 = 100;
  technology.register_bit_um2 = 2;
  technology.noc_router_um2_per_bit = 3;
  technology.control_area_fraction = 0.5;
  technology.dram_phy_mm2_per_gb_per_s[0] = 0.1;
  technology.dram_phy_mm2_per_gb_per_s[3] = 0.02;
  return technology;
}

TEST(AreaTest, AddsUpByHand) {
  const AreaBreakdown result = area(small_config(), hand_technology());
  // 6 PEs * 4 cores * 2 lanes * 4 = 192 MACs * 100 um2.
  EXPECT_NEAR(result.mac_mm2, 0.0192, kRounding);
  // 24 cores * (2 lanes * (4 * 8 + 32) + 4 * 8) = 24 * 160 = 3840 bits * 2 um2.
  EXPECT_NEAR(result.register_mm2, 0.00768, kRounding);
  EXPECT_NEAR(result.pe_memory_mm2, 6 * 0.25, kRounding);                // 256 KiB each
  EXPECT_NEAR(result.core_memory_mm2, 24 * 8.0 / 1024, kRounding);       // 8 KiB each
  EXPECT_NEAR(result.activation_memory_mm2, 6 * 1.0 / 1024, kRounding);  // 256 entries * 4 bytes = 1 KiB
  EXPECT_NEAR(result.parameter_memory_mm2, 6 * 16.0 / 1024, kRounding);  // 2048 entries * 8 bytes = 16 KiB
  // 8192 entries, once per chip.
  EXPECT_NEAR(result.instruction_memory_mm2, 8 * kInstructionBytes / 1024, kRounding);
  // 6 PEs * 2 buses * 512 bits * 3 um2.
  EXPECT_NEAR(result.noc_mm2, 0.018432, kRounding);
  EXPECT_NEAR(result.control_mm2, 0.5 * (0.0192 + 0.00768 + 0.018432), kRounding);
  EXPECT_NEAR(result.dram_phy_mm2, 1.0, kRounding);
}

TEST(AreaTest, TotalAndTileAreSums) {
  const AreaBreakdown result = area(small_config(), hand_technology());
  const double on_tiles = result.mac_mm2 + result.register_mm2 + result.pe_memory_mm2 + result.core_memory_mm2 +
                          result.activation_memory_mm2 + result.parameter_memory_mm2 + result.noc_mm2 +
                          result.control_mm2;
  EXPECT_NEAR(result.pe_mm2 * 6, on_tiles, kRounding);
  EXPECT_NEAR(result.total_mm2(), on_tiles + result.instruction_memory_mm2 + result.dram_phy_mm2, kRounding);
}

TEST(AreaTest, PhyDependsOnTheDramType) {
  AcceleratorConfig config = small_config();
  config.dram_type = DramType::hbm2;
  EXPECT_NEAR(area(config, hand_technology()).dram_phy_mm2, 0.2, kRounding);
}

TEST(AreaTest, EveryParameterAddsArea) {
  double AcceleratorConfig::*const parameters[] = {&AcceleratorConfig::pes_x,
                                                   &AcceleratorConfig::pes_y,
                                                   &AcceleratorConfig::pe_memory_bytes,
                                                   &AcceleratorConfig::cores_per_pe,
                                                   &AcceleratorConfig::core_memory_bytes,
                                                   &AcceleratorConfig::compute_lanes,
                                                   &AcceleratorConfig::instruction_memory_entries,
                                                   &AcceleratorConfig::parameter_memory_entries,
                                                   &AcceleratorConfig::activation_memory_entries,
                                                   &AcceleratorConfig::dram_bandwidth_gb_per_s,
                                                   &AcceleratorConfig::macs_per_lane};
  const Technology technology = load_technology("22nm");
  for (std::size_t i = 0; i < std::size(parameters); ++i) {
    AcceleratorConfig config = small_config();
    double previous = area(config, technology).total_mm2();
    for (int doubling = 0; doubling < 7; ++doubling) {  // PE memory 256 KiB to 32 MiB: across macro boundaries
      config.*parameters[i] *= 2;
      const double total = area(config, technology).total_mm2();
      EXPECT_GT(total, previous) << "parameter " << i << ", doubling " << doubling;
      previous = total;
    }
  }
}

TEST(AreaTest, ClockTakesNoArea) {
  AcceleratorConfig config = small_config();
  const Technology technology = load_technology("22nm");
  const double before = area(config, technology).total_mm2();
  config.clock_mhz *= 2;
  EXPECT_EQ(area(config, technology).total_mm2(), before);
}

TEST(AreaTest, SmallerNodesAreSmaller) {
  double previous = 0;
  for (const char* name : {"7nm", "16nm", "22nm", "45nm"}) {
    const double total = area(small_config(), load_technology(name)).total_mm2();
    EXPECT_GT(total, previous) << name;
    previous = total;
  }
}

}  // namespace
}  // namespace hindsight::accel

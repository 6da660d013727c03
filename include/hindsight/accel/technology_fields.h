/// The numbers of a technology, named once: its YAML file and the evaluator's definition are loops over these lists.
#pragma once

#include <algorithm>

#include "hindsight/accel/technology.h"
#include "hindsight/core/config.h"

namespace hindsight::accel {

/// What a file may say of a number that is `least` to `most` in those that ship: as much beyond that a slip of three
/// digits (a wrong unit) is seen at most nodes and no plausible technology is refused.
[[nodiscard]] constexpr Bounds around(double least, double most) {
  constexpr double kBeyond = 50;  // [chosen] a factor
  return {.low = least / kBeyond, .high = most * kBeyond};
}
/// The same of a number that may be 0.
[[nodiscard]] constexpr Bounds up_to(double most) { return {.low = 0, .high = around(most, most).high}; }

/// What a technology file may say of one number.
struct NumberRule {
  Bounds bounds = kPositive;  ///< refuses a wrong unit or a slipped decimal point, not a plausible technology
  bool required = true;       ///< no: the struct's own value stands where the file has none
  /// Not 0: of this version of the model alone, kFirstSiliconModelVersion of all since; required there, refused
  /// elsewhere.
  int of_version = 0;

  [[nodiscard]] constexpr bool is_known_in(int version) const {
    return of_version == 0 || of_version == std::min(version, kFirstSiliconModelVersion);
  }
};
[[nodiscard]] constexpr NumberRule of_version(int version, Bounds bounds = kPositive) {
  return {.bounds = bounds, .of_version = version};
}

/// How many of the DramTypes a version of the model knows: the first of them.
[[nodiscard]] constexpr std::size_t dram_types_of(int version) {
  return version == 1 ? kDramTypesOfVersion1 : kDramTypeCount;
}

/// Calls visit(name, law) or visit(name, number, rule) for every field, in the order of the evaluator's definition;
/// `sram` may be const.
template <class Sram, class Visit>
void for_each_sram_field(Sram& sram, Visit&& visit) {
  visit("port_bits", sram.port_bits, NumberRule{.bounds = {.low = 8, .high = 4096}});
  visit("read_pj", sram.read_pj);
  visit("write_pj", sram.write_pj);
  visit("area_mm2", sram.area_mm2);
  visit("leakage_mw", sram.leakage_mw);
  visit("largest_macro_kib", sram.largest_macro_kib, NumberRule{.bounds = {.low = 1, .high = 1048576}});
  visit("largest_area_macro_kib", sram.largest_area_macro_kib,
        of_version(kFirstSiliconModelVersion, {.low = 1, .high = 1048576}));
}

/// Calls visit(name, number, rule), visit(name, sram), visit(name, numbers per DramType) or visit(name, cooling
/// classes) for every field but the name, the version and the default cooling class, in the order of the
/// evaluator's definition; `technology` may be const.
template <class Tech, class Visit>
void for_each_technology_field(Tech& technology, Visit&& visit) {
  visit("node_nm", technology.node_nm, NumberRule{.bounds = {.low = 1, .high = 1000}});
  visit("supply_v", technology.supply_v, NumberRule{.bounds = {.low = 0.1, .high = 5}});
  visit("sram", technology.sram);
  visit("mac_int8_pj", technology.mac_int8_pj, NumberRule{.bounds = around(0.0206, 0.266)});
  visit("mac_int8_um2", technology.mac_int8_um2, NumberRule{.bounds = around(21.9, 1010)});
  visit("register_bit_pj", technology.register_bit_pj, NumberRule{.bounds = around(0.000812, 0.0105)});
  visit("register_bit_um2", technology.register_bit_um2, of_version(1, around(0.461, 7.82)));
  visit("logic_leakage_mw_per_mm2", technology.logic_leakage_mw_per_mm2, NumberRule{.bounds = up_to(18)});
  visit("noc_pj_per_byte_mm", technology.noc_pj_per_byte_mm, NumberRule{.bounds = around(0.655, 1.21)});
  visit("noc_router_pj_per_byte", technology.noc_router_pj_per_byte, NumberRule{.bounds = around(0.0957, 3.19)});
  visit("noc_router_um2_per_bit", technology.noc_router_um2_per_bit, NumberRule{.bounds = around(0.755, 15.7)});
  visit("wire_delay_ps_per_mm", technology.wire_delay_ps_per_mm, of_version(1, around(45.4, 98.9)));
  visit("tap_delay_ps", technology.tap_delay_ps, of_version(1, around(7, 45)));
  visit("flop_overhead_ps", technology.flop_overhead_ps, of_version(1, around(17.5, 113)));
  visit("control_area_fraction", technology.control_area_fraction, of_version(1, {.low = 0, .high = 1}));
  visit("dram_pj_per_bit", technology.dram_pj_per_bit);
  visit("dram_phy_mm2_per_gb_per_s", technology.dram_phy_mm2_per_gb_per_s);
  visit("power_density_limit_w_per_mm2", technology.power_density_limit_w_per_mm2, of_version(1, around(0.376, 0.376)));
  visit("reticle_limit_mm2", technology.reticle_limit_mm2, NumberRule{.bounds = around(858, 858), .required = false});
  visit("engine_mm2", technology.engine_mm2, of_version(kFirstSiliconModelVersion, up_to(0.378)));
  visit("clock_pj_per_mm2", technology.clock_pj_per_mm2, of_version(kFirstSiliconModelVersion, kNonNegative));
  visit("peak_activity", technology.peak_activity, of_version(kFirstSiliconModelVersion, {.low = 1, .high = 100}));
  visit("placement_fill", technology.placement_fill, of_version(kFirstSiliconModelVersion, {.low = 0.1, .high = 1}));
  visit("noc_hop_cycles", technology.noc_hop_cycles, of_version(kFirstSiliconModelVersion, {.low = 1, .high = 100}));
  visit("max_clock_mhz", technology.max_clock_mhz, of_version(kFirstSiliconModelVersion, around(1000, 2000)));
  visit("mac_fp8_pj", technology.mac_fp8_pj, of_version(kFirstSiliconModelVersion, around(0.0426, 0.104)));
  visit("mac_fp8_um2", technology.mac_fp8_um2, of_version(kFirstSiliconModelVersion, around(175, 1150)));
  visit("mac_bf16_pj", technology.mac_bf16_pj, of_version(kFirstSiliconModelVersion, around(0.156, 0.38)));
  visit("mac_bf16_um2", technology.mac_bf16_um2, of_version(kFirstSiliconModelVersion, around(278, 1830)));
  visit("vector_op_pj", technology.vector_op_pj, of_version(kFirstSiliconModelVersion, around(0.18, 0.437)));
  visit("vector_lane_mm2", technology.vector_lane_mm2, of_version(kFirstSiliconModelVersion, around(0.00719, 0.047)));
  visit("cooling", technology.cooling);
}

}  // namespace hindsight::accel

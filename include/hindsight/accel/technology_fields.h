/// The numbers of a technology, named once: its YAML file and the evaluator's definition are loops over these lists.
#pragma once

#include "hindsight/accel/technology.h"
#include "hindsight/core/config.h"

namespace hindsight::accel {

/// What a technology file may say of one number.
struct NumberRule {
  Bounds bounds = kPositive;  ///< refuses a wrong unit or a slipped decimal point, not a plausible technology
  bool required = true;       ///< no: the struct's own value stands where the file has none
};

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
}

/// Calls visit(name, number, rule), visit(name, sram) or visit(name, numbers per DramType) for every field but the
/// name, in the order of the evaluator's definition; `technology` may be const.
template <class Tech, class Visit>
void for_each_technology_field(Tech& technology, Visit&& visit) {
  visit("node_nm", technology.node_nm, NumberRule{.bounds = {.low = 1, .high = 1000}});
  visit("supply_v", technology.supply_v, NumberRule{.bounds = {.low = 0.1, .high = 5}});
  visit("sram", technology.sram);
  visit("mac_int8_pj", technology.mac_int8_pj, NumberRule{});
  visit("mac_int8_um2", technology.mac_int8_um2, NumberRule{});
  visit("register_bit_pj", technology.register_bit_pj, NumberRule{});
  visit("register_bit_um2", technology.register_bit_um2, NumberRule{});
  visit("logic_leakage_mw_per_mm2", technology.logic_leakage_mw_per_mm2, NumberRule{.bounds = kNonNegative});
  visit("noc_pj_per_byte_mm", technology.noc_pj_per_byte_mm, NumberRule{});
  visit("noc_router_pj_per_byte", technology.noc_router_pj_per_byte, NumberRule{});
  visit("noc_router_um2_per_bit", technology.noc_router_um2_per_bit, NumberRule{});
  visit("wire_delay_ps_per_mm", technology.wire_delay_ps_per_mm, NumberRule{});
  visit("tap_delay_ps", technology.tap_delay_ps, NumberRule{});
  visit("flop_overhead_ps", technology.flop_overhead_ps, NumberRule{});
  visit("control_area_fraction", technology.control_area_fraction, NumberRule{.bounds = {.low = 0, .high = 1}});
  visit("dram_pj_per_bit", technology.dram_pj_per_bit);
  visit("dram_phy_mm2_per_gb_per_s", technology.dram_phy_mm2_per_gb_per_s);
  visit("power_density_limit_w_per_mm2", technology.power_density_limit_w_per_mm2, NumberRule{});
  visit("reticle_limit_mm2", technology.reticle_limit_mm2, NumberRule{.bounds = kPositive, .required = false});
}

}  // namespace hindsight::accel

/// Reads `data/technology/*.yaml`.
#include "hindsight/accel/technology.h"

#include <array>
#include <string>
#include <vector>

#include "hindsight/core/config.h"
#include "hindsight/core/files.h"

namespace hindsight::accel {
namespace {

inline constexpr double kBitsPerByte = 8;

// Ranges that refuse a wrong unit or a slipped decimal point, not a plausible technology.
inline constexpr Bounds kNodeNm{.low = 1, .high = 1000};
inline constexpr Bounds kSupplyV{.low = 0.1, .high = 5};
inline constexpr Bounds kPortBits{.low = 8, .high = 4096};
inline constexpr Bounds kMacroKib{.low = 1, .high = 1048576};
/// Above 0 and at most 1: a larger memory costs more, and splitting one into macros never saves area.
inline constexpr Bounds kExponent{.low = 1e-6, .high = 1};
inline constexpr Bounds kFraction{.low = 0, .high = 1};

struct LawKey {
  const char* key;
  PowerLaw SramModel::*law;
};
constexpr std::array<LawKey, 5> kLaws{{{"read_pj", &SramModel::read_pj},
                                       {"write_pj", &SramModel::write_pj},
                                       {"area_mm2", &SramModel::area_mm2},
                                       {"leakage_mw", &SramModel::leakage_mw},
                                       {"access_ns", &SramModel::access_ns}}};

struct NumberKey {
  const char* key;
  double Technology::*field;
  Bounds bounds;
};
constexpr std::array<NumberKey, 15> kNumbers{{
    {"node_nm", &Technology::node_nm, kNodeNm},
    {"supply_v", &Technology::supply_v, kSupplyV},
    {"mac_int8_pj", &Technology::mac_int8_pj, kPositive},
    {"mac_int8_um2", &Technology::mac_int8_um2, kPositive},
    {"register_bit_pj", &Technology::register_bit_pj, kPositive},
    {"register_bit_um2", &Technology::register_bit_um2, kPositive},
    {"logic_leakage_mw_per_mm2", &Technology::logic_leakage_mw_per_mm2, kNonNegative},
    {"noc_pj_per_byte_mm", &Technology::noc_pj_per_byte_mm, kPositive},
    {"noc_router_pj_per_byte", &Technology::noc_router_pj_per_byte, kPositive},
    {"noc_router_um2_per_bit", &Technology::noc_router_um2_per_bit, kPositive},
    {"wire_delay_ps_per_mm", &Technology::wire_delay_ps_per_mm, kPositive},
    {"tap_delay_ps", &Technology::tap_delay_ps, kPositive},
    {"flop_overhead_ps", &Technology::flop_overhead_ps, kPositive},
    {"control_area_fraction", &Technology::control_area_fraction, kFraction},
    {"power_density_limit_w_per_mm2", &Technology::power_density_limit_w_per_mm2, kPositive},
}};

PowerLaw read_law(const ConfigNode& node) {
  node.require_only_keys({"coefficient", "exponent"});
  return {.coefficient = node.at("coefficient").as_double(kPositive),
          .exponent = node.at("exponent").as_double(kExponent)};
}

SramModel read_sram(const ConfigNode& node) {
  std::vector<std::string> keys{"port_bits", "largest_macro_kib"};
  for (const LawKey& entry : kLaws) keys.emplace_back(entry.key);
  node.require_only_keys(keys);
  SramModel model;
  model.port_bits = node.at("port_bits").as_double(kPortBits);
  model.largest_macro_kib = node.at("largest_macro_kib").as_double(kMacroKib);
  for (const LawKey& entry : kLaws) model.*entry.law = read_law(node.at(entry.key));
  return model;
}

/// One number per DramType, all of them required.
void read_per_dram_type(const ConfigNode& node, double (&values)[kDramTypeCount]) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kDramTypeCount; ++i) names.emplace_back(to_string(static_cast<DramType>(i)));
  node.require_only_keys(names);
  for (std::size_t i = 0; i < kDramTypeCount; ++i) values[i] = node.at(names[i]).as_double(kPositive);
}

}  // namespace

JoulesPerByte Technology::dram_energy(DramType type) const {
  return units::picojoules(dram_pj_per_bit[static_cast<std::size_t>(type)] * kBitsPerByte) / units::bytes(1);
}

Technology load_technology(const std::string& name_or_path) {
  const ConfigNode root = ConfigNode::load(find_data_file(name_or_path, "data/technology", "technology"));
  std::vector<std::string> keys{
      "name", "description", "sram", "dram_pj_per_bit", "dram_phy_mm2_per_gb_per_s", "reticle_limit_mm2"};
  for (const NumberKey& entry : kNumbers) keys.emplace_back(entry.key);
  root.require_only_keys(keys);

  Technology technology;
  technology.name = root.at("name").as_string();
  technology.sram = read_sram(root.at("sram"));
  for (const NumberKey& entry : kNumbers) technology.*entry.field = root.at(entry.key).as_double(entry.bounds);
  read_per_dram_type(root.at("dram_pj_per_bit"), technology.dram_pj_per_bit);
  read_per_dram_type(root.at("dram_phy_mm2_per_gb_per_s"), technology.dram_phy_mm2_per_gb_per_s);
  technology.reticle_limit_mm2 = root.get_double("reticle_limit_mm2", technology.reticle_limit_mm2, kPositive);
  return technology;
}

}  // namespace hindsight::accel

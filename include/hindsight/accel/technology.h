/// Technology data: energies, areas, delays and leakage of one process node, read from
/// `data/technology/*.yaml`, where every number carries its source.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "hindsight/accel/config.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {

/// Version of this model where a technology names none; bumped whenever a result of it changes.
inline constexpr int kModelVersion = 1;
/// The newest, of the technologies *-silicon. Those since kFirstSiliconModelVersion read the same keys; version 3
/// leaves keys and values of earlier passes in DRAM, and counts what that holds as a GPU's is counted. Of networks
/// without such keys that the DRAM holds its figures are those of version 2. Version 4 cuts sequences (convolutions of
/// one row) along their row, whose whole row version 3 wants in a tile; networks without them keep every figure.
inline constexpr int kSiliconModelVersion = 4, kFirstSiliconModelVersion = 2;

/// Power-law fit of CACTI results for one port width: y = coefficient * KiB^exponent.
struct PowerLaw {
  double coefficient = 0;
  double exponent = 0;
};

/// SRAM cost model of one node.
/// Model: read/write energy per access of a 128-bit port, area and leakage as power laws of the capacity
/// in KiB. Coefficients: least squares in log space on CACTI 7 data
/// (`bench/cacti_fit`). Valid for: 1 KiB to 4 MiB per macro; larger memories are built from macros.
struct SramModel {
  double port_bits = 128;
  PowerLaw read_pj;   ///< pJ per access of `port_bits`
  PowerLaw write_pj;  ///< pJ per access of `port_bits`
  PowerLaw area_mm2;
  PowerLaw leakage_mw;
  double largest_macro_kib = 4096;
  double largest_area_macro_kib = 0;  ///< of the area's law; 0: as above
  [[nodiscard]] double area_macro_kib() const {
    return largest_area_macro_kib > 0 ? largest_area_macro_kib : largest_macro_kib;
  }
};

/// A cooling class: what it removes from a chip and from a square millimetre of its die, and what chips of it have
/// besides their blocks.
struct CoolingClass {
  double most_w = 0;
  double w_per_mm2 = 0;
  double interfaces_mm2 = 0;  ///< to a host, clocks, pads; none where the accelerator is a block of a larger chip
  double idle_frac = 0;       ///< of the die's peak power, that flows whether the chip works or not, besides leakage
};

/// One process node. A plain struct apart from the name; copyable to a device without it.
struct Technology {
  std::string name;                      ///< "22nm"
  std::optional<std::string> file = {};  ///< as it was named, where another ships under the name; no part of results
  double node_nm = 22;
  double supply_v = 0.8;  ///< at which the energies below hold; a reference chip may state its own
  SramModel sram;
  double mac_int8_pj = 0;      ///< one int8 MAC: multiply, its share of the lane's adder tree and int32 accumulator
  double mac_int8_um2 = 0;     ///< area of the same
  double register_bit_pj = 0;  ///< one write+read of a pipeline register bit
  double register_bit_um2 = 0;
  double logic_leakage_mw_per_mm2 = 0;
  double noc_pj_per_byte_mm = 0;      ///< wire energy, per byte and millimetre
  double noc_router_pj_per_byte = 0;  ///< per hop
  double noc_router_um2_per_bit = 0;  ///< router and link driver area per bit of one bus and PE
  double wire_delay_ps_per_mm = 0;    ///< repeated global wire
  double tap_delay_ps = 0;            ///< one multicast tap (mux and repeater)
  double flop_overhead_ps = 0;        ///< set-up, clock-to-q and skew per cycle
  double control_area_fraction = 0;   ///< sequencers, clocking, test; fraction of logic area
  /// Indexed by DramType; version 1 has the first kDramTypesOfVersion1.
  double dram_pj_per_bit[kDramTypeCount] = {};
  double dram_phy_mm2_per_gb_per_s[kDramTypeCount] = {};  ///< PHY area per GB/s; controller not counted
  double power_density_limit_w_per_mm2 = 0;               ///< of the PE array; version 1 only
  double reticle_limit_mm2 = 858;                         ///< [spec: asml-twinscan] exposure field 26 mm x 33 mm

  // Of model version 2 (docs/silicon.md); the values here leave the results of version 1 as they are.
  int model_version = kModelVersion;
  double engine_mm2 = 0;                     ///< per PE: sequencer, DMA, post-processing
  double clock_pj_per_mm2 = 0;               ///< per cycle and area of logic that is clocked whether it works or not
  double peak_activity = 1;                  ///< dynamic energy of the data that toggle most over that of usual data
  double placement_fill = 1;                 ///< share of the die inside its interfaces that blocks cover
  double noc_hop_cycles = 0;                 ///< registers of one hop of the pipelined NoC
  double max_clock_mhz = 0;                  ///< that multipliers and SRAM banks reach
  double mac_fp8_pj = 0, mac_fp8_um2 = 0;    ///< as mac_int8_*, of fp8 operands and fp32 sums
  double mac_bf16_pj = 0, mac_bf16_um2 = 0;  ///< of bf16 or fp16 operands and fp32 sums
  double vector_op_pj = 0;                   ///< one fp32 operation of a vector lane
  double vector_lane_mm2 = 0;                ///< with its registers
  CoolingClass cooling[kCoolingClassCount] = {};
  Cooling cooling_class = Cooling::as_technology;  ///< of designs that name none

  /// Version 1: a chip is its parts, every multicast crosses the grid within a cycle, heat is limited per area of the
  /// array. From version 2: placed silicon, pipelined hops, cooling classes.
  [[nodiscard]] bool is_version_1() const { return model_version == 1; }
  /// The class of a chip, version 2; of version 1 one that limits nothing.
  [[nodiscard]] CoolingClass cooling_of(Cooling chip) const;

  [[nodiscard]] double dram_j_per_byte(DramType type) const;
  [[nodiscard]] double mac_pj(Precision precision) const;
  [[nodiscard]] double mac_um2(Precision precision) const;
};

/// Error{usage} where a space, or a chip of this name, has what the technology's version of the model does not know:
/// formats other than int8, vector units, a shared memory, DRAM by devices.
void require_expressible(const Technology& technology, const space::DesignSpace& space);
void require_expressible(const Technology& technology, const std::string& chip, const AcceleratorConfig& config);

/// Whether a chip states a supply of its own.
[[nodiscard]] constexpr bool has_own_supplies(const AcceleratorConfig& config) {
  return config.logic_v > 0 || config.memory_v > 0;
}
/// The technology at the chip's own supplies, of logic and wires, and of memories.
///
/// Equation: dynamic energy ~ V^2; what leaks ~ V, the current taken as the same. DRAM has a supply of its own.
[[nodiscard]] Technology at_supplies(const Technology& technology, const AcceleratorConfig& config);

/// What the technology's model version says of cycles and programs.
///
/// Equation, version 2, h = noc_hop_cycles: filling and draining 2 h per row and column (first data in, last results
/// out); starting a layer one cycle per instruction of its loops, and h per row and column to tell the PEs.
[[nodiscard]] TemplateRules template_rules(const Technology& technology);

/// Where neither a command nor the design space or the chip names one: placed silicon at 22 nm.
inline constexpr const char* kDefaultTechnology = "22nm-silicon";

/// NAME from data/technology or a path; of version 2 "NAME@CLASS" with another cooling class for designs that name
/// none, which the technology's name then ends with. A text that is a file or a name as it stands is that one, whatever
/// '@' it has; Error{usage} where it is both. Errors: Error{usage}, file:line:column.
[[nodiscard]] Technology load_technology(const std::string& name_or_path);
/// The class of "NAME@CLASS"; none where the text has none. Error{usage} where there is no such class.
[[nodiscard]] std::optional<Cooling> named_cooling(const std::string& text);
/// The one asked for; where that is empty the space's, or the default.
[[nodiscard]] Technology load_technology(const std::string& asked, const space::DesignSpace& space);

/// Cost of one SRAM of `bytes` capacity made of equal macros no larger than the model's largest.
struct SramCost {
  double macros = 0;
  double read_pj_per_byte = 0;
  double write_pj_per_byte = 0;
  double area_mm2 = 0;
  double leakage_mw = 0;
};

/// Smallest capacity of the fit data; the energy of a smaller memory is that of this one.
inline constexpr double kSmallestFittedKib = 1;

/// Model: n = ceil(KiB / largest_macro_kib) equal macros; area and leakage = n * law(KiB / n), the area with
///   largest_area_macro_kib;
///   energy per byte = law(clamp(KiB, 1, largest_macro_kib)) / (port_bits / 8).
/// An access of a memory of several macros costs that of the largest macro: reaching one of n macros is never
/// cheaper than an access within one. All results are monotone in `bytes` (exponents lie in (0, 1]).
/// Valid for: 1 KiB upwards. Below, area and leakage follow the law and energy is that of 1 KiB (the fit has no
/// smaller point; a register file of that size would cost less). `bytes` == 0 is no memory: all zero.
/// Ignores: wiring between macros, error correction, redundancy.
[[nodiscard]] SramCost sram_cost(const SramModel& model, double bytes);
/// The area alone; cheaper than `sram_cost`.
[[nodiscard]] double sram_area_mm2(const SramModel& model, double bytes);

}  // namespace hindsight::accel

/// One accelerator of the PE-array template: what the design space chooses and what the template fixes.
///
/// The template (Yazdanbakhsh et al. 2021, Kumar et al. 2022): a grid of PEs on a NoC; every PE has a
/// PE memory (activations, partial sums) and cores; every core has a core memory (weights) and lanes;
/// every lane multiplies and adds four int8 pairs per cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/accel/template_constants.h"
#include "hindsight/core/units.h"
#include "hindsight/space/design_space.h"

namespace hindsight {
class ConfigNode;
}

namespace hindsight::accel {

/// Type of the external memory; decides energy per bit and PHY area, and what one device moves and holds.
enum class DramType { lpddr4, ddr4, gddr6, hbm2, lpddr5, hbm2e, hbm3 };
inline constexpr std::size_t kDramTypeCount = 7;
inline constexpr std::size_t kDramTypesOfVersion1 = 4;  ///< the first of them
/// "lpddr4", "ddr4", "gddr6", "hbm2", "lpddr5", "hbm2e", "hbm3".
[[nodiscard]] std::string_view to_string(DramType type);
[[nodiscard]] std::optional<DramType> parse_dram_type(std::string_view name);

/// Format of the operands of a MAC; sums are 32 bits wide in all of them. fp16 costs what bf16 does.
enum class Precision { int8, fp8, bf16 };
inline constexpr std::size_t kPrecisionCount = 3;
/// "int8", "fp8", "bf16".
[[nodiscard]] std::string_view to_string(Precision precision);
/// "fp16" is bf16.
[[nodiscard]] std::optional<Precision> parse_precision(std::string_view name);
/// Of one operand.
[[nodiscard]] constexpr double operand_bytes(Precision precision) { return precision == Precision::bf16 ? 2.0 : 1.0; }

/// What removes a chip's heat; how many watts, and how many from a square millimetre, is the technology's.
enum class Cooling {
  as_technology,  ///< the class that the technology names
  passive,        ///< USB stick, M.2
  phone,
  card,    ///< low profile, one slot
  air,     ///< server
  liquid,  ///< or the heat sink of a module of its own
};
inline constexpr std::size_t kCoolingClassCount = 5;  ///< without as_technology
/// "passive", "phone", "card", "air", "liquid".
[[nodiscard]] std::string_view to_string(Cooling cooling);
[[nodiscard]] std::optional<Cooling> parse_cooling(std::string_view name);
/// All of them, in order.
[[nodiscard]] std::vector<std::string> cooling_names();
/// The class that a file names. Error{usage}, file:line:column, with the nearest.
[[nodiscard]] Cooling cooling_of(const ConfigNode& node);

/// What the model's versions see differently in cycles and programs; set by the technology (`template_rules`). Here
/// those of version 1.
struct TemplateRules {
  double fill_cycles_per_hop = 1;      ///< of filling and draining the grid, per row and column
  double layer_overhead_cycles = 256;  ///< [chosen] descriptor fetch, synchronisation of the grid, pipeline ramp
  double overhead_cycles_per_hop = 0;  ///< of starting a layer, per row and column
  bool program_loops = false;          ///< instructions per layer, not per tile
  bool whole_windows = true;           ///< a tile of weights holds all taps of its channels
  double extra_hops = 1;               ///< of a byte on the NoC, besides half of the grid in either direction
  bool weights_in_pes = false;         ///< PE memories keep weights where all activations stay on chip
  bool constants_in_halves = false;    ///< the parameter memory holds a layer's constants and the next one's, half each
  bool caches_in_dram = false;         ///< keys and values of earlier passes never stay on chip
  bool cuts_sequences = false;         ///< a tile of a map of one row has part of it
};

/// A plain struct; copyable to a device. Integers are counts. One field per design parameter, then the
/// fixed template constants (each can be overridden in an accelerator YAML).
struct AcceleratorConfig {
  // Chosen by the design space (`configs/spaces/edge.yaml`):
  double pes_x = 1;
  double pes_y = 1;
  double pe_memory_bytes = 0;  ///< per PE: activations, int32 partial sums
  double cores_per_pe = 1;
  double core_memory_bytes = 0;           ///< per core: weights
  double compute_lanes = 1;               ///< per core
  double instruction_memory_entries = 0;  ///< per chip
  double parameter_memory_entries = 0;    ///< per PE: per-output-channel constants
  double activation_memory_entries = 0;   ///< per PE: int32 accumulators
  double dram_bandwidth_gb_per_s = 0;

  // Chosen by spaces of version 2 of the model (`configs/spaces/datacenter.yaml`), else fixed:
  Precision precision = Precision::int8;
  double shared_memory_bytes = 0;  ///< per chip, between DRAM and the NoC: weights and activations that stay
  double vector_lanes = 0;         ///< per PE, 32 bits each; none: work that is no GEMM is not counted
  double dram_devices = 0;         ///< stacks, chips or packages; none: the bandwidth is given

  // Fixed by the template:
  double clock_mhz = 800;    ///< [paper: edge-tpu-eval] Edge TPU V1
  double macs_per_lane = 4;  ///< [paper: edge-tpu-eval] 4-way int8 dot product per lane and cycle
  DramType dram_type = DramType::lpddr4;
  Cooling cooling = Cooling::as_technology;
  /// [chosen] Share of every PE memory and of every core memory that is working space for double-buffered tiles; the
  /// rest keeps activations and parameters on chip between layers and inferences. Published are 0.4 to 3.4 times as
  /// much, what an Edge TPU does not leave to parameters [data: edgetpu-compiler; edgetpu-issues], and 4 times, a FIFO
  /// of weights [paper: tpu-2017].
  double working_frac = 0.25, core_working_frac = 0.25;
  double core_memory_port_bytes = kCoreMemoryPortBytes;  ///< per cycle
  double noc_link_bytes = kNocLinkBytesPerCycle;         ///< per cycle
  // Ports of every PE memory:
  double pe_memory_bank_bytes = kPeMemoryBankBytes;           ///< that one port serves
  double pe_memory_bank_port_bytes = kPeMemoryBankPortBytes;  ///< per cycle
  double pe_memory_most_banks = kPeMemoryMaxBanks;            ///< in one cycle
  // Of reference chips alone, version 2 of the model:
  double engines_per_pe = 1;      ///< sequencers with their DMA and post-processing; none: a processor does their work
  double processors_per_pe = 0;   ///< scalar ones, with their caches; busy in peak power, idle in that of a network
  double bf16_macs_per_lane = 0;  ///< beside those of the chip's precision, never at the same time
  double logic_v = 0, memory_v = 0;  ///< supplies, which the clock does not follow; 0: that of the technology
  double whole_weight_tiles = 0;     ///< 1: weights are held in tiles of all MACs of a core, padded with zeros
  double dram_gb = 0;                ///< that the DRAM holds, 10^9 bytes, where dram_devices do not say; 0: not known
  TemplateRules rules = {};

  [[nodiscard]] constexpr double pes() const { return pes_x * pes_y; }
  [[nodiscard]] constexpr double macs_per_cycle() const { return pes() * cores_per_pe * compute_lanes * macs_per_lane; }
  [[nodiscard]] constexpr double operand_bytes() const { return accel::operand_bytes(precision); }
  // Rates and sums in operands, the unit in which the mapper counts (a byte at 8 bits):
  [[nodiscard]] constexpr double core_port_operands() const { return core_memory_port_bytes / operand_bytes(); }
  [[nodiscard]] constexpr double noc_link_operands() const { return noc_link_bytes / operand_bytes(); }
  [[nodiscard]] constexpr double sum_operands() const { return kAccumulatorBytes / operand_bytes(); }
  [[nodiscard]] constexpr double clock_hz() const { return clock_mhz * units::kMega; }
  [[nodiscard]] constexpr double peak_ops_per_s() const { return macs_per_cycle() * kOpsPerMac * clock_hz(); }
};

/// A numeric field of AcceleratorConfig under the name that spaces, reference chips and reports use.
struct ConfigField {
  const char* name;
  double AcceleratorConfig::*member;
  bool required;  ///< the template has no default
};
[[nodiscard]] std::span<const ConfigField> config_fields();
/// Those that only reference chips set: constants of the template that no space may have as a parameter.
[[nodiscard]] std::span<const ConfigField> reference_fields();

/// Maps the parameters of a space to fields by name; bound once, applied without allocation.
/// Every numeric field of AcceleratorConfig, `clock_mhz` and `macs_per_lane` included, may be a parameter, and
/// `precision` and `dram_type`, whose values are names. Where `dram_devices` is one, it decides the bandwidth.
/// Error{usage} naming the parameter when it is not a field (nearest field in the message), has names for numbers or
/// a name that is not known, has a value that the model cannot count in (docs/spaces.md: parts are whole), or when a
/// field without a default is no parameter of the space.
class ConfigBinding {
 public:
  explicit ConfigBinding(const space::DesignSpace& space);
  /// `values`: numeric parameter values in the order of the space, of names their levels.
  [[nodiscard]] AcceleratorConfig bind(std::span<const double> values) const;
  [[nodiscard]] AcceleratorConfig bind(const space::DesignSpace& space, const space::Design& design) const;

 private:
  std::vector<double AcceleratorConfig::*> fields_;  ///< per parameter; null: one with names
  // By level; empty where the space has no such parameter.
  std::vector<Precision> precisions_;
  std::vector<DramType> dram_types_;
  std::size_t precision_place_ = 0, dram_type_place_ = 0;
};

/// Level of the parameter `precision` of a space (ConfigBinding) that is this format, else the first whose operands are
/// the most similar in width.
[[nodiscard]] std::uint16_t nearest_precision(const space::Parameter& parameter, Precision precision);
/// The same of `dram_type`: the type whose device moves the most similar number of bytes per second, by ratio.
[[nodiscard]] std::uint16_t nearest_dram_type(const space::Parameter& parameter, DramType type);

/// What of a chip an area counts.
enum class AreaScope {
  die,          ///< all of it, white space for heat included
  accelerator,  ///< of a larger chip: without DRAM PHY, interfaces and white space for heat
  cells,        ///< blocks before placement: without the space between them either
};
inline constexpr std::size_t kAreaScopeCount = 3;
/// "die", "accelerator", "cells".
[[nodiscard]] std::string_view to_string(AreaScope scope);
[[nodiscard]] std::optional<AreaScope> parse_area_scope(std::string_view name);

/// The area of a chip as it was published.
struct PublishedArea {
  double mm2 = 0;
  AreaScope scope = AreaScope::die;
  bool at_most = false;  ///< a bound
};

/// A named accelerator off the grid (`configs/designs/*.yaml`), with its published facts.
struct ReferenceChip {
  std::string name;
  std::string description;
  std::string source;
  std::string technology = {};  ///< name of the one that is nearest to its node; empty: its file names none
  AcceleratorConfig config;
  std::optional<PublishedArea> published_area = {};
  double published_peak_tera_ops = 0;  ///< 0 = not published
};
/// NAME from configs/designs or a path. Errors: Error{usage}.
[[nodiscard]] ReferenceChip load_reference_chip(const std::string& name_or_path);
/// The design of the space that is this chip. Error{usage} naming the field, its value and the nearest that the space
/// has, when no design of the space is the chip; `instead` is what a user may name then.
[[nodiscard]] space::Design design_of(const ReferenceChip& chip, const space::DesignSpace& space,
                                      const std::string& instead = "a design of the space by its text id");

}  // namespace hindsight::accel

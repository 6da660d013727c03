/// The result of evaluating one accelerator on one network: metrics, or the list of violations.
///
/// Infeasible is data: an Evaluation without metrics and with at least one violation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hindsight/accel/area.h"
#include "hindsight/accel/config.h"
#include "hindsight/accel/technology.h"
#include "hindsight/workload/layer.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel {

class MemoryCosts;

/// Why a design cannot be built or a network cannot be compiled for it. The text codes are stable: logs store them.
enum class Reason : std::uint8_t {
  accumulators,        ///< the PE's accumulators cannot hold one double-buffered output per lane
  sram_bandwidth,      ///< the core memory's port cannot feed the lanes at the reuse the accumulators allow
  noc_timing,          ///< a multicast does not reach the far corner of the grid within a clock cycle
  power_density,       ///< peak power per area of the PE array is above what passive cooling removes
  reticle,             ///< the die is larger than one exposure field
  no_mapping,          ///< for one layer no mapping fits the PE and core memories
  parameter_memory,    ///< per-channel constants of two consecutive layers (version 2: of a layer in half) do not fit
  instruction_memory,  ///< the compiled program is longer than the instruction memory
  cooling,             ///< the chip's peak power is above what its cooling class removes
  clock,               ///< the clock is faster than the node's multipliers and SRAM banks
  dram_capacity,       ///< the DRAM's devices hold less than the network's parameters, keys and values
};
inline constexpr std::size_t kReasonCount = 11;
/// "accumulators", "sram_bandwidth", ...
[[nodiscard]] std::string_view code(Reason reason);
/// Whether the technology's version of the model knows it.
[[nodiscard]] bool has_reason(const Technology& technology, Reason reason);
/// The measured quantity with its unit suffix, e.g. "multicast_delay_ns".
[[nodiscard]] std::string_view quantity(Reason reason);

struct Violation {
  Reason reason{};
  std::int32_t layer = -1;  ///< index into the network's layers, or -1 for the chip
  double value = 0;         ///< of quantity(reason)
  double limit = 0;
  /// Nearest value of `parameter` that would pass with all others kept; nothing: none of its values passes alone, or
  /// Remedies::left_out.
  std::optional<double> nearest_passing = std::nullopt;
  const char* parameter = "";  ///< static storage
  bool of_space = false;       ///< nearest_passing is one of the values that the design's space has: see name_levels()
  bool of_any_parameter = false;  ///< not only one was asked for a value that passes: see other_remedies.h
  bool halved = false;  ///< value and limit are of a memory of which a layer has half: parameter_memory, version 2
};
/// One sentence: offending quantity, limit, and the nearest value that would pass.
[[nodiscard]] std::string message(const Violation& violation, std::string_view layer_name);

/// Violations of one evaluation; at most one per reason (the worst layer).
struct ViolationList {
  std::array<Violation, kReasonCount> items{};
  std::size_t count = 0;
  constexpr void add(const Violation& violation) {
    for (std::size_t i = 0; i < count; ++i) {
      if (items[i].reason != violation.reason) continue;
      if (violation.value - violation.limit > items[i].value - items[i].limit) items[i] = violation;
      return;
    }
    if (count < items.size()) items[count++] = violation;  // one slot per reason: always true
  }
  [[nodiscard]] constexpr std::span<const Violation> view() const& { return {items.data(), count}; }
  void view() const&& = delete;  // a temporary is gone before a range-for over its view begins
};

/// What limits a layer's steady state.
enum class Bound : std::uint8_t { compute, core_memory, pe_memory, noc, dram };
[[nodiscard]] std::string_view to_string(Bound bound);
enum class Dataflow : std::uint8_t { output_stationary, weight_stationary };
[[nodiscard]] std::string_view to_string(Dataflow dataflow);

/// Energy by component, joules per inference. The total is the sum of all fields.
struct EnergyBreakdown {
  double mac_j = 0;
  double register_j = 0;
  double pe_memory_j = 0;
  double core_memory_j = 0;
  double activation_memory_j = 0;
  double parameter_memory_j = 0;
  double instruction_memory_j = 0;
  double noc_j = 0;
  double shared_memory_j = 0;
  double vector_j = 0;  ///< of the vector units' operations
  double dram_j = 0;
  double leakage_j = 0;  ///< with all else that flows whether the chip works or not, ChipFacts::idle_w; reports part it
  [[nodiscard]] constexpr double total_j() const;
  /// Adds `factor` times every component.
  constexpr void add_scaled(const EnergyBreakdown& other, double factor);
};
/// Calls visit(name, field...) for every component: the field of each of `energies`, which may be const.
template <class Visit, class... Energy>
constexpr void for_each_energy_field(Visit&& visit, Energy&... energies) {
  visit("mac_j", energies.mac_j...);
  visit("register_j", energies.register_j...);
  visit("pe_memory_j", energies.pe_memory_j...);
  visit("core_memory_j", energies.core_memory_j...);
  visit("activation_memory_j", energies.activation_memory_j...);
  visit("parameter_memory_j", energies.parameter_memory_j...);
  visit("instruction_memory_j", energies.instruction_memory_j...);
  visit("noc_j", energies.noc_j...);
  visit("shared_memory_j", energies.shared_memory_j...);
  visit("vector_j", energies.vector_j...);
  visit("dram_j", energies.dram_j...);
  visit("leakage_j", energies.leakage_j...);
}
constexpr double EnergyBreakdown::total_j() const {
  double total = 0;
  for_each_energy_field([&](const char*, double component) { total += component; }, *this);
  return total;
}
constexpr void EnergyBreakdown::add_scaled(const EnergyBreakdown& other, double factor) {
  for_each_energy_field([&](const char*, double& mine, double theirs) { mine += factor * theirs; }, *this, other);
}

/// Bytes moved per inference, by place and operand.
struct Traffic {
  double dram_read_weight_bytes = 0;
  double dram_read_input_bytes = 0;
  double dram_write_output_bytes = 0;
  double noc_weight_bytes = 0;  ///< injected into the NoC (a multicast counts once)
  double noc_input_bytes = 0;
  double noc_output_bytes = 0;
  double noc_hop_bytes = 0;  ///< injected bytes x mean hops of one path
  double core_memory_read_bytes = 0;
  double core_memory_write_bytes = 0;
  double pe_memory_read_bytes = 0;
  double pe_memory_write_bytes = 0;
  double accumulator_read_bytes = 0;
  double accumulator_write_bytes = 0;
  double shared_memory_read_bytes = 0;
  double shared_memory_write_bytes = 0;
  [[nodiscard]] constexpr double dram_read_bytes() const { return dram_read_weight_bytes + dram_read_input_bytes; }
  [[nodiscard]] constexpr double dram_bytes() const { return dram_read_bytes() + dram_write_output_bytes; }
  /// Adds `factor` times every field.
  constexpr void add_scaled(const Traffic& other, double factor);
};
/// Calls visit(name, field...) for every field: that of each of `traffics`, which may be const.
template <class Visit, class... Bytes>
constexpr void for_each_traffic_field(Visit&& visit, Bytes&... traffics) {
  visit("dram_read_weight_bytes", traffics.dram_read_weight_bytes...);
  visit("dram_read_input_bytes", traffics.dram_read_input_bytes...);
  visit("dram_write_output_bytes", traffics.dram_write_output_bytes...);
  visit("noc_weight_bytes", traffics.noc_weight_bytes...);
  visit("noc_input_bytes", traffics.noc_input_bytes...);
  visit("noc_output_bytes", traffics.noc_output_bytes...);
  visit("noc_hop_bytes", traffics.noc_hop_bytes...);
  visit("core_memory_read_bytes", traffics.core_memory_read_bytes...);
  visit("core_memory_write_bytes", traffics.core_memory_write_bytes...);
  visit("pe_memory_read_bytes", traffics.pe_memory_read_bytes...);
  visit("pe_memory_write_bytes", traffics.pe_memory_write_bytes...);
  visit("accumulator_read_bytes", traffics.accumulator_read_bytes...);
  visit("accumulator_write_bytes", traffics.accumulator_write_bytes...);
  visit("shared_memory_read_bytes", traffics.shared_memory_read_bytes...);
  visit("shared_memory_write_bytes", traffics.shared_memory_write_bytes...);
}
constexpr void Traffic::add_scaled(const Traffic& other, double factor) {
  for_each_traffic_field([&](const char*, double& mine, double theirs) { mine += factor * theirs; }, *this, other);
}

/// How one layer runs, for `--explain`. All figures are for one repeat of the layer.
struct LayerResult {
  Dataflow dataflow = Dataflow::output_stationary;
  Bound bound = Bound::compute;
  // Spatial mapping: how many PEs split each GEMM dimension, and how a PE's cores split M and N.
  std::int32_t pe_split_m = 1, pe_split_n = 1, pe_split_k = 1;
  std::int32_t core_split_m = 1, core_split_n = 1;
  std::int32_t active_lanes = 1;  ///< lanes with work; fewer than the core has when memory, not computing, binds
  // Temporal tiles of one PE: sizes of a tile and numbers of tiles.
  double tile_m = 0, tile_n = 0, tile_k = 0;
  double tiles_m = 0, tiles_n = 0, tiles_k = 0;
  double utilisation_frac = 0;  ///< useful MACs / (MAC slots x layer cycles)
  double compute_cycles = 0, core_memory_cycles = 0, pe_memory_cycles = 0, noc_cycles = 0, dram_cycles = 0;
  double fill_drain_cycles = 0, overhead_cycles = 0;
  double vector_cycles = 0;  ///< softmax and normalisations behind it
  double total_cycles = 0;
  double instructions = 0;           ///< in the program
  double executed_instructions = 0;  ///< of one repeat
  double weights_cached_frac = 0;    ///< share of the weights that stays on chip between inferences
  bool input_on_chip = false;        ///< of the first repeat
  bool output_on_chip = false;       ///< of the last repeat
  Traffic traffic;
  EnergyBreakdown energy;
};

/// What a network costs, repeats included.
struct Metrics {
  double latency_s = 0;
  double latency_cycles = 0;
  double energy_j = 0;
  double average_power_w = 0;
  double utilisation_frac = 0;
  double instructions = 0;
  double weights_cached_frac = 0;
  double program_bytes = 0;  ///< of the program, read from DRAM because it is longer than its memory
  Traffic traffic;           ///< of the layers
  EnergyBreakdown energy;
};

struct Evaluation {
  std::optional<Metrics> metrics = std::nullopt;  ///< nothing: infeasible, and `violations` says why
  AreaBreakdown area;
  double peak_power_w = 0;
  ViolationList violations;
  [[nodiscard]] constexpr bool feasible() const { return metrics.has_value(); }
};

/// Name of this model; with the technology's version of it part of the evaluator's identity in logs.
inline constexpr std::string_view kModelName = "hindsight-accel";
/// Canonical text of everything that decides a result besides design and workload (model version, template
/// constants, technology), for the evaluator's content hash.
[[nodiscard]] std::string evaluator_definition(const Technology& technology);
/// "hindsight-accel 3 22nm": the name under which a log keeps evaluations of this model.
[[nodiscard]] std::string evaluator_name(const Technology& technology);

/// Energies of one event on one chip, in picojoules.
struct EventEnergy {
  double mac_pj = 0;
  double lane_register_pj = 0;     ///< pipeline registers of one active lane and cycle, its share of the core's too
  double noc_pj_per_hop_byte = 0;  ///< one router and one PE pitch of wire
  double dram_pj_per_byte = 0;
  double vector_op_pj = 0;
  double processor_pj = 0;   ///< a cycle of one
  double peak_activity = 1;  ///< dynamic energy of the worst data over that of usual data
  double idle_frac = 0;      ///< of the die's peak power, CoolingClass::idle_frac
};

/// Facts of a design that no network changes: area, per-access energies, timing; computed once per design.
/// A plain struct, copyable to a device.
struct ChipFacts {
  AcceleratorConfig config;
  AreaBreakdown area;
  SramCost pe_memory, core_memory, activation_memory, parameter_memory, instruction_memory, shared_memory;
  EventEnergy event;
  double pe_pitch_mm = 0;  ///< side of one PE's square tile
  double leakage_w = 0;
  double idle_w = 0;  ///< what flows whether it works or not: leakage, and the share of its class
  double pe_array_peak_w = 0;
  double die_peak_w = 0;  ///< without the DRAM's
  double peak_power_w = 0;
  double multicast_delay_ns = 0;  ///< down the column trunk and along one row bus; version 1 only
  ViolationList violations;       ///< the hardware's own
};
/// Whether the violations of power density, cooling and reticle name what would pass, which takes a tenth of the time
/// of a chip's facts; the others always do.
enum class Remedies : std::uint8_t { left_out, named };
[[nodiscard]] ChipFacts chip_facts(const AcceleratorConfig& config, const Technology& technology,
                                   Remedies remedies = Remedies::named);
/// The same without the hardware's checks: no violations.
[[nodiscard]] ChipFacts unchecked_chip_facts(const AcceleratorConfig& config, const Technology& technology);
/// The same numbers for many designs of the costs' technology, in less than half of the time.
[[nodiscard]] ChipFacts chip_facts(const AcceleratorConfig& config, MemoryCosts& costs,
                                   Remedies remedies = Remedies::named);
[[nodiscard]] ChipFacts unchecked_chip_facts(const AcceleratorConfig& config, MemoryCosts& costs);
/// The area of its facts but for the white space of a hot die (cooling_mm2 is 0), for a part of their work: no more
/// than theirs, and theirs in version 1.
[[nodiscard]] AreaBreakdown area_without_cooling(const AcceleratorConfig& config, MemoryCosts& costs);

/// Turns what would pass from plain numbers into values of the space that the design of these levels comes from: the
/// one nearest to its own that passes and is legal beside its other values, or nothing where the space has none.
void name_levels(ViolationList& violations, const space::DesignSpace& space, std::span<const std::uint16_t> levels);

/// How far to go with a design that the hardware checks refuse.
enum class Depth : std::uint8_t {
  stop_at_hardware,  ///< a chip that cannot be built is never compiled for (what a sweep logs)
  all_checks,        ///< compile all the same and list every violation (what `--explain` shows)
};

/// Evaluates a network. Pure, no allocation. `layers` in execution order; `details`, when not empty, must have
/// as many elements as `layers` and receives every layer's mapping and costs, of an infeasible design too (a layer
/// without a mapping keeps its initial value). `other_parameters`: those of the network that no layer reads, such as
/// embeddings and the experts that a token does not ask, which its DRAM has to hold all the same.
[[nodiscard]] Evaluation evaluate(const ChipFacts& chip, std::span<const workload::GemmLayer> layers, Depth depth,
                                  std::span<LayerResult> details = {}, double other_parameters = 0);
/// What a DRAM has to hold of a network at least, in operands (network_cost.h, StoredOperands).
[[nodiscard]] double stored_operands(const workload::Network& network, const TemplateRules& rules);
/// The layers and the other parameters of a network.
[[nodiscard]] Evaluation evaluate(const ChipFacts& chip, const workload::Network& network, Depth depth,
                                  std::span<LayerResult> details = {});

}  // namespace hindsight::accel

/// The result of evaluating one accelerator on one network: metrics, or the list of violations.
///
/// Infeasible is data: an Evaluation without metrics and with at least one violation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hindsight/accel/area.h"
#include "hindsight/accel/config.h"
#include "hindsight/accel/technology.h"
#include "hindsight/workload/layer.h"

namespace hindsight::accel {

/// Why a design cannot be built or a network cannot be compiled for it. The text codes are stable: logs store them.
enum class Reason : std::uint8_t {
  accumulators,        ///< the PE's accumulators cannot hold one double-buffered output per lane
  sram_bandwidth,      ///< the core memory's port cannot feed the lanes at the reuse the accumulators allow
  noc_timing,          ///< a multicast does not reach the far corner of the grid within a clock cycle
  power_density,       ///< peak power per area of the PE array is above what passive cooling removes
  reticle,             ///< the die is larger than one exposure field
  no_mapping,          ///< for one layer no mapping fits the PE and core memories
  parameter_memory,    ///< per-channel constants of two consecutive layers do not fit
  instruction_memory,  ///< the compiled program is longer than the instruction memory
};
inline constexpr std::size_t kReasonCount = 8;
/// "accumulators", "sram_bandwidth", ...
[[nodiscard]] std::string_view code(Reason reason);
/// The measured quantity with its unit suffix, e.g. "multicast_delay_ns".
[[nodiscard]] std::string_view quantity(Reason reason);

struct Violation {
  Reason reason{};
  std::int32_t layer = -1;  ///< index into the network's layers, or -1 for the chip
  double value = 0;         ///< of quantity(reason)
  double limit = 0;
  /// Nearest value of one design parameter that would pass with all others kept, and that parameter.
  double nearest_passing = 0;  ///< 0 = no value of that parameter passes
  const char* parameter = "";  ///< static storage
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
  double dram_j = 0;
  double leakage_j = 0;
  [[nodiscard]] constexpr double total_j() const {
    return mac_j + register_j + pe_memory_j + core_memory_j + activation_memory_j + parameter_memory_j +
           instruction_memory_j + noc_j + dram_j + leakage_j;
  }
  /// Adds `factor` times every component.
  constexpr void add_scaled(const EnergyBreakdown& other, double factor) {
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
};

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
  [[nodiscard]] constexpr double dram_bytes() const {
    return dram_read_weight_bytes + dram_read_input_bytes + dram_write_output_bytes;
  }
  /// Adds `factor` times every field.
  constexpr void add_scaled(const Traffic& other, double factor) {
    dram_read_weight_bytes += factor * other.dram_read_weight_bytes;
    dram_read_input_bytes += factor * other.dram_read_input_bytes;
    dram_write_output_bytes += factor * other.dram_write_output_bytes;
    noc_weight_bytes += factor * other.noc_weight_bytes;
    noc_input_bytes += factor * other.noc_input_bytes;
    noc_output_bytes += factor * other.noc_output_bytes;
    noc_hop_bytes += factor * other.noc_hop_bytes;
    core_memory_read_bytes += factor * other.core_memory_read_bytes;
    core_memory_write_bytes += factor * other.core_memory_write_bytes;
    pe_memory_read_bytes += factor * other.pe_memory_read_bytes;
    pe_memory_write_bytes += factor * other.pe_memory_write_bytes;
    accumulator_read_bytes += factor * other.accumulator_read_bytes;
    accumulator_write_bytes += factor * other.accumulator_write_bytes;
  }
};

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
  double total_cycles = 0;
  double instructions = 0;
  double weights_cached_frac = 0;  ///< share of the weights that stays on chip between inferences
  bool input_on_chip = false;      ///< of the first repeat
  bool output_on_chip = false;     ///< of the last repeat
  Traffic traffic;
  EnergyBreakdown energy;
};

/// Totals of a feasible evaluation (repeats included).
struct Metrics {
  double latency_s = 0;
  double latency_cycles = 0;
  double energy_j = 0;
  double average_power_w = 0;
  double utilisation_frac = 0;
  double instructions = 0;
  double weights_cached_frac = 0;
  Traffic traffic;
  EnergyBreakdown energy;
};

struct Evaluation {
  bool feasible = false;
  Metrics metrics;  ///< meaningful only when feasible
  AreaBreakdown area;
  double peak_power_w = 0;
  ViolationList violations;
};

/// Name and version of this model; part of the evaluator's identity in logs. Bumped whenever a result changes.
inline constexpr std::string_view kModelName = "hindsight-accel";
inline constexpr int kModelVersion = 1;
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
};

/// Facts of a design that no network changes: area, per-access energies, timing; computed once per design.
/// A plain struct, copyable to a device.
struct ChipFacts {
  AcceleratorConfig config;
  AreaBreakdown area;
  SramCost pe_memory, core_memory, activation_memory, parameter_memory, instruction_memory;
  EventEnergy event;
  double pe_pitch_mm = 0;  ///< side of one PE's square tile
  double leakage_w = 0;
  double pe_array_peak_w = 0;
  double peak_power_w = 0;
  double multicast_delay_ns = 0;  ///< down the column trunk and along one row bus
  ViolationList violations;       ///< the hardware's own
};
[[nodiscard]] ChipFacts chip_facts(const AcceleratorConfig& config, const Technology& technology);

/// How far to go with a design that the hardware checks refuse.
enum class Depth : std::uint8_t {
  as_a_flow,   ///< stop there: a chip that cannot be built is never compiled for (what a sweep logs)
  all_checks,  ///< compile all the same and list every violation (what `--explain` shows)
};

/// Evaluates a network. Pure, no allocation. `layers` in execution order; `details`, when not empty, must have
/// as many elements as `layers` and receives every layer's mapping and costs (a layer without a mapping keeps its
/// initial value). Metrics of an infeasible design cover the layers that have a mapping.
[[nodiscard]] Evaluation evaluate(const ChipFacts& chip, std::span<const workload::GemmLayer> layers, Depth depth,
                                  std::span<LayerResult> details = {});

}  // namespace hindsight::accel

/// The cost of a network on a chip: layer by layer, from the mapper's choice to cycles, bytes and joules.
///
/// Every function here is constexpr, allocates nothing and touches plain structs only, so the same source compiles for
/// the host, for SIMD batches and for devices (nvcc --expt-relaxed-constexpr).
#pragma once

#include <algorithm>
#include <span>

#include "hindsight/accel/dram.h"
#include "hindsight/accel/energy.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/mapping.h"
#include "hindsight/accel/program.h"
#include "hindsight/accel/template_constants.h"
#include "hindsight/accel/traffic.h"

namespace hindsight::accel {

/// The chip's rates and capacities that every layer uses, in operands as all that the mapper counts.
struct ChipRates {
  WorkingMemory working;
  ResidentMemory resident;
  double dram_operands_per_cycle = 0;
  double dram_latency_cycles = 0;
  double granule_operands = kDmaGranuleBytes;
};

[[nodiscard]] constexpr ChipRates chip_rates(const AcceleratorConfig& config) {
  const double cycles_per_second = config.clock_hz();
  return {.working = working_memory(config),
          .resident = resident_memory(config),
          .dram_operands_per_cycle = config.dram_bandwidth_gb_per_s * units::kGiga * kDramEfficiency /
                                     cycles_per_second / config.operand_bytes(),
          .dram_latency_cycles = kDramLatencyNs * units::kNano * cycles_per_second,
          .granule_operands = kDmaGranuleBytes / config.operand_bytes()};
}

/// Keys or values that earlier passes left in DRAM, where the model's version says so.
[[nodiscard]] constexpr bool is_left_in_dram(const LayerShape& layer, const ResidentMemory& memory) {
  return memory.caches_in_dram && layer.from_earlier_passes;
}

/// Share of a layer's weights that stays on chip: parameters are cached in execution order until the space is full.
///
/// Equation: cached = clamp(space - weights of earlier layers, 0, W) / W, all of them as stored. Run-time operands of
/// matmuls count as on chip when all of them fit where activations stay; keys and values of earlier passes, of which
/// every layer has its own, never (version 3 of the model; before it they were such operands).
[[nodiscard]] constexpr double cached_frac(const LayerShape& layer, double earlier_weight_bytes,
                                           const ResidentMemory& memory) {
  const double all_bytes = stored_weight_bytes(layer, memory) * layer.repeat;
  if (all_bytes <= 0) return 1.0;
  if (is_left_in_dram(layer, memory)) return 0.0;
  if (layer.weights_are_activations) return all_bytes <= memory.activation_half_bytes ? 1.0 : 0.0;
  return std::clamp(memory.parameter_bytes - earlier_weight_bytes, 0.0, all_bytes) / all_bytes;
}

/// Share of a layer's weights that stays in a memory of `own_bytes`, which takes what memories of `nearer_bytes` leave,
/// in execution order: the PE memories what the cores leave, the shared memory what both leave.
///
/// Equation: on chip = clamp(nearer + own - weights of earlier layers, 0, W) / W, less `nearer_frac`, what the nearer
/// ones keep; W = `all_bytes`, the layer's weights as stored, 0 of operands made at run time.
[[nodiscard]] constexpr double farther_frac(double all_bytes, double earlier_weight_bytes, double nearer_bytes,
                                            double nearer_frac, double own_bytes) {
  if (all_bytes <= 0 || own_bytes <= 0) return 0.0;
  const double on_chip = std::clamp(nearer_bytes + own_bytes - earlier_weight_bytes, 0.0, all_bytes) / all_bytes;
  return std::max(0.0, on_chip - nearer_frac);
}

/// Of a layer's input and output, what has to stay at once: of attention's scores those of one head, where they are
/// handed over head by head.
[[nodiscard]] constexpr double kept_input_bytes(const LayerShape& layer, const ResidentMemory& memory) {
  return memory.vector_units ? layer.input_bytes / layer.input_parts : layer.input_bytes;
}
[[nodiscard]] constexpr double kept_output_bytes(const LayerShape& layer, const ResidentMemory& memory) {
  return memory.vector_units ? layer.output_bytes / layer.output_parts : layer.output_bytes;
}

/// What has to find room at once, on either side, for all activations of a layer to stay on chip: its input and its
/// output, but for those of the network, and the run-time operand of a matmul.
[[nodiscard]] constexpr double handed_over_bytes(const LayerShape& layer, bool is_first, bool is_last,
                                                 const ResidentMemory& memory) {
  const bool is_repeated = layer.repeat > 1.0;  // then it hands over to itself
  const double in_bytes = is_first && !is_repeated ? 0.0 : kept_input_bytes(layer, memory);
  const double out_bytes = is_last && !is_repeated ? 0.0 : kept_output_bytes(layer, memory);
  const bool is_made_here = layer.weights_are_activations && !is_left_in_dram(layer, memory);
  const double operand_bytes = is_made_here ? layer.weight_bytes * layer.repeat : 0.0;
  return std::max(in_bytes, std::max(out_bytes, operand_bytes));
}

/// Cycles of the vector units after a layer, which wait for its outputs. Their operands cross the PE memories' ports.
///
/// Equation: max(operations / (PEs * lanes), (2 elements + other operands) / (PEs * port)); none without vector units.
[[nodiscard]] constexpr double vector_cycles(const LayerShape& layer, const AcceleratorConfig& config) {
  if (config.vector_lanes <= 0 || layer.vector_ops <= 0) return 0.0;
  return std::max(
      layer.vector_ops / (config.pes() * config.vector_lanes),
      bandwidth_cycles(2.0 * layer.vector_elements + layer.other_operands, config.pes() * pe_port_operands(config)));
}

/// Cycles of the first DMA granule in and the last one out: nothing on chip works while they move.
///
/// Equation: (min(reads, granule) + min(writes, granule)) / DRAM bytes per cycle.
[[nodiscard]] constexpr double granule_cycles(const Traffic& traffic, const ChipRates& rates) {
  const double read_bytes = traffic.dram_read_weight_bytes + traffic.dram_read_input_bytes;
  return bandwidth_cycles(
      std::min(read_bytes, rates.granule_operands) + std::min(traffic.dram_write_output_bytes, rates.granule_operands),
      rates.dram_operands_per_cycle);
}

/// Cycles of filling the grid before the first tile and of draining it after the last.
[[nodiscard]] constexpr double grid_fill_cycles(const AcceleratorConfig& config) {
  return config.rules.fill_cycles_per_hop * (config.pes_x + config.pes_y);
}
/// Cycles to start a layer.
[[nodiscard]] constexpr double layer_overhead_cycles(const AcceleratorConfig& config) {
  return config.rules.layer_overhead_cycles + config.rules.overhead_cycles_per_hop * (config.pes_x + config.pes_y);
}

/// Cycles before the first tile can start and after the last one ends.
///
/// Equation: hops of the grid at their cycles, plus, when DRAM is used, its latency and the granules.
[[nodiscard]] constexpr double fill_drain_cycles(const Traffic& traffic, const AcceleratorConfig& config,
                                                 const ChipRates& rates) {
  const double read_bytes = traffic.dram_read_weight_bytes + traffic.dram_read_input_bytes;
  return grid_fill_cycles(config) + (read_bytes > 0 ? rates.dram_latency_cycles : 0.0) + granule_cycles(traffic, rates);
}

/// The granules are part of the DRAM's own time: a layer takes max(DRAM, everything else + granules), which is
/// granules + max(DRAM - granules, everything else).
[[nodiscard]] constexpr double dram_beyond_granules(double dram_cycles, const Traffic& traffic,
                                                    const ChipRates& rates) {
  return std::max(0.0, dram_cycles - granule_cycles(traffic, rates));
}

/// DRAM bytes of one repeat of a layer, averaged over its repeats: the first takes its input from the layer before, the
/// last hands its output to the layer after, those between find theirs where the one before left it.
[[nodiscard]] constexpr Traffic mean_dram_traffic(const LayerShape& layer, bool first_input_on_chip,
                                                  bool last_output_on_chip, double weights_on_chip_frac,
                                                  const ResidentMemory& memory) {
  const bool output_fits = kept_output_bytes(layer, memory) <= memory.activation_half_bytes;
  const bool chained = output_fits && kept_input_bytes(layer, memory) <= memory.activation_half_bytes;
  const auto traffic_of = [&](bool input_on_chip, bool output_on_chip) {
    Traffic traffic;
    add_dram_traffic(layer, {input_on_chip, output_on_chip, weights_on_chip_frac}, memory, traffic);
    return traffic;
  };
  if (layer.repeat <= 1.0) return traffic_of(first_input_on_chip, last_output_on_chip);
  Traffic mean;
  mean.add_scaled(traffic_of(first_input_on_chip, output_fits), 1.0 / layer.repeat);
  mean.add_scaled(traffic_of(chained, output_fits), (layer.repeat - 2.0) / layer.repeat);
  mean.add_scaled(traffic_of(chained, last_output_on_chip), 1.0 / layer.repeat);
  return mean;
}

/// On-chip bytes of the chosen mapping, summed over PEs and cores with work.
constexpr void add_on_chip_traffic(const LayerShape& layer, const Mapping& mapping, const AcceleratorConfig& config,
                                   Traffic& traffic) {
  const double used_pes = mapping.pe.used_m * mapping.pe.used_n * mapping.pe.used_k;
  const double used_core_rows = tile_count(mapping.pe.m, mapping.core.m);
  const double used_cores = used_core_rows * tile_count(mapping.pe.n, mapping.core.n);
  traffic.noc_weight_bytes = mapping.noc.weight_bytes;
  traffic.noc_input_bytes = mapping.noc.input_bytes;
  traffic.noc_output_bytes = mapping.noc.output_bytes;
  traffic.noc_hop_bytes =
      (mapping.noc.weight_bytes + mapping.noc.input_bytes + mapping.noc.output_bytes) * mean_hops(config);
  traffic.core_memory_read_bytes =
      used_pes * used_cores * core_weight_read_bytes(layer, mapping.core, mapping.pe.k, mapping.reuse);
  traffic.core_memory_write_bytes = mapping.noc.weight_bytes * mapping.pe.used_m * used_core_rows;
  traffic.pe_memory_read_bytes = used_pes * mapping.pe_memory.read_bytes;
  traffic.pe_memory_write_bytes = used_pes * mapping.pe_memory.write_bytes;
  const double accumulations = lane_cycles(layer, config.macs_per_lane);
  traffic.accumulator_read_bytes = accumulations * config.sum_operands();
  traffic.accumulator_write_bytes = accumulations * config.sum_operands();
}

/// Bytes of weights that wait in PE memories; through the shared memory, those that wait there and activations that the
/// PEs cannot keep; and what the vector units read and write. The time of the PE memories' ports ignores the first:
/// all PEs hold a part, and a row of them brings no more than a link.
constexpr void add_shared_and_vector_traffic(const LayerShape& layer, const Mapping& mapping,
                                             const Residency& residency, const ResidentMemory& memory,
                                             const AcceleratorConfig& config, Traffic& traffic) {
  const double beyond_pes = memory.pe_activation_half_bytes;
  traffic.pe_memory_read_bytes += mapping.noc.weight_bytes * residency.weights_in_pes_frac;
  traffic.shared_memory_read_bytes = mapping.noc.weight_bytes * residency.weights_shared_frac;
  if (residency.input_on_chip && kept_input_bytes(layer, memory) > beyond_pes) {
    traffic.shared_memory_read_bytes += mapping.noc.input_bytes;
  }
  if (residency.output_on_chip && kept_output_bytes(layer, memory) > beyond_pes) {
    traffic.shared_memory_write_bytes += layer.output_bytes;
  }
  if (config.vector_lanes > 0) {
    traffic.pe_memory_read_bytes += layer.vector_elements + layer.other_operands;
    traffic.pe_memory_write_bytes += layer.vector_elements;
  }
}

/// Turns operands into bytes.
constexpr void to_bytes(Traffic& traffic, const AcceleratorConfig& config) {
  for_each_traffic_field([&](const char*, double& field) { field *= config.operand_bytes(); }, traffic);
}

[[nodiscard]] constexpr Bound binding_term(const Mapping& mapping, double dram_cycles) {
  const double steady = pipelined_cycles(mapping.steady_cycles, dram_cycles);
  if (mapping.compute_cycles >= steady) return Bound::compute;
  if (dram_cycles >= steady) return Bound::dram;
  if (mapping.noc_cycles >= steady) return Bound::noc;
  return mapping.pe_memory_cycles >= steady ? Bound::pe_memory : Bound::core_memory;
}

/// Constants of a layer, and as much room for those of the one behind it.
[[nodiscard]] constexpr Violation halved_constants_violation(const Mapping& mapping, std::int32_t layer,
                                                             const AcceleratorConfig& config) {
  return {.reason = Reason::parameter_memory,
          .layer = layer,
          .value = 2.0 * mapping.needed_channels,
          .limit = config.parameter_memory_entries,
          .nearest_passing = 2.0 * mapping.needed_channels,
          .parameter = "parameter_memory_entries",
          .halved = true};
}

/// Why a layer has no mapping. Where neither the PE memory nor the core memory holds a tile, none of them passes alone.
[[nodiscard]] constexpr Violation no_mapping_violation(const Mapping& mapping, std::int32_t layer,
                                                       const AcceleratorConfig& config) {
  if (mapping.needed_channels > 0) return halved_constants_violation(mapping, layer, config);
  const double memory = mapping.weights_too_large ? config.core_memory_bytes : config.pe_memory_bytes;
  const double enough = mapping.needed_tile_bytes * memory / mapping.available_tile_bytes;
  return {.reason = Reason::no_mapping,
          .layer = layer,
          .value = mapping.needed_tile_bytes * config.operand_bytes(),
          .limit = mapping.available_tile_bytes * config.operand_bytes(),
          .nearest_passing = mapping.weights_too ? std::nullopt : std::optional(enough),
          .parameter = mapping.weights_too_large ? "core_memory_bytes" : "pe_memory_bytes"};
}

/// Costs of one repeat of a layer under its best mapping.
[[nodiscard]] constexpr LayerResult layer_result(const LayerShape& layer, const Mapping& mapping,
                                                 const Residency& residency, const Traffic& dram_traffic,
                                                 double dram_cycles, const ChipFacts& chip, const ChipRates& rates) {
  const AcceleratorConfig& config = chip.config;
  LayerResult result;
  result.dataflow = mapping.dataflow;
  result.bound = binding_term(mapping, dram_beyond_granules(dram_cycles, dram_traffic, rates));
  result.pe_split_m = static_cast<std::int32_t>(mapping.pe.split_m);
  result.pe_split_n = static_cast<std::int32_t>(mapping.pe.split_n);
  result.pe_split_k = static_cast<std::int32_t>(mapping.pe.split_k);
  result.core_split_m = static_cast<std::int32_t>(mapping.core.split_m);
  result.core_split_n = static_cast<std::int32_t>(mapping.core.split_n);
  result.active_lanes = static_cast<std::int32_t>(mapping.lanes);
  result.tiles_m = mapping.plan.tiles_m;
  result.tiles_n = mapping.plan.tiles_n;
  result.tiles_k = mapping.plan.tiles_k;
  result.tile_m = tile_count(mapping.pe.m, result.tiles_m);
  result.tile_n = tile_count(mapping.core.n, result.tiles_n);
  result.tile_k = tile_count(mapping.pe.k, result.tiles_k);
  result.compute_cycles = mapping.compute_cycles;
  result.core_memory_cycles = mapping.core_memory_cycles;
  result.pe_memory_cycles = mapping.pe_memory_cycles;
  result.noc_cycles = mapping.noc_cycles;
  result.dram_cycles = dram_cycles;
  result.traffic = dram_traffic;
  result.fill_drain_cycles = fill_drain_cycles(dram_traffic, config, rates);
  result.overhead_cycles = layer_overhead_cycles(config);
  result.vector_cycles = vector_cycles(layer, config);
  result.total_cycles =
      mapping.steady_cycles + result.fill_drain_cycles + result.overhead_cycles + result.vector_cycles;
  result.executed_instructions = layer_instructions(mapping.pe, mapping.core, mapping.plan, config.pes_x, config.pes_y);
  result.instructions = stored_instructions(config.rules, 1, result.executed_instructions);
  result.utilisation_frac = layer.macs / (config.macs_per_cycle() * result.total_cycles);
  result.weights_cached_frac = residency.weights_on_chip_frac();
  result.input_on_chip = residency.input_on_chip;
  result.output_on_chip = residency.output_on_chip;
  add_on_chip_traffic(layer, mapping, config, result.traffic);
  add_shared_and_vector_traffic(layer, mapping, residency, rates.resident, config, result.traffic);
  to_bytes(result.traffic, config);
  result.energy = layer_energy(layer, result.traffic, result.executed_instructions, chip);
  result.energy.leakage_j = chip.idle_w * result.total_cycles / config.clock_hz();
  return result;
}

constexpr void add_repeats(Metrics& metrics, const LayerResult& layer, double repeat, const TemplateRules& rules) {
  metrics.latency_cycles += repeat * layer.total_cycles;
  metrics.instructions += stored_instructions(rules, repeat, layer.instructions);
  metrics.traffic.add_scaled(layer.traffic, repeat);
  metrics.energy.add_scaled(layer.energy, repeat);
}

/// Operands that DRAM holds at least.
///
/// Equation: parameters + keys and values of earlier passes + input and output of the largest layer, as on a GPU
/// (gpu/tensor_parallel.h, resident_bytes); before version 3 of the model parameters + every layer's run-time operands.
struct StoredOperands {
  double parameters = 0, caches = 0, activations = 0;

  constexpr void add(const LayerShape& layer, const TemplateRules& rules) {
    const double operands = layer.weight_bytes * layer.repeat;
    if (!layer.weights_are_activations) {
      parameters += operands;
    } else if (layer.from_earlier_passes || !rules.caches_in_dram) {
      caches += operands;
    }
    if (rules.caches_in_dram) activations = std::max(activations, layer.input_bytes + layer.output_bytes);
  }
  [[nodiscard]] constexpr double total() const { return parameters + caches + activations; }
};

/// What a chip makes of a network, layer by layer.
struct NetworkCost {
  Metrics totals;             ///< over the layers that have a mapping
  ViolationList violations;   ///< the compiler's: layers without a mapping, memories that are too small
  double macs = 0;            ///< of the layers that have a mapping
  double weight_bytes = 0;    ///< parameters of all layers
  double cached_bytes = 0;    ///< those of them that stay on chip
  double stored_bytes = 0;    ///< what DRAM holds: stored_operands()
  double last_constants = 0;  ///< channel constants per PE of the layer before
  double most_constants = 0;  ///< of any layer
};

/// Where a layer's operands live; `earlier_weight_bytes`: stored_parameter_bytes() of the layers before.
[[nodiscard]] constexpr Residency residency_of(const LayerShape& layer, bool previous_on_chip, bool is_last,
                                               double earlier_weight_bytes, const ResidentMemory& memory) {
  const double all_bytes = stored_parameter_bytes(layer, memory);
  Residency residency;
  residency.weights_cached_frac = cached_frac(layer, earlier_weight_bytes, memory);
  residency.weights_in_pes_frac = farther_frac(all_bytes, earlier_weight_bytes, memory.parameter_bytes,
                                               residency.weights_cached_frac, memory.pe_parameter_bytes);
  residency.weights_shared_frac =
      farther_frac(all_bytes, earlier_weight_bytes, memory.parameter_bytes + memory.pe_parameter_bytes,
                   residency.weights_cached_frac + residency.weights_in_pes_frac, memory.shared_parameter_bytes);
  residency.input_on_chip = previous_on_chip && kept_input_bytes(layer, memory) <= memory.activation_half_bytes;
  residency.output_on_chip = !is_last && kept_output_bytes(layer, memory) <= memory.activation_half_bytes;
  return residency;
}

/// One layer on one chip, whatever network it stands in: networks that share the layer and where its operands live
/// share this.
struct LayerCost {
  bool found = false;         ///< there is a mapping
  double constants = 0;       ///< channel constants per PE
  Violation no_mapping = {};  ///< why there is none; of layer 0
  LayerResult result = {};    ///< of one repeat
};

[[nodiscard]] constexpr LayerCost layer_cost(const LayerShape& layer, const Residency& residency, const ChipFacts& chip,
                                             const ChipRates& rates) {
  const Traffic dram_traffic = mean_dram_traffic(layer, residency.input_on_chip, residency.output_on_chip,
                                                 residency.weights_on_chip_frac(), rates.resident);
  const double dram_cycles = bandwidth_cycles(dram_traffic.dram_bytes(), rates.dram_operands_per_cycle);
  const Mapping mapping = best_mapping(layer, chip.config, rates.working, residency,
                                       dram_beyond_granules(dram_cycles, dram_traffic, rates));
  if (!mapping.found) return {.no_mapping = no_mapping_violation(mapping, 0, chip.config)};
  return {.found = true,
          .constants = mapping.pe.n,
          .result = layer_result(layer, mapping, residency, dram_traffic, dram_cycles, chip, rates)};
}

/// Adds layer `index` to the layers before it, or why it cannot be compiled.
constexpr void add_layer_cost(NetworkCost& cost, const LayerShape& layer, std::int32_t index, const LayerCost& one,
                              const AcceleratorConfig& config) {
  if (!one.found) {
    Violation violation = one.no_mapping;
    violation.layer = index;
    cost.violations.add(violation);
    return;
  }
  // A repeated layer follows itself.
  const double consecutive_constants =
      one.constants + (layer.repeat > 1.0 ? std::max(cost.last_constants, one.constants) : cost.last_constants);
  // Floating point needs no constants to get back into range; in version 2 the mapper takes what fits half of the
  // memory.
  const bool asked = config.precision == Precision::int8 && !config.rules.constants_in_halves;
  if (asked && consecutive_constants > config.parameter_memory_entries) {
    cost.violations.add({.reason = Reason::parameter_memory,
                         .layer = index,
                         .value = consecutive_constants,
                         .limit = config.parameter_memory_entries,
                         .nearest_passing = consecutive_constants,
                         .parameter = "parameter_memory_entries"});
  }
  cost.last_constants = one.constants;
  cost.most_constants = std::max(cost.most_constants, one.constants);
  add_repeats(cost.totals, one.result, layer.repeat, config.rules);
  cost.macs += layer.macs * layer.repeat;
}

/// Adds a layer's costs, or why it cannot be compiled, to those of the layers before.
[[nodiscard]] constexpr LayerResult add_layer(NetworkCost& cost, const LayerShape& layer, std::int32_t index,
                                              const Residency& residency, const ChipFacts& chip,
                                              const ChipRates& rates) {
  const LayerCost one = layer_cost(layer, residency, chip, rates);
  add_layer_cost(cost, layer, index, one, chip.config);
  return one.result;
}

/// A program with loops that is longer than the instruction memory: the rest comes from DRAM in every inference, and
/// nothing hides it, because what a layer moves is known when its instructions are there.
///
/// Equation: bytes = (instructions - entries) * bytes per instruction; cycles += bytes / DRAM bytes per cycle; DRAM and
/// leakage take their energy for them.
constexpr void stream_program(Metrics& totals, const ChipFacts& chip, const ChipRates& rates) {
  const double beyond = totals.instructions - chip.config.instruction_memory_entries;
  if (!chip.config.rules.program_loops || beyond <= 0) return;
  totals.program_bytes = beyond * kInstructionBytes;
  const double cycles =
      bandwidth_cycles(totals.program_bytes / chip.config.operand_bytes(), rates.dram_operands_per_cycle);
  totals.latency_cycles += cycles;
  totals.energy.dram_j += units::kPico * totals.program_bytes * chip.event.dram_pj_per_byte;
  totals.energy.leakage_j += chip.idle_w * cycles / chip.config.clock_hz();
}

/// A network that the DRAM cannot hold (StoredOperands) does not run; one of a capacity that is not known
/// holds all.
constexpr void check_dram_capacity(NetworkCost& cost, const AcceleratorConfig& config) {
  const double held_bytes = dram_bytes(config);
  if (held_bytes <= 0 || cost.stored_bytes <= held_bytes) return;
  const bool in_devices = config.dram_devices > 0;
  const double step_bytes = (in_devices ? dram_device(config.dram_type).capacity_gb : 1.0) * units::kGiga;
  cost.violations.add({.reason = Reason::dram_capacity,
                       .value = cost.stored_bytes,
                       .limit = held_bytes,
                       .nearest_passing = tile_count(cost.stored_bytes, step_bytes),
                       .parameter = in_devices ? "dram_devices" : "dram_gb"});
}

/// Totals that follow from the sums over the layers.
constexpr void finish(NetworkCost& cost, const ChipFacts& chip, const ChipRates& rates) {
  const AcceleratorConfig& config = chip.config;
  Metrics& totals = cost.totals;
  stream_program(totals, chip, rates);
  if (!config.rules.program_loops && totals.instructions > config.instruction_memory_entries) {
    cost.violations.add({.reason = Reason::instruction_memory,
                         .value = totals.instructions,
                         .limit = config.instruction_memory_entries,
                         .nearest_passing = totals.instructions,
                         .parameter = "instruction_memory_entries"});
  }
  check_dram_capacity(cost, config);
  totals.latency_s = totals.latency_cycles / config.clock_hz();
  totals.energy_j = totals.energy.total_j();
  totals.average_power_w = totals.latency_s > 0 ? totals.energy_j / totals.latency_s : 0.0;
  totals.utilisation_frac =
      totals.latency_cycles > 0 ? cost.macs / (config.macs_per_cycle() * totals.latency_cycles) : 0.0;
  totals.weights_cached_frac = cost.weight_bytes > 0 ? cost.cached_bytes / cost.weight_bytes : 1.0;
}

/// The memories of a chip that runs the layers shape_of(i), i < count.
template <class ShapeOf>
[[nodiscard]] constexpr ResidentMemory resident_for(const AcceleratorConfig& config, const ResidentMemory& memory,
                                                    std::size_t count, const ShapeOf& shape_of) {
  if (!config.rules.weights_in_pes) return memory;
  double most_bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    most_bytes = std::max(most_bytes, handed_over_bytes(shape_of(i), i == 0, i + 1 == count, memory));
  }
  return with_weights_in_pes(memory, config, most_bytes);
}

/// Sums the layers shape_of(i), i < count, in order; cost_of(i, residency) is the LayerCost of one where its operands
/// live, and see(i, cost) looks at it. `other_parameters` are those that no layer reads, see evaluate().
template <class ShapeOf, class CostOf, class See>
[[nodiscard]] constexpr NetworkCost sum_layers(const ChipFacts& chip, const ChipRates& rates, std::size_t count,
                                               const ShapeOf& shape_of, const CostOf& cost_of, const See& see,
                                               double other_parameters) {
  NetworkCost cost;
  StoredOperands stored;
  stored.parameters = other_parameters;
  const ResidentMemory resident = resident_for(chip.config, rates.resident, count, shape_of);
  double earlier_weight_bytes = 0;
  bool previous_on_chip = false;  // the network's input comes from DRAM
  for (std::size_t i = 0; i < count; ++i) {
    const LayerShape& layer = shape_of(i);
    const Residency residency = residency_of(layer, previous_on_chip, i + 1 == count, earlier_weight_bytes, resident);
    previous_on_chip = residency.output_on_chip;
    earlier_weight_bytes += stored_parameter_bytes(layer, resident);
    if (!layer.weights_are_activations) {
      cost.weight_bytes += layer.weight_bytes * layer.repeat;
      cost.cached_bytes += layer.weight_bytes * layer.repeat * residency.weights_on_chip_frac();
    }
    stored.add(layer, chip.config.rules);
    const LayerCost& one = cost_of(i, residency);
    add_layer_cost(cost, layer, static_cast<std::int32_t>(i), one, chip.config);
    see(i, one);
  }
  cost.stored_bytes = stored.total() * chip.config.operand_bytes();
  finish(cost, chip, rates);
  return cost;
}

/// `details` and `other_parameters` as in evaluate().
[[nodiscard]] constexpr NetworkCost network_cost(const ChipFacts& chip, std::span<const workload::GemmLayer> layers,
                                                 std::span<LayerResult> details, double other_parameters = 0) {
  const ChipRates rates = chip_rates(chip.config);
  return sum_layers(
      chip, rates, layers.size(), [&](std::size_t i) { return layer_shape(layers, i); },
      [&](std::size_t i, const Residency& residency) {
        return layer_cost(layer_shape(layers, i), residency, chip, rates);
      },
      [&](std::size_t i, const LayerCost& one) {
        if (!details.empty() && one.found) details[i] = one.result;
      },
      other_parameters);
}

/// What is known of a chip before any network: area, peak power, and the hardware's violations.
[[nodiscard]] constexpr Evaluation hardware_evaluation(const ChipFacts& chip) {
  Evaluation evaluation;
  evaluation.area = chip.area;
  evaluation.peak_power_w = chip.peak_power_w;
  evaluation.violations = chip.violations;
  return evaluation;
}

/// An evaluation of a chip that passed or was compiled for all the same, from the costs of a network on it.
[[nodiscard]] constexpr Evaluation network_evaluation(const ChipFacts& chip, const NetworkCost& cost) {
  Evaluation evaluation = hardware_evaluation(chip);
  const ViolationList& compiler = cost.violations;
  for (std::size_t i = 0; i < compiler.count; ++i) evaluation.violations.add(compiler.items[i]);
  if (evaluation.violations.count == 0) evaluation.metrics = cost.totals;
  return evaluation;
}

/// The loop behind `evaluate`, without its contract check.
[[nodiscard]] constexpr Evaluation evaluate_layers(const ChipFacts& chip, std::span<const workload::GemmLayer> layers,
                                                   Depth depth, std::span<LayerResult> details,
                                                   double other_parameters = 0) {
  if (depth == Depth::stop_at_hardware && chip.violations.count > 0) return hardware_evaluation(chip);
  return network_evaluation(chip, network_cost(chip, layers, details, other_parameters));
}

}  // namespace hindsight::accel

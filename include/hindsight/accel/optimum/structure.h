/// What the exact optimum relies on of the accelerator model, property by property.
///
/// Each property stands here once, as the function that uses it or as a sentence, under the name of its test
/// (tests/accel/optimum_structure_test.cpp and optimum_mapper_test.cpp sample random designs and layers of the shipped
/// networks). A model that breaks one turns that test red; the bounds are then mended here.
///
/// - split_latency: a layer takes max(on-chip cycles, DRAM beyond granules) + fixed cycles, where the on-chip cycles
///   are those of its best mapping when DRAM takes no time. latency_cycles() below.
/// - on_chip_cycles_ignore: these depend neither on the bandwidth nor on the instruction memory, in version 1 nor on
///   the parameter memory.
/// - on_chip_cycles_fall: nor do they rise with PE, core, activation or parameter memory, or when all weights are
///   cached; a layer that has a mapping keeps one.
/// - dram_by_capacity: of one application, DRAM bytes and what is cached, in cores and in PEs, depend only on PEs * PE
///   memory and PEs * cores * core memory,
///   and DRAM bytes, their part beyond the granules and the reads fall with both.
/// - arithmetic_bound: on-chip cycles are at least lane cycles over lanes, and the outputs over the NoC's row buses.
/// - compute_bound: nor are they below least_split_cycles(), and DRAM that is no slower than computing changes no
///   mapping.
/// - memory_free_bound: no mapping of one split of grid and cores is below memory_free_cycles().
/// - hidden_dram: DRAM that is_hidden() behind the best mapping for a DRAM that takes no time changes no mapping.
/// - larger_memories: an output-stationary mapping of all lanes gets no slower and moves no more over the NoC with
///   larger memories.
/// - needs_ignore: constants and instructions that a network needs do not depend on the parameter and instruction
///   memory, nor do cycles, traffic and any energy but those of proportional_energy. Version 2: of the instruction
///   memory alone, where the program fits.
/// - fitting_choice: version 2: a mapping whose constants fit half of a smaller parameter memory is the one that is
///   chosen beside it, too.
/// - proportional_energy: of the parts of energy, parameter and instruction memory change four, each in proportion to
///   one fact of the chip: its read energies, its energy per NoC hop, what it takes when idle.
/// - separable_facts: area without white space for heat, leakage and the peak power of the PE array are sums of parts
///   of one memory each; version 1: the power density does not depend on the bandwidth, timing depends on the PE's area
///   alone; version 2: that white space and the cooling depend on area and peak power alone.
/// - facts_grow: area and peak power fall with no parameter.
/// - saturation: memories above saturated_memory() change no mapping.
/// - least_energy: no mapping moves fewer bytes than least_bytes() and least_traffic() say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "hindsight/accel/network_cost.h"

namespace hindsight::accel::optimum {

/// What DRAM does for one repeat of a layer, whatever the bandwidth.
struct LayerDram {
  double beyond_bytes = 0;   ///< that on-chip work hides, or waits for
  double granule_bytes = 0;  ///< first in, last out: nothing hides them
  double total_bytes = 0;
  double weights_in_pes_frac = 0;  ///< share of the weights that PE memories keep: read there, of DRAM or not
  bool reads = false;              ///< pays DRAM's latency
  bool cached = false;             ///< all weights stay on chip
};
[[nodiscard]] constexpr LayerDram layer_dram(const LayerShape& layer, const Residency& residency,
                                             const ResidentMemory& memory) {
  const Traffic traffic = mean_dram_traffic(layer, residency.input_on_chip, residency.output_on_chip,
                                            residency.weights_on_chip_frac(), memory);
  // granule_cycles() at one byte per cycle is bytes
  const double granule_bytes = granule_cycles(traffic, {.working = {}, .resident = {}, .dram_operands_per_cycle = 1});
  return {.beyond_bytes = std::max(0.0, traffic.dram_bytes() - granule_bytes),
          .granule_bytes = granule_bytes,
          .total_bytes = traffic.dram_bytes(),
          .weights_in_pes_frac = residency.weights_in_pes_frac,
          .reads = traffic.dram_read_bytes() > 0,
          .cached = residency.weights_cached_frac >= 1.0};
}

/// split_latency. `on_chip_cycles` as on_chip_cycles().
[[nodiscard]] constexpr double latency_cycles(double on_chip_cycles, const LayerDram& dram,
                                              const AcceleratorConfig& config, const ChipRates& rates) {
  return std::max(on_chip_cycles, bandwidth_cycles(dram.beyond_bytes, rates.dram_operands_per_cycle)) +
         bandwidth_cycles(dram.granule_bytes, rates.dram_operands_per_cycle) +
         (dram.reads ? rates.dram_latency_cycles : 0.0) + grid_fill_cycles(config) + layer_overhead_cycles(config);
}

/// The best mapping when DRAM takes no time; of all that says where weights are, it asks only whether all are cached.
[[nodiscard]] constexpr Mapping on_chip_mapping(const LayerShape& layer, const AcceleratorConfig& config, bool cached) {
  const Residency residency{.weights_cached_frac = cached ? 1.0 : 0.0};
  return best_mapping(layer, config, working_memory(config), residency, 0.0);
}
/// Its steady cycles; infinity when there is none.
[[nodiscard]] constexpr double on_chip_cycles(const LayerShape& layer, const AcceleratorConfig& config, bool cached) {
  return on_chip_mapping(layer, config, cached).steady_cycles;
}

/// arithmetic_bound: no mapping of the layer on any chip with these PEs, cores and lanes is faster.
[[nodiscard]] constexpr double least_on_chip_cycles(const LayerShape& layer, const AcceleratorConfig& config) {
  const double lanes = config.pes() * config.cores_per_pe * config.compute_lanes;
  const double output_bytes = layer.count * layer.m * layer.n;
  return std::max(lane_cycles(layer, config.macs_per_lane) / lanes,
                  bandwidth_cycles(output_bytes, config.noc_link_operands() * config.pes_y));
}

/// Calls visit(split, pe) for every split of the grid that the mapper tries.
template <class Visit>
constexpr void for_each_split(const LayerShape& layer, const AcceleratorConfig& config, const Visit& visit) {
  for (const GridSplit split : kGridSplits) {
    if (mapper_detail::is_possible(split, layer, config))
      visit(split, pe_share(layer, split, config.pes_x, config.pes_y));
  }
}
/// Calls visit(core) for every split of a PE's cores that the mapper tries.
template <class Visit>
constexpr void for_each_core_split(const PeShare& pe, const AcceleratorConfig& config, const Visit& visit) {
  for (double split_n = config.cores_per_pe; split_n >= 1.0;
       split_n = static_cast<double>(static_cast<std::int64_t>(split_n / 2.0))) {
    visit(core_share(pe, static_cast<double>(static_cast<std::int64_t>(config.cores_per_pe / split_n)), split_n));
  }
}

/// What no mapping of a layer is below, whatever the memories.
struct LeastCycles {
  double compute = 0;  ///< of computing alone
  double on_chip = 0;  ///< with everything over the NoC once
};
/// compute_bound: whether mappings fit the memories is not asked. A mapping for a DRAM that takes no longer than
/// `compute` is the one for a DRAM that takes no time.
[[nodiscard]] constexpr LeastCycles least_split_cycles(const LayerShape& layer, const AcceleratorConfig& config) {
  LeastCycles least{.compute = std::numeric_limits<double>::infinity(),
                    .on_chip = std::numeric_limits<double>::infinity()};
  constexpr TilePlan kOnce{.input_passes = 1};
  for_each_split(layer, config, [&](GridSplit, const PeShare& pe) {
    double compute = std::numeric_limits<double>::infinity();
    for_each_core_split(pe, config, [&](const CoreShare& core) {
      compute = std::min(compute, compute_cycles(layer, core, pe.k, config.compute_lanes, config.macs_per_lane));
    });
    const NocLoad noc = noc_load(layer, pe, CoreShare{}, kOnce, {.weights_cached_frac = 1.0}, config.sum_operands());
    least.compute = std::min(least.compute, compute);
    least.on_chip = std::min(least.on_chip, std::max(compute, noc_cycles(noc, config)));
  });
  return least;
}

/// memory_free_bound: of one split of the grid and of a PE's cores, on chips with the PEs, cores and lanes of `largest`
/// and no larger memories: all lanes work, everything crosses the NoC once, a weight that was read is used for all
/// pixels, and the PE memory has the ports of the largest.
[[nodiscard]] constexpr double memory_free_cycles(const LayerShape& layer, const PeShare& pe, const CoreShare& core,
                                                  const AcceleratorConfig& largest, bool cached) {
  const TilePlan once;
  const double lanes = largest.compute_lanes;
  const NocLoad noc =
      noc_load(layer, pe, core, once, {.weights_cached_frac = cached ? 1.0 : 0.0}, largest.sum_operands());
  const PeMemoryLoad load = pe_memory_load(layer, pe, core, once, lanes, largest.sum_operands());
  const double weight_bytes = core_weight_read_bytes(layer, core, pe.k, std::max(1.0, core.m));
  return pipelined_cycles(compute_cycles(layer, core, pe.k, lanes, largest.macs_per_lane),
                          bandwidth_cycles(weight_bytes, largest.core_port_operands()), noc_cycles(noc, largest),
                          bandwidth_cycles(load.read_bytes + load.write_bytes, pe_port_operands(largest)));
}

/// hidden_dram: `on_chip_cycles` as on_chip_cycles(). As slow is not hidden: the mapper then stops at the first number
/// of lanes that does.
[[nodiscard]] constexpr bool is_hidden(double dram_cycles, double on_chip_cycles) {
  return dram_cycles < on_chip_cycles;
}

/// Bytes on the chip that cost energy and depend on the mapping, for one repeat of a layer.
struct OnChipBytes {
  double noc_hops = 0;  ///< bytes times hops
  double core_read = 0, core_write = 0;
  double pe_read = 0, pe_write = 0;
  double noc_weights = 0;  ///< of weights that enter the NoC; cost nothing by themselves
  constexpr void add_scaled(const OnChipBytes& other, double factor) {
    noc_hops += factor * other.noc_hops;
    core_read += factor * other.core_read;
    core_write += factor * other.core_write;
    pe_read += factor * other.pe_read;
    pe_write += factor * other.pe_write;
    noc_weights += factor * other.noc_weights;
  }
  /// None of them is larger than that of `other`.
  [[nodiscard]] constexpr bool covers(const OnChipBytes& other) const {
    return noc_hops <= other.noc_hops && core_read <= other.core_read && core_write <= other.core_write &&
           pe_read <= other.pe_read && pe_write <= other.pe_write;
  }
};

/// Those of a layer's traffic.
[[nodiscard]] constexpr OnChipBytes on_chip_bytes(const Traffic& traffic) {
  return {.noc_hops = traffic.noc_hop_bytes,
          .core_read = traffic.core_memory_read_bytes,
          .core_write = traffic.core_memory_write_bytes,
          .pe_read = traffic.pe_memory_read_bytes,
          .pe_write = traffic.pe_memory_write_bytes,
          .noc_weights = traffic.noc_weight_bytes};
}
/// With what is read of the weights that PE memories keep.
[[nodiscard]] constexpr OnChipBytes with_weights_from_pes(OnChipBytes bytes, double weights_in_pes_frac) {
  bytes.pe_read += bytes.noc_weights * weights_in_pes_frac;
  return bytes;
}

/// Joules of these bytes at these prices, pJ per byte.
[[nodiscard]] constexpr double joules(const OnChipBytes& bytes, const OnChipBytes& pj) {
  return units::kPico * (bytes.noc_hops * pj.noc_hops + bytes.core_read * pj.core_read +
                         bytes.core_write * pj.core_write + bytes.pe_read * pj.pe_read + bytes.pe_write * pj.pe_write);
}

/// least_energy: what every mapping on every chip moves, `hops` per byte on the NoC: inputs go in and outputs out once,
/// every weight is read, every product's activation too.
///
/// Equation: inputs = what all outputs need, a window that strides over pixels needing only those it sees; PE reads =
/// k m count, of a depthwise layer n channels of it, less the overlap of neighbouring windows.
[[nodiscard]] constexpr OnChipBytes least_bytes(const LayerShape& layer, double hops) {
  const auto extent = [](double outputs, double window, double stride) {
    return window < stride ? outputs * window : (outputs - 1.0) * stride + window;
  };
  double input_bytes = layer.out_rows * layer.k;  // a plain GEMM
  if (layer.windowed) {
    input_bytes = extent(layer.out_rows, layer.kernel_rows, layer.stride_rows) *
                  extent(layer.out_columns, layer.kernel_columns, layer.stride_columns) *
                  (layer.depthwise ? layer.n : layer.in_channels);
  }
  const double output_bytes = layer.m * layer.n;
  const double fresh_frac = std::min(1.0, layer.stride_columns / layer.kernel_columns);
  const double activations = layer.k * layer.m * (layer.depthwise ? layer.n * fresh_frac : 1.0);
  return {.noc_hops = layer.count * (input_bytes + output_bytes) * hops,
          .core_read = layer.count * layer.k * layer.n,
          .core_write = 0,
          .pe_read = layer.count * activations,
          .pe_write = layer.count * (input_bytes + output_bytes)};
}

/// Bytes that mappings move at the least: each mapping is covered by one of the choices.
struct LeastTraffic {
  std::vector<OnChipBytes> streamed;  ///< weights not cached
  std::vector<OnChipBytes> cached;    ///< weights cached
  double instructions = 0;
};
/// least_energy: of all mappings on chips with the PEs, cores and lanes of `largest` and no larger memories. Memories
/// that hold everything move everything once; one active lane reuses weights most, all lanes read activations least.
[[nodiscard]] LeastTraffic least_traffic(const LayerShape& layer, const AcceleratorConfig& largest);

/// saturation: memories of these sizes hold everything that any mapping of a layer would keep; larger ones change no
/// mapping, neither its cycles nor its traffic nor its program.
struct SaturatedMemory {
  double pe_memory_bytes = 0, core_memory_bytes = 0, activation_memory_entries = 0;
  double parameter_memory_entries = 0;  ///< 0: version 1, which asks for it after the mapping
};
/// Equation: tiles hold the whole input with its halo, the whole output, all sums as int32, all weights and one lane
/// group more; accumulators hold all pixels for every lane; the PE memory has all banks that its crossbar reaches; half
/// of the parameter memory holds the constants of all channels.
[[nodiscard]] constexpr SaturatedMemory saturated_memory(const LayerShape& layer, const AcceleratorConfig& config) {
  double input_bytes = layer.out_rows * layer.k;
  if (layer.windowed) {
    input_bytes = ((layer.out_rows - 1.0) * layer.stride_rows + layer.kernel_rows) *
                  ((layer.out_columns - 1.0) * layer.stride_columns + layer.kernel_columns) *
                  (layer.depthwise ? layer.n : layer.in_channels);
  }
  if (layer.of_sequence && config.rules.cuts_sequences) {  // as row_bands(): all rows of a batch are one
    input_bytes = std::max(input_bytes, ((layer.m - 1.0) * layer.stride_columns + layer.kernel_columns) *
                                            (layer.depthwise ? layer.n : layer.in_channels));
  }
  const WorkingMemory per_byte = working_memory({.pe_memory_bytes = 1, .core_memory_bytes = 1});
  const double lanes = config.compute_lanes;
  return {.pe_memory_bytes =
              std::max({input_bytes / per_byte.input_tile_bytes, layer.m * layer.n / per_byte.output_tile_bytes,
                        layer.m * layer.n * kAccumulatorBytes / per_byte.partial_sum_bytes,
                        config.pe_memory_bank_bytes * config.pe_memory_most_banks}),
          .core_memory_bytes = layer.k * (layer.n + lanes) / per_byte.weight_tile_bytes,
          .activation_memory_entries = 2.0 * config.cores_per_pe * lanes * (layer.m + 1.0),
          .parameter_memory_entries = config.rules.constants_in_halves ? 2.0 * layer.n : 0.0};
}

}  // namespace hindsight::accel::optimum

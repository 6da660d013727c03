/// Traffic: what stays on chip, what DRAM and the NoC move for one layer.
///
/// Model: parameters are cached on chip in execution order until the core memories are full (parameter caching), in
/// version 2 also in what the network's activations leave of the PE memories;
/// an output stays in the PE memories when it fits in half of their resident space (ping and pong). What does not
/// stay is streamed; DRAM re-reads follow from the chip's whole capacity, NoC re-reads from the PEs' tiles.
/// Valid for: networks executed layer by layer. Ignores: fusion of layers into one tile loop, skip connections that
/// outlive a layer, weight compression.
#pragma once

#include <algorithm>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/spatial.h"
#include "hindsight/accel/tiling.h"

namespace hindsight::accel {

/// Capacities of the whole chip.
struct ResidentMemory {
  double parameter_bytes = 0;           ///< space for cached weights
  double activation_half_bytes = 0;     ///< space for one layer's input or output
  double input_chunk_bytes = 0;         ///< inputs of one layer that all PEs hold at once while weights stream
  double weight_chunk_bytes = 0;        ///< weights that all cores hold at once while inputs stream
  double pe_parameter_bytes = 0;        ///< space for weights in the PE memories, which the network decides
  double shared_parameter_bytes = 0;    ///< space for weights in the shared memory
  double pe_activation_half_bytes = 0;  ///< the PEs' part of activation_half_bytes
  double weight_tile_k = 0;     ///< terms and columns of a tile of weights, where they are stored in whole ones; 0: as
  double weight_tile_n = 0;     ///< they are
  bool vector_units = false;    ///< scores are handed over head by head, and what runs after a layer is counted
  bool caches_in_dram = false;  ///< as TemplateRules
};
/// Equation: parameters = PEs * cores * core memory * (1 - working); activations = PEs * PE memory * (1 - working) / 2;
/// chunks = one of the two working buffers of all PEs or cores. A shared memory keeps weights with kSharedWeightFrac of
/// itself and activations with the rest. A tile of weights, where whole ones are stored, is a word per MAC of a core.
[[nodiscard]] constexpr ResidentMemory resident_memory(const AcceleratorConfig& config) {
  const double pe_bytes = config.pes() * config.pe_memory_bytes / config.operand_bytes();
  const double core_bytes = config.pes() * config.cores_per_pe * config.core_memory_bytes / config.operand_bytes();
  const double shared_bytes = config.shared_memory_bytes / config.operand_bytes();
  const double pe_half_bytes = pe_bytes * (1.0 - config.working_frac) / 2.0;
  const bool whole_tiles = config.whole_weight_tiles > 0;
  return {.parameter_bytes = core_bytes * (1.0 - config.core_working_frac),
          .activation_half_bytes = pe_half_bytes + shared_bytes * (1.0 - kSharedWeightFrac) / 2.0,
          .input_chunk_bytes = pe_bytes * config.working_frac / 4.0,
          .weight_chunk_bytes = core_bytes * config.core_working_frac / 2.0,
          .shared_parameter_bytes = shared_bytes * kSharedWeightFrac,
          .pe_activation_half_bytes = pe_half_bytes,
          .weight_tile_k = whole_tiles ? config.macs_per_lane : 0.0,
          .weight_tile_n = whole_tiles ? config.compute_lanes : 0.0,
          .vector_units = config.vector_lanes > 0,
          .caches_in_dram = config.rules.caches_in_dram};
}

/// The memories of a chip that runs a network whose activations need `handed_over_bytes` on either side (ping and pong)
/// to stay on chip, all of them: the PE memories keep weights in what is left.
///
/// Equation: weights in PEs = max(0, 2 (PEs' half - handed over)). Where some activations do not fit, none: more memory
/// then never takes room from weights, so that all traffic falls with it. Nor where core memories are a FIFO that
/// nothing stays in, because such a chip streams its weights.
[[nodiscard]] constexpr ResidentMemory with_weights_in_pes(ResidentMemory memory, const AcceleratorConfig& config,
                                                           double handed_over_bytes) {
  if (config.rules.weights_in_pes && config.core_working_frac < 1.0) {
    memory.pe_parameter_bytes = std::max(0.0, 2.0 * (memory.pe_activation_half_bytes - handed_over_bytes));
  }
  return memory;
}

/// Where one layer's operands live.
struct Residency {
  bool input_on_chip = false;
  bool output_on_chip = false;
  double weights_cached_frac = 0;  ///< in the cores
  double weights_in_pes_frac = 0;  ///< in the PE memories
  double weights_shared_frac = 0;  ///< in the shared memory
  [[nodiscard]] constexpr double weights_on_chip_frac() const {
    return weights_cached_frac + weights_in_pes_frac + weights_shared_frac;
  }
  friend constexpr bool operator==(const Residency&, const Residency&) = default;
};

/// Weights of a layer as DRAM and the memories where they stay hold them: as they are, or in whole tiles of a core's
/// MACs, padded with zeros (TPU v1 takes 9 tiles for a matrix of 600 x 600 [paper: tpu-2017]; of the 32 columns of
/// DenseNet's 3 x 3 convolutions Coral's Edge TPU makes 64 [data: edgetpu-segments]).
///
/// Equation: W * ceil(k / tile k) tile k * ceil(n / tile n) tile n / (k n).
/// Ignores: how PEs and cores split a layer (each would pad its own share), and the zeros on their way from DRAM on.
[[nodiscard]] constexpr double stored_weight_bytes(const LayerShape& layer, const ResidentMemory& memory) {
  if (memory.weight_tile_k <= 0.0 || layer.weights_are_activations) return layer.weight_bytes;
  return layer.weight_bytes / (spatial_utilisation_frac(layer.k, memory.weight_tile_k) *
                               spatial_utilisation_frac(layer.n, memory.weight_tile_n));
}

/// The same of all repeats of a layer: what it takes of the memories where weights stay. Operands made at run time take
/// nothing of them.
[[nodiscard]] constexpr double stored_parameter_bytes(const LayerShape& layer, const ResidentMemory& memory) {
  return layer.weights_are_activations ? 0.0 : stored_weight_bytes(layer, memory) * layer.repeat;
}

/// DRAM bytes of one repeat of a layer.
///
/// Equation: streamed weights Ws = (1 - cached) * W, W as stored. With the input on chip, Ws is read once. Otherwise
/// the cheaper of
///   inputs in place:  I + halo + Ws * ceil(I / input chunk)      (every chunk of inputs sees all weights)
///   weights in place: Ws + I * ceil(Ws / weight chunk)           (every chunk of weights sees all inputs)
/// where halo = (chunks - 1) * (window rows - stride) input rows. The output is written once unless it stays; where it
/// does not, nor do operands of other layers that vector units add to it.
/// I and Ws are those of one of `count` GEMMs, which run one after the other: no head or group reads another's weights.
/// Both terms fall as memory grows, so more memory never means more DRAM traffic.
constexpr void add_dram_traffic(const LayerShape& layer, const Residency& residency, const ResidentMemory& memory,
                                Traffic& traffic) {
  const double streamed_bytes =
      stored_weight_bytes(layer, memory) * (1.0 - residency.weights_on_chip_frac()) / layer.count;
  const double input_bytes = layer.input_bytes / layer.count;
  if (residency.input_on_chip) {
    traffic.dram_read_weight_bytes = layer.count * streamed_bytes;
  } else {
    const double input_chunks = std::max(1.0, tile_count(input_bytes, memory.input_chunk_bytes));
    const double weight_chunks = std::max(1.0, tile_count(streamed_bytes, memory.weight_chunk_bytes));
    const double input_rows = layer.out_rows * layer.stride_rows;
    const double halo_rows = layer.windowed ? std::max(0.0, layer.kernel_rows - layer.stride_rows) : 0.0;
    const double halo_bytes = (input_chunks - 1.0) * halo_rows * input_bytes / input_rows;
    const double inputs_in_place_bytes = input_bytes + halo_bytes + streamed_bytes * input_chunks;
    const double weights_in_place_bytes = streamed_bytes + input_bytes * weight_chunks;
    if (inputs_in_place_bytes < weights_in_place_bytes) {
      traffic.dram_read_input_bytes = layer.count * (input_bytes + halo_bytes);
      traffic.dram_read_weight_bytes = layer.count * streamed_bytes * input_chunks;
    } else {
      traffic.dram_read_input_bytes = layer.count * input_bytes * weight_chunks;
      traffic.dram_read_weight_bytes = layer.count * streamed_bytes;
    }
  }
  traffic.dram_write_output_bytes = residency.output_on_chip ? 0.0 : layer.output_bytes;
  if (memory.vector_units && !residency.output_on_chip) traffic.dram_read_input_bytes += layer.other_operands;
}

/// Bytes on the NoC for one repeat of a layer under one mapping.
struct NocLoad {
  double weight_bytes = 0;      ///< injected; a multicast counts once
  double input_bytes = 0;       ///< injected; a multicast counts once
  double output_bytes = 0;      ///< leaving the PEs, partial sums of a split K included
  double pe_ingress_bytes = 0;  ///< into the busiest PE
  double pe_egress_bytes = 0;   ///< out of the busiest PE
};

/// Equation: a PE takes in its weights n * k * weight passes (none when they are cached in the cores that use them:
/// fully cached and neither PEs nor cores split M) and its input * input passes. PEs that split M share weights, PEs
/// that split N share inputs: a multicast crosses the NoC once. Outputs leave once as int8; a split K sends int32
/// partial sums to be reduced: (split_k - 1) / split_k of the PEs send 4 bytes per output.
/// Only PEs with work count. `sum_operands`: bytes of a partial sum over those of an operand.
[[nodiscard]] constexpr NocLoad noc_load(const LayerShape& layer, const PeShare& pe, const CoreShare& core,
                                         const TilePlan& plan, const Residency& residency, double sum_operands) {
  const bool weights_in_place = residency.weights_cached_frac >= 1.0 && pe.split_m <= 1.0 && core.split_m <= 1.0;
  const double weight_share_bytes = weights_in_place ? 0.0 : layer.count * pe.n * pe.k * plan.weight_passes;
  const double input_share_bytes = layer.count * pe.input_bytes * plan.input_passes;
  const double output_share_bytes = layer.count * pe.m * pe.n;
  const double sums_bytes = pe.split_k > 1.0 ? output_share_bytes * sum_operands : 0.0;
  NocLoad load;
  load.weight_bytes = weight_share_bytes * pe.used_n * pe.used_k;
  load.input_bytes = input_share_bytes * pe.used_m * pe.used_k * (layer.depthwise ? pe.used_n : 1.0);
  load.output_bytes = (output_share_bytes + sums_bytes * (pe.used_k - 1.0)) * pe.used_m * pe.used_n;
  load.pe_ingress_bytes = weight_share_bytes + input_share_bytes + sums_bytes;
  load.pe_egress_bytes = std::max(output_share_bytes, sums_bytes);
  return load;
}

/// Cycles of the NoC: the busiest link of a PE, or the row buses that carry every injected byte once.
///
/// Equation: cycles = max(ingress / link, egress / link, (injected + outputs) / (link * pes_y)).
/// Ignores: contention beyond these two limits, header flits.
[[nodiscard]] constexpr double noc_cycles(const NocLoad& load, const AcceleratorConfig& config) {
  const double bus_bytes = load.weight_bytes + load.input_bytes + load.output_bytes;
  return pipelined_cycles(bandwidth_cycles(load.pe_ingress_bytes, config.noc_link_operands()),
                          bandwidth_cycles(load.pe_egress_bytes, config.noc_link_operands()),
                          bandwidth_cycles(bus_bytes, config.noc_link_operands() * config.pes_y));
}

/// Bytes through a core's weight port, for all `count` GEMMs and the busiest core.
///
/// Equation: bytes = count * k * n_core * max(1, m_core / reuse): each weight is read once for every block of `reuse`
/// pixels that the accumulators hold; a last partial block is spread over the others.
[[nodiscard]] constexpr double core_weight_read_bytes(const LayerShape& layer, const CoreShare& core, double k_pe,
                                                      double reuse) {
  return layer.count * k_pe * core.n * std::max(1.0, core.m / reuse);
}

/// Bytes that a PE's memory serves, for all `count` GEMMs.
struct PeMemoryLoad {
  double read_bytes = 0;
  double write_bytes = 0;
};
/// Equation: activations are read once per lane group by every distinct pixel group of cores (cores with the same
/// pixels share a read): k * m_core * ceil(n_core / lanes) * split_m; a depthwise lane has its own channel, and the
/// line buffer reuses the overlap of neighbouring windows: k * m * n * min(1, stride / window) . Inputs are written
/// once per pass, outputs once, partial sums written and read `partial_sum_passes` times as int32 (`sum_operands` as
/// above).
[[nodiscard]] constexpr PeMemoryLoad pe_memory_load(const LayerShape& layer, const PeShare& pe, const CoreShare& core,
                                                    const TilePlan& plan, double lanes, double sum_operands) {
  double activation_bytes = 0;
  if (layer.depthwise) {
    const double fresh_frac = std::min(1.0, layer.stride_columns / layer.kernel_columns);
    activation_bytes = pe.k * pe.m * pe.n * fresh_frac;
  } else {
    activation_bytes = pe.k * core.m * tile_count(core.n, lanes) * std::min(core.split_m, pe.m);
  }
  const double sums_bytes = pe.m * pe.n * sum_operands * plan.partial_sum_passes;
  return {.read_bytes = layer.count * (activation_bytes + sums_bytes),
          .write_bytes = layer.count * (pe.input_bytes * plan.input_passes + pe.m * pe.n + sums_bytes)};
}

/// Bytes per cycle that one PE memory moves: one port per bank, as many banks as the crossbar reaches.
[[nodiscard]] constexpr double pe_memory_bytes_per_cycle(const AcceleratorConfig& config) {
  const double banks =
      std::max(1.0, std::min(config.pe_memory_bytes / config.pe_memory_bank_bytes, config.pe_memory_most_banks));
  return banks * config.pe_memory_bank_port_bytes;
}
/// The same in operands.
[[nodiscard]] constexpr double pe_port_operands(const AcceleratorConfig& config) {
  return pe_memory_bytes_per_cycle(config) / config.operand_bytes();
}

}  // namespace hindsight::accel

/// Cost terms of spatial accelerators: the small equations that Hindsight's own model and its peer
/// modes (`peers.h`) share.
///
/// Model: pure functions of doubles that hold counts; no allocation, usable in constant expressions.
/// Valid for: integer-valued sizes below 2^53.
/// Ignores: everything a caller does not pass in; how the terms combine is the caller's model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hindsight::accel {

/// Number of tiles of `tile` elements that cover `size` elements; the last tile may be partial.
///
/// Equation: tiles = ceil(size / tile). size >= 0, tile > 0.
[[nodiscard]] constexpr double tile_count(double size, double tile) {
  const double whole_tiles = static_cast<double>(static_cast<std::int64_t>(size / tile));
  return whole_tiles + (whole_tiles * tile < size ? 1.0 : 0.0);  // no branch, which would often be mispredicted
}

/// Share of the slots that does useful work when `size` elements are spread over `ways` parallel slots.
///
/// Equation: utilisation = size / (ceil(size / ways) * ways); 1 is best.
[[nodiscard]] constexpr double spatial_utilisation_frac(double size, double ways) {
  return size / (tile_count(size, ways) * ways);
}

/// Time to move `transfer_bytes` (or words, with words per cycle) through one port.
///
/// Equation: cycles = bytes / (bytes per cycle); fractional, callers round where their machine does.
[[nodiscard]] constexpr double bandwidth_cycles(double transfer_bytes, double bytes_per_cycle) {
  return transfer_bytes / bytes_per_cycle;
}

/// Duration of activities that run at the same time: the longest one.
///
/// Equation: cycles = max(terms); the roofline of Williams et al. 2009 with any number of resources [paper: roofline].
[[nodiscard]] constexpr double pipelined_cycles(double cycles) { return cycles; }
template <typename... More>
[[nodiscard]] constexpr double pipelined_cycles(double first_cycles, double second_cycles, More... more_cycles) {
  return pipelined_cycles(first_cycles > second_cycles ? first_cycles : second_cycles,
                          static_cast<double>(more_cycles)...);
}

/// Duration of `steps` equal steps of a double-buffered pipeline: nothing overlaps the first step's load
/// and the last step's store, every other load and store hides behind the work or bounds it.
///
/// Equation: cycles = load + (steps - 1) * max(work, load, store) + work + store, for steps >= 1, load and
/// store of one step.
/// Source: MAESTRO's cost analysis engine (first iteration serial, later ones the maximum) [paper: maestro];
/// ZigZag's onload + temporal + offload [paper: zigzag].
[[nodiscard]] constexpr double double_buffered_cycles(double steps, double work_cycles, double load_cycles,
                                                      double store_cycles) {
  return load_cycles + (steps - 1.0) * pipelined_cycles(work_cycles, load_cycles, store_cycles) + work_cycles +
         store_cycles;
}

/// The operand that stays in place while the others stream past it.
enum class Stationary : std::uint8_t { output, weight, input };

/// One fold of a systolic array of `rows` x `columns` multiply-accumulate units: fill, stream, drain.
///
/// Equation: output stationary   stream + rows + columns - 2   (both operands skewed, stream = K)
///           weight or input stationary   stream + 2 rows + columns - 2   (`rows` more cycles to load the
///           stationary operand; stream = M with weights in place, N with inputs in place)
/// Source: SCALE-Sim v2, scalesim/compute/systolic_compute_{os,ws,is}.py [paper: scalesim].
[[nodiscard]] constexpr double systolic_fold_cycles(Stationary stationary, double rows, double columns,
                                                    double stream_length) {
  const double preload_cycles = stationary == Stationary::output ? 0.0 : rows;
  return stream_length + preload_cycles + rows + columns - 2.0;
}

/// A dimension of the GEMM  output[m, n] = sum over k of input[m, k] * weight[k, n].
enum class GemmDimension : std::uint8_t { m, n, k };

/// Numbers of tiles along each dimension of a GEMM: the trip counts of the loops above a buffer.
struct TileCounts {
  double m = 1, n = 1, k = 1;
  [[nodiscard]] constexpr double at(GemmDimension dimension) const {
    return dimension == GemmDimension::m ? m : dimension == GemmDimension::n ? n : k;
  }
};

/// The tile loops above a buffer, outermost first.
using LoopOrder = std::array<GemmDimension, 3>;
inline constexpr LoopOrder kOutputStationaryOrder{GemmDimension::m, GemmDimension::n, GemmDimension::k};
inline constexpr LoopOrder kWeightStationaryOrder{GemmDimension::n, GemmDimension::k, GemmDimension::m};
inline constexpr LoopOrder kInputStationaryOrder{GemmDimension::m, GemmDimension::k, GemmDimension::n};

/// The canonical loop order that keeps one operand's tile in place.
[[nodiscard]] constexpr LoopOrder loop_order(Stationary stationary) {
  return stationary == Stationary::output   ? kOutputStationaryOrder
         : stationary == Stationary::weight ? kWeightStationaryOrder
                                            : kInputStationaryOrder;
}

/// How often one operand passes through the buffer's port, in units of its own size.
///
/// Equation: passes = tiles of the dimension the operand does not have, when any loop of a dimension it has runs
/// inside that loop with more than one iteration; else 1 (the tile is still in the buffer).
/// Source: the reuse rule of Timeloop (Parashar et al. 2019) for one buffer of one tile per operand [paper: timeloop].
[[nodiscard]] constexpr double operand_passes(const LoopOrder& order, const TileCounts& tiles, GemmDimension missing) {
  bool inside = false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == missing) {
      inside = true;
    } else if (inside && tiles.at(order[i]) > 1.0) {
      return tiles.at(missing);
    }
  }
  return 1.0;
}

/// Transfers between a buffer and the memory outside it, in passes over each operand.
struct RefetchFactors {
  double input_reads = 1;
  double weight_reads = 1;
  double output_writes = 1;
  double output_reads = 0;  ///< partial sums that come back to be added to
};

/// Equation: reads of input and weight = operand_passes; writes of output = operand_passes;
/// reads of partial sums = writes - 1 (the first pass starts from zero).
[[nodiscard]] constexpr RefetchFactors refetch(const LoopOrder& order, const TileCounts& tiles) {
  const double output_writes = operand_passes(order, tiles, GemmDimension::k);
  return {.input_reads = operand_passes(order, tiles, GemmDimension::n),
          .weight_reads = operand_passes(order, tiles, GemmDimension::m),
          .output_writes = output_writes,
          .output_reads = output_writes - 1.0};
}
[[nodiscard]] constexpr RefetchFactors refetch(Stationary stationary, const TileCounts& tiles) {
  return refetch(loop_order(stationary), tiles);
}

}  // namespace hindsight::accel

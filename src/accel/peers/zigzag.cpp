/// ZigZag as a configuration of the shared terms.
///
/// Model: ZigZag reports ideal temporal cycles + stalls + data onload + data offload; the stalls it finds with
/// its best mapping are those of the shared DRAM port, that is the roofline.
/// Source: zigzag/cost_model/cost_model.py, latency_total2 [paper: zigzag].
#include <cmath>

#include "hindsight/accel/peers.h"

namespace hindsight::accel::peers {

ZigZagCost zigzag_cost(const ZigZagArchitecture& architecture, const ZigZagLoops& loops) {
  constexpr double kPartialSumBytes = 2;  // [spec: zigzag] 16-bit partial outputs
  const double pixels = loops.ox * loops.oy;
  const double weight_bytes = loops.k * loops.c;
  const double input_bytes = pixels * loops.c;
  const double output_bytes = pixels * loops.k;

  ZigZagCost cost;
  cost.compute_cycles = tile_count(loops.ox, architecture.unroll_ox) * tile_count(loops.oy, architecture.unroll_oy) *
                        tile_count(loops.k, architecture.unroll_k) * tile_count(loops.c, architecture.unroll_c);

  // The activation memory holds whole pixels with their inputs and partial sums; when not all fit, weights that do
  // not stay in their own memory come once per group of pixels.
  const double pixel_bytes = loops.c + loops.k * kPartialSumBytes;
  const double resident_pixels = std::fmax(1.0, std::floor(architecture.activation_memory_bytes / pixel_bytes));
  const TileCounts tiles{.m = tile_count(pixels, resident_pixels),
                         .n = tile_count(weight_bytes, architecture.weight_memory_bytes),
                         .k = 1};
  const RefetchFactors factors = refetch(kOutputStationaryOrder, tiles);
  // Inputs of a resident group of pixels serve every group of output channels.
  cost.dram_read_bytes = weight_bytes * factors.weight_reads + input_bytes;
  cost.dram_write_bytes = output_bytes;
  cost.dram_cycles = bandwidth_cycles(cost.dram_read_bytes + cost.dram_write_bytes, architecture.dram_bytes_per_cycle);

  const double pass_pixels = std::fmin(loops.ox, architecture.unroll_ox) * std::fmin(loops.oy, architecture.unroll_oy);
  const double pass_channels = std::fmin(loops.k, architecture.unroll_k);
  cost.onload_cycles = bandwidth_cycles((pass_channels + pass_pixels) * loops.c, architecture.dram_bytes_per_cycle);
  cost.offload_cycles = bandwidth_cycles(pass_channels * pass_pixels, architecture.dram_bytes_per_cycle);
  cost.cycles = pipelined_cycles(
      double_buffered_cycles(1.0, cost.compute_cycles, cost.onload_cycles, cost.offload_cycles), cost.dram_cycles);
  cost.dram_energy_pj = cost.dram_read_bytes * architecture.dram_read_pj_per_byte +
                        cost.dram_write_bytes * architecture.dram_write_pj_per_byte;
  return cost;
}

}  // namespace hindsight::accel::peers

/// Timeloop v3 as a configuration of the shared terms.
///
/// Model: the slowest port of any level, or the PEs, decides; nothing fills or drains.
/// Source: src/model/buffer.cpp, ComputePerformance [paper: timeloop].
#include <cmath>
#include <vector>

#include "hindsight/accel/peers.h"

namespace hindsight::accel::peers {
namespace {

std::vector<double> divisors(double size) {
  std::vector<double> result;
  for (double candidate = 1; candidate <= size; ++candidate) {
    if (std::fmod(size, candidate) == 0.0) result.push_back(candidate);
  }
  return result;
}

bool better(const TimeloopCost& a, const TimeloopCost& b) {
  if (a.cycles != b.cycles) return a.cycles < b.cycles;
  return a.dram_accesses() < b.dram_accesses();
}

}  // namespace

TimeloopCost timeloop_cost(const TimeloopArchitecture& architecture, const TimeloopMapping& mapping, const Gemm& gemm) {
  const TileCounts tiles{.m = tile_count(gemm.m, mapping.tile_m),
                         .n = tile_count(gemm.n, mapping.tile_n),
                         .k = tile_count(gemm.k, mapping.tile_k)};
  const RefetchFactors factors = refetch(kOutputStationaryOrder, tiles);

  TimeloopCost cost;
  cost.dram_reads = gemm.input_elements() * factors.input_reads + gemm.weight_elements() * factors.weight_reads +
                    gemm.output_elements() * factors.output_reads;
  cost.dram_writes = gemm.output_elements() * factors.output_writes;

  // Below the buffer, operands are multicast along the array's rows or columns.
  const double column_passes = tile_count(gemm.n, architecture.columns);
  cost.buffer_reads = gemm.input_elements() * column_passes + cost.dram_writes;
  cost.buffer_writes = cost.dram_reads;
  if (mapping.stationary == Stationary::output) {
    const double row_passes = tile_count(gemm.m, architecture.rows);
    cost.compute_cycles = row_passes * column_passes * gemm.k;
    cost.buffer_reads += gemm.weight_elements() * row_passes;
    cost.buffer_writes += gemm.output_elements();
  } else {
    const double row_passes = tile_count(gemm.k, architecture.rows);
    cost.compute_cycles = row_passes * column_passes * gemm.m;
    cost.buffer_reads += gemm.weight_elements() * tiles.m + gemm.output_elements() * (row_passes - 1.0);
    cost.buffer_writes += gemm.output_elements() * row_passes;
  }
  cost.cycles = std::ceil(pipelined_cycles(cost.compute_cycles,  //
                                           bandwidth_cycles(cost.dram_reads, architecture.dram_words_per_cycle),
                                           bandwidth_cycles(cost.dram_writes, architecture.dram_words_per_cycle),
                                           bandwidth_cycles(cost.buffer_reads, architecture.buffer_words_per_cycle),
                                           bandwidth_cycles(cost.buffer_writes, architecture.buffer_words_per_cycle)));
  return cost;
}

std::optional<TimeloopBest> timeloop_best(const TimeloopArchitecture& architecture, const Gemm& gemm) {
  std::optional<TimeloopBest> best;
  const std::vector<double> tiles_n = divisors(gemm.n);
  const std::vector<double> tiles_k = divisors(gemm.k);
  for (const double tile_m : divisors(gemm.m)) {
    for (const double tile_n : tiles_n) {
      for (const double tile_k : tiles_k) {
        const Gemm tile{.m = tile_m, .n = tile_n, .k = tile_k};
        if (tile.input_elements() + tile.weight_elements() + tile.output_elements() > architecture.buffer_words) {
          continue;
        }
        for (const Stationary stationary : {Stationary::output, Stationary::weight}) {
          const TimeloopMapping mapping{.stationary = stationary, .tile_m = tile_m, .tile_n = tile_n, .tile_k = tile_k};
          const TimeloopCost cost = timeloop_cost(architecture, mapping, gemm);
          if (!best || better(cost, best->cost)) best = TimeloopBest{.mapping = mapping, .cost = cost};
        }
      }
    }
  }
  return best;
}

}  // namespace hindsight::accel::peers

/// SCALE-Sim v2 as a configuration of the shared terms.
///
/// Model: systolic array, one fold at a time, stall-free (CALC mode).
/// Source: scalesim/compute/systolic_compute_{os,ws,is}.py for cycles and SRAM accesses,
/// scalesim/memory/{read_buffer_estimate_bw,write_buffer}.py for DRAM accesses [paper: scalesim].
#include <cmath>

#include "hindsight/accel/peers.h"

namespace hindsight::accel::peers {
namespace {

/// Distinct words that SCALE-Sim's read buffer holds before it drops them all.
///
/// Equation: window = floor(words / 100) * 50: the buffer is cut in 100 sets, half of them active; completing
/// the last active set moves the window past all of them.
/// Source: read_buffer_estimate_bw.py, set_params and manage_prefetches with active_buf_frac = 0.5 [paper: scalesim].
double read_window_words(double sram_words) { return std::floor(sram_words / 100.0) * 50.0; }

/// DRAM reads of one operand that every pass reads in the same order.
///
/// Equation: all of it once, when it is read once or fits the window; every SRAM read again, when more than a
/// window of other words lies between two uses of a word. Between the two the count depends on where the
/// window stands when it is dropped: no closed form.
std::optional<double> operand_dram_reads(double distinct_words, double sram_reads, double reuse_distance_words,
                                         double window_words) {
  if (sram_reads <= distinct_words || distinct_words < window_words) return distinct_words;
  if (reuse_distance_words >= window_words) return sram_reads;
  return std::nullopt;
}

}  // namespace

Gemm scale_sim_im2col(const Convolution& convolution) {
  const auto out_size = [&](double in_size, double kernel_size) {
    return tile_count(in_size - kernel_size + convolution.stride, convolution.stride);
  };
  return {.m = out_size(convolution.in_height, convolution.kernel_height) *
               out_size(convolution.in_width, convolution.kernel_width),
          .n = convolution.out_channels,
          .k = convolution.kernel_height * convolution.kernel_width * convolution.in_channels};
}

ScaleSimCost scale_sim_cost(const ScaleSimArray& array, Stationary stationary, const Gemm& gemm,
                            InputMatrix input_matrix) {
  // Rows x columns of the array hold:  output stationary m x n, weight stationary k x n, input stationary k x m.
  const double over_rows = stationary == Stationary::output ? gemm.m : gemm.k;
  const double over_columns = stationary == Stationary::input ? gemm.m : gemm.n;
  const double streamed = stationary == Stationary::output   ? gemm.k
                          : stationary == Stationary::weight ? gemm.m
                                                             : gemm.n;
  const double row_folds = tile_count(over_rows, array.rows);
  const double column_folds = tile_count(over_columns, array.columns);

  ScaleSimCost cost;
  cost.folds = row_folds * column_folds;
  // SCALE-Sim counts cycles from 0 and reports the last index.
  cost.compute_cycles = cost.folds * systolic_fold_cycles(stationary, array.rows, array.columns, streamed) - 1.0;

  double output_writes = 0;  // requests that reach the output SRAM and, in the end, DRAM
  double weight_reuse_distance_words = gemm.weight_elements();
  switch (stationary) {
    case Stationary::output:
      cost.input_sram_reads = gemm.input_elements() * column_folds;
      cost.weight_sram_reads = gemm.weight_elements() * row_folds;
      output_writes = gemm.output_elements();
      // Each fold adds rows + columns to SCALE-Sim's counter beside the outputs themselves.
      cost.output_sram_writes = output_writes + cost.folds * (array.rows + array.columns);
      // Row folds run inside column folds: a panel of weights is used again at once. The last panel is the
      // narrowest.
      weight_reuse_distance_words = gemm.k * (gemm.n - (column_folds - 1.0) * array.columns);
      break;
    case Stationary::weight:
      cost.input_sram_reads = gemm.input_elements() * column_folds;
      cost.weight_sram_reads = gemm.weight_elements();
      output_writes = gemm.output_elements() * row_folds;
      cost.output_sram_writes = output_writes;
      break;
    case Stationary::input:
      cost.input_sram_reads = gemm.input_elements();
      cost.weight_sram_reads = gemm.weight_elements() * column_folds;
      output_writes = gemm.output_elements() * row_folds;
      cost.output_sram_writes = output_writes;
      break;
  }

  const double window_words = read_window_words(array.sram_words);
  cost.weight_dram_reads =
      operand_dram_reads(gemm.weight_elements(), cost.weight_sram_reads, weight_reuse_distance_words, window_words);
  if (input_matrix == InputMatrix::distinct) {
    cost.input_dram_reads =
        operand_dram_reads(gemm.input_elements(), cost.input_sram_reads, gemm.input_elements(), window_words);
  }
  // The first drain flushes a line with one element and counts it as a full line of `columns` elements.
  const bool drained_early = output_writes > array.sram_words / 2.0;
  cost.output_dram_writes = output_writes + (drained_early ? array.columns - 1.0 : 0.0);
  return cost;
}

}  // namespace hindsight::accel::peers

/// The kernels that vendors' libraries choose from, by architecture and class of formats.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "hindsight/gpu/gemm.h"
#include "hindsight/gpu/gemm_terms.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::gpu {

/// One kernel: what it computes per CTA.
struct Kernel {
  double m = 0;                                     ///< rows of the output tile
  double n = 0;                                     ///< columns
  double work = 1;                                  ///< time per multiply-add over that at the peak
  double ctas_per_sm = 0;                           ///< CTAs that run on one SM at the same time
  double per_row = 0, per_column = 0, per_cta = 0;  ///< 1 / m, 1 / n, 1 / ctas_per_sm
};

/// Products whose k the library never splits, by their sizes alone, so that no better GPU loses a candidate.
struct SplitRule {
  double least_macs = 0;     ///< fewer multiply-adds than that are not split
  double strip_width = 0;    ///< nor strips of at most so many rows (or columns) ...
  double strip_length = 0;   ///< ... and at least so many columns (or rows)
  double strip_least_k = 0;  ///< below this k
  [[nodiscard]] bool splits(double m, double n, double k, double batch) const {
    const bool strip = std::min(m, n) <= strip_width && std::max(m, n) >= strip_length && k < strip_least_k;
    return !strip && batch * m * n * k >= least_macs;
  }
};

/// Kernels that differ in their tile only, as far as they fit an SM of one GPU.
struct KernelFamily {
  std::vector<Kernel> kernels;  ///< largest tile first; at most kMostKernels; none: a roofline estimate
  double outputs_per_sm = 0;    ///< most that the CTAs resident on an SM compute at the same time
  double shared_panel = 1;      ///< see `l2_read_bytes`
  double pair_share = 1;        ///< of both panels, that a CTA reads; the others of its cluster read the rest
  double k_step = 0;            ///< depth of one pipeline step
  double chain_per_k_s = 0;     ///< see `chain_s`
  double vector_step_s = 0;     ///< matrix times vector: seconds per doubling of k; 0: no such kernel
  double stepwise_penalty = 0;  ///< see `stepwise_read_cost`; 0: a step reads whole cache lines
  Overlap overlap = Overlap::pipelined;
  bool split_k = true;
  SplitRule split_rule = {};
  /// The epilogue of a CTA runs while its SM multiplies for the next: accumulators are kept twice.
  bool epilogue_overlaps = false;
  double roofline_efficiency = 0;  ///< no kernels but a roofline estimate at this share of the peak; 0: kernels
};

/// What a quantisation of the activations costs, besides the bytes that it moves.
struct QuantisationFacts {
  double start_share = 0;     ///< of `Constants::quantise_cycles`
  double rows_per_sm = 1;     ///< that an SM quantises at a time
  double row_cycles = 0;      ///< of one row, however short
  double element_cycles = 0;  ///< of every element of a row besides
  double product_work = 1;    ///< arithmetic of the product over that without scales inside k
};
[[nodiscard]] const QuantisationFacts& quantisation_facts(Quantisation quantisation);
/// Share of the DRAM bandwidth that kernels reach which a quantisation kernel reaches.
/// [measured: least error of H100 and L40S together among 0.45 to 0.85, fp8, 2026-11-24, docs/gpu.md]
inline constexpr double kQuantiseBandwidthShare = 0.6;

/// Shared memory that the system takes per block, from Ampere on. [spec: cuda-guide]
inline constexpr double kReservedSharedBytes = 1024;
/// About the latency of one DRAM access [measured: joint fit, A100 H100 L40S, 2026-11-21, docs/gpu.md]
inline constexpr double kRampSeconds = 0.38e-6;
/// No family has more kernels.
inline constexpr std::size_t kMostKernels = 26;
/// Products that a library has kernels for: `batched_rows` are batches of inputs that are both stored by rows.
enum class Products : unsigned char { any, batched_rows };
/// The kernels for `products` that an SM of `spec` has the threads, registers and shared memory for. A step of the
/// library's kernels is as many bytes with `dtype` of 8 bits as with 16.
/// Errors: Error{usage} naming the key of the sheet that leaves no kernel.
[[nodiscard]] KernelFamily kernel_family(const GpuSpec& spec, DTypeClass dtype_class, Products products, DType dtype);

/// Numbers of parts that k may be split into, ascending from 1.
inline constexpr std::size_t kSplitCount = 10;
inline constexpr std::array<double, kSplitCount> kSplits{1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0};

}  // namespace hindsight::gpu

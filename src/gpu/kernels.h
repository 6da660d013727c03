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

/// Whether the library splits the k of a product: never, where it pays, always.
enum class KSplit : unsigned char { never, where_it_pays, always };

/// Products whose k the library never or always splits, by their sizes alone but for `filled_below_k`, which more SMs
/// relax, so that no better GPU loses a candidate. All numbers 0: wherever it pays.
struct SplitRule {
  /// At most `width` rows (or columns) and at least `length` columns (or rows).
  struct Strip {
    double width = 0, length = 0;
  };
  double least_macs = 0;          ///< single products of fewer multiply-adds are not split ...
  double least_macs_below_k = 0;  ///< ... below this k ...
  double least_macs_length = 0;   ///< ... where the longer of m and n is at least that
  std::array<Strip, 4> strips{};  ///< nor strips, by ascending width (the first that is wide enough counts) ...
  double strips_below_k = 0;      ///< ... below this k
  double short_below_k = 0;       ///< nor below this k products with ...
  double short_outputs = 0;       ///< ... at least so many outputs ...
  double short_end_outputs = 0;   ///< ... and fewer than so many
  double filled_below_k = 0;      ///< nor below this k products of which tiles of 128 x 128 fill every SM
  Strip always{};                 ///< a strip of up to `always_longest` that is always split ...
  double always_longest = 0;
  double always_from_k = 0, always_below_k = 0;  ///< ... with a k in between

  [[nodiscard]] bool whole_strip(double width, double length, double k) const {
    if (k >= strips_below_k) return false;
    for (const Strip& strip : strips) {
      if (width <= strip.width) return length >= strip.length;
    }
    return false;
  }
  [[nodiscard]] KSplit of(double m, double n, double k, double batch, double sms) const {
    constexpr double kTile = 128;
    const double width = std::min(m, n), length = std::max(m, n), outputs = batch * m * n;
    const bool few_macs =
        outputs * k < least_macs && batch == 1 && k < least_macs_below_k && length >= least_macs_length;
    if (few_macs || whole_strip(width, length, k)) return KSplit::never;
    if (k < short_below_k && outputs >= short_outputs && outputs < short_end_outputs) return KSplit::never;
    if (k < filled_below_k && batch * rounds(m, kTile) * rounds(n, kTile) >= sms) return KSplit::never;
    const bool in_strip = width <= always.width && length >= always.length && length <= always_longest && batch == 1;
    return in_strip && k >= always_from_k && k < always_below_k ? KSplit::always : KSplit::where_it_pays;
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
/// A part of a longer k than any row had (65,536, in at most 32 parts) may stay as long as its parts were, or be a
/// power of two of that: so many parts, more than 32, ascending in number.
inline constexpr double kLongestPart = 2048;    // [chosen] 65,536 / 32: the chain of its steps grows no further
inline constexpr std::size_t kLongSplits = 16;  // [spec: cublas] 2^31 elements of k at most

}  // namespace hindsight::gpu

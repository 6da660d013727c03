/// Kernels that are no single GEMM: attention in one kernel, GEMMs of several sizes in one (mixture of experts), and
/// kernels that stream their data (normalisation, softmax, elementwise, depthwise convolution).
///
/// Model, at the highest clock; launch, DRAM and L2 efficiency are those of the GPU's GEMM constants:
///   streaming  T = launch + overlap(A, L2, DRAM), A = waiting + ops / (share of the rate of the CUDA cores), every
///     byte once. Such kernels start in half of a GEMM's time, and reach more of the DRAM and of the L2's size.
///   attention  T = launch + overlap(A, L2, DRAM) + reduction, A = max(1, CTAs / SMs) * time of a CTA
///     A CTA holds 128 rows of one head's queries (fewer are padded to 64) and walks along its keys. A pair of a query
///     and a key costs (key + value length) / (FMA per clock) on the tensor cores and then 1/16 clock on the special
///     function units; besides, a CTA begins and ends, in proportion to its rows. Whole tiles that a mask hides are
///     left out. Scores never leave the chip. Where there are fewer CTAs than SMs, keys may be shared out among
///     several, whose results a second kernel adds up [paper: flashattention-3]. CTAs of a cluster read keys once from
///     L2, as in a GEMM.
///   grouped    as the batched GEMM of equal groups, for every kernel of the library; its CTAs and what follows from
///     them (arithmetic, L2, fill) times the ratio of the tiles: sum of ceil(rows / tile) over the groups, over groups
///     x ceil(mean rows / tile). The fastest counts. What runs before the product to quantise is scaled with it.
///   The power limit acts as on a GEMM.
///
/// Valid for: formats of the tensor cores, Ampere to Hopper; other GPUs and fp32 by the same equations. Attention's two
/// constants were fitted to published rates of one GPU; those of streaming kernels to an H100's and, for depthwise
/// convolutions, an H200's [measured: data/measurements, 2026-11-27, docs/gpu-kernels.md, which says how far
/// predictions are from both boards]. Ignores: masks other than the causal one, paged caches, dropout, rotary
/// embedding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/predict.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::gpu {

/// Scaled dot-product attention: `heads` independent products of `rows` queries with `context` keys and values.
/// Grouped-query attention stacks the queries that share keys: heads = key/value heads, rows = queries per head x
/// heads per key/value head.
struct Attention {
  std::int64_t heads = 1;  ///< times the batch
  std::int64_t rows = 1;
  std::int64_t context = 1;
  std::int64_t key_length = 128;  ///< elements of one query or key
  std::int64_t value_length = 128;
  /// The last query sees all keys, each one before it one less. Queries of heads that share keys are stacked all the
  /// same; `queries` of them are one after the other.
  bool causal = false;
  std::int64_t queries = 0;  ///< of one head, where causal; 0: rows
  /// Keys and values come from a cache that other kernels' data have passed since, as in decoding: from DRAM.
  bool cached = false;
  DType dtype = DType::bf16;
};
/// What is wrong with it, in one line; empty when nothing is.
[[nodiscard]] std::string attention_problem(const Attention& attention);

/// Pairs of a query and a key that count: all, or those at or below the diagonal.
[[nodiscard]] double attended_pairs(const Attention& attention);

/// A kernel that reads and writes each byte once.
struct Streaming {
  double read_bytes = 0;
  double written_bytes = 0;
  double ops = 0;             ///< on the CUDA cores
  double core_share = 1;      ///< of their rate that it reaches
  double waiting_cycles = 0;  ///< of a thread or row: loads and sums that wait for one another
  bool cold = false;          ///< nothing of it is in the L2; else what fits, since the kernel before left it there
};
/// Normalisation of rows x columns after adding a residual: reads both, writes the sum and the result.
[[nodiscard]] Streaming normalisation(double rows, double columns, double element_bytes);
/// A depthwise convolution: `macs` multiply-adds, `taps` of them for every output.
[[nodiscard]] Streaming depthwise(double macs, double taps, double read_bytes, double written_bytes);

/// Most groups of one kernel [chosen] far above any number of experts.
inline constexpr std::size_t kMostGroups = 65'536;
/// One product per group, each with weights of its own and `rows` of its own: experts and the tokens sent to them.
struct GroupedGemm {
  std::vector<std::int64_t> rows;  ///< of every group; 0: no token, its weights are not read
  std::int64_t n = 1, k = 1;
  DType dtype = DType::bf16;
  /// As those of a Gemm.
  double reuse_bytes = 0;
  Quantisation quantisation = Quantisation::none;
  std::optional<DType> output = {};
};
/// What is wrong with it, in one line; empty when nothing is.
[[nodiscard]] std::string grouped_problem(const GroupedGemm& grouped);
[[nodiscard]] double ops(const GroupedGemm& grouped);
/// Bytes that are read or written at least once: rows, the weights of groups that have some, outputs.
[[nodiscard]] double compulsory_bytes(const GroupedGemm& grouped);

/// What sets the runtime, s at the highest clock; they overlap.
struct OtherTerms {
  double launch_s = 0;
  double arithmetic_s = 0;  ///< with the CTAs' fill
  double l2_s = 0;
  double dram_s = 0;
  double reduction_s = 0;  ///< adding up where keys (or a GEMM's k) are shared out, and a GEMM's fill
  double link_s = 0;       ///< of a collective of several GPUs
  double slowdown = 1;     ///< by the power limit
};
struct OtherPrediction {
  double latency_s = 0;
  double ops = 0;  ///< of the pairs that count
  double dram_bytes = 0;
  double l2_bytes = 0;  ///< at least every byte once
  double average_power_w = 0;
  double least_limit_w = 0;  ///< lowest power limit that is met, where the board's is not; else 0
  double energy_j = 0;
  Bound bound = Bound::launch;
  OtherTerms terms;
  PowerWork work;
};

/// One GPU, calibration and format, ready for many kernels.
class OtherKernels {
 public:
  /// Errors: those of BoardPower and Predictor: Error{usage} when the GPU lacks `dtype`.
  OtherKernels(const GpuSpec& spec, const Calibration& calibration, DType dtype)
      : OtherKernels(spec, calibration, (calibration.library ? *calibration.library : calibration).constants, dtype) {}

  /// Precondition: attention_problem() is empty; its format is this one.
  [[nodiscard]] OtherPrediction predict(const Attention& attention, RunMode mode) const;
  [[nodiscard]] OtherPrediction predict(const Streaming& kernel, RunMode mode) const;
  /// Precondition: grouped_problem() is empty.
  [[nodiscard]] OtherPrediction predict(const GroupedGemm& grouped, RunMode mode) const;
  /// What the power of a prediction is made of.
  [[nodiscard]] PowerTerms power_terms(const OtherPrediction& prediction) const {
    return board_.terms(prediction.work, prediction.latency_s / prediction.terms.slowdown, prediction.average_power_w);
  }

 private:
  OtherKernels(const GpuSpec& spec, const Calibration& calibration, const Constants& constants, DType dtype);

  /// DRAM bytes of `bytes` that the kernel before has just used.
  [[nodiscard]] double missing_bytes(double bytes) const;
  /// Time after the launch.
  [[nodiscard]] double kernel_s(const OtherTerms& terms) const;
  [[nodiscard]] OtherPrediction finish(OtherTerms terms, double kernel_s, const PowerWork& work, RunMode mode) const;

  BoardPower board_;
  Predictor gemms_;
  double sms_, clock_hz_, s_per_mac_, s_per_exponential_, cuda_core_ops_per_s_, element_bytes_;
  double dram_bytes_per_s_, l2_bytes_per_s_, resident_bytes_, launch_s_, reduction_s_, floor_s_, settle_s_;
  double stream_dram_bytes_per_s_, stream_l2_bytes_per_s_, stream_resident_bytes_, stream_launch_s_;
  double shared_panel_ = 1;  ///< share of the keys that each CTA of a cluster reads
  Overlap overlap_ = Overlap::pipelined;
};

/// Least time: arithmetic at the peak rate, or bytes once at the DRAM's bandwidth (at the L2's, where all fit in it).
[[nodiscard]] double roofline_s(const GpuSpec& spec, const Attention& attention);
[[nodiscard]] double roofline_s(const GpuSpec& spec, const GroupedGemm& grouped);

}  // namespace hindsight::gpu

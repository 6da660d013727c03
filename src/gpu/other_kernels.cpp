/// Time, traffic, power and energy of attention, grouped GEMMs and kernels that stream their data.
#include "hindsight/gpu/other_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "gpu/kernels.h"
#include "gpu/power_of_calibration.h"
#include "hindsight/gpu/gemm_terms.h"

namespace hindsight::gpu {
namespace {

constexpr double kRowsPerCta = 128;      // [paper: flashattention-3] of the queries
constexpr double kLeastKernelRows = 64;  // [paper: flashattention-3] of one product of a warpgroup; fewer are padded
constexpr double kKeysPerStep = 128;     // [paper: flashattention-3] 128 or 176
/// Exponentials per clock and SM [paper: flashattention-3].
constexpr double kExponentialsPerClock = 16;
// The least mean error over 36 published rates of an H100, head lengths 64 to 256, 512 to 16,384 keys, causal and not.
constexpr double kAttentionEfficiency = 0.93;  // [paper: flashattention-3, Figure 5] of both units
constexpr double kCtaCycles = 6500;  // [paper: flashattention-3, Figure 5] to begin and end 128 rows of length 128

// What a kernel that streams its data reaches over what a GEMM does. The least mean error over 168 kernels of an H100
// (SwiGLU gates, additions, GELU, normalisations of 768 to 470 million elements), in its L2 and from DRAM; the same on
// an H200 are held out [measured: data/measurements/h100-sxm5-2026-11-27/kernels.csv, docs/gpu-kernels.md].
constexpr double kStreamLaunchShare = 0.548;   // of the launch: nothing is prepared but the addresses
constexpr double kStreamDramShare = 1.052;     // of the DRAM's bandwidth, at most all of it
constexpr double kStreamL2Share = 0.944;       // of the L2's
constexpr double kStreamResidentShare = 1.26;  // of the L2's size, at most all of it
constexpr double kCyclesPerElement = 0.242;    // a row's sum, one CTA per row
// Depthwise convolutions of cuDNN: 35 layers of MobileNetV2 and EfficientNet on both boards, channels last.
constexpr double kDepthwiseCoreShare = 0.15;  // [measured: as above]
constexpr double kCyclesPerTap = 305;         // [measured: as above] one tap's loads after the other

constexpr double kPairElements = 256;  // [chosen] key and value lengths that kCtaCycles counts for

/// Work of one launch, as doubles.
struct Shape {
  double heads, rows, context, lengths, pairs;
};

Shape shape_of(const Attention& a) {
  Shape shape{.heads = static_cast<double>(a.heads),
              .rows = static_cast<double>(a.rows),
              .context = static_cast<double>(a.context),
              .lengths = static_cast<double>(a.key_length + a.value_length),
              .pairs = 0};
  shape.pairs = attended_pairs(a);
  return shape;
}

/// CTAs, and pairs that they work on: padded rows, and the masked half of the tiles on the diagonal.
struct Ctas {
  double count, pairs, rows;
};
Ctas ctas_of(const Shape& s) {
  Ctas ctas{.count = s.heads * std::ceil(s.rows / kRowsPerCta),
            .pairs = 0,
            .rows = s.rows >= kRowsPerCta ? kRowsPerCta : kLeastKernelRows * std::ceil(s.rows / kLeastKernelRows)};
  const double padding = ctas.count * ctas.rows / (s.heads * s.rows);
  const double all = ctas.count * ctas.rows * kKeysPerStep * std::ceil(s.context / kKeysPerStep);
  // A mask leaves out whole tiles: on the diagonal half a tile of every CTA is computed all the same.
  const double on_diagonal = ctas.count * ctas.rows * kKeysPerStep / 2;
  const double masked = std::max((s.heads * s.rows * s.context - s.pairs) * padding - on_diagonal, 0.0);
  ctas.pairs = all - masked;
  return ctas;
}

/// Of bytes that repeated launches read: from L2 where all fit in it.
double bytes_per_s(const GpuSpec& spec, double bytes) {
  return bytes <= spec.l2_bytes ? spec.l2_bytes_per_s * (spec.boost_hz / spec.l2_clock_hz) : spec.dram_bytes_per_s;
}

/// As many groups as have rows, each with the mean of these, rounded up.
Gemm equal_groups(const GroupedGemm& grouped) {
  std::int64_t sum = 0, groups = 0;
  for (const std::int64_t rows : grouped.rows) {
    sum += rows;
    groups += rows > 0 ? 1 : 0;
  }
  return {.m = (sum + groups - 1) / groups,
          .n = grouped.n,
          .k = grouped.k,
          .batch = groups,
          .dtype = grouped.dtype,
          .layout = Layout::nt,
          .reuse_bytes = grouped.reuse_bytes,
          .quantisation = grouped.quantisation,
          .output = grouped.output};
}

Bound bound_of(const OtherTerms& t) {
  const double longest_s = std::max({t.launch_s, t.arithmetic_s, t.l2_s, t.dram_s, t.reduction_s});
  return t.slowdown > 1                ? Bound::power
         : longest_s == t.dram_s       ? Bound::dram
         : longest_s == t.arithmetic_s ? Bound::math
         : longest_s == t.l2_s         ? Bound::l2
         : longest_s == t.launch_s     ? Bound::launch
                                       : Bound::latency;
}

}  // namespace

std::string attention_problem(const Attention& a) {
  for (const auto& [value, name] : {std::pair(a.heads, "key/value heads x batch"),
                                    {a.rows, "queries of the heads that share keys"},
                                    {a.context, "keys"},
                                    {a.key_length, "key length"},
                                    {a.value_length, "value length"}}) {
    if (value < 1 || value > kLargestDimension) return fmt::format("{} must be 1 to 2^31 - 1, not {}", name, value);
  }
  if (a.queries < 0 || (a.queries > 0 && a.rows % a.queries != 0)) {
    return fmt::format("{} rows are no multiple of {} queries", a.rows, a.queries);
  }
  if (a.causal && (a.queries > 0 ? a.queries : a.rows) > a.context) {
    return fmt::format("a causal mask needs at least as many keys as queries, not {} for {}", a.context,
                       a.queries > 0 ? a.queries : a.rows);
  }
  const double products = static_cast<double>(a.heads) * static_cast<double>(a.rows) * static_cast<double>(a.context) *
                          static_cast<double>(a.key_length + a.value_length);
  return products > kLargestMacs ? "more multiply-accumulates than 2^62" : "";
}

std::string grouped_problem(const GroupedGemm& grouped) {
  if (grouped.rows.empty() || grouped.rows.size() > kMostGroups) {
    return fmt::format("1 to {} groups, not {}", kMostGroups, grouped.rows.size());
  }
  std::int64_t sum = 0;
  for (const std::int64_t rows : grouped.rows) {
    if (rows < 0 || rows > kLargestDimension) return fmt::format("rows must be 0 to 2^31 - 1, not {}", rows);
    sum += rows;
  }
  if (sum == 0) return "no group has a row";
  return sum > kLargestDimension ? "more than 2^31 - 1 rows together" : size_problem(equal_groups(grouped));
}

double ops(const GroupedGemm& grouped) {
  double rows = 0;
  for (const std::int64_t one : grouped.rows) rows += static_cast<double>(one);
  return 2 * rows * static_cast<double>(grouped.n) * static_cast<double>(grouped.k);
}

double attended_pairs(const Attention& a) {
  const double all = static_cast<double>(a.heads) * static_cast<double>(a.rows) * static_cast<double>(a.context);
  if (!a.causal) return all;
  const auto queries = static_cast<double>(a.queries > 0 ? a.queries : a.rows);
  return all - static_cast<double>(a.heads) * static_cast<double>(a.rows) * (queries - 1) / 2;
}

Streaming normalisation(double rows, double columns, double element_bytes) {
  constexpr double kOpsPerElement = 6;  // [chosen] add, square, sum, scale, weight, shift: bytes decide
  const double bytes = rows * columns * element_bytes;
  return {.read_bytes = 2 * bytes,
          .written_bytes = 2 * bytes,
          .ops = kOpsPerElement * rows * columns,
          .waiting_cycles = kCyclesPerElement * columns};
}

Streaming depthwise(double macs, double taps, double read_bytes, double written_bytes) {
  return {.read_bytes = read_bytes,
          .written_bytes = written_bytes,
          .ops = 2 * macs,  // a multiply-add is two
          .core_share = kDepthwiseCoreShare,
          .waiting_cycles = kCyclesPerTap * taps};
}

OtherKernels::OtherKernels(const GpuSpec& spec, const Calibration& calibration, const Constants& constants, DType dtype)
    : board_(spec, power_constants(spec, calibration, dtype), dtype),
      gemms_(spec, calibration, dtype),
      sms_(spec.sms),
      clock_hz_(spec.boost_hz),
      s_per_mac_(1 / (spec.rate(dtype).fma_per_clock_per_sm * spec.boost_hz)),
      s_per_exponential_(1 / (kExponentialsPerClock * spec.boost_hz)),
      cuda_core_ops_per_s_(spec.ops_per_s(spec.has(DType::fp32) ? DType::fp32 : dtype, spec.boost_hz)),
      element_bytes_(input_bytes(dtype)),
      dram_bytes_per_s_(spec.dram_bytes_per_s * constants.dram_efficiency),
      l2_bytes_per_s_(spec.l2_bytes_per_s * (spec.boost_hz / spec.l2_clock_hz) * constants.l2_efficiency),
      resident_bytes_(spec.l2_bytes * constants.l2_resident_frac),
      launch_s_(constants.launch_cycles / spec.boost_hz),
      reduction_s_(constants.reduction_cycles / spec.boost_hz),
      floor_s_(constants.launch_floor_s),
      settle_s_(constants.settle_s),
      stream_dram_bytes_per_s_(std::min(spec.dram_bytes_per_s, kStreamDramShare * dram_bytes_per_s_)),
      stream_l2_bytes_per_s_(kStreamL2Share * l2_bytes_per_s_),
      stream_resident_bytes_(std::min(spec.l2_bytes, kStreamResidentShare * resident_bytes_)),
      stream_launch_s_(kStreamLaunchShare * launch_s_) {
  const KernelFamily family = kernel_family(spec, dtype_class(dtype), Products::any, dtype);
  overlap_ = family.overlap;
  shared_panel_ = family.shared_panel;
}

double OtherKernels::missing_bytes(double bytes) const { return bytes * (1 - resident_share(bytes, resident_bytes_)); }

double OtherKernels::kernel_s(const OtherTerms& terms) const {
  return overlapped_s(overlap_, terms.arithmetic_s, terms.l2_s, terms.dram_s) + terms.reduction_s;
}

OtherPrediction OtherKernels::finish(OtherTerms terms, double kernel_s, const PowerWork& work, RunMode mode) const {
  const double full_clock_s = launched_s(terms.launch_s + kernel_s, floor_s_);
  OtherPrediction result;
  result.work = work;
  result.work.busy_frac = kernel_s / full_clock_s;
  const double full_clock_w = board_.full_clock_w(result.work, full_clock_s);
  const double share = mode == RunMode::sustained ? 1 : settled_share(full_clock_s, settle_s_);
  terms.slowdown = 1 + share * (board_.slowdown(full_clock_w) - 1);
  result.latency_s = full_clock_s * terms.slowdown;
  result.ops = work.ops;
  result.dram_bytes = work.dram_bytes;
  result.l2_bytes = work.l2_bytes;
  result.average_power_w = board_.average_w(full_clock_w, terms.slowdown);
  result.least_limit_w = board_.least_limit_w(full_clock_w);
  result.energy_j = result.average_power_w * result.latency_s;
  result.bound = bound_of(terms);
  result.terms = terms;
  return result;
}

OtherPrediction OtherKernels::predict(const Streaming& kernel, RunMode mode) const {
  const double bytes = kernel.read_bytes + kernel.written_bytes;
  const double missing = kernel.cold ? bytes : bytes * (1 - resident_share(bytes, stream_resident_bytes_));
  OtherTerms terms;
  terms.launch_s = stream_launch_s_;
  terms.arithmetic_s = kernel.waiting_cycles / clock_hz_ + kernel.ops / (kernel.core_share * cuda_core_ops_per_s_);
  terms.l2_s = bytes / stream_l2_bytes_per_s_;
  terms.dram_s = bytes > 0 ? dram_s(missing, bytes, stream_dram_bytes_per_s_, kRampSeconds) : 0;
  return finish(terms, kernel_s(terms), {.ops = kernel.ops, .l2_bytes = bytes, .dram_bytes = missing}, mode);
}

OtherPrediction OtherKernels::predict(const Attention& a, RunMode mode) const {
  const Shape shape = shape_of(a);
  const Ctas ctas = ctas_of(shape);
  const double keys_bytes = shape.heads * shape.context * shape.lengths * element_bytes_;
  const double rows_bytes = shape.heads * shape.rows * shape.lengths * element_bytes_;  // queries and results
  const double bytes = keys_bytes + rows_bytes;
  const double missing = a.cached ? keys_bytes + missing_bytes(rows_bytes) : missing_bytes(bytes);
  const double pair_s = (shape.lengths * s_per_mac_ + s_per_exponential_) / kAttentionEfficiency;
  const double cta_s = kCtaCycles / clock_hz_ * (shape.lengths / kPairElements) * (ctas.rows / kRowsPerCta);
  OtherTerms terms;
  terms.launch_s = launch_s_;
  // A cache is streamed: a decoded token computes next to nothing with it.
  terms.dram_s = dram_s(missing, bytes, a.cached ? stream_dram_bytes_per_s_ : dram_bytes_per_s_, kRampSeconds);
  // Every CTA reads the keys and values of its rows.
  const double l2_bytes = shared_panel_ * ctas.pairs / ctas.rows * shape.lengths * element_bytes_ + rows_bytes;
  terms.l2_s = l2_bytes / l2_bytes_per_s_;
  const PowerWork work{
      .ops = 2 * shape.pairs * shape.lengths, .l2_bytes = std::max(l2_bytes, bytes), .dram_bytes = missing};
  const auto with_parts = [&](double parts) {
    OtherTerms split = terms;
    const double count = ctas.count * parts;
    split.arithmetic_s = std::max(1.0, count / sms_) * (cta_s + ctas.pairs / count * pair_s);
    split.reduction_s = reduction_s(parts, shape.heads * shape.rows * static_cast<double>(a.value_length), reduction_s_,
                                    1 / l2_bytes_per_s_);
    return finish(split, kernel_s(split), work, mode);
  };
  const OtherPrediction whole = with_parts(1);
  const double parts = std::min(std::floor(sms_ / ctas.count), std::ceil(shape.context / kKeysPerStep));
  if (parts < 2) return whole;
  const OtherPrediction shared = with_parts(parts);
  return shared.latency_s < whole.latency_s ? shared : whole;
}

OtherPrediction OtherKernels::predict(const GroupedGemm& grouped, RunMode mode) const {
  const Gemm equal = equal_groups(grouped);
  const auto groups = static_cast<double>(equal.batch);
  const double launch_s = gemms_.launch_s(mode);
  OtherPrediction best;
  for (const GemmPrediction& one : gemms_.rank(equal, mode)) {
    const double tile = std::max(one.tile.m, 1);  // a roofline estimate has none
    double tiles = 0;
    for (const std::int64_t rows : grouped.rows) tiles += std::ceil(static_cast<double>(rows) / tile);
    const auto terms_at = [&](double ratio, double rounds_ratio) {
      OtherTerms terms;
      terms.launch_s = launch_s;
      terms.arithmetic_s = std::max(one.terms.math_s * rounds_ratio, one.terms.chain_s * std::max(rounds_ratio, 1.0));
      terms.l2_s = one.terms.l2_s * ratio;
      terms.dram_s = one.terms.dram_s;
      terms.reduction_s = one.terms.reduction_s + one.terms.fill_s * rounds_ratio;
      return terms;
    };
    const double equal_tiles = groups * std::ceil(static_cast<double>(equal.m) / tile);
    const double ratio = tiles / equal_tiles;
    // The busiest SM has a whole number of CTAs.
    const double rounds_ratio =
        one.ctas > 0 ? std::ceil(one.ctas / equal_tiles * tiles / sms_) / std::ceil(one.ctas / sms_) : ratio;
    const OtherTerms terms = terms_at(ratio, rounds_ratio);
    const double equal_s = one.latency_s / one.terms.slowdown - launch_s;
    const OtherPrediction prediction =
        finish(terms, equal_s * kernel_s(terms) / kernel_s(terms_at(1, 1)),
               {.ops = ops(grouped), .l2_bytes = one.work.l2_bytes * ratio, .dram_bytes = one.dram_bytes}, mode);
    if (best.latency_s == 0 || prediction.latency_s < best.latency_s) best = prediction;
  }
  return best;
}

double compulsory_bytes(const GroupedGemm& grouped) {
  double rows = 0, groups = 0;
  for (const std::int64_t one : grouped.rows) {
    rows += static_cast<double>(one);
    groups += one > 0 ? 1 : 0;
  }
  const auto n = static_cast<double>(grouped.n), k = static_cast<double>(grouped.k);
  return (rows * k + groups * n * k) * input_bytes(grouped.dtype) +
         rows * n * output_bytes({.dtype = grouped.dtype, .output = grouped.output});
}

double roofline_s(const GpuSpec& spec, const GroupedGemm& grouped) {
  const double bytes = compulsory_bytes(grouped);
  return std::max(ops(grouped) / spec.ops_per_s(grouped.dtype, spec.boost_hz), bytes / bytes_per_s(spec, bytes));
}

double roofline_s(const GpuSpec& spec, const Attention& a) {
  const Shape shape = shape_of(a);
  const double bytes = (shape.heads * (shape.context + shape.rows)) * shape.lengths * input_bytes(a.dtype);
  const double rate = a.cached ? spec.dram_bytes_per_s : bytes_per_s(spec, bytes);
  return std::max(2 * shape.pairs * shape.lengths / spec.ops_per_s(a.dtype, spec.boost_hz), bytes / rate);
}

}  // namespace hindsight::gpu

/// Picks the kernel that the library would, and computes time, traffic, power and energy of it.
#include "hindsight/gpu/predict.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "gpu/kernels.h"
#include "gpu/power_of_calibration.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/gpu/gemm_terms.h"

namespace hindsight::gpu {
namespace {

// What all GPUs share; fitted together on the bf16 runs of an A100, an H100 and an L40S.
constexpr double kFillCycles = 300;  // [measured: joint fit, A100 H100 L40S, 2026-11-21, docs/gpu.md] per wave

/// A framework's linear layer launches its bias besides the product; a batched product has none. No more than the
/// launch floor of the constants, which is 0 inside CUDA graphs.
constexpr double kBiasLaunchSeconds = 17e-6;  // [measured: fp32, A100 T4 V100: 15 to 23, 2026-11-21, docs/gpu.md]

/// Weights alternate among this many buffers, fewer when these exceed the L2 [data: aiconfigurator].
constexpr double kWeightBuffers = 5;

constexpr double kPanelShareOfL2 = 0.5;  // [chosen] the other half holds what passes and the outputs

/// Below this much of k a part is not worth a CTA of its own; partial waves are split where k is long enough.
constexpr double kLeastKPerPart = 128;             // [chosen] two pipeline steps of 64
constexpr double kLeastKPerPartOfFullGrid = 2048;  // [measured: switch to split k on an A100, 2026-11-21, docs/gpu.md]
constexpr double kMostPartsOfFullGrid = 4;         // [chosen] more parts cost more reduction than balance
constexpr double kWavesOfSplitGrid = 2;            // [chosen] CTAs per SM up to which parts are added

constexpr double kReferenceTileArea = 128.0 * 128.0;  // [chosen] tile that `epilogue_cycles` counts for
constexpr double kVectorKernelK = 256;                // [chosen] k that one pass of a matrix-vector kernel covers

constexpr EnumNames<Bound, 7> kBounds{{{Bound::launch, "launch"},
                                       {Bound::latency, "latency"},
                                       {Bound::math, "math"},
                                       {Bound::l2, "l2"},
                                       {Bound::dram, "dram"},
                                       {Bound::power, "power"},
                                       {Bound::quantise, "quantise"}}};

/// The limit that sets the runtime: the power limit where it binds, else the longest term.
Bound bound_of(const GemmTerms& t) {
  const double waiting_s = t.chain_s + t.fill_s + t.reduction_s;
  const double longest_s = std::max({t.launch_s, waiting_s, t.math_s, t.l2_s, t.dram_s});
  return t.slowdown > 1.0           ? Bound::power
         : t.quantise_s > longest_s ? Bound::quantise
         : longest_s == t.dram_s    ? Bound::dram
         : longest_s == t.math_s    ? Bound::math
         : longest_s == t.l2_s      ? Bound::l2
         : longest_s == t.launch_s  ? Bound::launch
                                    : Bound::latency;
}

}  // namespace

/// What a product moves between DRAM and L2.
struct Predictor::DramTraffic {
  double all_bytes = 0;       ///< both inputs and the output once
  double repeated_bytes = 0;  ///< that the SMs read besides: of windows that overlap
  double bytes = 0;           ///< from and to DRAM: without what L2 has kept, with what is read again
  double time_s = 0;
  double streamed_s = 0;  ///< the same where rows are read at once, not in short pieces
  /// What the SMs read and write at least: matrices once.
  [[nodiscard]] double least_l2_bytes() const { return all_bytes + repeated_bytes; }
};

/// The kernel that quantises the activations; all 0 without one.
struct Predictor::QuantiseKernel {
  double start_s = 0;
  double time_s = 0;      ///< with the start
  double bytes = 0;       ///< read and written
  double dram_bytes = 0;  ///< of these, from and to DRAM
  double floor_s = 0;     ///< least time of it and the product together
};

/// One GEMM as the terms see it.
struct Predictor::Shape {
  const KernelFamily* family = nullptr;
  double m = 1, n = 1, k = 1, batch = 1;
  double ops = 0, outputs = 0, written_bytes = 0;
  DramTraffic dram;
  QuantiseKernel quantise;
  double s_per_mac = 0;  ///< of the kernel with the largest tile
  double launch_s = 0, floor_s = 0;
  KSplit k_split = KSplit::where_it_pays;
  std::size_t split_count = 0;
  std::size_t usual_count = 0;                             ///< of these, numbers of parts of kSplits
  std::array<double, kSplitCount + kLongSplits> splits;    ///< numbers of parts, ascending; `split_count` are set
  std::array<double, kSplitCount + kLongSplits> k_padded;  ///< of a part, by split, likewise
};

/// A lower bound of one kernel's time, however k is split: no SM ever waits, no k is padded; with what it is made of.
struct Predictor::LowerBound {
  double tiles, s_per_mac, rows, columns, memory_s, total_s;
};
struct Predictor::LowerBounds {
  std::array<LowerBound, kMostKernels> of;  ///< by kernel of the family; the first are set, one for each
  std::size_t least;                        ///< the kernel with the least bound
  double least_l2_bytes;                    ///< L2 traffic of the kernel that has the least
};

/// One kernel for one GEMM, at the boost clock; `terms` without launch.
struct Predictor::Candidate {
  double tile_m = 1, tile_n = 1, splits = 1, ctas = 1;
  GemmTerms terms = {};
  double l2_bytes = 0;
  double kernel_s = 0;        ///< without launch
  double least_l2_bytes = 0;  ///< L2 traffic of the kernel of the family that has the least
};

/// One kernel under the power limit.
struct Predictor::Run {
  PowerWork work;
  double average_w = 0;
  double slowdown = 1;
  double latency_s = 0;
  double least_limit_w = 0;       ///< GemmPrediction::least_limit_w
  bool held_at_roofline = false;  ///< the learned correction would pass it
};

Predictor::Predictor(const GpuSpec& spec, const Calibration& calibration, DType dtype, DTypeClass kernels)
    : board_(spec, power_constants(spec, calibration, dtype), dtype),
      unwritten_(calibration.unwritten),
      residual_(calibration.residual),
      library_(calibration.library && kernels == DTypeClass::tensor_core_8bit
                   ? std::shared_ptr<const Predictor>(
                         new Predictor(spec, *calibration.library, dtype, calibration.library->dtype_class))
                   : nullptr),
      learned_in_16_bits_(kernels == DTypeClass::tensor_core && is_8bit(dtype)),
      batched_(std::make_shared<const KernelFamily>(kernel_family(spec, kernels, Products::batched_rows, dtype))),
      any_(std::make_shared<const KernelFamily>(kernel_family(spec, kernels, Products::any, dtype))),
      sms_(spec.sms),
      per_sm_(1.0 / spec.sms),
      clock_hz_(spec.boost_hz),
      s_per_mac_(1.0 / (spec.rate(dtype).fma_per_clock_per_sm * spec.boost_hz)),
      dram_bytes_per_s_(spec.dram_bytes_per_s * calibration.constants.dram_efficiency),
      l2_bytes_per_s_(spec.l2_bytes_per_s * (spec.boost_hz / spec.l2_clock_hz) * calibration.constants.l2_efficiency),
      l2_s_per_byte_(1.0 / l2_bytes_per_s_),
      l2_bytes_(spec.l2_bytes),
      resident_bytes_(spec.l2_bytes * calibration.constants.l2_resident_frac),
      launch_s_(calibration.constants.launch_cycles / spec.boost_hz),
      settled_launch_s_(std::max(launch_s_ - calibration.constants.burst_start_s, 0.0)),
      reduction_start_s_(calibration.constants.reduction_cycles / spec.boost_hz),
      quantise_start_s_(calibration.constants.quantise_cycles / spec.boost_hz),
      epilogue_s_(calibration.constants.epilogue_cycles / spec.boost_hz / kReferenceTileArea),
      fill_s_(kFillCycles / spec.boost_hz),
      floor_s_(calibration.constants.launch_floor_s),
      single_launch_s_(launched_by_framework(calibration) ? std::min(kBiasLaunchSeconds, floor_s_) : 0),
      settle_s_(calibration.constants.settle_s),
      input_bytes_(gpu::input_bytes(dtype)),
      peak_dram_bytes_per_s_(spec.dram_bytes_per_s),
      peak_l2_bytes_per_s_(spec.l2_bytes_per_s * (spec.boost_hz / spec.l2_clock_hz)),
      host_launched_blocks_(calibration.host_launched_blocks),
      calibrated_(calibration.source == CalibrationSource::own && calibration.gpu == spec.name),
      range_(calibration.range),
      power_range_(calibration.power_range) {}

/// The traffic of a product of which everything but `dram` is known. Windows that overlap pass the L2 only
/// (`repeated_bytes`).
Predictor::DramTraffic Predictor::dram_traffic(const Gemm& gemm, const Shape& shape) const {
  const bool weights_are_n = (gemm.weights == Operand::b) != (gemm.layout == Layout::tt);
  const double weight_bytes = shape.batch * (weights_are_n ? shape.n : shape.m) * shape.k * input_bytes_;
  DramTraffic traffic;
  traffic.repeated_bytes = repeated_bytes(gemm);
  const double other_input_bytes =
      shape.batch * (weights_are_n ? shape.m : shape.n) * shape.k * input_bytes_ - traffic.repeated_bytes;
  const double other_bytes = other_input_bytes + shape.written_bytes;
  traffic.all_bytes = weight_bytes + other_bytes;
  const double buffers = std::clamp(rounds(l2_bytes_, weight_bytes), 1.0, kWeightBuffers);
  // Nothing stays of what is read again after more than the whole L2.
  const auto kept = [this](double reuse_bytes) {
    return reuse_bytes < l2_bytes_ ? resident_share(reuse_bytes, resident_bytes_) : 0.0;
  };
  const double weights_kept = kept(gemm.reuse_bytes > 0 ? gemm.reuse_bytes : weight_bytes * buffers + other_bytes);
  const double others_kept = kept(traffic.all_bytes);
  const double first_bytes = weight_bytes * (1.0 - weights_kept) + other_bytes * (1.0 - others_kept);
  // Which inputs are stored along k: kernels read these in short pieces.
  const double along_k_cost = stepwise_read_cost(shape.k * input_bytes_, shape.family->stepwise_penalty);
  const double m_cost = gemm.layout == Layout::tn ? 1.0 : along_k_cost;
  const double n_cost = gemm.layout == Layout::nt ? along_k_cost : 1.0;
  const double costly_bytes =
      weight_bytes * (weights_are_n ? n_cost : m_cost) * (1.0 - weights_kept) +
      (other_input_bytes * (weights_are_n ? m_cost : n_cost) + shape.written_bytes) * (1.0 - others_kept);
  const double k_bytes = shape.k * input_bytes_, repeated = traffic.repeated_bytes / shape.batch;
  const double reread =
      shape.batch * reread_bytes(shape.m, shape.n, shape.m * k_bytes - (weights_are_n ? repeated : 0.0),
                                 shape.n * k_bytes - (weights_are_n ? 0.0 : repeated),
                                 sms_ * shape.family->outputs_per_sm, kPanelShareOfL2 * l2_bytes_);
  traffic.streamed_s = dram_s(first_bytes, traffic.all_bytes, dram_bytes_per_s_, kRampSeconds);
  traffic.time_s = traffic.streamed_s + (costly_bytes - first_bytes + reread) / dram_bytes_per_s_;
  traffic.bytes = first_bytes + reread;
  return traffic;
}

/// The activations' quantisation before a product of which the traffic is known.
Predictor::QuantiseKernel Predictor::quantise_kernel(const Gemm& gemm, const Shape& shape) const {
  if (gemm.quantisation == Quantisation::none) return {};
  const QuantisationFacts& facts = quantisation_facts(gemm.quantisation);
  const bool weights_are_n = (gemm.weights == Operand::b) != (gemm.layout == Layout::tt);
  const double rows = shape.batch * (weights_are_n ? shape.m : shape.n) -
                      shape.dram.repeated_bytes / (shape.k * input_bytes_);  // an image is quantised once
  const double bytes = quantise_bytes(rows * shape.k);
  // Activations come again after everything else that the product and this kernel move.
  const double reuse_bytes = shape.dram.all_bytes + bytes;
  const double kept = reuse_bytes < l2_bytes_ ? resident_share(reuse_bytes, resident_bytes_) : 0.0;
  QuantiseKernel kernel{.start_s = facts.start_share * quantise_start_s_, .bytes = bytes};
  if (gemm.quantisation == Quantisation::block && host_launched_blocks_) {
    kernel.floor_s = small_block_floor_s(weights_are_n ? shape.n : shape.m, shape.k);
  }
  kernel.dram_bytes = bytes * (1.0 - kept);
  kernel.time_s = quantise_s(kernel.start_s,
                             quantise_rows_s(rows, facts.rows_per_sm * sms_, shape.k, facts.row_cycles / clock_hz_,
                                             facts.element_cycles / clock_hz_),
                             bytes * l2_s_per_byte_, kernel.dram_bytes / (kQuantiseBandwidthShare * dram_bytes_per_s_));
  return kernel;
}

Predictor::Shape Predictor::shape_of(const Gemm& gemm, RunMode mode) const {
  Shape shape;
  const bool transpose = gemm.layout == Layout::tt;  // evaluated as the nn product that it is the mirror image of
  shape.m = static_cast<double>(transpose ? gemm.n : gemm.m);
  shape.n = static_cast<double>(transpose ? gemm.m : gemm.n);
  shape.k = static_cast<double>(gemm.k);
  shape.batch = static_cast<double>(gemm.batch);
  const bool by_rows = transpose || gemm.layout == Layout::nn;
  shape.family = by_rows && gemm.batch > 1 ? batched_.get() : any_.get();
  shape.outputs = shape.batch * shape.m * shape.n;
  shape.ops = 2.0 * shape.outputs * shape.k;
  shape.written_bytes = (gemm.result_elements > 0 ? gemm.result_elements : shape.outputs) * output_bytes(gemm);
  shape.dram = dram_traffic(gemm, shape);
  shape.quantise = quantise_kernel(gemm, shape);
  shape.s_per_mac = s_per_mac_ * quantisation_facts(gemm.quantisation).product_work;
  const bool linear_layer = gemm.batch == 1 && !by_rows;
  shape.launch_s = launch_s(mode) + (linear_layer ? single_launch_s_ : 0.0);
  shape.floor_s = floor_s_ + (linear_layer ? single_launch_s_ : 0.0);
  shape.k_split =
      shape.family->split_k ? shape.family->split_rule.of(shape.m, shape.n, shape.k, shape.batch, sms_) : KSplit::never;
  set_splits(shape);
  return shape;
}

/// How many parts k may be split into. Beyond 32 parts of kLongestPart each, which is more than any row had, parts of
/// that length and of its powers of two come on top: each goes on where 32 parts of its length end, so that a longer k
/// is never faster.
void Predictor::set_splits(Shape& shape) {
  do {
    const double splits = shape.splits[shape.split_count] = kSplits[shape.split_count];
    shape.k_padded[shape.split_count++] = rounds(shape.k, splits * shape.family->k_step) * shape.family->k_step;
  } while (shape.k_split != KSplit::never && shape.split_count < kSplitCount &&
           shape.k >= kLeastKPerPart * kSplits[shape.split_count]);
  shape.usual_count = shape.split_count;
  if (shape.k_split == KSplit::never || shape.k <= kLongestPart * kSplits.back()) return;
  double part = kLongestPart;
  while (rounds(shape.k, 2.0 * part) > kSplits.back()) part *= 2.0;
  for (; part >= kLongestPart; part *= 0.5) {
    shape.splits[shape.split_count] = rounds(shape.k, part);
    shape.k_padded[shape.split_count++] = part;
  }
}

/// The kernel for a matrix times a vector: it streams the matrix.
Predictor::Candidate Predictor::vector_candidate(const Shape& shape) const {
  Candidate candidate;
  candidate.least_l2_bytes = candidate.l2_bytes = shape.dram.least_l2_bytes();
  candidate.ctas = sms_;
  candidate.terms.dram_s = shape.dram.streamed_s;
  candidate.terms.l2_s = candidate.l2_bytes / l2_bytes_per_s_;
  candidate.terms.chain_s = shape.family->vector_step_s * std::log2(std::max(shape.k / kVectorKernelK, 1.0));
  candidate.kernel_s = std::max(shape.dram.streamed_s, candidate.terms.l2_s) + candidate.terms.chain_s;
  return candidate;
}

/// No kernel, but the longest of arithmetic, cache and DRAM, each at the share of its peak that was reached elsewhere.
Predictor::Candidate Predictor::roofline_candidate(const Shape& shape) const {
  Candidate candidate{.tile_m = 0, .tile_n = 0, .ctas = 0};
  candidate.least_l2_bytes = candidate.l2_bytes = shape.dram.least_l2_bytes();
  candidate.terms.math_s = 0.5 * shape.ops * s_per_mac_ * per_sm_ / shape.family->roofline_efficiency;
  candidate.terms.l2_s = candidate.l2_bytes * l2_s_per_byte_;
  candidate.terms.dram_s = shape.dram.bytes / dram_bytes_per_s_;
  candidate.kernel_s = std::max({candidate.terms.math_s, candidate.terms.l2_s, candidate.terms.dram_s});
  return candidate;
}

Predictor::LowerBounds Predictor::lower_bounds(const Shape& shape) const {
  LowerBounds bounds;
  const KernelFamily& family = *shape.family;
  const double once_bytes = shape.dram.least_l2_bytes();
  const double floor_of_memory_s = std::max(shape.dram.time_s, once_bytes * l2_s_per_byte_);
  std::size_t least = 0;
  double least_s = HUGE_VAL, least_l2_bytes = HUGE_VAL;
  const std::size_t count = family.kernels.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Kernel& kernel = family.kernels[i];
    LowerBound& bound = bounds.of[i];
    bound.tiles =
        shape.batch * rounds(shape.m, kernel.m, kernel.per_row) * rounds(shape.n, kernel.n, kernel.per_column);
    bound.s_per_mac = shape.s_per_mac * kernel.work;
    bound.rows = std::min(kernel.m, shape.m);
    bound.columns = std::min(kernel.n, shape.n);
    const double l2_bytes = l2_read_bytes(bound.tiles, bound.rows, bound.columns, shape.k,
                                          input_bytes_ * family.pair_share, family.shared_panel);
    least_l2_bytes = std::min(least_l2_bytes, std::max(once_bytes, l2_bytes + shape.written_bytes));
    bound.memory_s = std::max(floor_of_memory_s, l2_bytes * l2_s_per_byte_);
    const double area = kernel.m * kernel.n;
    bound.total_s = std::max(bound.tiles * area * shape.k * bound.s_per_mac * per_sm_, bound.memory_s) + fill_s_ +
                    epilogue_s_ * area;
    if (bound.total_s < least_s) {
      least = i;
      least_s = bound.total_s;
    }
  }
  bounds.least = least;
  bounds.least_l2_bytes = least_l2_bytes;
  return bounds;
}

/// Calls `visit(candidate)` for every way to split k over `kernel` that may be faster than `best_s`.
template <typename Visit>
void Predictor::for_each_split(const Shape& shape, const Kernel& kernel, const LowerBound& bound, double least_l2_bytes,
                               double& best_s, const Visit& visit) const {
  const KernelFamily& family = *shape.family;
  const double area = kernel.m * kernel.n;
  const double dram_power = overlap_power(family.overlap, shape.dram.time_s);
  const bool always = shape.k_split == KSplit::always && shape.split_count > 1;
  for (std::size_t j = always ? 1 : 0; j < shape.split_count; ++j) {
    const double splits = shape.splits[j], k_padded = shape.k_padded[j], ctas = bound.tiles * splits;
    double reduction = 0;
    if (splits > 1.0) {
      const bool is_long = j >= shape.usual_count;  // and runs at once, or not at all
      if (is_long && ctas > kernel.ctas_per_sm * sms_) break;
      const bool fills_grid = !always && !is_long && ctas > kWavesOfSplitGrid * sms_;
      if (fills_grid && (splits > kMostPartsOfFullGrid || shape.k < kLeastKPerPartOfFullGrid * splits)) break;
      reduction = reduction_s(splits, shape.outputs, reduction_start_s_, l2_s_per_byte_);
      if (reduction + bound.total_s >= best_s) break;  // more parts only add to it
    }
    const double ctas_on_busiest = rounds(ctas, sms_, per_sm_);
    const double waves = rounds(ctas_on_busiest, kernel.ctas_per_sm, kernel.per_cta);
    const double math = math_s(ctas_on_busiest, area, k_padded, bound.s_per_mac);
    const double chain = chain_s(waves, k_padded, family.chain_per_k_s);
    const double l2_bytes =
        std::max(shape.dram.least_l2_bytes(), l2_read_bytes(ctas, bound.rows, bound.columns, k_padded,
                                                            input_bytes_ * family.pair_share, family.shared_panel) +
                                                  shape.written_bytes);
    const double l2 = l2_bytes * l2_s_per_byte_;
    // The last CTA's prologue and epilogue stand alone; those of the others overlap with memory traffic.
    const double fill = fill_s_ * waves + epilogue_s_ * area;
    const double epilogues = epilogue_s_ * area * (ctas_on_busiest - 1.0);
    const bool hidden = family.epilogue_overlaps && kernel.ctas_per_sm > 1.0;
    const double loop_s = std::max(hidden ? std::max(math, epilogues) : math + epilogues, chain);
    const double room_s = best_s - fill - reduction;
    if (room_s <= bound.memory_s) break;  // more parts only add to fill and reduction
    if (overlap_power(family.overlap, loop_s) + overlap_power(family.overlap, l2) + dram_power >=
        overlap_power(family.overlap, room_s)) {
      continue;
    }
    Candidate candidate{.tile_m = kernel.m, .tile_n = kernel.n, .splits = splits, .ctas = ctas};
    candidate.terms = {.fill_s = fill,
                       .chain_s = chain,
                       .math_s = math,
                       .l2_s = l2,
                       .dram_s = shape.dram.time_s,
                       .reduction_s = reduction};
    candidate.l2_bytes = l2_bytes;
    candidate.kernel_s = fill + reduction + overlapped_s(family.overlap, loop_s, l2, shape.dram.time_s);
    candidate.least_l2_bytes = least_l2_bytes;
    visit(candidate);
  }
}

/// Calls `visit(candidate)` for every kernel that may be faster than `best_s`; `visit` may lower it. The kernel with
/// the least bound goes first, as it prunes most of the others; these follow by size of their tile, and of two equally
/// fast ones the first visited wins. (Sorting all by their bounds takes longer: 1 to 11 % of a prediction.)
template <typename Visit>
void Predictor::for_each_candidate(const Shape& shape, double& best_s, const Visit& visit) const {
  const KernelFamily& family = *shape.family;
  if (family.kernels.empty()) {
    visit(roofline_candidate(shape));
    return;
  }
  double least_l2_bytes = HUGE_VAL;
  if (family.vector_step_s > 0 && std::min(shape.m, shape.n) == 1.0 && shape.batch == 1.0) {
    visit(vector_candidate(shape));
    least_l2_bytes = shape.dram.least_l2_bytes();
  }
  const LowerBounds bounds = lower_bounds(shape);
  least_l2_bytes = std::min(least_l2_bytes, bounds.least_l2_bytes);
  const std::size_t count = family.kernels.size(), first = bounds.least;
  for (std::size_t turn = 0; turn < count; ++turn) {
    const std::size_t i = turn == 0 ? first : turn <= first ? turn - 1 : turn;
    if (bounds.of[i].total_s >= best_s) continue;
    for_each_split(shape, family.kernels[i], bounds.of[i], least_l2_bytes, best_s, visit);
  }
}

Predictor::Candidate Predictor::fastest(const Shape& shape) const {
  Candidate best;
  double best_s = HUGE_VAL;
  for_each_candidate(shape, best_s, [&](const Candidate& candidate) {
    if (candidate.kernel_s < best_s) {
      best_s = candidate.kernel_s;
      best = candidate;
    }
  });
  return best;
}

/// Real data, but for the very runs that were recorded with zero weights.
Operands Predictor::operands_of(const Gemm& gemm, RunMode mode) const {
  const bool recorded = power_range_ && was_measured(*power_range_, gemm, mode);
  return recorded ? recorded_operands(unwritten_, gemm) : Operands::random;
}

Correction Predictor::correction_of(const Gemm& gemm) const {
  if (!residual_) return {};
  if (!learned_in_16_bits_) return gpu::correction(*residual_, gemm);
  Gemm same_bytes = gemm;
  same_bytes.dtype = DType::bf16;
  same_bytes.k = (gemm.k + 1) / 2;
  return gpu::correction(*residual_, same_bytes);
}

/// As roofline_s.
double Predictor::floor_of(const Shape& shape) const {
  const double moved = shape.dram.all_bytes;
  const double bytes_per_s = moved <= l2_bytes_ ? peak_l2_bytes_per_s_ : peak_dram_bytes_per_s_;
  return std::max(0.5 * shape.ops * s_per_mac_ * per_sm_, moved / bytes_per_s);
}

/// A run that takes `full_clock_s` at the highest clock, under the power limit. Its clock is that of real data,
/// whatever the weights of its recorded rows held: rows with unwritten weights that are bound by arithmetic take 1.13
/// times as long as an H100's burst at 0.2 to 0.5 ms, as those of real data do (1.14), though they draw less [measured:
/// h200_sxm power rows and h100_sxm_bf16, 2026-11-27, docs/gpu-power.md].
Predictor::Run Predictor::settled(const PowerWork& work, double full_clock_s, RunMode mode) const {
  Run run{.work = work};
  PowerWork real = work;
  const bool read_low = followed_idle_board(work.operands);
  if (read_low) real.operands = Operands::random;
  const double full_clock_w = board_.full_clock_w(real, full_clock_s);
  const double share = mode == RunMode::sustained ? 1.0 : settled_share(full_clock_s, settle_s_);
  run.slowdown = 1.0 + share * (board_.slowdown(full_clock_w) - 1.0);
  run.latency_s = full_clock_s * run.slowdown;
  run.least_limit_w = board_.least_limit_w(full_clock_w);
  run.average_w = read_low ? board_.reading_w(work, run.latency_s) : board_.average_w(full_clock_w, run.slowdown);
  return run;
}

Predictor::Run Predictor::run(const Gemm& gemm, const Shape& shape, const Candidate& candidate, RunMode mode,
                              const Correction& correction) const {
  const QuantiseKernel& quantise = shape.quantise;
  const double product_s = launched_s(shape.launch_s + candidate.kernel_s, shape.floor_s);
  const double full_clock_s = launched_s(product_s + quantise.time_s, quantise.floor_s);
  const PowerWork work{.ops = shape.ops,
                       .l2_bytes = candidate.least_l2_bytes + quantise.bytes,
                       .dram_bytes = shape.dram.bytes + quantise.dram_bytes,
                       .busy_frac = (candidate.kernel_s + quantise.time_s - quantise.start_s) / full_clock_s,
                       .operands = operands_of(gemm, mode)};
  if (correction.factor == 1.0) return settled(work, full_clock_s, mode);
  const double corrected_s = full_clock_s * correction.factor, roofline_s = floor_of(shape);
  Run run = settled(work, std::max(corrected_s, roofline_s), mode);
  run.held_at_roofline = corrected_s < roofline_s;
  return run;
}

Predictor::FullClock Predictor::full_clock(const Gemm& gemm, RunMode mode, double latency_s) const {
  constexpr int kHalvings = 50;       // [chosen] to the last digit of a double
  constexpr double kMostFaster = 64;  // [chosen] no power limit slows a board down by more
  constexpr double kStep = 1e-3;      // [chosen] relative, of the numerical derivative
  if (const Predictor& other = of(gemm); &other != this) return other.full_clock(gemm, mode, latency_s);
  const Shape shape = shape_of(gemm, mode);
  const Candidate best = fastest(shape);
  const Run predicted = run(gemm, shape, best, mode, {});
  double low = latency_s / kMostFaster, high = latency_s;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (settled(predicted.work, middle, mode).latency_s < latency_s ? low : high) = middle;
  }
  const double there_s = settled(predicted.work, high, mode).latency_s;
  const double beyond_s = settled(predicted.work, high * (1 + kStep), mode).latency_s;
  return {.predicted_s = predicted.latency_s / predicted.slowdown,
          .explaining_s = high,
          .sensitivity = std::log(beyond_s / there_s) / std::log(1 + kStep)};
}

double Predictor::latency_s(const Gemm& gemm, RunMode mode) const {
  if (const Predictor& other = of(gemm); &other != this) return other.latency_s(gemm, mode);
  const Shape shape = shape_of(gemm, mode);
  return run(gemm, shape, fastest(shape), mode, correction_of(gemm)).latency_s;
}

GemmPrediction Predictor::finish(const Gemm& gemm, const Shape& shape, const Candidate& candidate, RunMode mode,
                                 const Correction& correction) const {
  const Run run = this->run(gemm, shape, candidate, mode, correction);
  GemmPrediction result;
  result.aligned = is_aligned(gemm);
  result.analytical_s =
      correction.factor == 1.0 ? run.latency_s : this->run(gemm, shape, candidate, mode, {}).latency_s;
  result.correction = correction;
  result.held_at_roofline = run.held_at_roofline;
  result.latency_s = run.latency_s;
  result.ops_per_s = shape.ops / result.latency_s;
  result.dram_bytes = run.work.dram_bytes;
  result.l2_bytes = candidate.l2_bytes + shape.quantise.bytes;
  result.quantise_bytes = shape.quantise.bytes;
  result.sm_clock_hz = clock_hz_ / run.slowdown;
  result.tile = {.m = static_cast<int>(candidate.tile_m),
                 .n = static_cast<int>(candidate.tile_n),
                 .k = candidate.tile_m > 0 ? static_cast<int>(shape.family->k_step) : 0,
                 .split_k = static_cast<int>(candidate.splits)};
  result.ctas = candidate.ctas;
  result.waves = candidate.ctas / sms_;
  result.terms = candidate.terms;
  result.terms.launch_s = std::max({shape.launch_s, shape.floor_s, shape.quantise.floor_s});
  result.terms.quantise_s = shape.quantise.time_s;
  result.terms.slowdown = run.slowdown;
  result.bound = bound_of(result.terms);
  result.work = run.work;
  result.operands = run.work.operands;
  result.average_power_w = run.average_w;
  result.least_limit_w = run.least_limit_w;
  result.energy_j = result.average_power_w * result.latency_s;
  result.roofline_estimate = shape.family->kernels.empty();
  result.calibrated = calibrated_;
  result.in_validated_range = calibrated_ && covers(range_, gemm, mode, result.latency_s);
  result.power_in_validated_range = power_range_ && covers(*power_range_, gemm, mode, result.latency_s);
  return result;
}

GemmPrediction Predictor::predict(const Gemm& gemm, RunMode mode) const {
  if (const Predictor& other = of(gemm); &other != this) return other.predict(gemm, mode);
  const Shape shape = shape_of(gemm, mode);
  return finish(gemm, shape, fastest(shape), mode, correction_of(gemm));
}

std::vector<GemmPrediction> Predictor::rank(const Gemm& gemm, RunMode mode) const {
  if (const Predictor& other = of(gemm); &other != this) return other.rank(gemm, mode);
  const Shape shape = shape_of(gemm, mode);
  std::vector<GemmPrediction> all;
  const Correction learned = correction_of(gemm);  // of the product: all kernels alike
  double never_pruned = HUGE_VAL;
  for_each_candidate(shape, never_pruned,
                     [&](const Candidate& one) { all.push_back(finish(gemm, shape, one, mode, learned)); });
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.latency_s < b.latency_s; });
  return all;
}

GemmPrediction predict(const GpuSpec& spec, const Calibration& calibration, const Gemm& gemm, RunMode mode) {
  return Predictor(spec, calibration, gemm.dtype).predict(gemm, mode);
}

std::vector<GemmPrediction> rank_candidates(const GpuSpec& spec, const Calibration& calibration, const Gemm& gemm,
                                            RunMode mode) {
  return Predictor(spec, calibration, gemm.dtype).rank(gemm, mode);
}

double roofline_s(const GpuSpec& spec, const Gemm& gemm) {
  const double moved = compulsory_bytes(gemm);
  const double bytes_per_s =
      moved <= spec.l2_bytes ? spec.l2_bytes_per_s * (spec.boost_hz / spec.l2_clock_hz) : spec.dram_bytes_per_s;
  return std::max(ops(gemm) / spec.ops_per_s(gemm.dtype, spec.boost_hz), moved / bytes_per_s);
}

std::string_view to_string(Bound bound) { return name_in(kBounds, bound); }

}  // namespace hindsight::gpu

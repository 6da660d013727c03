/// Picks the kernel that the library would, and computes time, traffic, power and energy of it.
#include "hindsight/gpu/predict.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "gpu/kernels.h"
#include "hindsight/gpu/gemm_terms.h"

namespace hindsight::gpu {
namespace {

// What all GPUs share; fitted together on the bf16 runs of an A100, an H100 and an L40S.
constexpr double kFillCycles = 300;  // [measured: joint fit, A100 H100 L40S, 2026-11-21, docs/gpu.md] per wave
constexpr double kChainPerKSeconds = 1.33e-9;  // [measured: as above] 85 ns per pipeline step of 64
constexpr double kRampSeconds = 0.38e-6;       // [measured: as above] about the latency of one DRAM access

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

/// Power constants of a calibration, those of the architecture where it has none; the energy per operation is that of
/// its runtimes.
PowerConstants power_constants(const GpuSpec& spec, const Calibration& calibration, DType dtype) {
  PowerConstants power =
      calibration.power.active_w > 0 ? calibration.power : default_power_constants(spec, dtype_class(dtype));
  power.op_j = calibration.constants.op_j;
  return power;
}

}  // namespace

/// One GEMM as the terms see it.
struct Predictor::Shape {
  const KernelFamily* family = nullptr;
  double m = 1, n = 1, k = 1, batch = 1;
  double ops = 0, all_bytes = 0, dram_bytes = 0, outputs = 0, dram_term_s = 0;
  double launch_s = 0, floor_s = 0;
  std::size_t split_count = 0;
  std::array<double, kSplitCount> k_padded;  ///< of a part, by split; the first `split_count` are set
};

/// One kernel for one GEMM, at the boost clock.
struct Predictor::Candidate {
  double tile_m = 1, tile_n = 1, splits = 1, ctas = 1;
  double fill = 0, chain = 0, math = 0, l2 = 0, l2_bytes = 0, reduction = 0;
  double kernel_s = 0;        ///< without launch
  double least_l2_bytes = 0;  ///< L2 traffic of the kernel of the family that has the least
};

/// One kernel under the power limit.
struct Predictor::Run {
  PowerWork work;
  double full_clock_w = 0;  ///< without the limit
  double slowdown = 1;
  double latency_s = 0;
};

Predictor::Predictor(const GpuSpec& spec, const Calibration& calibration, DType dtype)
    : board_(spec, power_constants(spec, calibration, dtype), dtype),
      unwritten_(calibration.unwritten),
      by_rows_(std::make_shared<const KernelFamily>(kernel_family(spec, dtype_class(dtype), Layout::nn))),
      mixed_(std::make_shared<const KernelFamily>(kernel_family(spec, dtype_class(dtype), Layout::nt))),
      sms_(spec.sms),
      per_sm_(1.0 / spec.sms),
      clock_hz_(spec.boost_hz),
      s_per_mac_(1.0 / (spec.rate(dtype).fma_per_clock_per_sm * spec.boost_hz)),
      dram_bytes_per_s_(spec.dram_bytes_per_s * calibration.constants.dram_efficiency),
      l2_bytes_per_s_(spec.l2_bytes_per_s * (spec.boost_hz / spec.l2_clock_hz) * calibration.constants.l2_efficiency),
      l2_bytes_(spec.l2_bytes),
      resident_bytes_(spec.l2_bytes * calibration.constants.l2_resident_frac),
      launch_s_(calibration.constants.launch_cycles / spec.boost_hz),
      reduction_start_s_(calibration.constants.reduction_cycles / spec.boost_hz),
      epilogue_s_(calibration.constants.epilogue_cycles / spec.boost_hz / kReferenceTileArea),
      fill_s_(kFillCycles / spec.boost_hz),
      floor_s_(calibration.constants.launch_floor_s),
      single_launch_s_(std::min(kBiasLaunchSeconds, floor_s_)),
      settle_s_(calibration.constants.settle_s),
      input_bytes_(gpu::input_bytes(dtype)),
      output_bytes_(gpu::output_bytes(dtype)),
      calibrated_(calibration.source == CalibrationSource::own && calibration.gpu == spec.name),
      range_(calibration.range),
      power_range_(calibration.power_range) {}

Predictor::Shape Predictor::shape_of(const Gemm& gemm) const {
  Shape shape;
  const bool transpose = gemm.layout == Layout::tt;  // evaluated as the nn product that it is the mirror image of
  shape.m = static_cast<double>(transpose ? gemm.n : gemm.m);
  shape.n = static_cast<double>(transpose ? gemm.m : gemm.n);
  shape.k = static_cast<double>(gemm.k);
  shape.batch = static_cast<double>(gemm.batch);
  shape.family = transpose || gemm.layout == Layout::nn ? by_rows_.get() : mixed_.get();
  shape.outputs = shape.batch * shape.m * shape.n;
  shape.ops = 2.0 * shape.outputs * shape.k;
  const bool weights_are_n = (gemm.weights == Operand::b) != transpose;
  const double weight_bytes = shape.batch * (weights_are_n ? shape.n : shape.m) * shape.k * input_bytes_;
  const double other_input_bytes = shape.batch * (weights_are_n ? shape.m : shape.n) * shape.k * input_bytes_;
  const double written_bytes = shape.outputs * output_bytes_;
  const double other_bytes = other_input_bytes + written_bytes;
  shape.all_bytes = weight_bytes + other_bytes;
  const double buffers = std::clamp(rounds(l2_bytes_, weight_bytes), 1.0, kWeightBuffers);
  // Nothing stays of what is read again after more than the whole L2.
  const auto kept = [this](double reuse_bytes) {
    return reuse_bytes < l2_bytes_ ? resident_share(reuse_bytes, resident_bytes_) : 0.0;
  };
  const double weights_kept = kept(gemm.reuse_bytes > 0 ? gemm.reuse_bytes : weight_bytes * buffers + other_bytes);
  const double others_kept = kept(shape.all_bytes);
  shape.dram_bytes = weight_bytes * (1.0 - weights_kept) + other_bytes * (1.0 - others_kept);
  // Which inputs are stored along k: kernels read these in short pieces.
  const double along_k_cost = stepwise_read_cost(shape.k * input_bytes_, shape.family->stepwise_penalty);
  const double m_cost = gemm.layout == Layout::tn ? 1.0 : along_k_cost;
  const double n_cost = gemm.layout == Layout::nt ? along_k_cost : 1.0;
  const double costly_bytes =
      weight_bytes * (weights_are_n ? n_cost : m_cost) * (1.0 - weights_kept) +
      (other_input_bytes * (weights_are_n ? m_cost : n_cost) + written_bytes) * (1.0 - others_kept);
  const double reread = shape.batch * reread_bytes(shape.m, shape.n, shape.k * input_bytes_,
                                                   sms_ * shape.family->outputs_per_sm, kPanelShareOfL2 * l2_bytes_);
  shape.dram_term_s = dram_s(shape.dram_bytes, shape.all_bytes, dram_bytes_per_s_, kRampSeconds) +
                      (costly_bytes - shape.dram_bytes + reread) / dram_bytes_per_s_;
  shape.dram_bytes += reread;
  const bool linear_layer = gemm.batch == 1 && shape.family == mixed_.get();
  shape.launch_s = launch_s_ + (linear_layer ? single_launch_s_ : 0.0);
  shape.floor_s = floor_s_ + (linear_layer ? single_launch_s_ : 0.0);
  do {
    const double splits = split_candidates()[shape.split_count];
    shape.k_padded[shape.split_count++] = rounds(shape.k, splits * shape.family->k_step) * shape.family->k_step;
  } while (shape.family->split_k && shape.split_count < kSplitCount &&
           shape.k >= kLeastKPerPart * split_candidates()[shape.split_count]);
  return shape;
}

/// Calls `visit(candidate)` for every kernel that may be faster than `best_s`; `visit` may lower it.
template <typename Visit>
void Predictor::for_each_candidate(const Shape& shape, double& best_s, const Visit& visit) const {
  const KernelFamily& family = *shape.family;
  const double l2_s_per_byte = 1.0 / l2_bytes_per_s_;
  const double floor_of_memory_s = std::max(shape.dram_term_s, shape.all_bytes * l2_s_per_byte);
  double least_l2_bytes = HUGE_VAL;
  if (family.vector_step_s > 0 && std::min(shape.m, shape.n) == 1.0 && shape.batch == 1.0) {
    least_l2_bytes = shape.all_bytes;
    Candidate candidate;
    candidate.least_l2_bytes = least_l2_bytes;
    candidate.l2_bytes = shape.all_bytes;
    candidate.l2 = shape.all_bytes / l2_bytes_per_s_;
    candidate.ctas = sms_;
    candidate.chain = family.vector_step_s * std::log2(std::max(shape.k / kVectorKernelK, 1.0));
    candidate.kernel_s = std::max(shape.dram_term_s, candidate.l2) + candidate.chain;
    visit(candidate);
  }
  const double dram_power = overlap_power(family.overlap, shape.dram_term_s);
  // Lower bounds of every kernel, however k is split: no SM ever waits, no k is padded. The kernel with the least goes
  // first; it prunes most of the others.
  struct LowerBound {
    double tiles, s_per_mac, rows, columns, memory_s, total_s;
  };
  std::array<LowerBound, kMostKernels> bounds;
  const std::size_t count = family.kernels.size();
  std::size_t first = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Kernel& kernel = family.kernels[i];
    LowerBound& bound = bounds[i];
    bound.tiles =
        shape.batch * rounds(shape.m, kernel.m, kernel.per_row) * rounds(shape.n, kernel.n, kernel.per_column);
    bound.s_per_mac = s_per_mac_ * kernel.work;
    bound.rows = std::min(kernel.m, shape.m);
    bound.columns = std::min(kernel.n, shape.n);
    const double l2_bytes =
        l2_read_bytes(bound.tiles, bound.rows, bound.columns, shape.k, input_bytes_, family.shared_panel);
    least_l2_bytes = std::min(least_l2_bytes, std::max(shape.all_bytes, l2_bytes + shape.outputs * output_bytes_));
    bound.memory_s = std::max(floor_of_memory_s, l2_bytes * l2_s_per_byte);
    const double area = kernel.m * kernel.n;
    bound.total_s = std::max(bound.tiles * area * shape.k * bound.s_per_mac * per_sm_, bound.memory_s) + fill_s_ +
                    epilogue_s_ * area * rounds(bound.tiles, sms_, per_sm_);
    if (bound.total_s < bounds[first].total_s) first = i;
  }
  for (std::size_t turn = 0; turn < count; ++turn) {
    const std::size_t i = turn == 0 ? first : turn <= first ? turn - 1 : turn;
    const Kernel& kernel = family.kernels[i];
    const auto& [tiles, s_per_mac, rows, columns, least_memory_s, least_s] = bounds[i];
    if (least_s >= best_s) continue;
    const double area = kernel.m * kernel.n;
    for (std::size_t j = 0; j < shape.split_count; ++j) {
      const double splits = split_candidates()[j];
      Candidate candidate{.tile_m = kernel.m, .tile_n = kernel.n, .splits = splits, .ctas = tiles * splits};
      if (splits > 1.0) {
        const bool fills_grid = candidate.ctas > kWavesOfSplitGrid * sms_;
        if (fills_grid && (splits > kMostPartsOfFullGrid || shape.k < kLeastKPerPartOfFullGrid * splits)) break;
        candidate.reduction = reduction_s(splits, shape.outputs, reduction_start_s_, l2_s_per_byte);
        if (candidate.reduction + least_s >= best_s) break;  // more parts only add to it
      }
      const double k_padded = shape.k_padded[j];
      const double ctas_on_busiest = rounds(candidate.ctas, sms_, per_sm_);
      const double waves = rounds(ctas_on_busiest, kernel.ctas_per_sm, kernel.per_cta);
      candidate.math = math_s(ctas_on_busiest, area, k_padded, s_per_mac);
      candidate.chain = chain_s(waves, k_padded, kChainPerKSeconds);
      candidate.l2_bytes = std::max(
          shape.all_bytes, l2_read_bytes(candidate.ctas, rows, columns, k_padded, input_bytes_, family.shared_panel) +
                               shape.outputs * output_bytes_);
      candidate.l2 = candidate.l2_bytes * l2_s_per_byte;
      candidate.fill = fill_s_ * waves + epilogue_s_ * ctas_on_busiest * area;
      const double loop_s = std::max(candidate.math, candidate.chain);
      const double room_s = best_s - candidate.fill - candidate.reduction;
      if (room_s <= least_memory_s) break;  // more parts only add to fill and reduction
      if (overlap_power(family.overlap, loop_s) + overlap_power(family.overlap, candidate.l2) + dram_power >=
          overlap_power(family.overlap, room_s)) {
        continue;
      }
      candidate.kernel_s =
          candidate.fill + candidate.reduction + overlapped_s(family.overlap, loop_s, candidate.l2, shape.dram_term_s);
      candidate.least_l2_bytes = least_l2_bytes;
      visit(candidate);
    }
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

Predictor::Run Predictor::run(const Gemm& gemm, const Shape& shape, const Candidate& candidate, RunMode mode) const {
  const double full_clock_s = launched_s(shape.launch_s + candidate.kernel_s, shape.floor_s);
  Run run{.work = {.ops = shape.ops,
                   .l2_bytes = candidate.least_l2_bytes,
                   .dram_bytes = shape.dram_bytes,
                   .busy_frac = candidate.kernel_s / full_clock_s,
                   .operands = recorded_operands(unwritten_, gemm)}};
  run.full_clock_w = board_.full_clock_w(run.work, full_clock_s);
  const double share = mode == RunMode::sustained ? 1.0 : settled_share(full_clock_s, settle_s_);
  run.slowdown = 1.0 + share * (board_.slowdown(run.full_clock_w) - 1.0);
  run.latency_s = full_clock_s * run.slowdown;
  return run;
}

double Predictor::latency_s(const Gemm& gemm, RunMode mode) const {
  const Shape shape = shape_of(gemm);
  return run(gemm, shape, fastest(shape), mode).latency_s;
}

GemmPrediction Predictor::finish(const Gemm& gemm, const Shape& shape, const Candidate& candidate, RunMode mode) const {
  const Run run = this->run(gemm, shape, candidate, mode);
  GemmPrediction result;
  result.latency_s = run.latency_s;
  result.ops_per_s = shape.ops / result.latency_s;
  result.dram_bytes = shape.dram_bytes;
  result.l2_bytes = candidate.l2_bytes;
  result.sm_clock_hz = clock_hz_ / run.slowdown;
  result.tile = {.m = static_cast<int>(candidate.tile_m),
                 .n = static_cast<int>(candidate.tile_n),
                 .k = static_cast<int>(shape.family->k_step),
                 .split_k = static_cast<int>(candidate.splits)};
  result.ctas = candidate.ctas;
  result.waves = candidate.ctas / sms_;
  result.terms = {.launch_s = std::max(shape.launch_s, shape.floor_s),
                  .fill_s = candidate.fill,
                  .chain_s = candidate.chain,
                  .math_s = candidate.math,
                  .l2_s = candidate.l2,
                  .dram_s = shape.dram_term_s,
                  .reduction_s = candidate.reduction,
                  .slowdown = run.slowdown};

  const GemmTerms& t = result.terms;
  const double waiting_s = t.chain_s + t.fill_s + t.reduction_s;
  const double longest_s = std::max({t.launch_s, waiting_s, t.math_s, t.l2_s, t.dram_s});
  result.bound = run.slowdown > 1.0        ? Bound::power
                 : longest_s == t.dram_s   ? Bound::dram
                 : longest_s == t.math_s   ? Bound::math
                 : longest_s == t.l2_s     ? Bound::l2
                 : longest_s == t.launch_s ? Bound::launch
                                           : Bound::latency;

  result.work = run.work;
  result.operands = run.work.operands;
  result.average_power_w = std::min(run.full_clock_w, board_.settled_cap_w());
  result.energy_j = result.average_power_w * result.latency_s;
  result.calibrated = calibrated_;
  result.in_validated_range = calibrated_ && covers(range_, gemm, mode, result.latency_s);
  result.power_in_validated_range = power_range_ && covers(*power_range_, gemm, mode, result.latency_s);
  return result;
}

GemmPrediction Predictor::predict(const Gemm& gemm, RunMode mode) const {
  const Shape shape = shape_of(gemm);
  return finish(gemm, shape, fastest(shape), mode);
}

std::vector<GemmPrediction> Predictor::rank(const Gemm& gemm, RunMode mode) const {
  const Shape shape = shape_of(gemm);
  std::vector<GemmPrediction> all;
  double never_pruned = HUGE_VAL;
  for_each_candidate(shape, never_pruned,
                     [&](const Candidate& candidate) { all.push_back(finish(gemm, shape, candidate, mode)); });
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

std::string_view to_string(Bound bound) {
  switch (bound) {
    case Bound::launch:
      return "launch";
    case Bound::latency:
      return "latency";
    case Bound::math:
      return "math";
    case Bound::l2:
      return "l2";
    case Bound::dram:
      return "dram";
    case Bound::power:
      return "power";
  }
  return "?";
}

}  // namespace hindsight::gpu

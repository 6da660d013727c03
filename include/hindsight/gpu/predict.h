/// Analytical prediction of one GEMM through the vendor's library on one GPU: runtime, traffic, power, energy, and
/// which limit binds.
///
/// Model: the kernels that the library chooses from are evaluated one by one and the fastest is taken; the equations of
/// the terms stand in gemm_terms.h, how they combine in docs/gpu.md.
/// Valid for: dense products of aligned matrices through cuBLAS on Volta to Hopper; of 8 bits through the kernels of
/// inference frameworks, with or without the kernel that quantises the activations before (`Gemm::quantisation`).
/// Blackwell follows from its sheets and other GPUs' constants. A GPU without a kernel model gets a roofline estimate:
/// no tile, no waves, never calibrated. Ignores: epilogue fusions, misaligned sizes (odd leading dimensions run
/// slower), other work on the GPU, wrong choices of the library's heuristic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/gemm.h"
#include "hindsight/gpu/power.h"
#include "hindsight/gpu/residual.h"
#include "hindsight/gpu/spec.h"
#include "hindsight/gpu/validity.h"

namespace hindsight::gpu {

/// The limit that sets the runtime.
enum class Bound : std::uint8_t { launch, latency, math, l2, dram, power, quantise };
/// "launch", "latency", "math", "l2", "dram", "power", "quantise".
[[nodiscard]] std::string_view to_string(Bound bound);

/// One kernel that the library could choose. A matrix times a vector has a kernel of its own, with m = n = 1; a
/// roofline estimate has none, m = n = 0.
struct Tile {
  int m = 0;  ///< rows of the output per CTA (thread block)
  int n = 0;  ///< columns of the output per CTA
  int k = 0;  ///< depth of one pipeline step
  int split_k = 1;
};

/// The terms of one prediction, for `--explain`. Times in s at the boost clock; they overlap, so they do not add up.
struct GemmTerms {
  double launch_s = 0;
  double fill_s = 0;       ///< prologue and epilogue of the CTAs on the busiest SM
  double chain_s = 0;      ///< shortest main loop, bound by the latency of its steps
  double math_s = 0;       ///< main loop on the busiest SM, bound by its arithmetic
  double l2_s = 0;         ///< operand traffic out of L2
  double dram_s = 0;       ///< DRAM traffic at the reached bandwidth
  double reduction_s = 0;  ///< adding up the parts of split k
  double quantise_s = 0;   ///< the kernel that quantises the activations, which runs before the product
  double slowdown = 1;     ///< through a clock below the highest; above 1 exactly where the power limit binds
};

/// The outcome. Numbers hold at the predicted clock. Power is an average over many launches at that clock: where the
/// highest would draw more than the board's limit allows, a settled run draws what the limit allows, a burst, whose
/// clock has not fallen as far yet, more. Clock and latency are those of real data always.
struct GemmPrediction {
  double latency_s = 0;
  double ops_per_s = 0;
  double dram_bytes = 0;  ///< inputs that L2 cannot keep are read again
  double l2_bytes = 0;
  double quantise_bytes = 0;             ///< of these, what the kernel that quantises the activations moves
  double average_power_w = 0;            ///< of shapes that were recorded as peculiar, what the sensor showed
  double least_limit_w = 0;              ///< lowest power limit that is met, where the board's is not; else 0
  PowerWork work;                        ///< what the board's power is of
  Operands operands = Operands::random;  ///< those of `work`: Calibration::unwritten
  double energy_j = 0;                   ///< average power x latency
  double sm_clock_hz = 0;
  Bound bound = Bound::launch;
  Tile tile;
  double ctas = 0;
  double waves = 0;               ///< CTAs over SMs; not rounded
  double analytical_s = 0;        ///< latency without the learned correction
  Correction correction;          ///< learned; its factor is of the time at the highest clock
  bool held_at_roofline = false;  ///< the corrected time would lie below the roofline, and is that
  GemmTerms terms;
  bool roofline_estimate = false;         ///< no kernel model: `has_kernel_model` is false
  bool aligned = true;                    ///< `is_aligned`: else measured nowhere, and slower than predicted
  bool calibrated = false;                ///< constants fitted on this very GPU
  bool in_validated_range = false;        ///< calibrated, and `Calibration::range` covers product, mode and latency
  bool power_in_validated_range = false;  ///< likewise for power and energy: `Calibration::power_range`
};

struct Kernel;
struct KernelFamily;

/// One GPU, calibration and dtype, ready for many shapes. `spec` must outlive it.
class Predictor {
 public:
  /// Errors: Error{usage} when the GPU lacks `dtype`, naming those it has, or when its SMs are too small for every
  /// kernel, naming the key of the sheet.
  Predictor(const GpuSpec& spec, const Calibration& calibration, DType dtype)
      : Predictor(spec, calibration, dtype, dtype_class(dtype)) {}

  /// Precondition: `size_problem(gemm)` is empty; the dtype of `gemm` is the predictor's. No allocation, no exceptions.
  [[nodiscard]] GemmPrediction predict(const Gemm& gemm, RunMode mode = RunMode::burst) const;
  /// What the power of a prediction of this predictor is made of.
  [[nodiscard]] PowerTerms power_terms(const GemmPrediction& prediction) const {
    return board_.terms(prediction.work, prediction.latency_s / prediction.terms.slowdown, prediction.average_power_w);
  }
  /// What a measured latency says of the time at the highest clock, without the learned correction.
  struct FullClock {
    double predicted_s = 0;   ///< analytical
    double explaining_s = 0;  ///< that would give the measured latency under the power limit
    double sensitivity = 1;   ///< relative change of the latency per relative change of that time
  };
  [[nodiscard]] FullClock full_clock(const Gemm& gemm, RunMode mode, double latency_s) const;
  /// Of the launch that every latency has, s; of a settled run without `Constants::burst_start_s`.
  [[nodiscard]] double launch_s(RunMode mode) const {
    return mode == RunMode::sustained ? settled_launch_s_ : launch_s_;
  }
  /// The latency alone: for sweeps and fits.
  [[nodiscard]] double latency_s(const Gemm& gemm, RunMode mode = RunMode::burst) const;
  /// Every kernel with its own prediction, fastest first.
  [[nodiscard]] std::vector<GemmPrediction> rank(const Gemm& gemm, RunMode mode = RunMode::burst) const;

 private:
  Predictor(const GpuSpec& spec, const Calibration& calibration, DType dtype, DTypeClass kernels);

  struct DramTraffic;
  struct QuantiseKernel;
  struct Shape;
  struct LowerBound;
  struct LowerBounds;
  struct Candidate;
  struct Run;
  /// The predictor of this product: this one, or that of products which nothing quantises.
  [[nodiscard]] const Predictor& of(const Gemm& gemm) const {
    return library_ && gemm.quantisation == Quantisation::none ? *library_ : *this;
  }
  [[nodiscard]] Shape shape_of(const Gemm& gemm, RunMode mode) const;
  static void set_splits(Shape& shape);
  [[nodiscard]] DramTraffic dram_traffic(const Gemm& gemm, const Shape& shape) const;
  [[nodiscard]] QuantiseKernel quantise_kernel(const Gemm& gemm, const Shape& shape) const;
  [[nodiscard]] Candidate vector_candidate(const Shape& shape) const;
  [[nodiscard]] Candidate roofline_candidate(const Shape& shape) const;
  [[nodiscard]] LowerBounds lower_bounds(const Shape& shape) const;
  template <typename Visit>
  void for_each_split(const Shape& shape, const Kernel& kernel, const LowerBound& bound, double least_l2_bytes,
                      double& best_s, const Visit& visit) const;
  template <typename Visit>
  void for_each_candidate(const Shape& shape, double& best_s, const Visit& visit) const;
  [[nodiscard]] Candidate fastest(const Shape& shape) const;
  [[nodiscard]] Operands operands_of(const Gemm& gemm, RunMode mode) const;
  [[nodiscard]] Correction correction_of(const Gemm& gemm) const;
  [[nodiscard]] double floor_of(const Shape& shape) const;
  [[nodiscard]] Run settled(const PowerWork& work, double full_clock_s, RunMode mode) const;
  [[nodiscard]] Run run(const Gemm& gemm, const Shape& shape, const Candidate& candidate, RunMode mode,
                        const Correction& correction) const;
  [[nodiscard]] GemmPrediction finish(const Gemm& gemm, const Shape& shape, const Candidate& candidate, RunMode mode,
                                      const Correction& correction) const;

  BoardPower board_;
  UnwrittenWeights unwritten_;
  std::shared_ptr<const Residual> residual_;
  std::shared_ptr<const Predictor> library_;     ///< Calibration::library
  bool learned_in_16_bits_ = false;              ///< the residual: half of k counts
  std::shared_ptr<const KernelFamily> batched_;  ///< kernels of batches of layouts nn and tt
  std::shared_ptr<const KernelFamily> any_;      ///< of all others
  double sms_, per_sm_, clock_hz_, s_per_mac_, dram_bytes_per_s_, l2_bytes_per_s_, l2_s_per_byte_, l2_bytes_,
      resident_bytes_;
  double launch_s_, settled_launch_s_, reduction_start_s_, quantise_start_s_, epilogue_s_, fill_s_, floor_s_,
      single_launch_s_, settle_s_;
  double input_bytes_;
  double peak_dram_bytes_per_s_, peak_l2_bytes_per_s_;  ///< of the roofline
  bool host_launched_blocks_;
  bool calibrated_;
  ValidatedRange range_;
  std::optional<ValidatedRange> power_range_;
};

/// One prediction. Preconditions as those of `Predictor::predict`; errors as those of its constructor.
[[nodiscard]] GemmPrediction predict(const GpuSpec& spec, const Calibration& calibration, const Gemm& gemm,
                                     RunMode mode = RunMode::burst);
[[nodiscard]] std::vector<GemmPrediction> rank_candidates(const GpuSpec& spec, const Calibration& calibration,
                                                          const Gemm& gemm, RunMode mode = RunMode::burst);

/// Lower bound of the runtime: max(operations / peak rate at the boost clock, compulsory bytes / peak DRAM bandwidth),
/// where a product whose data all fit in L2 together reads at the L2's bandwidth. Source: [paper: roofline].
[[nodiscard]] double roofline_s(const GpuSpec& spec, const Gemm& gemm);

}  // namespace hindsight::gpu

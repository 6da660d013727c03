/// Analytical prediction of one GEMM through the vendor's library on one GPU: runtime, traffic, power, energy, and
/// which limit binds.
///
/// Model: see docs/gpu.md; the library's tile candidates are evaluated one by one, the fastest is taken.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/gemm.h"
#include "hindsight/gpu/spec.h"

namespace hindsight::gpu {

/// How the kernel is run. `burst`: a few launches after idling, clocks not yet settled (how runtimes are usually
/// collected). `sustained`: back to back for seconds, the clock settled under the power cap.
enum class RunMode : std::uint8_t { burst, sustained };

/// The limit that sets the runtime.
enum class Bound : std::uint8_t { launch, latency, math, l2, dram, power };
/// "launch", "latency", "math", "l2", "dram", "power".
[[nodiscard]] std::string_view to_string(Bound bound);

/// One kernel the library could choose.
struct Tile {
  int m = 0;  ///< rows of the output per CTA (thread block)
  int n = 0;  ///< columns of the output per CTA
  int k = 0;  ///< depth of one pipeline step
  int split_k = 1;
};

/// The terms of one prediction, for `--explain`. Times in s at the predicted clock.
struct GemmTerms {
  double launch_s = 0;
  double fill_s = 0;       ///< pipeline fill and epilogue
  double math_s = 0;       ///< main loop on the busiest SM
  double l2_s = 0;         ///< operand traffic through L2
  double dram_s = 0;       ///< DRAM traffic at the reached bandwidth
  double reduction_s = 0;  ///< adding up the parts of split k
};

/// The outcome. Numbers hold at the predicted clock.
struct GemmPrediction {
  double latency_s = 0;
  double ops_per_s = 0;
  double dram_bytes = 0;
  double l2_bytes = 0;
  double average_power_w = 0;
  double energy_j = 0;
  double sm_clock_hz = 0;
  Bound bound = Bound::launch;
  Tile tile;
  double ctas = 0;
  double waves = 0;  ///< CTAs over those that run at the same time; not rounded
  GemmTerms terms;
  bool calibrated = false;          ///< constants fitted on this very GPU
  bool in_validated_range = false;  ///< calibrated, and sizes and latency lie within the calibration's data
};

/// Preconditions: `require_valid(gemm)` passed and `spec` has `gemm.dtype` (`GpuSpec::rate` refuses others).
/// No allocation, no exceptions.
[[nodiscard]] GemmPrediction predict(const GpuSpec& spec, const Calibration& calibration, const Gemm& gemm,
                                     RunMode mode = RunMode::burst);
/// The latency alone: for sweeps and fits.
[[nodiscard]] double predict_latency_s(const GpuSpec& spec, const Constants& constants, const Gemm& gemm,
                                       RunMode mode = RunMode::burst);

/// Every candidate kernel with its own prediction, fastest first.
[[nodiscard]] std::vector<GemmPrediction> rank_candidates(const GpuSpec& spec, const Calibration& calibration,
                                                          const Gemm& gemm, RunMode mode = RunMode::burst);

/// Lower bound of the runtime: max(operations / peak rate, compulsory bytes / peak bandwidth), with data that may
/// stay in L2 between launches counted at the L2's bandwidth. Source: Williams et al. [paper: roofline].
[[nodiscard]] double roofline_s(const GpuSpec& spec, const Gemm& gemm);

}  // namespace hindsight::gpu

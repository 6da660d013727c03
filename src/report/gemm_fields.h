/// What the GEMM reports share: names, units and the notes on validity.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hindsight/report/gemm.h"
#include "report/json.h"

namespace hindsight::report {

/// "4096 x 4096 x 4096", with a batch "32 * 128 x 64 x 64".
[[nodiscard]] std::string shape_text(const gpu::Gemm& gemm);
/// "7 * 2, 50 * 1 rows x 2048 x 7168".
[[nodiscard]] std::string shape_text(const gpu::GroupedGemm& grouped);
/// "fp8", or "fp8 (dynamic)" with a kernel that quantises the activations before.
[[nodiscard]] std::string format_text(gpu::DType dtype, gpu::Quantisation quantisation);
/// "128 x 256 x 64", "128 x 64 x 64, split 4", "matrix times vector", "none".
[[nodiscard]] std::string tile_text(const gpu::Tile& tile);
/// Three digits, never an exponent.
[[nodiscard]] std::string tflops_text(double ops_per_s);
[[nodiscard]] double energy_per_op_pj(const gpu::GemmPrediction& prediction, const gpu::Gemm& gemm);
/// What the limit is, in a few words.
[[nodiscard]] std::string_view bound_meaning(gpu::Bound bound);
/// What is said of a GPU without a kernel model.
inline constexpr std::string_view kRooflineEstimate = "roofline estimate, no kernel model";
/// "validated", "runtime only" where measurements cover no power and energy, "out of range", "uncalibrated",
/// "roofline".
[[nodiscard]] std::string_view validity(const gpu::Calibration& calibration, bool calibrated, bool in_validated_range,
                                        bool power_in_validated_range);
/// A power or an energy, with a star where measurements do not cover it.
[[nodiscard]] std::string power_cell(double value, std::string_view unit, bool power_in_validated_range);
/// What the star means; empty when there is none.
[[nodiscard]] std::string power_note(bool starred, int columns);

struct ValidityNote {
  const CalibratedGpu* gpu;
  bool calibrated;
  bool in_validated_range;
  double outside_frac = 1;  ///< share of the latency that lies outside the validated range
};
/// Share of a network's latency in layers outside the validated range.
[[nodiscard]] double outside_latency_frac(const gpu::NetworkPrediction& prediction);
/// Sentences on GPUs that are not calibrated or asked outside their range; empty when all are within.
[[nodiscard]] std::string validity_notes(const std::vector<ValidityNote>& notes, int columns);
/// "random operands", "zero weights", ...: what a predicted power is of.
[[nodiscard]] std::string_view operands_name(gpu::Operands operands);
/// Why the learned correction of a prediction counts, counts in part, or does not.
[[nodiscard]] std::string correction_text(const GemmOnGpu& on);
/// Those without a learned correction, where others of the report have one; empty where all or none have.
[[nodiscard]] std::vector<const GemmOnGpu*> uncorrected_among_corrected(const GemmReport& report);
/// A sentence on GPUs whose power is that of weights that nobody wrote, or of a long vector; empty when there are none.
[[nodiscard]] std::string recorded_power_note(const std::vector<std::string>& gpus, gpu::Operands operands,
                                              int columns);
/// As framework_launch_text, for those of `gpus` whose constants hold such launches; empty when there are none.
[[nodiscard]] std::string framework_launch_note(const std::vector<const CalibratedGpu*>& gpus, int columns);
/// A sentence on GPUs that lack the dtype; empty when there are none.
[[nodiscard]] std::string left_out_note(const std::vector<std::string>& gpus, gpu::DType dtype, int columns);

/// A prediction's GPU, and its least_limit_w.
struct LeastLimit {
  const gpu::GpuSpec* spec;
  double least_limit_w;
};
/// A sentence on each GPU whose power limit not even the lowest clock meets; empty when there are none.
[[nodiscard]] std::string unmet_limits_note(const std::vector<LeastLimit>& limits, int columns);

/// A board's name, its predicted latency, and that of the board without its lock; 0 without one.
struct LockedLatency {
  std::string gpu;
  double latency_s;
  double without_lock_s;
};
/// A sentence on each that a lock makes faster; empty when there are none.
[[nodiscard]] std::string lock_note(const std::vector<LockedLatency>& locked, int columns);

/// Latency without the lock, us; null where there is none.
[[nodiscard]] Json without_lock_json(double without_lock_s);
/// null where the limit is met.
[[nodiscard]] Json least_limit_json(double least_limit_w);
[[nodiscard]] Json gemm_fields_json(const gpu::Gemm& gemm);
/// {"groups": [{"count", "rows"}], "n", "k"}: groups of as many rows, one behind the other, are one entry.
[[nodiscard]] Json grouped_fields_json(const gpu::GroupedGemm& grouped);
[[nodiscard]] Json other_prediction_json(const gpu::OtherPrediction& prediction);
[[nodiscard]] Json prediction_json(const gpu::GemmPrediction& prediction);
[[nodiscard]] Json calibration_json(const CalibratedGpu& gpu);

}  // namespace hindsight::report

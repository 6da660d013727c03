/// Trains the learned correction and judges it on held-out sizes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gpu/boosted_trees.h"
#include "gpu/residual_features.h"
#include "hindsight/core/error.h"
#include "hindsight/gpu/calibration.h"
#include "hindsight/gpu/predict.h"
#include "hindsight/gpu/residual.h"

namespace hindsight::gpu {
namespace {

/// One measured row as the trees see it.
struct ResidualRow {
  const GemmMeasurement* measured = nullptr;
  ResidualInputs inputs;
  float target = 0;  ///< log of the time at the highest clock that explains the latency, over the predicted one
  float weight = 1;  ///< d log latency / d log time: below 1 where the power limit evens differences out
  double analytical_s = 0;
};

std::vector<ResidualRow> residual_rows(const GpuSpec& spec, const Predictor& predictor,
                                       std::span<const GemmMeasurement> measurements, RunMode mode) {
  std::vector<ResidualRow> rows;
  for (const GemmMeasurement& row : measurements) {
    const Predictor::FullClock explained = predictor.full_clock(row.gemm, mode, row.latency_s);
    const double log_ratio = std::log(explained.explaining_s / explained.predicted_s);
    rows.push_back({.measured = &row,
                    .inputs = residual_inputs(with_weights_second(row.gemm), spec.sms),
                    .target = static_cast<float>(std::clamp(log_ratio, -kMostCorrection, kMostCorrection)),
                    .weight = static_cast<float>(explained.sensitivity),
                    .analytical_s = predictor.latency_s(row.gemm, mode)});
  }
  return rows;
}

/// Trees of all rows outside `left_out`; -1 leaves out none.
Trees trees_without(const std::vector<ResidualRow>& rows, int left_out) {
  TreeRows training;
  for (const ResidualRow& row : rows) {
    if (fold_of(row.measured->gemm) == left_out) continue;
    training.inputs.push_back(row.inputs);
    training.targets.push_back(row.target);
    training.weights.push_back(row.weight);
  }
  return train_trees(training);
}

/// Header and sizes of a residual of the rows outside `left_out`, without trees.
Residual card(const GpuSpec& spec, const Calibration& calibration, std::span<const GemmMeasurement> rows, RunMode mode,
              int left_out) {
  Residual residual;
  residual.gpu = spec.name;
  residual.architecture = spec.architecture;
  residual.dtype_class = calibration.dtype_class;
  residual.sms = spec.sms;
  residual.sheet = sheet_hash(spec);
  residual.constants = constants_hash(calibration.constants);
  std::set<std::pair<double, double>> sizes;
  for (const GemmMeasurement& row : rows) {
    if (fold_of(row.gemm) == left_out) continue;
    const Gemm gemm = with_weights_second(row.gemm);
    include(residual.range, gemm, row.latency_s);
    sizes.emplace(std::log2(static_cast<double>(gemm.n)), std::log2(static_cast<double>(gemm.k)));
    ++residual.row_count;
  }
  residual.range.mode = mode;
  residual.sizes.assign(sizes.begin(), sizes.end());
  return residual;
}

/// Rows of one format: the trees do not see it. fp16 runs the kernels of bf16.
void require_one_format(std::span<const GemmMeasurement> rows) {
  const auto kernels_of = [](DType dtype) { return dtype == DType::fp16 ? DType::bf16 : dtype; };
  const DType first = rows.front().gemm.dtype;
  for (const GemmMeasurement& row : rows) {
    if (kernels_of(row.gemm.dtype) == kernels_of(first)) continue;
    throw Error(ErrorKind::usage,
                fmt::format("calibrate --residual: rows of {} and {} (a correction is of one format). Choose one with "
                            "--dtype",
                            to_string(first), to_string(row.gemm.dtype)));
  }
}

}  // namespace

ResidualTraining train_residual(const GpuSpec& spec, const Calibration& calibration,
                                std::span<const GemmMeasurement> rows, RunMode mode) {
  require_measurements(spec, rows);
  require_one_format(rows);
  require_plausible(spec, rows, mode);
  Calibration analytical = calibration;
  analytical.residual = nullptr;
  const Predictor predictor(spec, analytical, rows.front().gemm.dtype);
  const std::vector<ResidualRow> learned = residual_rows(spec, predictor, rows, mode);
  std::vector<double> measured_s, without_s, with_s(rows.size());
  for (const ResidualRow& row : learned) {
    measured_s.push_back(row.measured->latency_s);
    without_s.push_back(row.analytical_s);
  }
  const auto trained = [&](int left_out) {
    Residual residual = card(spec, analytical, rows, mode, left_out);
    Trees trees = trees_without(learned, left_out);
    residual.trees = ResidualTrees(std::move(trees.roots), std::move(trees.nodes));
    return residual;
  };
  for (int fold = 0; fold < kFolds; ++fold) {
    Calibration corrected = analytical;
    corrected.residual = std::make_shared<const Residual>(trained(fold));
    const Predictor held_out(spec, corrected, rows.front().gemm.dtype);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (fold_of(rows[i].gemm) == fold) with_s[i] = held_out.latency_s(rows[i].gemm, mode);
    }
  }
  const LatencyErrors without = latency_errors(without_s, measured_s), with = latency_errors(with_s, measured_s);
  if (with.mape_frac > (1 - kLeastGain) * without.mape_frac) {
    throw Error(ErrorKind::failure,
                fmt::format("calibrate --residual: held-out error {:.2f} % with the residual, {:.2f} % without (it has "
                            "to win by {:.0f} %). Nothing is written; measure more shapes, or do without",
                            100 * with.mape_frac, 100 * without.mape_frac, 100 * kLeastGain));
  }
  Residual residual = trained(-1);
  residual.without_mape_frac = without.mape_frac;
  residual.without_median_frac = without.median_frac;
  residual.with_mape_frac = with.mape_frac;
  residual.with_median_frac = with.median_frac;
  return {.residual = std::move(residual), .held_out_s = std::move(with_s)};
}

}  // namespace hindsight::gpu

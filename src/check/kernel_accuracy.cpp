/// Predicts measured kernels and scores the predictions.
#include "hindsight/check/kernel_accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

#include "hindsight/gpu/predict.h"

namespace hindsight::check {
namespace {

using dataset::KernelRow;
using gpu::DType;
using gpu::RunMode;

/// What one format needs, made when the first row asks for it.
class Format {
 public:
  Format(const gpu::GpuSpec& spec, DType dtype, std::span<const gpu::Calibration> given)
      : calibration_(gpu::with_kernel_launch(gpu::load_calibration(spec, dtype, given), spec, given)),
        gemms_(spec, calibration_, dtype),
        others_(spec, calibration_, dtype) {}
  [[nodiscard]] const gpu::Predictor& gemms() const { return gemms_; }
  [[nodiscard]] const gpu::OtherKernels& others() const { return others_; }

 private:
  gpu::Calibration calibration_;
  gpu::Predictor gemms_;
  gpu::OtherKernels others_;
};

}  // namespace

std::vector<double> predicted_kernels_s(const gpu::GpuSpec& spec, const std::vector<KernelRow>& rows,
                                        std::span<const gpu::Calibration> given) {
  constexpr double kBeyondL2 = 1.5;  // [chosen] what passes between two uses leaves nothing in there
  std::map<DType, Format> formats;
  const auto format = [&](DType dtype) -> const Format& {
    return formats.try_emplace(dtype, spec, dtype, given).first->second;
  };
  std::vector<double> predicted_s;
  for (const KernelRow& row : rows) {
    if (const auto* gemm = std::get_if<gpu::Gemm>(&row.work)) {
      predicted_s.push_back(format(gemm->dtype).gemms().latency_s(*gemm, RunMode::burst));
    } else if (const auto* attention = std::get_if<gpu::Attention>(&row.work)) {
      predicted_s.push_back(format(attention->dtype).others().predict(*attention, RunMode::burst).latency_s);
    } else if (const auto* grouped = std::get_if<gpu::GroupedGemm>(&row.work)) {
      predicted_s.push_back(format(grouped->dtype).others().predict(*grouped, RunMode::burst).latency_s);
    } else {
      gpu::Streaming kernel = std::get<gpu::Streaming>(row.work);
      kernel.cold = row.rotated && row.rotated_bytes > kBeyondL2 * spec.l2_bytes;
      predicted_s.push_back(format(DType::bf16).others().predict(kernel, RunMode::burst).latency_s);
    }
  }
  return predicted_s;
}

std::vector<KernelScore> kernel_scores(const std::vector<KernelRow>& rows, const std::vector<double>& predicted_s) {
  std::vector<KernelScore> scores;
  std::vector<std::vector<double>> errors;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto found = std::find_if(scores.begin(), scores.end(), [&](const KernelScore& score) {
      return score.kind == rows[i].kind && score.backend == rows[i].backend;
    });
    const auto at = static_cast<std::size_t>(found - scores.begin());
    if (found == scores.end()) {
      scores.push_back({.kind = rows[i].kind, .backend = rows[i].backend});
      errors.emplace_back();
    }
    const double ratio = predicted_s[i] / rows[i].latency_s;
    KernelScore& score = scores[at];
    ++score.rows;
    score.mape_frac += std::abs(ratio - 1);
    score.bias_frac += std::log(ratio);
    if (std::abs(ratio - 1) > std::abs(score.worst_frac)) score.worst_frac = ratio - 1;
    errors[at].push_back(std::abs(ratio - 1));
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto count = static_cast<double>(scores[i].rows);
    std::sort(errors[i].begin(), errors[i].end());
    scores[i].mape_frac /= count;
    scores[i].bias_frac = std::exp(scores[i].bias_frac / count) - 1;
    scores[i].median_frac = 0.5 * (errors[i][(errors[i].size() - 1) / 2] + errors[i][errors[i].size() / 2]);
  }
  return scores;
}

}  // namespace hindsight::check

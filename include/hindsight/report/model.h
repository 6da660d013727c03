/// Renders trained surrogates: the summary of a training, and what a model file says about itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/surrogate/metrics.h"
#include "hindsight/surrogate/model.h"
#include "hindsight/surrogate/train.h"
#include "hindsight/surrogate/tune.h"

namespace hindsight::report {

/// What a training did.
struct TrainingSummary {
  const dataset::Dataset* data = nullptr;
  const surrogate::TrainingPlan* plan = nullptr;  ///< of `data`
  const surrogate::TrainResult* result = nullptr;
  std::filesystem::path file;  ///< empty when interrupted: no model was written
  std::string file_sha256;
  std::optional<std::int64_t> model_id;  ///< in the log
  std::uint64_t simulator_queries = 0;   ///< evaluations that were asked for while it was trained
};
/// Of a finished training.
[[nodiscard]] std::string training_text(const TrainingSummary& summary, int columns);
[[nodiscard]] std::string training_json(const TrainingSummary& summary);
/// How far the members of an interrupted training came: "1 of 3 members complete, the others after 0 to 213 steps".
[[nodiscard]] std::string reached_text(const std::vector<surrogate::MemberProgress>& members);

/// Everything of a model but its weights, as one JSON object.
[[nodiscard]] std::string model_json(const surrogate::Model& model, const std::filesystem::path& file,
                                     const std::string& file_sha256);

/// How right a model is about the applications of a log.
[[nodiscard]] std::string scores_text(const std::vector<surrogate::ApplicationScore>& scores, int columns);
[[nodiscard]] std::string scores_json(const std::vector<surrogate::ApplicationScore>& scores);
/// What a calibration that was stored in `file` says.
[[nodiscard]] std::string calibration_text(const surrogate::ErrorCalibration& calibration, const std::string& file,
                                           int columns);

/// Rank correlation ("-" before the first evaluation) and loss terms, the most important first: "tau 0.71 (best 0.73)",
/// "loss 0.31", "fit 0.10", "rank 0.40", ...; neg and infeas are mean predictions on mined negatives and on infeasible
/// rows, feas the loss of feasibility. Of methods by tables the loss alone.
[[nodiscard]] std::vector<std::string> training_notes(const surrogate::TrainProgress& progress);

/// "trial 3 (bracket 0, rung 1): 600 steps, tau 0.52, AUC 0.91; alpha 0.03, beta 0.2".
[[nodiscard]] std::string trial_text(const surrogate::Trial& trial);

}  // namespace hindsight::report

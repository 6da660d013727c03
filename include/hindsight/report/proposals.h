/// Renders proposals: predictions, distance to the log, and the truth where it was asked for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/study/verdict.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::report {

/// Proposals with what is known about them.
struct ProposalReport {
  const surrogate::Model* model = nullptr;
  std::string model_file;
  const optimize::ProposeOptions* options = nullptr;
  const optimize::ProposeResult* result = nullptr;
  const dataset::Dataset* logged = nullptr;  ///< null without a log
  /// One per proposal; empty when nothing was simulated.
  std::vector<study::Verdict> verdicts = {};
  std::uint64_t simulator_queries = 0;  ///< evaluations that were asked for while this was made
  std::string technology = {};
  double seconds = 0;
};

/// The best logged design for the same question, aggregated; nothing without one.
[[nodiscard]] std::optional<double> best_logged(const ProposalReport& report);

[[nodiscard]] std::string proposals_text(const ProposalReport& report, int columns);
[[nodiscard]] std::string proposals_json(const ProposalReport& report);
/// A header and a row per proposal: every parameter, then predictions, then truth.
[[nodiscard]] std::string proposals_csv(const ProposalReport& report);

/// The objective of a proposal over all its applications, in physical units.
[[nodiscard]] double predicted_value(const ProposalReport& report, const optimize::Proposal& proposal);
/// Of proposal `index`: what the model said (JSON text), and what the simulator said, if asked.
[[nodiscard]] std::string prediction_json(const ProposalReport& report, std::size_t index);
[[nodiscard]] std::optional<std::string> verdict_json(const ProposalReport& report, std::size_t index);

}  // namespace hindsight::report

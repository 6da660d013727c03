/// What a user writes to bound proposals: fixed and bounded parameters, limits of metrics.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/evaluator/evaluator.h"
#include "hindsight/optimize/problem.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::study {

/// The words of --set, --min and --max.
struct LimitWords {
  std::vector<std::string> set;  ///< "pes_x=8", "pes_x=4..8", "dataflow=ws"
  std::vector<std::string> min;  ///< "pes_x=4": smallest value of a parameter
  std::vector<std::string> max;  ///< "area_mm2=27", or the largest value of a parameter
};

using KnownEvaluator = std::shared_ptr<const evaluator::Evaluator>;

struct Limits {
  optimize::AllowedLevels allowed;
  std::vector<optimize::Constraint> constraints;
};
/// A metric is limited by a fact of the evaluator where it has one of that name, else by what the model predicts under
/// it: a label, or its objective.
/// Error{usage}: nearest name, or the values a parameter has; Error{no_feasible} when no value is left.
/// `evaluator`: what knows facts of the model's designs; may be null.
[[nodiscard]] Limits resolve_limits(const LimitWords& words, const surrogate::Model& model,
                                    const KnownEvaluator& evaluator);

/// The same words over a space alone.
struct SpaceLimits {
  optimize::AllowedLevels allowed;
  std::vector<std::pair<std::string, double>> metrics;  ///< each once, with the tightest limit
};
/// `metrics`: what --max may limit besides parameters; empty: any other name. Errors as above.
[[nodiscard]] SpaceLimits resolve_space_limits(const LimitWords& words, const space::DesignSpace& space,
                                               const std::vector<std::string>& metrics);

}  // namespace hindsight::study

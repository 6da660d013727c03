/// What a user writes to bound proposals: fixed and bounded parameters, limits of metrics.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/evaluator/evaluator.h"
#include "hindsight/optimize/problem.h"
#include "hindsight/space/rules.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::study {

/// The words of --set, --min and --max.
struct LimitWords {
  std::vector<std::string> set;  ///< "pes_x=8", "pes_x=4..8", "dataflow=ws"
  std::vector<std::string> min;  ///< "pes_x=4": smallest value of a parameter
  std::vector<std::string> max;  ///< "area_mm2=27", or the largest value of a parameter or of a derived quantity
};

/// The derived quantities of a space; null: none.
using DerivedQuantities = std::shared_ptr<const space::Rules>;
/// Those of a space file, for designs of `space`, which a log or a model has without them. Error{incompatible} when the
/// file describes another space; its errors. No name: none.
[[nodiscard]] DerivedQuantities derived_quantities(const std::string& name_or_path, const space::DesignSpace& space);
/// `name` <= limit; nothing when there is no derived quantity of that name.
[[nodiscard]] std::optional<optimize::Constraint> derived_constraint(const DerivedQuantities& derived,
                                                                     const std::string& name, double limit);

using KnownEvaluator = std::shared_ptr<const evaluator::Evaluator>;

/// The evaluator's stated_limits() but those of which the space has a derived quantity of that name, by which it means
/// something else. A limit that a design alone decides is known exactly.
[[nodiscard]] std::vector<evaluator::StatedLimit> stated_limits_of(const evaluator::Evaluator& evaluator);

/// The words with stated_limits_of(evaluator) among --max, in the place of words that allow more.
[[nodiscard]] LimitWords with_stated_limits(LimitWords words, const evaluator::Evaluator& evaluator);

struct Limits {
  optimize::AllowedLevels allowed;
  std::vector<optimize::Constraint> constraints;
};
/// A metric is limited by a fact of the evaluator where it has one of that name, else by what the model predicts under
/// it: a label, or its objective. Of a model that learnt from another evaluator what it predicts comes first.
/// Error{usage}: nearest name, or the values a parameter has; a derived quantity with the name of something else; a
/// second --max or --min of the same, by whatever name.
/// Error{no_feasible} when no value is left. `evaluator`: what knows facts of the model's designs; may be null.
/// `derived`: what --max may name besides.
[[nodiscard]] Limits resolve_limits(const LimitWords& words, const surrogate::Model& model,
                                    const KnownEvaluator& evaluator, const DerivedQuantities& derived = nullptr);

/// The same words over a space alone.
struct SpaceLimits {
  optimize::AllowedLevels allowed;
  std::vector<std::pair<std::string, double>> metrics;  ///< each once, with its limit
  std::vector<std::pair<std::string, double>> derived;  ///< the same of the space's derived quantities
};
/// `metrics`: what --max may limit besides parameters and derived quantities; empty: any other name. Errors as above.
[[nodiscard]] SpaceLimits resolve_space_limits(const LimitWords& words, const space::DesignSpace& space,
                                               const std::vector<std::string>& metrics);

}  // namespace hindsight::study

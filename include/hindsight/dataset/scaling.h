/// Scalers fitted on training rows only: contexts and objectives.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"

namespace hindsight::dataset {

/// Context features: x -> (log1p(x) - mean) / deviation per feature; constant features map to 0.
/// Fitted on the contexts that occur in the training rows.
struct ContextScaler {
  std::vector<std::string> feature_names;
  Eigen::VectorXd mean, deviation;                                    // c
  [[nodiscard]] Eigen::VectorXd apply(const Context& context) const;  // c; Error{incompatible} on other names
};
[[nodiscard]] ContextScaler fit_context_scaler(const std::vector<Context>& contexts);

/// Objective: z = (log(y) - mean_c) / deviation_c per training context c; smaller is better.
/// For a context that was not trained on, mean and deviation come from a ridge regression of the training contexts'
/// own means and deviations on their scaled features (with one context: its own), and predictions in physical units
/// are marked as extrapolated.
struct ObjectiveScaler {
  std::vector<std::string> context_names;
  Eigen::VectorXd mean, deviation;                  // one per training context
  Eigen::VectorXd mean_weights, deviation_weights;  // c + 1, last is the intercept
  struct Scale {
    double mean = 0, deviation = 1;
    bool extrapolated = false;
  };
  [[nodiscard]] Scale scale(const std::string& context_name, const Eigen::VectorXd& scaled_features) const;
};
[[nodiscard]] ObjectiveScaler fit_objective_scaler(const Dataset& train, const ContextScaler& contexts);

/// Constraint labels: z = (log(y) - mean) / deviation over all training rows where logged.
struct ConstraintScaler {
  std::vector<std::string> names;
  Eigen::VectorXd mean, deviation;  // k
};
[[nodiscard]] ConstraintScaler fit_constraint_scaler(const Dataset& train);

/// Numeric encodings of one parameter level in [-1, 1]: position of the value, of its logarithm (ordinal, positive), of
/// the level. One-hot and embedding index follow from the level itself.
enum class LevelEncoding { value, log_value, level };
[[nodiscard]] double encode_level(const space::Parameter& parameter, std::size_t level, LevelEncoding encoding);

}  // namespace hindsight::dataset

/// How objectives, constraint labels and contexts become numbers that a network learns. Scalers are fitted on training
/// rows only; the scale of a quantity is decided once for all rows.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"

namespace hindsight::dataset {

/// The scale on which a quantity y is standardised: u = log(y), log(1 + y), or y itself.
enum class ValueScale { logarithmic, log1p, linear };
/// Names as above. Error{incompatible} for any other: they come from files.
[[nodiscard]] ValueScale parse_value_scale(const std::string& name);
[[nodiscard]] std::string to_string(ValueScale scale);
/// u of y, and y of u.
[[nodiscard]] double scaled_value(ValueScale scale, double value);
[[nodiscard]] double unscaled_value(ValueScale scale, double scaled);

/// Scales of a dataset's quantities, from all of its rows (held-out ones must fit the same scale).
struct ValueScales {
  ValueScale objective = ValueScale::logarithmic;
  std::vector<ValueScale> constraints;  // k
};
/// Objective: logarithmic where all values are positive, else linear. A label: logarithmic where all of its values are
/// positive and span more than a decade; log1p where they are counts (whole numbers from 0 on, 0 among them) whose
/// 1 + y span more than a decade; else linear, as small ranges and shares need.
[[nodiscard]] ValueScales value_scales(const Dataset& data);

/// Context features: x -> (sign(x) log1p(|x|) - mean) / deviation per feature; features that are constant over the
/// fitted contexts have deviation 0 and map to 0. Fit it on the contexts that occur in the training rows. Behind the
/// features stand words: 1 or 0, standardised over the fitted contexts that have one of the word's column, and 0 for a
/// context that has none of them.
struct ContextScaler {
  std::vector<std::string> feature_names;
  Eigen::VectorXd mean, deviation;      // c + w
  std::vector<ContextWord> words = {};  // w, distinguishing_words() of the fitted contexts
  [[nodiscard]] std::size_t size() const { return feature_names.size() + words.size(); }
  [[nodiscard]] Eigen::VectorXd apply(const Context& context) const;  // c + w; Error{incompatible} on other names
};
/// Error{incompatible} when contexts have different features, Error{usage} for a feature that is not finite.
[[nodiscard]] ContextScaler fit_context_scaler(const std::vector<Context>& contexts,
                                               const std::vector<ContextWord>& words = {});

/// Objective: z = (u - mean_c) / deviation_c per training context c, u by `value_scale`; smaller is better.
/// For a context that was not trained on, mean and deviation come from a ridge regression of the training contexts'
/// own means and log deviations on their scaled features (with one context: its own), and predictions in physical units
/// are marked as extrapolated. Guesses are bounded: means by the range of the training contexts' means widened by its
/// width to both sides, deviations by their range.
struct ObjectiveScaler {
  std::vector<std::string> context_names;
  Eigen::VectorXd mean, deviation;                  // one per training context
  Eigen::VectorXd mean_weights, deviation_weights;  // c + w + 1, last is the intercept; the latter of log(deviation)
  ValueScale value_scale = ValueScale::logarithmic;
  struct Scale {
    double mean = 0, deviation = 1;
    bool extrapolated = false;
  };
  [[nodiscard]] Scale scale(const std::string& context_name, const Eigen::VectorXd& scaled_features) const;
};
/// Contexts without a feasible training row are left out; one whose objective is constant gets the median deviation of
/// the others, or 1. Error{usage} when no row is feasible.
[[nodiscard]] ObjectiveScaler fit_objective_scaler(const Dataset& train, const ContextScaler& contexts,
                                                   ValueScale value_scale);

/// Constraint labels: z = (u - mean) / deviation over all training rows where logged, u by the label's scale. Deviation
/// 1 for a constant label, mean 0 and deviation 1 for one that no row has.
struct ConstraintScaler {
  std::vector<std::string> names;
  Eigen::VectorXd mean, deviation;       // k
  std::vector<ValueScale> value_scales;  // k
};
[[nodiscard]] ConstraintScaler fit_constraint_scaler(const Dataset& train, const std::vector<ValueScale>& value_scales);

/// Numeric encodings of one parameter level in [-1, 1]: position of the value, of its logarithm (ordinal, positive), of
/// the level. One-hot and embedding index follow from the level itself. A single level is at 0. Where an encoding has
/// no meaning (names; logarithms of values <= 0) the position of the level stands in.
enum class LevelEncoding { value, log_value, level };
[[nodiscard]] double encode_level(const space::Parameter& parameter, std::size_t level, LevelEncoding encoding);

}  // namespace hindsight::dataset

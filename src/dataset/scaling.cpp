/// Scalers: scales, means and deviations of training data, and guesses for contexts that were not trained on.
#include "hindsight/dataset/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

/// Weight of the squared coefficients in the ridge regression over contexts [chosen: with standardised features it
/// halves what a single context can say, and keeps few contexts from being interpolated].
constexpr double kRidgePenalty = 1.0;
/// Deviations of values below this share of their mean are rounding: the values are constant [chosen].
constexpr double kConstantDeviation = 1e-9;

/// [chosen] A factor of ten: below it a logarithm straightens nothing, above it small values would vanish.
constexpr double kDecade = 10;

/// In the order of ValueScale.
const std::array<std::string, 3>& scale_names() {
  static const std::array<std::string, 3> names = {"logarithmic", "log1p", "linear"};
  return names;
}

ValueScale label_scale(const Eigen::VectorXd& values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool whole = true;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
    whole = whole && value == std::floor(value);
  }
  if (low > 0) return high > kDecade * low ? ValueScale::logarithmic : ValueScale::linear;
  return whole && low == 0 && 1 + high > kDecade ? ValueScale::log1p : ValueScale::linear;
}

double signed_log1p(double x) { return std::copysign(std::log1p(std::abs(x)), x); }

/// Mean and population deviation, exact for equal values. `unit`: what rounding is relative to beside the values; 1 for
/// logarithms, whose rounding is absolute.
struct Moments {
  double mean = 0;
  double deviation = 0;
};
Moments moments_of(const std::vector<double>& values, double unit) {
  Moments result;
  if (values.empty()) {
    return result;
  }
  const auto count = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / count;
  double variance = 0;
  for (const double value : values) variance += (value - result.mean) * (value - result.mean) / count;
  result.deviation = std::sqrt(variance);
  if (result.deviation <= kConstantDeviation * std::max(unit, std::abs(result.mean))) {
    result.deviation = 0;
  }
  return result;
}

double rounding_unit(ValueScale scale) { return scale == ValueScale::linear ? 0 : 1; }

[[noreturn]] void refuse_features(const std::string& context, const std::vector<std::string>& wanted,
                                  const std::vector<std::string>& got) {
  std::size_t first = 0;
  while (first < std::min(wanted.size(), got.size()) && wanted[first] == got[first]) ++first;
  const auto name_at = [&](const std::vector<std::string>& names) {
    return first < names.size() ? "'" + printable(names[first]) + "'" : std::string("nothing");
  };
  throw Error(ErrorKind::incompatible,
              fmt::format("context '{}' has {} features, {} expected; feature {} is {}, {} expected (a surrogate "
                          "understands only the features it was trained on). Use a log and a model of one version",
                          printable(context), got.size(), wanted.size(), first + 1, name_at(got), name_at(wanted)));
}

/// Transformed raw features, before standardisation.
Eigen::VectorXd transformed(const Context& context) {
  Eigen::VectorXd result = context.features;
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    if (!std::isfinite(result[i])) {
      throw Error(ErrorKind::usage,
                  fmt::format("context '{}': feature {} is {} (features are finite numbers). Correct "
                              "the workload",
                              printable(context.name), context.feature_names[static_cast<std::size_t>(i)], result[i]));
    }
    result[i] = signed_log1p(result[i]);
  }
  return result;
}

/// These, and behind them the indicators of words.
Eigen::VectorXd with_words(const Context& context, const std::vector<ContextWord>& words) {
  Eigen::VectorXd result(context.features.size() + std::ssize(words));
  result.head(context.features.size()) = transformed(context);
  result.tail(std::ssize(words)) = word_indicators(context, words);
  return result;
}

/// Ridge regression with a free intercept.
///
/// Equation: min_w,b |X w + b - t|^2 + lambda |w|^2, solved on centred X and t as (X'X + lambda I) w = X't.
/// Symbols: X m contexts x c features, t one target per context, lambda = kRidgePenalty.
/// Source: Hoerl and Kennard 1970 (Technometrics 12), with the intercept free of the penalty.
Eigen::VectorXd ridge(const Eigen::MatrixXd& X, const Eigen::VectorXd& targets) {
  const Eigen::RowVectorXd centre = X.colwise().mean();
  const Eigen::MatrixXd centred = X.rowwise() - centre;
  const double target_mean = targets.mean();
  const Eigen::MatrixXd normal =
      centred.transpose() * centred + kRidgePenalty * Eigen::MatrixXd::Identity(X.cols(), X.cols());
  Eigen::VectorXd result(X.cols() + 1);
  if (X.cols() > 0) {
    const Eigen::VectorXd right = centred.transpose() * (targets.array() - target_mean).matrix();
    result.head(X.cols()) = normal.ldlt().solve(right);
  }
  result[X.cols()] = target_mean - (X.cols() > 0 ? centre.dot(result.head(X.cols())) : 0.0);
  return result;
}

/// Objectives of the feasible rows on their scale, per context.
std::vector<std::vector<double>> scaled_objectives(const Dataset& data, ValueScale value_scale) {
  std::vector<std::vector<double>> result(data.contexts.size());
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.feasible[i]) {
      const double value = scaled_value(value_scale, data.objective[static_cast<Eigen::Index>(i)]);
      HINDSIGHT_EXPECT(std::isfinite(value));
      result[static_cast<std::size_t>(data.context[i])].push_back(value);
    }
  }
  return result;
}

/// The median of the positive deviations, 1 without any.
double usual_deviation(const std::vector<Moments>& moments) {
  std::vector<double> positive;
  for (const Moments& one : moments) {
    if (one.deviation > 0.0) positive.push_back(one.deviation);
  }
  if (positive.empty()) {
    return 1.0;
  }
  const auto middle = positive.begin() + static_cast<std::ptrdiff_t>(positive.size() / 2);
  std::nth_element(positive.begin(), middle, positive.end());
  return *middle;
}

/// Position of `x` between `low` and `high` as -1 .. 1.
double position(double x, double low, double high) { return high > low ? 2.0 * ((x - low) / (high - low)) - 1.0 : 0.0; }

}  // namespace

ValueScale parse_value_scale(const std::string& name) {
  const auto& names = scale_names();
  const auto* found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    throw Error(ErrorKind::incompatible,
                fmt::format("unknown scale '{}'. Known: {}", printable(name), join(names, ", ")));
  }
  return static_cast<ValueScale>(found - names.begin());
}

std::string to_string(ValueScale scale) { return scale_names()[static_cast<std::size_t>(scale)]; }

double scaled_value(ValueScale scale, double value) {
  switch (scale) {
    case ValueScale::logarithmic:
      return std::log(value);
    case ValueScale::log1p:
      return std::log1p(value);
    case ValueScale::linear:
      break;
  }
  return value;
}

double unscaled_value(ValueScale scale, double scaled) {
  switch (scale) {
    case ValueScale::logarithmic:
      return std::exp(scaled);
    case ValueScale::log1p:
      return std::expm1(scaled);
    case ValueScale::linear:
      break;
  }
  return scaled;
}

ValueScales value_scales(const Dataset& data) {
  ValueScales scales;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const bool positive = data.objective[static_cast<Eigen::Index>(i)] > 0;
    if (data.feasible[i] && !positive) scales.objective = ValueScale::linear;
  }
  for (Eigen::Index k = 0; k < data.constraints.cols(); ++k) {
    scales.constraints.push_back(label_scale(data.constraints.col(k)));
  }
  return scales;
}

Eigen::VectorXd ContextScaler::apply(const Context& context) const {
  HINDSIGHT_EXPECT(context.feature_names.size() == static_cast<std::size_t>(context.features.size()));
  if (context.feature_names != feature_names) {
    refuse_features(context.name, feature_names, context.feature_names);
  }
  Eigen::VectorXd scaled = with_words(context, words);
  for (Eigen::Index i = 0; i < scaled.size(); ++i) {
    const bool known = deviation[i] > 0.0 && !std::isnan(scaled[i]);
    scaled[i] = known ? (scaled[i] - mean[i]) / deviation[i] : 0.0;
  }
  return scaled;
}

ContextScaler fit_context_scaler(const std::vector<Context>& contexts, const std::vector<ContextWord>& words) {
  ContextScaler scaler;
  if (contexts.empty()) {
    return scaler;
  }
  scaler.feature_names = contexts.front().feature_names;
  scaler.words = words;
  const auto features = static_cast<Eigen::Index>(scaler.size());
  std::vector<Eigen::VectorXd> rows;
  for (const Context& context : contexts) {
    HINDSIGHT_EXPECT(context.feature_names.size() == static_cast<std::size_t>(context.features.size()));
    if (context.feature_names != scaler.feature_names) {
      refuse_features(context.name, scaler.feature_names, context.feature_names);
    }
    rows.push_back(with_words(context, words));
  }
  scaler.mean.resize(features);
  scaler.deviation.resize(features);
  for (Eigen::Index i = 0; i < features; ++i) {
    std::vector<double> column;
    for (const Eigen::VectorXd& row : rows) {
      if (!std::isnan(row[i])) column.push_back(row[i]);
    }
    const Moments moments = moments_of(column, 1);
    scaler.mean[i] = moments.mean;
    scaler.deviation[i] = moments.deviation;
  }
  return scaler;
}

ObjectiveScaler::Scale ObjectiveScaler::scale(const std::string& context_name,
                                              const Eigen::VectorXd& scaled_features) const {
  const auto found = std::find(context_names.begin(), context_names.end(), context_name);
  if (found != context_names.end()) {
    const auto c = static_cast<Eigen::Index>(found - context_names.begin());
    return {.mean = mean[c], .deviation = deviation[c], .extrapolated = false};
  }
  HINDSIGHT_EXPECT(mean.size() > 0 && scaled_features.size() + 1 == mean_weights.size());
  const auto guess = [&](const Eigen::VectorXd& weights) {
    return weights.head(scaled_features.size()).dot(scaled_features) + weights[scaled_features.size()];
  };
  const double low = mean.minCoeff(), high = mean.maxCoeff();
  return {.mean = std::clamp(guess(mean_weights), low - (high - low), high + (high - low)),
          .deviation = std::clamp(std::exp(guess(deviation_weights)), deviation.minCoeff(), deviation.maxCoeff()),
          .extrapolated = true};
}

ObjectiveScaler fit_objective_scaler(const Dataset& train, const ContextScaler& contexts, ValueScale value_scale) {
  const std::vector<std::vector<double>> values = scaled_objectives(train, value_scale);
  ObjectiveScaler scaler;
  scaler.value_scale = value_scale;
  std::vector<Moments> moments;
  std::vector<Eigen::VectorXd> features;
  for (std::size_t c = 0; c < values.size(); ++c) {
    if (!values[c].empty()) {
      scaler.context_names.push_back(train.contexts[c].name);
      moments.push_back(moments_of(values[c], rounding_unit(value_scale)));
      features.push_back(contexts.apply(train.contexts[c]));
    }
  }
  if (moments.empty()) {
    throw Error(ErrorKind::usage, "no training row is feasible (objectives cannot be scaled). Log feasible designs");
  }
  const double usual = usual_deviation(moments);
  const auto count = static_cast<Eigen::Index>(moments.size());
  scaler.mean.resize(count);
  scaler.deviation.resize(count);
  Eigen::MatrixXd X(count, features.front().size());
  for (Eigen::Index c = 0; c < count; ++c) {
    const Moments& one = moments[static_cast<std::size_t>(c)];
    scaler.mean[c] = one.mean;
    scaler.deviation[c] = one.deviation > 0.0 ? one.deviation : usual;
    X.row(c) = features[static_cast<std::size_t>(c)].transpose();
  }
  scaler.mean_weights = ridge(X, scaler.mean);
  scaler.deviation_weights = ridge(X, scaler.deviation.array().log().matrix());
  return scaler;
}

ConstraintScaler fit_constraint_scaler(const Dataset& train, const std::vector<ValueScale>& value_scales) {
  const Eigen::Index count = train.constraints.cols();
  HINDSIGHT_EXPECT(value_scales.size() == static_cast<std::size_t>(count));
  ConstraintScaler scaler;
  scaler.names = train.constraint_names;
  scaler.value_scales = value_scales;
  scaler.mean.resize(count);
  scaler.deviation.resize(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    std::vector<double> values;
    for (const double value : train.constraints.col(k)) {
      if (std::isfinite(value)) values.push_back(scaled_value(value_scales[static_cast<std::size_t>(k)], value));
    }
    const Moments moments = moments_of(values, rounding_unit(value_scales[static_cast<std::size_t>(k)]));
    scaler.mean[k] = moments.mean;
    scaler.deviation[k] = moments.deviation > 0.0 ? moments.deviation : 1.0;
  }
  return scaler;
}

double encode_level(const space::Parameter& parameter, std::size_t level, LevelEncoding encoding) {
  HINDSIGHT_EXPECT(level < parameter.level_count());
  const bool ordinal = parameter.kind == space::ParameterKind::ordinal;
  const auto last = static_cast<double>(parameter.level_count() - 1);
  const bool positive = ordinal && parameter.values.front() > 0.0;
  if (encoding == LevelEncoding::value && ordinal) {
    return position(parameter.values[level], parameter.values.front(), parameter.values.back());
  }
  if (encoding == LevelEncoding::log_value && positive) {
    return position(std::log(parameter.values[level]), std::log(parameter.values.front()),
                    std::log(parameter.values.back()));
  }
  return position(static_cast<double>(level), 0.0, last);
}

}  // namespace hindsight::dataset

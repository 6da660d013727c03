/// What a model predicts besides a score: learned limits, and the metrics of a front.
#include <algorithm>
#include <cmath>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/random.h"
#include "hindsight/dataset/objective.h"
#include "optimize/forecast.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Their mean is right within a tenth of the spread of designs, as that of Model::prepare().
constexpr Eigen::Index kTypicalDesigns = 256;
/// [chosen] More likely feasible than not.
constexpr double kLikely = 0.5;

}  // namespace

std::optional<LearnedQuantity> learned_quantity(const surrogate::Model& model, const std::string& name) {
  const auto& labels = model.parts().constraint_names;
  const auto label = std::find(labels.begin(), labels.end(), name);
  if (label != labels.end()) return LearnedQuantity{.is_objective = false, .label = label - labels.begin()};
  const std::string& text = model.parts().objective_text;
  if (name == text) return LearnedQuantity{.is_objective = true};
  const dataset::Objective objective = dataset::parse_objective(text, dataset::Direction::minimise);
  const bool plain = objective.factors.size() == 1 && objective.factors.front().exponent == 1.0;
  if (plain && objective.factors.front().metric == name) return LearnedQuantity{.is_objective = true};
  return std::nullopt;
}

bool Forecast::is_logarithmic(Eigen::Index label) const {
  const auto& scales = model_.parts().constraint_scaler.value_scales;
  return scales[static_cast<std::size_t>(label)] == dataset::ValueScale::logarithmic;
}

bool Forecast::is_logarithmic(const LearnedQuantity& quantity) const {
  if (!quantity.is_objective) return is_logarithmic(quantity.label);
  return model_.parts().objective_scaler.value_scale == dataset::ValueScale::logarithmic;
}

void Forecast::lift_labels(const LevelMatrix& levels, ForecastBatch& batch) const {
  for (const auto& [name, bounds] : options_.label_bounds) {
    const auto quantity = learned_quantity(model_, name);
    HINDSIGHT_EXPECT(quantity && !quantity->is_objective && bounds.size() == batch.size());
    for (std::size_t c = 0; c < batch.size(); ++c) {
      if (!bounds[c]) continue;
      const Eigen::VectorXd lifted = batch[c].constraints.col(quantity->label).cwiseMax(bounds[c](levels));
      batch[c].constraints.col(quantity->label) = lifted;
    }
  }
}

Eigen::VectorXd Forecast::label_on_scale(const surrogate::EnsemblePrediction& prediction, Eigen::Index label,
                                         double pessimism) const {
  const dataset::ValueScale scale = model_.parts().constraint_scaler.value_scales[static_cast<std::size_t>(label)];
  const Eigen::VectorXd mean = prediction.constraints.col(label).unaryExpr(
      [scale](double value) { return dataset::scaled_value(scale, value); });
  return mean + pessimism * prediction.constraint_spread.col(label);
}

Eigen::VectorXd Forecast::largest(const ForecastBatch& batch, const LearnedQuantity& quantity, double pessimism) const {
  Eigen::VectorXd largest;
  for (std::size_t c = 0; c < batch.size(); ++c) {
    Eigen::VectorXd on_scale;
    dataset::ValueScale scale = model_.parts().objective_scaler.value_scale;
    if (quantity.is_objective) {
      const auto context = static_cast<Eigen::Index>(c);
      const Eigen::VectorXd z = batch[c].score + pessimism * batch[c].spread;
      on_scale = mean_[context] + deviation_[context] * z.array();
    } else {
      scale = model_.parts().constraint_scaler.value_scales[static_cast<std::size_t>(quantity.label)];
      on_scale = label_on_scale(batch[c], quantity.label, pessimism);
    }
    const Eigen::VectorXd values = on_scale.unaryExpr([scale](double u) { return dataset::unscaled_value(scale, u); });
    largest = c == 0 ? values : largest.cwiseMax(values).eval();
  }
  return largest;
}

Eigen::VectorXd Forecast::typical_label(Eigen::Index label) const {
  const auto& parameters = model_.parts().space.parameters();
  const RandomStream random(0, "optimize/typical designs");
  LevelMatrix levels(kTypicalDesigns, std::ssize(parameters));
  for (Eigen::Index i = 0; i < levels.size(); ++i) {
    const space::Parameter& parameter = parameters[static_cast<std::size_t>(i % levels.cols())];
    levels.data()[i] = static_cast<std::uint16_t>(random.below(static_cast<std::uint64_t>(i), parameter.level_count()));
  }
  const ForecastBatch batch = predict(levels, {.objective = false});
  Eigen::VectorXd typical(std::ssize(batch));
  for (std::size_t c = 0; c < batch.size(); ++c) {
    const Eigen::VectorXd on_scale = label_on_scale(batch[c], label, 0);
    const Eigen::ArrayXd likely = (batch[c].p_feasible.array() >= kLikely).cast<double>();
    typical[static_cast<Eigen::Index>(c)] =
        likely.sum() > 0 ? (on_scale.array() * likely).sum() / likely.sum() : on_scale.mean();
  }
  return typical;
}

Eigen::VectorXd Forecast::label_score(const ForecastBatch& batch, const Metric& metric) const {
  const Eigen::Index label = metric.learned->label;
  Eigen::MatrixXd values(batch.front().constraints.rows(), std::ssize(batch));
  for (std::size_t c = 0; c < batch.size(); ++c) {
    const auto context = static_cast<Eigen::Index>(c);
    values.col(context) = is_logarithmic(label) ? label_on_scale(batch[c], label, options_.pessimism)
                                                : largest({batch[c]}, *metric.learned, options_.pessimism);
  }
  if (values.cols() == 1) return values.col(0);
  switch (options_.aggregate) {
    case Aggregate::geomean:
      return values.rowwise().mean();
    case Aggregate::worst:
      return (values.rowwise() - metric.typical.transpose()).rowwise().maxCoeff();
    case Aggregate::mean:
    case Aggregate::weighted:
      break;
  }
  return is_logarithmic(label) ? averaged(values) : Eigen::VectorXd(values * weight_ / weight_.sum());
}

Eigen::VectorXd Forecast::metric_score(const ForecastBatch& batch, const LevelMatrix& levels, std::size_t m) const {
  if (!metrics_[m].learned) return options_.front[m].value(levels);
  return metrics_[m].learned->is_objective ? score(batch) : label_score(batch, metrics_[m]);
}

std::optional<Eigen::MatrixXd> Forecast::metric_bounds(const LevelMatrix& levels, std::size_t m) const {
  if (!metrics_[m].learned) return std::nullopt;
  const bool objective = metrics_[m].learned->is_objective;
  const auto labelled = options_.label_bounds.find(options_.front[m].name);
  if (!objective && labelled == options_.label_bounds.end()) return std::nullopt;
  const auto& bounds = objective ? options_.lower_bounds : labelled->second;
  const double unknown = is_logarithmic(*metrics_[m].learned) ? 0 : -std::numeric_limits<double>::infinity();
  Eigen::MatrixXd values = Eigen::MatrixXd::Constant(levels.rows(), std::ssize(contexts_), unknown);
  bool known = false;
  for (std::size_t c = 0; c < bounds.size(); ++c) {
    if (!bounds[c]) continue;
    values.col(static_cast<Eigen::Index>(c)) = bounds[c](levels);
    known = true;
  }
  return known ? std::optional(values) : std::nullopt;
}

Eigen::VectorXd Forecast::metric_score_of(const Eigen::MatrixXd& values, const LevelMatrix& levels,
                                          std::size_t m) const {
  ForecastBatch batch(contexts_.size());
  for (std::size_t c = 0; c < batch.size(); ++c) {
    const Eigen::VectorXd own = values.col(static_cast<Eigen::Index>(c));
    const bool objective = metrics_[m].learned && metrics_[m].learned->is_objective;
    Eigen::MatrixXd labels = Eigen::MatrixXd::Zero(levels.rows(), std::ssize(model_.parts().constraint_names));
    if (metrics_[m].learned && !objective) labels.col(metrics_[m].learned->label) = own;
    batch[c] = of_truth(c, objective ? own : Eigen::VectorXd::Ones(levels.rows()), std::move(labels));
  }
  return metric_score(batch, levels, m);
}

double Forecast::metric_in_units(double score, std::size_t m) const {
  if (!metrics_[m].learned) return score;
  if (metrics_[m].learned->is_objective) return in_units(score);
  return is_logarithmic(metrics_[m].learned->label) ? std::exp(score) : score;
}

double Forecast::metric_unit(std::size_t m) const {
  if (!metrics_[m].learned || metrics_[m].learned->is_objective) return unit();
  const Eigen::Index label = metrics_[m].learned->label;
  return is_logarithmic(label) ? 1 : model_.parts().constraint_scaler.deviation[label];
}

Eigen::MatrixXd Forecast::metric_values(const ForecastBatch& batch, const LevelMatrix& levels, std::size_t m) const {
  Eigen::MatrixXd values(levels.rows(), std::ssize(batch));
  for (std::size_t c = 0; c < batch.size(); ++c) {
    const auto context = static_cast<Eigen::Index>(c);
    if (!metrics_[m].learned) {
      values.col(context) = options_.front[m].value(levels);
    } else if (metrics_[m].learned->is_objective) {
      values.col(context) = batch[c].objective;
    } else {
      values.col(context) = batch[c].constraints.col(metrics_[m].learned->label);
    }
  }
  return values;
}

Eigen::MatrixXd Forecast::shifted_metric(const Eigen::MatrixXd& values, const Eigen::VectorXd& more,
                                         const LevelMatrix& levels, std::size_t m) const {
  if (!metrics_[m].learned) return values;
  const Eigen::MatrixXd shifted = is_logarithmic(*metrics_[m].learned)
                                      ? Eigen::MatrixXd(values.array().colwise() * more.array().exp())
                                      : Eigen::MatrixXd(values.colwise() + more);
  const auto bounds = metric_bounds(levels, m);
  return bounds ? Eigen::MatrixXd(shifted.cwiseMax(*bounds)) : shifted;
}

}  // namespace hindsight::optimize

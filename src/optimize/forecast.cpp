/// Forward passes for all applications of a question, and how they become one score.
#include "optimize/forecast.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/thread_pool.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Rows per application from which a thread of its own costs less than it saves.
constexpr std::size_t kThreadedRows = 256;

}  // namespace

Forecast::Forecast(const surrogate::Model& model, const ProposeOptions& options, unsigned threads)
    : model_(model), options_(options), threads_(threads) {
  const auto count = static_cast<Eigen::Index>(options.contexts.size());
  mean_.resize(count);
  deviation_.resize(count);
  typical_.resize(count);
  weight_ = Eigen::VectorXd::Ones(count);
  for (Eigen::Index c = 0; c < count; ++c) {
    const dataset::Context& context = options.contexts[static_cast<std::size_t>(c)];
    contexts_.push_back(model.prepare(context));
    mean_[c] = contexts_.back().scale.mean;
    deviation_[c] = contexts_.back().scale.deviation;
    typical_[c] = deviation_[c] * contexts_.back().typical_score;
    if (options.aggregate == Aggregate::weighted) weight_[c] = options.weights[static_cast<std::size_t>(c)];
  }
  for (std::size_t c = 0; c < options.contexts.size(); ++c) {
    std::size_t first = 0;
    while (first < c && !model.seen_alike(options.contexts[first], options.contexts[c])) ++first;
    same_as_.push_back(first);
  }
  for (const FrontMetric& metric : options.front) {
    Metric& own = metrics_.emplace_back();
    if (metric.value) continue;
    own.learned = learned_quantity(model, metric.name);
    HINDSIGHT_EXPECT(own.learned);  // propose() has looked
    const bool ratio = options.aggregate == Aggregate::worst && count > 1;
    if (ratio && !own.learned->is_objective) own.typical = typical_label(own.learned->label);
  }
}

Eigen::VectorXd Forecast::z_scores_of(const Eigen::VectorXd& objective, std::size_t c) const {
  const dataset::ValueScale scale = model_.parts().objective_scaler.value_scale;
  const auto context = static_cast<Eigen::Index>(c);
  return objective.unaryExpr(
      [&](double value) { return (dataset::scaled_value(scale, value) - mean_[context]) / deviation_[context]; });
}

surrogate::EnsemblePrediction Forecast::of_truth(std::size_t c, const Eigen::VectorXd& objective,
                                                 Eigen::MatrixXd labels) const {
  surrogate::EnsemblePrediction truth;
  truth.score = z_scores_of(objective, c);
  truth.spread = Eigen::VectorXd::Zero(objective.size());
  truth.objective = objective;
  truth.constraint_spread = Eigen::MatrixXd::Zero(labels.rows(), labels.cols());
  truth.constraints = std::move(labels);
  return truth;
}

std::optional<Eigen::VectorXd> Forecast::bound_scores(const LevelMatrix& levels, std::size_t c) const {
  if (c >= options_.lower_bounds.size() || !options_.lower_bounds[c]) return std::nullopt;
  return z_scores_of(options_.lower_bounds[c](levels), c);
}

std::optional<Eigen::VectorXd> Forecast::score_of_bounds(const LevelMatrix& levels) const {
  Eigen::MatrixXd bounds =
      Eigen::MatrixXd::Constant(levels.rows(), std::ssize(contexts_), -std::numeric_limits<double>::infinity());
  bool known = false;
  for (std::size_t c = 0; c < contexts_.size(); ++c) {
    const auto own = bound_scores(levels, c);
    if (!own) continue;
    bounds.col(static_cast<Eigen::Index>(c)) = *own;
    known = true;
  }
  return known ? std::optional(score_of(bounds)) : std::nullopt;
}

ForecastBatch Forecast::predict(const LevelMatrix& levels, surrogate::Heads heads) const {
  ForecastBatch batch = predict_freely(levels, heads);
  for (std::size_t c = 0; heads.objective && c < batch.size(); ++c) {
    const auto bound = bound_scores(levels, c);
    if (!bound) continue;
    batch[c].score = batch[c].score.cwiseMax(*bound);
    batch[c] = model_.rescaled(std::move(batch[c]), options_.contexts[c]);
  }
  if (heads.constraints) lift_labels(levels, batch);
  return batch;
}

std::vector<bool> Forecast::lifted(const LevelMatrix& levels) const {
  const ForecastBatch batch = predict_freely(levels, {.feasibility = false, .constraints = false});
  std::vector<bool> lifted(static_cast<std::size_t>(levels.rows()), false);
  for (std::size_t c = 0; c < batch.size(); ++c) {
    const auto bound = bound_scores(levels, c);
    if (!bound) continue;
    for (Eigen::Index i = 0; i < levels.rows(); ++i) {
      if (batch[c].score[i] < (*bound)[i]) lifted[static_cast<std::size_t>(i)] = true;
    }
  }
  return lifted;
}

ForecastBatch Forecast::predict_freely(const LevelMatrix& levels, surrogate::Heads heads) const {
  const std::size_t contexts = contexts_.size();
  ForecastBatch batch(contexts);
  const bool side_by_side = threads_ > 1 && contexts > 1 && static_cast<std::size_t>(levels.rows()) >= kThreadedRows;
  parallel_for(contexts, 1, side_by_side ? threads_ : 1, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t c = begin; c < end; ++c) {
      if (same_as_[c] == c) batch[c] = model_.predict(levels, heads, contexts_[c], side_by_side ? 1 : threads_);
    }
  });
  for (std::size_t c = 0; c < contexts; ++c) {
    if (same_as_[c] != c) batch[c] = model_.rescaled(batch[same_as_[c]], options_.contexts[c]);
  }
  return batch;
}

Learned Forecast::ask(const LevelMatrix& levels, const Question& question) const {
  const Eigen::Index n = levels.rows(), k = std::ssize(question.limited);
  const bool by_infeasibility = question.score == Question::Score::infeasibility;
  Learned result{.score = Eigen::VectorXd::Constant(n, std::numeric_limits<double>::infinity()),
                 .values = Eigen::MatrixXd(n, std::ssize(question.limits)),
                 .metrics = Eigen::MatrixXd::Constant(n, question.front ? std::ssize(metrics_) : 0,
                                                      std::numeric_limits<double>::infinity())};
  surrogate::Heads needed{
      .objective = false, .feasibility = by_infeasibility || question.limits_infeasibility, .constraints = false};
  for (const LearnedQuantity& quantity : question.limited) {
    (quantity.is_objective ? needed.objective : needed.constraints) = true;
  }
  ForecastBatch batch(contexts_.size());
  if (needed.objective || needed.feasibility || needed.constraints) batch = predict(levels, needed);
  for (Eigen::Index j = 0; j < k; ++j) {
    result.values.col(j) = largest(batch, question.limited[static_cast<std::size_t>(j)], options_.pessimism);
  }
  if (question.limits_infeasibility) result.values.col(k) = 1 - least_p_feasible(batch).array();
  if (by_infeasibility) {
    result.score = 1 - least_p_feasible(batch).array();
    return result;
  }
  std::vector<Eigen::Index> within;
  const auto limits = Eigen::Map<const Eigen::RowVectorXd>(question.limits.data(), std::ssize(question.limits));
  for (Eigen::Index i = 0; i < n; ++i) {
    if ((result.values.row(i).array() <= limits.array()).all()) within.push_back(i);
  }
  if (!within.empty()) ask_within(levels, question, batch, within, result);
  return result;
}

void Forecast::ask_within(const LevelMatrix& levels, const Question& question, const ForecastBatch& batch,
                          const std::vector<Eigen::Index>& within, Learned& result) const {
  const bool has_objective = batch.front().score.size() > 0, has_labels = batch.front().constraints.cols() > 0;
  surrogate::Heads missing{.objective = !question.front, .feasibility = false, .constraints = false};
  for (std::size_t m = 0; question.front && m < metrics_.size(); ++m) {
    if (!metrics_[m].learned) continue;
    (metrics_[m].learned->is_objective ? missing.objective : missing.constraints) = true;
  }
  missing.objective = missing.objective && !has_objective;
  missing.constraints = missing.constraints && !has_labels;
  const LevelMatrix some = levels(within, Eigen::all);
  ForecastBatch answers(contexts_.size());
  if (missing.objective || missing.constraints) answers = predict(some, missing);
  for (std::size_t c = 0; c < batch.size(); ++c) {
    if (has_objective) {
      answers[c].score = batch[c].score(within);
      answers[c].spread = batch[c].spread(within);
    }
    if (has_labels) {
      answers[c].constraints = batch[c].constraints(within, Eigen::all);
      answers[c].constraint_spread = batch[c].constraint_spread(within, Eigen::all);
    }
  }
  if (!question.front) {
    result.score(within) = score(answers);
    return;
  }
  for (std::size_t m = 0; m < metrics_.size(); ++m) {
    result.metrics(within, static_cast<Eigen::Index>(m)) = metric_score(answers, some, m);
  }
  result.score = result.metrics.col(static_cast<Eigen::Index>(question.scored));
}

Eigen::VectorXd Forecast::score(const ForecastBatch& batch) const {
  const Eigen::Index n = batch.front().score.size();
  const auto contexts = std::ssize(batch);
  Eigen::MatrixXd above_typical(n, contexts);
  for (Eigen::Index c = 0; c < contexts; ++c) {
    const auto& prediction = batch[static_cast<std::size_t>(c)];
    above_typical.col(c) = deviation_[c] * (prediction.score + options_.pessimism * prediction.spread);
  }
  if (contexts == 1 && options_.aggregate == Aggregate::worst) return above_typical.col(0);  // in_units() takes it so
  switch (options_.aggregate) {
    case Aggregate::geomean:
      return above_typical.rowwise().mean();
    case Aggregate::worst:
      return (above_typical.rowwise() - typical_.transpose()).rowwise().maxCoeff();
    case Aggregate::mean:
    case Aggregate::weighted:
      break;
  }
  const Eigen::MatrixXd values = above_typical.rowwise() + mean_.transpose();
  if (model_.parts().objective_scaler.value_scale == dataset::ValueScale::linear)
    return values * weight_ / weight_.sum();
  return averaged(values);
}

Eigen::VectorXd Forecast::score_alone(const LevelMatrix& levels) const {
  return score(predict(levels, {.feasibility = false, .constraints = false}));
}

Eigen::VectorXd Forecast::score_of(const Eigen::MatrixXd& z_scores) const {
  ForecastBatch batch(static_cast<std::size_t>(z_scores.cols()));
  for (std::size_t c = 0; c < batch.size(); ++c) {
    batch[c].score = z_scores.col(static_cast<Eigen::Index>(c));
    batch[c].spread = Eigen::VectorXd::Zero(z_scores.rows());
  }
  return score(batch);
}

Eigen::VectorXd Forecast::averaged(const Eigen::MatrixXd& logarithms) const {
  const Eigen::VectorXd largest = logarithms.rowwise().maxCoeff();  // taken out so that exp() cannot overflow
  const Eigen::MatrixXd scaled = (logarithms.colwise() - largest).array().exp().matrix();
  return largest.array() + ((scaled * weight_).array() / weight_.sum()).log();
}

double Forecast::unit() const {
  return model_.parts().objective_scaler.value_scale == dataset::ValueScale::linear ? deviation_.mean() : 1;
}

Eigen::VectorXd Forecast::least_p_feasible(const ForecastBatch& batch) const {
  Eigen::VectorXd least = Eigen::VectorXd::Ones(batch.front().p_feasible.size());
  for (const auto& prediction : batch) {
    least = least.cwiseMin(prediction.p_feasible - options_.pessimism * prediction.p_spread);
  }
  return least.cwiseMax(0);
}

Eigen::VectorXd Forecast::spread(const ForecastBatch& batch) const {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(batch.front().spread.size());
  for (std::size_t c = 0; c < batch.size(); ++c) {
    sum += deviation_[static_cast<Eigen::Index>(c)] * batch[c].spread;
  }
  return sum / static_cast<double>(batch.size());
}

Eigen::VectorXd Forecast::relative_spread(const ForecastBatch& batch) const {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(batch.front().spread.size());
  for (const auto& prediction : batch) sum += prediction.spread;
  return sum / static_cast<double>(batch.size());
}

double Forecast::in_units(double score) const {
  if (model_.parts().objective_scaler.value_scale == dataset::ValueScale::linear) return score;
  const bool ratio = options_.aggregate == Aggregate::worst && mean_.size() > 1;
  const bool physical = options_.aggregate == Aggregate::mean || options_.aggregate == Aggregate::weighted;
  return std::exp(ratio || physical ? score : score + mean_.mean());
}

}  // namespace hindsight::optimize

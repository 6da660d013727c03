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
}

std::optional<Eigen::VectorXd> Forecast::bound_scores(const LevelMatrix& levels, std::size_t c) const {
  if (c >= options_.lower_bounds.size() || !options_.lower_bounds[c]) return std::nullopt;
  const dataset::ValueScale scale = model_.parts().objective_scaler.value_scale;
  const auto context = static_cast<Eigen::Index>(c);
  return options_.lower_bounds[c](levels).unaryExpr(
      [&](double bound) { return (dataset::scaled_value(scale, bound) - mean_[context]) / deviation_[context]; });
}

ForecastBatch Forecast::predict(const LevelMatrix& levels, surrogate::Heads heads) const {
  ForecastBatch batch = predict_freely(levels, heads);
  for (std::size_t c = 0; heads.objective && c < batch.size(); ++c) {
    const auto bound = bound_scores(levels, c);
    if (!bound) continue;
    batch[c].score = batch[c].score.cwiseMax(*bound);
    batch[c] = model_.rescaled(std::move(batch[c]), options_.contexts[c]);
  }
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
  const Eigen::Index n = levels.rows(), k = std::ssize(question.heads);
  const bool by_infeasibility = question.score == Question::Score::infeasibility;
  const bool feasibility = by_infeasibility || question.limits_infeasibility;
  const bool limited = k > 0 || question.limits_infeasibility;
  Learned result{.score = Eigen::VectorXd(n), .values = Eigen::MatrixXd(n, std::ssize(question.limits))};
  if (feasibility || limited) {
    const ForecastBatch batch = predict(levels, {.objective = false, .feasibility = feasibility, .constraints = k > 0});
    for (Eigen::Index j = 0; j < k; ++j) {
      result.values.col(j) = constraint(batch, question.heads[static_cast<std::size_t>(j)]);
    }
    if (question.limits_infeasibility) result.values.col(k) = 1 - least_p_feasible(batch).array();
    if (by_infeasibility) {
      result.score = 1 - least_p_feasible(batch).array();
      return result;
    }
  }
  const surrogate::Heads objective{.feasibility = false, .constraints = false};
  if (!limited) {
    result.score = score(predict(levels, objective));
    return result;
  }
  std::vector<Eigen::Index> within;
  const auto limits = Eigen::Map<const Eigen::RowVectorXd>(question.limits.data(), std::ssize(question.limits));
  for (Eigen::Index i = 0; i < n; ++i) {
    if ((result.values.row(i).array() <= limits.array()).all()) within.push_back(i);
  }
  result.score.setConstant(std::numeric_limits<double>::infinity());
  if (!within.empty()) result.score(within) = score(predict(levels(within, Eigen::all), objective));
  return result;
}

Eigen::VectorXd Forecast::score(const ForecastBatch& batch) const {
  const Eigen::Index n = batch.front().score.size();
  const auto contexts = std::ssize(batch);
  Eigen::MatrixXd above_typical(n, contexts);
  for (Eigen::Index c = 0; c < contexts; ++c) {
    const auto& prediction = batch[static_cast<std::size_t>(c)];
    above_typical.col(c) = deviation_[c] * (prediction.score + options_.pessimism * prediction.spread);
  }
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
  const Eigen::VectorXd largest = values.rowwise().maxCoeff();  // taken out so that exp() cannot overflow
  const Eigen::MatrixXd scaled = (values.colwise() - largest).array().exp().matrix();
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

Eigen::VectorXd Forecast::constraint(const ForecastBatch& batch, Eigen::Index k) const {
  Eigen::VectorXd largest = batch.front().constraints.col(k);
  for (const auto& prediction : batch) largest = largest.cwiseMax(prediction.constraints.col(k));
  return largest;
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

/// Batched questions to a model, and how several applications become one score.
#include "optimize/forecast.h"

#include <algorithm>
#include <cmath>

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
  weight_ = Eigen::VectorXd::Ones(count);
  for (Eigen::Index c = 0; c < count; ++c) {
    const dataset::Context& context = options.contexts[static_cast<std::size_t>(c)];
    const auto scale = model.parts().objective_scaler.scale(context.name, model.parts().context_scaler.apply(context));
    mean_[c] = scale.mean;
    deviation_[c] = scale.deviation;
    if (options.aggregate == Aggregate::weighted) weight_[c] = options.weights[static_cast<std::size_t>(c)];
  }
  for (std::size_t c = 0; c < options.contexts.size(); ++c) {
    std::size_t first = 0;
    while (first < c && !model.seen_alike(options.contexts[first], options.contexts[c])) ++first;
    same_as_.push_back(first);
  }
  recent_.resize(resolve_threads(options.threads) + 1);  // one per worker of an enumeration, and one to spare
}

std::shared_ptr<const ForecastBatch> Forecast::predict(const LevelMatrix& levels) const {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& batch : recent_) {
      if (batch && batch->levels.rows() == levels.rows() && batch->levels == levels) return batch;
    }
  }
  auto batch = std::make_shared<ForecastBatch>();
  batch->levels = levels;
  const std::size_t contexts = options_.contexts.size();
  batch->by_context.resize(contexts);
  const bool side_by_side = threads_ > 1 && contexts > 1 && static_cast<std::size_t>(levels.rows()) >= kThreadedRows;
  parallel_for(contexts, 1, side_by_side ? threads_ : 1, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t c = begin; c < end; ++c) {
      if (same_as_[c] != c) continue;
      batch->by_context[c] = model_.predict(levels, options_.contexts[c], side_by_side ? 1 : threads_);
    }
  });
  for (std::size_t c = 0; c < contexts; ++c) {
    if (same_as_[c] == c) continue;
    batch->by_context[c] = model_.rescaled(batch->by_context[same_as_[c]], options_.contexts[c]);
  }
  const std::lock_guard lock(mutex_);
  recent_[oldest_] = batch;
  oldest_ = (oldest_ + 1) % recent_.size();
  return batch;
}

Eigen::VectorXd Forecast::score(const ForecastBatch& batch) const {
  const Eigen::Index n = batch.levels.rows();
  const auto contexts = static_cast<Eigen::Index>(batch.by_context.size());
  Eigen::MatrixXd above_typical(n, contexts);
  for (Eigen::Index c = 0; c < contexts; ++c) {
    const auto& prediction = batch.by_context[static_cast<std::size_t>(c)];
    above_typical.col(c) = deviation_[c] * (prediction.score + options_.pessimism * prediction.spread);
  }
  switch (options_.aggregate) {
    case Aggregate::geomean:
      return above_typical.rowwise().mean();
    case Aggregate::worst:
      return above_typical.rowwise().maxCoeff();
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
  Eigen::VectorXd least = Eigen::VectorXd::Ones(batch.levels.rows());
  for (const auto& prediction : batch.by_context) {
    least = least.cwiseMin(prediction.p_feasible - options_.pessimism * prediction.p_spread);
  }
  return least.cwiseMax(0);
}

Eigen::VectorXd Forecast::constraint(const ForecastBatch& batch, Eigen::Index k) const {
  Eigen::VectorXd largest = batch.by_context.front().constraints.col(k);
  for (const auto& prediction : batch.by_context) largest = largest.cwiseMax(prediction.constraints.col(k));
  return largest;
}

Eigen::VectorXd Forecast::spread(const ForecastBatch& batch) const {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(batch.levels.rows());
  for (std::size_t c = 0; c < batch.by_context.size(); ++c) {
    sum += deviation_[static_cast<Eigen::Index>(c)] * batch.by_context[c].spread;
  }
  return sum / static_cast<double>(batch.by_context.size());
}

}  // namespace hindsight::optimize

/// What a model says about designs for all applications of a question, as functions of a search problem.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hindsight/optimize/propose.h"

namespace hindsight::optimize {

/// Predictions of one batch, kept while score and learned constraints ask for the same rows.
struct ForecastBatch {
  LevelMatrix levels;                                     // n x p
  std::vector<surrogate::EnsemblePrediction> by_context;  // one per context
};

/// Batched questions to a model. Thread-safe; remembers the last few batches, so that the score and every learned
/// constraint of one batch cost a single forward pass per application.
class Forecast {
 public:
  /// `threads` of every forward pass. Keeps references to both arguments.
  Forecast(const surrogate::Model& model, const ProposeOptions& options, unsigned threads);

  [[nodiscard]] std::shared_ptr<const ForecastBatch> predict(const LevelMatrix& levels) const;

  /// The aggregated pessimistic objective in log units (linear objectives: in their own unit), smaller is better.
  ///
  /// Equation, with l_c = d_c (z_c + pessimism * s_c) for application c:
  ///   geomean: mean_c l_c;  worst: max_c l_c;  mean and weighted: log(sum_c w_c exp(m_c + l_c) / sum_c w_c)
  /// and for a linear objective, which has no other aggregates: sum_c w_c (m_c + l_c) / sum_c w_c
  /// Symbols: z_c, s_c mean and spread of the ensemble's z-scores; m_c, d_c mean and deviation of the application's
  /// log objective, so that exp(l_c) is the ratio to its typical logged design; w_c weights, 1 for mean.
  [[nodiscard]] Eigen::VectorXd score(const ForecastBatch& batch) const;
  /// What a step of 1 in the score is for a logarithmic objective; for a linear one, mean deviation of the
  /// applications.
  [[nodiscard]] double unit() const;
  /// Smallest pessimistic probability of feasibility over the applications: max(0, mean - pessimism * spread) of the
  /// members' probabilities. A search is drawn to where one member errs; the others' disagreement shows it.
  [[nodiscard]] Eigen::VectorXd least_p_feasible(const ForecastBatch& batch) const;
  /// Head `k` of the model, physical units: the largest value over the applications.
  [[nodiscard]] Eigen::VectorXd constraint(const ForecastBatch& batch, Eigen::Index k) const;
  /// Spread in log units, mean over the applications.
  [[nodiscard]] Eigen::VectorXd spread(const ForecastBatch& batch) const;

 private:
  const surrogate::Model& model_;
  const ProposeOptions& options_;
  unsigned threads_;
  Eigen::VectorXd mean_, deviation_, weight_;  // one per context
  std::vector<std::size_t> same_as_;           // per context: the first one that the model sees alike
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const ForecastBatch>> recent_;
  mutable std::size_t oldest_ = 0;
};

}  // namespace hindsight::optimize

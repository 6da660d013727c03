/// Rank correlations, precision and calibration: what a model is chosen and judged by. Own code, no LibTorch.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "hindsight/dataset/dataset.h"

namespace hindsight::surrogate {

class Model;

/// Of validation rows; NaN where undefined (no infeasible row: no AUC), which a model file stores as null.
struct ModelMetrics {
  double kendall_tau = 0;  ///< objective, validation rows, mean over contexts
  double spearman = 0;
  double top_k_precision = 0;  ///< share of the predicted best 5 % that are truly among the best 5 %
  double feasibility_auc = 0;
  double calibration_error = 0;  ///< expected calibration error of p_feasible
};

/// How right a model is about one application of a log that it did not learn from. NaN where undefined.
struct ApplicationScore {
  std::string name;
  bool seen = false;  ///< the model was trained on it
  /// The model was trained on another application of this name: this one counts as unseen.
  bool namesake = false;
  std::size_t rows = 0, feasible = 0;
  double kendall_tau = 0;  ///< feasible rows
  /// Feasible rows: median of |predicted / true - 1|, and of true / predicted among the tenth predicted best.
  double median_error = 0, ratio_at_best = 0;
  double feasibility_auc = 0;
  /// Among rows with p_feasible of at least 0.9: the share that is infeasible; all rows that are feasible, the share
  /// that p_feasible gives at least 0.5.
  double infeasible_when_sure = 0, found_feasible = 0;
  /// Kind `layers`: distance from what was learnt (novelty.h); NaN for others.
  double layer_distance = 0;
};
/// One per context of `data` that has rows. Objectives of 0 or below have no relative error.
[[nodiscard]] std::vector<ApplicationScore> score_applications(const Model& model, const dataset::Dataset& data);

/// Kendall's tau-b in O(n log n) and Spearman's rho with mean ranks. 0 when a side is constant or has fewer than two
/// values (nothing is ranked), NaN when a value is NaN.
[[nodiscard]] double kendall_tau(const Eigen::VectorXd& a, const Eigen::VectorXd& b);
[[nodiscard]] double spearman(const Eigen::VectorXd& a, const Eigen::VectorXd& b);
/// Means over the contexts of `validation` (rank metrics: feasible rows, contexts with at least two; AUC: contexts with
/// both kinds); the calibration error pools all rows into ten bins. Undefined metrics are NaN.
[[nodiscard]] ModelMetrics evaluate_model(const Model& model, const dataset::Dataset& validation);

}  // namespace hindsight::surrogate

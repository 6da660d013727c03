/// How far a model is off near a front, as a function of the design, from designs that a log has there.
#pragma once

#include <Eigen/Dense>
#include <optional>
#include <vector>

#include "hindsight/optimize/search.h"
#include "optimize/regression.h"

namespace hindsight::optimize {

/// Gaussian processes on truth - prediction, one per metric.
///
/// A surrogate learns all rows alike. Near a front its errors follow few parameters and what it predicts (an energy
/// that is 5 % too low with 32 cores of 8 lanes), and a search finds the designs about which it errs most. Logged
/// designs there say so. Errors far from their median are clipped: the other side of a cliff tells nothing of this one,
/// and would make every length scale short.
class LogCorrection {
 public:
  /// [chosen] Fewer designs show no pattern.
  static constexpr Eigen::Index kLeastDesigns = 20;

  /// `predicted` metrics and `truth` in score units, designs x metrics. A metric that is never off stays as it is.
  /// At least kLeastDesigns.
  LogCorrection(const space::DesignSpace& space, const LevelMatrix& levels, const Eigen::MatrixXd& predicted,
                const Eigen::MatrixXd& truth);

  /// To be added to `predicted` metrics, n x metrics.
  [[nodiscard]] Eigen::MatrixXd mean(const LevelMatrix& levels, const Eigen::MatrixXd& predicted) const;
  /// How sure that is, n x metrics.
  [[nodiscard]] Eigen::MatrixXd deviation(const LevelMatrix& levels, const Eigen::MatrixXd& predicted) const;
  /// What no deviation exceeds: that of a design unlike all logged ones, one per metric.
  [[nodiscard]] const Eigen::RowVectorXd& largest_deviation() const { return largest_deviation_; }
  /// Of the designs that it is from, designs x metrics: what predictions corrected by all others are short of.
  [[nodiscard]] const Eigen::MatrixXd& left_out() const { return left_out_; }
  /// Squared distances of designs (n) to one, in length scales, summed over the metrics.
  [[nodiscard]] Eigen::VectorXd distances(const LevelMatrix& levels, const space::Design& design) const;

 private:
  /// Parameters and predictions, the latter as z-scores: n x (parameters + metrics).
  [[nodiscard]] Eigen::MatrixXd encode(const LevelMatrix& levels, const Eigen::MatrixXd& predicted) const;

  std::vector<bool> categorical_;                       ///< per column of encode()
  std::vector<std::vector<double>> encoding_;           // per parameter, per level
  std::vector<std::optional<Regression>> regressions_;  // per metric; nothing where it is never off
  Eigen::RowVectorXd predicted_mean_, predicted_deviation_;
  Eigen::RowVectorXd largest_deviation_;
  Eigen::MatrixXd left_out_;
};

}  // namespace hindsight::optimize

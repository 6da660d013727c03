/// Gaussian processes on observations as they come.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "hindsight/optimize/gaussian_process.h"

namespace hindsight::optimize {

/// [chosen] Points of a fit of the hyper-parameters, which is O(n^3) per step.
inline constexpr std::size_t kMostLearningPoints = 200;

/// A Gaussian process with the scaling of its observations.
struct Regression {
  explicit Regression(const std::vector<bool>& categorical) : process(categorical) {}
  GaussianProcess process;
  double mean = 0, deviation = 1;
  bool ready = false;

  /// Hyper-parameters by `learning_rows` alone.
  void fit(const Eigen::MatrixXd& x, const Eigen::VectorXd& y, const std::vector<Eigen::Index>& learning_rows) {
    mean = y.mean();
    const double variance = (y.array() - mean).square().mean();
    deviation = variance > 0 ? std::sqrt(variance) : 1;
    const Eigen::VectorXd z = (y.array() - mean) / deviation;
    process.learn_hyperparameters(x(learning_rows, Eigen::all), z(learning_rows));
    process.fit(x, z);
    ready = true;
  }
  void append(const Eigen::RowVectorXd& x, double y) { process.append(x, (y - mean) / deviation); }
};

/// `count` of [0, size): all when they fit, else evenly spread.
inline std::vector<Eigen::Index> spread_rows(std::size_t size, std::size_t count) {
  std::vector<Eigen::Index> rows;
  const std::size_t kept = std::min(size, count);
  for (std::size_t i = 0; i < kept; ++i) rows.push_back(static_cast<Eigen::Index>(i * size / kept));
  return rows;
}

}  // namespace hindsight::optimize

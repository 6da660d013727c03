/// Gaussian-process regression with a mixed kernel.
#include "hindsight/optimize/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "hindsight/core/error.h"

namespace hindsight::optimize {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

const double kSqrt5 = std::sqrt(5.0);
constexpr double kLeastNoiseRatio = 1e-6;  // [chosen] of the signal variance: keeps the Cholesky factor positive
constexpr double kMostNoiseRatio = 1.0;    // [chosen] noisier data say nothing
constexpr double kLeastLength = 0.05;      // [chosen] of a range of 2: shorter than the step of any list of values
constexpr double kMostLength = 50.0;       // [chosen] a dimension that does not matter
constexpr int kSteps = 25;                 // [chosen] sign-based steps per start: the likelihood is flat near its top
constexpr double kFirstStep = 0.3;         // [chosen] in log units
constexpr double kGrow = 1.2, kShrink = 0.5, kMostStep = 0.6;  // [chosen] the factors of Rprop, and a largest step
constexpr double kLengthPriorDeviation = 1.0;                  // [chosen] log units
constexpr double kNoisePriorCentre = -7.0;                     // [chosen] log of 1e-3, of the signal variance
constexpr double kNoisePriorDeviation = 2.0;                   // [chosen] log units

/// [chosen] Centre of the prior of log length scales: grows with sqrt(d), as the distance of random points does.
double length_prior_centre(Index dimensions) { return std::log(0.6 * std::sqrt(static_cast<double>(dimensions))); }

/// Squared distances of numeric dimensions and mismatches of categorical ones, each scaled.
struct Distances {
  MatrixXd numeric;   // r^2
  MatrixXd mismatch;  // h
};

MatrixXd squared_distances(const MatrixXd& a, const MatrixXd& b) {
  MatrixXd squared = -2.0 * a * b.transpose();
  squared.colwise() += a.rowwise().squaredNorm();
  squared.rowwise() += b.rowwise().squaredNorm().transpose();
  return squared.cwiseMax(0.0);
}

Distances distances(const MatrixXd& a, const MatrixXd& b, const VectorXd& length,
                    const std::vector<bool>& categorical) {
  const Index d = length.size();
  MatrixXd left(a.rows(), d);
  MatrixXd right(b.rows(), d);
  Distances result;
  result.mismatch = MatrixXd::Zero(a.rows(), b.rows());
  Index numeric = 0;
  for (Index k = 0; k < d; ++k) {
    if (categorical[static_cast<std::size_t>(k)]) {
      for (Index j = 0; j < b.rows(); ++j) {
        result.mismatch.col(j).array() += (a.col(k).array() != b(j, k)).cast<double>() / length[k];
      }
    } else {
      left.col(numeric) = a.col(k) / length[k];
      right.col(numeric) = b.col(k) / length[k];
      ++numeric;
    }
  }
  result.numeric = squared_distances(left.leftCols(numeric), right.leftCols(numeric));
  return result;
}

/// k / s^2 without noise.
MatrixXd correlation_of(const Distances& distances) {
  const auto r = distances.numeric.array().sqrt();
  return ((1.0 + kSqrt5 * r + 5.0 / 3.0 * distances.numeric.array()) * (-kSqrt5 * r - distances.mismatch.array()).exp())
      .matrix();
}

}  // namespace

/// The concentrated log posterior of the hyper-parameters and its gradient.
///
/// Parameters: log l_d for every d, then log of the noise ratio q = s_n^2 / s^2. With C = k / s^2 + q I the best
/// s^2 is y^T C^-1 y / n, and log p = -n/2 log s^2 - 1/2 log|C| + const.
struct GaussianProcess::Objective {
  const MatrixXd& x;
  const VectorXd& y;
  const std::vector<bool>& categorical;
  double value = 0;
  double signal_variance = 1;
  VectorXd gradient;

  /// False when C is not positive definite.
  bool evaluate(const VectorXd& parameters) {
    const Index n = x.rows();
    const Index d = x.cols();
    const VectorXd length = parameters.head(d).array().exp();
    const double noise_ratio = std::exp(parameters[d]);
    const Distances apart = distances(x, x, length, categorical);
    const MatrixXd correlation = correlation_of(apart);
    MatrixXd noisy = correlation;
    noisy.diagonal().array() += noise_ratio;
    const Eigen::LLT<MatrixXd> factor(noisy);
    if (factor.info() != Eigen::Success) return false;
    const VectorXd weights = factor.solve(y);
    const auto count = static_cast<double>(n);
    signal_variance = std::max(y.dot(weights) / count, 1e-12);
    const double log_determinant = 2.0 * factor.matrixLLT().diagonal().array().log().sum();
    value = -0.5 * (count * std::log(signal_variance) + log_determinant);

    // W = (w w^T / s^2 - C^-1) / 2, gradient = sum of W o dC/dtheta.
    MatrixXd sensitivity = factor.solve(MatrixXd::Identity(n, n));
    sensitivity = 0.5 * (weights * weights.transpose() / signal_variance - sensitivity);
    gradient.resize(d + 1);
    gradient[d] = noise_ratio * sensitivity.trace();
    const auto r = apart.numeric.array().sqrt();
    // dC/dlog l_d = 5/3 (1 + sqrt5 r) exp(-sqrt5 r - h) (x_d - x'_d)^2 / l_d^2, or C [x_d != x'_d] / l_d.
    const MatrixXd numeric =
        (sensitivity.array() * (5.0 / 3.0) * (1.0 + kSqrt5 * r) * (-kSqrt5 * r - apart.mismatch.array()).exp())
            .matrix();
    const VectorXd row_sums = numeric.rowwise().sum();
    for (Index k = 0; k < d; ++k) {
      const VectorXd column = x.col(k);
      if (categorical[static_cast<std::size_t>(k)]) {
        double sum = 0;
        for (Index j = 0; j < n; ++j) {
          const auto differs = (column.array() != column[j]).cast<double>();
          sum += (sensitivity.col(j).array() * correlation.col(j).array() * differs).sum();
        }
        gradient[k] = sum / length[k];
      } else {
        const double sum = 2.0 * (row_sums.dot(column.cwiseAbs2()) - column.dot(numeric * column));
        gradient[k] = sum / (length[k] * length[k]);
      }
    }
    add_priors(parameters);
    return true;
  }

  void add_priors(const VectorXd& parameters) {
    const Index d = x.cols();
    const double centre = length_prior_centre(d);
    for (Index k = 0; k <= d; ++k) {
      const double deviation = k < d ? kLengthPriorDeviation : kNoisePriorDeviation;
      const double off = (parameters[k] - (k < d ? centre : kNoisePriorCentre)) / deviation;
      value -= 0.5 * off * off;
      gradient[k] -= off / deviation;
    }
  }

  /// Rprop: every parameter has its own step, which grows while the gradient keeps its sign.
  VectorXd maximise(VectorXd parameters, double& best_value, double& best_variance) {
    const Index d = x.cols();
    VectorXd best = parameters;
    best_value = -std::numeric_limits<double>::infinity();
    VectorXd step = VectorXd::Constant(d + 1, kFirstStep);
    VectorXd last = VectorXd::Zero(d + 1);
    for (int iteration = 0; iteration < kSteps; ++iteration) {
      if (!evaluate(parameters)) break;
      if (value > best_value) {
        best_value = value;
        best = parameters;
        best_variance = signal_variance;
      }
      for (Index k = 0; k <= d; ++k) {
        const double agreement = gradient[k] * last[k];
        if (agreement > 0) step[k] = std::min(step[k] * kGrow, kMostStep);
        if (agreement < 0) step[k] *= kShrink;
        if (gradient[k] != 0) parameters[k] += gradient[k] > 0 ? step[k] : -step[k];
        const bool length = k < d;
        parameters[k] = std::clamp(parameters[k], std::log(length ? kLeastLength : kLeastNoiseRatio),
                                   std::log(length ? kMostLength : kMostNoiseRatio));
      }
      last = gradient;
    }
    return best;
  }
};

GaussianProcess::GaussianProcess(std::vector<bool> categorical) : categorical_(std::move(categorical)) {
  const auto d = static_cast<Index>(categorical_.size());
  hyperparameters_.length_scale = VectorXd::Constant(d, std::exp(length_prior_centre(d)));
}

void GaussianProcess::set_hyperparameters(const Hyperparameters& hyperparameters) {
  HINDSIGHT_EXPECT(hyperparameters.length_scale.size() == static_cast<Index>(categorical_.size()));
  hyperparameters_ = hyperparameters;
}

MatrixXd GaussianProcess::correlation(const MatrixXd& a, const MatrixXd& b) const {
  return correlation_of(distances(a, b, hyperparameters_.length_scale, categorical_));
}

void GaussianProcess::fit(const MatrixXd& x, const VectorXd& y) {
  HINDSIGHT_EXPECT(x.rows() == y.size() && x.cols() == static_cast<Index>(categorical_.size()) && y.size() > 0);
  x_ = x;
  y_ = y;
  MatrixXd covariance = hyperparameters_.signal_variance * correlation(x, x);
  covariance.diagonal().array() += hyperparameters_.noise_variance;
  const Eigen::LLT<MatrixXd> factor(covariance);
  HINDSIGHT_ENSURE(factor.info() == Eigen::Success);
  cholesky_ = factor.matrixL();
  weights_ = factor.solve(y);
}

void GaussianProcess::append(const Eigen::RowVectorXd& x, double y) {
  const Index n = y_.size();
  HINDSIGHT_EXPECT(n > 0 && x.size() == x_.cols());
  const VectorXd covariance = hyperparameters_.signal_variance * correlation(x_, x);
  const VectorXd row = cholesky_.triangularView<Eigen::Lower>().solve(covariance);
  // Rounding may eat the last digits of the new pivot; the noise is its lower bound in exact arithmetic.
  const double pivot = hyperparameters_.signal_variance + hyperparameters_.noise_variance - row.squaredNorm();
  cholesky_.conservativeResize(n + 1, n + 1);
  cholesky_.col(n).head(n).setZero();
  cholesky_.row(n).head(n) = row.transpose();
  cholesky_(n, n) = std::sqrt(std::max(pivot, hyperparameters_.noise_variance));
  x_.conservativeResize(n + 1, Eigen::NoChange);
  x_.row(n) = x;
  y_.conservativeResize(n + 1);
  y_[n] = y;
  weights_ = cholesky_.triangularView<Eigen::Lower>().solve(y_);
  cholesky_.triangularView<Eigen::Lower>().transpose().solveInPlace(weights_);
}

GaussianProcess::Posterior GaussianProcess::predict(const MatrixXd& x) const {
  HINDSIGHT_EXPECT(y_.size() > 0);
  MatrixXd covariance = hyperparameters_.signal_variance * correlation(x_, x);  // n x rows of x
  Posterior posterior;
  posterior.mean = covariance.transpose() * weights_;
  cholesky_.triangularView<Eigen::Lower>().solveInPlace(covariance);
  posterior.variance =
      (hyperparameters_.signal_variance - covariance.colwise().squaredNorm().transpose().array()).cwiseMax(0.0);
  return posterior;
}

VectorXd GaussianProcess::predict_mean(const MatrixXd& x) const {
  HINDSIGHT_EXPECT(y_.size() > 0);
  return hyperparameters_.signal_variance * (correlation(x, x_) * weights_);
}

VectorXd GaussianProcess::left_out_errors() const {
  const Index n = size();
  const MatrixXd root = cholesky_.triangularView<Eigen::Lower>().solve(MatrixXd::Identity(n, n));  // C^-1 = root^T root
  return weights_.array() / root.colwise().squaredNorm().transpose().array();
}

double GaussianProcess::log_marginal_likelihood() const {
  const auto n = static_cast<double>(y_.size());
  return -0.5 * y_.dot(weights_) - cholesky_.diagonal().array().log().sum() -
         0.5 * n * std::log(2.0 * std::numbers::pi);
}

void GaussianProcess::learn_hyperparameters(const MatrixXd& x, const VectorXd& y) {
  HINDSIGHT_EXPECT(x.rows() == y.size() && x.cols() == static_cast<Index>(categorical_.size()) && y.size() > 0);
  const Index d = x.cols();
  VectorXd present(d + 1);
  present.head(d) = hyperparameters_.length_scale.array().log();
  present[d] = std::log(std::clamp(hyperparameters_.noise_variance / hyperparameters_.signal_variance, kLeastNoiseRatio,
                                   kMostNoiseRatio));
  VectorXd centre = VectorXd::Constant(d + 1, length_prior_centre(d));
  centre[d] = kNoisePriorCentre;
  double best_value = -std::numeric_limits<double>::infinity();
  for (const VectorXd& start : {centre, present}) {
    Objective objective{.x = x, .y = y, .categorical = categorical_, .gradient = {}};
    double value = 0;
    double variance = 1;
    const VectorXd found = objective.maximise(start, value, variance);
    if (!(value > best_value)) continue;
    best_value = value;
    hyperparameters_.length_scale = found.head(d).array().exp();
    hyperparameters_.signal_variance = variance;
    hyperparameters_.noise_variance = variance * std::exp(found[d]);
  }
}

}  // namespace hindsight::optimize

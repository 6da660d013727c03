/// Gaussian-process regression over designs: a mixed kernel, hyper-parameters by marginal likelihood.
#pragma once

#include <Eigen/Dense>
#include <vector>

namespace hindsight::optimize {

/// Zero-mean Gaussian process; the caller standardises its observations.
///
/// Equation: k(x, x') = s^2 (1 + sqrt(5) r + 5/3 r^2) exp(-sqrt(5) r) exp(-h) + [x = x'] s_n^2,
///   r^2 = sum over numeric d of (x_d - x'_d)^2 / l_d^2, h = sum over categorical d of [x_d != x'_d] / l_d.
/// Symbols: s^2 signal variance, s_n^2 noise variance, l_d length scale per dimension (automatic relevance).
/// Source: [paper: rasmussen-williams-2006] equations 2.25, 2.26 (posterior), 4.17 (Matern 5/2), 5.8, 5.9 (marginal
/// likelihood and gradient); the exponential Hamming kernel is the product of one Ornstein-Uhlenbeck kernel per
/// one-hot dimension.
class GaussianProcess {
 public:
  struct Hyperparameters {
    Eigen::VectorXd length_scale;  // d
    double signal_variance = 1;
    double noise_variance = 1e-4;
  };
  struct Posterior {
    Eigen::VectorXd mean, variance;  // n; of the function, without noise
  };

  /// `categorical[d]`: dimension d holds the number of a category, compared for equality.
  explicit GaussianProcess(std::vector<bool> categorical);

  /// Rows of `x` are points.
  void set_hyperparameters(const Hyperparameters& hyperparameters);
  [[nodiscard]] const Hyperparameters& hyperparameters() const { return hyperparameters_; }
  /// Conditions on the observations; O(n^3).
  void fit(const Eigen::MatrixXd& x, const Eigen::VectorXd& y);
  /// Adds one observation; O(n^2).
  void append(const Eigen::RowVectorXd& x, double y);
  [[nodiscard]] Posterior predict(const Eigen::MatrixXd& x) const;
  /// Of the posterior the mean alone: O(n) a point, where the variance takes O(n^2).
  [[nodiscard]] Eigen::VectorXd predict_mean(const Eigen::MatrixXd& x) const;
  /// Per observation, how far it lies above what all others predict for it, n.
  ///
  /// Equation: y_i - m_-i = [C^-1 y]_i / [C^-1]_ii, C the covariance of the observations with noise.
  /// Source: [paper: rasmussen-williams-2006] equation 5.12.
  [[nodiscard]] Eigen::VectorXd left_out_errors() const;
  [[nodiscard]] Eigen::Index size() const { return y_.size(); }
  /// log p(y | x) of the conditioned observations.
  [[nodiscard]] double log_marginal_likelihood() const;

  /// Sets the hyper-parameters to the best found maximum of the marginal likelihood times weak log-normal priors, by
  /// sign-based gradient steps from the present ones and from the priors' centre; s^2 follows in closed form. Does not
  /// condition: call fit().
  void learn_hyperparameters(const Eigen::MatrixXd& x, const Eigen::VectorXd& y);

 private:
  struct Objective;
  [[nodiscard]] Eigen::MatrixXd correlation(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) const;

  std::vector<bool> categorical_;
  Hyperparameters hyperparameters_;
  Eigen::MatrixXd x_;         // n x d
  Eigen::VectorXd y_;         // n
  Eigen::MatrixXd cholesky_;  // n x n, lower triangle: L L^T = covariance with noise
  Eigen::VectorXd weights_;   // n, covariance^-1 y
};

}  // namespace hindsight::optimize

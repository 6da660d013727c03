/// Are posterior and likelihood those of the textbook, and do hyper-parameters find what matters?
#include "hindsight/optimize/gaussian_process.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "hindsight/core/random.h"
#include "tolerances.h"

namespace hindsight::optimize {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_points(Eigen::Index n, Eigen::Index d, std::uint64_t seed) {
  const RandomStream stream(seed, "test");
  MatrixXd x(n, d);
  for (Eigen::Index i = 0; i < n * d; ++i) x(i / d, i % d) = 2 * stream.uniform(static_cast<std::uint64_t>(i)) - 1;
  return x;
}

TEST(GaussianProcess, PosteriorOfTwoPointsByHand) {
  GaussianProcess process({false});
  process.set_hyperparameters({.length_scale = VectorXd::Ones(1), .signal_variance = 1, .noise_variance = 0.1});
  process.fit(MatrixXd{{0.0}, {1.0}}, VectorXd{{1.0, -1.0}});
  // rho = k(0, 1) = (1 + 2.236068 + 1.666667) exp(-2.236068) = 0.523994.
  const double rho = (1 + std::sqrt(5.0) + 5.0 / 3.0) * std::exp(-std::sqrt(5.0));
  EXPECT_NEAR(rho, 0.523994, test::kSixDigits);
  // [1.1 rho; rho 1.1]^-1 (1, -1) = (1, -1) / (1.1 - rho); at x = 0 the mean is (1 - rho) / (1.1 - rho) = 0.826391.
  // Variance at x = 0: 1 - (1.1 - 2 rho^2 + 1.1 rho^2) / (1.1^2 - rho^2) = 0.088241.
  const auto posterior = process.predict(MatrixXd{{0.0}, {0.5}, {100.0}});
  EXPECT_NEAR(posterior.mean[0], (1 - rho) / (1.1 - rho), test::kRounding);
  EXPECT_NEAR(posterior.variance[0], 1 - (1.1 - 0.9 * rho * rho) / (1.21 - rho * rho), test::kRounding);
  EXPECT_NEAR(posterior.variance[0], 0.088241, test::kSixDigits);
  EXPECT_NEAR(posterior.mean[1], 0, test::kRounding) << "halfway between +1 and -1";
  EXPECT_NEAR(posterior.mean[2], 0, test::kRounding) << "far away: the prior";
  EXPECT_NEAR(posterior.variance[2], 1, test::kRounding);
  // log p = -1/2 y^T K^-1 y - 1/2 log|K| - log(2 pi), y^T K^-1 y = 2 / (1.1 - rho).
  EXPECT_NEAR(process.log_marginal_likelihood(),
              -1 / (1.1 - rho) - 0.5 * std::log(1.21 - rho * rho) - std::log(2 * std::numbers::pi), test::kRounding);
}

TEST(GaussianProcess, CategoriesDifferByTheirNumberOfMismatches) {
  GaussianProcess process({true, true});
  process.set_hyperparameters({.length_scale = VectorXd{{2.0, 4.0}}, .signal_variance = 3, .noise_variance = 0});
  process.fit(MatrixXd{{0.0, 0.0}}, VectorXd{{1.0}});
  // One observation without noise: mean = k(x, 0) / s^2 = exp(-mismatches / length).
  const auto posterior = process.predict(MatrixXd{{0.0, 0.0}, {1.0, 0.0}, {4.0, 0.0}, {2.0, 1.0}});
  EXPECT_NEAR(posterior.mean[0], 1, test::kRounding);
  EXPECT_NEAR(posterior.mean[1], std::exp(-0.5), test::kRounding);
  EXPECT_NEAR(posterior.mean[2], std::exp(-0.5), test::kRounding) << "categories have no order";
  EXPECT_NEAR(posterior.mean[3], std::exp(-0.75), test::kRounding);
}

TEST(GaussianProcess, LeftOutErrorsAreThoseOfAProcessWithoutTheObservation) {
  const Eigen::Index n = 12;
  const MatrixXd x = random_points(n, 2, 5);
  const VectorXd y = x.col(0).array().sin() + x.col(1).array().square();
  const GaussianProcess::Hyperparameters own{
      .length_scale = VectorXd{{0.7, 1.3}}, .signal_variance = 2, .noise_variance = 0.01};
  GaussianProcess all({false, false});
  all.set_hyperparameters(own);
  all.fit(x, y);
  const VectorXd errors = all.left_out_errors();
  for (Eigen::Index left_out = 0; left_out < n; ++left_out) {
    std::vector<Eigen::Index> others;
    for (Eigen::Index i = 0; i < n; ++i) {
      if (i != left_out) others.push_back(i);
    }
    GaussianProcess process({false, false});
    process.set_hyperparameters(own);
    process.fit(x(others, Eigen::all), y(others));
    const VectorXd mean = process.predict_mean(x.row(left_out));
    EXPECT_NEAR(errors[left_out], y[left_out] - mean[0], test::kRounding) << left_out;
    EXPECT_NEAR(mean[0], process.predict(x.row(left_out)).mean[0], test::kRounding);
  }
}

TEST(GaussianProcess, AppendingEqualsFitting) {
  const MatrixXd x = random_points(30, 3, 1);
  const VectorXd y = x.col(0).array().sin() + x.col(1).array() * x.col(2).array();
  GaussianProcess at_once({false, false, false});
  at_once.fit(x, y);
  GaussianProcess one_by_one({false, false, false});
  one_by_one.fit(x.topRows(10), y.head(10));
  for (Eigen::Index i = 10; i < 30; ++i) one_by_one.append(x.row(i), y[i]);
  const MatrixXd probe = random_points(10, 3, 2);
  const auto a = at_once.predict(probe);
  const auto b = one_by_one.predict(probe);
  // 30 x 30 with a condition number near 1e4.
  EXPECT_LT((a.mean - b.mean).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((a.variance - b.variance).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT(test::relative_error(at_once.log_marginal_likelihood(), one_by_one.log_marginal_likelihood()), 1e-9);
}

TEST(GaussianProcess, LearnsWhichDimensionsMatter) {
  MatrixXd x = random_points(80, 4, 3);
  for (Eigen::Index i = 0; i < x.rows(); ++i) x(i, 3) = static_cast<double>(i % 3);
  VectorXd y = (3 * x.col(0).array()).sin() + (x.col(3).array() == 1.0).cast<double>();
  y.array() -= y.mean();
  GaussianProcess process({false, false, false, true});
  process.fit(x, y);
  const double before = process.log_marginal_likelihood();
  process.learn_hyperparameters(x, y);
  process.fit(x, y);
  EXPECT_GT(process.log_marginal_likelihood(), before + 10);
  const VectorXd& length = process.hyperparameters().length_scale;
  EXPECT_GT(length[1], 3 * length[0]);
  EXPECT_GT(length[2], 3 * length[0]);
  // Held-out points: far better than the mean.
  const MatrixXd probe = [] {
    MatrixXd points = random_points(40, 4, 4);
    for (Eigen::Index i = 0; i < points.rows(); ++i) points(i, 3) = static_cast<double>((i * 7) % 3);
    return points;
  }();
  VectorXd truth = (3 * probe.col(0).array()).sin() + (probe.col(3).array() == 1.0).cast<double>();
  truth.array() -= ((3 * x.col(0).array()).sin() + (x.col(3).array() == 1.0).cast<double>()).mean();
  const VectorXd error = process.predict(probe).mean - truth;
  EXPECT_LT(error.squaredNorm(), 0.01 * truth.squaredNorm());
}

}  // namespace
}  // namespace hindsight::optimize

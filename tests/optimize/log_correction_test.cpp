/// Does a correction learn the pattern of a model's errors from logged designs, and say where it knows nothing?
#include "optimize/log_correction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hindsight/core/random.h"
#include "optimize/problems.h"
#include "tolerances.h"

namespace hindsight::optimize {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

space::DesignSpace four_parameters() {
  return space::DesignSpace("four", "", {ordinal("a", 6), ordinal("b", 6), ordinal("c", 6), ordinal("d", 6)});
}

LevelMatrix random_levels(Index count, std::uint64_t seed) {
  const RandomStream random(seed, "test");
  LevelMatrix levels(count, 4);
  for (Index i = 0; i < levels.size(); ++i) {
    levels.data()[i] = static_cast<std::uint16_t>(random.below(static_cast<std::uint64_t>(i), 6));
  }
  return levels;
}

/// Errors of two metrics: the first follows a and b, the second is never off.
MatrixXd errors_of(const LevelMatrix& levels) {
  MatrixXd errors = MatrixXd::Zero(levels.rows(), 2);
  for (Index i = 0; i < levels.rows(); ++i)
    errors(i, 0) = 0.05 + 0.02 * levels(i, 0) - 0.01 * std::abs(levels(i, 1) - 3);
  return errors;
}

double largest(const MatrixXd& values) { return values.cwiseAbs().maxCoeff(); }

class LogCorrectionTest : public ::testing::Test {
 protected:
  const space::DesignSpace space_ = four_parameters();
  const LevelMatrix levels_ = random_levels(150, 1);
  const MatrixXd predicted_ = MatrixXd::Zero(150, 2);
  const LevelMatrix others_ = random_levels(50, 2);
  const MatrixXd predicted_others_ = MatrixXd::Zero(50, 2);
  // Of errors that range over 0.13.
  static constexpr double kClose = 0.01;
};

TEST_F(LogCorrectionTest, ThePatternHoldsForDesignsThatAreNotLogged) {
  const LogCorrection correction(space_, levels_, predicted_, errors_of(levels_));
  const MatrixXd mean = correction.mean(others_, predicted_others_);
  EXPECT_LT(largest(mean - errors_of(others_)), kClose);
  EXPECT_LT(largest(correction.left_out()), kClose) << "each by the others";
  EXPECT_GT(largest(errors_of(levels_)), 10 * kClose) << "without a correction";
  EXPECT_EQ(largest(mean.col(1)), 0) << "never off";
  EXPECT_EQ(largest(correction.deviation(others_, predicted_others_).col(1)), 0);
}

TEST_F(LogCorrectionTest, WhatIsPredictedMayTellWhereAModelErrs) {
  // Too low by a tenth wherever the first metric is predicted above 0.5, whatever the parameters.
  const RandomStream random(3, "test");
  const auto predictions = [&](Index count, std::uint64_t first) {
    MatrixXd predicted(count, 2);
    for (Index i = 0; i < predicted.size(); ++i)
      predicted.data()[i] = random.uniform(first + static_cast<std::uint64_t>(i));
    return predicted;
  };
  const auto truth = [](const MatrixXd& predicted) {
    MatrixXd all = predicted;
    all.col(0).array() += 0.1 * (predicted.col(0).array() - 0.5).cwiseMax(0);
    return all;
  };
  const MatrixXd own = predictions(150, 0), other = predictions(50, 1000);
  const LogCorrection correction(space_, levels_, own, truth(own));
  EXPECT_LT(largest(other + correction.mean(others_, other) - truth(other)), 0.3 * largest(truth(other) - other));
}

TEST_F(LogCorrectionTest, FewWildErrorsDoNotSpoilTheRest) {
  MatrixXd truth = errors_of(levels_);
  for (Index i = 0; i < 150; i += 50) truth(i, 0) += 3;
  const LogCorrection correction(space_, levels_, predicted_, truth);
  // Each wild error counts as one of 4 deviations, not of 90.
  EXPECT_LT(largest(correction.mean(others_, predicted_others_) - errors_of(others_)), 0.2);
  EXPECT_GT(correction.left_out()(0, 0), 2.5) << "but is one of those that it does not explain";
}

TEST_F(LogCorrectionTest, FarFromLoggedDesignsItIsUnsure) {
  LevelMatrix corner = levels_;
  for (Index i = 0; i < corner.size(); ++i) corner.data()[i] /= 3;  // levels 0 and 1 alone
  const MatrixXd errors = errors_of(corner);
  const LogCorrection correction(space_, corner, predicted_, errors);
  LevelMatrix near(1, 4), far(1, 4);
  near << 0, 1, 0, 1;
  far << 5, 5, 5, 5;
  const MatrixXd one = MatrixXd::Zero(1, 2);
  EXPECT_GT(correction.deviation(far, one)(0, 0), 2 * correction.deviation(near, one)(0, 0));
  const double largest = correction.largest_deviation()[0];
  EXPECT_LE(correction.deviation(far, one)(0, 0), largest + test::kRounding);
  EXPECT_GT(correction.deviation(far, one)(0, 0), 0.5 * largest);
  const double spread = std::sqrt((errors.col(0).array() - errors.col(0).mean()).square().mean());
  // What designs unlike the logged ones may be off by; less than the spread, because four values come 150 times.
  EXPECT_GT(largest, 0.1 * spread);
}

TEST_F(LogCorrectionTest, WhatDecidesTheErrorsDecidesWhoIsNear) {
  const LogCorrection correction(space_, levels_, predicted_, errors_of(levels_));
  LevelMatrix two(2, 4);
  two << 2, 3, 0, 5,  // other values of c and d, which do not matter
      3, 3, 2, 2;     // another one of a
  const Eigen::VectorXd distances = correction.distances(two, {{2, 3, 2, 2}});
  EXPECT_LT(distances[0], distances[1]);
}

}  // namespace
}  // namespace hindsight::optimize

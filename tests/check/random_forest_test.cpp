/// Does the random forest end and learn, also where two values of a feature are neighbouring floats?
#include "check/random_forest.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hindsight::check {
namespace {

/// Halfway between two neighbouring floats is one of them; a threshold at the higher one would split off nothing.
TEST(RandomForest, SplitsBetweenNeighbouringFloats) {
  const float one = 1.0F, next = std::nextafter(one, 2.0F), third = std::nextafter(next, 2.0F);
  constexpr Eigen::Index kRows = 60;
  Eigen::MatrixXf features(kRows, 1);
  Eigen::VectorXd targets(kRows);
  for (Eigen::Index i = 0; i < kRows; ++i) {
    features(i, 0) = i % 3 == 0 ? one : i % 3 == 1 ? next : third;
    targets[i] = static_cast<double>(i % 3);
  }
  const RandomForest forest(features, targets, {.trees = 10});
  EXPECT_EQ(forest.predict(&one), 0);
  EXPECT_EQ(forest.predict(&next), 1);
  EXPECT_EQ(forest.predict(&third), 2);
}

}  // namespace
}  // namespace hindsight::check

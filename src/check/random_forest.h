/// A random forest for regression (Breiman 2001): the baseline that every learned surrogate has to beat.
///
/// Model: the mean of trees, each grown on a bootstrap sample; a node splits where the squared error falls most among a
/// random third of the features, until a leaf has few rows.
/// Ignores: categories with an order of their own (one-hot them) and missing values.
#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

namespace hindsight::check {

struct ForestOptions {
  std::size_t trees = 100;         ///< [chosen] the usual default of forest libraries
  std::size_t min_leaf_rows = 2;   ///< [chosen] small tables: leaves may be fine
  double feature_share = 1.0 / 3;  ///< [chosen] Breiman's advice for regression
  std::uint64_t seed = 1;
};

class RandomForest {
 public:
  /// `features`: n x d, `targets`: n, at least one row.
  RandomForest(const Eigen::MatrixXf& features, const Eigen::VectorXd& targets, const ForestOptions& options);
  [[nodiscard]] double predict(const float* features) const;

 private:
  struct Node {
    std::int32_t feature = -1;  ///< -1: a leaf
    float threshold = 0;        ///< left: <=
    std::int32_t left = 0, right = 0;
    double value = 0;  ///< mean of a leaf
  };
  class Grower;
  std::vector<std::vector<Node>> trees_;
};

}  // namespace hindsight::check

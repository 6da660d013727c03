/// A random forest of regression trees on dense features.
#include "check/random_forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hindsight/core/error.h"
#include "hindsight/core/random.h"

namespace hindsight::check {

/// Grows one tree.
class RandomForest::Grower {
 public:
  Grower(const Eigen::MatrixXf& features, const Eigen::VectorXd& targets, const ForestOptions& options,
         std::size_t tree)
      : features_(features),
        targets_(targets),
        options_(options),
        stream_(options.seed, fmt::format("tree {}", tree)) {}

  std::vector<Node> grow() {
    std::vector<Eigen::Index> rows(static_cast<std::size_t>(features_.rows()));
    for (Eigen::Index& row : rows) {
      row = static_cast<Eigen::Index>(stream_.below(next_++, static_cast<std::uint64_t>(features_.rows())));
    }
    nodes_.emplace_back();
    grow_node(0, rows.data(), rows.data() + rows.size());
    return std::move(nodes_);
  }

 private:
  struct Split {
    std::int32_t feature = -1;
    float threshold = 0;
    double gain = 0;
  };

  void grow_node(std::size_t node, Eigen::Index* begin, Eigen::Index* end) {
    const auto count = static_cast<std::size_t>(end - begin);
    const double sum =
        std::accumulate(begin, end, 0.0, [&](double total, Eigen::Index row) { return total + targets_[row]; });
    nodes_[node].value = sum / static_cast<double>(count);
    if (count < 2 * options_.min_leaf_rows) return;
    const Split split = best_split(begin, end, sum);
    if (split.feature < 0) return;
    Eigen::Index* middle =
        std::partition(begin, end, [&](Eigen::Index row) { return features_(row, split.feature) <= split.threshold; });
    const std::size_t left = nodes_.size();
    nodes_.resize(left + 2);
    nodes_[node].feature = split.feature;
    nodes_[node].threshold = split.threshold;
    nodes_[node].left = static_cast<std::int32_t>(left);
    nodes_[node].right = static_cast<std::int32_t>(left + 1);
    grow_node(left, begin, middle);
    grow_node(left + 1, middle, end);
  }

  /// Largest fall of the squared error: sum_l^2 / n_l + sum_r^2 / n_r - sum^2 / n.
  Split best_split(const Eigen::Index* begin, const Eigen::Index* end, double sum) {
    const auto count = static_cast<std::size_t>(end - begin);
    std::vector<std::int32_t> order(static_cast<std::size_t>(features_.cols()));
    std::iota(order.begin(), order.end(), 0);
    const auto wanted = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::ceil(static_cast<double>(order.size()) * options_.feature_share)));
    Split best;
    std::size_t tried = 0;
    for (std::size_t i = 0; i < order.size() && (tried < wanted || best.feature < 0); ++i) {
      std::swap(order[i], order[i + stream_.below(next_++, order.size() - i)]);
      const std::int32_t feature = order[i];
      sorted_.clear();
      for (const Eigen::Index* row = begin; row != end; ++row) {
        sorted_.emplace_back(features_(*row, feature), targets_[*row]);
      }
      std::sort(sorted_.begin(), sorted_.end());
      if (sorted_.front().first == sorted_.back().first) continue;
      ++tried;
      double left = 0;
      for (std::size_t k = 0; k + 1 < count; ++k) {
        left += sorted_[k].second;
        const std::size_t left_count = k + 1;
        const std::size_t right_count = count - left_count;
        if (sorted_[k].first == sorted_[k + 1].first) continue;
        if (left_count < options_.min_leaf_rows || right_count < options_.min_leaf_rows) continue;
        const double right = sum - left;
        const double gain = left * left / static_cast<double>(left_count) +
                            right * right / static_cast<double>(right_count) - sum * sum / static_cast<double>(count);
        if (gain > best.gain + kSmallestGain) {
          const float low = sorted_[k].first, high = sorted_[k + 1].first, middle = low + (high - low) / 2;
          // Halfway between neighbouring floats rounds to one of them; at the higher one nothing would be split off.
          best = {.feature = feature, .threshold = middle < high ? middle : low, .gain = gain};
        }
      }
    }
    return best;
  }

  static constexpr double kSmallestGain = 1e-12;  // [chosen] rounding of the sums must not look like a gain

  const Eigen::MatrixXf& features_;
  const Eigen::VectorXd& targets_;
  const ForestOptions& options_;
  RandomStream stream_;
  std::uint64_t next_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::pair<float, double>> sorted_;
};

RandomForest::RandomForest(const Eigen::MatrixXf& features, const Eigen::VectorXd& targets,
                           const ForestOptions& options) {
  HINDSIGHT_EXPECT(features.rows() > 0 && features.rows() == targets.size() && features.cols() > 0);
  for (std::size_t tree = 0; tree < options.trees; ++tree) {
    trees_.push_back(Grower(features, targets, options, tree).grow());
  }
}

double RandomForest::predict(const float* features) const {
  double sum = 0;
  for (const std::vector<Node>& nodes : trees_) {
    std::size_t node = 0;
    while (nodes[node].feature >= 0) {
      node = static_cast<std::size_t>(features[nodes[node].feature] <= nodes[node].threshold ? nodes[node].left
                                                                                             : nodes[node].right);
    }
    sum += nodes[node].value;
  }
  return sum / static_cast<double>(trees_.size());
}

}  // namespace hindsight::check

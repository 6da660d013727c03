/// Heads of networks by tables over a box of designs: every output between two sums of one number per parameter.
///
/// Equations: hindsight/surrogate/box_bounds.h.
#pragma once

#include <Eigen/Dense>
#include <memory>
#include <vector>

#include "hindsight/surrogate/box_bounds.h"
#include "surrogate/forward.h"

namespace hindsight::surrogate {

/// A sum of one number per parameter, g(x) = g[0] + sum over the free parameters of g[place of x_t].
using LevelSum = Eigen::VectorXd;  // 1 + K

/// The levels of a box, and where those of free parameters (of several levels) stand in a LevelSum.
class BoxLevels {
 public:
  /// Error{usage}: see BoxBounder::bound.
  BoxLevels(const Box& box, const space::DesignSpace& space);
  [[nodiscard]] const Box& levels() const { return levels_; }
  /// 1 + K.
  [[nodiscard]] Eigen::Index size() const { return size_; }
  /// The smallest value of a sum over the box.
  [[nodiscard]] double smallest(const Eigen::Ref<const LevelSum>& sum) const;
  [[nodiscard]] double largest(const Eigen::Ref<const LevelSum>& sum) const { return -smallest(-sum); }
  /// Which entries of a LevelSum a design counts where `sum` is smallest: 1 at the constant and at its levels, else 0.
  [[nodiscard]] LevelSum where_smallest(const Eigen::Ref<const LevelSum>& sum) const;
  [[nodiscard]] LevelSum constant(double value) const;
  /// Rows of a table of all levels (`offsets`: of the parameters): the first the sum of fixed parameters' rows, then
  /// one per level of the free ones. (1 + K) x columns.
  [[nodiscard]] Eigen::MatrixXd rows_of(const Eigen::MatrixXd& table, const std::vector<Eigen::Index>& offsets) const;

 private:
  Box levels_;
  struct Free {
    Eigen::Index first, count;
  };
  std::vector<Free> free_;
  Eigen::Index size_ = 1;
};

/// An output of a head over a box: lower(x) <= output <= upper(x), and its range.
struct OutputBounds {
  LevelSum lower, upper;
  Range range;
};

/// The weights of an MLP of tables in double, for any number of applications.
struct RelaxedHead {
  explicit RelaxedHead(const TableMlp& mlp);
  std::vector<Eigen::Index> offsets;  // p
  Eigen::MatrixXd first;              // all levels x h
  Eigen::MatrixXd skip;               // all levels x outputs; of sums over layers
  std::vector<Eigen::MatrixXd> weights;
  std::vector<Eigen::VectorXd> biases;
  Eigen::VectorXd factor;  // outputs; empty for heads of the design alone
};

/// What an application adds to a head: one column per layer, one for heads of the design alone.
struct HeadStart {
  Eigen::MatrixXd first;  // h x l
  Eigen::MatrixXd skip;   // outputs x l; empty for heads of the design alone
};
[[nodiscard]] HeadStart head_start(const RelaxedHead& weights, const std::vector<float>& start);
[[nodiscard]] HeadStart head_start(const RelaxedHead& weights, const LayerTerms& terms);

/// A head's rows of a box, for any number of applications.
struct HeadRows {
  Eigen::MatrixXd first;  // (1 + K) x h
  Eigen::MatrixXd skip;   // (1 + K) x outputs
};
[[nodiscard]] HeadRows head_rows(const RelaxedHead& weights, const BoxLevels& box);

/// All outputs of a head.
[[nodiscard]] std::vector<OutputBounds> bound_head(const RelaxedHead& weights, const HeadRows& rows,
                                                   const HeadStart& start, const BoxLevels& box);

}  // namespace hindsight::surrogate

/// Judging designs in batches: constraints with a function first, then the model, once, for designs that meet them.
#pragma once

#include <limits>
#include <vector>

#include "hindsight/optimize/front.h"
#include "hindsight/optimize/problem.h"

namespace hindsight::optimize {

/// What selection compares: 0 violation = feasible; smaller is better in all.
struct Fitness {
  double score = std::numeric_limits<double>::infinity();
  double violation = std::numeric_limits<double>::infinity();
  MetricValues metrics = {};  ///< of a feasible design, where a front is asked for
  [[nodiscard]] bool feasible() const { return violation <= 0; }
};
/// Constraint domination [paper: deb-2000]: a feasible design beats an infeasible one, two feasible ones are compared
/// by score, two infeasible ones by violation.
[[nodiscard]] bool better(const Fitness& a, const Fitness& b);

/// Equation: excess = max(0, value - limit) / |limit|, or the difference itself for a limit of 0. Infinity for a value
/// that is not a number.
[[nodiscard]] double relative_excess(double value, double limit);

/// Asks a problem about batches of designs. May be used by several threads where the problem's functions may.
class Judge {
 public:
  /// Keeps a reference to the problem.
  explicit Judge(const Problem& problem);

  /// Values of the constraints with a function, in their order: n x k.
  [[nodiscard]] Eigen::MatrixXd cheap(const LevelMatrix& levels) const;
  /// Score and values of the learned constraints, from one question to the model.
  [[nodiscard]] Learned learned(const LevelMatrix& levels) const;
  /// Fitness of every row. The model is asked about the rows that meet every constraint with a function; for the
  /// others each learned constraint counts as an excess of 1, that is of 100 %. `smallest` (one entry per constraint)
  /// is lowered to the smallest values seen. Values that are not numbers violate, scores that are not come last.
  [[nodiscard]] std::vector<Fitness> fitness(const LevelMatrix& levels, std::vector<double>& smallest) const;

 private:
  const Problem& problem_;
  std::vector<std::size_t> cheap_, learned_;  // positions among the problem's constraints
};

}  // namespace hindsight::optimize

/// Fitness of designs from what a problem says about them.
#include "optimize/judge.h"

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"

namespace hindsight::optimize {
double relative_excess(double value, double limit) {
  if (std::isnan(value)) return std::numeric_limits<double>::infinity();
  if (value <= limit) return 0;
  return (value - limit) / (limit == 0 ? 1 : std::abs(limit));
}

namespace {

/// Adds the excess of `values`, which are those of the rows `rows` of a whole batch.
void add_excess(const Constraint& constraint, const Eigen::Ref<const Eigen::VectorXd>& values,
                const std::vector<std::size_t>& rows, std::vector<Fitness>& fitness, double& smallest) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double value = values[static_cast<Eigen::Index>(i)];
    fitness[rows[i]].violation += relative_excess(value, constraint.limit);
    if (value < smallest) smallest = value;
  }
}

LevelMatrix those(const LevelMatrix& levels, const std::vector<std::size_t>& rows) {
  LevelMatrix some(static_cast<Eigen::Index>(rows.size()), levels.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    some.row(static_cast<Eigen::Index>(i)) = levels.row(static_cast<Eigen::Index>(rows[i]));
  }
  return some;
}

}  // namespace

bool better(const Fitness& a, const Fitness& b) {
  if (a.feasible() != b.feasible()) return a.feasible();
  return a.feasible() ? a.score < b.score : a.violation < b.violation;
}

Judge::Judge(const Problem& problem) : problem_(problem) {
  for (std::size_t c = 0; c < problem.constraints.size(); ++c) {
    (problem.constraints[c].learned() ? learned_ : cheap_).push_back(c);
  }
}

Eigen::MatrixXd Judge::cheap(const LevelMatrix& levels) const {
  Eigen::MatrixXd values(levels.rows(), std::ssize(cheap_));
  for (std::size_t k = 0; k < cheap_.size(); ++k) {
    const Eigen::VectorXd column = problem_.constraints[cheap_[k]].value(levels);
    HINDSIGHT_EXPECT(column.size() == levels.rows());
    values.col(static_cast<Eigen::Index>(k)) = column;
  }
  return values;
}

Learned Judge::learned(const LevelMatrix& levels) const {
  Learned result = problem_.model(levels);
  HINDSIGHT_EXPECT(result.score.size() == levels.rows());
  HINDSIGHT_EXPECT(result.values.cols() == std::ssize(learned_));
  HINDSIGHT_EXPECT(learned_.empty() || result.values.rows() == levels.rows());
  HINDSIGHT_EXPECT(result.metrics.cols() == 0 || result.metrics.rows() == levels.rows());
  HINDSIGHT_EXPECT(result.metrics.cols() <= static_cast<Eigen::Index>(kMostMetrics));
  return result;
}

std::vector<Fitness> Judge::fitness(const LevelMatrix& levels, std::vector<double>& smallest) const {
  HINDSIGHT_EXPECT(smallest.size() == problem_.constraints.size());
  const auto n = static_cast<std::size_t>(levels.rows());
  std::vector<Fitness> fitness(n, Fitness{.violation = 0});
  std::vector<std::size_t> rows(n);
  for (std::size_t i = 0; i < n; ++i) rows[i] = i;
  const Eigen::MatrixXd known = cheap(levels);
  for (std::size_t k = 0; k < cheap_.size(); ++k) {
    const std::size_t c = cheap_[k];
    add_excess(problem_.constraints[c], known.col(static_cast<Eigen::Index>(k)), rows, fitness, smallest[c]);
  }
  std::erase_if(rows, [&](std::size_t row) { return !fitness[row].feasible(); });
  for (Fitness& entry : fitness) {
    if (!entry.feasible()) entry.violation += static_cast<double>(learned_.size());
  }
  if (rows.empty()) return fitness;
  const Learned answer = rows.size() < n ? learned(those(levels, rows)) : learned(levels);
  for (std::size_t k = 0; k < learned_.size(); ++k) {
    const std::size_t c = learned_[k];
    add_excess(problem_.constraints[c], answer.values.col(static_cast<Eigen::Index>(k)), rows, fitness, smallest[c]);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double score = answer.score[static_cast<Eigen::Index>(i)];
    if (!std::isnan(score)) fitness[rows[i]].score = score;
    for (Eigen::Index m = 0; m < answer.metrics.cols(); ++m) {
      const double value = answer.metrics(static_cast<Eigen::Index>(i), m);
      fitness[rows[i]].metrics[static_cast<std::size_t>(m)] =
          std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
    }
  }
  return fitness;
}

}  // namespace hindsight::optimize

/// Limits that need no evaluation, as constraints of a problem.
#include "hindsight/study/analytic_constraint.h"

#include <algorithm>

namespace hindsight::study {

std::optional<optimize::Constraint> analytic_constraint(const std::shared_ptr<const evaluator::Evaluator>& evaluator,
                                                        const std::string& metric, double limit) {
  const auto& known = evaluator->fact_names();
  if (std::find(known.begin(), known.end(), metric) == known.end()) return std::nullopt;
  return optimize::Constraint{
      .name = metric, .limit = limit, .value = [evaluator, metric](const optimize::LevelMatrix& m) {
        const std::vector<double> values =
            evaluator->facts({m.data(), static_cast<std::size_t>(m.size())}, {&metric, 1});
        return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(values.data(), m.rows()));
      }};
}

}  // namespace hindsight::study

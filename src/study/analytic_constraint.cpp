/// Limits that need no evaluation, as constraints of a problem.
#include "hindsight/study/analytic_constraint.h"

#include <algorithm>

namespace hindsight::study {

std::optional<optimize::Constraint> analytic_constraint(const std::shared_ptr<const evaluator::Evaluator>& evaluator,
                                                        const std::string& metric, double limit) {
  const auto& known = evaluator->fact_names();
  if (std::find(known.begin(), known.end(), metric) == known.end()) return std::nullopt;
  optimize::Constraint constraint{
      .name = metric, .limit = limit, .value = [evaluator, metric](const optimize::LevelMatrix& m) {
        const std::vector<double> values =
            evaluator->facts({m.data(), static_cast<std::size_t>(m.size())}, {&metric, 1});
        return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(values.data(), m.rows()));
      }};
  if (evaluator->fact_range(metric, optimize::AllowedLevels(evaluator->space().parameters().size()))) {
    constraint.range = [evaluator, metric](const optimize::AllowedLevels& box) {
      const auto [smallest, largest] = evaluator->fact_range(metric, box).value();
      return optimize::ValueRange{.smallest = smallest, .largest = largest};
    };
  }
  return constraint;
}

}  // namespace hindsight::study

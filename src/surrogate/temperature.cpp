/// Temperature of the feasibility logits.
#include "surrogate/temperature.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hindsight::surrogate {
namespace {

/// [chosen] Probabilities are kept this far from 0 and 1, so that one confident mistake does not decide the fit.
constexpr double kProbabilityFloor = 1e-6;
/// [chosen] Temperatures outside [0.05, 20] would mean that the logits carry no information or too few samples.
constexpr double kLargestTemperature = 20;
/// Golden sections: each shrinks the interval of ln T (width 6) by 0.618, so the last is 4e-8 wide.
constexpr int kSections = 40;

struct Labelled {
  std::vector<Eigen::VectorXf> logits;  // one vector per member
  std::vector<bool> feasible;
};

double negative_log_likelihood(const Labelled& rows, double temperature) {
  double sum = 0;
  for (std::size_t i = 0; i < rows.feasible.size(); ++i) {
    double p = 0;
    for (const Eigen::VectorXf& logits : rows.logits) {
      p += 1 / (1 + std::exp(-static_cast<double>(logits[static_cast<Eigen::Index>(i)]) / temperature));
    }
    p = std::clamp(p / static_cast<double>(rows.logits.size()), kProbabilityFloor, 1 - kProbabilityFloor);
    sum -= std::log(rows.feasible[i] ? p : 1 - p);
  }
  return sum;
}

}  // namespace

double fit_temperature(const std::vector<Network>& members, const TrainingRows& validation) {
  Labelled rows;
  rows.logits.resize(members.size());
  for (std::size_t c = 0; c < validation.by_context.size(); ++c) {
    const auto& group = validation.by_context[c];
    std::vector<std::size_t> numbers = group.feasible;
    numbers.insert(numbers.end(), group.infeasible.begin(), group.infeasible.end());
    if (numbers.empty()) continue;
    LevelMatrix levels(std::ssize(numbers), validation.levels.cols());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      levels.row(static_cast<Eigen::Index>(i)) = validation.levels.row(static_cast<Eigen::Index>(numbers[i]));
      rows.feasible.push_back(i < group.feasible.size());
    }
    for (std::size_t m = 0; m < members.size(); ++m) {
      const Heads feasibility{.objective = false, .constraints = false};
      const Eigen::VectorXf logits =
          members[m].predict(levels, feasibility, *terms_of(members[m], validation, c)).feasible_logit;
      Eigen::VectorXf& all = rows.logits[m];
      all.conservativeResize(all.size() + logits.size());
      all.tail(logits.size()) = logits;
    }
  }
  const auto feasible = std::count(rows.feasible.begin(), rows.feasible.end(), true);
  if (feasible == 0 || feasible == std::ssize(rows.feasible)) return 1;

  const double ratio = 1 / std::numbers::phi;
  double low = -std::log(kLargestTemperature), high = std::log(kLargestTemperature);
  const auto cost = [&](double x) { return negative_log_likelihood(rows, std::exp(x)); };
  double left = high - ratio * (high - low), right = low + ratio * (high - low);
  double cost_left = cost(left), cost_right = cost(right);
  for (int i = 0; i < kSections; ++i) {
    if (cost_left <= cost_right) {
      high = right;
      right = left;
      cost_right = cost_left;
      left = high - ratio * (high - low);
      cost_left = cost(left);
    } else {
      low = left;
      left = right;
      cost_left = cost_right;
      right = low + ratio * (high - low);
      cost_right = cost(right);
    }
  }
  return std::exp((low + high) / 2);
}

}  // namespace hindsight::surrogate

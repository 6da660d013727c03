/// Bayesian optimisation: a Gaussian process on the objective, one on feasibility, expected improvement.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "hindsight/dataset/scaling.h"
#include "optimize/operators.h"
#include "optimize/regression.h"
#include "optimize/strategy.h"

namespace hindsight::optimize {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kFirstQueries = 20;       // [chosen] random ones, twice the parameters of the edge space
constexpr std::size_t kRefitInterval = 10;      // [chosen] queries between two fits of the hyper-parameters
constexpr std::size_t kMostPoints = 1000;       // [chosen] of a posterior: keeps 1,000 queries below ten minutes
constexpr std::size_t kRandomCandidates = 256;  // [chosen] candidates per query before the local ascent
constexpr std::size_t kNearCandidates = 128;    // [chosen] mutated copies of the best designs
constexpr std::size_t kIncumbents = 5;          // [chosen] best designs that are copied
constexpr std::size_t kAscents = 4;             // [chosen] best candidates that climb
constexpr int kMostClimbs = 10;                 // [chosen] steps of one ascent
constexpr double kLeastProbability = 1e-9;      // [chosen] keeps the logarithm finite

double normal_density(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi); }
double normal_probability(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

/// Equation: log EI = log s + log(phi(z) + z Phi(z)), z = (best - m) / s, for a minimisation.
/// Source: [paper: jones-1998] equation 15.
/// Differs: below z = -6 the bracket is phi(z) / z^2, its leading term, where the difference would round to 0.
double log_expected_improvement(double mean, double variance, double best) {
  constexpr double kTail = -6;
  const double deviation = std::sqrt(std::max(variance, 1e-18));
  const double z = (best - mean) / deviation;
  if (z < kTail) {
    return std::log(deviation) - 0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi) - 2 * std::log(-z);
  }
  return std::log(deviation) + std::log(normal_density(z) + z * normal_probability(z));
}

class BayesianStrategy final : public Strategy {
 public:
  BayesianStrategy(CheapDesigns& designs, std::uint64_t seed)
      : designs_(designs),
        random_(seed, "optimize/online/bayesian"),
        categorical_(categorical_dimensions(designs.space())),
        objective_(categorical_),
        feasibility_(categorical_) {
    const auto& parameters = designs.space().space().parameters();
    for (const std::size_t p : designs.space().free_parameters()) {
      std::vector<double> values;
      for (std::size_t i = 0; i < designs.space().count(p); ++i) {
        const std::uint16_t level = designs.space().level(p, i);
        values.push_back(designs.space().is_ordinal(p)
                             ? dataset::encode_level(parameters[p], level, dataset::LevelEncoding::log_value)
                             : level);
      }
      encodings_.push_back(std::move(values));
    }
  }

  std::optional<Point> ask() override {
    if (points_.size() < kFirstQueries || encodings_.empty()) return designs_.random();
    if (told_since_fit_ >= kRefitInterval || !fitted_) fit();
    std::vector<Point> candidates = first_candidates();
    if (candidates.empty()) return designs_.random();
    VectorXd value = acquisition(candidates);
    std::vector<std::size_t> order(candidates.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return value[static_cast<Index>(a)] > value[static_cast<Index>(b)];
    });
    std::vector<Climber> climbers;
    for (const std::size_t i : order) {
      if (climbers.size() == kAscents) break;
      climbers.push_back({candidates[i], value[static_cast<Index>(i)], true});
    }
    climb(climbers);
    const auto best = std::max_element(climbers.begin(), climbers.end(),
                                       [](const Climber& a, const Climber& b) { return a.value < b.value; });
    return best->point;
  }

  void tell(const Point& point, std::optional<double> objective) override {
    if (objective && !std::isfinite(*objective)) objective.reset();
    points_.push_back(point);
    values_.push_back(objective);
    ++told_since_fit_;
    if (objective) {
      logarithmic_ = logarithmic_ && *objective > 0;
      best_objective_ = std::min(best_objective_, *objective);
    } else {
      any_infeasible_ = true;
    }
    // The first feasible or infeasible answer calls for a process of its own.
    if (objective ? !objective_.ready : !feasibility_.ready) told_since_fit_ = kRefitInterval;
    if (!fitted_ || told_since_fit_ >= kRefitInterval) return;
    // What the scaling of the last fit cannot take waits for the next one.
    const bool same_scale = logarithmic_ == fitted_logarithmic_;
    if (objective && objective_.ready && same_scale) objective_.append(encode(point), scaled(*objective));
    if (feasibility_.ready) feasibility_.append(encode(point), objective ? 1.0 : 0.0);
  }

 private:
  struct Climber {
    Point point;
    double value;
    bool climbing;
  };

  static std::vector<bool> categorical_dimensions(const LevelSpace& space) {
    std::vector<bool> categorical;
    for (const std::size_t p : space.free_parameters()) categorical.push_back(!space.is_ordinal(p));
    return categorical;
  }
  [[nodiscard]] Eigen::RowVectorXd encode(const Point& point) const {
    const auto& free = designs_.space().free_parameters();
    Eigen::RowVectorXd row(static_cast<Index>(free.size()));
    for (std::size_t k = 0; k < free.size(); ++k) row[static_cast<Index>(k)] = encodings_[k][point[free[k]]];
    return row;
  }
  [[nodiscard]] MatrixXd encode(const std::vector<Point>& points) const {
    MatrixXd rows(static_cast<Index>(points.size()), static_cast<Index>(encodings_.size()));
    for (std::size_t i = 0; i < points.size(); ++i) rows.row(static_cast<Index>(i)) = encode(points[i]);
    return rows;
  }
  [[nodiscard]] double scaled(double objective) const { return logarithmic_ ? std::log(objective) : objective; }

  /// Feasible observations, best first.
  [[nodiscard]] std::vector<std::size_t> feasible_order() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i]) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return *values_[a] < *values_[b]; });
    return order;
  }

  void fit() {
    fitted_ = true;
    told_since_fit_ = 0;
    fitted_logarithmic_ = logarithmic_;
    fit_objective();
    fit_feasibility();
  }

  /// On all feasible observations; beyond kMostPoints on the better half of that number and the latest others.
  void fit_objective() {
    std::vector<std::size_t> used = feasible_order();
    objective_.ready = false;
    if (used.size() < 2) return;
    if (used.size() > kMostPoints) {
      const auto middle = used.begin() + static_cast<std::ptrdiff_t>(kMostPoints / 2);
      std::sort(middle, used.end(), std::greater<>());
      used.resize(kMostPoints);
    }
    std::vector<Point> points;
    VectorXd y(static_cast<Index>(used.size()));
    for (std::size_t i = 0; i < used.size(); ++i) {
      points.push_back(points_[used[i]]);
      y[static_cast<Index>(i)] = scaled(*values_[used[i]]);
    }
    // Hyper-parameters: the best half of the rows, as their surroundings matter, and others evenly.
    std::vector<Index> learning = spread_rows(used.size(), kMostLearningPoints);
    if (used.size() > kMostLearningPoints) {
      const std::size_t half = kMostLearningPoints / 2;
      const std::vector<Index> rest = spread_rows(used.size() - half, half);
      for (std::size_t i = 0; i < half; ++i) {
        learning[i] = static_cast<Index>(i);
        learning[half + i] = static_cast<Index>(half) + rest[i];
      }
    }
    objective_.fit(encode(points), y, learning);
  }

  /// On the latest kMostPoints observations, which lie where the search is.
  void fit_feasibility() {
    feasibility_.ready = false;
    if (!any_infeasible_) return;
    const std::size_t begin = points_.size() - std::min(points_.size(), kMostPoints);
    const std::vector<Point> points(points_.begin() + static_cast<std::ptrdiff_t>(begin), points_.end());
    VectorXd y(static_cast<Index>(points.size()));
    for (std::size_t i = 0; i < points.size(); ++i) y[static_cast<Index>(i)] = values_[begin + i] ? 1.0 : 0.0;
    feasibility_.fit(encode(points), y, spread_rows(points.size(), kMostLearningPoints));
  }

  /// log(EI x P(feasible)); log P(feasible) alone while nothing feasible is known.
  ///
  /// P(feasible) = Phi((m - 1/2) / sqrt(v + s_n^2)), m and v the posterior of a Gaussian process on labels 0 and 1:
  /// least-squares classification [paper: rasmussen-williams-2006], section 6.5.
  [[nodiscard]] VectorXd acquisition(const std::vector<Point>& points) const {
    const MatrixXd x = encode(points);
    VectorXd value = VectorXd::Zero(x.rows());
    if (objective_.ready) {
      const auto posterior = objective_.process.predict(x);
      const double best = ((fitted_logarithmic_ ? std::log(best_objective_) : best_objective_) - objective_.mean) /
                          objective_.deviation;
      for (Index i = 0; i < x.rows(); ++i) {
        value[i] += log_expected_improvement(posterior.mean[i], posterior.variance[i], best);
      }
    }
    if (feasibility_.ready) {
      const auto posterior = feasibility_.process.predict(x);
      const double noise = feasibility_.process.hyperparameters().noise_variance;
      const double middle = (0.5 - feasibility_.mean) / feasibility_.deviation;
      for (Index i = 0; i < x.rows(); ++i) {
        const double probability =
            normal_probability((posterior.mean[i] - middle) / std::sqrt(posterior.variance[i] + noise));
        value[i] += std::log(std::max(probability, kLeastProbability));
      }
    }
    return value;
  }

  [[nodiscard]] std::vector<Point> first_candidates() {
    std::vector<Point> near;
    const std::vector<std::size_t> order = feasible_order();
    const std::size_t incumbents = std::min(order.size(), kIncumbents);
    for (std::size_t i = 0; incumbents > 0 && i < kNearCandidates; ++i) {
      near.push_back(points_[order[i % incumbents]]);
      mutate(near.back(), designs_.space(), usual_mutation_rate(designs_.space()), random_);
    }
    std::vector<Point> candidates = designs_.open(near);
    for (std::size_t i = 0; i < kRandomCandidates; ++i) {
      auto point = designs_.random();
      if (!point) break;
      candidates.push_back(std::move(*point));
    }
    return candidates;
  }

  /// Steepest ascent of every climber over open neighbours, all in one batch per step.
  void climb(std::vector<Climber>& climbers) const {
    for (int step = 0; step < kMostClimbs; ++step) {
      std::vector<Point> batch;
      std::vector<std::size_t> owner;
      for (std::size_t c = 0; c < climbers.size(); ++c) {
        if (!climbers[c].climbing) continue;
        for (Point& point : designs_.open(neighbours(climbers[c].point, designs_.space(), 1))) {
          batch.push_back(std::move(point));
          owner.push_back(c);
        }
        climbers[c].climbing = false;
      }
      if (batch.empty()) return;
      const VectorXd value = acquisition(batch);
      for (std::size_t i = 0; i < batch.size(); ++i) {
        Climber& climber = climbers[owner[i]];
        if (value[static_cast<Index>(i)] <= climber.value) continue;
        climber = {batch[i], value[static_cast<Index>(i)], true};
      }
    }
  }

  CheapDesigns& designs_;
  Random random_;
  std::vector<bool> categorical_;
  std::vector<std::vector<double>> encodings_;  // per free parameter, per position
  Regression objective_;
  Regression feasibility_;
  std::vector<Point> points_;
  std::vector<std::optional<double>> values_;
  double best_objective_ = std::numeric_limits<double>::infinity();
  bool logarithmic_ = true;  ///< all objectives are positive
  bool fitted_logarithmic_ = true;
  bool any_infeasible_ = false;
  bool fitted_ = false;
  std::size_t told_since_fit_ = 0;
};

}  // namespace

std::unique_ptr<Strategy> make_bayesian(CheapDesigns& designs, std::uint64_t seed) {
  return std::make_unique<BayesianStrategy>(designs, seed);
}

}  // namespace hindsight::optimize

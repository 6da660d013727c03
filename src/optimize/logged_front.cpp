/// The true front of a log, and how far predictions are from the truth there.
#include "optimize/logged_front.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "optimize/logged.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Share of the designs whose truth is within the margins, per metric.
constexpr double kSure = 0.9;
/// [chosen] Without a correction, logged designs that margins are from: enough for the share above, few enough to be
/// near the front.
constexpr std::size_t kCompared = 100;
/// [chosen] Logged designs near the front that a correction is from, and others near what was found: more take longer
/// (cubic).
constexpr std::size_t kNearFront = 400;
constexpr std::size_t kNearFound = 400;
/// [chosen] Least margin, 2.5 %: a search looks at more designs than a log has, and finds larger errors. With it no
/// proposal of three studies was dominated by a logged design, without one 10 of 258 were (docs/optimize.md).
constexpr double kLeastMargin = 0.025;

/// Rows of the designs that are feasible for every application: designs x applications.
std::vector<std::vector<Eigen::Index>> complete_designs(const dataset::Dataset& logged,
                                                        const std::vector<std::int32_t>& contexts) {
  constexpr Eigen::Index kNone = -1;
  std::map<std::vector<std::uint16_t>, std::vector<Eigen::Index>> rows;
  for (std::size_t i = 0; i < logged.size(); ++i) {
    const auto context = std::find(contexts.begin(), contexts.end(), logged.context[i]);
    if (context == contexts.end() || !logged.feasible[i]) continue;
    const auto row = static_cast<Eigen::Index>(i);
    const std::uint16_t* levels = logged.levels.data() + row * logged.levels.cols();
    auto& own = rows[std::vector<std::uint16_t>(levels, levels + logged.levels.cols())];
    own.resize(contexts.size(), kNone);
    own[static_cast<std::size_t>(context - contexts.begin())] = row;
  }
  std::vector<std::vector<Eigen::Index>> complete;
  for (auto& [levels, own] : rows) {
    if (std::find(own.begin(), own.end(), kNone) == own.end()) complete.push_back(std::move(own));
  }
  return complete;
}

std::vector<Eigen::Index> infeasible_rows(const dataset::Dataset& logged, const std::vector<std::int32_t>& contexts) {
  std::vector<Eigen::Index> rows;
  for (std::size_t i = 0; i < logged.size(); ++i) {
    const bool wanted = std::find(contexts.begin(), contexts.end(), logged.context[i]) != contexts.end();
    if (wanted && !logged.feasible[i]) rows.push_back(static_cast<Eigen::Index>(i));
  }
  return rows;
}

/// Columns of the labels of `model` among those of the log, -1 where the log does not have one.
std::vector<Eigen::Index> label_columns(const surrogate::Model& model, const dataset::Dataset& logged) {
  std::vector<Eigen::Index> columns;
  for (const std::string& name : model.parts().constraint_names) {
    const auto found = std::find(logged.constraint_names.begin(), logged.constraint_names.end(), name);
    columns.push_back(found == logged.constraint_names.end() ? -1 : found - logged.constraint_names.begin());
  }
  return columns;
}

/// What the log has of the designs, as if a model without doubt had said it.
ForecastBatch truth_of(const surrogate::Model& model, const dataset::Dataset& logged, const Forecast& forecast,
                       const std::vector<std::vector<Eigen::Index>>& rows) {
  const std::vector<Eigen::Index> columns = label_columns(model, logged);
  ForecastBatch batch(rows.front().size());
  const auto count = static_cast<Eigen::Index>(rows.size());
  for (std::size_t c = 0; c < batch.size(); ++c) {
    Eigen::VectorXd objective(count);
    Eigen::MatrixXd labels =
        Eigen::MatrixXd::Constant(count, std::ssize(columns), std::numeric_limits<double>::quiet_NaN());
    for (Eigen::Index i = 0; i < count; ++i) {
      const Eigen::Index row = rows[static_cast<std::size_t>(i)][c];
      objective[i] = logged.objective[row];
      for (std::size_t k = 0; k < columns.size(); ++k) {
        if (columns[k] >= 0) labels(i, static_cast<Eigen::Index>(k)) = logged.constraints(row, columns[k]);
      }
    }
    batch[c] = forecast.of_truth(c, objective, std::move(labels));
  }
  return batch;
}

/// Metrics of all designs, n x metrics.
Eigen::MatrixXd metrics_of(const ForecastBatch& batch, const LevelMatrix& levels, const Forecast& forecast,
                           std::size_t count) {
  Eigen::MatrixXd metrics(levels.rows(), static_cast<Eigen::Index>(count));
  for (std::size_t m = 0; m < count; ++m) {
    metrics.col(static_cast<Eigen::Index>(m)) = forecast.metric_score(batch, levels, m);
  }
  return metrics;
}

/// Rows of `levels` that are allowed, have every metric and meet every limit.
std::vector<Eigen::Index> acceptable_rows(const surrogate::Model& model, const ProposeOptions& options,
                                          const Forecast& forecast, const ForecastBatch& truth,
                                          const LevelMatrix& levels, const Eigen::MatrixXd& metrics) {
  const Problem allowed{.space = &model.parts().space, .allowed = options.allowed, .constraints = {}, .model = {}};
  std::vector<Eigen::VectorXd> values;
  for (const Constraint& constraint : options.constraints) {
    if (constraint.learned()) {
      values.push_back(forecast.largest(truth, *learned_quantity(model, constraint.name), 0));
    } else {
      values.push_back(constraint.value(levels));
    }
  }
  std::vector<Eigen::Index> rows;
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    bool meets = metrics.row(i).allFinite() && allowed.is_allowed(levels.data() + i * levels.cols());
    for (std::size_t k = 0; k < values.size(); ++k) meets = meets && values[k][i] <= options.constraints[k].limit;
    if (meets) rows.push_back(i);
  }
  return rows;
}

MetricValues values_of(const Eigen::MatrixXd& metrics, Eigen::Index row) {
  MetricValues values = {};
  for (Eigen::Index m = 0; m < metrics.cols(); ++m) values[static_cast<std::size_t>(m)] = metrics(row, m);
  return values;
}

/// How far a point is behind the front: the largest share of its metrics' ranges by which some member beats it
/// everywhere.
double behind(const MetricValues& point, const std::vector<MetricValues>& front, const Eigen::RowVectorXd& range) {
  double most = 0;
  for (const MetricValues& member : front) {
    double least = std::numeric_limits<double>::infinity();
    for (Eigen::Index m = 0; m < range.size(); ++m) {
      if (!(range[m] > 0)) continue;
      const auto k = static_cast<std::size_t>(m);
      least = std::min(least, (point[k] - member[k]) / range[m]);
    }
    if (std::isfinite(least)) most = std::max(most, least);
  }
  return most;
}

/// How far the rows of `metrics` (n x metrics) are behind their own front.
std::vector<double> behind_own_front(const Eigen::MatrixXd& metrics) {
  std::vector<MetricValues> points;
  for (Eigen::Index i = 0; i < metrics.rows(); ++i) points.push_back(values_of(metrics, i));
  std::vector<MetricValues> front;
  for (const std::size_t i : non_dominated(points)) front.push_back(points[i]);
  const Eigen::RowVectorXd range = metrics.colwise().maxCoeff() - metrics.colwise().minCoeff();
  std::vector<double> all;
  for (const MetricValues& point : points) all.push_back(behind(point, front, range));
  return all;
}

/// Positions of the `count` smallest, all when they fit; of equal ones the first.
std::vector<Eigen::Index> smallest_rows(const std::vector<double>& values, std::size_t count) {
  std::vector<Eigen::Index> order(values.size());
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  order.resize(std::min(order.size(), count));
  return order;
}

/// The smallest value that the share kSure does not exceed.
double sure(Eigen::VectorXd values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  return values[static_cast<Eigen::Index>(std::ceil(kSure * count)) - 1];
}

double root_mean_square(const Eigen::VectorXd& values) { return std::sqrt(values.cwiseAbs2().mean()); }

}  // namespace

std::optional<LoggedFront> LoggedFront::of(const surrogate::Model& model, const ProposeOptions& options,
                                           const Forecast& forecast) {
  const dataset::Dataset& logged = *options.logged;
  std::vector<std::string> applications;
  for (const dataset::Context& context : options.contexts) applications.push_back(context.name);
  const std::vector<std::int32_t> contexts = contexts_of(logged, applications);
  const auto designs = complete_designs(logged, contexts);
  if (designs.empty()) return std::nullopt;
  std::vector<Eigen::Index> first;
  for (const auto& rows : designs) first.push_back(rows.front());
  const LevelMatrix levels = logged.levels(first, Eigen::all);
  const ForecastBatch truth = truth_of(model, logged, forecast, designs);
  const Eigen::MatrixXd metrics = metrics_of(truth, levels, forecast, options.front.size());
  const std::vector<Eigen::Index> rows = acceptable_rows(model, options, forecast, truth, levels, metrics);
  if (rows.empty()) return std::nullopt;

  LoggedFront front;
  front.pessimism_ = options.pessimism;
  front.space_ = &model.parts().space;
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    const std::uint16_t* own = levels.data() + i * levels.cols();
    front.logged_.emplace(own, own + levels.cols());
  }
  for (const Eigen::Index row : infeasible_rows(logged, contexts)) {
    const std::uint16_t* own = logged.levels.data() + row * logged.levels.cols();
    front.logged_.emplace(own, own + logged.levels.cols());
  }
  for (std::size_t m = 0; m < options.front.size(); ++m) {
    front.least_margins_.push_back(options.front[m].value ? 0 : kLeastMargin * forecast.metric_unit(m));
  }
  front.levels_ = levels(rows, Eigen::all);
  front.metrics_ = metrics(rows, Eigen::all);
  for (std::size_t m = 0; m < options.front.size(); ++m) {
    front.least_scores_.push_back(front.metrics_.col(static_cast<Eigen::Index>(m)).minCoeff());
    front.least_.push_back(forecast.metric_in_units(front.least_scores_.back(), m));
  }
  front.take_members(forecast, truth, levels, rows);
  const ForecastBatch said = forecast.predict(front.levels_, {.feasibility = false});
  front.predicted_ = metrics_of(said, front.levels_, forecast, options.front.size());
  std::vector<double> behind = behind_own_front(front.predicted_);
  if (front.levels_.rows() < LogCorrection::kLeastDesigns) {
    front.near_ = smallest_rows(behind, kCompared);
  } else {
    const std::vector<double> by_truth = behind_own_front(front.metrics_);
    for (std::size_t i = 0; i < behind.size(); ++i) behind[i] = std::min(behind[i], by_truth[i]);
    front.near_ = smallest_rows(behind, kNearFront);
  }
  front.learn();
  return front;
}

void LoggedFront::take_members(const Forecast& forecast, const ForecastBatch& truth, const LevelMatrix& levels,
                               const std::vector<Eigen::Index>& rows) {
  std::vector<MetricValues> points;
  for (Eigen::Index i = 0; i < metrics_.rows(); ++i) points.push_back(values_of(metrics_, i));
  std::vector<Eigen::MatrixXd> by_context;
  for (std::size_t m = 0; m < least_margins_.size(); ++m) {
    by_context.push_back(forecast.metric_values(truth, levels, m));
  }
  for (const std::size_t i : non_dominated(points)) {
    const std::uint16_t* own = levels.data() + rows[i] * levels.cols();
    members_.push_back({.design = {{own, own + levels.cols()}}, .metrics = points[i]});
    Known& known = known_[members_.back().design.levels];
    known.metrics = points[i];
    for (const Eigen::MatrixXd& values : by_context) {
      const Eigen::RowVectorXd own_values = values.row(rows[i]);
      known.by_context.emplace_back(own_values.begin(), own_values.end());
    }
  }
}

void LoggedFront::learn() {
  const Eigen::MatrixXd predicted = predicted_(near_, Eigen::all), truth = metrics_(near_, Eigen::all);
  const bool enough = levels_.rows() >= LogCorrection::kLeastDesigns;
  if (enough) correction_.emplace(*space_, levels_(near_, Eigen::all), predicted, truth);
  const Eigen::MatrixXd short_of = enough ? correction_->left_out() : truth - predicted;
  margins_.clear();
  for (std::size_t m = 0; m < least_margins_.size(); ++m) {
    const bool fact = least_margins_[m] == 0;
    const double most = sure(short_of.col(static_cast<Eigen::Index>(m)));
    margins_.push_back(fact ? 0 : pessimism_ * std::max(least_margins_[m], most));
  }
}

LogBesideFront LoggedFront::summary() const {
  LogBesideFront summary{.designs = members_.size(),
                         .compared = near_.size(),
                         .margins = margins_,
                         .least_scores = least_scores_,
                         .least = least_};
  if (!correction_) return summary;
  summary.corrected = true;
  const Eigen::MatrixXd short_of = metrics_(near_, Eigen::all) - predicted_(near_, Eigen::all);
  for (Eigen::Index m = 0; m < short_of.cols(); ++m) {
    summary.errors_before.push_back(root_mean_square(short_of.col(m)));
    summary.errors_after.push_back(root_mean_square(correction_->left_out().col(m)));
  }
  return summary;
}

void LoggedFront::refine(const std::vector<FrontMember>& found) {
  if (!correction_) return;
  std::vector<std::vector<Eigen::Index>> nearest;
  for (const FrontMember& member : found) {
    const Eigen::VectorXd distances = correction_->distances(levels_, member.design);
    nearest.push_back(smallest_rows({distances.begin(), distances.end()}, kNearFound));
  }
  // The nearest one of each, then the second, ...
  std::set<Eigen::Index> all(near_.begin(), near_.end());
  const std::size_t most = all.size() + kNearFound;
  for (std::size_t k = 0; k < std::min(kNearFound, static_cast<std::size_t>(levels_.rows())); ++k) {
    for (const std::vector<Eigen::Index>& own : nearest) {
      if (all.size() < most) all.insert(own[k]);
    }
  }
  near_.assign(all.begin(), all.end());
  learn();
}

Eigen::MatrixXd LoggedFront::cautious_correction(const LevelMatrix& levels, const Eigen::MatrixXd& metrics) const {
  if (!correction_) return Eigen::MatrixXd::Zero(metrics.rows(), metrics.cols());
  Eigen::MatrixXd more = correction_->mean(levels, metrics);
  if (!(pessimism_ > 0)) return more;
  const Eigen::MatrixXd corrected = metrics + more;
  std::vector<Eigen::Index> open;
  for (Eigen::Index i = 0; i < levels.rows(); ++i) {
    if (is_beaten(values_of(corrected, i))) {
      more.row(i) += pessimism_ * correction_->largest_deviation();
    } else {
      open.push_back(i);
    }
  }
  if (!open.empty())
    more(open, Eigen::all) += pessimism_ * correction_->deviation(levels(open, Eigen::all), metrics(open, Eigen::all));
  return more;
}

bool LoggedFront::is_beaten(const MetricValues& metrics) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const FrontMember& member) { return dominates(member.metrics, metrics); });
}

const LoggedFront::Known* LoggedFront::find(const space::Design& design) const {
  const auto known = known_.find(design.levels);
  return known == known_.end() ? nullptr : &known->second;
}

bool LoggedFront::knows(const space::Design& design) const { return logged_.contains(design.levels); }

bool LoggedFront::may_beat(const MetricValues& predicted) const {
  MetricValues worse = predicted;
  for (std::size_t m = 0; m < margins_.size(); ++m) worse[m] += margins_[m];
  return std::any_of(members_.begin(), members_.end(), [&](const FrontMember& member) {
    return member.metrics == worse || dominates(member.metrics, worse);
  });
}

}  // namespace hindsight::optimize

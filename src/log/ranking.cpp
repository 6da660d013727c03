/// Best designs and Pareto fronts of a log.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "log/filter.h"
#include "log/impl.h"
#include "log/read_transaction.h"

namespace hindsight::log {
namespace {

bool is_standard(const std::string& metric) {
  const std::vector<std::string>& names = standard_metrics();
  return std::find(names.begin(), names.end(), metric) != names.end();
}

std::vector<std::string> all_metric_names(SQLite::Database& database) {
  std::vector<std::string> names = standard_metrics();
  SQLite::Statement query(database, "SELECT DISTINCT name FROM evaluation_metrics ORDER BY name");
  while (query.executeStep()) {
    names.push_back(text_of(query, 0));
  }
  return names;
}

/// Error{usage} when neither a column nor a row of evaluation_metrics has the name.
void require_metric(Log::Impl& log, const std::string& metric) {
  if (is_standard(metric)) {
    return;
  }
  SQLite::Statement query(log.database, "SELECT 1 FROM evaluation_metrics WHERE name = ? LIMIT 1");
  query.bind(1, metric);
  if (!query.executeStep()) {
    throw Error(ErrorKind::usage, fmt::format("{}: has no metric '{}'.{}", shown(log.path), printable(metric),
                                              did_you_mean(metric, all_metric_names(log.database))));
  }
}

/// Feasible evaluations of the filter with all the metrics; `order_and_limit` is SQL over the columns v0, v1, ...
std::vector<RankedEvaluation> ranked(Log::Impl& log, const EvaluationFilter& filter,
                                     const std::vector<std::string>& metrics, const std::string& order_and_limit) {
  std::string columns, joins, conditions = condition_sql(log, filter);
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    require_metric(log, metrics[i]);
    std::string value = "e." + metrics[i];
    if (!is_standard(metrics[i])) {
      value = fmt::format("m{}.value", i);
      joins += fmt::format(" JOIN evaluation_metrics m{0} ON m{0}.evaluation_id = e.evaluation_id AND m{0}.name = ?{1}",
                           i, i + 1);
    }
    columns += fmt::format(", {} AS v{}", value, i);
    conditions += fmt::format(" AND {} IS NOT NULL", value);
  }
  SQLite::Statement query(
      log.database,
      fmt::format("SELECT e.evaluation_id, e.design_id, e.repeat, d.text_id, ev.name{} FROM evaluations e "
                  "JOIN designs d ON d.design_id = e.design_id "
                  "JOIN evaluators ev ON ev.evaluator_id = e.evaluator_id{} WHERE {} {}",
                  columns, joins, conditions, order_and_limit));
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (!is_standard(metrics[i])) {
      query.bind(static_cast<int>(i + 1), metrics[i]);
    }
  }
  std::vector<RankedEvaluation> rows;
  while (query.executeStep()) {
    RankedEvaluation& row = rows.emplace_back();
    row.evaluation_id = query.getColumn(0).getInt64();
    row.design_id = query.getColumn(1).getInt64();
    row.repeat = query.getColumn(2).getInt64();
    row.design_text_id = text_of(query, 3);
    row.evaluator = text_of(query, 4);
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      row.values.push_back(query.getColumn(static_cast<int>(5 + i)).getDouble());
    }
  }
  return rows;
}

EvaluationFilter feasible_of(const std::string& workload, EvaluationFilter filter) {
  filter.workload = workload;
  filter.feasible = true;
  return filter;
}

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) {
      return false;
    }
    better = better || a[i] < b[i];
  }
  return better;
}

}  // namespace

std::vector<std::string> metric_names(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing metrics", [&] { return all_metric_names(impl.database); });
}

std::vector<RankedEvaluation> best_designs(const Log& log, const std::string& workload, const std::string& metric,
                                           std::size_t limit, Direction direction, const EvaluationFilter& filter) {
  Log::Impl& impl = log.impl();
  return impl.guarded("ranking designs", [&] {
    const ReadTransaction snapshot(impl.database);
    return ranked(impl, feasible_of(workload, filter), {metric},
                  fmt::format("ORDER BY v0 {}, d.text_id, e.evaluation_id LIMIT {}",
                              direction == Direction::minimise ? "ASC" : "DESC", static_cast<std::int64_t>(limit)));
  });
}

std::vector<std::size_t> non_dominated(const std::vector<std::vector<double>>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  // In lexicographic order a point can be dominated only by an earlier one, and then also by one of the front: with two
  // coordinates by the last of the front, since the second coordinate falls along it.
  std::vector<std::size_t> front;
  for (const std::size_t candidate : order) {
    const bool two_dimensional = points[candidate].size() == 2;
    const auto first_rival = two_dimensional && !front.empty() ? front.end() - 1 : front.begin();
    const bool dominated = std::any_of(first_rival, front.end(),
                                       [&](std::size_t rival) { return dominates(points[rival], points[candidate]); });
    if (!dominated) {
      front.push_back(candidate);
    }
  }
  return front;
}

std::vector<RankedEvaluation> pareto_front(const Log& log, const std::string& workload,
                                           const std::vector<std::string>& metrics, const EvaluationFilter& filter) {
  if (metrics.size() < 2) {
    throw Error(ErrorKind::usage, fmt::format("a Pareto front needs two metrics or more, {} given. Name another, e.g. "
                                              "energy_j.",
                                              metrics.size()));
  }
  Log::Impl& impl = log.impl();
  return impl.guarded("computing a Pareto front", [&] {
    const ReadTransaction snapshot(impl.database);
    std::vector<RankedEvaluation> rows =
        ranked(impl, feasible_of(workload, filter), metrics, "ORDER BY d.text_id, e.evaluation_id");
    std::vector<std::vector<double>> points;
    points.reserve(rows.size());
    for (RankedEvaluation& row : rows) {
      points.push_back(row.values);
    }
    std::vector<RankedEvaluation> front;
    for (const std::size_t i : non_dominated(points)) {
      front.push_back(std::move(rows[i]));
    }
    return front;
  });
}

}  // namespace hindsight::log

/// Best designs and Pareto fronts of a log.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <tuple>

#include "hindsight/core/error.h"
#include "hindsight/core/pareto.h"
#include "hindsight/core/text.h"
#include "hindsight/log/metric_direction.h"
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

/// Names of metrics that are no columns.
std::set<std::string> further_metric_names(Log::Impl& log) {
  std::set<std::string> names;
  const StoredBlocks& stored = log.stored_blocks();
  for (const Block& block : stored.blocks()) names.insert(block.metric_names.begin(), block.metric_names.end());
  for (const IdRange& range : stored.rest()) {
    Statement query(log.database,
                    fmt::format("SELECT DISTINCT e.name FROM evaluation_metrics e WHERE TRUE{}", range_sql(range)));
    while (query.step()) names.insert(text_of(query, 0));
  }
  return names;
}

std::vector<std::string> all_metric_names(Log::Impl& log) {
  std::vector<std::string> names = standard_metrics();
  const std::set<std::string> further = further_metric_names(log);
  names.insert(names.end(), further.begin(), further.end());
  return names;
}

/// Which standard metrics feasible rows have, by their places.
std::vector<bool> standard_metrics_had(Log::Impl& log) {
  const std::vector<std::string>& names = standard_metrics();
  std::vector<bool> had(names.size(), false);
  const StoredBlocks& stored = log.stored_blocks();
  for (const Block& block : stored.blocks()) {
    for (const BlockGroup& group : block.groups) {
      const std::size_t metrics = std::min(had.size(), group.best.size());
      for (std::size_t m = 0; m < metrics; ++m) had[m] = had[m] || !group.best[m].empty();
    }
  }
  std::vector<std::string> counts;
  for (const std::string& name : names) counts.push_back(fmt::format("count(e.{})", name));
  for (const IdRange& range : stored.rest()) {
    Statement query(log.database, fmt::format("SELECT {} FROM evaluations e WHERE e.feasible = 1{}",
                                              fmt::join(counts, ", "), range_sql(range)));
    while (query.step()) {
      for (std::size_t m = 0; m < names.size(); ++m) {
        had[m] = had[m] || query.column(static_cast<int>(m)).integer() > 0;
      }
    }
  }
  return had;
}

/// What a message offers: of the names that all logs have those with values here, and the log's own.
std::vector<std::string> metrics_had(Log::Impl& log) {
  std::vector<std::string> names;
  const std::vector<bool> had = standard_metrics_had(log);
  for (std::size_t m = 0; m < had.size(); ++m) {
    if (had[m]) names.push_back(standard_metrics()[m]);
  }
  const std::set<std::string> further = further_metric_names(log);
  names.insert(names.end(), further.begin(), further.end());
  return names;
}

/// Error{usage} when neither a column nor a row of evaluation_metrics has the name.
void require_metric(Log::Impl& log, const std::string& metric) {
  if (is_standard(metric)) {
    return;
  }
  if (!further_metric_names(log).contains(metric)) {
    throw Error(ErrorKind::usage, fmt::format("{}: has no metric '{}'.{}", shown(log.path), printable(metric),
                                              did_you_mean(metric, metrics_had(log))));
  }
}

/// Feasible evaluations of `condition` with all the metrics, which the log has; `order_and_limit` is SQL over the
/// columns v0, v1, ...
std::vector<RankedEvaluation> ranked(Log::Impl& log, const std::string& condition,
                                     const std::vector<std::string>& metrics, const std::string& order_and_limit) {
  std::string columns, joins, conditions = condition;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    std::string value = "e." + metrics[i];
    if (!is_standard(metrics[i])) {
      value = fmt::format("m{}.value", i);
      joins += fmt::format(" JOIN evaluation_metrics m{0} ON m{0}.evaluation_id = e.evaluation_id AND m{0}.name = ?{1}",
                           i, i + 1);
    }
    columns += fmt::format(", {} AS v{}", value, i);
    conditions += fmt::format(" AND {} IS NOT NULL", value);
  }
  Statement query(
      log.database,
      fmt::format("SELECT e.evaluation_id, e.design_id, e.repeat, d.text_id, ev.evaluator_id{} FROM evaluations e "
                  "JOIN designs d ON d.design_id = e.design_id "
                  "JOIN evaluators ev ON ev.evaluator_id = e.evaluator_id{} WHERE {} {}",
                  columns, joins, conditions, order_and_limit));
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (!is_standard(metrics[i])) {
      query.bind(static_cast<int>(i + 1), metrics[i]);
    }
  }
  const std::vector<EvaluatorSummary> evaluators = registered_evaluators(log);
  std::vector<RankedEvaluation> rows;
  while (query.step()) {
    RankedEvaluation& row = rows.emplace_back();
    row.evaluation_id = query.column(0).integer();
    row.design_id = query.column(1).integer();
    row.repeat = query.column(2).integer();
    row.design_text_id = text_of(query, 3);
    const auto evaluator = std::ranges::find(evaluators, query.column(4).integer(), &EvaluatorSummary::evaluator_id);
    if (evaluator != evaluators.end()) row.evaluator = evaluator_reference(evaluators, *evaluator);
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      row.values.push_back(query.column(static_cast<int>(5 + i)).number());
    }
  }
  return rows;
}

/// The best evaluations of a workload, as best_designs() orders them.
class BestDesigns {
 public:
  BestDesigns(Log::Impl& log, EvaluationFilter filter, const std::string& metric, std::size_t limit,
              Direction direction)
      : log_(log), filter_(std::move(filter)), metric_(metric), limit_(limit), direction_(direction) {}

  std::vector<RankedEvaluation> find() {
    filter_.feasible = true;
    condition_ = condition_sql(log_, filter_);
    require_metric(log_, metric_);
    const auto place = std::find(standard_metrics().begin(), standard_metrics().end(), metric_);
    filter_.feasible.reset();  // blocks tell the best of the feasible ones
    const auto is_selected = group_condition(log_, filter_);
    if (!is_selected || place == standard_metrics().end() || direction_of(metric_) != direction_) {
      read(IdRange());
      return std::move(best_);
    }
    collect(static_cast<std::size_t>(place - standard_metrics().begin()), is_selected);
    for (const IdRange& range : log_.stored_blocks().rest()) read(range);
    if (limit_ <= kBestKept) {
      read_candidates();
    } else {
      read_blocks();
    }
    return std::move(best_);
  }

 private:
  [[nodiscard]] bool is_better(double a, double b) const { return direction_ == Direction::minimise ? a < b : a > b; }
  [[nodiscard]] bool is_full() const { return best_.size() >= limit_; }
  /// Whether a row of this value could still be one of the best.
  [[nodiscard]] bool may_enter(double value) const {
    return !is_full() || (limit_ > 0 && !is_better(best_.back().values[0], value));
  }

  /// What each block calls its best.
  void collect(std::size_t place, const std::function<bool(const BlockGroup&)>& is_selected) {
    for (const Block& block : log_.stored_blocks().blocks()) {
      std::optional<double> bound;
      for (const BlockGroup& group : block.groups) {
        if (!is_selected(group) || group.best[place].empty()) continue;
        for (const BlockBest& one : group.best[place]) candidates_.push_back(one);
        const double value = group.best[place].front().value;
        if (!bound || is_better(value, *bound)) bound = value;
      }
      if (bound) bounds_.emplace_back(*bound, block.number);
    }
  }

  void read_if(const std::string& condition) {
    std::vector<RankedEvaluation> rows =
        ranked(log_, condition_ + condition, {metric_},
               fmt::format("ORDER BY v0 {}, d.text_id, e.evaluation_id LIMIT {}",
                           direction_ == Direction::minimise ? "ASC" : "DESC", static_cast<std::int64_t>(limit_)));
    if (best_.empty()) {
      best_ = std::move(rows);
      return;
    }
    std::move(rows.begin(), rows.end(), std::back_inserter(best_));
    std::sort(best_.begin(), best_.end(), [&](const RankedEvaluation& a, const RankedEvaluation& b) {
      if (a.values[0] != b.values[0]) return is_better(a.values[0], b.values[0]);
      return std::tie(a.design_text_id, a.evaluation_id) < std::tie(b.design_text_id, b.evaluation_id);
    });
    if (best_.size() > limit_) best_.resize(limit_);
  }
  void read(const IdRange& range) { read_if(range_sql(range)); }

  /// Each of the best is among the best of its block: those of equal values are told apart by their designs.
  void read_candidates() {
    std::sort(candidates_.begin(), candidates_.end(),
              [&](const BlockBest& a, const BlockBest& b) { return is_better(a.value, b.value); });
    std::vector<std::int64_t> ids;
    for (const BlockBest& one : candidates_) {
      const bool tied = ids.size() < limit_ || (limit_ > 0 && one.value == candidates_[limit_ - 1].value);
      if (!tied || !may_enter(one.value)) break;
      ids.push_back(one.evaluation_id);
    }
    if (!ids.empty()) read_if(fmt::format(" AND e.evaluation_id IN ({})", fmt::join(ids, ", ")));
  }

  /// Blocks in the order of their best, until no other can have one.
  void read_blocks() {
    std::sort(bounds_.begin(), bounds_.end(), [&](const auto& a, const auto& b) {
      return a.first != b.first ? is_better(a.first, b.first) : a.second < b.second;
    });
    for (const auto& [bound, number] : bounds_) {
      if (!may_enter(bound)) return;
      read(range_of_block(number));
    }
  }

  Log::Impl& log_;
  EvaluationFilter filter_;
  const std::string& metric_;
  std::size_t limit_;
  Direction direction_;
  std::string condition_;
  std::vector<BlockBest> candidates_;
  std::vector<std::pair<double, std::int64_t>> bounds_;  ///< of blocks
  std::vector<RankedEvaluation> best_;
};

EvaluationFilter feasible_of(const std::string& workload, EvaluationFilter filter) {
  filter.workload = workload;
  filter.feasible = true;
  return filter;
}

}  // namespace

std::vector<std::string> metric_names(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing metrics", [&] {
    const ReadTransaction snapshot(impl.database);
    return all_metric_names(impl);
  });
}

std::vector<std::string> metrics_with_values(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing metrics that have values", [&] {
    const ReadTransaction snapshot(impl.database);
    return metrics_had(impl);
  });
}

std::vector<RankedEvaluation> best_designs(const Log& log, const std::string& workload, const std::string& metric,
                                           std::size_t limit, Direction direction, const EvaluationFilter& filter) {
  Log::Impl& impl = log.impl();
  return impl.guarded("ranking designs", [&] {
    const ReadTransaction snapshot(impl.database);
    return BestDesigns(impl, feasible_of(workload, filter), metric, limit, direction).find();
  });
}

std::vector<std::size_t> non_dominated(const std::vector<std::vector<double>>& points) {
  if (points.empty()) return {};
  std::vector<double> coordinates;
  for (const std::vector<double>& point : points) coordinates.insert(coordinates.end(), point.begin(), point.end());
  return pareto_positions(coordinates, points.front().size());
}

std::vector<RankedEvaluation> pareto_front(const Log& log, const std::string& workload,
                                           const std::vector<std::string>& metrics, const EvaluationFilter& filter,
                                           const std::set<std::string>& maximised) {
  if (metrics.size() < 2) {
    throw Error(ErrorKind::usage, fmt::format("a Pareto front needs two metrics or more, {} given. Name another, e.g. "
                                              "energy_j.",
                                              metrics.size()));
  }
  for (const std::string& metric : metrics) {
    if (std::count(metrics.begin(), metrics.end(), metric) == 1) continue;
    throw Error(ErrorKind::usage,
                fmt::format("a Pareto front names {} twice. Leave one of them out.", printable(metric)));
  }
  Log::Impl& impl = log.impl();
  return impl.guarded("computing a Pareto front", [&] {
    const ReadTransaction snapshot(impl.database);
    const std::string condition = condition_sql(impl, feasible_of(workload, filter));
    for (const std::string& metric : metrics) require_metric(impl, metric);
    std::vector<RankedEvaluation> rows = ranked(impl, condition, metrics, "ORDER BY d.text_id, e.evaluation_id");
    std::vector<std::vector<double>> points;  // smaller is better
    points.reserve(rows.size());
    for (const RankedEvaluation& row : rows) {
      std::vector<double>& point = points.emplace_back(row.values);
      for (std::size_t i = 0; i < metrics.size(); ++i) {
        if (direction_of(metrics[i], maximised) == Direction::maximise) point[i] = -point[i];
      }
    }
    std::vector<RankedEvaluation> front;
    for (const std::size_t i : non_dominated(points)) {
      front.push_back(std::move(rows[i]));
    }
    return front;
  });
}

}  // namespace hindsight::log

/// Iteration over the evaluations of a log.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "log/detail_cursor.h"
#include "log/filter.h"
#include "log/impl.h"
#include "log/read_transaction.h"

namespace hindsight::log {
namespace {

double double_or_nan(Statement& query, int column) {
  const RowValue value = query.column(column);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.number();
}

/// Metrics and violations of the evaluations, in step with them.
struct Details {
  explicit Details(Database database)
      : metrics(database,
                "SELECT evaluation_id, name, value FROM evaluation_metrics WHERE evaluation_id >= ? "
                "ORDER BY evaluation_id, name"),
        violations(database,
                   "SELECT evaluation_id, code, quantity, value, limit_value, nearest_passing, layer, message "
                   "FROM evaluation_violations WHERE evaluation_id >= ? ORDER BY evaluation_id, position") {}

  void read(EvaluationRecord& record) {
    record.other_metrics.clear();
    metrics.rows_of(record.evaluation_id, [&](Statement& row) {
      record.other_metrics.emplace_back(text_of(row, 1), row.column(2).number());
    });
    record.violations.clear();
    violations.rows_of(record.evaluation_id, [&](Statement& row) {
      ViolationRow& violation = record.violations.emplace_back();
      violation.code = text_of(row, 1);
      violation.quantity = text_of(row, 2);
      violation.value = double_or_nan(row, 3);
      violation.limit = double_or_nan(row, 4);
      if (const double nearest = double_or_nan(row, 5); !std::isnan(nearest)) {
        violation.nearest_passing = nearest;
      }
      violation.layer = text_of(row, 6);
      violation.message = text_of(row, 7);
    });
  }

  DetailCursor metrics;
  DetailCursor violations;
};

}  // namespace

void for_each_evaluation(const Log& log, const EvaluationFilter& filter, Detail detail,
                         const std::function<bool(const EvaluationRecord&)>& callback) {
  Log::Impl& impl = log.impl();
  impl.guarded("reading evaluations", [&] {
    const ReadTransaction snapshot(impl.database);
    Statement query(
        impl.database,
        fmt::format(
            "SELECT e.evaluation_id, e.design_id, e.workload_id, e.evaluator_id, e.run_id, d.space_id, e.repeat, "
            "d.text_id, e.feasible, e.{} FROM evaluations e JOIN designs d ON d.design_id = e.design_id "
            "WHERE {} ORDER BY e.evaluation_id",
            join(standard_metrics(), ", e."), condition_sql(impl, filter)));
    std::optional<Details> details;
    if (detail == Detail::all) {
      details.emplace(impl.database);
    }
    EvaluationRecord record;
    record.standard.resize(standard_metrics().size());
    while (query.step()) {
      int column = 0;
      for (std::int64_t* id : {&record.evaluation_id, &record.design_id, &record.workload_id, &record.evaluator_id,
                               &record.run_id, &record.space_id, &record.repeat}) {
        *id = query.column(column++).integer();
      }
      record.design_text_id = text_of(query, column++);
      record.feasible = query.column(column++).integer() != 0;
      for (double& value : record.standard) {
        value = double_or_nan(query, column++);
      }
      if (details) {
        details->read(record);
      }
      if (!callback(record)) {
        break;
      }
    }
  });
}

Metrics metrics_of(const EvaluationRecord& record) {
  Metrics metrics;
  const std::vector<std::string>& names = standard_metrics();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!std::isnan(record.standard[i])) metrics.emplace_back(names[i], record.standard[i]);
  }
  metrics.insert(metrics.end(), record.other_metrics.begin(), record.other_metrics.end());
  return metrics;
}

}  // namespace hindsight::log

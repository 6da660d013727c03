/// Names to ids, and typed filters to SQL.
#include "log/filter.h"

#include <fmt/format.h>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"

namespace hindsight::log {
namespace {

/// " AND e.workload_id IN (1, 2)" for the rows of `table` with this name.
std::string named_condition(Log::Impl& log, const std::string& table, const std::string& id_column,
                            const std::string& what, const std::string& name) {
  SQLite::Statement query(log.database, fmt::format("SELECT {}, name, name = ? FROM {}", id_column, table));
  query.bind(1, name);
  std::vector<std::string> ids, names;
  while (query.executeStep()) {
    names.push_back(query.getColumn(1).getString());
    if (query.getColumn(2).getInt() != 0) {
      ids.push_back(query.getColumn(0).getString());
    }
  }
  if (ids.empty()) {
    throw Error(ErrorKind::usage,
                names.empty() ? fmt::format("{}: has no {} yet. Run `hindsight sweep` first.", shown(log.path), what)
                              : fmt::format("{}: has no {} '{}'.{}", shown(log.path), what, printable(name),
                                            did_you_mean(name, names)));
  }
  return fmt::format(" AND {}.{} IN ({})", table == "spaces" ? "d" : "e", id_column, join(ids, ", "));
}

}  // namespace

std::string condition_sql(Log::Impl& log, const EvaluationFilter& filter) {
  std::string sql = "1";
  if (filter.workload) {
    sql += named_condition(log, "workloads", "workload_id", "workload", *filter.workload);
  }
  if (filter.evaluator) {
    sql += named_condition(log, "evaluators", "evaluator_id", "evaluator", *filter.evaluator);
  }
  if (filter.space) {
    sql += named_condition(log, "spaces", "space_id", "design space", *filter.space);
  }
  if (filter.run_id) {
    std::unordered_set<std::int64_t> known;
    if (!log.has_row("runs", "run_id", *filter.run_id, known)) {
      throw Error(ErrorKind::usage, fmt::format("{}: has no run {}. `hindsight log show` lists the runs.",
                                                shown(log.path), *filter.run_id));
    }
    sql += fmt::format(" AND e.run_id = {}", *filter.run_id);
  }
  if (filter.feasible) {
    sql += fmt::format(" AND e.feasible = {}", *filter.feasible ? 1 : 0);
  }
  if (filter.design) {
    sql += fmt::format(
        " AND e.design_id IN (SELECT design_id FROM designs WHERE content_hash = {} AND space_id IN "
        "(SELECT space_id FROM spaces))",
        static_cast<std::int64_t>(content_hash(*filter.design)));
  }
  return sql;
}

std::string text_of(SQLite::Statement& statement, int column) {
  const SQLite::Column value = statement.getColumn(column);
  return value.isNull() ? std::string() : value.getString();
}

}  // namespace hindsight::log

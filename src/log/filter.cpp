/// Names to ids, and typed filters to SQL.
#include "log/filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"

namespace hindsight::log {
namespace {

/// Numbers of the rows of `table` with this name.
std::vector<std::int64_t> named_ids(Log::Impl& log, const std::string& table, const std::string& id_column,
                                    const std::string& what, const std::string& name) {
  Statement query(log.database, fmt::format("SELECT {}, name, name = ? FROM {}", id_column, table));
  query.bind(1, name);
  std::vector<std::int64_t> ids;
  std::vector<std::string> names;
  while (query.step()) {
    names.push_back(query.column(1).text());
    if (query.column(2).integer() != 0) {
      ids.push_back(query.column(0).integer());
    }
  }
  if (ids.empty()) {
    throw Error(ErrorKind::usage,
                names.empty() ? fmt::format("{}: has no {} yet. Run `hindsight sweep` first.", shown(log.path), what)
                              : fmt::format("{}: has no {} '{}'.{}", shown(log.path), what, printable(name),
                                            did_you_mean(name, names)));
  }
  return ids;
}

std::vector<std::int64_t> workload_ids(Log::Impl& log, const std::string& name) {
  return named_ids(log, "workloads", "workload_id", "workload", name);
}

std::vector<std::int64_t> evaluator_ids(Log::Impl& log, const std::string& name) {
  std::vector<std::int64_t> ids;
  for (const EvaluatorSummary& one : evaluators_meant(registered_evaluators(log), name)) {
    ids.push_back(one.evaluator_id);
  }
  return ids.empty() ? named_ids(log, "evaluators", "evaluator_id", "evaluator", name) : ids;  // says what there is
}

std::vector<std::int64_t> space_ids(Log::Impl& log, const std::string& name) {
  return named_ids(log, "spaces", "space_id", "design space", name);
}

/// " AND e.workload_id IN (1, 2)".
std::string among(const char* column, const std::vector<std::int64_t>& ids) {
  return fmt::format(" AND {} IN ({})", column, fmt::join(ids, ", "));
}

}  // namespace

std::vector<EvaluatorSummary> registered_evaluators(Log::Impl& log) {
  std::vector<EvaluatorSummary> all;
  Statement query(log.database, "SELECT evaluator_id, name, definition_hash FROM evaluators ORDER BY evaluator_id");
  while (query.step()) {
    EvaluatorSummary& one = all.emplace_back();
    one.evaluator_id = query.column(0).integer();
    one.name = text_of(query, 1);
    one.definition_hash = text_of(query, 2);
  }
  return all;
}

std::string condition_sql(Log::Impl& log, const EvaluationFilter& filter) {
  std::string sql = "TRUE";
  if (filter.workload) {
    sql += among("e.workload_id", workload_ids(log, *filter.workload));
  }
  if (filter.evaluator) {
    sql += among("e.evaluator_id", evaluator_ids(log, *filter.evaluator));
  }
  if (filter.space) {
    sql += among("d.space_id", space_ids(log, *filter.space));
  }
  if (filter.run_id) {
    std::unordered_set<std::int64_t> known;
    if (!log.has_row("runs", "run_id", *filter.run_id, known)) {
      throw Error(ErrorKind::usage, fmt::format("{}: has no run {}. {} lists the runs.", shown(log.path),
                                                *filter.run_id, log_command("show", log.path)));
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

std::function<bool(const BlockGroup&)> group_condition(Log::Impl& log, const EvaluationFilter& filter) {
  if (filter.design || filter.feasible) return nullptr;
  if (filter.space) {  // a block does not tell spaces apart
    const std::int64_t spaces = log.database.integer_of("SELECT count(*) FROM spaces");
    if (std::ssize(space_ids(log, *filter.space)) != spaces) return nullptr;
  }
  std::optional<std::vector<std::int64_t>> workloads, evaluators;
  if (filter.workload) workloads = workload_ids(log, *filter.workload);
  if (filter.evaluator) evaluators = evaluator_ids(log, *filter.evaluator);
  const auto has = [](const std::vector<std::int64_t>& ids, std::int64_t id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  return [=, run_id = filter.run_id](const BlockGroup& group) {
    return (!workloads || has(*workloads, group.workload_id)) &&
           (!evaluators || has(*evaluators, group.evaluator_id)) && (!run_id || *run_id == group.run_id);
  };
}

std::string text_of(Statement& statement, int column) { return statement.column(column).text(); }

std::string text_of(SQLite::Statement& statement, int column) {
  const SQLite::Column value = statement.getColumn(column);
  return value.isNull() ? std::string() : value.getString();
}

}  // namespace hindsight::log

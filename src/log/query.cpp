/// Summaries, statistics, runs and workloads of a log.
#include "hindsight/log/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hindsight/core/error.h"
#include "log/filter.h"
#include "log/impl.h"
#include "log/read_transaction.h"
#include "log/schema.h"

namespace hindsight::log {
namespace {

std::uint64_t count_of(SQLite::Database& database, const std::string& sql) {
  return static_cast<std::uint64_t>(database.execAndGet(sql).getInt64());
}

std::uint64_t bytes_on_disk(const std::filesystem::path& file) {
  std::uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file.string() + suffix, error);
    bytes += error ? 0 : size;
  }
  return bytes;
}

std::vector<SpaceSummary> space_summaries(SQLite::Database& database) {
  std::vector<SpaceSummary> spaces;
  SQLite::Statement query(
      database,
      "SELECT space_id, name, definition, definition_hash, designs_view, (SELECT count(*) FROM designs d WHERE "
      "d.space_id = s.space_id) FROM spaces s ORDER BY space_id");
  while (query.executeStep()) {
    spaces.push_back({.space_id = query.getColumn(0).getInt64(),
                      .name = text_of(query, 1),
                      .definition = text_of(query, 2),
                      .definition_hash = text_of(query, 3),
                      .designs_view = text_of(query, 4),
                      .designs = static_cast<std::uint64_t>(query.getColumn(5).getInt64())});
  }
  return spaces;
}

std::vector<EvaluatorSummary> evaluator_summaries(SQLite::Database& database) {
  std::vector<EvaluatorSummary> evaluators;
  SQLite::Statement query(
      database,
      "WITH counted AS (SELECT evaluator_id, count(*) AS rows, sum(repeat > 0) AS repeats "
      "FROM evaluations GROUP BY 1) "
      "SELECT evaluator_id, name, definition_hash, coalesce(rows, 0), coalesce(repeats, 0), definition FROM evaluators "
      "LEFT JOIN counted "
      "USING (evaluator_id) ORDER BY evaluator_id");
  while (query.executeStep()) {
    evaluators.push_back({.evaluator_id = query.getColumn(0).getInt64(),
                          .name = text_of(query, 1),
                          .definition_hash = text_of(query, 2),
                          .definition = text_of(query, 5),
                          .evaluations = static_cast<std::uint64_t>(query.getColumn(3).getInt64()),
                          .repeats = static_cast<std::uint64_t>(query.getColumn(4).getInt64())});
  }
  return evaluators;
}

/// "JOIN designs d ..." when the filter needs it.
const char* design_join(const EvaluationFilter& filter) {
  return filter.space ? "JOIN designs d ON d.design_id = e.design_id" : "";
}

/// Evaluations with one reason, counted while the rows pass by in the order of evaluation_id.
struct ReasonCounter {
  std::string code;
  std::uint64_t evaluations = 0;
  std::int64_t last_evaluation = -1;  ///< a reason that is given twice counts once
};

void add_reasons(SQLite::Database& database, const EvaluationFilter& filter, const std::string& condition,
                 std::map<std::int64_t, WorkloadStats>& stats) {
  // Streamed: GROUP BY with count(DISTINCT) sorts all reasons, which takes several times longer.
  SQLite::Statement query(database,
                          fmt::format("SELECT e.evaluation_id, e.workload_id, v.code FROM evaluations e {} "
                                      "CROSS JOIN evaluation_violations v ON v.evaluation_id = e.evaluation_id "
                                      "WHERE {} ORDER BY e.evaluation_id",
                                      design_join(filter), condition));
  std::map<std::int64_t, std::vector<ReasonCounter>> counters;
  while (query.executeStep()) {
    const std::int64_t evaluation = query.getColumn(0).getInt64();
    std::vector<ReasonCounter>& of_workload = counters[query.getColumn(1).getInt64()];
    const SQLite::Column code = query.getColumn(2);
    const std::string_view text(code.getText(), static_cast<std::size_t>(code.getBytes()));
    auto counter = std::find_if(of_workload.begin(), of_workload.end(),
                                [&](const ReasonCounter& candidate) { return candidate.code == text; });
    if (counter == of_workload.end()) {
      counter = of_workload.insert(counter, {.code = std::string(text)});
    }
    if (counter->last_evaluation != evaluation) {
      counter->last_evaluation = evaluation;
      ++counter->evaluations;
    }
  }
  for (const auto& [workload_id, of_workload] : counters) {
    WorkloadStats& workload = stats.at(workload_id);
    const auto infeasible = static_cast<double>(workload.evaluations - workload.feasible);
    for (const ReasonCounter& counter : of_workload) {
      workload.reasons.push_back({.code = counter.code,
                                  .evaluations = counter.evaluations,
                                  .share_of_infeasible_frac = static_cast<double>(counter.evaluations) / infeasible});
    }
  }
}

}  // namespace

std::uint64_t Summary::rows(const std::string& table) const {
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const TableCount& count) { return count.table == table; });
  HINDSIGHT_EXPECT(found != tables.end());
  return found->rows;
}

Summary summary(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("summarising it", [&] {
    SQLite::Database& database = impl.database;
    const ReadTransaction snapshot(database);
    Summary result;
    result.schema_version = identify(database).schema_version;
    SQLite::Statement created(database,
                              "SELECT applied_at, hindsight_version FROM schema_migrations ORDER BY schema_version");
    if (created.executeStep()) {
      result.created_at = text_of(created, 0);
      result.created_by_version = text_of(created, 1);
    }
    result.file_bytes = bytes_on_disk(impl.path);
    for (const std::string& table : table_names()) {
      result.tables.push_back({.table = table, .rows = count_of(database, "SELECT count(*) FROM " + table)});
    }
    result.spaces = space_summaries(database);
    result.evaluators = evaluator_summaries(database);
    return result;
  });
}

std::vector<SpaceSummary> spaces(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing design spaces", [&] { return space_summaries(impl.database); });
}

std::vector<EvaluatorSummary> evaluators(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing evaluators", [&] { return evaluator_summaries(impl.database); });
}

std::vector<LoggedDesign> designs_by_hash(const Log& log, const std::string& digits, std::size_t most) {
  HINDSIGHT_EXPECT(!digits.empty() && digits.size() <= 16 &&
                   digits.find_first_not_of("0123456789abcdef") == std::string::npos);
  const std::string first = digits + std::string(16 - digits.size(), '0');
  const std::string last = digits + std::string(16 - digits.size(), 'f');
  Log::Impl& impl = log.impl();
  return impl.guarded("looking for a design", [&] {
    // Hashes are stored as signed integers; those that begin alike have one sign, so their order is kept.
    SQLite::Statement query(impl.database,
                            "SELECT d.space_id, d.text_id FROM spaces s JOIN designs d ON d.space_id = s.space_id "
                            "WHERE d.content_hash BETWEEN ? AND ? ORDER BY d.space_id, d.content_hash LIMIT ?");
    query.bind(1, static_cast<std::int64_t>(std::stoull(first, nullptr, 16)));
    query.bind(2, static_cast<std::int64_t>(std::stoull(last, nullptr, 16)));
    query.bind(3, static_cast<std::int64_t>(most));
    std::vector<LoggedDesign> designs;
    while (query.executeStep()) {
      designs.push_back({.space_id = query.getColumn(0).getInt64(), .text_id = query.getColumn(1).getString()});
    }
    return designs;
  });
}

std::vector<WorkloadStats> workload_stats(const Log& log, const EvaluationFilter& filter) {
  Log::Impl& impl = log.impl();
  return impl.guarded("counting evaluations", [&] {
    SQLite::Database& database = impl.database;
    const ReadTransaction snapshot(database);
    const std::string condition = condition_sql(impl, filter);
    std::map<std::int64_t, WorkloadStats> stats;
    SQLite::Statement query(
        database, fmt::format("WITH counted AS (SELECT e.workload_id, count(*) AS rows, sum(e.feasible) AS feasible "
                              "FROM evaluations e {} WHERE {} GROUP BY 1) "
                              "SELECT w.workload_id, w.name, w.batch, c.rows, c.feasible FROM counted c "
                              "JOIN workloads w ON w.workload_id = c.workload_id",
                              design_join(filter), condition));
    while (query.executeStep()) {
      const std::int64_t id = query.getColumn(0).getInt64();
      stats[id] = {.workload_id = id,
                   .workload = text_of(query, 1),
                   .batch = query.getColumn(2).getInt64(),
                   .evaluations = static_cast<std::uint64_t>(query.getColumn(3).getInt64()),
                   .feasible = static_cast<std::uint64_t>(query.getColumn(4).getInt64()),
                   .reasons = {}};
    }
    add_reasons(database, filter, condition, stats);
    std::vector<WorkloadStats> result;
    for (auto& [id, workload] : stats) {
      std::sort(workload.reasons.begin(), workload.reasons.end(), [](const ReasonCount& a, const ReasonCount& b) {
        return a.evaluations != b.evaluations ? a.evaluations > b.evaluations : a.code < b.code;
      });
      result.push_back(std::move(workload));
    }
    std::sort(result.begin(), result.end(),
              [](const WorkloadStats& a, const WorkloadStats& b) { return a.workload < b.workload; });
    return result;
  });
}

std::vector<WorkloadOrigin> workload_origins(const Log& log, const EvaluationFilter& filter) {
  Log::Impl& impl = log.impl();
  return impl.guarded("reading where its rows come from", [&] {
    SQLite::Statement query(
        impl.database,
        fmt::format("WITH origins AS (SELECT e.workload_id, e.run_id, max(e.latency_s IS NOT NULL) AS has_latency "
                    "FROM evaluations e {} WHERE {} GROUP BY e.workload_id, e.run_id) "
                    "SELECT name, run_id, has_latency FROM origins JOIN workloads USING (workload_id) "
                    "ORDER BY name, run_id",
                    design_join(filter), condition_sql(impl, filter)));
    std::vector<WorkloadOrigin> origins;
    while (query.executeStep()) {
      origins.push_back({.workload = text_of(query, 0),
                         .run_id = query.getColumn(1).getInt64(),
                         .has_latency = query.getColumn(2).getInt() != 0});
    }
    return origins;
  });
}

std::vector<RunInfo> recent_runs(const Log& log, std::size_t limit) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing runs", [&] {
    std::vector<RunInfo> runs;
    SQLite::Statement query(impl.database,
                            "SELECT run_id, kind, status, started_at, ended_at, command_line, version, commit_hash, "
                            "host, user, options_json, evaluations_inserted, evaluations_present, rows_rejected "
                            "FROM runs ORDER BY run_id DESC LIMIT ?");
    query.bind(1, static_cast<std::int64_t>(limit));
    while (query.executeStep()) {
      RunInfo run;
      run.run_id = query.getColumn(0).getInt64();
      int column = 1;
      for (std::string* text : {&run.kind, &run.status, &run.started_at, &run.ended_at, &run.command_line, &run.version,
                                &run.commit, &run.host, &run.user, &run.options_json}) {
        *text = text_of(query, column++);
      }
      for (std::uint64_t* count : {&run.evaluations_inserted, &run.evaluations_present, &run.rows_rejected}) {
        *count = static_cast<std::uint64_t>(query.getColumn(column++).getInt64());
      }
      runs.push_back(std::move(run));
    }
    return runs;
  });
}

std::vector<WorkloadRecord> workloads(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing workloads", [&] {
    const ReadTransaction snapshot(impl.database);
    std::vector<WorkloadRecord> records;
    SQLite::Statement query(
        impl.database,
        "SELECT workload_id, name, batch, definition_hash, layers_json, context_version, definition "
        "FROM workloads ORDER BY workload_id");
    SQLite::Statement context(impl.database,
                              "SELECT name, value FROM workload_context WHERE workload_id = ? ORDER BY position");
    while (query.executeStep()) {
      WorkloadRecord& record = records.emplace_back();
      record.workload_id = query.getColumn(0).getInt64();
      record.name = text_of(query, 1);
      record.batch = query.getColumn(2).getInt64();
      record.definition_hash = text_of(query, 3);
      record.layers_json = text_of(query, 4);
      record.context_version = query.getColumn(5).getInt();
      record.definition = text_of(query, 6);
      context.bind(1, record.workload_id);
      while (context.executeStep()) {
        record.context.emplace_back(text_of(context, 0), context.getColumn(1).getDouble());
      }
      context.reset();
    }
    return records;
  });
}

}  // namespace hindsight::log

/// Summaries, statistics, runs and workloads of a log.
#include "hindsight/log/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "log/filter.h"
#include "log/impl.h"
#include "log/read_transaction.h"
#include "log/schema.h"

namespace hindsight::log {
namespace {

constexpr std::size_t kReferenceDigits = 8;       // [chosen] of 2^32 no two of a log are alike
constexpr std::size_t kLeastReferenceDigits = 4;  // [chosen] as of a design's short id

/// What runs_of() reads.
constexpr const char* kRunColumns =
    "run_id, kind, status, started_at, ended_at, command_line, version, commit_hash, host, \"user\", options_json, "
    "evaluations_inserted, evaluations_present, rows_rejected";

std::vector<RunInfo> runs_of(Statement& query) {
  std::vector<RunInfo> runs;
  while (query.step()) {
    RunInfo& run = runs.emplace_back();
    run.run_id = query.column(0).integer();
    int column = 1;
    for (std::string* text : {&run.kind, &run.status, &run.started_at, &run.ended_at, &run.command_line, &run.version,
                              &run.commit, &run.host, &run.user, &run.options_json}) {
      *text = text_of(query, column++);
    }
    for (std::uint64_t* count : {&run.evaluations_inserted, &run.evaluations_present, &run.rows_rejected}) {
      *count = static_cast<std::uint64_t>(query.column(column++).integer());
    }
  }
  return runs;
}

std::uint64_t count_of(Database database, const std::string& sql) {
  return static_cast<std::uint64_t>(database.integer_of(sql));
}

std::uint64_t bytes_on_disk(Log::Impl& log) {
  if (log.server) {
    return count_of(log.database,
                    "SELECT CAST(sum(pg_total_relation_size(oid)) AS BIGINT) FROM pg_class "
                    "WHERE relnamespace = to_regnamespace(quote_ident(current_schema())) AND relkind = 'r'");
  }
  const std::filesystem::path& file = log.path;
  std::uint64_t bytes = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file.string() + suffix, error);
    bytes += error ? 0 : size;
  }
  return bytes;
}

/// Designs by space: those that blocks tell, and those since.
std::map<std::int64_t, std::uint64_t> designs_by_space(Log::Impl& log) {
  std::map<std::int64_t, std::uint64_t> designs;
  const StoredBlocks& stored = log.stored_blocks();
  for (const Block& block : stored.blocks()) {
    for (const auto& [space, count] : block.designs) designs[space] += count;
  }
  // Without blocks all are counted, which the index over spaces does without reading them; with them it would be the
  // longer way (hence the plus sign, which keeps SQLite from it).
  Statement query(log.database,
                  stored.blocks().empty()
                      ? "SELECT space_id, count(*) FROM designs GROUP BY 1"
                      : fmt::format("SELECT space_id, count(*) FROM designs WHERE design_id > {} GROUP BY +space_id",
                                    stored.designs_to()));
  while (query.step()) {
    designs[query.column(0).integer()] += static_cast<std::uint64_t>(query.column(1).integer());
  }
  return designs;
}

std::vector<SpaceSummary> space_summaries(Log::Impl& log) {
  std::map<std::int64_t, std::uint64_t> designs = designs_by_space(log);
  std::vector<SpaceSummary> spaces;
  Statement query(log.database,
                  "SELECT space_id, name, definition, definition_hash, designs_view FROM spaces s ORDER BY space_id");
  while (query.step()) {
    const std::int64_t id = query.column(0).integer();
    spaces.push_back({.space_id = id,
                      .name = text_of(query, 1),
                      .definition = text_of(query, 2),
                      .definition_hash = text_of(query, 3),
                      .designs_view = text_of(query, 4),
                      .designs = designs[id]});
  }
  return spaces;
}

std::vector<EvaluatorSummary> evaluator_summaries(Log::Impl& log) {
  struct Rows {
    std::uint64_t all = 0, repeats = 0;
  };
  std::map<std::int64_t, Rows> rows;
  const StoredBlocks& stored = log.stored_blocks();
  for (const Block& block : stored.blocks()) {
    for (const BlockGroup& group : block.groups) {
      rows[group.evaluator_id].all += group.rows;
      rows[group.evaluator_id].repeats += group.repeats;
    }
  }
  for (const IdRange& range : stored.rest()) {
    Statement query(log.database,
                    fmt::format("SELECT evaluator_id, count(*), count(*) FILTER (WHERE repeat > 0) FROM evaluations "
                                "e WHERE TRUE{} GROUP BY 1",
                                range_sql(range)));
    while (query.step()) {
      Rows& of = rows[query.column(0).integer()];
      of.all += static_cast<std::uint64_t>(query.column(1).integer());
      of.repeats += static_cast<std::uint64_t>(query.column(2).integer());
    }
  }
  std::vector<EvaluatorSummary> evaluators;
  Statement query(log.database,
                  "SELECT evaluator_id, name, definition_hash, definition FROM evaluators ORDER BY evaluator_id");
  while (query.step()) {
    const Rows& of = rows[query.column(0).integer()];
    evaluators.push_back({.evaluator_id = query.column(0).integer(),
                          .name = text_of(query, 1),
                          .definition_hash = text_of(query, 2),
                          .definition = text_of(query, 3),
                          .evaluations = of.all,
                          .repeats = of.repeats});
  }
  return evaluators;
}

/// Rows of a table that grows with the evaluations: what blocks tell of it, and what is read.
std::uint64_t counted_rows(Log::Impl& log, const std::string& table) {
  const StoredBlocks& stored = log.stored_blocks();
  std::uint64_t rows = 0;
  for (const Block& block : stored.blocks()) {
    if (table == "evaluation_metrics") rows += block.metrics;
    if (table == "evaluation_violations") rows += block.violations;
    for (const BlockGroup& group : block.groups) rows += table == "evaluations" ? group.rows : 0;
  }
  for (const IdRange& range : stored.rest()) {
    rows += count_of(log.database, fmt::format("SELECT count(*) FROM {} e WHERE TRUE{}", table, range_sql(range)));
  }
  return rows;
}

std::uint64_t rows_of_table(Log::Impl& log, const std::string& table) {
  if (table == "evaluations" || table.starts_with("evaluation_")) return counted_rows(log, table);
  if (table == "designs") {
    std::uint64_t rows = 0;
    for (const auto& [space, count] : designs_by_space(log)) rows += count;
    return rows;
  }
  const std::string condition = table == "checkpoints" ? fmt::format(" WHERE {}", kNoBlockSql) : "";
  return count_of(log.database, fmt::format("SELECT count(*) FROM {}{}", table, condition));
}

/// "JOIN designs d ..." when the filter needs it.
const char* design_join(const EvaluationFilter& filter) {
  return filter.space ? "JOIN designs d ON d.design_id = e.design_id" : "";
}

/// A join whose first table is the outer one. A server's planner knows by itself which should be.
const char* join_in_order(Database database) { return database.on_server() ? "JOIN" : "CROSS JOIN"; }

/// Evaluations with one reason, counted while the rows pass by in the order of evaluation_id.
struct ReasonCounter {
  std::string code;
  std::uint64_t evaluations = 0;
  std::int64_t last_evaluation = -1;  ///< a reason that is given twice counts once
};

using ReasonCounters = std::map<std::int64_t, std::vector<ReasonCounter>>;  ///< by workload

ReasonCounter& counter_of(std::vector<ReasonCounter>& counters, std::string_view code) {
  auto found = std::find_if(counters.begin(), counters.end(),
                            [&](const ReasonCounter& candidate) { return candidate.code == code; });
  if (found == counters.end()) found = counters.insert(found, {.code = std::string(code)});
  return *found;
}

void read_reasons(Database database, const EvaluationFilter& filter, const std::string& condition,
                  ReasonCounters& counters) {
  // Streamed: GROUP BY with count(DISTINCT) sorts all reasons, which takes several times longer.
  Statement query(database, fmt::format("SELECT e.evaluation_id, e.workload_id, v.code FROM evaluations e {} "
                                        "{} evaluation_violations v ON v.evaluation_id = e.evaluation_id "
                                        "WHERE {} ORDER BY e.evaluation_id",
                                        design_join(filter), join_in_order(database), condition));
  while (query.step()) {
    const std::int64_t evaluation = query.column(0).integer();
    const RowValue code = query.column(2);
    ReasonCounter& counter = counter_of(counters[query.column(1).integer()], code.view());
    if (counter.last_evaluation != evaluation) {
      counter.last_evaluation = evaluation;
      ++counter.evaluations;
    }
  }
}

struct WorkloadRows {
  std::uint64_t all = 0, feasible = 0;
};
/// What is counted of the evaluations that a filter selects.
struct FilteredRows {
  std::map<std::int64_t, WorkloadRows> workloads;
  ReasonCounters reasons;
};

void read_rows(Database database, const EvaluationFilter& filter, const std::string& condition, FilteredRows& counted) {
  Statement query(database,
                  fmt::format("SELECT e.workload_id, count(*), sum(e.feasible) FROM evaluations e {} WHERE {} "
                              "GROUP BY 1",
                              design_join(filter), condition));
  while (query.step()) {
    WorkloadRows& rows = counted.workloads[query.column(0).integer()];
    rows.all += static_cast<std::uint64_t>(query.column(1).integer());
    rows.feasible += static_cast<std::uint64_t>(query.column(2).integer());
  }
  read_reasons(database, filter, condition, counted.reasons);
}

FilteredRows count_rows(Log::Impl& log, const EvaluationFilter& filter) {
  FilteredRows counted;
  const std::string condition = condition_sql(log, filter);
  const auto is_selected = group_condition(log, filter);
  if (!is_selected) {
    read_rows(log.database, filter, condition, counted);
    return counted;
  }
  const StoredBlocks& stored = log.stored_blocks();
  for (const Block& block : stored.blocks()) {
    for (const BlockGroup& group : block.groups) {
      if (!is_selected(group)) continue;
      WorkloadRows& rows = counted.workloads[group.workload_id];
      rows.all += group.rows;
      rows.feasible += group.feasible;
      for (const BlockReason& reason : group.reasons) {
        counter_of(counted.reasons[group.workload_id], reason.code).evaluations += reason.evaluations;
      }
    }
  }
  for (const IdRange& range : stored.rest()) {
    read_rows(log.database, filter, condition + range_sql(range), counted);
  }
  return counted;
}

/// Whether some have latency_s, by workload and run.
std::map<std::pair<std::int64_t, std::int64_t>, bool> origin_rows(Log::Impl& log, const EvaluationFilter& filter) {
  std::map<std::pair<std::int64_t, std::int64_t>, bool> origins;
  const std::string condition = condition_sql(log, filter);
  const auto is_selected = group_condition(log, filter);
  std::vector<IdRange> rest{IdRange()};
  if (is_selected) {
    const StoredBlocks& stored = log.stored_blocks();
    for (const Block& block : stored.blocks()) {
      for (const BlockGroup& group : block.groups) {
        if (is_selected(group)) origins[{group.workload_id, group.run_id}] |= group.has_latency;
      }
    }
    rest = stored.rest();
  }
  for (const IdRange& range : rest) {
    Statement query(log.database, fmt::format("SELECT e.workload_id, e.run_id, count(e.latency_s) > 0 FROM "
                                              "evaluations e {} WHERE {}{} GROUP BY e.workload_id, e.run_id",
                                              design_join(filter), condition, range_sql(range)));
    while (query.step()) {
      origins[{query.column(0).integer(), query.column(1).integer()}] |= query.column(2).integer() != 0;
    }
  }
  return origins;
}

void add_reasons(const ReasonCounters& counters, std::map<std::int64_t, WorkloadStats>& stats) {
  for (const auto& [workload_id, of_workload] : counters) {
    const auto found = stats.find(workload_id);
    if (found == stats.end()) continue;  // a block may name a workload that is not there
    WorkloadStats& workload = found->second;
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
    Database database = impl.database;
    const ReadTransaction snapshot(database);
    Summary result;
    result.schema_version =
        impl.server ? static_cast<int>(count_of(database, "SELECT max(schema_version) FROM schema_migrations"))
                    : identify(database.file()).schema_version;
    Statement created(database, "SELECT applied_at, hindsight_version FROM schema_migrations ORDER BY schema_version");
    if (created.step()) {
      result.created_at = text_of(created, 0);
      result.created_by_version = text_of(created, 1);
    }
    result.file_bytes = bytes_on_disk(impl);
    for (const std::string& table : table_names()) {
      result.tables.push_back({.table = table, .rows = rows_of_table(impl, table)});
    }
    result.spaces = space_summaries(impl);
    result.evaluators = evaluator_summaries(impl);
    return result;
  });
}

std::vector<SpaceSummary> spaces(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing design spaces", [&] {
    const ReadTransaction snapshot(impl.database);
    return space_summaries(impl);
  });
}

std::string evaluator_reference(const std::vector<EvaluatorSummary>& all, const EvaluatorSummary& one) {
  const bool is_shared = std::ranges::count(all, one.name, &EvaluatorSummary::name) > 1;
  return is_shared ? one.name + "@" + one.definition_hash.substr(0, kReferenceDigits) : one.name;
}

std::vector<EvaluatorSummary> evaluators_meant(const std::vector<EvaluatorSummary>& all, const std::string& word) {
  std::vector<EvaluatorSummary> meant;
  for (const EvaluatorSummary& one : all) {
    if (one.name == word) meant.push_back(one);
  }
  const std::size_t at = word.rfind('@');
  if (!meant.empty() || at == std::string::npos) return meant;
  const std::string name = word.substr(0, at), digits = word.substr(at + 1);
  for (const EvaluatorSummary& one : all) {
    const bool is_one = digits.size() >= kLeastReferenceDigits && one.definition_hash.starts_with(digits);
    if (is_one && one.name == name) meant.push_back(one);
  }
  return meant;
}

std::vector<EvaluatorSummary> evaluators(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing evaluators", [&] {
    const ReadTransaction snapshot(impl.database);
    return evaluator_summaries(impl);
  });
}

std::vector<LoggedDesign> designs_by_hash(const Log& log, const std::string& digits, std::size_t most) {
  HINDSIGHT_EXPECT(!digits.empty() && digits.size() <= 16 &&
                   digits.find_first_not_of("0123456789abcdef") == std::string::npos);
  const std::string first = digits + std::string(16 - digits.size(), '0');
  const std::string last = digits + std::string(16 - digits.size(), 'f');
  Log::Impl& impl = log.impl();
  return impl.guarded("looking for a design", [&] {
    // Hashes are stored as signed integers; those that begin alike have one sign, so their order is kept.
    Statement query(impl.database,
                    fmt::format("SELECT d.space_id, d.text_id FROM spaces s {} designs d ON d.space_id = s.space_id "
                                "WHERE d.content_hash BETWEEN ? AND ? ORDER BY d.space_id, d.content_hash LIMIT ?",
                                join_in_order(impl.database)));
    query.bind(1, static_cast<std::int64_t>(std::stoull(first, nullptr, 16)));
    query.bind(2, static_cast<std::int64_t>(std::stoull(last, nullptr, 16)));
    query.bind(3, static_cast<std::int64_t>(most));
    std::vector<LoggedDesign> designs;
    while (query.step()) {
      designs.push_back({.space_id = query.column(0).integer(), .text_id = query.column(1).text()});
    }
    return designs;
  });
}

DesignHistory design_history(const Log& log, const std::string& text_id) {
  Log::Impl& impl = log.impl();
  return impl.guarded("looking for what is known of a design", [&] {
    const ReadTransaction snapshot(impl.database);
    const std::string designs = fmt::format(
        "(SELECT d.design_id FROM spaces s {} designs d ON d.space_id = s.space_id WHERE d.content_hash = ? AND "
        "d.text_id = ?)",
        join_in_order(impl.database));
    const auto texts = [&](const std::string& sql) {
      Statement query(impl.database, sql);
      query.bind(1, static_cast<std::int64_t>(content_hash(text_id)));
      query.bind(2, text_id);
      std::vector<std::string> found;
      while (query.step()) found.push_back(text_of(query, 0));
      return found;
    };
    return DesignHistory{
        .evaluators = texts("SELECT v.name FROM evaluators v WHERE v.evaluator_id IN (SELECT e.evaluator_id FROM "
                            "evaluations e WHERE e.design_id IN " +
                            designs + ") ORDER BY v.evaluator_id"),
        .workloads = texts("SELECT w.name FROM workloads w WHERE w.workload_id IN (SELECT e.workload_id FROM "
                           "evaluations e WHERE e.design_id IN " +
                           designs + ") ORDER BY w.workload_id"),
        .verdicts =
            texts("SELECT p.verdict_json FROM proposals p WHERE p.verdict_json IS NOT NULL AND p.design_id IN " +
                  designs + " ORDER BY p.proposal_id")};
  });
}

std::vector<WorkloadStats> workload_stats(const Log& log, const EvaluationFilter& filter) {
  Log::Impl& impl = log.impl();
  return impl.guarded("counting evaluations", [&] {
    const ReadTransaction snapshot(impl.database);
    const FilteredRows counted = count_rows(impl, filter);
    std::map<std::int64_t, WorkloadStats> stats;
    Statement query(impl.database, "SELECT workload_id, name, batch FROM workloads");
    while (query.step()) {
      const std::int64_t id = query.column(0).integer();
      const auto rows = counted.workloads.find(id);
      if (rows == counted.workloads.end()) continue;
      stats[id] = {.workload_id = id,
                   .workload = text_of(query, 1),
                   .batch = query.column(2).integer(),
                   .evaluations = rows->second.all,
                   .feasible = rows->second.feasible,
                   .reasons = {}};
    }
    add_reasons(counted.reasons, stats);
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
    const ReadTransaction snapshot(impl.database);
    std::map<std::int64_t, std::string> names;
    Statement named(impl.database, "SELECT workload_id, name FROM workloads");
    while (named.step()) names[named.column(0).integer()] = text_of(named, 1);
    std::vector<WorkloadOrigin> origins;
    for (const auto& [ids, has_latency] : origin_rows(impl, filter)) {
      if (const auto name = names.find(ids.first); name != names.end()) {
        origins.push_back({.workload = name->second, .run_id = ids.second, .has_latency = has_latency});
      }
    }
    std::sort(origins.begin(), origins.end(), [](const WorkloadOrigin& a, const WorkloadOrigin& b) {
      return std::tie(a.workload, a.run_id) < std::tie(b.workload, b.run_id);
    });
    return origins;
  });
}

std::map<std::string, std::uint64_t> metric_counts(const Log& log, const std::string& workload,
                                                   EvaluationFilter filter) {
  filter.workload = workload;
  filter.feasible = true;
  Log::Impl& impl = log.impl();
  return impl.guarded("counting values of metrics", [&] {
    const ReadTransaction snapshot(impl.database);
    const std::string rows = fmt::format("evaluations e {} WHERE {}", design_join(filter), condition_sql(impl, filter));
    std::map<std::string, std::uint64_t> counts;
    const std::vector<std::string>& columns = standard_metrics();
    Statement standard(impl.database, fmt::format("SELECT count(e.{}) FROM {}", join(columns, "), count(e."), rows));
    if (standard.step()) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const std::int64_t count = standard.column(static_cast<int>(i)).integer();
        if (count > 0) counts[columns[i]] = static_cast<std::uint64_t>(count);
      }
    }
    Statement further(impl.database, fmt::format("SELECT m.name, count(*) FROM evaluation_metrics m WHERE "
                                                 "m.evaluation_id IN (SELECT e.evaluation_id FROM {}) GROUP BY m.name",
                                                 rows));
    while (further.step()) counts[text_of(further, 0)] = static_cast<std::uint64_t>(further.column(1).integer());
    return counts;
  });
}

std::vector<RunInfo> recent_runs(const Log& log, std::size_t limit, std::optional<std::int64_t> run_id) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing runs", [&] {
    const std::string one = run_id ? fmt::format("WHERE run_id = {} ", *run_id) : "";
    Statement query(impl.database, fmt::format("SELECT {} FROM runs {}ORDER BY run_id DESC LIMIT ?", kRunColumns, one));
    query.bind(1, static_cast<std::int64_t>(limit));
    return runs_of(query);
  });
}

std::vector<RunInfo> unended_runs(const Log& log, RunKind kind, const std::string& host) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing runs that have not ended", [&] {
    Statement query(impl.database,
                    fmt::format("SELECT {} FROM runs WHERE status = ? AND kind = ? AND host = ? ORDER BY run_id DESC",
                                kRunColumns));
    query.bind(1, to_string(RunStatus::running));
    query.bind(2, to_string(kind));
    query.bind(3, host);
    return runs_of(query);
  });
}

std::vector<WorkloadRecord> workloads(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("listing workloads", [&] {
    const ReadTransaction snapshot(impl.database);
    std::vector<WorkloadRecord> records;
    Statement query(impl.database,
                    "SELECT workload_id, name, batch, definition_hash, layers_json, context_version, definition "
                    "FROM workloads ORDER BY workload_id");
    Statement context(impl.database,
                      "SELECT name, value FROM workload_context WHERE workload_id = ? ORDER BY position");
    while (query.step()) {
      WorkloadRecord& record = records.emplace_back();
      record.workload_id = query.column(0).integer();
      record.name = text_of(query, 1);
      record.batch = query.column(2).integer();
      record.definition_hash = text_of(query, 3);
      record.layers_json = text_of(query, 4);
      record.context_version = static_cast<int>(query.column(5).integer());
      record.definition = text_of(query, 6);
      context.bind(1, record.workload_id);
      while (context.step()) {
        record.context.emplace_back(text_of(context, 0), context.column(1).number());
      }
      context.reset();
    }
    return records;
  });
}

}  // namespace hindsight::log

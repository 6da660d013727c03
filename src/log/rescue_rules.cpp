/// Which rescued rows may stay.
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "log/append_row.h"
#include "log/findings.h"
#include "log/impl.h"
#include "log/rescue.h"

namespace hindsight::log {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

/// Findings looked at in one go. [chosen] some megabytes.
constexpr std::size_t kFindingsAtOnce = 10'000;

std::vector<std::int64_t> numbers_of(SQLite::Database& database, const std::string& sql) {
  SQLite::Statement query(database, sql);
  std::vector<std::int64_t> numbers;
  while (query.executeStep()) numbers.push_back(query.getColumn(0).getInt64());
  return numbers;
}

EvaluationRow row_of(const EvaluationRecord& record) {
  return {.workload_id = record.workload_id,
          .design_text_id = record.design_text_id,
          .design_hash = 0,  // looked at where the design was moved
          .feasible = record.feasible,
          .metrics = metrics_of(record),
          .violations = record.violations,
          .repeat = record.repeat};
}

}  // namespace

/// What a run did is in its evaluations; that its own row is lost is no reason to lose them.
void Rescue::name_lost_runs() {
  const std::vector<std::int64_t> lost = numbers_of(
      database_,
      "SELECT run_id FROM (SELECT run_id FROM evaluations UNION SELECT run_id FROM models UNION SELECT run_id FROM "
      "proposals UNION SELECT run_id FROM gpu_sessions) WHERE run_id NOT IN (SELECT run_id FROM runs)");
  SQLite::Statement insert(database_,
                           "INSERT INTO runs (run_id, kind, status, command_line, version, commit_hash, host, user, "
                           "cwd, started_at) VALUES (?, 'lost', 'failed', '', '', '', '', '', '', '')");
  for (const std::int64_t id : lost) {
    insert.bind(1, id);
    insert.exec();
    insert.reset();
  }
  if (lost.empty()) return;
  result_.notes.push_back(fmt::format("{} a row of the kind 'lost': who ran what is not known",
                                      lost.size() == 1
                                          ? "1 run that is named elsewhere got"
                                          : with_commas(lost.size()) + " runs that are named elsewhere got"));
}

void Rescue::drop_evaluations(const std::vector<std::int64_t>& ids, const std::string& why) {
  std::uint64_t dropped = 0;
  for (const char* table : {"evaluation_metrics", "evaluation_violations", "evaluations"}) {
    SQLite::Statement drop(database_, fmt::format("DELETE FROM {} WHERE evaluation_id = ?", table));
    std::uint64_t rows = 0;
    for (const std::int64_t id : ids) {
      drop.bind(1, id);
      rows += static_cast<std::uint64_t>(drop.exec());
      drop.reset();
    }
    counts(table).refused += rows;
    dropped = rows;
  }
  if (dropped > 0) result_.notes.push_back(fmt::format("{} left out: {}", counted(dropped, "evaluation"), why));
}

/// Pieces that follow each other are whole; what stands between two others, and at their ends, may not be.
std::vector<Rescue::Interval> Rescue::uncertain(const std::string& table) {
  std::vector<Interval> pieces;  // numbers of evaluations that a piece begins and ends with
  bool new_piece = true, any_gap = false;
  salvage_.read(table, {.row =
                            [&](std::vector<StoredValue>& row) {
                              const std::int64_t id = std::get<std::int64_t>(row[0]);
                              if (new_piece) pieces.emplace_back(id, id);
                              new_piece = false;
                              pieces.back().second = id;
                            },
                        .damaged = [] {},
                        .gap = [&] { new_piece = any_gap = true; }});
  std::vector<Interval> between;
  if (!any_gap) return between;
  std::sort(pieces.begin(), pieces.end());
  std::int64_t before = kLowest;
  for (const auto& [first, last] : pieces) {
    between.emplace_back(before, first);
    before = last;
  }
  between.emplace_back(before, kHighest);
  return between;
}

/// Infeasible rows between pieces of the reasons, and feasible and infeasible ones between pieces of the further
/// metrics where their evaluator has such; also those whose reasons are not numbered from 0 without a gap.
void Rescue::drop_uncertain_evaluations() {
  std::vector<std::int64_t> ids = numbers_of(
      database_,
      "SELECT evaluation_id FROM evaluation_violations GROUP BY evaluation_id HAVING max(position) + 1 <> count(*)");
  const auto add = [&](const std::string& table, const std::string& which) {
    SQLite::Statement query(database_,
                            "SELECT evaluation_id FROM evaluations WHERE evaluation_id BETWEEN ? AND ? AND " + which);
    for (const auto& [first, last] : uncertain(table)) {
      query.bind(1, first);
      query.bind(2, last);
      while (query.executeStep()) ids.push_back(query.getColumn(0).getInt64());
      query.reset();
    }
  };
  add("evaluation_violations", "feasible = 0");
  database_.exec(
      "CREATE TEMP TABLE with_metrics AS SELECT DISTINCT evaluator_id FROM evaluations "
      "WHERE evaluation_id IN (SELECT evaluation_id FROM evaluation_metrics)");
  database_.exec(
      fmt::format("INSERT INTO temp.with_metrics SELECT evaluator_id FROM evaluators m WHERE NOT ({}) AND NOT EXISTS "
                  "(SELECT 1 FROM temp.with_metrics)",
                  kBuiltInModelSql));
  add("evaluation_metrics", "evaluator_id IN (SELECT evaluator_id FROM temp.with_metrics)");
  database_.exec("DROP TABLE temp.with_metrics");
  drop_evaluations(ids, "their reasons or further metrics are not all there");
}

/// The rules of an append, with what belongs to the row.
void Rescue::drop_refused_evaluations() {
  std::vector<std::int64_t> ids;
  std::string first;
  ParsedRow parsed;
  for_each_evaluation(log_, {}, Detail::all, [&](const EvaluationRecord& record) {
    if (const Reason reason = parse(row_of(record), parsed)) {
      if (ids.empty()) first = *reason;
      ids.push_back(record.evaluation_id);
    }
    return true;
  });
  drop_evaluations(ids, fmt::format("an import would refuse them (the first: {})", first));
}

/// What verify() would say of a row.
void Rescue::drop_findings() {
  while (true) {
    const std::vector<Finding> findings = find_problems(database_, kFindingsAtOnce);
    if (findings.empty()) return;
    std::vector<std::int64_t> ids;
    for (const Finding& finding : findings) {
      if (finding.table == "evaluations") ids.push_back(finding.id);
    }
    drop_evaluations(ids, fmt::format("their values contradict each other (the first: {})", findings.front().text));
    if (ids.empty()) return;  // of designs, which were looked at when they were moved
  }
}

void Rescue::drop_without_parents() {
  for (const RepairedTable& table : result_.tables) {
    SQLite::Statement references(database_, "SELECT \"table\", \"from\" FROM pragma_foreign_key_list(?)");
    references.bind(1, table.name);
    std::uint64_t dropped = 0;
    while (references.executeStep()) {
      const std::string parent = references.getColumn(0).getString(), column = references.getColumn(1).getString();
      // NULL names no parent; over an empty table NOT IN is true of it.
      dropped += static_cast<std::uint64_t>(database_.exec(fmt::format(
          "DELETE FROM {0} WHERE {1} IS NOT NULL AND {1} NOT IN (SELECT rowid FROM {2})", table.name, column, parent)));
    }
    counts(table.name).without_parent = dropped;
  }
}

/// A context without all its features is taken for one of an older version, which the next sweep replaces.
void Rescue::forget_incomplete_contexts() {
  const SalvagedTable& found = salvage_.table("workload_context");
  if (found.whole() && counts("workload_context").damaged == 0) return;
  const std::vector<std::int64_t> incomplete = numbers_of(
      database_,
      "SELECT w.workload_id FROM workloads w LEFT JOIN (SELECT workload_id, count(*) AS features FROM workload_context "
      "GROUP BY workload_id) c ON c.workload_id = w.workload_id WHERE coalesce(c.features, 0) < (SELECT max(n) FROM "
      "(SELECT count(*) AS n FROM workload_context GROUP BY workload_id UNION SELECT 1))");
  for (const std::int64_t id : incomplete) {
    counts("workload_context").refused += static_cast<std::uint64_t>(
        database_.exec(fmt::format("DELETE FROM workload_context WHERE workload_id = {}", id)));
    database_.exec(fmt::format("UPDATE workloads SET context_version = 0 WHERE workload_id = {}", id));
  }
  if (incomplete.empty()) return;
  result_.notes.push_back(fmt::format("{} lost features of the context: a sweep over them, run again, stores them anew",
                                      counted(incomplete.size(), "workload")));
}

/// Names of parameters stand in every design.
void Rescue::describe_spaces() {
  SQLite::Statement designs(database_,
                            "SELECT space_id, (SELECT text_id FROM designs d WHERE d.space_id = s.space_id LIMIT 1) "
                            "FROM spaces s");
  std::vector<std::pair<std::int64_t, std::string>> firsts;
  while (designs.executeStep()) {
    if (!designs.getColumn(1).isNull()) {
      firsts.emplace_back(designs.getColumn(0).getInt64(), designs.getColumn(1).getString());
    }
  }
  for (const auto& [space, text_id] : firsts) {
    const auto names = parse_parameter_names(text_id);
    if (const auto* list = std::get_if<std::vector<std::string>>(&names)) describe_parameters(database_, space, *list);
  }
}

}  // namespace hindsight::log

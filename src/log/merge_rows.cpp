/// Merging designs and evaluations, with their metrics and reasons.
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "log/connection.h"
#include "log/merge_source.h"

namespace hindsight::log {
namespace {

std::string value_text(const SQLite::Column& value) { return value.isNull() ? "missing" : shortest(value.getDouble()); }

}  // namespace

const std::vector<std::string>& reason_columns() {
  static const std::vector<std::string> columns = {"code", "quantity", "value", "limit_value", "layer"};
  return columns;
}

void SourceMerge::merge_designs() {
  design_offset_ = database_.execAndGet("SELECT ifnull(max(design_id), 0) FROM main.designs").getInt64();
  const std::string space = mapped("g.space_id", "map_spaces");
  const std::string same = fmt::format("m.space_id = {} AND m.content_hash = g.content_hash", space);
  if (design_offset_ != 0) {
    database_.exec(
        fmt::format("INSERT INTO temp.shared_designs SELECT g.design_id, m.design_id FROM given.designs g "
                    "CROSS JOIN main.designs m WHERE {}",
                    same));
    SQLite::Statement collision(
        database_,
        "SELECT g.text_id, m.text_id, g.design_id FROM temp.shared_designs s "
        "CROSS JOIN given.designs g ON g.design_id = s.old_id "
        "CROSS JOIN main.designs m ON m.design_id = s.new_id WHERE m.text_id <> g.text_id LIMIT 1");
    if (collision.executeStep()) {
      throw Error(
          ErrorKind::failure,
          fmt::format("{}: the designs {} and {} have the same 64-bit hash (a log cannot tell them apart). "
                      "Merge it into another log?",
                      shown(given_.of(NamedRows::designs, collision.getColumn(2).getInt64())),
                      printable(collision.getColumn(0).getString()), printable(collision.getColumn(1).getString())));
    }
  }
  shares_designs_ = count("SELECT EXISTS (SELECT 1 FROM temp.shared_designs)") != 0;
  const std::int64_t moved = database_.exec(
      fmt::format("INSERT INTO main.designs (design_id, space_id, content_hash, text_id) "
                  "SELECT design_id + {}, {}, content_hash, text_id FROM given.designs g{} "
                  "ORDER BY design_id",
                  design_offset_, space,
                  shares_designs_ ? " WHERE design_id NOT IN (SELECT old_id FROM temp.shared_designs)" : ""));
  counts_.designs = static_cast<std::uint64_t>(moved);
  counts_.all_designs = count("SELECT count(*) FROM given.designs");
}

/// Evaluations that both logs have; only designs that both have can have any.
void SourceMerge::find_shared_evaluations() {
  if (!shares_designs_) return;
  database_.exec(fmt::format(
      "INSERT INTO temp.shared_evaluations SELECT e.evaluation_id, m.evaluation_id FROM given.evaluations e "
      "CROSS JOIN temp.shared_designs s CROSS JOIN main.evaluations m WHERE s.old_id = e.design_id AND "
      "m.design_id = s.new_id AND m.workload_id = {} AND m.evaluator_id = {} AND m.repeat = {}",
      mapped("e.workload_id", "map_workloads"), mapped("e.evaluator_id", "map_evaluators"), repeat_));
  shares_evaluations_ = count("SELECT EXISTS (SELECT 1 FROM temp.shared_evaluations)") != 0;
}

/// Rows of a detail table that differ between shared evaluations. Most are the same, place by place; only those that
/// are not are compared in any order, as often as each log has them.
void SourceMerge::find_contradicting_details(const std::string& table, const std::string& key,
                                             const std::vector<std::string>& columns) {
  if (count(fmt::format("SELECT EXISTS (SELECT 1 FROM given.{0}) OR EXISTS (SELECT 1 FROM main.{0})", table)) == 0) {
    return;
  }
  std::string differs = fmt::format("m.{} IS NULL", key);
  for (const std::string& column : columns) differs += fmt::format(" OR g.{0} IS NOT m.{0}", column);
  database_.exec(
      fmt::format("CREATE TEMP TABLE suspects (old_id INTEGER PRIMARY KEY, new_id INTEGER NOT NULL);"
                  "INSERT OR IGNORE INTO temp.suspects SELECT s.old_id, s.new_id FROM temp.shared_evaluations s "
                  "CROSS JOIN given.{0} g ON g.evaluation_id = s.old_id "
                  "LEFT JOIN main.{0} m ON m.evaluation_id = s.new_id AND m.{1} = g.{1} WHERE {2};"
                  "INSERT OR IGNORE INTO temp.suspects SELECT s.old_id, s.new_id FROM temp.shared_evaluations s "
                  "CROSS JOIN main.{0} m ON m.evaluation_id = s.new_id "
                  "LEFT JOIN given.{0} g ON g.evaluation_id = s.old_id AND g.{1} = m.{1} WHERE g.{1} IS NULL",
                  table, key, differs));
  const auto rows_of = [&](const char* log, const char* id) {
    return fmt::format("SELECT {0}, count(*) FROM {1}.{2} WHERE evaluation_id = s.{3} GROUP BY {0}",
                       join(columns, ", "), log, table, id);
  };
  const std::string here = rows_of("given", "old_id"), there = rows_of("main", "new_id");
  database_.exec(
      fmt::format("INSERT OR IGNORE INTO temp.contradicting SELECT s.old_id FROM temp.suspects s "
                  "WHERE EXISTS ({0} EXCEPT {1}) OR EXISTS ({1} EXCEPT {0}); DROP TABLE temp.suspects",
                  here, there));
}

/// As Log::append() compares: feasibility, metrics, and reasons in any order, but for their advice.
void SourceMerge::find_contradictions() {
  std::string differs = "g.feasible <> m.feasible";
  for (const std::string& metric : standard_metrics()) differs += fmt::format(" OR g.{0} IS NOT m.{0}", metric);
  database_.exec(
      fmt::format("INSERT INTO temp.contradicting SELECT s.old_id FROM temp.shared_evaluations s "
                  "CROSS JOIN given.evaluations g ON g.evaluation_id = s.old_id "
                  "CROSS JOIN main.evaluations m ON m.evaluation_id = s.new_id WHERE {}",
                  differs));
  find_contradicting_details("evaluation_metrics", "name", {"name", "value"});
  find_contradicting_details("evaluation_violations", "position", reason_columns());
  counts_.contradicting = count("SELECT count(*) FROM temp.contradicting");
  if (counts_.contradicting > 0 && contradictions_ == Contradictions::refuse) refuse_contradictions();
}

std::string SourceMerge::differing_detail(std::int64_t given_id, std::int64_t main_id) {
  SQLite::Statement metrics(
      database_,
      "WITH here AS (SELECT name, value FROM given.evaluation_metrics WHERE evaluation_id = ?1), "
      "there AS (SELECT name, value FROM main.evaluation_metrics WHERE evaluation_id = ?2) "
      "SELECT n.name, there.value, here.value FROM (SELECT name FROM here UNION SELECT name FROM there) n "
      "LEFT JOIN here ON here.name = n.name LEFT JOIN there ON there.name = n.name "
      "WHERE here.value IS NOT there.value ORDER BY n.name LIMIT 1");
  metrics.bind(1, given_id);
  metrics.bind(2, main_id);
  if (metrics.executeStep()) {
    return fmt::format("{} is {} there, {} here", printable(metrics.getColumn(0).getString(), 60),
                       value_text(metrics.getColumn(1)), value_text(metrics.getColumn(2)));
  }
  const std::string columns = join(reason_columns(), ", ");
  const auto reasons_of = [&](bool here) {
    return fmt::format("SELECT {0}, count(*) FROM {1}.evaluation_violations WHERE evaluation_id = {2} GROUP BY {0}",
                       columns, here ? "given" : "main", here ? given_id : main_id);
  };
  SQLite::Statement here(database_, fmt::format("{} EXCEPT {}", reasons_of(true), reasons_of(false)));
  SQLite::Statement there(database_, fmt::format("{} EXCEPT {}", reasons_of(false), reasons_of(true)));
  const bool is_here = here.executeStep();
  HINDSIGHT_ENSURE(is_here || there.executeStep());
  SQLite::Statement& reason = is_here ? here : there;
  return fmt::format("its reason {} ({} {}, limit {}) is {} only", printable(reason.getColumn(0).getString(), 60),
                     printable(reason.getColumn(1).getString(), 60), value_text(reason.getColumn(2)),
                     value_text(reason.getColumn(3)), is_here ? "here" : "there");
}

/// What differs in the first row that does: a column, else a further metric or a reason.
void SourceMerge::refuse_contradictions() {
  std::vector<std::string> columns = {"feasible"};
  columns.insert(columns.end(), standard_metrics().begin(), standard_metrics().end());
  std::string pairs;
  for (const std::string& column : columns) pairs += fmt::format(", g.{0}, m.{0}", column);
  SQLite::Statement query(
      database_, fmt::format("SELECT d.text_id, w.name, m.repeat, s.old_id, s.new_id{} FROM temp.shared_evaluations s "
                             "JOIN given.evaluations g ON g.evaluation_id = s.old_id "
                             "JOIN main.evaluations m ON m.evaluation_id = s.new_id "
                             "JOIN main.designs d ON d.design_id = m.design_id "
                             "JOIN main.workloads w ON w.workload_id = m.workload_id "
                             "WHERE s.old_id = (SELECT min(old_id) FROM temp.contradicting)",
                             pairs));
  HINDSIGHT_ENSURE(query.executeStep());
  constexpr int kFirstPair = 5;
  const std::int64_t given_id = query.getColumn(3).getInt64(), main_id = query.getColumn(4).getInt64();
  std::string differs;
  for (std::size_t i = columns.size(); i-- > 0;) {
    const std::string here = value_text(query.getColumn(kFirstPair + 2 * static_cast<int>(i)));
    const std::string there = value_text(query.getColumn(kFirstPair + 1 + 2 * static_cast<int>(i)));
    if (here != there) differs = fmt::format("{} is {} there, {} here", columns[i], there, here);
  }
  if (differs.empty()) differs = differing_detail(given_id, main_id);
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: {} of it {} {}, first {} on {}, repeat {}: {}. Nothing was written; --duplicates "
                  "first keeps what was merged first",
                  shown(given_.of(NamedRows::evaluations, given_id)), counted(counts_.contradicting, "row"),
                  counts_.contradicting == 1 ? "contradicts" : "contradict",
                  shown(main_.of(NamedRows::evaluations, main_id)), printable(query.getColumn(0).getString(), 60),
                  printable(query.getColumn(1).getString(), 40), query.getColumn(2).getInt64(), differs));
}

void SourceMerge::merge_evaluations() {
  find_shared_evaluations();
  if (shares_evaluations_) find_contradictions();
  const std::int64_t offset =
      database_.execAndGet("SELECT ifnull(max(evaluation_id), 0) FROM main.evaluations").getInt64();
  const std::string fresh =
      shares_evaluations_ ? " WHERE evaluation_id NOT IN (SELECT old_id FROM temp.shared_evaluations)" : "";
  const std::string metrics = join(standard_metrics(), ", ");
  counts_.evaluations = count("SELECT count(*) FROM given.evaluations");
  counts_.inserted = static_cast<std::uint64_t>(database_.exec(fmt::format(
      "INSERT INTO main.evaluations (evaluation_id, design_id, workload_id, evaluator_id, repeat, run_id, feasible, "
      "{0}) SELECT evaluation_id + {1}, {2}, {3}, {4}, {5}, {6}, feasible, {0} FROM given.evaluations e{7} "
      "ORDER BY evaluation_id",
      metrics, offset, mapped_design("design_id"), mapped("workload_id", "map_workloads"),
      mapped("evaluator_id", "map_evaluators"), repeat_, mapped("run_id", "map_runs"), fresh)));
  database_.exec(
      fmt::format("INSERT INTO main.evaluation_metrics SELECT evaluation_id + {}, name, value "
                  "FROM given.evaluation_metrics{} ORDER BY evaluation_id, name",
                  offset, fresh));
  database_.exec(fmt::format(
      "INSERT INTO main.evaluation_violations SELECT evaluation_id + {}, position, code, quantity, value, limit_value, "
      "nearest_passing, layer, message FROM given.evaluation_violations{} ORDER BY evaluation_id, position",
      offset, fresh));
}

}  // namespace hindsight::log

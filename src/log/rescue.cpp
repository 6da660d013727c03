/// Moving rows, and telling what was lost.
#include "log/rescue.h"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "hindsight/core/hash.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/plural.h"
#include "log/append_row.h"
#include "log/impl.h"

namespace hindsight::log {
namespace {

/// A row refers only to tables before its own. What is not moved is made anew: schema_migrations and space_parameters.
const std::vector<std::string>& tables_to_move() {
  static const std::vector<std::string> names = {
      "spaces",       "workloads",          "workload_context",      "evaluators", "runs",      "designs",
      "evaluations",  "evaluation_metrics", "evaluation_violations", "models",     "proposals", "checkpoints",
      "gpu_sessions", "gpu_gemms",          "gpu_quantities"};
  return names;
}

std::vector<std::string> stored_columns(SQLite::Database& database, const std::string& table) {
  SQLite::Statement query(database, "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0");
  query.bind(1, table);
  std::vector<std::string> names;
  while (query.executeStep()) names.push_back(query.getColumn(0).getString());
  return names;
}

const std::string* text_at(const std::vector<StoredValue>& row, const std::vector<std::string>& columns,
                           const std::string& name) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  return found == columns.end() ? nullptr
                                : std::get_if<std::string>(&row[static_cast<std::size_t>(found - columns.begin())]);
}

/// What identifies a row by its content is right: a flipped byte shows.
bool has_own_hash(const std::vector<StoredValue>& row, const std::vector<std::string>& columns) {
  constexpr std::size_t kHashDigits = 64;
  const std::string* definition = text_at(row, columns, "definition");
  const std::string* hash = text_at(row, columns, "definition_hash");
  if (definition != nullptr && hash != nullptr && hash->size() == kHashDigits) {
    return sha256_hex(*definition) == *hash;
  }
  return true;
}

bool is_a_design(const std::vector<StoredValue>& row, const std::vector<std::string>& columns) {
  const std::string* text_id = text_at(row, columns, "text_id");
  if (text_id == nullptr) return true;  // another table
  EvaluationRow design;
  design.design_text_id = *text_id;
  design.design_hash = static_cast<std::uint64_t>(std::get<std::int64_t>(row[2]));
  return !bad_design(design);
}

bool has_sound_json(const std::vector<StoredValue>& row, const std::vector<std::string>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string* text = columns[i].ends_with("_json") ? std::get_if<std::string>(&row[i]) : nullptr;
    if (text != nullptr && !nlohmann::json::accept(bounded_json(*text))) return false;
  }
  return true;
}

void bind_value(SQLite::Statement& statement, int place, const StoredValue& value) {
  std::visit(
      [&](const auto& stored) {
        if constexpr (std::is_same_v<std::decay_t<decltype(stored)>, std::monostate>) {
          statement.bind(place);
        } else {
          statement.bind(place, stored);
        }
      },
      value);
}

/// False when the schema refuses the row, or one of its number or content is there.
bool insert(SQLite::Database& database, SQLite::Statement& statement, const std::vector<StoredValue>& row) {
  const ResetAtEnd reset(statement);
  for (std::size_t i = 0; i < row.size(); ++i) bind_value(statement, static_cast<int>(i) + 1, row[i]);
  const int code = statement.tryExecuteStep();
  if (code == SQLITE_DONE) return true;
  if ((code & 0xff) == SQLITE_CONSTRAINT || (code & 0xff) == SQLITE_MISMATCH) return false;
  throw SQLite::Exception(database.getHandle(), code);
}

}  // namespace

Rescue::Rescue(Salvage& salvage, Log& log) : salvage_(salvage), log_(log), database_(log.impl().database.file()) {
  for (const std::string& table : tables_to_move()) {
    place_[table] = result_.tables.size();
    result_.tables.push_back({.name = table, .lost = std::nullopt});
  }
  result_.pages = salvage.page_count();
  result_.unknown_pages = salvage.unknown_pages();
}

RepairedTable& Rescue::counts(const std::string& table) { return result_.tables[place_.at(table)]; }

RepairResult Rescue::run() {
  for (const std::string& table : tables_to_move()) move(table);
  name_lost_runs();
  drop_uncertain_evaluations();
  drop_refused_evaluations();
  drop_findings();
  drop_without_parents();
  forget_incomplete_contexts();
  describe_spaces();
  for (RepairedTable& table : result_.tables) {
    estimate_lost(table.name);
    table.recovered =
        static_cast<std::uint64_t>(database_.execAndGet(fmt::format("SELECT count(*) FROM {}", table.name)).getInt64());
  }
  forget_checkpoints();
  store_all_blocks(database_);
  if (!salvage_.schema_whole()) {
    result_.notes.emplace_back("the list of tables is damaged; tables were told apart by what their rows look like");
  }
  return std::move(result_);
}

void Rescue::move(const std::string& table) {
  const std::vector<std::string> columns = stored_columns(database_, table);
  std::string names, places;
  for (const std::string& column : columns) {
    names += (names.empty() ? "" : ", ") + column;
    places += places.empty() ? "?" : ", ?";
  }
  SQLite::Statement statement(database_, fmt::format("INSERT INTO {} ({}) VALUES ({})", table, names, places));
  RepairedTable& count = counts(table);
  count.lost_pages = salvage_.table(table).lost_pages;
  const bool space = table == "spaces";
  salvage_.read(table, {.row =
                            [&](std::vector<StoredValue>& row) {
                              if (space) row.back() = std::monostate();  // its view is made anew
                              ++seen_[table];
                              if (const auto* id = std::get_if<std::int64_t>(row.data())) {
                                last_row_[table] = std::max(last_row_[table], *id);
                              }
                              const bool fine = has_own_hash(row, columns) && is_a_design(row, columns) &&
                                                has_sound_json(row, columns) && insert(database_, statement, row);
                              if (!fine) ++count.refused;
                            },
                        .damaged = [&] { ++count.damaged; },
                        .gap = [] {}});
}

/// Row numbers grow by one, so that a gap in them is a lost row (or one that a merge left out).
void Rescue::estimate_lost(const std::string& table) {
  RepairedTable& count = counts(table);
  const SalvagedTable& found = salvage_.table(table);
  if (found.whole()) {
    count.lost = 0;
    return;
  }
  const auto& shapes = record_shapes();
  const auto shape = std::find_if(shapes.begin(), shapes.end(), [&](const auto& one) { return one.name == table; });
  if (!shape->has_rowid || seen_[table] == 0) return;  // no numbers
  std::int64_t last = last_row_[table];
  if (table == "evaluations") {  // rows that tell of it name it
    last = std::max({last, last_row_["evaluation_metrics"], last_row_["evaluation_violations"]});
  }
  const std::uint64_t there = seen_[table] + count.damaged;
  const auto numbered = static_cast<std::uint64_t>(std::max<std::int64_t>(last, 0));
  if (found.root_known || numbered > there) count.lost = numbered > there ? numbered - there : 0;
}

bool Rescue::evaluations_lost() const {
  for (const char* table : {"designs", "evaluations", "evaluation_metrics", "evaluation_violations"}) {
    if (!result_.tables[place_.at(table)].whole()) return true;
  }
  return false;
}

/// Running a sweep again must evaluate what is missing: it begins at its first design, and keeps what is there.
/// Blocks are counted anew.
void Rescue::forget_checkpoints() {
  const int blocks = database_.exec(fmt::format("DELETE FROM checkpoints WHERE NOT ({})", kNoBlockSql));
  counts("checkpoints").recovered -= static_cast<std::uint64_t>(blocks);
  if (!evaluations_lost()) return;
  const int forgotten = database_.exec("DELETE FROM checkpoints WHERE key NOT LIKE 'training:%'");
  if (forgotten == 0) return;
  RepairedTable& count = counts("checkpoints");
  count.recovered -= static_cast<std::uint64_t>(forgotten);
  count.refused += static_cast<std::uint64_t>(forgotten);
  result_.notes.push_back(fmt::format(
      "{} left out: the same command, run again on the new log, evaluates what is missing and keeps the rest",
      counted(static_cast<std::uint64_t>(forgotten), "checkpoint")));
}

bool RepairResult::whole() const {
  return std::all_of(tables.begin(), tables.end(), [](const RepairedTable& table) { return table.whole(); });
}

}  // namespace hindsight::log

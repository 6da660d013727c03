/// Writes over values of a log.
#include "fuzz/log_values.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <array>
#include <stdexcept>

namespace hindsight::fuzz {
namespace {

struct Column {
  std::string_view table, key, name;  ///< `key`: what tells the table's rows apart
};
constexpr std::string_view kRow = "rowid";
/// Their order is the meaning of the first byte of a value: new ones go to the end.
constexpr std::array kColumns{
    Column{"runs", kRow, "options_json"},
    Column{"proposals", kRow, "predicted_json"},
    Column{"proposals", kRow, "verdict_json"},
    Column{"models", kRow, "card_json"},
    Column{"checkpoints", "key", "value_json"},
    Column{"workloads", kRow, "layers_json"},
    Column{"runs", kRow, "command_line"},
    Column{"runs", kRow, "kind"},
    Column{"runs", kRow, "status"},
    Column{"runs", kRow, "started_at"},
    Column{"runs", kRow, "ended_at"},
    Column{"runs", kRow, "evaluations_inserted"},
    Column{"proposals", kRow, "objective"},
    Column{"proposals", kRow, "predicted_value"},
    Column{"proposals", kRow, "rank"},
    Column{"proposals", kRow, "run_id"},
    Column{"proposals", kRow, "design_id"},
    Column{"proposals", kRow, "workload_id"},
    Column{"models", kRow, "name"},
    Column{"models", kRow, "file"},
    Column{"models", kRow, "created_at"},
    Column{"checkpoints", "key", "key"},
    Column{"checkpoints", "key", "updated_at"},
    Column{"workloads", kRow, "name"},
    Column{"workloads", kRow, "batch"},
    Column{"workloads", kRow, "definition"},
    Column{"workloads", kRow, "context_version"},
    Column{"workload_context", "workload_id, position", "name"},
    Column{"workload_context", "workload_id, position", "value"},
    Column{"spaces", kRow, "name"},
    Column{"spaces", kRow, "definition"},
    Column{"spaces", kRow, "definition_hash"},
    Column{"spaces", kRow, "designs_view"},
    Column{"space_parameters", "space_id, position", "name"},
    Column{"designs", kRow, "text_id"},
    Column{"designs", kRow, "content_hash"},
    Column{"designs", kRow, "space_id"},
    Column{"evaluators", kRow, "name"},
    Column{"evaluators", kRow, "definition_hash"},
    Column{"evaluators", kRow, "definition"},
    Column{"evaluations", kRow, "feasible"},
    Column{"evaluations", kRow, "repeat"},
    Column{"evaluations", kRow, "latency_s"},
    Column{"evaluations", kRow, "energy_j"},
    Column{"evaluations", kRow, "area_mm2"},
    Column{"evaluations", kRow, "average_power_w"},
    Column{"evaluations", kRow, "utilisation_frac"},
    Column{"evaluations", kRow, "design_id"},
    Column{"evaluations", kRow, "workload_id"},
    Column{"evaluations", kRow, "evaluator_id"},
    Column{"evaluations", kRow, "run_id"},
    Column{"evaluation_metrics", "evaluation_id, name", "name"},
    Column{"evaluation_metrics", "evaluation_id, name", "value"},
    Column{"evaluation_violations", "evaluation_id, position", "position"},
    Column{"evaluation_violations", "evaluation_id, position", "code"},
    Column{"evaluation_violations", "evaluation_id, position", "quantity"},
    Column{"evaluation_violations", "evaluation_id, position", "value"},
    Column{"evaluation_violations", "evaluation_id, position", "limit_value"},
    Column{"evaluation_violations", "evaluation_id, position", "nearest_passing"},
    Column{"evaluation_violations", "evaluation_id, position", "layer"},
    Column{"evaluation_violations", "evaluation_id, position", "message"},
    Column{"gpu_sessions", kRow, "session_hash"},
    Column{"gpu_sessions", kRow, "gpu_name"},
    Column{"gpu_sessions", kRow, "started_at"},
    Column{"gpu_sessions", kRow, "sms"},
    Column{"gpu_sessions", kRow, "boost_hz"},
    Column{"gpu_gemms", kRow, "task"},
    Column{"gpu_gemms", kRow, "kernel"},
    Column{"gpu_gemms", kRow, "dtype"},
    Column{"gpu_gemms", kRow, "layout"},
    Column{"gpu_gemms", kRow, "m"},
    Column{"gpu_gemms", kRow, "status"},
    Column{"gpu_gemms", kRow, "graph"},
    Column{"gpu_gemms", kRow, "latency_s"},
    Column{"gpu_quantities", kRow, "name"},
    Column{"gpu_quantities", kRow, "argument"},
    Column{"gpu_quantities", kRow, "value"},
    Column{"schema_migrations", kRow, "hindsight_version"},
    Column{"schema_migrations", kRow, "applied_at"},
};

/// Whether there was such a row and the store took the value.
bool change(SQLite::Database& database, const Column& column, unsigned char row, std::string_view value) {
  const std::string table(column.table), key(column.key), name(column.name);
  try {
    const int rows = database.execAndGet("SELECT count(*) FROM " + table).getInt();
    if (rows == 0) return false;
    SQLite::Statement update(database, "UPDATE " + table + " SET " + name + " = ?1 WHERE (" + key + ") = (SELECT " +
                                           key + " FROM " + table + " ORDER BY " + key + " LIMIT 1 OFFSET ?2)");
    if (value == kNullValue) {
      update.bind(1);
    } else {
      update.bind(1, std::string(value));
    }
    update.bind(2, row % rows);
    return update.exec() == 1;
  } catch (const SQLite::Exception&) {
    return false;
  }
}

}  // namespace

std::size_t change_values(const std::filesystem::path& log, std::string_view bytes) {
  constexpr std::size_t kMost = 32;  // [chosen] more of them change nothing that fewer do not
  SQLite::Database database(log.string(), SQLite::OPEN_READWRITE);
  database.exec(
      "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; "
      "PRAGMA ignore_check_constraints = ON; BEGIN");
  std::size_t changed = 0, seen = 0;
  while (bytes.size() > 2 && seen++ < kMost) {
    const std::size_t end = bytes.find(kEndOfValue, 2);
    const auto column = static_cast<unsigned char>(bytes[0]), row = static_cast<unsigned char>(bytes[1]);
    const std::size_t length = end == std::string_view::npos ? end : end - 2;
    if (change(database, kColumns[column % kColumns.size()], row, bytes.substr(2, length))) ++changed;
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
  database.exec("COMMIT");
  return changed;
}

std::string value_bytes(std::string_view column, unsigned char row, std::string_view value) {
  const std::size_t dot = column.find('.');
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    if (kColumns[i].table != column.substr(0, dot) || kColumns[i].name != column.substr(dot + 1)) continue;
    return std::string{static_cast<char>(i), static_cast<char>(row)} + std::string(value) + kEndOfValue;
  }
  throw std::invalid_argument("no value of " + std::string(column) + " is written over");
}

}  // namespace hindsight::fuzz

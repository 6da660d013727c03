/// Merging definitions and history: spaces, workloads, evaluators, runs, models, proposals, GPU measurements.
#include "log/merge_source.h"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "log/connection.h"
#include "log/filter.h"
#include "log/impl.h"
#include "log/run_identity.h"

namespace hindsight::log {
namespace {

/// Maps of at most so many rows become a CASE. [chosen] beyond, a lookup is shorter.
constexpr std::size_t kMostCases = 16;

/// Column names of a table of the schema, but for those named.
std::string columns_of(SQLite::Database& database, const std::string& table, const std::vector<std::string>& but) {
  SQLite::Statement query(database, "SELECT name FROM pragma_table_info(?, 'main')");
  query.bind(1, table);
  std::vector<std::string> names;
  while (query.executeStep()) {
    std::string name = query.getColumn(0).getString();
    if (std::find(but.begin(), but.end(), name) == but.end()) names.push_back(std::move(name));
  }
  return join(names, ", ");
}

/// Runs of a log by their provenance, as one text.
std::unordered_map<std::string, std::int64_t> runs_by_provenance(SQLite::Database& database) {
  std::unordered_map<std::string, std::int64_t> runs;
  SQLite::Statement query(database, fmt::format("SELECT json_array({}), run_id FROM main.runs", run_identity()));
  while (query.executeStep()) runs.try_emplace(query.getColumn(0).getString(), query.getColumn(1).getInt64());
  return runs;
}

std::vector<std::string> parameter_names(SQLite::Database& database, const char* log, std::int64_t space_id) {
  SQLite::Statement query(
      database, fmt::format("SELECT name FROM {}.space_parameters WHERE space_id = ? ORDER BY position", log));
  query.bind(1, space_id);
  std::vector<std::string> names;
  while (query.executeStep()) names.push_back(query.getColumn(0).getString());
  return names;
}

}  // namespace

void require_sound_references(SQLite::Database& database, const std::filesystem::path& file) {
  SQLite::Statement broken(database, "PRAGMA main.foreign_key_check");
  if (broken.executeStep()) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: damaged log: a row of {} names a row of {} that does not exist. {}", shown(file),
                            broken.getColumn(0).getString(), broken.getColumn(2).getString(), rescue_remedy(file)));
  }
}

Attached::Attached(Log& log, const Log& given) : log_(log) {
  log_.impl().guarded("opening the log to merge", [&] {
    SQLite::Statement attach(log_.impl().database.file(), "ATTACH ? AS given");
    attach.bind(1, reading_uri(given.path()));
    attach.exec();
  });
}

Attached::~Attached() { log_.impl().database.file().tryExec("DETACH given"); }

std::string mapping_sql(const std::string& column, const std::vector<std::pair<std::int64_t, std::int64_t>>& numbers,
                        const std::string& lookup) {
  if (std::all_of(numbers.begin(), numbers.end(), [](const auto& one) { return one.first == one.second; })) {
    return column;
  }
  if (numbers.size() > kMostCases) return lookup;
  std::string cases;
  for (const auto& [from, to] : numbers) cases += fmt::format(" WHEN {} THEN {}", from, to);
  return fmt::format("CASE {}{} END", column, cases);
}

SourceMerge::SourceMerge(SQLite::Database& database, Origins given, Origins main, bool given_repeats,
                         Contradictions contradictions)
    : database_(database),
      given_(std::move(given)),
      main_(std::move(main)),
      repeat_(given_repeats ? "e.repeat" : "0"),
      contradictions_(contradictions) {}

SourceCounts SourceMerge::merge() {
  create_maps();
  merge_spaces();
  merge_workloads();
  merge_evaluators();
  merge_runs();
  merge_designs();
  merge_evaluations();
  merge_models_and_proposals();
  merge_gpu_measurements();
  merge_checkpoints();
  return counts_;
}

void SourceMerge::create_maps() {
  for (const char* map : {"map_spaces", "map_workloads", "map_evaluators", "map_runs", "map_models", "map_sessions",
                          "shared_designs", "shared_evaluations"}) {
    database_.exec(
        fmt::format("DROP TABLE IF EXISTS temp.{0}; CREATE TEMP TABLE {0} (old_id INTEGER PRIMARY KEY, "
                    "new_id INTEGER NOT NULL)",
                    map));
  }
  database_.exec(
      "DROP TABLE IF EXISTS temp.contradicting; CREATE TEMP TABLE contradicting (old_id INTEGER PRIMARY KEY)");
}

std::uint64_t SourceMerge::count(const std::string& sql) {
  return static_cast<std::uint64_t>(database_.execAndGet(sql).getInt64());
}

std::string SourceMerge::mapped(const std::string& column, const std::string& map) {
  SQLite::Statement query(database_, fmt::format("SELECT old_id, new_id FROM temp.{}", map));
  std::vector<std::pair<std::int64_t, std::int64_t>> numbers;
  while (query.executeStep()) numbers.emplace_back(query.getColumn(0).getInt64(), query.getColumn(1).getInt64());
  return mapping_sql(column, numbers, fmt::format("(SELECT new_id FROM temp.{} WHERE old_id = {})", map, column));
}

std::string SourceMerge::mapped_design(const std::string& column) const {
  const std::string moved = fmt::format("{} + {}", column, design_offset_);
  if (!shares_designs_) return moved;
  return fmt::format("ifnull((SELECT new_id FROM temp.shared_designs WHERE old_id = {}), {})", column, moved);
}

void SourceMerge::require_same_definitions(NamedRows rows, const std::string& remedy) {
  const bool of_spaces = rows == NamedRows::spaces;
  const char* table = of_spaces ? "spaces" : "workloads";
  SQLite::Statement query(
      database_, fmt::format("SELECT g.name, g.{1}, m.{1} FROM given.{0} g JOIN main.{0} m ON m.name = g.name WHERE "
                             "g.definition_hash NOT IN (SELECT definition_hash FROM main.{0}) ORDER BY 1",
                             table, of_spaces ? "space_id" : "workload_id"));
  if (query.executeStep()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: its {} '{}' has another definition in {} (rows of both would mix); nothing was "
                            "written. {}",
                            shown(given_.of(rows, query.getColumn(1).getInt64())),
                            of_spaces ? "design space" : "workload", printable(query.getColumn(0).getString()),
                            shown(main_.of(rows, query.getColumn(2).getInt64())), remedy));
  }
}

void SourceMerge::merge_spaces() {
  require_same_definitions(NamedRows::spaces,
                           "Give one of them another name: import its table again with --space FILE or from a file of "
                           "another name, sweep it under another name, or keep both logs");
  database_.exec(
      "INSERT INTO main.spaces (name, definition, definition_hash) SELECT name, definition, definition_hash "
      "FROM given.spaces g WHERE g.definition_hash NOT IN (SELECT definition_hash FROM main.spaces) ORDER BY space_id");
  database_.exec(
      "INSERT INTO temp.map_spaces SELECT g.space_id, m.space_id FROM given.spaces g JOIN main.spaces m "
      "ON m.definition_hash = g.definition_hash");
  merge_parameters();
}

void SourceMerge::merge_parameters() {
  std::vector<std::pair<std::int64_t, std::int64_t>> spaces;
  SQLite::Statement query(database_, "SELECT old_id, new_id FROM temp.map_spaces ORDER BY old_id");
  while (query.executeStep()) spaces.emplace_back(query.getColumn(0).getInt64(), query.getColumn(1).getInt64());
  query.reset();
  for (const auto& [from, to] : spaces) {
    const std::vector<std::string> here = parameter_names(database_, "given", from);
    const std::vector<std::string> there = parameter_names(database_, "main", to);
    if (here.empty() || here == there) continue;
    if (!there.empty()) {
      throw Error(
          ErrorKind::incompatible,
          fmt::format("{}: a design space of the same definition names other parameters than in {} (one of them "
                      "is damaged). Run `hindsight log verify` on both.",
                      shown(given_.of(NamedRows::spaces, from)), shown(main_.of(NamedRows::spaces, to))));
    }
    describe_parameters(database_, to, here);
  }
}

void SourceMerge::merge_workloads() {
  require_same_definitions(NamedRows::workloads, "Evaluate one of them under another name, or keep both logs");
  // Context version -1 is older than any: merge_contexts() then takes the given one.
  database_.exec(
      "INSERT INTO main.workloads (name, batch, definition, definition_hash, layers_json, context_version) "
      "SELECT name, batch, definition, definition_hash, layers_json, -1 FROM given.workloads "
      "WHERE definition_hash NOT IN (SELECT definition_hash FROM main.workloads) ORDER BY workload_id");
  database_.exec(
      "INSERT INTO temp.map_workloads SELECT g.workload_id, m.workload_id FROM given.workloads g "
      "JOIN main.workloads m ON m.definition_hash = g.definition_hash");
  merge_contexts();
}

/// The newer context features of a workload are those of both.
void SourceMerge::merge_contexts() {
  constexpr const char* kVersions =
      "temp.map_workloads p JOIN given.workloads g ON g.workload_id = p.old_id "
      "JOIN main.workloads m ON m.workload_id = p.new_id";
  const std::string here = "SELECT position, name, value FROM given.workload_context WHERE workload_id = p.old_id";
  const std::string there = "SELECT position, name, value FROM main.workload_context WHERE workload_id = p.new_id";
  SQLite::Statement differing(
      database_,
      fmt::format("SELECT g.name, p.old_id, p.new_id FROM {0} WHERE g.context_version = m.context_version AND "
                  "(EXISTS ({1} EXCEPT {2}) OR EXISTS ({2} EXCEPT {1})) LIMIT 1",
                  kVersions, here, there));
  if (differing.executeStep()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: its workload '{}' has other context features of the same version in {}. Keep both "
                            "logs; nothing was written.",
                            shown(given_.of(NamedRows::workloads, differing.getColumn(1).getInt64())),
                            printable(differing.getColumn(0).getString()),
                            shown(main_.of(NamedRows::workloads, differing.getColumn(2).getInt64()))));
  }
  database_.exec(
      fmt::format("CREATE TEMP TABLE newer AS SELECT p.old_id, p.new_id, g.context_version FROM {} "
                  "WHERE g.context_version > m.context_version;"
                  "DELETE FROM main.workload_context WHERE workload_id IN (SELECT new_id FROM temp.newer);"
                  "INSERT INTO main.workload_context SELECT n.new_id, c.position, c.name, c.value FROM temp.newer n "
                  "JOIN given.workload_context c ON c.workload_id = n.old_id;"
                  "UPDATE main.workloads SET context_version = (SELECT n.context_version FROM temp.newer n "
                  "WHERE n.new_id = workload_id) WHERE workload_id IN (SELECT new_id FROM temp.newer);"
                  "DROP TABLE temp.newer",
                  kVersions));
}

void SourceMerge::merge_evaluators() {
  database_.exec(
      "INSERT OR IGNORE INTO main.evaluators (name, definition_hash, definition) SELECT name, definition_hash, "
      "definition FROM given.evaluators ORDER BY evaluator_id");
  database_.exec(
      "INSERT INTO temp.map_evaluators SELECT g.evaluator_id, m.evaluator_id FROM given.evaluators g "
      "JOIN main.evaluators m ON m.name = g.name AND m.definition_hash = g.definition_hash");
}

/// A run is the same when its provenance is; one that went on since takes its end over.
void SourceMerge::merge_runs() {
  std::unordered_map<std::string, std::int64_t> known = runs_by_provenance(database_);
  SQLite::Statement insert(database_, fmt::format("INSERT INTO main.runs ({0}, {1}) SELECT {0}, {1} FROM given.runs "
                                                  "WHERE run_id = ?",
                                                  run_identity(), kRunOutcome));
  SQLite::Statement update(database_, fmt::format("UPDATE main.runs SET ({0}) = (SELECT {0} FROM given.runs WHERE "
                                                  "run_id = ?) WHERE run_id = ? AND status = 'running'",
                                                  kRunOutcome));
  SQLite::Statement map(database_, "INSERT INTO temp.map_runs VALUES (?, ?)");
  SQLite::Statement query(database_,
                          fmt::format("SELECT json_array({}), run_id FROM given.runs ORDER BY run_id", run_identity()));
  while (query.executeStep()) {
    const std::int64_t old_id = query.getColumn(1).getInt64();
    const auto [found, is_new] = known.try_emplace(query.getColumn(0).getString(), 0);
    SQLite::Statement& change = is_new ? insert : update;
    change.bind(1, old_id);
    if (!is_new) change.bind(2, found->second);
    change.exec();
    change.reset();
    if (is_new) found->second = database_.getLastInsertRowid();
    map.bind(1, old_id);
    map.bind(2, found->second);
    map.exec();
    map.reset();
  }
}

/// Proposals belong to their run: those of a run that main has none of are brought along.
void SourceMerge::merge_models_and_proposals() {
  const std::string columns = columns_of(database_, "models", {"model_id", "run_id", "space_id"});
  database_.exec(
      fmt::format("INSERT OR IGNORE INTO main.models (run_id, space_id, {0}) SELECT {1}, {2}, {0} "
                  "FROM given.models ORDER BY model_id",
                  columns, mapped("run_id", "map_runs"), mapped("space_id", "map_spaces")));
  database_.exec(
      "INSERT INTO temp.map_models SELECT g.model_id, m.model_id FROM given.models g JOIN main.models m "
      "ON m.file_sha256 = g.file_sha256");
  const std::string rest =
      columns_of(database_, "proposals", {"proposal_id", "run_id", "model_id", "design_id", "workload_id"});
  const std::string run = mapped("run_id", "map_runs");
  database_.exec(fmt::format(
      "INSERT INTO main.proposals (run_id, model_id, design_id, workload_id, {0}) "
      "SELECT {1}, {2}, {3}, {4}, {0} FROM given.proposals "
      "WHERE {1} NOT IN (SELECT run_id FROM main.proposals) ORDER BY proposal_id",
      rest, run, mapped("model_id", "map_models"), mapped_design("design_id"), mapped("workload_id", "map_workloads")));
}

void SourceMerge::merge_gpu_measurements() {
  const std::string sessions = columns_of(database_, "gpu_sessions", {"session_id", "run_id"});
  database_.exec(
      fmt::format("INSERT OR IGNORE INTO main.gpu_sessions (run_id, {0}) SELECT {1}, {0} "
                  "FROM given.gpu_sessions ORDER BY session_id",
                  sessions, mapped("run_id", "map_runs")));
  database_.exec(
      "INSERT INTO temp.map_sessions SELECT g.session_id, m.session_id FROM given.gpu_sessions g "
      "JOIN main.gpu_sessions m ON m.session_hash = g.session_hash");
  for (const auto& [table, id] : {std::pair{"gpu_gemms", "gemm_id"}, std::pair{"gpu_quantities", "quantity_id"}}) {
    database_.exec(
        fmt::format("INSERT OR IGNORE INTO main.{0} (session_id, {1}) SELECT {2}, {1} FROM given.{0} "
                    "ORDER BY {3}",
                    table, columns_of(database_, table, {id, "session_id"}), mapped("session_id", "map_sessions"), id));
  }
}

/// Of two positions of one job the later one holds: the rows of both are here now. Blocks tell of the given log's own
/// numbers.
void SourceMerge::merge_checkpoints() {
  database_.exec(
      fmt::format("INSERT INTO main.checkpoints SELECT key, value_json, updated_at FROM given.checkpoints WHERE {} "
                  "ON CONFLICT (key) DO UPDATE SET value_json = excluded.value_json, updated_at = excluded.updated_at "
                  "WHERE excluded.updated_at > updated_at",
                  kNoBlockSql));
}

}  // namespace hindsight::log

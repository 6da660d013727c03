/// Schema identification, creation and migration.
#include "log/schema.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/provenance.h"
#include "hindsight/log/log.h"
#include "log/connection.h"
#include "log/schema_gpu_sql.h"
#include "log/schema_sql.h"

namespace hindsight::log {
namespace {

/// Version 1.
const std::string& creation_sql() {
  static const std::string sql = std::string(kSchemaTablesSql) + kSchemaViewsSql;
  return sql;
}

/// Version of Hindsight that applied the newest migration, or "an unknown version".
std::string writer_version(SQLite::Database& database) {
  try {
    SQLite::Statement query(database,
                            "SELECT hindsight_version FROM schema_migrations ORDER BY schema_version DESC LIMIT 1");
    if (query.executeStep()) {
      return "Hindsight " + query.getColumn(0).getString();
    }
  } catch (const SQLite::Exception&) {
    // The table may look different in a newer schema; the message then does without the version.
  }
  return "a newer Hindsight";
}

/// "table" for every table and "table.column" for every column, as SQLite understood the file: a view or a virtual
/// table of that name is none.
std::set<std::string> tables_and_columns(SQLite::Database& database) {
  std::set<std::string> names;
  SQLite::Statement query(database,
                          "SELECT l.name, p.name FROM pragma_table_list l, pragma_table_xinfo(l.name) p WHERE "
                          "l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite!_%' ESCAPE '!'");
  while (query.executeStep()) {
    const std::string table = query.getColumn(0).getString();
    names.insert(table);
    names.insert(table + "." + query.getColumn(1).getString());
  }
  return names;
}

/// Those of a log of this version; made once, because making them takes longer than opening a log.
const std::set<std::string>& expected_tables_and_columns(int version) {
  static std::mutex mutex;
  static std::map<int, std::set<std::string>> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(version); found != known.end()) return found->second;
  SQLite::Database reference(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  for (const Migration& step : migrations()) {
    if (step.to_version <= version) reference.exec(step.sql);
  }
  return known.emplace(version, tables_and_columns(reference)).first->second;
}

/// The schema as it stands in the file. What SQLite understands depends on nothing else.
std::string schema_text(SQLite::Database& database) {
  std::string text;
  SQLite::Statement query(database, "SELECT json_array(type, name, tbl_name, rootpage = 0, sql) FROM sqlite_master");
  while (query.executeStep()) text += query.getColumn(0).getString() + '\n';
  return text;
}

/// Schemas that were found to have every table and column of their version: logs that are read together mostly have
/// one and the same.
class SoundSchemas {
 public:
  [[nodiscard]] bool contains(const std::string& schema) {
    const std::lock_guard lock(mutex_);
    return schemas_.contains(schema);
  }
  void insert(std::string schema) {
    constexpr std::size_t kMost = 16;  // [chosen] kinds of logs of one command
    const std::lock_guard lock(mutex_);
    if (schemas_.size() < kMost) schemas_.insert(std::move(schema));
  }

 private:
  std::mutex mutex_;
  std::set<std::string> schemas_;
};

}  // namespace

std::span<const Migration> migrations() {
  static const std::array<Migration, 3> steps = {
      {{.to_version = 1, .sql = creation_sql().c_str()},
       {.to_version = 2, .sql = kGpuTablesSql},
       {.to_version = 3, .sql = kRepeatsSql, .read_sql = kReadWithoutRepeatsSql}}};
  static_assert(kSchemaVersion == 3, "a new schema version needs its migration here");
  return steps;
}

Identity identify(SQLite::Database& database) {
  Identity identity;
  identity.application_id = database.execAndGet("PRAGMA application_id").getInt();
  identity.schema_version = database.execAndGet("PRAGMA user_version").getInt();
  if (identity.application_id != kApplicationId) {
    identity.objects = database.execAndGet("SELECT count(*) FROM sqlite_master").getInt64();
  }
  return identity;
}

void require_log_or_blank(SQLite::Database& database, const std::filesystem::path& file, int newest_version) {
  const Identity identity = identify(database);
  if (identity.blank()) {
    return;
  }
  if (identity.application_id != kApplicationId) {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: not a Hindsight log (a SQLite file of another program, application_id 0x{:08x}, "
                            "{} tables and indexes). Name another file; this one is unchanged.",
                            shown(file), static_cast<std::uint32_t>(identity.application_id), identity.objects));
  }
  if (identity.schema_version > newest_version) {
    throw Error(
        ErrorKind::incompatible,
        fmt::format("{}: schema version {}, written by {} (this is Hindsight {}, which reads schema versions up "
                    "to {}). Use that version or a newer one; the file is unchanged.",
                    shown(file), identity.schema_version, writer_version(database), build_info().version,
                    newest_version));
  }
  if (identity.schema_version < 1) {
    throw Error(ErrorKind::incompatible, fmt::format("{}: damaged log: schema version {} does not exist. {}",
                                                     shown(file), identity.schema_version, rescue_remedy(file)));
  }
}

void migrate(SQLite::Database& database, const std::filesystem::path& file, std::span<const Migration> steps) {
  const int newest = steps.back().to_version;
  if (identify(database).schema_version >= newest) {
    require_log_or_blank(database, file, newest);
    return;
  }
  // SQLite's recipe for table rebuilds: enforcement is off while the steps run, everything is checked before the
  // commit.
  database.exec("PRAGMA foreign_keys = OFF");
  {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    // Another process may have migrated while this one waited for the lock.
    require_log_or_blank(database, file, newest);
    const int from = identify(database).schema_version;
    for (const Migration& step : steps) {
      if (step.to_version <= from) {
        continue;
      }
      database.exec(step.sql);
      SQLite::Statement note(database, "INSERT INTO schema_migrations VALUES (?, ?, ?)");
      note.bind(1, step.to_version);
      note.bind(2, utc_now());
      note.bind(3, build_info().version);
      note.exec();
    }
    SQLite::Statement broken(database, "PRAGMA foreign_key_check");
    if (broken.executeStep()) {
      throw Error(ErrorKind::incompatible,
                  fmt::format("{}: the migration from schema version {} to {} found a broken reference in table {}; "
                              "nothing was changed. {}",
                              shown(file), from, newest, broken.getColumn(0).getString(), rescue_remedy(file)));
    }
    database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, newest));
    transaction.commit();
  }
  database.exec("PRAGMA foreign_keys = ON");
}

bool read_as_newest(SQLite::Database& database, int version) {
  const auto older = [&](const Migration& step) { return step.to_version > version; };
  const auto readable = [](const Migration& step) { return step.read_sql != nullptr; };
  std::vector<Migration> missing;
  std::copy_if(migrations().begin(), migrations().end(), std::back_inserter(missing), older);
  if (!std::all_of(missing.begin(), missing.end(), readable)) return false;
  for (const Migration& step : missing) database.exec(step.read_sql);
  return true;
}

void require_expected_columns(SQLite::Database& database, const std::filesystem::path& file) {
  static SoundSchemas sound;
  const int version = identify(database).schema_version;
  std::string schema = fmt::format("{}\n{}", version, schema_text(database));
  if (sound.contains(schema)) return;
  const std::set<std::string> present = tables_and_columns(database);
  for (const std::string& name : expected_tables_and_columns(version)) {
    if (!present.contains(name)) {
      throw Error(ErrorKind::incompatible,
                  fmt::format("{}: damaged log: '{}' is missing. {}", shown(file), name, rescue_remedy(file)));
    }
  }
  sound.insert(std::move(schema));
}

const std::vector<std::string>& table_names() {
  static const std::vector<std::string> names = {
      "runs",       "spaces",        "space_parameters", "workloads",          "workload_context",
      "evaluators", "designs",       "evaluations",      "evaluation_metrics", "evaluation_violations",
      "models",     "proposals",     "checkpoints",      "schema_migrations",  "gpu_sessions",
      "gpu_gemms",  "gpu_quantities"};
  return names;
}

}  // namespace hindsight::log

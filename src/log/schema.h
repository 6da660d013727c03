/// The schema of the log and the migrations that lead to it. Private to the log layer.
#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace hindsight::log {

/// One step of the schema's history: the SQL that turns `to_version - 1` into `to_version`.
struct Migration {
  int to_version;
  const char* sql;
  const char* read_sql = nullptr;  ///< temporary views that make the older log readable as it is, where that is enough
};

/// All steps, ascending, without gaps, ending at kSchemaVersion.
[[nodiscard]] std::span<const Migration> migrations();

/// What a database file says about itself.
struct Identity {
  std::int32_t application_id = 0;
  int schema_version = 0;
  std::int64_t objects = 0;  ///< tables, indexes, views, triggers; of a log not counted: that reads the whole schema
  /// A database in which nothing was ever created.
  [[nodiscard]] bool blank() const { return application_id == 0 && schema_version == 0 && objects == 0; }
};
[[nodiscard]] Identity identify(SQLite::Database& database);

/// Refuses what is neither blank nor a log of a schema up to `newest_version`.
/// Errors: Error{incompatible} naming the file.
void require_log_or_blank(SQLite::Database& database, const std::filesystem::path& file, int newest_version);

/// Brings a blank database or an older log to the last step, in one transaction: all steps or none. Processes that
/// open the file at once wait for each other; the later ones find the work done.
/// Errors: Error{incompatible} when the file is refused, or a step leaves broken references.
void migrate(SQLite::Database& database, const std::filesystem::path& file, std::span<const Migration> steps);

/// Lets this connection read an older log as one of the newest version: the file does not change. False when that
/// version can only be migrated.
[[nodiscard]] bool read_as_newest(SQLite::Database& database, int version);

/// Refuses a log that lacks a table or column of its schema version. Errors: Error{incompatible} naming the missing
/// part.
void require_expected_columns(SQLite::Database& database, const std::filesystem::path& file);

/// Names of the tables of the schema, in order of creation.
[[nodiscard]] const std::vector<std::string>& table_names();

}  // namespace hindsight::log

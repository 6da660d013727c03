/// The schema of a log on a server: is it there, is it ours, of which version.
#include "log/server_log.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "hindsight/core/error.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "hindsight/log/durability.h"
#include "log/connection.h"
#include "log/schema.h"
#include "log/schema_server_sql.h"

namespace hindsight::log {
namespace {

/// [spec: postgresql] GENERATED ALWAYS AS IDENTITY, pg_snapshot and ON CONFLICT are in every release from here on.
constexpr int kOldestServer = 130000;
/// [chosen] How long a command waits for a server that does not answer, unless HINDSIGHT_SERVER_PATIENCE_S says.
constexpr std::chrono::seconds kPatience{20};

/// What brings a server's schema to a version. The first server logs had the version of a file's third.
struct ServerMigration {
  int to_version;
  std::array<const char*, 4> sql;
};
constexpr std::array<ServerMigration, 1> kServerMigrations = {
    {{.to_version = 3, .sql = {kServerTablesSql, kServerGpuSql, kServerViewsSql, kServerTasksSql}}}};
static_assert(kServerMigrations.back().to_version == kSchemaVersion, "a new schema version needs its migration here");

std::chrono::milliseconds patience_of(std::chrono::milliseconds asked) {
  constexpr std::int64_t kMost_s = 1'000'000;  // [chosen] twelve days; counted in milliseconds it stays a number
  const char* text = std::getenv("HINDSIGHT_SERVER_PATIENCE_S");
  if (text == nullptr || *text == '\0') return std::min<std::chrono::milliseconds>(asked, kPatience);
  const auto seconds = parse_int(text);
  if (!seconds || *seconds < 0 || *seconds > kMost_s) {
    throw Error(ErrorKind::usage,
                fmt::format("HINDSIGHT_SERVER_PATIENCE_S is '{}': expected whole seconds from 0 to {}. "
                            "Correct it or unset it",
                            printable(text, 100), kMost_s));
  }
  return std::chrono::seconds(*seconds);
}

/// 0: no log there.
int schema_version(ServerConnection& server) {
  // to_regclass() follows the search path, as the statements do.
  const ServerRows found = server.run("SELECT to_regclass('schema_migrations') IS NOT NULL, current_schema()");
  if (found.integer(0, 0) == 0) return 0;
  const ServerRows rows = server.run("SELECT coalesce(max(schema_version), 0) FROM schema_migrations");
  return static_cast<int>(rows.integer(0, 0));
}

void require_known_version(ServerConnection& server, int version, const std::filesystem::path& address) {
  if (version <= kSchemaVersion) return;
  const ServerRows writer =
      server.run("SELECT hindsight_version FROM schema_migrations ORDER BY schema_version DESC LIMIT 1");
  throw Error(ErrorKind::incompatible,
              fmt::format("{}: schema version {}, written by Hindsight {} (this is Hindsight {}, which reads schema "
                          "versions up to {}). Use that version or a newer one; the log is unchanged.",
                          shown(address), version, printable(writer.text(0, 0)), build_info().version, kSchemaVersion));
}

/// A table of a name that a log needs, of somebody else.
void require_free_names(ServerConnection& server, const std::filesystem::path& address) {
  const ServerRows schema = server.run("SELECT current_schema()");
  if (schema.is_null(0, 0)) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: the database has no schema to make tables in. Make one: CREATE SCHEMA, and name it "
                            "with ?options=-csearch_path%3DNAME.",
                            shown(address)));
  }
  for (const std::string& table : table_names()) {
    const ServerRows found = server.run("SELECT to_regclass($1) IS NOT NULL", {server_value(table)});
    if (found.integer(0, 0) == 0) continue;
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: the schema '{}' has a table '{}' that is not of a Hindsight log. Use another database "
                            "or schema (?options=-csearch_path%3DNAME); nothing was changed.",
                            shown(address), printable(schema.text(0, 0)), table));
  }
}

void migrate_server(ServerConnection& server, const std::filesystem::path& address) {
  server.exec("BEGIN");
  try {
    // Two processes that create it at once: the second waits, and finds it.
    server.exec(fmt::format("SELECT pg_advisory_xact_lock({})", kApplicationId));
    const int from = schema_version(server);
    require_known_version(server, from, address);
    if (from == 0) require_free_names(server, address);
    for (const ServerMigration& step : kServerMigrations) {
      if (step.to_version <= from) continue;
      for (const char* sql : step.sql) server.exec(sql);
      static_cast<void>(server.run(
          "INSERT INTO schema_migrations VALUES ($1, $2, $3)",
          {server_value(std::int64_t{step.to_version}), server_value(utc_now()), server_value(build_info().version)}));
    }
    server.exec("COMMIT");
  } catch (...) {
    try {
      server.exec("ROLLBACK");
    } catch (const ServerError&) {
      // The connection is gone, and the transaction with it.
    }
    throw;
  }
}

void require_utf8(ServerConnection& server, const std::filesystem::path& address) {
  const std::string encoding = server.run("SELECT current_setting('server_encoding')").text(0, 0);
  if (encoding == "UTF8") return;
  throw Error(ErrorKind::usage,
              fmt::format("{}: the database's encoding is {}, and texts of a log are UTF-8. Create it "
                          "with: createdb --encoding UTF8 --template template0 NAME.",
                          shown(address), encoding));
}

/// Looks at what is there, and makes or migrates the schema.
void prepare(ServerConnection& server, const std::filesystem::path& address, OpenMode mode) {
  const int version = schema_version(server);
  require_known_version(server, version, address);
  if (version == kSchemaVersion) return;
  if (version == 0 && mode != OpenMode::read_write_create) {
    throw Error(ErrorKind::usage, fmt::format("{}: no log in this database yet. Check the address, or create one with "
                                              "`hindsight sweep` or `hindsight log copy`.",
                                              shown(address)));
  }
  if (mode == OpenMode::read_only) {
    throw Error(
        ErrorKind::incompatible,
        fmt::format("{}: schema version {} is older than {} and must be migrated, but this command only reads. A "
                    "command that writes to it does that: run its sweep again.",
                    shown(address), version, kSchemaVersion));
  }
  require_utf8(server, address);
  migrate_server(server, address);
}

}  // namespace

std::unique_ptr<ServerConnection> open_server(const std::filesystem::path& address, OpenMode mode,
                                              std::chrono::milliseconds patience) {
  constexpr int kMostAttempts = 5;  // [chosen] a server that goes away while it is looked at comes back, or does not
  try {
    auto server = std::make_unique<ServerConnection>(address, patience_of(patience));
    if (server->version() < kOldestServer) {
      throw Error(ErrorKind::incompatible,
                  fmt::format("{}: PostgreSQL {} is too old, {} and later serve a log. Update the server.",
                              shown(address), server->version() / 10000, kOldestServer / 10000));
    }
    for (int attempt = 1;; ++attempt) {
      try {
        prepare(*server, address, mode);
        server->configure({fmt::format("SET lock_timeout = {}", patience.count()),
                           mode == OpenMode::read_only ? "SET default_transaction_read_only = on"
                                                       : "SET default_transaction_read_only = off",
                           durability() == Durability::full ? "SET synchronous_commit = on" : "SET datestyle = ISO"});
        return server;
      } catch (const ServerError& error) {
        if (!error.is_lost() || attempt == kMostAttempts) throw;
        server->reconnect();
      }
    }
  } catch (const ServerError& error) {
    throw_translated(error, address, kOpening);
  }
}

}  // namespace hindsight::log

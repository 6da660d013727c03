/// State of an open log. Private to the log layer.
#pragma once

#include <SQLiteCpp/Transaction.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hindsight/log/log.h"
#include "log/blocks.h"
#include "log/connection.h"

namespace hindsight::log {

/// Prepared statements of append(), kept for the life of the connection.
struct AppendStatements {
  explicit AppendStatements(SQLite::Database& database);
  SQLite::Statement insert_design;
  SQLite::Statement find_design;
  SQLite::Statement insert_evaluation;
  SQLite::Statement find_evaluation;
  SQLite::Statement find_metrics;
  SQLite::Statement find_violations;
  SQLite::Statement insert_metric;
  SQLite::Statement insert_violation;
  SQLite::Statement put_checkpoint;
  SQLite::Statement count_run;
};

struct Log::Impl {
  Impl(std::filesystem::path path_, OpenMode mode_, Connection connection);

  /// Runs `body` and translates SQLite's exceptions into messages about this file.
  template <class Body>
  decltype(auto) guarded(std::string_view doing, Body&& body) {
    return translating(database.getHandle(), path, doing, std::forward<Body>(body));
  }
  /// Error{usage} when the log was opened read-only.
  void require_writable() const;
  /// Blocks of the evaluations, as they are now.
  [[nodiscard]] const StoredBlocks& stored_blocks();
  /// True when the table has a row of that id; positive answers are remembered.
  bool has_row(std::string_view table, std::string_view id_column, std::int64_t id,
               std::unordered_set<std::int64_t>& known);

  std::filesystem::path path;
  OpenMode mode;
  SQLite::Database database;
  std::vector<std::string> warnings;
  std::unique_ptr<AppendStatements> append_statements;
  bool in_transaction = false;  ///< a log::Transaction holds what is written
  std::unordered_set<std::int64_t> known_runs, known_workloads, known_evaluators, known_spaces;
  BlockKeeper block_keeper;     ///< of what is appended
  StoredBlocks stored_blocks_;  ///< as far as they were read; see stored_blocks()
  /// Parameter names of the spaces that have designs.
  std::unordered_map<std::int64_t, std::vector<std::string>> parameter_names;
};

/// A transaction of one operation; part of the log::Transaction where there is one.
class WriteTransaction {
 public:
  explicit WriteTransaction(Log::Impl& log);
  void commit();

 private:
  std::optional<SQLite::Transaction> own_;
};

/// Stores that a run has begun, and gives its number. Kinds besides those of RunKind: "repair" (repair.h) and "lost".
std::int64_t insert_run(SQLite::Database& database, const std::string& kind, const Provenance& provenance,
                        const std::string& options_json);

/// Creates the view of a space's designs with one column per parameter and stores the parameters' names. Runs inside
/// the caller's transaction.
void describe_parameters(SQLite::Database& database, std::int64_t space_id, const std::vector<std::string>& names);

}  // namespace hindsight::log

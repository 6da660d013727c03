/// State of an open log. Private to the log layer.
#pragma once

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
#include "log/database.h"
#include "log/kept_rows.h"
#include "log/server.h"

namespace hindsight::log {

/// Prepared statements of append(), kept for the life of the connection.
struct AppendStatements {
  explicit AppendStatements(Database database);
  Statement insert_design;
  Statement find_design;
  Statement insert_evaluation;
  Statement find_evaluation;
  Statement find_metrics;
  Statement find_violations;
  Statement insert_metric;
  Statement insert_violation;
  Statement put_checkpoint;
  Statement count_run;
};

struct Log::Impl {
  Impl(std::filesystem::path path_, OpenMode mode_, Connection connection);
  Impl(std::filesystem::path path_, OpenMode mode_, std::unique_ptr<ServerConnection> connection);
  ~Impl();

  /// Runs `body` and translates the store's exceptions into messages about this log.
  template <class Body>
  decltype(auto) guarded(std::string_view doing, Body&& body) {
    if (!server) {
      const Commits commits = in_transaction ? Commits::as_a_whole : Commits::in_batches;
      return translating(file->getHandle(), path, doing, std::forward<Body>(body), commits);
    }
    try {
      return std::forward<Body>(body)();
    } catch (const ServerError& error) {
      throw_translated(error, path, doing);
    }
  }
  /// Runs `body`, which writes, again where a server lost the connection or took the transaction back for another's.
  /// What is not the same when done twice (Repeatable::no) is not done again where the server may have committed it.
  enum class Repeatable { yes, no };
  template <class Body>
  decltype(auto) repeated(Repeatable repeatable, Body&& body) {
    for (int attempt = 0;; ++attempt) {
      try {
        return body();
      } catch (const ServerError& error) {
        if (!may_repeat(error, attempt, repeatable)) throw;
      }
    }
  }
  /// Reconnects where that is needed. Errors: ServerError, when the server does not come back.
  bool may_repeat(const ServerError& error, int attempt, Repeatable repeatable);
  /// Both: what writes to the log and is the same when done twice.
  template <class Body>
  decltype(auto) writing(std::string_view doing, Body&& body, Repeatable repeatable = Repeatable::yes) {
    return guarded(doing, [&]() -> decltype(auto) { return repeated(repeatable, body); });
  }

  /// Error{usage} when the log was opened read-only.
  void require_writable() const;
  /// Blocks of the evaluations, as they are now.
  [[nodiscard]] const StoredBlocks& stored_blocks();
  /// True when the table has a row of that id; positive answers are remembered.
  bool has_row(std::string_view table, std::string_view id_column, std::int64_t id,
               std::unordered_set<std::int64_t>& known);

  /// After a transaction that was taken back: what was looked up may be gone.
  void forget_what_is_known();

  std::filesystem::path path;
  OpenMode mode;
  std::optional<SQLite::Database> file;      ///< one of the two is there
  std::unique_ptr<ServerConnection> server;  ///< so is this, for a log on a server
  Database database;
  Registered registered;  ///< at a server
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
  ~WriteTransaction();
  WriteTransaction(const WriteTransaction&) = delete;
  WriteTransaction& operator=(const WriteTransaction&) = delete;

  void commit();

 private:
  Database database_;
  bool open_ = false;
};

/// Stores that a run has begun, and gives its number. Kinds besides those of RunKind: "repair" (repair.h) and "lost".
std::int64_t insert_run(Database database, const std::string& kind, const Provenance& provenance,
                        const std::string& options_json);

/// Creates the view of a space's designs with one column per parameter and stores the parameters' names. Runs inside
/// the caller's transaction.
void describe_parameters(Database database, std::int64_t space_id, const std::vector<std::string>& names);

}  // namespace hindsight::log

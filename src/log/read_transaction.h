/// One state of a log while several things are read. Private to the log layer.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Transaction.h>
#include <sqlite3.h>

#include <optional>

namespace hindsight::log {

/// Begins a transaction that reads, unless the connection is in one.
class ReadTransaction {
 public:
  explicit ReadTransaction(SQLite::Database& database) {
    if (sqlite3_get_autocommit(database.getHandle()) != 0) transaction_.emplace(database);
  }

 private:
  std::optional<SQLite::Transaction> transaction_;
};

}  // namespace hindsight::log

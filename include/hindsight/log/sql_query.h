/// SQL that only reads, asked of a log by a person.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "hindsight/log/log.h"

namespace hindsight::log {

/// A value of a row: NULL, INTEGER, REAL, TEXT (as stored), or a BLOB as SQL writes it (X'00ff').
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

/// One statement and its rows. While it lives, nothing else may use the log.
///
/// Three walls stand before a file: the log is opened for reading, SQLite's authorizer refuses every statement but
/// SELECT and the PRAGMAs that only tell, and a statement must say of itself that it changes nothing.
/// On a server the statement is a cursor's in a transaction that reads, with the rights of the role that asks.
class SqlQuery {
 public:
  /// `log`: opened with OpenMode::read_only. Errors: Error{usage} for SQL that SQLite does not understand, that is not
  /// one statement, or that would write, attach a file or change a setting.
  SqlQuery(const Log& log, const std::string& sql);
  ~SqlQuery();
  SqlQuery(const SqlQuery&) = delete;
  SqlQuery& operator=(const SqlQuery&) = delete;

  [[nodiscard]] const std::vector<std::string>& columns() const;
  /// Reads the next row into `row` (one value per column); false at the end. Errors: Error{usage} for what SQLite finds
  /// only when it computes; Error{incompatible} for a damaged log; Error{interrupted} after Ctrl-C.
  [[nodiscard]] bool next(std::vector<SqlValue>& row);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace hindsight::log

/// One interface to the two stores of a log: a SQLite file, and a PostgreSQL server. Private to the log layer.
///
/// SQL is written once where both understand it: `?` or `?1` for parameters, ON CONFLICT, FILTER, standard functions.
/// What only one of them has stands in dialect.h. Code that is about files alone asks for file().
#pragma once

#include <SQLiteCpp/Database.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace hindsight::log {

class ServerConnection;
class ServerStatement;

/// The store of an open log: a handle, copied freely. What it was made from outlives it.
class Database {
 public:
  Database(SQLite::Database& file) : file_(&file) {}  // NOLINT(google-explicit-constructor): code about files hands on
  explicit Database(ServerConnection& server) : server_(&server) {}

  [[nodiscard]] bool on_server() const { return server_ != nullptr; }
  /// That of a log in a file; a contract violation for one on a server.
  [[nodiscard]] SQLite::Database& file() const;
  [[nodiscard]] ServerConnection& server() const;

  /// Runs statements without parameters, one or several; the number of rows that the last one changed.
  std::int64_t exec(const std::string& sql) const;
  /// The first column of the first row.
  [[nodiscard]] std::int64_t integer_of(const std::string& sql) const;
  /// Number that the last row inserted by this connection was given.
  [[nodiscard]] std::int64_t last_row() const;

 private:
  SQLite::Database* file_ = nullptr;
  ServerConnection* server_ = nullptr;
};

/// A value of the row at hand; valid until the statement goes on.
class RowValue {
 public:
  RowValue(sqlite3_stmt* row, int column) : file_row_(row), column_(column) {}
  RowValue(const ServerStatement& row, int column) : server_row_(&row), column_(column) {}

  [[nodiscard]] bool is_null() const;
  /// 0 for NULL; a truth value is 0 or 1.
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] double number() const;
  /// "" for NULL; a number as decimal text.
  [[nodiscard]] std::string text() const;
  /// The bytes of a text column, without a copy.
  [[nodiscard]] std::string_view view() const;

 private:
  sqlite3_stmt* file_row_ = nullptr;
  const ServerStatement* server_row_ = nullptr;
  int column_;
};

/// A prepared statement. Parameters are numbered from 1 and keep their values over reset(); unbound ones are NULL.
class Statement {
 public:
  Statement(Database database, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(int index);  ///< NULL
  void bind(int index, std::int64_t value);
  void bind(int index, int value) { bind(index, std::int64_t{value}); }
  void bind(int index, double value);
  void bind(int index, const std::string& value);
  /// The text outlives the execution.
  void bind_view(int index, const std::string& value);
  void clear_bindings();

  /// Goes to the first or next row; false at the end.
  bool step();
  /// Runs what gives no rows; the number of rows that it changed.
  std::int64_t exec();
  /// Ready to run again.
  void reset() noexcept;
  [[nodiscard]] RowValue column(int index) const;

 private:
  [[noreturn]] void fail(int code) const;
  void require(int code) const {
    if (code != 0) fail(code);
  }

  sqlite3* file_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;  ///< of file_
  std::unique_ptr<ServerStatement> server_;
};

/// Resets a statement when the scope ends, whatever ends it.
template <class Resettable>
class ResetAtEnd {
 public:
  explicit ResetAtEnd(Resettable& statement) : statement_(statement) {}
  ~ResetAtEnd() {
    if constexpr (requires { statement_.tryReset(); }) {
      statement_.tryReset();
    } else {
      statement_.reset();
    }
  }
  ResetAtEnd(const ResetAtEnd&) = delete;
  ResetAtEnd& operator=(const ResetAtEnd&) = delete;

 private:
  Resettable& statement_;
};

}  // namespace hindsight::log

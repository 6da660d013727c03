/// A connection to a PostgreSQL server, through libpq. Private to the log layer.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

struct pg_conn;
struct pg_result;

namespace hindsight::log {

/// What a server said, or that it does not answer.
class ServerError : public std::runtime_error {
 public:
  ServerError(std::string sqlstate, const std::string& message, bool is_lost)
      : std::runtime_error(message), sqlstate_(std::move(sqlstate)), is_lost_(is_lost) {}
  /// Five characters of SQL's standard; "" where the connection failed.
  [[nodiscard]] const std::string& sqlstate() const { return sqlstate_; }
  /// The connection is gone: whether the last statement took effect is not known.
  [[nodiscard]] bool is_lost() const { return is_lost_; }
  /// Another transaction was in the way and this one was taken back: it may be tried again.
  [[nodiscard]] bool is_conflict() const { return sqlstate_ == "40001" || sqlstate_ == "40P01"; }

 private:
  std::string sqlstate_;
  bool is_lost_;
};

/// A parameter or NULL: as text, or in the server's binary form.
struct ServerParameter {
  std::optional<std::string> bytes = {};
  bool is_binary = false;
};

/// Rows that a server sent, in binary form.
class ServerRows {
 public:
  ServerRows() = default;
  explicit ServerRows(pg_result* result);
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] int columns() const;
  [[nodiscard]] std::string name(int column) const;
  /// Rows that the statement changed or gave.
  [[nodiscard]] std::int64_t affected() const;
  [[nodiscard]] bool is_null(std::int64_t row, int column) const;
  /// A contract violation for a column whose type has no such value.
  [[nodiscard]] std::int64_t integer(std::int64_t row, int column) const;
  [[nodiscard]] double number(std::int64_t row, int column) const;
  [[nodiscard]] std::string_view view(std::int64_t row, int column) const;
  [[nodiscard]] std::string text(std::int64_t row, int column) const;
  /// As they came.
  [[nodiscard]] std::string_view bytes(std::int64_t row, int column) const;
  /// Whether the column holds whole numbers or truth values; or numbers of binary digits.
  [[nodiscard]] bool is_integer(int column) const;
  [[nodiscard]] bool is_number(int column) const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
};

class ServerConnection {
 public:
  /// Connects, trying again with growing pauses until `patience` is over. Errors: ServerError.
  ServerConnection(const std::filesystem::path& address, std::chrono::milliseconds patience);
  ~ServerConnection();
  ServerConnection(const ServerConnection&) = delete;
  ServerConnection& operator=(const ServerConnection&) = delete;

  /// Runs one statement. `name`: of a prepared one, empty for none; prepared at its first use.
  ServerRows run(const std::string& sql, const std::vector<ServerParameter>& parameters = {},
                 const std::string& name = {});
  /// Runs one statement without parameters whose values, of any type, come as text: see ServerRows::bytes().
  ServerRows run_as_text(const std::string& sql);
  /// Runs statements without parameters; rows that the last one changed.
  std::int64_t exec(const std::string& sql);

  [[nodiscard]] bool in_transaction() const;
  /// Whether rows are read through cursors: inside a ReadTransaction.
  bool reads_by_cursor = false;
  /// Whether Ctrl-C ends the statement that runs.
  bool is_interruptible = false;

  /// Settings of this connection, and of those that take its place.
  void configure(std::vector<std::string> settings);

  /// A new connection with the same settings, in place of one that was lost. Prepared statements are made again.
  void reconnect();
  /// How often reconnect() was called: what a connection held before is gone.
  [[nodiscard]] int generation() const { return generation_; }
  /// A COMMIT was sent and not answered.
  [[nodiscard]] bool is_committing() const { return is_committing_; }
  /// A name for a cursor or prepared statement that this connection has not used.
  [[nodiscard]] std::string new_name() { return "hindsight_" + std::to_string(++names_); }
  /// Version of the server, e.g. 150014.
  [[nodiscard]] int version() const;

 private:
  void connect();
  [[noreturn]] void fail(const pg_result* result) const;
  pg_result* finish();
  pg_result* check(pg_result* result) const;

  std::string address_;
  std::chrono::milliseconds patience_;
  pg_conn* connection_ = nullptr;
  int generation_ = 0;
  bool is_committing_ = false;
  std::int64_t names_ = 0;
  std::vector<std::string> prepared_, settings_;
};

/// The shortest decimal that reads back as the same number.
[[nodiscard]] std::string server_text(double value);

/// An array in the server's binary form.
[[nodiscard]] ServerParameter server_array(const std::vector<std::int64_t>& values);
/// NaN = NULL.
[[nodiscard]] ServerParameter server_array(const std::vector<double>& values);
/// An empty text is NULL where `empty_is_null`.
[[nodiscard]] ServerParameter server_array(const std::vector<std::string_view>& values, bool empty_is_null = false);
[[nodiscard]] inline ServerParameter server_value(std::int64_t value) { return {.bytes = std::to_string(value)}; }
[[nodiscard]] inline ServerParameter server_value(const std::string& value) { return {.bytes = value}; }

/// What is done when a log is opened, in messages.
inline constexpr std::string_view kOpening = "opening it";
/// Throws the Error that `error` means for a user of this log. `doing` completes "failed while ...".
[[noreturn]] void throw_translated(const ServerError& error, const std::filesystem::path& address,
                                   std::string_view doing);

/// SQL with the server's parameters: $1 for ?1, and numbered ones for `?`. Texts and comments stay as they are.
[[nodiscard]] std::string server_sql(std::string_view sql);

}  // namespace hindsight::log

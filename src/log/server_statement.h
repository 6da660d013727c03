/// A prepared statement on a PostgreSQL server. Private to the log layer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "log/server.h"

namespace hindsight::log {

/// Inside a ReadTransaction a SELECT is read through a cursor, some thousand rows at a time; elsewhere all rows at
/// once.
class ServerStatement {
 public:
  ServerStatement(ServerConnection& server, const std::string& sql);
  ~ServerStatement();
  ServerStatement(const ServerStatement&) = delete;
  ServerStatement& operator=(const ServerStatement&) = delete;

  void bind(int index, std::optional<std::string> value);
  void clear_bindings();
  bool step();
  std::int64_t exec();
  void reset() noexcept;

  [[nodiscard]] bool is_null(int column) const { return rows_.is_null(row_, column); }
  [[nodiscard]] std::int64_t integer(int column) const { return rows_.integer(row_, column); }
  [[nodiscard]] double number(int column) const { return rows_.number(row_, column); }
  [[nodiscard]] std::string text(int column) const { return rows_.text(row_, column); }
  [[nodiscard]] std::string_view view(int column) const { return rows_.view(row_, column); }

 private:
  void begin();
  void fetch();
  void close_cursor() noexcept;

  ServerConnection& server_;
  std::string sql_;
  std::vector<ServerParameter> parameters_;
  bool is_select_;
  std::string prepared_;  ///< "" until it has run once
  int runs_ = 0;
  std::string cursor_;  ///< "" where none is open
  int cursor_generation_ = 0;
  std::int64_t fetched_at_once_ = 0;
  bool begun_ = false;
  ServerRows rows_;
  std::int64_t row_ = -1;
};

}  // namespace hindsight::log

/// Addresses of logs: a file, or a database of a PostgreSQL server.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hindsight::log {

/// True for postgresql://... and postgres://...: a log on a server. Everything else is a file.
[[nodiscard]] bool is_server_address(std::string_view log);
[[nodiscard]] inline bool is_server_address(const std::string& log) { return is_server_address(std::string_view(log)); }
[[nodiscard]] inline bool is_server_address(const std::filesystem::path& log) {
  return is_server_address(std::string_view(log.native()));
}

/// Whether there is a log of this name: a file, or a log on a server that can be reached and has one. Errors: those of
/// reaching a server.
[[nodiscard]] bool is_log_there(const std::filesystem::path& log);

/// Refuses an address of a server for what works on files alone. Error{usage}: `what` says what, `instead` what to do.
void require_file(const std::filesystem::path& log, std::string_view what, std::string_view instead);

/// True where the address has a password in it, which others see in the list of processes: libpq reads ~/.pgpass,
/// PGPASSFILE or a service file instead.
[[nodiscard]] bool has_password(std::string_view address);

/// Every server address in a text with its password replaced by ***; all else as it is.
[[nodiscard]] std::string without_passwords(std::string_view text);

}  // namespace hindsight::log

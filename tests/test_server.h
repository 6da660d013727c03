/// A PostgreSQL server of the tests' own: in a private folder, on a Unix socket, gone with the process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "temporary_folder.h"

namespace hindsight::test {

class TestServer {
 public:
  /// Starts one, with `options` of the server (e.g. "-c fsync=off"). Throws std::runtime_error with its log when it
  /// does not come up. Only where PostgreSQL is installed: see missing().
  /// `disk_mib`: on a disk of its own of that size (a tmpfs, which needs the right to mount); 0: in the temporary
  /// folder.
  explicit TestServer(const std::string& options = "-c fsync=off", int disk_mib = 0);
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  /// The server of this process, started when it is first asked for.
  static TestServer& shared();
  /// Why there is none; "" where PostgreSQL is installed.
  static std::string missing();

  /// Address of a log in an empty schema of its own; `user`: the role that connects.
  [[nodiscard]] std::string new_log();
  [[nodiscard]] std::string address(const std::string& schema, const std::string& user = "hindsight") const;
  /// Runs SQL as the owner; the first value of the first row, or "".
  std::string sql(const std::string& statement, const std::string& schema = "public") const {
    return sql_at(address(schema), statement);
  }
  static std::string sql_at(const std::string& address, const std::string& statement);

  /// On a disk of its own: takes all its room but `left_mib`, or gives it back (0).
  void take_room(int left_mib) const;

  void start();
  /// It answers every connection that it does not accept any yet, until it is stopped and started again.
  void start_as_standby();
  /// `signal`: SIGINT ends it quickly, SIGQUIT or SIGKILL as a crash would.
  void stop(int signal);

 private:
  /// Returns once `is_up` says so.
  template <class IsUp>
  void start_with(const std::string& options, IsUp&& is_up);
  [[nodiscard]] std::filesystem::path data() const { return folder_.path() / "data"; }

  TemporaryFolder folder_;
  std::string options_;
  pid_t process_ = -1;
  int schemas_ = 0;
  bool is_mounted_ = false;
};

}  // namespace hindsight::test

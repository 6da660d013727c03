/// Does a log on a server lose nothing when the server crashes, recovers, stays away or has no room?
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "hindsight/log/copy.h"
#include "log/process.h"
#include "log/server.h"
#include "log/server_rows.h"

namespace hindsight::log::test {
namespace {

using hindsight::test::TestServer;
using ::testing::HasSubstr;

/// Servers that crash and go away: each with one of its own.
class ServerLogFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = TestServer::missing(); !why.empty()) GTEST_SKIP() << why;
  }
  hindsight::test::TemporaryFolder folder_;
};

TEST_F(ServerLogFaults, AWriterGoesOnWhenTheServerComesBack) {
  TestServer server("-c fsync=on");
  const std::string address = server.new_log();
  constexpr int kBatches = 60, kRows = 50;
  const pid_t child = fork_child([&] {
    Log log = Log::open(address, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    for (int i = 0; i < kBatches; ++i) {
      log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, kRows * i, kRows));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    log.end_run(ids.run, RunStatus::finished);
  });
  for (int crash = 0; crash < 3; ++crash) {
    std::this_thread::sleep_for(std::chrono::milliseconds(350));
    server.stop(SIGQUIT);  // as after a power cut: it recovers from its log
    server.start();
  }
  EXPECT_EQ(wait_for(child), 0);
  const std::filesystem::path file = folder_.path() / "same.db";
  {
    Log log = Log::open(file, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 0, kBatches * kRows));
  }
  EXPECT_EQ(hash_of(address), hash_of(file)) << "acknowledged rows were lost, or rows stored twice";
  EXPECT_EQ(server.sql_at(address, "SELECT status FROM runs"), "finished");
}

/// "Not yet accepting connections" is what a server says while it recovers; this one says it for as long as asked.
TEST_F(ServerLogFaults, AServerThatAcceptsNoConnectionsYetIsWaitedFor) {
  TestServer server;
  const std::string address = server.new_log();
  Ids ids;
  {
    Log log = Log::open(address, OpenMode::read_write_create);
    ids = register_all(log);
  }
  server.stop(SIGINT);
  server.start_as_standby();
  setenv("HINDSIGHT_SERVER_PATIENCE_S", "1", 1);
  const auto begin = std::chrono::steady_clock::now();
  const std::string message = error_of([&] { static_cast<void>(Log::open(address, OpenMode::read_only)); }).second;
  unsetenv("HINDSIGHT_SERVER_PATIENCE_S");
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(400)) << "it was not asked again";
  EXPECT_THAT(message, HasSubstr("cannot be reached while opening it"));
  EXPECT_THAT(message, HasSubstr("not accepting connections"));
  const pid_t child = fork_child([&] {
    Log log = Log::open(address, OpenMode::read_write);
    log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 0, 10));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  server.stop(SIGINT);
  server.start();
  EXPECT_EQ(wait_for(child), 0);
  EXPECT_EQ(server.sql_at(address, "SELECT count(*) FROM evaluations"), "10");
}

/// [spec: postgresql] ErrorResponse: what a server that is shutting down says to a new connection.
std::string says_it_is_shutting_down() {
  const std::string fields =
      std::string("SFATAL\0VFATAL\0C57P03\0", 21) + std::string("Mthe database system is shutting down\0\0", 40);
  const auto length = static_cast<char>(fields.size() + 4);
  return std::string("E\0\0\0", 4) + length + fields;
}

/// It says that it is shutting down, and is gone before it is asked whether it accepts connections.
TEST_F(ServerLogFaults, AServerThatIsGoneBeforeItIsAskedAgainIsWaitedFor) {
  const std::filesystem::path socket_file = folder_ / ".s.PGSQL.5432";
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  ASSERT_LT(socket_file.string().size(), sizeof at.sun_path);
  socket_file.string().copy(at.sun_path, sizeof at.sun_path - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  std::thread server([&] {
    const int client = ::accept(listener, nullptr, nullptr);
    std::filesystem::remove(socket_file);
    ::close(listener);
    std::array<char, 1024> startup{};
    EXPECT_GT(::read(client, startup.data(), startup.size()), 0);
    const std::string answer = says_it_is_shutting_down();
    EXPECT_EQ(::write(client, answer.data(), answer.size()), static_cast<ssize_t>(answer.size()));
    ::close(client);
  });
  setenv("HINDSIGHT_SERVER_PATIENCE_S", "1", 1);
  const std::string address = "postgresql://hindsight@/postgres?host=" + folder_.path().string();
  const std::string message = error_of([&] { static_cast<void>(Log::open(address, OpenMode::read_only)); }).second;
  unsetenv("HINDSIGHT_SERVER_PATIENCE_S");
  server.join();
  EXPECT_THAT(message, HasSubstr("cannot be reached while opening it"));
  EXPECT_THAT(message, HasSubstr("No such file")) << "it was not asked again";
}

TEST_F(ServerLogFaults, RowsThatAGoneServerDidNotConfirmAreKept) {
  TestServer server;
  const std::string address = server.new_log();
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  setenv("HINDSIGHT_SERVER_PATIENCE_S", "1", 1);
  std::string message;
  {
    Log log = Log::open(address, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 0, 10));
    server.stop(SIGQUIT);
    message = error_of([&] { log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 10, 30)); }).second;
  }
  unsetenv("HINDSIGHT_SERVER_PATIENCE_S");
  std::filesystem::current_path(before);
  EXPECT_THAT(message, HasSubstr("30 evaluations that it did not confirm are in hindsight-kept-"));
  const std::size_t at = message.find("hindsight-kept-");
  ASSERT_NE(at, std::string::npos);
  const std::filesystem::path kept = folder_ / message.substr(at, message.find(".db", at) + 3 - at);
  server.start();
  EXPECT_EQ(server.sql_at(address, "SELECT count(*) FROM evaluations"), "10");
  EXPECT_EQ(copy_log(kept, address, Contradictions::refuse).inserted, 30U) << "what the message says to do";
  EXPECT_EQ(server.sql_at(address, "SELECT count(*) FROM evaluations"), "40");
  EXPECT_TRUE(Log::open(address, OpenMode::read_only).verify().sound());
}

/// PostgreSQL stops when its own log has no room, and recovers when it has: both are seen by a writer.
TEST_F(ServerLogFaults, AFullDiskLosesNothingThatWasAcknowledged) {
  std::optional<TestServer> made;
  try {
    made.emplace("-c fsync=off -c wal_keep_size=0 -c max_wal_size=32MB", 220);
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << error.what();
  }
  TestServer& server = *made;
  const std::string address = server.new_log();
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  setenv("HINDSIGHT_SERVER_PATIENCE_S", "1", 1);
  constexpr int kRows = 500;
  int acknowledged = 0;
  std::string message;
  {
    Log log = Log::open(address, OpenMode::read_write_create);
    const Ids ids = register_all(log);
    server.take_room(4);
    for (int i = 0; message.empty() && i < 400; ++i) {
      try {
        log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, kRows * i, kRows));
        acknowledged += kRows;
      } catch (const Error& error) {
        message = error.what();
      }
    }
  }
  unsetenv("HINDSIGHT_SERVER_PATIENCE_S");
  std::filesystem::current_path(before);
  EXPECT_THAT(message, ::testing::AnyOf(HasSubstr("out of disk"), HasSubstr("hindsight-kept-"))) << acknowledged;
  server.stop(SIGQUIT);
  server.take_room(0);
  server.start();
  EXPECT_EQ(server.sql_at(address, "SELECT count(*) FROM evaluations"), std::to_string(acknowledged));
  Log log = Log::open(address, OpenMode::read_write);
  EXPECT_TRUE(log.verify().sound());
  const Ids ids = register_all(log);
  EXPECT_EQ(log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, acknowledged, kRows)).inserted, 500U);
}

/// A connection that is cut in the middle: an administrator ends it, or a firewall.
TEST_F(ServerLogFaults, ACutConnectionIsMadeAgain) {
  TestServer server;
  const std::string address = server.new_log();
  Log log = Log::open(address, OpenMode::read_write_create);
  const Ids ids = register_all(log);
  for (int i = 0; i < 5; ++i) {
    server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hindsight'");
    EXPECT_EQ(log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 10 * i, 10)).inserted, 10U);
  }
  const auto [kind, message] = error_of([&] {
    Transaction whole(log);
    server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'hindsight'");
    log.append(ids.run, ids.space, ids.evaluator, varied_rows(ids, 100, 10));
    whole.commit();
  });
  EXPECT_EQ(kind, ErrorKind::failure) << "a transaction that looked at something is not repeated behind its back";
  EXPECT_EQ(server.sql_at(address, "SELECT count(*) FROM evaluations"), "50");
}

}  // namespace
}  // namespace hindsight::log::test

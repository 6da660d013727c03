/// initdb and postgres, as a user that is not root (they refuse to be it).
#include "test_server.h"

#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace hindsight::test {
namespace {

namespace fs = std::filesystem;

/// The newest server that is installed, or the one on the PATH.
std::optional<fs::path> programs() {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::directory_entry& version : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    if (fs::exists(version.path() / "bin" / "initdb", ignored)) found.push_back(version.path() / "bin");
  }
  if (!found.empty()) return *std::max_element(found.begin(), found.end());
  std::istringstream folders(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (fs::exists(fs::path(folder) / "initdb", ignored)) return folder;
  }
  return std::nullopt;
}

/// The user to become when root: that of Debian's package, else nobody.
const passwd* server_user() {
  if (geteuid() != 0) return nullptr;
  const passwd* user = getpwnam("postgres");
  return user != nullptr ? user : getpwnam("nobody");
}

/// Starts a program with its output in `output`. It ends when this process does.
pid_t start_program(const std::vector<std::string>& command, const fs::path& output) {
  const passwd* user = server_user();
  const uid_t uid = user == nullptr ? geteuid() : user->pw_uid;
  const gid_t gid = user == nullptr ? getegid() : user->pw_gid;
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  signal(SIGINT, SIG_DFL);
  if (user != nullptr && (setgroups(0, nullptr) != 0 || setgid(gid) != 0 || setuid(uid) != 0)) _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGQUIT);  // a change of user takes it away
  if (chdir("/") != 0) _exit(126);
  setenv("LC_ALL", "C", 1);
  execv(arguments[0], arguments.data());
  _exit(127);
}

std::string content(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::string TestServer::missing() {
  return programs() ? "" : "PostgreSQL's initdb is not installed (Debian: postgresql)";
}

TestServer::TestServer(const std::string& options, int disk_mib) : options_(options) {
  const std::optional<fs::path> bin = programs();
  if (!bin) throw std::runtime_error(missing());
  if (disk_mib > 0) {
    const std::string size = "mode=755,size=" + std::to_string(disk_mib) + "m";
    is_mounted_ = mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, size.c_str()) == 0;
    if (!is_mounted_) throw std::runtime_error("a tmpfs cannot be mounted here");
  }
  if (const passwd* user = server_user(); user != nullptr) {
    // The folder of a test is root's: the server's user must get in and own what is below.
    for (fs::path folder = folder_.path(); folder != folder.root_path() && folder != "/tmp";
         folder = folder.parent_path()) {
      chmod(folder.c_str(), 0755);
    }
    if (chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0) throw std::runtime_error("chown failed");
  }
  const fs::path output = folder_.path() / "initdb.txt";
  const pid_t made = start_program({*bin / "initdb", "-D", data(), "-U", "hindsight", "-A", "trust", "-E", "UTF8",
                                    "--locale=C", "--no-sync", "--no-instructions"},
                                   output);
  int status = 0;
  waitpid(made, &status, 0);
  if (status != 0) throw std::runtime_error("initdb failed: " + content(output));
  start();
}

void TestServer::start() {
  fs::remove(data() / "standby.signal");
  start_with(options_, [&] {
    PGconn* connection = PQconnectdb(address("public").c_str());
    const bool up = PQstatus(connection) == CONNECTION_OK;
    PQfinish(connection);
    return up;
  });
}

void TestServer::start_as_standby() {
  std::ofstream(data() / "standby.signal").put('\n');
  fs::permissions(data() / "standby.signal", fs::perms::all);  // the server's user removes it
  start_with(options_ + " -c hot_standby=off", [&] { return PQping(address("public").c_str()) == PQPING_REJECT; });
}

template <class IsUp>
void TestServer::start_with(const std::string& options, IsUp&& is_up) {
  const fs::path output = folder_.path() / "server.txt";
  std::vector<std::string> command = {*programs() / "postgres",
                                      "-D",
                                      data(),
                                      "-k",
                                      folder_.path(),
                                      "-c",
                                      "listen_addresses=",
                                      "-c",
                                      "shared_buffers=64MB",
                                      "-c",
                                      "max_connections=60"};
  std::istringstream words(options);
  for (std::string word; words >> word;) command.push_back(word);
  process_ = start_program(command, output);
  for (int i = 0; i < 600; ++i) {
    if (is_up()) return;
    int status = 0;
    if (waitpid(process_, &status, WNOHANG) == process_) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw std::runtime_error("the server does not start: " + content(output));
}

void TestServer::stop(int signal) {
  if (process_ < 0) return;
  kill(process_, signal);
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
}

TestServer::~TestServer() {
  stop(SIGQUIT);
  if (is_mounted_) umount2(folder_.path().c_str(), MNT_DETACH);
}

void TestServer::take_room(int left_mib) const {
  const fs::path ballast = folder_.path() / "ballast";
  std::error_code ignored;
  fs::remove(ballast, ignored);
  if (left_mib == 0) return;
  std::ofstream file(ballast, std::ios::binary);
  const std::string mib(std::size_t{1} << 20U, 'x');
  while (fs::space(folder_.path()).available > static_cast<std::uintmax_t>(left_mib) << 20U) file << mib << std::flush;
}

TestServer& TestServer::shared() {
  static TestServer server;
  return server;
}

std::string TestServer::new_log() {
  const std::string schema = "log" + std::to_string(getpid()) + "_" + std::to_string(++schemas_);
  sql("CREATE SCHEMA " + schema);
  return address(schema);
}

std::string TestServer::address(const std::string& schema, const std::string& user) const {
  return "postgresql://" + user + "@/postgres?host=" + folder_.path().string() + "&options=-csearch_path%3D" + schema;
}

std::string TestServer::sql_at(const std::string& address, const std::string& statement) {
  PGconn* connection = PQconnectdb(address.c_str());
  PGresult* result = PQexec(connection, statement.c_str());
  const ExecStatusType status = PQresultStatus(result);
  const std::string error = PQresultErrorMessage(result);
  const std::string value = status == PGRES_TUPLES_OK && PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "";
  PQclear(result);
  PQfinish(connection);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) throw std::runtime_error(statement + ": " + error);
  return value;
}

}  // namespace hindsight::test

/// Starts programs in process groups of their own, and ends the groups.
#include "hindsight/core/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"

extern char** environ;

namespace hindsight {
namespace {

/// [chosen] How often the end of a child is looked for: far below what a process takes to end.
constexpr std::chrono::milliseconds kLookEvery{2};
/// Where the child finds the lifeline.
constexpr int kLifeline = 3;
/// Behind all that are placed, so that placing the ends of one pipe cannot close another's.
constexpr int kFirstFreeDescriptor = 4;
/// A shell that runs its arguments in place of itself, beside a watcher that kills the group when the lifeline ends.
/// The watcher holds no other pipe. The text is the same for every command: no argument is read as text of a shell.
constexpr const char* kGuarded = "(read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 & exec 3<&-; exec \"$@\"";

[[noreturn]] void fail(const char* what, int error) {
  throw Error(ErrorKind::failure, fmt::format("cannot start a process: {}: {}", what, std::strerror(error)));
}

Descriptor moved_up(int number) {
  const int up = ::fcntl(number, F_DUPFD_CLOEXEC, kFirstFreeDescriptor);
  const int error = errno;
  ::close(number);
  if (up < 0) fail("fcntl", error);
  return Descriptor(up);
}

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe", errno);
  Pipe pipe;
  try {
    pipe.read = moved_up(ends[0]);
  } catch (const Error&) {
    ::close(ends[1]);
    throw;
  }
  pipe.write = moved_up(ends[1]);
  return pipe;
}

void make_nonblocking(const Descriptor& end) {
  if (::fcntl(end.number(), F_SETFL, O_NONBLOCK) != 0) fail("fcntl", errno);
}

/// What posix_spawn is told, destroyed at the end of its scope.
class SpawnPlan {
 public:
  SpawnPlan() {
    if (const int error = posix_spawn_file_actions_init(&actions_)) fail("posix_spawn", error);
    if (const int error = posix_spawnattr_init(&attributes_)) {
      posix_spawn_file_actions_destroy(&actions_);
      fail("posix_spawn", error);
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void place(const Descriptor& from, int to) {
    if (const int error = posix_spawn_file_actions_adddup2(&actions_, from.number(), to)) fail("posix_spawn", error);
  }
  void read_nothing() {
    const int error = posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error != 0) fail("posix_spawn", error);
  }
  [[nodiscard]] pid_t start(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"sh", "-c", kGuarded, "sh"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> arguments;
    for (std::string& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = -1;
    if (const int error = posix_spawn(&child, "/bin/sh", &actions_, &attributes_, arguments.data(), environ)) {
      fail("/bin/sh", error);
    }
    return child;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

ProcessEnd end_of(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return {.exit_code = info.si_status, .signal = 0};
  return {.exit_code = -1, .signal = info.si_status};
}

}  // namespace

std::string to_string(const ProcessEnd& end) {
  return end.signal != 0 ? fmt::format("died of signal {}", end.signal) : fmt::format("exited with {}", end.exit_code);
}

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

ChildProcess::ChildProcess(const std::vector<std::string>& words, ChildInput input) {
  HINDSIGHT_EXPECT(!words.empty());
  SpawnPlan plan;
  Pipe in, out = make_pipe(), error = make_pipe(), life = make_pipe();
  if (input == ChildInput::pipe) {
    in = make_pipe();
    plan.place(in.read, STDIN_FILENO);
    make_nonblocking(in.write);
  } else {
    plan.read_nothing();
  }
  plan.place(out.write, STDOUT_FILENO);
  plan.place(error.write, STDERR_FILENO);
  plan.place(life.read, kLifeline);
  make_nonblocking(out.read);
  make_nonblocking(error.read);
  child_ = plan.start(words);
  end_with_us(child_);
  input_ = std::move(in.write);
  output_ = std::move(out.read);
  error_ = std::move(error.read);
  lifeline_ = std::move(life.write);
}

ChildProcess::~ChildProcess() { stop(); }

std::optional<ProcessEnd> ChildProcess::ended() {
  if (end_) return end_;
  // Not reaped yet: until the group was killed its number must not become another's.
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
    return std::nullopt;
  }
  return end_of(info);
}

std::optional<ProcessEnd> ChildProcess::wait(std::chrono::milliseconds most) {
  const auto deadline = std::chrono::steady_clock::now() + most;
  while (true) {
    if (const auto end = ended()) return end;
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(kLookEvery);
  }
}

ProcessEnd ChildProcess::stop() {
  if (end_) return *end_;
  input_.close();
  if (!ended()) {
    ::kill(-child_, SIGTERM);
    (void)wait(kGrace);
  }
  ::kill(-child_, SIGKILL);
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED) != 0 && errno == EINTR) {
  }
  no_longer_with_us(child_);
  end_ = end_of(info);
  return *end_;
}

}  // namespace hindsight

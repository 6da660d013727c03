/// A child with its output in memory files, which never fill as pipes do.
#include "fault/command.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "apps/process.h"

namespace hindsight::fault {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCannotStart = 127;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

[[noreturn]] void become_program(std::vector<std::string> words, const Setting& setting, int out, int err) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing is left when the test itself is ended
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  for (const auto& [name, value] : setting.environment) {
    if (value.empty()) {
      ::unsetenv(name.c_str());
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  if (!setting.folder.empty() && ::chdir(setting.folder.c_str()) != 0) ::_exit(kCannotStart);
  if (!setting.standard_output.empty()) out = ::open(setting.standard_output.c_str(), O_WRONLY);
  ::dup2(::open(setting.standard_input.c_str(), O_RDONLY), STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  for (const int number : setting.closed_streams) ::close(number);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(kCannotStart);
}

std::string content_and_close(int file) {
  std::string text;
  std::array<char, 65536> buffer{};
  ::lseek(file, 0, SEEK_SET);
  for (ssize_t got = 0; (got = ::read(file, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(file);
  return text;
}

/// True once it has ended.
bool has_ended(pid_t child, const Setting& setting, int& status) {
  const pid_t told = ::waitpid(child, &status, WNOHANG | WUNTRACED);
  if (told != child || !WIFSTOPPED(status)) return told != 0;
  if (setting.when_stopped) setting.when_stopped();
  ::kill(child, SIGCONT);
  return false;
}

/// Of what it has printed, without its end; empty where it has none yet.
std::string first_line(int out) {
  std::array<char, 4096> buffer{};
  const ssize_t got = ::pread(out, buffer.data(), buffer.size(), 0);
  const std::string text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const std::size_t end = text.find('\n');
  return end == std::string::npos ? "" : text.substr(0, end);
}

/// Whether its time for the signal has come. What is looked at before is looked at here.
bool is_time(const Setting& setting, double now_s, int out) {
  if (setting.signal_after_s && now_s >= *setting.signal_after_s) {
    if (setting.before_signal) setting.before_signal();
    return true;
  }
  const std::string line = setting.at_first_line ? first_line(out) : "";
  if (!line.empty()) setting.at_first_line(line);
  return !line.empty();
}

/// Waits, sends the signal when its time comes and SIGKILL at the deadline.
int wait_for_end(pid_t child, const Setting& setting, int out, Ended& ended) {
  const auto begin = Clock::now();
  int status = 0;
  bool signalled = false;
  while (!has_ended(child, setting, status)) {
    const double now = since(begin);
    if (!signalled && is_time(setting, now, out)) {
      ended.was_sent = ::waitid(P_PID, static_cast<id_t>(child), nullptr, WEXITED | WNOHANG | WNOWAIT) == 0;
      ::kill(child, setting.signal);
      signalled = true;
    }
    if (now > setting.longest_s) {
      ended.hung = true;
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  ended.seconds = since(begin);
  return status;
}

}  // namespace

Ended run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                  const Setting& setting) {
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const int out = ::memfd_create("out", MFD_CLOEXEC);
  const int err = ::memfd_create("err", MFD_CLOEXEC);
  const pid_t child = ::fork();
  if (child < 0 || out < 0 || err < 0) throw std::runtime_error("cannot start a program");
  if (child == 0) become_program(std::move(words), setting, out, err);
  Ended ended;
  const int status = wait_for_end(child, setting, out, ended);
  ended.by_signal = WIFSIGNALED(status);
  ended.was_sent = ended.was_sent && (setting.signal != SIGKILL || ended.by_signal);
  ended.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.out = content_and_close(out);
  ended.err = content_and_close(err);
  return ended;
}

/// A frozen copy can take the place of the built program, so that a soak of hours is of one state.
Ended run(const std::vector<std::string>& arguments, const Setting& setting) {
  const char* frozen = std::getenv("HINDSIGHT_FAULT_PROGRAM");
  return run_program(frozen != nullptr ? std::filesystem::path(frozen) : app::test::program_path(), arguments, setting);
}

std::filesystem::path interposer() { return HINDSIGHT_FAULT_INTERPOSER; }

}  // namespace hindsight::fault

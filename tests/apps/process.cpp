/// Starts a program with its own output and signals, and waits for it.
#include "apps/process.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace hindsight::app::test {
namespace {

constexpr int kCannotStart = 127;

[[noreturn]] void become(const std::vector<std::string>& arguments, const Surroundings& surroundings, int out,
                         int err) {
  std::vector<char*> argv;
  std::string program = program_path().string();
  argv.push_back(program.data());
  std::vector<std::string> copies = arguments;
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::signal(SIGINT, SIG_DFL);  // a test run in the background ignores it, and so would the program
  for (const auto& [name, value] : surroundings.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (!surroundings.folder.empty() && ::chdir(surroundings.folder.c_str()) != 0) ::_exit(kCannotStart);
  if (!surroundings.standard_output.empty()) {
    out = ::open(surroundings.standard_output.c_str(), O_WRONLY | O_CREAT, 0644);
  }
  if (surroundings.largest_file_bytes) {
    const rlimit limit{.rlim_cur = *surroundings.largest_file_bytes, .rlim_max = *surroundings.largest_file_bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  // Root without its right to pass over permissions: as another user it could not reach a checkout in root's home.
  if (surroundings.ordinary_user && ::geteuid() == 0 &&
      (::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE) != 0 || ::prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH) != 0)) {
    ::_exit(kCannotStart);
  }
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execv(argv[0], argv.data());
  ::_exit(kCannotStart);
}

/// Both ends of standard output: a pipe, or a terminal's master and slave.
std::array<int, 2> open_output(bool terminal) {
  std::array<int, 2> ends{};
  if (terminal) {
    ends[0] = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] < 0 || ::grantpt(ends[0]) != 0 || ::unlockpt(ends[0]) != 0) throw std::runtime_error("posix_openpt");
    ends[1] = ::open(::ptsname(ends[0]), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[1] < 0) throw std::runtime_error("the terminal's slave");
  } else if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe2");
  }
  return ends;
}

}  // namespace

std::filesystem::path program_path() { return HINDSIGHT_BINARY; }

std::filesystem::path measure_program_path() { return HINDSIGHT_MEASURE_BINARY; }

Process::Process(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  const std::array<int, 2> out = open_output(surroundings.terminal);
  const std::array<int, 2> err = open_output(false);
  child_ = ::fork();
  if (child_ < 0) throw std::runtime_error("fork");
  if (child_ == 0) {
    if (surroundings.close_output_early) ::close(out[0]);
    become(arguments, surroundings, out[1], err[1]);
  }
  ::close(out[1]);
  ::close(err[1]);
  out_ = out[0];
  err_ = err[0];
  if (surroundings.close_output_early) {
    ::close(out_);
    out_ = -1;
  }
}

Process::~Process() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  if (out_ >= 0) ::close(out_);
  if (err_ >= 0) ::close(err_);
}

void Process::send(int signal) const { ::kill(child_, signal); }

std::string Process::read_line() const {
  std::string line;
  char c = 0;
  while (true) {
    const ssize_t count = ::read(out_, &c, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || c == '\n') return line;
    line += c;
  }
}

Outcome Process::wait() {
  Outcome outcome;
  std::array<pollfd, 2> files{pollfd{.fd = out_, .events = POLLIN, .revents = 0},
                              pollfd{.fd = err_, .events = POLLIN, .revents = 0}};
  const std::array<std::string*, 2> texts{&outcome.out, &outcome.err};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    if (::poll(files.data(), files.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i].fd < 0 || files[i].revents == 0) continue;
      std::array<char, 65536> buffer;
      const ssize_t count = ::read(files[i].fd, buffer.data(), buffer.size());
      if (count > 0) {
        texts[i]->append(buffer.data(), static_cast<std::size_t>(count));
      } else if (count == 0 || errno != EINTR) {
        files[i].fd = -1;
      }
    }
  }
  int status = 0;
  ::waitpid(child_, &status, 0);
  child_ = -1;
  std::erase(outcome.out, '\r');  // a terminal ends lines with CR LF
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

Outcome hindsight(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  return Process(arguments, surroundings).wait();
}

}  // namespace hindsight::app::test

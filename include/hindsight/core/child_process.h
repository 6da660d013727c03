/// A child process with a process group of its own, which is killed whole.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace hindsight {

/// How a process ended.
struct ProcessEnd {
  int exit_code = 0;  ///< -1 when a signal ended it
  int signal = 0;     ///< that signal; 0: none
};
/// "exited with 3", "died of signal 11".
[[nodiscard]] std::string to_string(const ProcessEnd& end);

/// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

/// What a child reads as its standard input.
enum class ChildInput {
  pipe,  ///< what is written to input()
  none,  ///< nothing: /dev/null
};

/// A command that runs beside this process, in a process group of its own, so that Ctrl-C at a terminal does
/// not reach it and all that it starts can be killed together. Signals are set as a fresh shell has them. At the end of
/// its scope the group is dead and the child reaped; dead it is also after a second Ctrl-C (interrupt.h), and when this
/// process is killed. What leaves the group (setsid) is not followed. One thread at a time.
class ChildProcess {
 public:
  /// How long SIGTERM may take until SIGKILL follows. [chosen] enough to remove a lock file, short for who waits.
  static constexpr std::chrono::milliseconds kGrace{500};

  /// Runs `words`, the first of which is a program, as they are: no shell reads them. Error{failure} when no process
  /// can be started. An unknown program is an end with exit code 127, one that may not run 126. Precondition: a word.
  ChildProcess(const std::vector<std::string>& words, ChildInput input);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Ends of pipes; none of them blocks. Writing where nobody reads raises SIGPIPE: block or ignore it.
  [[nodiscard]] Descriptor& input() { return input_; }    ///< not open with ChildInput::none
  [[nodiscard]] Descriptor& output() { return output_; }  ///< its standard output
  [[nodiscard]] Descriptor& error() { return error_; }    ///< its standard error

  /// How the child ended, if it has. What it started may still run.
  [[nodiscard]] std::optional<ProcessEnd> ended();
  /// The same, waiting for `most` at the longest.
  [[nodiscard]] std::optional<ProcessEnd> wait(std::chrono::milliseconds most);
  /// Ends the whole group: SIGTERM, after kGrace or the child's end SIGKILL. Reaps the child.
  ProcessEnd stop();

 private:
  int child_ = -1;
  std::optional<ProcessEnd> end_;  ///< once reaped
  Descriptor input_, output_, error_;
  Descriptor lifeline_;  ///< nothing is written; its end tells the group that this process is gone
};

}  // namespace hindsight

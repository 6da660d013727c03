/// Runs the program to its end, to a moment at which it is killed, or to a deadline after which it hangs.
#pragma once

#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hindsight::fault {

struct Setting {
  std::filesystem::path folder = {};                    ///< working folder
  std::map<std::string, std::string> environment = {};  ///< added to this process's; an empty value takes the name away
  std::optional<double> signal_after_s = {};
  int signal = SIGKILL;
  std::function<void()> before_signal = {};  ///< the last look at what the program has said to have done
  std::function<void()> when_stopped = {};   ///< it stopped itself (HINDSIGHT_FAULT_STOPS); goes on afterwards
  double longest_s = 120;                    ///< later it hangs, and is killed
  /// It printed its first line: called once with it; afterwards the signal is sent, without any wait.
  std::function<void(const std::string& line)> at_first_line = {};
  std::string standard_input = "/dev/null";
  std::vector<int> closed_streams = {};  ///< numbers of standard streams that it starts without
  std::string standard_output = {};      ///< a file instead, e.g. /dev/full
};

struct Ended {
  int exit_code = -1;      ///< 128 + signal when a signal ended it
  bool by_signal = false;  ///< ended by a signal, ours or its own
  bool was_sent = false;   ///< it still ran when our signal was sent
  bool hung = false;
  std::string out, err;
  double seconds = 0;
};

constexpr int kBug = 70;  ///< exit code of a program that found one in itself

/// The built program, with these arguments.
[[nodiscard]] Ended run(const std::vector<std::string>& arguments, const Setting& setting = {});
/// Another program.
[[nodiscard]] Ended run_program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                const Setting& setting);

/// Of the library that makes calls fail.
[[nodiscard]] std::filesystem::path interposer();

}  // namespace hindsight::fault

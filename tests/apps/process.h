/// Starts the program as a user would and keeps what it said.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hindsight::app::test {

/// The built `hindsight` and `hindsight-measure`.
std::filesystem::path program_path();
std::filesystem::path measure_program_path();

struct Outcome {
  int exit_code = -1;  ///< 128 + signal when a signal ended it
  std::string out;
  std::string err;
};

struct Surroundings {
  std::map<std::string, std::string> environment = {};  ///< added to this process's
  std::filesystem::path folder = {};                    ///< working folder
  std::string standard_output = {};                     ///< a file instead of a pipe, e.g. /dev/full
  std::optional<rlim_t> largest_file_bytes = {};        ///< RLIMIT_FSIZE
  bool close_output_early = false;                      ///< the reader of standard output goes at once
  bool terminal = false;                                ///< standard output is a terminal
  bool ordinary_user = false;                           ///< permissions hold, also when root runs the tests
};

/// A running program; killed at the end if still running.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments, const Surroundings& surroundings = {});
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  void send(int signal) const;
  /// The next line of its standard output, without its end; what came before the output ended.
  [[nodiscard]] std::string read_line() const;
  /// Reads to the end and waits.
  Outcome wait();

 private:
  pid_t child_ = -1;
  int out_ = -1, err_ = -1;
};

/// `hindsight` with these arguments, to its end.
Outcome hindsight(const std::vector<std::string>& arguments, const Surroundings& surroundings = {});

}  // namespace hindsight::app::test

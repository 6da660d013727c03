/// What takes long is said on a terminal, and ends by Ctrl-C: for what is read of others, whose size nobody knows
/// before.
///
/// The program has one Patience. Readers say which file they are at (now_reading) and, in loops that a file can make
/// long, how far they are (Steps). Whatever writes to the terminal says so before (before_output), so that no two lines
/// mix.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace hindsight {

/// While it lives, a terminal on standard error that was written nothing to for some seconds is told what the command
/// is at, every second, in one line that goes away again. Nothing where standard error is no terminal.
class Patience {
 public:
  /// [chosen] Shorter waits need no word.
  static constexpr std::chrono::milliseconds kUsual{3000};

  /// `who` begins the line: "hindsight log import".
  explicit Patience(const std::string& who, std::chrono::milliseconds silence = kUsual);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  struct Ticker;
  std::unique_ptr<Ticker> ticker_;
};

/// The terminal is about to be written to. `ends_line`: whether the text ends with its line; nothing is said before.
void before_output(bool ends_line);

/// While it lives the terminal is another program's (a pager), and nothing is said.
class TerminalLent {
 public:
  TerminalLent() { before_output(false); }
  ~TerminalLent() { before_output(true); }
  TerminalLent(const TerminalLent&) = delete;
  TerminalLent& operator=(const TerminalLent&) = delete;
};

/// The file that the command reads from now on; empty: none any more.
void now_reading(const std::filesystem::path& file);

/// One loop over what was read. While it lives, Patience says how far it is; several may live, the newest is said.
class Steps {
 public:
  /// `what`: "reading rows". `total`: 0 where nobody knows it.
  explicit Steps(std::string_view what, std::uint64_t total = 0);
  ~Steps();
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  /// `done` steps are behind us. Error{interrupted} once Ctrl-C has arrived. Cheap.
  void at(std::uint64_t done) const;

 private:
  friend class Patience;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hindsight

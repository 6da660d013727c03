/// The command line: verbs, help, version, and helpful errors.
#pragma once

#include <string>
#include <vector>

#include "verbs.h"

namespace hindsight::app {

/// Obeys --color before anything is parsed, so that errors of parsing obey it too. Error{usage} for an unknown word.
void obey_colour(const std::vector<std::string>& arguments);

/// The verbs and options of the program, described once, for any number of command lines.
class CommandLine {
 public:
  /// `session` takes what a command line asks for, and outlives this.
  explicit CommandLine(Session& session);
  /// parse_command_line() by these verbs and options. What was given before is forgotten, but for the values of
  /// options.
  void parse(std::vector<std::string> arguments);

 private:
  CLI::App app_;
  Session& session_;
  bool version_ = false;
};

/// Parses the arguments (without the program's name) and returns what to run. Help and version are printed and
/// leave an action that does nothing. Error{usage} names the verb, the problem and the nearest valid word.
void parse_command_line(std::vector<std::string> arguments, Session& session);

}  // namespace hindsight::app

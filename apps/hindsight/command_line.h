/// The command line: verbs, help, version, and helpful errors.
#pragma once

#include <string>
#include <vector>

#include "verbs.h"

namespace hindsight::app {

/// Obeys --color before anything is parsed, so that errors of parsing obey it too. Error{usage} for an unknown word.
void obey_colour(const std::vector<std::string>& arguments);

/// Parses the arguments (without the program's name) and returns what to run. Help and version are printed and
/// leave an action that does nothing. Error{usage} names the verb, the problem and the nearest valid word.
void parse_command_line(std::vector<std::string> arguments, Session& session);

}  // namespace hindsight::app

/// The command line: verbs, help, version, and helpful errors.
#pragma once

#include <string>
#include <vector>

#include "verbs.h"

namespace hindsight::app {

/// Parses the arguments (without the program's name) and returns what to run. Help and version are printed and
/// leave an action that does nothing. Error{usage} names the verb, the problem and the nearest valid word.
void parse_command_line(std::vector<std::string> arguments, Session& session);

}  // namespace hindsight::app

/// The one table of verbs and options: the tree that parses the command line, and what reads it to write pages.
#pragma once

#include <string>
#include <vector>

#include "verbs.h"

namespace hindsight::app {

/// Name, help and every verb of the program.
void describe_program(CLI::App& app);
void add_verbs(CLI::App& app, Session& session);
/// --color and --no-config, to the program and to every verb below it.
void add_common_options(CLI::App& app, Session& session);

/// Verbs directly below a group, or below the program, in the order of the help.
[[nodiscard]] std::vector<const CLI::App*> verbs_below(const CLI::App& group);
/// Every verb that does something, e.g. `log show` but not `log`, in the order of the help.
[[nodiscard]] std::vector<const CLI::App*> all_verbs(const CLI::App& program);
/// "hindsight log show".
[[nodiscard]] std::string full_name(const CLI::App& verb);
/// "log show"; empty for the program itself.
[[nodiscard]] std::string verb_path(const CLI::App& verb);

/// Options in the order of the help, with --help.
[[nodiscard]] std::vector<const CLI::Option*> options_of(const CLI::App& verb);
/// Positional arguments in their order; some have an option's name, too.
[[nodiscard]] std::vector<const CLI::Option*> positionals_of(const CLI::App& verb);
/// "-q", "--quiet": as they are typed; none for an argument that is only positional.
[[nodiscard]] std::vector<std::string> spellings(const CLI::Option& option);
[[nodiscard]] bool takes_value(const CLI::Option& option);
/// "TEXT", "INT", ...: as the help shows it; empty for flags.
[[nodiscard]] std::string value_name(const CLI::Option& option);
/// What the help says, on one line.
[[nodiscard]] std::string description_line(const CLI::Option& option);

}  // namespace hindsight::app

/// --durability, of verbs that append to logs: what their commits outlive.
#pragma once

#include <CLI/CLI.hpp>

namespace hindsight::app {

/// Sets log::set_durability() while the command line is read.
void add_durability(CLI::App& verb);

}  // namespace hindsight::app

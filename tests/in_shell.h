/// Evaluators of tests that are a few lines of a shell.
#pragma once

#include <string>
#include <string_view>

#include "hindsight/core/shell.h"

namespace hindsight::test {

/// The command that has a shell run this.
[[nodiscard]] inline std::string in_shell(std::string_view text) { return "sh -c " + shell_quoted(text); }

}  // namespace hindsight::test

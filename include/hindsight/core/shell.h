/// Words as a shell takes them.
#pragma once

#include <string>
#include <string_view>

namespace hindsight {

/// A word as a POSIX shell reads it back: bare when harmless, else in single quotes.
[[nodiscard]] std::string shell_quoted(std::string_view word);

}  // namespace hindsight

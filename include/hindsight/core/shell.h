/// Words as a shell takes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hindsight {

/// A word as a POSIX shell reads it back: bare when harmless, else in single quotes.
[[nodiscard]] std::string shell_quoted(std::string_view word);

/// The words of a command on one line, each quoted where a shell asks for it.
[[nodiscard]] std::string shell_command(const std::vector<std::string>& words);

/// A path in a command that a message prints, to be pasted: as a shell reads it back and no verb takes it for an
/// option, or FILE where a message cannot hold it whole and as it is.
[[nodiscard]] std::string pasted_path(std::string_view path);

/// The words of a command that is run without a shell, split as a POSIX shell does it (Shell Command Language, 2.2
/// Quoting): blanks between them, single and double quotes, backslashes. Nothing is expanded or redirected. `option`
/// says where the command stands. Error{usage}: no word; an open quote; what only a shell obeys, such as | $ > *
/// outside quotes, with the command that has a shell in front.
[[nodiscard]] std::vector<std::string> command_words(std::string_view command, std::string_view option);

}  // namespace hindsight

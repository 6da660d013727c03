/// Standard output and error of the program.
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::app {

/// The reader of standard output has gone (`hindsight ... | head`): nothing is wrong, and nothing more to say.
class OutputClosed : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "standard output was closed by its reader"; }
};

/// Writes data to standard output, all of it or an exception: OutputClosed, or Error{failure} with the operating
/// system's reason (a full disk). Control characters become '?', but for line ends and tabs; what else is not printable
/// is shown by its number, in the escapes of JSON where standard output is no terminal.
void print(std::string_view text);

/// From now on output and messages have `by` in the place of `what`: an address with a password, without it.
void replace_in_output(std::string what, std::string by);

/// Whether the FILE of an option like --out means standard output: empty, or "-".
[[nodiscard]] inline bool is_standard_output(std::string_view file) { return file.empty() || file == "-"; }
/// The same, but byte for byte where standard output is no terminal: cells of a table for programs.
void print_data(std::string_view text);
/// Text of ours with escape codes for colours and weights, which a terminal obeys; all other control characters are
/// treated as by print().
void print_styled(std::string_view text);
/// The same, on a terminal that it does not fit through $PAGER, or less.
void print_paged(const std::string& text);
/// Writes `text` to `file`, whole or not at all, or to standard output.
void print_or_write(const std::string& file, std::string_view text);

/// The same for bytes that are no text. Error{usage} for standard output that is a terminal.
void write_data(const std::string& file, std::string_view bytes);

/// Writes one line "hindsight: error: ..." of at most 400 characters to standard error.
void complain(std::string_view message);
/// Writes one line "hindsight: ..." to standard error.
void remark(std::string_view message);

/// Writes one line "hindsight: next: COMMAND" to standard error, where standard output is a terminal: a person reads.
/// `words`: those of the command, the program's name first, which are quoted for a shell.
/// `role`: what it stands as in the place of "next".
void suggest(const std::vector<std::string>& words, const std::string& role = "next");
/// The same with words that are quoted already.
void suggest_line(const std::string& command, const std::string& role = "next");

/// Width for tables on standard output: the terminal's, or 0 (unlimited) for pipes and files.
[[nodiscard]] int output_columns();

}  // namespace hindsight::app

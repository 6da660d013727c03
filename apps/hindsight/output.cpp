/// Standard output and error of the program: complete writes, one-line complaints, nothing that a terminal obeys.
#include "output.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"

namespace hindsight::app {
namespace {

/// Longest line that is an error, its beginning "hindsight: error: " included, without styles.
constexpr std::size_t kMostErrorWidth = 400;

/// What printable() says of characters beyond ASCII, in the escapes of JSON: they stay right inside a text of JSON.
std::string as_json_escapes(std::string text) {
  const auto replace_all = [&](std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  };
  replace_all("\\x", "\\u00");
  replace_all("\\U000e00", "\\udb40\\udc");  // tags, as two surrogates
  return text;
}

/// Terminals obey control characters, now or when a file or a pipe is shown, and names may hold them. Text of ours and
/// JSON, so that escapes are those of JSON; tables for programs are data, print_data().
std::string without_control_characters(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      const bool line_end = byte == '\n' || (byte == '\r' && text.substr(i + 1, 1) == "\n");
      out += byte == 0x7f ? "\\u007f" : std::string(1, byte < 0x20 && byte != '\t' && !line_end ? '?' : text[i]);
      ++i;
      continue;
    }
    const auto ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
    const auto end = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(), ascii);
    const std::string_view rest = text.substr(i, static_cast<std::size_t>(end - text.begin()) - i);
    out += is_printable(rest) ? std::string(rest) : as_json_escapes(printable(rest, kWholeText));
    i += rest.size();
  }
  return out;
}

/// What nobody sees, or what moves other characters, made visible; lines and tabs stay.
std::string fit_for_terminal(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\t"), text.size());
    out += printable(text.substr(0, end), text.size());
    if (end < text.size()) out += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// Errors on standard error have nowhere to be reported.
void write_error_line(const std::string& line) {
  before_output(true);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string one_line(std::string_view message) {
  std::string line(message);
  for (char& c : line) {
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  }
  return printable(line, line.size());
}

/// What is too long loses its middle: the place stands at the beginning, the remedy at the end.
std::string without_middle(std::string_view line, std::size_t width) {
  if (display_width(line) <= width) return std::string(line);
  constexpr std::size_t kTail = 160;
  const auto begins_character = [&](std::size_t i) { return (static_cast<unsigned char>(line[i]) & 0xc0U) != 0x80U; };
  std::size_t tail = line.size();
  for (std::size_t left = kTail; left > 0; left -= begins_character(tail) ? 1 : 0) --tail;
  return shortened(line, width - kTail) + std::string(line.substr(tail));
}

void write_output(std::string_view rest) {
  before_output(!is_tty(Stream::out) || rest.ends_with('\n'));
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw OutputClosed();
    } else if (errno != EINTR) {
      throw Error(ErrorKind::failure,
                  fmt::format("standard output: cannot write: {}", std::generic_category().message(errno)));
    }
  }
}

/// Length of the escape code "ESC [ digits m" at `position`, 0 where there is none.
std::size_t style_length(std::string_view text, std::size_t position) {
  if (text.substr(position, 2) != "\x1b[") return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", position + 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 - position : 0;
}

/// Hands the text to a pager. False: there is none, and nothing was shown.
bool shown_by_pager(const std::string& text) {
  const char* wanted = std::getenv("PAGER");
  const std::string pager = wanted != nullptr && *wanted != '\0' ? wanted : "less";
  ::setenv("LESS", "FRX", 0);  // quit where it fits, show colours, leave the text there
  FILE* pipe = ::popen(pager.c_str(), "w");
  if (pipe == nullptr) return false;
  const TerminalLent lent;
  std::fwrite(text.data(), 1, text.size(), pipe);
  constexpr int kNotFound = 127;
  const int status = ::pclose(pipe);
  return !(WIFEXITED(status) && WEXITSTATUS(status) == kNotFound);
}

std::vector<std::pair<std::string, std::string>>& replacements() {
  static std::vector<std::pair<std::string, std::string>> pairs;
  return pairs;
}

std::string with_replacements(std::string_view given) {
  std::string text(given);
  for (const auto& [what, by] : replacements()) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
      text.replace(at, what.size(), by);
  }
  return text;
}

}  // namespace

void print_styled(std::string_view given) {
  const std::string replaced = with_replacements(given);
  const std::string_view text = replaced;
  std::string safe;
  std::size_t from = 0;
  const auto add = [&](std::size_t to) {
    const std::string_view part = text.substr(from, to - from);
    safe += is_tty(Stream::out) ? fit_for_terminal(part) : without_control_characters(part);
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = style_length(text, i);
    if (length == 0) {
      ++i;
      continue;
    }
    add(i);
    safe += text.substr(i, length);
    i += length;
    from = i;
  }
  add(text.size());
  write_output(safe);
}

void print_paged(const std::string& text) {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (is_tty(Stream::out) && known && lines >= size.ws_row && shown_by_pager(text)) return;
  print_styled(text);
}

void print_or_write(const std::string& file, std::string_view text) {
  if (is_standard_output(file)) {
    print(text);
  } else {
    write_file_atomically(file, std::string(text));
  }
}

void write_data(const std::string& file, std::string_view bytes) {
  if (!is_standard_output(file)) {
    write_file_atomically(file, std::string(bytes));
  } else if (is_tty(Stream::out)) {
    throw Error(ErrorKind::usage, "these bytes are no text for a terminal. Name a file with --out");
  } else {
    write_output(bytes);
  }
}

void replace_in_output(std::string what, std::string by) {
  replacements().emplace_back(std::move(what), std::move(by));
}

void print(std::string_view given) {
  const std::string text = with_replacements(given);
  write_output(is_tty(Stream::out) ? fit_for_terminal(text) : without_control_characters(text));
}

void print_data(std::string_view text) {
  write_output(is_tty(Stream::out) ? fit_for_terminal(text) : std::string(text));
}

void complain(std::string_view message) {
  constexpr std::string_view kProgram = "hindsight: ", kWord = "error:";
  const std::size_t width = kMostErrorWidth - kProgram.size() - kWord.size() - 1;
  write_error_line(fmt::format("{}{} {}\n", kProgram, in_red(kWord, Stream::err),
                               without_middle(one_line(log::without_passwords(message)), width)));
}

void remark(std::string_view message) {
  write_error_line(fmt::format("hindsight: {}\n", one_line(log::without_passwords(message))));
}

void suggest_line(const std::string& command, const std::string& role) {
  if (is_tty(Stream::out)) remark(role + ": " + command);
}

void suggest(const std::vector<std::string>& words, const std::string& role) {
  suggest_line(shell_command(words), role);
}

int output_columns() { return is_tty(Stream::out) ? terminal_columns(Stream::out) : 0; }

}  // namespace hindsight::app

/// Writes what the program says: whole files or nothing, errors as one safe line.
#include "output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/terminal.h"

namespace hindsight::app {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
}

std::string without_control_characters(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (is_control(c)) c = '?';
  }
  return out;
}

/// Errors on standard error have nowhere to be reported.
void write_error_line(const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string one_line(std::string_view message) {
  std::string line = without_control_characters(message);
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return line;
}

}  // namespace

void print_or_write(const std::string& file, std::string_view text) {
  if (is_standard_output(file)) {
    print(text);
  } else {
    write_file_atomically(file, std::string(text));
  }
}

void print(std::string_view text) {
  const std::string safe = is_tty(Stream::out) ? without_control_characters(text) : std::string(text);
  std::string_view rest = safe;
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

void complain(std::string_view message) {
  write_error_line(fmt::format("hindsight: {} {}\n", styled("error:", Style::red, Stream::err), one_line(message)));
}

void remark(std::string_view message) { write_error_line(fmt::format("hindsight: {}\n", one_line(message))); }

int output_columns() { return is_tty(Stream::out) ? terminal_columns(Stream::out) : 0; }

}  // namespace hindsight::app

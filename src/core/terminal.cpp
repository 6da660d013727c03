/// Properties of the output streams and the width of text on them.
#include "hindsight/core/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/text.h"
#include "utf8.h"

namespace hindsight {
namespace {

constexpr int kDefaultColumns = 80;   // [chosen] the width that pipes and old terminals agree on
constexpr int kMinColumns = 40;       // [chosen] below this no table is readable
constexpr int kMaxColumns = 100'000;  // [chosen] bounds a nonsense COLUMNS

constexpr EnumNames<ColourUse, 3> kColourUses = {
    {{ColourUse::automatic, "auto"}, {ColourUse::always, "always"}, {ColourUse::never, "never"}}};

/// What --color said of this process.
ColourUse& colour_use() {
  static ColourUse use = ColourUse::automatic;
  return use;
}

int descriptor(Stream stream) { return stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO; }

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

/// Length of the escape sequence `ESC [ ... letter` at `position`, 0 when there is none.
std::size_t escape_length(std::string_view text, std::size_t position) {
  if (text.substr(position, 2) != "\x1b[") {
    return 0;
  }
  std::size_t end = position + 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x40) {
    ++end;
  }
  return end < text.size() ? end + 1 - position : text.size() - position;
}

}  // namespace

bool is_tty(Stream stream) { return isatty(descriptor(stream)) == 1; }

bool can_redraw(Stream stream) { return is_tty(stream) && environment("TERM") != "dumb"; }

int terminal_columns(Stream stream) {
  int columns = kDefaultColumns;
  winsize size{};
  if (const auto wanted = parse_int(environment("COLUMNS")); wanted && *wanted > 0) {
    columns = static_cast<int>(std::min<std::int64_t>(*wanted, kMaxColumns));
  } else if (ioctl(descriptor(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    columns = size.ws_col;
  }
  return std::max(columns, kMinColumns);
}

ColourUse parse_colour_use(std::string_view text) { return parse_enum("--color", text, kColourUses); }

void set_colour_use(ColourUse use) { colour_use() = use; }

bool use_colour(Stream stream) {
  if (colour_use() != ColourUse::automatic) return colour_use() == ColourUse::always;
  if (!environment("NO_COLOR").empty()) return false;
  if (const std::string_view forced = environment("CLICOLOR_FORCE"); !forced.empty() && forced != "0") return true;
  return is_tty(stream) && environment("TERM") != "dumb";
}

std::string in_red(std::string_view text, Stream stream) {
  return use_colour(stream) ? fmt::format("\x1b[31m{}\x1b[0m", text) : std::string(text);
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t escape = escape_length(text, i); escape > 0) {
      i += escape;
      continue;
    }
    i += decode_utf8(text, i).length;
    ++width;
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (std::ranges::all_of(text, is_plain)) {  // most are: a byte a character, no codes
    if (text.size() <= width) return std::string(text);
    return width == 0 ? std::string() : std::string(text.substr(0, width - 1)) + "…";
  }
  const bool fits = display_width(text) <= width;
  const std::size_t kept = fits ? width : width - std::min<std::size_t>(width, 1);
  std::string result;
  std::size_t used = 0;
  bool marked = fits || width == 0;
  for (std::size_t i = 0; i < text.size();) {
    if (const std::size_t escape = escape_length(text, i); escape > 0) {
      result.append(text.substr(i, escape));
      i += escape;
      continue;
    }
    const std::size_t length = decode_utf8(text, i).length;
    if (used < kept) {
      result.append(text.substr(i, length));
      ++used;
    } else if (!marked) {
      result.append("…");
      marked = true;
    }
    i += length;
  }
  return result;
}

}  // namespace hindsight

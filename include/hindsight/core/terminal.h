/// What the output streams are: TTY or pipe, width, colour. Honours --color, NO_COLOR, CLICOLOR_FORCE, TERM=dumb and
/// COLUMNS.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hindsight {

enum class Stream { out, err };

[[nodiscard]] bool is_tty(Stream stream);
/// Whether a line can be drawn over: a terminal that knows escape codes.
[[nodiscard]] bool can_redraw(Stream stream);
/// Columns of the terminal (COLUMNS, then ioctl, then 80), never below 40.
[[nodiscard]] int terminal_columns(Stream stream);
/// When text is coloured.
enum class ColourUse {
  automatic,  ///< as the environment and the stream say
  always,
  never,
};
/// "auto", "always" or "never". Errors: as `parse_enum`.
[[nodiscard]] ColourUse parse_colour_use(std::string_view text);
/// For the whole process, both streams. Not for several threads at once: it is said before work begins.
void set_colour_use(ColourUse use);
/// What was set; automatic: false when NO_COLOR is set and not empty, else true when CLICOLOR_FORCE is set and neither
/// empty nor 0, else whether the stream is a TTY and TERM is not dumb.
[[nodiscard]] bool use_colour(Stream stream);
/// `text` in the escape codes for red where `use_colour(stream)`.
[[nodiscard]] std::string in_red(std::string_view text, Stream stream);
/// Number of terminal cells of a UTF-8 text (every code point counts one; escape codes none).
[[nodiscard]] std::size_t display_width(std::string_view text);
/// `text` cut to `width` cells, its last cell "…" when something was cut; escape codes are kept.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

}  // namespace hindsight

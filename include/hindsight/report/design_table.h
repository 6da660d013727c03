/// Designs below a table of results: side by side, by the parameters in which they differ.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hindsight::report {

enum class DesignStyle {
  compact,  ///< short ids, and the parameters in which designs differ
  whole,    ///< short ids and text ids
};

/// "pes_x=4,pes_y=8" after its short id, as one line or several; `prefix` stands before both.
[[nodiscard]] std::string design_line(std::string_view prefix, std::string_view text_id, int columns);

/// The same where `name` is a text id; else the name of a chip alone.
[[nodiscard]] std::string design_or_chip(std::string_view prefix, std::string_view name, int columns);

/// What stands before the short ids of a design table.
enum class DesignHeads {
  ids,      ///< nothing
  numbers,  ///< 1, 2, ... in the order of the designs
};

/// What all designs have alike, then a column per design, headed by its short id, and a row per parameter in which they
/// differ, in as many tables as the width asks for. A single design, designs of several spaces, `whole`, or
/// lines without an end (`columns` <= 0): a design_line() each, so that they can be searched and copied. A design that
/// stands twice is shown once.
[[nodiscard]] std::string design_table(const std::vector<std::string>& text_ids, DesignHeads heads, DesignStyle style,
                                       int columns);

}  // namespace hindsight::report

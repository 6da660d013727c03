/// Renders a Markdown document for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace hindsight::report {

enum class PageStyle {
  plain,   ///< characters only
  styled,  ///< headings and stressed words by escape codes
};

/// The document with lines of at most `columns` (at least 40): paragraphs and lists are filled, code stays as it is
/// (and may be wider), links lose their targets within the documents, tables are aligned where they fit and else
/// written row by row. Comments are left out.
[[nodiscard]] std::string page_text(std::string_view markdown, int columns, PageStyle style);

/// The first heading; empty where there is none.
[[nodiscard]] std::string page_title(std::string_view markdown);

}  // namespace hindsight::report

/// Rows of cells of a small table in which every cell knows its place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hindsight::workload {

struct TextCell {
  std::string text;  ///< without blanks around it; quotes of RFC 4180 removed
  std::size_t column = 1;
};

struct TextRow {
  std::size_t line = 1;
  std::vector<TextCell> cells;
  bool ends_in_separator = false;  ///< the last cell is empty
};

/// A table of at most 16 MiB, row by row: its cells all at once would take twenty times its bytes. UTF-8 byte order
/// marks and CRLF are accepted, rows of empty cells left out.
class TextTable {
 public:
  /// `separators`: each of these characters ends a cell.
  TextTable(const std::filesystem::path& file, std::string_view separators);

  /// The next row; nothing at the end. Errors: Error{usage} with file:line:column for a quote that does not close, a
  /// control character, a NUL byte, or more than 10,000 cells.
  [[nodiscard]] std::optional<TextRow> next();
  /// "file:line:column" of a cell; of the end of the row where it has fewer cells.
  [[nodiscard]] std::string where(const TextRow& row, std::size_t cell) const;
  /// The whole number >= low in a cell. Errors: Error{usage} with the place and `what`.
  [[nodiscard]] std::int64_t number(const TextRow& row, std::size_t cell, std::string_view what,
                                    std::int64_t low = 1) const;

 private:
  std::string file_, content_, separators_;
  std::size_t at_ = 0, line_ = 0;
};

}  // namespace hindsight::workload

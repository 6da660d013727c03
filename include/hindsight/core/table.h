/// Plain-text tables for people: aligned columns that fit the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hindsight {

enum class Align { left, right };

/// A table of text cells. Numbers are right-aligned by the caller's choice of `Align`.
class Table {
 public:
  /// `priority`: when the table is wider than the terminal, columns with the largest number go first
  /// (0 = never dropped); a note under the table names the dropped ones. The first left-aligned column
  /// is shortened with "…" when dropping is not enough.
  void add_column(std::string header, Align align, int priority = 0);
  void add_row(std::vector<std::string> cells);
  /// A horizontal rule before the next row.
  void add_rule();
  /// Keeps the columns of these headers alone, in this order, and none of them is dropped for lack of width; '_' and
  /// '-' stand for a blank, and case does not count. Error{usage} for a header that no column has, with the nearest.
  void choose_columns(const std::vector<std::string>& headers);
  [[nodiscard]] std::size_t row_count() const { return rows_.size(); }
  /// The rendered table, each line at most `columns` wide and ending in a newline.
  /// `columns` <= 0 means unlimited (pipes and files get everything).
  [[nodiscard]] std::string render(int columns) const;
  /// GitHub Markdown.
  [[nodiscard]] std::string markdown() const;

 private:
  struct Column {
    std::string header;
    Align align;
    int priority;
  };
  struct Row {
    bool rule_before = false;
    std::vector<std::string> cells;
  };
  /// What is shown of the columns, and how wide.
  struct Fit {
    std::vector<std::size_t> shown;    ///< columns, in their order
    std::vector<std::size_t> widths;   ///< of those, in cells
    std::vector<std::size_t> dropped;  ///< the other columns, in their order
  };
  /// `limit`: the width of the terminal; 0: unlimited.
  [[nodiscard]] Fit fit(std::size_t limit) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
  bool pending_rule_ = false;
};

}  // namespace hindsight

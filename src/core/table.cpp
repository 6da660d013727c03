/// Rendering of tables.
#include "hindsight/core/table.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/terminal.h"
#include "hindsight/core/text.h"

namespace hindsight {
namespace {

constexpr std::size_t kGapCells = 2;
constexpr std::size_t kReadableCells = 8;  // [chosen] below this a shortened name says nothing

/// Line breaks and tabs would tear a row apart.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::string text = shortened(cell, width);
  const std::string space(width - display_width(text), ' ');
  return align == Align::left ? text + space : space + text;
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::size_t total_width(const std::vector<std::size_t>& widths) {
  const std::size_t gaps = widths.empty() ? 0 : (widths.size() - 1) * kGapCells;
  return std::accumulate(widths.begin(), widths.end(), gaps);
}

/// Breaks `text` at blanks into lines of at most `width` cells; longer words are shortened.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string result;
  std::string line;
  for (const std::string& word : split(text, ' ')) {
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      result += line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + shortened(word, width);
  }
  return result + line + "\n";
}

/// A header as it is compared with what a user typed.
std::string plain_header(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_' || c == '-') c = ' ';
  }
  return text;
}

/// A cell of a Markdown table: bars escaped, escape codes removed.
std::string markdown_cell(const std::string& cell) {
  std::string result;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    if (cell.compare(i, 2, "\x1b[") == 0) {
      i = std::min(cell.find('m', i), cell.size() - 1);
    } else if (cell[i] == '|') {
      result += "\\|";
    } else {
      result += cell[i];
    }
  }
  return result;
}

}  // namespace

void Table::add_column(std::string header, Align align, int priority) {
  HINDSIGHT_EXPECT(rows_.empty());
  columns_.push_back({.header = on_one_line(std::move(header)), .align = align, .priority = priority});
}

void Table::add_row(std::vector<std::string> cells) {
  HINDSIGHT_EXPECT(cells.size() <= columns_.size());
  cells.resize(columns_.size());
  std::transform(cells.begin(), cells.end(), cells.begin(), on_one_line);
  rows_.push_back({.rule_before = std::exchange(pending_rule_, false), .cells = std::move(cells)});
}

void Table::choose_columns(const std::vector<std::string>& headers) {
  std::vector<std::string> known;
  for (const Column& column : columns_) known.push_back(column.header);
  std::vector<std::size_t> chosen;
  for (const std::string& header : headers) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const std::string& one) { return plain_header(one) == plain_header(header); });
    if (found == known.end()) {
      throw Error(ErrorKind::usage, "--columns: " + unknown_name("column", header, known));
    }
    chosen.push_back(static_cast<std::size_t>(found - known.begin()));
  }
  std::vector<Column> columns;
  for (const std::size_t c : chosen) columns.push_back({columns_[c].header, columns_[c].align, 0});
  for (Row& row : rows_) {
    std::vector<std::string> cells;
    for (const std::size_t c : chosen) cells.push_back(row.cells[c]);
    row.cells = std::move(cells);
  }
  columns_ = std::move(columns);
}

void Table::add_rule() { pending_rule_ = true; }

Table::Fit Table::fit(std::size_t limit) const {
  Fit fit{.shown = std::vector<std::size_t>(columns_.size()),
          .widths = std::vector<std::size_t>(columns_.size()),
          .dropped = {}};
  std::iota(fit.shown.begin(), fit.shown.end(), std::size_t{0});
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    fit.widths[c] = display_width(columns_[c].header);
    for (const Row& row : rows_) fit.widths[c] = std::max(fit.widths[c], display_width(row.cells[c]));
  }
  const auto too_wide = [&] { return limit > 0 && total_width(fit.widths) > limit; };
  while (too_wide()) {
    // The rightmost of the least important columns.
    std::size_t victim = 0;
    for (std::size_t i = 0; i < fit.shown.size(); ++i) {
      if (columns_[fit.shown[i]].priority >= columns_[fit.shown[victim]].priority) victim = i;
    }
    if (columns_[fit.shown[victim]].priority <= 0) break;
    fit.dropped.push_back(fit.shown[victim]);
    fit.shown.erase(fit.shown.begin() + static_cast<std::ptrdiff_t>(victim));
    fit.widths.erase(fit.widths.begin() + static_cast<std::ptrdiff_t>(victim));
  }
  std::sort(fit.dropped.begin(), fit.dropped.end());
  if (too_wide()) {
    const auto first_left = std::find_if(fit.shown.begin(), fit.shown.end(),
                                         [&](std::size_t c) { return columns_[c].align == Align::left; });
    if (first_left != fit.shown.end()) {
      std::size_t& width = fit.widths[static_cast<std::size_t>(first_left - fit.shown.begin())];
      const std::size_t excess = total_width(fit.widths) - limit;
      width = std::max(std::min(width, kReadableCells), width - std::min(width, excess));
    }
  }
  while (too_wide() && *std::max_element(fit.widths.begin(), fit.widths.end()) > 1) {
    --*std::max_element(fit.widths.begin(), fit.widths.end());
  }
  return fit;
}

std::string Table::render(int columns) const {
  const std::size_t limit = columns <= 0 ? 0 : static_cast<std::size_t>(columns);
  const Fit fitted = fit(limit);
  const auto& shown = fitted.shown;
  const auto& widths = fitted.widths;
  std::string result;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      line +=
          (i == 0 ? "" : std::string(kGapCells, ' ')) + padded(cell_of(shown[i]), widths[i], columns_[shown[i]].align);
    }
    result += without_trailing_space(limit == 0 ? line : shortened(line, limit)) + "\n";
  };
  const std::size_t rule_width = limit == 0 ? total_width(widths) : std::min(total_width(widths), limit);
  const std::string rule = std::string(rule_width, '-') + "\n";
  add_line([&](std::size_t c) -> const std::string& { return columns_[c].header; });
  result += rule;
  for (const Row& row : rows_) {
    if (row.rule_before) result += rule;
    add_line([&](std::size_t c) -> const std::string& { return row.cells[c]; });
  }
  if (!fitted.dropped.empty()) {
    std::vector<std::string> names;
    for (const std::size_t c : fitted.dropped) names.push_back(columns_[c].header);
    result += wrapped("Not shown for lack of width: " + join(names, ", ") + ".", limit);
  }
  return result;
}

std::string Table::markdown() const {
  std::string result = "|";
  for (const Column& column : columns_) {
    result += " " + markdown_cell(column.header) + " |";
  }
  result += "\n|";
  for (const Column& column : columns_) {
    result += column.align == Align::left ? ":---|" : "---:|";
  }
  result += "\n";
  for (const Row& row : rows_) {
    result += "|";
    for (const std::string& cell : row.cells) {
      result += " " + markdown_cell(cell) + " |";
    }
    result += "\n";
  }
  return result;
}

}  // namespace hindsight

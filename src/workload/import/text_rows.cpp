/// Splits small tables into cells with places.
#include "workload/import/text_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/workload/layer.h"
#include "workload/import/import_parts.h"

namespace hindsight::workload {
namespace {

constexpr std::uint64_t kLargestTableBytes = std::uint64_t{16} << 20U;  // [chosen] a million layers
constexpr std::size_t kMostCells = 10'000;                              // [chosen] of a row, as of a CSV table

/// One line, cut into cells.
class LineSplitter {
 public:
  LineSplitter(std::string_view line, std::string_view separators, std::string place)
      : line_(line), separators_(separators), place_(std::move(place)) {}

  std::vector<TextCell> cells() {
    std::vector<TextCell> result;
    while (true) {
      if (result.size() == kMostCells) {
        fail_import(fmt::format("{}:{}", place_, at_ + 1),
                    fmt::format("more than {} cells in a row. Is this a table?", with_commas(kMostCells)));
      }
      result.push_back(next());
      if (at_ == line_.size()) break;
      ++at_;  // the separator
      if (at_ == line_.size()) {
        result.push_back({.text = "", .column = at_ + 1});
        break;
      }
    }
    return result;
  }

 private:
  [[nodiscard]] bool at_separator() const { return separators_.find(line_[at_]) != std::string_view::npos; }

  TextCell next() {
    while (at_ < line_.size() && line_[at_] == ' ') ++at_;
    TextCell cell{.text = "", .column = at_ + 1};
    if (at_ < line_.size() && line_[at_] == '"') return quoted_cell(cell);
    while (at_ < line_.size() && !at_separator()) cell.text += line_[at_++];
    cell.text = std::string(trimmed(cell.text));
    return cell;
  }

  TextCell quoted_cell(TextCell cell) {
    ++at_;
    while (true) {
      if (at_ == line_.size()) {
        fail_import(fmt::format("{}:{}", place_, cell.column), "a quote that does not close. Write its other one?");
      }
      if (line_[at_] == '"') {
        if (at_ + 1 == line_.size() || line_[at_ + 1] != '"') break;
        ++at_;
      }
      cell.text += line_[at_++];
    }
    ++at_;
    while (at_ < line_.size() && line_[at_] == ' ') ++at_;
    if (at_ < line_.size() && !at_separator()) {
      fail_import(fmt::format("{}:{}", place_, at_ + 1), "text behind a closing quote (a cell ends there)");
    }
    return cell;
  }

  std::string_view line_, separators_;
  std::string place_;
  std::size_t at_ = 0;
};

}  // namespace

TextTable::TextTable(const std::filesystem::path& file, std::string_view separators)
    : file_(printable(file.string(), kWholeText)),
      content_(read_file(file, kLargestTableBytes)),
      separators_(separators) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (content_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
}

std::optional<TextRow> TextTable::next() {
  while (at_ < content_.size()) {
    const std::size_t end = std::min(content_.find('\n', at_), content_.size());
    std::string_view text = std::string_view(content_).substr(at_, end - at_);
    at_ = end + 1;
    ++line_;
    if (text.ends_with('\r')) text.remove_suffix(1);
    const auto odd =
        std::ranges::find_if(text, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; });
    if (odd != text.end()) {
      fail_import(fmt::format("{}:{}:{}", file_, line_, odd - text.begin() + 1),
                  "a control character (is this a text file?)");
    }
    TextRow row{.line = line_, .cells = LineSplitter(text, separators_, fmt::format("{}:{}", file_, line_)).cells()};
    if (std::ranges::all_of(row.cells, [](const TextCell& cell) { return cell.text.empty(); })) continue;
    row.ends_in_separator = row.cells.back().text.empty();
    return row;
  }
  return std::nullopt;
}

std::string TextTable::where(const TextRow& row, std::size_t cell) const {
  const std::size_t at = std::min(cell, row.cells.size() - 1);
  return fmt::format("{}:{}:{}", file_, row.line, row.cells[at].column);
}

std::int64_t TextTable::number(const TextRow& row, std::size_t cell, std::string_view what, std::int64_t low) const {
  const std::string text = cell < row.cells.size() ? row.cells[cell].text : std::string();
  const std::optional<std::int64_t> value = parse_int(text);
  if (!value || *value < low || *value > kLargestSize) {
    fail_import(where(row, cell),
                text.empty() ? fmt::format("{} is missing. Write a whole number in {}..{}", what, low, kLargestSize)
                             : fmt::format("{} is '{}', but takes a whole number in {}..{}", what, printable(text), low,
                                           kLargestSize));
  }
  return *value;
}

}  // namespace hindsight::workload

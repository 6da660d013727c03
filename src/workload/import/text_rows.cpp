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

/// One line, cut into cells.
class LineSplitter {
 public:
  LineSplitter(std::string_view line, std::string_view separators, std::string place)
      : line_(line), separators_(separators), place_(std::move(place)) {}

  std::vector<TextCell> cells() {
    std::vector<TextCell> result;
    while (true) {
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
      if (at_ == line_.size()) fail_import(fmt::format("{}:{}", place_, cell.column), "a quote that does not close");
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
    : file_(printable(file.string(), kWholeText)) {
  const std::string content = read_file(file, kLargestTableBytes);
  std::string_view rest = content;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  for (std::size_t line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (text.ends_with('\r')) text.remove_suffix(1);
    const auto odd =
        std::ranges::find_if(text, [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; });
    if (odd != text.end()) {
      fail_import(fmt::format("{}:{}:{}", file_, line, odd - text.begin() + 1),
                  "a control character (is this a text file?)");
    }
    TextRow row{.line = line, .cells = LineSplitter(text, separators, fmt::format("{}:{}", file_, line)).cells()};
    if (std::ranges::all_of(row.cells, [](const TextCell& cell) { return cell.text.empty(); })) continue;
    row.ends_in_separator = row.cells.back().text.empty();
    rows_.push_back(std::move(row));
  }
}

std::string TextTable::where(const TextRow& row, std::size_t cell) const {
  const std::size_t at = std::min(cell, row.cells.size() - 1);
  return fmt::format("{}:{}:{}", file_, row.line, row.cells[at].column);
}

std::int64_t TextTable::number(const TextRow& row, std::size_t cell, std::string_view what, std::int64_t low) const {
  const std::string text = cell < row.cells.size() ? row.cells[cell].text : std::string();
  const std::optional<std::int64_t> value = parse_int(text);
  if (!value || *value < low || *value > kLargestSize) {
    fail_import(where(row, cell), text.empty() ? fmt::format("{} is missing", what)
                                               : fmt::format("{} is '{}', but takes a whole number in {}..{}", what,
                                                             printable(text), low, kLargestSize));
  }
  return *value;
}

}  // namespace hindsight::workload

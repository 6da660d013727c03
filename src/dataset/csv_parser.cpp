/// Reads records cell by cell; a window that ends within one is continued.
#include "dataset/csv_parser.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/spreadsheet.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 24U;  // [chosen] sixteen of the largest cells
constexpr std::size_t kMaxColumns = 10'000;                     // [chosen] twice what a design space may have
constexpr std::size_t kWindowBytes = std::size_t{1} << 16U;     // [chosen] what a pipe holds

}  // namespace

CsvParser::CsvParser(std::string_view text, std::filesystem::path file, char separator)
    : text_(text), file_(std::move(file)), separator_(separator) {
  skip_byte_order_mark();
}

CsvParser::CsvParser(ByteSource& source, std::filesystem::path file, char separator)
    : source_(&source), file_(std::move(file)), separator_(separator) {
  skip_byte_order_mark();
}

void CsvParser::skip_byte_order_mark() {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  while (text_.size() < kByteOrderMark.size() && fetch()) {
  }
  if (!text_.starts_with(kByteOrderMark)) return;
  at_ = kByteOrderMark.size();
  line_start_ = static_cast<std::ptrdiff_t>(at_);
}

std::vector<std::string> CsvParser::read_header() {
  CsvBlock block;
  while (!at_end() && skip_blank_line()) {
  }
  if (at_end()) fail(1, 1, "the table is empty. A first line with the names of the columns is needed");
  const std::size_t line = line_;
  read_record(block);
  std::vector<std::string> names;
  for (const CsvBlock::Cell& cell : block.cells) names.push_back(block.text.substr(cell.begin, cell.end - cell.begin));
  check_header(names, line);
  columns_ = names.size();
  return names;
}

bool CsvParser::next(CsvBlock& block) {
  while (!at_end()) {
    fetched_ = false;
    if (skip_blank_line()) continue;
    const std::size_t line = line_, cells_before = block.cells.size(), text_before = block.text.size();
    const auto forget = [&] {
      block.cells.resize(cells_before);
      block.text.resize(text_before);
    };
    try {
      read_record(block);
      const std::size_t cells = block.cells.size() - cells_before;
      if (cells == columns_) return true;
      fail(line, 1,
           fmt::format("{} cells, but the header has {} columns (each row has one cell per column). Is a {} or a "
                       "quote missing?",
                       cells, columns_, separator_name()));
    } catch (const Error&) {
      forget();
      throw;
    }
  }
  return false;
}

void CsvParser::fail(std::size_t line, std::size_t column, const std::string& problem) const {
  throw Error(ErrorKind::usage, fmt::format("{}:{}:{}: {}", printable(file_.string(), 400), line, column, problem));
}

/// Reads more behind the window, and drops what stands before `keep_`. False at the end of the source.
bool CsvParser::fetch() {
  if (source_ == nullptr || ended_) return false;
  window_.erase(0, keep_);
  at_ -= keep_;
  line_start_ -= static_cast<std::ptrdiff_t>(keep_);
  keep_ = 0;
  const std::size_t had = window_.size();
  window_.resize(had + kWindowBytes);
  const std::size_t got = source_->read(std::span(window_).subspan(had));
  window_.resize(had + got);
  text_ = window_;
  fetched_ = true;
  ended_ = got == 0;
  return !ended_;
}

bool CsvParser::followed_by(char c) {
  if (at_ + 1 == text_.size()) fetch();
  return at_ + 1 < text_.size() && text_[at_ + 1] == c;
}

void CsvParser::skip_blanks() {
  while (!at_end() && is_blank(text_[at_])) ++at_;
}

/// Steps over one line end: LF, CR LF or CR.
void CsvParser::take_line_end() {
  at_ += text_[at_] == '\r' && followed_by('\n') ? 2 : 1;
  ++line_;
  line_start_ = static_cast<std::ptrdiff_t>(at_);
}

/// Leaves a line that is not blank as it is.
bool CsvParser::skip_blank_line() {
  keep_ = at_;
  skip_blanks();
  if (at_end()) return true;
  if (is_line_end(text_[at_])) {
    take_line_end();
    return true;
  }
  at_ = keep_;
  return false;
}

void CsvParser::read_record(CsvBlock& block) {
  const std::size_t line = line_, cells_before = block.cells.size(), text_before = block.text.size();
  while (true) {
    read_cell(block);
    if (block.cells.size() - cells_before > kMaxColumns) {
      fail_here(fmt::format("more than {} columns. Is this a CSV table?", with_commas(kMaxColumns)));
    }
    if (block.text.size() - text_before > kMaxRecordBytes) {
      fail(line, 1,
           fmt::format("a row of more than {}. Is a quote missing?",
                       binary_bytes(static_cast<double>(kMaxRecordBytes))));
    }
    if (at_end()) return;
    if (is_line_end(text_[at_])) {
      take_line_end();
      return;
    }
    ++at_;  // the separator
  }
}

void CsvParser::read_cell(CsvBlock& block) {
  keep_ = at_;
  skip_blanks();
  const auto begin = static_cast<std::uint32_t>(block.text.size());
  const CsvTable::Place place{.line = static_cast<std::uint32_t>(line_),
                              .column = static_cast<std::uint32_t>(column())};
  if (!at_end() && text_[at_] == '"') {
    read_quoted(block);
  } else {
    read_plain(block);
  }
  const std::uint32_t guard = has_formula_guard(std::string_view(block.text).substr(begin)) ? 1 : 0;
  block.cells.push_back({.begin = begin + guard, .end = static_cast<std::uint32_t>(block.text.size()), .place = place});
}

void CsvParser::read_plain(CsvBlock& block) {
  keep_ = at_;
  while (!at_end()) {
    const char c = text_[at_];
    if (c == separator_ || is_line_end(c)) break;
    if (c == '"') {
      fail_here(
          "a quote inside a cell that does not start with one. Put the whole cell in quotes and double the "
          "quotes in it");
    }
    check_byte(c, at_ - keep_);
    ++at_;
  }
  std::size_t end = at_;
  while (end > keep_ && is_blank(text_[end - 1])) --end;
  block.text.append(text_.substr(keep_, end - keep_));
}

void CsvParser::read_quoted(CsvBlock& block) {
  const std::size_t line = line_, first_column = column(), begin = block.text.size();
  ++at_;
  while (true) {
    keep_ = at_;
    if (at_end()) fail(line, first_column, "a quote is opened here and never closed. Close it");
    if (text_[at_] == '"') {
      if (!followed_by('"')) break;
      ++at_;
    }
    check_byte(text_[at_], block.text.size() - begin);
    if (is_line_end(text_[at_])) {
      const bool two = text_[at_] == '\r' && followed_by('\n');
      block.text.append(text_.substr(at_, two ? 2 : 1));
      take_line_end();
    } else {
      block.text += text_[at_++];
    }
  }
  ++at_;
  skip_blanks();
  if (!at_cell_end()) {
    fail_here(fmt::format("text after a closing quote. Put a {} between the cells, or double the quotes in the cell",
                          separator_name()));
  }
}

void CsvParser::refuse_byte() const {
  if (text_[at_] == '\0') fail_here("a NUL byte. Is this a CSV table, in UTF-8?");
  fail_here(
      fmt::format("a cell of more than {}. Is a quote missing?", binary_bytes(static_cast<double>(kMaxCellBytes))));
}

const char* CsvParser::separator_name() const {
  return separator_ == '\t' ? "tab" : separator_ == ';' ? "semicolon" : "comma";
}

void CsvParser::check_header(const std::vector<std::string>& cells, std::size_t line) const {
  std::string others = ",;\t|";
  std::erase(others, separator_);
  if (cells.size() == 1 && cells.front().find_first_of(others) != std::string::npos) {
    // Other separators than commas are those that somebody named.
    fail(line, 1,
         fmt::format("one column, '{}' (its columns seem to be separated by something else). {}",
                     printable(cells.front()), separator_ == ',' ? "Write commas" : "Name another --format, or none?"));
  }
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) {
      fail(line, 1,
           fmt::format("column {} has no name{}. Name every column in the first line", i + 1,
                       i == 0 ? " (an index, as pandas writes it without index=False?)" : ""));
    }
    if (!seen.insert(cells[i]).second) {
      fail(line, 1, fmt::format("the name '{}' is used twice. Rename one column", printable(cells[i])));
    }
  }
}

}  // namespace hindsight::dataset

/// Whole CSV tables, as rows of texts.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "dataset/csv_parser.h"
#include "dataset/import_readers.h"
#include "dataset/import_text.h"
#include "hindsight/core/error.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {
namespace {

CsvTable parse(std::string_view text, const std::filesystem::path& file, char separator, std::uint64_t most_cells) {
  CsvParser parser(text, file, separator);
  CsvTable table;
  table.file = file;
  table.header = parser.read_header();
  CsvBlock row;
  row.columns = table.header.size();
  table.rows.widen(row.columns);
  std::vector<CsvTable::Place> places(row.columns);
  const Steps steps("reading rows");
  while (parser.next(row)) {
    const std::size_t number = table.rows.size();
    steps.at(number);
    if (number >= most_cells / row.columns) refuse_cells(file, most_cells);
    table.rows.add_row();
    for (std::size_t i = 0; i < row.columns; ++i) {
      table.rows.set(number, i, row.cell(0, i));
      places[i] = row.place(0, i);
    }
    table.line.push_back(places.front().line);
    table.place.add_row(places);
    row.text.clear();
    row.cells.clear();
  }
  return table;
}

/// "3,5" as "3.5", where the table has no number with a decimal point.
void read_decimal_commas(CsvTable& table) {
  const auto with_point = [](const std::string& cell) -> std::optional<std::string> {
    const std::size_t comma = cell.find(',');
    if (comma == std::string::npos || cell.find_first_of(",.", comma + 1) != std::string::npos) return std::nullopt;
    std::string changed = cell;
    changed[comma] = '.';
    if (!parse_double(changed)) return std::nullopt;
    return changed;
  };
  for (const TableCells::Row& row : table.rows) {
    for (const std::string& cell : row) {
      if (cell.find('.') != std::string::npos && parse_double(cell)) return;
    }
  }
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (std::size_t column = 0; column < table.header.size(); ++column) {
      if (const auto changed = with_point(table.rows[row][column])) table.rows.set(row, column, *changed);
    }
  }
}

}  // namespace

std::size_t CsvTable::column(const std::string& name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    throw Error(ErrorKind::usage, fmt::format("{}: has no column '{}'.{}", printable(file.string(), 400),
                                              printable(name), did_you_mean(name, header)));
  }
  return static_cast<std::size_t>(found - header.begin());
}

CsvTable parse_csv(std::string_view text, const std::filesystem::path& file) {
  return parse(text, file, ',', kAnyCells);
}

CsvTable parse_delimited(std::string_view text, const std::filesystem::path& file, char separator,
                         std::uint64_t most_cells) {
  CsvTable table = parse(text, file, separator, most_cells);
  if (separator == ';') read_decimal_commas(table);
  return table;
}

char separator_of(std::string_view text) {
  const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
  char best = ',';
  std::ptrdiff_t most = 0;
  for (const char candidate : {',', '\t', ';'}) {
    bool quoted = false;
    const std::ptrdiff_t count = std::count_if(line.begin(), line.end(), [&](char c) {
      quoted = quoted != (c == '"');
      return !quoted && c == candidate;
    });
    if (count > most) {
      most = count;
      best = candidate;
    }
  }
  return best;
}

CsvTable read_csv(const std::filesystem::path& file) {
  const ImportText text = read_text(file);
  return parse(text.content, text.shown, ',', text.most_cells);
}

CsvTable read_table(const std::filesystem::path& file) {
  const ImportText text = read_text(file);
  const std::string_view content = text.content;
  constexpr std::string_view kBefore = " \r\n\xef\xbb\xbf";  // blanks, and the bytes of a byte order mark
  const std::string_view begin = content.substr(std::min(content.find_first_not_of(kBefore), content.size()));
  if (begin.starts_with('{') || begin.starts_with('[')) return read_json_rows(content, text.shown, text.most_cells);
  return parse_delimited(content, text.shown, separator_of(begin), text.most_cells);
}

std::string cell_place(const CsvTable& table, std::size_t row, std::size_t column) {
  const CsvTable::Place place = table.place[row][column];
  const std::string file = printable(table.file.string(), 400);
  if (!table.row_word.empty()) return fmt::format("{}: {} {}", file, table.row_word, place.line);
  return place.column > 0 ? fmt::format("{}:{}:{}", file, place.line, place.column)
                          : fmt::format("{}:{}", file, place.line);
}

std::string table_name(const CsvTable& table) {
  constexpr std::array<std::string_view, 10> kEndings = {".gz",    ".zip", ".csv", ".tsv",    ".json",
                                                         ".jsonl", ".log", ".db",  ".sqlite", ".sqlite3"};
  std::filesystem::path name = table.file.filename();
  for (int packed = 0; packed < 2; ++packed) {  // FILE.csv.gz
    const std::string ending = name.extension().string();
    if (std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end()) name = name.stem();
  }
  const std::string text = printable(name.string());
  return text.empty() ? "table" : text;
}

}  // namespace hindsight::dataset

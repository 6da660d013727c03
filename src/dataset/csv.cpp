/// Reads CSV (RFC 4180) and gzip files of foreign origin: bounded, strict, every refusal with its place.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_set>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{2} << 30U;  // [chosen] fits the memory of a small machine
constexpr std::size_t kMaxCellBytes = std::size_t{1} << 20U;      // [chosen] far above any value or message
constexpr std::size_t kMaxColumns = 10'000;                       // [chosen] twice what a design space may have

/// Unpacks a gzip file, of several members too.
std::string unpacked(const std::string& packed, const std::string& file) {
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorKind::incompatible, fmt::format("{}: {}. Get the file again?", printable(file, 400), problem));
  };
  constexpr int kGzipWindow = 15 + 16;  // zlib: largest window, gzip header
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) {
    throw Error(ErrorKind::failure, fmt::format("{}: not enough memory to unpack it", printable(file, 400)));
  }
  struct InflateEnd {
    z_stream& stream;
    ~InflateEnd() { inflateEnd(&stream); }
  } const end{stream};
  std::string text;
  std::array<unsigned char, std::size_t{1} << 16U> buffer{};
  std::size_t taken = 0;
  int status = Z_OK;
  while (status != Z_STREAM_END || taken < packed.size() || stream.avail_in > 0) {
    if (stream.avail_in == 0) {
      constexpr std::size_t kMostAtOnce = std::size_t{1} << 30U;  // zlib counts in unsigned int
      const std::size_t chunk = std::min(packed.size() - taken, kMostAtOnce);
      if (chunk == 0) refuse("the gzip file is truncated");
      // zlib takes a pointer to mutable bytes and does not change them.
      stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(packed.data() + taken));
      stream.avail_in = static_cast<unsigned>(chunk);
      taken += chunk;
    }
    if (status == Z_STREAM_END && inflateReset(&stream) != Z_OK) refuse("the gzip file is damaged");
    stream.next_out = buffer.data();
    stream.avail_out = static_cast<unsigned>(buffer.size());
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) refuse("the gzip file is damaged");
    text.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - stream.avail_out);
    if (text.size() > kMaxFileBytes) {
      refuse(fmt::format("unpacks to more than {}, the most that is read here",
                         binary_bytes(static_cast<double>(kMaxFileBytes))));
    }
  }
  return text;
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_line_end(char c) { return c == '\n' || c == '\r'; }

/// A recursive-descent reader over the whole text.
class Parser {
 public:
  Parser(std::string_view text, const std::filesystem::path& file) : text_(text) {
    table_.file = file;
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (text_.starts_with(kByteOrderMark)) {
      text_.remove_prefix(kByteOrderMark.size());
    }
  }

  CsvTable parse() {
    while (!at_end()) {
      if (skip_blank_line()) {
        continue;
      }
      const std::size_t line = line_;
      places_.clear();
      std::vector<std::string> cells = read_record();
      if (table_.header.empty()) {
        check_header(cells, line);
        table_.header = std::move(cells);
        continue;
      }
      if (cells.size() != table_.header.size()) {
        fail(line, 1,
             fmt::format("{} cells, but the header has {} columns (each row has one cell per column). Is a comma or a "
                         "quote missing?",
                         cells.size(), table_.header.size()));
      }
      table_.rows.push_back(std::move(cells));
      table_.line.push_back(line);
      table_.place.push_back(places_);
    }
    if (table_.header.empty()) {
      fail(1, 1, "the table is empty. A first line with the names of the columns is needed");
    }
    return std::move(table_);
  }

 private:
  [[noreturn]] void fail(std::size_t line, std::size_t column, const std::string& problem) const {
    throw Error(ErrorKind::usage,
                fmt::format("{}:{}:{}: {}", printable(table_.file.string(), 400), line, column, problem));
  }
  [[noreturn]] void fail_here(const std::string& problem) const { fail(line_, column(), problem); }

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] bool at_cell_end() const { return at_end() || text_[at_] == ',' || is_line_end(text_[at_]); }
  [[nodiscard]] std::size_t column() const { return at_ - line_start_ + 1; }

  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }

  /// Steps over one line end: LF, CR LF or CR.
  void take_line_end() {
    at_ += text_.substr(at_).starts_with("\r\n") ? 2 : 1;
    ++line_;
    line_start_ = at_;
  }

  bool skip_blank_line() {
    const std::size_t begin = at_;
    skip_blanks();
    if (at_end()) {
      return true;
    }
    if (is_line_end(text_[at_])) {
      take_line_end();
      return true;
    }
    at_ = begin;
    return false;
  }

  std::vector<std::string> read_record() {
    std::vector<std::string> cells;
    cells.reserve(table_.header.size());
    while (true) {
      cells.push_back(read_cell());
      if (cells.size() > kMaxColumns) {
        fail_here(fmt::format("more than {} columns. Is this a CSV table?", with_commas(kMaxColumns)));
      }
      if (at_end()) {
        return cells;
      }
      if (is_line_end(text_[at_])) {
        take_line_end();
        return cells;
      }
      ++at_;  // the comma
    }
  }

  std::string read_cell() {
    skip_blanks();
    places_.push_back({.line = static_cast<std::uint32_t>(line_), .column = static_cast<std::uint32_t>(column())});
    if (!at_end() && text_[at_] == '"') {
      return read_quoted();
    }
    const std::size_t begin = at_;
    while (!at_cell_end()) {
      if (text_[at_] == '"') {
        fail_here(
            "a quote inside a cell that does not start with one. Put the whole cell in quotes and double the "
            "quotes in it");
      }
      check_byte(at_ - begin);
      ++at_;
    }
    std::size_t end = at_;
    while (end > begin && is_blank(text_[end - 1])) --end;
    return std::string(text_.substr(begin, end - begin));
  }

  std::string read_quoted() {
    const std::size_t line = line_, first_column = column();
    std::string cell;
    ++at_;
    while (true) {
      if (at_end()) {
        fail(line, first_column, "a quote is opened here and never closed. Close it");
      }
      if (text_[at_] == '"') {
        if (!text_.substr(at_).starts_with("\"\"")) {
          break;
        }
        ++at_;
      }
      check_byte(cell.size());
      if (is_line_end(text_[at_])) {
        const std::size_t begin = at_;
        take_line_end();
        cell += text_.substr(begin, at_ - begin);
      } else {
        cell += text_[at_++];
      }
    }
    ++at_;
    skip_blanks();
    if (!at_cell_end()) {
      fail_here("text after a closing quote. Put a comma between the cells, or double the quotes in the cell");
    }
    return cell;
  }

  void check_byte(std::size_t cell_size) const {
    if (text_[at_] == '\0') {
      fail_here("a NUL byte. Is this a CSV table, in UTF-8?");
    }
    if (cell_size >= kMaxCellBytes) {
      fail_here(
          fmt::format("a cell of more than {}. Is a quote missing?", binary_bytes(static_cast<double>(kMaxCellBytes))));
    }
  }

  void check_header(const std::vector<std::string>& cells, std::size_t line) const {
    if (cells.size() == 1) {
      for (const char separator : {';', '\t', '|'}) {
        if (cells.front().find(separator) != std::string::npos) {
          fail(line, 1,
               fmt::format("one column, '{}' (its columns seem to be separated by something else). Write commas",
                           printable(cells.front())));
        }
      }
    }
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].empty()) {
        fail(line, 1, fmt::format("column {} has no name. Name every column in the first line", i + 1));
      }
      if (!seen.insert(cells[i]).second) {
        fail(line, 1, fmt::format("the name '{}' is used twice. Rename one column", printable(cells[i])));
      }
    }
  }

  std::string_view text_;
  CsvTable table_;
  std::vector<CsvTable::Place> places_;  ///< of the record that is read
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t line_start_ = 0;
};

}  // namespace

std::size_t CsvTable::column(const std::string& name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) {
    throw Error(ErrorKind::usage, fmt::format("{}: has no column '{}'.{}", printable(file.string(), 400),
                                              printable(name), did_you_mean(name, header)));
  }
  return static_cast<std::size_t>(found - header.begin());
}

CsvTable parse_csv(std::string_view text, const std::filesystem::path& file) { return Parser(text, file).parse(); }

CsvTable read_csv(const std::filesystem::path& file) {
  const bool standard_input = file == "-";
  const std::filesystem::path shown = standard_input ? std::filesystem::path("standard input") : file;
  const std::string content = read_file(standard_input ? std::filesystem::path("/dev/stdin") : file, kMaxFileBytes);
  constexpr std::string_view kGzipMagic = "\x1f\x8b";
  return parse_csv(content.starts_with(kGzipMagic) ? unpacked(content, shown.string()) : content, shown);
}

std::string table_name(const CsvTable& table) {
  std::filesystem::path name = table.file.filename();
  for (const char* extension : {".gz", ".csv"}) {
    if (name.extension() == extension) name = name.stem();
  }
  const std::string text = printable(name.string());
  return text.empty() ? "table" : text;
}

}  // namespace hindsight::dataset

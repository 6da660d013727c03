/// Roles and names of a table's columns, and what their cells may be.
#include "dataset/csv_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "hindsight/core/ascii.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

/// Names of parameters have at most 64 characters; the rest is room for "_value" or a number.
constexpr std::size_t kMaxName = 58;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Units, and no number, whose capitals begin no word.
constexpr std::array<std::string_view, 19> kUnits = {"KiB", "MiB", "GiB", "TiB", "kB", "kHz", "nW", "uW", "mW", "kW",
                                                     "fJ",  "pJ",  "nJ",  "uJ",  "mJ", "kJ",  "mV", "mA", "NaN"};
/// What a rate is counted per: "GB/s", "GFLOP/W".
constexpr std::array<std::string_view, 9> kDenominators = {"s", "ms", "us", "ns", "cycle", "W", "J", "mm2", "B"};

template <std::size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_word(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }

std::size_t word_length(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_word) - text.begin());
}

/// The text with micro signs as u and raised digits as digits: "µs" is us, "mm²" is mm2.
std::string with_plain_units(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 4> kSigns = {
      {{"\xC2\xB5", 'u'}, {"\xCE\xBC", 'u'}, {"\xC2\xB2", '2'}, {"\xC2\xB3", '3'}}};
  std::string plain;
  while (!text.empty()) {
    const auto sign =
        std::find_if(kSigns.begin(), kSigns.end(), [&](const auto& s) { return text.starts_with(s.first); });
    plain += sign == kSigns.end() ? text.front() : sign->second;
    text.remove_prefix(sign == kSigns.end() ? 1 : sign->first.size());
  }
  return plain;
}

/// Where the unit begins that a word is, or ends in as in bufferKiB; its length when there is none.
std::size_t unit_of(std::string_view word) {
  for (const std::string_view unit : kUnits) {
    const bool begins = word.size() == unit.size() || is_upper(unit.front());
    if (begins && word.ends_with(unit)) return word.size() - unit.size();
  }
  return word.size();
}

/// Adds a word in small letters, cut where a capital follows a small letter or a digit; a unit stays whole.
void add_word(std::string_view word, std::string& result) {
  const std::size_t unit = unit_of(word);
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (i > 0 && i <= unit && is_upper(word[i]) && !is_upper(word[i - 1])) result += '_';
    result += is_upper(word[i]) ? static_cast<char>(word[i] - 'A' + 'a') : word[i];
  }
}

/// snake_case names, made unique by a number where columns differ only in case or punctuation.
std::vector<NamedColumn> named(const CsvTable& table, const std::vector<std::size_t>& columns) {
  std::vector<NamedColumn> result;
  std::set<std::string> used;
  std::map<std::string, int> next;  // number of a base that may be free: thousands of columns may have one base
  for (const std::size_t column : columns) {
    std::string base = snake_case(table.header[column]);
    if (base.empty()) {
      base = fmt::format("column_{}", column + 1);
    } else if (is_digit(base.front())) {
      base = ("p" + base).substr(0, kMaxName);
    }
    std::string name = base;
    for (int& number = next.try_emplace(base, 2).first->second; !used.insert(name).second; ++number) {
      name = fmt::format("{}_{}", base, number);
    }
    result.push_back({.column = column, .name = name});
  }
  return result;
}

/// Gives columns their roles, each once.
class RoleBook {
 public:
  explicit RoleBook(const CsvTable& table) : table_(table) {}

  std::size_t take(const std::string& name, const std::string& role) {
    const std::size_t column = table_.column(name);
    const auto [entry, fresh] = roles_.try_emplace(column, role);
    if (!fresh) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: column '{}' is named as {} and as {} (a column has one role). Choose one",
                              printable(table_.file.string(), 400), printable(name), entry->second, role));
    }
    return column;
  }
  std::vector<std::size_t> take_all(const std::vector<std::string>& names, const std::string& role) {
    std::vector<std::size_t> columns;
    for (const std::string& name : names) columns.push_back(take(name, role));
    return columns;
  }
  [[nodiscard]] bool is_free(std::size_t column) const { return !roles_.contains(column); }

 private:
  const CsvTable& table_;
  std::map<std::size_t, std::string> roles_;
};

void take_infeasible(const CsvTable& table, const std::string& text, RoleBook& book, ColumnRoles& result) {
  const bool whole_name = std::find(table.header.begin(), table.header.end(), text) != table.header.end();
  const std::size_t equals = whole_name ? std::string::npos : text.find('=');
  const std::size_t column = table.column(text.substr(0, equals));
  const bool own_value = equals != std::string::npos && !result.objective.name.empty() &&
                         column == result.objective.column;  // the -1 that a tool writes for a run that failed
  result.infeasible = own_value ? column : book.take(text.substr(0, equals), "infeasible");
  if (equals != std::string::npos) {
    result.infeasible_value = text.substr(equals + 1);
  }
}

void require_distinct_metrics(const CsvTable& table, const ColumnRoles& roles) {
  for (const NamedColumn& constraint : roles.constraints) {
    if (constraint.name == roles.objective.name) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: columns '{}' and '{}' would both be the metric '{}'. Rename one column",
                              printable(table.file.string(), 400), printable(table.header[roles.objective.column]),
                              printable(table.header[constraint.column]), constraint.name));
    }
  }
}

}  // namespace

std::string snake_case(std::string_view text) {
  const std::string plain = with_plain_units(text);
  std::string result;
  const auto end_word = [&] {
    if (!result.empty() && result.back() != '_') result += '_';
  };
  std::string_view rest = plain;
  std::string_view before;  // the word in front of the one at hand, when only a '/' stands between them
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, word_length(rest));
    if (word.empty()) {
      before = rest.front() == '/' ? before : std::string_view();
      end_word();
      rest.remove_prefix(1);
      continue;
    }
    if (!before.empty() && is_one_of(kDenominators, word)) result += "per_";
    add_word(word, result);
    before = word;
    rest.remove_prefix(word.size());
  }
  result.resize(std::min(result.size(), kMaxName));
  while (!result.empty() && result.back() == '_') result.pop_back();
  return result;
}

ColumnRoles resolve_roles(const CsvTable& table, const CsvRoles& roles) {
  RoleBook book(table);
  ColumnRoles result;
  if (!roles.objective.empty()) {
    result.objective = named(table, {book.take(roles.objective, "objective")}).front();
  }
  if (roles.infeasible) {
    take_infeasible(table, *roles.infeasible, book, result);
  }
  if (roles.reason) {
    result.reason = book.take(*roles.reason, "reason");
  }
  result.context = named(table, book.take_all(roles.context, "context"));
  result.constraints = named(table, book.take_all(roles.constraints, "constraint"));
  static_cast<void>(book.take_all(roles.ignored, "ignored"));
  const auto reason =
      std::ranges::find_if(table.header, [](const std::string& name) { return lower_case(name) == "reason"; });
  if (!roles.reason && reason != table.header.end()) {
    const auto column = static_cast<std::size_t>(reason - table.header.begin());
    if (book.is_free(column)) {
      result.reason = book.take(*reason, "reason");
    }
  }
  require_distinct_metrics(table, result);
  std::vector<std::size_t> design;
  for (std::size_t column = 0; column < table.header.size(); ++column) {
    if (book.is_free(column)) design.push_back(column);
  }
  if (design.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: no column is left for the design (all have other roles). Name fewer",
                                              printable(table.file.string(), 400)));
  }
  result.design = named(table, design);
  return result;
}

bool is_odd_number(const std::string& cell) {
  std::string lowered;
  for (const char c : cell) lowered += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  std::string_view text = lowered;
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text == "nan" || text == "inf" || text == "infinity") {
    return true;
  }
  return text.size() > 2 && text.starts_with("0x") &&
         text.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
}

bool is_numeric(const CsvTable& table, std::size_t column) {
  bool any = false;
  for (const TableCells::Row& row : table.rows) {
    const std::string& cell = row[column];
    if (cell.empty() || is_odd_number(cell)) {
      continue;
    }
    if (!parse_double(cell)) {
      return false;
    }
    any = true;
  }
  return any;
}

std::string label_of(std::string_view cell) {
  constexpr std::size_t kMaxLabel = 64;
  std::string label;
  // Control characters and broken UTF-8 become \xNN, whose backslash goes the way of the others.
  for (const char c : printable(cell, kWholeText)) {
    const bool reserved = c == ',' || c == '=' || c == '"' || c == '\\';
    label += reserved ? '_' : c;
  }
  if (label.size() > kMaxLabel) {
    std::size_t end = kMaxLabel;
    while (end > 0 && (static_cast<unsigned char>(label[end]) & 0xc0U) == 0x80U) --end;  // not inside a code point
    label.resize(end);
  }
  while (!label.empty() && label.back() == ' ') label.pop_back();
  label.erase(0, std::min(label.find_first_not_of(' '), label.size()));
  return label;
}

bool names_column(const std::string& parameter, const NamedColumn& column) {
  constexpr std::string_view kEnding = "_value";
  if (!std::string_view(parameter).starts_with(column.name)) return false;
  const std::string_view rest = std::string_view(parameter).substr(column.name.size());
  return rest.empty() || rest == kEnding;
}

}  // namespace hindsight::dataset

/// Cells of a table as levels of a design space.
#include "dataset/csv_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "hindsight/core/ascii.h"
#include "hindsight/core/error.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
std::optional<bool> parse_flag(const std::string& cell) {
  constexpr std::array<std::string_view, 4> kTrue = {"true", "yes", "t", "y"};
  constexpr std::array<std::string_view, 4> kFalse = {"false", "no", "f", "n"};
  const std::string text = lower_case(cell);
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return true;
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return false;
  const auto number = parse_double(text);
  if (number && (*number == 0.0 || *number == 1.0)) return *number == 1.0;
  return std::nullopt;
}

bool is_no_value(const std::string& cell) {
  constexpr std::array<std::string_view, 6> kNone = {"", "nan", "n/a", "na", "-", "null"};
  return std::find(kNone.begin(), kNone.end(), lower_case(cell)) != kNone.end();
}

namespace {

/// What typesetting has for a minus sign: U+2212, U+2013, U+FE63, U+FF0D.
constexpr std::array<std::string_view, 4> kTypesetMinuses = {"\u2212", "\u2013", "\ufe63", "\uff0d"};
/// Blanks that it has around and within numbers: U+00A0, U+2007, U+2009, U+202F, U+FEFF.
constexpr std::array<std::string_view, 5> kTypesetBlanks = {"\u00a0", "\u2007", "\u2009", "\u202f", "\ufeff"};

/// A number as a keyboard has it: "-2.5" of one with U+2212 or a no-break space.
std::string as_typed(std::string_view text) {
  std::string typed(text);
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (std::size_t at = typed.find(from); at != std::string::npos; at = typed.find(from, at + to.size())) {
      typed.replace(at, from.size(), to);
    }
  };
  for (const std::string_view minus : kTypesetMinuses) replace(minus, "-");
  for (const std::string_view blank : kTypesetBlanks) replace(blank, "");
  return typed;
}

}  // namespace

bool starts_like_number(std::string_view given) {
  const std::string typed = as_typed(given);
  std::string_view text = typed;
  while (!text.empty() && (text.front() == '+' || text.front() == '-' || text.front() == '.')) text.remove_prefix(1);
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

bool has_decimal_comma(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.find_first_of(",.", comma + 1) != std::string_view::npos) return false;
  std::string number;
  for (const char c : text) {
    if (c != '.') number += c == ',' ? '.' : c;
  }
  return parse_double(number).has_value();
}

bool is_rounded(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  constexpr std::size_t kExactDigits = 15;  // [spec: ieee754] every whole number of so many is a double
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.size() <= kExactDigits || text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  const auto value = parse_double(text);
  return value && fmt::format("{:.0f}", *value) != text;
}

namespace {

/// What to write instead of a number with a comma; empty for other texts.
std::string remedy_of_comma(std::string_view text) {
  if (!has_decimal_comma(text)) return "";
  const std::string_view digits = text.substr(text.front() == '-' || text.front() == '+' ? 1 : 0);
  const std::size_t comma = digits.find(',');
  const bool is_group = digits.find_first_not_of("0123456789,") == std::string_view::npos && comma >= 1 && comma <= 3 &&
                        digits.size() == comma + 4;  // three digits behind it
  if (!is_group && digits.find('.') == std::string_view::npos) return "a decimal comma? Write a point";
  if (!is_group) {
    std::string plain(text);
    std::erase(plain, '.');
    plain[plain.find(',')] = '.';
    return fmt::format("a decimal comma, and points between thousands? Write {}", plain);
  }
  const std::string before(text.substr(0, text.find(','))), behind(digits.substr(comma + 1));
  return fmt::format("a comma between thousands, or a decimal one? Write {0}{1} or {0}.{1}", before, behind);
}

}  // namespace

std::string not_a_number(const std::string& name, const std::string& cell) {
  const std::string typed = as_typed(cell);
  const std::string remedy = typed != cell && parse_double(typed)
                                 ? fmt::format("a sign or a blank of typesetting? Write {}", typed)
                                 : remedy_of_comma(cell);
  return fmt::format("{} is '{}', which is not a number{}", name, printable(cell),
                     remedy.empty() ? "" : fmt::format(" ({})", remedy));
}

std::optional<std::uint16_t> LevelLookup::level(const std::string& cell) {
  const auto [entry, fresh] = known_.try_emplace(cell);
  if (fresh) {
    entry->second = find(cell);
  }
  return entry->second;
}

std::string LevelLookup::refusal(const std::string& cell) const {
  if (cell.empty()) {
    return fmt::format("{} is empty", parameter_->name);
  }
  std::string nearest;
  if (parameter_->kind == space::ParameterKind::categorical) {
    nearest = did_you_mean(cell, parameter_->labels);
  } else if (const auto value = parse_double(cell)) {
    const auto closest =
        std::min_element(parameter_->values.begin(), parameter_->values.end(),
                         [&](double a, double b) { return std::abs(a - *value) < std::abs(b - *value); });
    nearest = fmt::format(" Nearest: {}", shortest(*closest));
  } else {
    nearest = remedy_of_comma(cell);
    if (nearest.empty()) nearest = "write a number";
    nearest.front() = static_cast<char>(nearest.front() - 'a' + 'A');
    nearest.insert(0, " ");
  }
  return fmt::format("{} is '{}', which the space does not have.{}", parameter_->name, printable(cell), nearest);
}

std::optional<std::uint16_t> LevelLookup::find(const std::string& cell) {
  if (parameter_->kind == space::ParameterKind::ordinal) {
    const auto value = is_rounded(cell) ? std::nullopt : parse_double(cell);
    const auto found = value ? std::lower_bound(parameter_->values.begin(), parameter_->values.end(), *value)
                             : parameter_->values.end();
    if (found == parameter_->values.end() || *found != *value) return std::nullopt;
    return static_cast<std::uint16_t>(found - parameter_->values.begin());
  }
  if (levels_.empty()) {
    for (const std::string& label : parameter_->labels) {
      levels_.emplace(label, static_cast<std::uint16_t>(levels_.size()));
    }
  }
  auto found = levels_.find(cell);
  if (found == levels_.end()) found = levels_.find(label_of(cell));
  if (found == levels_.end() || cell.empty()) return std::nullopt;
  return found->second;
}

namespace {

/// Whether a column says how a run ended: texts, one of two numbers, or named so. Counts of what a design takes are 0
/// where it failed as well, and are results.
bool is_flag(const CsvTable& table, std::size_t column) {
  if (is_outcome_name(snake_case(table.header[column]))) return true;
  std::set<std::string> values;
  for (const TableCells::Row& row : table.rows) {
    if (is_no_value(row[column])) continue;
    if (!parse_double(row[column])) return true;
    values.insert(row[column]);
    if (values.size() > 2) return false;
  }
  return true;
}

}  // namespace

bool is_outcome_name(std::string_view name) {
  // [chosen] What columns are called that say whether a run succeeded, or why not.
  constexpr std::array<std::string_view, 25> kOutcomeWords = {
      "valid",  "invalid", "status", "feasible", "infeasible", "failed",  "failure",  "success", "exit",
      "code",   "ok",      "fail",   "pass",     "passed",     "oom",     "crash",    "crashed", "why",
      "reason", "result",  "error",  "errors",   "msg",        "message", "succeeded"};
  const std::vector<std::string> words = split(name, '_');
  return std::ranges::any_of(words, [&](const std::string& word) {
    return std::find(kOutcomeWords.begin(), kOutcomeWords.end(), word) != kOutcomeWords.end();
  });
}

std::optional<std::string> telling_value(const CsvTable& table, std::size_t column, const std::vector<bool>& marked) {
  const auto first = std::find(marked.begin(), marked.end(), true);
  if (first == marked.end() || std::find(marked.begin(), marked.end(), false) == marked.end()) return std::nullopt;
  const std::string& value = table.rows[static_cast<std::size_t>(first - marked.begin())][column];
  if (value.empty()) return std::nullopt;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if ((table.rows[i][column] == value) != marked[i]) return std::nullopt;
  }
  return is_flag(table, column) ? std::optional(value) : std::nullopt;
}

namespace {

/// What to do about a column that is nothing known: the options, the one first whose role its values suggest.
std::string roles_for_column(const CsvTable& table, const ColumnRoles& roles, std::size_t column) {
  std::vector<bool> failed;
  for (const TableCells::Row& row : table.rows) {
    failed.push_back(!roles.objective.name.empty() && !parse_double(row[roles.objective.column]));
  }
  const std::optional<std::string> value = telling_value(table, column, failed);
  if (!value) return "Name it with --ignore, --context or --constraint";
  const std::string flag = fmt::format("{}={}", printable(table.header[column], 40), printable(*value, 20));
  return fmt::format("It tells what failed: --infeasible {}. Else name it with --ignore, --context or --constraint",
                     shell_quoted(flag));
}

}  // namespace

std::vector<LevelLookup> match_columns(const CsvTable& table, const ColumnRoles& roles,
                                       const space::DesignSpace& space) {
  const std::string file = printable(table.file.string(), 400);
  std::vector<bool> used(roles.design.size(), false);
  std::vector<LevelLookup> lookups;
  for (const space::Parameter& parameter : space.parameters()) {
    std::size_t i = 0;
    while (i < used.size() && (used[i] || !names_column(parameter.name, roles.design[i]))) ++i;
    if (i == used.size()) {
      std::vector<std::string> names;
      for (const NamedColumn& column : roles.design) names.push_back(column.name);
      throw Error(ErrorKind::usage, fmt::format("{}: no column for parameter '{}' of space '{}'.{}", file,
                                                parameter.name, space.name(), did_you_mean(parameter.name, names)));
    }
    used[i] = true;
    lookups.emplace_back(parameter, roles.design[i].column);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) {
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: column '{}' is no parameter of space '{}' and has no other role (designs that differ "
                      "in it would be mixed up). {}",
                      printable(table.file.string(), 60), printable(table.header[roles.design[i].column], 40),
                      printable(space.name(), 40), roles_for_column(table, roles, roles.design[i].column)));
    }
  }
  return lookups;
}

}  // namespace hindsight::dataset

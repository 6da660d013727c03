/// Columns without a role that say how rows came out.
#include "dataset/telling_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "dataset/csv_levels.h"
#include "dataset/csv_rows.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
namespace {

constexpr std::size_t kLeastRows = 5;     // [chosen] failed ones, and others: fewer are told apart by chance
constexpr std::size_t kLeastRepeats = 4;  // [chosen] rows per value on one side: a measurement repeats none
constexpr std::size_t kShownName = 40;    // [chosen] characters of a name or a value in a message

/// What a column has in failed rows, and in others.
struct Sides {
  std::set<std::string> failed, good;
};

/// Which rows failed, and how many; whether they tell chance from cause.
struct FailedRows {
  FailedRows(const CsvTable& table, const ColumnRoles& roles)
      : is_failed(failed_rows(table, roles)),
        count(static_cast<std::size_t>(std::count(is_failed.begin(), is_failed.end(), true))),
        others(is_failed.size() - count) {}
  [[nodiscard]] bool are_enough() const { return count >= kLeastRows && others >= kLeastRows; }

  std::vector<bool> is_failed;
  std::size_t count, others;
};

/// Of a column that has a value in failed rows alone, in some or all of them: no parameter, which a good design has
/// too.
std::optional<Sides> sides_of_what_failed(const CsvTable& table, std::size_t column, const FailedRows& rows) {
  Sides sides;
  for (std::size_t row = 0; row < rows.is_failed.size(); ++row) {
    const std::string& cell = table.rows[row][column];
    if (cell.empty()) continue;
    if (!rows.is_failed[row]) return std::nullopt;
    sides.failed.insert(cell);
  }
  if (sides.failed.empty() || rows.others == 0) return std::nullopt;
  sides.good.insert("");
  return sides;
}

/// Nothing where both share a value, or where values hardly repeat.
std::optional<Sides> sides_of(const CsvTable& table, std::size_t column, const FailedRows& rows) {
  if (auto of_failed = sides_of_what_failed(table, column, rows)) return of_failed;
  if (!rows.are_enough()) return std::nullopt;
  Sides sides;
  for (std::size_t row = 0; row < rows.is_failed.size(); ++row) {
    const std::string& cell = table.rows[row][column];
    const bool failed = rows.is_failed[row];
    const bool shared = failed ? sides.good.contains(cell) : sides.failed.contains(cell);
    if (shared) return std::nullopt;
    (failed ? sides.failed : sides.good).insert(cell);
    if (sides.failed.size() + sides.good.size() > space::kMaxLevels) return std::nullopt;  // no parameter either
  }
  const bool repeats =
      kLeastRepeats * sides.failed.size() <= rows.count || kLeastRepeats * sides.good.size() <= rows.others;
  // What is empty in failed runs alone was measured of the others.
  if (!repeats || (sides.failed.size() == 1 && sides.failed.contains(""))) return std::nullopt;
  return sides;
}

/// A column of the table and what it has.
struct Telling {
  NamedColumn column;
  Sides sides;
  bool is_text;
  [[nodiscard]] bool is_empty_in_good_rows() const { return sides.good.size() == 1 && sides.good.contains(""); }
  /// Why a row failed, in words: nothing in others, or several of them.
  [[nodiscard]] bool may_explain() const { return is_text && (is_empty_in_good_rows() || sides.failed.size() > 1); }
};

bool is_shown_whole(const std::string& value) { return !value.empty() && printable(value, kShownName) == value; }

std::string marking(const std::string& name, const std::string& value) {
  return "--infeasible " + shell_quoted(fmt::format("{}={}", printable(name), value));
}

/// Where the column of --reason has one word in all failed rows and in no other: that it marks them, and explains
/// nothing. Else empty.
std::string mark_of_reason(const CsvTable& table, const ColumnRoles& roles, const FailedRows& rows) {
  if (!roles.reason || roles.infeasible) return "";
  Sides sides;
  for (std::size_t row = 0; row < rows.is_failed.size(); ++row) {
    (rows.is_failed[row] ? sides.failed : sides.good).insert(table.rows[row][*roles.reason]);
  }
  const bool marks =
      sides.failed.size() == 1 && is_shown_whole(*sides.failed.begin()) && !sides.good.contains(*sides.failed.begin());
  return marks ? marking(table.header[*roles.reason], *sides.failed.begin()) : "";
}

/// Gives each column the role that its values suggest, and those of which there is one each once.
class RoleGiver {
 public:
  RoleGiver(const CsvTable& table, const ColumnRoles& roles, const FailedRows& rows)
      : table_(table),
        may_mark_(!roles.infeasible),
        may_explain_(!roles.reason),
        mark_of_reason_(mark_of_reason(table, roles, rows)) {}

  /// `explained_later`: by a column that comes after this one.
  std::string role_of(const Telling& one, bool explained_later) {
    const std::string& name = table_.header[one.column.column];
    const std::set<std::string>& failed = one.sides.failed;
    const bool marks = may_mark_ && failed.size() == 1 && is_shown_whole(*failed.begin());
    if (one.may_explain() && may_mark_ && !mark_of_reason_.empty()) {
      may_mark_ = false;
      return mark_of_reason_ + " " + explaining(name);
    }
    if (one.may_explain() && may_explain_ && one.is_empty_in_good_rows() && !(marks && explained_later)) {
      return explaining(name);
    }
    if (marks) {
      may_mark_ = false;
      return marking(name, *failed.begin());
    }
    if (one.may_explain() && may_explain_) return explaining(name);
    const bool is_measured = !one.is_text && failed.size() + one.sides.good.size() > kFewValues;
    return (is_measured ? "--constraint " : "--ignore ") + shell_quoted(printable(name));
  }

 private:
  static constexpr std::size_t kFewValues = 16;  // [chosen] more are no exit codes

  std::string explaining(const std::string& name) {
    may_explain_ = false;
    return "--reason " + shell_quoted(printable(name));
  }

  const CsvTable& table_;
  bool may_mark_, may_explain_;
  std::string mark_of_reason_;
};

std::string in_failed_rows(const CsvTable& table, const Telling& one, const FailedRows& rows) {
  const Sides& sides = one.sides;
  const std::string others = fmt::format("{} others", with_commas(rows.others));
  const std::string all = fmt::format("all {} failed rows", with_commas(rows.count));
  if (one.is_empty_in_good_rows()) {
    std::uint64_t filled = 0;
    for (const TableCells::Row& row : table.rows) filled += row[one.column.column].empty() ? 0 : 1;
    return fmt::format("has a value in {}, none in {}",
                       filled == rows.count ? all : fmt::format("{} of {}", with_commas(filled), all.substr(4)),
                       others);
  }
  const auto shown = [](const std::string& value) { return printable(value, kShownName); };
  if (sides.failed.size() == 1) {
    return fmt::format("is {} in {} and in none of {}", shown(*sides.failed.begin()), all, others);
  }
  if (sides.good.size() == 1) {
    return fmt::format("is {} in all {} other rows and in none of {} failed ones", shown(*sides.good.begin()),
                       with_commas(rows.others), with_commas(rows.count));
  }
  return fmt::format("shares no value between {} and {}", all, others);
}

}  // namespace

std::vector<TellingColumn> telling_columns(const CsvTable& table, const ColumnRoles& roles) {
  if (roles.objective.name.empty()) return {};
  const FailedRows rows(table, roles);
  std::vector<Telling> all;
  for (const NamedColumn& column : roles.design) {
    auto sides = sides_of(table, column.column, rows);
    if (!sides) continue;
    all.push_back({.column = column, .sides = std::move(*sides), .is_text = !is_numeric(table, column.column)});
  }
  RoleGiver giver(table, roles, rows);
  std::vector<TellingColumn> found;
  for (auto one = all.begin(); one != all.end(); ++one) {
    found.push_back({.column = one->column.column,
                     .what = in_failed_rows(table, *one, rows),
                     .remedy = giver.role_of(*one, std::any_of(one + 1, all.end(), std::mem_fn(&Telling::may_explain))),
                     .is_outcome_name = is_outcome_name(one->column.name),
                     .is_empty_in_good_rows = one->is_empty_in_good_rows()});
  }
  return found;
}

std::string telling_text(const CsvTable& table, const std::vector<TellingColumn>& columns) {
  const TellingColumn& first = columns.front();
  const std::string more =
      columns.size() == 1 ? "" : fmt::format(" ({} like it)", counted(columns.size() - 1, "more column"));
  return fmt::format("column '{}' {}{}", printable(table.header[first.column], kShownName), first.what, more);
}

std::string roles_of_telling(const std::vector<TellingColumn>& columns) {
  constexpr std::size_t kMostBytes = 150;  // [chosen] of an error's line
  std::string options = columns.front().remedy;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    if (options.size() + columns[i].remedy.size() >= kMostBytes) return options + " ...";
    options += " " + columns[i].remedy;
  }
  return options;
}

}  // namespace hindsight::dataset

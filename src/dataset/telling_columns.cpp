/// Columns without a role that say how rows came out.
#include "dataset/telling_columns.h"

#include <fmt/format.h>

#include <algorithm>
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

/// Nothing where both share a value, or where values hardly repeat.
std::optional<Sides> sides_of(const CsvTable& table, std::size_t column, const std::vector<bool>& failed,
                              std::size_t failed_count) {
  Sides sides;
  for (std::size_t row = 0; row < failed.size(); ++row) {
    const std::string& cell = table.rows[row][column];
    const bool shared = failed[row] ? sides.good.contains(cell) : sides.failed.contains(cell);
    if (shared) return std::nullopt;
    (failed[row] ? sides.failed : sides.good).insert(cell);
    if (sides.failed.size() + sides.good.size() > space::kMaxLevels) return std::nullopt;  // no parameter either
  }
  const bool repeats = kLeastRepeats * sides.failed.size() <= failed_count ||
                       kLeastRepeats * sides.good.size() <= failed.size() - failed_count;
  return repeats ? std::optional(std::move(sides)) : std::nullopt;
}

/// Gives each column the role that its values suggest, and those of which there is one each once.
class RoleGiver {
 public:
  RoleGiver(const CsvTable& table, const ColumnRoles& roles)
      : table_(table), may_mark_(!roles.infeasible), may_explain_(!roles.reason) {}

  std::string role_of(std::size_t column, const Sides& sides) {
    const std::string& name = table_.header[column];
    const bool is_text = !is_numeric(table_, column);
    if (may_explain_ && is_text && sides.good.size() == 1 && sides.good.contains("")) return explaining(name);
    if (may_mark_ && sides.failed.size() == 1 && is_shown_whole(*sides.failed.begin())) {
      may_mark_ = false;
      return "--infeasible " + shell_quoted(fmt::format("{}={}", printable(name), *sides.failed.begin()));
    }
    const bool tells_failures_apart = sides.failed.size() > 1;
    if (may_explain_ && is_text && tells_failures_apart) return explaining(name);
    const bool is_measured = !is_text && sides.failed.size() + sides.good.size() > kFewValues;
    return (is_measured ? "--constraint " : "--ignore ") + shell_quoted(printable(name));
  }

 private:
  static constexpr std::size_t kFewValues = 16;  // [chosen] more are no exit codes

  std::string explaining(const std::string& name) {
    may_explain_ = false;
    return "--reason " + shell_quoted(printable(name));
  }

  static bool is_shown_whole(const std::string& value) {
    return !value.empty() && printable(value, kShownName) == value;
  }

  const CsvTable& table_;
  bool may_mark_, may_explain_;
};

std::string in_failed_rows(const Sides& sides, std::size_t failed, std::size_t good) {
  const std::string others = fmt::format("{} others", with_commas(good));
  const std::string all = fmt::format("all {} failed rows", with_commas(failed));
  if (sides.good.size() == 1 && sides.good.contains(""))
    return fmt::format("has a value in {}, none in {}", all, others);
  const auto shown = [](const std::string& value) { return printable(value, kShownName); };
  if (sides.failed.size() == 1) {
    return fmt::format("is {} in {} and in none of {}", shown(*sides.failed.begin()), all, others);
  }
  if (sides.good.size() == 1) {
    return fmt::format("is {} in all {} other rows and in none of {} failed ones", shown(*sides.good.begin()),
                       with_commas(good), with_commas(failed));
  }
  return fmt::format("shares no value between {} and {}", all, others);
}

}  // namespace

std::vector<TellingColumn> telling_columns(const CsvTable& table, const ColumnRoles& roles) {
  if (roles.objective.name.empty()) return {};
  const std::vector<bool> failed = failed_rows(table, roles);
  const auto count = static_cast<std::size_t>(std::count(failed.begin(), failed.end(), true));
  if (count < kLeastRows || failed.size() - count < kLeastRows) return {};
  RoleGiver giver(table, roles);
  std::vector<TellingColumn> found;
  for (const NamedColumn& column : roles.design) {
    const auto sides = sides_of(table, column.column, failed, count);
    // What is empty in failed runs alone was measured of the others.
    if (!sides || (sides->failed.size() == 1 && sides->failed.contains(""))) continue;
    found.push_back({.column = column.column,
                     .what = in_failed_rows(*sides, count, failed.size() - count),
                     .remedy = giver.role_of(column.column, *sides),
                     .is_outcome_name = is_outcome_name(column.name),
                     .is_empty_in_good_rows = sides->good.size() == 1 && sides->good.contains("")});
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

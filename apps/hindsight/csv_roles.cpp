/// Turns options that name columns of a table into the roles of its columns.
#include "csv_roles.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "hindsight/core/error.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

/// Whether `text` is `pattern`, in which every * stands for any letters.
bool is_like(std::string_view text, std::string_view pattern) {
  const std::size_t first = std::min(pattern.find('*'), pattern.size());
  if (!text.starts_with(pattern.substr(0, first))) return false;
  text.remove_prefix(first);
  pattern.remove_prefix(first);
  if (pattern.empty()) return text.empty();
  for (std::size_t star = pattern.find('*', 1); star != std::string_view::npos; star = pattern.find('*', 1)) {
    const std::string_view piece = pattern.substr(1, star - 1);  // between two stars: where it stands first
    const std::size_t place = text.find(piece);
    if (place == std::string_view::npos) return false;
    text.remove_prefix(place + piece.size());
    pattern.remove_prefix(star);
  }
  return text.ends_with(pattern.substr(1));
}

bool is_pattern(const std::string& name, const dataset::CsvTable& table) {
  return name.find('*') != std::string::npos &&
         std::find(table.header.begin(), table.header.end(), name) == table.header.end();
}

/// The columns of a list, those that a pattern stands for in the order of the table. A pattern leaves out columns that
/// some option names.
std::vector<std::string> listed_columns(const std::vector<std::string>& list, std::set<std::string> named,
                                        const dataset::CsvTable& table) {
  std::vector<std::string> columns;
  for (const std::string& name : list) {
    if (!is_pattern(name, table)) {
      columns.push_back(name);
      continue;
    }
    for (const std::string& column : table.header) {
      if (is_like(column, name) && named.insert(column).second) columns.push_back(column);
    }
    // One that the list names itself, too, is not named in vain.
    if (std::ranges::none_of(columns, [&](const std::string& column) { return is_like(column, name); })) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: no column that has no other role is like '{}'. * stands for any letters: {}",
                              printable(table.file.string(), 100), printable(name, 60),
                              printable(join(table.header, ", "), 150)));
    }
  }
  return columns;
}

}  // namespace

dataset::CsvRoles CsvRoleOptions::resolve(const dataset::CsvTable& table) const {
  std::vector<std::string> named;
  if (!objective.empty()) named.push_back(objective);
  for (const auto* list : {&context, &constraints, &ignored}) {
    std::copy_if(list->begin(), list->end(), std::back_inserter(named),
                 [&](const std::string& name) { return !is_pattern(name, table); });
  }
  if (!infeasible.empty()) named.push_back(split(infeasible, '=').front());
  if (!reason.empty()) named.push_back(reason);
  for (const std::string& column : named) static_cast<void>(table.column(column));
  const std::set<std::string> all(named.begin(), named.end());
  dataset::CsvRoles roles{.objective = objective,
                          .infeasible = {},
                          .reason = {},
                          .context = listed_columns(context, all, table),
                          .constraints = listed_columns(constraints, all, table),
                          .ignored = listed_columns(ignored, all, table)};
  if (!infeasible.empty()) roles.infeasible = infeasible;
  if (!reason.empty()) roles.reason = reason;
  return roles;
}

std::string CsvRoleOptions::pasted() const {
  std::string text;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : " ", option, shell_quoted(value));
  };
  add("--objective", objective);
  add("--infeasible", infeasible);
  add("--reason", reason);
  add("--context", join(context, ","));
  add("--constraint", join(constraints, ","));
  add("--ignore", join(ignored, ","));
  return text;
}

CLI::Option* add_csv_roles(CLI::App& verb, CsvRoleOptions& options) {
  CLI::Option* const objective =
      verb.add_option("--objective", options.objective, "Column to optimise")->check(not_empty());
  verb.add_option("--infeasible", options.infeasible, "Column of 1/0, or COLUMN=VALUE")->check(not_empty());
  verb.add_option("--reason", options.reason, "Column that says why [reason]")->check(not_empty());
  verb.add_option("--context", options.context, "Columns a,b of the application")->delimiter(',');
  verb.add_option("--constraint", options.constraints, "Columns a,b of further metrics")->delimiter(',');
  verb.add_option("--ignore", options.ignored, "Columns a,b to leave out; count_* too")->delimiter(',');
  return objective;
}

space::DesignSpace said_space(dataset::InferredSpace inferred) {
  for (const std::string& text : inferred.remarks) remark(text);
  if (!inferred.left_out.empty()) {
    remark(fmt::format("left out, as they hardly repeat a value (results or identifiers, not parameters): {}",
                       join(inferred.left_out, ", ")));
  }
  if (!inferred.result_like.empty()) {
    remark(
        fmt::format("taken as parameters, though they look like results: {}. If they are, name them: --objective "
                    "COLUMN, --infeasible COLUMN or COLUMN=VALUE, --reason COLUMN, --constraint or --ignore {}",
                    join(inferred.result_like, ", "), shell_quoted(join(inferred.result_like, ","))));
  }
  return std::move(inferred.space);
}

space::DesignSpace infer_csv_space(const dataset::CsvTable& table, const dataset::CsvRoles& roles,
                                   const std::string& name) {
  return said_space(
      dataset::infer_columns(table, roles, name.empty() ? dataset::snake_case(dataset::table_name(table)) : name));
}

}  // namespace hindsight::app

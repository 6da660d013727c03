/// Turns options that name columns of a table into the roles of its columns.
#include "csv_roles.h"

#include <fmt/format.h>

#include "hindsight/core/text.h"
#include "output.h"

namespace hindsight::app {

dataset::CsvRoles CsvRoleOptions::resolve(const dataset::CsvTable& table) const {
  dataset::CsvRoles roles{.objective = objective,
                          .infeasible = {},
                          .reason = {},
                          .context = context,
                          .constraints = constraints,
                          .ignored = ignored};
  if (!infeasible.empty()) roles.infeasible = infeasible;
  if (!reason.empty()) roles.reason = reason;
  std::vector<std::string> named;
  if (!objective.empty()) named.push_back(objective);
  named.insert(named.end(), context.begin(), context.end());
  named.insert(named.end(), constraints.begin(), constraints.end());
  named.insert(named.end(), ignored.begin(), ignored.end());
  if (!infeasible.empty()) named.push_back(split(infeasible, '=').front());
  if (!reason.empty()) named.push_back(reason);
  for (const std::string& column : named) static_cast<void>(table.column(column));
  return roles;
}

CLI::Option* add_csv_roles(CLI::App& verb, CsvRoleOptions& options) {
  CLI::Option* const objective = verb.add_option("--objective", options.objective, "Column to optimise");
  verb.add_option("--infeasible", options.infeasible, "Column of 1/0, or COLUMN=VALUE");
  verb.add_option("--reason", options.reason, "Column that says why [reason]");
  verb.add_option("--context", options.context, "Columns a,b of the application")->delimiter(',');
  verb.add_option("--constraint", options.constraints, "Columns a,b of further metrics")->delimiter(',');
  verb.add_option("--ignore", options.ignored, "Columns a,b to leave out")->delimiter(',');
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
                    "COLUMN, --infeasible COLUMN, --constraint or --ignore {}",
                    join(inferred.result_like, ", "), join(inferred.result_like, ",")));
  }
  return std::move(inferred.space);
}

space::DesignSpace infer_csv_space(const dataset::CsvTable& table, const dataset::CsvRoles& roles,
                                   const std::string& name) {
  return said_space(
      dataset::infer_columns(table, roles, name.empty() ? dataset::snake_case(dataset::table_name(table)) : name));
}

}  // namespace hindsight::app

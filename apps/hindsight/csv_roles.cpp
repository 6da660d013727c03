#include "csv_roles.h"

#include "hindsight/core/text.h"

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
  std::vector<std::string> named{objective};
  named.insert(named.end(), context.begin(), context.end());
  named.insert(named.end(), constraints.begin(), constraints.end());
  named.insert(named.end(), ignored.begin(), ignored.end());
  if (!infeasible.empty()) named.push_back(split(infeasible, '=').front());
  if (!reason.empty()) named.push_back(reason);
  for (const std::string& column : named) static_cast<void>(table.column(column));
  return roles;
}

void add_csv_roles(CLI::App& verb, CsvRoleOptions& options) {
  verb.add_option("--objective", options.objective, "Column to optimise")->required();
  verb.add_option("--infeasible", options.infeasible, "Column of 1/0, or COLUMN=VALUE");
  verb.add_option("--reason", options.reason, "Column that says why [reason]");
  verb.add_option("--context", options.context, "Columns a,b of the application")->delimiter(',');
  verb.add_option("--constraint", options.constraints, "Columns a,b of further metrics")->delimiter(',');
  verb.add_option("--ignore", options.ignored, "Columns a,b to leave out")->delimiter(',');
}

space::DesignSpace infer_csv_space(const dataset::CsvTable& table, const dataset::CsvRoles& roles,
                                   const std::string& name) {
  return dataset::infer_space(table, roles, name.empty() ? dataset::snake_case(dataset::table_name(table)) : name);
}

}  // namespace hindsight::app

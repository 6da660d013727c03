/// A design space from the columns of a table.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dataset/csv_columns.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {
namespace {

/// From this many rows on a column with a value of its own in every row is no parameter [chosen: a sweep repeats its
/// values; a short list of designs need not].
constexpr std::size_t kFewRows = 100;

[[noreturn]] void refuse_column(const CsvTable& table, std::size_t column, const std::string& problem) {
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: column '{}' {}. Give it another role (ignored, context, constraint), or round its values",
                  printable(table.file.string(), 400), printable(table.header[column]), problem));
}

void refuse_unrepeated(const CsvTable& table, const ColumnRoles& roles, std::size_t column, std::size_t distinct) {
  if (distinct > space::kMaxLevels) {
    refuse_column(table, column,
                  fmt::format("has {} different values (a parameter has at most {})", with_commas(distinct),
                              with_commas(space::kMaxLevels)));
  }
  const std::size_t rows = table.rows.size();
  if (distinct == rows && rows >= kFewRows && roles.design.size() > 1) {
    refuse_column(table, column,
                  fmt::format("has a value of its own in every one of {} rows (an identifier or a "
                              "measurement, not a parameter)",
                              with_commas(rows)));
  }
}

std::vector<double> numbers_of(const CsvTable& table, std::size_t column) {
  std::vector<double> values;
  for (const std::vector<std::string>& row : table.rows) {
    if (const auto value = parse_double(row[column])) {
      values.push_back(*value + 0.0);  // -0 is 0
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<std::string> labels_of(const CsvTable& table, std::size_t column) {
  std::map<std::string, const std::string*> cell_of_label;
  for (const std::vector<std::string>& row : table.rows) {
    const std::string& cell = row[column];
    const std::string label = label_of(cell);
    if (label.empty()) {
      continue;
    }
    const auto [entry, fresh] = cell_of_label.try_emplace(label, &cell);
    if (!fresh && *entry->second != cell) {
      refuse_column(table, column,
                    fmt::format("has the values '{}' and '{}', which would both be written '{}'",
                                printable(*entry->second), printable(cell), label));
    }
  }
  std::vector<std::string> labels;
  for (const auto& [label, cell] : cell_of_label) labels.push_back(label);
  return labels;
}

/// Whether a space file may hold this parameter, by the rules of the space layer itself.
bool is_accepted(const space::Parameter& parameter) {
  try {
    const space::DesignSpace alone("candidate", "", {parameter});
    return space::parse_space(to_yaml(alone), "candidate").definition_hash() == alone.definition_hash();
  } catch (const Error&) {
    return false;
  }
}

/// No unit, else one that the name ends in, else another name.
void choose_unit(space::Parameter& parameter) {
  if (is_accepted(parameter)) {
    return;
  }
  for (const std::string& unit : space::known_units()) {
    parameter.unit = unit;
    if (parameter.name.ends_with("_" + unit) && is_accepted(parameter)) {
      return;
    }
  }
  parameter.unit.clear();
  parameter.name += "_value";
}

}  // namespace

space::DesignSpace infer_space(const CsvTable& table, const CsvRoles& roles, const std::string& name) {
  const ColumnRoles resolved = resolve_roles(table, roles);
  if (table.rows.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: has no rows (the values of the parameters come from them). Give a table with rows",
                            printable(table.file.string(), 400)));
  }
  std::vector<space::Parameter> parameters;
  for (const NamedColumn& column : resolved.design) {
    space::Parameter parameter;
    parameter.name = column.name;
    parameter.description = fmt::format("Column '{}' of the table", printable(table.header[column.column]));
    if (is_numeric(table, column.column)) {
      parameter.kind = space::ParameterKind::ordinal;
      parameter.values = numbers_of(table, column.column);
      refuse_unrepeated(table, resolved, column.column, parameter.values.size());
      choose_unit(parameter);
    } else {
      parameter.kind = space::ParameterKind::categorical;
      parameter.labels = labels_of(table, column.column);
      if (parameter.labels.empty()) {
        refuse_column(table, column.column, "has no value in any row");
      }
      refuse_unrepeated(table, resolved, column.column, parameter.labels.size());
    }
    parameters.push_back(std::move(parameter));
  }
  return {name, fmt::format("Inferred from {}: {} rows", table_name(table), with_commas(table.rows.size())),
          std::move(parameters)};
}

}  // namespace hindsight::dataset

/// Roles and design spaces of imported rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dataset/csv_levels.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/import_source.h"
#include "hindsight/log/address.h"
#include "hindsight/log/query.h"

namespace hindsight::dataset {
namespace {

/// Whether every row is a design of the space.
bool fits(const CsvTable& table, const ColumnRoles& roles, const space::DesignSpace& space) {
  std::vector<LevelLookup> lookups;
  try {
    lookups = match_columns(table, roles, space);
  } catch (const Error&) {
    return false;  // other parameters
  }
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return std::all_of(lookups.begin(), lookups.end(),
                       [&](LevelLookup& lookup) { return lookup.level(row[lookup.column()]).has_value(); });
  });
}

}  // namespace

CsvRoles roles_for(const ImportSource& source, CsvRoles given) {
  given.context.insert(given.context.end(), source.roles.context.begin(), source.roles.context.end());
  if (!source.outcomes.empty()) {
    given.objective.clear();
    given.constraints.clear();
  }
  return given;
}

void round_column(CsvTable& table, const std::string& column, double step) {
  const std::size_t index = table.column(column);
  if (!(step > 0) || !std::isfinite(step)) {
    throw Error(ErrorKind::usage,
                fmt::format("--round {}: the step {} is not above 0", printable(column), shortest(step)));
  }
  // A multiple of a decimal step has its decimals: 3 * 0.1 is written 0.3.
  constexpr double kDigits = 1e12;  // [chosen] fewer than a double has, more than a step needs
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& cell = table.rows[row][index];
    if (cell.empty()) continue;
    const auto value = parse_double(cell);
    if (!value) {
      throw Error(ErrorKind::usage,
                  fmt::format("--round {}: '{}' of {} {} is no number", printable(column), printable(cell),
                              table.row_word.empty() ? "line" : table.row_word, table.line[row]));
    }
    const double rounded = std::round(*value / step) * step;
    const double scale = std::pow(10.0, std::floor(std::log10(step))) / kDigits;
    const std::string decimal = fmt::format("{:.12g}", std::round(rounded / scale) * scale);
    table.rows.set(row, index, shortest(parse_double(decimal).value_or(rounded) + 0.0));
  }
}

std::vector<space::DesignSpace> fitting_spaces(const ImportSource& source, const CsvRoles& roles,
                                               const std::filesystem::path& log) {
  std::vector<space::DesignSpace> fitting;
  if (!log::is_log_there(log)) return fitting;
  const ColumnRoles resolved = resolve_roles(source.table, roles_for(source, roles));
  for (const log::SpaceSummary& known : log::spaces(log::Log::open(log, log::OpenMode::read_only))) {
    space::DesignSpace space = space::space_from_definition(known.name, known.definition);
    if (fits(source.table, resolved, space)) fitting.push_back(std::move(space));
  }
  return fitting;
}

std::optional<space::DesignSpace> space_in_log(const ImportSource& source, const CsvRoles& roles,
                                               const std::filesystem::path& log) {
  const std::string own_name = snake_case(table_name(source.table));
  std::optional<space::DesignSpace> found;
  for (space::DesignSpace& space : fitting_spaces(source, roles, log)) {
    if (!source.evaluator.empty() || space.name() == own_name) found = std::move(space);
  }
  return found;
}

InferredSpace infer_source_space(const ImportSource& source, const CsvRoles& roles) {
  InferredSpace inferred = infer_columns(source.table, roles_for(source, roles), snake_case(table_name(source.table)));
  if (!inferred.outcome_problem.empty()) throw Error(ErrorKind::usage, inferred.outcome_problem);
  if (source.outcomes.empty() || inferred.left_out.empty()) return inferred;
  const std::string& name = inferred.left_out.front();
  throw Error(ErrorKind::usage,
              fmt::format("{}: parameter {} has a value of its own in nearly every row, and a design space has levels. "
                          "Round it (--round {}=STEP), leave it out (--ignore {}), or give a --space with its levels",
                          printable(source.table.file.string(), 400), name, name, name));
}

}  // namespace hindsight::dataset

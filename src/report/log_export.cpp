/// Evaluations of a log as CSV and as JSON lines.
#include "hindsight/report/log_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/spreadsheet.h"
#include "hindsight/core/text.h"
#include "hindsight/log/row_names.h"
#include "hindsight/space/design_space.h"
#include "hindsight/study/log_names.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

/// Names and values of 'a=1,b=2'.
std::vector<std::pair<std::string, std::string>> assignments_of(const std::string& text_id) {
  std::vector<std::pair<std::string, std::string>> assignments;
  for (const std::string& piece : split(text_id, ',')) {
    const std::size_t equals = std::min(piece.find('='), piece.size());
    assignments.emplace_back(piece.substr(0, equals), piece.substr(std::min(equals + 1, piece.size())));
  }
  return assignments;
}

/// What the first reading finds out, so that the second can write the header first.
struct Survey {
  std::size_t rows = 0, infeasible = 0;
  std::set<std::int64_t> evaluators;
  std::vector<std::string> parameters;  ///< of the only space
  std::vector<std::string> metrics;     ///< that a row has: standard ones in their order, then others by name
  bool several_spaces = false;
  bool repeats = false;
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void stop_when_interrupted(const log::Log& log) {
  if (!interrupt_requested()) return;
  throw Error(ErrorKind::interrupted, fmt::format("{}: interrupted while exporting; nothing was written.",
                                                  printable(log.path().string(), 200)));
}

void require_rows(const log::Log& log, std::size_t rows) {
  if (rows > 0) return;
  throw Error(ErrorKind::usage, fmt::format("{}: no row is selected. `hindsight log show {}` says what it holds.",
                                            printable(log.path().string(), 200), pasted_path(log.path().string())));
}

Survey survey(const log::Log& log, const log::EvaluationFilter& filter) {
  Survey found;
  const std::vector<std::string>& standard = log::standard_metrics();
  std::vector<bool> has(standard.size(), false);
  std::set<std::string> others;
  std::int64_t space = 0;
  log::for_each_evaluation(log, filter, log::Detail::all, [&](const log::EvaluationRecord& row) {
    if (++found.rows == 1) {
      space = row.space_id;
      for (const auto& [name, value] : assignments_of(row.design_text_id)) found.parameters.push_back(name);
    }
    found.several_spaces = found.several_spaces || row.space_id != space;
    found.repeats = found.repeats || row.repeat > 0;
    found.infeasible += row.feasible ? 0 : 1;
    found.evaluators.insert(row.evaluator_id);
    for (std::size_t i = 0; i < standard.size(); ++i) has[i] = has[i] || !std::isnan(row.standard[i]);
    for (const auto& [name, value] : row.other_metrics) others.insert(name);
    return !found.several_spaces && !interrupt_requested();
  });
  stop_when_interrupted(log);
  for (std::size_t i = 0; i < standard.size(); ++i) {
    if (has[i]) found.metrics.push_back(standard[i]);
  }
  found.metrics.insert(found.metrics.end(), others.begin(), others.end());
  return found;
}

Json reason_json(const log::ViolationRow& reason) {
  Json json{{"code", reason.code},
            {"quantity", reason.quantity},
            {"value", finite_or_null(reason.value)},
            {"limit", finite_or_null(reason.limit)},
            {"nearest_passing", value_or_null(reason.nearest_passing)}};
  json["layer"] = reason.layer.empty() ? Json(nullptr) : Json(reason.layer);
  json["message"] = reason.message.empty() ? Json(nullptr) : Json(reason.message);
  return json;
}

std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string number_cell(double value) { return std::isnan(value) ? "" : shortest(value); }

/// The columns that are neither parameters nor metrics, in their order.
enum Column {
  workload,
  evaluator,
  repeat,
  feasible,
  reason,
  quantity,
  value,
  limit,
  layer,
  message,
  others,
  column_count
};
constexpr std::array<const char*, column_count> kColumnNames = {
    "workload",     "evaluator",    "repeat",       "feasible",       "reason",       "reason_quantity",
    "reason_value", "reason_limit", "reason_layer", "reason_message", "other_reasons"};

/// A CSV table of one space.
class CsvWriter {
 public:
  CsvWriter(const log::Log& log, const Survey& survey) : names_(log), survey_(survey) {
    std::set<std::string> taken(survey.parameters.begin(), survey.parameters.end());
    taken.insert(survey.metrics.begin(), survey.metrics.end());
    for (std::size_t i = 0; i < column_count; ++i) {
      columns_[i] = kColumnNames[i];
      while (taken.contains(columns_[i])) columns_[i].insert(0, "log_");
      taken.insert(columns_[i]);
    }
  }

  [[nodiscard]] std::string header() const {
    std::vector<std::string> cells(columns_.begin(), columns_.begin() + feasible);
    cells.insert(cells.end(), survey_.parameters.begin(), survey_.parameters.end());
    cells.insert(cells.end(), columns_.begin() + feasible, columns_.end());
    cells.insert(cells.end(), survey_.metrics.begin(), survey_.metrics.end());
    return line(cells);
  }

  [[nodiscard]] std::string row(const log::EvaluationRecord& row) const {
    std::vector<std::string> cells{names_.workload(row.workload_id), names_.evaluator(row.evaluator_id),
                                   std::to_string(row.repeat)};
    for (const auto& [name, value] : assignments_of(row.design_text_id)) cells.push_back(value);
    cells.emplace_back(row.feasible ? "1" : "0");
    add_reasons(row.violations, cells);
    for (const std::string& metric : survey_.metrics) cells.push_back(metric_cell(row, metric));
    return line(cells);
  }

  /// What an import needs to be told: the objective and whether more of it is better, and where a parameter has the
  /// name of a column, roles of all.
  [[nodiscard]] std::string import_options(const std::string& objective, const std::set<std::string>& maximised) const {
    const std::string stated = "--objective " + objective + (maximised.contains(objective) ? " --maximise" : "");
    if (std::equal(columns_.begin(), columns_.end(), kColumnNames.begin())) return stated;
    std::vector<std::string> constraints;
    for (const std::string& metric : survey_.metrics) {
      if (metric != objective) constraints.push_back(metric);
    }
    std::string options = fmt::format("{} --infeasible {}=0 --reason {} --context {}", stated, columns_[feasible],
                                      columns_[reason], columns_[workload]);
    if (!constraints.empty()) options += fmt::format(" --constraint {}", join(constraints, ","));
    options += fmt::format(" --ignore {},{},{}", columns_[evaluator], columns_[repeat],
                           join(std::vector<std::string>(columns_.begin() + quantity, columns_.end()), ","));
    if (survey_.repeats) options += " --duplicates keep";
    return options;
  }

 private:
  static std::string line(const std::vector<std::string>& cells) {
    std::string text;
    for (const std::string& cell : cells) text += (text.empty() ? "" : ",") + csv_cell(guarded_from_formulas(cell));
    return text + "\n";
  }

  static void add_reasons(const std::vector<log::ViolationRow>& reasons, std::vector<std::string>& cells) {
    if (reasons.empty()) {
      cells.resize(cells.size() + column_count - reason);
      return;
    }
    const log::ViolationRow& first = reasons.front();
    cells.insert(cells.end(), {first.code, first.quantity, number_cell(first.value), number_cell(first.limit),
                               first.layer, first.message});
    Json rest = Json::array();
    for (std::size_t i = 1; i < reasons.size(); ++i) rest.push_back(reason_json(reasons[i]));
    cells.push_back(rest.empty() ? "" : one_line(rest));
  }

  static std::string metric_cell(const log::EvaluationRecord& row, const std::string& metric) {
    const std::vector<std::string>& standard = log::standard_metrics();
    const auto column = std::find(standard.begin(), standard.end(), metric);
    if (column != standard.end()) return number_cell(row.standard[static_cast<std::size_t>(column - standard.begin())]);
    const auto other = std::find_if(row.other_metrics.begin(), row.other_metrics.end(),
                                    [&](const auto& named) { return named.first == metric; });
    return other == row.other_metrics.end() ? "" : number_cell(other->second);
  }

  log::RowNames names_;
  const Survey& survey_;
  std::array<std::string, column_count> columns_;
};

/// Parameters of a log's spaces whose values are numbers. A name is one even if it looks like a number.
class NumericParameters {
 public:
  explicit NumericParameters(const log::Log& log) {
    for (log::SpaceSummary& space : log::spaces(log)) spaces_[space.space_id] = std::move(space);
  }
  /// Error{incompatible} for a space that the log does not have, or whose definition is none.
  [[nodiscard]] const std::set<std::string>& of(std::int64_t space_id, const log::Log& log) {
    const auto known = names_.find(space_id);
    if (known != names_.end()) return known->second;
    const auto found = spaces_.find(space_id);
    if (found == spaces_.end()) {
      throw Error(ErrorKind::incompatible,
                  fmt::format("{}: damaged log: a design names row {} of spaces, which is not there. `hindsight log "
                              "verify` lists what is wrong.",
                              printable(log.path().string(), 200), space_id));
    }
    std::set<std::string>& names = names_[space_id];
    const space::DesignSpace space = space::space_from_definition(found->second.name, found->second.definition);
    for (const space::Parameter& parameter : space.parameters()) {
      if (parameter.kind == space::ParameterKind::ordinal) names.insert(parameter.name);
    }
    return names;
  }

 private:
  std::map<std::int64_t, log::SpaceSummary> spaces_;
  std::map<std::int64_t, std::set<std::string>> names_;
};

Json design_json(const std::string& text_id, const std::set<std::string>& numeric) {
  Json design = Json::object();
  for (const auto& [name, value] : assignments_of(text_id)) {
    if (!numeric.contains(name)) {
      design[name] = value;
    } else if (const auto whole = parse_int(value)) {
      design[name] = *whole;
    } else if (const auto number = parse_double(value)) {
      design[name] = *number;
    } else {
      design[name] = value;
    }
  }
  return design;
}

/// " --space NAME" where a space of that name and definition can be loaded; otherwise an import infers one.
std::string space_option(const log::Log& log, const log::EvaluationFilter& filter) {
  for (const log::SpaceSummary& space : log::spaces(log)) {
    if (filter.space ? space.name != *filter.space : space.designs == 0) continue;
    try {
      const bool same =
          !names_a_file(space.name) && space::load_space(space.name).definition_hash() == space.definition_hash;
      return same ? " --space " + shell_quoted(space.name) : "";
    } catch (const Error&) {
      return "";  // no space of that name ships, and no file has it
    }
  }
  return "";
}

}  // namespace

LogExport export_csv(const log::Log& log, const log::EvaluationFilter& filter) {
  const log::Snapshot snapshot(log);
  Survey found = survey(log, filter);
  require_rows(log, found.rows);
  if (found.several_spaces) {
    std::vector<std::string> spaces;
    for (const log::SpaceSummary& space : log::spaces(log)) spaces.push_back(space.name);
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: has designs of several spaces, whose parameters differ. Choose one by --space ({}), or "
                    "export JSON lines.",
                    printable(log.path().string(), 200), printable(join(spaces, ", "), 200)));
  }
  const std::set<std::string> objectives = study::own_objectives_of(log, filter);
  // Infeasible rows alone have no value of it; the column is there all the same.
  if (objectives.size() == 1 && !contains(found.metrics, *objectives.begin())) {
    found.metrics.push_back(*objectives.begin());
  }
  const CsvWriter writer(log, found);
  LogExport result{.text = writer.header(), .rows = found.rows, .infeasible = found.infeasible};
  if (found.evaluators.size() > 1) {
    result.no_import = "an import has one evaluator, and these rows have several: export one with --evaluator or --run";
  } else if (objectives.size() > 1) {
    result.no_import =
        fmt::format("an import has one objective, and these rows have several ({}): export one by --workload or --run",
                    join(std::vector<std::string>(objectives.begin(), objectives.end()), ", "));
  } else {
    result.import_options =
        writer.import_options(*objectives.begin(), study::maximised_metrics(log)) + space_option(log, filter);
  }
  log::for_each_evaluation(log, filter, log::Detail::all, [&](const log::EvaluationRecord& row) {
    result.text += writer.row(row);
    return !interrupt_requested();
  });
  stop_when_interrupted(log);
  return result;
}

LogExport export_json_lines(const log::Log& log, const log::EvaluationFilter& filter) {
  const log::Snapshot snapshot(log);
  const log::RowNames names(log);
  NumericParameters numeric(log);
  LogExport result;
  log::for_each_evaluation(log, filter, log::Detail::all, [&](const log::EvaluationRecord& row) {
    Json json{{"workload", names.workload(row.workload_id)},
              {"evaluator", names.evaluator(row.evaluator_id)},
              {"repeat", row.repeat},
              {"design", design_json(row.design_text_id, numeric.of(row.space_id, log))},
              {"feasible", row.feasible},
              {"metrics", Json::object()},
              {"reasons", Json::array()}};
    for (const auto& [name, value] : log::metrics_of(row)) json["metrics"][name] = value;
    for (const log::ViolationRow& reason : row.violations) json["reasons"].push_back(reason_json(reason));
    result.text += one_line(json) + "\n";
    ++result.rows;
    result.infeasible += row.feasible ? 0 : 1;
    return !interrupt_requested();
  });
  stop_when_interrupted(log);
  require_rows(log, result.rows);
  return result;
}

}  // namespace hindsight::report

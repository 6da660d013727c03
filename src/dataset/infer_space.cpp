/// A design space from the columns of a table.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>

#include "dataset/csv_columns.h"
#include "dataset/csv_levels.h"
#include "dataset/telling_columns.h"
#include "hindsight/core/error.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/csv_import.h"

namespace hindsight::dataset {
namespace {

/// From this many rows on a column with a value of its own in every row is no parameter [chosen: a sweep repeats its
/// values; a short list of designs need not].
constexpr std::size_t kFewRows = 100;

/// Why a column with this many different values is no parameter, or an empty text.
std::string no_parameter(const CsvTable& table, const ColumnRoles& roles, std::size_t distinct) {
  if (distinct > space::kMaxLevels) {
    return fmt::format("has {} different values (a parameter has at most {})", with_commas(distinct),
                       with_commas(space::kMaxLevels));
  }
  const std::size_t rows = table.rows.size();
  if (distinct == rows && rows >= kFewRows && roles.design.size() > 1) {
    return fmt::format(
        "has a value of its own in every one of {} rows (an identifier or a measurement, not a "
        "parameter)",
        with_commas(rows));
  }
  return "";
}

/// What a table of names teaches, where every row has its own and nothing else: nothing about others. Empty of others.
std::string lone_names_remark(const CsvTable& table, const ColumnRoles& roles, const space::Parameter& parameter) {
  const std::size_t rows = table.rows.size();
  const bool is_one_per_row = parameter.labels.size() == rows && rows >= kFewRows && roles.design.size() == 1;
  if (parameter.kind != space::ParameterKind::categorical || !is_one_per_row) return "";
  return fmt::format(
      "{}: '{}' is the only parameter, and has a value of its own in every one of {} rows: what is learnt of one tells "
      "nothing of another. Split it into columns whose values repeat, e.g. one for each letter",
      printable(table.file.string(), 100), printable(table.header[roles.design.front().column], 40), with_commas(rows));
}

/// "--ignore a,b" for a few columns, "--ignore 'counter_*'" where many begin alike, else the first few.
std::string ignoring(const CsvTable& table, const std::vector<std::size_t>& columns) {
  constexpr std::size_t kListed = 4, kLetters = 3;  // [chosen] names in a message; of a beginning that says something
  const std::string& first = table.header[columns.front()];
  std::size_t alike = first.size();
  for (const std::size_t column : columns) {
    const std::string& name = table.header[column];
    const auto end = std::mismatch(first.begin(), first.end(), name.begin(), name.end()).first;
    alike = std::min(alike, static_cast<std::size_t>(end - first.begin()));
  }
  const std::string beginning = first.substr(0, alike);
  const auto begin_so =
      std::ranges::count_if(table.header, [&](const auto& name) { return name.starts_with(beginning); });
  const bool means_these =
      static_cast<std::size_t>(begin_so) == columns.size() && printable(beginning, 40) == beginning;
  if (columns.size() > kListed && alike >= kLetters && means_these) {
    return "--ignore " + shell_quoted(beginning + "*");
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(columns.size(), kListed); ++i) {
    names.push_back(printable(table.header[columns[i]], columns.size() == 1 ? 40 : 20));
  }
  return "--ignore " + shell_quoted(join(names, ",")) + (columns.size() > kListed ? ",..." : "");
}

[[noreturn]] void refuse_column(const CsvTable& table, std::size_t column, const std::string& problem) {
  throw Error(ErrorKind::usage,
              fmt::format("{}: column '{}' {}. Give it another role ({}, --context, --constraint), or round its values",
                          printable(table.file.string(), 60), printable(table.header[column], 30), problem,
                          ignoring(table, {column})));
}

/// Columns that can be no parameters: the first is explained, the others are counted.
[[noreturn]] void refuse_columns(const CsvTable& table, const std::vector<std::size_t>& columns,
                                 const std::string& problem) {
  if (columns.size() == 1) refuse_column(table, columns.front(), problem);
  throw Error(ErrorKind::usage,
              fmt::format("{}: column '{}' {}. Of {} this holds. Give them another role ({}), or round their values",
                          printable(table.file.string(), 60), printable(table.header[columns.front()], 30), problem,
                          counted(columns.size(), "column"), ignoring(table, columns)));
}

std::vector<double> numbers_of(const CsvTable& table, std::size_t column) {
  std::vector<double> values;
  for (const TableCells::Row& row : table.rows) {
    const std::string& cell = row[column];
    if (is_rounded(cell)) {
      refuse_column(table, column,
                    fmt::format("has the value '{}', of which a number holds the first digits only (2^53 and below are "
                                "exact)",
                                printable(cell, 40)));
    }
    if (const auto value = parse_double(cell)) {
      values.push_back(*value + 0.0);  // -0 is 0
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// The values of a column as labels; those that have to be written otherwise are remarked on.
std::vector<std::string> labels_of(const CsvTable& table, std::size_t column, std::vector<std::string>& remarks) {
  std::map<std::string, const std::string*> cell_of_label;
  for (const TableCells::Row& row : table.rows) {
    const std::string& cell = row[column];
    const std::string label = label_of(cell);
    if (label.empty()) {
      continue;
    }
    const auto [entry, fresh] = cell_of_label.try_emplace(label, &cell);
    if (!fresh && *entry->second != cell) {
      refuse_column(table, column,
                    fmt::format("has the values '{}' and '{}', which would both be written '{}'",
                                printable(*entry->second, 25), printable(cell, 25), label));
    }
  }
  std::vector<std::string> labels;
  for (const auto& [label, cell] : cell_of_label) labels.push_back(label);
  const auto other =
      std::ranges::find_if(cell_of_label, [](const auto& entry) { return entry.first != *entry.second; });
  if (other != cell_of_label.end()) {
    remarks.push_back(fmt::format(
        "{}: column '{}': '{}' becomes '{}' (commas, =, quotes and backslashes are written _, and 64 letters are most)",
        printable(table.file.string(), 100), printable(table.header[column], 40), printable(*other->second, 40),
        printable(other->first, 40)));
  }
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

/// [chosen] Words in the names of columns that hold results; units of time and energy among them.
constexpr std::array<std::string_view, 51> kResultWords = {
    "latency", "time",  "runtime", "duration",   "cycles",   "energy",    "power",       "area",        "edp",
    "perf",    "score", "cost",    "throughput", "speedup",  "gflops",    "tflops",      "gops",        "tops",
    "fps",     "ipc",   "util",    "accuracy",   "loss",     "objective", "performance", "utilization", "utilisation",
    "valid",   "error", "errors",  "status",     "feasible", "failed",    "infeasible",  "reason",      "result",
    "invalid", "ms",    "us",      "ns",         "mj",       "uj",        "pj",          "ok",          "success",
    "oom",     "crash", "crashed", "why",        "failure",  "message"};

/// Whether values lie on a grid, even or geometric, of few more points than there are values: what a person chose.
bool are_spaced(std::vector<double> values) {
  constexpr double kMostPoints = 4;     // [chosen] grid points per value: a sweep may have left out most of its steps
  constexpr double kRoundedGap = 1e-9;  // [chosen] of the range: values that are written with few digits
  const auto on_grid = [&](const std::vector<double>& sorted) {
    const double range = sorted.back() - sorted.front();
    double gap = range;
    for (std::size_t i = 1; i < sorted.size(); ++i) gap = std::min(gap, sorted[i] - sorted[i - 1]);
    return gap > kRoundedGap * range && range / gap <= kMostPoints * static_cast<double>(sorted.size());
  };
  if (on_grid(values)) return true;
  if (!(values.front() > 0)) return false;
  for (double& value : values) value = std::log(value);
  return on_grid(values);
}

/// Whether the values, sorted, are many fractions without a pattern: what a tool computed of other parameters repeats
/// as often as they do.
bool look_measured(const std::vector<double>& values) {
  constexpr std::size_t kManyLevels = 32;  // [chosen] more than parameters have that take fractions
  const auto fractions = std::ranges::count_if(values, [](double value) { return std::trunc(value) != value; });
  return values.size() > kManyLevels && 2 * static_cast<std::size_t>(fractions) > values.size() && !are_spaced(values);
}

/// Whether a column is more likely to be measured than chosen: by its name, because few of its values repeat, or
/// because they are many fractions.
bool looks_like_result(const CsvTable& table, const NamedColumn& column, const space::Parameter& parameter) {
  constexpr std::size_t kJudgedRows = 20;  // [chosen] fewer rows say nothing about repetition
  const std::vector<std::string> words = split(column.name, '_');
  const bool named = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return std::find(kResultWords.begin(), kResultWords.end(), word) != kResultWords.end();
  });
  const bool numeric = parameter.kind == space::ParameterKind::ordinal;
  const bool unrepeated = table.rows.size() >= kJudgedRows && 2 * parameter.values.size() > table.rows.size();
  return named || (numeric && (unrepeated || look_measured(parameter.values)));
}

/// What is odd about the cells of a column, or an empty text.
std::string cell_remark(const CsvTable& table, std::size_t column, bool numeric) {
  std::size_t numbers = 0, others = 0, commas = 0, first = 0;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const std::string& cell = table.rows[row][column];
    if (cell.empty()) continue;
    if (parse_double(cell)) {
      ++numbers;
    } else {
      if (others++ == 0) first = row;
      commas += has_decimal_comma(cell) ? 1 : 0;
    }
  }
  if (others == 0 || (numbers == 0 && commas < others)) return "";
  const std::string example = fmt::format("{}: column '{}': '{}'", cell_place(table, first, column),
                                          printable(table.header[column]), printable(table.rows[first][column]));
  if (numbers == 0) {
    return fmt::format("{} is text, and the column categorical. If it is a number with a decimal comma, write a point",
                       example);
  }
  if (numeric) {
    return fmt::format("{} is not a number, as the other cells are ({} like it): an import refuses such rows", example,
                       counted(others, "cell"));
  }
  return fmt::format("{} stands beside numbers: the column is categorical, its values have no order", example);
}

space::Parameter parameter_of(const CsvTable& table, const NamedColumn& column, std::vector<std::string>& remarks) {
  space::Parameter parameter;
  parameter.name = column.name;
  parameter.description = fmt::format("Column '{}' of the table", printable(table.header[column.column]));
  if (is_numeric(table, column.column)) {
    parameter.kind = space::ParameterKind::ordinal;
    parameter.values = numbers_of(table, column.column);
  } else {
    parameter.kind = space::ParameterKind::categorical;
    parameter.labels = labels_of(table, column.column, remarks);
    if (parameter.labels.empty()) {
      const std::string shown = printable(table.header[column.column], 60);
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: column '{}' has no value in any row (a parameter needs one). Leave it out: --ignore {}",
                      printable(table.file.string(), 200), shown, shell_quoted(shown)));
    }
  }
  return parameter;
}

/// Remarks on the columns that tell failed rows, and refuses them where their names are those of outcomes, too.
void remark_on_telling(const CsvTable& table, const std::vector<TellingColumn>& telling, InferredSpace& inferred) {
  if (telling.empty()) return;
  const std::string file = printable(table.file.string(), 60);
  const std::string what = telling_text(table, telling), options = roles_of_telling(telling);
  inferred.remarks.push_back(fmt::format(
      "{}: {}. If this says how rows came out, and nobody chose it, it is no parameter: {}", file, what, options));
  std::vector<TellingColumn> named;
  std::ranges::copy_if(telling, std::back_inserter(named), &TellingColumn::is_outcome_name);
  if (named.empty()) return;
  inferred.outcome_problem = fmt::format(
      "{}: {}: an outcome, which proposals would choose as a parameter. Give roles: {} (a parameter after all: "
      "--space, by `hindsight space infer --out`)",
      file, telling_text(table, named), options);
}

}  // namespace

InferredSpace infer_columns(const CsvTable& table, const CsvRoles& roles, const std::string& name) {
  const ColumnRoles resolved = resolve_roles(table, roles);
  if (table.rows.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: has no rows (the values of the parameters come from them). Give a table with rows",
                            printable(table.file.string(), 400)));
  }
  std::vector<space::Parameter> parameters;
  std::vector<std::string> result_like, left_out, remarks;
  std::vector<std::size_t> unfit;
  std::string first_problem;
  const std::vector<TellingColumn> telling = telling_columns(table, resolved);
  const Steps steps("finding the values of columns", resolved.design.size());
  std::uint64_t done = 0;
  for (const NamedColumn& column : resolved.design) {
    steps.at(done++);
    space::Parameter parameter = parameter_of(table, column, remarks);
    const std::string& header = table.header[column.column];
    const bool numeric = parameter.kind == space::ParameterKind::ordinal;
    const std::size_t distinct = numeric ? parameter.values.size() : parameter.labels.size();
    if (const std::string problem = no_parameter(table, resolved, distinct); !problem.empty()) {
      if (unfit.empty()) first_problem = problem;
      unfit.push_back(column.column);
      left_out.push_back(printable(header));
      continue;
    }
    if (std::string remark = lone_names_remark(table, resolved, parameter); !remark.empty()) {
      remarks.push_back(std::move(remark));
    }
    const bool tells = std::ranges::find(telling, column.column, &TellingColumn::column) != telling.end();
    if (!tells && looks_like_result(table, column, parameter)) result_like.push_back(printable(header));
    if (std::string remark = cell_remark(table, column.column, numeric); !remark.empty()) {
      remarks.push_back(std::move(remark));
    }
    if (numeric) choose_unit(parameter);
    parameters.push_back(std::move(parameter));
  }
  if (!unfit.empty() && !roles.objective.empty()) refuse_columns(table, unfit, first_problem);
  if (parameters.empty()) {
    throw Error(ErrorKind::usage, fmt::format("{}: no column can be a parameter (too few of their values repeat). Is "
                                              "this a table of designs?",
                                              printable(table.file.string(), 400)));
  }
  space::DesignSpace space(name,
                           fmt::format("Inferred from {}: {}", table_name(table), counted(table.rows.size(), "row")),
                           std::move(parameters));
  InferredSpace inferred{std::move(space), std::move(result_like), std::move(left_out), std::move(remarks)};
  remark_on_telling(table, telling, inferred);
  return inferred;
}

space::DesignSpace infer_space(const CsvTable& table, const CsvRoles& roles, const std::string& name) {
  return infer_columns(table, roles, name).space;
}

}  // namespace hindsight::dataset

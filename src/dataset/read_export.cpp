/// CSV and JSON lines of `log export`, back as rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "dataset/csv_levels.h"
#include "dataset/import_readers.h"
#include "dataset/trial_table.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/dataset.h"

namespace hindsight::dataset {
namespace {

constexpr std::array<std::string_view, 4> kBefore = {"workload", "evaluator", "repeat", "feasible"};
constexpr std::array<std::string_view, 7> kReasons = {"reason",       "reason_quantity", "reason_value", "reason_limit",
                                                      "reason_layer", "reason_message",  "other_reasons"};

/// What all rows of an export share, and its metrics.
class ExportRows {
 public:
  ExportRows(const std::filesystem::path& file, const ReadOptions& options)
      : file_(file), options_(options), rows_(file, "") {}

  /// `repeat`: number of the measurement, from 0; unknown where the row does not say it.
  void add(std::size_t line, const DesignCells& cells, StatedOutcome outcome, const std::string& evaluator,
           double repeat) {
    require_repeat(line, repeat);
    evaluators_.insert(evaluator);
    repeats_ = repeats_ || repeat > 0;
    if (!parameters_.empty() && !same_parameters(cells)) {
      throw Error(ErrorKind::usage, fmt::format("{}:{}: has other parameters than the rows before (an import has one "
                                                "design space). Export one with --space",
                                                printable(file_.string(), 400), line));
    }
    if (outcome.workload.empty() && options_.workload.empty()) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}:{}: workload is empty (which application took the time?). Write its "
                              "name, or name that of all rows: --workload NAME",
                              printable(file_.string(), 300), line));
    }
    if (parameters_.empty()) {
      for (const auto& [name, cell] : cells) parameters_.push_back(name);
    }
    any_feasible_ = any_feasible_ || outcome.feasible;
    for (const auto& [name, value] : outcome.metrics) {
      if (known_metrics_.insert(name).second) metrics_.push_back(name);
    }
    rows_.add(line, cells, std::move(outcome));
  }

  ImportSource take() {
    if (evaluators_.size() > 1) {
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: has rows of several evaluators, and an import has one: {}. Export one with "
                      "--evaluator",
                      printable(file_.string(), 400),
                      printable(join(std::vector<std::string>(evaluators_.begin(), evaluators_.end()), ", "), 200)));
    }
    // Infeasible rows alone have facts of their designs, and no value of what is optimised.
    const std::vector<std::string> metrics = any_feasible_ ? metrics_ : std::vector<std::string>{};
    const bool has_latency = std::find(metrics.begin(), metrics.end(), "latency_s") != metrics.end();
    const bool guess = options_.objective.empty() && (has_latency || metrics.empty());
    ImportSource source =
        rows_.take("log export", "log export", guess ? "latency_s" : chosen_metric(file_, options_.objective, metrics));
    if (!evaluators_.empty()) source.evaluator = *evaluators_.begin();
    source.repeats = repeats_;
    name_contexts(source);
    return source;
  }

 private:
  void require_repeat(std::size_t line, double repeat) const {
    const bool is_count = repeat >= 0 && std::floor(repeat) == repeat;
    if (std::isnan(repeat) || (is_count && std::isfinite(repeat))) return;
    throw Error(ErrorKind::usage, fmt::format("{}:{}: repeat is {} (it counts the measurements of a design on an "
                                              "application: 0, 1, 2 ...). Write the number, or leave the cell empty",
                                              printable(file_.string(), 300), line, readable(repeat)));
  }

  [[nodiscard]] bool same_parameters(const DesignCells& cells) const {
    return std::equal(cells.begin(), cells.end(), parameters_.begin(), parameters_.end(),
                      [](const auto& cell, const std::string& name) { return cell.first == name; });
  }

  /// Applications that were named by columns ("m=64:kind=conv") become columns again.
  static void name_contexts(ImportSource& source) {
    std::vector<Context> known;
    std::set<std::string> names;
    for (const StatedOutcome& outcome : source.outcomes) names.insert(outcome.workload);
    std::map<std::string, DesignCells> values;
    std::vector<std::string> columns;
    for (const std::string& name : names) {
      DesignCells cells;
      for (const std::string& part : split(name, ':')) {
        const std::size_t equals = part.find('=');
        if (equals == std::string::npos || equals == 0) return;
        cells.emplace_back(part.substr(0, equals), part.substr(equals + 1));
      }
      std::vector<std::string> own;
      for (const auto& [column, value] : cells) own.push_back(column);
      if (!columns.empty() && own != columns) return;
      columns = own;
      values[name] = cells;
    }
    CsvTable& table = source.table;
    for (const std::string& column : columns) {
      if (std::find(table.header.begin(), table.header.end(), column) != table.header.end()) return;
    }
    const std::size_t own_columns = table.header.size();
    table.header.insert(table.header.end(), columns.begin(), columns.end());
    table.rows.widen(table.header.size());
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      std::size_t at = own_columns;
      for (const auto& [column, value] : values[source.outcomes[i].workload]) table.rows.set(i, at++, value);
    }
    source.roles.context = columns;
  }

  const std::filesystem::path& file_;
  const ReadOptions& options_;
  TrialTable rows_;
  std::set<std::string> evaluators_;
  bool repeats_ = false, any_feasible_ = false;
  std::vector<std::string> parameters_, metrics_;
  std::set<std::string> known_metrics_;
};

double number_or_unknown(const OrderedJson& value) { return number_of(value).value_or(kUnknown); }

/// The number under a key of a row; Error{usage} with the line for what is none.
double required_number(const std::string& key, const OrderedJson& value, const std::filesystem::path& file,
                       std::size_t line) {
  if (const std::optional<double> number = number_of(value)) return *number;
  throw Error(ErrorKind::usage, fmt::format("{}:{}: {}", printable(file.string(), 300), line,
                                            not_a_number(printable(key, 60), cell_of(value).substr(0, 60))));
}

log::ViolationRow violation_of(const OrderedJson& json) {
  log::ViolationRow violation{.code = text_of(json, "code"),
                              .quantity = text_of(json, "quantity"),
                              .value = number_or_unknown(value_of(json, "value")),
                              .limit = number_or_unknown(value_of(json, "limit")),
                              .nearest_passing = number_of(value_of(json, "nearest_passing")),
                              .layer = text_of(json, "layer"),
                              .message = text_of(json, "message")};
  if (violation.code.empty()) violation.code = "infeasible";
  return violation;
}

/// Rows of a CSV table with the columns of an export.
class ExportTableReader {
 public:
  explicit ExportTableReader(const CsvTable& table) : table_(table) {
    repeat_ = table.column("repeat");
    feasible_ = table.column("feasible");
    first_reason_ = table.column("reason");
    first_metric_ = table.column("other_reasons") + 1;
  }

  void read(std::size_t row, ExportRows& rows) const {
    const TableCells::Row cells = table_.rows[row];
    DesignCells design;
    for (std::size_t column = repeat_ + 1; column < feasible_; ++column) {
      design.emplace_back(table_.header[column], cells[column]);
    }
    StatedOutcome outcome{.workload = cells[table_.column("workload")], .feasible = flag_at(row, feasible_)};
    for (std::size_t column = first_metric_; column < cells.size(); ++column) {
      if (cells[column].empty()) continue;
      outcome.metrics.emplace_back(table_.header[column], number_at(row, column));
    }
    if (!outcome.feasible) add_violations(row, outcome);
    rows.add(table_.line[row], design, std::move(outcome), cells[table_.column("evaluator")], number_at(row, repeat_));
  }

 private:
  [[nodiscard]] double number_at(std::size_t row, std::size_t column) const {
    const std::string& cell = table_.rows[row][column];
    if (cell.empty()) return kUnknown;
    if (const auto value = parse_double(cell)) return *value;
    refuse_cell(row, column, ", which is not a number");
  }

  /// A spreadsheet writes TRUE for 1.
  [[nodiscard]] bool flag_at(std::size_t row, std::size_t column) const {
    const auto flag = parse_flag(table_.rows[row][column]);
    if (!flag) refuse_cell(row, column, ". Write 1 or 0");
    return *flag;
  }

  [[noreturn]] void refuse_cell(std::size_t row, std::size_t column, const char* why) const {
    const CsvTable::Place place = table_.place[row][column];
    throw Error(ErrorKind::usage,
                fmt::format("{}:{}:{}: {} is '{}'{}", printable(table_.file.string(), 400), place.line, place.column,
                            table_.header[column], printable(table_.rows[row][column]), why));
  }

  void add_violations(std::size_t row, StatedOutcome& outcome) const {
    const TableCells::Row cells = table_.rows[row];
    const auto cell = [&](std::size_t i) { return cells[first_reason_ + i]; };
    outcome.violations.push_back({.code = cell(0).empty() ? "infeasible" : cell(0),
                                  .quantity = cell(1),
                                  .value = number_at(row, first_reason_ + 2),
                                  .limit = number_at(row, first_reason_ + 3),
                                  .nearest_passing = {},
                                  .layer = cell(4),
                                  .message = cell(5)});
    if (cell(6).empty()) return;
    const OrderedJson others =
        parse_ordered_json(cell(6), table_.file, "a list of reasons in the column other_reasons", table_.line[row]);
    for (const OrderedJson& one : others) outcome.violations.push_back(violation_of(one));
  }

  const CsvTable& table_;
  std::size_t repeat_ = 0, feasible_ = 0, first_reason_ = 0, first_metric_ = 0;
};

}  // namespace

bool is_export_table(const CsvTable& table) {
  const auto place = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(table.header.begin(), table.header.end(), name) - table.header.begin());
  };
  if (place(kBefore[0]) != 0 || place(kBefore[1]) != 1 || place(kBefore[2]) != 2) return false;
  for (std::size_t i = 0; i < kReasons.size(); ++i) {
    if (place(kReasons[i]) != place(kBefore[3]) + 1 + i) return false;
  }
  return true;
}

bool is_export_object(const Json& object) {
  return value_of(object, "design").is_object() && value_of(object, "metrics").is_object() &&
         value_of(object, "feasible").is_boolean() && value_of(object, "reasons").is_array();
}

ImportSource read_export_table(const CsvTable& table, const ReadOptions& options) {
  const ExportTableReader reader(table);
  ExportRows rows(table.file, options);
  for (std::size_t row = 0; row < table.rows.size(); ++row) reader.read(row, rows);
  return rows.take();
}

ImportSource read_export_lines(std::string_view text, const std::filesystem::path& file, const ReadOptions& options) {
  ExportRows rows(file, options);
  std::size_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view one = trimmed(text.substr(begin, end - begin));
    begin = end + 1;
    if (one.empty()) continue;
    constexpr const char* kExportedRow = "a row of `hindsight log export --format jsonl`";
    const OrderedJson row = parse_ordered_json(one, file, kExportedRow, line);
    const OrderedJson& design = value_of(row, "design");
    if (!design.is_object() || !value_of(row, "feasible").is_boolean()) {
      throw Error(ErrorKind::usage, fmt::format("{}:{}: has no design and no feasibility (expected: {})",
                                                printable(file.string(), 400), line, kExportedRow));
    }
    DesignCells cells;
    for (const auto& [name, value] : design.items()) cells.emplace_back(name, cell_of(value));
    StatedOutcome outcome{.workload = text_of(row, "workload"), .feasible = row["feasible"].get<bool>()};
    const OrderedJson& metrics = value_of(row, "metrics");
    for (const auto& [name, value] : metrics.items()) {
      if (value.is_null()) continue;
      outcome.metrics.emplace_back(name, required_number(name, value, file, line));
    }
    if (!outcome.feasible) {
      for (const OrderedJson& reason : value_of(row, "reasons")) outcome.violations.push_back(violation_of(reason));
      if (outcome.violations.empty()) outcome.violations.push_back(plain_violation("infeasible"));
    }
    const OrderedJson& repeat = value_of(row, "repeat");
    rows.add(line, cells, std::move(outcome), text_of(row, "evaluator"),
             repeat.is_null() ? kUnknown : required_number("repeat", repeat, file, line));
  }
  return rows.take();
}

}  // namespace hindsight::dataset

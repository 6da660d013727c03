/// Reads the rows of a table as evaluations: levels, context, outcome and labels, or why a row does not fit.
#include "dataset/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <variant>

#include "dataset/csv_levels.h"
#include "dataset/trial_table.h"
#include "hindsight/core/ascii.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/patience.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/context.h"
#include "hindsight/dataset/dataset.h"
#include "hindsight/log/metric_values.h"
#include "hindsight/space/rules.h"

namespace hindsight::dataset {
namespace {

/// A value that cells are compared with as written in a table: numbers by value, other texts by their letters.
class Wanted {
 public:
  explicit Wanted(std::string text) : text_(std::move(text)), number_(parse_double(text_)) {}
  [[nodiscard]] bool is(const std::string& cell) const {
    const auto number = number_ ? parse_double(cell) : std::nullopt;
    return number ? *number == *number_ : cell == text_;
  }

 private:
  std::string text_;
  std::optional<double> number_;
};

/// Of an infeasible design, which has no cost. What else a failed run left behind may stand, but not its -1.
bool may_stand(const std::string& metric, double value) {
  return metric != "latency_s" && metric != "energy_j" && log::impossible_cell(metric, value).empty();
}

/// Why a row does not fit, and the column of the cell.
struct Refusal {
  std::size_t column = 0;
  std::string reason;
};

/// A feasible row without `value` there. Tools write 0 and -1 for runs that failed.
std::optional<Refusal> refusal_of_value(const NamedColumn& metric, double value) {
  const std::string problem = log::impossible_cell(metric.name, value);
  if (problem.empty()) return std::nullopt;
  return Refusal{metric.column, problem + " (a run that failed has an empty cell, or --infeasible says so)"};
}

/// Why a row failed: its reason, else the word that it has for an objective.
std::string text_of_failure(const TableCells::Row& row, const ColumnRoles& roles) {
  const std::string reason = roles.reason ? row[*roles.reason] : "";
  const std::string& cell = row[roles.objective.column];
  return !reason.empty() || parse_double(cell) ? reason : cell;
}

/// A code without the words that are numbers, 49_5 of too_hot_49_5_w; whole where nothing else is in it.
std::string without_numbers(const std::string& code) {
  std::vector<std::string> words = split(code, '_');
  std::erase_if(words, [](const std::string& word) { return word.empty() || starts_like_number(word); });
  return words.empty() ? code : join(words, "_");
}

/// Codes of a table's reasons without their numbers, where many differ in nothing else: what was measured of a design
/// is no reason of its own. A few, such as exit codes, stay what they are.
std::set<std::string> codes_with_measurements(const CsvTable& table, const ColumnRoles& roles) {
  constexpr std::size_t kMostNumbered = 8;  // [chosen] more than the exit codes or the limits of one simulator
  std::map<std::string, std::set<std::string>> numbered;
  for (const TableCells::Row& row : table.rows) {
    const std::string text = text_of_failure(row, roles);
    if (text.empty()) continue;
    for (const log::ViolationRow& violation : plain_violations(text)) {
      const std::string code = without_numbers(violation.code);
      if (code == violation.code) continue;
      std::set<std::string>& codes = numbered[code];
      if (codes.size() <= kMostNumbered) codes.insert(violation.code);
    }
  }
  std::set<std::string> found;
  for (const auto& [code, codes] : numbered) {
    if (codes.size() > kMostNumbered) found.insert(code);
  }
  return found;
}

/// The applications that the context columns tell apart.
class ContextBook {
 public:
  ContextBook(const CsvTable& table, const ColumnRoles& roles, std::string workload)
      : table_(table), columns_(roles.context), workload_(std::move(workload)) {
    for (const NamedColumn& column : columns_) numeric_.push_back(is_numeric(table, column.column));
  }

  /// Index of the row's context, or the refusal of one of its cells. `stated`: its name, or empty.
  std::variant<std::size_t, Refusal> of(const TableCells::Row& row, const std::string& stated) {
    TableContext context;
    std::vector<std::pair<std::string, std::string>> values;
    context.definition = "hindsight table context, format 1\n";
    const std::string& name = workload_.empty() ? stated : workload_;
    context.named = !name.empty();
    if (columns_.empty()) {
      context.name = name.empty() ? table_name(table_) : name;
      if (const auto known = index_.find(context.name); known != index_.end()) return known->second;
      context.definition += fmt::format("table|{}\n", context.name);
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = row[columns_[i].column];
      const auto number = parse_double(cell);
      if (cell.empty() || (numeric_[i] && !number)) {
        return Refusal{columns_[i].column, cell.empty() ? fmt::format("context {} is empty", columns_[i].name)
                                                        : not_a_number("context " + columns_[i].name, cell)};
      }
      std::string text = cell;
      if (numeric_[i]) {
        const double value = *number + 0.0;  // -0 is 0
        text = shortest(value);
        context.features.emplace_back(columns_[i].name, value);
      }
      values.emplace_back(table_.header[columns_[i].column], text);
      context.definition += fmt::format("{}|{}\n", columns_[i].name, printable(text, kWholeText));
    }
    if (!columns_.empty()) context.name = context_name(values);
    const auto [entry, fresh] = index_.try_emplace(context.name, contexts_.size());
    if (fresh) {
      contexts_.push_back(std::move(context));
    } else if (contexts_[entry->second].definition != context.definition) {
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: two contexts would both be named '{}' (their values differ only in characters that a "
                      "name cannot have). Change one value",
                      printable(table_.file.string(), 400), context.name));
    }
    return entry->second;
  }
  std::vector<TableContext> take() { return std::move(contexts_); }

 private:
  const CsvTable& table_;
  const std::vector<NamedColumn>& columns_;
  std::string workload_;  ///< of every row; empty: as the rows say
  std::vector<bool> numeric_;
  std::vector<TableContext> contexts_;
  std::unordered_map<std::string, std::size_t> index_;
};

/// Turns rows into evaluations; a refusal is a text.
class RowReader {
 public:
  RowReader(const CsvTable& table, const ColumnRoles& roles, const space::DesignSpace& space,
            const std::string& workload)
      : table_(table),
        roles_(roles),
        space_(space),
        lookups_(match_columns(table, roles, space)),
        contexts_(table, roles, workload),
        reason_marks_(reason_marks_failures(table, roles)) {
    if (roles.infeasible_value) infeasible_value_.emplace(*roles.infeasible_value);
    if (!roles.objective.name.empty()) measured_codes_ = codes_with_measurements(table, roles);
  }

  /// The row, or why it does not fit. `stated`: what the format says of it, or null where its columns do.
  std::variant<TableRow, Refusal> parse(const TableCells::Row& cells, std::size_t line, const StatedOutcome* stated) {
    TableRow row;
    row.line = line;
    if (!table_.row_word.empty()) row.word = table_.row_word;
    space::Design design;
    for (LevelLookup& lookup : lookups_) {
      const std::string& cell = cells[lookup.column()];
      if (cell.empty() && may_be_inactive(design.levels.size())) {
        design.levels.push_back(0);
        continue;
      }
      const auto level = lookup.level(cell);
      if (!level) return Refusal{lookup.column(), refusal_of(lookup, cell)};
      design.levels.push_back(*level);
    }
    if (space_.is_constrained()) {
      space_.settle(design.levels);
      for (std::size_t p = 0; p < design.levels.size(); ++p) {
        const LevelLookup& lookup = lookups_[p];
        const std::string& cell = cells[lookup.column()];
        const bool missing = cell.empty() && space_.rules()->is_active(design.levels, p);
        if (missing) return Refusal{lookup.column(), lookup.refusal(cell) + ", but its only_if holds"};
      }
      if (const std::string broken = space_.broken_rule(design.levels); !broken.empty()) {
        return Refusal{lookups_.front().column(), broken};
      }
    }
    if (stated != nullptr) {
      take_outcome(*stated, row.evaluation);
      for (const auto& [name, value] : row.evaluation.metrics) {
        if (std::string problem = log::impossible_cell(name, value); !problem.empty()) {
          return Refusal{lookups_.front().column(), std::move(problem)};
        }
      }
    } else {
      if (auto problem = read_outcome(cells, row.evaluation)) return std::move(*problem);
      if (auto problem = read_constraints(cells, row.evaluation)) return std::move(*problem);
    }
    std::variant<std::size_t, Refusal> context = contexts_.of(cells, stated == nullptr ? "" : stated->workload);
    if (auto* problem = std::get_if<Refusal>(&context)) return std::move(*problem);
    row.context = std::get<std::size_t>(context);
    row.evaluation.design_text_id = space_.text_id(design);
    row.evaluation.design_hash = content_hash(row.evaluation.design_text_id);
    return row;
  }
  std::vector<TableContext> take_contexts() { return contexts_.take(); }

 private:
  /// With the nearest value for the first refusals, more than are ever listed: it is looked for among all values.
  std::string refusal_of(const LevelLookup& lookup, const std::string& cell) {
    constexpr std::size_t kExplained = 100;
    return explained_++ < kExplained ? lookup.refusal(cell) : "a value that the space does not have";
  }

  static void take_outcome(const StatedOutcome& stated, log::EvaluationRow& evaluation) {
    evaluation.feasible = stated.feasible;
    for (const auto& [name, value] : stated.metrics) {
      if (evaluation.feasible || may_stand(name, value)) evaluation.metrics.emplace_back(name, value);
    }
    evaluation.violations = stated.violations;
  }

  [[nodiscard]] bool may_be_inactive(std::size_t parameter) const {
    return space_.is_constrained() && space_.rules()->is_conditional(parameter);
  }
  /// Feasibility, objective or reason.
  std::optional<Refusal> read_outcome(const TableCells::Row& cells, log::EvaluationRow& evaluation) const {
    const std::string reason = roles_.reason ? cells[*roles_.reason] : "";
    bool flagged = reason_marks_ && !reason.empty();
    if (roles_.infeasible) {
      const std::string& cell = cells[*roles_.infeasible];
      const auto flag = infeasible_value_ ? infeasible_value_->is(cell) : parse_flag(cell);
      if (!flag) {
        const std::string value = printable(table_.header[*roles_.infeasible], 40) + "=VALUE";
        return Refusal{*roles_.infeasible,
                       fmt::format("the infeasible flag is '{}'. Write 1 or 0, true or false, yes or no, or name what "
                                   "failed rows have: --infeasible {}",
                                   printable(cell), shell_quoted(value))};
      }
      flagged = *flag;
    }
    const std::string& cell = cells[roles_.objective.column];
    const auto value = parse_double(cell);
    if (!flagged && value) {
      if (auto refusal = refusal_of_value(roles_.objective, *value)) return refusal;
      evaluation.feasible = true;
      evaluation.metrics.emplace_back(roles_.objective.name, *value);
      return std::nullopt;
    }
    if (!flagged && starts_like_number(cell)) {
      return Refusal{roles_.objective.column, not_a_number(roles_.objective.name, cell)};
    }
    evaluation.feasible = false;
    evaluation.violations = violations_of(text_of_failure(cells, roles_));
    return std::nullopt;
  }

  [[nodiscard]] std::vector<log::ViolationRow> violations_of(const std::string& text) const {
    std::vector<log::ViolationRow> violations;
    for (log::ViolationRow& violation : plain_violations(text)) {
      if (std::string code = without_numbers(violation.code); measured_codes_.contains(code)) {
        if (violation.message.empty()) violation.message = violation.code;
        violation.code = std::move(code);
      }
      const bool is_known =
          std::ranges::any_of(violations, [&](const log::ViolationRow& one) { return one.code == violation.code; });
      if (!is_known) violations.push_back(std::move(violation));
    }
    return violations;
  }

  std::optional<Refusal> read_constraints(const TableCells::Row& cells, log::EvaluationRow& evaluation) const {
    for (const NamedColumn& constraint : roles_.constraints) {
      const std::string& cell = cells[constraint.column];
      const auto value = parse_double(cell);
      if (value) {
        auto refusal = evaluation.feasible ? refusal_of_value(constraint, *value) : std::nullopt;
        if (refusal) return refusal;
        if (evaluation.feasible || may_stand(constraint.name, *value)) {
          evaluation.metrics.emplace_back(constraint.name, *value);
        }
      } else if (evaluation.feasible && !is_no_value(cell)) {
        return Refusal{constraint.column, not_a_number(constraint.name, cell)};
      }
    }
    return std::nullopt;
  }

  const CsvTable& table_;
  const ColumnRoles& roles_;
  const space::DesignSpace& space_;
  std::vector<LevelLookup> lookups_;
  ContextBook contexts_;
  std::optional<Wanted> infeasible_value_;
  std::set<std::string> measured_codes_;  ///< without the numbers that their texts have
  bool reason_marks_;
  std::size_t explained_ = 0;
};

/// Different values of a column in the order of the rows, at most `most`.
std::vector<std::string> first_values(const CsvTable& table, std::size_t column, std::size_t most) {
  std::vector<std::string> values;
  for (const TableCells::Row& row : table.rows) {
    const std::string& cell = row[column];
    if (std::find(values.begin(), values.end(), cell) != values.end()) continue;
    if (values.size() == most) break;
    values.push_back(cell);
  }
  return values;
}

/// The value that is meant by one that no row has: fail or FAILED for FAIL. A number is what it is.
std::optional<std::string> spelled_alike(const std::string& wanted, const std::vector<std::string>& values) {
  constexpr std::size_t kLeastLetters = 3;  // [chosen] of a word of which the other is the beginning
  if (parse_double(wanted)) return std::nullopt;
  const std::string word = lower_case(wanted);
  const auto alike = std::find_if(values.begin(), values.end(), [&](const std::string& value) {
    const std::string other = lower_case(value);
    const std::string& shorter = word.size() < other.size() ? word : other;
    const std::string& longer = word.size() < other.size() ? other : word;
    return other == word || (shorter.size() >= kLeastLetters && longer.starts_with(shorter));
  });
  return alike == values.end() ? std::nullopt : std::optional(*alike);
}

}  // namespace

bool reason_marks_failures(const CsvTable& table, const ColumnRoles& roles) {
  if (!roles.reason || roles.infeasible) return false;
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const TableCells::Row& row) {
    return row[*roles.reason].empty() && parse_double(row[roles.objective.column]);
  });
}

std::vector<bool> failed_rows(const CsvTable& table, const ColumnRoles& roles) {
  const bool reason_marks = reason_marks_failures(table, roles);
  std::optional<Wanted> wanted;
  if (roles.infeasible_value) wanted.emplace(*roles.infeasible_value);
  std::vector<bool> failed;
  for (const TableCells::Row& row : table.rows) {
    const std::string& objective = row[roles.objective.column];
    bool marked = reason_marks && !row[*roles.reason].empty();
    if (roles.infeasible) {
      const std::string& cell = row[*roles.infeasible];
      marked = wanted ? wanted->is(cell) : parse_flag(cell).value_or(false);
    }
    failed.push_back(marked || (!parse_double(objective) && !starts_like_number(objective)));
  }
  return failed;
}

std::string remark_on_infeasible_value(const CsvTable& table, const ColumnRoles& roles) {
  if (!roles.infeasible_value || table.rows.empty()) return "";
  const std::size_t column = *roles.infeasible;
  const std::string& value = *roles.infeasible_value;
  const Wanted wanted(value);
  if (std::any_of(table.rows.begin(), table.rows.end(),
                  [&](const TableCells::Row& row) { return wanted.is(row[column]); })) {
    return "";
  }
  constexpr std::size_t kLookedAt = 50;  // [chosen] a flag has two values, or a few
  const std::vector<std::string> values = first_values(table, column, kLookedAt);
  const std::string name = printable(table.header[column], 40);
  const std::string problem = fmt::format("{} is {} in no row", name, printable(value, 40));
  if (const auto near = spelled_alike(value, values)) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: --infeasible {}={}: {}. Did you mean '{}'?", printable(table.file.string(), 100), name,
                            printable(value, 40), problem, printable(*near, 40)));
  }
  return values.size() == 1 ? fmt::format("{}, but '{}' in all", problem, printable(values.front(), 40)) : problem;
}

std::vector<TableContext> read_rows(const ImportSource& source, const ColumnRoles& roles,
                                    const space::DesignSpace& space, const std::string& workload, RowTaker& taker) {
  const CsvTable& table = source.table;
  RowReader reader(table, roles, space, workload);
  const Steps steps("reading rows", table.rows.size());
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    steps.at(i);
    auto parsed = reader.parse(table.rows[i], table.line[i], source.outcomes.empty() ? nullptr : &source.outcomes[i]);
    if (auto* refusal = std::get_if<Refusal>(&parsed)) {
      taker.take(RefusedRow{.place = table.place[i][refusal->column], .reason = std::move(refusal->reason)});
    } else {
      taker.take(std::get<TableRow>(std::move(parsed)));
    }
  }
  return reader.take_contexts();
}

}  // namespace hindsight::dataset

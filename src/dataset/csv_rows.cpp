/// Reads the rows of a table as evaluations: levels, context, outcome and labels, or why a row does not fit.
#include "dataset/csv_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <variant>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/context.h"

namespace hindsight::dataset {
namespace {

constexpr std::size_t kUnlimited = std::size_t{1} << 24U;  ///< more than a cell may have
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
const std::string kDefaultReason = "infeasible";

std::string lowered(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

/// 1/0, true/false, yes/no; nothing for anything else.
std::optional<bool> parse_flag(const std::string& cell) {
  constexpr std::array<std::string_view, 4> kTrue = {"true", "yes", "t", "y"};
  constexpr std::array<std::string_view, 4> kFalse = {"false", "no", "f", "n"};
  const std::string text = lowered(cell);
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return true;
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return false;
  const auto number = parse_double(text);
  if (number && (*number == 0.0 || *number == 1.0)) return *number == 1.0;
  return std::nullopt;
}

/// Whether a text that is no number was meant as one: "12 ms", "3,5".
bool starts_like_number(std::string_view text) {
  while (!text.empty() && (text.front() == '+' || text.front() == '-' || text.front() == '.')) text.remove_prefix(1);
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

/// The same value as written in a table: numbers by value, other texts by their letters.
bool same_value(const std::string& a, const std::string& b) {
  const auto number_a = parse_double(a), number_b = parse_double(b);
  return number_a && number_b ? *number_a == *number_b : a == b;
}

/// Why a row does not fit, and the column of the cell.
struct Refusal {
  std::size_t column = 0;
  std::string reason;
};

std::string not_a_number(const std::string& name, const std::string& cell) {
  return fmt::format("{} is '{}', which is not a number", name, printable(cell));
}

/// Cells of one column to levels of its parameter, each distinct cell looked up once.
class LevelLookup {
 public:
  LevelLookup(const space::Parameter& parameter, std::size_t column) : parameter_(&parameter), column_(column) {}
  [[nodiscard]] std::size_t column() const { return column_; }

  /// The level of `cell`, or nothing.
  std::optional<std::uint16_t> level(const std::string& cell) {
    const auto [entry, fresh] = known_.try_emplace(cell);
    if (fresh) {
      entry->second = find(cell);
    }
    return entry->second;
  }

  /// Why a cell has no level.
  [[nodiscard]] std::string refusal(const std::string& cell) const {
    if (cell.empty()) {
      return fmt::format("{} is empty", parameter_->name);
    }
    std::string nearest;
    if (parameter_->kind == space::ParameterKind::categorical) {
      nearest = did_you_mean(cell, parameter_->labels);
    } else if (const auto value = parse_double(cell)) {
      const auto closest =
          std::min_element(parameter_->values.begin(), parameter_->values.end(),
                           [&](double a, double b) { return std::abs(a - *value) < std::abs(b - *value); });
      nearest = fmt::format(" Nearest: {}", shortest(*closest));
    } else {
      nearest = " Write a number";
    }
    return fmt::format("{} is '{}', which the space does not have.{}", parameter_->name, printable(cell), nearest);
  }

 private:
  [[nodiscard]] std::optional<std::uint16_t> find(const std::string& cell) const {
    if (parameter_->kind == space::ParameterKind::ordinal) {
      const auto value = parse_double(cell);
      const auto found = value ? std::lower_bound(parameter_->values.begin(), parameter_->values.end(), *value)
                               : parameter_->values.end();
      if (found == parameter_->values.end() || *found != *value) return std::nullopt;
      return static_cast<std::uint16_t>(found - parameter_->values.begin());
    }
    const std::vector<std::string>& labels = parameter_->labels;
    auto found = std::find(labels.begin(), labels.end(), cell);
    if (found == labels.end()) found = std::find(labels.begin(), labels.end(), label_of(cell));
    if (found == labels.end() || cell.empty()) return std::nullopt;
    return static_cast<std::uint16_t>(found - labels.begin());
  }

  const space::Parameter* parameter_;
  std::size_t column_;
  std::unordered_map<std::string, std::optional<std::uint16_t>> known_;
};

std::vector<LevelLookup> match_columns(const CsvTable& table, const ColumnRoles& roles,
                                       const space::DesignSpace& space) {
  const std::string file = printable(table.file.string(), 400);
  std::vector<bool> used(roles.design.size(), false);
  std::vector<LevelLookup> lookups;
  for (const space::Parameter& parameter : space.parameters()) {
    std::size_t i = 0;
    while (i < used.size() && (used[i] || !names_column(parameter.name, roles.design[i]))) ++i;
    if (i == used.size()) {
      std::vector<std::string> names;
      for (const NamedColumn& column : roles.design) names.push_back(column.name);
      throw Error(ErrorKind::usage, fmt::format("{}: no column for parameter '{}' of space '{}'.{}", file,
                                                parameter.name, space.name(), did_you_mean(parameter.name, names)));
    }
    used[i] = true;
    lookups.emplace_back(parameter, roles.design[i].column);
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) {
      throw Error(
          ErrorKind::usage,
          fmt::format("{}: column '{}' is no parameter of space '{}' and has no other role (designs that differ "
                      "in it would be mixed up). Name it as ignored, context or constraint",
                      file, printable(table.header[roles.design[i].column]), space.name()));
    }
  }
  return lookups;
}

/// The applications that the context columns tell apart.
class ContextBook {
 public:
  ContextBook(const CsvTable& table, const ColumnRoles& roles) : table_(table), columns_(roles.context) {
    for (const NamedColumn& column : columns_) numeric_.push_back(is_numeric(table, column.column));
  }

  /// Index of the row's context, or the refusal of one of its cells.
  std::variant<std::size_t, Refusal> of(const std::vector<std::string>& row) {
    TableContext context;
    std::vector<std::pair<std::string, std::string>> values;
    context.definition = "hindsight table context, format 1\n";
    if (columns_.empty()) {
      context.name = table_name(table_);
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
      context.definition += fmt::format("{}|{}\n", columns_[i].name, printable(text, kUnlimited));
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
  std::vector<bool> numeric_;
  std::vector<TableContext> contexts_;
  std::unordered_map<std::string, std::size_t> index_;
};

/// Turns rows into evaluations; a refusal is a text.
class RowReader {
 public:
  RowReader(const CsvTable& table, const ColumnRoles& roles, const space::DesignSpace& space)
      : roles_(roles), space_(space), lookups_(match_columns(table, roles, space)), contexts_(table, roles) {}

  /// Fills `row`, or says why it does not fit.
  std::optional<Refusal> read(const std::vector<std::string>& cells, TableRow& row) {
    space::Design design;
    for (LevelLookup& lookup : lookups_) {
      const std::string& cell = cells[lookup.column()];
      const auto level = lookup.level(cell);
      if (!level) return Refusal{lookup.column(), lookup.refusal(cell)};
      design.levels.push_back(*level);
    }
    if (auto problem = read_outcome(cells, row.evaluation)) return problem;
    if (auto problem = read_constraints(cells, row.evaluation)) return problem;
    std::variant<std::size_t, Refusal> context = contexts_.of(cells);
    if (auto* problem = std::get_if<Refusal>(&context)) return std::move(*problem);
    row.context = std::get<std::size_t>(context);
    row.evaluation.design_text_id = space_.text_id(design);
    row.evaluation.design_hash = content_hash(row.evaluation.design_text_id);
    return std::nullopt;
  }
  std::vector<TableContext> take_contexts() { return contexts_.take(); }

 private:
  /// Feasibility, objective or reason.
  std::optional<Refusal> read_outcome(const std::vector<std::string>& cells, log::EvaluationRow& evaluation) const {
    bool flagged = false;
    if (roles_.infeasible) {
      const std::string& cell = cells[*roles_.infeasible];
      const auto flag = roles_.infeasible_value ? same_value(cell, *roles_.infeasible_value) : parse_flag(cell);
      if (!flag) {
        return Refusal{
            *roles_.infeasible,
            fmt::format("the infeasible flag is '{}'. Write 1 or 0, true or false, yes or no", printable(cell))};
      }
      flagged = *flag;
    }
    const std::string& cell = cells[roles_.objective.column];
    const auto value = parse_double(cell);
    if (!flagged && value) {
      evaluation.feasible = true;
      evaluation.metrics.emplace_back(roles_.objective.name, *value);
      return std::nullopt;
    }
    if (!flagged && starts_like_number(cell)) {
      return Refusal{roles_.objective.column, not_a_number(roles_.objective.name, cell)};
    }
    evaluation.feasible = false;
    const std::string reason = roles_.reason ? cells[*roles_.reason] : "";
    const std::string text = !reason.empty() || value ? reason : cell;
    const std::string code = snake_case(text);
    evaluation.violations.push_back({.code = code.empty() ? kDefaultReason : code,
                                     .quantity = "",
                                     .value = kUnknown,
                                     .limit = kUnknown,
                                     .nearest_passing = {},
                                     .layer = "",
                                     .message = code == text ? "" : printable(text, 1000)});
    return std::nullopt;
  }

  std::optional<Refusal> read_constraints(const std::vector<std::string>& cells, log::EvaluationRow& evaluation) const {
    for (const NamedColumn& constraint : roles_.constraints) {
      const std::string& cell = cells[constraint.column];
      const auto value = parse_double(cell);
      if (value) {
        // An infeasible design has no cost; what else a failed run left behind may stand.
        const bool cost = constraint.name == "latency_s" || constraint.name == "energy_j";
        if (evaluation.feasible || !cost) {
          evaluation.metrics.emplace_back(constraint.name, *value);
        }
      } else if (evaluation.feasible && !cell.empty() && lowered(cell) != "nan") {
        return Refusal{constraint.column, not_a_number(constraint.name, cell)};
      }
    }
    return std::nullopt;
  }

  const ColumnRoles& roles_;
  const space::DesignSpace& space_;
  std::vector<LevelLookup> lookups_;
  ContextBook contexts_;
};

}  // namespace

TableRows read_rows(const CsvTable& table, const ColumnRoles& roles, const space::DesignSpace& space) {
  RowReader reader(table, roles, space);
  TableRows result;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    TableRow row;
    row.line = table.line[i];
    if (auto refusal = reader.read(table.rows[i], row)) {
      result.refused.push_back({.place = table.place[i][refusal->column], .reason = std::move(refusal->reason)});
    } else {
      result.rows.push_back(std::move(row));
    }
  }
  result.contexts = reader.take_contexts();
  return result;
}

}  // namespace hindsight::dataset

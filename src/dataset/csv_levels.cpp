/// Cells of a table as levels of a design space.
#include "dataset/csv_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hindsight/core/ascii.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::dataset {
std::optional<bool> parse_flag(const std::string& cell) {
  constexpr std::array<std::string_view, 4> kTrue = {"true", "yes", "t", "y"};
  constexpr std::array<std::string_view, 4> kFalse = {"false", "no", "f", "n"};
  const std::string text = lower_case(cell);
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return true;
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return false;
  const auto number = parse_double(text);
  if (number && (*number == 0.0 || *number == 1.0)) return *number == 1.0;
  return std::nullopt;
}

bool starts_like_number(std::string_view text) {
  while (!text.empty() && (text.front() == '+' || text.front() == '-' || text.front() == '.')) text.remove_prefix(1);
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

bool has_decimal_comma(std::string_view text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || text.find_first_of(",.", comma + 1) != std::string_view::npos) return false;
  std::string number;
  for (const char c : text) {
    if (c != '.') number += c == ',' ? '.' : c;
  }
  return parse_double(number).has_value();
}

std::string not_a_number(const std::string& name, const std::string& cell) {
  return fmt::format("{} is '{}', which is not a number{}", name, printable(cell),
                     has_decimal_comma(cell) ? " (a decimal comma? Write a point)" : "");
}

std::optional<std::uint16_t> LevelLookup::level(const std::string& cell) {
  const auto [entry, fresh] = known_.try_emplace(cell);
  if (fresh) {
    entry->second = find(cell);
  }
  return entry->second;
}

std::string LevelLookup::refusal(const std::string& cell) const {
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
    nearest = has_decimal_comma(cell) ? " A decimal comma? Write a point" : " Write a number";
  }
  return fmt::format("{} is '{}', which the space does not have.{}", parameter_->name, printable(cell), nearest);
}

std::optional<std::uint16_t> LevelLookup::find(const std::string& cell) {
  if (parameter_->kind == space::ParameterKind::ordinal) {
    const auto value = parse_double(cell);
    const auto found = value ? std::lower_bound(parameter_->values.begin(), parameter_->values.end(), *value)
                             : parameter_->values.end();
    if (found == parameter_->values.end() || *found != *value) return std::nullopt;
    return static_cast<std::uint16_t>(found - parameter_->values.begin());
  }
  if (levels_.empty()) {
    for (const std::string& label : parameter_->labels) {
      levels_.emplace(label, static_cast<std::uint16_t>(levels_.size()));
    }
  }
  auto found = levels_.find(cell);
  if (found == levels_.end()) found = levels_.find(label_of(cell));
  if (found == levels_.end() || cell.empty()) return std::nullopt;
  return found->second;
}

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

}  // namespace hindsight::dataset

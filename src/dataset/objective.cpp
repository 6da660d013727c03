/// Objectives and filters as a user writes them on a command line.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/selection.h"

namespace hindsight::dataset {
namespace {

/// What a short name stands for.
struct ShortName {
  std::string_view name;
  std::array<std::string_view, 2> metrics;
};
constexpr std::array<ShortName, 4> kShortNames = {{
    {.name = "latency", .metrics = {"latency_s", ""}},
    {.name = "energy", .metrics = {"energy_j", ""}},
    {.name = "edp", .metrics = {"energy_j", "latency_s"}},
    {.name = "power", .metrics = {"average_power_w", ""}},
}};

/// Endings of names that are multiples of each other.
constexpr std::array<std::array<std::string_view, 5>, 3> kUnitsOfOneKind = {
    {{"_s", "_ms", "_us", "_ns", "_ps"}, {"_j", "_mj", "_uj", "_nj", "_pj"}, {"_w", "_mw", "_uw", "_kw", "_nw"}}};

/// A name without its unit, and the kind of that; the whole name where it ends in none.
std::pair<std::string_view, std::size_t> without_unit(std::string_view name) {
  for (std::size_t kind = 0; kind < kUnitsOfOneKind.size(); ++kind) {
    for (const std::string_view unit : kUnitsOfOneKind[kind]) {
      if (name.size() > unit.size() && name.ends_with(unit)) return {name.substr(0, name.size() - unit.size()), kind};
    }
  }
  return {name, kUnitsOfOneKind.size()};
}

bool is_metric_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto inner = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.' || c == ':'; };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), inner);
}

[[noreturn]] void refuse_objective(const std::string& text, const std::string& problem) {
  throw Error(ErrorKind::usage, fmt::format("objective '{}': {}. Write a product of powers of metrics, e.g. latency_s, "
                                            "energy_j * latency_s^2, 1 / throughput",
                                            printable(text), problem));
}

/// One factor: its metric (empty for the number 1) and exponent.
std::pair<std::string, double> read_factor(const std::string& text, std::string_view piece) {
  if (piece.empty()) {
    refuse_objective(text, "a factor is missing");
  }
  const std::size_t caret = piece.find('^');
  const std::string name(trimmed(piece.substr(0, caret)));
  double exponent = 1;
  if (caret != std::string_view::npos) {
    const std::string_view power = trimmed(piece.substr(caret + 1));
    const auto value = parse_double(power);
    if (!value || *value == 0.0) {
      refuse_objective(text, fmt::format("the exponent '{}' of {} is no number other than 0", printable(power), name));
    }
    exponent = *value;
  }
  if (name == "1") {
    return {"", exponent};
  }
  if (parse_double(name)) {
    refuse_objective(text, fmt::format("the factor {} changes no ranking", name));
  }
  if (!is_metric_name(name)) {
    refuse_objective(text, fmt::format("'{}' is not the name of a metric", printable(name)));
  }
  return {name, exponent};
}

void add_factor(Objective& objective, const std::string& name, double exponent) {
  const auto* found = std::find_if(kShortNames.begin(), kShortNames.end(),
                                   [&](const ShortName& short_name) { return short_name.name == name; });
  if (found == kShortNames.end()) {
    objective.factors.push_back({.metric = name, .exponent = exponent});
    return;
  }
  for (const std::string_view metric : found->metrics) {
    if (!metric.empty()) {
      objective.factors.push_back({.metric = std::string(metric), .exponent = exponent, .short_name = name});
    }
  }
}

}  // namespace

std::optional<std::string> metric_of_short_name(const std::string& name) {
  for (const ShortName& one : kShortNames) {
    if (one.name == name && one.metrics[1].empty()) return std::string(one.metrics[0]);
  }
  return std::nullopt;
}

Objective parse_objective(const std::string& text, Direction direction) {
  Objective objective;
  double sign = direction == Direction::minimise ? 1 : -1;
  std::string_view rest = text;
  while (true) {
    const std::size_t end = rest.find_first_of("*/");
    const auto [name, exponent] = read_factor(text, trimmed(rest.substr(0, end)));
    if (!name.empty()) {
      add_factor(objective, name, sign * exponent);
    }
    if (end == std::string_view::npos) {
      break;
    }
    sign = direction == Direction::minimise ? 1 : -1;
    if (rest[end] == '/') {
      sign = -sign;
    }
    rest.remove_prefix(end + 1);
  }
  std::map<std::string, double> net_exponents;
  for (const Objective::Factor& factor : objective.factors) {
    net_exponents[factor.metric] += factor.exponent;
  }
  const auto cancelled = [](const auto& entry) { return entry.second == 0.0; };
  if (std::all_of(net_exponents.begin(), net_exponents.end(), cancelled)) {
    refuse_objective(text, "it is the same for every design");
  }
  objective.text = direction == Direction::minimise ? std::string(trimmed(text)) : to_string(objective);
  return objective;
}

std::vector<std::string> objective_metrics(const std::string& text) {
  const Objective objective = parse_objective(text, Direction::minimise);
  std::vector<std::string> metrics;
  for (const Objective::Factor& factor : objective.factors) metrics.push_back(factor.metric);
  return metrics;
}

std::optional<std::string> maximised_metric(const Objective& objective) {
  const bool is_reciprocal = objective.factors.size() == 1 && objective.factors.front().exponent == -1;
  return is_reciprocal ? std::optional(objective.factors.front().metric) : std::nullopt;
}

std::string to_string(const Objective& objective) {
  std::string text;
  const std::string* previous_short = nullptr;
  for (const Objective::Factor& factor : objective.factors) {
    const bool continues = previous_short != nullptr && factor.short_name == "edp" && *previous_short == "edp";
    previous_short = continues ? nullptr : &factor.short_name;
    if (continues) {
      continue;  // the second metric of one "edp"
    }
    text += text.empty() ? "" : " * ";
    text += factor.short_name.empty() ? factor.metric : factor.short_name;
    text += factor.exponent == 1.0 ? "" : "^" + shortest(factor.exponent);
  }
  return text;
}

bool differ_in_unit(const std::string& a, const std::string& b) {
  const auto [name, kind] = without_unit(a);
  return a != b && kind < kUnitsOfOneKind.size() && without_unit(b) == std::pair(name, kind);
}

Condition parse_condition(const std::string& text) {
  const auto refuse = [&](const std::string& problem) {
    throw Error(ErrorKind::usage,
                fmt::format("condition '{}': {}. Write METRIC OPERATOR NUMBER, e.g. area_mm2<=50 (operators: <, <=, >, "
                            ">=, ==, !=)",
                            printable(text), problem));
  };
  Condition condition;
  const std::size_t begin = text.find_first_of("<>=!");
  if (begin == std::string::npos) {
    refuse("it has no operator");
  }
  const std::size_t end = text.find_first_not_of("<>=!", begin);
  condition.metric = trimmed(std::string_view(text).substr(0, begin));
  condition.comparison = text.substr(begin, end == std::string::npos ? end : end - begin);
  if (condition.comparison == "=") {
    condition.comparison = "==";
  }
  constexpr std::array<std::string_view, 6> kOperators = {"<", "<=", ">", ">=", "==", "!="};
  if (std::find(kOperators.begin(), kOperators.end(), condition.comparison) == kOperators.end()) {
    refuse(fmt::format("'{}' is no operator", condition.comparison));
  }
  if (!is_metric_name(condition.metric)) {
    refuse(fmt::format("'{}' is not the name of a metric or parameter", printable(condition.metric)));
  }
  const std::string_view value =
      end == std::string::npos ? std::string_view() : trimmed(std::string_view(text).substr(end));
  const bool equality = condition.comparison == "==" || condition.comparison == "!=";
  if (const auto number = parse_double(value)) {
    condition.value = *number;
  } else if (equality && !value.empty()) {
    condition.label = value;
  } else {
    refuse(fmt::format("'{}' is not a number", printable(value)));
  }
  return condition;
}

}  // namespace hindsight::dataset

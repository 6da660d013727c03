/// Refusals of parameters that make no design space.
#include "space/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "hindsight/core/text.h"
#include "hindsight/core/units.h"

namespace hindsight::space {
namespace {

/// Longest name or label: they become column names and text ids.
constexpr std::size_t kMaxNameLength = 64;

bool is_snake_case(std::string_view name) {
  const auto lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && name.size() <= kMaxNameLength && lower(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return lower(c) || digit(c) || c == '_'; });
}

/// Why a label cannot stand in a text id, or an empty text.
std::string label_problem(std::string_view label) {
  if (label.empty()) {
    return "a level has an empty name. Give it a name";
  }
  if (label.size() > kMaxNameLength) {
    return fmt::format("level {} has {} characters (limit: {}). Shorten it", in_quotes(label), label.size(),
                       kMaxNameLength);
  }
  const bool edge_blank = label.front() == ' ' || label.back() == ' ';
  if (edge_blank || label.find_first_of(",=") != std::string_view::npos || !is_printable(label)) {
    return fmt::format(
        "level {} holds ',', '=' or a blank at an end (text ids use them), or a control character or another one that "
        "cannot be seen. Rename it",
        in_quotes(label));
  }
  return {};
}

using Found = std::optional<ParameterProblem>;

Found problem(ParameterPart part, std::string text, std::size_t level = 0) {
  return ParameterProblem{.parameter = 0, .part = part, .level = level, .text = std::move(text)};
}

/// 2^53: every whole number up to it is a double of its own.
Found ordinal_problem(const Parameter& parameter) {
  const bool counts = parameter.unit == "count" || parameter.unit == "entries";
  for (std::size_t i = 0; i < parameter.values.size(); ++i) {
    const double value = parameter.values[i];
    if (!std::isfinite(value)) {
      return problem(ParameterPart::levels, "a value is not a finite number. Remove it", i);
    }
    if (counts && (value < 0.0 || value > kLargestExactInteger || value != std::floor(value))) {
      return problem(ParameterPart::levels,
                     fmt::format("value {} is not a whole number from 0 to 2^53 (its unit is {}). Change the value or "
                                 "the unit",
                                 shortest(value), parameter.unit),
                     i);
    }
    if (i > 0 && value == parameter.values[i - 1]) {
      return problem(ParameterPart::levels, fmt::format("value {} appears twice. Remove one", shortest(value)), i);
    }
    if (i > 0 && value < parameter.values[i - 1]) {
      return problem(ParameterPart::levels,
                     fmt::format("value {} follows {} (ordinal values ascend). Sort them", shortest(value),
                                 shortest(parameter.values[i - 1])),
                     i);
    }
  }
  return std::nullopt;
}

Found categorical_problem(const Parameter& parameter) {
  if (!parameter.values.empty()) {
    return problem(ParameterPart::levels,
                   "a categorical parameter has numeric values (its levels are names). Make it ordinal");
  }
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < parameter.labels.size(); ++i) {
    if (std::string text = label_problem(parameter.labels[i]); !text.empty()) {
      return problem(ParameterPart::levels, std::move(text), i);
    }
    if (!seen.insert(parameter.labels[i]).second) {
      return problem(ParameterPart::levels,
                     fmt::format("level {} appears twice. Remove one", in_quotes(parameter.labels[i])), i);
    }
  }
  return std::nullopt;
}

Found parameter_problem(const Parameter& parameter) {
  if (std::string text = find_identifier_problem(parameter.name); !text.empty()) {
    return problem(ParameterPart::name, std::move(text));
  }
  if (!parameter.unit.empty() && std::ranges::find(known_units(), parameter.unit) == known_units().end()) {
    return problem(ParameterPart::unit, fmt::format("unknown unit {}.{}", in_quotes(parameter.unit),
                                                    did_you_mean(parameter.unit, known_units())));
  }
  const bool ordinal = parameter.kind == ParameterKind::ordinal;
  const std::size_t count = ordinal ? parameter.values.size() : parameter.labels.size();
  if (count == 0) {
    return problem(ParameterPart::levels, "no values (every parameter needs at least one). Add one");
  }
  if (count > kMaxLevels) {
    return problem(ParameterPart::levels, fmt::format("{} levels (limit: {}). Use a coarser step", with_commas(count),
                                                      with_commas(kMaxLevels)));
  }
  return ordinal ? ordinal_problem(parameter) : categorical_problem(parameter);
}

}  // namespace

std::span<const std::string> known_units() {
  static const std::array<std::string, 22> units = {
      "count", "entries", "none", "bytes", "kib", "mib", "bytes_per_s", "gb_per_s", "s", "ms",  "us",
      "ns",    "cycles",  "hz",   "mhz",   "ops", "j",   "mj",          "pj",       "w", "mm2", "frac"};
  return units;
}

std::optional<ParameterProblem> find_problem(std::span<const Parameter> parameters) {
  if (parameters.size() > kMaxParameters) {
    return ParameterProblem{.parameter = kMaxParameters,
                            .part = ParameterPart::name,
                            .level = 0,
                            .text = fmt::format("{} parameters (limit: {}). Split the space",
                                                with_commas(parameters.size()), with_commas(kMaxParameters))};
  }
  std::unordered_set<std::string_view> names;
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    Found found = parameter_problem(parameters[p]);
    if (!found && !names.insert(parameters[p].name).second) {
      found = problem(ParameterPart::name,
                      fmt::format("the name {} is used twice. Rename one", in_quotes(parameters[p].name)));
    }
    if (found) {
      found->parameter = p;
      return found;
    }
  }
  return std::nullopt;
}

std::string find_identifier_problem(std::string_view name) {
  if (is_snake_case(name)) return {};
  return fmt::format("{} is not a parameter name (a-z, 0-9 and '_', first a letter, at most {} characters). Rename it",
                     in_quotes(name), kMaxNameLength);
}

std::string find_name_problem(std::string_view name) {
  constexpr std::size_t kMaxSpaceName = 200;
  if (name.empty()) {
    return "the name of the space is empty (logs and reports show it). Give it one";
  }
  if (name.size() > kMaxSpaceName) {
    return fmt::format("the name of the space has {} bytes (limit: {}). Shorten it", with_commas(name.size()),
                       kMaxSpaceName);
  }
  if (!is_printable(name)) {
    return fmt::format(
        "the name of the space, {}, holds a control character or another one that cannot be seen. Remove it",
        in_quotes(name));
  }
  return {};
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return fmt::format("'{}'", printable(text, kShown));
}

}  // namespace hindsight::space

/// Design spaces as YAML files for a person to edit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/config.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/dataset/csv_import.h"
#include "hindsight/space/rules.h"

namespace hindsight::dataset {
namespace {

constexpr std::size_t kLineWidth = 110;  // [chosen] lists wrap here

/// A text in double quotes. Space files hold no control characters.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : printable(text, kWholeText)) {
    result += c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
  }
  return result + '"';
}

/// A number that reads back as the same double. The reader refuses integers beyond 2^53 when all digits are written.
std::string number(double value) {
  return std::abs(value) > kLargestExactInteger ? fmt::format("{:.17e}", value) : shortest(value);
}

/// "values: [1, 2, 4]", wrapped.
std::string value_list(const space::Parameter& parameter) {
  std::string text = "    values: [";
  std::size_t width = text.size();
  for (std::size_t level = 0; level < parameter.level_count(); ++level) {
    const bool ordinal = parameter.kind == space::ParameterKind::ordinal;
    const std::string item = ordinal ? number(parameter.values[level]) : quoted(parameter.labels[level]);
    const bool first = level == 0;
    if (!first && width + item.size() + 2 > kLineWidth) {
      text += ",\n             ";
      width = 13;
    } else if (!first) {
      text += ", ";
      width += 2;
    }
    text += item;
    width += item.size();
  }
  return text + "]\n";
}

/// "    only_if: '...'" of a parameter; empty for one without a condition.
std::string condition(const space::DesignSpace& space, std::size_t parameter) {
  if (space.rules() == nullptr) return {};
  for (const space::Rules::Check& check : space.rules()->checks()) {
    if (check.conditional == parameter) {
      return fmt::format("    only_if: {}\n", yaml_quoted(check.expression.canonical()));
    }
  }
  return {};
}

std::string constraints_and_derived(const space::Rules& rules) {
  std::string constraints, derived;
  for (const space::Rules::Check& check : rules.checks()) {
    if (!check.conditional) constraints += fmt::format("  - {}\n", yaml_quoted(check.expression.canonical()));
  }
  for (const space::Rules::Derived& one : rules.derived()) {
    derived += fmt::format("  {}: {}\n", one.name, yaml_quoted(one.expression.canonical()));
  }
  return (constraints.empty() ? "" : "\nconstraints:\n" + constraints) +
         (derived.empty() ? "" : "\nderived:\n" + derived);
}

}  // namespace

std::string to_yaml(const space::DesignSpace& space) {
  std::string text = fmt::format("name: {}\n", quoted(space.name()));
  if (!space.description().empty()) {
    text += fmt::format("description: {}\n", quoted(space.description()));
  }
  text += "\nparameters:\n";
  for (std::size_t p = 0; p < space.parameters().size(); ++p) {
    const space::Parameter& parameter = space.parameters()[p];
    const bool ordinal = parameter.kind == space::ParameterKind::ordinal;
    text += fmt::format("  - name: {}\n", parameter.name);
    if (ordinal || !parameter.unit.empty()) {
      text += fmt::format("    unit: {}\n", parameter.unit.empty() ? "none" : parameter.unit);
    }
    if (!ordinal) {
      text += "    kind: categorical\n";
    }
    text += value_list(parameter) + condition(space, p);
    if (!parameter.description.empty()) {
      text += fmt::format("    description: {}\n", quoted(parameter.description));
    }
    text += '\n';
  }
  text.pop_back();
  if (space.rules() != nullptr) text += constraints_and_derived(*space.rules());
  return text;
}

}  // namespace hindsight::dataset

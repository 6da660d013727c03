/// Design spaces as YAML files for a person to edit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/dataset/csv_import.h"

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

}  // namespace

std::string to_yaml(const space::DesignSpace& space) {
  std::string text = fmt::format("name: {}\n", quoted(space.name()));
  if (!space.description().empty()) {
    text += fmt::format("description: {}\n", quoted(space.description()));
  }
  text += "\nparameters:\n";
  for (const space::Parameter& parameter : space.parameters()) {
    const bool ordinal = parameter.kind == space::ParameterKind::ordinal;
    text += fmt::format("  - name: {}\n", parameter.name);
    if (ordinal || !parameter.unit.empty()) {
      text += fmt::format("    unit: {}\n", parameter.unit.empty() ? "none" : parameter.unit);
    }
    if (!ordinal) {
      text += "    kind: categorical\n";
    }
    text += value_list(parameter);
    if (!parameter.description.empty()) {
      text += fmt::format("    description: {}\n", quoted(parameter.description));
    }
    text += '\n';
  }
  text.pop_back();
  return text;
}

}  // namespace hindsight::dataset

/// The canonical text of a design space: what a log stores and what the definition hash is taken of.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/space/design_space.h"
#include "hindsight/space/rules.h"
#include "space/validation.h"

namespace hindsight::space {
namespace {

constexpr std::string_view kFirstLine = "hindsight design space, definition format 1";
/// Of a space with constraints or conditions: after the parameters the line kRules, then one rule a line.
constexpr std::string_view kFirstLineWithRules = "hindsight design space, definition format 2";
constexpr std::string_view kRules = "rules";

[[noreturn]] void refuse(const std::string& name, std::size_t line, const std::string& problem) {
  throw Error(
      ErrorKind::incompatible,
      fmt::format("definition of space {}, line {}: {} (it was changed, or written by another version). Read it "
                  "with the version that wrote it",
                  in_quotes(name), line, problem));
}

/// Cuts `text` at the first three '|': name, unit, kind, values. A categorical value may hold a '|' of its own.
std::optional<std::array<std::string, 4>> fields_of(std::string_view text) {
  std::array<std::string, 4> fields;
  for (std::size_t i = 0; i + 1 < fields.size(); ++i) {
    const std::size_t bar = text.find('|');
    if (bar == std::string_view::npos) {
      return std::nullopt;
    }
    fields[i] = text.substr(0, bar);
    text.remove_prefix(bar + 1);
  }
  fields.back() = text;
  return fields;
}

Parameter read_parameter(const std::string& space, std::size_t line, std::string_view text) {
  const auto fields = fields_of(text);
  if (!fields) {
    refuse(space, line, fmt::format("{} is not name|unit|kind|values", in_quotes(text)));
  }
  const auto& [name, unit, kind, values] = *fields;
  Parameter parameter;
  parameter.name = name;
  parameter.unit = unit;
  if (kind != "ordinal" && kind != "categorical") {
    refuse(space, line, fmt::format("unknown kind {}", in_quotes(kind)));
  }
  parameter.kind = kind == "ordinal" ? ParameterKind::ordinal : ParameterKind::categorical;
  std::vector<std::string> labels = split(values, ',');
  if (parameter.kind == ParameterKind::categorical) {
    parameter.labels = std::move(labels);
    return parameter;
  }
  for (const std::string& label : labels) {
    const auto value = parse_double(label);
    if (!value) {
      refuse(space, line, fmt::format("{} is not a number", in_quotes(label)));
    }
    parameter.values.push_back(*value);
  }
  return parameter;
}

/// "only_if|NAME|EXPRESSION" or "constraint|EXPRESSION".
void read_rule(const std::string& space, std::size_t line, std::string_view text, RuleTexts& rules) {
  const std::size_t bar = text.find('|');
  const std::string_view kind = text.substr(0, bar);
  std::string_view rest = bar == std::string_view::npos ? std::string_view() : text.substr(bar + 1);
  Origin origin{.what = fmt::format("definition of space {}, line {}", in_quotes(space), line), .file = {}};
  if (kind == "constraint") {
    rules.constraints.push_back({.name = {}, .text = std::string(rest), .origin = std::move(origin)});
    return;
  }
  const std::size_t second = rest.find('|');
  if (kind != "only_if" || second == std::string_view::npos) {
    refuse(space, line, fmt::format("{} is not constraint|EXPRESSION or only_if|NAME|EXPRESSION", in_quotes(text)));
  }
  rules.conditions.push_back({.name = std::string(rest.substr(0, second)),
                              .text = std::string(rest.substr(second + 1)),
                              .origin = std::move(origin)});
}

/// The space, in which every condition has its parameter.
DesignSpace make_space(const std::string& name, std::size_t line, std::vector<Parameter> parameters,
                       const RuleTexts& rules) {
  for (const RuleText& condition : rules.conditions) {
    if (std::ranges::find(parameters, condition.name, &Parameter::name) == parameters.end()) {
      refuse(name, line, fmt::format("a condition of {}, which is no parameter", in_quotes(condition.name)));
    }
  }
  return {name, "", std::move(parameters), rules};
}

}  // namespace

std::string DesignSpace::canonical_definition() const {
  std::string text = fmt::format("{}\n", constrained_ ? kFirstLineWithRules : kFirstLine);
  for (const Parameter& parameter : parameters_) {
    text +=
        fmt::format("{}|{}|{}|{}\n", parameter.name, parameter.unit.empty() ? "none" : parameter.unit,
                    parameter.kind == ParameterKind::ordinal ? "ordinal" : "categorical", join(parameter.labels, ","));
  }
  if (constrained_) text += fmt::format("{}\n{}", kRules, rules_->restrictions_definition());
  return text;
}

DesignSpace space_from_definition(const std::string& name, std::string_view definition) {
  std::vector<Parameter> parameters;
  RuleTexts rules;
  bool in_rules = false;
  std::size_t line = 0;
  for (std::string_view rest = definition; !rest.empty();) {
    ++line;
    const std::size_t end = rest.find('\n');
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (in_rules) {
      read_rule(name, line, text, rules);
    } else if (line > 1 && text == kRules) {
      in_rules = true;
    } else if (line > 1) {
      parameters.push_back(read_parameter(name, line, text));
    } else if (text != kFirstLine && text != kFirstLineWithRules) {
      refuse(name, line, fmt::format("{} is not '{}'", in_quotes(text), kFirstLine));
    }
  }
  if (definition.starts_with(kFirstLineWithRules) != in_rules) {
    refuse(name, 1, "the first line does not say whether there are rules");
  }
  try {
    DesignSpace space = make_space(name, line, std::move(parameters), rules);
    if (space.canonical_definition() == definition) {
      return space;
    }
  } catch (const Error& error) {
    refuse(name, line, error.what());
  }
  refuse(name, line, "the text is not in canonical form");
}

}  // namespace hindsight::space

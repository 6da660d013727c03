/// The canonical text of a design space: what a log stores and what the definition hash is taken of.
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/space/design_space.h"
#include "space/validation.h"

namespace hindsight::space {
namespace {

constexpr std::string_view kFirstLine = "hindsight design space, definition format 1";

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

}  // namespace

std::string DesignSpace::canonical_definition() const {
  std::string text = fmt::format("{}\n", kFirstLine);
  for (const Parameter& parameter : parameters_) {
    text +=
        fmt::format("{}|{}|{}|{}\n", parameter.name, parameter.unit.empty() ? "none" : parameter.unit,
                    parameter.kind == ParameterKind::ordinal ? "ordinal" : "categorical", join(parameter.labels, ","));
  }
  return text;
}

DesignSpace space_from_definition(const std::string& name, std::string_view definition) {
  std::vector<Parameter> parameters;
  std::size_t line = 0;
  for (std::string_view rest = definition; !rest.empty();) {
    ++line;
    const std::size_t end = rest.find('\n');
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (line > 1) {
      parameters.push_back(read_parameter(name, line, text));
    } else if (text != kFirstLine) {
      refuse(name, line, fmt::format("{} is not '{}'", in_quotes(text), kFirstLine));
    }
  }
  try {
    DesignSpace space(name, "", std::move(parameters));
    if (space.canonical_definition() == definition) {
      return space;
    }
  } catch (const Error& error) {
    refuse(name, line, error.what());
  }
  refuse(name, line, "the text is not in canonical form");
}

}  // namespace hindsight::space

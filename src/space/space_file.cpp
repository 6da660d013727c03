/// Reads a design space from YAML; every refusal names the file, line and column.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "hindsight/core/config.h"
#include "hindsight/core/enum_names.h"
#include "hindsight/core/files.h"
#include "hindsight/core/text.h"
#include "hindsight/core/units.h"
#include "hindsight/space/design_space.h"
#include "hindsight/space/rules.h"
#include "space/validation.h"

namespace hindsight::space {
namespace {

/// Largest integer below which every integer is a double: 2^53.
/// How far, relative to its size, the end of a range may lie from the last step: decimal steps are not binary.
constexpr double kRangeTolerance = 1e-9;

double read_number(const ConfigNode& node) {
  if (node.is_scalar()) {
    const std::string text = node.as_string();
    const std::size_t sign = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
    const bool digits = text.size() > sign && std::all_of(text.begin() + static_cast<std::ptrdiff_t>(sign), text.end(),
                                                          [](char c) { return c >= '0' && c <= '9'; });
    if (digits) {
      const auto integer = parse_int(sign == 1 && text.front() == '+' ? text.substr(1) : text);
      if (!integer || *integer > kLargestExactInteger || *integer < -kLargestExactInteger) {
        node.fail(fmt::format("integer {} is beyond 2^53 (a double cannot hold it exactly). Use a larger unit",
                              in_quotes(text)));
      }
    }
  }
  return node.as_double();
}

/// Removes the binary noise of a decimal step: 0.1 * 3 becomes 0.3. Whole numbers stay as they are.
double without_noise(double value) {
  if (value == std::floor(value)) {
    return value;
  }
  return parse_double(fmt::format("{:.15g}", value)).value_or(value);
}

bool close_to(double a, double b) { return std::abs(a - b) <= kRangeTolerance * std::max(std::abs(a), std::abs(b)); }

/// Values of {from, to, step} or {from, to, times}; `to` is the last value.
std::vector<double> read_range(const ConfigNode& node) {
  node.require_only_keys({"from", "to", "step", "times"});
  if (node.has("step") == node.has("times")) {
    node.fail("a range needs either 'step' (added) or 'times' (multiplied). Keep one of them");
  }
  const bool linear = node.has("step");
  const double from = read_number(node.at("from"));
  const double to = read_number(node.at("to"));
  const ConfigNode stride_node = node.at(linear ? "step" : "times");
  const double stride = read_number(stride_node);
  if (to < from) {
    node.at("to").fail(fmt::format("'to' {} is below 'from' {}. Swap them", shortest(to), shortest(from)));
  }
  if (linear ? stride <= 0.0 : stride <= 1.0) {
    stride_node.fail(fmt::format("'{}' {} does not ascend. Use a number above {}", linear ? "step" : "times",
                                 shortest(stride), linear ? 0 : 1));
  }
  if (!linear && from <= 0.0) {
    node.at("from").fail(fmt::format("'from' {} cannot be multiplied up. Use a number above 0", shortest(from)));
  }
  const double exact_steps = linear ? (to - from) / stride : std::log(to / from) / std::log(stride);
  const double steps = std::round(exact_steps);
  if (!(steps < static_cast<double>(kMaxLevels))) {
    node.fail(fmt::format("the range has more than {} values (the limit for one parameter). Use a larger '{}'",
                          with_commas(kMaxLevels), linear ? "step" : "times"));
  }
  std::vector<double> values;
  double value = from;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(steps); ++i) {
    if (i > 0) {
      value = linear ? from + static_cast<double>(i) * stride : value * stride;
    }
    values.push_back(without_noise(value));
  }
  if (!close_to(values.back(), to) && std::abs(values.back() - to) > kRangeTolerance * std::abs(linear ? stride : to)) {
    const bool beyond = values.back() > to;
    const double reached = beyond && values.size() > 1 ? values[values.size() - 2] : values.back();
    node.at("to").fail(fmt::format("'to' {} is not reached (the last value below it is {}). Use to: {}", shortest(to),
                                   shortest(reached), shortest(reached)));
  }
  values.back() = to;
  return values;
}

void read_levels(const ConfigNode& node, Parameter& parameter) {
  const ConfigNode values = node.at("values");
  if (parameter.kind == ParameterKind::categorical) {
    for (const ConfigNode& item : values.items()) {
      parameter.labels.push_back(item.as_string());
    }
    return;
  }
  if (values.is_map()) {
    parameter.values = read_range(values);
    return;
  }
  if (!values.is_list()) {
    values.fail("'values' is neither a list [1, 2, 4] nor a range {from: 1, to: 4, times: 2}. Write one of them");
  }
  for (const ConfigNode& item : values.items()) {
    if (!node.has("kind") && item.is_scalar() && !parse_double(item.as_string())) {
      item.fail(
          fmt::format("value {} is not a number (parameters are ordinal unless they say otherwise). Add "
                      "'kind: categorical' for names",
                      in_quotes(item.as_string())));
    }
    parameter.values.push_back(read_number(item));
  }
}

ParameterKind read_kind(const ConfigNode& node) {
  constexpr EnumNames<ParameterKind, 2> kKinds{
      {{ParameterKind::ordinal, "ordinal"}, {ParameterKind::categorical, "categorical"}}};
  // What other tools call a parameter that is true or false.
  constexpr std::array<std::string_view, 3> kSwitches{"boolean", "bool", "flag"};
  const auto kind = node.find("kind");
  if (!kind) return ParameterKind::ordinal;
  if (const std::string text = kind->as_string(); std::ranges::find(kSwitches, text) != kSwitches.end()) {
    kind->fail(fmt::format("unknown kind {}. What is false or true has 'kind: categorical' and 'values: [false, true]'",
                           in_quotes(text)));
  }
  return parse_enum("kind", *kind, kKinds);
}

/// The unit that the suffix of `name` promises, if any: "bytes" for pe_memory_bytes. Suffixes of one letter are
/// left out (tile_j is no energy), and so are rates of something that has no unit here (requests_per_s).
std::string promised_unit(std::string_view name) {
  std::string longest;
  for (const std::string& unit : known_units()) {
    const std::string suffix = "_" + unit;
    const bool rate = name.ends_with("_per" + suffix);
    if (unit.size() > longest.size() && unit.size() > 1 && unit != "none" && !rate && name.ends_with(suffix)) {
      longest = unit;
    }
  }
  return longest;
}

void read_unit(const ConfigNode& node, Parameter& parameter) {
  const auto unit = node.find("unit");
  if (!unit) {
    if (parameter.kind == ParameterKind::ordinal) {
      node.fail(fmt::format("parameter {} has no unit. Add 'unit: U', U one of {}", in_quotes(parameter.name),
                            join(known_units(), ", ")));
    }
    return;
  }
  parameter.unit = unit->as_string();
  if (parameter.unit.empty()) {
    unit->fail(fmt::format("parameter {} has an empty unit. Use 'unit: none' for a number without one",
                           in_quotes(parameter.name)));
  }
  const std::string promised = promised_unit(parameter.name);
  const bool known = std::ranges::find(known_units(), parameter.unit) != known_units().end();
  if (known && !promised.empty() && promised != parameter.unit) {
    unit->fail(fmt::format("unit {} contradicts the name {}, which ends in '_{}'. Rename it or use unit: {}",
                           in_quotes(parameter.unit), in_quotes(parameter.name), promised, promised));
  }
  if (parameter.unit == "none") {
    parameter.unit.clear();
  }
}

Parameter read_parameter(const ConfigNode& node) {
  node.require_only_keys({"name", "unit", "kind", "values", "description", "only_if"});
  Parameter parameter;
  parameter.name = node.at("name").as_string();
  parameter.description = node.get_string("description", "");
  parameter.kind = read_kind(node);
  read_unit(node, parameter);
  read_levels(node, parameter);
  return parameter;
}

/// Points at the part of the parameter that `problem` is about.
[[noreturn]] void fail_at(const ConfigNode& node, const std::string& name, const ParameterProblem& problem) {
  const std::string text = fmt::format("parameter {}: {}", in_quotes(name), problem.text);
  switch (problem.part) {
    case ParameterPart::name:
      node.at("name").fail(text);
    case ParameterPart::unit:
      node.at("unit").fail(text);
    case ParameterPart::levels:
      break;
  }
  const ConfigNode values = node.at("values");
  if (values.is_list()) {
    const std::vector<ConfigNode> items = values.items();
    if (problem.level < items.size()) {
      items[problem.level].fail(text);
    }
  }
  values.fail(text);
}

RuleText read_rule_text(const ConfigNode& node, std::string name, std::string what) {
  // Of a text in quotes the first character stands behind the quote.
  const int column = node.column() + (node.is_quoted() ? 1 : 0);
  return {.name = std::move(name),
          .text = node.as_string(),
          .origin = {.what = std::move(what), .file = node.file(), .line = node.line(), .column = column}};
}

RuleTexts read_rules(const ConfigNode& root, const std::vector<ConfigNode>& parameters) {
  RuleTexts rules;
  for (const ConfigNode& parameter : parameters) {
    const auto condition = parameter.find("only_if");
    if (!condition) continue;
    const std::string name = parameter.at("name").as_string();
    rules.conditions.push_back(read_rule_text(*condition, name, fmt::format("only_if of {}", in_quotes(name))));
  }
  if (const auto list = root.find("constraints")) {
    const std::vector<ConfigNode> items = list->items();
    for (const ConfigNode& item : items) rules.constraints.push_back(read_rule_text(item, "", "constraint"));
  }
  if (const auto map = root.find("derived")) {
    if (!map->is_map()) map->fail("'derived' must be a map NAME: EXPRESSION. Write e.g. area_mm2: 0.9 + 0.0011 * macs");
    const std::vector<std::string> names = map->keys();
    for (const std::string& name : names) {
      rules.derived.push_back(read_rule_text(map->at(name), name, fmt::format("derived quantity {}", in_quotes(name))));
    }
  }
  return rules;
}

DesignSpace read_space(const ConfigNode& root) {
  root.require_only_keys({"name", "description", "technology", "parameters", "constraints", "derived"});
  const ConfigNode name = root.at("name");
  if (const std::string problem = find_name_problem(name.as_string()); !problem.empty()) {
    name.fail(problem);
  }
  const ConfigNode list = root.at("parameters");
  const std::vector<ConfigNode> nodes = list.items();
  if (nodes.empty()) {
    list.fail("no parameters. Add at least one");
  }
  if (nodes.size() > kMaxParameters) {
    nodes[kMaxParameters].fail(fmt::format("{} parameters (limit: {}). Split the space", with_commas(nodes.size()),
                                           with_commas(kMaxParameters)));
  }
  std::vector<Parameter> parameters;
  parameters.reserve(nodes.size());
  for (const ConfigNode& node : nodes) {
    parameters.push_back(read_parameter(node));
  }
  if (const auto problem = find_problem(parameters)) {
    fail_at(nodes[problem->parameter], parameters[problem->parameter].name, *problem);
  }
  DesignSpace space(name.as_string(), root.get_string("description", ""), std::move(parameters),
                    read_rules(root, nodes));
  const std::string technology = root.get_string("technology", "");
  if (technology.find('/') != std::string::npos || technology.ends_with(".yaml") || technology.ends_with(".yml")) {
    root.at("technology")
        .fail(fmt::format("'{}' names a file, and a space opens none. Name a technology that ships, e.g. "
                          "7nm-silicon@air, or give the file with --technology",
                          printable(technology)));
  }
  space.set_technology(technology);
  return space;
}

}  // namespace

DesignSpace load_space_file(const std::filesystem::path& file) { return read_space(ConfigNode::load(file)); }

DesignSpace parse_space(const std::string& yaml, const std::string& file) {
  return read_space(ConfigNode::parse(yaml, file));
}

DesignSpace load_space(const std::string& name_or_path) {
  return load_space_file(find_data_file(name_or_path, "configs/spaces", "design space"));
}

}  // namespace hindsight::space

/// Design spaces: numbering, text ids and neighbours of designs.
#include "hindsight/space/design_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/space/rules.h"
#include "space/validation.h"

namespace hindsight::space {
namespace {

constexpr std::uint64_t kMaxSize = std::numeric_limits<std::int64_t>::max();

std::vector<std::string> names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  names.reserve(parameters.size());
  for (const Parameter& parameter : parameters) {
    names.push_back(parameter.name);
  }
  return names;
}

/// Product of the level counts, or nothing above kMaxSize.
std::optional<std::uint64_t> product(std::span<const std::uint32_t> level_counts) {
  std::uint64_t size = 1;
  for (const std::uint32_t count : level_counts) {
    if (size > kMaxSize / count) {
      return std::nullopt;
    }
    size *= count;
  }
  return size;
}

/// "2", "2 or 4": the legal values on either side of `value`.
std::string closest_values(const Parameter& parameter, double value) {
  const auto above = std::ranges::lower_bound(parameter.values, value);
  const auto position = static_cast<std::size_t>(above - parameter.values.begin());
  if (position == 0) {
    return parameter.labels.front();
  }
  if (position == parameter.values.size()) {
    return parameter.labels.back();
  }
  return parameter.labels[position - 1] + " or " + parameter.labels[position];
}

/// "1, 2, 4, ..., 32 bytes": at most twelve levels are listed.
std::string level_list(const Parameter& parameter) {
  constexpr std::size_t kListed = 12;
  const std::vector<std::string>& labels = parameter.labels;
  const std::string unit = parameter.unit.empty() ? "" : " " + parameter.unit;
  if (labels.size() <= kListed) {
    return join(labels, ", ") + unit;
  }
  return join(std::span(labels).first(kListed - 1), ", ") + ", ..., " + labels.back() + unit;
}

/// Level of `parameter` that `text` names. Error{usage} with the nearest legal value or name.
std::uint16_t parse_level(const Parameter& parameter, std::string_view text, const std::string& space) {
  if (const auto label = std::ranges::find(parameter.labels, text); label != parameter.labels.end()) {
    return static_cast<std::uint16_t>(label - parameter.labels.begin());
  }
  std::string remedy;
  if (parameter.kind == ParameterKind::ordinal) {
    if (const std::optional<double> value = parse_double(text)) {
      const auto found = std::ranges::lower_bound(parameter.values, *value);
      if (found != parameter.values.end() && *found == *value) {
        return static_cast<std::uint16_t>(found - parameter.values.begin());
      }
      remedy = fmt::format(" Did you mean {}?", closest_values(parameter, *value));
    } else {
      remedy = " Write a number.";
    }
  } else if (text == "fp16" && std::ranges::find(parameter.labels, "bf16") != parameter.labels.end()) {
    remedy = " Did you mean 'bf16', which costs the same in the built-in model?";
  } else if (const auto name = nearest_name(text, parameter.labels)) {
    remedy = fmt::format(" Did you mean '{}'?", *name);
  }
  throw Error(ErrorKind::usage,
              fmt::format("design: {} is not a value of {} in space {} (legal: {}).{}", in_quotes(text), parameter.name,
                          in_quotes(space), level_list(parameter), remedy));
}

}  // namespace

DesignSpace::DesignSpace(std::string name, std::string description, std::vector<Parameter> parameters)
    : name_(std::move(name)), description_(std::move(description)), parameters_(std::move(parameters)) {
  if (const std::string problem = find_name_problem(name_); !problem.empty()) {
    throw Error(ErrorKind::usage, "design space: " + problem);
  }
  if (parameters_.empty()) {
    throw Error(ErrorKind::usage, fmt::format("design space {}: no parameters. Add at least one", in_quotes(name_)));
  }
  for (Parameter& parameter : parameters_) {
    if (parameter.unit == "none") {
      parameter.unit.clear();
    }
  }
  if (const auto problem = find_problem(parameters_)) {
    throw Error(ErrorKind::usage, fmt::format("design space {}: parameter {}: {}", in_quotes(name_),
                                              in_quotes(parameters_[problem->parameter].name), problem->text));
  }
  for (Parameter& parameter : parameters_) {
    value_offsets_.push_back(level_values_.size());
    if (parameter.kind == ParameterKind::ordinal) {
      parameter.labels.clear();
      for (double& value : parameter.values) {
        value += 0.0;  // -0 becomes 0, whose text is "0"
        parameter.labels.push_back(shortest(value));
        level_values_.push_back(value);
      }
    } else {
      for (std::size_t level = 0; level < parameter.level_count(); ++level) {
        level_values_.push_back(static_cast<double>(level));
      }
    }
    level_counts_.push_back(static_cast<std::uint32_t>(parameter.level_count()));
  }
  size_ = product(level_counts_);
  if (size_) {
    strides_.resize(parameters_.size());
    std::uint64_t stride = 1;
    for (std::size_t p = parameters_.size(); p-- > 0;) {
      strides_[p] = stride;
      stride *= level_counts_[p];
    }
  }
}

DesignSpace::DesignSpace(std::string name, std::string description, std::vector<Parameter> parameters,
                         const RuleTexts& rules)
    : DesignSpace(std::move(name), std::move(description), std::move(parameters)) {
  if (rules.empty()) return;
  rules_ = std::make_shared<const Rules>(name_, parameters_, rules);
  constrained_ = !rules_->checks().empty();
}

bool DesignSpace::breaks_nothing(std::span<const std::uint16_t> levels) const { return rules_->is_legal(levels); }

void DesignSpace::settle(std::span<std::uint16_t> levels) const {
  if (constrained_) rules_->settle(levels);
}

std::string DesignSpace::broken_rule(std::span<const std::uint16_t> levels) const {
  if (!constrained_) return {};
  const Rules::Check* broken = rules_->broken(levels);
  if (broken == nullptr) return {};
  return fmt::format("breaks '{}' of space {}{}", printable(broken->text, 200), in_quotes(name_),
                     broken->origin.file.empty() ? "" : fmt::format(" ({})", broken->origin.at(0)));
}

void DesignSpace::require_legal(const Design& design) const {
  if (const std::string problem = broken_rule(design.levels); !problem.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("design: {} {}. Change a value that it names?", in_quotes(text_id(design)), problem));
  }
}

std::optional<std::size_t> DesignSpace::find(std::string_view parameter) const {
  const auto found = std::ranges::find(parameters_, parameter, &Parameter::name);
  if (found == parameters_.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - parameters_.begin());
}

std::size_t DesignSpace::index_of(std::string_view parameter) const {
  if (const auto position = find(parameter)) {
    return *position;
  }
  throw Error(ErrorKind::usage, fmt::format("unknown parameter {} in space {}.{}", in_quotes(parameter),
                                            in_quotes(name_), did_you_mean(parameter, names_of(parameters_))));
}

std::uint64_t DesignSpace::index(const Design& design) const {
  HINDSIGHT_EXPECT(size_.has_value());
  HINDSIGHT_EXPECT(design.levels.size() == parameters_.size());
  std::uint64_t rank = 0;
  for (std::size_t p = 0; p < strides_.size(); ++p) {
    HINDSIGHT_EXPECT(design.levels[p] < level_counts_[p]);
    rank += strides_[p] * design.levels[p];
  }
  return rank;
}

Design DesignSpace::design(std::uint64_t index) const {
  Design result;
  result.levels.resize(parameters_.size());
  decode(index, result.levels);
  return result;
}

void DesignSpace::decode(std::uint64_t index, std::span<std::uint16_t> levels) const {
  HINDSIGHT_EXPECT(size_.has_value() && index < *size_);
  HINDSIGHT_EXPECT(levels.size() == level_counts_.size());
  std::size_t p = level_counts_.size();
  std::uint64_t rest = index;
  while (p > 0 && rest > std::numeric_limits<std::uint32_t>::max()) {
    --p;
    levels[p] = static_cast<std::uint16_t>(rest % level_counts_[p]);
    rest /= level_counts_[p];
  }
  // 32-bit divisions are several times faster, and nearly every space fits them from the start.
  auto small_rest = static_cast<std::uint32_t>(rest);
  while (p > 0) {
    --p;
    levels[p] = static_cast<std::uint16_t>(small_rest % level_counts_[p]);
    small_rest /= level_counts_[p];
  }
}

double DesignSpace::value(const Design& design, std::size_t parameter) const {
  HINDSIGHT_EXPECT(design.levels.size() == parameters_.size());
  HINDSIGHT_EXPECT(parameter < parameters_.size() && design.levels[parameter] < level_counts_[parameter]);
  return level_values_[value_offsets_[parameter] + design.levels[parameter]];
}

void DesignSpace::values(std::span<const std::uint16_t> levels, std::span<double> values) const {
  HINDSIGHT_EXPECT(levels.size() == parameters_.size() && values.size() == parameters_.size());
  for (std::size_t p = 0; p < levels.size(); ++p) {
    HINDSIGHT_EXPECT(levels[p] < level_counts_[p]);
    values[p] = level_values_[value_offsets_[p] + levels[p]];
  }
}

std::string DesignSpace::text_id(const Design& design) const {
  HINDSIGHT_EXPECT(design.levels.size() == parameters_.size());
  std::string text;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    HINDSIGHT_EXPECT(design.levels[p] < level_counts_[p]);
    if (p > 0) {
      text += ',';
    }
    text += parameters_[p].name;
    text += '=';
    text += parameters_[p].labels[design.levels[p]];
  }
  return text;
}

Design DesignSpace::parse_design(std::string_view text) const {
  Design result;
  result.levels.resize(parameters_.size());
  std::vector<bool> given(parameters_.size(), false);
  for (const std::string& piece : split(text, ',')) {
    const std::size_t equals = piece.find('=');
    if (equals == std::string::npos) {
      throw Error(ErrorKind::usage, fmt::format("design: {} is not parameter=value. Write e.g. {}={}", in_quotes(piece),
                                                parameters_.front().name, parameters_.front().labels.front()));
    }
    const std::string_view name = trimmed(std::string_view(piece).substr(0, equals));
    const std::string_view value = trimmed(std::string_view(piece).substr(equals + 1));
    const std::size_t p = index_of(name);
    if (given[p]) {
      throw Error(
          ErrorKind::usage,
          fmt::format("design: parameter '{}' is given twice (every parameter is given once). Remove one", name));
    }
    given[p] = true;
    result.levels[p] = parse_level(parameters_[p], value, name_);
  }
  settle(result.levels);
  const auto may_be_missing = [&](std::size_t p) { return constrained_ && !rules_->is_active(result.levels, p); };
  auto missing = std::ranges::find(given, false);
  while (missing != given.end() && may_be_missing(static_cast<std::size_t>(missing - given.begin()))) {
    missing = std::find(missing + 1, given.end(), false);
  }
  if (missing != given.end()) {
    const Parameter& parameter = parameters_[static_cast<std::size_t>(std::distance(given.begin(), missing))];
    throw Error(
        ErrorKind::usage,
        fmt::format("design: parameter '{}' is missing (space {} has {}). Add {}=VALUE, legal: {}", parameter.name,
                    in_quotes(name_), parameters_.size(), parameter.name, level_list(parameter)));
  }
  require_legal(result);
  return result;
}

std::uint64_t DesignSpace::content_hash(const Design& design) const { return hindsight::content_hash(text_id(design)); }

std::string DesignSpace::definition_hash() const { return sha256_hex(canonical_definition()); }

std::string DesignSpace::derived_hash() const {
  return rules_ == nullptr || rules_->derived().empty() ? std::string() : sha256_hex(rules_->derived_definition());
}

std::vector<Design> DesignSpace::neighbours(const Design& design, unsigned radius) const {
  HINDSIGHT_EXPECT(design.levels.size() == parameters_.size());
  std::vector<Design> result;
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    const std::int64_t here = design.levels[p];
    const std::int64_t last = std::int64_t{level_counts_[p]} - 1;
    HINDSIGHT_EXPECT(here <= last);
    const bool ordinal = parameters_[p].kind == ParameterKind::ordinal;
    const std::int64_t low = ordinal ? std::max<std::int64_t>(here - radius, 0) : 0;
    const std::int64_t high = ordinal ? std::min<std::int64_t>(here + radius, last) : last;
    for (std::int64_t level = low; level <= high; ++level) {
      if (level != here) {
        result.push_back(design);
        result.back().levels[p] = static_cast<std::uint16_t>(level);
        if (!constrained_) continue;
        settle(result.back().levels);
        // An inactive parameter moves back: no neighbour.
        if (result.back() == design || !is_legal(result.back().levels)) result.pop_back();
      }
    }
  }
  return result;
}

}  // namespace hindsight::space

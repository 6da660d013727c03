#include "limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hindsight/check/accelerator.h"
#include "hindsight/core/error.h"
#include "hindsight/core/text.h"

namespace hindsight::app {
namespace {

struct Assignment {
  std::string name, value;
};

Assignment parse_assignment(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw Error(ErrorKind::usage, fmt::format("{} {}: is not NAME=VALUE", option, printable(text)));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

double number_of(const std::string& option, const Assignment& assignment, const std::string& text) {
  const auto value = parse_double(text);
  if (!value) {
    throw Error(ErrorKind::usage,
                fmt::format("{} {}: '{}' is not a number", option, printable(assignment.name), printable(text)));
  }
  return *value;
}

/// Collects the levels that stay allowed.
class ParameterBounds {
 public:
  explicit ParameterBounds(const space::DesignSpace& space) : space_(space), allowed_(space.parameters().size()) {}

  /// Keeps the levels of parameter `p` whose value lies in [low, high].
  void bound(std::size_t p, double low, double high) {
    keep(p, [&](const space::Parameter& parameter, std::size_t level) {
      return parameter.values[level] >= low && parameter.values[level] <= high;
    });
  }
  void fix(std::size_t p, const std::string& label) {
    keep(p, [&](const space::Parameter& parameter, std::size_t level) { return parameter.labels[level] == label; });
  }
  [[nodiscard]] optimize::AllowedLevels take() { return std::move(allowed_); }

 private:
  template <class Predicate>
  void keep(std::size_t p, const Predicate& predicate) {
    const space::Parameter& parameter = space_.parameters()[p];
    std::vector<std::uint16_t> levels;
    for (std::size_t level = 0; level < parameter.level_count(); ++level) {
      const auto index = static_cast<std::uint16_t>(level);
      const bool before =
          allowed_[p].empty() || std::find(allowed_[p].begin(), allowed_[p].end(), index) != allowed_[p].end();
      if (before && predicate(parameter, level)) levels.push_back(index);
    }
    if (levels.empty()) {
      throw Error(ErrorKind::no_feasible,
                  fmt::format("no value of {} is left (its values: {})", parameter.name, join(parameter.labels, ", ")));
    }
    allowed_[p] = std::move(levels);
  }

  const space::DesignSpace& space_;
  optimize::AllowedLevels allowed_;
};

void require_ordinal(const space::Parameter& parameter, const std::string& option) {
  if (parameter.kind == space::ParameterKind::ordinal) return;
  throw Error(ErrorKind::usage, fmt::format("{} {}: its values have no order. Fix it with --set {}=VALUE ({})", option,
                                            parameter.name, parameter.name, join(parameter.labels, ", ")));
}

/// The label of the level that `text` names.
std::string label_of(const space::Parameter& parameter, const std::string& text) {
  const auto number = parse_double(text);
  const bool ordinal = parameter.kind == space::ParameterKind::ordinal;
  std::string label = ordinal && number ? shortest(*number) : text;
  if (std::find(parameter.labels.begin(), parameter.labels.end(), label) == parameter.labels.end()) {
    throw Error(ErrorKind::usage, fmt::format("--set {}={}: {} has no such value. Known: {}", parameter.name,
                                              printable(text), parameter.name, join(parameter.labels, ", ")));
  }
  return label;
}

void apply_set(const std::string& text, const space::DesignSpace& space, ParameterBounds& bounds) {
  const Assignment assignment = parse_assignment("--set", text);
  const std::size_t p = space.index_of(assignment.name);
  const space::Parameter& parameter = space.parameters()[p];
  const auto dots = assignment.value.find("..");
  if (dots == std::string::npos) {
    bounds.fix(p, label_of(parameter, assignment.value));
    return;
  }
  require_ordinal(parameter, "--set");
  bounds.bound(p, number_of("--set", assignment, assignment.value.substr(0, dots)),
               number_of("--set", assignment, assignment.value.substr(dots + 2)));
}

[[noreturn]] void unknown_metric(const std::string& name, const surrogate::Model& model) {
  std::vector<std::string> known = model.parts().constraint_names;
  if (check::describes_accelerator(model.parts().space)) known.emplace_back("area_mm2");
  for (const space::Parameter& parameter : model.parts().space.parameters()) known.push_back(parameter.name);
  throw Error(ErrorKind::usage, fmt::format("--max {}: neither a parameter nor a metric that the model has learned "
                                            "(train with --constraint).{}",
                                            printable(name), did_you_mean(name, known)));
}

}  // namespace

Limits resolve_limits(const LimitWords& words, const surrogate::Model& model, const accel::Technology& technology) {
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  const space::DesignSpace& space = model.parts().space;
  Limits limits;
  ParameterBounds bounds(space);
  for (const std::string& text : words.set) apply_set(text, space, bounds);
  for (const std::string& text : words.min) {
    const Assignment assignment = parse_assignment("--min", text);
    const std::size_t p = space.index_of(assignment.name);
    require_ordinal(space.parameters()[p], "--min");
    bounds.bound(p, number_of("--min", assignment, assignment.value), kUnbounded);
  }
  for (const std::string& text : words.max) {
    const Assignment assignment = parse_assignment("--max", text);
    const double limit = number_of("--max", assignment, assignment.value);
    if (auto analytic = check::analytic_constraint(space, assignment.name, limit, technology)) {
      limits.constraints.push_back(std::move(*analytic));
      continue;
    }
    const auto& heads = model.parts().constraint_names;
    if (std::find(heads.begin(), heads.end(), assignment.name) != heads.end()) {
      limits.constraints.push_back({.name = assignment.name, .limit = limit, .learned = true, .value = {}});
      continue;
    }
    const auto p = space.find(assignment.name);
    if (!p) unknown_metric(assignment.name, model);
    require_ordinal(space.parameters()[*p], "--max");
    bounds.bound(*p, -kUnbounded, limit);
  }
  limits.allowed = bounds.take();
  return limits;
}

}  // namespace hindsight::app

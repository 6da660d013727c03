/// Words of --set, --min and --max to allowed levels and constraints.
#include "hindsight/study/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "hindsight/core/error.h"
#include "hindsight/core/given_once.h"
#include "hindsight/core/text.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/study/analytic_constraint.h"
#include "hindsight/study/front.h"
#include "hindsight/study/log_names.h"
#include "study/model_evaluator.h"

namespace hindsight::study {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

struct Assignment {
  std::string name, value;
};

std::vector<std::string> parameter_names(const space::DesignSpace& space) {
  std::vector<std::string> names;
  for (const space::Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  return names;
}

/// What --set x>=2 and --max x<5 mean, in this option's grammar. A name that is no parameter is a metric's.
[[noreturn]] void refuse_sign(const std::string& option, const std::string& text, const space::DesignSpace& space) {
  const std::size_t equals = text.find('=');
  const std::string_view before = trimmed(std::string_view(text).substr(0, equals));
  const std::string name(trimmed(before.substr(0, before.find_last_not_of("<> ") + 1)));
  const bool lower = before.ends_with('>');
  if (lower && option == "--max" && !space.find(name)) {
    throw Error(ErrorKind::usage,
                fmt::format("{} {}: metrics have no lower limit, only parameters have one (--min NAME=VALUE)", option,
                            printable(text)));
  }
  throw Error(ErrorKind::usage,
              fmt::format("{} {}: write --{} {}={}, {} limit", option, printable(text), lower ? "min" : "max",
                          printable(name), printable(text.substr(equals + 1)), lower ? "a lower" : "an upper"));
}

Assignment parse_assignment(const std::string& option, const std::string& text, const space::DesignSpace& space) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    const std::string name(trimmed(std::string_view(text).substr(0, equals)));
    const auto p = space.find(name);
    throw Error(ErrorKind::usage, fmt::format("{} {}: is not NAME=VALUE. Write {} {}={}", option, printable(text),
                                              option, name.empty() ? "NAME" : printable(name, 100),
                                              p ? space.parameters()[*p].labels.back() : "NUMBER"));
  }
  const std::string_view name = trimmed(std::string_view(text).substr(0, equals));
  if (name.ends_with('<') || name.ends_with('>')) refuse_sign(option, text, space);
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

  /// Keeps the levels of parameter `p` whose value lies in [low, high]; `option` is what the user wrote.
  void bound(std::size_t p, double low, double high, const std::string& option) {
    const space::Parameter& parameter = space_.parameters()[p];
    const auto distance = [&](double value) { return std::max({low - value, value - high, 0.0}); };
    const auto nearest = std::min_element(parameter.values.begin(), parameter.values.end(),
                                          [&](double a, double b) { return distance(a) < distance(b); });
    keep(
        p, [&](std::size_t level) { return distance(parameter.values[level]) == 0; },
        distance(*nearest) == 0 ? option : fmt::format("{} (nearest: {})", option, readable(*nearest)));
  }
  void fix(std::size_t p, const std::string& label, const std::string& option) {
    keep(
        p, [&](std::size_t level) { return space_.parameters()[p].labels[level] == label; }, option);
  }
  [[nodiscard]] optimize::AllowedLevels take() { return std::move(allowed_); }

 private:
  template <class Predicate>
  void keep(std::size_t p, const Predicate& predicate, const std::string& option) {
    const space::Parameter& parameter = space_.parameters()[p];
    std::vector<std::uint16_t> levels;
    for (std::size_t level = 0; level < parameter.level_count(); ++level) {
      const auto index = static_cast<std::uint16_t>(level);
      const bool before =
          allowed_[p].empty() || std::find(allowed_[p].begin(), allowed_[p].end(), index) != allowed_[p].end();
      if (before && predicate(level)) levels.push_back(index);
    }
    if (levels.empty()) {
      const std::string others = allowed_[p].empty() ? "" : " together with the options before it";
      throw Error(ErrorKind::no_feasible, fmt::format("{}: leaves no value of {}{}. Its values: {}", option,
                                                      parameter.name, others, join(parameter.labels, ", ")));
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
  const Assignment assignment = parse_assignment("--set", text, space);
  const std::size_t p = space.index_of(study::known_name(assignment.name, parameter_names(space)));
  const space::Parameter& parameter = space.parameters()[p];
  const auto dots = assignment.value.find("..");
  if (dots == std::string::npos) {
    bounds.fix(p, label_of(parameter, assignment.value), "--set " + printable(text));
    return;
  }
  require_ordinal(parameter, "--set");
  const double low = number_of("--set", assignment, assignment.value.substr(0, dots));
  const double high = number_of("--set", assignment, assignment.value.substr(dots + 2));
  if (low > high) {
    throw Error(ErrorKind::usage,
                fmt::format("--set {}: the range is empty, its ends are swapped. Use --set {}={}..{}?", printable(text),
                            assignment.name, readable(high), readable(low)));
  }
  bounds.bound(p, low, high, "--set " + printable(text));
}

void apply_set_and_min(const LimitWords& words, const space::DesignSpace& space, ParameterBounds& bounds) {
  for (const std::string& text : words.set) apply_set(text, space, bounds);
  GivenOnce limited("--min");
  for (const std::string& text : words.min) {
    const Assignment assignment = parse_assignment("--min", text, space);
    const std::string name = study::known_name(assignment.name, parameter_names(space));
    if (!space.find(name)) {
      throw Error(
          ErrorKind::usage,
          fmt::format("--min {}: only parameters have a lower limit, and the space '{}' has none of this name.{}",
                      printable(text), space.name(), did_you_mean(name, parameter_names(space))));
    }
    const std::size_t p = space.index_of(name);
    require_ordinal(space.parameters()[p], "--min");
    const double limit = number_of("--min", assignment, assignment.value);
    if (!limited.add(space.parameters()[p].name, limit)) continue;
    bounds.bound(p, limit, kUnbounded, "--min " + printable(text));
  }
}

/// What --max may name, each once: analytic and learned metrics, parameters.
std::vector<std::string> limitable(const surrogate::Model& model, const KnownEvaluator& evaluator) {
  std::vector<std::string> known = model.parts().constraint_names;
  known.push_back(objective_name(model));
  if (evaluator) known.insert(known.end(), evaluator->fact_names().begin(), evaluator->fact_names().end());
  for (std::string& name : parameter_names(model.parts().space)) known.push_back(std::move(name));
  std::vector<std::string> unique;
  for (std::string& name : known) {
    if (std::find(unique.begin(), unique.end(), name) == unique.end()) unique.push_back(std::move(name));
  }
  return unique;
}

[[noreturn]] void refuse_limit(const std::string& name, const std::vector<std::string>& known,
                               const surrogate::Model& model, const KnownEvaluator& evaluator) {
  const std::optional<std::string> metric = learnable_metric(name, model, evaluator);
  throw Error(
      ErrorKind::usage,
      fmt::format("--max {}: neither a parameter nor a metric that the model has learned{}, nor a derived "
                  "quantity (of --space).{}",
                  printable(name), metric ? fmt::format(" (train with --constraint {})", printable(*metric)) : "",
                  did_you_mean(name, known)));
}

void append_names(const DerivedQuantities& derived, std::vector<std::string>& names) {
  if (!derived) return;
  for (const space::Rules::Derived& one : derived->derived()) names.push_back(one.name);
}

bool is_derived(const DerivedQuantities& derived, const std::string& name) {
  return derived &&
         std::ranges::find(derived->derived(), name, &space::Rules::Derived::name) != derived->derived().end();
}

[[noreturn]] void refuse_two_meanings(const std::string& name) {
  throw Error(ErrorKind::usage, fmt::format("--max {}: is the name of a derived quantity of the space and of a metric, "
                                            "and they need not be equal. Rename the derived quantity?",
                                            printable(name)));
}

}  // namespace

SpaceLimits resolve_space_limits(const LimitWords& words, const space::DesignSpace& space,
                                 const std::vector<std::string>& metrics) {
  SpaceLimits limits;
  ParameterBounds bounds(space);
  apply_set_and_min(words, space, bounds);
  std::vector<std::string> known = metrics;
  for (std::string& name : parameter_names(space)) known.push_back(std::move(name));
  append_names(space.rules(), known);
  GivenOnce limited("--max");
  for (const std::string& text : words.max) {
    Assignment assignment = parse_assignment("--max", text, space);
    if (!is_derived(space.rules(), assignment.name)) assignment.name = study::known_name(assignment.name, known);
    const double limit = number_of("--max", assignment, assignment.value);
    if (!limited.add(assignment.name, limit)) continue;
    const bool metric = std::find(metrics.begin(), metrics.end(), assignment.name) != metrics.end();
    if (is_derived(space.rules(), assignment.name)) {
      if (metric) refuse_two_meanings(assignment.name);
      limits.derived.emplace_back(assignment.name, limit);
      continue;
    }
    if (const auto p = space.find(assignment.name)) {
      require_ordinal(space.parameters()[*p], "--max");
      bounds.bound(*p, -kUnbounded, limit, "--max " + printable(text));
      continue;
    }
    if (!metrics.empty() && !metric) {
      throw Error(ErrorKind::usage,
                  fmt::format("--max {}: neither a parameter nor a metric, nor a derived quantity (of a "
                              "--space file).{}",
                              printable(assignment.name), did_you_mean(assignment.name, known)));
    }
    limits.metrics.emplace_back(assignment.name, limit);
  }
  limits.allowed = bounds.take();
  return limits;
}

std::vector<evaluator::StatedLimit> stated_limits_of(const evaluator::Evaluator& evaluator) {
  std::vector<evaluator::StatedLimit> limits = evaluator.stated_limits();
  std::erase_if(limits, [&](const auto& stated) { return is_derived(evaluator.space().rules(), stated.fact); });
  return limits;
}

LimitWords with_stated_limits(LimitWords words, const evaluator::Evaluator& evaluator) {
  for (const evaluator::StatedLimit& stated : stated_limits_of(evaluator)) {
    const std::string most = fmt::format("{}={}", stated.fact, shortest(stated.most));
    bool is_limited = false;
    for (std::string& text : words.max) {
      const Assignment given = parse_assignment("--max", text, evaluator.space());
      if (study::known_name(given.name, evaluator.fact_names()) != stated.fact) continue;
      is_limited = true;
      if (!(number_of("--max", given, given.value) <= stated.most)) text = most;
    }
    if (!is_limited) words.max.push_back(most);
  }
  return words;
}

Limits resolve_limits(const LimitWords& words, const surrogate::Model& model, const KnownEvaluator& evaluator,
                      const DerivedQuantities& derived) {
  const space::DesignSpace& space = model.parts().space;
  Limits limits;
  ParameterBounds bounds(space);
  apply_set_and_min(words, space, bounds);
  std::vector<std::string> known = limitable(model, evaluator);
  const std::vector<std::string> others = known;
  const bool of_another = learnt_from_another(model, evaluator);
  append_names(derived, known);
  GivenOnce limited("--max");
  for (const std::string& text : words.max) {
    Assignment assignment = parse_assignment("--max", text, space);
    if (!is_derived(derived, assignment.name)) assignment.name = study::known_name(assignment.name, known);
    const double limit = number_of("--max", assignment, assignment.value);
    if (!limited.add(assignment.name, limit)) continue;
    if (auto constraint = derived_constraint(derived, assignment.name, limit)) {
      if (std::ranges::find(others, assignment.name) != others.end()) refuse_two_meanings(assignment.name);
      limits.constraints.push_back(std::move(*constraint));
      continue;
    }
    const bool is_learned = optimize::learned_quantity(model, assignment.name).has_value();
    if (evaluator && !(is_learned && of_another)) {
      if (auto analytic = analytic_constraint(evaluator, assignment.name, limit)) {
        limits.constraints.push_back(std::move(*analytic));
        continue;
      }
    }
    if (is_learned) {
      limits.constraints.push_back({.name = assignment.name, .limit = limit});
      continue;
    }
    const auto p = space.find(assignment.name);
    if (!p) refuse_limit(assignment.name, known, model, evaluator);
    require_ordinal(space.parameters()[*p], "--max");
    bounds.bound(*p, -kUnbounded, limit, "--max " + printable(text));
  }
  limits.allowed = bounds.take();
  return limits;
}

}  // namespace hindsight::study

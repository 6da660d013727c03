/// Constraints, conditions and derived quantities of one design and of boxes.
#include "hindsight/space/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/space/legal_designs.h"
#include "space/expression_reader.h"
#include "space/validation.h"

namespace hindsight::space {
namespace {

/// The values of an operand at every level: of an ordinal parameter its values, of a categorical one the levels.
std::vector<double> operand_values(const Parameter& parameter) {
  if (parameter.kind == ParameterKind::ordinal) return parameter.values;
  std::vector<double> values;
  for (std::size_t level = 0; level < parameter.level_count(); ++level) values.push_back(static_cast<double>(level));
  return values;
}

std::vector<std::pair<std::string, std::string>> names_of_derived(const RuleTexts& texts, const std::string& why) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const RuleText& derived : texts.derived) names.emplace_back(derived.name, why);
  return names;
}

}  // namespace

/// The operands of all expressions for one design.
class Rules::Operands {
 public:
  Operands(const Rules& rules, std::span<const std::uint16_t> levels) : rules_(rules) {
    const std::size_t count = rules.parameters_.size() + rules.derived_.size();
    if (count > few_.size()) many_.resize(count);
    values_ = count > few_.size() ? std::span<double>(many_) : std::span<double>(few_).first(count);
    for (const std::size_t p : rules.used_) set(p, levels[p]);
  }
  void set(std::size_t parameter, std::uint16_t level) {
    values_[parameter] = (*rules_.level_values_)[parameter][level];
  }
  void set_derived(std::size_t i, double value) { values_[rules_.parameters_.size() + i] = value; }
  [[nodiscard]] std::span<const double> view() const { return values_; }

 private:
  const Rules& rules_;
  std::array<double, 48> few_;  // NOLINT: those that are used are written
  std::vector<double> many_;
  std::span<double> values_;
};

Rules::Rules(std::string space, std::vector<Parameter> parameters, const RuleTexts& texts)
    : space_(std::move(space)), parameters_(std::move(parameters)) {
  std::vector<std::vector<double>> values;
  for (const Parameter& parameter : parameters_) {
    values.push_back(operand_values(parameter));
    parameter_places_.emplace(parameter.name, parameter_places_.size());
  }
  level_values_ = std::make_shared<const std::vector<std::vector<double>>>(std::move(values));
  for (const RuleText& condition : texts.conditions) read_condition(condition);
  std::stable_sort(checks_.begin(), checks_.end(),
                   [](const Check& a, const Check& b) { return *a.conditional < *b.conditional; });
  read_constraints(texts);
  for (std::size_t i = 0; i < checks_.size(); ++i) all_.push_back(i);
  for (const RuleText& derived : texts.derived) read_derived(derived);
  find_used();
}

Rules::~Rules() = default;

Scope Rules::scope() const {
  return {.parameters = parameters_,
          .numbers = {},
          .forbidden = {},
          .parameter_places = &parameter_places_,
          .number_places = nullptr,
          .level_values = level_values_};
}

void Rules::find_used() {
  std::vector<bool> used(parameters_.size(), false);
  const auto note = [&](const Expression& expression) {
    for (const std::size_t p : expression.parameters()) used[p] = true;
  };
  conditions_.resize(parameters_.size(), nullptr);
  for (const Check& check : checks_) {
    note(check.expression);
    if (check.conditional) conditions_[*check.conditional] = &check;
  }
  for (const Derived& derived : derived_) note(derived.expression);
  for (std::size_t p = 0; p < used.size(); ++p) {
    if (used[p]) used_.push_back(p);
  }
}

void Rules::read_condition(const RuleText& text) {
  const auto found = parameter_places_.find(text.name);
  HINDSIGHT_EXPECT(found != parameter_places_.end());
  const std::size_t conditional = found->second;
  for (const Check& check : checks_) {
    if (check.conditional == conditional)
      fail_at(text.origin, 0, "a second condition of this parameter. Join them with 'and'");
  }
  Expression expression(text.text, scope(), ValueType::truth, text.origin);
  for (const std::size_t p : expression.parameters()) {
    if (p < conditional) continue;
    fail_at(
        text.origin, 0,
        fmt::format("uses '{}', but a condition sees only the parameters before its own, '{}'. Move '{}' behind it?",
                    parameters_[p].name, text.name, text.name));
  }
  std::vector<std::size_t> deciding = expression.parameters();
  deciding.push_back(conditional);
  std::string shown = fmt::format("only_if of {}: {}", text.name, expression.shown());
  checks_.push_back({.expression = std::move(expression),
                     .origin = text.origin,
                     .conditional = conditional,
                     .parameters = std::move(deciding),
                     .text = std::move(shown)});
}

void Rules::read_constraints(const RuleTexts& texts) {
  const auto forbidden = names_of_derived(
      texts,
      "constraints decide which designs there are, derived quantities do not. Write its expression out, or limit "
      "it with --max");
  Scope names = scope();
  names.forbidden = forbidden;
  for (const RuleText& text : texts.constraints) {
    Expression expression(text.text, names, ValueType::truth, text.origin);
    std::vector<std::size_t> deciding = expression.parameters();
    std::string shown = expression.shown();
    checks_.push_back({.expression = std::move(expression),
                       .origin = text.origin,
                       .conditional = {},
                       .parameters = std::move(deciding),
                       .text = std::move(shown)});
  }
}

void Rules::read_derived(const RuleText& text) {
  if (const std::string problem = find_identifier_problem(text.name); !problem.empty()) {
    fail_at(text.origin, 0, fmt::format("derived quantity: {}", problem));
  }
  if (parameter_places_.contains(text.name) || derived_places_.contains(text.name)) {
    fail_at(text.origin, 0, fmt::format("the name '{}' is used twice. Rename one", text.name));
  }
  Scope names = scope();
  names.numbers = derived_names_;
  names.number_places = &derived_places_;
  derived_.push_back({.name = text.name,
                      .expression = Expression(text.text, names, ValueType::number, text.origin),
                      .origin = text.origin});
  derived_places_.emplace(text.name, derived_names_.size());
  derived_names_.push_back(text.name);
}

Rules::Verdict Rules::verdict(const Check& check, std::span<const double> operands, bool first_value) {
  if (check.conditional && first_value) return Verdict::met;
  const auto value = check.expression.value(operands);
  if (!value) return Verdict::undefined;
  return *value != 0 ? Verdict::met : Verdict::broken;
}

Rules::Verdict Rules::verdict(const Check& check, const Operands& operands, std::span<const std::uint16_t> levels) {
  return verdict(check, operands.view(), check.conditional && levels[*check.conditional] == 0);
}

void Rules::fail_undefined(const Expression& expression, const Origin& origin, const Operands& operands,
                           std::span<const std::uint16_t> levels) const {
  const Expression::Undefined cause = expression.undefined(operands.view());
  std::vector<std::string> values;
  for (const std::size_t p : expression.parameters()) {
    values.push_back(fmt::format("{}={}", parameters_[p].name, parameters_[p].labels[levels[p]]));
  }
  fail_at(origin, cause.offset,
          fmt::format("{} where {}, so {} has no value. Guard it: if ... then ... (docs/spaces.md)", cause.why,
                      join(values, ", "), in_quotes(expression.shown())));
}

bool Rules::is_legal(std::span<const std::uint16_t> levels) const { return meets(levels, all_); }

bool Rules::meets(std::span<const std::uint16_t> levels, std::span<const std::size_t> checks) const {
  const Operands operands(*this, levels);
  const Check* without_value = nullptr;
  for (const std::size_t i : checks) {
    switch (verdict(checks_[i], operands, levels)) {
      case Verdict::met:
        break;
      case Verdict::broken:
        return false;
      case Verdict::undefined:
        without_value = &checks_[i];
        break;
    }
  }
  if (without_value != nullptr) fail_undefined(without_value->expression, without_value->origin, operands, levels);
  return true;
}

const Rules::Check* Rules::broken(std::span<const std::uint16_t> levels) const {
  const Operands operands(*this, levels);
  const auto found = std::ranges::find_if(
      checks_, [&](const Check& check) { return verdict(check, operands, levels) == Verdict::broken; });
  if (found != checks_.end()) return &*found;
  [[maybe_unused]] const bool legal = is_legal(levels);  // fails where a check has no value
  return nullptr;
}

bool Rules::is_active(std::span<const std::uint16_t> levels, std::size_t parameter) const {
  const Check* const check = conditions_[parameter];
  if (check == nullptr) return true;
  const Operands operands(*this, levels);
  const auto value = check->expression.value(operands.view());
  if (!value) fail_undefined(check->expression, check->origin, operands, levels);
  return *value != 0;
}

void Rules::settle(std::span<std::uint16_t> levels) const {
  Operands operands(*this, levels);
  for (const Check& check : checks_) {
    if (!check.conditional) return;  // conditions come first
    std::uint16_t& level = levels[*check.conditional];
    if (level == 0) continue;
    const auto value = check.expression.value(operands.view());
    if (!value) fail_undefined(check.expression, check.origin, operands, levels);
    if (*value != 0) continue;
    level = 0;
    operands.set(*check.conditional, level);
  }
}

Rules::OnBox Rules::on_box(const Check& check, LevelBox box) const {
  const ExpressionRange range = check.expression.range(box);
  if (!check.conditional) {
    if (range.surely_true()) return OnBox::all_meet;
    return range.surely_false() ? OnBox::all_break : OnBox::mixed;
  }
  const std::span<const std::uint16_t> own = box[*check.conditional];
  const bool first_possible = own.front() == 0, only_first = first_possible && own.size() == 1;
  if (range.surely_true() || only_first) return OnBox::all_meet;
  return range.surely_false() && !first_possible ? OnBox::all_break : OnBox::mixed;
}

Rules::OnBox Rules::on_box(const std::vector<std::vector<std::uint16_t>>& box) const {
  const std::vector<std::span<const std::uint16_t>> view(box.begin(), box.end());
  OnBox all = OnBox::all_meet;
  for (const Check& check : checks_) {
    const OnBox own = on_box(check, view);
    if (own == OnBox::all_break) return own;
    if (own == OnBox::mixed) all = own;
  }
  return all;
}

void Rules::derive(std::span<const std::uint16_t> levels, std::span<double> values) const {
  HINDSIGHT_EXPECT(values.size() == derived_.size());
  Operands operands(*this, levels);
  for (std::size_t i = 0; i < derived_.size(); ++i) {
    const auto value = derived_[i].expression.value(operands.view());
    if (!value) fail_undefined(derived_[i].expression, derived_[i].origin, operands, levels);
    values[i] = *value;
    operands.set_derived(i, *value);
  }
}

ExpressionRange Rules::derived_range(std::size_t i, LevelBox box) const {
  std::vector<ExpressionRange> before;
  for (std::size_t k = 0; k <= i; ++k) before.push_back(derived_[k].expression.range(box, before));
  return before.back();
}

std::string Rules::restrictions_definition() const {
  std::vector<std::string> constraints;
  std::string text;
  for (const Check& check : checks_) {
    if (check.conditional) {
      text += fmt::format("only_if|{}|{}\n", parameters_[*check.conditional].name, check.expression.canonical());
    } else {
      constraints.push_back(check.expression.canonical());
    }
  }
  std::sort(constraints.begin(), constraints.end());  // their order decides nothing
  constraints.erase(std::unique(constraints.begin(), constraints.end()), constraints.end());
  for (const std::string& constraint : constraints) text += fmt::format("constraint|{}\n", constraint);
  return text;
}

std::string Rules::derived_definition() const {
  std::string text = "hindsight derived quantities, definition format 1\n";
  for (const Derived& derived : derived_) text += fmt::format("{}|{}\n", derived.name, derived.expression.canonical());
  return text;
}

std::shared_ptr<const LegalDesigns> Rules::legal_designs(Listing listing,
                                                         const std::vector<std::vector<std::uint16_t>>& allowed) const {
  constexpr std::size_t kMostKept = 4;  // [chosen] a search asks for one again and again
  const std::scoped_lock lock(mutex_);
  for (const Kept& kept : kept_) {
    if (kept.listing == listing && kept.allowed == allowed) return kept.designs;
  }
  auto designs = std::make_shared<const LegalDesigns>(*this, allowed, listing);
  if (kept_.size() == kMostKept) kept_.erase(kept_.begin());
  kept_.push_back({.listing = listing, .allowed = allowed, .designs = designs});
  return designs;
}

}  // namespace hindsight::space

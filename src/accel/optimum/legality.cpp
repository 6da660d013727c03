/// Sorts rules by the axes that decide them, and counts what they leave.
#include "accel/optimum/legality.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/text.h"
#include "hindsight/space/rules.h"

namespace hindsight::accel::optimum {
namespace {

/// [chosen] Entries of one rule's table: 1 MiB, made in a quarter of a second.
constexpr std::uint64_t kMostEntries = std::uint64_t{1} << 20U;
constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

/// The axes in the order in which a search fixes them: the bandwidth last.
constexpr std::array<Role, kRoles> kOrder{
    Role::clock,     Role::macs,        Role::pes_x,      Role::pes_y,     Role::cores,       Role::lanes,
    Role::pe_memory, Role::core_memory, Role::activation, Role::parameter, Role::instruction, Role::bandwidth,
};

Fixed fixed_by(Role role) {
  if (static_cast<std::size_t>(role) < kGroupRoles) return Fixed::group;
  if (role < Role::bandwidth) return Fixed::memories;
  return role == Role::bandwidth ? Fixed::chip : Fixed::pair;
}

std::size_t place_in_order(std::size_t role) {
  return static_cast<std::size_t>(std::ranges::find(kOrder, static_cast<Role>(role)) - kOrder.begin());
}

void merge_into(std::vector<std::size_t>& all, const std::vector<std::size_t>& more) {
  all.insert(all.end(), more.begin(), more.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

std::vector<std::size_t> roles_of(const std::vector<std::size_t>& parameters, const Axes& axes) {
  std::vector<std::size_t> roles;
  for (std::size_t role = 0; role < kRoles; ++role) {
    const auto parameter = axes[static_cast<Role>(role)].parameter;
    if (parameter && std::ranges::find(parameters, *parameter) != parameters.end()) roles.push_back(role);
  }
  return roles;
}

/// Combinations of some axes; nothing above `most`.
std::optional<std::uint64_t> combinations(const std::vector<std::size_t>& roles, const Axes& axes, std::uint64_t most) {
  std::uint64_t product = 1;
  for (const std::size_t role : roles) {
    if ((product *= axes.size(static_cast<Role>(role))) > most) return std::nullopt;
  }
  return product;
}

std::size_t rank_of(const std::vector<std::size_t>& roles, const Axes& axes, const Point& point) {
  std::size_t rank = 0;
  for (const std::size_t role : roles) rank = rank * axes.size(static_cast<Role>(role)) + point[role];
  return rank;
}

}  // namespace

Legality::Legality(const Question& question, const Axes& axes) : space_(question.space), axes_(axes) {
  if (space_->is_constrained()) {
    const auto& checks = space_->rules()->checks();
    for (std::size_t i = 0; i < checks.size(); ++i) {
      add({.source = space_->rules().get(), .place = i, .most = {}, .roles = roles_of(checks[i].parameters, axes)});
    }
  }
  for (const DerivedLimit& limit : question.derived_limits) add_limit(limit);
}

void Legality::add_limit(const DerivedLimit& limit) {
  const auto& derived = limit.rules->derived();
  HINDSIGHT_EXPECT(limit.place < derived.size() && limit.rules->parameters().size() == space_->parameters().size());
  Rule rule{.source = limit.rules.get(), .place = limit.place, .most = limit.most, .quantities = {limit.place}};
  std::vector<std::size_t> parameters;
  for (std::size_t i = limit.place + 1; i-- > 0;) {  // each uses only those before it
    if (std::ranges::find(rule.quantities, i) == rule.quantities.end()) continue;
    merge_into(rule.quantities, derived[i].expression.numbers());
    merge_into(parameters, derived[i].expression.parameters());
  }
  rule.roles = roles_of(parameters, axes_);
  add(std::move(rule));
}

void Legality::add(Rule rule) {
  if (const auto entries = combinations(rule.roles, axes_, kMostEntries)) {
    std::vector<Verdict> table(static_cast<std::size_t>(*entries));
    Point point{};
    for (std::size_t i = 0; i < table.size(); ++i) {
      std::size_t rest = i;
      for (std::size_t k = rule.roles.size(); k-- > 0;) {
        const std::size_t size = axes_.size(static_cast<Role>(rule.roles[k]));
        point[rule.roles[k]] = static_cast<std::uint16_t>(rest % size);
        rest /= size;
      }
      table[i] = evaluate(rule, point);
    }
    rule.table = std::move(table);
  }
  Fixed fixed = Fixed::group;
  for (const std::size_t role : rule.roles) fixed = std::max(fixed, fixed_by(static_cast<Role>(role)));
  const bool surely_defined =
      !rule.table.empty() && std::ranges::find(rule.table, Verdict::undefined) == rule.table.end();
  if (rule.is_limit() && !surely_defined) doubtful_.push_back(rules_.size());
  steps_[static_cast<std::size_t>(fixed)].push_back(rules_.size());
  rules_.push_back(std::move(rule));
}

Legality::Verdict Legality::evaluate(const Rule& rule, const Point& point) const {
  const auto& parameters = space_->parameters();
  std::vector<double> operands(parameters.size() + rule.source->derived().size());
  for (const std::size_t role : rule.roles) {
    const Axis& axis = axes_[static_cast<Role>(role)];
    operands[*axis.parameter] = axis.values[point[role]];
  }
  if (!rule.is_limit()) {
    const space::Rules::Check& check = rule.source->checks()[rule.place];
    const bool first_value =
        check.conditional && operands[*check.conditional] == parameters[*check.conditional].values.front();
    return space::Rules::verdict(check, operands, first_value);
  }
  for (const std::size_t i : rule.quantities) {
    const auto value = rule.source->derived()[i].expression.value(operands);
    if (!value) return Verdict::undefined;
    operands[parameters.size() + i] = *value;
  }
  return operands[parameters.size() + rule.place] <= *rule.most ? Verdict::met : Verdict::broken;
}

Legality::Verdict Legality::verdict(const Rule& rule, const Point& point) const {
  return rule.table.empty() ? evaluate(rule, point) : rule.table[rank_of(rule.roles, axes_, point)];
}

bool Legality::rules_allow(Fixed fixed, const Point& point) const {
  for (const std::size_t i : steps_[static_cast<std::size_t>(fixed)]) {
    const Rule& rule = rules_[i];
    const Verdict known = verdict(rule, point);
    // A constraint without a value: the design breaks another one (DesignCounter has seen it).
    if (known == Verdict::broken || (known == Verdict::undefined && !rule.is_limit())) return false;
  }
  if (fixed != Fixed::chip) return true;
  for (const std::size_t i : doubtful_) {
    if (verdict(rules_[i], point) != Verdict::undefined) continue;
    std::vector<double> values(rules_[i].source->derived().size());
    rules_[i].source->derive(axes_.design(point).levels, values);  // fails, and says where
  }
  return true;
}

std::size_t Legality::allowed_bandwidths(Point point, std::size_t count) const {
  if (!decides_bandwidth() && doubtful_.empty()) return count;
  for (; count > 0; --count) {
    at(point, Role::bandwidth) = static_cast<std::uint16_t>(count - 1);
    if (allows(Fixed::chip, point)) break;
  }
  return count;
}

DesignCounter::DesignCounter(const Axes& axes, const Legality& legality, std::uint64_t most_visits)
    : axes_(axes), legality_(legality), most_visits_(most_visits) {
  std::vector<std::size_t> below_group;
  for (std::size_t i = 0; i < legality.rules_.size(); ++i) {
    const Legality::Rule& rule = legality.rules_[i];
    if (rule.is_limit()) continue;
    const bool of_group = std::ranges::all_of(rule.roles, [](std::size_t role) { return role < kGroupRoles; });
    (of_group ? group_rules_ : below_group).push_back(i);
  }
  for (const std::size_t i : below_group) {
    for (const std::size_t role : legality.rules_[i].roles) merge_into(role < kGroupRoles ? key_ : tied_, {role});
  }
  std::ranges::sort(tied_, {}, place_in_order);
  rules_.resize(tied_.size());
  for (const std::size_t i : below_group) {
    const auto last = std::ranges::max_element(legality.rules_[i].roles, {}, place_in_order);
    rules_[static_cast<std::size_t>(std::ranges::find(tied_, *last) - tied_.begin())].push_back(i);
  }
  for (std::size_t role = kGroupRoles; role < kRoles; ++role) {
    if (std::ranges::find(tied_, role) == tied_.end()) others_ *= axes.size(static_cast<Role>(role));
  }
  known_.assign(static_cast<std::size_t>(*combinations(key_, axes, kMostGroups)), kUnknown);
}

void DesignCounter::require_time() {
  constexpr std::uint64_t kBetweenLooks = 1 << 16;
  if (++visited_ % kBetweenLooks != 0) return;
  if (interrupt_requested()) throw Error(ErrorKind::interrupted, "interrupted while legal designs were counted");
  if (visited_ < most_visits_) return;
  throw Error(ErrorKind::usage,
              fmt::format("space {}: its constraints tie more than {} combinations of values together, too many to "
                          "count its legal designs exactly. Use `hindsight search`, or --set fewer values",
                          legality_.space_->name(), with_commas(most_visits_)));
}

std::uint64_t DesignCounter::below(std::size_t k, Point& point, bool doubtful) {
  if (k == tied_.size()) {
    // What broke nothing has to have a value everywhere: is_legal() fails where it has none, and says where.
    if (doubtful) HINDSIGHT_ENSURE(legality_.space_->is_legal(axes_.design(point).levels));
    return 1;
  }
  require_time();
  std::uint64_t count = 0;
  const std::size_t role = tied_[k];
  for (std::size_t level = 0; level < axes_.size(static_cast<Role>(role)); ++level) {
    point[role] = static_cast<std::uint16_t>(level);
    bool broken = false, without_value = false;
    for (const std::size_t i : rules_[k]) {
      const Verdict verdict = legality_.verdict(legality_.rules_[i], point);
      broken = broken || verdict == Verdict::broken;
      without_value = without_value || verdict == Verdict::undefined;
    }
    if (!broken) count += below(k + 1, point, doubtful || without_value);
  }
  return count;
}

std::uint64_t DesignCounter::of_group(const Point& point) {
  bool doubtful = false;
  for (const std::size_t i : group_rules_) {
    const Verdict verdict = legality_.verdict(legality_.rules_[i], point);
    if (verdict == Verdict::broken) return 0;
    doubtful = doubtful || verdict == Verdict::undefined;
  }
  Point inner = point;
  if (doubtful) return below(0, inner, true) * others_;
  std::uint64_t& known = known_[rank_of(key_, axes_, point)];
  if (known == kUnknown) known = below(0, inner, false);
  return known * others_;
}

std::uint64_t DesignCounter::all(const Slice& slice) {
  const std::uint64_t groups = slice.groups(axes_.groups());
  if (tied_.empty() && group_rules_.empty()) return axes_.designs() / axes_.groups() * groups;
  std::uint64_t count = 0;
  for (std::uint64_t k = 0; k < groups; ++k) count += of_group(axes_.group_point(slice.group(k)));
  return count;
}

}  // namespace hindsight::accel::optimum

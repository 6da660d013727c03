/// How limits are rounded for who sets them, and how far they are loosened until a search finds a design within.
#include "optimize/offers.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "hindsight/core/text.h"

namespace hindsight::optimize {
namespace {

/// [chosen] Digits of a limit that is offered: as many as a person types.
constexpr int kOfferedDigits = 3;
/// [chosen] By how much of its size a limit is loosened that is met but not found again, the least first.
constexpr double kLooserShares[] = {0, 0.02, 0.05, 0.1, 0.2, 0.5};

double loosened_by(double share, double value) { return value + share * std::abs(value); }

}  // namespace

std::string met_by(const Constraint& constraint, double value) {
  if (value > constraint.most) return "";
  if (constraint.text) return constraint.text(value);
  return fmt::format("{} <= {}", constraint.name, rounded_up(value, kOfferedDigits));
}

std::string limit_of(const Constraint& constraint) {
  const std::string limit = constraint.text ? constraint.text(constraint.limit)
                                            : fmt::format("{} <= {}", constraint.name, readable(constraint.limit));
  return constraint.stated_by.empty() ? limit : fmt::format("{} ({})", limit, constraint.stated_by);
}

Offers::Offers(const Problem& problem, Finds finds) : problem_(problem), finds_(std::move(finds)) {}

std::vector<std::string> Offers::of(const std::vector<Loosened::Limit>& met) const {
  for (const double share : kLooserShares) {
    std::vector<std::string> texts;
    Loosened loosened;
    for (const Loosened::Limit& limit : met) {
      const Constraint& constraint = problem_.constraints[limit.constraint];
      const double value = loosened_by(share, limit.value);
      texts.push_back(met_by(constraint, value));
      if (texts.back().empty()) return {};
      const double set = constraint.text ? value : parse_double(rounded_up(value, kOfferedDigits)).value_or(value);
      loosened.limits.push_back({.constraint = limit.constraint, .value = set});
    }
    if (holds(loosened)) return texts;
  }
  return {};
}

}  // namespace hindsight::optimize

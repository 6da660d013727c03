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

/// A limit as it is offered.
struct Written {
  std::string text = {};  ///< empty where nobody can set it so
  double value = 0;       ///< what it is set to by who reads that
};

Written written(const Constraint& constraint, double value) {
  if (value > constraint.most) return {};
  if (constraint.text) return {.text = constraint.text(value), .value = value};
  const std::string rounded = rounded_up(value, kOfferedDigits);
  return {.text = fmt::format("{} <= {}", constraint.name, rounded), .value = parse_double(rounded).value_or(value)};
}

}  // namespace

std::string met_by(const Constraint& constraint, double value) { return written(constraint, value).text; }

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
      Written offered = written(problem_.constraints[limit.constraint], loosened_by(share, limit.value));
      if (offered.text.empty()) return {};
      texts.push_back(std::move(offered.text));
      loosened.limits.push_back({.constraint = limit.constraint, .value = offered.value});
    }
    if (holds(loosened)) return texts;
  }
  return {};
}

}  // namespace hindsight::optimize

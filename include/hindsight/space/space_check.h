/// What the rules of a space leave of it: for a person who has just written them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/space/legal_designs.h"

namespace hindsight::space {

/// What one constraint or condition leaves, alone.
struct RuleShare {
  std::string text;                 ///< as Rules::Check::text
  std::string where;                ///< "file:line:column"; empty for a space of a log
  std::optional<LegalCount> alone;  ///< nothing where it has no value for designs that others leave out
  double share = 0;                 ///< of all designs, 0 to 1; an estimate where `alone` is one
};
/// A derived quantity over legal designs.
struct DerivedSpread {
  std::string name, expression;
  double smallest = 0, largest = 0;  ///< among designs drawn
};
struct SpaceCheck {
  double combinations = 0;  ///< all designs, legal or not
  LegalCount legal;
  std::vector<RuleShare> rules;
  std::vector<DerivedSpread> derived;
  std::uint64_t drawn = 0;  ///< legal designs whose derived quantities were computed
};

/// Error{no_feasible} when no design is legal, naming the constraint; Error{failure} when none can be found;
/// Error{usage}, at its place, for a constraint that has no value for a design that breaks no other, or a derived
/// quantity that has none for a design drawn.
[[nodiscard]] SpaceCheck check_space(const DesignSpace& space);

/// Number of legal designs; all of them without constraints.
[[nodiscard]] LegalCount count_designs(const DesignSpace& space);

}  // namespace hindsight::space

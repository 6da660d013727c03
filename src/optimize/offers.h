/// What an error offers where no design was found: written leniently, and tried before it is offered.
#pragma once

#include <string>
#include <vector>

#include "hindsight/optimize/search.h"

namespace hindsight::optimize {

/// "area_mm2 <= 27": a limit that `value` meets, of three digits. Empty where nobody can set it so.
[[nodiscard]] std::string met_by(const Constraint& constraint, double value);

/// The limit as it is, and who states it.
[[nodiscard]] std::string limit_of(const Constraint& constraint);

/// Limits, or values of parameters, with which the question that found nothing finds a design when it is asked again.
class Offers {
 public:
  /// `finds`: asks again. None: what some design meets is sure to be found, as where all designs are judged.
  Offers(const Problem& problem, Finds finds);
  /// How limits are written that together are met by a design with these values: as near to them as a search finds one.
  /// Empty where none was found, or where nobody would set one of them.
  [[nodiscard]] std::vector<std::string> of(const std::vector<Loosened::Limit>& met) const;
  [[nodiscard]] bool holds(const Loosened& loosened) const { return !finds_ || finds_(loosened); }

 private:
  const Problem& problem_;
  Finds finds_;
};

}  // namespace hindsight::optimize

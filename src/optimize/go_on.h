/// search_on() for a caller that has more to try before it gives up.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "hindsight/optimize/search.h"

namespace hindsight::optimize {

/// What a limit would have to be with all others kept.
struct NeededLimit {
  double value = std::numeric_limits<double>::infinity();  ///< infinity: no design that was met keeps the others
  space::Design design = {};                               ///< that has this value
  std::string text = {};  ///< what may be offered, "area_mm2 <= 27"; empty where nothing can be
};
struct GoneOn {
  Solution solution;                ///< with a feasible design unless `why` says something; evaluations of all
  std::string why = {};             ///< explain_infeasible(), where it is asked
  bool names_limits = false;        ///< `why` says what limits would have to be
  std::vector<NeededLimit> needed;  ///< per constraint
};
/// As search_on(), and what stands in the way is a value.
[[nodiscard]] GoneOn go_on(const Problem& problem, const Solution& solution, const SearchOptions& options,
                           const Advice& advice = {});

}  // namespace hindsight::optimize

/// What other judgements than the score choose for a hedged list.
///
/// A list by one score shares the mistakes of that score: of the mean over networks that err alike, of a limit that is
/// learned a little too wide, of a spread that shuns what is merely unknown. Each judgement ranks what the searches
/// have kept, so that none of them costs a search. A network has its own say as a model of this network alone.
#pragma once

#include <vector>

#include "optimize/forecast.h"
#include "optimize/portfolio.h"

namespace hindsight::optimize {

struct HedgeQuestion {
  const surrogate::Model& model;
  const ProposeOptions& options;
  const Forecast& forecast;  ///< of these
  double threshold = 0;      ///< of p_feasible, which first and candidates reach
};
/// Places of single networks, of a surer and of an optimistic judgement (Hedge), in this order. `first`: of the list;
/// `candidates`: what the searches found, in any order, some of it perhaps twice. Those that rank before the first or
/// tie with it are no hedges, nor those that are hopeless beside it (kFarWorse).
[[nodiscard]] std::vector<HedgePlaces> hedge_places(const Candidate& first, std::vector<Candidate> candidates,
                                                    const HedgeQuestion& question);

}  // namespace hindsight::optimize

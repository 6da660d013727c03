/// How much a surrogate's answer depends on each parameter: permutation importance.
///
/// A parameter's values are shuffled among designs and the model is asked again: the objective's rank correlation with
/// the unshuffled prediction falls by what the ranking owes to the parameter; p_feasible moves likewise. It says what
/// the model uses, not what the hardware does, and parameters that stand for each other share their importance.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/surrogate/model.h"

namespace hindsight::check {

struct ParameterImportance {
  std::string parameter;
  /// 1 - Kendall's tau between predictions before and after, mean over the contexts: 0 unused, 1 all of the ranking.
  double ranking_lost = 0;
  /// Mean of |p_feasible before - after|; 0 where the model learned no feasibility.
  double feasibility_moved = 0;
};

struct Importance {
  std::string model;                       ///< as it was named
  std::size_t designs = 0;                 ///< that were asked about, per context
  std::vector<std::string> contexts = {};  ///< of the applications the model learned, those it was asked about
  std::vector<ParameterImportance> parameters = {};  ///< largest ranking_lost first
  std::string space = {}, space_hash = {};           ///< the model's: name, definition
};

/// Of the same random designs of the model's space every time (surrogate::typical_designs), of those likely to be
/// feasible where there are enough of them.
[[nodiscard]] Importance permutation_importance(const surrogate::Model& model, const std::string& name,
                                                unsigned threads = 0);

}  // namespace hindsight::check

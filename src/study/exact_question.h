/// The question of proposals, as the exact optimum answers it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/study/limits.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::study {

/// Space, levels, limits, aggregate and weights of `options`; the goal is not set. Refers to all of its arguments.
/// `derived`: the quantities that limits may name besides metrics; null: none. Error{usage} beginning with `flag`: a
/// limit of what is neither.
[[nodiscard]] accel::optimum::Question exact_question(const surrogate::Model& model,
                                                      const accel::Technology& technology,
                                                      const std::vector<workload::Network>& networks,
                                                      const optimize::ProposeOptions& options,
                                                      const DerivedQuantities& derived, const std::string& flag);
/// The limit of a derived quantity; nothing when there is none of that name.
[[nodiscard]] std::optional<accel::optimum::DerivedLimit> derived_limit(const DerivedQuantities& derived,
                                                                        const std::string& name, double most);

}  // namespace hindsight::study

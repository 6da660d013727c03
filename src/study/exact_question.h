/// The question of proposals, as the exact optimum answers it.
#pragma once

#include <string>
#include <vector>

#include "hindsight/accel/optimum/optimum.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::study {

/// Space, levels, limits, aggregate and weights of `options`; the goal is not set. Refers to all of its arguments.
/// Error{usage} beginning with `flag`: a limit of what is no metric of the accelerator model.
[[nodiscard]] accel::optimum::Question exact_question(const surrogate::Model& model,
                                                      const accel::Technology& technology,
                                                      const std::vector<workload::Network>& networks,
                                                      const optimize::ProposeOptions& options, const std::string& flag);

}  // namespace hindsight::study

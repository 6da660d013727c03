/// What a user writes to bound proposals: fixed and bounded parameters, limits of metrics.
#pragma once

#include <string>
#include <vector>

#include "hindsight/accel/technology.h"
#include "hindsight/optimize/propose.h"
#include "hindsight/surrogate/model.h"

namespace hindsight::app {

/// The words of --set, --min and --max.
struct LimitWords {
  std::vector<std::string> set;  ///< "pes_x=8", "pes_x=4..8", "dataflow=ws"
  std::vector<std::string> min;  ///< "pes_x=4": smallest value of a parameter
  std::vector<std::string> max;  ///< "area_mm2=27", or the largest value of a parameter
};

struct Limits {
  optimize::AllowedLevels allowed;
  std::vector<optimize::Constraint> constraints;
};
/// A metric is limited by the analytical model where the space has one, else by the model's learned head.
/// Error{usage}: nearest name, or the values a parameter has; Error{no_feasible} when no value is left.
[[nodiscard]] Limits resolve_limits(const LimitWords& words, const surrogate::Model& model,
                                    const accel::Technology& technology);

}  // namespace hindsight::app

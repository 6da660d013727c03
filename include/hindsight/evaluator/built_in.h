/// The first maker of evaluators: the built-in accelerator model.
#pragma once

#include <memory>

#include "hindsight/accel/technology.h"
#include "hindsight/evaluator/evaluator.h"

namespace hindsight::evaluator {

/// Whether every parameter of the space is a field of the accelerator template.
[[nodiscard]] bool describes_accelerator(const space::DesignSpace& space);

/// Facts: area_mm2, peak_power_w. Error{usage} when the space does not describe an accelerator.
[[nodiscard]] std::shared_ptr<const Evaluator> built_in(space::DesignSpace space, accel::Technology technology);

}  // namespace hindsight::evaluator

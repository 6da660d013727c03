/// A technology in an older version of the model.
#pragma once

#include <string>

#include "hindsight/accel/technology.h"

namespace hindsight::accel {

/// The technology in the version of the model that `evaluator` names (evaluator_name()), where that is of this
/// technology and of an older version with the same keys; else as it is. So what was logged, or learnt, with a
/// technology that ships stays repeatable when its file states a newer version.
[[nodiscard]] Technology in_version_of(const Technology& technology, const std::string& evaluator);

}  // namespace hindsight::accel

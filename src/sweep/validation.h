/// What a sweep's options must agree on before anything is drawn.
#pragma once

#include "hindsight/sweep/sweep.h"

namespace hindsight::sweep {

/// Error{usage}: options that make no sense, each with the remedy.
void validate(const SweepOptions& options);

}  // namespace hindsight::sweep

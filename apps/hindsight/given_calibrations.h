/// The option --calibration of gemm and check: constants that a user fitted, from files of any place.
#pragma once

#include <string>
#include <vector>

#include "hindsight/gpu/calibration.h"

namespace hindsight::app {

/// Reads the files of "a.yaml,b.yaml" (empty: none) for predictions on `specs`. Errors: Error{usage} as
/// gpu::read_calibration, for a file of a GPU that is not among `specs`, and for two files of one GPU and class.
[[nodiscard]] std::vector<gpu::Calibration> read_given_calibrations(const std::string& list,
                                                                    const std::vector<gpu::GpuSpec>& specs);

}  // namespace hindsight::app

/// What the sources behind report/gpu_check.h share.
#pragma once

#include <string>

#include "hindsight/report/gpu_check.h"

namespace hindsight::report {

/// What a reader must know about the figures, once for all designs. Lines at most `columns` wide where that is
/// positive.
[[nodiscard]] std::string gpu_check_notes(const GpuCheckReport& report, int columns);

}  // namespace hindsight::report

/// Renders an exact optimum with its certificate.
#pragma once

#include <string>

#include "hindsight/study/optimum.h"

namespace hindsight::report {

/// Table of the designs, metrics per workload of the best one, and how all designs are accounted for.
[[nodiscard]] std::string optimum_text(const study::OptimumTask& task, const study::Optimum& optimum, int columns);
[[nodiscard]] std::string optimum_json(const study::OptimumTask& task, const study::Optimum& optimum);

}  // namespace hindsight::report

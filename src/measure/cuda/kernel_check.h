/// Are the kernels right? Small products against the host, and instructions whose exact result is known.
#pragma once

#include <string>
#include <vector>

#include "measure/cuda/cublaslt.h"
#include "measure/cuda/device_bench.h"

namespace hindsight::measure {

/// One line per disagreement.
[[nodiscard]] std::vector<std::string> check_kernels(const DeviceContext& context, const CublasLt& cublaslt);

}  // namespace hindsight::measure

/// Are the kernels right? Small products against the host, and instructions whose exact result is known.
#pragma once

#include "hindsight/measure/run.h"
#include "measure/cuda/cublaslt.h"
#include "measure/cuda/device_bench.h"

namespace hindsight::measure {

[[nodiscard]] KernelCheck check_kernels(const DeviceContext& context, const CublasLt& cublaslt);

}  // namespace hindsight::measure

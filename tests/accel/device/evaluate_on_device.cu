/// Compiled, not run, where a CUDA compiler is present: the accelerator model stays usable in device code.
#include "hindsight/accel/network_cost.h"

using hindsight::accel::ChipFacts;
using hindsight::workload::GemmLayer;

__global__ void evaluate_designs(const ChipFacts* chips, std::size_t chip_count, const GemmLayer* layers,
                                 std::size_t layer_count, double* latency_s) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i >= chip_count) return;
  const auto evaluation =
      hindsight::accel::evaluate_layers(chips[i], {layers, layer_count}, hindsight::accel::Depth::stop_at_hardware, {});
  latency_s[i] = evaluation.feasible() ? evaluation.metrics->latency_s : 0;
}

/// Notices keys and values of earlier tokens that the accelerator model leaves on chip.
#include "hindsight/check/caches.h"

#include <fmt/format.h>

#include <vector>

#include "hindsight/accel/traffic.h"
#include "hindsight/gpu/network.h"

namespace hindsight::check {
namespace {

/// Keys and values of earlier tokens, operands of a pass.
struct Caches {
  double all = 0;     ///< of all layers
  double spared = 0;  ///< of the layers whose own fit
};

Caches caches_of(const workload::Network& network, double room) {
  const std::vector<workload::GemmLayer>& gemms = network.gemms();
  Caches caches;
  double tokens = 0;  // rows per inference of the last layer with weights
  for (std::size_t i = 0; i < gemms.size(); ++i) {
    const workload::GemmLayer& layer = gemms[i];
    if (!layer.weights_are_activations) {
      tokens = static_cast<double>(layer.m) / static_cast<double>(network.batch());
      continue;
    }
    if (i + 1 == gemms.size()) break;
    const auto attention = gpu::attention_of(layer, gemms[i + 1], tokens, gpu::DType::int8);
    if (!attention || !attention->cached) continue;
    for (const workload::GemmLayer* operand : {&layer, &gemms[i + 1]}) {
      const double operands = operand->weight_bytes * static_cast<double>(operand->repeat);
      caches.all += operands;
      if (operands <= room) caches.spared += operands;
    }
    ++i;  // the values are seen
  }
  return caches;
}

}  // namespace

bool spares_caches(const accel::AcceleratorConfig& config, const workload::Network& network) {
  const double room = accel::resident_memory(config).activation_half_bytes;
  const Caches caches = caches_of(network, room);
  return caches.spared > 0 && caches.all > room;
}

std::string spared_caches_sentence(const std::string& networks) {
  return fmt::format(
      "keys and values of earlier tokens count as on the design's chip where those of one layer fit, though those of "
      "all layers do not; a GPU reads them from DRAM, which favours the design: {}",
      networks);
}

}  // namespace hindsight::check

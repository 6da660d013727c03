/// Notices keys and values of earlier tokens that the accelerator model leaves on chip.
#include "hindsight/check/caches.h"

#include <fmt/format.h>

#include "hindsight/accel/traffic.h"

namespace hindsight::check {
namespace {

/// Keys and values of earlier tokens, operands of a pass.
struct Caches {
  double all = 0;     ///< of all layers
  double spared = 0;  ///< of the layers whose own fit
};

Caches caches_of(const workload::Network& network, double room) {
  Caches caches;
  for (const workload::GemmLayer& layer : network.gemms()) {
    if (!layer.from_earlier_passes) continue;
    const double operands = layer.weight_bytes * static_cast<double>(layer.repeat);
    caches.all += operands;
    if (operands <= room) caches.spared += operands;
  }
  return caches;
}

}  // namespace

bool spares_caches(const accel::AcceleratorConfig& config, const workload::Network& network) {
  if (config.rules.caches_in_dram) return false;
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

/// Notices keys and values of earlier tokens that a design need not read, because the accelerator model leaves them on
/// chip.
///
/// Up to version 2 the model (accel/network_cost.h, cached_frac) asks of every layer by itself whether its run-time
/// operands fit where activations stay. Of operands that the same pass made that is right; keys and values of earlier
/// tokens are of all layers at once, and a GPU reads them from DRAM.
#pragma once

#include <string>

#include "hindsight/accel/config.h"
#include "hindsight/workload/network.h"

namespace hindsight::check {

/// Code of the estimate in JSON.
inline constexpr const char* kCachesOnChip = "caches_on_chip";

/// Whether the design is spared reading the keys or the values of earlier tokens of some layer (fewer tokens in a pass
/// than keys), although those of all layers are more than the space that one layer's activations have. `config` with
/// the rules of its technology (accel::template_rules()).
[[nodiscard]] bool spares_caches(const accel::AcceleratorConfig& config, const workload::Network& network);
/// Of networks by their names: what is taken for granted.
[[nodiscard]] std::string spared_caches_sentence(const std::string& networks);

}  // namespace hindsight::check

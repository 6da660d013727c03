/// Notices networks that the memory of a design may not hold, where nobody says what that memory is.
///
/// A design that states devices of DRAM, or a chip that states its capacity (`dram_gb`), refuses what it cannot hold.
#pragma once

#include <string>

#include "hindsight/accel/config.h"
#include "hindsight/workload/network.h"

namespace hindsight::check {

/// Code of the estimate in JSON.
inline constexpr const char* kUnknownDesignMemory = "unknown_design_memory";

/// Whether the capacity of the design's DRAM is not known and the network (accel::stored_operands()) is more than one
/// device of its type holds (accel/dram.h). `config` with the rules of its technology (accel::template_rules()).
[[nodiscard]] bool may_exceed_memory(const accel::AcceleratorConfig& config, const workload::Network& network);
/// Of networks by their names: what is taken for granted.
[[nodiscard]] std::string unknown_memory_sentence(const std::string& networks);

}  // namespace hindsight::check

/// Notices networks that the memory of a design may not hold, where nobody says what that memory is.
#include "hindsight/check/design_memory.h"

#include <fmt/format.h>

#include "hindsight/accel/dram.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/core/units.h"

namespace hindsight::check {

bool may_exceed_memory(const accel::AcceleratorConfig& config, const workload::Network& network) {
  if (accel::dram_bytes(config) > 0) return false;
  const double device_bytes = accel::dram_device(config.dram_type).capacity_gb * units::kGiga;
  return accel::stored_operands(network, config.rules) * config.operand_bytes() > device_bytes;
}

std::string unknown_memory_sentence(const std::string& networks) {
  return fmt::format("what the design's DRAM holds is not known, and one device of its type holds less than {}",
                     networks);
}

}  // namespace hindsight::check

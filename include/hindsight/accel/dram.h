/// What external memory holds, and what one device of it moves: a package, a chip or a stack.
#pragma once

#include "hindsight/accel/config.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {

struct DramDevice {
  double bandwidth_gb_per_s = 0;
  double capacity_gb = 0;  ///< 10^9 bytes
};

/// A switch, because device code cannot read a table at namespace scope.
[[nodiscard]] constexpr DramDevice dram_device(DramType type) {
  switch (type) {
    case DramType::lpddr4:  // [spec: jedec-lpddr4] 64 bits at 4,266 Mb/s; a package of 8 GB
      return {.bandwidth_gb_per_s = 34.1, .capacity_gb = 8};
    case DramType::ddr4:  // [spec: jedec-ddr4] 64 bits at 3,200 Mb/s; a module of 32 GB
      return {.bandwidth_gb_per_s = 25.6, .capacity_gb = 32};
    case DramType::gddr6:  // [spec: micron-ugddr] 32 bits at 16 Gb/s, 16 Gb a chip
      return {.bandwidth_gb_per_s = 64, .capacity_gb = 2};
    case DramType::hbm2:  // [spec: jedec-hbm] 1,024 bits at 2.4 Gb/s, 8 GB a stack
      return {.bandwidth_gb_per_s = 307.2, .capacity_gb = 8};
    case DramType::lpddr5:  // [spec: jedec-lpddr5] 64 bits at 6,400 Mb/s; a package of 16 GB
      return {.bandwidth_gb_per_s = 51.2, .capacity_gb = 16};
    case DramType::hbm2e:  // [spec: jedec-hbm] 1,024 bits at 3.2 Gb/s, as MI250's stacks
      return {.bandwidth_gb_per_s = 409.6, .capacity_gb = 16};
    case DramType::hbm3:  // [spec: jedec-hbm3] 1,024 bits at 6.4 Gb/s; 16 GB as H100's
      return {.bandwidth_gb_per_s = 819.2, .capacity_gb = 16};
  }
  return {};
}

/// What all of a chip's DRAM holds; 0: not known.
[[nodiscard]] constexpr double dram_bytes(const AcceleratorConfig& config) {
  if (config.dram_devices > 0) {
    return config.dram_devices * dram_device(config.dram_type).capacity_gb * units::kGiga;
  }
  return config.dram_gb * units::kGiga;
}

}  // namespace hindsight::accel

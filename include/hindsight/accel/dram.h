/// What one device of external memory moves and holds: a package, a chip or a stack.
#pragma once

#include <array>
#include <cstddef>

#include "hindsight/accel/config.h"

namespace hindsight::accel {

struct DramDevice {
  double bandwidth_gb_per_s = 0;
  double capacity_gb = 0;  ///< 10^9 bytes
};

/// By DramType.
inline constexpr std::array<DramDevice, kDramTypeCount> kDramDevices{{
    {.bandwidth_gb_per_s = 34.1, .capacity_gb = 8},    // [spec: jedec-lpddr4] 64 bits at 4,266 Mb/s; a package of 8 GB
    {.bandwidth_gb_per_s = 25.6, .capacity_gb = 32},   // [spec: jedec-ddr4] 64 bits at 3,200 Mb/s; a module of 32 GB
    {.bandwidth_gb_per_s = 64, .capacity_gb = 2},      // [spec: micron-ugddr] 32 bits at 16 Gb/s, 16 Gb a chip
    {.bandwidth_gb_per_s = 307.2, .capacity_gb = 8},   // [spec: jedec-hbm] 1,024 bits at 2.4 Gb/s, 8 GB a stack
    {.bandwidth_gb_per_s = 51.2, .capacity_gb = 16},   // [spec: jedec-lpddr5] 64 bits at 6,400 Mb/s; a package of 16 GB
    {.bandwidth_gb_per_s = 409.6, .capacity_gb = 16},  // [spec: jedec-hbm] 1,024 bits at 3.2 Gb/s, as MI250's stacks
    {.bandwidth_gb_per_s = 819.2, .capacity_gb = 16},  // [spec: jedec-hbm3] 1,024 bits at 6.4 Gb/s; 16 GB as H100's
}};
/// `data()`: device code has no check of bounds.
[[nodiscard]] constexpr DramDevice dram_device(DramType type) {
  return kDramDevices.data()[static_cast<std::size_t>(type)];
}

}  // namespace hindsight::accel

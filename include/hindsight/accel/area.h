/// Area of an accelerator by component.
#pragma once

#include "hindsight/accel/config.h"
#include "hindsight/accel/technology.h"

namespace hindsight::accel {

/// Areas in mm2. The total is the sum of all fields.
struct AreaBreakdown {
  double mac_mm2 = 0;
  double register_mm2 = 0;
  double pe_memory_mm2 = 0;
  double core_memory_mm2 = 0;
  double activation_memory_mm2 = 0;
  double parameter_memory_mm2 = 0;
  double instruction_memory_mm2 = 0;
  double noc_mm2 = 0;
  double control_mm2 = 0;
  double dram_phy_mm2 = 0;
  [[nodiscard]] double total_mm2() const {
    return mac_mm2 + register_mm2 + pe_memory_mm2 + core_memory_mm2 + activation_memory_mm2 + parameter_memory_mm2 +
           instruction_memory_mm2 + noc_mm2 + control_mm2 + dram_phy_mm2;
  }
  /// Area of one PE (a tile of the grid): everything that is replicated per PE.
  double pe_mm2 = 0;
};

/// Model: sum of macros and logic; no floorplan white space beyond `control_area_fraction`.
/// Valid for: the template's ranges. Ignores: pads other than the DRAM PHY, analog, host interface.
[[nodiscard]] AreaBreakdown area(const AcceleratorConfig& config, const Technology& technology);

}  // namespace hindsight::accel

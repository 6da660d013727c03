/// Where a chip that one can hold would stand in a design space that does not have it.
#pragma once

#include <string>
#include <vector>

#include "hindsight/accel/config.h"
#include "hindsight/space/design_space.h"

namespace hindsight::accel {

/// A property in which a design differs from its chip.
struct Approximation {
  std::string property;  ///< a field of AcceleratorConfig
  std::string of_chip, of_design;
};

struct NearestDesign {
  space::Design design;
  /// Parameters in the order of the space, then what all designs of the space have otherwise than the chip.
  std::vector<Approximation> differences;
};

/// By every parameter on its own the value whose ratio to the chip's is nearest to 1; of two equally near the smaller.
/// Of formats and of kinds of DRAM the chip's own, else the most similar (nearest_precision(), nearest_dram_type()).
/// Devices: as many as move what the chip's DRAM moves, of the numbers that break no constraint where there is one; the
/// bandwidth is then what differs.
/// Error{usage} where the design breaks a constraint of the space, or the space is not of the template (ConfigBinding).
[[nodiscard]] NearestDesign nearest_design(const ReferenceChip& chip, const space::DesignSpace& space);

}  // namespace hindsight::accel

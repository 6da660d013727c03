/// Which CUDA devices there are. Private to the CUDA part of the measure layer.
#pragma once

#include <string>

namespace hindsight::measure {

/// Devices found, or the clause that says why none is.
[[nodiscard]] int count_devices(std::string& problem);

/// Error{unavailable} "cannot <doing>: ..." without a device, Error{usage} for a number that does not exist.
void select_device(int device, const std::string& doing);

}  // namespace hindsight::measure

/// A spec sheet from measurements: how a GPU that nobody has described becomes one that `gemm` and `calibrate` know.
#pragma once

#include <string>

#include "hindsight/gpu/spec.h"
#include "hindsight/measure/json_lines.h"

namespace hindsight::measure {

/// The spec of the measured device.
///
/// Rates per clock and SM are powers of two in hardware: the nearest power of two replaces a measured rate that lies
/// within kRateSlack of it, because a kernel loses a few per cent. DRAM bandwidth is that of the bus (two transfers per
/// memory clock), of which a kernel reaches some 90 %, or the measured one where the clock is not known. L2 bandwidth
/// is the best of the sizes measured. Die area and node stay unknown.
/// Errors: Error{usage} naming what was not measured.
[[nodiscard]] gpu::GpuSpec spec_of(const SessionRecords& records, const std::string& name);

inline constexpr double kRateSlack = 0.15;  ///< [chosen] neighbouring powers of two are far apart: 0.15 confuses none

/// The sheet as YAML in the format of data/gpus, with device, driver and date as its source.
[[nodiscard]] std::string sheet_yaml(const SessionRecords& records, const std::string& name);

/// Several sessions on one device as one: the facts of the last, the quantities of all, the latest value of each.
/// Errors: Error{usage} without a session, or with sessions of different devices.
[[nodiscard]] SessionRecords merged(const std::vector<SessionRecords>& sessions);

}  // namespace hindsight::measure

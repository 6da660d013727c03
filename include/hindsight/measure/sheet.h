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
///
/// The highest clock is the highest that was seen while something ran, because what the driver allows is more than many
/// boards ever reach; without any reading it is the driver's. Idle power: readings at clocks within kSameClock are one
/// point, their mean, and where power falls with the clock (two ways to be idle, noise) neighbours are pooled until it
/// does not; readings without a clock count only where there is no other, at the highest clock.
/// Errors: Error{usage} naming what was not measured, or what no board can be (0 SMs, idle power above the limit).
[[nodiscard]] gpu::GpuSpec spec_of(const SessionRecords& records, const std::string& name);

inline constexpr double kRateSlack = 0.15;  ///< [chosen] neighbouring powers of two are far apart: 0.15 confuses none

inline constexpr double kSameClock = 0.02;  ///< [chosen] means of one clock's readings differ by less

/// The sheet as YAML in the format of data/gpus, with device, driver and date as its source. It has been read back:
/// gpu::parse_gpu takes it. Errors: as spec_of, and Error{usage} for a number outside what a sheet may hold.
[[nodiscard]] std::string sheet_yaml(const SessionRecords& records, const std::string& name);

/// Several sessions on one device as one: the facts of the last, the quantities of all, the latest value of each.
/// Errors: Error{usage} without a session, or with sessions of different devices.
[[nodiscard]] SessionRecords merged(const std::vector<SessionRecords>& sessions);

}  // namespace hindsight::measure

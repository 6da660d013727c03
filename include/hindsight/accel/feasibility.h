/// Feasibility: the checks that a hardware generator, a floorplanner and a compiler make.
///
/// Each check compares one quantity with one limit and, when it fails, names the nearest value of one parameter that
/// would pass with all others kept. The hardware checks need no network; the compiler's checks need a mapping.
#pragma once

#include <optional>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/spatial.h"
#include "hindsight/accel/tiling.h"

namespace hindsight::accel {

/// Accumulators: every lane of every core needs two int32 accumulators, one filling while the other drains.
/// Equation: 2 * cores * lanes <= activation memory entries.
[[nodiscard]] std::optional<Violation> check_accumulators(const AcceleratorConfig& config);

/// SRAM bandwidth: the lanes of a core use macs_per_lane weight bytes each per cycle, read once for every `reuse`
/// pixels that the accumulators hold; the core memory's port delivers its bytes per cycle.
/// Equation: lanes * macs_per_lane / floor(entries / (2 * cores * lanes)) <= port bytes per cycle.
[[nodiscard]] std::optional<Violation> check_sram_bandwidth(const AcceleratorConfig& config);

/// Version 1: delay of a multicast that passes `taps` PEs `pitch_mm` apart, down the column trunk, then along one row
/// bus. It must arrive within one cycle, because all PEs that share an operand take it in the same cycle.
///
/// Equation: delay = flop overhead + taps * (tap delay + pitch * wire delay), taps = pes_x + pes_y.
/// Ignores: pipelined multicast trees, which would cost registers in every PE and skew the PEs.
[[nodiscard]] double multicast_delay_ns(double taps, double pitch_mm, const Technology& technology);
/// The nearest passing value is that of the longer axis; the pitch does not depend on it.
[[nodiscard]] std::optional<Violation> check_noc_timing(const ChipFacts& chip, const Technology& technology);

/// Power density, version 1: peak power of the PE array over its area against what passive cooling removes.
[[nodiscard]] std::optional<Violation> check_power_density(const ChipFacts& chip, double pe_array_w,
                                                           const Technology& technology,
                                                           Remedies remedies = Remedies::named);

/// Clock, version 2: what multipliers and SRAM banks of the node reach; distance never sets it.
[[nodiscard]] std::optional<Violation> check_clock(const AcceleratorConfig& config, const Technology& technology);

/// Cooling, version 2: peak power of the chip against what its cooling class removes. A chip that is too hot for its
/// area is no violation: its die has white space (AreaBreakdown::cooling_mm2).
[[nodiscard]] std::optional<Violation> check_cooling(const ChipFacts& chip, const Technology& technology,
                                                     Remedies remedies = Remedies::named);

/// Reticle: the die must fit one exposure field.
[[nodiscard]] std::optional<Violation> check_reticle(const ChipFacts& chip, const Technology& technology,
                                                     Remedies remedies = Remedies::named);

}  // namespace hindsight::accel

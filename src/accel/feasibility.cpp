/// The checks that need no network.
#include "hindsight/accel/feasibility.h"

#include <algorithm>
#include <cmath>

#include "hindsight/accel/energy.h"
#include "hindsight/accel/template_constants.h"

namespace hindsight::accel {
namespace {

/// A number of PEs that passes, or nothing: a grid without PEs is no design.
std::optional<double> at_least_one(double pes) { return pes >= 1 ? std::optional(pes) : std::nullopt; }

/// Watts of the chip's PE array above what its area lets through, had it `lanes` lanes.
double excess_w(const ChipFacts& chip, double lanes, const Technology& technology) {
  AcceleratorConfig config = chip.config;
  config.compute_lanes = lanes;
  const AreaBreakdown array_area = area_with_logic(chip.area, config, technology);
  const double leakage_w =
      chip.leakage_w + (logic_idle_w(array_area, config, technology) - logic_idle_w(chip.area, config, technology));
  const EventEnergy event = event_energy(config, 0, technology);  // the pitch is for the NoC, which is not the array's
  const double limit_w = technology.power_density_limit_w_per_mm2 * config.pes() * array_area.pe_mm2;
  return pe_array_peak_w(config, chip, event, leakage_w) - limit_w;
}

/// Watts of the chip above what its cooling class removes, had it `lanes` lanes. `fewer`: a copy of the chip, of which
/// that one is made.
double excess_heat_w(const ChipFacts& chip, double lanes, const Technology& technology, ChipFacts& fewer) {
  AcceleratorConfig& config = fewer.config;
  config.compute_lanes = lanes;
  fewer.area = area_with_logic(chip.area, config, technology);
  fewer.leakage_w =
      chip.leakage_w + (logic_idle_w(fewer.area, config, technology) - logic_idle_w(chip.area, config, technology));
  fewer.event = event_energy(config, std::sqrt(fewer.area.pe_mm2), technology);
  return peak_power(fewer).chip_w - technology.cooling_of(config.cooling).most_w;
}

/// The most lanes below the chip's own with which `excess(lanes)` watts are none; nothing when none passes. The chip
/// itself takes `power_w`, `over_w` too much.
///
/// Power and area are straight lines over lanes (power over the NoC's longer wires almost), so their excess is one: it
/// crosses zero once, and the numbers from there on are tried. Only where it hardly changes, so that rounding could
/// bend it, are all.
template <class Excess>
std::optional<double> most_lanes_that_pass(const ChipFacts& chip, double power_w, double over_w, double bend_lanes,
                                           const Excess& excess) {
  constexpr double kStraight = 1e-6;  // [chosen] of the power: far above rounding, far below what a lane takes
  constexpr double kMargin = 1e-3;    // [chosen] lanes; at least 1,000 times what rounding moves the crossing
  double lanes = chip.config.compute_lanes - 1.0;
  if (lanes < 1.0) return std::nullopt;
  const double at_one_w = excess(1.0);
  if (over_w - at_one_w > kStraight * power_w) {
    if (at_one_w > 0) return std::nullopt;
    const double crossing = 1.0 - lanes * at_one_w / (over_w - at_one_w);
    lanes = std::min(lanes, lanes - std::ceil(lanes - crossing - kMargin) + bend_lanes);
  }
  while (lanes >= 1.0 && excess(lanes) > 0) lanes -= 1.0;
  return lanes >= 1.0 ? std::optional(lanes) : std::nullopt;
}

/// The most PEs in y with which a chip that is too large fits the field; below 1: none.
double most_rows_in_reticle(const ChipFacts& chip, const Technology& technology) {
  if (technology.is_version_1()) {
    const double shared_mm2 = chip.area.total_mm2() - chip.config.pes() * chip.area.pe_mm2;
    const double column_mm2 = chip.config.pes_x * chip.area.pe_mm2;
    return std::floor((technology.reticle_limit_mm2 - shared_mm2) / column_mm2);
  }
  // White space for heat grows with the grid, too.
  AcceleratorConfig config = chip.config;
  do {
    config.pes_y -= 1.0;
  } while (config.pes_y >= 1.0 &&
           unchecked_chip_facts(config, technology).area.total_mm2() > technology.reticle_limit_mm2);
  return config.pes_y;
}

}  // namespace

std::optional<Violation> check_accumulators(const AcceleratorConfig& config) {
  const double needed = 2.0 * config.cores_per_pe * config.compute_lanes;
  if (needed <= config.activation_memory_entries) return std::nullopt;
  return Violation{.reason = Reason::accumulators,
                   .value = needed,
                   .limit = config.activation_memory_entries,
                   .nearest_passing = needed,
                   .parameter = "activation_memory_entries"};
}

std::optional<Violation> check_sram_bandwidth(const AcceleratorConfig& config) {
  const double reuse = std::max(
      1.0, accumulator_reuse(config.activation_memory_entries / (2.0 * config.cores_per_pe), config.compute_lanes));
  const double lane_bytes = config.compute_lanes * config.macs_per_lane * config.operand_bytes();
  const double needed_bytes = lane_bytes / reuse;
  if (needed_bytes <= config.core_memory_port_bytes) return std::nullopt;
  const double needed_reuse = std::ceil(lane_bytes / config.core_memory_port_bytes);
  return Violation{.reason = Reason::sram_bandwidth,
                   .value = needed_bytes,
                   .limit = config.core_memory_port_bytes,
                   .nearest_passing = 2.0 * config.cores_per_pe * config.compute_lanes * needed_reuse,
                   .parameter = "activation_memory_entries"};
}

double multicast_delay_ns(double taps, double pitch_mm, const Technology& technology) {
  constexpr double kNsPerPs = 1e-3;
  return kNsPerPs *
         (technology.flop_overhead_ps + taps * (technology.tap_delay_ps + pitch_mm * technology.wire_delay_ps_per_mm));
}

std::optional<Violation> check_noc_timing(const ChipFacts& chip, const Technology& technology) {
  const double period_ns = 1e3 / chip.config.clock_mhz;
  if (chip.multicast_delay_ns <= period_ns) return std::nullopt;
  const double longer = std::max(chip.config.pes_x, chip.config.pes_y);
  const double shorter = std::min(chip.config.pes_x, chip.config.pes_y);
  const double per_tap_ps = technology.tap_delay_ps + chip.pe_pitch_mm * technology.wire_delay_ps_per_mm;
  const double most_taps = std::floor((period_ns * 1e3 - technology.flop_overhead_ps) / per_tap_ps);
  return Violation{.reason = Reason::noc_timing,
                   .value = chip.multicast_delay_ns,
                   .limit = period_ns,
                   .nearest_passing = at_least_one(std::min(most_taps - shorter, longer)),
                   .parameter = chip.config.pes_x >= chip.config.pes_y ? "pes_x" : "pes_y"};
}

std::optional<Violation> check_power_density(const ChipFacts& chip, double pe_array_w, const Technology& technology,
                                             Remedies remedies) {
  const double array_mm2 = chip.config.pes() * chip.area.pe_mm2;
  const double density = pe_array_w / array_mm2;
  const double limit = technology.power_density_limit_w_per_mm2;
  if (density <= limit) return std::nullopt;
  Violation violation{.reason = Reason::power_density, .value = density, .limit = limit, .parameter = "compute_lanes"};
  if (remedies == Remedies::left_out) return violation;
  violation.nearest_passing = most_lanes_that_pass(chip, pe_array_w, pe_array_w - limit * array_mm2, 0,
                                                   [&](double lanes) { return excess_w(chip, lanes, technology); });
  return violation;
}

std::optional<Violation> check_clock(const AcceleratorConfig& config, const Technology& technology) {
  if (config.clock_mhz <= technology.max_clock_mhz) return std::nullopt;
  return Violation{.reason = Reason::clock,
                   .value = config.clock_mhz,
                   .limit = technology.max_clock_mhz,
                   .nearest_passing = technology.max_clock_mhz,
                   .parameter = "clock_mhz"};
}

std::optional<Violation> check_cooling(const ChipFacts& chip, const Technology& technology, Remedies remedies) {
  constexpr double kBend = 2;  // [chosen] lanes; the NoC's wires grow with the square root of a tile, and are few watts
  const double limit_w = technology.cooling_of(chip.config.cooling).most_w;
  const double over_w = chip.peak_power_w - limit_w;
  if (over_w <= 0) return std::nullopt;
  Violation violation{
      .reason = Reason::cooling, .value = chip.peak_power_w, .limit = limit_w, .parameter = "compute_lanes"};
  if (remedies == Remedies::left_out) return violation;
  ChipFacts fewer = chip;
  violation.nearest_passing = most_lanes_that_pass(chip, chip.peak_power_w, over_w, kBend, [&](double lanes) {
    return excess_heat_w(chip, lanes, technology, fewer);
  });
  return violation;
}

std::optional<Violation> check_reticle(const ChipFacts& chip, const Technology& technology, Remedies remedies) {
  const double total_mm2 = chip.area.total_mm2();
  if (total_mm2 <= technology.reticle_limit_mm2) return std::nullopt;
  Violation violation{
      .reason = Reason::reticle, .value = total_mm2, .limit = technology.reticle_limit_mm2, .parameter = "pes_y"};
  if (remedies == Remedies::named) {
    violation.nearest_passing = at_least_one(most_rows_in_reticle(chip, technology));
  }
  return violation;
}

}  // namespace hindsight::accel

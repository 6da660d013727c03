/// The checks that need no network.
#include "hindsight/accel/feasibility.h"

#include <algorithm>
#include <cmath>

#include "hindsight/accel/energy.h"
#include "hindsight/accel/template_constants.h"
#include "hindsight/core/units.h"

namespace hindsight::accel {
namespace {

/// A number of PEs that passes, or nothing: a grid without PEs is no design.
std::optional<double> at_least_one(double pes) { return pes >= 1 ? std::optional(pes) : std::nullopt; }

/// Share of what a refused chip has within which the straight lines and curves of this file, right but for rounding, do
/// not decide on other chips: there their own facts do. [chosen] far above rounding.
constexpr double kUndecided = 1e-9;

/// Whether a chip passes that is over a limit by `over` and was made from one that has `own`; `as_built()` says it of
/// the chip itself.
template <class AsBuilt>
bool passes(double over, double own, const AsBuilt& as_built) {
  return std::abs(over) > kUndecided * own ? over < 0 : as_built();
}

/// What one lane more in every core adds to a chip, with as long wires: the slopes of area_with_logic() and
/// pe_array_peak_w().
struct LaneShare {
  double pe_logic_mm2;
  double array_w;  ///< peak power inside the PEs
};
LaneShare one_lane(const ChipFacts& chip, const Technology& technology) {
  const AcceleratorConfig& config = chip.config;
  const double bits = core_register_bits(2, config.macs_per_lane, config.operand_bytes()) -
                      core_register_bits(1, config.macs_per_lane, config.operand_bytes());
  const double um2 = config.macs_per_lane * technology.mac_um2(config.precision) + bits * technology.register_bit_um2;
  const double logic_mm2 = config.cores_per_pe * um2 * kMm2PerUm2 * (1.0 + technology.control_area_fraction);
  const double accumulator_pj =
      kAccumulatorBytes * (chip.activation_memory.read_pj_per_byte + chip.activation_memory.write_pj_per_byte);
  const double lane_pj = config.macs_per_lane * chip.event.mac_pj + bits * technology.register_bit_pj + accumulator_pj;
  const double busy_w = chip.event.peak_activity * config.cores_per_pe * lane_pj * units::kPico * config.clock_hz();
  return {.pe_logic_mm2 = logic_mm2, .array_w = config.pes() * (busy_w + logic_idle_w(logic_mm2, config, technology))};
}

/// Watts above a limit, of a chip and of those that have fewer lanes: a straight line, and the NoC's wires, which are
/// as long as a PE is wide.
struct LaneExcess {
  double lanes = 1;       ///< the chip's
  double over_w = 0;      ///< the chip's
  double w_per_lane = 0;  ///< without the wires
  double pitch_mm = 0;    ///< the chip's
  double pe_mm2_per_lane = 0;
  double wire_w_per_mm = 0;
  [[nodiscard]] double with(double some_lanes) const {
    const double fewer = lanes - some_lanes;
    const double shorter_mm = pitch_mm - std::sqrt(pitch_mm * pitch_mm - fewer * pe_mm2_per_lane);
    return over_w - fewer * w_per_lane - wire_w_per_mm * shorter_mm;
  }
};

/// The most lanes below the chip's own with which it passes; nothing when none does. `own_w`: what the chip takes;
/// `as_built`: whether a chip with the lanes that it is given passes.
///
/// The excess is no straight line but a concave curve that grows: from one lane on it lies above its chord, and what
/// passes lies before the chord's crossing of zero.
template <class AsBuilt>
std::optional<double> most_lanes_that_pass(const LaneExcess& excess, double own_w, const AsBuilt& as_built) {
  const double undecided_w = kUndecided * own_w;
  double lanes = excess.lanes - 1.0;
  if (lanes < 1.0) return std::nullopt;
  const double at_one_w = excess.with(1.0);
  if (at_one_w > undecided_w) return std::nullopt;
  const double rise_w = excess.over_w - at_one_w;
  // Where it hardly grows, all are tried.
  if (rise_w > undecided_w) lanes = excess.lanes - std::max(1.0, std::floor(lanes * excess.over_w / rise_w));
  const auto pass = [&](double some) { return passes(excess.with(some), own_w, [&] { return as_built(some); }); };
  while (lanes >= 1.0 && !pass(lanes)) lanes -= 1.0;
  return lanes >= 1.0 ? std::optional(lanes) : std::nullopt;
}

/// The chip with another value of one parameter.
ChipFacts rebuilt(const ChipFacts& chip, double AcceleratorConfig::*parameter, double value,
                  const Technology& technology) {
  AcceleratorConfig config = chip.config;
  config.*parameter = value;
  return unchecked_chip_facts(config, technology);
}

/// Die area of a chip with fewer rows of PEs: of its parts or, where that is more, what its heat needs (peak_power();
/// nothing in version 1), a curve of the second degree because every row adds PEs and makes the way to all of them
/// longer.
struct RowArea {
  double parts_mm2 = 0, parts_mm2_per_row = 0;  ///< of no row, and what each adds
  double heat_mm2 = 0, heat_mm2_per_row = 0, heat_mm2_per_row2 = 0;
  [[nodiscard]] double with(double rows) const {
    return std::max(parts_mm2 + rows * parts_mm2_per_row,
                    heat_mm2 + rows * (heat_mm2_per_row + rows * heat_mm2_per_row2));
  }
};
RowArea row_area(const ChipFacts& chip, const Technology& technology) {
  const AcceleratorConfig& config = chip.config;
  const double rows = config.pes_y;
  const double mm2_per_w = 1.0 / technology.cooling_of(config.cooling).w_per_mm2;
  const double per_busy_w = mm2_per_w / (1.0 - chip.event.idle_frac);
  const double hop_w = chip.event.peak_activity * config.noc_link_bytes * chip.event.noc_pj_per_hop_byte *
                       units::kPico * config.clock_hz();
  RowArea area{
      .parts_mm2_per_row = config.pes_x * chip.area.pe_mm2,
      .heat_mm2 = per_busy_w * units::kMilli * (chip.instruction_memory.leakage_mw + chip.shared_memory.leakage_mw),
      .heat_mm2_per_row2 = per_busy_w * hop_w / 2.0};  // mean_hops() counts half of the rows
  area.parts_mm2 = chip.area.total_mm2() - chip.area.cooling_mm2 - rows * area.parts_mm2_per_row;
  area.heat_mm2_per_row = (mm2_per_w * chip.die_peak_w - area.heat_mm2) / rows - rows * area.heat_mm2_per_row2;
  return area;
}

/// The most PEs in y with which a chip that is too large fits the field; below 1: none.
double most_rows_in_reticle(const ChipFacts& chip, const Technology& technology) {
  const double limit_mm2 = technology.reticle_limit_mm2;
  const RowArea area = row_area(chip, technology);
  const auto fits = [&](double rows) {
    return passes(area.with(rows) - limit_mm2, chip.area.total_mm2(), [&] {
      return rebuilt(chip, &AcceleratorConfig::pes_y, rows, technology).area.total_mm2() <= limit_mm2;
    });
  };
  // Whole rows are taken away, of a number of rows that need not be whole.
  double too_few = 0, enough = std::floor(chip.config.pes_y);
  while (enough - too_few > 1.0) {
    const double middle = std::floor((too_few + enough) / 2.0);
    (fits(chip.config.pes_y - middle) ? enough : too_few) = middle;
  }
  const double most = chip.config.pes_y - enough;
  return most >= 1.0 && fits(most) ? most : 0.0;
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
  std::optional<Violation> violation(
      {.reason = Reason::power_density, .value = density, .limit = limit, .parameter = "compute_lanes"});
  if (remedies == Remedies::left_out) return violation;
  const LaneShare lane = one_lane(chip, technology);
  const LaneExcess excess{.lanes = chip.config.compute_lanes,
                          .over_w = pe_array_w - limit * array_mm2,
                          .w_per_lane = lane.array_w - limit * chip.config.pes() * lane.pe_logic_mm2};
  violation->nearest_passing = most_lanes_that_pass(excess, pe_array_w, [&](double lanes) {
    const ChipFacts fewer = rebuilt(chip, &AcceleratorConfig::compute_lanes, lanes, technology);
    return !check_power_density(fewer, fewer.pe_array_peak_w, technology, Remedies::left_out);
  });
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
  const AcceleratorConfig& config = chip.config;
  const double limit_w = technology.cooling_of(config.cooling).most_w;
  const double over_w = chip.peak_power_w - limit_w;
  if (over_w <= 0) return std::nullopt;
  std::optional<Violation> violation(
      {.reason = Reason::cooling, .value = chip.peak_power_w, .limit = limit_w, .parameter = "compute_lanes"});
  if (remedies == Remedies::left_out) return violation;
  const LaneShare lane = one_lane(chip, technology);
  const double busy_frac = 1.0 - chip.event.idle_frac;  // of the die's power; all watts below are times this
  const double hop_bytes = config.noc_link_bytes * config.pes_y * mean_hops(config);  // as peak_power_around()
  const LaneExcess excess{.lanes = config.compute_lanes,
                          .over_w = busy_frac * over_w,
                          .w_per_lane = lane.array_w,
                          .pitch_mm = chip.pe_pitch_mm,
                          .pe_mm2_per_lane = lane.pe_logic_mm2 / technology.placement_fill,
                          .wire_w_per_mm = chip.event.peak_activity * hop_bytes * technology.noc_pj_per_byte_mm *
                                           units::kPico * config.clock_hz()};
  violation->nearest_passing = most_lanes_that_pass(excess, busy_frac * chip.peak_power_w, [&](double lanes) {
    const ChipFacts fewer = rebuilt(chip, &AcceleratorConfig::compute_lanes, lanes, technology);
    return !check_cooling(fewer, technology, Remedies::left_out);
  });
  return violation;
}

std::optional<Violation> check_reticle(const ChipFacts& chip, const Technology& technology, Remedies remedies) {
  const double total_mm2 = chip.area.total_mm2();
  if (total_mm2 <= technology.reticle_limit_mm2) return std::nullopt;
  std::optional<Violation> violation(
      {.reason = Reason::reticle, .value = total_mm2, .limit = technology.reticle_limit_mm2, .parameter = "pes_y"});
  if (remedies == Remedies::named) {
    violation->nearest_passing = at_least_one(most_rows_in_reticle(chip, technology));
  }
  return violation;
}

}  // namespace hindsight::accel

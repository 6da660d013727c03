/// Tables of memories, and chips put together from them.
#include "accel/optimum/chips.h"

#include <algorithm>
#include <cmath>

#include "hindsight/accel/energy.h"
#include "hindsight/accel/feasibility.h"
#include "hindsight/core/units.h"

namespace hindsight::accel::optimum {
namespace {

/// Which side of its limit a quantity is on, when rounding does not matter.
enum class Side { below, above, close };
Side side(double value, double limit) {
  if (value <= limit * (1.0 - kMargin)) return Side::below;
  return value > limit * (1.0 + kMargin) ? Side::above : Side::close;
}

/// The largest tile whose multicast still arrives within a cycle: multicast_delay_ns solved for the area. Negative:
/// none.
double most_pe_mm2(const AcceleratorConfig& config, const Technology& technology) {
  const double taps = config.pes_x + config.pes_y;
  const double period_ns = 1e3 / config.clock_mhz;
  const double at_no_pitch_ns = multicast_delay_ns(taps, 0, technology);
  const double per_mm_ns = multicast_delay_ns(taps, 1, technology) - at_no_pitch_ns;
  const double pitch_mm = (period_ns - at_no_pitch_ns) / per_mm_ns;
  return pitch_mm < 0 ? -1.0 : pitch_mm * pitch_mm;
}

}  // namespace

void Prices::lower(const Prices& other) {
  idle_w = std::min(idle_w, other.idle_w);
  parameter_read_pj = std::min(parameter_read_pj, other.parameter_read_pj);
  instruction_read_pj = std::min(instruction_read_pj, other.instruction_read_pj);
  noc_pj_per_hop_byte = std::min(noc_pj_per_hop_byte, other.noc_pj_per_hop_byte);
}

Chips::Chips(const Axes& axes, const Technology& technology, const FactLimits& limits)
    : axes_(axes), technology_(technology), limits_(limits) {
  limits_.area_mm2 = std::min(limits_.area_mm2, technology.reticle_limit_mm2);
  interfaces_mm2_ = technology.cooling_of(axes.config({}).cooling).interfaces_mm2;
  const auto facts_of = [&](Role role, std::size_t level, std::size_t cores = 0) {
    Point point{};
    at(point, Role::cores) = static_cast<std::uint16_t>(cores);
    at(point, role) = static_cast<std::uint16_t>(level);
    return exact(point);
  };
  const double pes = axes.config({}).pes();
  const double cores = pes * axes.config({}).cores_per_pe;
  for (std::size_t i = 0; i < axes.size(Role::pe_memory); ++i) {
    const ChipFacts chip = facts_of(Role::pe_memory, i);
    pe_.push_back({chip.pe_memory, chip.area.pe_memory_mm2 / pes});
  }
  for (std::size_t i = 0; i < axes.size(Role::core_memory); ++i) {
    const ChipFacts chip = facts_of(Role::core_memory, i);
    core_.push_back({chip.core_memory, chip.area.core_memory_mm2 / cores});
  }
  for (std::size_t i = 0; i < axes.size(Role::parameter); ++i) {
    const ChipFacts chip = facts_of(Role::parameter, i);
    parameter_.push_back({chip.parameter_memory, chip.area.parameter_memory_mm2 / pes});
  }
  for (std::size_t i = 0; i < axes.size(Role::instruction); ++i) {
    const ChipFacts chip = facts_of(Role::instruction, i);
    instruction_.push_back({chip.instruction_memory, chip.area.instruction_memory_mm2});
  }
  activation_.resize(axes.size(Role::cores));
  for (std::size_t c = 0; c < activation_.size(); ++c) {
    for (std::size_t i = 0; i < axes.size(Role::activation); ++i) {
      const ChipFacts chip = facts_of(Role::activation, i, c);
      activation_[c].push_back({chip.activation_memory, chip.area.activation_memory_mm2 / pes});
    }
  }
  for (std::size_t i = 0; i < axes.size(Role::bandwidth); ++i) {
    const ChipFacts chip = facts_of(Role::bandwidth, i);
    phy_mm2_.push_back(chip.area.dram_phy_mm2);
    dram_w_.push_back(chip.config.dram_bandwidth_gb_per_s * units::kGiga * chip.event.dram_pj_per_byte * units::kPico);
  }
}

ChipFacts Chips::exact(const Point& point) const {
  return chip_facts(axes_.config(point), technology_, Remedies::left_out);
}

bool Chips::passes(const Point& point) const {
  const ChipFacts chip = exact(point);
  return chip.violations.count == 0 && chip.area.total_mm2() <= limits_.area_mm2 &&
         chip.peak_power_w <= limits_.peak_power_w;
}

std::optional<Group> Chips::group(const Point& point) const {
  Group group;
  group.point = point;
  group.config = axes_.config(point);
  const AreaBreakdown parts = area(group.config, technology_);
  group.logic_mm2 = logic_mm2(parts);
  if (least_area_mm2(group, point) > limits_.area_mm2 * (1.0 + kMargin)) return std::nullopt;
  group.most_w = limits_.peak_power_w;
  if (technology_.is_version_1()) {
    group.most_pe_mm2 = most_pe_mm2(group.config, technology_);
  } else {
    if (check_clock(group.config, technology_)) return std::nullopt;
    const CoolingClass cooling = technology_.cooling_of(group.config.cooling);
    group.w_per_mm2 = cooling.w_per_mm2;
    group.most_w = std::min(group.most_w, cooling.most_w);
  }
  bool any = false;
  for (std::size_t i = 0; i < axes_.size(Role::activation); ++i) {
    AcceleratorConfig config = group.config;
    config.activation_memory_entries = axes_[Role::activation].values[i];
    group.accumulates.push_back(!check_accumulators(config) && !check_sram_bandwidth(config) ? 1 : 0);
    any = any || group.accumulates.back() != 0;
  }
  if (!any) return std::nullopt;
  group.logic_idle_w = logic_idle_w(group.logic_mm2, group.config, technology_);
  group.chip.config = group.config;
  group.chip.event = event_energy(group.config, 0, technology_);
  return group;
}

double Chips::least_area_mm2(const Group& group, const Point& point) const {
  const AcceleratorConfig& config = group.config;
  const double tile_mm2 =
      pe_[at(point, Role::pe_memory)].area_mm2 + config.cores_per_pe * core_[at(point, Role::core_memory)].area_mm2 +
      activation_[at(point, Role::cores)][at(point, Role::activation)].area_mm2 + parameter_.front().area_mm2;
  const double blocks_mm2 = group.logic_mm2 + config.pes() * tile_mm2 + instruction_.front().area_mm2;
  return blocks_mm2 / technology_.placement_fill + interfaces_mm2_ + phy_mm2_.front();
}

Core Chips::core(const Group& group, const Point& point) const {
  const Memory& pe = pe_[at(point, Role::pe_memory)];
  const Memory& weights = core_[at(point, Role::core_memory)];
  const Memory& activation = activation_[at(point, Role::cores)][at(point, Role::activation)];
  const double cores = group.config.cores_per_pe;
  const double pes = group.config.pes();
  Core core;
  core.pe_mm2 = (group.logic_mm2 / pes + pe.area_mm2 + cores * weights.area_mm2 + activation.area_mm2) /
                technology_.placement_fill;
  core.leakage_w =
      group.logic_idle_w +
      units::kMilli * pes * (pe.cost.leakage_mw + cores * (weights.cost.leakage_mw + activation.cost.leakage_mw));
  core.chip = group.chip;
  core.chip.config.pe_memory_bytes = axes_[Role::pe_memory].values[at(point, Role::pe_memory)];
  core.chip.config.core_memory_bytes = axes_[Role::core_memory].values[at(point, Role::core_memory)];
  core.chip.config.activation_memory_entries = axes_[Role::activation].values[at(point, Role::activation)];
  core.chip.pe_memory = pe.cost;
  core.chip.core_memory = weights.cost;
  core.chip.activation_memory = activation.cost;
  core.chip.leakage_w = core.leakage_w;
  core.array_w = peak_power(core.chip).pe_array_w;
  return core;
}

Whole Chips::whole(const Group& group, const Core& core, const Point& point) const {
  const Memory& parameter = parameter_[at(point, Role::parameter)];
  const Memory& instruction = instruction_[at(point, Role::instruction)];
  const double pes = group.config.pes();
  const double leakage_w = units::kMilli * (pes * parameter.cost.leakage_mw + instruction.cost.leakage_mw);
  const double pe_mm2 = core.pe_mm2 + parameter.area_mm2 / technology_.placement_fill;
  Whole whole{.pe_mm2 = pe_mm2,
              .area_mm2 = pes * pe_mm2 + instruction.area_mm2 / technology_.placement_fill + interfaces_mm2_,
              .leakage_w = core.leakage_w + leakage_w,
              .idle_w = core.leakage_w + leakage_w,
              .array_w = core.array_w + leakage_w};
  const double idle_frac = group.chip.event.idle_frac;
  if (idle_frac > 0) whole.idle_w += idle_frac * peak(group, whole, point).die_w;
  return whole;
}

PeakPower Chips::peak(const Group& group, const Whole& whole, const Point& point) const {
  AcceleratorConfig config = group.config;
  config.dram_bandwidth_gb_per_s = axes_[Role::bandwidth].values[at(point, Role::bandwidth)];
  return peak_power_around(config, whole.array_w, event_energy(config, std::sqrt(whole.pe_mm2), technology_));
}

double Chips::area_mm2(const Group& group, const Whole& whole, const Point& point) const {
  const double built = built_mm2(whole, at(point, Role::bandwidth));
  if (technology_.is_version_1()) return built;
  return std::max(built, peak(group, whole, point).die_w / group.w_per_mm2);
}

Prices Chips::prices(const Group& group, const Whole& whole, const Point& point) const {
  return {.idle_w = whole.idle_w,
          .parameter_read_pj = parameter_[at(point, Role::parameter)].cost.read_pj_per_byte,
          .instruction_read_pj = instruction_[at(point, Role::instruction)].cost.read_pj_per_byte,
          .noc_pj_per_hop_byte = event_energy(group.config, std::sqrt(whole.pe_mm2), technology_).noc_pj_per_hop_byte};
}

std::size_t Chips::bandwidths(const Group& group, const Core& core, const Point& point) const {
  const Whole chip = whole(group, core, point);
  // Of the power only DRAM's share depends on the bandwidth.
  const bool limited = std::isfinite(group.most_w);
  const double die_w = limited ? peak(group, chip, point).die_w : 0.0;
  bool close = false;
  if (technology_.is_version_1()) {
    const double density_limit_w = technology_.power_density_limit_w_per_mm2 * group.config.pes() * chip.pe_mm2;
    const Side density = side(chip.array_w, density_limit_w);
    const Side timing = side(chip.pe_mm2, group.most_pe_mm2);
    if (density == Side::above || timing == Side::above) return 0;
    close = density == Side::close || timing == Side::close;
  } else {
    const Side heat = side(die_w, limits_.area_mm2 * group.w_per_mm2);
    if (heat == Side::above) return 0;
    close = heat == Side::close;
  }
  std::size_t count = 0;
  for (Point with = point; count < phy_mm2_.size(); ++count) {
    at(with, Role::bandwidth) = static_cast<std::uint16_t>(count);
    const Side size = side(built_mm2(chip, count), limits_.area_mm2);
    const Side power = limited ? side(die_w + dram_w_[count], group.most_w) : Side::below;
    if (size == Side::above || power == Side::above) break;
    if ((close || size == Side::close || power == Side::close) && !passes(with)) break;
  }
  return count;
}

}  // namespace hindsight::accel::optimum

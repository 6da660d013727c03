/// Facts of chips from tables: area, power and the hardware's checks at a few operations per design.
///
/// Every table entry comes from `chip_facts` of one chip; what is put together here differs from `chip_facts` of the
/// whole chip by rounding only (separable_facts of structure.h). Where a check is that close to its limit, `chip_facts`
/// decides.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "accel/optimum/axes.h"
#include "hindsight/accel/energy.h"

namespace hindsight::accel::optimum {

/// Nothing is as large: where the smallest of something is looked for, and where there is no limit.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Limits on what the design alone decides.
struct FactLimits {
  double area_mm2 = 0;
  double peak_power_w = 0;
};

/// What the chips of one group (clock, PEs, cores, lanes) share.
struct Group {
  Point point{};
  AcceleratorConfig config;
  double logic_mm2 = 0;  ///< multipliers, registers, NoC, control, engines
  double logic_idle_w = 0;
  double most_pe_mm2 = 0;         ///< version 1: tiles above this are too far apart for the clock
  double most_w = 0;              ///< peak power that limits and cooling let through
  double w_per_mm2 = 0;           ///< version 2: peak power without DRAM that a square millimetre of die removes
  ChipFacts chip;                 ///< with config, event energies but for the NoC, nothing else
  std::vector<char> accumulates;  ///< per level of the activation memory: the checks that need nothing else pass
};

/// A chip without its parameter memory, instruction memory and DRAM interface.
struct Core {
  double pe_mm2 = 0;
  double leakage_w = 0;
  double array_w = 0;  ///< peak, leakage included
  ChipFacts chip;      ///< for peak power
};

/// The chip but for the bandwidth.
struct Whole {
  double pe_mm2 = 0;
  double area_mm2 = 0;
  double leakage_w = 0;
  double idle_w = 0;  ///< ChipFacts::idle_w
  double array_w = 0;
};

/// What accesses cost that depends on the whole chip, or the least that they cost on several chips.
struct Prices {
  double idle_w = 0;
  double parameter_read_pj = 0, instruction_read_pj = 0;
  double noc_pj_per_hop_byte = 0;
  /// Each the smaller of both.
  void lower(const Prices& other);
};

class Chips {
 public:
  Chips(const Axes& axes, const Technology& technology, const FactLimits& limits);

  /// Nothing when no chip of the group fits the limits.
  [[nodiscard]] std::optional<Group> group(const Point& point) const;
  /// Area of a chip from the parts of its axes; `core` with the levels of its memories.
  [[nodiscard]] Core core(const Group& group, const Point& point) const;
  /// Area of the smallest chip that contains these memories, DRAM interface included.
  [[nodiscard]] double least_area_mm2(const Group& group, const Point& point) const;
  [[nodiscard]] double most_area_mm2() const { return limits_.area_mm2; }
  [[nodiscard]] Whole whole(const Group& group, const Core& core, const Point& point) const;
  /// Without white space for heat.
  [[nodiscard]] double built_mm2(const Whole& whole, std::size_t bandwidth) const {
    return whole.area_mm2 + phy_mm2_[bandwidth];
  }
  /// With it; `point`: the whole chip.
  [[nodiscard]] double area_mm2(const Group& group, const Whole& whole, const Point& point) const;
  /// Upper bounds of bandwidth levels: the first `n` pass all checks and limits; point's bandwidth is not read. Exact.
  [[nodiscard]] std::size_t bandwidths(const Group& group, const Core& core, const Point& point) const;
  /// Peak power, from the parts.
  [[nodiscard]] PeakPower peak(const Group& group, const Whole& whole, const Point& point) const;
  [[nodiscard]] double peak_power_w(const Group& group, const Whole& whole, const Point& point) const {
    return peak(group, whole, point).chip_w;
  }
  /// Facts of the memories that `point` chooses, for the energies of a chip.
  [[nodiscard]] ChipFacts exact(const Point& point) const;
  [[nodiscard]] Prices prices(const Group& group, const Whole& whole, const Point& point) const;
  [[nodiscard]] const Technology& technology() const { return technology_; }

 private:
  struct Memory {
    SramCost cost;
    double area_mm2 = 0;
  };
  [[nodiscard]] bool passes(const Point& point) const;

  const Axes& axes_;
  const Technology& technology_;
  FactLimits limits_;
  std::vector<Memory> pe_, core_, parameter_, instruction_;
  std::vector<std::vector<Memory>> activation_;  ///< by cores, then level
  std::vector<double> phy_mm2_, dram_w_;         ///< by bandwidth
  double interfaces_mm2_ = 0;
};

}  // namespace hindsight::accel::optimum

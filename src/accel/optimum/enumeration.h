/// Every chip of a question that passes the hardware's checks and the limits on facts, in the order of the axes.
#pragma once

#include "accel/optimum/chips.h"

namespace hindsight::accel::optimum {

/// Calls visit(point, core) for all memories of a group with a parameter and an instruction memory that fit the limits.
template <class Visit>
void for_each_core(const Axes& axes, const Chips& chips, const Group& group, const Visit& visit) {
  Point point = group.point;
  for (std::size_t pe = 0; pe < axes.size(Role::pe_memory); ++pe) {
    at(point, Role::pe_memory) = static_cast<std::uint16_t>(pe);
    for (std::size_t weights = 0; weights < axes.size(Role::core_memory); ++weights) {
      at(point, Role::core_memory) = static_cast<std::uint16_t>(weights);
      for (std::size_t sums = 0; sums < axes.size(Role::activation); ++sums) {
        at(point, Role::activation) = static_cast<std::uint16_t>(sums);
        if (group.accumulates[sums] == 0) continue;
        if (chips.least_area_mm2(group, point) > chips.most_area_mm2() * (1.0 + kMargin)) break;
        visit(point, chips.core(group, point));
      }
    }
  }
}

/// Calls visit(point with a pair, bandwidths) for every pair of parameter and instruction memory, where the first
/// `bandwidths` levels of the bandwidth are allowed.
template <class Visit>
void for_each_pair(const Axes& axes, const Chips& chips, const Group& group, const Core& core, Point point,
                   const Visit& visit) {
  for (std::size_t p = 0; p < axes.size(Role::parameter); ++p) {
    at(point, Role::parameter) = static_cast<std::uint16_t>(p);
    for (std::size_t i = 0; i < axes.size(Role::instruction); ++i) {
      at(point, Role::instruction) = static_cast<std::uint16_t>(i);
      visit(point, chips.bandwidths(group, core, point));
    }
  }
}

}  // namespace hindsight::accel::optimum

/// Every chip of a question that is legal and passes the hardware's checks and the limits on facts and derived
/// quantities, in the order of the axes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "accel/optimum/chips.h"
#include "accel/optimum/legality.h"

namespace hindsight::accel::optimum {

/// Calls visit(point, core) for all memories of a group with a parameter and an instruction memory that fit the limits.
template <class Visit>
void for_each_core(const Axes& axes, const Legality& legality, const Chips& chips, const Group& group,
                   const Visit& visit) {
  Point point = group.point;
  for (std::size_t pe = 0; pe < axes.size(Role::pe_memory); ++pe) {
    at(point, Role::pe_memory) = static_cast<std::uint16_t>(pe);
    for (std::size_t weights = 0; weights < axes.size(Role::core_memory); ++weights) {
      at(point, Role::core_memory) = static_cast<std::uint16_t>(weights);
      for (std::size_t sums = 0; sums < axes.size(Role::activation); ++sums) {
        at(point, Role::activation) = static_cast<std::uint16_t>(sums);
        if (group.accumulates[sums] == 0 || !legality.allows(Fixed::memories, point)) continue;
        if (chips.least_area_mm2(group, point) > chips.most_area_mm2() * (1.0 + kMargin)) break;
        visit(point, chips.core(group, point));
      }
    }
  }
}

/// Calls visit(point with a pair, bandwidths) for every pair of parameter and instruction memory, where no level of the
/// bandwidth behind the first `bandwidths` is allowed. Of these all are, unless rules ask for the bandwidth
/// (Legality::decides_bandwidth()).
template <class Visit>
void for_each_pair(const Axes& axes, const Legality& legality, const Chips& chips, const Group& group, const Core& core,
                   Point point, const Visit& visit) {
  for (std::size_t p = 0; p < axes.size(Role::parameter); ++p) {
    at(point, Role::parameter) = static_cast<std::uint16_t>(p);
    for (std::size_t i = 0; i < axes.size(Role::instruction); ++i) {
      at(point, Role::instruction) = static_cast<std::uint16_t>(i);
      const std::size_t count = legality.allows(Fixed::pair, point) ? chips.bandwidths(group, core, point) : 0;
      visit(point, legality.bandwidths(point, count));
    }
  }
}

/// A chip but for its bandwidth, instruction memory and, in version 1, parameter memory.
struct BuildableChip {
  Point point{};  ///< version 2: with the level of the parameter memory
  Core core;
  std::uint16_t bandwidths = 0;  ///< the levels up to the last that is allowed; at least one
};

/// The chips of one group that can be built.
struct GroupChips {
  std::vector<BuildableChip> chips;
  std::vector<std::uint16_t>
      allowed;            ///< likewise by chip, parameter and instruction memory; 0: none, or another chip's
  std::size_t pairs = 0;  ///< of parameter and instruction memory
  [[nodiscard]] std::span<const std::uint16_t> allowed_of(std::size_t chip) const {
    return std::span(allowed).subspan(chip * pairs, pairs);
  }
};

/// All chips of a group that can be built, into `found`, whose memory is used again.
inline void list_chips(const Axes& axes, const Legality& legality, const Chips& chips, const Group& group,
                       GroupChips& found) {
  found.chips.clear();
  found.allowed.clear();
  found.pairs = axes.size(Role::parameter) * axes.size(Role::instruction);
  if (!legality.allows(Fixed::group, group.point)) return;
  const std::size_t instructions = axes.size(Role::instruction);
  const bool by_parameter = group.config.rules.constants_in_halves;
  std::vector<std::uint16_t> pairs;
  for_each_core(axes, legality, chips, group, [&](const Point& point, const Core& core) {
    pairs.clear();
    for_each_pair(axes, legality, chips, group, core, point,
                  [&](const Point&, std::size_t count) { pairs.push_back(static_cast<std::uint16_t>(count)); });
    const std::size_t step = by_parameter ? instructions : found.pairs;
    for (std::size_t first = 0; first < found.pairs; first += step) {
      const auto begin = pairs.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = begin + static_cast<std::ptrdiff_t>(step);
      const std::uint16_t bandwidths = *std::max_element(begin, end);
      if (bandwidths == 0) continue;
      found.allowed.resize(found.allowed.size() + found.pairs, 0);
      std::copy(begin, end, found.allowed.end() - static_cast<std::ptrdiff_t>(found.pairs - first));
      found.chips.push_back({.point = point, .core = core, .bandwidths = bandwidths});
      at(found.chips.back().point, Role::parameter) = static_cast<std::uint16_t>(first / instructions);
    }
  });
}

}  // namespace hindsight::accel::optimum

/// A latency that no design of a space is below: for spaces that are too large, or too rich, for the exact optimum.
///
/// Model: best first branch and bound over boxes of levels, each parameter's levels halved. No mapping is searched: a
/// box is bounded by the time of arithmetic, DRAM traffic, the NoC's row buses and vector work (`bounds.h`) of a chip
/// with the box's largest value of every number and the best of its names, but with no more products per second than
/// what is left of the area and of the watts lets it have:
///
///   MACs <= ((area - area_0) * fill + array area_0) / area per MAC
///   MACs * clock <= (W - W_0 + array W_0) / energy per MAC
///
/// where _0 is the box's smallest design, array area and array W what grows with the MACs (they, registers, core
/// memories; of the area PEs, too), area and W what limits, field and cooling allow, and area and energy per MAC the
/// least in the box, with a MAC's share of its core and PE.
/// Neither area nor peak power falls when a parameter grows (`metrics.h`), and no time of the bound grows with one.
/// Valid for: every space that describes the template, with constraints. Ignores: limits other than those of area and
/// peak power, and derived quantities; a bound without them is a bound.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "hindsight/accel/optimum/optimum.h"

namespace hindsight::accel::optimum {

/// [chosen] Boxes that are split: half a minute for a dozen networks.
inline constexpr std::uint64_t kMostSplits = 20'000;

struct Floor {
  double latency_s = 0;      ///< aggregated as the question says; infinity: no design meets area, watts and constraints
  std::uint64_t splits = 0;  ///< boxes that were split
  bool closed = false;       ///< no box below the known value is left: nothing is better than it, less kMargin
  bool interrupted = false;
  /// A single design that was reached and is better than the known value, and its latency.
  std::optional<space::Design> better = std::nullopt;
  double better_s = std::numeric_limits<double>::infinity();
};
/// `known_s`: the value of a feasible design, or infinity. `watch` sees the bound and `known_s`; false ends it.
/// Precondition: the question's goal is the latency.
[[nodiscard]] Floor latency_floor(const Question& question, double known_s, std::uint64_t most_splits = kMostSplits,
                                  const Watch& watch = {});

/// The question's value of a design, by the ordinary `evaluate`; nothing where it is infeasible or misses a limit.
/// `evaluations`, when given, gets those of all networks.
[[nodiscard]] std::optional<double> value_of(const Question& question, const ConfigBinding& binding,
                                             const space::Design& design,
                                             std::vector<Evaluation>* evaluations = nullptr);

/// Combinations of the question's levels, legal or not; nothing above 2^63.
[[nodiscard]] std::optional<std::uint64_t> level_combinations(const Question& question);

/// Whether the exact search has bounds for all parameters of the space.
[[nodiscard]] bool has_exact_bounds(const space::DesignSpace& space);

}  // namespace hindsight::accel::optimum

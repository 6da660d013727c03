/// Fronts: the designs that no other design beats in every one of two or three metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/optimize/search.h"

namespace hindsight::optimize {

/// Most metrics of a front: more than three trade-offs nobody reads off a table.
inline constexpr std::size_t kMostMetrics = 3;
/// Metrics of one design, smaller is better; those beyond the ones asked for are 0 for every design.
using MetricValues = std::array<double, kMostMetrics>;

/// `a` is nowhere larger than `b` and somewhere smaller. Equal ones do not dominate each other.
[[nodiscard]] bool dominates(const MetricValues& a, const MetricValues& b);

/// Positions of the points that no other one dominates, by the first metric, then the second, the third. Of equal
/// points the first alone is kept. O(n log n).
[[nodiscard]] std::vector<std::size_t> non_dominated(std::span<const MetricValues> points);

/// Volume of what the points dominate below `reference` (area, for two metrics and a third reference of 1); points that
/// are not below it everywhere add nothing. O(n log n).
[[nodiscard]] double hypervolume(std::span<const MetricValues> points, const MetricValues& reference);

/// Positions (ascending) of at most `count` points of a front that stand for all: the smallest of each metric, then in
/// turn the point that adds most hypervolume to those chosen, each metric in shares of its range over the points.
[[nodiscard]] std::vector<std::size_t> representatives(std::span<const MetricValues> points, std::size_t count);

struct FrontMember {
  space::Design design;
  MetricValues metrics = {};
};
struct Front {
  std::vector<FrontMember> members;  ///< non-dominated among all feasible designs judged, by the first metric
  std::uint64_t evaluations = 0;
  Termination termination = Termination::evaluations_used;
};
/// The front of `metrics` (2 or 3) columns of Learned::metrics under the problem's constraints; its score is not looked
/// at. Of designs with equal metrics one is kept, that of the smallest levels. All starts of `options` are judged
/// first.
///
/// A space with no more allowed designs than evaluations is enumerated, and the front exact; so it is with
/// SearchKind::enumeration. Else non-dominated sorting with crowding distance [paper: deb-2002] and constraint
/// domination, and local search from the front found so far.
/// Deterministic for a given seed and for any number of threads. Error{usage} for the other kinds of search, and see
/// search(). No member when no feasible design was met.
[[nodiscard]] Front search_front(const Problem& problem, std::size_t metrics, const SearchOptions& options);

}  // namespace hindsight::optimize

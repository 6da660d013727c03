/// What a log gives to a search: designs to start from, and how far a proposal is from everything logged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/optimize/propose.h"

namespace hindsight::optimize {

/// The best logged feasible designs of the applications asked for (of all logged ones when none of them is in the
/// log) that are allowed and meet the cheap constraints: at most `count`, distinct, in turn from every application.
[[nodiscard]] std::vector<space::Design> logged_starts(const dataset::Dataset& logged, const Problem& problem,
                                                       const std::vector<dataset::Context>& contexts,
                                                       std::size_t count);

/// Positions of the applications among the contexts of `data`; none when one of them is not there.
[[nodiscard]] std::vector<std::int32_t> contexts_of(const dataset::Dataset& data,
                                                    const std::vector<std::string>& applications);

/// Hamming distance to the nearest logged row, feasible or not; nothing for an empty log.
[[nodiscard]] std::optional<std::size_t> nearest_logged_distance(const dataset::Dataset& logged,
                                                                 const space::Design& design);

/// A limit that designs keep which may be proposed: none of the log (only_new), none of `never`, and, with `by_facts`,
/// none that the log knows to be infeasible for an application that is asked for. Nothing where all may be.
[[nodiscard]] std::optional<Constraint> not_proposed(const ProposeOptions& options, bool by_facts);

}  // namespace hindsight::optimize

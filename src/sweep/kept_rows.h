/// Which rows of a sample stay: thresholds from the whole sample, and what they leave of a batch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/evaluator/evaluator.h"
#include "hindsight/sweep/sweep.h"
#include "sweep/registration.h"

namespace hindsight::sweep {

/// One threshold per network, from the objectives of the whole sample: evaluates every design of the sweep, and holds
/// 16 bytes per feasible row. Empty when interrupted. `options` have something to keep and no shards.
[[nodiscard]] std::vector<Threshold> fix_thresholds(const SweepOptions& options, unsigned threads);

/// Whether each of `rows` (designs x networks, the first design is number `first`) stays.
[[nodiscard]] std::vector<bool> which_stay(const SweepOptions& options, const std::vector<Threshold>& thresholds,
                                           std::span<const evaluator::Row> rows, std::uint64_t first);

}  // namespace hindsight::sweep

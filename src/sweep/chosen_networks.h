/// Which networks each design of a sweep is evaluated on, when not on all, and its rows on those.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/evaluator/evaluator.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::sweep {

/// Whether every design is evaluated on every network.
[[nodiscard]] bool takes_all_networks(const SweepOptions& options);
/// The places in `options.networks` of design `number`'s networks, ascending: a pure function of seed, number, and the
/// two counts, so that no shard, thread or interruption changes a row.
[[nodiscard]] std::vector<std::size_t> chosen_networks(const SweepOptions& options, std::uint64_t number);

/// Rows of designs (`levels`: n x p) each on its own networks (`chosen`: n x k): n x k.
[[nodiscard]] std::vector<evaluator::Row> evaluate_chosen(const SweepOptions& options,
                                                          std::span<const std::uint16_t> levels,
                                                          std::span<const std::size_t> chosen, unsigned threads);

}  // namespace hindsight::sweep

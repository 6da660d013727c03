/// --ranks of train: processes that take the same training steps together.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "hindsight/surrogate/train.h"

namespace hindsight::app {

struct RankWords {
  std::string ranks;       ///< "auto", "auto/N", "0/2"; empty: this process alone
  std::string rendezvous;  ///< file, or tcp://HOST:PORT
  double timeout_s = 120;
};
void add_rank_options(CLI::App& verb, RankWords& words);

/// The place among the ranks, as `train --shard` finds one among shards; nothing where no ranks are asked for. Error
/// {usage}: no place, no rendezvous, or one that is none.
[[nodiscard]] std::optional<surrogate::Ranks> ranks_of(const RankWords& words);

}  // namespace hindsight::app

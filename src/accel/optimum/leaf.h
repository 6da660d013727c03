/// One chip but for its parameter and instruction memory: compiled for once, then priced for every pair of these.
#pragma once

#include "hindsight/accel/evaluation.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel::optimum {

/// What a network needs of the two memories, and what it costs on a chip with those of `chip`.
struct Compiled {
  bool mapped = true;  ///< every layer has a mapping
  double constants = 0, instructions = 0;
  Metrics totals;
};
/// needs_ignore: the violations of a chip without these memories say how much is needed.
[[nodiscard]] Compiled compile(ChipFacts chip, const workload::Network& network);

/// proportional_energy: the metrics on `chip` of what was compiled for `reference`, which differs in these memories
/// only.
[[nodiscard]] Metrics priced(const Metrics& totals, const ChipFacts& reference, const ChipFacts& chip);

}  // namespace hindsight::accel::optimum

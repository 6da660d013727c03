/// One chip but for its parameter and instruction memory: compiled for once, then priced for every pair of these.
#pragma once

#include <optional>
#include <vector>

#include "accel/optimum/axes.h"
#include "hindsight/accel/evaluation.h"
#include "hindsight/workload/network.h"

namespace hindsight::accel::optimum {

/// What a network needs of the two memories, and what it costs on a chip with those of `chip`, which it was compiled
/// for.
struct Compiled {
  bool mapped = true;  ///< every layer has a mapping
  double constants = 0, instructions = 0;
  Metrics totals;
};
/// needs_ignore: the violations of a chip without these memories say how much is needed. Version 2, whose mapper asks
/// for the parameter memory: the larger half of it that some layer fills, of a chip with that of `chip`.
[[nodiscard]] Compiled compile(ChipFacts chip, const workload::Network& network);

/// All networks on one chip.
struct CompiledChip {
  ChipFacts reference;
  std::vector<Compiled> networks;
  [[nodiscard]] bool mapped() const;
  /// Entries of the parameter memory that the neediest takes.
  [[nodiscard]] double constants() const;
};

/// proportional_energy: the metrics on `chip` of what was compiled for `reference`, which differs in these memories
/// only.
[[nodiscard]] Metrics priced(const Metrics& totals, const ChipFacts& reference, const ChipFacts& chip);

/// A design by the ordinary `evaluate`: nothing when it is infeasible or misses a limit.
[[nodiscard]] std::optional<Ranked> confirm(const Question& question, const Axes& axes, const Point& point);

}  // namespace hindsight::accel::optimum

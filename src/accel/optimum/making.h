/// Going over every chip of a question, on the host or in batches on a device, with the same result.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "accel/optimum/chips.h"
#include "accel/optimum/keeper.h"
#include "accel/optimum/legality.h"

namespace hindsight::accel::optimum {

/// What is gone over, and what is kept.
struct Making {
  const Question& question;
  const Axes& axes;
  const Legality& legality;
  const Chips& chips;
  LandscapeMetrics metrics = LandscapeMetrics::latency;
  Keeps keeps = Keeps::records;
  unsigned threads = 1;
  const Watch& watch;
  std::uint64_t reserve = 0;  ///< bytes that the records will have, where they are counted
};
/// What was kept of all chips, in the order of the groups.
struct Made {
  std::string records;
  std::vector<LatencyTally> tallies;
  LandscapeSummary summary;  ///< `interrupted`: of a part
};

/// How many groups are gone over: those of the question's slice.
[[nodiscard]] std::uint64_t groups_of(const Making& making);

/// Groups between looks at the clock and Ctrl-C: 64 of the edge space, fewer of a finer one, two per thread at least.
[[nodiscard]] std::uint64_t groups_per_look(const Making& making);

/// One keeper per thread.
[[nodiscard]] std::vector<std::unique_ptr<Keeper>> make_keepers(const Making& making);
/// Adds up what the keepers counted.
void merge(const std::vector<std::unique_ptr<Keeper>>& keepers, Made& made);
/// False when the watch ends it; `settled` groups are done.
[[nodiscard]] bool goes_on(const Making& making, std::uint64_t settled);

/// By the reference path.
[[nodiscard]] Made make_on_host(const Making& making);
/// By an engine, which answers one batch while the host makes the next. Error{failure} from the engine.
[[nodiscard]] Made make_in_batches(const Making& making, SiteEngine& engine);
/// By the engine, or without one (null) by the reference path.
[[nodiscard]] Made make(const Making& making, SiteEngine* engine);

/// Bytes of the records of all chips; counting ends above `most`, or when the watch ends it.
struct RecordBytes {
  std::uint64_t bytes = 0;
  std::uint64_t groups = 0;  ///< that were counted
};
[[nodiscard]] RecordBytes count_record_bytes(const Making& making, std::uint64_t most);

}  // namespace hindsight::accel::optimum

/// What a sweep registers in its log before the first row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/log/log.h"
#include "hindsight/sweep/sweep.h"

namespace hindsight::sweep {

struct Registration {
  std::int64_t space_id = 0;
  std::int64_t evaluator_id = 0;
  std::vector<std::int64_t> workload_ids;
};
/// Error{usage}, and a log without a change, when it holds a space or workload of the same name with another
/// definition.
void refuse_conflicts(log::Log& log, const SweepOptions& options);
[[nodiscard]] Registration register_definitions(log::Log& log, const SweepOptions& options);

/// The options of a run as JSON, for `runs.options_json`.
[[nodiscard]] std::string options_json(const SweepOptions& options, const std::string& definition_hash);

/// Where the rows that stay begin, of one network: the row of this badness and number and all worse ones stay.
struct Threshold {
  double badness = 0;
  std::uint64_t number = 0;  ///< of the design in the sweep
  bool operator==(const Threshold&) const = default;
};

/// The checkpoint of a sweep.
struct Progressed {
  std::uint64_t candidates = 0, constrained = 0, repeated = 0, accepted = 0;
  std::uint64_t designs = 0;
  bool exhausted = false;
  std::vector<WorkloadCounts> workloads;
  std::vector<Threshold> thresholds = {};  ///< per network; empty without SweepOptions::keep
  std::optional<Found> found = {};         ///< of a search; nothing in logs of earlier versions
};
/// Before the first design: every network and every reason that is known, with counts of 0.
[[nodiscard]] Progressed nothing_yet(const SweepOptions& options);
/// Its counts as those of a summary.
void report(const Progressed& progressed, SweepSummary& summary);
/// "infeasible 81.2 %" for the progress line; empty before the first row.
[[nodiscard]] std::string note(const Progressed& progressed);
[[nodiscard]] std::string to_json(const Progressed& progressed);
/// Error{incompatible} naming `file` when the text is not a checkpoint of `workload_count` networks.
[[nodiscard]] Progressed parse_progressed(const std::string& text, const std::vector<workload::Network>& networks,
                                          const std::string& file);

}  // namespace hindsight::sweep

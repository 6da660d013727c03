/// Logs into one: shards of a sweep, or what several people measured.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/log/log.h"

namespace hindsight::log {

/// What happens to a row that contradicts one of the same design, workload, evaluator and repeat.
enum class Contradictions {
  refuse,      ///< Error{usage} naming the first of them; nothing is written
  keep_first,  ///< the row that was there, or came from an earlier log, stays; the others are counted
};
/// "error" and "first", as `log import --duplicates` has them. Error{usage} with the nearest name.
[[nodiscard]] Contradictions parse_contradictions(const std::string& name);

/// What one log brought.
struct MergedLog {
  std::filesystem::path file;
  std::uint64_t evaluations = 0;
  std::uint64_t designs = 0;
};

/// evaluations read = inserted + already_present + contradicting.
struct MergeResult {
  std::vector<MergedLog> inputs;
  bool created = false;               ///< the output was not there
  std::uint64_t inserted = 0;         ///< evaluations new to the output
  std::uint64_t already_present = 0;  ///< evaluations that it had, or that an earlier input brought
  std::uint64_t contradicting = 0;    ///< evaluations left out because the first was kept
  std::uint64_t designs = 0;          ///< designs new to the output
  [[nodiscard]] std::uint64_t read() const { return inserted + already_present + contradicting; }
};

/// Brings everything of `inputs` to `output`, which is created where it is missing: spaces, workloads, evaluators,
/// designs, evaluations, models and GPU sessions by their content, runs by their provenance, proposals with their runs,
/// the newest checkpoint of a key, and a run of kind `merge`. The content (log/content.h) does not depend on the number
/// or order of the inputs, and merging again adds nothing to it. Inputs are only read. All or nothing: an output that
/// is there changes in one transaction, a new one gets its name when it is whole. Errors: those of Log::open, for every
/// input before anything is written; Error{usage} for contradictions when they are refused, and for spaces or workloads
/// that share a name but not a definition; Error{incompatible} for an input that is damaged; Error{interrupted} after
/// Ctrl-C.
MergeResult merge_logs(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& output,
                       Contradictions contradictions, const Provenance& provenance);

}  // namespace hindsight::log

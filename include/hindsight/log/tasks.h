/// Work that a log on a server hands out: asked designs, each to one worker at a time.
///
/// A task is a proposal of `ask` (asked.h). A worker claims some by a lease, renews it while it works, stores the
/// evaluations and says that they are done. A worker that dies lets its lease end, and another one gets the task: every
/// task is done at least once, and an answer that comes late or twice changes nothing, because an evaluation is
/// identified by its content. Times are the server's: workers' clocks do not matter.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "hindsight/log/log.h"

namespace hindsight::log {

struct Task {
  std::int64_t proposal_id = 0;
  std::int64_t space_id = 0;
  std::string design_text_id;
  std::int64_t workload_id = 0;
  std::string workload;
  std::int64_t attempts = 1;  ///< how often it was handed out, this time included
};

/// Who answers: a name, and the hash of the definition of one version of it. Without the hash: those tasks alone that
/// any version may answer.
struct TaskEvaluator {
  std::string name;
  std::string definition = {};
};

struct TaskCounts {
  std::uint64_t open = 0;     ///< nobody has them
  std::uint64_t leased = 0;   ///< somebody works on them
  std::uint64_t expired = 0;  ///< of those that are not done: their lease ended without an answer
  std::uint64_t done = 0;
  std::uint64_t handed_out_again = 0;  ///< leases beyond the first of a task
};

/// Claims at most `most` tasks for this evaluator, those of its version before those of any: of either kind those whose
/// lease has ended, then in the order in which they were asked for. What was answered meanwhile is left out and done
/// with. One statement claims them all, and two workers never get one. Tasks of other versions are left to these.
/// Errors: Error{usage} for a log in a file, which one process works on; those of writing.
[[nodiscard]] std::vector<Task> claim_tasks(Log& log, const TaskEvaluator& evaluator, const std::string& worker,
                                            std::size_t most, std::chrono::seconds lease);
/// Moves the end of all leases of this worker: a heartbeat. How many it has.
std::size_t renew_tasks(Log& log, const std::string& worker, std::chrono::seconds lease);
/// Gives back what this worker has: others need not wait for the leases to end.
std::size_t release_tasks(Log& log, const std::string& worker);
/// These are answered, by whomever.
void finish_tasks(Log& log, const std::vector<std::int64_t>& proposal_ids);
/// Of the tasks that this evaluator may claim.
[[nodiscard]] TaskCounts task_counts(const Log& log, const TaskEvaluator& evaluator);
/// The evaluators that tasks wait for.
[[nodiscard]] std::vector<TaskEvaluator> awaited_evaluators(const Log& log);

}  // namespace hindsight::log

/// A worker: evaluates designs that others asked for, in a log on a server that many share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/core/provenance.h"
#include "hindsight/evaluator/evaluator.h"
#include "hindsight/log/tasks.h"

namespace hindsight::study {

struct WorkerOptions {
  std::filesystem::path log;  ///< an address (log/address.h)
  /// Makes the evaluator for a space of the log.
  std::function<std::shared_ptr<const evaluator::Evaluator>(space::DesignSpace)> evaluator;
  log::TaskEvaluator identity;              ///< what that evaluator is in the log: its tasks are claimed
  std::vector<std::string> workloads = {};  ///< networks in files, where one of that name does not ship
  std::string name;                         ///< of the worker; no two have one
  std::chrono::seconds lease{600};          ///< [chosen] a worker that dies costs its tasks ten minutes
  std::size_t block = 2;                    ///< tasks claimed at once; at least 1
  std::chrono::seconds wait{0};             ///< how long to wait for new work; what others have is always waited for
  std::optional<std::uint64_t> most = {};   ///< evaluations, then it ends
  Provenance provenance = {};
};

enum class WorkerEnd { no_more_work, enough, interrupted };

struct WorkerSummary {
  WorkerEnd end = WorkerEnd::no_more_work;
  std::uint64_t evaluated = 0, infeasible = 0;
  std::uint64_t already_there = 0;  ///< of those: somebody had the same answer
  std::uint64_t contradicting = 0;  ///< of those: somebody had another answer, which is kept
  std::uint64_t taken_over = 0;     ///< tasks that another worker had before
  std::uint64_t heartbeats = 0;
  log::TaskCounts left = {};  ///< when it ended
};

/// Claims tasks, evaluates them and stores each answer as soon as it is there, until no task is open and nobody has
/// one; a thread renews the leases. A worker that ends gives back what it did not do. After each answer `after` is
/// called. Errors: Error{usage} for a log in a file, a workload that is not known or has another definition, and where
/// only other evaluators or versions are waited for; those of the evaluator and of the log.
WorkerSummary work(const WorkerOptions& options, const std::function<void(const WorkerSummary&)>& after = {});

}  // namespace hindsight::study

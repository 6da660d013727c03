/// The workers of an external evaluator: a queue of questions, and a thread with a process for each worker.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "evaluator/simulator_process.h"
#include "hindsight/core/error.h"
#include "hindsight/evaluator/external.h"
#include "hindsight/evaluator/protocol.h"

namespace hindsight::evaluator {

/// A question and who waits for its row.
struct Job {
  Asked asked;
  space::Design design;
  std::string workload;  ///< its name
  std::promise<Row> row;
};

class SimulatorPool {
 public:
  /// `space` and `command` must outlive it.
  SimulatorPool(const space::DesignSpace& space, const ExternalCommand& command);
  /// Gives up what is in work and ends every process.
  ~SimulatorPool();
  SimulatorPool(const SimulatorPool&) = delete;
  SimulatorPool& operator=(const SimulatorPool&) = delete;

  /// The row, or the Error of external.h. Questions are taken in order.
  std::future<Row> submit(Job job);
  /// The end of what the processes said besides answers.
  [[nodiscard]] std::string said() const;

 private:
  void work();
  [[nodiscard]] bool given_up() const;
  /// Once; nothing when given up.
  std::optional<Outcome> ask(SimulatorProcess& process, const Job& job);
  Row answer(SimulatorProcess& process, const Job& job);
  Row accept(const Said& said, const Job& job);
  /// An answer without a number, after which the process goes on unless the fault ends all.
  Row no_number(SimulatorProcess& process, const NoFiniteMetric& error, const Job& job);
  /// What a fault means; `times`: how often it was asked.
  Row fault(const Failed& failed, const Job& job, unsigned times);
  void remember(const SimulatorProcess& process);
  /// What a message begins with: whom, and what was asked.
  [[nodiscard]] std::string about(const Job& job) const;
  [[nodiscard]] Error failure(const Job& job, const std::string& problem, const Tail& said) const;

  const space::DesignSpace& space_;
  const ExternalCommand& command_;
  mutable std::mutex mutex_;  ///< of what follows
  std::condition_variable something_;
  std::deque<Job> queue_;
  std::optional<Error> broken_;  ///< once the evaluator has failed
  std::vector<std::string> metrics_;
  bool answered_ = false;
  unsigned faults_in_a_row_ = 0;
  std::string said_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> workers_;  // last: they use the others
};

}  // namespace hindsight::evaluator

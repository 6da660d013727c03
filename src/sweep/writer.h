/// The log of a sweep: batches of evaluated designs go into it, each with the position behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "hindsight/evaluator/evaluator.h"
#include "hindsight/log/log.h"
#include "hindsight/sweep/sweep.h"
#include "sweep/registration.h"
#include "sweep/writing_thread.h"

namespace hindsight::sweep {

/// A batch of evaluated designs.
struct Batch {
  std::vector<std::uint16_t> levels;  // designs x dimensions
  std::vector<evaluator::Row> rows;   // designs x networks of a design
  /// Per row, the place of its network in the options' networks; empty: every design has all of them, in order.
  std::vector<std::size_t> chosen = {};
  std::size_t designs = 0;
  std::vector<bool> stays = {};                  ///< per row, whether it goes to the log; empty: all do
  std::optional<log::CheckedRows> checked = {};  ///< of `rows`, once they have their identities
  Progressed progressed;                         ///< state of the sweep after this batch
};

/// Whether a feasible row is beyond a limit of what only an evaluation knows. Error{failure} when it has no such
/// metric.
[[nodiscard]] bool is_beyond_limits(const SweepOptions& options, const evaluator::Row& row);
/// Adds rows to the counts of their networks; `chosen` as in a Batch. Errors as is_beyond_limits().
void count(const SweepOptions& options, std::span<const evaluator::Row> rows, const std::vector<std::size_t>& chosen,
           std::vector<WorkloadCounts>& workloads);

/// Metrics of a design, networks x metrics; nothing where it is infeasible on the network.
using Values = std::vector<std::optional<double>>;
/// By the designs' content hash.
using Answers = std::unordered_map<std::uint64_t, Values>;

/// Where the checkpoint of a sweep or a search stands in its log.
[[nodiscard]] inline std::string checkpoint_key(const std::string& definition_hash) {
  return "sweep/" + definition_hash;
}

/// Opened and compared before the first batch when the log exists, created with the first batch otherwise, and written
/// by one thread, batch by batch, beside the computation of the next ones. No batch is written after one that
/// could not be.
class Writer {
 public:
  /// Batches of which one is being filled while the others wait. [chosen] 4: 40,000 designs on nine applications take
  /// 0.85 of the time that they take with 2 (the sweep command, in turn, two cores, 2026-11-23), and a sweep that is
  /// interrupted writes three batches more, a tenth of a second.
  static constexpr std::size_t kBatches = 4;

  Writer(const SweepOptions& options, std::string definition_hash);
  /// Notes what the evaluator said besides its answers, also where an error ends the run.
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  [[nodiscard]] std::optional<Progressed> checkpoint() const;
  /// Everything that the log has of these metrics from this evaluator, on these networks. The log has a checkpoint.
  [[nodiscard]] Answers answers(const std::vector<std::string>& metrics);

  /// Hands a batch over until kBatches - 1 others were handed over: waits until that many at most are not yet written.
  /// Its rows are gone then. Throws what went wrong with an earlier one.
  void append(Batch& batch);
  /// Two batches wait at least: writing is what takes long.
  [[nodiscard]] bool is_behind() const;
  void end(log::RunStatus status);
  void report(SweepSummary& summary) const;

 private:
  using Result = std::shared_future<log::AppendResult>;
  struct Pending {
    Result result;
    Batch* batch;
  };

  [[nodiscard]] std::string key() const { return checkpoint_key(definition_hash_); }
  /// Until so many batches at most are not written. The rows of the others are let go of here, and checked by append():
  /// the thread that writes is the one that a sweep of the built-in model waits for.
  void wait(std::size_t most);
  void note_remarks();
  void identify(Batch& batch) const;
  log::AppendResult write(const Batch& batch);

  const SweepOptions& options_;
  std::string definition_hash_;
  std::optional<log::Log> log_;
  std::optional<log::Run> run_;
  bool ended_ = false;
  Registration ids_;
  std::deque<Pending> pending_;
  std::uint64_t inserted_ = 0, already_present_ = 0, rejected_ = 0, left_out_ = 0;
  std::string first_rejection_;
  WritingThread<log::AppendResult> thread_;  // last: what it is doing uses the others
};

}  // namespace hindsight::sweep

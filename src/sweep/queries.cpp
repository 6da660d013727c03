/// Answers a search from the log as far as that goes, then from the evaluator, and logs what it asks.
#include "hindsight/sweep/queries.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/progress.h"
#include "hindsight/core/text.h"
#include "hindsight/log/metric_direction.h"
#include "sweep/accepted_designs.h"
#include "sweep/validation.h"
#include "sweep/writer.h"

namespace hindsight::sweep {
namespace {

/// One number for all networks.
std::optional<double> score_of(const Objectives& objectives, Direction direction) {
  double sum_of_logs = 0;
  for (const std::optional<double>& objective : objectives) {
    if (!objective) return std::nullopt;
    sum_of_logs += std::log(*objective);
  }
  const bool alone = objectives.size() == 1;  // a logarithm would cost its last digit
  const double mean = alone ? *objectives[0] : std::exp(sum_of_logs / static_cast<double>(objectives.size()));
  return direction == Direction::minimise ? mean : -mean;
}

class Queries {
 public:
  explicit Queries(const SweepOptions& options)
      : options_(options),
        direction_(log::direction_of(options.objective)),
        writer_(options, definition_hash(options)) {}

  SweepSummary run(const Search& search) {
    const auto start = std::chrono::steady_clock::now();
    SweepSummary summary;
    summary.definition_hash = definition_hash(options_);
    summary.samples = options_.samples;
    if (const auto checkpoint = writer_.checkpoint()) {
      summary.resumed = true;
      progressed_ = *checkpoint;
    }
    logged_ = progressed_.accepted;
    summary.status = status_of(search);
    report(progressed_, summary);
    writer_.report(summary);
    summary.designs_this_run = progressed_.designs - logged_;
    summary.elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return summary;
  }

 private:
  SweepStatus status_of(const Search& search) {
    if (logged_ >= options_.samples) return SweepStatus::already_finished;
    if (progressed_.exhausted) return SweepStatus::exhausted;
    if (logged_ > 0) answers_ = writer_.answers(options_.objective);
    progress_.emplace("sweep", options_.samples, "queries", options_.quiet);
    progress_->set_already_done(logged_);
    search([this](const space::Design& design) { return answer(design); });
    const bool finished = progressed_.accepted >= options_.samples;
    const bool interrupted = !finished && interrupt_requested();
    progressed_.exhausted = !finished && !interrupted;
    if (!interrupted && asked_ < progressed_.accepted) fail_changed();
    if (batch().designs > 0 || progressed_.exhausted) flush();
    writer_.end(interrupted ? log::RunStatus::interrupted : log::RunStatus::finished);
    progress_->finish(note(progressed_));
    if (interrupted) return SweepStatus::interrupted;
    return finished ? SweepStatus::finished : SweepStatus::exhausted;
  }

  std::optional<double> answer(const space::Design& design) {
    HINDSIGHT_EXPECT(asked_ < options_.samples);
    if (asked_++ < logged_) {
      const auto known = answers_.find(options_.space().content_hash(design));
      if (known == answers_.end()) fail_changed();
      return score_of(known->second, direction_);
    }
    answers_.clear();
    const auto rows = options_.evaluator->evaluate(design.levels, options_.networks);
    Objectives objectives;
    for (const evaluator::Row& row : rows) {
      objectives.push_back(row.feasible ? evaluator::metric_of(row, options_.objective) : std::nullopt);
    }
    record(design, rows);
    return score_of(objectives, direction_);
  }

  void record(const space::Design& design, const std::vector<evaluator::Row>& rows) {
    count(rows, {}, progressed_.workloads);
    progressed_.candidates = progressed_.accepted = progressed_.designs = asked_;
    Batch& batch = this->batch();
    batch.levels.insert(batch.levels.end(), design.levels.begin(), design.levels.end());
    batch.rows.insert(batch.rows.end(), rows.begin(), rows.end());
    if (++batch.designs == options_.batch_designs) flush();
    progress_->update(asked_, note(progressed_));
  }

  /// Gives the batch to the writer, which reads it until the next one comes.
  void flush() {
    batch().progressed = progressed_;
    writer_.append(batch());
    turn_ = 1 - turn_;
    batch() = {};
  }
  Batch& batch() { return batches_[turn_]; }

  [[noreturn]] void fail_changed() const {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: the search does not ask again for the {} designs that it asked for before, so this "
                            "version cannot continue it. Use a new log?",
                            printable(options_.log.string(), 200), with_commas(logged_)));
  }

  const SweepOptions& options_;
  Direction direction_;
  std::optional<Progress> progress_;  ///< once there is something to do
  std::array<Batch, 2> batches_;
  std::size_t turn_ = 0;
  Progressed progressed_ = nothing_yet(options_);
  std::uint64_t logged_ = 0;  ///< questions that earlier runs asked
  std::uint64_t asked_ = 0;   ///< in this run, those included
  Answers answers_;
  Writer writer_;  // last: its pending append refers to the batches and must end before they do
};

}  // namespace

SweepSummary run_queries(const SweepOptions& options, const Search& search) {
  HINDSIGHT_EXPECT(!options.search.empty());
  validate(options);
  refuse_impossible_limits(options);
  return Queries(options).run(search);
}

}  // namespace hindsight::sweep

/// Runs a sweep: batches are evaluated by all threads while those before are written.
#include "hindsight/sweep/sweep.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/progress.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "sweep/accepted_designs.h"
#include "sweep/chosen_networks.h"
#include "sweep/kept_rows.h"
#include "sweep/kept_sample.h"
#include "sweep/validation.h"
#include "sweep/writer.h"

namespace hindsight::sweep {
namespace {

/// [chosen] Per design at work, designs that are begun while it is: workers do not idle behind one that takes four
/// times as long, and no more than these are done again after a kill.
constexpr std::size_t kDesignsAheadOfEach = 4;

/// One sweep from its position to its end.
class Sweep {
 public:
  explicit Sweep(const SweepOptions& options)
      : options_(options),
        threads_(resolve_threads(options.threads)),
        designs_(options, options.samples, threads_),
        writer_(options, definition_hash(options)) {
    refuse_impossible_limits(options);
    samples_ = wants_all() ? designs_.length() : options.samples;
    for (Batch& batch : batches_) batch.levels.resize(batch_designs() * options.space().parameters().size());
  }

  SweepSummary run() {
    const auto start = std::chrono::steady_clock::now();
    SweepSummary summary;
    summary.samples = samples_;
    summary.status = run_batches(summary);
    report(progressed_, summary);
    writer_.report(summary);
    summary.elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return summary;
  }

 private:
  SweepStatus run_batches(SweepSummary& summary) {
    if (const auto checkpoint = writer_.checkpoint()) {
      summary.resumed = true;
      progressed_ = *checkpoint;
      if (progressed_.accepted >= samples_) return SweepStatus::already_finished;
      if (progressed_.exhausted) return wants_all() ? SweepStatus::already_finished : SweepStatus::exhausted;
    }
    if (options_.keep && progressed_.thresholds.empty()) {
      progressed_.thresholds = fix_thresholds(options_, threads_);
      if (progressed_.thresholds.empty()) return SweepStatus::interrupted;  // before there was anything to keep
    }
    Progress progress("sweep", shard_designs(samples_), "designs", options_.quiet);
    progress.set_already_done(progressed_.designs);
    progress.update(progressed_.designs, summary.resumed ? "resumed" : "");
    if (summary.resumed) {
      designs_.replay({.candidates = progressed_.candidates,
                       .constrained = progressed_.constrained,
                       .repeated = progressed_.repeated,
                       .accepted = progressed_.accepted});
    }
    candidates_before_ = progressed_.candidates;
    const std::uint64_t designs_before = progressed_.designs;
    filled_ = progressed_;
    const SweepStatus status = evaluate_all(progress);
    writer_.end(status == SweepStatus::interrupted ? log::RunStatus::interrupted : log::RunStatus::finished);
    progress.finish(note(progressed_));
    summary.designs_this_run = progressed_.designs - designs_before;
    return status;
  }

  SweepStatus evaluate_all(Progress& progress) {
    for (std::size_t turn = 0;; turn = (turn + 1) % batches_.size()) {
      fill_ahead(turn, progress);
      Batch& batch = batches_[turn];
      if (batch.progressed.exhausted && batch.progressed.accepted == 0) {
        throw Error(ErrorKind::no_feasible, designs_.nothing_accepted());
      }
      if (!evaluate(batch)) return SweepStatus::interrupted;
      --filled_batches_;
      writer_.append(batch);
      progress.update(progressed_.designs, note(progressed_));
      if (progressed_.accepted >= samples_) return SweepStatus::finished;
      if (progressed_.exhausted) return wants_all() ? SweepStatus::finished : SweepStatus::exhausted;
      if (interrupt_requested()) return SweepStatus::interrupted;
    }
  }

  /// Fills the batch of this turn, and announces as many behind it as the evaluator can work on meanwhile.
  void fill_ahead(std::size_t turn, Progress& progress) {
    while (filled_batches_ <= ahead() && (filled_batches_ == 0 || (!is_last(filled_) && !interrupt_requested()))) {
      Batch& batch = batches_[(turn + filled_batches_++) % batches_.size()];
      fill(batch, progress);
      if (ahead() == 0) continue;
      const std::size_t dimensions = options_.space().parameters().size();
      const auto levels = std::span(batch.levels).first(batch.designs * dimensions);
      const std::size_t networks = options_.networks_of_a_design();
      for (std::size_t i = 0; i < batch.designs; ++i) {
        const auto design = levels.subspan(i * dimensions, dimensions);
        if (batch.chosen.empty()) options_.evaluator->announce(design, options_.networks);
        for (std::size_t j = 0; j < networks && !batch.chosen.empty(); ++j) {
          options_.evaluator->announce(design, std::span(options_.networks).subspan(batch.chosen[i * networks + j], 1));
        }
      }
    }
  }
  /// Nothing comes behind this position.
  [[nodiscard]] bool is_last(const Progressed& position) const {
    return position.accepted >= samples_ || position.exhausted;
  }
  /// Batches that are announced before the evaluator is asked for the one in front of them.
  [[nodiscard]] std::size_t ahead() const { return options_.evaluator->designs_at_once() * kDesignsAheadOfEach; }
  /// Answers that take long are kept one by one.
  [[nodiscard]] std::size_t batch_designs() const {
    return options_.evaluator->designs_at_once() > 0 ? 1 : options_.batch_designs;
  }

  /// Fills a batch with this shard's next designs and moves `filled_` behind them. Stops early at Ctrl-C, but not
  /// before a candidate was decided, unless that takes seconds: a run that is interrupted at once, however often, still
  /// gets on.
  void fill(Batch& batch, Progress& progress) {
    const std::size_t dimensions = options_.space().parameters().size();
    batch.designs = 0;
    batch.chosen.clear();
    designs_.use_threads(free_threads());
    bool stopped = false;
    while (batch.designs < batch_designs() && designs_.position().accepted < samples_ && !filled_.exhausted) {
      const auto levels = std::span(batch.levels).subspan(batch.designs * dimensions, dimensions);
      switch (designs_.next(levels)) {
        case AcceptedDesigns::Next::design:
          add_if_of_this_shard(designs_.position().accepted - 1, batch);
          break;
        case AcceptedDesigns::Next::exhausted:
          filled_.exhausted = true;
          break;
        case AcceptedDesigns::Next::pause:
          progress.update(progressed_.designs, with_commas(designs_.position().candidates) + " drawn");
          break;
        case AcceptedDesigns::Next::interrupted:
          stopped = true;
          break;
      }
      if (stopped || (interrupt_requested() && designs_.position().candidates > candidates_before_)) break;
    }
    const Position& position = designs_.position();
    filled_.candidates = position.candidates;
    filled_.constrained = position.constrained;
    filled_.repeated = position.repeated;
    filled_.accepted = position.accepted;
    filled_.designs += batch.designs;
    batch.progressed = filled_;
  }

  /// The levels of design `number` stand behind the batch's designs already.
  void add_if_of_this_shard(std::uint64_t number, Batch& batch) const {
    if (number % options_.shard.count != options_.shard.index) return;
    ++batch.designs;
    if (takes_all_networks(options_)) return;
    const std::vector<std::size_t> chosen = chosen_networks(options_, number);
    batch.chosen.insert(batch.chosen.end(), chosen.begin(), chosen.end());
  }

  /// Moves `progressed_` behind the batch. False: Ctrl-C came before its answers.
  bool evaluate(Batch& batch) {
    const auto levels = std::span(batch.levels).first(batch.designs * options_.space().parameters().size());
    try {
      // All networks in one question, so that what a chip is has to be worked out once only.
      batch.rows = takes_all_networks(options_)
                       ? options_.evaluator->evaluate(levels, options_.networks, free_threads())
                       : evaluate_chosen(options_, levels, batch.chosen, free_threads());
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) return false;
      throw;
    }
    std::swap(batch.progressed.workloads, progressed_.workloads);
    progressed_ = std::move(batch.progressed);
    count(options_, batch.rows, batch.chosen, progressed_.workloads);
    if (options_.keep) {  // without shards: every accepted design is in a batch
      const std::uint64_t first = progressed_.accepted - batch.designs;
      batch.stays = which_stay(options_, progressed_.thresholds, batch.rows, first);
    }
    batch.progressed = progressed_;
    return true;
  }

  /// Threads to draw and evaluate with: all, but for one while writing is behind. The thread that writes would lose a
  /// part of its processor to them, and the sweep is as fast as it is.
  [[nodiscard]] unsigned free_threads() const { return threads_ > 1 && writer_.is_behind() ? threads_ - 1 : threads_; }

  /// A grid without --samples: every design of the space within the constraints.
  [[nodiscard]] bool wants_all() const { return is_grid(options_) && options_.samples == 0; }

  /// How many of `samples` numbers fall to this shard.
  [[nodiscard]] std::uint64_t shard_designs(std::uint64_t samples) const {
    const Shard& shard = options_.shard;
    return samples <= shard.index ? 0 : (samples - shard.index - 1) / shard.count + 1;
  }

  const SweepOptions& options_;
  unsigned threads_;
  AcceptedDesigns designs_;
  std::vector<Batch> batches_ = std::vector<Batch>(Writer::kBatches + ahead());
  std::size_t filled_batches_ = 0;                 ///< not yet evaluated
  Progressed progressed_ = nothing_yet(options_);  ///< what is evaluated
  Progressed filled_;                              ///< its position is behind the last batch that was filled
  std::uint64_t samples_ = 0;
  std::uint64_t candidates_before_ = 0;  ///< decided by earlier runs
  Writer writer_;                        // last: its pending append refers to the batches and must end before they do
};

}  // namespace

void require_sensible(const SweepOptions& options) { validate(options); }

SweepSummary run_sweep(const SweepOptions& options) {
  HINDSIGHT_EXPECT(options.search.empty());
  validate(options);
  const auto run = [](const SweepOptions& one) {
    Sweep sweep(one);
    SweepSummary summary = sweep.run();
    summary.definition_hash = definition_hash(one);
    return summary;
  };
  const bool asks_once = options.keep && options.evaluator->designs_at_once() > 0;
  return asks_once ? run_kept_sample(options, run) : run(options);
}

}  // namespace hindsight::sweep

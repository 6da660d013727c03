/// Runs a sweep: batches are evaluated by all threads while the batch before is written.
#include "hindsight/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <set>
#include <span>

#include "hindsight/core/error.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/progress.h"
#include "hindsight/core/text.h"
#include "hindsight/core/thread_pool.h"
#include "hindsight/log/log.h"
#include "sweep/accepted_designs.h"
#include "sweep/chosen_networks.h"
#include "sweep/registration.h"

namespace hindsight::sweep {
namespace {

/// A batch of evaluated designs.
struct Batch {
  std::vector<std::uint16_t> levels;  // designs x dimensions
  std::vector<std::size_t> chosen;    // designs x networks of a design: places in the options' networks
  std::vector<evaluator::Row> rows;   // designs x networks of a design
  std::size_t designs = 0;
  Progressed progressed;  ///< state of the sweep after this batch
};

void validate(const SweepOptions& options) {
  if (options.networks.empty()) throw Error(ErrorKind::usage, "a sweep needs at least one workload");
  if (options.samples == 0 && options.sampler != space::SamplerKind::grid) {
    throw Error(ErrorKind::usage,
                fmt::format("--samples must be at least 1 for the sampler '{}'", space::to_string(options.sampler)));
  }
  std::set<std::string> names;
  for (const workload::Network& network : options.networks) {
    if (!names.insert(network.name()).second) {
      throw Error(ErrorKind::usage, fmt::format("the workload '{}' is named twice", network.name()));
    }
  }
  std::set<std::string> metrics;
  for (const FactLimit& bound : options.limits) {
    const auto& known = options.evaluator->fact_names();
    if (std::find(known.begin(), known.end(), bound.fact) == known.end()) {
      throw Error(ErrorKind::usage, fmt::format("'{}' is not a metric that is known before a design is evaluated.{}",
                                                bound.fact, did_you_mean(bound.fact, known)));
    }
    if (!metrics.insert(bound.fact).second) {
      throw Error(ErrorKind::usage, fmt::format("the limit of '{}' is given twice", bound.fact));
    }
  }
  if (options.networks_per_design > options.networks.size()) {
    throw Error(ErrorKind::usage, fmt::format("--networks-per-design {}: there are {} to choose from. Give at most {}?",
                                              options.networks_per_design, counted(options.networks.size(), "network"),
                                              options.networks.size()));
  }
  HINDSIGHT_EXPECT(options.batch_designs > 0 && options.shard.index < options.shard.count);
}

/// The counter of a code, added behind the others when it is new.
std::uint64_t& reason_count(WorkloadCounts& counts, const std::string& code) {
  const auto found = std::find_if(counts.reasons.begin(), counts.reasons.end(),
                                  [&](const auto& reason) { return reason.first == code; });
  return found == counts.reasons.end() ? counts.reasons.emplace_back(code, 0).second : found->second;
}

void count(const Batch& batch, std::vector<WorkloadCounts>& workloads) {
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    const evaluator::Row& row = batch.rows[i];
    WorkloadCounts& counts = workloads[batch.chosen[i]];
    ++(row.feasible ? counts.feasible : counts.infeasible);
    for (const log::ViolationRow& violation : row.violations) ++reason_count(counts, violation.code);
  }
}

/// The log of a sweep: opened and compared before the first batch when it exists, created with the first batch
/// otherwise, and written by one thread at a time, beside the computation of the next batch.
class Writer {
 public:
  Writer(const SweepOptions& options, std::string definition_hash)
      : options_(options), definition_hash_(std::move(definition_hash)) {
    if (!std::filesystem::exists(options.log)) return;
    log_ = log::Log::open(options.log, log::OpenMode::read_write_create);
    refuse_conflicts(*log_, options);
  }

  [[nodiscard]] std::optional<Progressed> checkpoint() const {
    const auto text = log_ ? log_->checkpoint(key()) : std::nullopt;
    if (!text) return std::nullopt;
    return parse_progressed(*text, options_.networks, printable(options_.log.string(), 200));
  }

  /// Waits for the batch before and starts to append this one.
  void append(Batch& batch) {
    wait();
    if (!log_) log_ = log::Log::open(options_.log, log::OpenMode::read_write_create);
    if (!run_) {
      ids_ = register_definitions(*log_, options_);
      run_.emplace(*log_, log::RunKind::sweep, options_.provenance, options_json(options_, definition_hash_));
    }
    pending_ = std::async(std::launch::async, [this, &batch] { return write(batch); });
  }

  void wait() {
    if (!pending_.valid()) return;
    const log::AppendResult result = pending_.get();
    inserted_ += result.inserted;
    already_present_ += result.already_present;
    rejected_ += result.rejected.size();
    if (first_rejection_.empty() && !result.rejected.empty()) first_rejection_ = result.rejected.front().reason;
  }

  void end(log::RunStatus status) {
    wait();
    if (run_) run_->finish(status);
  }

  void report(SweepSummary& summary) const {
    if (run_) summary.run_id = run_->id();
    summary.rows_inserted = inserted_;
    summary.rows_already_present = already_present_;
    summary.rows_rejected = rejected_;
    summary.first_rejection = first_rejection_;
  }

 private:
  [[nodiscard]] std::string key() const { return "sweep/" + definition_hash_; }

  log::AppendResult write(Batch& batch) {
    const space::DesignSpace& space = options_.space();
    const std::size_t dimensions = space.parameters().size();
    const std::size_t networks = options_.networks_of_a_design();
    for (std::size_t i = 0; i < batch.designs; ++i) {
      const auto* first = batch.levels.data() + i * dimensions;
      const space::Design design{.levels = {first, first + dimensions}};
      const std::string text_id = space.text_id(design);
      const std::uint64_t hash = space.content_hash(design);
      for (std::size_t j = 0; j < networks; ++j) {
        evaluator::Row& row = batch.rows[i * networks + j];
        row.workload_id = ids_.workload_ids[batch.chosen[i * networks + j]];
        row.design_text_id = text_id;
        row.design_hash = hash;
      }
    }
    return log_->append(run_->id(), ids_.space_id, ids_.evaluator_id, batch.rows,
                        log::Checkpoint{.key = key(), .value_json = to_json(batch.progressed)});
  }

  const SweepOptions& options_;
  std::string definition_hash_;
  std::optional<log::Log> log_;
  std::optional<log::Run> run_;
  Registration ids_;
  std::future<log::AppendResult> pending_;  // after what it uses: it ends before the run and the log do
  std::uint64_t inserted_ = 0, already_present_ = 0, rejected_ = 0;
  std::string first_rejection_;
};

std::string note(const Progressed& progressed) {
  std::uint64_t infeasible = 0, all = 0;
  for (const WorkloadCounts& counts : progressed.workloads) {
    infeasible += counts.infeasible;
    all += counts.feasible + counts.infeasible;
  }
  return all == 0
             ? ""
             : fmt::format("infeasible {:.1f} %", 100.0 * static_cast<double>(infeasible) / static_cast<double>(all));
}

/// One sweep from its position to its end.
class Sweep {
 public:
  explicit Sweep(const SweepOptions& options)
      : options_(options),
        threads_(resolve_threads(options.threads)),
        designs_(options, options.samples, threads_),
        writer_(options, definition_hash(options)) {
    designs_.refuse_impossible_limits();
    samples_ = options.samples;
    if (wants_all()) samples_ = designs_.length();
    for (const workload::Network& network : options.networks) {
      WorkloadCounts& counts = progressed_.workloads.emplace_back();
      counts.name = network.name();
      for (const std::string& code : options.evaluator->reasons()) counts.reasons.emplace_back(code, 0);
    }
    for (Batch& batch : batches_) batch.levels.resize(options.batch_designs * options.space().parameters().size());
  }

  SweepSummary run() {
    const auto start = std::chrono::steady_clock::now();
    SweepSummary summary;
    summary.samples = samples_;
    summary.status = run_batches(summary);
    summary.candidates = progressed_.candidates;
    summary.constrained = progressed_.constrained;
    summary.repeated = progressed_.repeated;
    summary.accepted = progressed_.accepted;
    summary.designs = progressed_.designs;
    summary.workloads = progressed_.workloads;
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
    SweepStatus status = SweepStatus::finished;
    for (std::size_t turn = 0;; turn = 1 - turn) {
      Batch& batch = batches_[turn];
      fill(batch, progress);
      if (progressed_.exhausted && progressed_.accepted == 0) {
        throw Error(ErrorKind::no_feasible, designs_.nothing_accepted());
      }
      batch.rows = evaluate(batch);
      count(batch, progressed_.workloads);
      batch.progressed = progressed_;
      writer_.append(batch);
      progress.update(progressed_.designs, note(progressed_));
      if (progressed_.accepted >= samples_) break;
      if (progressed_.exhausted) {
        status = wants_all() ? SweepStatus::finished : SweepStatus::exhausted;
        break;
      }
      if (interrupt_requested()) {
        status = SweepStatus::interrupted;
        break;
      }
    }
    writer_.end(status == SweepStatus::interrupted ? log::RunStatus::interrupted : log::RunStatus::finished);
    progress.finish(note(progressed_));
    summary.designs_this_run = progressed_.designs - designs_before;
    return status;
  }

  /// Fills a batch with this shard's next designs and moves `progressed_` behind them. Stops early at Ctrl-C, but not
  /// before a candidate was decided: a run that is interrupted at once, however often, still gets on.
  void fill(Batch& batch, Progress& progress) {
    const std::size_t dimensions = options_.space().parameters().size();
    batch.designs = 0;
    batch.chosen.clear();
    while (batch.designs < options_.batch_designs && designs_.position().accepted < samples_ &&
           !progressed_.exhausted) {
      const auto levels = std::span(batch.levels).subspan(batch.designs * dimensions, dimensions);
      switch (designs_.next(levels)) {
        case AcceptedDesigns::Next::design:
          add_if_of_this_shard(designs_.position().accepted - 1, batch);
          break;
        case AcceptedDesigns::Next::exhausted:
          progressed_.exhausted = true;
          break;
        case AcceptedDesigns::Next::pause:
          progress.update(progressed_.designs, with_commas(designs_.position().candidates) + " drawn");
          break;
      }
      if (interrupt_requested() && designs_.position().candidates > candidates_before_) break;
    }
    const Position& position = designs_.position();
    progressed_.candidates = position.candidates;
    progressed_.constrained = position.constrained;
    progressed_.repeated = position.repeated;
    progressed_.accepted = position.accepted;
    progressed_.designs += batch.designs;
  }

  /// The levels of design `number` stand behind the batch's designs already.
  void add_if_of_this_shard(std::uint64_t number, Batch& batch) const {
    if (number % options_.shard.count != options_.shard.index) return;
    ++batch.designs;
    const std::vector<std::size_t> chosen = chosen_networks(options_, number);
    batch.chosen.insert(batch.chosen.end(), chosen.begin(), chosen.end());
  }

  [[nodiscard]] std::vector<evaluator::Row> evaluate(const Batch& batch) const {
    const auto levels = std::span(batch.levels).first(batch.designs * options_.space().parameters().size());
    // All networks in one question, so that what a chip is has to be worked out once only.
    if (options_.networks_of_a_design() == options_.networks.size()) {
      return options_.evaluator->evaluate(levels, options_.networks, threads_);
    }
    return evaluate_chosen(options_, levels, batch.chosen, threads_);
  }

  /// A grid without --samples: every design of the space within the constraints.
  [[nodiscard]] bool wants_all() const { return options_.sampler == space::SamplerKind::grid && options_.samples == 0; }

  /// How many of `samples` numbers fall to this shard.
  [[nodiscard]] std::uint64_t shard_designs(std::uint64_t samples) const {
    const Shard& shard = options_.shard;
    return samples <= shard.index ? 0 : (samples - shard.index - 1) / shard.count + 1;
  }

  const SweepOptions& options_;
  unsigned threads_;
  AcceptedDesigns designs_;
  std::array<Batch, 2> batches_;
  Progressed progressed_;
  std::uint64_t samples_ = 0;
  std::uint64_t candidates_before_ = 0;  ///< decided by earlier runs
  Writer writer_;                        // last: its pending append refers to the batches and must end before they do
};

}  // namespace

SweepSummary run_sweep(const SweepOptions& options) {
  validate(options);
  Sweep sweep(options);
  SweepSummary summary = sweep.run();
  summary.definition_hash = definition_hash(options);
  return summary;
}

}  // namespace hindsight::sweep

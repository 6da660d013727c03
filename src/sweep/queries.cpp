/// Answers a search from the log as far as that goes, then from the evaluator, and logs what it asks.
#include "hindsight/sweep/queries.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>

#include "hindsight/core/enum_names.h"
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

class Queries {
 public:
  Queries(const SweepOptions& options, const Scoring& scoring)
      : options_(options), scoring_(scoring), writer_(options, definition_hash(options)) {}

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
    if (logged_ == 0) progressed_.found = Found{};
    summary.status = status_of(search);
    report(progressed_, summary);
    summary.found_metrics = scoring_.metrics;
    writer_.report(summary);
    summary.designs_this_run = progressed_.designs - logged_;
    summary.elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return summary;
  }

 private:
  SweepStatus status_of(const Search& search) {
    if (logged_ >= options_.samples) return SweepStatus::already_finished;
    if (progressed_.exhausted) return SweepStatus::exhausted;
    if (logged_ > 0) answers_ = writer_.answers(scoring_.metrics);
    progress_.emplace("search", options_.samples, "queries", options_.quiet);
    progress_->set_already_done(logged_);
    search([this](const space::Design& design) { return answer(design); });
    const bool finished = progressed_.accepted >= options_.samples;
    const bool interrupted = !finished && interrupt_requested();
    progressed_.exhausted = !finished && !interrupted;
    if (!interrupted && asked_ < progressed_.accepted) fail_changed();
    if (batch().designs > 0 || progressed_.exhausted) flush();
    writer_.end(interrupted ? log::RunStatus::interrupted : log::RunStatus::finished);
    progress_->finish(notes());
    if (interrupted) return SweepStatus::interrupted;
    return finished ? SweepStatus::finished : SweepStatus::exhausted;
  }

  std::optional<double> answer(const space::Design& design) {
    HINDSIGHT_EXPECT(asked_ < options_.samples);
    if (asked_++ < logged_) {
      const auto known = answers_.find(options_.space().content_hash(design));
      if (known == answers_.end()) fail_changed();
      return score_of(design, known->second);
    }
    answers_.clear();
    const auto rows = evaluate(design);
    if (rows.empty()) {
      --asked_;
      return std::nullopt;
    }
    Values values;
    for (const evaluator::Row& row : rows) {
      for (const std::string& metric : scoring_.metrics) {
        values.push_back(row.feasible ? std::optional(evaluator::required_metric(*options_.evaluator, row, metric))
                                      : std::nullopt);
      }
    }
    const std::optional<double> score = score_of(design, values);
    record(design, rows);
    return score;
  }

  /// None when Ctrl-C came before the answers; the search ends then.
  [[nodiscard]] std::vector<evaluator::Row> evaluate(const space::Design& design) const {
    try {
      return options_.evaluator->evaluate(design.levels, options_.networks);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) return {};
      throw;
    }
  }

  /// The score, and whether it is the best so far.
  std::optional<double> score_of(const space::Design& design, const Values& values) {
    std::vector<double> known;
    for (const std::optional<double>& value : values) {
      if (!value) return std::nullopt;
      known.push_back(*value);
    }
    const std::optional<double> score = scoring_.score(known);
    ++(score ? found_.feasible : found_.beyond_limits);
    if (!score) return std::nullopt;
    if (found_.number == 0 || *score < found_.score) {
      found_.number = asked_;
      found_.design = options_.space().text_id(design);
      found_.score = *score;
      found_.values = std::move(known);
    }
    return score;
  }

  void record(const space::Design& design, const std::vector<evaluator::Row>& rows) {
    count(options_, rows, {}, progressed_.workloads);
    progressed_.found = found_;
    progressed_.candidates = progressed_.accepted = progressed_.designs = asked_;
    Batch& batch = this->batch();
    batch.levels.insert(batch.levels.end(), design.levels.begin(), design.levels.end());
    batch.rows.insert(batch.rows.end(), rows.begin(), rows.end());
    ++batch.designs;
    // Answers that take long are kept one by one.
    if (batch.designs == options_.batch_designs || options_.evaluator->designs_at_once() > 0) flush();
    progress_->update(asked_, notes());
  }

  void flush() {
    batch().progressed = progressed_;
    writer_.append(batch());
    turn_ = (turn_ + 1) % batches_.size();
    batch() = {};
  }
  Batch& batch() { return batches_[turn_]; }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> notes{note(progressed_)};
    if (found_.number > 0) notes.push_back(fmt::format("best {:.4g} of query {}", found_.score, found_.number));
    return notes;
  }

  [[noreturn]] void fail_changed() const {
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: the search does not ask again for the {} designs that it asked for before, so this "
                            "version cannot continue it. Use a new log?",
                            printable(options_.log.string(), 200), with_commas(logged_)));
  }

  const SweepOptions& options_;
  const Scoring& scoring_;
  std::optional<Progress> progress_;  ///< once there is something to do
  std::array<Batch, Writer::kBatches> batches_;
  std::size_t turn_ = 0;
  Progressed progressed_ = nothing_yet(options_);
  std::uint64_t logged_ = 0;  ///< questions that earlier runs asked
  std::uint64_t asked_ = 0;   ///< in this run, those included
  Found found_;               ///< in this run's questions, those included
  Answers answers_;
  Writer writer_;  // last: its pending append refers to the batches and must end before they do
};

}  // namespace

Scoring geometric_mean(const SweepOptions& options) {
  const bool minimise = log::direction_of(options.objective) == Direction::minimise;
  Scoring scoring{.metrics = {options.objective}, .score = {}};
  for (const FactLimit& bound : options.outcome_limits) scoring.metrics.push_back(bound.fact);
  scoring.score = [minimise, limits = options.outcome_limits](std::span<const double> values) -> std::optional<double> {
    const std::size_t metrics = 1 + limits.size();
    double sum_of_logs = 0;
    for (std::size_t first = 0; first < values.size(); first += metrics) {
      sum_of_logs += std::log(values[first]);
      for (std::size_t j = 0; j < limits.size(); ++j) {
        if (values[first + 1 + j] > limits[j].limit) return std::nullopt;
      }
    }
    const bool alone = values.size() == metrics;  // a logarithm would cost its last digit
    const double mean =
        alone ? values[0] : std::exp(sum_of_logs * static_cast<double>(metrics) / static_cast<double>(values.size()));
    return minimise ? mean : -mean;
  };
  return scoring;
}

SweepSummary run_queries(const SweepOptions& options, const Scoring& scoring, const Search& search) {
  HINDSIGHT_EXPECT(!options.search.empty());
  validate(options);
  for (const std::string& metric : scoring.metrics) {
    if (options.evaluator->metrics().empty()) break;  // its answers will tell
    (void)index_of_name("objective", metric, options.evaluator->metrics());
  }
  refuse_impossible_limits(options);
  return Queries(options, scoring).run(search);
}

SweepSummary run_queries(const SweepOptions& options, const Search& search) {
  return run_queries(options, geometric_mean(options), search);
}

}  // namespace hindsight::sweep

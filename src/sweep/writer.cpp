/// Gives rows their identities and appends them, beside the evaluation of the next ones.
#include "sweep/writer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "hindsight/core/error.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/text.h"
#include "hindsight/log/address.h"
#include "hindsight/log/query.h"

namespace hindsight::sweep {
namespace {

/// The counter of a code, added behind the others when it is new.
std::uint64_t& reason_count(WorkloadCounts& counts, const std::string& code) {
  const auto found = std::find_if(counts.reasons.begin(), counts.reasons.end(),
                                  [&](const auto& reason) { return reason.first == code; });
  return found == counts.reasons.end() ? counts.reasons.emplace_back(code, 0).second : found->second;
}

}  // namespace

bool is_beyond_limits(const SweepOptions& options, const evaluator::Row& row) {
  bool beyond = false;
  for (const FactLimit& bound : options.outcome_limits) {
    beyond = row.feasible && (evaluator::required_metric(*options.evaluator, row, bound.fact) > bound.limit || beyond);
  }
  return beyond;
}

void count(const SweepOptions& options, std::span<const evaluator::Row> rows, const std::vector<std::size_t>& chosen,
           std::vector<WorkloadCounts>& workloads) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const evaluator::Row& row = rows[i];
    WorkloadCounts& counts = workloads[chosen.empty() ? i % workloads.size() : chosen[i]];
    ++(row.feasible ? counts.feasible : counts.infeasible);
    counts.beyond_limits += is_beyond_limits(options, row) ? 1 : 0;
    for (const log::ViolationRow& violation : row.violations) ++reason_count(counts, violation.code);
  }
}

Writer::Writer(const SweepOptions& options, std::string definition_hash)
    : options_(options), definition_hash_(std::move(definition_hash)) {
  if (!log::is_log_there(options.log)) return;
  log_ = log::Log::open(options.log, log::OpenMode::read_write_create);
  refuse_conflicts(*log_, options);
}

Writer::~Writer() {
  if (!run_ || ended_) return;
  try {
    for (const Pending& one : pending_) one.result.wait();  // the log is theirs until then
    note_remarks();
  } catch (const std::exception&) {
    // The error on its way says why.
  }
}

void Writer::note_remarks() {
  for (const auto& [name, text] : options_.evaluator->remarks()) run_->note(name, text);
}

std::optional<Progressed> Writer::checkpoint() const {
  const auto text = log_ ? log_->checkpoint(key()) : std::nullopt;
  if (!text) return std::nullopt;
  return parse_progressed(*text, options_.networks, printable(options_.log.string(), 200));
}

Answers Writer::answers(const std::vector<std::string>& metrics) {
  HINDSIGHT_EXPECT(log_.has_value() && pending_.empty());
  const Registration ids = register_definitions(*log_, options_);  // they are there already
  const auto& standard = log::standard_metrics();
  const auto column_of = [&](const std::string& metric) {
    return std::find(standard.begin(), standard.end(), metric) - standard.begin();
  };
  const auto value_of = [&](const log::EvaluationRecord& record, const std::string& metric) {
    const auto column = static_cast<std::size_t>(column_of(metric));
    if (column < standard.size()) return record.standard[column];
    for (const auto& [name, value] : record.other_metrics) {
      if (name == metric) return value;
    }
    return std::numeric_limits<double>::quiet_NaN();
  };
  Answers answers;
  const log::EvaluationFilter filter{.evaluator = options_.evaluator->name(), .space = options_.space().name()};
  const bool columns_only = std::all_of(metrics.begin(), metrics.end(), [&](const std::string& metric) {
    return static_cast<std::size_t>(column_of(metric)) < standard.size();
  });
  const log::Detail detail = columns_only ? log::Detail::columns : log::Detail::all;
  log::for_each_evaluation(*log_, filter, detail, [&](const log::EvaluationRecord& record) {
    const auto network = std::find(ids.workload_ids.begin(), ids.workload_ids.end(), record.workload_id);
    const bool ours = record.evaluator_id == ids.evaluator_id && record.space_id == ids.space_id && record.repeat == 0;
    if (!ours || network == ids.workload_ids.end()) return true;
    Values& values = answers[content_hash(record.design_text_id)];
    values.resize(ids.workload_ids.size() * metrics.size());
    const auto first = static_cast<std::size_t>(network - ids.workload_ids.begin()) * metrics.size();
    for (std::size_t i = 0; record.feasible && i < metrics.size(); ++i) {
      const double value = value_of(record, metrics[i]);
      if (!std::isnan(value)) values[first + i] = value;
    }
    return true;
  });
  return answers;
}

void Writer::append(Batch& batch) {
  left_out_ += static_cast<std::uint64_t>(std::count(batch.stays.begin(), batch.stays.end(), false));
  if (!log_) log_ = log::Log::open(options_.log, log::OpenMode::read_write_create);
  if (!run_) {
    ids_ = register_definitions(*log_, options_);
    run_.emplace(*log_, options_.kind, options_.provenance, options_json(options_, definition_hash_));
  }
  identify(batch);
  if (!batch.stays.empty()) {
    std::size_t i = 0;
    const auto leave_out = [&](const evaluator::Row&) { return !batch.stays[i++]; };
    batch.rows.erase(std::remove_if(batch.rows.begin(), batch.rows.end(), leave_out), batch.rows.end());
  }
  batch.checked.emplace(batch.rows);
  Result before = pending_.empty() ? Result() : pending_.back().result;
  Result result = thread_.run([this, &batch, before = std::move(before)]() mutable {
    // Throws what it threw: nothing is written behind a gap. Let go of, or each batch would keep all before it.
    if (before.valid()) (void)std::exchange(before, {}).get();
    return write(batch);
  });
  pending_.push_back({.result = std::move(result), .batch = &batch});
  wait(kBatches - 1);
}

void Writer::wait(std::size_t most) {
  while (pending_.size() > most) {
    const Pending first = std::move(pending_.front());
    pending_.pop_front();
    const log::AppendResult& result = first.result.get();
    first.batch->checked.reset();
    first.batch->rows.clear();
    inserted_ += result.inserted;
    already_present_ += result.already_present;
    rejected_ += result.rejected.size();
    if (first_rejection_.empty() && !result.rejected.empty()) first_rejection_ = result.rejected.front().reason;
  }
}

bool Writer::is_behind() const {
  // They are written in order: when the one before the newest is not, neither is the newest.
  return pending_.size() >= 2 &&
         pending_[pending_.size() - 2].result.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

void Writer::end(log::RunStatus status) {
  wait(0);
  if (!run_) return;
  note_remarks();
  run_->finish(status);
  ended_ = true;
}

void Writer::report(SweepSummary& summary) const {
  if (run_) summary.run_id = run_->id();
  summary.rows_inserted = inserted_;
  summary.rows_already_present = already_present_;
  summary.rows_left_out = left_out_;
  summary.rows_rejected = rejected_;
  summary.first_rejection = first_rejection_;
}

/// Says of every row which design and workload it is about.
void Writer::identify(Batch& batch) const {
  const space::DesignSpace& space = options_.space();
  const std::size_t dimensions = space.parameters().size();
  const std::size_t networks = options_.networks_of_a_design();
  for (std::size_t i = 0; i < batch.designs; ++i) {
    const auto* first = batch.levels.data() + i * dimensions;
    const space::Design design{.levels = {first, first + dimensions}};
    const std::string text_id = space.text_id(design);
    const std::uint64_t hash = content_hash(text_id);
    for (std::size_t j = 0; j < networks; ++j) {
      evaluator::Row& row = batch.rows[i * networks + j];
      row.workload_id = ids_.workload_ids[batch.chosen.empty() ? j : batch.chosen[i * networks + j]];
      row.design_text_id = text_id;
      row.design_hash = hash;
    }
  }
}

log::AppendResult Writer::write(const Batch& batch) {
  return log_->append(run_->id(), ids_.space_id, ids_.evaluator_id, *batch.checked,
                      log::Checkpoint{.key = key(), .value_json = to_json(batch.progressed)});
}

}  // namespace hindsight::sweep

/// Keeps the answers of a sample in a file beside the log until the rows that stay are in the log.
#include "sweep/kept_sample.h"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/log/query.h"
#include "sweep/writer.h"

namespace hindsight::sweep {
namespace {

namespace fs = std::filesystem;

/// What an evaluator answered, from a log: under its name, without asking it.
class Recorded final : public evaluator::Evaluator {
 public:
  Recorded(std::shared_ptr<const evaluator::Evaluator> asked, fs::path file)
      : Evaluator(asked->space()), asked_(std::move(asked)), file_(std::move(file)) {
    const log::Log log = log::Log::open(file_, log::OpenMode::read_only);
    std::unordered_map<std::int64_t, std::string> names;
    for (const log::WorkloadRecord& one : log::workloads(log)) names[one.workload_id] = one.name;
    log::for_each_evaluation(log, {}, log::Detail::all, [&](const log::EvaluationRecord& record) {
      answers_[record.design_text_id].emplace_back(names.at(record.workload_id), row_of(record));
      return true;
    });
  }

  [[nodiscard]] std::string name() const override { return asked_->name(); }
  [[nodiscard]] std::string definition() const override { return asked_->definition(); }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> settings() const override {
    return asked_->settings();
  }
  [[nodiscard]] const std::vector<std::string>& metrics() const override { return asked_->metrics(); }
  [[nodiscard]] const std::vector<std::string>& fact_names() const override { return asked_->fact_names(); }
  [[nodiscard]] std::optional<double> smallest_fact(const std::string& name) const override {
    return asked_->smallest_fact(name);
  }
  [[nodiscard]] const std::vector<std::string>& reasons() const override { return asked_->reasons(); }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> remarks() const override { return asked_->remarks(); }

 private:
  static evaluator::Row row_of(const log::EvaluationRecord& record) {
    return {.feasible = record.feasible, .metrics = log::metrics_of(record), .violations = record.violations};
  }
  [[nodiscard]] std::vector<evaluator::Row> answer(std::span<const std::uint16_t> levels,
                                                   std::span<const workload::Network> workloads,
                                                   unsigned /*threads*/) const override {
    const std::size_t dimensions = space().parameters().size();
    std::vector<evaluator::Row> rows;
    for (std::size_t first = 0; first < levels.size(); first += dimensions) {
      const auto own = levels.subspan(first, dimensions);
      const std::string design = space().text_id({.levels = {own.begin(), own.end()}});
      for (const workload::Network& network : workloads) rows.push_back(row_of(design, network.name()));
    }
    return rows;
  }
  [[nodiscard]] const evaluator::Row& row_of(const std::string& design, const std::string& workload) const {
    const auto answers = answers_.find(design);
    if (answers != answers_.end()) {
      for (const auto& [name, row] : answers->second) {
        if (name == workload) return row;
      }
    }
    throw Error(ErrorKind::incompatible,
                fmt::format("{}: has no answer for {} on {}, so it is not the sample of this sweep. Delete it?",
                            printable(file_.string(), 400), printable(design, 400), printable(workload)));
  }
  [[nodiscard]] std::vector<double> answer_facts(std::span<const double> /*limits*/,
                                                 std::span<const std::uint16_t> /*levels*/,
                                                 std::span<const std::string> /*names*/,
                                                 unsigned /*threads*/) const override {
    HINDSIGHT_EXPECT(fact_names().empty());
    return {};
  }

  std::shared_ptr<const evaluator::Evaluator> asked_;
  fs::path file_;
  /// By text id: rows with the names of their workloads.
  std::unordered_map<std::string, std::vector<std::pair<std::string, evaluator::Row>>> answers_;
};

}  // namespace

fs::path sample_file(const SweepOptions& options) {
  constexpr std::size_t kDigits = 12;  // [chosen] two sweeps of one folder do not meet
  return options.log.string() + "." + definition_hash(options).substr(0, kDigits) + ".sample";
}

SweepSummary run_kept_sample(const SweepOptions& options, const std::function<SweepSummary(const SweepOptions&)>& run) {
  const fs::path file = sample_file(options);
  // The file goes when everything is in the log: a sweep that began to write and has none has ended.
  if (!fs::exists(file) && Writer(options, definition_hash(options)).checkpoint()) return run(options);
  SweepOptions sample = options;
  sample.keep.reset();
  sample.log = file;
  sample.objective.clear();
  if (options.keep->kind == KeepKind::worst) {  // a row without it is found out before thousands are asked for
    sample.outcome_limits.push_back({.fact = options.objective, .limit = std::numeric_limits<double>::infinity()});
  }
  const SweepSummary answered = run(sample);
  if (answered.status == SweepStatus::interrupted) {
    SweepSummary summary = answered;
    summary.sampled = std::exchange(summary.designs, 0);
    summary.definition_hash = definition_hash(options);
    return summary;
  }
  SweepOptions kept = options;
  kept.evaluator = std::make_shared<const Recorded>(options.evaluator, file);
  SweepSummary summary = run(kept);
  summary.elapsed_s += answered.elapsed_s;
  if (summary.status != SweepStatus::interrupted) {
    // The log itself goes last: as long as it is there, the same command removes the rest.
    for (const char* const part : {"-wal", "-shm", ""}) fs::remove(file.string() + part);
  }
  return summary;
}

}  // namespace hindsight::sweep

/// Draws a sample, asks the model again, and compares.
#include "hindsight/study/deep_verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>

#include "hindsight/accel/evaluation.h"
#include "hindsight/accel/model_version.h"
#include "hindsight/accel/technology.h"
#include "hindsight/core/error.h"
#include "hindsight/core/foreign_name.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/interrupt.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/random.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/network_context.h"
#include "hindsight/dataset/stored_space.h"
#include "hindsight/evaluator/built_in.h"
#include "hindsight/log/query.h"
#include "hindsight/workload/network.h"
#include "hindsight/workload/synthetic.h"

namespace hindsight::study {
namespace {

using log::EvaluationRecord;

constexpr const char* kBuiltInPrefix = "hindsight-accel ";

/// "hindsight-accel 3 22nm": the last word is the technology.
std::string technology_named_by(const std::string& evaluator_name) {
  return evaluator_name.substr(evaluator_name.rfind(' ') + 1);
}

/// How one said more than the other, in words; nothing when both say the same, bit by bit.
std::optional<std::string> differing_metric(const log::Metrics& stored, const evaluator::Row& row) {
  std::map<std::string, double> there(stored.begin(), stored.end()), here(row.metrics.begin(), row.metrics.end());
  for (const auto& [name, value] : here) {
    const auto found = there.find(name);
    if (found == there.end()) return fmt::format("{} is missing, and the model gives {}", name, shortest(value));
    if (found->second != value) {
      return fmt::format("{} is {}, and the model gives {}", name, shortest(found->second), shortest(value));
    }
    there.erase(found);
  }
  if (there.empty()) return std::nullopt;
  return fmt::format("{} is {}, and the model gives none", there.begin()->first, shortest(there.begin()->second));
}

std::string reason_text(const log::ViolationRow& reason) {
  return fmt::format("{} ({} {}, limit {}{}{})", printable(reason.code), printable(reason.quantity),
                     shortest(reason.value), shortest(reason.limit), reason.layer.empty() ? "" : ", ",
                     printable(reason.layer));
}

std::optional<std::string> difference_of(const EvaluationRecord& record, const evaluator::Row& row) {
  if (record.feasible != row.feasible) {
    return fmt::format("it is {}, and the model says {}", record.feasible ? "feasible" : "infeasible",
                       row.feasible ? "feasible" : "infeasible");
  }
  if (auto metric = differing_metric(metrics_of(record), row)) return metric;
  std::vector<std::string> stored, given;
  for (const log::ViolationRow& reason : record.violations) stored.push_back(reason_text(reason));
  for (const log::ViolationRow& reason : row.violations) given.push_back(reason_text(reason));
  std::sort(stored.begin(), stored.end());
  std::sort(given.begin(), given.end());
  if (stored == given) return std::nullopt;
  return fmt::format("its reasons are {}, and the model gives {}", stored.empty() ? "none" : join(stored, "; "),
                     given.empty() ? "none" : join(given, "; "));
}

class Repeater {
 public:
  Repeater(const log::Log& log, const DeepOptions& options, DeepVerification& result)
      : log_(log), options_(options), result_(result) {}

  void run() {
    load_networks();
    find_technologies();
    const std::unordered_set<std::int64_t> chosen = draw();
    std::map<Asked, std::vector<EvaluationRecord>> groups;
    log::for_each_evaluation(log_, {}, log::Detail::all, [&](const EvaluationRecord& record) {
      if (chosen.contains(record.evaluation_id)) groups[asked_of(record)].push_back(record);
      return true;
    });
    for (const auto& [asked, records] : groups) repeat(asked, records);
    for (const auto& [why, rows] : skipped_) {
      result_.skipped.push_back(fmt::format("{} not repeated: {}", counted(rows, "evaluation"), why));
    }
  }

 private:
  /// Space, evaluator, workload.
  using Asked = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  static Asked asked_of(const EvaluationRecord& record) {
    return {record.space_id, record.evaluator_id, record.workload_id};
  }

  /// Those whose names and definitions are the log's.
  void load_networks() {
    std::map<std::string, workload::Network> given;
    if (!options_.workloads.empty()) {
      for (workload::Network& network : workload::load_networks(options_.workloads)) {
        const std::string hash = network.definition_hash();
        given.emplace(hash, std::move(network));
      }
    }
    for (const log::WorkloadRecord& record : log::workloads(log_)) {
      if (const auto found = given.find(record.definition_hash); found != given.end()) {
        networks_.emplace(record.workload_id, found->second);
        continue;
      }
      try {
        if (!workload::names_synthetic_set(record.name)) foreign_name(record.name, "the log's workload", "");
        workload::Network network = workload::load_network(record.name);
        if (network.definition_hash() == record.definition_hash) {
          networks_.emplace(record.workload_id, std::move(network));
          continue;
        }
      } catch (const Error&) {
        // A network of a file: its name stands for nothing here.
      }
      why_not_workload_[record.workload_id] = fmt::format(
          "the network '{}' is not at hand as it was; name its file with --workloads", printable(record.name));
    }
  }

  void find_technologies() {
    for (const log::EvaluatorSummary& one : log::evaluators(log_)) {
      std::string& why = why_not_evaluator_[one.evaluator_id];
      if (!one.name.starts_with(kBuiltInPrefix)) {
        why = fmt::format("of the evaluator '{}', which is not built in", printable(one.name));
        continue;
      }
      try {
        accel::Technology technology =
            accel::in_version_of(accel::load_technology(foreign_name(technology_named_by(one.name),
                                                                     "the log's technology", "Verify without --deep")),
                                 one.name);
        if (sha256_hex(accel::evaluator_definition(technology)) == one.definition_hash) {
          why.clear();
          technologies_.emplace(one.evaluator_id, std::move(technology));
          continue;
        }
      } catch (const Error&) {
        // A technology of a file of somebody else.
      }
      why = fmt::format("of '{}' in another version of the model or its technology", printable(one.name));
    }
  }

  [[nodiscard]] std::unordered_set<std::int64_t> draw() {
    std::vector<std::int64_t> ids;
    log::for_each_evaluation(log_, {}, log::Detail::columns, [&](const EvaluationRecord& record) {
      ++result_.evaluations;
      if (!technologies_.contains(record.evaluator_id)) {
        ++skipped_[why_not_evaluator_[record.evaluator_id]];
      } else if (!networks_.contains(record.workload_id)) {
        ++skipped_[why_not_workload_[record.workload_id]];
      } else {
        ids.push_back(record.evaluation_id);
      }
      return true;
    });
    result_.repeatable = ids.size();
    const std::size_t count = std::min(options_.sample, ids.size());
    draw_first(ids, count, RandomStream(options_.seed, "log verify --deep"));
    return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  void repeat(const Asked& asked, const std::vector<EvaluationRecord>& records) {
    const auto& [space_id, evaluator_id, workload_id] = asked;
    std::string space_name;
    for (const log::SpaceSummary& space : log::spaces(log_)) {
      if (space.space_id == space_id) space_name = space.name;
    }
    std::shared_ptr<const evaluator::Evaluator> model;
    std::vector<std::uint16_t> levels;
    try {
      model = evaluator::built_in(dataset::stored_space(log_, space_name), technologies_.at(evaluator_id));
      for (const EvaluationRecord& record : records) {
        const space::Design design = model->space().parse_design(record.design_text_id);
        levels.insert(levels.end(), design.levels.begin(), design.levels.end());
      }
    } catch (const Error& error) {
      skipped_[fmt::format("designs of the space '{}' cannot be rebuilt ({})", printable(space_name), error.what())] +=
          records.size();
      return;
    }
    const std::vector<evaluator::Row> rows = model->evaluate(levels, std::span(&networks_.at(workload_id), 1), 0);
    for (std::size_t i = 0; i < rows.size(); ++i) compare(records[i], rows[i]);
    if (interrupt_requested()) throw Error(ErrorKind::interrupted, "interrupted while asking the model again");
  }

  void compare(const EvaluationRecord& record, const evaluator::Row& row) {
    ++result_.repeated;
    const auto difference = difference_of(record, row);
    if (!difference) return;
    auto& findings = result_.findings;
    if (findings.empty() || findings.back().kind != kOtherResult) {
      findings.push_back({.kind = kOtherResult,
                          .rows = 0,
                          .first = fmt::format("evaluation {}", record.evaluation_id),
                          .text = *difference,
                          .remedy = "The row was changed after it was written, or this program computes otherwise: "
                                    "`hindsight simulate` shows the design; sweep again into a new log"});
    }
    ++findings.back().rows;
  }

  static constexpr const char* kOtherResult = "another result";

  const log::Log& log_;
  const DeepOptions& options_;
  DeepVerification& result_;
  std::map<std::int64_t, workload::Network> networks_;
  std::map<std::int64_t, accel::Technology> technologies_;
  std::map<std::int64_t, std::string> why_not_workload_, why_not_evaluator_;
  std::map<std::string, std::uint64_t> skipped_;
};

/// Layers that are not those of the definition beside them, which has a hash.
void check_layers(const log::Log& log, DeepVerification& result) {
  log::DeepFinding finding{.kind = "layers",
                           .rows = 0,
                           .first = {},
                           .text = {},
                           .remedy =
                               "The row was changed after it was written, and what learns from layers refuses it: "
                               "restore the log from a copy, or sweep again into a new one"};
  for (const log::WorkloadRecord& record : log::workloads(log)) {
    const auto difference = dataset::layers_unlike_definition(record.layers_json, record.definition);
    if (!difference || finding.rows++ > 0) continue;
    finding.first = fmt::format("workload {}", record.workload_id);
    finding.text = fmt::format("'{}': {}", printable(record.name), *difference);
  }
  if (finding.rows > 0) result.findings.push_back(std::move(finding));
}

}  // namespace

DeepVerification verify_deeply(const log::Log& log, const DeepOptions& options) {
  DeepVerification result;
  result.findings = log::contradictions_in(log);
  check_layers(log, result);
  Repeater(log, options, result).run();
  return result;
}

}  // namespace hindsight::study

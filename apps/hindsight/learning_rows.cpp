/// Which rows of a log a verb learns from.
#include "learning_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/study/log_names.h"
#include "hindsight/workload/network.h"
#include "hindsight/workload/synthetic.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {

void add_learning_rows(CLI::App& verb, LearningRows& rows) {
  verb.add_option("--log", rows.log, "SQLite log to learn from")->required();
  verb.add_option("--workloads,--workload", rows.workloads, "Names a,b,c; prime9; synthetic:N [all of the log]");
  verb.add_option("--objective", rows.objective, "Product of powers of metrics [latency, or imported]");
  verb.add_flag("--maximise", rows.maximise, "Larger objectives are better");
  verb.add_option("--runs", rows.runs, "Only rows of these runs a,b,c")->delimiter(',')->check(between(1, INT64_MAX));
  repeatable(verb.add_option("--where", rows.where, "Only rows with METRIC<=NUMBER etc."));
  repeatable(verb.add_option("--constraint", rows.constraints, "Metric to learn as a limit of proposals"));
  verb.add_option("--space", rows.space, "Design space, where the log has several");
  verb.add_option("--evaluator", rows.evaluator, "Evaluator, where the log has several");
}

std::vector<std::string> names_of_list(const std::string& list) {
  return list.empty() || list == "all" ? std::vector<std::string>() : workload::names_in_list(list);
}

LearningRows with_log_names(LearningRows rows, bool quiet) {
  const log::Log log = log::Log::open(rows.log, log::OpenMode::read_only);
  const study::LearningWords words =
      study::with_log_names(log, {.objective = rows.objective, .constraints = rows.constraints, .where = rows.where});
  if (rows.objective.empty() && words.objective != "latency" && !quiet) {
    remark(fmt::format("objective: {}, that of the import", words.objective));
  }
  rows.objective = words.objective;
  rows.constraints = words.constraints;
  rows.where = words.where;
  return rows;
}

dataset::Selection selection_of(const LearningRows& rows) {
  dataset::Selection selection;
  selection.workloads = names_of_list(rows.workloads);
  selection.runs = rows.runs;
  if (!rows.space.empty()) selection.space = rows.space;
  if (!rows.evaluator.empty()) selection.evaluator = rows.evaluator;
  for (const std::string& condition : rows.where) selection.where.push_back(dataset::parse_condition(condition));
  selection.objective = dataset::parse_objective(
      rows.objective, rows.maximise ? dataset::Direction::maximise : dataset::Direction::minimise);
  selection.constraints = rows.constraints;
  return selection;
}

void leave_out_infeasible_synthetic(const LearningRows& rows, bool quiet, dataset::Selection& selection) {
  const std::vector<std::string> pieces = split(rows.workloads, ',');
  if (std::none_of(pieces.begin(), pieces.end(), workload::names_synthetic_set)) return;
  const log::Log log = log::Log::open(rows.log, log::OpenMode::read_only);
  std::set<std::string> infeasible;
  for (const log::WorkloadRecord& record : log::workloads(log)) {
    if (workload::synthetic_family_of(record.name)) infeasible.insert(record.name);
  }
  const log::EvaluationFilter filter{.evaluator = selection.evaluator, .space = selection.space};
  for (const log::WorkloadStats& stats : log::workload_stats(log, filter)) {
    if (stats.feasible > 0) infeasible.erase(stats.workload);
  }
  std::vector<std::string> kept;
  for (const std::string& name : selection.workloads) {
    if (!infeasible.contains(name)) kept.push_back(name);
  }
  if (kept.empty() || kept.size() == selection.workloads.size()) return;
  if (!quiet) {
    remark(fmt::format("{} of {} are left out: no logged design can run them", selection.workloads.size() - kept.size(),
                       counted(selection.workloads.size(), "workload")));
  }
  selection.workloads = std::move(kept);
}

}  // namespace hindsight::app

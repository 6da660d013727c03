/// Which rows of a log a verb learns from.
#include "learning_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/log/log.h"
#include "hindsight/log/metric_direction.h"
#include "hindsight/log/query.h"
#include "hindsight/report/take_over.h"
#include "hindsight/study/limits.h"
#include "hindsight/study/log_names.h"
#include "hindsight/study/stated_limits.h"
#include "hindsight/workload/network.h"
#include "hindsight/workload/synthetic.h"
#include "output.h"
#include "verbs.h"

namespace hindsight::app {
namespace {

/// "--max area_mm2=858 --max peak_power_w=2.5".
std::string stated_max(const evaluator::Evaluator& evaluator) {
  std::vector<std::string> words;
  for (const evaluator::StatedLimit& one : study::stated_limits_of(evaluator)) {
    words.push_back(fmt::format("--max {}={}", one.fact, shortest(one.most)));
  }
  return join(words, " ");
}

/// What is minimised has its limit in `propose` without a label of its own.
void require_other_constraints(const LearningRows& rows) {
  const auto objective = dataset::parse_objective(
      rows.objective, rows.maximise ? dataset::Direction::maximise : dataset::Direction::minimise);
  if (objective.factors.size() != 1 || objective.factors.front().exponent != 1) return;
  const dataset::Objective::Factor& factor = objective.factors.front();
  const auto same = std::ranges::find_if(
      rows.constraints, [&](const std::string& name) { return name == factor.metric || name == factor.short_name; });
  if (same == rows.constraints.end()) return;
  throw Error(ErrorKind::usage,
              fmt::format("--constraint {}: is the objective, which `propose --max {}=NUMBER` limits without it. Leave "
                          "it out",
                          printable(*same, 100), printable(*same, 100)));
}

}  // namespace

void add_learning_rows(CLI::App& verb, LearningRows& rows) {
  repeatable(verb.add_option("--log", rows.logs, "SQLite log to learn from; several: each once"))->required();
  verb.add_option("--workloads,--workload", rows.workloads, "Names a,b,c; prime9; synthetic:N [all of the log]");
  verb.add_option("--objective", rows.objective, "Product of powers of metrics [the log's own]")->check(not_empty());
  verb.add_flag("--maximise", rows.maximise, "Larger objectives are better");
  verb.add_option("--runs", rows.runs, "Only rows of these runs a,b,c")->delimiter(',')->check(between(1, INT64_MAX));
  repeatable(verb.add_option("--where", rows.where, "Only rows with METRIC<=NUMBER etc."));
  repeatable(verb.add_option("--constraint", rows.constraints, "Metric to learn as a limit of proposals"));
  verb.add_option("--space", rows.space, "Space of a log, or a newer one: name or file");
  repeatable(verb.add_option("--assume", rows.assumptions, "NAME=VALUE that an older space lacks"));
  verb.add_option("--evaluator", rows.evaluator, "Evaluator, where the log has several");
}

std::vector<std::string> words_of(const LearningRows& rows) {
  std::vector<std::string> words, runs;
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  for (const std::string& log : rows.logs) add("--log", log);
  add("--workloads", rows.workloads);
  add("--objective", rows.objective);
  if (rows.maximise) words.emplace_back("--maximise");
  for (const std::int64_t run : rows.runs) runs.push_back(std::to_string(run));
  add("--runs", join(runs, ","));
  for (const std::string& condition : rows.where) add("--where", condition);
  for (const std::string& metric : rows.constraints) add("--constraint", metric);
  add("--space", rows.space);
  for (const std::string& assumption : rows.assumptions) add("--assume", assumption);
  add("--evaluator", rows.evaluator);
  return words;
}

void remark_on_other_objectives(const std::string& objective, const std::set<std::string>& others) {
  if (others.empty()) return;
  remark(fmt::format("objective: {}; runs of the log were for {}, too: --objective {}", printable(objective, 60),
                     printable(join(std::vector(others.begin(), others.end()), ", "), 120),
                     shell_quoted(printable(*others.begin(), 60))));
}

std::vector<std::string> names_of_list(const std::string& list, const std::vector<std::string>& logs) {
  if (list.empty() || list == "all") return {};
  std::vector<std::string> known;
  if (list.find(',') != std::string::npos) {
    for (const std::string& file : logs) {
      for (const log::WorkloadRecord& one : log::workloads(log::Log::open(file, log::OpenMode::read_only))) {
        known.push_back(one.name);
      }
    }
  }
  return workload::names_in_list(list, known);
}

LearningRows with_log_names(LearningRows rows, bool quiet) {
  std::optional<study::LearningWords> words;
  bool more_is_better = false;
  std::set<std::string> maximised, others;
  const std::vector<std::string> workloads = names_of_list(rows.workloads, rows.logs);
  for (const std::string& file : rows.logs) {
    const log::Log log = log::Log::open(file, log::OpenMode::read_only);
    study::LearningWords own = study::with_log_names(
        log,
        {.objective = rows.objective, .constraints = rows.constraints, .where = rows.where, .workloads = workloads});
    maximised.merge(study::maximised_metrics(log));
    others.insert(own.others.begin(), own.others.end());
    more_is_better = maximised.contains(own.objective);
    if (words && own.objective != words->objective) {
      throw Error(ErrorKind::usage,
                  fmt::format("{} is optimised for {}, {} for {}. Name what is learned by --objective",
                              printable(rows.log(), 200), words->objective, printable(file, 200), own.objective));
    }
    if (!words) words = std::move(own);
  }
  const bool named = !rows.objective.empty(), turned = more_is_better && !named && !rows.maximise;
  rows.maximise = rows.maximise || turned;
  if (!quiet && named && more_is_better && !rows.maximise) {
    remark(fmt::format("objective: {}; small values are learnt as good, though the log says large ones: --maximise",
                       words->objective));
  }
  if (!quiet && !named && words->objective != "latency") {
    const char* direction = turned          ? "; large values are good, as it says (small ones: name the --objective)"
                            : rows.maximise ? ""
                                            : "; small values are good (--maximise: large ones)";
    remark(fmt::format("objective: {}, that of the log{}", words->objective, direction));
  }
  if (!quiet && !named) remark_on_other_objectives(words->objective, others);
  rows.objective = words->objective;
  rows.constraints = words->constraints;
  rows.where = words->where;
  require_other_constraints(rows);
  for (const std::string& label : rows.constraints) {
    if (quiet || log::direction_of(label, maximised) == Direction::minimise) continue;
    remark(
        fmt::format("--constraint {0}: more of it is better, and a limit (--max) bounds it from above alone; no front "
                    "takes it but as what is maximised: --objective {0} --maximise",
                    shell_quoted(printable(label, 60))));
  }
  return rows;
}

dataset::UnitedRows load_rows(const LearningRows& rows, const dataset::Selection& selection,
                              const Provenance& provenance, bool quiet) {
  std::vector<dataset::Assumption> assumptions;
  for (const std::string& text : rows.assumptions) assumptions.push_back(dataset::parse_assumption(text));
  dataset::UnitedRows united =
      dataset::load_logs({rows.logs.begin(), rows.logs.end()}, selection, assumptions, provenance);
  if (!quiet) {
    for (const std::string& text : report::take_over_texts(united)) remark(text);
  }
  united.data = learnable_rows(std::move(united.data), quiet);
  if (united.data.reason_rows && !quiet) {
    remark(fmt::format("recipes that learn margins take other reasons from {} of these",
                       with_commas(united.data.reason_rows->size())));
  }
  return united;
}

dataset::Dataset learnable_rows(dataset::Dataset data, bool quiet) {
  const auto evaluator = study::built_in_of_rows(data);
  if (!evaluator || data.size() == 0) return data;
  const std::size_t read = data.size();
  dataset::Dataset within = study::within_stated_limits(std::move(data), *evaluator);
  const std::size_t left_out = read - within.size();
  const std::string limits = study::stated_limits_text(study::stated_limits_of(*evaluator));
  if (within.size() == 0) {
    throw Error(ErrorKind::usage, fmt::format("all {} are of designs beyond {}, which no proposal may be. Sweep "
                                              "again with {}",
                                              counted(read, "row"), limits, stated_max(*evaluator)));
  }
  if (left_out > 0 && !quiet) {
    remark(fmt::format("{} of {} are left out: their designs are beyond {}, which `propose` keeps exactly",
                       with_commas(left_out), counted(read, "row"), limits));
  }
  return within;
}

std::string learnt_within(const dataset::Dataset& data) {
  const auto evaluator = study::built_in_of_rows(data);
  return evaluator ? study::stated_limits_text(study::stated_limits_of(*evaluator)) : "";
}

dataset::Selection selection_of(const LearningRows& rows) {
  dataset::Selection selection;
  selection.workloads = names_of_list(rows.workloads, rows.logs);
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
  std::set<std::string> infeasible, feasible;
  for (const std::string& file : rows.logs) {
    const log::Log log = log::Log::open(file, log::OpenMode::read_only);
    for (const log::WorkloadRecord& record : log::workloads(log)) {
      if (workload::synthetic_family_of(record.name)) infeasible.insert(record.name);
    }
    log::EvaluationFilter filter{.evaluator = selection.evaluator};
    for (const log::SpaceSummary& space : log::spaces(log)) {
      if (space.name == selection.space) filter.space = selection.space;
    }
    for (const log::WorkloadStats& stats : log::workload_stats(log, filter)) {
      if (stats.feasible > 0) feasible.insert(stats.workload);
    }
  }
  for (const std::string& name : feasible) infeasible.erase(name);
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

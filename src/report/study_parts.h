/// What the sections of a study's report share.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "hindsight/log/query.h"
#include "hindsight/report/study_report.h"
#include "report/study_scan.h"

namespace hindsight::report {

/// A proposal, or an optimum, with what was predicted and what is true, per workload.
struct StoredProposal {
  std::int64_t run_id = 0, design_id = 0, rank = 1;
  std::string kind;  ///< of the run
  std::string design, objective;
  std::int64_t evaluator_id = 0;     ///< whose rows answer it; 0: none
  std::optional<double> value = {};  ///< predicted, or proven
  struct OnWorkload {
    std::string name;
    double predicted = 0;               ///< NaN: not known
    double p_feasible = 0;              ///< NaN: not known
    std::optional<bool> feasible = {};  ///< nothing: no evaluation answers
    std::optional<double> truth = {};   ///< of the objective; nothing: infeasible, or not known
  };
  std::vector<OnWorkload> workloads = {};
  std::string predicted_json, verdict_json;
};

struct StudyContext {
  StudyContext(const log::Log& of, const StudySources& beside, StudyReport& into)
      : log(of), sources(beside), report(into) {}

  const log::Log& log;
  const StudySources& sources;
  StudyReport& report;
  std::int64_t evaluator_id = 0;  ///< whose rows the figures are of; 0: none has any
  StudyScan scan = {};
  std::optional<ChosenDesign> chosen = {};
  std::vector<StoredProposal> proposals = {};  ///< newest run first, by rank
  std::vector<log::RunInfo> runs = {};         ///< newest first
  /// Metrics of scan.metrics by (workload, design), of proposals that have a row.
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> proposal_metrics = {};
  std::string left_out = {};  ///< rows of other evaluators, in words; empty: none

  /// Index of a design among those of the report.
  int design(const std::string& text_id);

 private:
  std::unordered_map<std::string, int> indices_;
};

/// "latency_s" as "latency, s".
[[nodiscard]] std::string metric_label(const std::string& name);
/// A value of a metric or objective as a person reads it: "1.23 ms".
[[nodiscard]] std::string study_value(const std::string& name, double value);
/// The metric that an objective is: "latency" is latency_s; a product stays as it is.
[[nodiscard]] std::string objective_metric(const std::string& objective);
/// The metric of which more is better, where the objective is its reciprocal: study_value() shows that metric.
[[nodiscard]] std::optional<std::string> maximised_objective(const std::string& objective);
/// A value of the objective as study_value() shows it: of that metric.
[[nodiscard]] double shown_of_objective(const std::string& objective, double of_objective);
/// True over predicted, of values as study_value() shows them.
[[nodiscard]] double true_over_predicted(const std::string& objective, double truth, double predicted);
/// Codes of a set of reasons.
[[nodiscard]] std::vector<std::string> reason_codes(const StudyScan& scan, std::uint32_t reasons);

/// Those that have rows, the one with the most first.
[[nodiscard]] std::vector<log::EvaluatorSummary> evaluators_by_rows(const log::Log& log);
/// The objective as an SQL expression of evaluation e, smaller is better; empty where its text is not one.
[[nodiscard]] std::string objective_sql(const std::string& objective);
/// Whether more of a metric is better: by itself, or as `maximised` says.
[[nodiscard]] bool is_maximised(const std::string& metric, const std::set<std::string>& maximised);
/// Metrics that the log, or `more`, says are maximised.
[[nodiscard]] std::set<std::string> maximised_with(const log::Log& log, const std::set<std::string>& more);

/// Truths are means of the measurements of one evaluator: of `evaluator_id` where it has any, else of the newest.
[[nodiscard]] std::vector<StoredProposal> stored_proposals(const log::Log& log, std::int64_t evaluator_id);
/// What an evaluator said of the whole proposal; nothing: nobody was asked, or it is infeasible.
[[nodiscard]] std::optional<double> truth_of(const StoredProposal& proposal);
[[nodiscard]] bool known_infeasible(const StoredProposal& proposal);
/// Of the newest run that proposed: the best where an evaluator was asked, else the first that is not known to be
/// infeasible, else the first. Null: nothing was proposed.
[[nodiscard]] const StoredProposal* proposal_to_build(const std::vector<StoredProposal>& proposals);
[[nodiscard]] const StoredProposal* first_proposal(const StudyContext& context);
/// Of the newest optimum; null: none.
[[nodiscard]] const StoredProposal* first_optimum(const StudyContext& context);

void answer(StudyContext& context);
[[nodiscard]] ReportSection pareto_section(StudyContext& context);
[[nodiscard]] ReportSection parameter_section(StudyContext& context);
[[nodiscard]] ReportSection reason_section(StudyContext& context);
[[nodiscard]] ReportSection trust_section(StudyContext& context);
[[nodiscard]] ReportSection backtest_section(StudyContext& context);
[[nodiscard]] ReportSection importance_section(StudyContext& context);
[[nodiscard]] ReportSection training_section(StudyContext& context);
[[nodiscard]] ReportSection roofline_section(StudyContext& context);
[[nodiscard]] ReportSection layer_section(StudyContext& context);
[[nodiscard]] ReportSection round_section(StudyContext& context);
[[nodiscard]] ReportSection provenance_section(StudyContext& context);

/// The report's rows are of nobody, or of the model that the exact optimum and comparisons with GPUs are of.
[[nodiscard]] bool is_built_in(const StudyContext& context);

}  // namespace hindsight::report

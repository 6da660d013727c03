/// Names as a user writes them, and the names that a log has: imported metrics are logged under the snake_case names of
/// their columns.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "hindsight/log/log.h"
#include "hindsight/log/query.h"

namespace hindsight::study {

/// What the designs of a workload are compared by when the user names nothing.
struct OwnObjective {
  std::string metric = {};
  std::set<std::string> others = {};  ///< what other runs that wrote its rows were for
};
/// The rule, by workload, of the rows that are selected: latency_s where it was logged, unless every run that wrote
/// such rows was for another metric (an import, what was told, a campaign, a search, a sweep for an objective; those
/// that answer for others, `propose --simulate` and workers, and those for a product are not heard); else what the
/// newest run that wrote rows was for; else what was asked for last; else the only metric that the log has of its own;
/// else latency_s.
[[nodiscard]] std::map<std::string, OwnObjective> own_objectives(const log::Log& log,
                                                                 const log::EvaluationFilter& filter = {});

/// What several workloads are compared by together.
struct CommonObjective {
  std::string metric = {};                            ///< the one that all have, else latency_s
  std::set<std::string> others = {};                  ///< what other runs were for
  std::map<std::string, std::string> by_metric = {};  ///< a workload by its metric, where latency_s is nobody's
  std::vector<std::string> unsaid = {};               ///< metrics of the rows, of which no run says which is optimised
};
/// Of these workloads; none named: of all. latency_s where the log has no row of them.
[[nodiscard]] CommonObjective common_objective(const log::Log& log, const std::vector<std::string>& workloads = {});
/// Its metric, for all workloads.
[[nodiscard]] std::string own_objective(const log::Log& log);
/// Why the metric is no answer: a clause about the log; empty where it is one.
[[nodiscard]] std::string doubt_about(const CommonObjective& common);

/// What the selected rows are compared by, by the runs that wrote them: of rows with latency_s as own_objectives() says
/// of their workload, of others what their run was for. Not empty.
[[nodiscard]] std::set<std::string> own_objectives_of(const log::Log& log, const log::EvaluationFilter& filter);

/// Metrics of which more is better, because the newest ask for one of them alone said so; without an ask, the newest
/// run for it: proposals, a campaign, a search, a sweep for an objective, a training, or an import whose file says so.
/// What log::direction_of() knows is not among them (log/metric_direction.h takes both).
[[nodiscard]] std::set<std::string> maximised_metrics(const log::Log& log);

/// The evaluator whose rows count: `wanted`, else the only one that has rows; "" where none has. Error{usage} where
/// several have.
[[nodiscard]] std::string evaluator_of_rows(const log::Log& log, const std::string& wanted);

/// Technologies that the built-in model evaluated a design with, each once, by its text id; of a design without such
/// rows, those that its proposals were verified with, and without these all that the log has rows of. Empty: no row is
/// of the built-in model.
[[nodiscard]] std::vector<std::string> technologies_of(const log::Log& log, const std::string& text_id);
/// That of an evaluator by its name in a log, with noise or without; "" where it is no built-in model.
[[nodiscard]] std::string technology_of_evaluator(const std::string& name);
/// That a proposal was verified with, by its verdict in a log; "" where the verdict says none.
[[nodiscard]] std::string technology_of_verdict(const std::string& verdict_json);

/// The design whose hash id (space/short_id.h) begins with `id`, in small letters or capitals. Error{usage}: `id` is no
/// short id, the log has no such design, or several. Of spaces that share it, the newest.
[[nodiscard]] log::LoggedDesign design_of_id(const log::Log& log, const std::string& id);

/// `word`, or what is known of it: its snake_case ("util_BRAM" is util_bram), or the metric that it is the short name
/// of ("latency" is latency_s, "area" area_mm2, "peak_power" peak_power_w). What begins with an operator stays as it
/// is: -throughput is not throughput.
[[nodiscard]] std::string known_name(const std::string& word, const std::vector<std::string>& known);

/// The same for every metric in a product of powers of metrics.
[[nodiscard]] std::string known_objective(const std::string& text, const std::vector<std::string>& known);

/// What rows are ranked by: one metric, and whether the word states that more of it is better ("1/throughput").
struct RankingMetric {
  std::string metric;
  bool maximised = false;
};
/// By the names of a log. Error{usage} for a product, a power, and for a sign before a metric, saying what to write.
[[nodiscard]] RankingMetric ranking_metric(const std::string& word, const std::vector<std::string>& known);

/// What a person says is to be learned.
struct LearningWords {
  std::string objective;  ///< empty: the log's own
  std::vector<std::string> constraints;
  std::vector<std::string> where;           ///< conditions such as "area_mm2<=50"
  std::vector<std::string> workloads = {};  ///< of which the log's own objective is looked for; empty: all
  std::set<std::string> others = {};        ///< returned: where none was named, what other runs were for
};
/// The same by the names that the log has, with its own objective where none was named ("latency" for latency_s).
/// Error{usage} where these workloads are optimised for several metrics, latency_s none of them, or where nothing says
/// for which.
[[nodiscard]] LearningWords with_log_names(const log::Log& log, const LearningWords& words);

}  // namespace hindsight::study

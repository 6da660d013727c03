/// Renders what a log holds: contents and runs, feasibility and its reasons, best designs, Pareto fronts.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hindsight/log/log.h"
#include "hindsight/log/query.h"
#include "hindsight/report/design_table.h"
#include "hindsight/study/log_names.h"

namespace hindsight::report {

/// What to tell of a log.
struct LogQuery {
  log::EvaluationFilter filter = {};
  std::string metric = "";                              ///< by which designs are best; empty = each workload's own
  std::map<std::string, study::OwnObjective> own = {};  ///< by workload; latency_s where one is missing
  std::set<std::string> maximised = {};                 ///< metrics of which more is better, besides the known ones
  std::size_t top = 3;                                  ///< best designs per workload
  std::size_t runs = 5;                                 ///< newest runs; of a filter for one run that one
  std::vector<std::string> pareto = {};                 ///< metrics of the front; empty = none
  DesignStyle designs = DesignStyle::compact;           ///< in text
  std::vector<std::string> columns = {};                ///< of tables of best designs, in text; empty = all
};

/// The metric by which designs of this workload are best.
[[nodiscard]] std::string metric_of(const LogQuery& query, const std::string& workload);

/// What runs that wrote rows of this workload were for besides metric_of() it; none where a metric is named.
[[nodiscard]] std::set<std::string> other_metrics_of(const LogQuery& query, const std::string& workload);

/// Whether more or less of a metric is better.
[[nodiscard]] Direction direction_of(const LogQuery& query, const std::string& metric);

/// The best designs of a workload by metric_of() it. None where no row is feasible: an import in which everything
/// failed has its objective's name and no value of it.
[[nodiscard]] std::vector<log::RankedEvaluation> best_designs_of(const log::Log& log, const LogQuery& query,
                                                                 const log::WorkloadStats& workload);

/// Contents, newest runs, best designs per workload.
[[nodiscard]] std::string log_contents_text(const log::Log& log, const LogQuery& query, int columns);
[[nodiscard]] std::string log_contents_json(const log::Log& log, const LogQuery& query);

/// The design of query.filter.design: whole, and a row per evaluation that the filter selects.
[[nodiscard]] std::string logged_design_text(const log::Log& log, const LogQuery& query, int columns);
[[nodiscard]] std::string logged_design_json(const log::Log& log, const LogQuery& query);

/// Per workload: rows, feasible share, reasons, best designs, Pareto front.
[[nodiscard]] std::string log_statistics_text(const log::Log& log, const LogQuery& query, int columns);
[[nodiscard]] std::string log_statistics_json(const log::Log& log, const LogQuery& query);

[[nodiscard]] std::string verification_text(const log::Log& log, const log::Verification& verification, int columns);
[[nodiscard]] std::string verification_json(const log::Log& log, const log::Verification& verification);

}  // namespace hindsight::report

/// Reading a log: summaries, reasons, best designs, Pareto fronts, runs, and every row for the dataset layer.
///
/// Everything is typed; names of workloads, evaluators, spaces and metrics are looked up, and an unknown one is
/// Error{usage} with the nearest that the log has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hindsight/core/direction.h"
#include "hindsight/log/log.h"

namespace hindsight::log {

/// Which evaluations: all conditions that are set must hold.
struct EvaluationFilter {
  std::optional<std::string> workload = {};
  std::optional<std::string> evaluator =
      {};  ///< name, which several definitions may share, or an evaluator_reference()
  std::optional<std::string> space = {};
  std::optional<std::int64_t> run_id = {};
  std::optional<bool> feasible = {};
  std::optional<std::string> design = {};  ///< text id
};

struct TableCount {
  std::string table;
  std::uint64_t rows = 0;
};

struct SpaceSummary {
  std::int64_t space_id = 0;
  std::string name;
  std::string definition;  ///< canonical text of the space
  std::string definition_hash;
  std::string designs_view;  ///< empty before the first design
  std::uint64_t designs = 0;
};

struct EvaluatorSummary {
  std::int64_t evaluator_id = 0;
  std::string name;
  std::string definition_hash;
  std::string definition;
  std::uint64_t evaluations = 0;
  std::uint64_t repeats = 0;  ///< of those, measurements beyond the first of a design and workload
};

/// What a log holds.
struct Summary {
  int schema_version = 0;
  std::string created_at;          ///< UTC, ISO 8601
  std::string created_by_version;  ///< of Hindsight
  std::uint64_t file_bytes = 0;    ///< with the write-ahead log
  std::vector<TableCount> tables;
  std::vector<SpaceSummary> spaces;
  std::vector<EvaluatorSummary> evaluators;
  /// Rows of a table. The table must be one of `tables`.
  [[nodiscard]] std::uint64_t rows(const std::string& table) const;
};
/// Counts every table, which reads most of a large log once.
[[nodiscard]] Summary summary(const Log& log);
/// The registered spaces alone, by id.
[[nodiscard]] std::vector<SpaceSummary> spaces(const Log& log);
/// The evaluators alone, by id.
[[nodiscard]] std::vector<EvaluatorSummary> evaluators(const Log& log);
/// What tells `one` from the others of a log: its name, with '@' and the first digits of its definition's hash where
/// another has that name (another version of a simulator, an import in other roles).
[[nodiscard]] std::string evaluator_reference(const std::vector<EvaluatorSummary>& all, const EvaluatorSummary& one);
/// Those of `all` that a word means: all of this name, else by '@' and four digits or more of the hash behind the name.
[[nodiscard]] std::vector<EvaluatorSummary> evaluators_meant(const std::vector<EvaluatorSummary>& all,
                                                             const std::string& word);

/// A design that the log has: evaluated, proposed or asked for.
struct LoggedDesign {
  std::int64_t space_id = 0;
  std::string text_id;
};
/// The first `most` of the designs whose content hash begins with these hexadecimal digits (1 to 16 of 0-9, a-f), by
/// space and hash.
[[nodiscard]] std::vector<LoggedDesign> designs_by_hash(const Log& log, const std::string& digits,
                                                        std::size_t most = 5);

/// By whom and on what a design was evaluated, and how judged, in every space that has it.
struct DesignHistory {
  std::vector<std::string> evaluators;  ///< names of those that have rows of it, each once, by id
  std::vector<std::string> workloads;   ///< names of those that it was evaluated on, likewise
  std::vector<std::string> verdicts;    ///< verdict_json of its proposals, oldest first
};
[[nodiscard]] DesignHistory design_history(const Log& log, const std::string& text_id);

/// How often a reason makes designs infeasible. One evaluation may have several reasons.
struct ReasonCount {
  std::string code;
  std::uint64_t evaluations = 0;
  double share_of_infeasible_frac = 0;
};

struct WorkloadStats {
  std::int64_t workload_id = 0;
  std::string workload;
  std::int64_t batch = 0;
  std::uint64_t evaluations = 0;
  std::uint64_t feasible = 0;
  std::vector<ReasonCount> reasons;  ///< most frequent first
  /// 0 when there is no evaluation.
  [[nodiscard]] double feasible_frac() const {
    return evaluations == 0 ? 0.0 : static_cast<double>(feasible) / static_cast<double>(evaluations);
  }
};
/// Workloads that have matching evaluations, by name.
[[nodiscard]] std::vector<WorkloadStats> workload_stats(const Log& log, const EvaluationFilter& filter = {});

/// A run that wrote evaluations of a workload.
struct WorkloadOrigin {
  std::string workload;
  std::int64_t run_id = 0;
  bool has_latency = false;  ///< some of them have latency_s
};
/// By workload and run, of the evaluations that are selected.
[[nodiscard]] std::vector<WorkloadOrigin> workload_origins(const Log& log, const EvaluationFilter& filter = {});

/// Names that best_designs() and pareto_front() accept: the standard metrics, then the others of this log by name.
[[nodiscard]] std::vector<std::string> metric_names(const Log& log);

/// Of metric_names() those that feasible rows have (of the others any row): what a message offers. Reads all of a log
/// that is not counted in blocks.
[[nodiscard]] std::vector<std::string> metrics_with_values(const Log& log);

/// How many feasible evaluations of a workload have each metric; what none has is left out.
[[nodiscard]] std::map<std::string, std::uint64_t> metric_counts(const Log& log, const std::string& workload,
                                                                 EvaluationFilter filter = {});

/// A feasible evaluation with the metrics that were asked for.
struct RankedEvaluation {
  std::int64_t evaluation_id = 0;
  std::int64_t design_id = 0;
  std::string design_text_id;
  std::string evaluator;  ///< evaluator_reference()
  std::int64_t repeat = 0;
  std::vector<double> values;  ///< in the order of the metrics asked for
};

/// The best `limit` feasible evaluations of a workload by one metric; ties in the order of the design's text id.
/// Evaluations without the metric do not take part.
[[nodiscard]] std::vector<RankedEvaluation> best_designs(const Log& log, const std::string& workload,
                                                         const std::string& metric, std::size_t limit,
                                                         Direction direction = Direction::minimise,
                                                         const EvaluationFilter& filter = {});

/// Feasible evaluations of a workload that no other is better than in one metric without being worse in another; equal
/// ones are all kept. More is better of `maximised` and of what direction_of() knows. Sorted by the metrics in the
/// order given, the best of the first one first. Error{usage} for fewer than two metrics.
[[nodiscard]] std::vector<RankedEvaluation> pareto_front(const Log& log, const std::string& workload,
                                                         const std::vector<std::string>& metrics,
                                                         const EvaluationFilter& filter = {},
                                                         const std::set<std::string>& maximised = {});

/// Positions of the points that are not dominated (smaller is better in every coordinate), in lexicographic order of
/// the points. All points have the same number of coordinates.
[[nodiscard]] std::vector<std::size_t> non_dominated(const std::vector<std::vector<double>>& points);

struct RunInfo {
  std::int64_t run_id = 0;
  std::string kind;
  std::string status;  ///< "running" also for a run that was killed
  std::string started_at;
  std::string ended_at;  ///< empty when it has not ended
  std::string command_line;
  std::string version;
  std::string commit;
  std::string host;
  std::string user;
  std::string options_json;
  std::uint64_t evaluations_inserted = 0;
  std::uint64_t evaluations_present = 0;
  std::uint64_t rows_rejected = 0;
};
/// The newest `limit` runs, newest first; or the one of that number.
[[nodiscard]] std::vector<RunInfo> recent_runs(const Log& log, std::size_t limit,
                                               std::optional<std::int64_t> run_id = {});

/// Runs of a kind and a host that have not ended, those that were killed among them; newest first.
[[nodiscard]] std::vector<RunInfo> unended_runs(const Log& log, RunKind kind, const std::string& host);

/// One evaluation with everything the log knows about it. Reused between calls: copy what must stay.
struct EvaluationRecord {
  std::int64_t evaluation_id = 0;
  std::int64_t design_id = 0;
  std::int64_t workload_id = 0;
  std::int64_t evaluator_id = 0;
  std::int64_t run_id = 0;
  std::int64_t space_id = 0;
  std::int64_t repeat = 0;  ///< number of the measurement, from 0
  std::string design_text_id;
  bool feasible = false;
  std::vector<double> standard;  ///< in the order of standard_metrics(); NaN = not recorded
  std::vector<std::pair<std::string, double>> other_metrics;  ///< by name
  std::vector<ViolationRow> violations;
};

/// Names and values.
using Metrics = std::vector<std::pair<std::string, double>>;
/// What was recorded: the standard metrics in their order, then the others by name (none with Detail::columns).
[[nodiscard]] Metrics metrics_of(const EvaluationRecord& record);

/// How much of a record for_each_evaluation() reads.
enum class Detail {
  columns,  ///< `other_metrics` and `violations` stay empty
  all,
};

/// Calls `callback` for every matching evaluation in the order of evaluation_id, until it returns false. Memory does
/// not grow with the log. The rows are those of one moment, whatever other processes append meanwhile.
void for_each_evaluation(const Log& log, const EvaluationFilter& filter, Detail detail,
                         const std::function<bool(const EvaluationRecord&)>& callback);

/// A workload as stored.
struct WorkloadRecord {
  std::int64_t workload_id = 0;
  std::string name;
  std::int64_t batch = 0;
  std::string definition_hash;
  std::string definition;
  std::string layers_json;
  int context_version = 0;
  std::vector<std::pair<std::string, double>> context;
};
/// All workloads by id.
[[nodiscard]] std::vector<WorkloadRecord> workloads(const Log& log);

/// A stored proposal with the names behind its ids.
struct ProposalRecord {
  std::int64_t proposal_id = 0;
  std::int64_t run_id = 0;
  std::int64_t rank = 1;
  std::string space;  ///< name in the log
  std::string design_text_id;
  std::string objective;
  std::string predicted_json;
  std::optional<std::string> verdict_json = {};  ///< nothing: not checked
};
/// Proposals of one run by rank; without `run_id`, of the newest run that has any, of an optimum's only where no other
/// has. Empty when the log has none.
/// Error{usage} for a run without proposals, naming runs that have some.
[[nodiscard]] std::vector<ProposalRecord> proposals(const Log& log, std::optional<std::int64_t> run_id);

/// What a run proposed, or found to be optimal, in short.
struct ProposingRun {
  std::int64_t run_id = 0;
  std::string kind;
  std::uint64_t designs = 0;
  std::string objective;
  std::string first_design_text_id;             ///< of the smallest rank
  std::optional<double> first_value = {};       ///< of `objective`, as predicted or proven; nothing: none is stored
  std::optional<std::string> first_proof = {};  ///< kind of the proof, of an optimum
};
/// The newest `limit` runs that have proposals, newest first; or the one of that number, if it has some.
[[nodiscard]] std::vector<ProposingRun> proposing_runs(const Log& log, std::size_t limit,
                                                       std::optional<std::int64_t> run_id = {});

}  // namespace hindsight::log

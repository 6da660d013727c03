/// Contents and statistics of a log as JSON.
#include "hindsight/core/json_bounds.h"
#include "hindsight/log/metric_direction.h"
#include "hindsight/report/log_summary.h"
#include "hindsight/space/short_id.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

Json ranked_json(const std::vector<log::RankedEvaluation>& ranked, const std::vector<std::string>& metrics) {
  Json json = Json::array();
  for (const log::RankedEvaluation& evaluation : ranked) {
    Json entry{{"evaluation_id", evaluation.evaluation_id},
               {"evaluator", evaluation.evaluator},
               {"repeat", evaluation.repeat},
               {"id", space::short_id(evaluation.design_text_id)},
               {"design", evaluation.design_text_id}};
    for (std::size_t i = 0; i < metrics.size(); ++i) entry[metrics[i]] = evaluation.values[i];
    json.push_back(entry);
  }
  return json;
}

const char* direction_word(const LogQuery& query, const std::string& metric) {
  return direction_of(query, metric) == Direction::maximise ? "maximise" : "minimise";
}

Json workloads_json(const log::Log& log, const LogQuery& query) {
  Json json = Json::array();
  for (const log::WorkloadStats& stats : log::workload_stats(log, query.filter)) {
    Json reasons = Json::array();
    for (const log::ReasonCount& reason : stats.reasons) {
      reasons.push_back({{"code", reason.code},
                         {"evaluations", reason.evaluations},
                         {"share_of_infeasible_frac", reason.share_of_infeasible_frac}});
    }
    const std::string metric = metric_of(query, stats.workload);
    const auto best = best_designs_of(log, query, stats);
    Json entry{{"workload", stats.workload},
               {"batch", stats.batch},
               {"evaluations", stats.evaluations},
               {"feasible", stats.feasible},
               {"feasible_frac", stats.feasible_frac()},
               {"reasons", reasons},
               {"best_by", metric},
               {"best_direction", direction_word(query, metric)},
               {"other_objectives", other_metrics_of(query, stats.workload)},
               {"best", ranked_json(best, {metric})}};
    if (!query.pareto.empty()) {
      entry["pareto_metrics"] = query.pareto;
      entry["pareto_directions"] = Json::array();
      for (const std::string& one : query.pareto) entry["pareto_directions"].push_back(direction_word(query, one));
      const auto front = log::pareto_front(log, stats.workload, query.pareto, query.filter, query.maximised);
      entry["pareto"] = ranked_json(front, query.pareto);
    }
    json.push_back(entry);
  }
  return json;
}

Json run_json(const log::RunInfo& run) {
  // What another program wrote as options may be no JSON; then it is told as text.
  const Json options = Json::parse(bounded_json(run.options_json), nullptr, false);
  Json json{{"run_id", run.run_id},
            {"kind", run.kind},
            {"status", run.status},
            {"started_at", run.started_at},
            {"ended_at", nullptr},
            {"command_line", run.command_line},
            {"version", run.version},
            {"commit", run.commit},
            {"host", run.host},
            {"user", run.user},
            {"options", options.is_discarded() ? Json(run.options_json) : options},
            {"evaluations_inserted", run.evaluations_inserted},
            {"evaluations_present", run.evaluations_present},
            {"rows_rejected", run.rows_rejected}};
  if (!run.ended_at.empty()) json["ended_at"] = run.ended_at;
  return json;
}

}  // namespace

std::string log_contents_json(const log::Log& log, const LogQuery& query) {
  const log::Summary summary = log::summary(log);
  Json json{{"log", log.path().string()},
            {"schema_version", summary.schema_version},
            {"created_at", summary.created_at},
            {"created_by_version", summary.created_by_version},
            {"file_bytes", summary.file_bytes}};
  json["rows"] = Json::object();
  for (const log::TableCount& table : summary.tables) json["rows"][table.table] = table.rows;
  json["spaces"] = Json::array();
  for (const log::SpaceSummary& space : summary.spaces) {
    json["spaces"].push_back({{"name", space.name},
                              {"definition_hash", space.definition_hash},
                              {"designs_view", space.designs_view},
                              {"designs", space.designs}});
  }
  json["evaluators"] = Json::array();
  for (const log::EvaluatorSummary& evaluator : summary.evaluators) {
    json["evaluators"].push_back({{"name", evaluator.name},
                                  {"definition_hash", evaluator.definition_hash},
                                  {"evaluations", evaluator.evaluations},
                                  {"repeats", evaluator.repeats}});
  }
  json["runs"] = Json::array();
  for (const log::RunInfo& run : log::recent_runs(log, query.runs, query.filter.run_id)) {
    json["runs"].push_back(run_json(run));
  }
  json["proposed"] = Json::array();
  for (const log::ProposingRun& run : log::proposing_runs(log, query.runs, query.filter.run_id)) {
    Json one{{"run_id", run.run_id},
             {"kind", run.kind},
             {"designs", run.designs},
             {"objective", run.objective},
             {"first_design", run.first_design_text_id}};
    one["first_value"] = value_or_null(run.first_value);
    one["first_proof"] = value_or_null(run.first_proof);
    json["proposed"].push_back(std::move(one));
  }
  json["workloads"] = workloads_json(log, query);
  return to_text(json);
}

std::string log_statistics_json(const log::Log& log, const LogQuery& query) {
  return to_text({{"log", log.path().string()}, {"workloads", workloads_json(log, query)}});
}

std::string verification_json(const log::Log& log, const log::Verification& verification) {
  Json json{{"log", log.path().string()}, {"sound", verification.sound()}, {"problems", verification.problems}};
  if (!verification.sound()) json["remedy"] = "hindsight log repair LOG --out NEW.sqlite";
  return to_text(json);
}

}  // namespace hindsight::report

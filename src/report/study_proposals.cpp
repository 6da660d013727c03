/// What a log's runs proposed, with the rows that answer them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/study/log_names.h"
#include "report/json.h"
#include "report/study_parts.h"
#include "report/study_sql.h"

namespace hindsight::report {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
/// Proposals that are read, the newest. [chosen] more than a person proposes
constexpr int kMostStored = 20'000;

double number_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : kNotKnown;
}

std::string text_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

/// Objects of a list under a key; none where it is no list.
std::vector<Json> objects_of(const Json& json, const char* key) {
  std::vector<Json> objects;
  if (!json.is_object() || !json.contains(key) || !json[key].is_array()) return objects;
  for (const Json& one : json[key]) {
    if (one.is_object()) objects.push_back(one);
  }
  return objects;
}

void read_workloads(StoredProposal& proposal, const std::string& own_workload) {
  const Json predicted = Json::parse(bounded_json(proposal.predicted_json), nullptr, false);
  for (const Json& one : objects_of(predicted, "workloads")) {
    proposal.workloads.push_back({.name = text_of(one, "name"),
                                  .predicted = number_of(one, "objective"),
                                  .p_feasible = number_of(one, "p_feasible")});
  }
  if (proposal.workloads.empty() && !own_workload.empty()) {
    const double p = predicted.is_object() ? number_of(predicted, "p_feasible") : kNotKnown;
    proposal.workloads.push_back(
        {.name = own_workload, .predicted = proposal.value.value_or(kNotKnown), .p_feasible = p});
  }
  const Json verdict = Json::parse(bounded_json(proposal.verdict_json), nullptr, false);
  for (const Json& one : objects_of(verdict, "workloads")) {
    for (StoredProposal::OnWorkload& workload : proposal.workloads) {
      if (workload.name != text_of(one, "name")) continue;
      const double truth = number_of(one, "objective");
      workload.feasible = !std::isnan(truth);
      if (*workload.feasible) workload.truth = truth;
    }
  }
}

/// Rows that answer proposals of one objective, as stored_proposals() says.
void read_truth(const log::Log& log, const std::string& objective, std::int64_t evaluator_id,
                std::vector<StoredProposal>& proposals) {
  const std::string value = objective_sql(objective);
  if (value.empty()) return;
  std::map<std::int64_t, std::vector<StoredProposal*>> by_design;
  for (StoredProposal& proposal : proposals) {
    if (proposal.objective == objective) by_design[proposal.design_id].push_back(&proposal);
  }
  // What comes last stays.
  log::SqlQuery query(
      log, fmt::format("SELECT e.design_id, w.name, e.evaluator_id, CASE WHEN {} THEN 1 ELSE 0 END, {} FROM "
                       "evaluations e JOIN workloads w USING (workload_id) WHERE e.design_id IN (SELECT design_id "
                       "FROM proposals WHERE objective = {}) GROUP BY e.design_id, e.workload_id, e.evaluator_id, "
                       "w.name ORDER BY CASE WHEN e.evaluator_id = {} THEN 1 ELSE 0 END, max(e.evaluation_id)",
                       kSqlMostlyFeasible, sql_feasible_mean(value), sql_quoted(objective), evaluator_id));
  std::vector<log::SqlValue> row;
  while (query.next(row)) {
    const auto found = by_design.find(sql_int(row[0]));
    if (found == by_design.end()) continue;
    for (StoredProposal* proposal : found->second) {
      for (StoredProposal::OnWorkload& workload : proposal->workloads) {
        if (workload.name != sql_text(row[1])) continue;
        proposal->evaluator_id = sql_int(row[2]);
        workload.feasible = sql_int(row[3]) != 0;
        const double truth = sql_number(row[4]);
        workload.truth = *workload.feasible && !std::isnan(truth) ? std::optional(truth) : std::nullopt;
      }
    }
  }
}

std::int64_t main_evaluator(const log::Log& log) {
  const std::vector<log::EvaluatorSummary> all = evaluators_by_rows(log);
  return all.empty() ? 0 : all.front().evaluator_id;
}

/// Whether logarithms of a metric can be compared: no feasible row has 0 or below.
bool is_positive(const log::Log& log, const std::string& metric) {
  log::SqlQuery query(log, fmt::format("SELECT min({}) FROM evaluations e WHERE e.feasible = 1", metric));
  std::vector<log::SqlValue> row;
  return query.next(row) && sql_number(row[0]) > 0;
}

/// Where, by whom and on what a logged design runs.
void describe(const log::Log& log, std::int64_t design_id, std::int64_t evaluator_id, ChosenDesign& chosen) {
  log::SqlQuery query(
      log, fmt::format("SELECT d.text_id, s.name, s.definition, w.name, v.name FROM evaluations e JOIN designs d USING "
                       "(design_id) JOIN spaces s USING (space_id) JOIN workloads w USING (workload_id) JOIN "
                       "evaluators v USING (evaluator_id) WHERE e.design_id = {} AND e.evaluator_id = {} GROUP BY "
                       "d.text_id, s.name, s.definition, w.name, v.name HAVING {} ORDER BY w.name",
                       design_id, evaluator_id, kSqlMostlyFeasible));
  std::vector<log::SqlValue> row;
  while (query.next(row)) {
    chosen.text_id = sql_text(row[0]);
    chosen.space = sql_text(row[1]);
    chosen.space_definition = sql_text(row[2]);
    chosen.workloads.push_back(sql_text(row[3]));
    chosen.evaluator = sql_text(row[4]);
  }
}

/// What the log leaves open of what its designs are compared by, and which command shows the rest.
std::string doubt_of(const log::Log& log, const study::CommonObjective& common) {
  const std::string show = "hindsight log show " + pasted_path(log.path().string());
  const std::string doubt = study::doubt_about(common);
  const auto ranks_by = [&](const std::string& metric) {
    return fmt::format("'{} --metric {}'", show, shell_quoted(printable(metric, 60)));
  };
  if (!common.by_metric.empty()) return fmt::format("The log {}: '{}' has the best of each.", doubt, show);
  if (!doubt.empty()) return fmt::format("In the log {}: {} ranks by one.", doubt, ranks_by(common.unsaid.front()));
  if (common.others.empty()) return "";
  const std::string names = join(std::vector(common.others.begin(), common.others.end()), ", ");
  return fmt::format("The best is by {}; runs of the log were for {}, too: {} ranks by that.",
                     printable(common.metric, 60), printable(names, 120), ranks_by(*common.others.begin()));
}

/// The logged design that is best on all workloads together, where it has the objective on the most of them; of the
/// evaluator with the most rows, if that has the objective at all.
std::optional<ChosenDesign> best_logged(const log::Log& log, const std::set<std::string>& maximised) {
  const study::CommonObjective common = study::common_objective(log);
  ChosenDesign chosen{.objective = common.metric, .doubt = doubt_of(log, common)};
  const bool more = is_maximised(chosen.objective, maximised_with(log, maximised));
  const std::string metric = sql_metric(chosen.objective);
  chosen.geometric = is_positive(log, metric);
  const std::string together = fmt::format("avg({})", chosen.geometric ? sql_logarithm("m.value") : "m.value");
  const std::int64_t evaluator = main_evaluator(log);
  std::vector<log::SqlValue> row;
  {
    log::SqlQuery query(
        log, fmt::format("SELECT m.design_id, m.evaluator_id, {0} FROM (SELECT e.design_id, e.evaluator_id, {1} AS "
                         "value FROM evaluations e GROUP BY e.design_id, e.workload_id, e.evaluator_id HAVING {2}) m "
                         "GROUP BY m.design_id, m.evaluator_id ORDER BY CASE WHEN count(m.value) = 0 THEN 2 WHEN "
                         "m.evaluator_id = {3} THEN 0 ELSE 1 END, count(m.value) DESC, {4}{0}, m.design_id LIMIT 1",
                         together, sql_feasible_mean(metric), kSqlMostlyFeasible, evaluator, more ? "-" : ""));
    if (!query.next(row)) return std::nullopt;
  }
  if (const double value = sql_number(row[2]); !std::isnan(value)) {
    chosen.value = chosen.geometric ? std::exp(value) : value;
  }
  describe(log, sql_int(row[0]), sql_int(row[1]), chosen);
  return chosen;
}

}  // namespace

std::string objective_sql(const std::string& text) {
  try {
    std::string sql;
    for (const dataset::Objective::Factor& factor : dataset::parse_objective(text, Direction::minimise).factors) {
      sql += fmt::format("{}pow({}, {})", sql.empty() ? "" : " * ", sql_metric(factor.metric), factor.exponent);
    }
    return sql;
  } catch (const Error&) {
    return {};  // a log of another program may name what we do not read: no truth is known then
  }
}

std::vector<StoredProposal> stored_proposals(const log::Log& log, std::int64_t evaluator_id) {
  std::vector<StoredProposal> proposals;
  {
    log::SqlQuery query(
        log, fmt::format("SELECT p.run_id, p.design_id, p.rank, r.kind, d.text_id, p.objective, p.predicted_value, "
                         "p.predicted_json, p.verdict_json, w.name FROM proposals p JOIN runs r USING (run_id) JOIN "
                         "designs d USING (design_id) LEFT JOIN workloads w ON w.workload_id = p.workload_id ORDER BY "
                         "p.run_id DESC, p.rank, p.proposal_id LIMIT {}",
                         kMostStored));
    std::vector<log::SqlValue> row;
    while (query.next(row)) {
      StoredProposal proposal{.run_id = sql_int(row[0]),
                              .design_id = sql_int(row[1]),
                              .rank = sql_int(row[2]),
                              .kind = sql_text(row[3]),
                              .design = sql_text(row[4]),
                              .objective = sql_text(row[5]),
                              .predicted_json = sql_text(row[7]),
                              .verdict_json = sql_text(row[8])};
      if (const double value = sql_number(row[6]); !std::isnan(value)) proposal.value = value;
      read_workloads(proposal, sql_text(row[9]));
      proposals.push_back(std::move(proposal));
    }
  }
  std::vector<std::string> objectives;
  for (const StoredProposal& proposal : proposals) {
    if (std::find(objectives.begin(), objectives.end(), proposal.objective) == objectives.end()) {
      objectives.push_back(proposal.objective);
    }
  }
  for (const std::string& objective : objectives) read_truth(log, objective, evaluator_id, proposals);
  return proposals;
}

std::optional<double> truth_of(const StoredProposal& proposal) {
  const Json verdict = Json::parse(bounded_json(proposal.verdict_json), nullptr, false);
  if (verdict.is_object() && verdict.contains("value") && verdict["value"].is_number())
    return verdict["value"].get<double>();
  if (proposal.workloads.size() == 1) return proposal.workloads.front().truth;
  return std::nullopt;
}

bool known_infeasible(const StoredProposal& proposal) {
  return std::any_of(proposal.workloads.begin(), proposal.workloads.end(),
                     [](const auto& workload) { return workload.feasible && !*workload.feasible; });
}

const StoredProposal* proposal_to_build(const std::vector<StoredProposal>& proposals) {
  const StoredProposal *first = nullptr, *best = nullptr;
  std::optional<double> least;
  for (const StoredProposal& one : proposals) {
    if (one.kind == "optimum" || one.kind == "ask") continue;
    if (first == nullptr) first = &one;
    if (one.run_id != first->run_id || one.objective != first->objective || known_infeasible(one)) continue;
    const std::optional<double> truth = truth_of(one);
    if (best == nullptr || (truth && (!least || *truth < *least))) {
      best = &one;
      least = truth;
    }
  }
  return best != nullptr ? best : first;
}

const StoredProposal* first_proposal(const StudyContext& context) { return proposal_to_build(context.proposals); }

const StoredProposal* first_optimum(const StudyContext& context) {
  const auto first = std::find_if(context.proposals.begin(), context.proposals.end(),
                                  [](const StoredProposal& one) { return one.kind == "optimum"; });
  return first == context.proposals.end() ? nullptr : &*first;
}

std::optional<ChosenDesign> chosen_design(const log::Log& log, const std::set<std::string>& maximised) {
  const std::vector<StoredProposal> proposals = stored_proposals(log, main_evaluator(log));
  const StoredProposal* proposal = proposal_to_build(proposals);
  if (proposal == nullptr) return best_logged(log, maximised);
  ChosenDesign chosen{.text_id = proposal->design, .objective = proposal->objective, .proposed = true};
  std::vector<log::SqlValue> row;
  {
    log::SqlQuery query(log, fmt::format("SELECT s.name, s.definition FROM designs d JOIN spaces s USING (space_id) "
                                         "WHERE d.design_id = {}",
                                         proposal->design_id));
    if (query.next(row)) {
      chosen.space = sql_text(row[0]);
      chosen.space_definition = sql_text(row[1]);
    }
  }
  for (const StoredProposal::OnWorkload& workload : proposal->workloads) chosen.workloads.push_back(workload.name);
  const Json verdict = Json::parse(bounded_json(proposal->verdict_json), nullptr, false);
  if (verdict.is_object()) {
    chosen.technology = text_of(verdict, "technology");
    if (chosen.technology.empty() && verdict.contains("gpus") && verdict["gpus"].is_object()) {
      chosen.technology = text_of(verdict["gpus"], "technology");
    }
  }
  log::SqlQuery query(log,
                      "SELECT v.name, count(*) AS n FROM evaluations e JOIN evaluators v USING (evaluator_id) "
                      "GROUP BY v.evaluator_id, v.name ORDER BY n DESC LIMIT 1");
  if (query.next(row)) chosen.evaluator = sql_text(row[0]);
  return chosen;
}

}  // namespace hindsight::report

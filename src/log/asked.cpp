/// Reads which asked designs have no answer.
#include "hindsight/log/asked.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "hindsight/core/json_bounds.h"
#include "log/filter.h"
#include "log/impl.h"

namespace hindsight::log {
namespace {

/// An answer is an evaluation by what was asked, whichever definition of it.
enum class Answered { left_out, kept };
std::string asked_sql(Database database, Answered answered) {
  const std::string evaluator =
      database.on_server() ? "(CAST(r.options_json AS JSONB) ->> 'evaluator')" : "(r.options_json ->> '$.evaluator')";
  const std::string unanswered = fmt::format(
      "AND NOT EXISTS (SELECT 1 FROM evaluations e JOIN evaluators v ON v.evaluator_id = e.evaluator_id "
      "WHERE e.design_id = p.design_id AND e.workload_id = p.workload_id AND v.name = {}) ",
      evaluator);
  return fmt::format(
      "WITH firsts AS (SELECT min(p.proposal_id) AS proposal_id FROM proposals p JOIN runs r ON r.run_id = p.run_id "
      "WHERE r.kind = 'ask' AND p.verdict_json IS NULL {1}"
      "GROUP BY p.design_id, p.workload_id, {0}) "
      "SELECT p.proposal_id, p.run_id, p.created_at, d.space_id, d.text_id, w.name, {0}, p.objective, "
      "p.predicted_value, p.predicted_json FROM firsts f JOIN proposals p ON p.proposal_id = f.proposal_id "
      "JOIN runs r ON r.run_id = p.run_id JOIN designs d ON d.design_id = p.design_id "
      "JOIN workloads w ON w.workload_id = p.workload_id ORDER BY 1",
      evaluator, answered == Answered::left_out ? unanswered : "");
}

/// Nothing where a prediction states none, or is no JSON.
std::optional<double> p_feasible_of(const std::string& predicted_json) {
  const auto predicted = nlohmann::json::parse(bounded_json(predicted_json), nullptr, false);
  if (!predicted.is_object()) return std::nullopt;
  const auto found = predicted.find("p_feasible");
  return found != predicted.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::vector<PendingDesign> read_asked(const Log& log, Answered answered) {
  Log::Impl& impl = log.impl();
  return impl.guarded("reading what was asked", [&] {
    std::vector<PendingDesign> pending;
    Statement query(impl.database, asked_sql(impl.database, answered));
    while (query.step()) {
      PendingDesign& one = pending.emplace_back();
      one.proposal_id = query.column(0).integer();
      one.run_id = query.column(1).integer();
      one.space_id = query.column(3).integer();
      one.asked_at = text_of(query, 2);
      int column = 4;
      for (std::string* text : {&one.design_text_id, &one.workload, &one.evaluator, &one.objective}) {
        *text = text_of(query, column++);
      }
      if (!query.column(column).is_null()) one.predicted = query.column(column).number();
      one.p_feasible = p_feasible_of(text_of(query, column + 1));
    }
    return pending;
  });
}

/// Of those in `asked`, by name, in the order of the asks.
std::vector<std::string> evaluators_of(const std::vector<PendingDesign>& asked, std::int64_t space_id,
                                       const std::vector<AnsweredDesign>& answered) {
  std::set<std::pair<std::string_view, std::string_view>> designs;
  for (const AnsweredDesign& one : answered) designs.emplace(one.design_text_id, one.workload);
  std::vector<std::string> names;
  for (const PendingDesign& one : asked) {
    if (one.space_id != space_id || std::find(names.begin(), names.end(), one.evaluator) != names.end()) continue;
    const bool is_answered =
        designs.contains({one.design_text_id, one.workload}) || designs.contains({one.design_text_id, ""});
    if (is_answered) names.push_back(one.evaluator);
  }
  return names;
}

/// Nothing for what `ask` did not write.
std::optional<AskRun> ask_of(const std::string& options_json) {
  try {
    const auto options = nlohmann::json::parse(bounded_json(options_json));
    AskRun run;
    options.at("space").get_to(run.space);
    options.at("evaluator").get_to(run.evaluator);
    options.at("objective").get_to(run.objective);
    options.at("metrics").get_to(run.metrics);
    return run;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<PendingDesign> pending_designs(const Log& log) { return read_asked(log, Answered::left_out); }

std::vector<std::string> asked_evaluators(const Log& log, std::int64_t space_id,
                                          const std::vector<AnsweredDesign>& answered) {
  std::vector<std::string> names = evaluators_of(pending_designs(log), space_id, answered);
  return names.empty() ? evaluators_of(read_asked(log, Answered::kept), space_id, answered) : names;
}

std::string told_definition(const std::string& evaluator) { return fmt::format("{}, told\n", evaluator); }

std::vector<AskRun> asks(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("reading what was asked", [&] {
    std::vector<AskRun> runs;
    Statement query(impl.database, "SELECT run_id, options_json FROM runs WHERE kind = 'ask' ORDER BY 1 DESC");
    while (query.step()) {
      if (auto run = ask_of(text_of(query, 1))) {
        run->run_id = query.column(0).integer();
        runs.push_back(std::move(*run));
      }
    }
    return runs;
  });
}

void forget(Log& log, const std::vector<PendingDesign>& pending) {
  std::vector<std::pair<std::int64_t, std::string>> verdicts;
  for (const PendingDesign& one : pending) verdicts.emplace_back(one.proposal_id, R"({"forgotten":true})");
  log.set_verdicts(verdicts);
}

}  // namespace hindsight::log

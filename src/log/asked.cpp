/// Reads which asked designs have no answer.
#include "hindsight/log/asked.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "hindsight/core/json_bounds.h"
#include "hindsight/log/query.h"
#include "log/filter.h"
#include "log/impl.h"

namespace hindsight::log {
namespace {

constexpr const char* kDefinition = "evaluator_definition";  ///< of the one version that an ask is of, as a hash

/// An option of the run r.
std::string option_sql(Database database, const std::string& name) {
  return database.on_server() ? fmt::format("(CAST(r.options_json AS JSONB) ->> '{}')", name)
                              : fmt::format("(r.options_json ->> '$.{}')", name);
}

/// An answer is an evaluation by what was asked: by the version that the ask is of, where it is of one.
enum class Answered { left_out, kept };
std::string asked_sql(Database database, Answered answered) {
  const std::string evaluator = option_sql(database, "evaluator"), definition = option_sql(database, kDefinition);
  const std::string unanswered = fmt::format(
      "AND NOT EXISTS (SELECT 1 FROM evaluations e JOIN evaluators v ON v.evaluator_id = e.evaluator_id "
      "WHERE e.design_id = p.design_id AND e.workload_id = p.workload_id AND v.name = {0} "
      "AND ({1} IS NULL OR v.definition_hash = {1})) ",
      evaluator, definition);
  return fmt::format(
      "WITH firsts AS (SELECT min(p.proposal_id) AS proposal_id FROM proposals p JOIN runs r ON r.run_id = p.run_id "
      "WHERE r.kind = 'ask' AND p.verdict_json IS NULL {1}"
      "GROUP BY p.design_id, p.workload_id, {0}, {2}) "
      "SELECT p.proposal_id, p.run_id, p.created_at, d.space_id, d.text_id, w.name, {0}, p.objective, "
      "p.predicted_value, p.predicted_json, {2} FROM firsts f JOIN proposals p ON p.proposal_id = f.proposal_id "
      "JOIN runs r ON r.run_id = p.run_id JOIN designs d ON d.design_id = p.design_id "
      "JOIN workloads w ON w.workload_id = p.workload_id ORDER BY 1",
      evaluator, answered == Answered::left_out ? unanswered : "", definition);
}

/// The word for whom an ask is of; `definition` is the hash of one version, or empty.
std::string reference_of(const std::vector<EvaluatorSummary>& all, const std::string& name,
                         const std::string& definition) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const EvaluatorSummary& one) {
    return one.name == name && one.definition_hash == definition;
  });
  return found == all.end() ? name : evaluator_reference(all, *found);
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
    const std::vector<EvaluatorSummary> evaluators = registered_evaluators(impl);
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
      one.definition = text_of(query, column + 2);
      one.reference = reference_of(evaluators, one.evaluator, one.definition);
    }
    return pending;
  });
}

/// Of those in `asked`, by reference, in the order of the asks.
std::vector<std::string> evaluators_of(const std::vector<PendingDesign>& asked, std::int64_t space_id,
                                       const std::vector<AnsweredDesign>& answered) {
  std::set<std::pair<std::string_view, std::string_view>> designs;
  for (const AnsweredDesign& one : answered) designs.emplace(one.design_text_id, one.workload);
  std::vector<std::string> references;
  std::set<std::string> of_one_version;  // names
  for (const PendingDesign& one : asked) {
    const bool is_known = std::find(references.begin(), references.end(), one.reference) != references.end();
    if (one.space_id != space_id || is_known) continue;
    const bool is_answered =
        designs.contains({one.design_text_id, one.workload}) || designs.contains({one.design_text_id, ""});
    if (!is_answered) continue;
    references.push_back(one.reference);
    if (one.reference != one.evaluator) of_one_version.insert(one.evaluator);
  }
  std::erase_if(references, [&](const std::string& one) { return of_one_version.contains(one); });
  return references;
}

/// Nothing for what `ask` did not write.
std::optional<AskRun> ask_of(const std::vector<EvaluatorSummary>& evaluators, const std::string& options_json) {
  try {
    const auto options = nlohmann::json::parse(bounded_json(options_json));
    AskRun run;
    options.at("space").get_to(run.space);
    options.at("evaluator").get_to(run.evaluator);
    options.at("objective").get_to(run.objective);
    options.at("metrics").get_to(run.metrics);
    run.reference = reference_of(evaluators, run.evaluator, options.value(kDefinition, ""));
    return run;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<PendingDesign> pending_designs(const Log& log) { return read_asked(log, Answered::left_out); }

std::vector<std::string> asked_evaluators(const Log& log, std::int64_t space_id,
                                          const std::vector<AnsweredDesign>& answered) {
  std::vector<std::string> references = evaluators_of(pending_designs(log), space_id, answered);
  return references.empty() ? evaluators_of(read_asked(log, Answered::kept), space_id, answered) : references;
}

std::string told_definition(const std::string& evaluator) { return fmt::format("{}, told\n", evaluator); }

std::vector<AskRun> asks(const Log& log) {
  Log::Impl& impl = log.impl();
  return impl.guarded("reading what was asked", [&] {
    const std::vector<EvaluatorSummary> evaluators = registered_evaluators(impl);
    std::vector<AskRun> runs;
    Statement query(impl.database, "SELECT run_id, options_json FROM runs WHERE kind = 'ask' ORDER BY 1 DESC");
    while (query.step()) {
      if (auto run = ask_of(evaluators, text_of(query, 1))) {
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

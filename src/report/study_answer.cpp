/// The answer of a study: the design, what it gains, against whom, and what is not certain.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hindsight/core/error.h"
#include "hindsight/core/json_bounds.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/space/short_id.h"
#include "hindsight/study/log_names.h"
#include "report/json.h"
#include "report/study_parts.h"
#include "report/study_sql.h"

namespace hindsight::report {
namespace {

Json options_of(const StudyContext& context, std::int64_t run_id) {
  for (const log::RunInfo& run : context.runs) {
    if (run.run_id == run_id) return Json::parse(bounded_json(run.options_json), nullptr, false);
  }
  return nullptr;
}

std::string string_at(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
}

/// Names of what run `options` was about, sorted.
std::vector<std::string> networks_of(const Json& options) {
  std::vector<std::string> names;
  if (!options.is_object() || !options.contains("workloads")) return names;
  for (const Json& one : options["workloads"]) {
    if (one.is_object()) names.push_back(string_at(one, "name"));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// "area_mm2=29" of --max as SQL conditions on the means of a design's measurements; those that are no metric of the
/// log are named in `left_out`.
std::string limit_conditions(const StudyContext& context, const Json& options, std::vector<std::string>& left_out) {
  std::string sql;
  const std::vector<std::string> known = log::metric_names(context.log);
  for (const auto& [key, sign] : {std::pair("max", "<="), std::pair("min", ">=")}) {
    if (!options.is_object() || !options.contains(key) || !options[key].is_array()) continue;
    for (const Json& entry : options[key]) {
      if (!entry.is_string()) continue;
      const std::string text = entry.get<std::string>();
      const std::size_t equals = text.find('=');
      const std::string name = text.substr(0, equals);
      const std::optional<double> bound =
          equals == std::string::npos ? std::nullopt : parse_double(text.substr(equals + 1));
      if (bound && std::find(known.begin(), known.end(), name) != known.end()) {
        sql += fmt::format(" AND {} {} {}", sql_feasible_mean(sql_metric(name)), sign, *bound);
      } else {
        left_out.push_back(text);
      }
    }
  }
  return sql;
}

struct BestLogged {
  std::string design;
  double value = 0;
};

/// The best design that was logged before the run and answers the same question, each by the means of its measurements,
/// of the evaluator that answers the proposal where it has one; nothing: none, or the question's aggregate is not one
/// of ours.
std::optional<BestLogged> best_before(const StudyContext& context, const StoredProposal& proposal,
                                      const std::string& limits, const std::string& aggregate) {
  const std::string objective = objective_sql(proposal.objective);
  if (objective.empty()) return std::nullopt;
  const bool is_one = proposal.workloads.size() == 1;
  const std::string value = !is_one && aggregate == "geomean" ? sql_logarithm("m.value") : "m.value";
  std::string together;
  if (is_one) together = fmt::format("min({})", value);
  if (aggregate == "geomean" && together.empty()) together = fmt::format("exp(avg({}))", value);
  if (aggregate == "mean" && together.empty()) together = fmt::format("avg({})", value);
  if (aggregate == "worst" && together.empty()) together = fmt::format("max({})", value);
  if (together.empty()) return std::nullopt;
  std::string names;
  for (const auto& workload : proposal.workloads) names += (names.empty() ? "" : ", ") + sql_quoted(workload.name);
  const std::string means = fmt::format(
      "SELECT e.design_id, e.evaluator_id, {} AS value FROM evaluations e JOIN workloads w USING "
      "(workload_id) WHERE e.run_id < {} AND w.name IN ({}) GROUP BY e.design_id, e.workload_id, "
      "e.evaluator_id HAVING {}{}",
      sql_feasible_mean(objective), proposal.run_id, names, kSqlMostlyFeasible, limits);
  log::SqlQuery query(
      context.log,
      fmt::format("SELECT d.text_id, q.together FROM (SELECT m.design_id, {0} AS together FROM ({1}) m GROUP BY "
                  "m.design_id, m.evaluator_id HAVING count({2}) = {3} ORDER BY CASE m.evaluator_id WHEN {4} THEN 0 "
                  "WHEN {5} THEN 1 ELSE 2 END, {0}, m.design_id LIMIT 1) q JOIN designs d USING (design_id)",
                  together, means, value, proposal.workloads.size(), proposal.evaluator_id, context.evaluator_id));
  std::vector<log::SqlValue> row;
  if (!query.next(row)) return std::nullopt;
  return BestLogged{.design = sql_text(row[0]), .value = sql_number(row[1])};
}

/// "1.27 times as fast" for a latency, else "1.27 times as good"; with as many digits as tell it from 1, but for what
/// is equal to a millionth: "as fast".
std::string times_better(const std::string& metric, double ratio) {
  constexpr int kMostDigits = 6;  // [chosen] far below what a model or a measurement knows
  const char* word = objective_metric(metric) == "latency_s" ? "as fast" : "as good";
  for (int digits = 2; digits <= kMostDigits; ++digits) {
    const std::string shown = fmt::format("{:.{}f}", ratio, digits);
    if (parse_double(shown) == 1.0) continue;
    return fmt::format("{} times {}{}", shown, word, ratio < 1 ? " (worse)" : "");
  }
  return word;
}

/// How much better than the log's best: a ratio, or, of values of 0 or below, which have none, a difference.
std::string gain_text(const std::string& objective, double logged, double value) {
  if (logged > 0 && value > 0) return times_better(objective, logged / value);
  return fmt::format("{:.4g} {}", std::abs(logged - value), value <= logged ? "better" : "worse");
}

std::string workloads_text(const StoredProposal& proposal) {
  std::vector<std::string> names;
  for (const auto& workload : proposal.workloads) names.push_back(printable(workload.name));
  if (names.size() <= 3) return join(names, ", ");
  return fmt::format("{} and {} more", names.front(), counted(names.size() - 1, "workload"));
}

/// An optimum of the same question: its value, whichever run proved it.
std::optional<double> optimum_of(const StudyContext& context, const StoredProposal& proposal, std::string& proof) {
  const Json verdict = Json::parse(bounded_json(proposal.verdict_json), nullptr, false);
  if (verdict.is_object() && verdict.contains("rank") && verdict["rank"].is_object() &&
      verdict["rank"].contains("optimum") && verdict["rank"]["optimum"].is_number()) {
    proof = "from the landscape of all designs";
    return verdict["rank"]["optimum"].get<double>();
  }
  const Json own = options_of(context, proposal.run_id);
  std::vector<std::string> networks;
  for (const auto& workload : proposal.workloads) networks.push_back(workload.name);
  std::sort(networks.begin(), networks.end());
  for (const StoredProposal& optimum : context.proposals) {
    if (optimum.kind != "optimum" || optimum.rank != 1 ||
        objective_metric(optimum.objective) != objective_metric(proposal.objective))
      continue;
    const Json options = options_of(context, optimum.run_id);
    const auto same = [&](const char* key) {
      return own.is_object() && options.is_object() &&
             own.value(key, Json::array()) == options.value(key, Json::array());
    };
    const bool aggregate = networks.size() == 1 || string_at(own, "aggregate") == string_at(options, "aggregate");
    if (networks_of(options) != networks || !same("max") || !same("min") || !same("set") || !aggregate) continue;
    proof = string_at(Json::parse(bounded_json(optimum.predicted_json), nullptr, false), "proof");
    return optimum.value;
  }
  return std::nullopt;
}

/// Sentences of `hindsight check` that are stored beside the proposal.
std::vector<std::string> gpu_verdicts(const StoredProposal& proposal) {
  std::vector<std::string> sentences;
  const Json verdict = Json::parse(bounded_json(proposal.verdict_json), nullptr, false);
  if (!verdict.is_object() || !verdict.contains("gpus") || !verdict["gpus"].is_object()) return sentences;
  for (const Json& network : verdict["gpus"].value("networks", Json::array())) {
    if (network.is_object() && !string_at(network, "verdict").empty()) {
      sentences.push_back(fmt::format("{}: {}", string_at(network, "network"), string_at(network, "verdict")));
    }
  }
  return sentences;
}

void gain_over_log(StudyContext& context, const StoredProposal& proposal, double value, bool is_true) {
  const Json options = options_of(context, proposal.run_id);
  std::vector<std::string> unknown_limits;
  const std::string limits = limit_conditions(context, options, unknown_limits);
  const std::optional<BestLogged> best = best_before(context, proposal, limits, string_at(options, "aggregate"));
  if (!best) {
    context.report.facts.push_back(
        {.label = "Gain over the log's best",
         .value = "not known",
         .detail = "no earlier logged design runs every workload within the limits, or the aggregate is weighted"});
    return;
  }
  const std::string dropped =
      unknown_limits.empty() ? "" : fmt::format("; without the limit {}", printable(join(unknown_limits, ", ")));
  if (best->design == proposal.design) {  // its measurements are one value: it neither gains nor loses
    context.report.facts.push_back({.label = "Gain over the log's best",
                                    .value = "none",
                                    .detail = fmt::format("it is the log's best itself, logged before with {}{}",
                                                          study_value(proposal.objective, best->value), dropped)});
    return;
  }
  context.report.facts.push_back({.label = fmt::format("{} over the log's best", is_true ? "Gain" : "Predicted gain"),
                                  .value = gain_text(proposal.objective, best->value, value),
                                  .detail = fmt::format("{} has {}{}", space::short_id(best->design),
                                                        study_value(proposal.objective, best->value), dropped)});
  if (is_true && best->value < value && dropped.empty()) {
    context.report.headline = fmt::format(
        "Keep design {} for {}, {}, which was logged before: the best proposal, {}, has {}.",
        space::short_id(best->design), workloads_text(proposal), study_value(proposal.objective, best->value),
        space::short_id(proposal.design), study_value(proposal.objective, value));
  }
}

void distance_to_optimum(StudyContext& context, const StoredProposal& proposal, double value) {
  std::string proof;
  const bool more_is_better = maximised_objective(proposal.objective).has_value();
  const char* label = more_is_better ? "Below the exact optimum" : "Above the exact optimum";
  const std::optional<double> optimum = optimum_of(context, proposal, proof);
  if (!optimum && !is_built_in(context)) return;  // nothing proves one of another simulator
  if (!optimum) {
    context.report.facts.push_back(
        {.label = label,
         .value = "not known",
         .detail = "the log has no optimum of this question ('hindsight optimum --log' proves one)"});
    return;
  }
  const double ratio = more_is_better ? *optimum / value : value / *optimum;  // of values as they are shown
  context.report.facts.push_back({.label = label,
                                  .value = fmt::format("{:+.1f} %", 100 * (ratio - 1)),
                                  .detail = fmt::format("{}, {}", study_value(proposal.objective, *optimum), proof)});
}

/// What gives the truth about a proposal that nobody was asked about.
std::string truth_remedy(const StudyContext& context, const StoredProposal& proposal) {
  if (is_built_in(context)) return "'hindsight propose --simulate', or 'hindsight tell'";
  std::vector<std::string> metrics;
  try {
    metrics = dataset::objective_metrics(proposal.objective);
  } catch (const Error&) {
    metrics = {proposal.objective};  // a word of another program
  }
  for (std::string& metric : metrics) metric = csv_cell(metric);
  const bool several = proposal.workloads.size() > 1;
  return fmt::format(
      "write what your simulator says of it into a file with the header 'design,{}{}' and, below{}, '{},...', then "
      "'hindsight tell FILE --log {}'. 'hindsight ask' makes such files of the next designs",
      several ? "workload," : "", printable(join(metrics, ",")), several ? " for each workload" : "",
      space::short_id(proposal.design), pasted_path(context.log.path().string()));
}

void proposal_doubts(StudyContext& context, const StoredProposal& proposal) {
  std::vector<std::string>& doubts = context.report.doubts;
  const Json predicted = Json::parse(bounded_json(proposal.predicted_json), nullptr, false);
  if (!predicted.is_object()) return;
  const auto flag = [&](const char* key) { return predicted.contains(key) && predicted[key] == true; };
  if (predicted.contains("p_feasible") && predicted["p_feasible"].is_number() && !truth_of(proposal)) {
    doubts.push_back(fmt::format("The model gives it a probability of {:.2f} to be feasible.",
                                 predicted["p_feasible"].get<double>()));
  }
  if (flag("extrapolated"))
    doubts.emplace_back("The model had not learned this workload: the predicted value is a guess, the ranking is not.");
  if (flag("lifted"))
    doubts.emplace_back(
        "The predicted value was lifted to what arithmetic and DRAM traffic allow: the model was too hopeful there.");
  if (predicted.contains("nearest_logged_distance") && predicted["nearest_logged_distance"].is_number()) {
    const double distance = predicted["nearest_logged_distance"].get<double>();
    if (distance > 0)
      doubts.push_back(fmt::format("The nearest logged design differs in {} of its parameters.", shortest(distance)));
  }
  if (!truth_of(proposal) && !known_infeasible(proposal)) {
    doubts.push_back(fmt::format("No evaluator has been asked about it: {}.", truth_remedy(context, proposal)));
  }
  if (gpu_verdicts(proposal).empty() && is_built_in(context))
    doubts.emplace_back("It was not compared with GPUs: 'hindsight check --log' does.");
}

/// "latency of 1.2 ms", "gops (more is better) of 15".
std::string named_value(const std::string& objective, double value) {
  const std::optional<std::string> maximised = maximised_objective(objective);
  const std::string name = maximised                                    ? printable(*maximised) + " (more is better)"
                           : objective_metric(objective) == "latency_s" ? "latency"
                                                                        : printable(objective);
  return fmt::format("{} of {}", name, study_value(objective, value));
}

void answer_proposal(StudyContext& context, const StoredProposal& proposal) {
  StudyReport& report = context.report;
  const std::optional<double> truth = truth_of(proposal);
  const std::string id = space::short_id(proposal.design);
  (void)context.design(proposal.design);
  report.facts.push_back({.label = "Proposed design", .value = id, .detail = proposal.design});
  if (known_infeasible(proposal)) {
    report.headline = fmt::format("The proposed design {} turned out infeasible on {}.", id, workloads_text(proposal));
    proposal_doubts(context, proposal);
    return;
  }
  if (!truth && !proposal.value) {
    report.headline = fmt::format("Design {} was proposed for {}; nothing is known of its {}.", id,
                                  workloads_text(proposal), proposal.objective);
    return;
  }
  const double value = truth ? *truth : *proposal.value;
  report.headline = fmt::format("Build design {} for {}: {}{}.", id, workloads_text(proposal),
                                named_value(proposal.objective, value), truth ? "" : " predicted");
  if (truth && proposal.value) {
    const double predicted = *proposal.value;
    const bool has_ratio = *truth > 0 && predicted > 0;
    report.facts.push_back(
        {.label = "True against predicted",
         .value = has_ratio
                      ? fmt::format("{:+.1f} %", 100 * (true_over_predicted(proposal.objective, *truth, predicted) - 1))
                      : fmt::format("{:+.4g}", *truth - predicted),
         .detail = fmt::format("{} evaluated, {} predicted", study_value(proposal.objective, *truth),
                               study_value(proposal.objective, *proposal.value))});
  }
  gain_over_log(context, proposal, value, truth.has_value());
  distance_to_optimum(context, proposal, value);
  for (const std::string& sentence : gpu_verdicts(proposal)) {
    report.facts.push_back({.label = "Against GPUs", .value = "", .detail = sentence});
  }
  proposal_doubts(context, proposal);
}

/// How the log came to its designs, where no model proposed one.
std::string before_proposals(const StudyContext& context) {
  std::set<std::int64_t> rounds, designs;
  for (const StoredProposal& one : context.proposals) {
    if (one.kind != "ask") continue;
    rounds.insert(one.run_id);
    designs.insert(one.design_id);
  }
  if (designs.empty()) return "Nothing was proposed yet.";
  return fmt::format("{} asked for {}.", counted(rounds.size(), "round"), counted(designs.size(), "design"));
}

void answer_logged(StudyContext& context) {
  StudyReport& report = context.report;
  const ChosenDesign& chosen = *context.chosen;
  const std::string id = space::short_id(chosen.text_id), before = before_proposals(context);
  (void)context.design(chosen.text_id);
  if (chosen.value) {
    const bool several = chosen.workloads.size() > 1;
    const std::string value = named_value(chosen.objective, *chosen.value);
    report.headline = fmt::format("{} Of the logged designs {} is the best, with {}{}: it runs {} of {}.", before, id,
                                  !several           ? ""
                                  : chosen.geometric ? "a geometric mean "
                                                     : "a mean ",
                                  value, counted(chosen.workloads.size(), "workload"), context.scan.workloads.size());
    report.facts.push_back(
        {.label = "Best logged design", .value = fmt::format("{}, {}", id, value), .detail = chosen.text_id});
    if (!chosen.doubt.empty()) report.doubts.push_back(chosen.doubt);
  } else {
    const std::string why =
        chosen.doubt.empty() ? fmt::format("No feasible row has {}.", printable(chosen.objective)) : chosen.doubt;
    report.headline = fmt::format("{} No logged design is called the best. {}", before, why);
    report.facts.push_back({.label = "A feasible design", .value = id, .detail = chosen.text_id});
  }
  for (const ScanWorkload& workload : context.scan.workloads) {
    report.facts.push_back(
        {.label = printable(workload.name),
         .value = fmt::format("{:.1f} % feasible", workload.rows == 0 ? 0.0
                                                                      : 100.0 * static_cast<double>(workload.feasible) /
                                                                            static_cast<double>(workload.rows)),
         .detail = fmt::format("{} of {} rows", with_commas(workload.feasible), with_commas(workload.rows))});
  }
  report.doubts.emplace_back(
      "The best of a log is the best of what was tried: 'hindsight train' and 'hindsight propose' look further.");
}

}  // namespace

bool is_built_in(const StudyContext& context) {
  const std::string evaluator = context.chosen ? context.chosen->evaluator : std::string();
  return evaluator.empty() || !study::technology_of_evaluator(evaluator).empty();
}

void answer(StudyContext& context) {
  StudyReport& report = context.report;
  if (const StoredProposal* proposal = first_proposal(context)) {
    answer_proposal(context, *proposal);
  } else if (context.chosen) {
    answer_logged(context);
  } else if (context.scan.rows == 0) {
    report.headline = "The log has no evaluation yet, so there is nothing to answer.";
  } else if (context.scan.feasible > 0) {
    report.headline = "No design is feasible in most of its measurements; the reasons are below.";
  } else {
    report.headline = context.scan.rows == 1
                          ? std::string("The only logged row is infeasible; the reasons are below.")
                          : fmt::format("None of the {} logged rows is feasible; the reasons are below.",
                                        with_commas(context.scan.rows));
  }
  if (!context.left_out.empty()) report.doubts.push_back(context.left_out);
}

}  // namespace hindsight::report

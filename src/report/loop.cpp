/// Tables of the loop as CSV, text and JSON.
#include "hindsight/report/loop.h"

#include <fmt/format.h>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/report/design_table.h"
#include "hindsight/space/short_id.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/study_parts.h"

namespace hindsight::report {
namespace {

std::string header_of(const space::DesignSpace& space, const std::vector<std::string>& metrics) {
  std::vector<std::string> names{"design", "workload"};
  for (const space::Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  names.insert(names.end(), {"predicted", "p_feasible"});
  names.insert(names.end(), metrics.begin(), metrics.end());
  names.emplace_back("reason");
  for (std::string& name : names) name = csv_cell(name);
  return join(names, ",") + "\n";
}

std::string row_of(const space::DesignSpace& space, const space::Design& design, const std::string& workload,
                   std::optional<double> predicted, std::optional<double> p_feasible, std::size_t metrics) {
  std::vector<std::string> cells{space::short_id(space, design), csv_cell(workload)};
  for (std::size_t p = 0; p < design.levels.size(); ++p) {
    cells.push_back(csv_cell(space.parameters()[p].labels[design.levels[p]]));
  }
  cells.push_back(predicted ? fmt::format("{:.6g}", *predicted) : "");
  cells.push_back(p_feasible ? fmt::format("{:.3f}", *p_feasible) : "");
  cells.resize(cells.size() + metrics + 1);
  return join(cells, ",") + "\n";
}

/// The metric that the objective is, for its unit; a product has none.
std::string metric_of(const std::string& objective) {
  return objective.find_first_of(" ^*") == std::string::npos ? objective : "";
}

/// A value of the objective; of a metric that is maximised as that metric, not as the reciprocal that is minimised.
std::string value_of(const std::string& objective, std::optional<double> value) {
  if (!value) return "-";
  const std::optional<std::string> maximised = maximised_objective(objective);
  return maximised ? metric_text(*maximised, 1 / *value) : metric_text(metric_of(objective), *value);
}

/// True over predicted, of values as value_of() shows them.
std::string median_truth_ratio(const std::string& objective, std::optional<double> of_objective) {
  if (!of_objective) return "-";
  return fmt::format("{:.3f}", maximised_objective(objective) ? 1 / *of_objective : *of_objective);
}

std::string_view status_text(study::CampaignStatus status) {
  switch (status) {
    case study::CampaignStatus::finished:
      return "finished";
    case study::CampaignStatus::already_finished:
      return "already finished";
    case study::CampaignStatus::interrupted:
      return "interrupted";
    case study::CampaignStatus::exhausted:
      return "exhausted";
  }
  return "";
}

Json round_json(const study::CampaignRound& round, std::optional<double> optimum) {
  Json json{{"chosen_by", round.learned ? "model" : "drawing"},
            {"why", round.why},
            {"designs", round.designs},
            {"infeasible", round.infeasible},
            {"beyond_limits", round.beyond_limits},
            {"best", value_or_null(round.best)},
            {"best_so_far", value_or_null(round.best_so_far)},
            {"best_design", round.best_design},
            {"true_over_predicted", value_or_null(round.true_over_predicted)},
            {"choose_s", round.choose_s},
            {"evaluate_s", round.evaluate_s}};
  if (optimum && round.best_so_far) json["regret"] = *round.best_so_far / *optimum;
  return json;
}

Table round_table(const study::CampaignSummary& summary, std::optional<double> optimum) {
  const std::string& objective = summary.objective;
  Table table;
  table.add_column("round", Align::right);
  table.add_column("chosen by", Align::left);
  table.add_column("designs", Align::right);
  table.add_column("infeasible", Align::right);
  table.add_column("over limits", Align::right, 3);
  table.add_column("best", Align::right, 1);
  table.add_column("best so far", Align::right);
  if (optimum) table.add_column("of optimum", Align::right);
  table.add_column("true / predicted", Align::right, 2);
  table.add_column("choosing", Align::right, 4);
  table.add_column("evaluating", Align::right, 4);
  for (std::size_t i = 0; i < summary.rounds.size(); ++i) {
    const study::CampaignRound& round = summary.rounds[i];
    std::vector<std::string> cells{std::to_string(i + 1),
                                   round.learned ? "model" : "drawing",
                                   std::to_string(round.designs),
                                   std::to_string(round.infeasible),
                                   std::to_string(round.beyond_limits),
                                   value_of(objective, round.best),
                                   value_of(objective, round.best_so_far)};
    if (optimum) {
      cells.push_back(round.best_so_far ? fmt::format("x{:.4g}", *round.best_so_far / *optimum) : "-");
    }
    cells.push_back(median_truth_ratio(objective, round.true_over_predicted));
    cells.push_back(duration_text(round.choose_s));
    cells.push_back(duration_text(round.evaluate_s));
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace

std::string ask_csv(const study::Asked& asked) {
  std::string out = header_of(asked.space, asked.metrics);
  for (const study::NextDesign& one : asked.next.designs) {
    for (const std::string& workload : asked.workloads) {
      out += row_of(asked.space, one.design, workload, one.predicted, one.p_feasible, asked.metrics.size());
    }
  }
  return out;
}

std::string ask_json(const study::Asked& asked) {
  Json json{{"hindsight_version", build_info().version},
            {"run", asked.run_id},
            {"space", asked.space.name()},
            {"workloads", asked.workloads},
            {"objective", asked.objective},
            {"metrics", asked.metrics},
            {"evaluator", asked.evaluator},
            {"chosen_by", asked.next.learned ? "model" : "drawing"},
            {"why", asked.next.why},
            {"pending_before", asked.pending_before},
            {"designs", Json::array()}};
  for (const study::NextDesign& one : asked.next.designs) {
    Json parameters = Json::object();
    for (std::size_t p = 0; p < one.design.levels.size(); ++p) {
      const space::Parameter& parameter = asked.space.parameters()[p];
      const std::uint16_t level = one.design.levels[p];
      const bool ordinal = parameter.kind == space::ParameterKind::ordinal;
      parameters[parameter.name] = ordinal ? Json(parameter.values[level]) : Json(parameter.labels[level]);
    }
    json["designs"].push_back({{"id", space::short_id(asked.space, one.design)},
                               {"design", asked.space.text_id(one.design)},
                               {"parameters", std::move(parameters)},
                               {"predicted", value_or_null(one.predicted)},
                               {"p_feasible", value_or_null(one.p_feasible)}});
  }
  return to_text(json);
}

std::string pending_csv(const std::vector<log::PendingDesign>& pending, const space::DesignSpace& space,
                        const std::vector<std::string>& metrics) {
  std::string out = header_of(space, metrics);
  for (const log::PendingDesign& one : pending) {
    out += row_of(space, space.parse_design(one.design_text_id), one.workload, one.predicted, one.p_feasible,
                  metrics.size());
  }
  return out;
}

std::string told_text(const study::Told& told, const std::string& log, int columns) {
  std::string text = fmt::format("{}: {} of {}, {} feasible and {} infeasible", printable(log, 200),
                                 counted(told.inserted, "new evaluation"), printable(told.evaluator), told.feasible,
                                 told.inserted - told.feasible);
  if (told.already_present > 0) text += fmt::format("; {} told before", told.already_present);
  if (told.unanswered > 0) text += fmt::format("; {} without an answer", counted(told.unanswered, "row"));
  if (told.unasked > 0) text += fmt::format("; {} nobody had asked for", told.unasked);
  text += fmt::format(". {} {} still awaited", counted(told.pending, "answer"), told.pending == 1 ? "is" : "are");
  return wrapped("", text, columns, 2);
}

std::string told_json(const study::Told& told, const std::string& log) {
  return to_text(Json{{"log", log},
                      {"evaluator", told.evaluator},
                      {"rows", told.rows},
                      {"inserted", told.inserted},
                      {"feasible", told.feasible},
                      {"already_present", told.already_present},
                      {"unanswered", told.unanswered},
                      {"unasked", told.unasked},
                      {"pending", told.pending}});
}

std::string round_text(const study::CampaignSummary& so_far) {
  const study::CampaignRound& round = so_far.rounds.back();
  std::string text =
      fmt::format("round {}: {} chosen by {}, {} infeasible", so_far.rounds.size(), counted(round.designs, "design"),
                  round.learned ? round.why : "drawing", round.infeasible);
  if (round.beyond_limits > 0) text += fmt::format(", {} over limits", round.beyond_limits);
  return text + fmt::format("; best {}, so far {}", value_of(so_far.objective, round.best),
                            value_of(so_far.objective, round.best_so_far));
}

std::string campaign_text(const study::CampaignSummary& summary, const std::string& log, std::optional<double> optimum,
                          int columns) {
  const std::optional<std::string> maximised = maximised_objective(summary.objective);
  std::string head = fmt::format("{}: {} on {}, {} of this run; {}", status_text(summary.status),
                                 counted(summary.rounds.size(), "round"), printable(log, 200),
                                 counted(summary.evaluations_this_run, "evaluation"),
                                 maximised ? "largest " + *maximised : "smallest " + summary.objective);
  if (!summary.why_exhausted.empty()) head += "; " + summary.why_exhausted;
  std::string out = wrapped("", head, columns, 2);
  if (summary.rounds.empty()) return out;
  out += "\n" + round_table(summary, optimum).render(columns) + "\n";
  const study::CampaignRound& last = summary.rounds.back();
  if (!last.best_so_far) return out + wrapped("", "no design within the limits was found", columns, 2);
  out += wrapped("", fmt::format("best so far: {}", value_of(summary.objective, last.best_so_far)), columns, 2);
  return out + design_line("  ", last.best_design, columns);
}

std::string campaign_json(const study::CampaignSummary& summary, const std::string& log,
                          std::optional<double> optimum) {
  Json json{{"hindsight_version", build_info().version},
            {"log", log},
            {"status", status_text(summary.status)},
            {"definition_hash", summary.definition_hash},
            {"objective", summary.objective},
            {"evaluations_this_run", summary.evaluations_this_run},
            {"rounds_before", summary.rounds_before},
            {"optimum", value_or_null(optimum)},
            {"why_exhausted", summary.why_exhausted},
            {"rounds", Json::array()}};
  for (const study::CampaignRound& round : summary.rounds) json["rounds"].push_back(round_json(round, optimum));
  return to_text(json);
}

}  // namespace hindsight::report

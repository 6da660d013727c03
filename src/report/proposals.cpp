/// Text and JSON of proposals, and of the truth about them.
#include "hindsight/report/proposals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/optimize/baselines.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "report/fields.h"
#include "report/json.h"

namespace hindsight::report {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// The metric behind an objective of one factor, for its unit; empty for a product, which has none.
std::string metric_of(const ProposalReport& report) {
  const dataset::Objective objective =
      dataset::parse_objective(report.model->parts().objective_text, dataset::Direction::minimise);
  const bool plain = objective.factors.size() == 1 && objective.factors.front().exponent == 1.0;
  return plain ? objective.factors.front().metric : std::string();
}

std::string value_text(const std::string& metric, double value) {
  return std::isfinite(value) ? metric_text(metric, value) : "-";
}

std::optional<double> true_value(const ProposalReport& report, const study::Verdict& verdict) {
  if (!verdict.feasible()) return std::nullopt;
  std::vector<double> objectives;
  for (const study::NetworkVerdict& network : verdict.networks) objectives.push_back(*network.objective);
  return optimize::aggregate_value(objectives, report.options->aggregate, report.options->weights);
}

std::string reasons_of(const study::Verdict& verdict) {
  std::vector<std::string> codes;
  for (const study::NetworkVerdict& network : verdict.networks) {
    for (const std::string& code : network.reasons) {
      if (std::find(codes.begin(), codes.end(), code) == codes.end()) codes.push_back(code);
    }
  }
  return join(codes, ", ");
}

double least_p_feasible(const optimize::Proposal& proposal) {
  return *std::min_element(proposal.p_feasible.begin(), proposal.p_feasible.end());
}

/// Whether the objective has values of 0 or below, so that ratios of it mean nothing.
bool is_linear(const ProposalReport& report) {
  return report.model->parts().objective_scaler.value_scale == dataset::ValueScale::linear;
}

/// exp(spread) as a factor: "x/1.08", or "+-0.3" in the unit of a linear objective; one member has no spread, except
/// between the views of an unseen workload.
std::string spread_text(const ProposalReport& report, const optimize::Proposal& proposal) {
  if (report.model->parts().members.size() == 1 && proposal.spread == 0) return "-";
  return is_linear(report) ? fmt::format("+-{:.3g}", proposal.spread)
                           : fmt::format("x/{:.3g}", std::exp(proposal.spread));
}

bool is_logged(const optimize::Proposal& proposal) { return proposal.nearest_logged_distance == std::size_t{0}; }

/// Parameters in which a proposal differs from the nearest logged design.
std::string changes_text(const optimize::Proposal& proposal) {
  if (!proposal.nearest_logged_distance) return "-";
  return is_logged(proposal) ? "logged" : std::to_string(*proposal.nearest_logged_distance);
}

std::string applications(const ProposalReport& report) {
  std::vector<std::string> names;
  for (const dataset::Context& context : report.options->contexts) names.push_back(context.name);
  return join(names, ", ");
}

std::optional<optimize::LoggedBest> best_of(const ProposalReport& report) {
  if (report.logged == nullptr) return std::nullopt;
  optimize::LoggedQuestion question{.applications = {},
                                 .aggregate = report.options->aggregate,
                                 .weights = report.options->weights,
                                 .constraints = report.options->constraints,
                                 .allowed = report.options->allowed};
  for (const dataset::Context& context : report.options->contexts) question.applications.push_back(context.name);
  return optimize::best_in_log(*report.logged, question);
}

std::string headline(const ProposalReport& report) {
  const optimize::ProposeResult& result = *report.result;
  std::string out = fmt::format("{} for {}", counted(result.proposals.size(), "proposal"), applications(report));
  for (const optimize::Constraint& constraint : report.options->constraints) {
    out += fmt::format(", {} <= {}", constraint.name, shortest(constraint.limit));
    if (constraint.learned()) out += " (learned)";
  }
  const std::string several =
      report.options->contexts.size() > 1 ? optimize::to_string(report.options->aggregate) + " of " : std::string();
  return out +
         fmt::format("; smallest {}{}; {} judged by the model in {}, {}", several, report.model->parts().objective_text,
                     counted(result.solution.evaluations, "design"), duration_text(report.seconds),
                     report.simulator_queries == 1 ? "1 simulator query"
                                                   : with_commas(report.simulator_queries) + " simulator queries");
}

Table proposal_table(const ProposalReport& report) {
  const std::string metric = metric_of(report);
  Table table;
  table.add_column("rank", Align::right);
  table.add_column("predicted", Align::right);
  table.add_column("spread", Align::right, 3);
  table.add_column("p feasible", Align::right, 1);
  for (const optimize::Constraint& constraint : report.options->constraints) {
    table.add_column(constraint.name, Align::right, 1);
  }
  const bool logged = report.logged != nullptr;
  if (logged) table.add_column("changes", Align::right, 2);
  const bool simulated = !report.verdicts.empty();
  if (simulated) {
    table.add_column("true", Align::right);
    table.add_column(is_linear(report) ? "true - predicted" : "true / predicted", Align::right, 2);
  }
  for (std::size_t i = 0; i < report.result->proposals.size(); ++i) {
    const optimize::Proposal& proposal = report.result->proposals[i];
    const double predicted = predicted_value(report, proposal);
    std::vector<std::string> cells{std::to_string(i + 1), value_text(metric, predicted), spread_text(report, proposal),
                                   fmt::format("{:.3f}", least_p_feasible(proposal))};
    for (const double value : proposal.constraint_values) cells.push_back(fmt::format("{:.4g}", value));
    if (logged) {
      cells.push_back(changes_text(proposal));
    }
    if (simulated) {
      const std::optional<double> truth = true_value(report, report.verdicts[i]);
      cells.push_back(truth ? value_text(metric, *truth) : "infeasible: " + reasons_of(report.verdicts[i]));
      cells.push_back(!truth              ? "-"
                      : is_linear(report) ? fmt::format("{:+.3g}", *truth - predicted)
                                          : fmt::format("{:.3f}", *truth / predicted));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

/// Best proposal against best logged design, in the words of a person.
std::string comparison(const ProposalReport& report, const optimize::LoggedBest& logged, int columns) {
  const std::string metric = metric_of(report);
  std::string out = fmt::format("best in log that meets the same limits: {}", value_text(metric, logged.value));
  std::optional<double> best;
  for (const study::Verdict& verdict : report.verdicts) {
    const std::optional<double> truth = true_value(report, verdict);
    if (truth && (!best || *truth < *best)) best = truth;
  }
  if (best && is_linear(report)) {
    out += fmt::format("; best proposal: {}, {:.4g} {}", value_text(metric, *best), std::abs(logged.value - *best),
                       *best <= logged.value ? "better" : "worse");
  } else if (best) {
    out +=
        *best <= logged.value
            ? fmt::format("; best proposal: {}, {:.2f} times better", value_text(metric, *best), logged.value / *best)
            : fmt::format("; best proposal: {}, {:.2f} times worse", value_text(metric, *best), *best / logged.value);
  }
  return wrapped("", out, columns, 2);
}

Json prediction_object(const ProposalReport& report, const optimize::Proposal& proposal) {
  Json json{{"value", number(predicted_value(report, proposal))},
            {"score", number(proposal.score)},
            {"spread", number(proposal.spread)},
            {"p_feasible", number(least_p_feasible(proposal))},
            {"extrapolated", proposal.extrapolated},
            {"nearest_logged_distance", nullptr},
            {"logged", nullptr}};
  if (proposal.nearest_logged_distance) {
    json["nearest_logged_distance"] = *proposal.nearest_logged_distance;
    json["logged"] = is_logged(proposal);
  }
  json["constraints"] = Json::object();
  for (std::size_t k = 0; k < proposal.constraint_values.size(); ++k) {
    json["constraints"][report.options->constraints[k].name] = number(proposal.constraint_values[k]);
  }
  json["workloads"] = Json::array();
  for (std::size_t c = 0; c < proposal.objective.size(); ++c) {
    json["workloads"].push_back({{"name", report.options->contexts[c].name},
                                 {"objective", number(proposal.objective[c])},
                                 {"p_feasible", number(proposal.p_feasible[c])}});
  }
  return json;
}

Json verdict_object(const ProposalReport& report, const study::Verdict& verdict) {
  Json json{{"feasible", verdict.feasible()},
            {"value", nullptr},
            {"area_mm2", verdict.area_mm2 ? Json(*verdict.area_mm2) : Json(nullptr)},
            {"technology", report.technology}};
  if (const auto truth = true_value(report, verdict)) json["value"] = *truth;
  json["workloads"] = Json::array();
  for (std::size_t c = 0; c < verdict.networks.size(); ++c) {
    const study::NetworkVerdict& network = verdict.networks[c];
    json["workloads"].push_back({{"name", report.options->contexts[c].name},
                                 {"objective", network.objective ? Json(*network.objective) : Json(nullptr)},
                                 {"reasons", network.reasons}});
  }
  return json;
}

/// A cell of a CSV file (RFC 4180).
std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

double predicted_value(const ProposalReport& report, const optimize::Proposal& proposal) {
  return optimize::aggregate_value(proposal.objective, report.options->aggregate, report.options->weights);
}

std::optional<double> best_logged(const ProposalReport& report) {
  const auto best = best_of(report);
  return best ? std::optional(best->value) : std::nullopt;
}

std::string proposals_text(const ProposalReport& report, int columns) {
  std::string out = wrapped("", headline(report), columns, 2);
  if (report.result->min_p_feasible_used < report.options->min_p_feasible) {
    out += wrapped("note: ",
                   fmt::format("no design reaches p_feasible {}; lowered to {}",
                               shortest(report.options->min_p_feasible), shortest(report.result->min_p_feasible_used)),
                   columns, 2);
  }
  if (!report.model->parts().feasibility_learned) {
    out +=
        wrapped("note: ", "the model never saw an infeasible design: p feasible is 1 for every design and says nothing",
                columns, 2);
  }
  const auto& proposals = report.result->proposals;
  if (std::any_of(proposals.begin(), proposals.end(), [](const auto& one) { return one.extrapolated; })) {
    out += wrapped(
        "note: ", "the model has not seen every one of these workloads: predicted values are guesses, the order counts",
        columns, 2);
  }
  if (report.result->solution.termination == optimize::Termination::interrupted) {
    out += "note: the search was interrupted; these are the best so far\n";
  }
  if (!report.options->only_new && std::any_of(proposals.begin(), proposals.end(), is_logged)) {
    out += wrapped("note: ", "the log has some of these designs already; --new proposes only others", columns, 2);
  }
  out += "\n" + proposal_table(report).render(columns) + "\n";
  if (const auto logged = best_of(report)) out += comparison(report, *logged, columns);
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    out += wrapped_design(fmt::format("{:2}  ", i + 1), report.model->parts().space.text_id(proposals[i].design),
                          columns, 4);
  }
  return out;
}

std::string proposals_json(const ProposalReport& report) {
  Json json{{"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"model", report.model_file},
            {"space", report.model->parts().space.name()},
            {"objective", report.model->parts().objective_text},
            {"aggregate", optimize::to_string(report.options->aggregate)},
            {"search", optimize::to_string(report.options->search.kind)},
            {"seed", report.options->search.seed},
            {"pessimism", report.options->pessimism},
            {"min_p_feasible", report.options->min_p_feasible},
            {"min_p_feasible_used", report.result->min_p_feasible_used},
            {"feasibility_learned", report.model->parts().feasibility_learned},
            {"objective_scale", dataset::to_string(report.model->parts().objective_scaler.value_scale)},
            {"model_evaluations", report.result->solution.evaluations},
            {"simulator_queries", report.simulator_queries},
            {"seconds", report.seconds},
            {"best_in_log", nullptr}};
  if (const auto logged = best_logged(report)) json["best_in_log"] = *logged;
  json["limits"] = Json::object();
  for (const optimize::Constraint& constraint : report.options->constraints) {
    json["limits"][constraint.name] = {{"limit", constraint.limit},
                                       {"learned", constraint.learned()}};
  }
  json["proposals"] = Json::array();
  for (std::size_t i = 0; i < report.result->proposals.size(); ++i) {
    const optimize::Proposal& proposal = report.result->proposals[i];
    Json entry{{"rank", i + 1},
               {"design", report.model->parts().space.text_id(proposal.design)},
               {"predicted", prediction_object(report, proposal)}};
    if (!report.verdicts.empty()) entry["simulated"] = verdict_object(report, report.verdicts[i]);
    json["proposals"].push_back(std::move(entry));
  }
  return to_text(json);
}

std::string proposals_csv(const ProposalReport& report) {
  const space::DesignSpace& space = report.model->parts().space;
  std::vector<std::string> header{"rank"};
  for (const space::Parameter& parameter : space.parameters()) header.push_back(csv_cell(parameter.name));
  for (const char* name : {"predicted", "score", "spread", "p_feasible", "nearest_logged_distance", "logged"}) {
    header.emplace_back(name);
  }
  for (const optimize::Constraint& constraint : report.options->constraints) {
    header.push_back(csv_cell(constraint.name));
  }
  if (!report.verdicts.empty()) header.insert(header.end(), {"simulated_feasible", "simulated", "reasons"});
  std::string out = join(header, ",") + "\n";
  for (std::size_t i = 0; i < report.result->proposals.size(); ++i) {
    const optimize::Proposal& proposal = report.result->proposals[i];
    std::vector<std::string> cells{std::to_string(i + 1)};
    for (std::size_t p = 0; p < space.parameters().size(); ++p) {
      cells.push_back(csv_cell(space.parameters()[p].labels[proposal.design.levels[p]]));
    }
    for (const double value :
         {predicted_value(report, proposal), proposal.score, proposal.spread, least_p_feasible(proposal)}) {
      cells.push_back(shortest(value));
    }
    cells.push_back(proposal.nearest_logged_distance ? std::to_string(*proposal.nearest_logged_distance) : "");
    cells.push_back(proposal.nearest_logged_distance ? (is_logged(proposal) ? "1" : "0") : "");
    for (const double value : proposal.constraint_values) cells.push_back(shortest(value));
    if (!report.verdicts.empty()) {
      const std::optional<double> truth = true_value(report, report.verdicts[i]);
      cells.insert(cells.end(),
                   {truth ? "1" : "0", truth ? shortest(*truth) : "", csv_cell(reasons_of(report.verdicts[i]))});
    }
    out += join(cells, ",") + "\n";
  }
  return out;
}

std::string prediction_json(const ProposalReport& report, std::size_t index) {
  return prediction_object(report, report.result->proposals[index]).dump();
}

std::optional<std::string> verdict_json(const ProposalReport& report, std::size_t index) {
  if (report.verdicts.empty()) return std::nullopt;
  return verdict_object(report, report.verdicts[index]).dump();
}

}  // namespace hindsight::report

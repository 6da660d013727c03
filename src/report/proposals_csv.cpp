/// Proposals as CSV, with columns to be filled in by who evaluates them.
#include <fmt/format.h>

#include <algorithm>

#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/report/proposals.h"
#include "report/proposals_parts.h"

namespace hindsight::report {

using study::Knowledge;
using study::Proposals;

namespace {

/// What is measured of a proposal, each once: metrics of the objective, then those that the log's rows have besides and
/// that no other column has the name of.
std::vector<std::string> measured_metrics(const Proposals& proposals) {
  const dataset::Objective objective =
      dataset::parse_objective(proposals.model.parts().objective_text, dataset::Direction::minimise);
  std::vector<std::string> metrics;
  for (const dataset::Objective::Factor& factor : objective.factors) {
    if (std::find(metrics.begin(), metrics.end(), factor.metric) == metrics.end()) metrics.push_back(factor.metric);
  }
  std::vector<std::string> taken = study::derived_names(proposals);
  for (const space::Parameter& parameter : proposals.model.parts().space.parameters()) taken.push_back(parameter.name);
  taken.insert(taken.end(), metrics.begin(), metrics.end());
  for (const std::string& name : proposals.also_measured) {
    if (std::find(taken.begin(), taken.end(), name) == taken.end()) metrics.push_back(name);
  }
  return metrics;
}

/// A column about the prediction, as `dataset/answers` knows it: `name`, with predicted_ in front where a parameter or
/// what is measured has that name.
std::string prediction_column(const Proposals& proposals, const std::string& name) {
  const std::vector<space::Parameter>& parameters = proposals.model.parts().space.parameters();
  const std::vector<std::string> metrics = measured_metrics(proposals);
  const bool is_taken = std::find(metrics.begin(), metrics.end(), name) != metrics.end() ||
                        std::any_of(parameters.begin(), parameters.end(),
                                    [&](const space::Parameter& parameter) { return parameter.name == name; });
  return is_taken ? "predicted_" + name : name;
}

/// What the metric of an objective was, which is that metric or, where it is maximised, its reciprocal; empty for
/// others.
std::string measured_text(const Proposals& proposals, double objective) {
  const dataset::Objective asked =
      dataset::parse_objective(proposals.model.parts().objective_text, dataset::Direction::minimise);
  if (asked.factors.size() != 1) return "";
  const double exponent = asked.factors.front().exponent;
  if (exponent == 1) return shortest(objective);
  // Fifteen digits: as many as every decimal number keeps in a double, so that its reciprocal's is that number again.
  return exponent == -1 && objective != 0 ? fmt::format("{:.15g}", 1 / objective) : "";
}

/// The columns that are filled in where the design was evaluated, for `log import`: of one application an objective
/// of one metric is known where it was simulated or the log has measured it once, and why a design is infeasible.
std::vector<std::string> answer_cells(const Proposals& proposals, const Knowledge& known) {
  std::vector<std::string> cells(measured_metrics(proposals).size());
  const bool one = proposals.options.contexts.size() == 1;
  const bool is_measured =
      known.logged && known.logged->feasible && (proposals.logged == nullptr || proposals.logged->repeats.designs == 0);
  if (one && known.simulated) {
    cells.front() = measured_text(proposals, *known.simulated);
  } else if (one && is_measured && !known.verdict) {
    cells.front() = measured_text(proposals, known.logged->value);
  }
  const bool infeasible = known.verdict && !known.verdict->feasible();
  cells.push_back(one && infeasible ? csv_cell(reasons_of(*known.verdict)) : "");
  return cells;
}

}  // namespace

std::string proposals_csv(const Proposals& proposals) {
  const space::DesignSpace& space = proposals.model.parts().space;
  const bool with_truth = simulated(proposals);
  std::vector<std::string> header{prediction_column(proposals, "rank"), prediction_column(proposals, "workload")};
  for (const space::Parameter& parameter : space.parameters()) header.push_back(csv_cell(parameter.name));
  for (const char* name : {"predicted", "score", "cautious", "spread", "p_feasible", "nearest_logged_distance",
                           "logged", "logged_feasible", "logged_value"}) {
    header.push_back(prediction_column(proposals, name));
  }
  const auto in_front = [&](const std::string& name) {
    return std::any_of(proposals.options.front.begin(), proposals.options.front.end(),
                       [&](const optimize::FrontMetric& metric) { return metric.name == name; });
  };
  for (const optimize::Constraint& constraint : proposals.options.constraints) {
    if (!in_front(constraint.name)) header.push_back(csv_cell("predicted_" + constraint.name));
  }
  for (const std::string& name : study::derived_names(proposals)) header.push_back(csv_cell(name));
  if (with_truth) header.insert(header.end(), {"simulated_feasible", "simulated", "reasons"});
  for (const optimize::FrontMetric& metric : proposals.options.front) {
    for (const char* prefix : {"predicted_", "cautious_"}) header.push_back(csv_cell(prefix + metric.name));
    if (with_truth) header.push_back(csv_cell("true_" + metric.name));
  }
  if (proposals.front_truth) header.emplace_back("on_true_front");
  for (const std::string& metric : measured_metrics(proposals)) header.push_back(csv_cell(metric));
  header.emplace_back("reason");
  std::string out = join(header, ",") + "\n";
  for (std::size_t i = 0; i < proposals.known.size(); ++i) {
    const optimize::Proposal& proposal = proposals.result.proposals[i];
    const Knowledge& known = proposals.known[i];
    std::vector<std::string> cells{std::to_string(i + 1), csv_cell(applications(proposals, ","))};
    for (std::size_t p = 0; p < space.parameters().size(); ++p) {
      cells.push_back(csv_cell(space.parameters()[p].labels[proposal.design.levels[p]]));
    }
    for (const double value :
         {known.predicted, proposal.score, proposal.cautious, proposal.spread, least_p_feasible(proposal)}) {
      cells.push_back(shortest(value));
    }
    cells.push_back(proposal.nearest_logged_distance ? std::to_string(*proposal.nearest_logged_distance) : "");
    cells.push_back(proposal.nearest_logged_distance ? (is_logged(proposal) ? "1" : "0") : "");
    cells.push_back(known.logged ? (known.logged->feasible ? "1" : "0") : "");
    cells.push_back(known.logged && known.logged->feasible ? shortest(known.logged->value) : "");
    for (std::size_t k = 0; k < proposal.constraint_values.size(); ++k) {
      if (!in_front(proposals.options.constraints[k].name)) cells.push_back(shortest(proposal.constraint_values[k]));
    }
    for (const double value : study::derived_values(proposals, i)) cells.push_back(shortest(value));
    if (with_truth) {
      cells.insert(cells.end(), {known.simulated ? "1" : "0", known.simulated ? shortest(*known.simulated) : "",
                                 csv_cell(reasons_of(*known.verdict))});
    }
    for (std::size_t m = 0; m < proposal.front.size(); ++m) {
      cells.push_back(shortest(proposal.front[m].predicted));
      cells.push_back(shortest(proposal.front[m].cautious));
      if (with_truth) cells.push_back(known.true_front.empty() ? "" : shortest(known.true_front[m]));
    }
    if (proposals.front_truth) cells.push_back(proposals.front_truth->stands[i] ? "1" : "0");
    for (std::string& cell : answer_cells(proposals, known)) cells.push_back(std::move(cell));
    out += join(cells, ",") + "\n";
  }
  return out;
}

}  // namespace hindsight::report

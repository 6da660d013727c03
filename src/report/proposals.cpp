/// Proposals as a table with remarks, and as JSON.
#include "hindsight/report/proposals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/plural.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/report/design_table.h"
#include "hindsight/space/short_id.h"
#include "hindsight/surrogate/transfer.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/proposals_parts.h"

namespace hindsight::report {

using study::Knowledge;
using study::Proposals;

bool is_logged(const optimize::Proposal& proposal) { return proposal.nearest_logged_distance == std::size_t{0}; }

std::string value_text(const std::string& metric, double value) {
  return std::isfinite(value) ? metric_text(metric, value) : "-";
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

std::string changes_text(const optimize::Proposal& proposal) {
  if (!proposal.nearest_logged_distance) return "-";
  return is_logged(proposal) ? "logged" : std::to_string(*proposal.nearest_logged_distance);
}

std::string metric_of(const Proposals& proposals) {
  const dataset::Objective objective =
      dataset::parse_objective(proposals.model.parts().objective_text, dataset::Direction::minimise);
  const bool plain = objective.factors.size() == 1 && objective.factors.front().exponent == 1.0;
  return plain ? objective.factors.front().metric : std::string();
}

std::string applications(const Proposals& proposals, std::string_view separator) {
  std::vector<std::string> names;
  for (const dataset::Context& context : proposals.options.contexts) names.push_back(context.name);
  return join(names, separator);
}

std::string text_id_of(const Proposals& proposals, std::size_t index) {
  return proposals.model.parts().space.text_id(proposals.result.proposals[index].design);
}

bool simulated(const Proposals& proposals) { return !proposals.known.empty() && proposals.known.front().verdict; }

namespace {

/// Whether the objective has values of 0 or below, so that ratios of it mean nothing.
bool is_linear(const Proposals& proposals) {
  return proposals.model.parts().objective_scaler.value_scale == dataset::ValueScale::linear;
}

/// exp(spread) as a factor: "x/1.08", or "+-0.3" in the unit of a linear objective; one member has no spread, except
/// between the views of an unseen workload.
std::string spread_text(const Proposals& proposals, const optimize::Proposal& proposal) {
  if (proposals.model.parts().members.size() == 1 && proposal.spread == 0) return "-";
  return is_linear(proposals) ? fmt::format("+-{:.3g}", proposal.spread)
                              : fmt::format("x/{:.3g}", std::exp(proposal.spread));
}

/// The metric that is maximised, where the objective of one application is its reciprocal: values are shown as that
/// metric has them then.
std::optional<std::string> shown_metric(const Proposals& proposals) {
  if (proposals.options.contexts.size() != 1 || is_linear(proposals)) return std::nullopt;
  return dataset::maximised_metric(
      dataset::parse_objective(proposals.model.parts().objective_text, dataset::Direction::minimise));
}

/// A value of the objective.
std::string shown_value(const Proposals& proposals, double value) {
  const std::optional<std::string> maximised = shown_metric(proposals);
  return maximised ? value_text(*maximised, 1 / value) : value_text(metric_of(proposals), value);
}

/// True over predicted, of values as shown_value() shows them.
double truth_ratio(const Proposals& proposals, double truth, double predicted) {
  return shown_metric(proposals) ? predicted / truth : truth / predicted;
}

std::string logged_text(const Proposals& proposals, const Knowledge& known) {
  if (!known.logged) return "-";
  return known.logged->feasible ? shown_value(proposals, known.logged->value) : "infeasible";
}

/// Whether `cautious` is a ratio, in the unit of nothing.
bool ranks_by_ratio(const Proposals& proposals) {
  return proposals.options.aggregate == optimize::Aggregate::worst && proposals.options.contexts.size() > 1;
}

std::string cautious_text(const Proposals& proposals, double value) {
  return ranks_by_ratio(proposals) ? fmt::format("x{:.3g}", value) : shown_value(proposals, value);
}

/// What the order of the table means.
std::string ranking_text(const Proposals& proposals) {
  const bool by_log = proposals.result.relaxed_by_log && !proposals.known.empty();
  std::string text = by_log ? "first the log's best, the others ranked by cautious: " : "ranked by cautious: ";
  if (ranks_by_ratio(proposals)) text += "the ratio to a typical logged design, where it is worst, of ";
  text += proposals.options.pessimism == 0 ? "the predicted value"
                                           : fmt::format("the predicted value, worse by {} {} of the ensemble",
                                                         shortest(proposals.options.pessimism),
                                                         proposals.options.pessimism == 1 ? "spread" : "spreads");
  return text + "; equal ones (0.01 %) by p feasible";
}

/// Why each proposal is there, by rank.
std::string chosen_text(const Proposals& proposals) {
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < proposals.known.size(); ++i) {
    reasons.push_back(fmt::format("{} {}", i + 1, study::why(proposals, i)));
  }
  return "chosen as: " + join(reasons, ", ");
}

/// ", rows <= 64, dataflow = ws": what --set, --min and --max leave of parameters.
std::string allowed_text(const Proposals& proposals) {
  const std::vector<space::Parameter>& parameters = proposals.model.parts().space.parameters();
  std::string out;
  for (std::size_t p = 0; p < proposals.options.allowed.size(); ++p) {
    const std::vector<std::uint16_t>& levels = proposals.options.allowed[p];
    const std::vector<std::string>& labels = parameters[p].labels;
    if (levels.empty() || levels.size() == labels.size()) continue;
    const std::string& name = parameters[p].name;
    const std::string &least = labels[levels.front()], &most = labels[levels.back()];
    if (levels.size() == 1) {
      out += fmt::format(", {} = {}", name, least);
    } else if (levels.front() == 0) {
      out += fmt::format(", {} <= {}", name, most);
    } else if (levels.back() + std::size_t{1} == labels.size()) {
      out += fmt::format(", {} >= {}", name, least);
    } else {
      out += fmt::format(", {} {} to {}", name, least, most);
    }
  }
  return out;
}

/// Names of the applications, with the batch that a name does not end with: predictions are of all of it.
std::string applications_by_batch(const Proposals& proposals) {
  std::vector<std::string> names;
  for (const dataset::Context& context : proposals.options.contexts) {
    const std::size_t i = names.size();
    const std::int64_t batch = i < proposals.batches.size() ? proposals.batches[i] : 0;
    const bool says = batch <= 1 || context.name.ends_with(fmt::format("@{}", batch));
    names.push_back(says ? context.name : fmt::format("{} (batch {})", context.name, batch));
  }
  return join(names, ", ");
}

std::string headline(const Proposals& proposals) {
  const optimize::ProposeResult& result = proposals.result;
  const bool front = !proposals.options.front.empty();
  std::string out =
      fmt::format("{} for {}", front ? front_headline(proposals) : counted(result.proposals.size(), "proposal"),
                  applications_by_batch(proposals));
  for (const optimize::Constraint& constraint : proposals.options.constraints) {
    out += fmt::format(", {} <= {}", constraint.name, readable(constraint.limit));
    if (constraint.learned()) out += " (learned)";
  }
  out += allowed_text(proposals);
  const std::string several =
      proposals.options.contexts.size() > 1 ? optimize::to_string(proposals.options.aggregate) + " of " : std::string();
  const std::optional<std::string> maximised = shown_metric(proposals);
  if (!front && maximised) out += "; largest " + *maximised;
  if (!front && !maximised) out += "; smallest " + several + proposals.model.parts().objective_text;
  if (front && !several.empty()) out += "; " + several + "the applications";
  return out + fmt::format("; {} judged by the model in {}, {}", counted(result.solution.evaluations, "design"),
                           duration_text(proposals.seconds),
                           proposals.simulator_queries == 1
                               ? "1 simulator query"
                               : with_commas(proposals.simulator_queries) + " simulator queries");
}

bool any_in_log(const Proposals& proposals) {
  return std::any_of(proposals.known.begin(), proposals.known.end(), [](const Knowledge& one) { return one.logged; });
}

bool any_ranked(const Proposals& proposals) {
  return std::any_of(proposals.known.begin(), proposals.known.end(), [](const Knowledge& one) { return one.rank; });
}

std::vector<std::string> unseen_of(const Proposals& proposals, std::size_t index) {
  return surrogate::unseen_levels_of(proposals.model, proposals.result.proposals[index].design);
}

/// How many proposals have values that no row had.
std::size_t count_unseen(const Proposals& proposals) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < proposals.known.size(); ++i) count += unseen_of(proposals, i).empty() ? 0 : 1;
  return count;
}

/// Learned metrics that are limited, but for the one that `true` shows.
std::vector<std::string> limited_metrics(const Proposals& proposals) {
  std::vector<std::string> names;
  for (const optimize::Constraint& constraint : proposals.options.constraints) {
    if (!constraint.learned()) continue;
    const auto quantity = optimize::learned_quantity(proposals.model, constraint.name);
    const bool is_shown = quantity && quantity->is_objective && proposals.options.contexts.size() == 1;
    if (!is_shown) names.push_back(constraint.name);
  }
  return names;
}

void add_truth_columns(const Proposals& proposals, Table& table) {
  table.add_column("true", Align::right);
  table.add_column(is_linear(proposals) ? "true - predicted" : "true / predicted", Align::right, 2);
  for (const std::string& name : limited_metrics(proposals)) table.add_column("true " + name, Align::right, 1);
}

void add_truth_cells(const Proposals& proposals, const Knowledge& known, std::vector<std::string>& cells) {
  const auto& truth = known.simulated;
  cells.push_back(truth ? shown_value(proposals, *truth) : "infeasible: " + reasons_of(*known.verdict));
  cells.push_back(!truth                 ? "-"
                  : is_linear(proposals) ? fmt::format("{:+.3g}", *truth - known.predicted)
                                         : fmt::format("{:.3f}", truth_ratio(proposals, *truth, known.predicted)));
  for (const std::string& name : limited_metrics(proposals)) {
    const auto value = std::ranges::find(known.limited, name, &std::pair<std::string, double>::first);
    const bool is_over = std::ranges::find(known.exceeded, name) != known.exceeded.end();
    cells.push_back(value == known.limited.end() ? "-"
                                                 : fmt::format("{:.4g}{}", value->second, is_over ? " (over)" : ""));
  }
}

Table proposal_table(const Proposals& proposals, ColumnSet set) {
  const bool all = set == ColumnSet::possible;
  const bool in_log = all ? proposals.logged != nullptr : any_in_log(proposals);
  const bool with_truth = all ? proposals.verifier != nullptr : simulated(proposals);
  const bool ranked = all ? proposals.has_landscape : any_ranked(proposals);
  const bool any_unseen = all || count_unseen(proposals) > 0;
  Table table;
  table.add_column("rank", Align::right);
  table.add_column("predicted", Align::right);
  table.add_column("cautious", Align::right);
  table.add_column("spread", Align::right, 3);
  table.add_column("p feasible", Align::right, 1);
  for (const optimize::Constraint& constraint : proposals.options.constraints) {
    table.add_column(constraint.name, Align::right, 1);
  }
  for (const std::string& name : study::derived_names(proposals)) table.add_column(name, Align::right, 2);
  if (proposals.logged) table.add_column("changes", Align::right, 2);
  if (in_log) table.add_column("in log", Align::right);
  if (any_unseen) table.add_column("in no row", Align::left);
  if (with_truth) add_truth_columns(proposals, table);
  if (ranked) {
    table.add_column("of all designs", Align::right);
    table.add_column("of optimum", Align::right);
  }
  for (std::size_t i = 0; i < proposals.known.size(); ++i) {
    const optimize::Proposal& proposal = proposals.result.proposals[i];
    const Knowledge& known = proposals.known[i];
    std::vector<std::string> cells{std::to_string(i + 1), shown_value(proposals, known.predicted),
                                   cautious_text(proposals, proposal.cautious), spread_text(proposals, proposal),
                                   fmt::format("{:.3f}", least_p_feasible(proposal))};
    for (const double value : proposal.constraint_values) cells.push_back(fmt::format("{:.4g}", value));
    for (const double value : study::derived_values(proposals, i)) cells.push_back(fmt::format("{:.4g}", value));
    if (proposals.logged) cells.push_back(changes_text(proposal));
    if (in_log) cells.push_back(logged_text(proposals, known));
    if (any_unseen) {
      const std::vector<std::string> unseen = unseen_of(proposals, i);
      cells.push_back(unseen.empty() ? "-" : join(unseen, " "));
    }
    if (with_truth) add_truth_cells(proposals, known, cells);
    if (ranked && known.rank) {
      cells.push_back(fmt::format("{} of {}", with_commas(known.rank->better + 1), with_commas(known.rank->feasible)));
      cells.push_back(fmt::format("x{:.4g}", *known.simulated / known.rank->best));
    } else if (ranked) {
      cells.insert(cells.end(), {"-", "-"});
    }
    table.add_row(std::move(cells));
  }
  return table;
}

/// Best proposal against best logged design, in the words of a person.
std::string comparison(const Proposals& proposals, double best_in_log, int columns) {
  std::string out = fmt::format("best in log that meets the same limits: {}", shown_value(proposals, best_in_log));
  std::optional<double> best;
  for (const Knowledge& known : proposals.known) {
    if (known.simulated && (!best || *known.simulated < *best)) best = known.simulated;
  }
  if (best && is_linear(proposals)) {
    out += fmt::format("; best proposal: {}, {:.4g} {}", shown_value(proposals, *best), std::abs(best_in_log - *best),
                       *best <= best_in_log ? "better" : "worse");
  } else if (best) {
    out += *best <= best_in_log ? fmt::format("; best proposal: {}, {:.2f} times better", shown_value(proposals, *best),
                                              best_in_log / *best)
                                : fmt::format("; best proposal: {}, {:.2f} times worse", shown_value(proposals, *best),
                                              *best / best_in_log);
  } else if (study::all_worse_than_log(proposals)) {
    out += ". Every proposal is predicted to be worse: nothing here says that it can be beaten";
    // A list of logged designs too is relaxed to where the log's best one is; a bold one asks for no more.
    if (proposals.options.only_new && proposals.options.pessimism > 0) {
      out += " by a new design as likely as these; --risk bold takes less likely ones";
    }
  }
  return wrapped("", out, columns, 2);
}

/// What is known of errors without a calibration by distance.
std::string uncalibrated_text(const surrogate::Model& model) {
  const auto& facts = model.parts().provenance;
  const auto held_out = facts.find(surrogate::kErrorOnRowsHeldOut);
  if (held_out == facts.end()) {
    return "what error that means is not known: the model's distances were never compared with errors "
           "(`hindsight model calibrate` does)";
  }
  return fmt::format(
      "what error that means is not known for this simulator: the model was adapted to rows of others, and its error "
      "on such rows held out was {}",
      printable(held_out->second));
}

/// How far an application is from those learnt, and what error others came with that were as far.
std::string novelty_text(const surrogate::Novelty& one, const surrogate::Model& model) {
  std::string text = fmt::format(
      "{} was not learnt, but predicted layer by layer; its layers are {:.2f} deviations from the nearest "
      "learnt, nearer than {} of the learnt applications are to each other; distance {:.2f}",
      printable(one.application), one.nearest_layer, percent(one.nearer_than), one.distance);
  if (!one.expected) return text + "; " + uncalibrated_text(model);
  const surrogate::ExpectedError& expected = *one.expected;
  const std::string& objective = model.parts().objective_text;  // of a front's metrics it may be one
  const std::string metric =
      dataset::maximised_metric(dataset::parse_objective(objective, dataset::Direction::minimise)).value_or(objective);
  const std::string median = percent(expected.median_error);
  const std::string of = fmt::format("{}, {} to {}", counted(expected.networks, "network"),
                                     percent(expected.least_error), percent(expected.most_error));
  return text +
         (expected.beyond
              ? fmt::format(", farther than every network that the model was tried on, so that its error in {} is "
                            "not known: at least {}, the median of the farthest ({})",
                            metric, median, of)
              : fmt::format(": networks this far had a median error in {} of about {} ({}); what is predicted "
                            "best often errs more",
                            metric, median, of));
}

/// What an exact search proved, and how much a search by chance had left.
std::string proof_text(const Proposals& proposals, const optimize::Proof& proof) {
  std::string text;
  if (proof.open() > 0) {
    text = fmt::format("nothing is proven: of {} designs {} were accounted for", with_commas(proof.designs),
                       percent(1 - static_cast<double>(proof.open()) / static_cast<double>(proof.designs)));
  } else {
    text = fmt::format(
        "proven: of all {} designs none that meets the limits scores better than the first; {} are beyond limits "
        "known without the model, {} bounded worse, {} judged",
        with_commas(proof.designs), with_commas(proof.beyond_limits), with_commas(proof.bounded),
        with_commas(proof.judged));
  }
  const auto& best = proposals.result.solution.best;
  if (!proof.found_before || best.empty()) return text;
  const bool linear = proposals.model.parts().objective_scaler.value_scale == dataset::ValueScale::linear;
  const double gain = *proof.found_before - best.front().score;
  if (gain <= 0) return text + ". A search by chance had found the same";
  return text + (linear ? fmt::format(". A search by chance had found {} more", shortest(gain))
                        : fmt::format(". A search by chance had found {:.2f} times that", std::exp(gain)));
}

/// Why proposals are less likely to be feasible than was asked for.
std::string lowered_text(const Proposals& proposals) {
  const optimize::ProposeResult& result = proposals.result;
  const std::string asked = readable(proposals.options.min_p_feasible), used = readable(result.min_p_feasible_used);
  return result.relaxed_by_log
             ? fmt::format(
                   "the log's best design can be built, and the model prefers it to all that reach p_feasible {}; "
                   "lowered to {}, which it reaches",
                   asked, used)
             : fmt::format("no design reaches p_feasible {}; lowered to {}", asked, used);
}

/// Why there are fewer proposals than were asked for, and what gives more.
std::string few_text(const Proposals& proposals) {
  const optimize::ProposeOptions& options = proposals.options;
  const optimize::Solution& solution = proposals.result.solution;
  const std::size_t parameters = proposals.model.parts().space.parameters().size();
  std::string wanted = "meets the limits";
  std::vector<std::string> lower;
  if (options.only_new) wanted += ", is not in the log";
  if (proposals.result.min_p_feasible_used > 0) {
    wanted += fmt::format(", reaches p_feasible {}", readable(proposals.result.min_p_feasible_used));
    lower.emplace_back("--min-feasible");
  }
  if (options.diversity > 1) {
    wanted += fmt::format(", differs from these in {} parameters{}", options.diversity,
                          options.diversity > parameters ? fmt::format(" (designs have {})", parameters) : "");
    lower.emplace_back("--diversity");
  }
  const bool all_judged =
      solution.termination == optimize::Termination::enumerated || (solution.proof && solution.proof->open() == 0);
  return fmt::format("{} of the {} proposals asked for: no other design that was found {}. To have more, {}{}",
                     proposals.result.proposals.size(), options.count, wanted,
                     lower.empty() ? "" : fmt::format("lower {}, or ", join(lower, " or ")),
                     all_judged ? "allow more values" : "raise --evaluations");
}

/// What a reader must know before the table.
std::string notes(const Proposals& proposals, int columns) {
  const auto& list = proposals.result.proposals;
  std::string out;
  const auto note = [&](const std::string& text) { out += wrapped("note: ", text, columns, 2); };
  for (const std::string& doubt : proposals.doubts) {
    out += wrapped("warning: ", "this model must not be trusted here: " + doubt, columns, 2);
  }
  for (const std::string& remark : proposals.remarks) note(remark);
  if (proposals.result.min_p_feasible_used < proposals.options.min_p_feasible) note(lowered_text(proposals));
  const bool interrupted = proposals.result.solution.termination == optimize::Termination::interrupted;
  if (proposals.options.front.empty() && list.size() < proposals.options.count && !interrupted) {
    note(few_text(proposals));
  }
  if (!proposals.model.parts().feasibility_learned) {
    note("the model never saw an infeasible design: p feasible is 1 for every design and says nothing");
  }
  for (const surrogate::Novelty& one : proposals.novelties) note(novelty_text(one, proposals.model));
  const auto lifted = std::count_if(list.begin(), list.end(), [](const auto& one) { return one.lifted; });
  if (lifted > 0) {
    note(fmt::format("{} of the {} predictions {} below what arithmetic and DRAM traffic allow, and lifted to it",
                     lifted, list.size(), lifted == 1 ? "was" : "were"));
  }
  if (!proposals.unbounded.empty()) {
    note(
        fmt::format("no network that ships is the model's {}: predictions for it may be below what arithmetic and DRAM "
                    "traffic allow. Name its file (--workload FILE)",
                    printable(join(proposals.unbounded, ", "), 200)));
  }
  const bool guessed = std::any_of(list.begin(), list.end(), [](const auto& one) { return one.extrapolated; });
  if (guessed && proposals.novelties.empty()) {
    note("the model has not seen every one of these workloads: predicted values are guesses, the order counts");
  }
  if (proposals.result.solution.proof) note(proof_text(proposals, *proposals.result.solution.proof));
  if (interrupted) {
    note("the search was interrupted; these are the best so far");
  } else if (proposals.interrupted) {
    note("interrupted before the exact front and random ones were known");
  }
  const auto exceeding = std::count_if(proposals.known.begin(), proposals.known.end(),
                                       [](const auto& one) { return !one.exceeded.empty(); });
  if (exceeding > 0 && proposals.options.front.empty()) {
    note(fmt::format("{} of the {} designs exceed a learned limit when simulated", exceeding, list.size()));
  }
  if (const std::size_t unseen = count_unseen(proposals); unseen > 0) {
    note(
        fmt::format("{} of the {} designs have values that no row had (`in no row`): what the model says of them is "
                    "drawn from other values",
                    unseen, list.size()));
  }
  if (!proposals.options.only_new && std::any_of(list.begin(), list.end(), is_logged)) {
    note("the log has some of these designs already; --new proposes only others");
  }
  return out;
}

Table table_of(const Proposals& proposals, ColumnSet set) {
  return proposals.options.front.empty() ? proposal_table(proposals, set) : front_table(proposals, set);
}

Json proof_json(const std::optional<optimize::Proof>& proof) {
  if (!proof) return nullptr;
  return {{"complete", proof->open() == 0},
          {"designs", proof->designs},
          {"beyond_limits", proof->beyond_limits},
          {"bounded", proof->bounded},
          {"judged", proof->judged},
          {"open", proof->open()},
          {"found_before", proof->found_before ? Json(*proof->found_before) : Json(nullptr)}};
}

/// One object per reference.
Json shares_json(const std::optional<study::FrontShares>& shares) {
  if (!shares) return nullptr;
  Json json{{"points", shares->exact_points},
            {"drawn", shares->drawn},
            {"buildable", shares->buildable},
            {"hypervolume", Json::array()}};
  for (std::size_t k = 0; shares->exact_points > 0 && k < study::kFrontReferences.size(); ++k) {
    json["hypervolume"].push_back({{"reference", study::kFrontReferences[k]},
                                   {"proposals", shares->proposals[k]},
                                   {"as_many_exact", shares->as_many_exact[k]},
                                   {"random", shares->random ? Json((*shares->random)[k]) : Json(nullptr)}});
  }
  return json;
}

/// `margins` and `errors` on the scale of the scores: logarithms where a metric was learned on one.
Json log_beside_json(const Proposals& proposals) {
  const auto& log = proposals.result.log_beside;
  if (!log) return nullptr;
  Json json{{"designs", log->designs},     {"beaten", log->beaten},     {"compared", log->compared},
            {"corrected", log->corrected}, {"margins", Json::object()}, {"errors", nullptr}};
  if (log->corrected) json["errors"] = Json::object();
  for (std::size_t m = 0; m < log->margins.size(); ++m) {
    const std::string& name = proposals.options.front[m].name;
    json["margins"][name] = log->margins[m];
    if (log->corrected) json["errors"][name] = {{"before", log->errors_before[m]}, {"after", log->errors_after[m]}};
  }
  return json;
}

Json novelties_json(const Proposals& proposals) {
  Json list = Json::array();
  for (const surrogate::Novelty& one : proposals.novelties) {
    Json expected = nullptr;
    if (one.expected) {
      expected = {{"median_error", one.expected->median_error},
                  {"least_error", one.expected->least_error},
                  {"most_error", one.expected->most_error},
                  {"networks", one.expected->networks},
                  {"beyond", one.expected->beyond}};
    }
    list.push_back({{"workload", one.application},
                    {"layer_distance", one.distance},
                    {"nearest_layer", one.nearest_layer},
                    {"nearer_than", one.nearer_than},
                    {"expected_error", expected}});
  }
  return list;
}

Json front_json(const Proposals& proposals) {
  Json json{{"metrics", Json::array()},
            {"found", proposals.result.front_size},
            {"log", log_beside_json(proposals)},
            {"truth", nullptr},
            {"exact", shares_json(proposals.front_shares)}};
  for (const optimize::FrontMetric& metric : proposals.options.front) {
    json["metrics"].push_back({{"name", metric.name}, {"learned", !metric.value}});
  }
  if (!proposals.front_truth) return json;
  const study::FrontTruth& truth = *proposals.front_truth;
  json["truth"] = {{"infeasible", truth.infeasible},
                   {"over_limit", truth.over_limit},
                   {"standing", std::count(truth.stands.begin(), truth.stands.end(), true)},
                   {"largest_gap", truth.largest_gap ? Json(*truth.largest_gap) : Json(nullptr)},
                   {"hypervolume_ratio", truth.hypervolume_ratio ? Json(*truth.hypervolume_ratio) : Json(nullptr)}};
  json["truth"]["median_ratio"] = Json::object();
  for (std::size_t m = 0; m < truth.median_ratio.size(); ++m) {
    json["truth"]["median_ratio"][proposals.options.front[m].name] =
        truth.median_ratio[m] ? Json(*truth.median_ratio[m]) : Json(nullptr);
  }
  return json;
}

}  // namespace

void require_columns(const Proposals& so_far, const std::vector<std::string>& chosen) {
  if (!chosen.empty()) table_of(so_far, ColumnSet::possible).choose_columns(chosen);
}

std::string proposals_text(const Proposals& proposals, DesignStyle style, int columns,
                           const std::vector<std::string>& chosen) {
  const bool front = !proposals.options.front.empty();
  Table table = table_of(proposals, chosen.empty() ? ColumnSet::useful : ColumnSet::possible);
  if (!chosen.empty()) table.choose_columns(chosen);
  std::string out = wrapped("", headline(proposals), columns, 2) + notes(proposals, columns);
  out += "\n" + table.render(columns) + "\n";
  out += front ? front_remarks(proposals, columns) : wrapped("", ranking_text(proposals), columns, 2);
  if (!front && proposals.known.size() > 1) out += wrapped("", chosen_text(proposals), columns, 2);
  if (proposals.best_in_log) out += comparison(proposals, *proposals.best_in_log, columns);
  std::vector<std::string> designs;
  for (std::size_t i = 0; i < proposals.known.size(); ++i) designs.push_back(text_id_of(proposals, i));
  return out + (designs.empty() ? "" : "\n") + design_table(designs, DesignHeads::numbers, style, columns);
}

std::string proposals_json(const Proposals& proposals) {
  const optimize::ProposeOptions& options = proposals.options;
  Json json{{"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"model", proposals.model_file},
            {"space", proposals.model.parts().space.name()},
            {"technology", proposals.technology.empty() ? Json(nullptr) : Json(proposals.technology)},
            {"objective", proposals.model.parts().objective_text},
            {"aggregate", optimize::to_string(options.aggregate)},
            {"search", optimize::to_string(options.search.kind)},
            {"seed", options.search.seed},
            {"pessimism", options.pessimism},
            {"min_p_feasible", options.min_p_feasible},
            {"portfolio", options.front.empty() ? Json(optimize::to_string(options.portfolio)) : Json(nullptr)},
            {"min_p_feasible_used", proposals.result.min_p_feasible_used},
            {"relaxed_by_log", proposals.result.relaxed_by_log},
            {"feasibility_learned", proposals.model.parts().feasibility_learned},
            {"objective_scale", dataset::to_string(proposals.model.parts().objective_scaler.value_scale)},
            {"model_evaluations", proposals.result.solution.evaluations},
            {"proof", proof_json(proposals.result.solution.proof)},
            {"simulator_queries", proposals.simulator_queries},
            {"seconds", proposals.seconds},
            {"ranked_by", proposals.options.front.empty() ? ranking_text(proposals) : "front"},
            {"best_in_log", nullptr},
            {"all_worse_than_log", study::all_worse_than_log(proposals)},
            {"novelties", novelties_json(proposals)},
            {"doubts", proposals.doubts},
            {"unbounded", proposals.unbounded},
            {"remarks", proposals.remarks}};
  if (proposals.best_in_log) json["best_in_log"] = *proposals.best_in_log;
  json["limits"] = Json::object();
  for (const optimize::Constraint& constraint : options.constraints) {
    json["limits"][constraint.name] = {{"limit", constraint.limit}, {"learned", constraint.learned()}};
  }
  if (!options.front.empty()) json["front"] = front_json(proposals);
  json["proposals"] = Json::array();
  for (std::size_t i = 0; i < proposals.known.size(); ++i) {
    Json entry{{"rank", i + 1},
               {"id", space::short_id(text_id_of(proposals, i))},
               {"design", text_id_of(proposals, i)},
               {"predicted", Json::parse(study::prediction_json(proposals, i))},
               {"unseen_levels", unseen_of(proposals, i)}};
    if (const auto verdict = study::verdict_json(proposals, i)) entry["simulated"] = Json::parse(*verdict);
    json["proposals"].push_back(std::move(entry));
  }
  return to_text(json);
}

}  // namespace hindsight::report

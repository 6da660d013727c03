/// A front of proposals as a table, with what it is worth in truth.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "report/fields.h"
#include "report/proposals_parts.h"
#include "report/study_parts.h"

namespace hindsight::report {
namespace {

using study::Knowledge;
using study::Proposals;

/// [chosen] What two digits behind the point show.
constexpr double kVisibleGap = 1.005;

/// Whether `cautious` of this metric is a ratio, in the unit of nothing.
bool is_ratio(const Proposals& proposals, std::size_t m) {
  const bool worst = proposals.options.aggregate == optimize::Aggregate::worst;
  return worst && proposals.options.contexts.size() > 1 && !proposals.options.front[m].value;
}

/// Whether the reciprocal of what several applications make of reciprocals is what they make of the metric: their
/// geometric mean is, and the worst of them; a mean of reciprocals is no mean of the metric.
bool keeps_reciprocals(const optimize::ProposeOptions& options) {
  return options.contexts.size() == 1 || options.aggregate == optimize::Aggregate::geomean ||
         options.aggregate == optimize::Aggregate::worst;
}

/// The metric that is maximised, where a front has its reciprocal: it is shown as that metric.
std::optional<std::string> maximised_of_front(const Proposals& proposals, std::size_t m) {
  const optimize::FrontMetric& metric = proposals.options.front[m];
  if (metric.value || !keeps_reciprocals(proposals.options)) return std::nullopt;
  return maximised_objective(metric.name);
}

std::string front_metric_name(const Proposals& proposals, std::size_t m) {
  return maximised_of_front(proposals, m).value_or(proposals.options.front[m].name);
}

std::string front_value_text(const Proposals& proposals, std::size_t m, double value) {
  return value_text(front_metric_name(proposals, m), maximised_of_front(proposals, m) ? 1 / value : value);
}

std::string cautious_text(const Proposals& proposals, const optimize::Proposal& proposal, std::size_t m) {
  const double value = proposal.front[m].cautious;
  if (!is_ratio(proposals, m)) return front_value_text(proposals, m, value);
  return fmt::format("x{:.3g}", maximised_of_front(proposals, m) ? 1 / value : value);
}

bool is_metric(const Proposals& proposals, const std::string& name) {
  const auto& front = proposals.options.front;
  return std::any_of(front.begin(), front.end(), [&](const auto& metric) { return metric.name == name; });
}

/// Whether a point is on the front of the simulated ones.
std::string standing(const Proposals& proposals, std::size_t i) {
  const Knowledge& known = proposals.known[i];
  if (known.true_front.empty()) return "infeasible";
  if (!known.exceeded.empty()) return "over limit";
  return proposals.front_truth->stands[i] ? "yes" : "dominated";
}

/// Reasons of infeasibility, or the limits that are exceeded.
std::string reason(const Knowledge& known) {
  return known.true_front.empty() ? reasons_of(*known.verdict) : join(known.exceeded, ", ");
}

bool any_reason(const Proposals& proposals) {
  return simulated(proposals) && std::any_of(proposals.known.begin(), proposals.known.end(),
                                             [](const Knowledge& known) { return !reason(known).empty(); });
}

void add_columns(const Proposals& proposals, bool with_truth, bool with_reasons, Table& table) {
  table.add_column("point", Align::right);
  const auto& front = proposals.options.front;
  for (std::size_t m = 0; m < front.size(); ++m) table.add_column(front_metric_name(proposals, m), Align::right);
  for (std::size_t m = 0; m < front.size(); ++m) {
    if (!front[m].value) table.add_column("cautious " + front_metric_name(proposals, m), Align::right, 3);
  }
  table.add_column("p feasible", Align::right, 1);
  for (const optimize::Constraint& constraint : proposals.options.constraints) {
    if (!is_metric(proposals, constraint.name)) table.add_column(constraint.name, Align::right, 2);
  }
  for (const std::string& name : study::derived_names(proposals)) table.add_column(name, Align::right, 3);
  if (proposals.logged) table.add_column("changes", Align::right, 2);
  if (!with_truth) return;
  for (std::size_t m = 0; m < front.size(); ++m) {
    if (!front[m].value) table.add_column("true " + front_metric_name(proposals, m), Align::right);
  }
  table.add_column("on front", Align::right);
  if (with_reasons) table.add_column("why not", Align::left, 3);
}

/// Shares of the exact front's hypervolume, one per reference.
std::string shares_text(const study::ReferenceShares& shares) {
  return fmt::format("{:.2f} ({:.2f})", shares[0], shares[1]);
}

std::string exact_text(const study::FrontShares& shares, std::size_t points) {
  if (shares.exact_points == 0) return "exact front: no design can be built within the limits";
  std::string text = fmt::format("hypervolume {} of the exact front's, which has {}; as many of them {}, ",
                                 shares_text(shares.proposals), counted(shares.exact_points, "point"),
                                 shares_text(shares.as_many_exact));
  if (shares.random) {
    text +=
        fmt::format("{} random designs that can be built {} (one in {:.0f} can)", points, shares_text(*shares.random),
                    static_cast<double>(shares.drawn) / static_cast<double>(shares.buildable));
  } else {
    text += fmt::format("random designs none: of {} drawn {} can be built", with_commas(shares.drawn),
                        with_commas(shares.buildable));
  }
  return text + fmt::format("; on logarithms, below {} ({}) times the exact front's largest values",
                            shortest(study::kFrontReferences[0]), shortest(study::kFrontReferences[1]));
}

/// A margin as a share; of a metric that was not learned on a logarithmic scale, in its unit, to three digits.
std::string margin_text(const Proposals& proposals, std::size_t m, double margin) {
  const auto& parts = proposals.model.parts();
  const std::string& name = proposals.options.front[m].name;
  const auto quantity = optimize::learned_quantity(proposals.model, name);
  const dataset::ValueScale scale =
      quantity->is_objective ? parts.objective_scaler.value_scale
                             : parts.constraint_scaler.value_scales[static_cast<std::size_t>(quantity->label)];
  if (scale == dataset::ValueScale::logarithmic) return fmt::format("{:.1f} %", 100 * std::expm1(margin));
  const std::string digits = fmt::format("{:.3g}", margin);
  if (scale == dataset::ValueScale::log1p) return fmt::format("{} in log(1 + {})", digits, name);
  return metric_text(name, parse_double(digits).value_or(margin));
}

/// What a metric's predictions were off by before and after they were corrected.
std::string errors_text(const Proposals& proposals, std::size_t m, double before, double after) {
  const std::string was = margin_text(proposals, m, before), is = margin_text(proposals, m, after);
  const std::string name = front_metric_name(proposals, m);
  return was == is ? fmt::format("{} {} with and without", name, is)
                   : fmt::format("{} {} instead of {}", name, is, was);
}

/// What the log did to the front.
std::string log_text(const Proposals& proposals) {
  if (!proposals.result.log_beside) {
    return "log: no design of it has these metrics for all applications and is within the limits, so that none stands "
           "beside what is predicted";
  }
  const optimize::LogBesideFront& log = *proposals.result.log_beside;
  const auto& shown = proposals.result.proposals;
  const auto logged = std::count_if(shown.begin(), shown.end(), [](const auto& one) { return one.from_log; });
  std::string text = fmt::format("log: {} on its own front within the limits, {} of these points",
                                 counted(log.designs, "design"), logged);
  std::vector<std::string> margins, errors;
  for (std::size_t m = 0; m < log.margins.size(); ++m) {
    const optimize::FrontMetric& metric = proposals.options.front[m];
    if (metric.value) continue;
    margins.push_back(fmt::format("{} {}", front_metric_name(proposals, m), margin_text(proposals, m, log.margins[m])));
    if (!log.corrected) continue;
    errors.push_back(errors_text(proposals, m, log.errors_before[m], log.errors_after[m]));
  }
  if (log.corrected) {
    text += fmt::format("; predictions corrected by {} of its designs (those left out in turn are off by {})",
                        log.compared, join(errors, ", "));
  }
  text += fmt::format(
      "; left out: {} that a logged one would dominate if worse than predicted by {}, as one in ten of {} is",
      counted(log.beaten, "predicted point"), join(margins, ", "),
      log.corrected ? "those" : fmt::format("{} promising logged ones", log.compared));
  return text;
}

}  // namespace

std::string front_names(const Proposals& proposals) {
  std::vector<std::string> names;
  for (std::size_t m = 0; m < proposals.options.front.size(); ++m) {
    const std::string name = front_metric_name(proposals, m);
    const bool more = maximised_of_front(proposals, m).has_value();
    const auto learned = optimize::learned_quantity(proposals.model, name);
    const bool is_label = !proposals.options.front[m].value && learned && !learned->is_objective;
    names.push_back(name + (more       ? direction_note(name, Direction::maximise)
                            : is_label ? direction_note(name, Direction::minimise)
                                       : ""));
  }
  return join(names, ", ");
}

Table front_table(const Proposals& proposals, ColumnSet set) {
  const auto& front = proposals.options.front;
  Table table;
  const bool all = set == ColumnSet::possible && proposals.verifier;
  const bool with_truth = simulated(proposals) || all, with_reasons = any_reason(proposals) || all;
  add_columns(proposals, with_truth, with_reasons, table);
  for (std::size_t i = 0; i < proposals.known.size(); ++i) {
    const optimize::Proposal& proposal = proposals.result.proposals[i];
    const Knowledge& known = proposals.known[i];
    std::vector<std::string> cells{std::to_string(i + 1)};
    for (std::size_t m = 0; m < front.size(); ++m) {
      cells.push_back(front_value_text(proposals, m, proposal.front[m].predicted));
    }
    for (std::size_t m = 0; m < front.size(); ++m) {
      if (!front[m].value) cells.push_back(cautious_text(proposals, proposal, m));
    }
    cells.push_back(fmt::format("{:.3f}", least_p_feasible(proposal)));
    for (std::size_t k = 0; k < proposal.constraint_values.size(); ++k) {
      const std::string& name = proposals.options.constraints[k].name;
      if (!is_metric(proposals, name)) cells.push_back(fmt::format("{:.4g}", proposal.constraint_values[k]));
    }
    for (const double value : study::derived_values(proposals, i)) cells.push_back(fmt::format("{:.4g}", value));
    if (proposals.logged) cells.push_back(changes_text(proposal));
    for (std::size_t m = 0; with_truth && m < front.size(); ++m) {
      if (front[m].value) continue;
      cells.push_back(known.true_front.empty() ? "-" : front_value_text(proposals, m, known.true_front[m]));
    }
    if (with_truth) cells.push_back(standing(proposals, i));
    if (with_reasons) cells.push_back(reason(known));
    table.add_row(std::move(cells));
  }
  return table;
}

std::string front_headline(const Proposals& proposals) {
  const std::size_t shown = proposals.known.size(), found = proposals.result.front_size;
  const std::string of = found > shown ? fmt::format(" of the {} found", with_commas(found)) : std::string();
  return fmt::format("front of {}: {}{}", front_names(proposals), counted(shown, "point"), of);
}

std::string front_remarks(const Proposals& proposals, int columns) {
  std::string spreads = "what is learned counts as predicted";
  if (proposals.options.pessimism != 0) {
    const auto& log = proposals.result.log_beside;
    spreads =
        fmt::format("what is learned counts worse by {} {} of the ensemble{} (cautious)",
                    shortest(proposals.options.pessimism), proposals.options.pessimism == 1 ? "spread" : "spreads",
                    log && log->corrected ? " and of the log's correction" : "");
  }
  std::string out = wrapped(
      "", "no design that was judged is better in one metric and as good in the others; " + spreads, columns, 2);
  if (proposals.logged) out += wrapped("", log_text(proposals), columns, 2);
  if (!proposals.front_truth) return out;
  const study::FrontTruth& truth = *proposals.front_truth;
  const auto standing = std::count(truth.stands.begin(), truth.stands.end(), true);
  std::string text = fmt::format("simulated: {} of {} infeasible", truth.infeasible, truth.stands.size());
  if (truth.over_limit > 0) text += fmt::format(", {} over a limit", truth.over_limit);
  text += fmt::format(", {} on the true front of these designs", standing);
  if (truth.largest_gap && *truth.largest_gap > kVisibleGap) {
    text += fmt::format(", the rest beaten by at most a factor of {:.2f} in every metric", *truth.largest_gap);
  }
  for (std::size_t m = 0; m < truth.median_ratio.size(); ++m) {
    if (proposals.options.front[m].value || !truth.median_ratio[m]) continue;
    const double ratio = maximised_of_front(proposals, m) ? 1 / *truth.median_ratio[m] : *truth.median_ratio[m];
    text += fmt::format("; {} {:.3f} of the predicted (median)", front_metric_name(proposals, m), ratio);
  }
  if (truth.hypervolume_ratio)
    text += fmt::format("; true hypervolume {:.2f} of the predicted", *truth.hypervolume_ratio);
  out += wrapped("", text, columns, 2);
  if (proposals.front_shares) {
    out += wrapped("", exact_text(*proposals.front_shares, proposals.known.size()), columns, 2);
  }
  return out;
}

}  // namespace hindsight::report

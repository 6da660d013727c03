/// What can be asked of a model: checks, and the settings of each risk.
#include "optimize/propose_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/enum_names.h"
#include "hindsight/core/error.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/optimize/front.h"

namespace hindsight::optimize {
namespace {

constexpr EnumNames<Risk, 3> kRisks{{{Risk::safe, "safe"}, {Risk::balanced, "balanced"}, {Risk::bold, "bold"}}};
constexpr EnumNames<Portfolio, 3> kPortfolios{
    {{Portfolio::alike, "alike"}, {Portfolio::spread, "spread"}, {Portfolio::hedged, "hedged"}}};
/// [chosen] One proposal in so many is chosen by a network alone: more where a list dares more.
constexpr std::size_t kBalancedMemberEvery = 4, kBoldMemberEvery = 3;

void require_valid_front(const surrogate::Model& model, const ProposeOptions& options) {
  if (options.front.empty()) return;
  if (options.front.size() < 2 || options.front.size() > kMostMetrics) {
    throw Error(ErrorKind::usage, fmt::format("a front needs two metrics, or three; {} given", options.front.size()));
  }
  const bool ratios = options.aggregate == Aggregate::geomean || options.aggregate == Aggregate::worst;
  for (const FrontMetric& metric : options.front) {
    if (metric.value) continue;
    const LearnedQuantity quantity = quantity_of(model, metric.name);
    if (quantity.is_objective || options.contexts.size() < 2 || !ratios) continue;
    const auto scale = model.parts().constraint_scaler.value_scales[static_cast<std::size_t>(quantity.label)];
    if (scale == dataset::ValueScale::logarithmic) continue;
    throw Error(ErrorKind::usage,
                fmt::format("aggregate {}: {} was not learned on a logarithmic scale (its values are not positive, or "
                            "span less than a decade), which ratios need. Use mean or weighted",
                            to_string(options.aggregate), printable(metric.name)));
  }
}

void require_valid_weights(const ProposeOptions& options) {
  if (options.weights.size() != options.contexts.size()) {
    throw Error(ErrorKind::usage, fmt::format("--weights: {} for {}. Give one for each, above 0",
                                              options.weights.size(), counted(options.contexts.size(), "application")));
  }
  const auto wrong =
      std::ranges::find_if_not(options.weights, [](double weight) { return weight > 0 && std::isfinite(weight); });
  if (wrong == options.weights.end()) return;
  throw Error(ErrorKind::usage, fmt::format("--weights: {} is no number above 0. Leave an application that does not "
                                            "count out of --workload",
                                            readable(*wrong)));
}

}  // namespace

LearnedQuantity quantity_of(const surrogate::Model& model, const std::string& name) {
  if (const auto quantity = learned_quantity(model, name)) return *quantity;
  throw Error(ErrorKind::usage, fmt::format("the model has not learned '{}'.{}", printable(name),
                                            did_you_mean(name, model.parts().constraint_names)));
}

void require_valid(const surrogate::Model& model, const ProposeOptions& options) {
  const auto refuse = [](const std::string& problem) { throw Error(ErrorKind::usage, problem); };
  if (options.contexts.empty()) refuse("a proposal needs at least one application");
  if (options.count == 0) refuse("at least one proposal must be asked for");
  if (!(options.min_p_feasible >= 0 && options.min_p_feasible <= 1)) {
    refuse(fmt::format("--min-feasible {}: is no probability. Name a number from 0 to 1, e.g. 0.9",
                       readable(options.min_p_feasible)));
  }
  if (!(options.pessimism >= 0) || !std::isfinite(options.pessimism)) {
    refuse(fmt::format("--pessimism {}: is no number of spreads. Name 0 (none) or more, e.g. 1",
                       readable(options.pessimism)));
  }
  if (options.aggregate == Aggregate::weighted) require_valid_weights(options);
  const bool linear = model.parts().objective_scaler.value_scale == dataset::ValueScale::linear;
  if (linear && (options.aggregate == Aggregate::geomean || options.aggregate == Aggregate::worst)) {
    refuse(
        fmt::format("aggregate {}: the objective {} has values of 0 or below (a geometric mean, and ratios to typical "
                    "designs, need values above 0). Use mean or weighted",
                    to_string(options.aggregate), model.parts().objective_text));
  }
  if (options.logged != nullptr) surrogate::require_space(model, options.logged->space);
  if (options.only_new && options.logged == nullptr)
    refuse("new designs are those that a log does not have: name a log");
  require_valid_front(model, options);
}

double default_min_p_feasible(const surrogate::Model& model) {
  return options_of(Risk::balanced, model).min_p_feasible;
}

Risk parse_risk(const std::string& name) { return parse_enum("risk", name, kRisks); }

std::string to_string(Risk risk) { return std::string(name_in(kRisks, risk)); }

Portfolio parse_portfolio(const std::string& name) { return parse_enum("portfolio", name, kPortfolios); }

std::string to_string(Portfolio portfolio) { return std::string(name_in(kPortfolios, portfolio)); }

ProposeOptions options_of(Risk risk, bool by_flag) {
  ProposeOptions options;
  options.portfolio = kUsualPortfolio;
  switch (risk) {
    case Risk::safe:
      options.pessimism = 2;
      options.min_p_feasible = by_flag ? 0.7 : 0.95;
      options.portfolio = Portfolio::alike;
      break;
    case Risk::balanced:
      options.min_p_feasible = by_flag ? 0.5 : 0.9;
      options.member_every = kBalancedMemberEvery;
      break;
    case Risk::bold:
      options.pessimism = 0;
      options.min_p_feasible = by_flag ? 0.3 : 0.7;
      options.diversity = 3;
      options.member_every = kBoldMemberEvery;
      break;
  }
  return options;
}

ProposeOptions options_of(Risk risk, const surrogate::Model& model) {
  return options_of(risk, model.parts().members.front().architecture().kind == surrogate::NetworkKind::experts);
}

void take_risk(const AskedRisk& asked, const surrogate::Model& model, ProposeOptions& options) {
  const ProposeOptions usual = options_of(asked.risk, model);
  options.min_p_feasible = asked.min_p_feasible.value_or(usual.min_p_feasible);
  options.trust_log = !asked.min_p_feasible && asked.risk != Risk::safe;
  options.pessimism = asked.pessimism.value_or(usual.pessimism);
  options.diversity = asked.diversity.value_or(usual.diversity);
  options.portfolio = asked.portfolio.value_or(usual.portfolio);
  options.member_every = asked.member_every.value_or(usual.member_every);
  if (!asked.member_every || options.portfolio == Portfolio::hedged) return;
  throw Error(ErrorKind::usage,
              fmt::format("--member-every {}: only hedged lists have proposals that one network chooses, and this one "
                          "is {}. Add --portfolio hedged?",
                          *asked.member_every, to_string(options.portfolio)));
}

}  // namespace hindsight::optimize

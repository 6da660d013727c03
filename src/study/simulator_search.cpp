/// Hands a simulator-driven search the evaluator, through the log.
#include "hindsight/study/simulator_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/error.h"
#include "hindsight/core/text.h"
#include "hindsight/log/metric_direction.h"
#include "hindsight/optimize/baselines.h"
#include "hindsight/study/analytic_constraint.h"
#include "hindsight/study/log_names.h"
#include "hindsight/sweep/queries.h"

namespace hindsight::study {
namespace {

/// No product: there is nothing to multiply, divide or raise.
bool is_one_name(std::string_view text) { return text.find_first_of("*/^ ") == std::string_view::npos; }

dataset::Objective resolve_objective(const SearchWords& words, const std::vector<std::string>& known) {
  const std::string text = known_objective(words.objective, known);
  const bool one_metric =
      known.empty() ? is_one_name(text) : std::find(known.begin(), known.end(), text) != known.end();
  const Direction direction = words.maximise ? Direction::maximise
                              : one_metric   ? log::direction_of(text)
                                             : Direction::minimise;
  dataset::Objective objective = dataset::parse_objective(text, direction);
  for (dataset::Objective::Factor& factor : objective.factors) {
    factor.short_name.clear();  // "latency" and "latency_s" are one search
    if (known.empty() || std::find(known.begin(), known.end(), factor.metric) != known.end()) continue;
    throw Error(ErrorKind::usage,
                fmt::format("objective '{}': the evaluator gives no '{}'.{}", printable(words.objective),
                            printable(factor.metric), did_you_mean(factor.metric, known)));
  }
  return objective;
}

/// Adds a metric that is not there yet; its place.
std::size_t place_of(const std::string& metric, std::vector<std::string>& metrics) {
  const auto found = std::find(metrics.begin(), metrics.end(), metric);
  const auto place = static_cast<std::size_t>(found - metrics.begin());
  if (found == metrics.end()) metrics.push_back(metric);
  return place;
}

/// "pes_x=2,4 compute_lanes=16": the values that are left of parameters that are bounded.
std::string values_of(const optimize::AllowedLevels& allowed, const space::DesignSpace& space) {
  std::vector<std::string> bounded;
  for (std::size_t p = 0; p < allowed.size(); ++p) {
    if (allowed[p].empty()) continue;
    std::vector<std::string> labels;
    for (const std::uint16_t level : allowed[p]) labels.push_back(space.parameters()[p].labels[level]);
    bounded.push_back(space.parameters()[p].name + "=" + join(labels, ","));
  }
  return join(bounded, " ");
}

}  // namespace

sweep::Scoring scoring_of(const SimulatorSearch& search) {
  sweep::Scoring scoring;
  std::vector<std::pair<std::size_t, double>> factors, limits;  // place among the metrics, with exponent or limit
  for (const dataset::Objective::Factor& factor : search.objective.factors) {
    factors.emplace_back(place_of(factor.metric, scoring.metrics), factor.exponent);
  }
  for (const sweep::FactLimit& bound : search.outcome_limits) {
    limits.emplace_back(place_of(bound.fact, scoring.metrics), bound.limit);
  }
  const std::size_t metrics = scoring.metrics.size();
  scoring.score = [=, aggregate = search.aggregate](std::span<const double> values) -> std::optional<double> {
    std::vector<double> objectives;
    for (std::size_t first = 0; first < values.size(); first += metrics) {
      for (const auto& [place, limit] : limits) {
        if (values[first + place] > limit) return std::nullopt;
      }
      double product = 1;
      for (const auto& [place, exponent] : factors) product *= std::pow(values[first + place], exponent);
      if (!std::isfinite(product)) return std::nullopt;  // more is better, and there is nothing
      objectives.push_back(product);
    }
    const bool alone = objectives.size() == 1;  // a logarithm would cost its last digit
    return alone ? objectives[0] : optimize::aggregate_value(objectives, aggregate, {});
  };
  return scoring;
}

SimulatorSearch resolve_search(const SearchWords& words, sweep::SweepOptions& sweep) {
  SimulatorSearch search;
  search.method = optimize::parse_online_method(words.method);
  search.objective = resolve_objective(words, sweep.evaluator->metrics());
  search.aggregate = optimize::parse_aggregate(words.aggregate);
  if (search.aggregate == optimize::Aggregate::weighted) {
    throw Error(ErrorKind::usage, "--aggregate weighted: a search has no weights. Use mean, worst or geomean?");
  }
  sweep.search = words.method;
  sweep.objective = to_string(search.objective);
  sweep.search_settings = {{"aggregate", optimize::to_string(search.aggregate)}};
  const std::vector<std::string>& facts = sweep.evaluator->fact_names();
  const SpaceLimits limits = resolve_space_limits(words.limits, sweep.space(), sweep.evaluator->metrics());
  std::vector<std::string> outcomes;
  for (const auto& [metric, most] : limits.metrics) {
    const bool fact = std::find(facts.begin(), facts.end(), metric) != facts.end();
    (fact ? sweep.limits : search.outcome_limits).push_back({.fact = metric, .limit = most});
    if (!fact) outcomes.push_back(fmt::format("{}<={}", metric, shortest(most)));
  }
  std::sort(outcomes.begin(), outcomes.end());
  if (!outcomes.empty()) sweep.search_settings.emplace_back("max_of_evaluations", join(outcomes, " "));
  for (const auto& [name, most] : limits.derived) sweep.limits.push_back({.fact = name, .limit = most});
  search.allowed = limits.allowed;
  if (const std::string values = values_of(search.allowed, sweep.space()); !values.empty()) {
    sweep.search_settings.emplace_back("values", values);
  }
  return search;
}

optimize::Problem problem_within(const sweep::SweepOptions& options) {
  optimize::Problem problem{.space = &options.space(), .allowed = {}, .constraints = {}, .model = {}};
  problem.allowed.resize(options.space().parameters().size());
  for (const sweep::FactLimit& bound : options.limits) {
    auto constraint = analytic_constraint(options.evaluator, bound.fact, bound.limit);
    if (!constraint) constraint = derived_constraint(options.space().rules(), bound.fact, bound.limit);
    HINDSIGHT_EXPECT(constraint.has_value());  // run_queries knows the limits as facts
    problem.constraints.push_back(std::move(*constraint));
  }
  return problem;
}

sweep::SweepSummary run_search(const sweep::SweepOptions& options, const SimulatorSearch& search) {
  HINDSIGHT_EXPECT(options.search == optimize::to_string(search.method));
  return sweep::run_queries(options, scoring_of(search), [&](const sweep::Ask& ask) {
    optimize::Problem problem = problem_within(options);
    problem.allowed = search.allowed;
    (void)optimize::optimize_online(search.method, problem, ask, options.samples, options.seed);
  });
}

}  // namespace hindsight::study

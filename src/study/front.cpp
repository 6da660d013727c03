/// Names of --pareto to metrics, and predicted fronts against true ones.
#include "hindsight/study/front.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hindsight/core/error.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/statistics.h"
#include "hindsight/core/text.h"
#include "hindsight/dataset/objective.h"
#include "hindsight/log/log.h"
#include "hindsight/log/metric_direction.h"
#include "hindsight/study/analytic_constraint.h"
#include "hindsight/study/log_names.h"
#include "study/model_evaluator.h"

namespace hindsight::study {
namespace {

using dataset::Direction;
using dataset::Objective;

/// [chosen] Where the volume ends beyond the largest value of a metric: a front's own ends count, and a front that is
/// worse as a whole by less than this still has some.
constexpr double kBeyond = 2;

Objective objective_of(const surrogate::Model& model) {
  return dataset::parse_objective(model.parts().objective_text, Direction::minimise);
}

std::map<std::string, double> exponents(const Objective& objective) {
  std::map<std::string, double> exponents;
  for (const Objective::Factor& factor : objective.factors) exponents[factor.metric] += factor.exponent;
  return exponents;
}

bool is_objective(const std::string& word, const surrogate::Model& model) {
  try {
    return exponents(dataset::parse_objective(word, Direction::minimise)) == exponents(objective_of(model));
  } catch (const Error&) {
    return false;  // no product of metrics
  }
}

/// The metric of which the objective wants more, "throughput" of throughput^-1; none of other objectives.
std::optional<std::string> maximised_metric(const surrogate::Model& model) {
  const Objective objective = objective_of(model);
  const bool is_maximised = objective.factors.size() == 1 && objective.factors.front().exponent < 0;
  return is_maximised ? std::optional(objective.factors.front().metric) : std::nullopt;
}

/// By its text, or by the name of the metric that it maximises: a front is better where that is larger, too.
bool names_objective(const std::string& word, const surrogate::Model& model) {
  const std::optional<std::string> maximised = maximised_metric(model);
  return is_objective(word, model) || (maximised && known_name(word, {*maximised}) == *maximised);
}

/// Each once: a label may be a fact, too.
std::vector<std::string> known_metrics(const surrogate::Model& model, const KnownEvaluator& evaluator,
                                       const DerivedQuantities& derived) {
  std::vector<std::string> known{objective_name(model)};
  const auto add = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
  };
  add(model.parts().constraint_names);
  if (evaluator) add(evaluator->fact_names());
  if (!derived) return known;
  for (const space::Rules::Derived& one : derived->derived()) add({one.name});
  return known;
}

/// What the built-in model logs, and what this one does.
std::vector<std::string> logged_metrics(const KnownEvaluator& evaluator) {
  std::vector<std::string> logged = log::standard_metrics();
  if (evaluator) logged.insert(logged.end(), evaluator->metrics().begin(), evaluator->metrics().end());
  return logged;
}

/// Of a word that stands for several metrics, "edp"; none for others.
std::vector<std::string> factors_of(const std::string& word) {
  std::vector<std::string> metrics;
  try {
    for (const auto& [metric, exponent] : exponents(dataset::parse_objective(word, Direction::minimise))) {
      metrics.push_back(metric);
    }
  } catch (const Error&) {
    return {};  // no product of metrics
  }
  return metrics.size() > 1 ? metrics : std::vector<std::string>();
}

/// Of a metric that no log has yet the direction is not known.
std::string learning_advice(const std::string& metric, const KnownEvaluator& evaluator) {
  const std::vector<std::string> logged = logged_metrics(evaluator);
  const bool is_ours = std::ranges::find(logged, metric) != logged.end();
  const std::string name = printable(metric);
  return is_ours ? fmt::format(" Learn it with train --constraint {}?", name)
                 : fmt::format(
                       " Learn it with train --constraint {} (less of it is better then; where more is, with "
                       "--objective {} --maximise)?",
                       name, name);
}

[[noreturn]] void refuse_front_metric(const std::string& word, const surrogate::Model& model,
                                      const KnownEvaluator& evaluator, const DerivedQuantities& derived) {
  const std::vector<std::string> known = known_metrics(model, evaluator, derived);
  std::string list = printable(known.front()) + " (its objective)";
  for (std::size_t i = 1; i < known.size(); ++i) list += ", " + printable(known[i]);
  const std::vector<std::string> factors = factors_of(word);
  const std::optional<std::string> metric = learnable_metric(word, model, evaluator);
  const std::string advice = !factors.empty()
                                 ? fmt::format(" A front is of single metrics. Name {}?", printable(join(factors, ",")))
                                 : (metric ? learning_advice(*metric, evaluator) : "") + did_you_mean(word, known);
  throw Error(ErrorKind::usage,
              fmt::format("--pareto {}: the model does not predict it. It has {}.{}", printable(word), list, advice));
}

[[noreturn]] void refuse_maximised_label(const std::string& word, const std::string& label) {
  throw Error(ErrorKind::usage,
              fmt::format("--pareto {}: more of it is better, and a front takes labels of which less is. Train a model "
                          "that maximises it, with what it is traded for as labels: train --objective {} --maximise "
                          "--constraint NAME",
                          printable(word, 60), shell_quoted(printable(label, 60))));
}

/// The label that a word is the reciprocal of, "1/speed"; none of other words.
std::optional<std::string> reciprocal_of_label(const std::string& word, const surrogate::Model& model) {
  const std::vector<std::string>& labels = model.parts().constraint_names;
  try {
    const Objective product = dataset::parse_objective(known_objective(word, labels), Direction::minimise);
    const std::optional<std::string> metric = dataset::maximised_metric(product);
    return metric && std::ranges::find(labels, *metric) != labels.end() ? metric : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // no product of metrics
  }
}

/// A metric goes before a derived quantity of its name.
optimize::FrontMetric resolve(const std::string& word, const surrogate::Model& model, const KnownEvaluator& evaluator,
                              const DerivedQuantities& derived, const std::set<std::string>& maximised) {
  const std::string name =
      names_objective(word, model) ? objective_name(model) : known_name(word, known_metrics(model, evaluator, derived));
  optimize::FrontMetric metric{.name = name};
  const auto learned = optimize::learned_quantity(model, name);
  if (evaluator && !(learned && learnt_from_another(model, evaluator))) {
    if (auto fact = analytic_constraint(evaluator, name, 0)) {
      metric.value = std::move(fact->value);
      return metric;
    }
  }
  if (auto quantity = learned ? std::nullopt : derived_constraint(derived, name, 0)) {
    metric.value = std::move(quantity->value);
    return metric;
  }
  if (const auto label = learned ? std::nullopt : reciprocal_of_label(word, model))
    refuse_maximised_label(word, *label);
  if (!learned) refuse_front_metric(word, model, evaluator, derived);
  if (!learned->is_objective && log::direction_of(name, maximised) == Direction::maximise) {
    refuse_maximised_label(word, name);
  }
  return metric;
}

/// On a logarithmic scale where all values of metric `m` are positive.
std::vector<optimize::MetricValues> on_scale(const std::vector<std::vector<double>>& rows,
                                             const std::vector<bool>& positive) {
  std::vector<optimize::MetricValues> points;
  for (const std::vector<double>& row : rows) {
    optimize::MetricValues& point = points.emplace_back();
    for (std::size_t m = 0; m < row.size(); ++m) point[m] = positive[m] ? std::log(row[m]) : row[m];
  }
  return points;
}

/// The largest factor by which some point beats another in every metric; `points` are logarithms.
double largest_gap(const std::vector<optimize::MetricValues>& points, std::size_t metrics) {
  double largest = 0;
  for (const optimize::MetricValues& beaten : points) {
    for (const optimize::MetricValues& other : points) {
      double least = beaten[0] - other[0];
      for (std::size_t m = 1; m < metrics; ++m) least = std::min(least, beaten[m] - other[m]);
      largest = std::max(largest, least);
    }
  }
  return std::exp(largest);
}

std::optional<double> hypervolume_ratio(const std::vector<optimize::MetricValues>& predicted,
                                        const std::vector<optimize::MetricValues>& standing,
                                        const std::vector<bool>& logarithmic) {
  if (predicted.size() < 2) return std::nullopt;
  optimize::MetricValues reference = {1, 1, 1};
  for (std::size_t m = 0; m < logarithmic.size(); ++m) {
    double low = predicted.front()[m], high = low;
    for (const auto* points : {&predicted, &standing}) {
      for (const optimize::MetricValues& point : *points) {
        low = std::min(low, point[m]);
        high = std::max(high, point[m]);
      }
    }
    reference[m] = high + (logarithmic[m] ? std::log(kBeyond) : high > low ? high - low : 1);
  }
  return optimize::hypervolume(standing, reference) / optimize::hypervolume(predicted, reference);
}

}  // namespace

std::string objective_name(const surrogate::Model& model) {
  const Objective objective = objective_of(model);
  const bool plain = objective.factors.size() == 1 && objective.factors.front().exponent == 1.0;
  return plain ? objective.factors.front().metric : model.parts().objective_text;
}

std::optional<std::string> learnable_metric(const std::string& word, const surrogate::Model& model,
                                            const KnownEvaluator& evaluator) {
  const std::vector<std::string> logged = logged_metrics(evaluator);
  const std::string name = known_name(word, logged);
  if (std::ranges::find(logged, name) != logged.end()) return name;
  const auto& facts = model.parts().provenance;
  const auto rows = facts.find("evaluator");
  const bool built_in = rows != facts.end() && !technology_of_evaluator(rows->second).empty();
  return built_in || word.empty() || !factors_of(word).empty() ? std::nullopt : std::optional(name);
}

std::vector<optimize::FrontMetric> resolve_front(const std::vector<std::string>& words, const surrogate::Model& model,
                                                 const KnownEvaluator& evaluator, const DerivedQuantities& derived,
                                                 const std::set<std::string>& maximised) {
  std::set<std::string> more_is_better = surrogate::maximised_labels(model);
  more_is_better.insert(maximised.begin(), maximised.end());
  std::vector<optimize::FrontMetric> front;
  for (const std::string& list : words) {
    for (const std::string& word : split(list, ',')) {
      optimize::FrontMetric metric = resolve(std::string(trimmed(word)), model, evaluator, derived, more_is_better);
      const bool twice =
          std::any_of(front.begin(), front.end(), [&](const auto& one) { return one.name == metric.name; });
      if (twice) throw Error(ErrorKind::usage, fmt::format("--pareto: {} is named twice", printable(metric.name)));
      front.push_back(std::move(metric));
    }
  }
  if (front.size() < 2 || front.size() > optimize::kMostMetrics) {
    const std::string known = printable(join(known_metrics(model, evaluator, derived), ", "));
    throw Error(ErrorKind::usage,
                fmt::format("--pareto: a front needs two metrics, or three; {} given. Known: {}", front.size(), known));
  }
  return front;
}

std::string doubt_about_direction(const surrogate::Model& model, const std::set<std::string>& maximised) {
  const std::string name = objective_name(model);
  if (!maximised.contains(name)) return "";
  return fmt::format(
      "the model takes small values of {0} for good, and the log says that large ones are: train "
      "--objective {1} --maximise",
      printable(name, 60), shell_quoted(printable(name, 60)));
}

FrontTruth truth_of_front(const std::vector<FrontPoint>& points) {
  FrontTruth truth{.stands = std::vector<bool>(points.size(), false),
                   .median_ratio = {},
                   .largest_gap = {},
                   .hypervolume_ratio = {}};
  if (points.empty()) return truth;
  const std::size_t metrics = points.front().predicted.size();
  std::vector<bool> positive(metrics, true);
  std::vector<std::vector<double>> ratios(metrics), predicted, standing;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const FrontPoint& point = points[i];
    predicted.push_back(point.predicted);
    for (std::size_t m = 0; m < metrics; ++m) {
      const bool known = !point.truth.empty();
      positive[m] = positive[m] && point.predicted[m] > 0 && (!known || point.truth[m] > 0);
      if (known && !point.from_log) ratios[m].push_back(point.truth[m] / point.predicted[m]);
    }
    if (point.truth.empty()) {
      ++truth.infeasible;
    } else if (point.over_limit) {
      ++truth.over_limit;
    } else {
      standing.push_back(point.truth);
      positions.push_back(i);
    }
  }
  for (std::size_t m = 0; m < metrics; ++m) {
    truth.median_ratio.push_back(positive[m] && !ratios[m].empty() ? std::optional(median(ratios[m])) : std::nullopt);
  }
  const std::vector<optimize::MetricValues> true_points = on_scale(standing, positive);
  for (std::size_t i = 0; i < true_points.size(); ++i) {
    truth.stands[positions[i]] = std::none_of(true_points.begin(), true_points.end(), [&](const auto& other) {
      return optimize::dominates(other, true_points[i]);
    });
  }
  const bool all_positive = std::all_of(positive.begin(), positive.end(), [](bool one) { return one; });
  if (all_positive && !true_points.empty()) truth.largest_gap = largest_gap(true_points, metrics);
  truth.hypervolume_ratio = hypervolume_ratio(on_scale(predicted, positive), true_points, positive);
  return truth;
}

ReferenceShares hypervolume_shares(const std::vector<std::vector<double>>& points,
                                   const std::vector<std::vector<double>>& exact) {
  HINDSIGHT_EXPECT(!exact.empty());
  const std::vector<bool> logarithmic(exact.front().size(), true);
  const std::vector<optimize::MetricValues> ours = on_scale(points, logarithmic), all = on_scale(exact, logarithmic);
  ReferenceShares shares = {};
  for (std::size_t k = 0; k < kFrontReferences.size(); ++k) {
    optimize::MetricValues reference = {1, 1, 1};
    for (std::size_t m = 0; m < logarithmic.size(); ++m) {
      const auto most =
          std::max_element(all.begin(), all.end(), [m](const auto& a, const auto& b) { return a[m] < b[m]; });
      reference[m] = (*most)[m] + std::log(kFrontReferences[k]);
    }
    shares[k] = optimize::hypervolume(ours, reference) / optimize::hypervolume(all, reference);
  }
  return shares;
}

}  // namespace hindsight::study

/// Proposals among logged designs, as a picture of characters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "hindsight/optimize/baselines.h"
#include "hindsight/report/proposals.h"
#include "report/proposals_parts.h"

namespace hindsight::report {
namespace {

using optimize::LevelMatrix;
using study::Proposals;

/// What the horizontal axis shows of a design.
struct DesignQuantity {
  std::string name = "rank";
  std::function<Eigen::VectorXd(const LevelMatrix& levels)> value = {};  ///< null: nothing of the design, its rank
};

/// Area; else the first limit that is known without the model, else the first derived quantity, else the rank.
DesignQuantity quantity_of(const Proposals& proposals) {
  if (proposals.area_mm2) return {.name = "area_mm2", .value = proposals.area_mm2};
  for (const optimize::Constraint& constraint : proposals.options.constraints) {
    if (!constraint.learned()) return {.name = constraint.name, .value = constraint.value};
  }
  for (const std::string& name : study::derived_names(proposals)) {
    if (const auto derived = study::derived_constraint(proposals.derived, name, 0)) {
      return {.name = name, .value = derived->value};
    }
  }
  return {};
}

LevelMatrix levels_of(const std::vector<space::Design>& designs) {
  LevelMatrix levels(std::ssize(designs), designs.empty() ? 0 : std::ssize(designs.front().levels));
  for (std::size_t i = 0; i < designs.size(); ++i) {
    std::copy(designs[i].levels.begin(), designs[i].levels.end(), levels.row(static_cast<Eigen::Index>(i)).data());
  }
  return levels;
}

/// Designs of the log that have a row of one of the applications, each once, in the order of their levels.
std::vector<space::Design> logged_designs(const dataset::Dataset& logged, const optimize::LoggedQuestion& question) {
  std::set<std::vector<std::uint16_t>> found;
  for (std::size_t row = 0; row < logged.size(); ++row) {
    const std::string& name = logged.contexts[static_cast<std::size_t>(logged.context[row])].name;
    const auto& asked = question.applications;
    if (!logged.feasible[row] || std::find(asked.begin(), asked.end(), name) == asked.end()) continue;
    const auto levels = logged.levels.row(static_cast<Eigen::Index>(row));
    found.emplace(levels.begin(), levels.end());
  }
  std::vector<space::Design> designs;
  for (const auto& levels : found) designs.push_back({.levels = levels});
  return designs;
}

/// Whether each design (n x parameters) meets the limits that are known without the model.
std::vector<bool> within_limits(const LevelMatrix& levels, const optimize::LoggedQuestion& question) {
  std::vector<bool> within(static_cast<std::size_t>(levels.rows()), true);
  for (const optimize::Constraint& constraint : question.constraints) {
    if (constraint.learned()) continue;
    const Eigen::VectorXd values = constraint.value(levels);
    for (std::size_t i = 0; i < within.size(); ++i) {
      if (!(values[static_cast<Eigen::Index>(i)] <= constraint.limit)) within[i] = false;
    }
  }
  for (std::size_t p = 0; p < question.allowed.size(); ++p) {
    const auto& allowed = question.allowed[p];
    for (std::size_t i = 0; i < within.size() && !allowed.empty(); ++i) {
      const std::uint16_t level = levels(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(p));
      if (std::find(allowed.begin(), allowed.end(), level) == allowed.end()) within[i] = false;
    }
  }
  return within;
}

/// A logged design: its levels, and its objective over all applications.
struct LoggedDesigns {
  LevelMatrix levels;             // n x parameters
  std::vector<double> objective;  // n
};

LoggedDesigns feasible_logged(const Proposals& proposals) {
  if (!proposals.logged) return {};
  const optimize::LoggedQuestion question = study::logged_question(proposals.options);
  const std::vector<space::Design> designs = logged_designs(*proposals.logged, question);
  const auto truths = optimize::logged_truth(*proposals.logged, question, designs);
  const std::vector<bool> within = within_limits(levels_of(designs), question);
  std::vector<space::Design> chosen;
  LoggedDesigns logged;
  for (std::size_t i = 0; i < designs.size(); ++i) {
    if (!within[i] || !truths[i] || !truths[i]->feasible) continue;
    chosen.push_back(designs[i]);
    logged.objective.push_back(truths[i]->value);
  }
  logged.levels = levels_of(chosen);
  return logged;
}

/// Of the points of the picture those that can be drawn.
void add_point(PlotSeries& series, double x, double y) {
  if (std::isfinite(x) && std::isfinite(y)) series.points.emplace_back(x, y);
}

/// The series of a picture, without the labels.
struct Picture {
  PlotAxis x, y;
  PlotSeries logged{.name = "logged, within the same limits", .points = {}};
  PlotSeries best{.name = "best in log", .points = {}, .labels = {}, .kind = PlotKind::line};
  PlotSeries truth{.name = "true", .points = {}};
  std::vector<std::pair<double, double>> proposed;  ///< one per proposal, not all finite
};

Picture list_picture(const Proposals& proposals) {
  const DesignQuantity quantity = quantity_of(proposals);
  const bool several = proposals.options.contexts.size() > 1;
  const std::string metric = metric_of(proposals);  // which says its unit
  Picture picture{.x = {quantity.name},
                  .y = {(several ? optimize::to_string(proposals.options.aggregate) + " of " : std::string()) +
                        (metric.empty() ? proposals.model.parts().objective_text : metric)},
                  .proposed = {}};
  std::vector<space::Design> designs;
  for (const optimize::Proposal& proposal : proposals.result.proposals) designs.push_back(proposal.design);
  const Eigen::VectorXd values = quantity.value ? quantity.value(levels_of(designs)) : Eigen::VectorXd();
  for (std::size_t i = 0; i < proposals.known.size(); ++i) {
    const double x = quantity.value ? values[static_cast<Eigen::Index>(i)] : static_cast<double>(i + 1);
    picture.proposed.emplace_back(x, proposals.known[i].predicted);
    if (proposals.known[i].simulated) add_point(picture.truth, x, *proposals.known[i].simulated);
  }
  if (!quantity.value) {
    for (const double x : {1.0, static_cast<double>(proposals.known.size())}) {
      if (proposals.best_in_log) add_point(picture.best, x, *proposals.best_in_log);
    }
    return picture;
  }
  const LoggedDesigns logged = feasible_logged(proposals);
  if (logged.objective.empty()) return picture;
  const Eigen::VectorXd of_logged = quantity.value(logged.levels);
  for (std::size_t i = 0; i < logged.objective.size(); ++i) {
    add_point(picture.logged, of_logged[static_cast<Eigen::Index>(i)], logged.objective[i]);
  }
  return picture;
}

/// Values of a metric of the front for logged designs; none where the log's rows were not read with it.
std::vector<double> logged_metric(const Proposals& proposals, const LoggedDesigns& logged,
                                  const optimize::FrontMetric& metric) {
  if (metric.value) {
    const Eigen::VectorXd values = metric.value(logged.levels);
    return {values.begin(), values.end()};
  }
  const auto quantity = optimize::learned_quantity(proposals.model, metric.name);
  return quantity && quantity->is_objective ? logged.objective : std::vector<double>();
}

Picture front_picture(const Proposals& proposals) {
  const auto& front = proposals.options.front;
  Picture picture{.x = {front[1].name}, .y = {front[0].name}, .proposed = {}};
  for (std::size_t i = 0; i < proposals.known.size(); ++i) {
    const auto& predicted = proposals.result.proposals[i].front;
    picture.proposed.emplace_back(predicted[1].predicted, predicted[0].predicted);
    const std::vector<double>& truth = proposals.known[i].true_front;
    if (!truth.empty()) add_point(picture.truth, truth[1], truth[0]);
  }
  const LoggedDesigns logged = feasible_logged(proposals);
  if (logged.objective.empty()) return picture;
  const std::vector<double> y = logged_metric(proposals, logged, front[0]);
  const std::vector<double> x = logged_metric(proposals, logged, front[1]);
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) add_point(picture.logged, x[i], y[i]);
  return picture;
}

}  // namespace

std::string proposals_plot_text(const Proposals& proposals, int columns, PlotGlyphs glyphs) {
  const bool front = proposals.options.front.size() > 1;
  Picture picture = front ? front_picture(proposals) : list_picture(proposals);
  const std::size_t count = picture.proposed.size();
  PlotSeries labelled{
      .name = count == 1 ? std::string("1: the proposal, as predicted") : fmt::format("1 to {}: as predicted", count),
      .points = {}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t before = labelled.points.size();
    add_point(labelled, picture.proposed[i].first, picture.proposed[i].second);
    if (labelled.points.size() > before) labelled.labels.push_back(std::to_string(i + 1));
  }
  if (labelled.points.empty()) return "nothing to plot: no proposal has a predicted value\n";
  std::vector<PlotSeries> series;
  for (PlotSeries* one : {&picture.logged, &picture.best, &picture.truth}) {
    if (!one->points.empty()) series.push_back(std::move(*one));
  }
  series.push_back(std::move(labelled));
  return scatter_text(series, picture.x, picture.y, columns, glyphs);
}

}  // namespace hindsight::report

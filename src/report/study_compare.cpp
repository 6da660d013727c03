/// Two studies in one report: what both have in one plot, then the same question of both, one after the other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hindsight/core/text.h"
#include "hindsight/report/study_report.h"
#include "report/study_parts.h"

namespace hindsight::report {
namespace {

/// Sections of the second study with its designs behind those of the first.
void renumber(ReportSection& section, int offset) {
  section.id += "-b";
  for (ReportFigure& figure : section.figures) {
    figure.name += "-b";
    for (ReportPanel& panel : figure.panels) {
      for (ReportSeries& series : panel.series) {
        for (int& design : series.designs) design += design < 0 ? 0 : offset;
      }
    }
  }
}

const ReportFigure* find_figure(const StudyReport& report, const std::string& name) {
  for (const ReportSection& section : report.sections) {
    for (const ReportFigure& figure : section.figures) {
      if (figure.name == name) return &figure;
    }
  }
  return nullptr;
}

/// Place of the column of that name; the number of columns: none.
std::size_t place_of(const ReportFigure& figure, const std::string& column) {
  const auto at = std::find_if(figure.columns.begin(), figure.columns.end(),
                               [&](const ReportColumn& one) { return one.name == column; });
  return static_cast<std::size_t>(at - figure.columns.begin());
}

/// The range of a column over every panel; NaN where no value is known.
std::pair<double, double> range_of(const ReportFigure& figure, std::size_t column) {
  double low = NAN, high = NAN;
  for (const ReportPanel& panel : figure.panels) {
    for (const ReportSeries& series : panel.series) {
      for (const std::vector<double>& point : series.values) {
        const double value = point[column];
        if (!std::isfinite(value) || (figure.columns[column].logarithmic && value <= 0)) continue;
        low = std::fmin(low, value);
        high = std::fmax(high, value);
      }
    }
  }
  return {low, high};
}

/// Both figures get axes that hold the points of both.
void share_axes(ReportFigure& first, ReportFigure& second) {
  if (first.kind != FigureKind::points || second.kind != FigureKind::points) return;
  for (std::size_t c = 0; c < first.columns.size(); ++c) {
    const std::size_t d = place_of(second, first.columns[c].name);
    if (d == second.columns.size()) continue;
    const bool logarithmic = first.columns[c].logarithmic && second.columns[d].logarithmic;
    first.columns[c].logarithmic = second.columns[d].logarithmic = logarithmic;
    const auto a = range_of(first, c), b = range_of(second, d);
    first.columns[c].low = second.columns[d].low = std::fmin(a.first, b.first);
    first.columns[c].high = second.columns[d].high = std::fmax(a.second, b.second);
  }
}

/// The series of a role in a panel; null: none, or an empty one.
const ReportSeries* series_of(const ReportPanel& panel, SeriesRole role) {
  for (const ReportSeries& series : panel.series) {
    if (series.role == role && !series.values.empty()) return &series;
  }
  return nullptr;
}

/// One study's front, or proposals, with the columns of the common figure.
ReportSeries common_series(const ReportSeries& from, const std::vector<std::size_t>& columns, std::string name,
                           SeriesRole role, int offset) {
  ReportSeries series{.name = std::move(name), .role = role, .notes = from.notes};
  for (const std::vector<double>& point : from.values) {
    std::vector<double> values;
    for (const std::size_t column : columns) values.push_back(point[column]);
    series.values.push_back(std::move(values));
  }
  for (const int design : from.designs) series.designs.push_back(design < 0 ? design : design + offset);
  return series;
}

/// What both studies know of one workload: a panel of the common figure and rows of its table.
class Versus {
 public:
  Versus(const ReportFigure& first, const ReportFigure& second, int offset)
      : first_(first), second_(second), offset_(offset) {
    for (std::size_t c = 0; c < first.columns.size(); ++c) {
      const std::size_t d = place_of(second, first.columns[c].name);
      if (d == second.columns.size()) continue;
      figure_.columns.push_back(first.columns[c]);
      figure_.columns.back().logarithmic = first.columns[c].logarithmic && second.columns[d].logarithmic;
      of_first_.push_back(c);
      of_second_.push_back(d);
    }
  }

  /// The figure, without panels where the studies share no workload or fewer than two metrics.
  ReportFigure figure() {
    figure_.name = "versus";
    figure_.title = "Fronts of both studies";
    figure_.note =
        "Designs that no other of the same study beats, A as circles and B as squares, and what each study proposed. "
        "Only workloads and metrics that both have.";
    figure_.table = {.caption = "The best of each study's log: the smallest value, or the largest where that is better",
                     .columns = {"workload", "metric", "better", "A", "B", "B / A"}};
    if (figure_.columns.size() < 2) return figure_;
    for (const ReportPanel& a : first_.panels) {
      const auto b = std::find_if(second_.panels.begin(), second_.panels.end(),
                                  [&](const ReportPanel& one) { return one.name == a.name; });
      if (b != second_.panels.end()) add(a, *b);
    }
    return figure_;
  }

 private:
  void add(const ReportPanel& a, const ReportPanel& b) {
    ReportPanel panel{.name = a.name};
    const auto take = [&](const ReportPanel& from, bool is_first, SeriesRole wanted, const char* name,
                          SeriesRole role) {
      if (const ReportSeries* series = series_of(from, wanted))
        panel.series.push_back(
            common_series(*series, is_first ? of_first_ : of_second_, name, role, is_first ? 0 : offset_));
    };
    take(a, true, SeriesRole::front, "A: front", SeriesRole::feasible);
    take(b, false, SeriesRole::front, "B: front", SeriesRole::front);
    take(a, true, SeriesRole::proposed, "A: proposed", SeriesRole::optimum);
    take(b, false, SeriesRole::proposed, "B: proposed", SeriesRole::proposed);
    if (panel.series.empty()) return;
    figure_.panels.push_back(std::move(panel));
    for (std::size_t c = 0; c < figure_.columns.size(); ++c) {
      const std::string& metric = figure_.columns[c].name;
      const double of_a = a.best.at(of_first_[c]), of_b = b.best.at(of_second_[c]);
      figure_.table.rows.push_back({a.name, figure_.columns[c].label,
                                    figure_.columns[c].maximised ? "larger" : "smaller", study_value(metric, of_a),
                                    study_value(metric, of_b),
                                    std::isfinite(of_b / of_a) ? fmt::format("{:.3f}", of_b / of_a) : "–"});
    }
  }

  const ReportFigure& first_;
  const ReportFigure& second_;
  int offset_;
  ReportFigure figure_ = {};
  std::vector<std::size_t> of_first_, of_second_;  ///< columns of the two figures that the common one has
};

ReportSection versus_section(const StudyReport& first, const StudyReport& second) {
  ReportSection section{.id = "versus", .title = "A against B"};
  const ReportFigure* a = find_figure(first, "pareto");
  const ReportFigure* b = find_figure(second, "pareto");
  if (a != nullptr && b != nullptr) {
    ReportFigure figure = Versus(*a, *b, static_cast<int>(first.designs.size())).figure();
    if (!figure.panels.empty()) section.figures.push_back(std::move(figure));
  }
  if (section.figures.empty()) section.missing = "The studies share no workload of which both have two metrics.";
  return section;
}

}  // namespace

StudyReport compared(const StudyReport& first, const StudyReport& second) {
  StudyReport both{.log = first.log + " (A) and " + second.log + " (B)",
                   .headline = fmt::format("A: {} B: {}", first.headline, second.headline)};
  both.designs = first.designs;
  both.designs.insert(both.designs.end(), second.designs.begin(), second.designs.end());
  for (const auto& [name, report] : {std::pair("A", &first), std::pair("B", &second)}) {
    for (ReportFact fact : report->facts) {
      fact.label = fmt::format("{}: {}", name, fact.label);
      both.facts.push_back(std::move(fact));
    }
    for (const std::string& doubt : report->doubts) both.doubts.push_back(fmt::format("{}: {}", name, doubt));
  }
  both.sections.push_back(versus_section(first, second));
  for (std::size_t i = 0; i < first.sections.size(); ++i) {
    ReportSection a = first.sections[i], b = second.sections[i];
    for (ReportFigure& figure : a.figures) {
      for (ReportFigure& other : b.figures) {
        if (other.name == figure.name) share_axes(figure, other);
      }
    }
    a.title = "A: " + a.title;
    b.title = "B: " + b.title;
    renumber(b, static_cast<int>(first.designs.size()));
    both.sections.push_back(std::move(a));
    both.sections.push_back(std::move(b));
  }
  return both;
}

}  // namespace hindsight::report

/// Figures of the log's rows: fronts, parameters against outcome, reasons.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "hindsight/core/json_bounds.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/space/short_id.h"
#include "report/json.h"
#include "report/study_parts.h"

namespace hindsight::report {
namespace {

constexpr double kUnknownValue = std::numeric_limits<double>::quiet_NaN();

std::vector<ReportColumn> metric_columns(const StudyScan& scan) {
  std::vector<ReportColumn> columns;
  for (const std::string& name : scan.metrics) {
    columns.push_back({.name = name, .label = metric_label(name), .logarithmic = !name.ends_with("_frac")});
    columns.back().maximised = scan.maximised[columns.size() - 1];
  }
  return columns;
}

void add_point(ReportSeries& series, const StudyScan& scan, const ScanPoint& point, int design) {
  series.values.emplace_back(point.metrics.begin(), point.metrics.begin() + std::ssize(scan.metrics));
  series.designs.push_back(design);
}

std::string infeasible_note(const StudyScan& scan, const ScanPoint& point) {
  const std::string codes = join(reason_codes(scan, point.reasons), ", ");
  return point.why.empty() ? codes : fmt::format("{}: {}", codes, printable(point.why, 200));
}

/// Text ids of every design that a figure names.
std::map<std::int64_t, std::string> texts_of(StudyContext& context) {
  std::set<std::int64_t> ids;
  for (const ScanWorkload& workload : context.scan.workloads) {
    for (const auto* points : {&workload.front, &workload.feasible_sample, &workload.infeasible_sample}) {
      for (const ScanPoint& point : *points) ids.insert(point.design_id);
    }
  }
  return design_texts(context.log, {ids.begin(), ids.end()});
}

/// Metrics of a design on a workload as the log has them.
std::vector<double> logged_metrics(const StudyContext& context, const ScanWorkload& workload, std::int64_t design_id);

/// Metrics of an optimum as its proof has them, where `hindsight optimum` stored them; it stores no evaluation.
std::vector<double> proven_metrics(const StudyContext& context, const ScanWorkload& workload,
                                   const StoredProposal& optimum) {
  const Json json = Json::parse(bounded_json(optimum.predicted_json), nullptr, false);
  if (!json.is_object() || !json.contains("metrics") || !json["metrics"].is_object()) return {};
  const Json of_workload = json["metrics"].value(workload.name, Json::object());
  std::vector<double> metrics;
  bool is_any_known = false;
  for (const std::string& name : context.scan.metrics) {
    const bool known = of_workload.is_object() && of_workload.contains(name) && of_workload[name].is_number();
    metrics.push_back(known ? of_workload[name].get<double>() : kUnknownValue);
    is_any_known = is_any_known || known;
  }
  return is_any_known ? metrics : std::vector<double>();
}

ReportSeries proposed_series(StudyContext& context, const ScanWorkload& workload, bool optima) {
  ReportSeries series{.name = optima ? "optimum" : "proposed",
                      .role = optima ? SeriesRole::optimum : SeriesRole::proposed};
  for (const StoredProposal& proposal : context.proposals) {
    if ((proposal.kind == "optimum") != optima || series.values.size() >= 50) continue;  // [chosen] those of a few runs
    std::vector<double> metrics = logged_metrics(context, workload, proposal.design_id);
    if (metrics.empty() && optima) metrics = proven_metrics(context, workload, proposal);
    if (metrics.empty()) continue;
    series.values.push_back(std::move(metrics));
    series.designs.push_back(context.design(proposal.design));
    series.notes.push_back(
        fmt::format("{} of run {}, rank {}", optima ? "optimum" : "proposal", proposal.run_id, proposal.rank));
  }
  return series;
}

ReportPanel pareto_panel(StudyContext& context, const ScanWorkload& workload,
                         const std::map<std::int64_t, std::string>& texts) {
  const auto design = [&](const ScanPoint& point) {
    const auto at = texts.find(point.design_id);
    return at == texts.end() ? -1 : context.design(at->second);
  };
  ReportSeries feasible{.name = "feasible", .role = SeriesRole::feasible};
  ReportSeries infeasible{.name = "infeasible", .role = SeriesRole::infeasible};
  ReportSeries front{.name = "Pareto front", .role = SeriesRole::front};
  std::set<std::int64_t> on_front;
  for (const ScanPoint& point : workload.front) on_front.insert(point.evaluation_id);
  for (const ScanPoint& point : workload.feasible_sample) {
    if (!on_front.contains(point.evaluation_id)) add_point(feasible, context.scan, point, design(point));
  }
  for (const ScanPoint& point : workload.infeasible_sample) {
    add_point(infeasible, context.scan, point, design(point));
    infeasible.notes.push_back(infeasible_note(context.scan, point));
  }
  for (const ScanPoint& point : workload.front) add_point(front, context.scan, point, design(point));
  ReportPanel panel{.name = workload.name};
  panel.best.assign(workload.best.begin(), workload.best.begin() + std::ssize(context.scan.metrics));
  panel.series = {std::move(infeasible), std::move(feasible), std::move(front),
                  proposed_series(context, workload, false), proposed_series(context, workload, true)};
  return panel;
}

/// The ends and, evenly, some in between of the front.
void add_front_rows(const StudyContext& context, const ScanWorkload& workload,
                    const std::map<std::int64_t, std::string>& texts, ReportTable& table) {
  constexpr std::size_t kRows = 6;  // [chosen] what a reader compares
  const std::size_t count = std::min(kRows, workload.front.size());
  for (std::size_t i = 0; i < count; ++i) {
    const ScanPoint& point = workload.front[count == 1 ? 0 : i * (workload.front.size() - 1) / (count - 1)];
    const auto text = texts.find(point.design_id);
    std::vector<std::string> row{workload.name, text == texts.end() ? std::string("-") : space::short_id(text->second)};
    for (std::size_t k = 0; k < context.scan.metrics.size(); ++k) {
      row.push_back(study_value(context.scan.metrics[k], point.metrics[k]));
    }
    table.rows.push_back(std::move(row));
  }
}

/// Of the table that add_front_rows() fills: how much of the fronts it shows, and who has the rest.
std::string front_caption(const StudyScan& scan, std::size_t shown) {
  std::uint64_t kept = 0, points = 0;
  for (const ScanWorkload& workload : scan.workloads) {
    kept += workload.front.size();
    points += workload.front_points;
  }
  if (shown == points) return "Designs on the front";
  return fmt::format("Designs on the front: {} of {}, the ends and evenly between; --format json has {}",
                     with_commas(shown), with_commas(points), kept == points ? "all" : with_commas(kept));
}

std::string sample_note(const StudyScan& scan) {
  std::uint64_t shown = 0;
  bool cut = false;
  for (const ScanWorkload& workload : scan.workloads) {
    shown += workload.feasible_sample.size() + workload.infeasible_sample.size();
    cut = cut || workload.front_points > workload.front.size();
  }
  std::string note =
      shown < scan.rows
          ? fmt::format("Drawn: {} of {} rows, the same ones every time, and every point of the front{}. ",
                        with_commas(shown), with_commas(scan.rows), cut ? " (evenly thinned where it is long)" : "")
          : fmt::format("All {} rows are drawn. ", with_commas(scan.rows));
  if (scan.repeated) note += "On the front a design that was measured more than once stands with its mean. ";
  return note + fmt::format(
                    "An infeasible design has no latency and no energy: it stands at the edge, where its known metrics "
                    "say. So "
                    "does one whose metrics lie more than {} times outside those of the others.",
                    kInfeasibleRoom);
}

/// Which feasible rows stand on no front, as they lack a metric; empty: none.
std::string lacking_note(const StudyScan& scan) {
  std::vector<std::string> lacking;
  for (std::size_t k = 0; k < scan.metrics.size(); ++k) {
    std::uint64_t rows = 0;
    for (const ScanWorkload& workload : scan.workloads) rows += workload.lacking[k];
    if (rows > 0) lacking.push_back(fmt::format("{} in {}", printable(scan.metrics[k]), counted(rows, "row")));
  }
  if (lacking.empty()) return {};
  return fmt::format(
      "Of {}, some lack a metric ({}): what lacks one stands on no front, even where it is the best in "
      "another.",
      counted(scan.feasible, "feasible row"), join(lacking, ", "));
}

}  // namespace

ReportSection pareto_section(StudyContext& context) {
  ReportSection section{.id = "trade-offs", .title = "Trade-offs"};
  const StudyScan& scan = context.scan;
  if (scan.rows == 0) {
    section.missing = "The log has no evaluation yet.";
    return section;
  }
  const std::map<std::int64_t, std::string> texts = texts_of(context);
  ReportFigure figure{.name = "pareto",
                      .title = "What a design costs, and what no logged design beats",
                      .note = sample_note(scan),
                      .kind = FigureKind::points,
                      .columns = metric_columns(scan),
                      .x = scan.metrics.size() > 1 ? scan.metrics.size() - 1 : 0,
                      .y = 0};
  figure.table.columns = {"workload", "design"};
  for (const std::string& metric : scan.metrics) figure.table.columns.push_back(metric_label(metric));
  for (const ScanWorkload& workload : scan.workloads) {
    figure.panels.push_back(pareto_panel(context, workload, texts));
    add_front_rows(context, workload, texts, figure.table);
  }
  figure.table.caption = front_caption(scan, figure.table.rows.size());
  if (!context.left_out.empty()) section.paragraphs.push_back(context.left_out);
  if (std::string lacking = lacking_note(scan); !lacking.empty()) section.paragraphs.push_back(std::move(lacking));
  section.figures.push_back(std::move(figure));
  return section;
}

namespace {

std::vector<double> logged_metrics(const StudyContext& context, const ScanWorkload& workload, std::int64_t design_id) {
  const auto found = context.proposal_metrics.find({workload.id, design_id});
  return found == context.proposal_metrics.end() ? std::vector<double>() : found->second;
}

/// Columns of a parallel plot: each parameter that varies, then the metrics.
std::vector<ReportColumn> parallel_columns(const StudyScan& scan, std::vector<std::size_t>& parameters) {
  std::vector<ReportColumn> columns;
  for (std::size_t p = 0; p < scan.parameters.size(); ++p) {
    const ScanParameter& parameter = scan.parameters[p];
    if (parameter.levels.size() < 2) continue;
    parameters.push_back(p);
    ReportColumn column{.name = parameter.name, .label = parameter.name};
    for (const ScanLevel& level : parameter.levels) column.labels.push_back(level.label);
    columns.push_back(std::move(column));
  }
  for (ReportColumn& column : metric_columns(scan)) columns.push_back(std::move(column));
  return columns;
}

/// Positions of a text id's values among the levels; NaN: another space's.
std::vector<double> parallel_values(const StudyScan& scan, const std::vector<std::size_t>& parameters,
                                    const std::string& text_id) {
  std::map<std::string, std::string> values;
  for (const std::string& piece : split(text_id, ',')) {
    const std::size_t equals = piece.find('=');
    if (equals != std::string::npos) values[piece.substr(0, equals)] = piece.substr(equals + 1);
  }
  std::vector<double> row;
  for (const std::size_t p : parameters) {
    const std::vector<ScanLevel>& levels = scan.parameters[p].levels;
    const auto at = std::find_if(levels.begin(), levels.end(), [&](const ScanLevel& level) {
      return level.label == values[scan.parameters[p].name];
    });
    row.push_back(at == levels.end() ? kUnknownValue : static_cast<double>(at - levels.begin()));
  }
  return row;
}

constexpr std::size_t kLines = 160;  // [chosen] lines of a workload that can be told apart

ReportPanel parallel_panel(StudyContext& context, const ScanWorkload& workload,
                           const std::vector<std::size_t>& parameters,
                           const std::map<std::int64_t, std::string>& texts) {
  ReportPanel panel{.name = workload.name};
  const auto add = [&](const char* name, SeriesRole role, const std::vector<ScanPoint>& points, std::size_t most) {
    ReportSeries series{.name = name, .role = role};
    for (std::size_t i = 0; i < std::min(most, points.size()); ++i) {
      const auto text = texts.find(points[i].design_id);
      if (text == texts.end()) continue;
      std::vector<double> row = parallel_values(context.scan, parameters, text->second);
      row.insert(row.end(), points[i].metrics.begin(), points[i].metrics.begin() + std::ssize(context.scan.metrics));
      series.values.push_back(std::move(row));
      series.designs.push_back(context.design(text->second));
    }
    panel.series.push_back(std::move(series));
  };
  add("infeasible", SeriesRole::infeasible, workload.infeasible_sample, kLines / 2);
  add("feasible", SeriesRole::feasible, workload.feasible_sample, kLines);
  add("Pareto front", SeriesRole::front, workload.front, kLines / 2);
  return panel;
}

/// Shares of rows by reason and level of one parameter, stacked.
ReportPanel level_panel(const StudyScan& scan, const ScanParameter& parameter,
                        const std::vector<std::size_t>& reasons) {
  ReportPanel panel{.name = parameter.name};
  for (const ScanLevel& level : parameter.levels) panel.categories.push_back(level.label);
  for (const std::size_t r : reasons) {
    ReportSeries series{.name = scan.reason_names[r], .role = SeriesRole::bar};
    for (const ScanLevel& level : parameter.levels) {
      series.values.push_back({static_cast<double>(level.reasons[r]) / static_cast<double>(level.rows)});
    }
    panel.series.push_back(std::move(series));
  }
  return panel;
}

/// Feasible shares by level, for every parameter.
ReportFigure feasible_figure(const StudyScan& scan) {
  ReportFigure figure{.name = "parameters",
                      .title = "Where feasible designs are: share of rows by value of each parameter",
                      .kind = FigureKind::bars,
                      .columns = {{.name = "feasible_frac", .label = "feasible share of rows"}}};
  figure.table = {.caption = "Feasible share by value", .columns = {"parameter", "value", "rows", "feasible"}};
  for (const ScanParameter& parameter : scan.parameters) {
    if (parameter.levels.size() < 2) continue;
    ReportPanel panel{.name = parameter.name};
    ReportSeries series{.name = "feasible share", .role = SeriesRole::bar};
    for (const ScanLevel& level : parameter.levels) {
      panel.categories.push_back(level.label);
      const double share = static_cast<double>(level.feasible) / static_cast<double>(level.rows);
      series.values.push_back({share});
      figure.table.rows.push_back(
          {parameter.name, level.label, with_commas(level.rows), fmt::format("{:.1f} %", 100 * share)});
    }
    panel.series.push_back(std::move(series));
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

std::string profile_note(const StudyScan& scan) {
  if (scan.profiled_designs == scan.designs)
    return fmt::format("Counted over all {} designs of the space {}.", with_commas(scan.designs),
                       printable(scan.space));
  return fmt::format("Counted over {} of {} designs of the space {}, the same ones every time.",
                     with_commas(scan.profiled_designs), with_commas(scan.designs), printable(scan.space));
}

}  // namespace

ReportSection parameter_section(StudyContext& context) {
  ReportSection section{.id = "parameters", .title = "Parameters and outcome"};
  const StudyScan& scan = context.scan;
  std::vector<std::size_t> parameters;
  const std::vector<ReportColumn> columns = parallel_columns(scan, parameters);
  if (scan.rows == 0 || parameters.empty()) {
    section.missing = "No parameter takes two values in this log's designs.";
    return section;
  }
  ReportFigure figure{.name = "parallel",
                      .title = "Every line is a design, across its parameters to what it costs",
                      .note =
                          "Drag along an axis to keep the designs that pass there; several axes together. "
                          "Values of a parameter stand evenly, in their order.",
                      .kind = FigureKind::parallel,
                      .columns = columns};
  const std::map<std::int64_t, std::string> texts = texts_of(context);
  for (const ScanWorkload& workload : scan.workloads) {
    figure.panels.push_back(parallel_panel(context, workload, parameters, texts));
  }
  ReportFigure shares = feasible_figure(scan);
  shares.note = profile_note(scan);
  figure.table = {.caption = "Parameters that vary", .columns = {"parameter", "values"}};
  for (const std::size_t p : parameters) {
    const std::vector<ScanLevel>& levels = scan.parameters[p].levels;
    figure.table.rows.push_back({scan.parameters[p].name, fmt::format("{}: {} to {}", levels.size(),
                                                                      levels.front().label, levels.back().label)});
  }
  section.figures = {std::move(figure), std::move(shares)};
  return section;
}

/// Long: two figures of one count, side by side.
ReportSection reason_section(StudyContext& context) {
  ReportSection section{.id = "reasons", .title = "Why designs are infeasible"};
  const StudyScan& scan = context.scan;
  if (scan.reason_names.empty()) {
    section.missing = scan.rows == 0 ? "The log has no evaluation yet." : "Every logged design is feasible.";
    return section;
  }
  std::vector<std::uint64_t> totals(scan.reason_names.size(), 0);
  for (const ScanWorkload& workload : scan.workloads) {
    for (std::size_t r = 0; r < totals.size(); ++r) totals[r] += workload.reasons[r];
  }
  std::vector<std::size_t> order(totals.size());
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return totals[a] > totals[b]; });

  const double infeasible = static_cast<double>(scan.rows - scan.feasible);
  ReportFigure all{.name = "reasons",
                   .title = fmt::format("{} of {} rows are infeasible, and these are the reasons",
                                        with_commas(scan.rows - scan.feasible), with_commas(scan.rows)),
                   .note = "A row may have several reasons, so shares add to more than 1.",
                   .kind = FigureKind::bars,
                   .columns = {{.name = "share_of_infeasible_frac", .label = "share of infeasible rows"}}};
  all.table = {.caption = "Reasons", .columns = {"reason", "rows", "share of infeasible"}};
  ReportPanel panel{.name = "all workloads"};
  ReportSeries series{.name = "share of infeasible rows", .role = SeriesRole::bar};
  for (const std::size_t r : order) {
    const double share = static_cast<double>(totals[r]) / infeasible;
    panel.categories.push_back(scan.reason_names[r]);
    series.values.push_back({share});
    all.table.rows.push_back({scan.reason_names[r], with_commas(totals[r]), fmt::format("{:.1f} %", 100 * share)});
  }
  panel.series.push_back(std::move(series));
  all.panels.push_back(std::move(panel));

  constexpr std::size_t kReasonSeries = 6;  // [chosen] colours that can be told apart
  order.resize(std::min(order.size(), kReasonSeries));
  ReportFigure by{.name = "reasons-by-parameter",
                  .title = "Which values of a parameter run into which reasons",
                  .note = profile_note(scan) + " Share of the rows with that value; the most frequent reasons.",
                  .kind = FigureKind::bars,
                  .columns = {{.name = "share_frac", .label = "share of rows"}}};
  by.table = {.caption = "Reasons by value", .columns = {"parameter", "value"}};
  for (const std::size_t r : order) by.table.columns.push_back(scan.reason_names[r]);
  for (const ScanParameter& parameter : scan.parameters) {
    if (parameter.levels.size() < 2) continue;
    by.panels.push_back(level_panel(scan, parameter, order));
    for (const ScanLevel& level : parameter.levels) {
      std::vector<std::string> row{parameter.name, level.label};
      for (const std::size_t r : order) {
        row.push_back(
            fmt::format("{:.1f} %", 100.0 * static_cast<double>(level.reasons[r]) / static_cast<double>(level.rows)));
      }
      by.table.rows.push_back(std::move(row));
    }
  }
  section.figures.push_back(std::move(all));
  if (!by.panels.empty()) section.figures.push_back(std::move(by));
  return section;
}

}  // namespace hindsight::report

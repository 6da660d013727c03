/// Sections on what learned: predictions against truth, backtests, importance, trainings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hindsight/core/json_bounds.h"
#include "hindsight/core/plural.h"
#include "hindsight/core/text.h"
#include "hindsight/space/short_id.h"
#include "hindsight/study/training_record.h"
#include "report/json.h"
#include "report/study_parts.h"
#include "report/study_sql.h"

namespace hindsight::report {
namespace {

constexpr int kMostCurves = 20;       // [chosen] trainings that a reader still compares
constexpr int kCalibrationBins = 10;  // [chosen] as the calibration error of a model card has it

/// Mean predicted p_feasible and observed share per bin of p_feasible.
struct CalibrationBin {
  double predicted = 0, feasible = 0, count = 0;
};

ReportFigure calibration_figure(const StudyContext& context) {
  std::vector<CalibrationBin> bins(kCalibrationBins);
  for (const StoredProposal& proposal : context.proposals) {
    for (const auto& workload : proposal.workloads) {
      if (!workload.feasible || std::isnan(workload.p_feasible)) continue;
      CalibrationBin& bin = bins[static_cast<std::size_t>(
          std::clamp(workload.p_feasible * kCalibrationBins, 0.0, kCalibrationBins - 1.0))];
      bin.predicted += workload.p_feasible;
      bin.feasible += *workload.feasible ? 1 : 0;
      ++bin.count;
    }
  }
  ReportFigure figure{.name = "calibration",
                      .title = "Does p_feasible mean what it says?",
                      .note =
                          "Each point is a tenth of the scale: how many of the designs given that probability are "
                          "feasible. On the dashed line the two agree. Proposals are chosen for a high probability, "
                          "so few stand at the left.",
                      .columns = {{.name = "p_feasible", .label = "predicted probability"},
                                  {.name = "feasible_frac", .label = "feasible share"}}};
  figure.table = {.caption = "Feasibility by predicted probability",
                  .columns = {"predicted", "designs x workloads", "feasible"}};
  ReportSeries observed{.name = "observed", .role = SeriesRole::line};
  for (const CalibrationBin& bin : bins) {
    if (bin.count == 0) continue;
    observed.values.push_back({bin.predicted / bin.count, bin.feasible / bin.count});
    observed.notes.push_back(counted(static_cast<std::uint64_t>(bin.count), "evaluation"));
    figure.table.rows.push_back({fmt::format("{:.2f}", bin.predicted / bin.count), fmt::format("{:.0f}", bin.count),
                                 fmt::format("{:.1f} %", 100 * bin.feasible / bin.count)});
  }
  ReportPanel panel{.name = "all"};
  panel.series = {{.name = "perfect", .role = SeriesRole::reference, .values = {{0, 0}, {1, 1}}}, std::move(observed)};
  figure.panels.push_back(std::move(panel));
  return figure;
}

ReportFigure predicted_figure(StudyContext& context) {
  ReportFigure figure{.name = "predicted",
                      .title = "Predicted against true",
                      .note =
                          "Proposals that an evaluation answers. On the dashed line both agree; above it a design is "
                          "slower, or costs more, than was predicted; of a metric that is maximised it has more.",
                      .columns = {{.name = "predicted", .label = "predicted objective", .logarithmic = true},
                                  {.name = "true", .label = "true objective", .logarithmic = true}}};
  figure.table = {.caption = "Predicted and true",
                  .columns = {"workload", "design", "run", "predicted", "true", "true / predicted"}};
  std::vector<std::string> names;
  for (const StoredProposal& proposal : context.proposals) {
    for (const auto& workload : proposal.workloads) {
      if (!workload.truth || std::isnan(workload.predicted)) continue;
      auto at = std::find(names.begin(), names.end(), workload.name);
      if (at == names.end()) {
        names.push_back(workload.name);
        figure.panels.push_back({.name = workload.name,
                                 .series = {{.name = "equal", .role = SeriesRole::reference},
                                            {.name = "proposed", .role = SeriesRole::proposed}}});
        at = names.end() - 1;
      }
      ReportSeries& series = figure.panels[static_cast<std::size_t>(at - names.begin())].series[1];
      series.values.push_back({shown_of_objective(proposal.objective, workload.predicted),
                               shown_of_objective(proposal.objective, *workload.truth)});
      series.designs.push_back(context.design(proposal.design));
      series.notes.push_back(fmt::format("run {}, rank {}", proposal.run_id, proposal.rank));
      constexpr std::size_t kRows = 40;  // [chosen] the newest; the figure has all
      if (figure.table.rows.size() < kRows) {
        figure.table.rows.push_back(
            {workload.name, space::short_id(proposal.design), fmt::format("{}", proposal.run_id),
             study_value(proposal.objective, workload.predicted), study_value(proposal.objective, *workload.truth),
             fmt::format("{:.3f}", true_over_predicted(proposal.objective, *workload.truth, workload.predicted))});
      }
    }
  }
  for (ReportPanel& panel : figure.panels) {
    double low = INFINITY, high = 0;
    for (const auto& value : panel.series[1].values) {
      low = std::min({low, value[0], value[1]});
      high = std::max({high, value[0], value[1]});
    }
    panel.series[0].values = {{low, low}, {high, high}};
  }
  return figure;
}

/// Cards of the log's models, oldest first.
struct LoggedModel {
  std::int64_t run_id = 0;
  std::string name, kind, file, created_at;
  Json card;
};

std::vector<LoggedModel> logged_models(const StudyContext& context) {
  std::vector<LoggedModel> models;
  log::SqlQuery query(context.log,
                      "SELECT run_id, name, kind, file, created_at, card_json FROM models ORDER BY model_id");
  std::vector<log::SqlValue> row;
  while (query.next(row)) {
    models.push_back({.run_id = sql_int(row[0]),
                      .name = sql_text(row[1]),
                      .kind = sql_text(row[2]),
                      .file = sql_text(row[3]),
                      .created_at = sql_text(row[4]),
                      .card = Json::parse(bounded_json(sql_text(row[5])), nullptr, false)});
  }
  return models;
}

std::string text_at(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) return "–";
  if (json[key].is_string()) return printable(json[key].get<std::string>());
  return json[key].is_number_integer() ? with_commas(json[key].get<std::uint64_t>()) : "–";
}

/// Points of one training by member; nothing where its checkpoint is not as ours are.
std::vector<ReportSeries> curve_series(const Json& curve) {
  constexpr std::size_t kMostMembers = 12;  // [chosen] lines that can be told apart
  std::vector<ReportSeries> members;
  if (!curve.is_object() || !curve.contains("points") || !curve["points"].is_array()) return members;
  for (const Json& point : curve["points"]) {
    if (!point.is_array() || point.size() != 4 || !point[0].is_number_unsigned() || !point[2].is_number()) continue;
    const auto member = point[0].get<std::size_t>();
    if (member >= kMostMembers) break;
    while (members.size() <= member) {
      constexpr std::array kLines{SeriesRole::line, SeriesRole::second_line, SeriesRole::reference};
      members.push_back(
          {.name = fmt::format("member {}", members.size() + 1), .role = kLines[members.size() % kLines.size()]});
    }
    members[member].values.push_back({point[1].is_number() ? point[1].get<double>() : NAN, point[2].get<double>(),
                                      point[3].is_number() ? point[3].get<double>() : NAN});
  }
  return members;
}

/// Newest first, also of a training that runs.
ReportFigure curve_figure(const StudyContext& context) {
  ReportFigure figure{.name = "training-curves",
                      .title = "How the loss went",
                      .note =
                          "A line per member of the model, as the training reported it. Members of the recipes margins "
                          "and layers learn "
                          "different things (the objective, each reason), so their losses do not compare.",
                      .columns = {{.name = "step", .label = "step", .whole = true},
                                  {.name = "loss", .label = "loss"},
                                  {.name = "kendall_tau", .label = "Kendall's tau on rows held out"}}};
  figure.table = {.caption = "Trainings", .columns = {"model", "started", "members", "steps of one", "last losses"}};
  log::SqlQuery query(context.log, fmt::format("SELECT value_json FROM checkpoints WHERE key LIKE '{}%' "
                                               "ORDER BY updated_at DESC, key LIMIT {}",
                                               study::kTrainingKey, kMostCurves));
  std::vector<log::SqlValue> row;
  while (query.next(row)) {
    const Json curve = Json::parse(bounded_json(sql_text(row[0])), nullptr, false);
    std::vector<ReportSeries> series = curve_series(curve);
    if (series.empty()) continue;
    std::vector<std::string> last;
    for (const ReportSeries& member : series) {
      if (!member.values.empty()) last.push_back(fmt::format("{:.3g}", member.values.back()[1]));
    }
    const std::string model = text_at(curve, "model"), started = text_at(curve, "started_at");
    figure.table.rows.push_back({model, started, text_at(curve, "members"), text_at(curve, "steps"), join(last, ", ")});
    figure.panels.push_back({.name = model + ", " + started, .series = std::move(series)});
  }
  return figure;
}

std::string number_at(const Json& json, const char* key) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_number()) return "–";
  return fmt::format("{:.3f}", json[key].get<double>());
}

}  // namespace

ReportSection trust_section(StudyContext& context) {
  ReportSection section{.id = "predictions", .title = "Predictions against truth"};
  ReportFigure predicted = predicted_figure(context);
  ReportFigure calibration = calibration_figure(context);
  if (!predicted.panels.empty()) section.figures.push_back(std::move(predicted));
  if (!calibration.table.rows.empty()) section.figures.push_back(std::move(calibration));
  if (section.figures.empty()) {
    section.missing =
        fmt::format("No proposal of this log has an evaluation that answers it. {}.",
                    is_built_in(context) ? "'hindsight propose --simulate --log' and 'hindsight tell' bring some"
                                         : "'hindsight tell' brings some");
  }
  return section;
}

ReportSection backtest_section(StudyContext& context) {
  ReportSection section{.id = "backtest", .title = "Would it have found the log's best?"};
  for (const LoggedModel& model : logged_models(context)) {
    const Json facts = model.card.is_object() ? model.card.value("provenance", Json()) : Json();
    if (!facts.is_object()) continue;
    const Json chosen = facts.value("recipe_chosen", Json());  // as `train` writes it
    if (!chosen.is_string()) continue;
    section.paragraphs.push_back(
        fmt::format("{} (run {}): {}", printable(model.name), model.run_id, printable(chosen.get<std::string>(), 400)));
  }
  if (section.paragraphs.empty()) {
    section.missing =
        "No training of this log was chosen by a backtest. 'hindsight train' without --recipe runs one; 'hindsight "
        "backtest' prints one.";
  }
  return section;
}

std::string other_space_text(const log::Log& log, const check::Importance& importance) {
  std::vector<std::string> names;
  for (const log::SpaceSummary& space : log::spaces(log)) {
    if (space.designs == 0) continue;
    if (space.definition_hash == importance.space_hash) return "";
    names.push_back(space.name);
  }
  if (names.empty()) return "";
  return fmt::format("the log has no design of the model's space '{}' ({:.12}), only of {}: these are other parameters",
                     printable(importance.space, 60), importance.space_hash, printable(join(names, ", "), 150));
}

ReportSection importance_section(StudyContext& context) {
  ReportSection section{.id = "importance", .title = "Which parameters the model's answer depends on"};
  if (!context.sources.importance) {
    section.missing = "Asked of no model. 'hindsight report --model MODEL' shuffles each parameter and asks again.";
    return section;
  }
  const check::Importance& importance = *context.sources.importance;
  const std::string other_space = other_space_text(context.log, importance);
  ReportFigure figure{
      .name = "importance",
      .title = "Permutation importance on the surrogate",
      .note = fmt::format(
          "Of the model {}: a parameter's values are shuffled among {} random designs and "
          "{} asked again. It says what the model uses, not what the hardware "
          "does; parameters that stand for each other share theirs.{}",
          printable(importance.model), with_commas(importance.designs),
          counted(importance.contexts.size(), "workload") + (importance.contexts.size() == 1 ? " is" : " are"),
          other_space.empty() ? "" : fmt::format(" But {}.", other_space)),
      .kind = FigureKind::bars,
      .columns = {{.name = "importance", .label = "ranking lost; p_feasible moved"}}};
  figure.table = {.caption = "Permutation importance",
                  .columns = {"parameter", "ranking lost (1 - tau)", "p_feasible moved"}};
  ReportPanel panel{.name = "mean over workloads"};
  ReportSeries ranking{.name = "ranking lost", .role = SeriesRole::bar},
      feasibility{.name = "p_feasible moved", .role = SeriesRole::bar};
  for (const check::ParameterImportance& one : importance.parameters) {
    panel.categories.push_back(one.parameter);
    ranking.values.push_back({one.ranking_lost});
    feasibility.values.push_back({one.feasibility_moved});
    figure.table.rows.push_back(
        {one.parameter, fmt::format("{:.3f}", one.ranking_lost), fmt::format("{:.3f}", one.feasibility_moved)});
  }
  panel.series = {std::move(ranking), std::move(feasibility)};
  figure.panels.push_back(std::move(panel));
  section.figures.push_back(std::move(figure));
  return section;
}

ReportSection training_section(StudyContext& context) {
  ReportSection section{.id = "training", .title = "Trainings"};
  ReportFigure curves = curve_figure(context);
  if (!curves.panels.empty()) section.figures.push_back(std::move(curves));
  const std::vector<LoggedModel> models = logged_models(context);
  if (models.empty() && section.figures.empty()) {
    section.missing = "No model is stored in this log. 'hindsight train --log' leaves its card here.";
    return section;
  }
  ReportTable table{
      .caption = "Models, on rows that were held out",
      .columns = {"model", "run", "kind", "trained", "tau", "AUC of feasibility", "calibration error", "file"}};
  ReportFigure figure{
      .name = "training",
      .title = "Quality of the models, in the order they were trained",
      .note = "On rows that were held out: rank correlation of the objective and area under the curve of feasibility.",
      .columns = {{.name = "model", .label = "model, in order", .whole = true},
                  {.name = "quality", .label = "tau, AUC"}}};
  ReportSeries tau{.name = "Kendall's tau", .role = SeriesRole::line},
      auc{.name = "AUC of feasibility", .role = SeriesRole::second_line};
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Json metrics = models[i].card.is_object() ? models[i].card.value("metrics", Json::object()) : Json::object();
    table.rows.push_back({models[i].name, fmt::format("{}", models[i].run_id), models[i].kind, models[i].created_at,
                          number_at(metrics, "kendall_tau"), number_at(metrics, "feasibility_auc"),
                          number_at(metrics, "calibration_error"), models[i].file});
    const auto add = [&](ReportSeries& series, const char* key) {
      if (!metrics.is_object() || !metrics.contains(key) || !metrics[key].is_number()) return;
      series.values.push_back({static_cast<double>(i + 1), metrics[key].get<double>()});
      series.notes.push_back(models[i].name);
    };
    add(tau, "kendall_tau");
    add(auc, "feasibility_auc");
  }
  if (models.size() > 1 && !tau.values.empty()) {
    figure.panels.push_back({.name = "all", .series = {std::move(tau), std::move(auc)}});
    figure.table = table;
    section.figures.push_back(std::move(figure));
  } else if (!models.empty()) {
    section.tables.push_back(std::move(table));
  }
  return section;
}

}  // namespace hindsight::report

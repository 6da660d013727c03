/// Sections on how a log came to be: rounds of its campaigns, and its runs with their commands.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "hindsight/core/json_bounds.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/shell.h"
#include "hindsight/core/text.h"
#include "hindsight/space/short_id.h"
#include "report/json.h"
#include "report/study_parts.h"
#include "report/study_sql.h"

namespace hindsight::report {
namespace {

std::string cell(const Json& round, const char* key) {
  if (!round.contains(key) || round[key].is_null()) return "–";
  if (round[key].is_string()) return round[key].get<std::string>();
  if (round[key].is_boolean()) return round[key].get<bool>() ? "yes" : "no";
  if (round[key].is_number_integer()) return round[key].dump();
  return round[key].is_number() ? fmt::format("{:.4g}", round[key].get<double>()) : "–";
}

/// Rounds of one campaign; nothing where its checkpoint is not as ours are.
std::vector<Json> rounds_of(const std::string& checkpoint) {
  std::vector<Json> rounds;
  const Json json = Json::parse(bounded_json(checkpoint), nullptr, false);
  if (!json.is_object() || !json.contains("rounds") || !json["rounds"].is_array()) return rounds;
  for (const Json& round : json["rounds"]) {
    if (round.is_object()) rounds.push_back(round);
  }
  return rounds;
}

/// Objectives of the log's campaigns, by what identifies these.
std::map<std::string, std::string> objectives_of_campaigns(const std::vector<log::RunInfo>& runs) {
  std::map<std::string, std::string> objectives;
  for (const log::RunInfo& run : runs) {
    if (run.kind != to_string(log::RunKind::campaign)) continue;
    const Json options = Json::parse(bounded_json(run.options_json), nullptr, false);
    if (!options.is_object() || !options.contains("definition_hash") || !options.contains("objective")) continue;
    if (!options["definition_hash"].is_string() || !options["objective"].is_string()) continue;
    objectives.try_emplace(options["definition_hash"].get<std::string>(), options["objective"].get<std::string>());
  }
  return objectives;
}

/// Values of a metric that was maximised as that metric, not as the reciprocals that campaigns minimise.
Json as_shown(Json round, bool more_is_better) {
  for (const char* key : {"best", "best_so_far", "true_over_predicted"}) {
    if (more_is_better && round.contains(key) && round[key].is_number()) round[key] = 1 / round[key].get<double>();
  }
  return round;
}

void add_campaign(ReportFigure& figure, const std::string& name, const std::vector<Json>& rounds) {
  ReportPanel panel{.name = name};
  ReportSeries best{.name = "best of the round", .role = SeriesRole::feasible},
      so_far{.name = "best so far", .role = SeriesRole::line};
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const Json& round = rounds[i];
    const double number = static_cast<double>(i + 1);
    if (round.contains("best") && round["best"].is_number())
      best.values.push_back({number, round["best"].get<double>()});
    if (round.contains("best_so_far") && round["best_so_far"].is_number())
      so_far.values.push_back({number, round["best_so_far"].get<double>()});
    const std::string design = cell(round, "best_design");
    figure.table.rows.push_back({name, fmt::format("{}", i + 1), cell(round, "learned"), cell(round, "designs"),
                                 cell(round, "infeasible"), cell(round, "best"), cell(round, "best_so_far"),
                                 design.empty() ? "–" : space::short_id(design), cell(round, "true_over_predicted")});
  }
  panel.series = {std::move(so_far), std::move(best)};
  figure.panels.push_back(std::move(panel));
}

}  // namespace

ReportSection round_section(StudyContext& context) {
  ReportSection section{.id = "rounds", .title = "Rounds of campaigns"};
  ReportFigure figure{.name = "rounds",
                      .title = "What each round found",
                      .note = "A round without a point found no design within the limits.",
                      .columns = {{.name = "round", .label = "round", .whole = true},
                                  {.name = "objective", .label = "objective over all workloads", .logarithmic = true}}};
  figure.table = {.caption = "Rounds",
                  .columns = {"campaign", "round", "a model chose", "designs", "infeasible", "best", "best so far",
                              "its design", "true / predicted"}};
  const std::map<std::string, std::string> objectives = objectives_of_campaigns(context.runs);
  std::size_t maximising = 0;
  {
    log::SqlQuery query(
        context.log,
        "SELECT key, value_json FROM checkpoints WHERE key LIKE 'campaign:%' ORDER BY updated_at DESC, key");
    std::vector<log::SqlValue> row;
    while (query.next(row)) {
      std::vector<Json> rounds = rounds_of(sql_text(row[1]));
      if (rounds.empty()) continue;
      const std::string campaign = sql_text(row[0]).substr(std::string("campaign:").size());
      const auto objective = objectives.find(campaign);
      const bool more_is_better = objective != objectives.end() && maximised_objective(objective->second).has_value();
      for (Json& round : rounds) round = as_shown(std::move(round), more_is_better);
      maximising += more_is_better ? 1 : 0;
      add_campaign(figure, campaign.substr(0, space::kShortIdLength), rounds);
    }
  }
  figure.note = (maximising == 0                      ? "Smaller is better. "
                 : maximising == figure.panels.size() ? "Larger is better. "
                                                      : "Smaller is better, larger where a campaign maximised. ") +
                figure.note;
  if (figure.panels.empty()) {
    section.missing = "No campaign ran in this log ('hindsight campaign').";
    return section;
  }
  section.figures.push_back(std::move(figure));
  return section;
}

ReportSection provenance_section(StudyContext& context) {
  ReportSection section{.id = "provenance", .title = "Where this comes from"};
  const BuildInfo& build = build_info();
  section.paragraphs.push_back(fmt::format(
      "Made by Hindsight {} ({}) from {}: {} rows, {} designs of the space {}, {} feasible.", build.version,
      build.commit, context.report.log, with_commas(context.scan.rows), with_commas(context.scan.designs),
      context.scan.space.empty() ? "-" : printable(context.scan.space), with_commas(context.scan.feasible)));
  constexpr std::size_t kRuns = 200;  // [chosen] a campaign of some weeks
  ReportTable table{.caption = context.runs.size() > kRuns
                                   ? fmt::format("The newest {} of {} runs", kRuns, context.runs.size())
                                   : "Runs, newest first; their commands make the log again",
                    .columns = {"run", "kind", "status", "started", "rows added", "version", "command"}};
  for (std::size_t i = 0; i < std::min(kRuns, context.runs.size()); ++i) {
    const log::RunInfo& run = context.runs[i];
    table.rows.push_back({fmt::format("{}", run.run_id), run.kind, run.status, run.started_at,
                          with_commas(run.evaluations_inserted), run.version, run.command_line});
  }
  if (table.rows.empty()) {
    section.paragraphs.emplace_back("No run wrote to this log yet.");
  } else {
    section.tables.push_back(std::move(table));
  }
  ReportTable figures{.caption = "A figure of this report by itself", .columns = {"figure", "command"}};
  const std::string log = shell_quoted(context.report.log);
  const std::string model =
      context.sources.importance ? " --model " + shell_quoted(context.sources.importance->model) : "";
  for (const ReportSection& other : context.report.sections) {
    for (const ReportFigure& figure : other.figures) {
      figures.rows.push_back(
          {figure.title, fmt::format("hindsight report --log {}{} --format svg --figure {} --out {}.svg", log,
                                     figure.name == "importance" ? model : "", figure.name, figure.name)});
    }
  }
  if (!figures.rows.empty()) section.tables.push_back(std::move(figures));
  return section;
}

}  // namespace hindsight::report

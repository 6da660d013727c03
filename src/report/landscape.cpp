/// Text and JSON of what every design of a space costs.
#include <fmt/format.h>

#include "hindsight/core/plural.h"
#include "hindsight/core/table.h"
#include "hindsight/core/text.h"
#include "hindsight/report/design_table.h"
#include "hindsight/report/optimum.h"
#include "hindsight/space/short_id.h"
#include "report/fields.h"
#include "report/optimum_parts.h"

namespace hindsight::report {
namespace {

using accel::optimum::LandscapeSurvey;
using accel::optimum::SurveyRow;

Table survey_table(const study::OptimumTask& task, const LandscapeSurvey& survey) {
  Table table;
  table.add_column("workload", Align::left);
  table.add_column("designs", Align::right);
  table.add_column("best", Align::right);
  table.add_column("best design", Align::right);
  table.add_column("within x1.1", Align::right, 1);
  for (const double share : accel::optimum::kSurveyShares)
    table.add_column(fmt::format("{:g} %", 100 * share), Align::right, share < 0.01 ? 3 : 2);
  for (const SurveyRow& row : survey.rows) {
    std::vector<std::string> cells{row.name, with_commas(row.designs)};
    if (row.designs == 0) {
      cells.resize(5 + accel::optimum::kSurveyShares.size(), "-");
    } else {
      cells.push_back(metric_text("latency_s", row.best_s));
      cells.push_back(space::short_id(task.space(), row.best));
      cells.push_back(with_commas(row.within_tenth));
      for (const double quantile_s : row.quantiles_s) cells.push_back(fmt::format("x{:.3f}", quantile_s / row.best_s));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

Json counts(const accel::optimum::LandscapeSummary& summary) {
  return {{"designs", summary.designs}, {"buildable", summary.buildable}, {"runnable", summary.runnable},
          {"chips", summary.chips},     {"mappings", summary.mappings},   {"interrupted", summary.interrupted}};
}

}  // namespace

std::string landscape_text(const accel::optimum::LandscapeSummary& summary, const std::string& file, int columns) {
  if (summary.interrupted) return "interrupted; nothing was written\n";
  return wrapped("",
                 fmt::format("{}: {} of {} can be built, {} of them run every workload; {} layers mapped",
                             printable(file, 200), with_commas(summary.buildable), counted(summary.designs, "design"),
                             with_commas(summary.runnable), with_commas(summary.mappings)),
                 columns, 2);
}

std::string landscape_json(const accel::optimum::LandscapeSummary& summary, const std::string& file) {
  Json json{{"file", file}};
  json.update(counts(summary));
  return to_text(json);
}

std::string survey_text(const study::OptimumTask& task, const LandscapeSurvey& survey, DesignStyle style, int columns) {
  if (survey.summary.interrupted) return "interrupted; not all designs were counted\n";
  std::string out = wrapped("",
                            fmt::format("{} of {} can be built{}; {} of them run every workload; {} layers mapped",
                                        with_commas(survey.summary.buildable),
                                        counted(survey.summary.designs, "design"), limits_text(task),
                                        with_commas(survey.summary.runnable), with_commas(survey.summary.mappings)),
                            columns, 2) +
                    "\n";
  out += survey_table(task, survey).render(columns);
  out += "\n" + wrapped("", "A share of the designs that run a workload has at most so many times the best's latency.",
                        columns, 2);
  std::vector<std::string> designs;
  for (const SurveyRow& row : survey.rows) {
    if (row.designs > 0) designs.push_back(task.space().text_id(row.best));
  }
  return out + (designs.empty() ? "" : "\n") + design_table(designs, DesignHeads::ids, style, columns);
}

std::string survey_json(const study::OptimumTask& task, const LandscapeSurvey& survey) {
  Json json = question_json(task);
  json.update(counts(survey.summary));
  json["workloads"] = Json::array();
  for (const SurveyRow& row : survey.rows) {
    Json one{{"name", row.name}, {"designs", row.designs}};
    if (row.designs > 0) {
      one["best_s"] = row.best_s;
      one["best"] = task.space().text_id(row.best);
      one["within_tenth"] = row.within_tenth;
      one["quantiles"] = Json::array();
      for (std::size_t i = 0; i < row.quantiles_s.size(); ++i) {
        one["quantiles"].push_back({{"share", accel::optimum::kSurveyShares[i]}, {"latency_s", row.quantiles_s[i]}});
      }
    }
    json["workloads"].push_back(std::move(one));
  }
  return to_text(json);
}

}  // namespace hindsight::report

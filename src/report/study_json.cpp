/// A study's report as JSON, whole for programs and compact for the page.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <map>

#include "hindsight/core/error.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "report/study_figures.h"

namespace hindsight::report {
namespace {

constexpr std::array<std::string_view, 9> kRoles{"feasible", "infeasible",  "front",     "proposed", "optimum",
                                                 "line",     "second_line", "reference", "bar"};

Json table_json(const ReportTable& table) {
  return {{"caption", table.caption}, {"columns", table.columns}, {"rows", table.rows}};
}

Json series_json(const ReportSeries& series) {
  Json json{{"name", series.name}, {"role", to_string(series.role)}, {"values", Json::array()}};
  for (const std::vector<double>& point : series.values) {
    Json row = Json::array();
    for (const double value : point) row.push_back(plotted(value));
    json["values"].push_back(std::move(row));
  }
  if (!series.designs.empty()) json["designs"] = series.designs;
  if (!series.notes.empty()) json["notes"] = series.notes;
  return json;
}

/// Designs as numbers: their parameters, the values that occur, and per design the short id and an index per parameter.
Json compact_designs(const std::vector<ReportDesign>& designs) {
  Json names = Json::array(), values = Json::array(), rows = Json::array();
  std::map<std::string, std::size_t> places;
  std::vector<std::map<std::string, std::size_t>> known;
  for (const ReportDesign& design : designs) {
    Json row = Json::array({design.short_id});
    for (const std::string& piece : split(design.text_id, ',')) {
      const std::size_t equals = std::min(piece.find('='), piece.size());
      const auto [place, is_new] = places.try_emplace(piece.substr(0, equals), places.size());
      if (is_new) {
        names.push_back(place->first);
        values.push_back(Json::array());
        known.emplace_back();
      }
      const std::string value = equals < piece.size() ? piece.substr(equals + 1) : std::string();
      const auto [at, is_new_value] = known[place->second].try_emplace(value, known[place->second].size());
      if (is_new_value) values[place->second].push_back(value);
      while (row.size() < place->second + 2) row.push_back(nullptr);
      row[place->second + 1] = at->second;
    }
    rows.push_back(std::move(row));
  }
  return {{"parameters", names}, {"values", values}, {"rows", rows}};
}

Json section_json(const ReportSection& section, bool tables) {
  Json json{{"id", section.id},
            {"title", section.title},
            {"missing", nullptr},
            {"paragraphs", section.paragraphs},
            {"figures", Json::array()}};
  if (!section.missing.empty()) json["missing"] = section.missing;
  for (const ReportFigure& figure : section.figures) {
    json["figures"].push_back(figure_json(figure));
    if (tables) json["figures"].back()["table"] = table_json(figure.table);
  }
  if (!tables) return json;
  json["tables"] = Json::array();
  for (const ReportTable& table : section.tables) json["tables"].push_back(table_json(table));
  return json;
}

}  // namespace

std::string to_string(SeriesRole role) { return std::string(kRoles[static_cast<std::size_t>(role)]); }

Json plotted(double value) {
  if (!std::isfinite(value)) return nullptr;
  constexpr int kDigits = 6;  // [chosen] more than a plot shows
  std::array<char, 32> text{};
  const auto written =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, kDigits);
  double rounded = 0;
  std::from_chars(text.data(), written.ptr, rounded);
  if (rounded == std::floor(rounded) && std::abs(rounded) < 1e9)
    return static_cast<std::int64_t>(rounded);  // [chosen] no ".0"
  return rounded;
}

Json figure_json(const ReportFigure& figure) {
  constexpr std::array<const char*, 3> kKinds{"points", "bars", "parallel"};
  Json json{{"name", figure.name}, {"title", figure.title},
            {"note", figure.note}, {"kind", kKinds[static_cast<std::size_t>(figure.kind)]},
            {"x", figure.x},       {"y", figure.y}};
  if (figure.kind == FigureKind::points) json["infeasible_room"] = kInfeasibleRoom;
  json["columns"] = Json::array();
  for (const ReportColumn& column : figure.columns) {
    json["columns"].push_back({{"name", column.name}, {"label", column.label}, {"logarithmic", column.logarithmic}});
    if (column.whole) json["columns"].back()["whole"] = true;
    if (column.maximised) json["columns"].back()["maximised"] = true;
    if (!column.labels.empty()) json["columns"].back()["labels"] = column.labels;
    if (std::isfinite(column.low)) json["columns"].back()["range"] = {plotted(column.low), plotted(column.high)};
  }
  json["panels"] = Json::array();
  for (const ReportPanel& panel : figure.panels) {
    Json one{{"name", panel.name}, {"series", Json::array()}};
    if (!panel.categories.empty()) one["categories"] = panel.categories;
    for (const ReportSeries& series : panel.series) one["series"].push_back(series_json(series));
    json["panels"].push_back(std::move(one));
  }
  return json;
}

Json study_json(const StudyReport& report, bool tables) {
  Json json{{"schema", "hindsight.report"},
            {"schema_version", kReportSchemaVersion},
            {"hindsight_version", build_info().version},
            {"commit", build_info().commit},
            {"log", report.log},
            {"answer", {{"headline", report.headline}, {"facts", Json::array()}, {"doubts", report.doubts}}}};
  for (const ReportFact& fact : report.facts) {
    json["answer"]["facts"].push_back({{"label", fact.label}, {"value", fact.value}, {"detail", fact.detail}});
  }
  if (tables) {
    json["designs"] = Json::array();
    for (const ReportDesign& design : report.designs)
      json["designs"].push_back({{"id", design.short_id}, {"design", design.text_id}});
  } else {
    json["designs"] = compact_designs(report.designs);
  }
  json["sections"] = Json::array();
  for (const ReportSection& section : report.sections) json["sections"].push_back(section_json(section, tables));
  return json;
}

std::string report_json(const StudyReport& report) { return to_text(study_json(report, true)); }

}  // namespace hindsight::report

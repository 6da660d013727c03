/// A study's report as Markdown, for a pull request.
#include <fmt/format.h>

#include "hindsight/core/text.h"
#include "hindsight/report/study_report.h"

namespace hindsight::report {
namespace {

/// `text` with nothing that Markdown or the HTML in it would read as a mark.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : printable(text, kWholeText)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (std::string_view("\\`*_{}[]#|!>~").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

std::string table_text(const ReportTable& table) {
  constexpr std::size_t kRows = 30;  // [chosen] what a reviewer scrolls over
  std::string out = fmt::format("\n**{}**\n\n|", plain(table.caption));
  for (const std::string& column : table.columns) out += fmt::format(" {} |", plain(column));
  out += "\n|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) out += " --- |";
  out += "\n";
  for (std::size_t r = 0; r < std::min(kRows, table.rows.size()); ++r) {
    out += "|";
    for (const std::string& value : table.rows[r]) out += fmt::format(" {} |", plain(value));
    out += "\n";
  }
  if (table.rows.size() > kRows)
    out += fmt::format("\n{} of {} rows; `--format json` has all.\n", kRows, table.rows.size());
  return out;
}

}  // namespace

std::string report_markdown(const StudyReport& report) {
  std::string out = fmt::format("# Report of {}\n\n{}\n", plain(report.log), plain(report.headline));
  if (!report.facts.empty()) out += "\n";
  for (const ReportFact& fact : report.facts) {
    out += fmt::format("- {}: {}{}{}\n", plain(fact.label), fact.value.empty() ? "" : "**" + plain(fact.value) + "**",
                       fact.value.empty() || fact.detail.empty() ? "" : ", ", plain(fact.detail));
  }
  if (!report.doubts.empty()) out += "\nNot certain:\n\n";
  for (const std::string& doubt : report.doubts) out += fmt::format("- {}\n", plain(doubt));
  for (const ReportSection& section : report.sections) {
    out += fmt::format("\n## {}\n", plain(section.title));
    if (!section.missing.empty()) out += fmt::format("\n{}\n", plain(section.missing));
    for (const std::string& paragraph : section.paragraphs) out += fmt::format("\n{}\n", plain(paragraph));
    for (const ReportFigure& figure : section.figures) {
      out += fmt::format("\n{}. {}\n", plain(figure.title), plain(figure.note));
      if (!figure.table.rows.empty()) out += table_text(figure.table);
    }
    for (const ReportTable& table : section.tables) out += table_text(table);
  }
  return out;
}

}  // namespace hindsight::report

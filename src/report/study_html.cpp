/// A study's report as one page that asks for nothing: style, library, script and data stand in it.
#include <fmt/format.h>

#include "hindsight/core/error.h"
#include "hindsight/core/files.h"
#include "hindsight/core/hash.h"
#include "hindsight/core/provenance.h"
#include "hindsight/core/text.h"
#include "report/study_figures.h"

namespace hindsight::report {
namespace {

/// A file of data/report.
std::string page_part(const std::string& name) {
  for (const std::filesystem::path& root : data_roots()) {
    const std::filesystem::path file = root / "data" / "report" / name;
    if (std::filesystem::exists(file)) return read_file(file);
  }
  throw Error(ErrorKind::failure,
              fmt::format("data/report/{}: not found (the page is made of it). Reinstall Hindsight, or "
                          "set HINDSIGHT_DATA_DIR to its data",
                          name));
}

/// Base64 of the bytes that `hex` writes, as a content security policy wants a hash.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kBase64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : hex) {
    bits = bits << 4U |
           static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);  // [chosen] value of a hexadecimal digit
    count += 4;                                                            // [chosen] bits of one
    if (count < 6) continue;                                               // [chosen] bits of a base64 digit
    count -= 6;                                                            // [chosen] likewise
    out += kBase64Digits[bits >> static_cast<unsigned>(count) & 63U];
  }
  if (count > 0) out += kBase64Digits[bits << static_cast<unsigned>(6 - count) & 63U];  // [chosen] likewise
  while (out.size() % 4 != 0) out += '=';  // [chosen] base64 comes in fours
  return out;
}

/// A script in the page. Error where the page would end it early.
std::string inline_script(const std::string& name, std::string& policy) {
  const std::string code = page_part(name);
  if (code.find("</script") != std::string::npos || code.find("<!--") != std::string::npos) {
    throw Error(
        ErrorKind::failure,
        fmt::format("data/report/{}: holds what ends a script (the page would break). Reinstall Hindsight", name));
  }
  policy += fmt::format(" 'sha256-{}'", base64_of_hex(sha256_hex(code)));
  return "<script>" + code + "</script>\n";
}

/// JSON that no HTML parser reads as a tag: "<" and what ends lines in scripts are escapes.
std::string json_for_page(const StudyReport& report) {
  const std::string text = study_json(report, false).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else if (c == '>') {
      out += "\\u003e";
    } else if (c == '&') {
      out += "\\u0026";
    } else {
      out += c;
    }
  }
  return out;
}

bool is_option_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

/// Text between tags: as escaped(), with the names of options in pieces that no line is broken in.
std::string prose(std::string_view text) {
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find("--"); at != std::string_view::npos; at = text.find("--", at)) {
    std::size_t end = at + 2;
    while (end < text.size() && is_option_letter(text[end])) ++end;
    while (text[end - 1] == '-' && end > at + 2) --end;
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '(' || text[at - 1] == '`';
    const bool is_option = begins && end > at + 2 && text[at + 2] >= 'a';
    if (is_option) {
      out += escaped(text.substr(done, at - done)) +
             fmt::format("<span class=\"option\">{}</span>", escaped(text.substr(at, end - at)));
      done = end;
    }
    at = end;
  }
  return out + escaped(text.substr(done));
}

std::string table_html(const ReportTable& table) {
  std::string out = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"{}\"><table><caption>{}</caption><thead><tr>",
      escaped(table.caption), prose(table.caption));
  for (const std::string& column : table.columns) out += fmt::format("<th scope=\"col\">{}</th>", escaped(column));
  out += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    out += "<tr>";
    for (const std::string& value : row) out += fmt::format("<td>{}</td>", prose(value));
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string figure_html(const ReportFigure& figure) {
  std::string out = fmt::format(
      "<figure id=\"figure-{0}\" data-figure=\"{0}\"><figcaption><h3>{1}</h3><p>{2}</p></figcaption>"
      "<div class=\"controls\"></div><div class=\"legend\"></div><div class=\"plot {3}\" role=\"img\" "
      "aria-label=\"{1}\"></div>",
      escaped(figure.name), escaped(figure.title), prose(figure.note),
      figure.kind == FigureKind::parallel ? "wide" : "");
  if (!figure.table.rows.empty())
    out += "<details><summary>The same as a table</summary>" + table_html(figure.table) + "</details>";
  return out + "</figure>\n";
}

std::string section_html(const ReportSection& section) {
  std::string out = fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\"><h2 id=\"{0}-title\">{1}</h2>\n",
                                escaped(section.id), escaped(section.title));
  if (!section.missing.empty()) out += fmt::format("<p class=\"missing\">{}</p>\n", prose(section.missing));
  for (const std::string& paragraph : section.paragraphs) out += fmt::format("<p>{}</p>\n", prose(paragraph));
  for (const ReportFigure& figure : section.figures) out += figure_html(figure);
  for (const ReportTable& table : section.tables) out += table_html(table);
  return out + "</section>\n";
}

/// "a=1,b=2" as a list of parameters; other text as it is.
std::string detail_html(const std::string& detail) {
  const std::vector<std::string> pieces = split(detail, ',');
  bool is_design = pieces.size() > 1;
  for (const std::string& piece : pieces) is_design = is_design && piece.find('=') != std::string::npos;
  if (!is_design) return fmt::format("<p>{}</p>", prose(detail));
  std::string out = "<ul class=\"design\">";
  for (const std::string& piece : pieces) {
    const std::size_t equals = piece.find('=');
    out += fmt::format("<li><span>{}</span> <b>{}</b></li>", escaped(piece.substr(0, equals)),
                       escaped(piece.substr(equals + 1)));
  }
  return out + "</ul>";
}

std::string answer_html(const StudyReport& report) {
  std::string out = fmt::format(
      "<section id=\"answer\" aria-labelledby=\"answer-title\"><p class=\"eyebrow\">Report of {}</p><h1 "
      "id=\"answer-title\">{}</h1>\n<div class=\"facts\">\n",
      escaped(report.log), escaped(report.headline));
  for (const ReportFact& fact : report.facts) {
    const bool wide = fact.value.empty() || fact.detail.find("=") != std::string::npos;
    out += fmt::format("<div class=\"fact{}\"><h2>{}</h2>{}{}</div>\n", wide ? " wide" : "", escaped(fact.label),
                       fact.value.empty() ? "" : fmt::format("<p class=\"value\">{}</p>", escaped(fact.value)),
                       detail_html(fact.detail));
  }
  out += "</div>\n";
  if (!report.doubts.empty()) {
    out += "<div class=\"doubts\"><h2>What is not certain</h2><ul>\n";
    for (const std::string& doubt : report.doubts) out += fmt::format("<li>{}</li>\n", prose(doubt));
    out += "</ul></div>\n";
  }
  return out + "</section>\n";
}

/// Links to the sections.
std::string contents_html(const StudyReport& report) {
  std::string out;
  for (const ReportSection& section : report.sections) {
    out += fmt::format("<li><a href=\"#{}\"{}>{}</a></li>\n", escaped(section.id),
                       section.missing.empty() ? "" : " class=\"nothing\"", escaped(section.title));
  }
  return out;
}

std::string main_html(const StudyReport& report) {
  std::string out = answer_html(report);
  for (const ReportSection& section : report.sections) out += section_html(section);
  return out;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text, kWholeText)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string report_html(const StudyReport& report, std::optional<std::uint64_t> live) {
  std::string policy;
  const std::string library = inline_script("echarts.min.js", policy);
  std::string script = inline_script("page.js", policy);
  if (live) script += inline_script("live.js", policy);
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src{}; style-src "
      "'unsafe-inline'; img-src data:;{} base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"Hindsight {}\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
      policy, live ? " connect-src 'self';" : "", build_info().version, escaped("Hindsight: " + report.log),
      page_part("page.css"));
  out += "<a class=\"skip\" href=\"#answer\">To the answer</a>\n<nav aria-label=\"Sections\"><b>Hindsight</b><ul>\n";
  out += contents_html(report) + "</ul></nav>\n";
  if (live) {
    out += fmt::format(
        "<div class=\"live\" data-version=\"{}\"><span id=\"live\" role=\"status\">connecting</span><button "
        "id=\"live-pause\" type=\"button\" aria-pressed=\"false\">Pause</button></div>\n",
        *live);
  }
  out += "<main>\n" + main_html(report);
  out += fmt::format("</main>\n<footer><p>Hindsight {}. Plots: Apache ECharts, Apache License 2.0. {}</p></footer>\n",
                     escaped(build_info().version),
                     live ? "This page asks nobody but the program that serves it, on this machine."
                          : "This page asks for nothing from anywhere.");
  out += "<noscript><p class=\"noscript\">Without JavaScript the figures stand as tables.</p></noscript>\n";
  return out + "<script type=\"application/json\" id=\"study\">" + json_for_page(report) + "</script>\n" + library +
         script + "</body>\n</html>\n";
}

std::string report_update(const StudyReport& report) {
  const Json parts{
      {"contents", contents_html(report)}, {"main", main_html(report)}, {"study", study_json(report, false)}};
  return parts.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace hindsight::report
